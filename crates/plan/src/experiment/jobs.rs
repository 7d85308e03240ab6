//! Whether several workers get more throughput than one.
//!
//! The same small requests are made by 1, 2, 4, .. workers (threads, each with its own queue of `depth`), each
//! number being a point. For each list of workers a single worker is added that has the total queue depth of the
//! most of them: the load on the storage is then equal.
//!
//! Parameters: `rw` (patterns), `block_size`, `jobs` (workers), `depth` (queue depth of each).
//!
//! How to read it: `jobs_effect` compares equal total depths. 8 workers at QD 1 and one worker at QD 8 make the
//! same load. Where the workers get more, one worker was the limit, and the check `generator-bound` says whether
//! its processor was. That 8 workers at QD 1 get more than one at QD 1 shows only the effect of a deeper queue.
//!
//! Traps:
//! - More workers than processors wait for each other.
//! - Workers on the same file share its locks: on most file systems, buffered writes to one file are serialised.
//! - An engine with one request per worker (psync, mmap) has no single worker with a deeper queue: the effect of
//!   several workers then includes that of the deeper queue.

use iosonde_model::{Device, ExperimentName, TrialSpec};

use super::{Experiment, Parameter, ParameterError, Parameters, grid};

pub(super) struct Jobs;

const PARAMETERS: &[Parameter] =
    &[grid::rw("\"randread\""), grid::block_size("\"4k\""), grid::jobs("\"1..8*2\""), grid::depth("1")];

impl Experiment for Jobs {
    fn id(&self) -> ExperimentName {
        ExperimentName::Jobs
    }

    fn question(&self) -> &'static str {
        "Do several workers get more throughput than one?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn grid(&self, parameters: &Parameters, device: &Device) -> Result<Vec<TrialSpec>, ParameterError> {
        let mut specs = grid::cross(parameters, device)?;
        for single in
            specs.iter().filter(|spec| is_the_most(spec, &specs)).filter_map(alone).collect::<Vec<_>>()
        {
            if !specs.contains(&single) {
                specs.push(single);
            }
        }
        Ok(specs)
    }

    fn point_by_point(&self) -> bool {
        true
    }
}

/// Returns the workload of one worker with the queue depth of all workers together, for comparison.
pub fn alone(several: &TrialSpec) -> Option<TrialSpec> {
    let in_flight = u32::try_from(several.asked_in_flight()).ok()?;
    (several.jobs > 1).then(|| TrialSpec { jobs: 1, queue_depth: in_flight, ..several.clone() })
}

/// Returns true if no other point with these requests has a greater total queue depth.
fn is_the_most(spec: &TrialSpec, specs: &[TrialSpec]) -> bool {
    let alike = |other: &&TrialSpec| {
        TrialSpec { jobs: spec.jobs, queue_depth: spec.queue_depth, ..(*other).clone() } == *spec
    };
    specs.iter().filter(alike).all(|other| other.asked_in_flight() <= spec.asked_in_flight())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(text: &str) -> Vec<(u32, u32)> {
        let parameters = Parameters::check("jobs", &toml::from_str(text).unwrap(), PARAMETERS).unwrap();
        let specs = Jobs.grid(&parameters, &Device::unknown("file", 1 << 30)).unwrap();
        specs.iter().map(|spec| (spec.jobs, spec.queue_depth)).collect()
    }

    #[test]
    fn one_worker_with_as_many_in_flight_as_the_most_is_added_once() {
        assert_eq!(points(""), [(1, 1), (2, 1), (4, 1), (8, 1), (1, 8)]);
        assert_eq!(points("depth = [1, 4]\njobs = [1, 4]"), [(1, 1), (4, 1), (1, 4), (4, 4), (1, 16)]);
        assert_eq!(points("depth = [1, 8]\njobs = [1, 8]"), [(1, 1), (8, 1), (1, 8), (8, 8), (1, 64)]);
        // Both block sizes have their own, and one worker alone needs none.
        assert_eq!(points("block_size = [\"4k\", \"8k\"]\njobs = 2"), [(2, 1), (2, 1), (1, 2), (1, 2)]);
        assert_eq!(points("jobs = 1"), [(1, 1)]);
    }
}
