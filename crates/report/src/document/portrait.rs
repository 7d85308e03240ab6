//! The document of `devices --from RUN --json`: the device fitted to a run, words included.

use iosonde_model::{Build, Compliance, Estimate, Op, Portrait, Run, TraitKey, Unit};
use serde::Serialize;

use crate::{device_file::device_file, text::portrait as words};

/// A device as fitted to a run.
#[derive(Debug, Serialize)]
pub struct PortraitDocument {
    /// The model in a paragraph.
    pub sentence: String,
    /// Kind of device.
    pub build: Build,
    /// Its parameters, in the order of the way down: program, link, medium.
    pub traits: Vec<TraitLine>,
    /// Traits that the run does not identify, each in a sentence that says what would identify it.
    pub untold: Vec<String>,
    /// Text of a simulated device's file that says the same.
    pub device: String,
}

/// One parameter of a fitted device.
#[derive(Debug, Serialize)]
pub struct TraitLine {
    /// Its section and key in a device's file: `flash.units`.
    pub key: TraitKey,
    /// For people: `parallel units`, `link, reads`, `write buffer`.
    pub label: &'static str,
    /// The value, in `unit`, with its interval; without one for a default.
    pub estimate: Estimate,
    /// `ns`, `B`, `B/s`, `1` for a number.
    pub unit: &'static str,
    /// The findings that it follows from; none for a default.
    pub findings: Vec<&'static str>,
    /// How it follows from them, or which default was taken.
    pub why: &'static str,
}

/// A point of the run beside the same point on the fitted device.
#[derive(Debug, Serialize)]
pub struct ComplianceLine {
    /// The point's id.
    pub point: usize,
    /// `4 KiB random reads, QD 32`.
    pub workload: String,
    /// Which direction of it.
    pub op: Op,
    /// Whether a parameter was fitted to this point.
    pub fitted: bool,
    /// Requests a second as measured.
    pub measured: Estimate,
    /// Requests a second on the fitted device.
    pub model: Estimate,
    /// Model over measured.
    pub ratio: f64,
    /// Why the model fails here; `None` where it holds.
    pub why: Option<String>,
}

impl PortraitDocument {
    /// The document of a device fitted to a run.
    pub fn of(run: &Run, portrait: &Portrait) -> Self {
        let line = |one: &iosonde_model::Trait| TraitLine {
            key: one.key,
            label: words::label(one.key),
            estimate: one.estimate,
            unit: match one.key.unit() {
                Unit::None => "1",
                unit => unit.name(),
            },
            findings: one.sources.iter().map(|&source| words::source(source)).collect(),
            why: words::how(one.derivation),
        };
        Self {
            sentence: words::sentence(portrait),
            build: portrait.build,
            traits: portrait.traits.iter().map(line).collect(),
            untold: portrait.unidentified.iter().map(|&what| words::unidentified(what)).collect(),
            device: device_file(run, portrait),
        }
    }
}

impl From<&Compliance> for ComplianceLine {
    fn from(one: &Compliance) -> Self {
        Self {
            point: one.point,
            workload: words::workload(one),
            op: one.op,
            fitted: one.fitted,
            measured: one.measured,
            model: one.model,
            ratio: one.ratio,
            why: one.why.map(words::misfit),
        }
    }
}
