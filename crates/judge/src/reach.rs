//! Share of the outstanding requests that reached the device, by the block layer's count.

use iosonde_model::Trial;

/// What the device must at least have seen, as a share of the requested depth. Half, because the time between our
/// stamps and the block layer's belongs to a request as well (a quarter of it at 100 us).
const DEVICE_SHARE_MIN: f64 = 0.5;
/// Depth from which on the device's count is used: below, that time is too large a part.
pub const DEVICE_FROM: f64 = 8.0;

/// The mean queue depth that the device saw, where it is less than half of the requested one: the rest waited
/// above it, in the block layer's own queue, the file system or this program. A counter that does not move is no
/// witness.
pub fn too_few_at_the_device(trial: &Trial) -> Option<f64> {
    let asked = trial.spec.asked_in_flight() as f64;
    let seen =
        trial.witnesses.block_layer_in_flight_mean.filter(|_| trial.spec.direct && asked >= DEVICE_FROM)?;
    (seen < DEVICE_SHARE_MIN * asked).then_some(seen)
}
