//! The block size from which a program that reads or writes files in order gains nothing from larger requests.
//!
//! What it is: the smallest of the measured sizes that gives 95 % of the highest throughput that the program saw. It is
//! a property of the program, the kernel and the memory together. Trials that memory served count here: they are
//! what the program got. It is given for buffered points, and for others of which no trial is valid for the device, as
//! where direct I/O was ignored.
//!
//! How it is computed: as `plateau_block_size`, from the rates that the program saw. Where its times follow
//! t(b) = t₀ + b/B, t₀ is what a call costs it and B the rate of copying.
//!
//! Why 95 %: as for `plateau_block_size`, which asks the same of the device.
//!
//! What it is not: a page size or any other property of the device. Where `processor_share` is near 1, the curve would
//! be the same on any device.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{About, ExperimentName, Finding, FindingName, Unit};

use super::{
    FindingKind, Proof, ScreenLine,
    group::{self, Writer},
    hockney, plateau,
};

pub(crate) struct ProgramPlateau;

impl FindingKind for ProgramPlateau {
    fn id(&self) -> FindingName {
        FindingName::ProgramPlateau
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::Media, ExperimentName::BlockSize]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::folded("buffered")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Bytes, confidence };
        let of_device = |evidence: &Evidence| {
            evidence.point.spec.direct && evidence.standing(About::Device).next().is_some()
        };
        let mut groups = hockney::groups(points);
        groups.retain(|group| !group.points.iter().any(|evidence| of_device(evidence)));
        groups
            .iter()
            .map(|group| plateau::conclude(&writer, group, &group::valid_rate_whatever_set_it))
            .collect()
    }

    fn proof(&self) -> Proof {
        Proof {
            device: r#"
name = "copying-program"
summary = "a program that takes 2 us for a call and copies 400 MB/s into memory"
capacity = "64GiB"
[host]
request_cost = "2us"
memory = "8GiB"
copy_rate = "400MB/s"
[queue]
servers = 16
service = { fixed = "100us" }
"#,
            study: r#"
name = "sizes"
question = "From which size on do larger requests gain nothing?"
time = "60s"
size = "1GiB"
[[experiment]]
kind = "media"
rw = "write"
block_size = ["512", "1k", "2k", "4k", "8k", "16k", "32k", "64k"]
"#,
            truths: &[(
                Some(16_384.0),
                "2 us and a byte each 2.5 ns: b / (b + 800 B) of 400 MB/s; 95 % of what 64 KiB get from 12.8 KB on",
            )],
            widest: 0.5,
        }
    }
}
