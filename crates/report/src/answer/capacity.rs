//! A test of capacity.

use iosonde_model::{Capacity, CapacityFinding, Circumstances, KeptPart, RequirementVerdict, units};

use super::{
    Answer,
    shown::{Shown, Tenor},
};
use crate::{
    ReportError,
    document::capacity_json,
    figure::{Along, Axis, Dot, DotSeries, DotStanding, Figure, FindingMark, Tone},
    quantity::Quantity,
    text::{capacity, requirement},
};

impl Answer for Capacity {
    fn circumstances(&self) -> &Circumstances {
        &self.circumstances
    }

    fn json(&self) -> Result<String, ReportError> {
        capacity_json(self)
    }

    fn shown(&self) -> Shown {
        let verdict = capacity::verdict(&self.finding);
        Shown {
            command: "capacity",
            word: requirement::verdict(verdict),
            tenor: if verdict == RequirementVerdict::Pass { Tenor::Good } else { Tenor::Bad },
            sentence: capacity::answer(self),
            before: Vec::new(),
            table: None,
            after: capacity::lines(self),
            figures: chart(self).into_iter().collect(),
            target: self.target.clone(),
        }
    }
}

/// Where data is kept. Not where addresses begin again: of several that share a place, the one that was written last
/// keeps its data, wherever it lies.
fn chart(found: &Capacity) -> Option<Figure> {
    if matches!(found.finding, CapacityFinding::Wraps { .. }) {
        return None;
    }
    let share = |bytes: u64| 100.0 * bytes as f64 / found.claimed_bytes as f64;
    let dot = |part: &KeptPart| {
        let kept = 100.0 * part.kept as f64 / part.blocks as f64;
        let [from, to] = [part.from_bytes, part.to_bytes].map(units::decimal_bytes);
        let count = |blocks: u64| units::count(blocks as f64);
        Dot {
            x: (share(part.from_bytes) + share(part.to_bytes)) / 2.0,
            y: kept,
            x_interval: None,
            y_interval: None,
            label: None,
            tip: vec![
                format!("{from} to {to}"),
                format!("{} of {} tested blocks kept", count(part.kept), count(part.blocks)),
            ],
            standing: DotStanding::Stands,
        }
    };
    Some(Figure {
        name: "kept-by-offset".into(),
        title: "Where is data kept?".into(),
        reading:
            "Of the tested blocks in each part of the storage, the share that gave back what was written. A \
                  part without a tested block has no dot. A count, so there is no interval."
                .into(),
        x: Axis::from_zero("offset as a share of the size claimed", Quantity::Percent, &[96.0]),
        y: Axis::from_zero("blocks that keep their data", Quantity::Percent, &[96.0]),
        series: vec![DotSeries {
            name: "tested blocks".into(),
            tone: Tone::Write,
            joined: true,
            dots: found.parts.iter().map(dot).collect(),
            ..DotSeries::default()
        }],
        marks: real(&found.finding).into_iter().map(|bytes| mark(bytes, share(bytes))).collect(),
        ..Figure::default()
    })
}

fn mark(bytes: u64, at: f64) -> FindingMark {
    let label = format!("real capacity: {}", units::decimal_bytes(bytes));
    FindingMark { along: Along::X, at, interval: None, label, tone: Tone::Law }
}

/// The real capacity, where it is another than the one claimed.
fn real(finding: &CapacityFinding) -> Option<u64> {
    match *finding {
        CapacityFinding::Ends { at_least_bytes, .. } => Some(at_least_bytes),
        CapacityFinding::Wraps { .. } | CapacityFinding::Genuine { .. } | CapacityFinding::Damaged { .. } => {
            None
        }
    }
}
