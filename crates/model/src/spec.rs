//! The workload of a trial: what is asked of the storage. Two trials with equal specs belong to one point.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

use crate::units;

/// One kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    /// Bytes from the storage.
    Read,
    /// Bytes to the storage.
    Write,
}

impl Op {
    /// Both, in the order in which they are listed.
    pub const ALL: [Self; 2] = [Self::Read, Self::Write];

    /// `read` or `write`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The access pattern, by fio's names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Rw {
    /// Sequential reads.
    Read,
    /// Sequential writes.
    Write,
    /// Reads of random blocks.
    RandRead,
    /// Writes of random blocks.
    RandWrite,
    /// Sequential, reads and writes mixed.
    Rw,
    /// Random blocks, reads and writes mixed.
    RandRw,
}

impl Rw {
    /// All patterns.
    pub const ALL: [Self; 6] =
        [Self::Read, Self::Write, Self::RandRead, Self::RandWrite, Self::Rw, Self::RandRw];

    /// fio's name for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::RandRead => "randread",
            Self::RandWrite => "randwrite",
            Self::Rw => "rw",
            Self::RandRw => "randrw",
        }
    }

    /// Whether offsets are random.
    pub fn is_random(self) -> bool {
        matches!(self, Self::RandRead | Self::RandWrite | Self::RandRw)
    }

    /// Whether any request reads.
    pub fn reads(self) -> bool {
        !matches!(self, Self::Write | Self::RandWrite)
    }

    /// Whether any request writes.
    pub fn writes(self) -> bool {
        !matches!(self, Self::Read | Self::RandRead)
    }

    /// Whether both directions occur.
    pub fn is_mixed(self) -> bool {
        self.reads() && self.writes()
    }

    /// Whether requests of this direction occur.
    pub fn has(self, op: Op) -> bool {
        match op {
            Op::Read => self.reads(),
            Op::Write => self.writes(),
        }
    }
}

impl fmt::Display for Rw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Rw {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|rw| rw.name() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::name);
            let hint = crate::nearest(text, names)
                .map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
            format!("`{text}` is no access pattern{hint} (the patterns are {})", names.join(", "))
        })
    }
}

/// How random offsets are drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Distribution {
    /// Every block of the span equally often.
    #[default]
    Uniform,
}

/// What is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Payload {
    /// Random bytes: neither compressible nor dedupable.
    #[default]
    Random,
}

/// One combination of parameters: the identity of a point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialSpec {
    /// Access pattern.
    pub rw: Rw,
    /// Bytes of one request.
    pub block_size_bytes: u64,
    /// Requests kept in flight, per job.
    pub queue_depth: u32,
    /// Workers that run this workload at the same time.
    pub jobs: u32,
    /// Share of reads in a mix, in percent; `None` for one direction.
    pub read_percent: Option<f64>,
    /// Distance between the starts of sequential requests, where it is not the block size: the pass wraps around
    /// at the end of the span.
    pub stride_bytes: Option<u64>,
    /// Where the addressed part of the target begins.
    pub offset_bytes: u64,
    /// The part of the target that is addressed.
    pub span_bytes: u64,
    /// Name of the engine.
    pub engine: String,
    /// Whether the page cache is bypassed.
    pub direct: bool,
    /// How random offsets are drawn.
    #[serde(default)]
    pub distribution: Distribution,
    /// What is written.
    #[serde(default)]
    pub payload: Payload,
}

impl TrialSpec {
    /// The workload in words, for people: `4 KiB random reads, 32 in flight`.
    pub fn describe(&self) -> String {
        let size = units::size(self.block_size_bytes);
        let what = match self.rw {
            Rw::Read => "sequential reads".to_owned(),
            Rw::Write => "sequential writes".to_owned(),
            Rw::RandRead => "random reads".to_owned(),
            Rw::RandWrite => "random writes".to_owned(),
            Rw::Rw => format!("sequential, {} % reads", self.read_percent.unwrap_or(50.0)),
            Rw::RandRw => format!("random, {} % reads", self.read_percent.unwrap_or(50.0)),
        };
        let stride = self.stride_bytes.map_or_else(String::new, |s| format!(" every {}", units::size(s)));
        let depth = match self.queue_depth {
            1 => "one at a time".to_owned(),
            n => format!("{n} in flight"),
        };
        let jobs = if self.jobs > 1 { format!(" in each of {} jobs", self.jobs) } else { String::new() };
        format!("{size} {what}{stride}, {depth}{jobs}")
    }

    /// Requests that this workload keeps in flight over all its jobs.
    pub fn asked_in_flight(&self) -> u64 {
        u64::from(self.queue_depth) * u64::from(self.jobs)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn example() -> TrialSpec {
        TrialSpec {
            rw: Rw::RandRead,
            block_size_bytes: 4096,
            queue_depth: 32,
            jobs: 1,
            read_percent: None,
            stride_bytes: None,
            offset_bytes: 0,
            span_bytes: 1 << 30,
            engine: "io_uring".into(),
            direct: true,
            distribution: Distribution::Uniform,
            payload: Payload::Random,
        }
    }

    #[test]
    fn words_before_numbers() {
        assert_eq!(example().describe(), "4 KiB random reads, 32 in flight");
        let mix = TrialSpec { rw: Rw::RandRw, read_percent: Some(70.0), queue_depth: 1, ..example() };
        assert_eq!(mix.describe(), "4 KiB random, 70 % reads, one at a time");
    }

    #[test]
    fn patterns_read_back_and_a_slip_gets_a_hint() {
        for rw in Rw::ALL {
            assert_eq!(rw.name().parse(), Ok(rw));
        }
        assert!("randred".parse::<Rw>().unwrap_err().contains("did you mean `randread`?"));
    }
}
