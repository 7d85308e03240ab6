//! Parts that compose along a request's way, one file each: its settings, its law and its behaviour.
//!
//! To add one: a file with a [`PartKind`] (reads the settings), a [`Settings`] (states the law, builds the
//! part) and a [`Part`] (does it), and a line in the registry below, whose order is the order on the way
//! down.

mod effects;

use iosonde_model::{FileError, FindingName, Named, Op, registry};
use std::{fmt, ops::Range, sync::Arc};

use crate::{
    fake::FakeCapacity,
    flow::{Flow, Id},
    reader::Reader,
};

registry! {
    /// Registry of parts, from the program down to the medium.
    pub(crate) PARTS: PartKind "part" {
        effort::Effort,
        program::Program,
        page_cache::PageCache,
        split::Split,
        throttle::Throttle,
        network::Network,
        slots::Slots,
        link::Link,
        faults::Faults,
        fake::Fake,
        snapshot::Snapshot,
        thermal::Thermal,
        neighbour::Neighbour,
        noise::Noise,
        queue::Queue,
        flash::Flash,
        disk::Disk,
        raid::Raid,
    }
}

/// A registered part. Its name is also the first word of its random streams.
pub(crate) trait PartKind: Named {
    /// Reads its settings from a device file; `None` where the file does not ask for it.
    fn read(&self, reader: &mut Reader) -> Result<Option<Arc<dyn Settings>>, FileError>;

    /// Keys that must be there, with their sections (`queue.servers`), and what they mean.
    fn needed(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }
}

/// Side of the block layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Host: between the program and the block layer.
    Host,
    /// Below it, and counted by it.
    Device,
    /// Below it, and where every request ends: a device has exactly one of these.
    Medium,
}

/// The settings of one part in one device file, and what follows from them in closed form.
pub(crate) trait Settings: fmt::Debug + Send + Sync {
    /// Returns the part's side of the block layer.
    fn side(&self) -> Side {
        Side::Device
    }

    /// The part itself, fresh.
    fn build(&self, place: &PartPosition) -> Box<dyn Part>;

    /// Processor time of the program.
    fn host_cost_ns(&self, _op: Op) -> u64 {
        0
    }

    /// Processors that the program's workers run on.
    fn processors(&self) -> usize {
        1
    }

    /// Returns true if equal requests take unequal times, apart from queueing: then a closed loop has no exact form.
    fn scatters(&self) -> bool {
        false
    }

    /// Returns true if some requests succeed with wrong data.
    fn fails_in_silence(&self) -> bool {
        false
    }

    /// Returns true if some reads return older data.
    fn serves_old_versions(&self) -> bool {
        false
    }

    /// Returns what it holds of the capacity that it claims, if that is not all.
    fn fake_capacity(&self) -> Option<FakeCapacity> {
        None
    }

    /// Memory of the host whose page cache it is.
    fn memory_bytes(&self) -> Option<u64> {
        None
    }

    /// Returns true if requests pass faster until a credit is spent.
    fn has_burst_credit(&self) -> bool {
        false
    }

    /// Returns true if different addresses lie in different places, so that random ones collide.
    fn lays_out(&self) -> bool {
        false
    }

    /// Returns the reason why the device's rate changes over its life, if it does: then no short run shows it.
    fn wanders(&self) -> Option<&'static str> {
        None
    }

    /// Returns the mean factor on the medium's time, by which rates are divided.
    fn stretch_mean(&self) -> f64 {
        1.0
    }

    /// The largest request that it lets through whole: what is larger comes below in pieces of this size.
    fn split_bytes(&self) -> Option<u64> {
        None
    }

    /// Returns the largest number of requests below it.
    fn slots(&self) -> Option<u32> {
        None
    }

    /// Returns its share of the latency of a request at queue depth 1.
    fn idle(&self, _load: &Load) -> Option<IdleLatency> {
        None
    }

    /// Returns the largest rate of such requests, in IOPS.
    fn limit(&self, _load: &Load) -> Option<Limit> {
        None
    }

    /// Returns the limits that hold for a number of bytes before the long-term rate; the first to fill up comes first.
    fn bursts(&self, _load: &Load) -> Vec<Burst> {
        Vec::new()
    }

    /// Returns the reason why a law that includes this part has no closed form, if there is one.
    fn no_closed_form(&self, _load: &Load, _law: Law) -> Option<&'static str> {
        None
    }

    /// Returns the true values that this part alone determines: the rate of a throttle, the drift of noise.
    fn facts(&self, _load: &Load) -> Vec<Fact> {
        Vec::new()
    }

    /// Under which further condition a law of this device holds, if under any: only while it is cool, say.
    fn caveat(&self, _load: &Load, _law: Law) -> Option<String> {
        None
    }
}

/// Position of a part in a device, and the seed of its randomness.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PartPosition {
    /// The device's.
    pub(crate) seed: u64,
    /// Stage of the part, counted from the program down.
    pub(crate) stage: u8,
    /// The device's size.
    pub(crate) capacity_bytes: u64,
}

/// Next step of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Continues in its direction at this time, in nanoseconds.
    On(u64),
    /// Served here: back up, at this moment.
    Back(u64),
    /// Kept by the part, which sends it on later with an event, or ended by it.
    Kept,
}

/// A part at work. Events come in the order of time, so a part that serves first come, first served may say
/// at once when a request will leave it.
pub(crate) trait Part: Send {
    /// A request comes from above.
    fn down(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step;

    /// Returns true if requests pass this part again on their way up.
    fn rises(&self) -> bool {
        false
    }

    /// A request comes back from below.
    fn up(&mut self, now_ns: u64, _id: Id, _flow: &mut Flow) -> Step {
        Step::On(now_ns)
    }

    /// A moment that the part set with [`Leg::Wake`](crate::event::Leg::Wake), and the mark it gave
    /// instead of a request.
    fn wake(&mut self, _now_ns: u64, _token: u32, _flow: &mut Flow) {}

    /// Bytes of a range that memory holds; `None` for a part that holds none.
    fn resident_bytes(&self, _range: &Range<u64>) -> Option<u64> {
        None
    }
}

/// Kind of law.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Law {
    /// The time of a request that is alone: [`Settings::idle`].
    Alone,
    /// The highest rate: [`Settings::limit`].
    Most,
}

/// Workload that a law describes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Load {
    /// Read or write.
    pub(crate) op: Op,
    /// Bytes of one request.
    pub(crate) block_size_bytes: u64,
    /// True for addresses random over the whole device, false for sequential ones from its beginning.
    pub(crate) random: bool,
    /// Product of all parts' mean stretches.
    pub(crate) stretch: f64,
    /// Processor time of the program for one request.
    pub(crate) host_cost_ns: f64,
}

/// Contribution of a part to the latency at queue depth 1: `fixed_ns + ns_per_byte * bytes` for the load's block size.
#[derive(Debug, Clone)]
pub(crate) struct IdleLatency {
    /// Fixed time in nanoseconds, or the time at this size where it is not `linear`.
    pub(crate) fixed_ns: f64,
    /// Time for each byte, in nanoseconds.
    pub(crate) ns_per_byte: f64,
    /// True if the same two numbers hold for every size.
    pub(crate) linear: bool,
    /// Description: `link latency 5 µs`.
    pub(crate) words: String,
}

/// The most that a part lets through.
#[derive(Debug, Clone)]
pub(crate) struct Limit {
    /// Requests a second.
    pub(crate) per_s: f64,
    /// Derivation: `4 servers / 80 µs`.
    pub(crate) words: String,
}

/// A stock of room that makes writes faster while it lasts.
#[derive(Debug, Clone)]
pub(crate) struct Burst {
    /// The most that goes into it; `None` where only what stands above it decides.
    pub(crate) limit: Option<Limit>,
    /// End of the period: `until the buffer of 64 MiB is full`.
    pub(crate) words: String,
}

/// A finding's truth that one part decides alone.
#[derive(Debug, Clone)]
pub(crate) struct Fact {
    /// The finding's name.
    pub(crate) finding: FindingName,
    /// Direction; `None` for both.
    pub(crate) op: Option<Op>,
    /// Value in `unit`.
    pub(crate) value: f64,
    /// Unit, as in [`Truth::unit`](crate::Truth::unit).
    pub(crate) unit: &'static str,
    /// Derivation of the value.
    pub(crate) derivation: String,
}

/// Returns name and manual page (formula and source) of every part, from the program down to the medium.
pub fn part_manuals() -> impl Iterator<Item = (&'static str, String)> {
    PARTS.entries().map(|entry| (entry.item.name(), entry.manual()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_registry_is_well_formed() {
        super::PARTS.assert_well_formed();
    }
}
