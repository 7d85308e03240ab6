//! A stated truth: value, conditions and derivation.

use iosonde_model::{Conditions, FindingName, Op};
use serde::Serialize;

/// The small request of which rates and latencies are stated.
pub(super) const SMALL_BYTES: u64 = 4 << 10;
/// The large request of which bandwidths are stated.
pub(super) const LARGE_BYTES: u64 = 1 << 20;

/// Kind of derivation of a true value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Known {
    /// Formula.
    #[serde(rename = "closed form")]
    ClosedForm,
    /// Run of the device itself; the value has a confidence interval.
    #[serde(rename = "reference")]
    Reference,
    /// No value: the device defines none.
    #[serde(rename = "not defined")]
    NotDefined,
}

/// True value of one finding on a device.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Truth {
    /// The finding's name.
    pub finding: FindingName,
    /// Conditions under which the value holds.
    pub conditions: Conditions,
    /// Kind of derivation.
    pub known: Known,
    /// The value, in `unit`; `None` where it is not defined.
    pub value: Option<f64>,
    /// Lower end of a reference's interval, at 95 %.
    pub low: Option<f64>,
    /// Upper end of a reference's interval, at 95 %.
    pub high: Option<f64>,
    /// `B/s`, `IOPS`, `ns`, `B`, `requests`, `ratio`, `1/h`; empty where it is not defined.
    pub unit: &'static str,
    /// Derivation from the device's parameters, or the reason why there is no value.
    pub derivation: String,
}

/// A truth before it has its finding's name.
pub(super) struct Stated {
    pub(super) conditions: Conditions,
    pub(super) value: Option<f64>,
    pub(super) unit: &'static str,
    pub(super) derivation: String,
}

impl Stated {
    pub(super) fn some(conditions: Conditions, value: f64, unit: &'static str, derivation: String) -> Self {
        Self { conditions, value: Some(value), unit, derivation }
    }

    pub(super) fn named(self, finding: FindingName) -> Truth {
        let Self { conditions, value, unit, derivation } = self;
        let known = if value.is_some() { Known::ClosedForm } else { Known::NotDefined };
        Truth { finding, conditions, known, value, low: None, high: None, unit, derivation }
    }

    pub(super) fn none(conditions: Conditions, why: String) -> Self {
        Self { conditions, value: None, unit: "", derivation: format!("not defined: {why}") }
    }
}

pub(super) fn conditions(op: Op, block_size_bytes: u64, queue_depth: Option<u32>) -> Conditions {
    Conditions {
        op: Some(op),
        random: Some(true),
        block_size_bytes: Some(block_size_bytes),
        queue_depth,
        ..Conditions::default()
    }
}

/// A rate or size in full, its digits in groups of three: 533,333.
pub(crate) fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
