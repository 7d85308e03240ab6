//! Counts what completes: per direction, per window, and in all.
//!
//! Each completion is recorded once, in the histogram of the present window; at the window's end that is summed up
//! and merged into the whole. So percentiles by window cost the hot loop nothing.

use iosonde_model::{
    Commits, Direction, Flush, Histogram, LatencySummary, Op, Stall, TrialSpec, Window, WindowDirection,
};

use crate::issued::Issued;

/// The length that a window has at least.
pub const WINDOW_NS: u64 = 100_000_000;
/// Least length of a stall: a fifth of the slices in which Linux lets a limited budget pass, and longer than healthy
/// storage with a queue is silent.
pub const STALL_NS: u64 = 20_000_000;
/// Completions between two stalls: with one, every request of a slow device would be one.
const COMPLETIONS_MIN: u64 = 2;
/// Stalls kept: a trial of a hundred seconds under a limit with slices of 100 ms has a thousand.
const STALLS_MAX: usize = 1000;

/// Counts of one direction since some moment.
#[derive(Debug, Default)]
struct Counts {
    ios: u64,
    bytes: u64,
    errors: u64,
    short: u64,
}

#[derive(Debug)]
struct Lane {
    window: Counts,
    window_latency: Histogram,
    whole: Counts,
    whole_latency: Histogram,
}

impl Lane {
    fn new() -> Self {
        Self {
            window: Counts::default(),
            window_latency: Histogram::new(),
            whole: Counts::default(),
            whole_latency: Histogram::new(),
        }
    }

    fn end_window(&mut self) -> WindowDirection {
        let summary = LatencySummary::of(&self.window_latency);
        let ended = WindowDirection {
            ios: self.window.ios,
            bytes: self.window.bytes,
            latency_ns_mean: summary.mean,
            latency_ns_p50: summary.p50,
            latency_ns_p99: summary.p99,
        };
        self.whole.ios += self.window.ios;
        self.whole.bytes += self.window.bytes;
        self.whole.errors += self.window.errors;
        self.whole.short += self.window.short;
        self.whole_latency.merge(&self.window_latency);
        self.forget_window();
        ended
    }

    fn forget_window(&mut self) {
        self.window = Counts::default();
        self.window_latency.clear();
    }
}

/// Counts completions of one trial between the end of its warm-up and its end.
#[derive(Debug)]
pub struct Recorder {
    /// By [`Op`]: reads, writes, trims, flushes.
    lanes: [Option<Lane>; 4],
    windows: Vec<Window>,
    stalls: Vec<Stall>,
    /// Latencies of commits, where the workload flushes.
    commits: Option<Histogram>,
    /// Requests completed when the last stall began.
    stalled_ios: u64,
    origin_ns: u64,
    counted_from_ns: u64,
    window_from_ns: u64,
    errors: Vec<(i32, u64)>,
}

impl Recorder {
    /// A recorder for a workload; `expected_ns` sizes the list of windows so that it does not grow while measuring.
    pub fn new(spec: &TrialSpec, expected_ns: u64) -> Self {
        Self {
            lanes: [Op::Read, Op::Write, Op::Trim, Op::Flush].map(|op| spec.has(op).then(Lane::new)),
            // A trial without an end (filling) may outgrow it: one small allocation in 100 s.
            windows: Vec::with_capacity((expected_ns / WINDOW_NS).clamp(16, 1000) as usize + 2),
            stalls: Vec::new(),
            commits: spec.has(Op::Flush).then(Histogram::new),
            stalled_ios: 0,
            origin_ns: 0,
            counted_from_ns: 0,
            window_from_ns: 0,
            errors: Vec::with_capacity(8),
        }
    }

    /// The trial's beginning, from which windows are counted, and the job's first submission.
    pub fn begin(&mut self, now_ns: u64, first_ns: u64) {
        (self.origin_ns, self.counted_from_ns, self.window_from_ns) = (now_ns, first_ns, first_ns);
    }

    /// Forgets everything so far: the warm-up is over.
    pub fn end_warm_up(&mut self, now_ns: u64) {
        self.lanes.iter_mut().flatten().for_each(Lane::forget_window);
        self.commits.iter_mut().for_each(Histogram::clear);
        (self.counted_from_ns, self.window_from_ns) = (now_ns, now_ns);
    }

    /// Counts one completion: bytes moved or a negative errno.
    #[inline]
    pub fn record(&mut self, op: Op, asked_bytes: u32, result: i32, latency_ns: u64) {
        let lane = self.lanes[op as usize].as_mut().expect("only directions of the workload complete");
        if result < 0 {
            lane.window.errors += 1;
            self.note_error(-result);
            return;
        }
        lane.window.ios += 1;
        lane.window.bytes += result as u64;
        lane.window.short += u64::from((result as u32) < asked_bytes);
        lane.window_latency.record(latency_ns);
    }

    /// Counts one commit whose flush succeeded.
    #[inline]
    pub fn record_commit(&mut self, latency_ns: u64) {
        if let Some(commits) = &mut self.commits {
            commits.record(latency_ns);
        }
    }

    #[cold]
    fn note_error(&mut self, errno: i32) {
        if let Some((_, count)) = self.errors.iter_mut().find(|(seen, _)| *seen == errno) {
            *count += 1;
        } else if self.errors.len() < self.errors.capacity() {
            // Eight kinds: a device that fails in more ways is described well enough by the first eight.
            self.errors.push((errno, 1));
        }
    }

    /// Notes that nothing completed from one moment to another; `issued` is what had completed by then. It allocates:
    /// nothing was under way for 20 ms, and the next completion is a batch after it.
    #[cold]
    pub fn stalled(&mut self, from_ns: u64, to_ns: u64, issued: &Issued) {
        let since = issued.ios - self.stalled_ios;
        if since < COMPLETIONS_MIN || self.stalls.len() >= STALLS_MAX {
            return;
        }
        self.stalled_ios = issued.ios;
        self.stalls.push(Stall {
            start_s: (from_ns - self.origin_ns) as f64 / 1e9,
            length_s: (to_ns - from_ns) as f64 / 1e9,
            read_bytes: issued.read_bytes,
            write_bytes: issued.write_bytes,
        });
    }

    /// Ends the present window if it is old enough.
    #[inline]
    pub fn look_at_the_window(&mut self, now_ns: u64) {
        if now_ns - self.window_from_ns >= WINDOW_NS {
            self.end_window(now_ns);
        }
    }

    fn end_window(&mut self, now_ns: u64) {
        let [read, write, trim, flush] = &mut self.lanes;
        flush.as_mut().map(Lane::end_window);
        self.windows.push(Window {
            start_s: (self.window_from_ns - self.origin_ns) as f64 / 1e9,
            length_s: (now_ns - self.window_from_ns) as f64 / 1e9,
            read: read.as_mut().map(Lane::end_window),
            write: write.as_mut().map(Lane::end_window),
            trim: trim.as_mut().map(Lane::end_window),
        });
        self.window_from_ns = now_ns;
    }

    /// Ends the trial at the moment of its last completion that counts.
    pub fn finish(mut self, now_ns: u64) -> Recorded {
        if now_ns > self.window_from_ns {
            self.end_window(now_ns);
        }
        let measured_s = (now_ns - self.counted_from_ns) as f64 / 1e9;
        let [read, write, trim, flush] = self.lanes;
        let [read, write, trim] =
            [read, write, trim].map(|lane| lane.map(|lane| direction(lane, measured_s)));
        Recorded {
            read,
            write,
            trim,
            flush: flush.map(|lane| flushed(lane, self.commits)),
            windows: self.windows,
            stalls: self.stalls,
            measured_s,
            errors: self.errors,
        }
    }
}

fn direction(lane: Lane, measured_s: f64) -> Direction {
    let Counts { ios, bytes, errors, short } = lane.whole;
    let per_s = |amount: u64| if measured_s > 0.0 { amount as f64 / measured_s } else { 0.0 };
    Direction {
        ios,
        bytes,
        errors,
        short,
        iops: per_s(ios),
        bytes_per_s: per_s(bytes),
        latency_ns: LatencySummary::of(&lane.whole_latency),
        histogram: lane.whole_latency.packed(),
    }
}

fn flushed(lane: Lane, commits: Option<Histogram>) -> Flush {
    Flush {
        ios: lane.whole.ios,
        errors: lane.whole.errors,
        latency_ns: LatencySummary::of(&lane.whole_latency),
        histogram: lane.whole_latency.packed(),
        commit: commits.and_then(Commits::of),
    }
}

/// Counts and histograms of a recorder.
#[derive(Debug)]
pub struct Recorded {
    /// Results of the reads.
    pub read: Option<Direction>,
    /// Results of the writes.
    pub write: Option<Direction>,
    /// Results of the trims.
    pub trim: Option<Direction>,
    /// Results of the flushes.
    pub flush: Option<Flush>,
    /// The measured time in slices.
    pub windows: Vec<Window>,
    /// Stretches in which nothing completed.
    pub stalls: Vec<Stall>,
    /// Time from the end of the warm-up to the last completion that counts, in seconds.
    pub measured_s: f64,
    /// Error numbers that requests returned, with their counts.
    pub errors: Vec<(i32, u64)>,
}
