//! A limit on IOPS or throughput that holds from the first second on, as clouds set it for their volumes.
//!
//! What it is: the IOPS, or the bytes per second, that reads and writes get together, or each of them alone,
//! whatever the block size, the queue depth and the mix. Some limits count a large request several times, once for
//! each 16 KiB or 256 KiB of it.
//!
//! How it is worked out: for each quantity (requests, bytes, parts of requests; of reads, of writes, of both), the
//! highest value that several points share within 0.4 % and that no point exceeds. It is a limit where, in
//! addition, the rate is steadier than the storage behind it can be: a medium whose requests take unequal times
//! completes them with a scatter of cv / √n from trial to trial (cv: of latencies at queue depth 1, n: requests),
//! and a limit lets the latencies absorb that. The variance between trials must be below 25 % of it, over 16 trials
//! or more (8 where only writes are held); the third of the points that scatters most is left out, since near the
//! depth where a limit sets in the medium is felt. A limit of bytes needs no such proof where its trials agree
//! within 0.5 % and it misses the fixed time of a request, since large requests are too few to show their scatter.
//! Of the block sizes at the limit, every point that would exceed it 1.5 times without it (queue depth × rate at
//! queue depth 1) must lie at it: a medium saturates more softly. IOPS must be the same at two block sizes or at
//! three queue depths a factor of 4 apart, and larger requests must get more bytes per second, or a slow link would
//! do the same. Bytes per second must be the same at two block sizes and at two queue depths. One of them is 1, where
//! a link would add the fixed time of a request (1 % or more of it); at the other one, units that work side by side
//! on the parts of a large request would get more, and the request at 1 must take 10 % longer than a small one, or
//! nothing holds it. A limit of writes alone is not told from a buffer that drains, and is named only beside one that
//! holds reads. Limits of reads and of writes of one height are one limit, unless a mix of both gets more; a mix at
//! that height shows that they share it.
//!
//! A control group of Linux lets its budget pass in slices of 100 ms: requests run freely until the slice's share is
//! used, and wait for the next. Short trials then scatter by a slice more or less: trials that fall silent again and
//! again are made longer. Where trials stall at a regular distance, only whole portions are counted, from the end of
//! one stall to that of another. That something limits the storage shows in the stalls: without them the points' rates
//! would be twice the limit and 1.5 times apart, and with them they are equal within 2 %, or within a request of each
//! trial. Points are weighted by how much that is, and points of fewer than ten requests in a trial's whole portions
//! do not count. The interval contains what is left of a portion when its trial begins and ends.
//!
//! The controller of a volume in AWS counts the time in which more was requested than the volume's limit lets pass.
//! Where it counts half of the trials' time or more, that proves the limit instead of the steady rate, for writes alone
//! as well.
//!
//! Assumes: that no processor or command queue with a fixed time for each request is the bottleneck; it is a limit,
//! too, and raising it takes other hardware. Storage that repeats itself to the digit at all points shows nothing:
//! its limit and its own rate are one. A limit with a credit shows the rate of its burst until that is
//! spent (`throttle_rate`).
//!
//! Measured: see the table in docs/findings.md, made by `bench/limits`.

mod plateau;
mod portions;

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    Conditions, Detail, ExperimentName, Finding, FindingName, Inconclusive, Trial, Unit,
    detail::{ConstantLimit as Facts, Counted},
};

use super::{
    FindingKind, Proof, ScreenLine,
    group::{Writer, of_the_device},
};
use plateau::{Limit, TRIALS_MIN, limits, usable};

pub(crate) struct ConstantLimit;

impl FindingKind for ConstantLimit {
    fn id(&self) -> FindingName {
        FindingName::ConstantLimit
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::found("limit")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = |unit| Writer { name: self.id(), experiment, unit, confidence };
        let closed: Vec<&Evidence> = points.iter().filter(|evidence| usable(evidence)).collect();
        if closed.len() < 2 {
            return Vec::new();
        }
        let timed = |trial: &&Trial| trial.measured_s > 0.0;
        let trials = |evidence: &&Evidence| of_the_device(evidence).filter(timed).count();
        let known = closed.iter().filter(|evidence| trials(evidence) >= TRIALS_MIN).count();
        let found = limits(&closed);
        if known < 2 && found.is_empty() {
            let trials = closed.iter().map(trials).sum();
            let why = Inconclusive::FewFigures { trials, needed: 2 * TRIALS_MIN };
            return vec![writer(Unit::None).inconclusive(&Conditions::default(), &closed, why)];
        }
        if found.is_empty() {
            let none = Detail::ConstantLimit(Facts::None { points: known });
            return vec![writer(Unit::None).absent(&Conditions::default(), &closed, none)];
        }
        found.iter().map(|limit| one(&writer(unit(limit)), &closed, limit)).collect()
    }

    fn proof(&self) -> Proof {
        Proof {
            device: r#"
name = "volume"
summary = "a volume of 6,000 requests a second, reads and writes together"
capacity = "64GiB"
[host]
request_cost = "2us"
[link]
bandwidth = "3GB/s"
latency = "100us"
[queue]
servers = 64
service = { lognormal = { mean = "300us", cv = 0.3 } }
[throttle]
iops = 6000
"#,
            study: r#"
name = "volume"
question = "Is it limited?"
time = "60s"
[[experiment]]
kind = "queue-depth"
rw = ["randread", "randwrite"]
depth = "1..64*2"
[[experiment]]
kind = "mix"
depth = 32
mix = 70
[[experiment]]
kind = "random-vs-sequential"
rw = ["randread", "randwrite"]
block_size = "64k"
depth = 16
"#,
            truths: &[(Some(6000.0), "one request of either kind each 1 / 6,000 s")],
            widest: 0.01,
        }
    }
}

fn unit(limit: &Limit) -> Unit {
    if limit.counted == Counted::Bytes { Unit::Rate } else { Unit::Iops }
}

fn one(writer: &Writer, all: &[&Evidence], limit: &Limit) -> Finding {
    let points: Vec<&Evidence> = limit.places.iter().map(|&place| all[place]).collect();
    let conditions = Conditions { op: limit.op, ..Conditions::default() };
    let facts = Facts::Held {
        counted: limit.counted,
        shared: limit.shared,
        points: points.len(),
        apart_share: limit.apart_share,
        scatter_ratio: limit.scatter_ratio,
        portions_s: limit.portions_s,
        exceeded_share: limit.exceeded_share,
    };
    match limit.estimate(writer.confidence) {
        Ok(estimate) => writer.concluded(&conditions, &points, estimate, Detail::ConstantLimit(facts)),
        Err(why) => writer.inconclusive(&conditions, &points, why),
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Histogram, Op, Point, Rw, Stall, Status};
    use iosonde_testkit::specimen;

    use super::*;

    const MIB: u64 = 1 << 20;
    /// Workloads of `quick`, in short.
    const WORKLOADS: [(Rw, u64, u32); 14] = [
        (Rw::RandRead, 4096, 1),
        (Rw::RandRead, 4096, 4),
        (Rw::RandRead, 4096, 16),
        (Rw::RandRead, 4096, 64),
        (Rw::RandRead, 4096, 128),
        (Rw::RandWrite, 4096, 1),
        (Rw::RandWrite, 4096, 16),
        (Rw::RandWrite, 4096, 128),
        (Rw::RandRead, MIB, 1),
        (Rw::RandWrite, MIB, 1),
        (Rw::RandRead, 4 * MIB, 1),
        (Rw::RandWrite, 4 * MIB, 1),
        (Rw::RandRead, MIB, 8),
        (Rw::RandWrite, MIB, 8),
    ];

    /// Requests in the nth trial of a second.
    type Law = fn(workload: (Rw, u64, u32), nth: u64) -> f64;

    /// Time of a request alone: 0.5 ms, and 2 GB/s.
    fn alone_s(bytes: u64) -> f64 {
        5e-4 + bytes as f64 / 2e9
    }

    /// Eight trials of each workload, with latencies that scatter by 20 %.
    fn concluded(law: Law) -> Vec<Finding> {
        told_with(law, |_, _| Vec::new())
    }

    /// The same with stalls.
    fn told_with(law: Law, stalls: fn(workload: (Rw, u64, u32), nth: u64) -> Vec<Stall>) -> Vec<Finding> {
        told_of(law, 0.2, |trial, workload, nth| trial.stalls = stalls(workload, nth))
    }

    /// The same with witnesses, and with latencies that lie so far from their mean.
    fn told_of(law: Law, spread: f64, witnesses: impl Fn(&mut Trial, (Rw, u64, u32), u64)) -> Vec<Finding> {
        let trial = |workload: (Rw, u64, u32), nth: u64| {
            let (rw, bytes, depth) = workload;
            let requests = law(workload, nth);
            let mut trial = specimen::healthy(rw, bytes, depth, requests.round() as u64);
            witnesses(&mut trial, workload, nth);
            let mut latencies = Histogram::new();
            let mean_ns = f64::from(depth) * 1e9 / requests;
            for part in [1.0 - spread, 1.0 + spread].repeat(50) {
                latencies.record((mean_ns * part) as u64);
            }
            for lane in [&mut trial.read, &mut trial.write].into_iter().flatten() {
                (lane.iops, lane.bytes_per_s) = (requests, requests * bytes as f64);
                lane.histogram = latencies.clone();
            }
            trial
        };
        let trials: Vec<Vec<Trial>> =
            WORKLOADS.iter().map(|&workload| (0..8).map(|nth| trial(workload, nth)).collect()).collect();
        let points: Vec<Point> = trials
            .iter()
            .enumerate()
            .map(|(id, trials)| Point::planned(id, "quick", trials[0].spec.clone()))
            .collect();
        let evidence: Vec<Evidence> = points
            .iter()
            .zip(&trials)
            .map(|(point, trials)| Evidence {
                point,
                trials: trials.iter().collect(),
                void: vec![None; trials.len()],
                read: None,
                write: None,
            })
            .collect();
        ConstantLimit.conclude("run", &evidence, 0.95)
    }

    /// What the storage alone gives, with 64 servers.
    fn free((_, bytes, depth): (Rw, u64, u32)) -> f64 {
        f64::from(depth.min(64)) / alone_s(bytes)
    }

    fn held(finding: &Finding) -> (Option<Op>, Counted, Option<bool>, f64) {
        let Detail::ConstantLimit(Facts::Held { counted, shared, .. }) = finding.detail else {
            panic!("{finding:?}")
        };
        (finding.conditions.op, counted, shared, finding.value.unwrap().round())
    }

    fn none(law: Law) {
        let found = concluded(law);
        assert!(found.len() == 1 && found[0].status == Status::Absent, "{found:?}");
    }

    #[test]
    fn one_rate_at_all_depths_and_directions_is_a_limit_of_requests() {
        let found = concluded(|workload, _| free(workload).min(6000.0));
        // Without a mix nobody knows whether reads and writes share it.
        assert_eq!(found.iter().map(held).collect::<Vec<_>>(), [(None, Counted::Requests, None, 6000.0)]);
    }

    #[test]
    fn directions_may_have_a_limit_each_and_requests_and_bytes_as_well() {
        let found = concluded(|workload, _| {
            let (iops, bytes_per_s) = if workload.0 == Rw::RandRead { (6000.0, 4e8) } else { (3000.0, 2e8) };
            free(workload).min(iops).min(bytes_per_s / workload.1 as f64)
        });
        let mut all: Vec<_> = found.iter().map(held).collect();
        all.sort_by(|a, b| a.3.total_cmp(&b.3));
        let (read, write) = (Some(Op::Read), Some(Op::Write));
        let expected = [
            (write, Counted::Requests, Some(false), 3000.0),
            (read, Counted::Requests, Some(false), 6000.0),
            (write, Counted::Bytes, Some(false), 2e8),
            (read, Counted::Bytes, Some(false), 4e8),
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn large_requests_may_count_several_times() {
        let found =
            concluded(|workload, _| free(workload).min(1500.0 / workload.1.div_ceil(256 << 10) as f64));
        let chunks = Counted::Chunks { chunk_bytes: 256 << 10 };
        assert_eq!(found.iter().map(held).collect::<Vec<_>>(), [(None, chunks, None, 1500.0)]);
    }

    #[test]
    fn what_scatters_as_its_latencies_do_is_no_limit() {
        // Latencies of ±20 % make 6,000 requests scatter by 0.26 %.
        none(|workload, nth| free(workload).min(6000.0) * (1.0 + 0.0026 * (nth as f64 - 3.5) / 2.3));
    }

    #[test]
    fn a_slow_link_is_no_limit() {
        // 40 MB/s in series with 0.5 ms: exact, but a request alone pays for both.
        none(|(_, bytes, depth), _| {
            (f64::from(depth) / (5e-4 + bytes as f64 / 40e6)).min(40e6 / bytes as f64)
        });
    }

    #[test]
    fn requests_that_take_the_same_time_whatever_their_size_are_no_limit() {
        // Four servers: 1 MiB at any depth from 4 on moves as much as 4 MiB at depth 1.
        let found = told_of(|(_, _, depth), _| f64::from(depth.min(4)) * 12_500.0, 0.0, |_, _, _| ());
        assert!(found.len() == 1 && found[0].status == Status::Absent, "{found:?}");
    }

    #[test]
    fn a_medium_that_saturates_softly_is_no_limit() {
        none(|workload, _| {
            let soft = if workload.2 == 16 { 0.97 } else { 1.0 };
            free(workload).min(6000.0) * soft
        });
    }

    /// Stalls that end each 100 ms, after so many bytes of the direction each.
    fn stalls((rw, ..): (Rw, u64, u32), each_bytes: u64, stalled_s: f64) -> Vec<Stall> {
        let of = |nth: u64| Stall {
            start_s: 0.1 * nth as f64 - stalled_s,
            length_s: stalled_s,
            read_bytes: if rw.reads() { nth * each_bytes } else { 0 },
            write_bytes: if rw.writes() { nth * each_bytes } else { 0 },
        };
        (1..=3).map(of).collect()
    }

    /// A trial counts a slice of 600 requests more or less than its time holds.
    fn sliced((_, bytes, depth): (Rw, u64, u32), nth: u64) -> f64 {
        let free = f64::from(depth.min(64)) / alone_s(bytes);
        if free > 6000.0 { 6000.0 + 300.0 * (nth % 5) as f64 } else { free }
    }

    #[test]
    fn a_budget_that_passes_in_portions_is_a_limit_by_its_whole_portions() {
        let found = told_with(sliced, |workload, _| {
            let (_, bytes, depth) = workload;
            let free = f64::from(depth.min(64)) / alone_s(bytes);
            let stalled_s = 0.1 * (1.0 - 6000.0 / free);
            if stalled_s >= 0.02 { stalls(workload, 600 * bytes, stalled_s) } else { Vec::new() }
        });
        assert_eq!(found.iter().map(held).collect::<Vec<_>>(), [(None, Counted::Requests, None, 6000.0)]);
        let Detail::ConstantLimit(Facts::Held { portions_s: Some(portions_s), scatter_ratio: None, .. }) =
            found[0].detail
        else {
            panic!("{found:?}")
        };
        assert!((portions_s - 0.1).abs() < 1e-9, "{portions_s}");
    }

    #[test]
    fn a_medium_that_stalls_at_a_regular_distance_is_no_limit() {
        // It serves 40 % of the time, whatever is asked of it: each point keeps its share of its own rate.
        let law: Law =
            |workload, nth| 0.4 * free(workload).min(6000.0) * (1.0 + 0.004 * (nth as f64 - 3.5) / 2.3);
        let found = told_with(law, |workload, _| {
            let each = (0.04 * free(workload).min(6000.0)) as u64;
            stalls(workload, each * workload.1, 0.06)
        });
        assert!(found.len() == 1 && found[0].status == Status::Absent, "{found:?}");
    }

    #[test]
    fn writes_alone_are_a_buffer_that_drains_unless_the_volume_counts_them_above_its_limit() {
        let law: Law = |workload, _| match workload.0 {
            Rw::RandWrite => free(workload).min(2e8 / workload.1 as f64),
            _ => free(workload),
        };
        none(law);
        let counted = |exceeded_share: f64| {
            told_of(law, 0.2, move |trial, (rw, ..), _| {
                (trial.witnesses.from_s, trial.witnesses.to_s) = (0.0, 1.0);
                let exceeded_s = if rw.writes() { exceeded_share } else { 0.0 };
                trial.witnesses.volume_statistics = Some(iosonde_model::VolumeStatistics {
                    volume_throughput_exceeded_s: Some(exceeded_s),
                    ..Default::default()
                });
            })
        };
        let found = counted(0.9);
        assert_eq!(
            found.iter().map(held).collect::<Vec<_>>(),
            [(Some(Op::Write), Counted::Bytes, Some(false), 2e8)]
        );
        assert!(counted(0.1).iter().all(|finding| finding.status == Status::Absent));
    }
}
