//! Rate limits of both sides: they, and not the storage, are then what makes one side slower.

use iosonde_model::{LimitOfSide, RateLimit};

use super::side::Side;

/// The limits that were found in the first run of each side.
pub(super) fn limits(sides: [&Side; 2]) -> Vec<LimitOfSide> {
    let of = |side: &Side| {
        let found =
            side.runs.first().into_iter().flat_map(|run| run.findings.iter().filter_map(RateLimit::of));
        found.map(|limit| LimitOfSide { side: side.name.clone(), limit }).collect::<Vec<_>>()
    };
    sides.map(of).concat()
}
