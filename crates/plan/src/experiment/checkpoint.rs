//! How long a checkpoint of a training run takes to save, and to read back.
//!
//! Several writers at the same time each create a file, write it in order with buffered writes, and flush it once
//! (fsync); a trial ends when the last of them has. Then as many readers read as much in order, with direct I/O.
//! Each trial is one whole pass, and its time is that of the slowest, the rule of MLPerf Storage v2.0 (June 2025), from
//! which the published sizes are as well. The results are not results of MLPerf.
//!
//! Parameters: `jobs` (writers, and readers), `block_size` (bytes of a request), `span` (bytes of all files together),
//! `buffered` (`false`: the writes bypass the page cache, too).
//!
//! How to read it: `checkpoint_time` is the time for the state of a model of 8 billion parameters, 105 GB from 8
//! writers, at the throughput of the files that were written here. 70 billion parameters have 8.7 times as much.
//!
//! Traps:
//! - A write buffer that holds all of these files makes the time for larger ones too short. `--size` sets their size,
//!   up to that of the checkpoint; `iosonde run sustained-write` finds the buffer.
//! - A device or a single file as target has no new files: its own blocks are then written again, which takes no
//!   allocation.
//! - Larger models are saved by several hosts at the same time, and a network or a server may then be the limit.

use iosonde_model::{Device, ExperimentName, Files, Ranges, Rw, Sync, TrialSpec};

use super::{Experiment, Manner, Parameter, ParameterError, Parameters, grid};

pub(super) struct Checkpoint;

const PARAMETERS: &[Parameter] = &[
    grid::jobs("8"),
    grid::block_size("\"4M\""),
    grid::span("\"100%\""),
    Parameter { key: "buffered", explain: "writes use the page cache: true or false", default: "true" },
];

impl Experiment for Checkpoint {
    fn id(&self) -> ExperimentName {
        ExperimentName::Checkpoint
    }

    fn question(&self) -> &'static str {
        "How long does a checkpoint take to save, and to read back?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn grid(&self, parameters: &Parameters, device: &Device) -> Result<Vec<TrialSpec>, ParameterError> {
        let mut specs = Vec::new();
        for restore in grid::cross_as(parameters, device, Rw::Read)? {
            let (block_bytes, jobs) = (restore.block_size_bytes, u64::from(restore.jobs));
            let blocks = restore.span_bytes / jobs / block_bytes;
            if blocks == 0 {
                return Err(parameters.wrong(
                    "jobs",
                    format!("{jobs} files in the prepared area hold less than one request each; use a larger `--size`"),
                ));
            }
            let file_bytes = blocks * block_bytes;
            let restore = TrialSpec {
                direct: device.direct,
                span_bytes: file_bytes * jobs,
                ranges: Ranges::Disjoint,
                ..restore
            };
            let save = TrialSpec {
                rw: Rw::Write,
                sync: Sync::Fsync { every: u32::try_from(blocks).unwrap_or(u32::MAX) },
                direct: device.direct && !parameters.switches("buffered")?.contains(&true),
                ..restore.clone()
            };
            specs.push(if device.new_files { in_new_files(save, file_bytes) } else { save });
            specs.push(restore);
        }
        Ok(specs)
    }

    fn manner(&self, _parameters: &Parameters) -> Result<Manner, ParameterError> {
        Ok(Manner { one_pass: true, from_the_start: true, ..Manner::default() })
    }
}

/// A file of its own for each writer. Programs call and wait, and only these engines make files.
fn in_new_files(save: TrialSpec, file_bytes: u64) -> TrialSpec {
    let engine = if save.engine == "sim" { save.engine.clone() } else { "psync".to_owned() };
    TrialSpec { files: Files::New, ranges: Ranges::Shared, span_bytes: file_bytes, engine, ..save }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(text: &str, device: &Device) -> Result<Vec<TrialSpec>, ParameterError> {
        let parameters = Parameters::check("checkpoint", &toml::from_str(text).unwrap(), PARAMETERS)?;
        Checkpoint.grid(&parameters, device)
    }

    #[test]
    fn each_writer_has_a_file_with_one_flush_at_its_end() {
        let folder =
            Device { direct: true, engine: "io_uring".into(), ..Device::unknown("directory", 1 << 30) };
        let specs = points("", &folder).unwrap();
        let [save, restore] = &specs[..] else { panic!("{specs:?}") };
        assert_eq!((save.files, save.jobs, save.span_bytes, save.direct), (Files::New, 8, 128 << 20, false));
        assert_eq!((save.sync, save.engine.as_str()), (Sync::Fsync { every: 32 }, "psync"));
        assert_eq!((restore.ranges, restore.span_bytes, restore.direct), (Ranges::Disjoint, 1 << 30, true));
        let device = Device { direct: true, ..Device::unknown("device", 1 << 30) };
        let again = points("buffered = false\njobs = 3", &device).unwrap();
        // 1 GiB is 256 requests: 85 for each of three.
        assert_eq!((again[0].files, again[0].ranges, again[0].direct), (Files::Same, Ranges::Disjoint, true));
        assert_eq!((again[0].span_bytes, again[0].sync), (3 * 85 * (4 << 20), Sync::Fsync { every: 85 }));
        assert!(points("jobs = 512", &folder).unwrap_err().to_string().contains("larger `--size`"));
    }
}
