//! The workloads of a documented requirement, trial after trial until the time is up.
//!
//! A requirement names a workload, a figure and its limit: etcd, for one, needs 99 of 100 appends of 2,300 bytes to be
//! durable within 10 ms. `iosonde check NAME TARGET` measures such workloads for a minute and says *pass*, *fail* or
//! *inconclusive*; `iosonde requirements` lists the requirements and their sources. Each row here is one workload.
//!
//! Parameters: `rows`, one for each workload (pattern, block size, depth, jobs, mix, sync, buffered), and the same keys
//! beside it for values common to all. The default is the append of etcd.
//!
//! How to read it: `commit_latency` and the percentiles of each point, with their intervals. All of the time is used,
//! however narrow the intervals are: a percentile rests on the slowest requests, which are rare.
//!
//! Traps:
//! - A percentile of one minute knows nothing of events that come once an hour.
//! - A file system that is empty, or a drive that is fresh, keeps limits that it later breaks.
//! - The check runs alone. A disk that is shared with the application's other work is slower then.

use iosonde_model::{Device, ExperimentName, TrialSpec};

use super::{Experiment, Manner, Parameter, ParameterError, Parameters, grid};

pub(super) struct Requirement;

const PARAMETERS: &[Parameter] = &[
    grid::rw("\"write\""),
    grid::block_size("2300"),
    grid::depth("1"),
    grid::jobs("1"),
    grid::mix("50"),
    grid::sync("\"fdatasync:1\""),
    grid::buffered("true"),
    Parameter { key: "rows", explain: "the workloads: a list of tables of the keys above", default: "" },
];

impl Experiment for Requirement {
    fn id(&self) -> ExperimentName {
        ExperimentName::Requirement
    }

    fn question(&self) -> &'static str {
        "Does this storage give what an application needs?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn grid(&self, parameters: &Parameters, device: &Device) -> Result<Vec<TrialSpec>, ParameterError> {
        grid::rows(parameters, PARAMETERS, device)
    }

    fn manner(&self, _: &Parameters) -> Result<Manner, ParameterError> {
        Ok(Manner { to_the_end: true, ..Manner::default() })
    }

    fn point_by_point(&self) -> bool {
        true
    }
}
