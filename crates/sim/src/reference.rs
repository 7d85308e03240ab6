//! Truth by computation, where theory has no closed form: the device itself in a closed loop, with an
//! interval.

use iosonde_model::{Estimate, Op};
use rand::RngExt;

use crate::{
    device::Device,
    file::DeviceFile,
    random::stream,
    request::{Ask, Done},
};

/// Workload of a reference run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReferenceLoad {
    /// Read or write.
    pub op: Op,
    /// Share of reads in a mix, from 0 to 1; `None` for requests of `op` alone.
    pub read_share: Option<f64>,
    /// True for offsets at random over the span, false for sequential ones that wrap around at its end.
    pub random: bool,
    /// Bytes and alignment of one request.
    pub block_size_bytes: u32,
    /// Queue depth.
    pub queue_depth: u32,
    /// Length of the addressed part, from the beginning of the device; `None` for all of it.
    pub span_bytes: Option<u64>,
    /// Requests that are made before anything is counted: how a buffer is filled or a steady state reached.
    pub warm_up_requests: u64,
    /// Requests of a batch, of which there are 20: their means are taken as independent, so a batch is many times
    /// as long as anything that the device remembers.
    pub batch_requests: u64,
}

/// Results of a fresh device under a load, with 95 % confidence intervals.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reference {
    /// Completions per second.
    pub iops: Estimate,
    /// Mean time from submission to completion, in nanoseconds.
    pub latency_ns_mean: Estimate,
}

/// Batches whose means are taken as independent.
const BATCHES: usize = 20;
/// Student's t at 95 % with 19 degrees of freedom.
const T_19: f64 = 2.093;

/// Events after which a load is given up: nine times the most that a built-in device needs (267,822). A device file may
/// describe a part that needs thousands of events for each request.
const STEPS_MAX: u64 = 2_500_000;

/// Runs a load on a fresh device in virtual time: 20 batches of requests after warming up, whose means give the
/// interval (batch means; Law, Simulation Modeling and Analysis, section 9.5). `None` if the device stops
/// answering, or needs too much work. 100,000 requests take about a tenth of a second.
pub fn reference(file: &DeviceFile, load: &ReferenceLoad, seed: u64) -> Option<Reference> {
    let mut run = Run::new(file, load, seed);
    run.finish(load.warm_up_requests.max(u64::from(load.queue_depth) * 4))?;
    let mut per_request_ns = Vec::with_capacity(BATCHES);
    let mut latencies_ns = Vec::with_capacity(BATCHES);
    for _ in 0..BATCHES {
        let (from_ns, latency_before_ns) = (run.now_ns, run.latency_ns);
        let finished = run.finish(load.batch_requests)? as f64;
        per_request_ns.push((run.now_ns - from_ns) as f64 / finished);
        latencies_ns.push((run.latency_ns - latency_before_ns) as f64 / finished);
    }
    Some(Reference { iops: per_s(mean(&per_request_ns)), latency_ns_mean: mean(&latencies_ns) })
}

/// A log: appends of this length at QD 1 on a fresh device, each followed by a flush. Gives the mean time of a
/// flush, and the appends a second.
pub(crate) fn log_writes(file: &DeviceFile, length_bytes: u32, seed: u64) -> Option<(Estimate, Estimate)> {
    // Enough to see every erase and turn of a platter at its rate.
    const APPENDS: u64 = 100;
    let mut device = Device::new(file, seed);
    let (mut now_ns, mut offset_bytes, mut done) = (0, 0, Vec::new());
    let (mut flushes_ns, mut appends_ns) = (Vec::new(), Vec::new());
    for _ in 0..BATCHES {
        let (from_ns, mut flushing_ns) = (now_ns, 0);
        for _ in 0..APPENDS {
            let write = Ask { tag: 0, op: Op::Write, offset_bytes, length_bytes, direct: true };
            let written_ns = alone(&mut device, now_ns, write, &mut done)?;
            now_ns =
                alone(&mut device, written_ns, Ask { op: Op::Flush, length_bytes: 0, ..write }, &mut done)?;
            flushing_ns += now_ns - written_ns;
            offset_bytes = (offset_bytes + u64::from(length_bytes)) % (file.capacity_bytes() / 2);
        }
        flushes_ns.push(flushing_ns as f64 / APPENDS as f64);
        appends_ns.push((now_ns - from_ns) as f64 / APPENDS as f64);
    }
    Some((mean(&flushes_ns), per_s(mean(&appends_ns))))
}

/// When the only request under way is done.
fn alone(device: &mut Device, now_ns: u64, ask: Ask, done: &mut Vec<Done>) -> Option<u64> {
    done.clear();
    device.submit(now_ns, ask);
    while done.is_empty() {
        device.reap(device.next_event_ns()?, done);
    }
    Some(done[0].at_ns)
}

/// The rate of something that takes so many nanoseconds.
fn per_s(gap_ns: Estimate) -> Estimate {
    let rate = |ns: f64| 1e9 / ns;
    Estimate {
        value: rate(gap_ns.value),
        low: gap_ns.high.map(rate),
        // An interval that reaches down to no time at all has no upper end.
        high: gap_ns.low.filter(|ns| *ns > 0.0).map(rate),
    }
}

fn mean(values: &[f64]) -> Estimate {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let half = T_19 * (variance / count).sqrt();
    Estimate { value: mean, low: Some(mean - half), high: Some(mean + half) }
}

/// A closed loop under way.
struct Run<'a> {
    device: Device,
    load: &'a ReferenceLoad,
    blocks: u64,
    random: crate::random::Random,
    asked: u64,
    submitted_ns: Vec<u64>,
    idle_slots: Vec<u32>,
    now_ns: u64,
    /// Sum over everything that has finished.
    latency_ns: u128,
    done: Vec<Done>,
}

impl<'a> Run<'a> {
    fn new(file: &DeviceFile, load: &'a ReferenceLoad, seed: u64) -> Self {
        let span_bytes = load.span_bytes.unwrap_or(u64::MAX).min(file.capacity_bytes());
        Self {
            device: Device::new(file, seed),
            load,
            blocks: (span_bytes / u64::from(load.block_size_bytes.max(1))).max(1),
            random: stream(seed, "reference"),
            asked: 0,
            submitted_ns: vec![0; load.queue_depth as usize],
            idle_slots: (0..load.queue_depth).collect(),
            now_ns: 0,
            latency_ns: 0,
            done: Vec::new(),
        }
    }

    /// Goes on until at least so many more requests have finished; says how many.
    fn finish(&mut self, requests: u64) -> Option<u64> {
        let mut finished = 0;
        while finished < requests {
            if self.device.steps() > STEPS_MAX {
                return None;
            }
            while let Some(slot) = self.idle_slots.pop() {
                self.submit(slot);
            }
            self.now_ns = self.device.next_event_ns()?;
            self.device.reap(self.now_ns, &mut self.done);
            for one in self.done.drain(..) {
                self.latency_ns += u128::from(one.at_ns - self.submitted_ns[one.tag as usize]);
                self.idle_slots.push(one.tag as u32);
                finished += 1;
            }
        }
        Some(finished)
    }

    fn submit(&mut self, slot: u32) {
        let ReferenceLoad { mut op, random, block_size_bytes: length_bytes, .. } = *self.load;
        if let Some(share) = self.load.read_share {
            op = if self.random.random_bool(share) { Op::Read } else { Op::Write };
        }
        let block = if random { self.random.random_range(0..self.blocks) } else { self.asked % self.blocks };
        let offset_bytes = block * u64::from(length_bytes);
        self.submitted_ns[slot as usize] = self.now_ns;
        self.device
            .submit(self.now_ns, Ask { tag: u64::from(slot), op, offset_bytes, length_bytes, direct: true });
        self.asked += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin;

    fn load(queue_depth: u32) -> ReferenceLoad {
        ReferenceLoad {
            op: Op::Read,
            read_share: None,
            random: true,
            block_size_bytes: 4096,
            queue_depth,
            span_bytes: None,
            warm_up_requests: 10_000,
            batch_requests: 5_000,
        }
    }

    fn of(text: &str, load: &ReferenceLoad) -> Reference {
        reference(&DeviceFile::parse(text, "test").unwrap(), load, 1).unwrap()
    }

    #[test]
    fn what_theory_knows_it_finds() {
        let ideal = of(builtin("ideal").unwrap(), &load(32));
        assert!((ideal.iops.value / 50_000.0 - 1.0).abs() < 1e-6);
        // QD 32 / 50,000.
        assert!((ideal.latency_ns_mean.value / 640_000.0 - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_load_that_takes_too_much_work_is_given_up() {
        let file = DeviceFile::parse(builtin("ideal").unwrap(), "test").unwrap();
        let long = ReferenceLoad { warm_up_requests: STEPS_MAX + 1, ..load(1) };
        assert!(reference(&file, &long, 1).is_none());
    }

    #[test]
    fn random_addresses_on_flash_reach_the_known_shares_within_their_intervals() {
        let units = "name = \"x\"\ncapacity = \"1TB\"\n[flash]\nunits = 32\npage = \"16KiB\"\n\
            mapping_unit = \"4KiB\"\nread = \"60us\"\nprogram = \"600us\"\n";
        for (depth, share) in [(32, 0.59), (128, 0.88), (256, 0.94)] {
            let iops = of(units, &load(depth)).iops;
            assert!((iops.value / 533_333.3 - share).abs() < 0.01, "{depth}: {iops:?}");
            // 100,000 requests tell the rate to within 1 % either way.
            assert!((iops.high.unwrap() - iops.low.unwrap()) / iops.value < 0.02, "{depth}: {iops:?}");
        }
    }

    #[test]
    fn intervals_hold_what_they_should() {
        // Exponential service, 4 servers kept busy: 50,000. Of 100 intervals 95 hold it, with a deviation of
        // 2.2; each is 4 / sqrt(100,000) = 1.3 % wide.
        let text =
            "name = \"x\"\ncapacity = \"1TB\"\n[queue]\nservers = 4\nservice = { exponential = \"80us\" }\n";
        let file = DeviceFile::parse(text, "test").unwrap();
        let holds = |seed: &u64| {
            let iops = reference(&file, &load(8), *seed).unwrap().iops;
            let (low, high) = (iops.low.unwrap(), iops.high.unwrap());
            assert!(high - low < 0.025 * 50_000.0, "{iops:?}");
            low <= 50_000.0 && 50_000.0 <= high
        };
        let held = (0..100).filter(holds).count();
        assert!(held >= 89, "{held} of 100");
    }
}
