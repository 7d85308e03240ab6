//! One stream of a workload, as it is typed: with options of `point`, or in the words of `--and`.

use std::error::Error as _;

use clap::{
    Args, Parser,
    error::{ContextKind, ErrorKind},
};
use iosonde_model::{
    Arrivals, BlockSizes, Distribution, Payload, Ranges, Rw, StridePass, Sync, TrialSpec, units,
};

use crate::failure::Failure;

/// The most requests a second that can be asked of one job: beyond it the clock's own reading takes longer.
const RATE_MAX: f64 = 20e6;

/// Smallest block in which storage finds duplicates.
const DEDUPE_BYTES: u64 = 4096;

/// What one stream does.
#[derive(Debug, Clone, Args)]
pub struct StreamArgs {
    /// read, write, randread, randwrite, rw, randrw, trim or randtrim
    #[arg(long, alias = "readwrite", value_name = "PATTERN", default_value = "randread")]
    pub rw: Rw,
    /// Bytes of one request, or several sizes with their shares: 4k:60,64k:40
    #[arg(long, aliases = ["blocksize", "block-size"])]
    #[arg(value_name = "SIZE", value_parser = parse_blocks, default_value = "4k")]
    pub bs: Blocks,
    /// Queue depth, per job; with --rate the maximum of outstanding requests [default: 1; with --rate 128]
    #[arg(long, alias = "iodepth", value_name = "N", value_parser = parse_depth())]
    pub depth: Option<u32>,
    /// Number of workers that run this stream in parallel
    #[arg(long, alias = "numjobs", value_name = "N", default_value_t = 1, value_parser = parse_jobs())]
    pub jobs: u32,
    /// Whether jobs go over the whole span (shared) or each over its part (disjoint)
    /// [default: shared; with --verify disjoint]
    #[arg(long, value_name = "HOW", value_parser = parse_ranges)]
    pub ranges: Option<Ranges>,
    /// Share of reads in rw and randrw
    #[arg(long, alias = "rwmixread", value_name = "READ%", value_parser = units::parse_percent)]
    pub mix: Option<f64>,
    /// Distance between the starts of sequential requests; SIZE:shift begins each pass one block further
    #[arg(long, value_name = "SIZE", value_parser = parse_stride)]
    pub stride: Option<Stride>,
    /// Beginning of the addressed part
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size, default_value = "0")]
    pub offset: u64,
    /// Size of the addressed part [default: all of the prepared area]
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    pub span: Option<u64>,
    /// Random offsets are multiples of this [default: the block size]
    #[arg(long, value_name = "SIZE", value_parser = parse_alignment)]
    pub align: Option<u64>,
    /// Distribution of random offsets: uniform, once, once:job, zipf:θ, pareto:h, normal:σ% or hot:A%/B%
    #[arg(long, alias = "random_distribution", value_name = "HOW")]
    pub distribution: Option<Distribution>,
    /// Offered load: requests per second that become due, per job, whether or not the storage keeps up
    #[arg(long, alias = "rate_iops", value_name = "IOPS", value_parser = parse_rate)]
    pub rate: Option<f64>,
    /// With --rate: fixed intervals, or poisson, like many independent clients
    #[arg(long, value_name = "HOW")]
    pub arrivals: Option<Arrivals>,
    /// Durability of writes: none, fsync:N, fdatasync:N, dsync or osync; fsync:end or fdatasync:end, once at the end
    #[arg(long, value_name = "HOW", default_value = "none")]
    pub sync: Sync,
    /// Written data: random, zero, compress:P% or dedupe:P%
    #[arg(long, value_name = "WHAT", default_value = "random")]
    pub payload: Payload,
    /// Mark each written block, read all back, and find lost, torn, misplaced and stale ones
    #[arg(long)]
    pub verify: bool,
}

/// Block sizes as typed.
#[derive(Debug, Clone, PartialEq)]
pub struct Blocks {
    /// The only one, or the largest.
    pub largest_bytes: u64,
    /// Several, with their shares.
    pub sizes: BlockSizes,
}

impl Blocks {
    /// Every size.
    fn all_bytes(&self) -> impl Iterator<Item = u64> {
        self.sizes.iter().map(|size| size.bytes).chain([self.largest_bytes])
    }
}

/// A stride as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stride {
    /// From start to start.
    pub bytes: u64,
    /// What happens at the end of the span.
    pub pass: StridePass,
}

/// The words of `--and`, as options.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Beside {
    #[command(flatten)]
    stream: StreamArgs,
}

/// Reads a stream such as `rw=write bs=4k sync=fdatasync:1`.
pub fn parse_beside(text: &str) -> Result<StreamArgs, String> {
    if text.trim().is_empty() {
        return Err("a stream is written as \"rw=write bs=4k sync=fdatasync:1\"".into());
    }
    let words = text.split_whitespace().map(|word| format!("--{}", word.trim_start_matches('-')));
    let parsed = Beside::try_parse_from(words);
    parsed.map(|beside| beside.stream).map_err(|error| {
        format!("{}; a stream is written as \"rw=write bs=4k sync=fdatasync:1\"", without_dashes(&error))
    })
}

/// A mistake in a stream, whose options have no dashes.
fn without_dashes(error: &clap::Error) -> String {
    let context = |kind| Some(error.get(kind)?.to_string().trim_start_matches('-').to_owned());
    let option = context(ContextKind::InvalidArg).unwrap_or_default();
    match (error.kind(), error.source(), context(ContextKind::SuggestedArg)) {
        (_, Some(source), _) => format!("{option}: {source}"),
        (ErrorKind::UnknownArgument, None, Some(near)) => {
            format!("a stream has no `{option}`; did you mean `{near}`?")
        }
        (ErrorKind::UnknownArgument, None, None) => format!("a stream has no `{option}`"),
        (kind, None, _) => format!("{option}: {kind}"),
    }
}

impl StreamArgs {
    /// The workload, over what is prepared of the target.
    pub fn spec(&self, engine: &str, direct: bool, working_set_bytes: u64) -> Result<TrialSpec, Failure> {
        let left_bytes = working_set_bytes.saturating_sub(self.offset);
        let span_bytes = self.span.unwrap_or(left_bytes);
        if span_bytes > left_bytes || span_bytes < self.bs.largest_bytes {
            return Err(Failure::usage(format!(
                "a span of {} from {} does not fit: {} are prepared (--size), and a block has {}",
                units::size(span_bytes),
                units::size(self.offset),
                units::size(working_set_bytes),
                units::size(self.bs.largest_bytes)
            )));
        }
        let once = self.rw.trims() && self.rw.is_random();
        // A hole cannot be punched twice: a second trim of the same block measures nothing.
        let usual = if once { Distribution::Once } else { Distribution::Uniform };
        Ok(TrialSpec {
            rw: self.rw,
            block_size_bytes: self.bs.largest_bytes,
            block_sizes: self.bs.sizes.clone(),
            queue_depth: self.depth(),
            jobs: self.jobs,
            read_percent: self.rw.is_mixed().then(|| self.mix.unwrap_or(0.5) * 100.0),
            stride_bytes: self.stride.map(|stride| stride.bytes),
            stride_pass: self.stride.map_or(StridePass::Same, |stride| stride.pass),
            offset_bytes: self.offset,
            span_bytes,
            align_bytes: self.align,
            ranges: self.ranges.unwrap_or(if self.verify { Ranges::Disjoint } else { Ranges::Shared }),
            engine: engine.to_owned(),
            direct,
            distribution: self.distribution.unwrap_or(usual),
            rate_iops: self.rate,
            arrivals: self.arrivals.unwrap_or_default(),
            sync: self.sync,
            payload: self.payload,
            verify: self.verify,
            ..TrialSpec::default()
        })
    }

    fn depth(&self) -> u32 {
        // With a rate the depth is a limit; 128 is beyond what most storage keeps busy with.
        self.depth.unwrap_or(if self.rate.is_some() { 128 } else { 1 })
    }

    /// Refuses options that contradict each other, whatever the storage.
    pub fn refuse_contradictions(&self) -> Result<(), Failure> {
        let refuse = |text: String| Err(Failure::usage(text));
        let rw = self.rw;
        if self.mix.is_some() && !rw.is_mixed() {
            return refuse(format!("--mix is for rw and randrw; {rw} has one direction"));
        }
        if self.sync != Sync::None && !rw.writes() {
            return refuse(format!("--sync {} makes writes durable, and {rw} writes nothing", self.sync));
        }
        if self.payload != Payload::Random && !rw.writes() {
            return refuse(format!(
                "--payload {} says what is written, and {rw} writes nothing",
                self.payload
            ));
        }
        if self.verify && self.payload != Payload::Random {
            return refuse("--verify writes marked random blocks; leave --payload out".into());
        }
        if self.verify && rw.trims() {
            return refuse("--verify reads back what was written, and a trim writes nothing".into());
        }
        if self.arrivals.is_some() && self.rate.is_none() {
            return refuse("--arrivals says when requests of an open loop are due: give --rate too".into());
        }
        if self.distribution.is_some_and(|d| d != Distribution::Uniform) && !rw.is_random() {
            return refuse(format!("--distribution is for random offsets, and {rw} is sequential"));
        }
        if rw.trims() && rw.is_random() && self.distribution.is_some_and(|d| d != Distribution::Once) {
            return refuse(
                "a hole cannot be punched twice: trims take each block once; leave --distribution out".into(),
            );
        }
        if self.ranges == Some(Ranges::Disjoint) && self.jobs == 1 {
            return refuse("--ranges says how jobs share the span, and there is one; give --jobs too".into());
        }
        if self.align.is_some() && !rw.is_random() {
            return refuse(format!(
                "--align is for random offsets, and {rw} is sequential; --offset moves it"
            ));
        }
        if self.payload.repeated_share().is_some()
            && let Some(odd) = self.bs.all_bytes().find(|bytes| bytes % DEDUPE_BYTES != 0)
        {
            return refuse(format!(
                "--payload {} repeats blocks of 4 KiB, and requests of {odd} B are no multiples of that: storage would \
                 find other shares; ask for --bs 4k or a multiple",
                self.payload
            ));
        }
        if self.verify && self.jobs > 1 && self.ranges == Some(Ranges::Shared) {
            return refuse(
                "jobs that verify need ranges of their own, since each knows only its own writes; leave --ranges out"
                    .into(),
            );
        }
        match self.stride {
            Some(_) if rw.is_random() => refuse(format!(
                "--stride is the distance between sequential requests, and {rw} is random; add --rw \
                     read or write"
            )),
            Some(stride) if stride.bytes < self.bs.largest_bytes => refuse(format!(
                "--stride is the distance between sequential requests, at least the block of {}",
                units::size(self.bs.largest_bytes)
            )),
            Some(_) if !self.bs.sizes.is_one() => refuse("--stride goes with one block size".into()),
            _ => Ok(()),
        }
    }

    /// Refuses sizes and offsets that direct I/O cannot use: they must be multiples of the device's unit.
    pub fn refuse_misaligned(&self, unit_bytes: u64) -> Result<(), Failure> {
        let sizes = self.bs.sizes.iter().map(|size| ("--bs", size.bytes));
        let others = [
            ("--bs", self.bs.largest_bytes),
            ("--offset", self.offset),
            ("--stride", self.stride.map_or(0, |stride| stride.bytes)),
            ("--align", self.align.unwrap_or(0)),
        ];
        match sizes.chain(others).find(|(_, bytes)| bytes % unit_bytes != 0) {
            Some((option, bytes)) => Err(Failure::usage(format!(
                "{option} {} is no multiple of {}, which direct I/O needs here; align it, or measure with --buffered",
                if bytes % 1024 == 0 { units::size(bytes) } else { format!("{bytes} B") },
                units::size(unit_bytes)
            ))),
            None => Ok(()),
        }
    }
}

fn parse_depth() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=65_536)
}

fn parse_jobs() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=1024)
}

fn parse_blocks(text: &str) -> Result<Blocks, String> {
    let sizes: BlockSizes = text.parse()?;
    let largest_bytes = match sizes.largest_bytes() {
        Some(largest_bytes) => largest_bytes,
        None => units::parse_size(text).map_err(|e| e.to_string())?,
    };
    if sizes.smallest_bytes().unwrap_or(largest_bytes) == 0 {
        return Err("a block has at least one byte".into());
    }
    if largest_bytes > 1 << 30 {
        return Err("a block has at most 1 GiB".into());
    }
    Ok(Blocks { largest_bytes, sizes })
}

fn parse_alignment(text: &str) -> Result<u64, String> {
    match units::parse_size(text).map_err(|e| e.to_string())? {
        0 => Err("an alignment has at least one byte".into()),
        bytes => Ok(bytes),
    }
}

fn parse_stride(text: &str) -> Result<Stride, String> {
    let (bytes, pass) = match text.split_once(':') {
        None => (text, StridePass::Same),
        Some((bytes, "shift")) => (bytes, StridePass::Shifted),
        Some((_, other)) => {
            return Err(format!("`{other}` is no stride; SIZE:shift moves each pass on by one block"));
        }
    };
    Ok(Stride { bytes: units::parse_size(bytes).map_err(|e| e.to_string())?, pass })
}

fn parse_ranges(text: &str) -> Result<Ranges, String> {
    match text {
        "shared" => Ok(Ranges::Shared),
        "disjoint" => Ok(Ranges::Disjoint),
        _ => Err("jobs go over shared or disjoint ranges".into()),
    }
}

/// Reads requests a second: `5000`, `5k`, `1.2M`.
pub fn parse_rate(text: &str) -> Result<f64, String> {
    let (number, factor) = match text.trim().strip_suffix(['k', 'K']) {
        Some(number) => (number, 1e3),
        None => text.trim().strip_suffix('M').map_or((text.trim(), 1.0), |number| (number, 1e6)),
    };
    let rate = number.parse::<f64>().ok().map(|rate| rate * factor).filter(|rate| rate.is_finite());
    match rate {
        Some(rate) if rate > 0.0 && rate <= RATE_MAX => Ok(rate),
        _ => Err("a rate is a number of requests a second up to 20M, as in 5000, 5k or 1.2M".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(words: &str) -> TrialSpec {
        parse_beside(words).unwrap().spec("io_uring", true, 1 << 30).unwrap()
    }

    #[test]
    fn the_words_of_fio_are_understood() {
        let ours = spec("rw=randrw bs=8k depth=4 jobs=2 mix=70");
        assert_eq!(spec("readwrite=randrw blocksize=8k iodepth=4 numjobs=2 rwmixread=70"), ours);
    }

    #[test]
    fn a_stream_reads_as_options_do() {
        let log = spec("rw=write bs=2300 sync=fdatasync:1");
        assert_eq!((log.rw, log.block_size_bytes, log.queue_depth), (Rw::Write, 2300, 1));
        assert_eq!(log.sync, Sync::Fdatasync { every: 1 });
        let load = spec("rw=randread rate=5k arrivals=poisson bs=4k:3,64k:1 distribution=zipf:1.1 jobs=2");
        assert_eq!((load.rate_iops, load.queue_depth, load.jobs), (Some(5000.0), 128, 2));
        assert_eq!((load.block_size_bytes, load.arrivals), (65_536, Arrivals::Poisson));
        assert_eq!(spec("rw=randtrim").distribution, Distribution::Once);
        assert_eq!(spec("rw=read stride=64k:shift").stride_pass, StridePass::Shifted);
        assert_eq!(spec("rw=randwrite verify jobs=4").ranges, Ranges::Disjoint);
    }

    #[test]
    fn a_slip_in_a_stream_is_named() {
        let refusal = parse_beside("rw=write bss=4k").unwrap_err();
        assert!(refusal.contains("no `bss`") && refusal.contains("rw=write bs=4k"), "{refusal}");
        assert!(parse_beside("rw=write rate=0").unwrap_err().contains("requests a second"));
    }

    #[test]
    fn contradictions_are_refused_in_one_sentence() {
        for words in [
            "rw=read mix=50",
            "rw=randread sync=fsync:1",
            "rw=randread payload=zero",
            "rw=write verify payload=zero",
            "rw=trim verify",
            "rw=read arrivals=poisson",
            "rw=read distribution=zipf:1",
            "rw=read align=512",
            "rw=randread stride=64k",
            "rw=read bs=64k stride=4k",
        ] {
            let failure = parse_beside(words).unwrap().refuse_contradictions().unwrap_err();
            assert!(failure.code == 2 && !failure.text.contains('\n'), "{words}: {}", failure.text);
        }
    }
}
