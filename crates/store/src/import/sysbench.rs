//! Texts of `sysbench fileio` of version 1.
//!
//! Throughput is as printed. sysbench times reads, writes and flushes together: a mean latency is given only to a test
//! of one direction without flushes, from the sum of all times, since the printed mean has two digits of a millisecond.

use iosonde_model::{LatencySummary, Named, Phase, Rw, Sync, Trial, TrialSpec, units};

use super::{Damage, Figures, ImportError, ImportFormat, Imported, words};

/// The registered format.
pub struct Sysbench;

impl Named for Sysbench {
    fn name(&self) -> &'static str {
        "sysbench"
    }
}

/// Flushes among all events up to which the mean is one of reads or writes: those at the end of a test.
const FLUSHES_MAX: f64 = 0.001;

impl ImportFormat for Sysbench {
    fn recognises(&self, text: &str) -> bool {
        text.lines().any(|line| line.trim_start().starts_with("sysbench "))
            && (text.contains("file open flags") || text.contains("File operations:"))
    }

    fn read(&self, text: &str) -> Result<Imported, ImportError> {
        let sheet = Sheet { text };
        let program = text.lines().find_map(|line| line.trim().strip_prefix("sysbench "));
        let version =
            program.and_then(|rest| rest.split(' ').next()).unwrap_or_default().trim_end_matches(':');
        if !text.contains("File operations:") {
            let lines = text.lines().count();
            let why = "the text ends before `File operations:`: sysbench was stopped, is older than 1.0, or the copy \
                       is not whole";
            return Err(Damage::at(lines, 1, why));
        }
        let (rw, mode) = sheet.mode()?;
        let size = sheet.after("Block size ").and_then(|size| units::parse_size(&size.replace(' ', "")).ok());
        let size =
            size.filter(|&bytes| bytes > 0).ok_or_else(|| Damage::whole("does not name a block size"))?;
        let count = |label: &str| sheet.number(label);
        let (reads, writes, flushes) = (count("reads/s:")?, count("writes/s:")?, count("fsyncs/s:")?);
        let (read_mib, write_mib) = (count("read, MiB/s:")?, count("written, MiB/s:")?);
        let time_s = sheet.number("total time:")?;
        let asynchronous = !text.contains("Using synchronous I/O mode");
        let one_kind = reads.min(writes) == 0.0 && flushes <= FLUSHES_MAX * (reads + writes);
        let latency_ns = if one_kind { sheet.latency()? } else { LatencySummary::default() };
        let side = |iops: f64, mib: f64| {
            // MiB are printed with two digits: of small figures, requests say more.
            let rate = if mib >= 10.0 { mib * 1_048_576.0 } else { iops * size as f64 };
            let figures = Figures {
                iops: Some(iops),
                bytes_per_s: Some(rate),
                latency_ns: latency_ns.clone(),
                ..Figures::default()
            };
            figures.direction(size).filter(|_| iops > 0.0)
        };
        let load = Load { rw, size, reads, writes, flushes, asynchronous };
        let spec = sheet.spec(load)?;
        let mut notes = Vec::new();
        if !one_kind {
            notes.push(
                "sysbench times all kinds of requests together, flushes too; no latency of one kind is given"
                    .into(),
            );
        }
        let unstated = if asynchronous { vec![iosonde_model::Unstated::QueueDepth] } else { Vec::new() };
        let trial = Trial {
            experiment: mode,
            measured_s: time_s,
            elapsed_s: time_s,
            read: side(reads, read_mib),
            write: side(writes, write_mib),
            unstated,
            ..Trial::blank(spec, Phase::Measure)
        };
        let trials = if trial.read.is_some() || trial.write.is_some() { vec![trial] } else { Vec::new() };
        Ok(Imported { program: Some(format!("sysbench {version}")), ended_s: None, trials, notes })
    }
}

/// What the text says of requests.
struct Load {
    rw: Rw,
    size: u64,
    reads: f64,
    writes: f64,
    flushes: f64,
    asynchronous: bool,
}

struct Sheet<'a> {
    text: &'a str,
}

impl<'a> Sheet<'a> {
    /// What follows some words in the first line that has them.
    fn after(&self, words: &str) -> Option<&'a str> {
        self.text.lines().find_map(|line| line.split_once(words)).map(|(_, rest)| rest.trim())
    }

    fn number(&self, label: &str) -> Result<f64, ImportError> {
        let found = (1..).zip(self.text.lines()).find(|(_, line)| line.trim_start().starts_with(label));
        let (number, line) = found.ok_or_else(|| Damage::whole(format!("has no line `{label}`")))?;
        let rest = line.trim_start()[label.len()..].trim();
        let value = words::number(rest).map(|(value, _)| value);
        value.ok_or_else(|| Damage::at(number, words::column(line, rest), format!("`{rest}` is no number")))
    }

    /// Mean over all events, from the sum of their times.
    fn latency(&self) -> Result<LatencySummary, ImportError> {
        let events = self.number("total number of events:")?;
        if events <= 0.0 {
            return Ok(LatencySummary::default());
        }
        let max = self.number("max:").ok().map(|ms| (ms * 1e6) as u64);
        let p99 = self.number("99th percentile:").ok().map(|ms| ms * 1e6);
        let mean = self.number("sum:")? * 1e6 / events;
        Ok(LatencySummary {
            mean: Some(mean),
            p99: p99.filter(|p99| *p99 > 0.0),
            max,
            ..LatencySummary::default()
        })
    }

    /// The workload.
    fn spec(&self, load: Load) -> Result<TrialSpec, ImportError> {
        let Load { rw, size, reads, writes, flushes, asynchronous } = load;
        let jobs = self.number("Number of threads:")? as u32;
        let flags = self.after("file open flags: ").unwrap_or_default();
        // After so many requests it flushes every file: what a flush is for are the writes since the last one.
        let every = self.after("calling fsync() each ").and_then(words::number);
        let every = every.filter(|_| flushes > 0.0).map(|_| ((writes / flushes).round() as u32).max(1));
        Ok(TrialSpec {
            rw,
            block_size_bytes: size,
            jobs: jobs.clamp(1, 65_536),
            read_percent: rw.is_mixed().then(|| (1000.0 * reads / (reads + writes).max(1e-9)).round() / 10.0),
            engine: if asynchronous { "libaio" } else { "psync" }.into(),
            direct: flags.contains("direct"),
            sync: match every {
                _ if flags.contains("dsync") => Sync::Dsync,
                _ if flags.contains("sync") => Sync::Osync,
                Some(every) if rw.writes() => Sync::Fsync { every },
                None if rw.writes()
                    && self.after("Calling fsync() at the end of test, Enabled").is_some() =>
                {
                    Sync::FsyncAtEnd
                }
                _ => Sync::None,
            },
            span_bytes: self.total_bytes(),
            ..TrialSpec::default()
        })
    }

    /// The pattern: `Doing random r/w test`.
    fn mode(&self) -> Result<(Rw, String), ImportError> {
        let mode = self.after("Doing ").ok_or_else(|| Damage::whole("has no line `Doing .. test`"))?;
        let rw = match mode.trim_end_matches(" test") {
            "sequential write (creation)" | "sequential rewrite" => Rw::Write,
            "sequential read" => Rw::Read,
            "random read" => Rw::RandRead,
            "random write" => Rw::RandWrite,
            "random r/w" => Rw::RandRw,
            _ => return Err(Damage::whole(format!("has the unknown test `{mode}`"))),
        };
        Ok((rw, mode.to_owned()))
    }

    /// `64MiB total file size`.
    fn total_bytes(&self) -> u64 {
        let line = self.text.lines().find(|line| line.ends_with("total file size"));
        let size = line.and_then(|line| line.split(' ').next());
        size.and_then(|size| words::bytes(size, 1024.0)).map_or(0, |bytes| bytes as u64)
    }
}
