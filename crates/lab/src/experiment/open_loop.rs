//! How latency answers to the load that is offered, whether or not the storage keeps up.
//!
//! Requests become due at a rate, as those of independent clients do, and latency counts from the moment that each
//! was due. The same workload is offered at several rates, each being a point.
//!
//! Parameters: `rw` (patterns that only read or only write), `block_size`, `rate` (requests a second, a list), `depth`
//! (the most that may be outstanding), `arrivals` (`fixed` or `poisson`), `limit` (a latency to keep, such as
//! `p99=1ms`; the finding `iops_at_latency` says up to which load it is kept).
//!
//! How to read it: latency is flat while the storage has room, bends, and then grows without bound where more is asked
//! than can be served. Rates beyond that are not lowered: what was never sent is counted, and the check
//! `missed-rate` says so.
//!
//! Traps:
//! - A closed loop (a fixed number in flight) cannot show this: it stops asking when the storage stalls, and so leaves
//!   out just those requests that would have waited longest.
//! - An engine whose calls block keeps one request outstanding: what it sends late is the storage's doing.

use iosonde_model::{Arrivals, Device, LatencyLimit, Named, Point, TrialSpec};

use super::{Experiment, Parameter, ParameterError, Parameters, Step};
use crate::finding::{FindingKind, IopsAtLatency};

pub(super) struct OpenLoop;

impl Named for OpenLoop {
    fn name(&self) -> &'static str {
        "open-loop"
    }
}

impl Experiment for OpenLoop {
    fn question(&self) -> &'static str {
        "How much load can this storage take before latency suffers?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        &[
            Parameter { key: "rw", explain: "access patterns, by fio's names", default: "\"randread\"" },
            Parameter { key: "block_size", explain: "sizes of a request in bytes", default: "\"4k\"" },
            Parameter {
                key: "rate",
                explain: "requests that become due each second",
                default: "\"1000..16000*2\"",
            },
            Parameter { key: "depth", explain: "most requests outstanding", default: "128" },
            Parameter { key: "arrivals", explain: "fixed or poisson", default: "\"poisson\"" },
            Parameter { key: "limit", explain: "a latency to keep, as p99=1ms", default: "\"p99=1ms\"" },
        ]
    }

    fn next(
        &self,
        parameters: &Parameters,
        device: &Device,
        so_far: &[Point],
    ) -> Result<Step, ParameterError> {
        if !so_far.is_empty() {
            return Ok(Step::Done);
        }
        let limit: LatencyLimit = parameters.text("limit")?.parse().map_err(|e| parameters.fail(e))?;
        let arrivals = match parameters.text("arrivals")?.as_str() {
            "fixed" => Arrivals::Fixed,
            "poisson" => Arrivals::Poisson,
            other => return Err(parameters.fail(format!("`{other}`: arrivals are fixed or poisson"))),
        };
        let queue_depth = parameters.count("depth")?;
        let (rates, sizes) = (parameters.counts("rate")?, parameters.sizes("block_size")?);
        let mut specs = Vec::new();
        for rw in parameters.single_direction_patterns("rw")? {
            for &block_size_bytes in &sizes {
                specs.extend(rates.iter().map(|&rate| TrialSpec {
                    rw,
                    block_size_bytes,
                    queue_depth,
                    rate_iops: Some(f64::from(rate)),
                    arrivals,
                    latency_limit: Some(limit),
                    span_bytes: device.working_set_bytes,
                    engine: device.engine.clone(),
                    direct: device.direct,
                    ..TrialSpec::default()
                }));
            }
        }
        Ok(Step::Shuffled(specs))
    }

    fn findings(&self) -> &'static [&'static dyn FindingKind] {
        &[&IopsAtLatency]
    }
}
