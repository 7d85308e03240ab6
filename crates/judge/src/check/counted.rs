//! Whether the block layer's counters can be a witness at all.
//!
//! Some block devices count nothing although data passes them: the head of an NVMe multipath set hands its requests
//! to the paths below, which count in its place. To such a counter every trial looks like memory. The run's own
//! direct fill tells: what was filled past the page cache with random bytes did move.

use std::borrow::Cow;

use iosonde_model::{Phase, Run, Trial, units};

/// Share of a direct fill below which the counters stand still. A tenth: what others moved meanwhile only adds.
const COUNTED_SHARE_MIN: f64 = 0.1;
/// Below this, the fill says nothing.
const FILLED_BYTES_MIN: u64 = 1 << 20;

/// The trial as it can be judged: where the counters stand still, without them, and with the reason.
pub(super) fn witnessed<'a>(trial: &'a Trial, run: &Run) -> Cow<'a, Trial> {
    let Some(why) = standstill(run) else { return Cow::Borrowed(trial) };
    let mut trial = trial.clone();
    let witnesses = &mut trial.witnesses;
    (witnesses.block_layer_read_bytes, witnesses.block_layer_write_bytes) = (None, None);
    witnesses.block_layer_in_flight_mean = None;
    witnesses.absent = vec![why];
    Cow::Owned(trial)
}

/// Why the counters are no witness, if they are none. Bytes that the fill left in the page cache went there and not
/// to the device: then it is the counters that are right.
fn standstill(run: &Run) -> Option<String> {
    // Filling comes first; looking no further keeps this cheap, since it is asked for every trial.
    let fills = run.trials.iter().take_while(|trial| trial.phase == Phase::Prepare);
    let (mut filled, mut counted, mut cached, mut name) = (0, 0, 0, None);
    for fill in fills.filter(|fill| fill.spec.direct) {
        let witnesses = &fill.witnesses;
        filled += witnesses.issued_write_bytes;
        counted += witnesses.block_layer_write_bytes?;
        cached += witnesses.resident_after_bytes.unwrap_or(0);
        name = witnesses.block_layer_device.as_deref();
    }
    let still = (counted as f64) < COUNTED_SHARE_MIN * filled as f64 && cached < filled / 2;
    (filled >= FILLED_BYTES_MIN && still).then(|| {
        format!(
            "{} counted {} of the {} that this run filled past the page cache, so that it is no witness",
            name.unwrap_or("the device"),
            units::decimal_bytes(counted),
            units::decimal_bytes(filled)
        )
    })
}
