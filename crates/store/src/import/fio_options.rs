//! A job's options, as fio writes them: text by name, the job's own before the global ones.

use iosonde_model::{
    Arrivals, Op, Ranges, Rw, Sync, Think, TrialSpec,
    fio::{self, KbBase},
};
use serde_json::Value;

use super::Figures;

/// Mean sizes that differ by less are what was asked for.
pub(super) const LIKE_SIZES: f64 = 0.01;

/// Options with which requests wait for others, or for what reads back between writes.
const LETS_EMPTY: [&str; 7] = [
    "iodepth_low",
    "iodepth_batch",
    "iodepth_batch_submit",
    "iodepth_batch_complete",
    "iodepth_batch_complete_min",
    "iodepth_batch_complete_max",
    "verify_backlog",
];

/// Options with which a job may end before its `runtime` is over.
const ENDS_EARLY: [&str; 9] = [
    "number_ios",
    "io_size",
    "io_limit",
    "steadystate",
    "ss",
    "exitall",
    "exit_what",
    "max_latency",
    "rate_min",
];

/// How long a job that only the clock ends had to run.
fn runs_for_s<'a>(text: &impl Fn(&str) -> Option<&'a str>) -> Option<f64> {
    let is_timed = text("time_based").is_some_and(|word| word != "0");
    let ends_early = ENDS_EARLY.iter().any(|name| text(name).is_some_and(|word| word != "0"));
    let runtime_ns = fio::time_ns(text("runtime").or_else(|| text("timeout"))?, 1_000_000_000)?;
    (is_timed && !ends_early && runtime_ns > 0).then(|| runtime_ns as f64 / 1e9)
}

/// Options of a job that define its workload.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Options {
    pub(super) rw: Rw,
    pub(super) block_size_bytes: u64,
    /// Bytes of a read, write and trim; `None` where they are of several sizes.
    sizes: [Option<u64>; 3],
    depth: u32,
    pub(super) jobs: u32,
    read_percent: f64,
    engine: String,
    direct: bool,
    span_bytes: u64,
    /// Offered loads: reads, writes and trims.
    rates_iops: [Option<f64>; 3],
    think: Option<Think>,
    arrivals: Arrivals,
    sync: Sync,
    /// True if the job verifies its writes, for which fio counts the time twice.
    pub(super) verifies: bool,
    /// Whether each job has a file of its own.
    has_own_files: bool,
    /// Whether it began later than others of its group, so that it did not run with them.
    pub(super) begins_later: bool,
    /// Seconds that the job had to run, where nothing but the clock was to end it.
    pub(super) runs_for_s: Option<f64>,
    /// Whether its queue is allowed to empty between requests.
    pub(super) keeps_no_depth: bool,
    /// Whether all jobs of the file have its engine, and its way through or past the page cache.
    is_common: [bool; 2],
    /// Sizes may be powers of 1,000 or of 1,024: `kb_base` holds for what follows it, and JSON does not say what did.
    has_two_bases: bool,
}

impl Options {
    pub(super) fn of(own: &Value, global: &Value) -> Result<Self, String> {
        let text = |name: &str| own[name].as_str().or_else(|| global[name].as_str());
        let any = |names: &[&str]| names.iter().find_map(|name| text(name));
        // An option without a value is written as an empty text and means yes.
        let yes = |names: &[&str]| any(names).is_some_and(|value| value.is_empty() || value != "0");
        let base = if text("kb_base") == Some("1000") { KbBase::Si } else { KbBase::Compatible };
        let size = |word: &str| fio::size(word, base);
        let number = |names: &[&str], otherwise: u32| match any(names) {
            None => Ok(otherwise),
            Some(word) => size(word)
                .and_then(|count| u32::try_from(count).ok())
                .filter(|&count| count > 0)
                .ok_or_else(|| format!("option {}={word} is not understood", names[0])),
        };
        let rw = any(&["rw", "readwrite"]).unwrap_or("read");
        let mix = any(&["rwmixread"]).and_then(|word| word.parse::<f64>().ok());
        let mix = mix.or_else(|| any(&["rwmixwrite"])?.parse::<f64>().ok().map(|writes| 100.0 - writes));
        // `500,200` is for reads and writes; the last one given holds for those that follow.
        let lanes = |name: &str| {
            let words: Vec<&str> = any(&[name])?.split(',').collect();
            Some([0, 1, 2].map(|at: usize| words.get(at.min(words.len() - 1)).and_then(|word| size(word))))
        };
        // The first of `4k,8k` (reads, writes) or `4k-64k` (a range): what was moved tells the rest.
        let block_size_bytes = any(&["bs", "blocksize"])
            .and_then(|word| size(word.split([',', '-']).next()?))
            .filter(|&bytes| bytes > 0)
            .unwrap_or(4096);
        let requests = lanes("rate_iops").map(|all| all.map(|rate| rate.map(|rate| rate as f64)));
        // `4k,8k`: a rate in bytes is one of requests of its own direction's size.
        let sizes = lanes("bs").or_else(|| lanes("blocksize")).unwrap_or_default();
        let bytes = lanes("rate").map(|rates| {
            [0, 1, 2].map(|at: usize| {
                let size = sizes[at].filter(|&bytes| bytes > 0).unwrap_or(block_size_bytes);
                Some(rates[at]? as f64 / size as f64)
            })
        });
        let rates_iops = requests.or(bytes).unwrap_or_default();
        // Each direction keeps to its own rate, whatever `rwmixread` says.
        let by_rates = match rates_iops {
            [Some(reads), Some(writes), _] if reads + writes > 0.0 => Some(100.0 * reads / (reads + writes)),
            _ => None,
        };
        let engine = any(&["ioengine"]).unwrap_or("psync").to_owned();
        let is_poisson = any(&["rate_process"]) == Some("poisson");
        Ok(Self {
            rw: pattern(rw).ok_or_else(|| format!("option rw={rw} is not understood"))?,
            block_size_bytes,
            sizes: sizes.map(|own| own.or(Some(block_size_bytes)).filter(|_| !draws_sizes(&text))),
            depth: number(&["iodepth"], 1)?,
            jobs: number(&["numjobs"], 1)?,
            read_percent: by_rates.or(mix.filter(|mix| (0.0..=100.0).contains(mix))).unwrap_or(50.0),
            // A mapped file is read through the page cache, whatever the options say.
            direct: engine != "mmap" && (yes(&["direct"]) || any(&["buffered"]) == Some("0")),
            engine,
            span_bytes: any(&["size", "filesize"]).and_then(size).unwrap_or(0),
            rates_iops,
            think: pauses(&text, size),
            arrivals: if is_poisson { Arrivals::Poisson } else { Arrivals::Fixed },
            sync: durable(&text),
            verifies: any(&["verify"]).is_some_and(|word| word != "0"),
            has_own_files: any(&["filename"]).is_none(),
            begins_later: ["startdelay", "wait_for", "wait_for_previous"]
                .iter()
                .any(|name| text(name).is_some_and(|word| word.parse::<f64>() != Ok(0.0))),
            runs_for_s: runs_for_s(&text),
            keeps_no_depth: LETS_EMPTY.iter().any(|name| text(name).is_some()),
            is_common: [own["ioengine"].is_null(), own["direct"].is_null() && own["buffered"].is_null()],
            has_two_bases: base == KbBase::Si,
        })
    }

    /// Whether a job of these options cannot have done these reads and writes.
    pub(super) fn has_a_direction_too_few(&self, [reads, writes, _]: [&Option<Figures>; 3]) -> bool {
        (reads.is_some() && !self.rw.reads()) || (writes.is_some() && !self.rw.writes())
    }

    /// Whether requests of a direction were of another size than these options have.
    pub(super) fn has_other_sizes(&self, moved: [&Option<Figures>; 3]) -> bool {
        let other = |(side, size): (&Option<Figures>, Option<u64>)| {
            let (side, size) = (side.as_ref()?, size? as f64);
            let mean =
                side.bytes.filter(|&bytes| bytes > 0)? as f64 / side.ios.filter(|&ios| ios > 0)? as f64;
            let is_like = |size: f64| (mean / size - 1.0).abs() <= LIKE_SIZES;
            let in_other_base =
                self.has_two_bases && [1, 2].iter().any(|power| is_like(size * 1.024f64.powi(*power)));
            Some(side.short == 0 && !is_like(size) && !in_other_base)
        };
        moved.into_iter().zip(self.sizes).any(|side| other(side) == Some(true))
    }

    /// Whether the file says for each of several jobs whether it bypassed the page cache.
    pub(super) fn has_common_cache(&self) -> bool {
        self.is_common[1]
    }

    /// Whether one direction has a rate and the other has none, so that neither the load nor the mix is what it says.
    pub(super) fn is_partly_rated(&self) -> bool {
        let rated = |op: usize| self.rates_iops[op].is_some_and(|rate| rate > 0.0);
        self.rw.is_mixed() && rated(0) != rated(1)
    }

    /// The same without a rate, with the mix that was done.
    pub(super) fn unrated(self, reads: u64, writes: u64) -> Self {
        let read_percent = 100.0 * reads as f64 / (reads + writes).max(1) as f64;
        Self { rates_iops: [None; 3], read_percent, ..self }
    }

    /// The same in one direction.
    pub(super) fn of_one(self, op: Op) -> Self {
        let rw = match (op, self.rw.is_random()) {
            (Op::Read, true) => Rw::RandRead,
            (Op::Read, false) => Rw::Read,
            (_, true) => Rw::RandWrite,
            (_, false) => Rw::Write,
        };
        Self { rw, ..self }
    }

    /// Those of jobs of several kinds that did so many reads and writes: of their order, loads and flushes, the options
    /// of one tell nothing.
    pub(super) fn of_several_kinds(self, reads: u64, writes: u64) -> Self {
        let (rw, read_percent) = match (reads, writes) {
            (0, 0) => (self.rw, self.read_percent),
            (_, 0) => (Rw::RandRead, 100.0),
            (0, _) => (Rw::RandWrite, 0.0),
            _ => (Rw::RandRw, 100.0 * reads as f64 / (reads + writes) as f64),
        };
        let (rates_iops, think, sync) = ([None; 3], None, Sync::None);
        let engine = if self.is_common[0] { self.engine } else { "unknown".to_owned() };
        let own =
            Self { rw, read_percent, rates_iops, think, sync, engine, arrivals: Arrivals::Fixed, ..self };
        Self { span_bytes: 0, ..own }
    }

    /// Returns the workload for one block size.
    pub(super) fn spec(&self, block_size_bytes: u64, jobs: u32) -> TrialSpec {
        // fio's rate holds for each direction by itself.
        let own = Op::DIRECTIONS.into_iter().zip(self.rates_iops).filter(|(op, _)| self.rw.has(*op));
        let rate_iops: f64 = own.filter_map(|(_, rate)| rate).sum();
        let apart = jobs > 1 && self.has_own_files;
        TrialSpec {
            rw: self.rw,
            block_size_bytes,
            queue_depth: self.depth,
            jobs,
            read_percent: self.rw.is_mixed().then_some(self.read_percent),
            span_bytes: if apart { self.span_bytes.saturating_mul(u64::from(jobs)) } else { self.span_bytes },
            ranges: if apart { Ranges::Disjoint } else { Ranges::Shared },
            engine: self.engine.clone(),
            direct: self.direct,
            rate_iops: (rate_iops > 0.0).then_some(rate_iops),
            think: self.think,
            arrivals: self.arrivals,
            sync: if self.rw.writes() { self.sync } else { Sync::None },
            ..TrialSpec::default()
        }
    }
}

fn pauses<'a>(text: &impl Fn(&str) -> Option<&'a str>, size: impl Fn(&str) -> Option<u64>) -> Option<Think> {
    let pause_ns = fio::time_ns(text("thinktime")?, 1_000).filter(|&ns| ns > 0)?;
    let requests = text("thinktime_blocks").and_then(size).or(Some(1));
    Some(Think { pause_ns, spin_ns: 0, requests, time_ns: None })
}

/// Whether requests of a direction are of several sizes.
fn draws_sizes<'a>(text: &impl Fn(&str) -> Option<&'a str>) -> bool {
    const OPTIONS: [&str; 5] =
        ["bssplit", "bsrange", "blocksize_range", "bs_unaligned", "blocksize_unaligned"];
    OPTIONS.iter().any(|name| text(name).is_some())
        || ["bs", "blocksize"].iter().any(|name| text(name).is_some_and(|word| word.contains('-')))
}

fn durable<'a>(text: &impl Fn(&str) -> Option<&'a str>) -> Sync {
    let every = |name: &str| text(name)?.parse::<u32>().ok().filter(|&every| every > 0);
    match (every("fsync"), every("fdatasync"), text("sync")) {
        (Some(every), _, _) => Sync::Fsync { every },
        (_, Some(every), _) => Sync::Fdatasync { every },
        (_, _, Some("dsync")) => Sync::Dsync,
        (_, _, Some("" | "1" | "sync")) => Sync::Osync,
        _ if ["end_fsync", "fsync_on_close"]
            .iter()
            .any(|name| text(name).is_some_and(|word| word != "0")) =>
        {
            Sync::FsyncAtEnd
        }
        _ => Sync::None,
    }
}

/// fio's word for a pattern; `randread:8` draws offsets in groups and is random all the same. Of a file that trims
/// before it writes, the writes are told.
fn pattern(word: &str) -> Option<Rw> {
    match word.split(':').next()? {
        "trimwrite" => Some(Rw::Write),
        "randtrimwrite" => Some(Rw::RandWrite),
        word => fio::pattern(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rates_hold_for_each_direction_and_pauses_are_read() {
        let rate =
            |given: serde_json::Value| Options::of(&given, &json!({})).unwrap().spec(4096, 1).rate_iops;
        assert_eq!(rate(json!({"rw": "randrw", "rate_iops": "500,200"})), Some(700.0));
        assert_eq!(rate(json!({"rw": "randrw", "rate_iops": "500"})), Some(1000.0));
        assert_eq!(rate(json!({"rw": "randwrite", "rate_iops": "50,5000k"})), Some(5_120_000.0));
        assert_eq!(rate(json!({"rw": "randread", "rate": "2m,1m", "bs": "4k"})), Some(512.0));
        assert_eq!(rate(json!({"rw": "randrw", "rate": "4m,2m", "bs": "4k,8k"})), Some(1280.0));
        assert_eq!(rate(json!({"rw": "randread"})), None);
        let paused =
            Options::of(&json!({"rw": "read", "thinktime": "1000"}), &json!({})).unwrap().spec(4096, 1);
        assert_eq!(
            (paused.think.map(|think| think.pause_ns), paused.keeps_depth()),
            (Some(1_000_000), false)
        );
    }

    #[test]
    fn a_jobs_own_options_come_before_the_global_ones() {
        let global =
            json!({"iodepth": "16", "direct": "1", "verify": "crc32c", "rw": "randrw", "rwmixwrite": "30"});
        let options = Options::of(&json!({"iodepth": "32", "bs": "8k,4k"}), &global).unwrap();
        let spec = options.spec(8192, 2);
        assert_eq!((spec.queue_depth, spec.direct, spec.read_percent), (32, true, Some(70.0)));
        assert_eq!((options.block_size_bytes, options.verifies), (8192, true));
        let bare = Options::of(&json!({}), &Value::Null).unwrap().spec(4096, 1);
        assert_eq!(
            (bare.rw, bare.queue_depth, bare.direct, bare.engine.as_str()),
            (Rw::Read, 1, false, "psync")
        );
        let mapped = json!({"rw": "randread", "ioengine": "mmap", "direct": "1"});
        assert!(!Options::of(&mapped, &Value::Null).unwrap().spec(4096, 1).direct);
        assert!(Options::of(&json!({"rw": "sideways"}), &Value::Null).unwrap_err().contains("rw=sideways"));
        assert!(Options::of(&json!({"iodepth": "0"}), &Value::Null).unwrap_err().contains("iodepth=0"));
    }
}
