//! One timed run of one workload, with what was seen around it.

use serde::{Deserialize, Serialize};

use crate::{
    Histogram, HostShare, LastSeconds, Op, RequestError, TrialSpec, Witnesses, histogram::requests_beyond,
};

/// Purpose of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Filling or preconditioning: history changes results, so it is a trial too.
    Prepare,
    /// Reference workload, repeated in each round to detect drift.
    Canary,
    /// A measurement of a point.
    Measure,
}

/// Results of one direction of a trial, from the end of the warm-up to the end of the trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Direction {
    /// Requests completed without error.
    pub ios: u64,
    /// Bytes that they moved; a short transfer counts what it moved.
    pub bytes: u64,
    /// Requests that failed.
    pub errors: u64,
    /// Requests that moved fewer bytes than asked.
    #[serde(default)]
    pub short: u64,
    /// Completions per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Latency from the moment a request was due to its completion, in nanoseconds.
    pub latency_ns: LatencySummary,
    /// Histogram of the latencies, in nanoseconds.
    pub histogram: Histogram,
}

impl Direction {
    /// One direction of several jobs that ran at once: counts and rates are added, latencies merged. `None` of none.
    pub fn of_all(parts: &[&Self]) -> Option<Self> {
        if parts.is_empty() {
            return None;
        }
        let sum = |figure: fn(&Self) -> u64| parts.iter().map(|part| figure(part)).sum();
        let mut histogram = Histogram::new();
        parts.iter().for_each(|part| histogram.merge(&part.histogram));
        Some(Self {
            ios: sum(|d| d.ios),
            bytes: sum(|d| d.bytes),
            errors: sum(|d| d.errors),
            short: sum(|d| d.short),
            iops: parts.iter().map(|d| d.iops).sum(),
            bytes_per_s: parts.iter().map(|d| d.bytes_per_s).sum(),
            latency_ns: LatencySummary::of(&histogram),
            histogram: histogram.packed(),
        })
    }
}

/// Statistics of the latencies of one direction, in nanoseconds. All `None` when nothing completed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencySummary {
    /// The least.
    pub min: Option<u64>,
    /// Their mean.
    pub mean: Option<f64>,
    /// Standard deviation from request to request.
    pub stddev: Option<f64>,
    /// The median.
    pub p50: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 99th percentile; `None` with fewer than 1,000 requests, which do not determine it.
    pub p99: Option<f64>,
    /// 99.9th percentile; `None` with fewer than 10,000.
    pub p99_9: Option<f64>,
    /// 99.99th percentile; `None` with fewer than 100,000.
    pub p99_99: Option<f64>,
    /// The most.
    pub max: Option<u64>,
}

impl LatencySummary {
    /// Read off a histogram; a percentile is given only where at least ten values lie beyond it, since fewer say
    /// nothing about it (p99 needs 1,000).
    pub fn of(histogram: &Histogram) -> Self {
        let supported = |q: f64| {
            // The median of two requests is still a median; the rule is for tails.
            let enough = q <= 0.5 || histogram.total() >= requests_beyond(q);
            if enough { histogram.quantile_ns(q) } else { None }
        };
        Self {
            min: histogram.min_ns(),
            mean: histogram.mean_ns(),
            stddev: histogram.stddev_ns(),
            p50: supported(0.5),
            p90: supported(0.9),
            p99: supported(0.99),
            p99_9: supported(0.999),
            p99_99: supported(0.9999),
            max: histogram.max_ns(),
        }
    }
}

/// Results of one direction in one window.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WindowDirection {
    /// Requests completed.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Mean latency; `None` when nothing completed, and in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ns_mean: Option<f64>,
    /// Median latency; `None` when nothing completed.
    pub latency_ns_p50: Option<f64>,
    /// 99th percentile, under the same rule as a trial's.
    pub latency_ns_p99: Option<f64>,
}

/// A slice of a trial, 100 ms by default.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Start of the window, in seconds from the trial's first submission.
    pub start_s: f64,
    /// Length of the window, from the completion that ended the window before to the one that ended this.
    pub length_s: f64,
    /// Reads, where the workload has any.
    pub read: Option<WindowDirection>,
    /// Writes, where the workload has any.
    pub write: Option<WindowDirection>,
    /// Trims, where the workload has any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trim: Option<WindowDirection>,
}

impl Window {
    /// Returns the results of one direction.
    pub fn direction(&self, op: Op) -> Option<&WindowDirection> {
        match op {
            Op::Read => self.read.as_ref(),
            Op::Write => self.write.as_ref(),
            Op::Trim => self.trim.as_ref(),
            Op::Flush => None,
        }
    }
}

/// A stretch of a trial in which nothing completed for 20 ms or longer although requests were outstanding, after two or
/// more had completed since the stretch before. A limit that lets its budget pass in portions makes one in each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Stall {
    /// Start of the stall, at a completion, in seconds from the trial's first submission.
    pub start_s: f64,
    /// Time until the next completion, in seconds.
    pub length_s: f64,
    /// Bytes read from the trial's first submission to the start of the stall, those of the warm-up included.
    pub read_bytes: u64,
    /// Bytes written in the same time.
    pub write_bytes: u64,
}

impl Stall {
    /// End of the stall, in seconds from the trial's first submission.
    pub fn end_s(&self) -> f64 {
        self.start_s + self.length_s
    }
}

/// Results of the flushes of a trial, from the end of the warm-up to the end of the trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Flush {
    /// Flushes that succeeded.
    pub ios: u64,
    /// Flushes that failed.
    pub errors: u64,
    /// Latency from the completion of the job's earlier writes to the end of the flush, in nanoseconds.
    pub latency_ns: LatencySummary,
    /// Histogram of the latencies, in nanoseconds.
    pub histogram: Histogram,
    /// Commits: from the first write since the last flush to the end of the flush that made it durable. `None` from
    /// other tools and earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<Commits>,
}

impl Flush {
    /// Flushes of several jobs that ran at once; `None` of none.
    pub fn of_all(parts: &[&Self]) -> Option<Self> {
        if parts.is_empty() {
            return None;
        }
        let (mut histogram, mut commits) = (Histogram::new(), Histogram::new());
        parts.iter().for_each(|part| histogram.merge(&part.histogram));
        parts.iter().filter_map(|part| part.commit.as_ref()).for_each(|own| commits.merge(&own.histogram));
        Some(Self {
            ios: parts.iter().map(|part| part.ios).sum(),
            errors: parts.iter().map(|part| part.errors).sum(),
            latency_ns: LatencySummary::of(&histogram),
            histogram: histogram.packed(),
            commit: Commits::of(commits),
        })
    }
}

/// Latencies of commits: writes and the flush that made them durable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Commits {
    /// Latency, in nanoseconds.
    pub latency_ns: LatencySummary,
    /// Histogram of the latencies, in nanoseconds.
    pub histogram: Histogram,
}

impl Commits {
    /// The commits of a histogram; `None` without one.
    pub fn of(histogram: Histogram) -> Option<Self> {
        (histogram.total() > 0)
            .then(|| Self { latency_ns: LatencySummary::of(&histogram), histogram: histogram.packed() })
    }
}

/// Results of one stream of a workload that has several.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Stream {
    /// Workload of the stream.
    pub spec: TrialSpec,
    /// Results of its reads.
    pub read: Option<Direction>,
    /// Results of its writes.
    pub write: Option<Direction>,
    /// Results of its trims.
    pub trim: Option<Direction>,
    /// Results of its flushes.
    pub flush: Option<Flush>,
    /// Requests outstanding, averaged over the measured time.
    pub in_flight_mean: Option<f64>,
    /// Requests that were due and never sent (open loop only).
    pub unserved: u64,
    /// Completions per second, where a rate was requested.
    pub achieved_rate_iops: Option<f64>,
    /// Measured time of its jobs; `None` in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured_s: Option<f64>,
    /// CPU time of its jobs in user mode, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_user_s: Option<f64>,
    /// CPU time of its jobs in the kernel, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_system_s: Option<f64>,
    /// Its windows; empty in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub windows: Vec<Window>,
}

impl Stream {
    /// Returns the results of one direction.
    pub fn direction(&self, op: Op) -> Option<&Direction> {
        match op {
            Op::Read => self.read.as_ref(),
            Op::Write => self.write.as_ref(),
            Op::Trim => self.trim.as_ref(),
            Op::Flush => None,
        }
    }
}

/// Result of verification, in blocks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// Blocks that were read back.
    pub checked: u64,
    /// Blocks with none of the trial's writes: the older data is still there.
    pub lost: u64,
    /// Parts of different writes, or damaged.
    pub torn: u64,
    /// A block that belongs elsewhere.
    pub misplaced: u64,
    /// An earlier write of the trial: the last one did not arrive, or an old version is served.
    pub stale: u64,
    /// Blocks that could not be read.
    pub unreadable: u64,
    /// Blocks that were read and carry no whole mark, so that nothing could be judged: never written with one,
    /// written with other block sizes, or overwritten since.
    #[serde(default)]
    pub unmarked: u64,
}

impl std::ops::Add for Verification {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            checked: self.checked + other.checked,
            lost: self.lost + other.lost,
            torn: self.torn + other.torn,
            misplaced: self.misplaced + other.misplaced,
            stale: self.stale + other.stale,
            unreadable: self.unreadable + other.unreadable,
            unmarked: self.unmarked + other.unmarked,
        }
    }
}

impl Verification {
    /// Blocks that are not as they should be.
    pub fn bad(&self) -> u64 {
        self.lost + self.torn + self.misplaced + self.stale + self.unreadable
    }
}

/// Part of a workload that another tool's file does not state: `spec` holds a stand-in, of which nothing is concluded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unstated {
    /// Requests that were kept outstanding.
    QueueDepth,
    /// Whether the page cache was bypassed.
    PageCache,
    /// Whether offsets were random.
    Order,
    /// After how many writes a flush followed.
    Flushes,
    /// Whether a rate or pauses limited the load.
    Load,
}

/// Timed run of one workload. Where the workload has several streams, directions are their totals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// 1, 2, .. in the order of execution.
    pub id: u64,
    /// Experiment that first requested the point.
    pub experiment: String,
    /// The point that it belongs to; `None` for preparation and canaries.
    pub point: Option<usize>,
    /// The round, from 1; 0 before the first.
    pub round: u32,
    /// Purpose of the trial: `prepare`, `canary` or `measure`.
    pub phase: Phase,
    /// UTC, RFC 3339.
    pub started_at: String,
    /// Since the run's beginning, on the run's own clock (virtual on a simulated device).
    #[serde(default)]
    pub started_s: f64,
    /// Time from the first submission to the end of the drain, in seconds.
    pub elapsed_s: f64,
    /// Warm-up, from the first submission on, in seconds. Nothing in it counts.
    pub warmup_s: f64,
    /// Part of the warm-up beyond the usual length, because shorter trials of this point did not hold their rate.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub settling_s: f64,
    /// Extra warm-up that the trial needed; what trials right before it wrote at the same rate counts as part of it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub settling_needed_s: f64,
    /// Time from the end of the warm-up to the last completion that counts, in seconds.
    pub measured_s: f64,
    /// Bytes read sequentially right before the trial to fill a cache; `None` where the workload needs no such pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passed_bytes: Option<u64>,
    /// The workload.
    pub spec: TrialSpec,
    /// Parts of the workload that another tool's file does not state; empty for trials of iosonde.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unstated: Vec<Unstated>,
    /// Results of the reads, where the workload has any.
    pub read: Option<Direction>,
    /// Results of the writes, where the workload has any.
    pub write: Option<Direction>,
    /// Results of the trims, where the workload has any.
    #[serde(default)]
    pub trim: Option<Direction>,
    /// Results of the flushes, where the workload has any.
    #[serde(default)]
    pub flush: Option<Flush>,
    /// The streams apart, where there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub streams: Vec<Stream>,
    /// The last seconds of jobs that were to end once their throughput is steady (fio's `ss`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last_seconds: Vec<LastSeconds>,
    /// Requests outstanding, averaged over the measured time.
    pub in_flight_mean: Option<f64>,
    /// Share of the time that the busiest worker was busy, waiting excluded.
    #[serde(default)]
    pub busy_share: Option<f64>,
    /// Requests that were due and never sent (open loop only).
    pub unserved: u64,
    /// Completions per second over all jobs, where a rate was requested.
    #[serde(default)]
    pub achieved_rate_iops: Option<f64>,
    /// 95 % confidence interval of the achieved rate, low and high; `None` for a trial of less than a second, and where
    /// a stream has no rate.
    #[serde(default)]
    pub achieved_rate_interval: Option<[f64; 2]>,
    /// Mean time from the moment that a request was due to the moment that it was handed on, where a slot was free
    /// for it (open loop only): the generator's own lateness, which no storage caused.
    #[serde(default)]
    pub pacing_error_ns: Option<f64>,
    /// The 99th percentile of the same.
    #[serde(default)]
    pub pacing_error_ns_p99: Option<f64>,
    /// Result of verification, where it was requested.
    #[serde(default)]
    pub verify: Option<Verification>,
    /// Requests that had not come back when the wait for them was given up.
    pub hung: u64,
    /// Processor time of the workers in user mode.
    pub cpu_user_s: Option<f64>,
    /// Processor time of the workers in the kernel.
    pub cpu_system_s: Option<f64>,
    /// 100 ms slices of the measured time.
    pub windows: Vec<Window>,
    /// Stretches in which nothing completed, those of the warm-up included; empty where several jobs ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stalls: Vec<Stall>,
    /// Each host's part, where several measured at the same time; the other fields are those of all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<HostShare>,
    /// Witnesses of the trial.
    pub witnesses: Witnesses,
    /// Errors of requests, with their counts.
    #[serde(default)]
    pub error_examples: Vec<RequestError>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
}

impl Trial {
    /// The warm-up of a trial that lasts so long: a tenth of it, within what is long enough for a queue to fill and
    /// short enough to wait for.
    pub fn usual_warm_up_ns(duration_ns: u64) -> u64 {
        (duration_ns / 10).clamp(25_000_000, 5_000_000_000)
    }

    /// Latencies of its flushes, where it made some.
    pub fn flushes(&self) -> Option<&Histogram> {
        self.flush.as_ref().map(|flush| &flush.histogram)
    }

    /// Latencies of its commits: writes and the flush that made them durable, or writes that are durable by themselves.
    pub fn commits(&self) -> Option<&Histogram> {
        match &self.flush {
            Some(flush) => flush.commit.as_ref().map(|commits| &commits.histogram),
            None if self.spec.sync.with_each_write() => self.write.as_ref().map(|write| &write.histogram),
            None => None,
        }
    }

    /// A trial of a workload in which nothing was counted.
    pub fn blank(spec: TrialSpec, phase: Phase) -> Self {
        Self {
            id: 0,
            experiment: String::new(),
            point: None,
            round: 0,
            phase,
            started_at: String::new(),
            started_s: 0.0,
            elapsed_s: 0.0,
            warmup_s: 0.0,
            settling_s: 0.0,
            settling_needed_s: 0.0,
            measured_s: 0.0,
            passed_bytes: None,
            spec,
            unstated: Vec::new(),
            read: None,
            write: None,
            trim: None,
            flush: None,
            streams: Vec::new(),
            last_seconds: Vec::new(),
            in_flight_mean: None,
            busy_share: None,
            unserved: 0,
            achieved_rate_iops: None,
            achieved_rate_interval: None,
            pacing_error_ns: None,
            pacing_error_ns_p99: None,
            verify: None,
            hung: 0,
            cpu_user_s: None,
            cpu_system_s: None,
            windows: Vec::new(),
            stalls: Vec::new(),
            hosts: Vec::new(),
            witnesses: Witnesses::default(),
            error_examples: Vec::new(),
        }
    }

    /// Returns the results of one direction.
    pub fn direction(&self, op: Op) -> Option<&Direction> {
        match op {
            Op::Read => self.read.as_ref(),
            Op::Write => self.write.as_ref(),
            Op::Trim => self.trim.as_ref(),
            Op::Flush => None,
        }
    }

    /// The directions that occur, reads first.
    pub fn directions(&self) -> impl Iterator<Item = (Op, &Direction)> {
        Op::DIRECTIONS.into_iter().filter_map(|op| Some((op, self.direction(op)?)))
    }

    /// Completions per second over all directions.
    pub fn iops(&self) -> f64 {
        self.directions().map(|(_, d)| d.iops).sum()
    }

    /// Bytes per second over all directions.
    pub fn bytes_per_s(&self) -> f64 {
        self.directions().map(|(_, d)| d.bytes_per_s).sum()
    }

    /// Returns true if the queue depth is known and constant: it is stated, and neither a rate nor flushes limit it.
    pub fn keeps_depth(&self) -> bool {
        let open = |what: &Unstated| matches!(what, Unstated::QueueDepth | Unstated::Flushes);
        self.spec.keeps_depth() && !self.unstated.iter().any(open)
    }

    /// Seconds at the beginning of a trial in which no stream had been told to begin.
    pub fn delay_s(&self) -> f64 {
        self.spec.streams().map(|stream| stream.delay_ns).min().unwrap_or(0) as f64 / 1e9
    }

    /// Requested queue depth, on average over the measured time: a stream that ran for a part of it requested that
    /// part.
    pub fn asked_in_flight_mean(&self) -> f64 {
        let whole = self.spec.asked_in_flight() as f64;
        if self.streams.is_empty() || self.measured_s <= 0.0 {
            return whole;
        }
        let own = |stream: &Stream| {
            let share = stream.measured_s.map_or(1.0, |own_s| (own_s / self.measured_s).min(1.0));
            share * stream.spec.asked_in_flight() as f64
        };
        self.streams.iter().map(own).sum()
    }

    /// Returns true if rates have no counts behind them, as in a published table.
    pub fn is_uncounted(&self) -> bool {
        self.directions().any(|(_, direction)| direction.ios == 0 && direction.iops > 0.0)
    }

    /// Errors of all directions and of flushes.
    pub fn errors(&self) -> u64 {
        self.directions().map(|(_, d)| d.errors).sum::<u64>()
            + self.flush.as_ref().map_or(0, |flush| flush.errors)
    }
}
