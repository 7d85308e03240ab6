//! Texts of KDiskMark, and of CrystalDiskMark, whose form it follows.
//!
//! A line of a test has throughput, IOPS and mean latency. Its "MB/s" are read as its header defines them, as 10⁶ bytes
//! a second: KDiskMark divides fio's KiB/s by a thousand, which is 2.4 % less, and the check `units` finds that. The
//! texts do not say whether the page cache was bypassed.

use iosonde_model::{LatencySummary, Named, Phase, Rw, Trial, TrialSpec, Unstated, units};

use super::{Damage, Figures, ImportError, ImportFormat, Imported, words};

/// The registered format.
pub struct KDiskMark;

impl Named for KDiskMark {
    fn name(&self) -> &'static str {
        "kdiskmark"
    }
}

impl ImportFormat for KDiskMark {
    fn recognises(&self, text: &str) -> bool {
        program(text).is_some()
    }

    fn read(&self, text: &str) -> Result<Imported, ImportError> {
        let mut kind: Option<Kind> = None;
        let (span_bytes, time_s) = setting(text);
        let mut trials = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let words = line.trim();
            if words.starts_with('[') {
                kind = Kind::of(words).or(kind);
            } else if let Some(rest) = words.split_once("(Q=").filter(|_| words.contains("IOPS]")) {
                let kind = kind.ok_or_else(|| {
                    Damage::at(number, 1, "a test before [Read], [Write] or [Mix]: its direction is unknown")
                })?;
                let parsed = test(rest.0, rest.1, kind);
                let (spec, figures) = parsed.map_err(|part| {
                    let part = part.trim();
                    Damage::at(
                        number,
                        words::column(line, part),
                        format!("`{part}` is not understood in a test's line"),
                    )
                })?;
                trials.extend(trial(TrialSpec { span_bytes, ..spec }, figures, kind, time_s));
            }
        }
        let mut notes = Vec::new();
        if trials.iter().any(|trial| trial.spec.rw.is_mixed()) {
            notes.push("mixed tests state reads and writes together; they are split by their share".into());
        }
        // A test without a figure was not run.
        Ok(Imported { program: program(text), ended_s: None, trials, notes })
    }
}

/// `KDiskMark (3.1.4): https://..`, `CrystalDiskMark 8.0.4 x64 (C) ..`.
fn program(text: &str) -> Option<String> {
    let line = text.lines().take(5).map(str::trim).find(|line| line.contains("DiskMark"))?;
    let (kdiskmark, crystal) = (line.strip_prefix("KDiskMark ("), line.strip_prefix("CrystalDiskMark "));
    match (kdiskmark, crystal) {
        (Some(rest), _) => Some(format!("KDiskMark {}", rest.split(')').next()?)),
        (_, Some(rest)) => Some(format!("CrystalDiskMark {}", rest.split(' ').next()?)),
        _ => None,
    }
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Read,
    Write,
    Mix(f64),
}

impl Kind {
    fn of(words: &str) -> Option<Self> {
        match words.split(']').next()? {
            "[Read" => Some(Self::Read),
            "[Write" => Some(Self::Write),
            "[Mix" => {
                let percent = words.split_once("Read ")?.1.split('%').next()?.trim().parse().ok()?;
                (0.0..=100.0).contains(&percent).then_some(Self::Mix(percent))
            }
            _ => None,
        }
    }
}

/// Size of the file and time of a test: `Test: 1 GiB (x5) [Measure: 5 sec / Interval: 5 sec]`.
fn setting(text: &str) -> (u64, f64) {
    let Some(line) = text.lines().find(|line| line.trim_start().starts_with("Test:")) else {
        return (0, 0.0);
    };
    let rest = line.split_once(':').map_or("", |(_, rest)| rest).trim();
    let size = rest.split(" (").next().map(|size| size.replace(' ', ""));
    let span_bytes = size.and_then(|size| units::parse_size(&size).ok()).unwrap_or(0);
    let time = rest.split_once("Measure:").and_then(|(_, time)| words::number(time));
    let time_s =
        time.map_or(0.0, |(number, unit)| number * if unit.trim().starts_with("min") { 60.0 } else { 1.0 });
    (span_bytes, time_s)
}

/// `Sequential   1 MiB (Q=  8, T= 1):  3500.000 MB/s [   3337.9 IOPS] <  2390.00 us>`, split at `(Q=`.
fn test<'a>(lead: &'a str, rest: &'a str, kind: Kind) -> Result<(TrialSpec, Figures), &'a str> {
    let mut lead_words = lead.split_whitespace();
    let random = match lead_words.next() {
        Some("Random" | "RND") => true,
        Some("Sequential" | "SEQ") => false,
        _ => return Err(lead),
    };
    let size: String = lead_words.collect();
    let block_size_bytes = units::parse_size(&size).ok().filter(|&bytes| bytes > 0).ok_or(lead)?;
    let (load, rest) = rest.split_once("):").ok_or(rest)?;
    let (depth, jobs) = load.split_once(',').ok_or(load)?;
    let jobs = jobs.trim().strip_prefix("T=").ok_or(load)?.trim().parse().ok().filter(|&jobs: &u32| jobs > 0);
    let queue_depth = depth.trim().parse().ok().filter(|&depth: &u32| depth > 0);
    let (rate, rest) = rest.split_once("MB/s").ok_or(rest)?;
    let (iops, rest) = rest.split_once("IOPS]").ok_or(rest)?;
    let figure = |text: &'a str| {
        text.trim().trim_start_matches('[').trim().parse::<f64>().ok().filter(|n| n.is_finite())
    };
    let (rate_mb_s, iops) = (figure(rate).ok_or(rate)?, figure(iops).ok_or(iops)?);
    let latency_us =
        rest.trim().strip_prefix('<').and_then(|text| text.split_once("us")).and_then(|own| figure(own.0));
    let rw = match (kind, random) {
        (Kind::Read, true) => Rw::RandRead,
        (Kind::Read, false) => Rw::Read,
        (Kind::Write, true) => Rw::RandWrite,
        (Kind::Write, false) => Rw::Write,
        (Kind::Mix(_), true) => Rw::RandRw,
        (Kind::Mix(_), false) => Rw::Rw,
    };
    let spec = TrialSpec {
        rw,
        block_size_bytes,
        queue_depth: queue_depth.ok_or(load)?,
        jobs: jobs.ok_or(load)?,
        read_percent: if let Kind::Mix(percent) = kind { Some(percent) } else { None },
        engine: "unknown".into(),
        direct: false,
        ..TrialSpec::default()
    };
    let latency_ns = LatencySummary {
        mean: latency_us.filter(|us| *us > 0.0).map(|us| us * 1e3),
        ..LatencySummary::default()
    };
    Ok((
        spec,
        Figures { iops: Some(iops), bytes_per_s: Some(rate_mb_s * 1e6), latency_ns, ..Figures::default() },
    ))
}

/// `None` of a test that was not run, whose figures are 0.
fn trial(spec: TrialSpec, figures: Figures, kind: Kind, time_s: f64) -> Option<Trial> {
    figures.iops.filter(|&iops| iops > 0.0)?;
    let share = |part: f64| {
        let of = |figure: Option<f64>| figure.map(|figure| figure * part);
        // The mean latency is of both kinds together.
        let latency_ns = if part == 1.0 { figures.latency_ns.clone() } else { LatencySummary::default() };
        let own = Figures {
            iops: of(figures.iops),
            bytes_per_s: of(figures.bytes_per_s),
            latency_ns,
            ..Figures::default()
        };
        own.direction(spec.block_size_bytes).filter(|_| part > 0.0)
    };
    let (reads, writes) = match kind {
        Kind::Read => (1.0, 0.0),
        Kind::Write => (0.0, 1.0),
        Kind::Mix(percent) => (percent / 100.0, 1.0 - percent / 100.0),
    };
    Some(Trial {
        experiment: "result".into(),
        measured_s: time_s,
        elapsed_s: time_s,
        read: share(reads),
        write: share(writes),
        unstated: vec![Unstated::PageCache],
        ..Trial::blank(spec, Phase::Measure)
    })
}
