//! A device as a run's findings draw it.

use serde::{Deserialize, Serialize};

use crate::{Estimate, Op};

/// Kind of device that the fitted model assumes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Build {
    /// Units side by side, each with its own line, to which addresses send requests: flash.
    Units,
    /// Servers side by side with one line for all.
    Servers,
    /// Disk: one arm over a rotating platter.
    Disk,
}

/// Parameter of the fitted model, from findings or assumed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trait {
    /// Section and key in a device file: `flash.units`.
    pub key: String,
    /// Label for people: `units`, `link, reads`, `buffer`.
    pub label: String,
    /// The value, in `unit`, with its interval; without one where it is assumed.
    pub estimate: Estimate,
    /// `ns`, `B`, `B/s`, `1` for a number, `rpm`.
    pub unit: String,
    /// The findings that it follows from; none for an assumption.
    pub findings: Vec<String>,
    /// Derivation from the findings, or the reason for the assumption.
    pub why: String,
}

impl Trait {
    /// Returns true if no measurement supports the value.
    pub fn is_assumed(&self) -> bool {
        self.findings.is_empty()
    }
}

/// A point of the run beside the same point on the written device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Compliance {
    /// The point's id.
    pub point: usize,
    /// `4 KiB random reads, 32 in flight`.
    pub workload: String,
    /// Direction of the point.
    pub op: Op,
    /// True if the model was fitted to this point, so that agreement there is no evidence.
    pub fitted: bool,
    /// Requests a second as measured.
    pub measured: Estimate,
    /// Value that the fitted model predicts.
    pub model: Estimate,
    /// Model over measured.
    pub ratio: f64,
    /// Reason why the model fails here, as far as it is known; `None` where it holds.
    pub why: Option<String>,
}

/// A device as a run's findings draw it: what it is made of, in a form that can be run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Portrait {
    /// Summary: `Flash, 32 units at 60 µs, a buffer of 64 MiB that drains at 480 MB/s, a link of 3.5 GB/s.`
    pub sentence: String,
    /// Kind of device.
    pub build: Build,
    /// Parameters, from the program down to the medium.
    pub traits: Vec<Trait>,
    /// Parameters that the findings do not determine, each with what would.
    pub untold: Vec<String>,
    /// The text of a simulated device's file that says the same.
    pub device: String,
}
