//! Share of the outstanding requests that reached the device, by the block layer's count.

use iosonde_model::Trial;

/// What the device must at least have seen, as a share of the requested depth. Half, because the time between our
/// stamps and the block layer's belongs to a request as well (a quarter of it at 100 us).
const DEVICE_SHARE_MIN: f64 = 0.5;
/// Depth from which on the device's count is used: below, that time is too large a part.
pub const DEVICE_FROM: f64 = 8.0;

/// Share of the requested depth up to which what did not reach the device costs less than the usual precision of 5 %.
const KEPT_BACK_MAX: f64 = 0.05;

/// Mean queue depth by the block layer's count since the first stream began; that count is over the whole trial.
fn at_the_device(trial: &Trial) -> Option<f64> {
    let busy_s = trial.elapsed_s - trial.delay_s();
    let share = if busy_s > 0.0 && trial.elapsed_s > 0.0 { busy_s / trial.elapsed_s } else { 1.0 };
    Some(trial.witnesses.block_layer_in_flight_mean? / share)
}

/// Share of the requested depth that was not at the device: with this program, or on the way.
///
/// It bounds the loss of throughput: a device serves n requests at least n / N times as fast as N, where its rate rises
/// ever less with the depth. `None` without the device's count, where the depth is not constant, and where the block
/// layer split requests, so that it counted more than were made.
pub fn kept_back_share(trial: &Trial) -> Option<f64> {
    let asked = trial.asked_in_flight_mean();
    let seen = at_the_device(trial).filter(|_| trial.spec.direct && trial.keeps_depth())?;
    (0.0 < seen && seen <= asked).then(|| 1.0 - seen / asked)
}

/// Returns true if nearly the requested depth was at the device.
pub fn is_fed(trial: &Trial) -> bool {
    kept_back_share(trial).is_some_and(|share| share <= KEPT_BACK_MAX)
}

/// The mean queue depth that the device saw, where it is less than half of the requested one: the rest waited
/// above it, in the block layer's own queue, the file system or this program. A counter that does not move is no
/// witness.
pub fn too_few_at_the_device(trial: &Trial) -> Option<f64> {
    let asked = trial.asked_in_flight_mean();
    let seen = at_the_device(trial).filter(|_| trial.spec.direct && asked >= DEVICE_FROM)?;
    (seen < DEVICE_SHARE_MIN * asked).then_some(seen)
}
