//! Findings whose words are tested.

use iosonde_model::{Conditions, Detail, Finding, FindingName, Inconclusive, Op, Status, Unit};

/// A finding about 4 KiB random requests, with an interval of ±2 %.
pub(in crate::text) fn found(
    name: FindingName,
    op: Op,
    (value, unit): (f64, Unit),
    detail: Detail,
) -> Finding {
    Finding {
        name,
        experiment: "x".to_owned(),
        conditions: Conditions {
            op: Some(op),
            random: Some(true),
            block_size_bytes: Some(4096),
            ..Conditions::default()
        },
        status: Status::Found,
        value: Some(value),
        unit,
        low: Some(0.98 * value),
        high: Some(1.02 * value),
        at_least: false,
        confidence: 0.95,
        detail,
        notes: Vec::new(),
        trials: vec![1],
    }
}

/// The same without a value.
pub(in crate::text) fn absent(name: FindingName, op: Op, detail: Detail) -> Finding {
    let found = found(name, op, (1.0, Unit::None), detail);
    Finding { status: Status::Absent, value: None, low: None, high: None, ..found }
}

/// The sentence of an inconclusive finding.
pub(in crate::text) fn unknown(name: FindingName, op: Op, why: impl Into<Inconclusive>) -> String {
    let finding = absent(name, op, Detail::Inconclusive(why.into()));
    super::sentence(&Finding { status: Status::Inconclusive, ..finding })
}
