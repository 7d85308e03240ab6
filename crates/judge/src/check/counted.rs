//! Whether the block layer's counters can be a witness at all.
//!
//! Some block devices count nothing although data passes them. The head of an NVMe multipath set hands its requests
//! to the paths below, which count in its place. To such a counter every trial looks like memory. The run's own
//! direct fill shows it: the random bytes of a direct fill did reach the device.

use std::{borrow::Cow, ops::Deref};

use iosonde_model::{Phase, Run, Trial, cause::NoWitness};

/// Share of a direct fill below which the counters do not count. A tenth: other I/O only adds to them.
const COUNTED_SHARE_MIN: f64 = 0.1;
/// Below this, the fill says nothing.
const FILLED_BYTES_MIN: u64 = 1 << 20;

/// A trial as it can be judged: without the device's counters where those count nothing.
pub(super) struct Witnessed<'a> {
    trial: Cow<'a, Trial>,
    standstill: Option<NoWitness>,
}

impl Witnessed<'_> {
    /// Why nothing tells how many bytes the device moved, where its counters are missing.
    pub(super) fn missing(&self) -> NoWitness {
        let not_read = || NoWitness::NotRead { said: self.trial.witnesses.absent.clone() };
        self.standstill.clone().unwrap_or_else(not_read)
    }
}

impl Deref for Witnessed<'_> {
    type Target = Trial;

    fn deref(&self) -> &Trial {
        &self.trial
    }
}

/// Takes away the device's counters from a trial of a run in which they count nothing.
pub(super) fn witnessed<'a>(trial: &'a Trial, run: &Run) -> Witnessed<'a> {
    let standstill = standstill(run);
    let mut trial = Cow::Borrowed(trial);
    if standstill.is_some() {
        let witnesses = &mut trial.to_mut().witnesses;
        (witnesses.block_layer_read_bytes, witnesses.block_layer_write_bytes) = (None, None);
        witnesses.block_layer_in_flight_mean = None;
    }
    Witnessed { trial, standstill }
}

/// Why the counters are no witness, if they are none. Bytes that the fill left in the page cache went there and not
/// to the device: then it is the counters that are right.
fn standstill(run: &Run) -> Option<NoWitness> {
    // Filling comes first; looking no further keeps this cheap, since it is called for every trial.
    let fills = run.trials.iter().take_while(|trial| trial.phase == Phase::Prepare);
    let (mut filled_bytes, mut counted_bytes, mut cached_bytes, mut device) = (0, 0, 0, None);
    for fill in fills.filter(|fill| fill.spec.direct) {
        let witnesses = &fill.witnesses;
        filled_bytes += witnesses.issued_write_bytes;
        counted_bytes += witnesses.block_layer_write_bytes?;
        cached_bytes += witnesses.resident_after_bytes.unwrap_or(0);
        device = witnesses.block_layer_device.as_deref();
    }
    let still =
        (counted_bytes as f64) < COUNTED_SHARE_MIN * filled_bytes as f64 && cached_bytes < filled_bytes / 2;
    let device = device.map(str::to_owned);
    (filled_bytes >= FILLED_BYTES_MIN && still).then_some(NoWitness::CountsNothing {
        device,
        counted_bytes,
        filled_bytes,
    })
}
