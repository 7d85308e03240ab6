//! The number of storage units that work in parallel, and which addresses share one.
//!
//! Small reads go through the span in strides, at a high queue depth. Where storage spreads its addresses over
//! units in turn, a stride of one stripe brings consecutive requests to different units, and all of them work. A
//! stride of two stripes leaves every second unit idle. A stride of a whole round brings every request to the same
//! unit. Each stride is a point. Two more points show single-request latency, and the capacity of the link to the
//! storage.
//!
//! Parameters: `block_size` (of the strided reads), `stride` (bytes from start to start), `depth` (queue depth).
//!
//! How to read it: the highest throughput is that of all units, the lowest that of one; the largest stride that
//! still has the highest throughput is the stripe.
//!
//! Traps:
//! - Storage that places data by the order of writing (most SSDs, once they have been written at random) has no
//!   stripe by address: strides make no difference there, or an accidental one.
//! - A queue depth below the number of units leaves units idle at every stride.
//! - A link or a program that carries no more than some of the units hides the others.
//! - Strides are left out where the span holds fewer requests than twice the queue depth: their passes would meet
//!   each other.

use iosonde_model::{Device, ExperimentName, Rw, TrialSpec};

use super::{Experiment, Parameter, ParameterError, Parameters, grid};

pub(super) struct Units;

const PARAMETERS: &[Parameter] =
    &[grid::block_size("\"4k\""), grid::stride("[\"4k..64M*2\", \"12k..48M*2\"]"), grid::depth("128")];

/// Large reads that show what the link carries.
const LARGE_BYTES: u64 = 256 << 10;
const LARGE_DEPTH: u32 = 32;
/// Requests of one pass, per outstanding request.
const PASS_MIN: u64 = 2;

impl Experiment for Units {
    fn id(&self) -> ExperimentName {
        ExperimentName::Units
    }

    fn question(&self) -> &'static str {
        "How many units of this storage work in parallel, and which addresses share one?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn grid(&self, parameters: &Parameters, device: &Device) -> Result<Vec<TrialSpec>, ParameterError> {
        let base = TrialSpec {
            span_bytes: device.working_set_bytes,
            engine: device.engine.clone(),
            direct: device.direct,
            ..TrialSpec::default()
        };
        let mut specs = Vec::new();
        for block_size_bytes in parameters.sizes("block_size")? {
            specs.push(TrialSpec { block_size_bytes, ..base.clone() });
        }
        specs.push(TrialSpec {
            rw: Rw::Read,
            block_size_bytes: LARGE_BYTES,
            queue_depth: if crate::points::is_blocking(&device.engine) { 1 } else { LARGE_DEPTH },
            ..base
        });
        // What sequential patterns share (a pass that shifts) stands with the other strides.
        let strided = grid::cross_as(parameters, device, Rw::Read)?;
        let fits = |spec: &TrialSpec| {
            let stride_bytes = spec.stride_bytes.unwrap_or(spec.block_size_bytes);
            spec.span_bytes / stride_bytes >= PASS_MIN * u64::from(spec.queue_depth)
        };
        specs.extend(strided.into_iter().filter(fits));
        Ok(specs)
    }
}
