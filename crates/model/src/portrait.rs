//! A device as a run's findings draw it.

use serde::{Deserialize, Serialize};

use crate::{Estimate, Op};

/// What serves the requests, as far as they tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Build {
    /// Units side by side, each with its own line, to which addresses send requests: flash.
    Units,
    /// Servers side by side with one line for all.
    Servers,
    /// One arm over a turning platter.
    Disk,
}

/// One thing that is known of a device, or assumed where nothing is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trait {
    /// Its section and key in a device's file: `flash.units`.
    pub key: String,
    /// For people: `units`, `link, reads`, `buffer`.
    pub label: String,
    /// The value, in `unit`, with its interval; without one where it is assumed.
    pub estimate: Estimate,
    /// `ns`, `B`, `B/s`, `1` for a number, `rpm`.
    pub unit: String,
    /// The findings that it follows from; none for an assumption.
    pub findings: Vec<String>,
    /// How it follows from them, or why it was assumed.
    pub why: String,
}

impl Trait {
    /// Whether nothing that was measured says so.
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
    /// Which direction of it.
    pub op: Op,
    /// Whether a trait rests on this point: where it does, the model can hardly miss it.
    pub fitted: bool,
    /// Requests a second as measured.
    pub measured: Estimate,
    /// The same on the written device.
    pub model: Estimate,
    /// Model over measured.
    pub ratio: f64,
    /// Why the model fails here, as far as that is known; `None` where it holds.
    pub why: Option<String>,
}

/// A device as a run's findings draw it: what it is made of, in a form that can be run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Portrait {
    /// One paragraph: `Flash, 32 units at 60 µs, a buffer of 64 MiB that drains at 480 MB/s, a link of 3.5 GB/s.`
    pub sentence: String,
    /// What serves the requests.
    pub build: Build,
    /// What is known of it, in the order of the way down: program, link, medium.
    pub traits: Vec<Trait>,
    /// What the findings do not tell, each in a sentence that says what would.
    pub untold: Vec<String>,
    /// The text of a simulated device's file that says the same.
    pub device: String,
}
