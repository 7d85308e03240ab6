//! The output of PostgreSQL's `pg_test_fsync`: writes made durable in several ways, one after another.
//!
//! An operation is one or several writes and what makes them durable. Its time is the commit's: for `open_sync` and
//! `open_datasync` with one write it is the write's own latency. Each operation begins at the file's start again.

use iosonde_model::{LatencySummary, Named, Phase, Rw, Sync, Trial, TrialSpec, Unstated};

use super::{Damage, Figures, ImportError, ImportFormat, Imported, words};

/// The registered format.
pub struct PgTestFsync;

impl Named for PgTestFsync {
    fn name(&self) -> &'static str {
        "pg-test-fsync"
    }
}

const MARK: &str = "Compare file sync methods using";

impl ImportFormat for PgTestFsync {
    fn recognises(&self, text: &str) -> bool {
        text.contains(MARK)
    }

    fn read(&self, text: &str) -> Result<Imported, ImportError> {
        // With O_DIRECT where it is supported, it opens the files of open_sync and open_datasync so.
        let direct = text.contains("O_DIRECT supported on this platform for open_datasync and open_sync");
        let seconds = text.lines().find(|line| line.ends_with("per test")).and_then(words::number);
        let time_s = seconds.map_or(0.0, |(seconds, _)| seconds);
        let (mut section, mut trials) = (Section::Other, Vec::new());
        for (number, line) in (1..).zip(text.lines()) {
            if let Some(begun) = section_of(line) {
                section = begun;
            } else if let Some((lead, _)) = line.split_once(" ops/sec") {
                let Some((name, rate)) = lead.trim_end().rsplit_once(' ') else {
                    return Err(Damage::at(number, 1, "no rate stands before `ops/sec`"));
                };
                let rate_per_s = rate.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate > 0.0);
                let Some(rate_per_s) = rate_per_s else {
                    return Err(Damage::at(
                        number,
                        words::column(line, rate),
                        format!("`{rate}` is no rate"),
                    ));
                };
                trials.extend(section.trial(name.trim(), rate_per_s, time_s, direct));
            }
        }
        Ok(Imported { program: Some("pg_test_fsync".into()), ended_s: None, trials, notes: Vec::new() })
    }
}

#[derive(Debug, Clone, Copy)]
enum Section {
    /// So many writes of 8 KiB, with each method.
    Methods { writes: u32, bytes: u64 },
    /// `open_sync` with several sizes.
    Sizes,
    /// Writes that nothing makes durable.
    Unsynced { bytes: u64 },
    /// Lines without a rate of writes.
    Other,
}

/// `8kB`: PostgreSQL writes kB for 1,024 bytes.
fn kib(word: &str) -> Option<u64> {
    word.strip_suffix("kB")?
        .parse::<u64>()
        .ok()
        .filter(|&kib| (1..=1 << 20).contains(&kib))
        .map(|kib| kib * 1024)
}

fn section_of(line: &str) -> Option<Section> {
    if let Some(rest) = line.strip_prefix(MARK) {
        let mut words = rest.split_whitespace();
        let writes = match words.next() {
            Some("one") => 1,
            Some("two") => 2,
            _ => return Some(Section::Other),
        };
        return Some(
            words.next().and_then(kib).map_or(Section::Other, |bytes| Section::Methods { writes, bytes }),
        );
    }
    if line.starts_with("Compare open_sync with different write sizes") {
        return Some(Section::Sizes);
    }
    if let Some(rest) = line.strip_prefix("Non-sync'ed ") {
        let bytes = rest.split(' ').next().and_then(kib);
        return Some(bytes.map_or(Section::Other, |bytes| Section::Unsynced { bytes }));
    }
    line.starts_with("Test if fsync on non-write file descriptor").then_some(Section::Other)
}

impl Section {
    fn trial(self, name: &str, rate_per_s: f64, time_s: f64, direct: bool) -> Option<Trial> {
        let (writes, bytes, method) = match self {
            Self::Methods { writes, bytes } => (writes, bytes, name),
            // ` 2 *  8kB open_sync writes`
            Self::Sizes => {
                let (writes, rest) = name.split_once('*')?;
                let (bytes, method) = rest.trim().split_once(' ')?;
                (
                    writes.trim().parse().ok().filter(|&writes| writes > 0)?,
                    kib(bytes)?,
                    method.split(' ').next()?,
                )
            }
            Self::Unsynced { bytes } => (1, bytes, "none"),
            Self::Other => return None,
        };
        let (sync, direct) = match method {
            "open_datasync" => (Sync::Dsync, direct),
            "open_sync" => (Sync::Osync, direct),
            "fdatasync" => (Sync::Fdatasync { every: writes }, false),
            "fsync" | "fsync_writethrough" => (Sync::Fsync { every: writes }, false),
            _ => (Sync::None, false),
        };
        let each = writes == 1 && sync.flush_every().is_none();
        let iops = rate_per_s * f64::from(writes);
        let latency_ns = LatencySummary { mean: each.then(|| 1e9 / rate_per_s), ..LatencySummary::default() };
        let figures = Figures { iops: Some(iops), latency_ns, ..Figures::default() };
        let spec = TrialSpec {
            rw: Rw::Write,
            block_size_bytes: bytes,
            span_bytes: bytes * u64::from(writes),
            engine: "psync".into(),
            direct,
            sync,
            ..TrialSpec::default()
        };
        let experiment = if writes == 1 { method.to_owned() } else { format!("{writes} × {method}") };
        Some(Trial {
            experiment,
            measured_s: time_s,
            elapsed_s: time_s,
            write: figures.direction(bytes),
            unstated: if each { Vec::new() } else { vec![Unstated::Flushes] },
            ..Trial::blank(spec, Phase::Measure)
        })
    }
}
