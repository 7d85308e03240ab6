//! How long writes stay fast.
//!
//! Writes continue for `trial`, right after a pause of the same length in which only a few reads are made, so that
//! a buffer could empty itself. No other experiment of the study comes between. There is no warm-up: the first
//! second is the subject. Where throughput falls during a trial, a buffer was full. The throughput before, the
//! throughput after and the bytes until then give its size.
//!
//! Parameters: `rw` (patterns that write), `block_size`, `depth`, `trial` (how long each trial writes; longer finds
//! larger buffers), `rest` (reads per second during the pause), `gap` (a shorter pause before one more write in
//! each round, which shows how much has drained by then; `none` by default).
//!
//! How to read it: a short copy sees the burst throughput, a backup the sustained one. Drives are sold by the first
//! and used at the second.
//!
//! Traps:
//! - Some drives empty a fast cache only after a while without any request. Reads in the pause may prevent that:
//!   `rest = 0.2` leaves five seconds between two.
//! - A buffer larger than what one trial writes is not found: "no change within a trial" says how much was written.
//! - Flash that has been written full is slower still; the state before the run is part of the result (see `run
//!   --state`).
//! - It writes as much as the storage takes: `run --dry-run` says how much that may be, `--max-write` limits it.

use iosonde_model::{Device, ExperimentName, Rw, TrialSpec};

use super::{Experiment, Manner, Parameter, ParameterError, Parameters, grid};

pub(super) struct SustainedWrite;

const PARAMETERS: &[Parameter] = &[
    grid::rw("\"write\""),
    grid::block_size("\"1M\""),
    grid::depth("8"),
    Parameter { key: "trial", explain: "how long each trial writes", default: "\"10s\"" },
    Parameter { key: "rest", explain: "reads a second in the pause before each", default: "10" },
    Parameter {
        key: "gap",
        explain: "a shorter pause before one more write, or `none`",
        default: "\"none\"",
    },
];

impl Experiment for SustainedWrite {
    fn id(&self) -> ExperimentName {
        ExperimentName::SustainedWrite
    }

    fn question(&self) -> &'static str {
        "How long do writes stay fast, and how fast are they then?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn grid(&self, parameters: &Parameters, device: &Device) -> Result<Vec<TrialSpec>, ParameterError> {
        let pause = TrialSpec {
            rw: Rw::RandRead,
            rate_iops: Some(rest(parameters)?),
            span_bytes: device.working_set_bytes,
            engine: device.engine.clone(),
            direct: device.direct,
            ..TrialSpec::default()
        };
        let mut specs = Vec::new();
        for spec in grid::cross(parameters, device)? {
            if !spec.rw.writes() {
                return Err(parameters.wrong(
                    "rw",
                    format!("`{}` writes nothing; `rw` is \"write\" or \"randwrite\"", spec.rw),
                ));
            }
            specs.extend([pause.clone(), spec.clone()]);
            if gap_s(parameters)?.is_some() {
                // Another point is another workload: it reads in order, and writes from one block further on.
                let gap = TrialSpec { rw: Rw::Read, ..pause.clone() };
                let on = spec.block_size_bytes;
                let once_more = TrialSpec {
                    offset_bytes: spec.offset_bytes + on,
                    span_bytes: spec.span_bytes.saturating_sub(on).max(on),
                    ..spec
                };
                specs.extend([gap, once_more]);
            }
        }
        specs.dedup();
        Ok(specs)
    }

    fn manner_of(&self, parameters: &Parameters, spec: &TrialSpec) -> Result<Manner, ParameterError> {
        let manner = self.manner(parameters)?;
        let gap_s = gap_s(parameters)?.filter(|_| spec.rw == Rw::Read);
        Ok(Manner { trial_s_min: gap_s.unwrap_or(manner.trial_s_min), ..manner })
    }

    fn manner(&self, parameters: &Parameters) -> Result<Manner, ParameterError> {
        let trial_s_min = parameters.seconds("trial")?;
        if trial_s_min < 1.0 {
            return Err(
                parameters.wrong("trial", "it is at least 1s: a rate that falls needs time to be seen")
            );
        }
        Ok(Manner { in_order: true, from_the_start: true, trial_s_min, ..Manner::default() })
    }
}

/// Reads a second in a pause; a fraction leaves seconds between two.
fn rest(parameters: &Parameters) -> Result<f64, ParameterError> {
    let text = parameters.text("rest")?;
    let rest = text.parse::<f64>().ok().filter(|rest| (0.01..=1e6).contains(rest));
    rest.ok_or_else(|| {
        parameters.wrong("rest", format!("`{text}` is no number of reads a second, from 0.01 on"))
    })
}

/// The shorter pause, if the study has one.
fn gap_s(parameters: &Parameters) -> Result<Option<f64>, ParameterError> {
    if parameters.text("gap")? == "none" {
        return Ok(None);
    }
    let gap_s = parameters.seconds("gap")?;
    if !(gap_s >= 0.5 && gap_s <= parameters.seconds("trial")? / 2.0) {
        let wanted = "it is at least 0.5s and at most half of `trial`, whose length the other pause has";
        return Err(parameters.wrong("gap", wanted));
    }
    Ok(Some(gap_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(text: &str) -> Result<Vec<(TrialSpec, Manner)>, ParameterError> {
        let given = toml::from_str(text).expect("a test's TOML is valid");
        let parameters = Parameters::check("sustained-write", &given, PARAMETERS)?;
        let device = Device::unknown("file", 1 << 30);
        let specs = SustainedWrite.grid(&parameters, &device)?;
        specs
            .into_iter()
            .map(|spec| Ok((spec.clone(), SustainedWrite.manner_of(&parameters, &spec)?)))
            .collect()
    }

    #[test]
    fn a_gap_adds_a_short_pause_and_one_more_write_of_its_own() {
        assert_eq!(planned("").unwrap().len(), 2);
        let all = planned("gap = \"2s\"\nrest = 0.2").unwrap();
        let lengths: Vec<(bool, f64)> =
            all.iter().map(|(spec, manner)| (spec.rw.writes(), manner.trial_s_min)).collect();
        assert_eq!(lengths, [(false, 10.0), (true, 10.0), (false, 2.0), (true, 10.0)]);
        assert_eq!(all[0].0.rate_iops, Some(0.2));
        assert_ne!(all[1].0, all[3].0, "the same point would be visited once");
        for (text, wanted) in
            [("gap = \"9s\"", "half of `trial`"), ("gap = \"soon\"", "`gap`"), ("rest = 0", "from 0.01 on")]
        {
            let told = planned(text).unwrap_err().to_string();
            assert!(told.contains(wanted), "{told}");
        }
    }
}
