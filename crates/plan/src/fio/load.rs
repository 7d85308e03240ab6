//! The load of a fio job: pattern, sizes, depth, rates, durability and content, as a workload of ours.

use iosonde_model::{
    Arrivals, BlockSizes, Distribution, HOT_RANGES_MAX, HotRange, HotRanges, Payload, Randomness, Rw, Sync,
    Think, TrialSpec, fio,
};

use super::{
    given::{Change, DEPTH_MAX, Options},
    refusal::{Refusal, Why},
};

/// Clones of a job: each is a thread.
const CLONES_MAX: u64 = 1024;
/// Sizes of a range beyond which it is not written out as a list.
const RANGE_MAX: u64 = 256;
/// Largest request.
const BLOCK_MAX_BYTES: u64 = 1 << 30;

/// The workload of a job, without place and engine.
pub(super) fn spec(options: &Options, engine: &str, changes: &mut Vec<Change>) -> Result<TrialSpec, Refusal> {
    let engine = engine.split(':').next().unwrap_or_default();
    let (rw, modifier) = pattern(options)?;
    let (skip, randomness) = modified(options, rw, modifier)?;
    let (block_size_bytes, block_sizes) = sizes(options, rw)?;
    let align_bytes = align(options, rw)?;
    let stride_bytes = match skip {
        Some(_) if !block_sizes.is_one() => {
            return Err(options.unsupported("rw", "a distance between requests goes with one block size"));
        }
        Some(Skip::Forward(bytes)) => Some(block_size_bytes.saturating_add(bytes)),
        // A request begins so far before the end of the one before.
        Some(Skip::Back(bytes)) if bytes > block_size_bytes => {
            Some(bytes - block_size_bytes).filter(|step| *step != block_size_bytes)
        }
        Some(Skip::Back(_)) => {
            return Err(
                options.unsupported("rw", "backwards needs more than bs, as in rw=read:-8k with bs=4k")
            );
        }
        None => None,
    };
    let direct = match (options.yes("direct")?, options.yes("buffered")?) {
        (Some(true), Some(true)) => {
            let why = Why::Contradiction("buffered=1 and direct=1 contradict each other; remove one".into());
            return Err(why.at(options.place("buffered")));
        }
        (direct, buffered) => direct.unwrap_or(buffered == Some(false)),
    };
    let verify = verify(options, rw)?;
    let (rate_iops, rate_percent) = rate(options, rw, block_size_bytes, &block_sizes)?;
    let mix = rate_percent.or(mix(options)?);
    let queue_depth = depth(options, engine, changes)?;
    let think = think(options)?;
    if think.is_some() && rate_iops.is_some() {
        let why = "thinktime and a rate contradict each other here: a rate alone sets the load; remove one";
        return Err(Why::Contradiction(why.into()).at(options.place("thinktime")));
    }
    let sync = sync(options, rw)?;
    let read_percent = rw.is_mixed().then(|| mix.unwrap_or(50.0));
    changes.extend(flushes_of_mix(sync, read_percent));
    let map = block_sizes.is_one() && align_bytes.is_none_or(|a| a >= block_size_bytes);
    Ok(TrialSpec {
        rw,
        block_size_bytes,
        read_percent,
        distribution: distribution(options, rw, map && randomness == Randomness::All)?,
        randomness,
        block_sizes,
        queue_depth,
        refill_at: refill(options, queue_depth)?,
        think,
        delay_ns: delay(options)?,
        jobs: clones(options)?,
        stride_bytes,
        backwards: matches!(skip, Some(Skip::Back(_))),
        align_bytes,
        direct: direct && engine != "mmap",
        rate_iops,
        arrivals: arrivals(options, rate_iops.is_some())?,
        sync,
        payload: if verify { Payload::Random } else { payload(options, rw)? },
        verify,
        ..TrialSpec::default()
    })
}

/// Pattern, and what follows its colon.
fn pattern(options: &Options) -> Result<(Rw, Option<&str>), Refusal> {
    let word = options.text("rw").unwrap_or("read");
    let (name, modifier) = word.split_once(':').map_or((word, None), |(name, rest)| (name, Some(rest)));
    match fio::pattern(name) {
        Some(rw) => Ok((rw, modifier.map(str::trim))),
        None if matches!(name, "trimwrite" | "randtrimwrite") => {
            Err(options.unsupported("rw", "a job trims or writes; use two"))
        }
        None => {
            Err(options.misread("rw", "it is read, write, rw, trim, randread, randwrite, randrw or randtrim"))
        }
    }
}

/// Distance from the end of a sequential request to the beginning of the next.
#[derive(Clone, Copy)]
enum Skip {
    /// So many bytes are left out.
    Forward(u64),
    /// It lies so far back.
    Back(u64),
}

/// The distance between sequential requests, and which requests of a random pattern are random.
fn modified(
    options: &Options,
    rw: Rw,
    modifier: Option<&str>,
) -> Result<(Option<Skip>, Randomness), Refusal> {
    let share = random_share(options, rw)?;
    match modifier {
        None => Ok((None, share)),
        Some(count) if rw.is_random() => match count.parse() {
            Ok(1) => Ok((None, share)),
            Ok(requests @ 2..) if share == Randomness::All && !rw.trims() => {
                Ok((None, Randomness::Every { requests }))
            }
            Ok(2..) => Err(options.unsupported("rw", "of this and percentage_random, or a trim, only one")),
            _ => Err(options.misread("rw", "a random pattern is followed by a number, as in randread:8")),
        },
        Some(word) => {
            let (back, digits) = word.strip_prefix('-').map_or((false, word), |digits| (true, digits));
            let bytes = options.size_of("rw", digits)?;
            let skip = if back { Skip::Back(bytes) } else { Skip::Forward(bytes) };
            Ok(((bytes > 0).then_some(skip), Randomness::All))
        }
    }
}

/// Share of the requests of a random pattern that are random.
fn random_share(options: &Options, rw: Rw) -> Result<Randomness, Refusal> {
    const NAME: &str = "percentage_random";
    let Some(word) = own(options, NAME, rw)? else { return Ok(Randomness::All) };
    match word.trim().parse::<u32>() {
        Ok(100) => Ok(Randomness::All),
        Ok(0..100) if !rw.is_random() => {
            Err(options.unsupported(NAME, "it belongs to a random pattern, as rw=randread"))
        }
        Ok(0..100) if rw.trims() => Err(options.unsupported(NAME, "trims take each block once")),
        Ok(percent @ 0..100) => Ok(Randomness::Share { share: f64::from(percent) / 100.0 }),
        _ => Err(options.misread(NAME, "it is a whole number from 0 to 100")),
    }
}

/// Places of the directions in values with commas: reads, writes, trims.
fn lanes(rw: Rw) -> &'static [usize] {
    match rw {
        Rw::Read | Rw::RandRead => &[0],
        Rw::Write | Rw::RandWrite => &[1],
        Rw::Trim | Rw::RandTrim => &[2],
        Rw::Rw | Rw::RandRw => &[0, 1],
    }
}

/// The part of a value with commas that holds for the job's directions; refused where two differ.
fn own<'a>(options: &'a Options, name: &'static str, rw: Rw) -> Result<Option<&'a str>, Refusal> {
    let Some(text) = options.text(name) else { return Ok(None) };
    let lanes = lanes(rw);
    let first = options.lane(text, lanes[0]);
    if lanes.iter().any(|lane| options.lane(text, *lane) != first) {
        return Err(options.unsupported(
            name,
            "reads and writes of one job have the same sizes; two jobs at once may differ",
        ));
    }
    Ok(Some(first))
}

/// Block sizes; `bssplit` comes before `bsrange`, and that before `bs`, as in fio.
fn sizes(options: &Options, rw: Rw) -> Result<(u64, BlockSizes), Refusal> {
    let plain = own(options, "bs", rw)?;
    let range = own(options, "bsrange", rw)?;
    if let Some(split) = own(options, "bssplit", rw)? {
        return listed(options, "bssplit", &split_sizes(options, split)?);
    }
    if let Some(range) = range {
        let (low, high) =
            range.split_once(['-', ':']).ok_or_else(|| options.misread("bsrange", "a range is 4k-64k"))?;
        let (low, high) = (options.size_of("bsrange", low)?, options.size_of("bsrange", high)?);
        let (low, high) = (low.min(high), low.max(high));
        if low == 0 || high / low > RANGE_MAX {
            return Err(options.unsupported("bsrange", "a range of at most 256 sizes; bssplit names sizes"));
        }
        let sizes: Vec<(u64, f64)> = (1..=high / low).map(|times| (times * low, 1.0)).collect();
        return listed(options, "bsrange", &sizes);
    }
    let bytes = match plain.filter(|word| !word.is_empty()) {
        None => 4096,
        Some(word) => options.size_of("bs", word)?,
    };
    listed(options, "bs", &[(bytes, 1.0)])
}

fn listed(options: &Options, name: &'static str, sizes: &[(u64, f64)]) -> Result<(u64, BlockSizes), Refusal> {
    let largest = sizes.iter().map(|(bytes, _)| *bytes).max().unwrap_or(0);
    if largest > BLOCK_MAX_BYTES || sizes.iter().any(|(bytes, _)| *bytes == 0) {
        return Err(options.misread(name, "a block has 1 byte to 1 GiB"));
    }
    if let [(bytes, _)] = sizes {
        return Ok((*bytes, BlockSizes::default()));
    }
    let words: Vec<String> = sizes.iter().map(|(bytes, weight)| format!("{bytes}:{weight}")).collect();
    let several = words.join(",").parse().map_err(|why| Why::Contradiction(why).at(options.place(name)))?;
    Ok((largest, several))
}

/// `4k/60:64k/40`; sizes without a share divide the rest evenly.
fn split_sizes(options: &Options, text: &str) -> Result<Vec<(u64, f64)>, Refusal> {
    const NAME: &str = "bssplit";
    let wanted = "shares are written as 4k/60:64k/40 and make 100";
    let mut sizes: Vec<(u64, Option<f64>)> = Vec::new();
    for part in text.split(':').filter(|part| !part.is_empty()) {
        let (size, share) = part.split_once('/').map_or((part, ""), |(size, share)| (size, share));
        let share = match share.trim() {
            "" => None,
            share => Some(
                share
                    .parse::<f64>()
                    .ok()
                    .filter(|s| (0.0..=100.0).contains(s))
                    .ok_or_else(|| options.misread(NAME, wanted))?,
            ),
        };
        sizes.push((options.size_of(NAME, size)?, share));
    }
    let sum: f64 = sizes.iter().filter_map(|(_, share)| *share).sum();
    let open = sizes.iter().filter(|(_, share)| share.is_none()).count();
    // fio takes shares below 100 as they are where nothing is left open.
    if sizes.is_empty() || sum > 100.0 + 1e-9 {
        return Err(options.misread(NAME, wanted));
    }
    let rest = if open > 0 { (100.0 - sum) / open as f64 } else { 0.0 };
    let told = sizes.into_iter().map(|(bytes, share)| (bytes, share.unwrap_or(rest)));
    let told: Vec<(u64, f64)> = told.filter(|(_, share)| *share > 0.0).collect();
    if told.is_empty() { Err(options.misread(NAME, wanted)) } else { Ok(told) }
}

fn align(options: &Options, rw: Rw) -> Result<Option<u64>, Refusal> {
    let Some(word) = own(options, "ba", rw)?.filter(|word| !word.is_empty()) else { return Ok(None) };
    let bytes = options.size_of("ba", word)?;
    Ok(Some(bytes).filter(|&bytes| bytes > 0 && rw.is_random()))
}

fn mix(options: &Options) -> Result<Option<f64>, Refusal> {
    // Of both, fio takes the one that it read last; they say the same wherever they make sense.
    let reads = options.number("rwmixread", 100)?.map(|percent| percent as f64);
    let writes = options.number("rwmixwrite", 100)?.map(|percent| 100.0 - percent as f64);
    match (reads, writes) {
        (Some(reads), Some(other)) if reads != other => {
            let why = Why::Contradiction("rwmixread and rwmixwrite do not make 100; remove one".into());
            Err(why.at(options.place("rwmixwrite")))
        }
        (reads, writes) => Ok(reads.or(writes)),
    }
}

/// Requests a second of the job, and the share of reads that follows from the rates of its directions: fio paces each
/// by itself.
fn rate(
    options: &Options,
    rw: Rw,
    block_bytes: u64,
    sizes: &BlockSizes,
) -> Result<(Option<f64>, Option<f64>), Refusal> {
    let mean_bytes = if sizes.is_one() {
        block_bytes as f64
    } else {
        sizes.iter().map(|size| size.bytes as f64 * size.percent / 100.0).sum()
    };
    let (name, unit) = match (options.text("rate_iops"), options.text("rate")) {
        (Some(_), Some(_)) => {
            let why = Why::Contradiction("rate and rate_iops contradict each other; remove one".into());
            return Err(why.at(options.place("rate_iops")));
        }
        (Some(_), None) => ("rate_iops", 1.0),
        (None, Some(_)) => ("rate", mean_bytes),
        (None, None) => return Ok((None, None)),
    };
    let text = options.text(name).unwrap_or_default();
    let mut rates = Vec::new();
    for lane in lanes(rw) {
        let word = options.lane(text, *lane);
        let number = if word.is_empty() { 0 } else { options.size_of(name, word)? };
        rates.push(number as f64 / unit);
    }
    match rates.as_slice() {
        [0.0] | [0.0, 0.0] => Ok((None, None)),
        [only] => Ok((Some(*only), None)),
        [reads, writes] if *reads > 0.0 && *writes > 0.0 => {
            Ok((Some(reads + writes), Some(100.0 * reads / (reads + writes))))
        }
        _ => Err(options.unsupported(name, "a mix has a rate for both directions or for none")),
    }
}

fn arrivals(options: &Options, paced: bool) -> Result<Arrivals, Refusal> {
    if !matches!(options.text("io_submit_mode"), None | Some("inline" | "offload")) {
        return Err(options.misread("io_submit_mode", "it is inline or offload"));
    }
    match options.text("rate_process") {
        None | Some("linear") => Ok(Arrivals::Fixed),
        // Without a rate nothing is due at any time.
        Some("poisson") => Ok(if paced { Arrivals::Poisson } else { Arrivals::Fixed }),
        Some(_) => Err(options.misread("rate_process", "it is linear or poisson")),
    }
}

/// Where random offsets lie. With fio's map of blocks each is visited once a pass.
fn distribution(options: &Options, rw: Rw, map: bool) -> Result<Distribution, Refusal> {
    let no_map = options.yes("norandommap")?.unwrap_or(false);
    let word = options.text("random_distribution").unwrap_or("random");
    let (name, rest) = word.split_once(':').unwrap_or((word, ""));
    let parse = |text: String| {
        text.parse::<Distribution>().map_err(|why| {
            Why::Contradiction(format!("random_distribution: {why}")).at(options.place("random_distribution"))
        })
    };
    let told = match name {
        "random" => None,
        "zipf" if rest.is_empty() => Some(parse("zipf:1.1".into())?),
        "pareto" if rest.is_empty() => Some(parse("pareto:0.2".into())?),
        "zipf" | "pareto" if !rest.contains(',') => Some(parse(word.into())?),
        "normal" if !rest.is_empty() && !rest.contains(',') => Some(parse(format!("normal:{rest}%"))?),
        "zoned" => Some(zones(options, own(options, "random_distribution", rw)?.unwrap_or(word))?),
        _ => {
            return Err(options.unsupported(
                "random_distribution",
                "random, zipf:θ, pareto:h, normal:σ and zoned:A/B:C/D:.. are the distributions",
            ));
        }
    };
    if !rw.is_random() {
        return Ok(Distribution::Uniform);
    }
    Ok(match told {
        Some(told) => told,
        None if (no_map || !map) && !rw.trims() => Distribution::Uniform,
        None => Distribution::Once,
    })
}

/// Zones from the file's beginning, each with a share of the requests and of the file. One without the latter gets what
/// the others leave, in equal parts with others like it. The last one is the rest.
fn zones(options: &Options, text: &str) -> Result<Distribution, Refusal> {
    const NAME: &str = "random_distribution";
    let wrong = || options.misread(NAME, "zones are REQUESTS/FILE in percent, as in zoned:50/5:30/15:20/80");
    let percent = |text: &str| text.trim().parse::<f64>().ok().map(|percent| percent / 100.0);
    let zone = |text: &str| {
        let (requests, span) = text.split_once('/')?;
        Some((percent(requests)?, if span.trim().is_empty() { None } else { Some(percent(span)?) }))
    };
    let zones = text.strip_prefix("zoned:").unwrap_or(text).split(':').map(zone);
    let zones = zones.collect::<Option<Vec<(f64, Option<f64>)>>>().ok_or_else(wrong)?;
    let told: f64 = zones.iter().filter_map(|(_, span)| *span).sum();
    let open = zones.iter().filter(|(_, span)| span.is_none()).count();
    let range = |&(requests, span): &(f64, Option<f64>)| HotRange {
        requests,
        span: span.unwrap_or((1.0 - told) / open as f64),
    };
    let ranges: Vec<HotRange> = zones.iter().map(range).collect();
    let is_whole = |share: fn(&HotRange) -> f64| (ranges.iter().map(share).sum::<f64>() - 1.0).abs() < 1e-6;
    if !is_whole(|range| range.requests) || !is_whole(|range| range.span) {
        return Err(options.misread(NAME, "shares of the requests, and those of the file, add up to 100"));
    }
    if ranges.len() > HOT_RANGES_MAX + 1 {
        return Err(options.unsupported(NAME, format!("at most {} zones", HOT_RANGES_MAX + 1)));
    }
    if ranges.len() == 1 {
        return Ok(Distribution::Uniform);
    }
    HotRanges::new(&ranges[..ranges.len() - 1]).map(Distribution::Hot).ok_or_else(wrong)
}

fn sync(options: &Options, rw: Rw) -> Result<Sync, Refusal> {
    const EVERY_MAX: u64 = u32::MAX as u64;
    let fsync = options.number("fsync", EVERY_MAX)?.filter(|&every| every > 0);
    let fdatasync = options.number("fdatasync", EVERY_MAX)?.filter(|&every| every > 0);
    let each = match options.text("sync") {
        None | Some("none" | "0") => Sync::None,
        Some("sync" | "1") => Sync::Osync,
        Some("dsync") => Sync::Dsync,
        Some(_) => return Err(options.misread("sync", "it is none, sync or dsync")),
    };
    if !rw.writes() {
        return Ok(Sync::None);
    }
    let at_end =
        options.yes("end_fsync")?.unwrap_or(false) || options.yes("fsync_on_close")?.unwrap_or(false);
    match (fsync, fdatasync, each) {
        (None, None, Sync::None) if at_end => Ok(Sync::FsyncAtEnd),
        (None, None, each) => Ok(each),
        _ if at_end => {
            let name = if fsync.is_some() { "fsync" } else { "fdatasync" };
            Err(options.unsupported(name, "a job flushes after so many writes or at its end; keep one"))
        }
        (Some(every), None, Sync::None) => Ok(Sync::Fsync { every: every as u32 }),
        (None, Some(every), Sync::None) => Ok(Sync::Fdatasync { every: every as u32 }),
        _ => {
            let name = if fdatasync.is_some() { "fdatasync" } else { "fsync" };
            Err(options.unsupported(name, "fsync, fdatasync and sync exclude each other here; keep one"))
        }
    }
}

/// fio 3.33 flushes a half-and-half mix twice as often as its manual says: after reads that follow such a write, too.
fn flushes_of_mix(sync: Sync, read_percent: Option<f64>) -> Option<Change> {
    let (option, every) = match sync {
        Sync::Fsync { every } => ("fsync", every),
        Sync::Fdatasync { every } => ("fdatasync", every),
        _ => return None,
    };
    let times = 100.0 / (100.0 - read_percent?);
    (times > 1.0 && times.is_finite()).then_some(Change::FlushesOfMix { option, every, times })
}

fn payload(options: &Options, rw: Rw) -> Result<Payload, Refusal> {
    let zero = options.yes("zero_buffers")?.unwrap_or(false);
    let compress = options.number("buffer_compress_percentage", 100)?.filter(|&percent| percent > 0);
    let dedupe = options.number("dedupe_percentage", 100)?.filter(|&percent| percent > 0);
    if !rw.writes() {
        return Ok(Payload::Random);
    }
    match (zero, compress, dedupe) {
        (true, ..) => Ok(Payload::Zero),
        (false, Some(100), _) => Ok(Payload::Zero),
        (false, None, None) => Ok(Payload::Random),
        (false, Some(percent), None) => Ok(Payload::Compress { share: percent as f64 / 100.0 }),
        (false, None, Some(percent)) => Ok(Payload::Dedupe { share: percent as f64 / 100.0 }),
        (false, Some(compress), Some(dedupe)) => {
            Ok(Payload::Both { compress: compress as f64 / 100.0, dedupe: dedupe as f64 / 100.0 })
        }
    }
}

/// fio's checksums; each stands for the marks of iosonde's own.
const VERIFIES: [&str; 16] = [
    "md5",
    "crc64",
    "crc32c",
    "crc32c-intel",
    "crc32",
    "crc16",
    "crc7",
    "xxhash",
    "sha512",
    "sha256",
    "sha1",
    "sha3-224",
    "sha3-256",
    "sha3-384",
    "sha3-512",
    "meta",
];

fn verify(options: &Options, rw: Rw) -> Result<bool, Refusal> {
    let back = options.yes("do_verify")?.unwrap_or(true);
    match options.text("verify") {
        None | Some("0" | "none" | "null") => Ok(false),
        Some("pattern" | "pattern_hdr") => {
            Err(options.unsupported("verify", "verify=crc32c checks every block by marks with a checksum"))
        }
        Some(word) if !VERIFIES.contains(&word) => Err(options.misread(
            "verify",
            "it is md5, crc32c, crc64, xxhash, sha256, sha512 or another of fio's checksums",
        )),
        Some(_) if !rw.writes() => Err(options.unsupported(
            "verify",
            "a job that writes reads back what it wrote; reading alone finds no marks",
        )),
        Some(_) => Ok(back),
    }
}

/// Number of clones of a job.
fn clones(options: &Options) -> Result<u32, Refusal> {
    match options.number("numjobs", CLONES_MAX)? {
        Some(0) => Err(options.misread("numjobs", "it is at least 1")),
        number => Ok(number.unwrap_or(1) as u32),
    }
}

/// Depth of the queue: 1 for a synchronous engine, as in fio.
fn depth(options: &Options, engine: &str, changes: &mut Vec<Change>) -> Result<u32, Refusal> {
    let asked = match options.number("iodepth", DEPTH_MAX)? {
        Some(0) => return Err(options.misread("iodepth", "it is at least 1")),
        asked => asked.unwrap_or(1) as u32,
    };
    if asked > 1 && matches!(engine, "psync" | "mmap") {
        let engine = options.text("ioengine").unwrap_or("psync").to_owned();
        changes.push(Change::DepthOne { asked, engine });
        return Ok(1);
    }
    Ok(asked)
}

/// Outstanding requests at which a full queue is filled again. fio reaps so many completions at once that it comes down
/// to there; here each is looked at when it comes.
fn refill(options: &Options, depth: u32) -> Result<Option<u32>, Refusal> {
    let reaped = options.number("iodepth_batch_complete_min", DEPTH_MAX)?.map_or(1, |least| least.max(1));
    let low = options.number("iodepth_low", DEPTH_MAX)?.filter(|&low| low > 0);
    let at = u64::from(depth).saturating_sub(reaped).min(low.unwrap_or(DEPTH_MAX));
    Ok((at + 1 < u64::from(depth)).then_some(at as u32))
}

/// Pauses between requests.
fn think(options: &Options) -> Result<Option<Think>, Refusal> {
    let pause_ns = options.short_time_ns("thinktime")?;
    let spin_ns = options.short_time_ns("thinktime_spin")?.unwrap_or(0);
    let requests = options.number("thinktime_blocks", u64::from(u32::MAX))?;
    let time_ns = options.time_ns("thinktime_iotime")?.filter(|&ns| ns > 0);
    if requests == Some(0) {
        return Err(options.misread("thinktime_blocks", "it is at least 1"));
    }
    // A time between two pauses takes the place of the one request that is usual.
    let requests = if time_ns.is_some() { requests } else { requests.or(Some(1)) };
    Ok(pause_ns.map(|pause_ns| Think { pause_ns, spin_ns: spin_ns.min(pause_ns), requests, time_ns }))
}

/// Time before the job's first request.
fn delay(options: &Options) -> Result<u64, Refusal> {
    if options.text("startdelay").is_some_and(|word| word.contains(['-', ':', ','])) {
        return Err(options.unsupported("startdelay", "write one time, not a range"));
    }
    Ok(options.time_ns("startdelay")?.unwrap_or(0))
}
