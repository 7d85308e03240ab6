//! What an application would get from this storage: a database, a log writer, a backup; from named findings alone.

use iosonde_model::{Estimate, Finding, FindingName, Op, Run, Unit};

use crate::text::{
    number::{Style, with_interval},
    pages::{Many, Pages},
    result_table::held_by_limit,
};
use iosonde_infer::finding::lookup::estimate;
use iosonde_infer::finding::lookup::found;

/// What one kind of application would get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Application {
    /// Who: "a database with pages of 8 KiB".
    pub who: &'static str,
    /// What it would get, with intervals; where findings are missing, what is missing and what would answer.
    pub gets: String,
    /// The findings that this rests on; empty where nothing can be said.
    pub findings: Vec<FindingName>,
}

/// The three, in this order, for a study; none for single workloads, which have no findings.
pub fn applications(run: &Run) -> Vec<Application> {
    if run.findings.is_empty() {
        return Vec::new();
    }
    vec![database(run), log_writer(run), backup(run)]
}

fn application(
    who: &'static str,
    gets: Vec<String>,
    findings: Vec<&Finding>,
    missing: String,
) -> Application {
    let mut names: Vec<FindingName> = findings.iter().map(|finding| finding.name).collect();
    names.dedup();
    let gets = if gets.is_empty() { missing } else { gets.join("; ") };
    Application { who, gets, findings: names }
}

/// A study that would answer, as one types it.
fn ask(run: &Run, study: &str) -> String {
    format!("unknown from this run; try `iosonde run {study} {}`", run.info.target)
}

fn database(run: &Run) -> Application {
    let (mut gets, mut findings) = (Vec::new(), Vec::new());
    if let Some(pages) = Pages::of(run) {
        gets.push(format!("one client reads {} pages a second", plain(&pages.one)));
        gets.extend(pages.many.map(|many| match many {
            Many::AtMost(most) => format!("many at once at most {}", plain(&most)),
            Many::Rising => "many at once: unknown, the rate was still rising".to_owned(),
        }));
        findings = pages.findings;
    }
    application("A database with pages of 8 KiB", gets, findings, ask(run, "database"))
}

fn plain(iops: &Estimate) -> String {
    with_interval(Style::bare(Unit::Iops), iops)
}

fn log_writer(run: &Run) -> Application {
    let log = found(run, FindingName::LogWritesPerS, Op::Write);
    let gets =
        log.map(|log| format!("{} durable writes a second, one after the other", plain(&estimate(log))));
    let flush = found(run, FindingName::FlushLatency, Op::Flush);
    let waits = flush.map(|flush| format!("a flush takes {}", with_interval(Unit::Time, &estimate(flush))));
    let findings = log.into_iter().chain(flush).collect();
    application(
        "A log writer that waits for fsync",
        gets.into_iter().chain(waits).collect(),
        findings,
        ask(run, "database"),
    )
}

fn backup(run: &Run) -> Application {
    let (mut gets, mut findings) = (Vec::new(), Vec::new());
    let rate = |finding: &Finding| match held_by_limit(run, finding) {
        Some(limit) => limit.in_words(),
        None => with_interval(Unit::Rate, &estimate(finding)),
    };
    if let Some(read) = found(run, FindingName::DeviceBandwidth, Op::Read) {
        gets.push(format!("reads {}", rate(read)));
        findings.push(read);
    }
    if let Some(long) = found(run, FindingName::SustainedRate, Op::Write) {
        gets.push(format!("writes {} for as long as it lasts", rate(long)));
        findings.push(long);
    } else if let Some(write) = found(run, FindingName::DeviceBandwidth, Op::Write) {
        gets.push(format!(
            "writes {} over the data that this run wrote; filling a write buffer may slow them",
            rate(write)
        ));
        findings.push(write);
    }
    application("A backup in one stream", gets, findings, ask(run, "quick"))
}

#[cfg(test)]
mod tests {
    use iosonde_infer::conclude::conclude;
    use iosonde_model::{Conditions, Status};
    use iosonde_testkit::{pretend::Pretend, specimen};

    use super::*;

    fn finding(name: FindingName, op: Op, unit: Unit, value: f64) -> Finding {
        Finding {
            name,
            experiment: "x".into(),
            conditions: Conditions {
                op: Some(op),
                random: Some(true),
                block_size_bytes: Some(4096),
                ..Conditions::default()
            },
            status: Status::Found,
            value: Some(value),
            unit,
            low: Some(value * 0.99),
            high: Some(value * 1.01),
            at_least: false,
            confidence: 0.95,
            detail: iosonde_model::Detail::Plain,
            notes: Vec::new(),
            trials: Vec::new(),
        }
    }

    #[test]
    fn every_line_names_its_findings_or_says_what_would_answer() {
        let mut run = specimen::run(specimen::usual());
        run.findings = vec![
            finding(FindingName::PerRequestCost, Op::Read, Unit::Time, 80_000.0),
            finding(FindingName::HalfSize, Op::Read, Unit::Bytes, 8192.0),
            finding(FindingName::MaxIops, Op::Read, Unit::Iops, 500_000.0),
            finding(FindingName::DeviceBandwidth, Op::Read, Unit::Rate, 819.2e6),
        ];
        let [database, log, backup] = applications(&run).try_into().expect("there are three");
        // 80 µs · (1 + 8192 / 8192) = 160 µs: 6,250 a second; 819.2 MB/s are 100,000 pages.
        assert!(database.gets.contains("6.25 k"), "{}", database.gets);
        assert!(database.gets.contains("100 k"), "{}", database.gets);
        assert_eq!(database.findings.len(), 3, "the bandwidth is the bound of many");
        assert!(log.findings.is_empty() && log.gets.contains("iosonde run database"), "{}", log.gets);
        assert_eq!(backup.findings, [FindingName::DeviceBandwidth]);
    }

    #[test]
    fn pages_of_a_database_that_were_measured_are_taken_as_they_are() {
        let page = |name: FindingName, unit: Unit, value: f64| {
            let mut one = finding(name, Op::Read, unit, value);
            one.conditions.block_size_bytes = Some(8192);
            one
        };
        let mut run = specimen::run(specimen::usual());
        run.findings = vec![
            page(FindingName::BaseLatency, Unit::Time, 100_000.0),
            page(FindingName::MaxIops, Unit::Iops, 67_000.0),
        ];
        let database = applications(&run).remove(0);
        // 1 s / 100 µs: 10,000 a second, and 1 % of that to either side.
        assert!(database.gets.contains("10.0 k (±1.1 %) pages a second"), "{}", database.gets);
        assert!(database.gets.contains("at most 67.0 k"), "{}", database.gets);
        assert_eq!(database.findings, [FindingName::BaseLatency, FindingName::MaxIops]);
    }

    #[test]
    fn many_at_once_are_told_from_small_requests_and_never_below_what_was_seen_to_rise() {
        let depths = |sizes: &str, depths: &str| {
            format!(
                "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"block-size\"\nrw = \"randread\"\n\
                 block_size = \"4k..4M*4\"\n[[experiment]]\nkind = \"queue-depth\"\nrw = \"randread\"\n\
                 block_size = {sizes}\ndepth = \"{depths}\"\n[[experiment]]\nkind = \"random-vs-sequential\"\n\
                 rw = [\"read\", \"randread\"]\nblock_size = \"1M\"\ndepth = 8\n"
            )
        };
        let pages = |study: &str| {
            let mut run = Pretend { cv: 0.005, ..Pretend::usual() }.run(study, 1);
            conclude(&mut run, None).unwrap();
            applications(&run).remove(0).gets
        };
        // 128 KiB reads come first and are limited by the link at 7,600 a second.
        let both = pages(&depths("[\"128k\", \"4k\"]", "1..256*4"));
        assert!(both.contains("at most 80") || both.contains("at most 79"), "{both}");
        // QD 4, saturation at 8.3: there is more than was measured.
        let rising = pages(&depths("[\"4k\"]", "1..4*2"));
        assert!(rising.ends_with("; many at once: unknown, the rate was still rising"), "{rising}");
        let large = pages(&depths("[\"128k\"]", "1..256*4"));
        assert!(large.ends_with(" pages a second"), "{large}");
    }

    #[test]
    fn a_long_write_is_told_by_what_it_goes_on_at() {
        let mut run = specimen::run(specimen::usual());
        run.findings = vec![
            finding(FindingName::DeviceBandwidth, Op::Write, Unit::Rate, 5e9),
            finding(FindingName::SustainedRate, Op::Write, Unit::Rate, 480e6),
        ];
        let backup = applications(&run).pop().expect("there are three");
        assert!(backup.gets.contains("480 MB/s") && !backup.gets.contains("GB/s"), "{}", backup.gets);
    }

    #[test]
    fn without_findings_nothing_is_said() {
        let mut run = specimen::run(specimen::usual());
        run.findings.clear();
        assert!(applications(&run).is_empty());
    }
}
