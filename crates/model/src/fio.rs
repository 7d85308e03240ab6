//! fio's own words for sizes, times and patterns, which differ from iosonde's; and the jobs of a run that came from
//! fio.

pub mod steady_state;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Direction, Flush, Op, Rw, Stream, Trial, Window, WindowDirection};

/// Meaning of fio's `k`, set by its option `kb_base`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KbBase {
    /// `kb_base=1024`, the default: `k`, `ki` and `kb` are 1,024 and `kib` is 1,000, contrary to IEC 80000-13, for the
    /// sake of old job files.
    #[default]
    Compatible,
    /// `kb_base=1000`: `k`, `ki` and `kb` are 1,000 and `kib` is 1,024.
    Si,
}

impl KbBase {
    /// Reads the option's value.
    pub fn parse(word: &str) -> Option<Self> {
        match word.trim() {
            "1024" => Some(Self::Compatible),
            "1000" => Some(Self::Si),
            _ => None,
        }
    }
}

/// Reads a whole number with fio's suffix for sizes: `4k`, `1MiB`, `0x1000`. `None` if it is none, or beyond 64 bits.
pub fn size(word: &str, base: KbBase) -> Option<u64> {
    let word = word.trim().to_ascii_lowercase();
    let (number, suffix) = if let Some(digits) = word.strip_prefix("0x") {
        // A `b` is a digit there.
        (u64::from_str_radix(digits, 16).ok()?, "")
    } else {
        let digits = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
        let (number, suffix) = word.split_at(digits);
        (number.parse().ok()?, suffix)
    };
    // `ki` is `k`: only with its `b` does fio 3.33 take the `i` for a sign.
    let (letter, iec) = match suffix.strip_suffix("ib") {
        Some(letter) => (letter, true),
        None => (suffix.strip_suffix(['b', 'i']).unwrap_or(suffix), false),
    };
    let power = match letter {
        "" if !suffix.is_empty() && suffix != "b" => return None,
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return None,
    };
    let factor: u64 = if (base == KbBase::Compatible) != iec { 1024 } else { 1000 };
    number.checked_mul(factor.checked_pow(power)?)
}

/// Reads a time into nanoseconds: `30`, `30s`, `5m`, `100ms`; `unit_ns` is that of a bare number.
pub fn time_ns(word: &str, unit_ns: u64) -> Option<u64> {
    let word = word.trim().to_ascii_lowercase();
    let digits = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
    let (number, suffix) = word.split_at(digits);
    let number: u64 = number.parse().ok()?;
    let factor = match suffix.trim() {
        "" => unit_ns,
        "us" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "s" | "sec" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    };
    number.checked_mul(factor)
}

/// Access pattern of fio's `rw`, without what follows a colon. Trims that precede writes are none of ours.
pub fn pattern(word: &str) -> Option<Rw> {
    Some(match word {
        "read" => Rw::Read,
        "write" => Rw::Write,
        "randread" => Rw::RandRead,
        "randwrite" => Rw::RandWrite,
        "rw" | "readwrite" => Rw::Rw,
        "randrw" => Rw::RandRw,
        "trim" => Rw::Trim,
        "randtrim" => Rw::RandTrim,
        _ => return None,
    })
}

/// Jobs of a fio job file or command line, as they were run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FioJobs {
    /// Options of `[global]`.
    pub global: BTreeMap<String, String>,
    /// Groups of jobs that ran at once, in the order of the run's measured trials.
    pub groups: Vec<Vec<FioReport>>,
}

/// Entry of fio's report: a job, or all jobs of a reporting group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FioReport {
    /// Name of the (first) job.
    pub name: String,
    /// Number of the reporting group.
    pub group: u32,
    /// Number of its jobs, clones included.
    pub jobs: u32,
    /// Number of its first job among all jobs, from 1.
    #[serde(default)]
    pub first_job: u32,
    /// Indices of the trial's streams that belong to it.
    pub streams: Vec<usize>,
    /// Options of the (first) job, as given.
    pub options: BTreeMap<String, String>,
}

impl FioReport {
    /// Results of one direction, of all its streams.
    pub fn direction(&self, trial: &Trial, op: Op) -> Option<Direction> {
        if trial.streams.is_empty() {
            return trial.direction(op).cloned();
        }
        let own: Vec<&Direction> = self.own(trial).filter_map(|stream| stream.direction(op)).collect();
        Direction::of_all(&own)
    }

    /// Results of the flushes of all its streams.
    pub fn flush(&self, trial: &Trial) -> Option<Flush> {
        if trial.streams.is_empty() {
            return trial.flush.clone();
        }
        let own: Vec<&Flush> = self.own(trial).filter_map(|stream| stream.flush.as_ref()).collect();
        Flush::of_all(&own)
    }

    /// Seconds that its longest stream measured.
    pub fn measured_s(&self, trial: &Trial) -> f64 {
        self.longest_s(trial, |_| true)
    }

    /// Seconds that its longest stream with requests of this kind measured.
    pub fn measured_s_of(&self, trial: &Trial, op: Op) -> f64 {
        self.longest_s(trial, |stream| stream.direction(op).is_some())
    }

    /// Seconds that its longest stream with flushes measured.
    pub fn flushing_s(&self, trial: &Trial) -> f64 {
        self.longest_s(trial, |stream| stream.flush.is_some())
    }

    fn longest_s(&self, trial: &Trial, counts: impl Fn(&Stream) -> bool) -> f64 {
        let own = self.own(trial).filter(|stream| counts(stream)).filter_map(|stream| stream.measured_s);
        own.reduce(f64::max).unwrap_or(trial.measured_s)
    }

    /// Its streams, where the trial has several.
    pub fn own<'a>(&'a self, trial: &'a Trial) -> impl Iterator<Item = &'a Stream> {
        self.streams.iter().filter_map(|at| trial.streams.get(*at))
    }

    /// One direction of all its streams in slices of whole windows, each as long as asked or a little longer, the last
    /// one as long as what is left. The longest stream tells the time.
    pub fn slices(&self, trial: &Trial, op: Op, length_s: f64) -> Vec<Slice> {
        let streams: Vec<&[Window]> = match trial.streams.is_empty() {
            true => vec![&trial.windows],
            false => self.own(trial).map(|stream| stream.windows.as_slice()).collect(),
        };
        let Some(longest) = streams.iter().max_by_key(|stream| stream.len()) else { return Vec::new() };
        let mut out = Vec::new();
        let mut slice = Slice::default();
        for (at, window) in longest.iter().enumerate() {
            slice.length_s += window.length_s;
            let beside = streams.iter().filter_map(|stream| stream.get(at));
            beside.for_each(|window| slice.add(window.direction(op)));
            // A rounding of seconds is no shorter slice.
            if slice.length_s >= length_s - 1e-3 || at + 1 == longest.len() {
                slice.ended_s = window.start_s + window.length_s;
                out.push(std::mem::take(&mut slice));
            }
        }
        out
    }
}

/// Sums over the windows of a slice of the measured time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Slice {
    /// Its end, from the trial's beginning.
    pub ended_s: f64,
    /// Its length.
    pub length_s: f64,
    /// Completions.
    pub ios: f64,
    /// Bytes moved.
    pub bytes: f64,
    /// Sum of the latencies of its requests.
    pub latency_ns: f64,
}

impl Slice {
    fn add(&mut self, side: Option<&WindowDirection>) {
        let Some(side) = side else { return };
        self.ios += side.ios as f64;
        self.bytes += side.bytes as f64;
        self.latency_ns += side.latency_ns_mean.unwrap_or(0.0) * side.ios as f64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_follow_fios_own_rule() {
        use KbBase::{Compatible, Si};
        for (word, base, bytes) in [
            ("4k", Compatible, Some(4096)),
            ("4KiB", Compatible, Some(4000)),
            ("4kb", Si, Some(4000)),
            ("4kib", Si, Some(4096)),
            ("4ki", Compatible, Some(4096)),
            ("4ki", Si, Some(4000)),
            ("512b", Compatible, Some(512)),
            ("ib", Compatible, None),
            ("512", Compatible, Some(512)),
            ("0x1000", Compatible, Some(4096)),
            ("1g", Compatible, Some(1 << 30)),
            ("100%", Compatible, None),
            ("i", Compatible, None),
            ("99999999999t", Compatible, None),
            ("", Compatible, None),
        ] {
            assert_eq!(size(word, base), bytes, "{word}");
        }
    }

    #[test]
    fn times_count_in_seconds_unless_they_say_otherwise() {
        for (word, ns) in [
            ("30", Some(30_000_000_000)),
            ("5m", Some(300_000_000_000)),
            ("100ms", Some(100_000_000)),
            ("2H", Some(7_200_000_000_000)),
            ("1w", None),
            ("", None),
            ("99999999999999d", None),
        ] {
            assert_eq!(time_ns(word, 1_000_000_000), ns, "{word}");
        }
        assert_eq!(time_ns("7", 1000), Some(7000));
    }
}
