//! Rotation, seek time and the fastest zone of a disk.
//!
//! Four kinds of requests, one point each:
//! - random reads over the whole addressed span, in which the arm travels;
//! - random writes within a narrow part, each on the medium before the next: the arm hardly moves and only the
//!   platter rotates;
//! - small sequential reads, which wait for neither;
//! - large sequential reads in several places from the first address to the last.
//!
//! Source: Talagala, Arpaci-Dusseau and Patterson, Microbenchmark-based Extraction of Local and Global Disk
//! Characteristics, 1999, describe these sweeps.
//!
//! Parameters: `rw` (of the narrow part: `randwrite`, or `randread` where nothing may be written), `block_size` (of
//! the small requests), `narrow` (bytes of the narrow part), `large` (bytes of a large read), `places` (how many).
//!
//! How to read it: waits within the narrow part are spread evenly over one rotation. The time of random reads
//! beyond half a rotation is the arm. Outer tracks are longer than inner ones, and pass in the same time.
//!
//! Traps:
//! - A write that a cache takes waits for no platter. The narrow writes request durability, and a disk that
//!   acknowledges early shows no rotation.
//! - Seeks depend on the width of the addressed part: those within a file of 1 GiB are short.
//! - Storage without a platter shows the same everywhere, and the findings say so.

use iosonde_model::{Device, ExperimentName, Rw, Sync, TrialSpec};

use super::{Experiment, Parameter, ParameterError, Parameters, grid};

pub(super) struct Disk;

const PARAMETERS: &[Parameter] = &[
    grid::rw("\"randwrite\""),
    grid::block_size("\"4k\""),
    Parameter {
        key: "narrow",
        explain: "bytes of the part in which the arm does not move",
        default: "\"64M\"",
    },
    Parameter { key: "large", explain: "bytes of a large read in sequence", default: "\"1M\"" },
    Parameter { key: "places", explain: "where large reads are made, at equal distances", default: "5" },
];

/// Queue depth of large reads: enough that the next is there when one ends.
const LARGE_DEPTH: u32 = 4;
/// Largest share of the addressed range that one place takes: a rate that falls by half over the whole disk then
/// changes by less than 1 % within a place.
const PLACE_SHARE: u64 = 64;
/// Maximum number of places: each is measured in every round.
const PLACES_MAX: u32 = 1000;
/// Largest size of a place: a trial seldom reaches its end and must begin again.
const PLACE_BYTES_MAX: u64 = 16 << 30;

impl Experiment for Disk {
    fn id(&self) -> ExperimentName {
        ExperimentName::Disk
    }

    fn question(&self) -> &'static str {
        "How long are this disk's rotation and seeks, and where is it fastest?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn grid(&self, parameters: &Parameters, device: &Device) -> Result<Vec<TrialSpec>, ParameterError> {
        let mut specs = Vec::new();
        for small in grid::cross(parameters, device)? {
            let alike = |rw| TrialSpec { rw, queue_depth: 1, jobs: 1, ..small.clone() };
            specs.extend([alike(Rw::RandRead), alike(Rw::Read)]);
            for narrow_bytes in parameters.sizes("narrow")? {
                let span_bytes = narrow_bytes.min(device.working_set_bytes);
                let sync = if small.rw.writes() { Sync::Dsync } else { Sync::None };
                specs.push(TrialSpec { span_bytes, sync, ..alike(small.rw) });
            }
        }
        let large_bytes = parameters.sizes("large")?;
        for block_size_bytes in large_bytes {
            specs.extend(places(block_size_bytes, parameters.count("places")?, parameters, device)?);
        }
        Ok(specs)
    }
}

/// Reads in sequence from the first address to the last.
fn places(
    block_size_bytes: u64,
    count: u32,
    parameters: &Parameters,
    device: &Device,
) -> Result<Vec<TrialSpec>, ParameterError> {
    if !(2..=PLACES_MAX).contains(&count) {
        let wanted = format!("from 2, or there is nothing to compare, to {PLACES_MAX}");
        return Err(parameters.wrong("places", wanted));
    }
    if block_size_bytes == 0 {
        return Err(parameters.wrong("large", "at least one byte, such as 1MiB"));
    }
    let whole_bytes = device.working_set_bytes;
    let whole_blocks = |bytes: u64| bytes / block_size_bytes * block_size_bytes;
    let span_bytes = whole_blocks((whole_bytes / PLACE_SHARE).min(PLACE_BYTES_MAX)).max(4 * block_size_bytes);
    let last_bytes = whole_bytes.saturating_sub(span_bytes);
    let place = |nth: u32| TrialSpec {
        rw: Rw::Read,
        block_size_bytes,
        queue_depth: if crate::points::is_blocking(&device.engine) { 1 } else { LARGE_DEPTH },
        offset_bytes: whole_blocks((u128::from(last_bytes) * u128::from(nth) / u128::from(count - 1)) as u64),
        span_bytes,
        engine: device.engine.clone(),
        direct: device.direct,
        ..TrialSpec::default()
    };
    Ok((0..count).map(place).collect())
}
