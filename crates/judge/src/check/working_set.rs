//! A working set small enough to fit in a cache.
//!
//! Looks at: the bytes that were prepared and addressed, against three things: this machine's memory where reads
//! are buffered; what the experiment `working-set` found, where it ran; and whether there may be a cache outside
//! this system (a hypervisor's, a file server's).
//!
//! Rule: buffered, and not larger than memory: the page cache may hold all of it, and device and memory cannot be
//! separated. Where points of one workload over several spans were measured: a span that is 1.5 times as fast as
//! the largest, with both intervals apart, fits a cache. A run's working set that is no larger is in it. 1.5,
//! because a seek over a larger span alone costs a disk a third.
//!
//! Verdict: a warning about the device. Not checked with direct I/O and a possible cache outside; the verdict then
//! says how to find out. Not checked where the size of this machine's memory, or what another tool addressed, is
//! unknown.
//!
//! Measured: exact comparisons; the rule over spans has the error of the intervals.
//!
//! Example: 100 MiB read at 450 MiB/s "from a USB hard disk", on a machine with gigabytes of memory; 2 GB of a
//! drive of 1 TB compared with a specification for the whole of it.
//!
//! What to do: `--size` several times that memory, or the experiment `working-set`, which finds the size from which
//! on it becomes slower.

#[cfg(test)]
use iosonde_model::HidingLayer;
use iosonde_model::{About, CheckName, Medium, Point, Reason, Run, Scope, Verdict, cause};

use super::Check;
#[cfg(test)]
use super::{Specimens, specimen};

/// How much faster than over the largest span.
const FASTER: f64 = 1.5;

pub(super) struct WorkingSet;

impl Check for WorkingSet {
    fn id(&self) -> CheckName {
        CheckName::WorkingSet
    }

    fn check(&self, scope: Scope, run: &Run) -> Option<Verdict> {
        // Storage in memory has no cache before it; `cache-served` says what it is.
        (scope == Scope::Run && run.info.device.medium != Medium::Memory).then(|| verdict(run))
    }

    #[cfg(test)]
    fn specimens(&self) -> Specimens {
        let direct = |unseen: &[HidingLayer]| {
            let mut run = specimen::run(specimen::usual());
            (run.info.device.direct, run.info.device.unseen) = (true, unseen.to_vec());
            run
        };
        let memory = |bytes: u64| {
            let mut run = specimen::run(specimen::buffered(None, None));
            run.info.host.memory_bytes = Some(bytes);
            run
        };
        let spans = |small_iops: f64| {
            let mut run = direct(&[]);
            run.points = vec![over(0, 1 << 30, small_iops), over(1, 64 << 30, 1000.0)];
            run
        };
        Specimens {
            pass: vec![direct(&[]), memory(1 << 29), spans(1100.0)],
            warning: vec![memory(16 << 30), spans(3000.0)],
            not_checked: vec![
                direct(&[HidingLayer::VirtualMachineHost]),
                specimen::run(specimen::buffered(None, None)),
                specimen::imported(specimen::tabled()),
            ],
            ..Specimens::default()
        }
    }
}

/// A point over a span, known to ±5 %.
#[cfg(test)]
fn over(id: usize, span_bytes: u64, iops: f64) -> Point {
    let mut point = Point::planned(id, "working-set", specimen::usual().spec);
    point.spec.span_bytes = span_bytes;
    let iops = iosonde_model::Estimate { value: iops, low: Some(0.95 * iops), high: Some(1.05 * iops) };
    point.read = Some(iosonde_model::PointDirection {
        iops,
        bytes_per_s: iops,
        latency_ns_mean: None,
        latency_ns_p50: None,
        latency_ns_p99: None,
        latency_ns_p99_9: None,
        levels: Vec::new(),
    });
    point
}

fn verdict(run: &Run) -> Verdict {
    let (device, host) = (&run.info.device, &run.info.host);
    let working_set_bytes = device.working_set_bytes;
    if let Some((cached_bytes, largest_bytes, ratio)) = cached(run) {
        let cached = cause::WorkingSet::Cached { cached_bytes, largest_bytes, ratio, working_set_bytes };
        return Verdict::Warning(Reason::new(About::Device, cached));
    }
    let abstain = |why: cause::WorkingSet| Verdict::NotChecked(Reason::new(About::Device, why));
    if run.info.is_imported() {
        return abstain(cause::WorkingSet::Imported);
    }
    match host.memory_bytes {
        Some(memory_bytes) if !device.direct && device.working_set_bytes < memory_bytes => {
            let fits = cause::WorkingSet::FitsMemory { working_set_bytes, memory_bytes };
            return Verdict::Warning(Reason::new(About::Device, fits));
        }
        None if !device.direct => {
            return abstain(cause::WorkingSet::MemoryUnknown { working_set_bytes });
        }
        _ => {}
    }
    if device.unseen.is_empty() {
        return Verdict::Pass;
    }
    abstain(cause::WorkingSet::CacheOutside { working_set_bytes, layers: device.unseen.clone() })
}

/// The largest span that is served faster than the largest of all, that span, and how many times faster; where the
/// run's working set is no larger.
fn cached(run: &Run) -> Option<(u64, u64, f64)> {
    let rate = |point: &Point| {
        let direction = point.read.as_ref().or(point.write.as_ref())?;
        Some((direction.iops.value, direction.iops.low?, direction.iops.high?))
    };
    let own: Vec<&Point> = run.points.iter().filter(|point| point.belongs_to("working-set")).collect();
    let largest = own.iter().max_by_key(|point| point.spec.span_bytes)?;
    let slow = rate(largest)?;
    let like = |point: &&&Point| {
        let mut spec = point.spec.clone();
        spec.span_bytes = largest.spec.span_bytes;
        spec == largest.spec && point.spec.span_bytes < largest.spec.span_bytes
    };
    let faster = own.iter().filter(like).filter_map(|point| {
        let fast = rate(point)?;
        (fast.1 > FASTER * slow.2).then_some((point.spec.span_bytes, fast.0 / slow.0))
    });
    let (span_bytes, times) = faster.max_by_key(|(span_bytes, _)| *span_bytes)?;
    let fits = run.info.device.working_set_bytes <= span_bytes;
    fits.then_some((span_bytes, largest.spec.span_bytes, times))
}
