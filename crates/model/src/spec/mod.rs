//! The workload of a trial: what is asked of the storage. Two trials with equal specs belong to one point.

mod as_text;
mod distribution;
mod latency_limit;
mod op;
mod payload;
mod randomness;
mod sizes;
mod sync;
mod think;

use serde::{Deserialize, Serialize};

pub use distribution::{Distribution, HOT_RANGES_MAX, HotRange, HotRanges};
pub use latency_limit::LatencyLimit;
pub use op::{Op, Rw};
pub use payload::Payload;
pub use randomness::Randomness;
pub use sizes::{BlockSizes, WeightedSize};
pub use sync::Sync;
pub use think::Think;

use crate::units;

/// Arrival process of an open loop.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Arrivals {
    /// Constant intervals.
    #[default]
    Fixed,
    /// Poisson process: exponentially distributed intervals, as of many independent clients.
    Poisson,
}

impl std::fmt::Display for Arrivals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Fixed => "fixed",
            Self::Poisson => "poisson",
        })
    }
}

impl std::str::FromStr for Arrivals {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "fixed" => Ok(Self::Fixed),
            "poisson" => Ok(Self::Poisson),
            _ => Err(format!("`{text}`: arrivals are fixed or poisson")),
        }
    }
}

/// Address ranges of several jobs of one workload.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ranges {
    /// Whole span for every job.
    #[default]
    Shared,
    /// Separate part of the span for each job.
    Disjoint,
}

/// Start of the next pass when a strided pass reaches the end of the span.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StridePass {
    /// Begins again at the same offsets.
    #[default]
    Same,
    /// Begins again one block further on, so that in the end every block is visited.
    Shifted,
}

/// File that a stream writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Files {
    /// The prepared file, over and over.
    #[default]
    Same,
    /// A new file for each pass over the span: created, written from its beginning to its end, closed.
    New,
}

impl std::str::FromStr for Files {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "same" => Ok(Self::Same),
            "new" => Ok(Self::New),
            _ => Err(format!("`{text}`: files are `same` or `new`")),
        }
    }
}

/// Workload: the combination of parameters that identifies a point. Where a workload has several streams, this is the
/// first and `and` holds the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialSpec {
    /// Access pattern.
    pub rw: Rw,
    /// Bytes of one request; the largest where there are several sizes.
    pub block_size_bytes: u64,
    /// Several sizes with their shares; empty where there is one.
    #[serde(default, skip_serializing_if = "BlockSizes::is_one")]
    pub block_sizes: BlockSizes,
    /// Queue depth, per job; with a rate, the maximum of outstanding requests.
    pub queue_depth: u32,
    /// Workers that run this workload at the same time.
    pub jobs: u32,
    /// Hosts that run this workload at the same time, each with all of its jobs.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub hosts: u32,
    /// Share of reads in a mix, in percent; `None` for one direction.
    pub read_percent: Option<f64>,
    /// Distance between the starts of sequential requests, where it is not the block size.
    pub stride_bytes: Option<u64>,
    /// Start of the next strided pass.
    #[serde(default)]
    pub stride_pass: StridePass,
    /// True if sequential requests go from the end to the beginning.
    #[serde(default, skip_serializing_if = "is_default")]
    pub backwards: bool,
    /// Offset of the addressed part of the target.
    pub offset_bytes: u64,
    /// The part of the target that is addressed.
    pub span_bytes: u64,
    /// Random offsets are multiples of this from the span's beginning; `None` for the (smallest) block size.
    #[serde(default)]
    pub align_bytes: Option<u64>,
    /// Address ranges of the jobs.
    #[serde(default)]
    pub ranges: Ranges,
    /// Name of the engine, with its options: `io_uring`, `io_uring:sqpoll`.
    pub engine: String,
    /// True if the page cache is bypassed.
    pub direct: bool,
    /// Distribution of random offsets.
    #[serde(default)]
    pub distribution: Distribution,
    /// Which requests of a random pattern are random; the others begin where the request before ended.
    #[serde(default, skip_serializing_if = "is_default")]
    pub randomness: Randomness,
    /// Requests that become due each second, per job; `None` for a closed loop.
    #[serde(default)]
    pub rate_iops: Option<f64>,
    /// Arrival process, for a given rate.
    #[serde(default)]
    pub arrivals: Arrivals,
    /// Outstanding requests at which a full queue is filled again; `None` for after each completion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refill_at: Option<u32>,
    /// Pauses between requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<Think>,
    /// Time from the trial's beginning to the first request.
    #[serde(default, skip_serializing_if = "is_default")]
    pub delay_ns: u64,
    /// The latency that the load shall keep, where the question is how much load does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_limit: Option<LatencyLimit>,
    /// Method that makes writes durable.
    #[serde(default)]
    pub sync: Sync,
    /// Data that is written.
    #[serde(default)]
    pub payload: Payload,
    /// File that is written.
    #[serde(default, skip_serializing_if = "is_default")]
    pub files: Files,
    /// True if each block carries its offset, version and checksum, and is read back.
    #[serde(default)]
    pub verify: bool,
    /// Streams that run beside this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub and: Vec<TrialSpec>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_one(hosts: &u32) -> bool {
    *hosts == 1
}

impl Default for TrialSpec {
    /// 4 KiB random reads at QD 1; target and engine are for the caller to set.
    fn default() -> Self {
        Self {
            rw: Rw::RandRead,
            block_size_bytes: 4096,
            block_sizes: BlockSizes::default(),
            queue_depth: 1,
            jobs: 1,
            hosts: 1,
            read_percent: None,
            stride_bytes: None,
            stride_pass: StridePass::Same,
            backwards: false,
            offset_bytes: 0,
            span_bytes: 0,
            align_bytes: None,
            ranges: Ranges::Shared,
            engine: String::new(),
            direct: true,
            distribution: Distribution::Uniform,
            randomness: Randomness::All,
            rate_iops: None,
            arrivals: Arrivals::Fixed,
            refill_at: None,
            think: None,
            delay_ns: 0,
            latency_limit: None,
            sync: Sync::None,
            payload: Payload::Random,
            files: Files::Same,
            verify: false,
            and: Vec::new(),
        }
    }
}

impl TrialSpec {
    /// Returns the workload in words: `4 KiB random reads, QD 32`.
    pub fn describe(&self) -> String {
        // fio's clones are streams of one description.
        let mut streams: Vec<(String, usize)> = Vec::new();
        for words in self.streams().map(Self::describe_stream) {
            match streams.last_mut().filter(|last| last.0 == words) {
                Some(last) => last.1 += 1,
                None => streams.push((words, 1)),
            }
        }
        let told = streams.into_iter().map(|(words, count)| match count {
            1 => words,
            count => format!("{count} streams of {words}"),
        });
        told.collect::<Vec<_>>().join(", with ")
    }

    fn describe_stream(&self) -> String {
        self.parts().join(", ")
    }

    /// Parts of a stream's description: `4 KiB random reads`, `QD 32`, `fdatasync:1`.
    pub fn parts(&self) -> Vec<String> {
        let depth = || format!("QD {}{}", self.queue_depth, self.describe_jobs());
        let load = self.describe_rate().unwrap_or_else(depth);
        self.pattern().into_iter().chain([load]).chain(self.particulars()).collect()
    }

    /// Size, order and mix of a stream: `4 KiB random`, `70 % reads`.
    fn pattern(&self) -> Vec<String> {
        let size = self.block_sizes.describe().unwrap_or_else(|| units::size(self.block_size_bytes));
        let what = match self.rw {
            Rw::Read => "sequential reads".to_owned(),
            Rw::Write => "sequential writes".to_owned(),
            Rw::RandRead => "random reads".to_owned(),
            Rw::RandWrite => "random writes".to_owned(),
            Rw::Trim => "sequential trims".to_owned(),
            Rw::RandTrim => "random trims".to_owned(),
            Rw::Rw => "sequential".to_owned(),
            Rw::RandRw => "random".to_owned(),
        };
        let stride = self.stride_bytes.map_or_else(String::new, |s| format!(" every {}", units::size(s)));
        let backwards = if self.backwards { " backwards" } else { "" };
        let reads = (self.read_percent.unwrap_or(50.0) * 10.0).round() / 10.0;
        let mix = self.rw.is_mixed().then(|| format!("{reads} % reads"));
        std::iter::once(format!("{size} {what}{backwards}{stride}")).chain(mix).collect()
    }

    /// A stream's description without its queue depth: `4 KiB sequential writes, fdatasync:1`.
    pub fn describe_without_depth(&self) -> String {
        let parts = self.pattern().into_iter().chain(self.describe_rate()).chain(self.particulars());
        parts.collect::<Vec<_>>().join(", ")
    }

    fn describe_rate(&self) -> Option<String> {
        let random = if self.arrivals == Arrivals::Poisson { " at random" } else { "" };
        self.rate_iops.map(|rate| format!("{} a second{random}", units::count(rate)))
    }

    /// Parts of a stream's description behind its size, pattern and load.
    pub fn particulars(&self) -> Vec<String> {
        let depth = self.queue_depth;
        [
            self.rate_iops.map(|_| format!("QD at most {depth}{}", self.describe_jobs())),
            (self.distribution != Distribution::Uniform).then(|| self.distribution.describe()),
            (self.randomness != Randomness::All).then(|| self.randomness.describe()),
            self.refill_at.map(|at| format!("refilled at QD {at}")),
            self.think.as_ref().map(Think::describe),
            (self.delay_ns > 0).then(|| format!("begins after {}", units::time(self.delay_ns as f64))),
            (self.sync != Sync::None).then(|| self.sync.to_string()),
            (self.payload != Payload::Random).then(|| format!("payload {}", self.payload)),
            (self.files == Files::New).then(|| "new files".to_owned()),
            self.verify.then(|| "verified".to_owned()),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn describe_jobs(&self) -> String {
        let jobs = if self.jobs > 1 { format!(" in each of {} jobs", self.jobs) } else { String::new() };
        match (self.hosts, self.jobs) {
            (1, _) => jobs,
            (hosts, 1) => format!(" on each of {hosts} hosts"),
            (hosts, _) => format!("{jobs} on each of {hosts} hosts"),
        }
    }

    /// Returns the queue depth over all hosts, jobs and streams.
    pub fn asked_in_flight(&self) -> u64 {
        self.streams().map(Self::stream_in_flight).fold(0, u64::saturating_add)
    }

    /// Returns the queue depth of this stream over all hosts and jobs.
    pub fn stream_in_flight(&self) -> u64 {
        // A table of somebody else's may claim any three numbers.
        (u64::from(self.queue_depth) * u64::from(self.jobs)).saturating_mul(u64::from(self.hosts))
    }

    /// The streams: this one, then those beside it.
    pub fn streams(&self) -> impl Iterator<Item = &TrialSpec> {
        std::iter::once(self).chain(&self.and)
    }

    /// Changes each stream by itself.
    #[must_use]
    pub fn each_stream(mut self, change: impl Fn(Self) -> Self) -> Self {
        let and = std::mem::take(&mut self.and).into_iter().map(&change).collect();
        Self { and, ..change(self) }
    }

    /// This workload on so many hosts.
    #[must_use]
    pub fn on_hosts(self, hosts: u32) -> Self {
        self.each_stream(|stream| Self { hosts, ..stream })
    }

    /// This stream without the others.
    #[must_use]
    pub fn alone(&self) -> Self {
        Self { and: Vec::new(), ..self.clone() }
    }

    /// Returns true if any stream has requests of this kind.
    pub fn has(&self, op: Op) -> bool {
        self.streams().any(|stream| match op {
            Op::Flush => stream.sync.flushes(),
            _ => stream.rw.has(op),
        })
    }

    /// Returns true if any stream changes the stored data.
    pub fn changes(&self) -> bool {
        self.streams().any(|stream| stream.rw.changes())
    }

    /// Returns true if the queue depth is constant: there is no rate and no pause, no flush waits for earlier requests,
    /// and each completion makes room for a request.
    pub fn keeps_depth(&self) -> bool {
        self.streams().all(|stream| {
            let waits = stream.think.is_some() || stream.refill_at.is_some();
            stream.rate_iops.is_none() && !stream.sync.flushes() && !waits
        })
    }

    /// The smallest request.
    pub fn smallest_block_bytes(&self) -> u64 {
        self.block_sizes.smallest_bytes().unwrap_or(self.block_size_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> TrialSpec {
        TrialSpec { queue_depth: 32, span_bytes: 1 << 30, engine: "io_uring".into(), ..TrialSpec::default() }
    }

    #[test]
    fn words_before_numbers() {
        assert_eq!(example().describe(), "4 KiB random reads, QD 32");
        let mix = TrialSpec { rw: Rw::RandRw, read_percent: Some(70.0), queue_depth: 1, ..example() };
        assert_eq!(mix.describe(), "4 KiB random, 70 % reads, QD 1");
        let log =
            TrialSpec { rw: Rw::Write, queue_depth: 1, sync: Sync::Fdatasync { every: 1 }, ..example() };
        let both = TrialSpec { rate_iops: Some(5000.0), and: vec![log], ..example() };
        let words = "4 KiB random reads, 5 k a second, QD at most 32, \
                     with 4 KiB sequential writes, QD 1, fdatasync:1";
        assert_eq!(both.describe(), words);
        assert_eq!(both.asked_in_flight(), 33);
        assert!(both.has(Op::Flush) && both.has(Op::Write) && !both.has(Op::Trim) && !both.keeps_depth());
    }

    #[test]
    fn a_spec_of_an_earlier_version_reads_with_the_defaults() {
        let text = r#"{"rw":"randread","block_size_bytes":4096,"queue_depth":32,"jobs":1,"read_percent":null,
            "stride_bytes":null,"offset_bytes":0,"span_bytes":1073741824,"engine":"io_uring","direct":true,
            "distribution":"uniform","payload":"random"}"#;
        assert_eq!(serde_json::from_str::<TrialSpec>(text).unwrap(), example());
    }

    #[test]
    fn everything_reads_back() {
        let spec = TrialSpec {
            block_sizes: "4k:60,64k:40".parse().unwrap(),
            block_size_bytes: 65_536,
            distribution: Distribution::Zipf { theta: 1.1 },
            sync: Sync::Dsync,
            payload: Payload::Compress { share: 0.5 },
            and: vec![example()],
            ..example()
        };
        let text = serde_json::to_string(&spec).unwrap();
        assert!(text.contains(r#""distribution":"zipf:1.1""#), "{text}");
        assert_eq!(serde_json::from_str::<TrialSpec>(&text).unwrap(), spec);
    }
}
