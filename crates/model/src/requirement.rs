//! A documented requirement: what an application needs of its storage, and who says so. A TOML file.

use serde::{Deserialize, Serialize};

use crate::{
    LatencyLimit, Rw, Sync,
    sheet::{ClaimUnit, ClaimValue},
    toml_file::{FileError, TomlDocument},
    units::{Percentage, SizeBytes, TimeNs},
};

/// A requirement.
#[derive(Debug, Clone, PartialEq)]
pub struct Requirement {
    /// `etcd`.
    pub name: String,
    /// What is required, in a line.
    pub summary: String,
    /// Where it is published.
    pub source: String,
    /// Date of that text: `2019-04-18`, `2019-04` or `2019`.
    pub source_date: String,
    /// Why the application needs it.
    pub why: String,
    /// Default time of a check, preparation included.
    pub time_ns: u64,
    /// Default size of the prepared area.
    pub size_bytes: Option<u64>,
    /// All of them must be kept.
    pub limits: Vec<RequiredLimit>,
}

/// One figure of one workload, and its limit.
#[derive(Debug, Clone, PartialEq)]
pub struct RequiredLimit {
    /// What the figure is of.
    pub of: RequiredOf,
    /// The limit.
    pub bound: RequiredBound,
    /// The workload.
    pub workload: RequiredWorkload,
}

/// What a required figure is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RequiredOf {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Flushes alone.
    Flush,
    /// Writes and the flush that makes them durable, together.
    Commit,
}

/// Limit of a required figure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RequiredBound {
    /// A latency stays below.
    Below(LatencyLimit),
    /// A rate is reached.
    AtLeast {
        /// The rate.
        value: f64,
        /// Its unit.
        unit: ClaimUnit,
    },
}

/// Workload of a required figure.
#[derive(Debug, Clone, PartialEq)]
pub struct RequiredWorkload {
    /// The access pattern.
    pub rw: Rw,
    /// Bytes of a request.
    pub block_size_bytes: u64,
    /// Queue depth of each job.
    pub depth: u32,
    /// Workers at the same time.
    pub jobs: u32,
    /// What makes writes durable.
    pub sync: Sync,
    /// Share of reads in percent, for mixed patterns.
    pub read_percent: Option<f64>,
    /// Whether the page cache is used.
    pub buffered: bool,
}

/// Result of holding a figure against its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RequirementVerdict {
    /// The whole interval keeps the limit.
    Pass,
    /// The interval holds the limit, or there is none.
    Inconclusive,
    /// The whole interval lies beyond the limit.
    Fail,
}

/// A requirement held against a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RequirementAnswer {
    /// Name of the requirement.
    pub name: String,
    /// What its limits come to.
    pub verdict: RequirementVerdict,
    /// Every limit.
    pub lines: Vec<RequirementLine>,
}

/// One limit of a requirement, held against a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RequirementLine {
    /// The limit.
    pub limit: RequiredLimit,
    /// Measured figure, in nanoseconds, IOPS or bytes per second.
    pub measured: Option<f64>,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end of its interval.
    pub high: Option<f64>,
    /// Requests (or flushes, commits) behind the figure.
    pub count: u64,
    /// Valid trials behind the figure.
    pub trials: usize,
    /// Result.
    pub verdict: RequirementVerdict,
    /// Why it is inconclusive; `None` otherwise.
    pub why: Option<RequirementUnsettled>,
}

/// Reason why a limit is neither kept nor broken.
#[derive(Debug, Clone, PartialEq)]
pub enum RequirementUnsettled {
    /// The run has no such workload.
    NotMeasured,
    /// Too few trials are valid.
    FewValid {
        /// Trials of the workload.
        trials: usize,
        /// Valid ones among them.
        valid: usize,
        /// Trials that an interval needs.
        needed: usize,
        /// Most frequent reason.
        check: Option<crate::CheckName>,
    },
    /// A verdict about the whole run makes its figures invalid.
    InvalidRun {
        /// Check that gave it.
        check: crate::CheckName,
    },
    /// Half of the trials or more were invalid: the valid ones are a choice.
    MostInvalid {
        /// Trials of the workload.
        trials: usize,
        /// Valid ones among them.
        valid: usize,
        /// Most frequent reason.
        check: Option<crate::CheckName>,
    },
    /// Requests failed: the time of an error is no latency.
    Errors {
        /// Requests that failed.
        errors: u64,
    },
    /// The interval holds the limit.
    Wide {
        /// Factor by which the measured time would have to grow, roughly; `None` where more time does not help.
        times: Option<f64>,
    },
}

/// A requirement as it is written in a file of its own, or in a study's.
#[derive(Deserialize)]
pub(crate) struct RequirementFile {
    name: String,
    summary: String,
    source: String,
    source_date: String,
    why: String,
    time: Option<TimeNs>,
    size: Option<SizeBytes>,
    limit: Vec<LimitFile>,
}

#[derive(Deserialize)]
struct LimitFile {
    of: RequiredOf,
    below: Option<LatencyLimit>,
    at_least: Option<ClaimValue>,
    rw: Rw,
    block_size: SizeBytes,
    #[serde(default = "one")]
    depth: u32,
    #[serde(default = "one")]
    jobs: u32,
    #[serde(default)]
    sync: Sync,
    mix: Option<Percentage>,
    #[serde(default)]
    buffered: bool,
}

const fn one() -> u32 {
    1
}

/// What a requirement cannot do without.
const NEEDED: &[(&str, &str)] = &[
    ("source", "a requirement that nobody published is an opinion; write where it is published"),
    ("source_date", "the date of the source's text, as in source_date = \"2019-04-18\""),
    ("why", "why the application needs it"),
    ("limit", "it limits nothing; add a [[limit]] with of, below or at_least, rw and block_size"),
    ("limit.of", "what the figure is of: read, write, flush or commit"),
    ("limit.rw", "the access pattern, as in rw = \"write\""),
    ("limit.block_size", "bytes of a request, as in block_size = \"4k\""),
];

/// Default time of a check.
const TIME_NS: u64 = 60_000_000_000;

impl Requirement {
    /// Reads a requirement's text; `origin` is what errors call it.
    ///
    /// # Errors
    /// Returns the place, the key and the rule that it breaks.
    pub fn parse(text: &str, origin: &str) -> Result<Self, FileError> {
        let document = TomlDocument::parse(text, format!("requirement {origin}"))?;
        let file: RequirementFile = document.read().map_err(|error| error.explained(NEEDED))?;
        Self::checked(file, &document, "")
    }

    /// Checks its keys together; `at` is their section, with a dot behind it.
    pub(crate) fn checked(
        file: RequirementFile,
        document: &TomlDocument,
        at: &str,
    ) -> Result<Self, FileError> {
        let wrong = |key: &str, rule: &str| Err(document.impossible(&format!("{at}{key}"), rule));
        if file.source.trim().is_empty() {
            return wrong(
                "source",
                "a requirement that nobody published is an opinion; write where it is published",
            );
        }
        if !is_date(&file.source_date) {
            return wrong("source_date", "a date is written as in 2019-04-18, 2019-04 or 2019");
        }
        if file.limit.is_empty() {
            return Err(document.missing(&format!("{at}limit"), "").explained(NEEDED));
        }
        let limits = file.limit.into_iter().enumerate().map(|(number, limit)| {
            let place = |key: &str| format!("{at}limit.{number}.{key}");
            limit.checked().map_err(|(key, rule)| {
                // The number says which of several: the line does so better.
                FileError { table: format!("{at}limit"), ..document.impossible(&place(key), rule) }
            })
        });
        Ok(Self {
            limits: limits.collect::<Result<_, _>>()?,
            name: file.name,
            summary: file.summary,
            source: file.source,
            source_date: file.source_date,
            why: file.why,
            time_ns: file.time.map_or(TIME_NS, |time| time.0),
            size_bytes: file.size.map(|size| size.0),
        })
    }
}

impl LimitFile {
    /// The limit, or the key that is wrong and the rule that it breaks.
    fn checked(self) -> Result<RequiredLimit, (&'static str, &'static str)> {
        let bound = match (self.below, self.at_least) {
            (Some(limit), None) => RequiredBound::Below(limit),
            (None, Some(ClaimValue { value, unit })) => RequiredBound::AtLeast { value, unit },
            (Some(_), Some(_)) => return Err(("at_least", "a figure has one limit: below, or at_least")),
            (None, None) => {
                return Err(("of", "its limit is missing: below = \"p99=10ms\", or at_least = \"500 IOPS\""));
            }
        };
        let durable = self.sync != Sync::None && !self.sync.at_end() && self.rw.writes();
        match self.of {
            RequiredOf::Read if !self.rw.reads() => {
                return Err(("of", "the workload reads nothing, so that it gives no figure of reads"));
            }
            RequiredOf::Write if !self.rw.writes() => {
                return Err(("of", "the workload writes nothing, so that it gives no figure of writes"));
            }
            RequiredOf::Commit if !durable => {
                return Err(("of", "a commit needs writes that become durable: add sync = \"fdatasync:1\""));
            }
            RequiredOf::Flush if !self.sync.flushes() || !self.rw.writes() => {
                return Err(("of", "the workload flushes nothing: add sync = \"fdatasync:1\" to writes"));
            }
            RequiredOf::Commit | RequiredOf::Flush if matches!(bound, RequiredBound::AtLeast { .. }) => {
                return Err(("at_least", "a rate is of reads or writes; flushes and commits have a latency"));
            }
            _ => {}
        }
        if self.mix.is_some() && !self.rw.is_mixed() {
            return Err(("mix", "a share of reads belongs to rw = \"randrw\" or \"rw\""));
        }
        if self.rw.is_mixed() && self.mix.is_none() {
            return Err(("rw", "a mixed pattern needs its share of reads: mix = \"70%\""));
        }
        if !(1..=1 << 30).contains(&self.block_size.0) {
            return Err(("block_size", "a block has at least 1 byte and at most 1 GiB"));
        }
        if !(1..=65_536).contains(&self.depth) {
            return Err(("depth", "a queue depth lies between 1 and 65536"));
        }
        if !(1..=1024).contains(&self.jobs) {
            return Err(("jobs", "there are between 1 and 1024 jobs"));
        }
        let workload = RequiredWorkload {
            rw: self.rw,
            block_size_bytes: self.block_size.0,
            depth: self.depth,
            jobs: self.jobs,
            sync: self.sync,
            read_percent: self.mix.map(|mix| mix.0 * 100.0),
            buffered: self.buffered,
        };
        Ok(RequiredLimit { of: self.of, bound, workload })
    }
}

impl RequiredWorkload {
    /// The workload as a row of an experiment: a table of its keys.
    pub fn row(&self) -> toml::Table {
        let mut row = toml::Table::new();
        let mut put = |key: &str, value: toml::Value| drop(row.insert(key.into(), value));
        put("rw", self.rw.to_string().into());
        put("block_size", self.block_size_bytes.to_string().into());
        put("depth", i64::from(self.depth).into());
        put("jobs", i64::from(self.jobs).into());
        put("sync", self.sync.to_string().into());
        if let Some(percent) = self.read_percent {
            put("mix", percent.into());
        }
        put("buffered", self.buffered.into());
        row
    }

    /// Whether a point's workload is this one.
    pub fn is_of(&self, spec: &crate::TrialSpec) -> bool {
        spec.rw == self.rw
            && spec.block_size_bytes == self.block_size_bytes
            && spec.block_sizes.is_one()
            && spec.queue_depth == self.depth
            && spec.jobs == self.jobs
            && spec.sync == self.sync
            && spec.read_percent.filter(|_| spec.rw.is_mixed()) == self.read_percent
            && !(self.buffered && spec.direct)
            && (spec.and.is_empty() && spec.stride_bytes.is_none() && spec.rate_iops.is_none())
    }
}

/// `2019`, `2019-04` or `2019-04-18`.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let number = |at: usize, digits: usize, range: std::ops::RangeInclusive<u32>| {
        parts.get(at).is_none_or(|part| {
            part.len() == digits
                && part.bytes().all(|byte| byte.is_ascii_digit())
                && part.parse().is_ok_and(|number| range.contains(&number))
        })
    };
    parts.len() <= 3 && number(0, 4, 1970..=2999) && number(1, 2, 1..=12) && number(2, 2, 1..=31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "name = 'x'\nsummary = ''\nwhy = ''\nsource = 'a page'\nsource_date = '2019-04-18'\n";
    const COMMIT: &str = "[[limit]]\nof = 'commit'\nbelow = 'p99=10ms'\nrw = 'write'\nblock_size = '2300'\n";

    fn said(text: &str) -> String {
        let error = Requirement::parse(text, "x.toml").expect_err(text).to_string();
        assert!(!error.contains('\n'), "more than one line: {error}");
        error
    }

    #[test]
    fn a_requirement_is_a_workload_a_figure_and_its_limit() {
        let text = format!("{HEAD}{COMMIT}sync = 'fdatasync:1'\nbuffered = true\n");
        let found = Requirement::parse(&text, "x.toml").unwrap();
        let [limit] = &found.limits[..] else { panic!("one limit") };
        assert_eq!((limit.of, limit.workload.block_size_bytes), (RequiredOf::Commit, 2300));
        assert_eq!(limit.bound, RequiredBound::Below("p99=10ms".parse().unwrap()));
        assert_eq!((found.time_ns, found.source_date.as_str()), (60_000_000_000, "2019-04-18"));
        assert_eq!(limit.workload.row()["sync"].as_str(), Some("fdatasync:1"));
    }

    #[test]
    fn what_is_wrong_is_told_with_file_line_and_column() {
        for (text, wanted) in [
            (
                HEAD.replace("source = 'a page'\n", ""),
                "x.toml: the file lacks `source` (a requirement that nobody",
            ),
            (HEAD.replace("'a page'", "' '"), "x.toml:4:10: `source`"),
            (HEAD.replace("2019-04-18", "2019-13-18"), "x.toml:5:15: `source_date`"),
            (HEAD.to_owned(), "lacks `limit` (it limits nothing"),
        ] {
            let told = said(&text);
            let told = if text.contains("[[limit]]") || text == HEAD { told } else { said(&(text + COMMIT)) };
            assert!(told.contains(wanted), "{told}");
        }
        let limit = |keys: &str| said(&format!("{HEAD}[[limit]]\n{keys}\n"));
        for (keys, wanted) in [
            // The figure of another workload.
            (
                "of = 'commit'\nbelow = 'p99=1ms'\nrw = 'write'\nblock_size = '4k'",
                "x.toml:7:6: [limit] of = ",
            ),
            ("of = 'read'\nbelow = 'p99=1ms'\nrw = 'write'\nblock_size = '4k'", "x.toml:7:6: [limit] of = "),
            (
                "of = 'write'\nat_least = '5 IOPS'\nrw = 'read'\nblock_size = '4k'",
                "x.toml:7:6: [limit] of = ",
            ),
            (
                "of = 'flush'\nbelow = 'p99=1ms'\nrw = 'write'\nblock_size = '4k'\nsync = 'dsync'",
                ":7:6: [limit] of",
            ),
            ("of = 'read'\nrw = 'read'\nblock_size = '4k'", "its limit is missing"),
            ("of = 'read'\nbelow = 'soon'\nrw = 'read'\nblock_size = '4k'", "x.toml:6:1: `limit`: `soon`"),
            (
                "of = 'read'\nbelow = 'p99=1ms'\nrw = 'read'\nblock_size = '4k'\ncolour = 1",
                "11:1: [limit] has no key",
            ),
            (
                "of = 'reed'\nbelow = 'p99=1ms'\nrw = 'read'\nblock_size = '4k'",
                "[limit] of is one of \"read\"",
            ),
            (
                "of = 'read'\nbelow = 'p99=1ms'\nrw = 'read'\nblock_size = '0'",
                "x.toml:10:14: [limit] block_size",
            ),
            (
                "of = 'read'\nbelow = 'p99=1ms'\nrw = 'read'\nblock_size = '1'\nmix = '5%'",
                "x.toml:11:7: [limit] mix",
            ),
        ] {
            let told = limit(keys);
            assert!(told.contains(wanted), "{told}\nlacks {wanted}");
        }
    }

    #[test]
    fn dates_of_texts_may_lack_the_day() {
        for (text, date) in
            [("2019", true), ("2019-04", true), ("2019-04-18", true), ("19", false), ("soon", false)]
        {
            assert_eq!(is_date(text), date, "{text}");
        }
    }
}
