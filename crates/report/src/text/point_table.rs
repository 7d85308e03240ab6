//! Points that are read one by one: those of a run that no finding answers, and of an experiment, run alone, that asks
//! what each workload gets.

use std::collections::BTreeSet;

use iosonde_model::{
    About, Estimate, Finding, Judgement, Op, Outcome, Point, PointDirection, Run, Study, TrialSpec, Unit,
    units,
};
use iosonde_plan::experiment::EXPERIMENTS;

use crate::text::marks::result_tables;
use crate::text::number::{Figure, Style, figure};

use iosonde_infer::finding::ReadWhen;
use iosonde_infer::finding::kind;

/// Maximum number of rows: a page that scrolls away is not read.
const ROWS_MAX: usize = 20;
/// Points whose rows fit beside the other lines of a screen.
const FEW_POINTS: usize = 12;
/// Requests of this size or more are given in bytes per second, as `limit` does.
const LARGE_BYTES: u64 = 128 << 10;

/// Whether requests are given in bytes per second, and not in IOPS.
pub fn is_large(spec: &TrialSpec) -> bool {
    spec.block_size_bytes >= LARGE_BYTES && spec.block_sizes.is_one()
}

/// What the workloads of a run get, a row for each direction.
#[derive(Debug, Clone, PartialEq)]
pub struct PointTable {
    /// What all rows have in common: `QD 32`; empty where nothing is.
    pub shared: String,
    /// At most a dozen.
    pub rows: Vec<PointRow>,
    /// Rows that were left out.
    pub more: usize,
}

/// One direction of one point.
#[derive(Debug, Clone, PartialEq)]
pub struct PointRow {
    /// What the others do not have in common with it.
    pub workload: String,
    /// Requests or, of large ones, bytes a second.
    pub rate: Estimate,
    /// Unit of the rate.
    pub unit: Unit,
    /// Half of the requests took no longer.
    pub median_ns: Option<f64>,
    /// Nor 99 of a hundred.
    pub p99_ns: Option<f64>,
}

impl PointTable {
    /// Heads of the columns; the unit of all rows stands above them.
    pub fn heads(&self) -> [&'static str; 4] {
        ["", if self.all_iops() { "IOPS" } else { "rate" }, "p50", "p99"]
    }

    /// Cells of a row.
    pub fn cells(&self, row: &PointRow) -> [String; 4] {
        let [p50, p99] = Self::latencies(row);
        [row.workload.clone(), self.rate(row).whole(), p50, p99]
    }

    /// Rate of a row, for a page that breaks lines between value and interval.
    pub fn rate(&self, row: &PointRow) -> Figure {
        let style = if self.all_iops() { Style::bare(row.unit) } else { row.unit.into() };
        figure(style, &row.rate)
    }

    /// Median and 99th percentile of a row.
    pub fn latencies(row: &PointRow) -> [String; 2] {
        let told = |ns: f64| figure(Unit::Time, &Estimate { value: ns, low: Some(ns), high: Some(ns) }).value;
        [row.median_ns, row.p99_ns].map(|ns| ns.map_or("–".to_owned(), told))
    }

    fn all_iops(&self) -> bool {
        self.rows.iter().all(|row| row.unit == Unit::Iops && !row.rate.is_vague())
    }
}

/// The table of a concluded study; none where its findings say it all.
pub fn point_table(run: &Run) -> Option<PointTable> {
    let study = Study::parse(&run.info.study_source, &run.info.study).ok()?;
    // The sheet's table has them.
    if study.sheet.is_some() {
        return None;
    }
    let by_points = |name: &str| {
        let kind = study.experiments.iter().find(|own| own.name == name).map(|own| own.kind.as_str());
        kind.is_some_and(|kind| EXPERIMENTS.find(kind).is_ok_and(|experiment| experiment.point_by_point()))
    };
    // Beside the figures of other experiments they would be one table among many: the report has it.
    let asked = match study.experiments.as_slice() {
        [only] => by_points(&only.name) || !answered(run, &only.name),
        all => all.iter().all(|own| !answered(run, &own.name)),
    };
    // Lines without a table leave out what the workloads got.
    let is_only_table = run.points.len() <= FEW_POINTS && result_tables(run).is_empty();
    if !(asked || is_only_table) {
        return None;
    }
    // What two streams get beside each other has lines of its own where each was measured alone, too.
    let one_stream = |point: &&Point| point.spec.streams().count() == 1;
    let stands = |point: &&Point| point.left_out < point.trials;
    let has_alone = run.points.iter().any(|point| one_stream(&point));
    let points: Vec<&Point> =
        run.points.iter().filter(|point| !has_alone || one_stream(point)).filter(stands).collect();
    let spans = points.iter().any(|point| point.spec.span_bytes != points[0].spec.span_bytes);
    let ways = points.iter().any(|point| point.spec.direct != points[0].spec.direct);
    let void = void_as_storage(run);
    let of_others = |point: &Point| point.trial_ids.iter().all(|id| void.contains(id));
    // Two experiments may measure one workload, each in its way.
    let is_again = |point: &Point| points.iter().filter(|other| other.spec == point.spec).count() > 1;
    let told = |point: &Point| {
        let of_others = of_others(point).then(|| NOT_STORAGE.to_owned());
        is_again(point).then(|| point.experiment.clone()).into_iter().chain(of_others)
    };
    let mut rows: Vec<(Vec<String>, PointRow)> = points
        .iter()
        .flat_map(|point| rows(point, spans, ways).into_iter().map(|row| (told(point), row)))
        .map(|(told, (parts, row))| (parts.into_iter().chain(told).collect(), row))
        .collect();
    let (first, _) = rows.first()?;
    let shared: Vec<String> =
        first.iter().filter(|part| rows.iter().all(|(parts, _)| parts.contains(part))).cloned().collect();
    // One row alone has everything in common with itself.
    let shared = if rows.len() == 1 { Vec::new() } else { shared };
    for (parts, row) in &mut rows {
        let own: Vec<&str> =
            parts.iter().map(String::as_str).filter(|p| !shared.iter().any(|s| s == p)).collect();
        row.workload = [own.join(", "), row.workload.clone()]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join(": ");
    }
    let more = rows.len().saturating_sub(ROWS_MAX);
    let rows = rows.into_iter().take(ROWS_MAX).map(|(_, row)| row).collect();
    Some(PointTable { shared: shared.join(", "), rows, more })
}

/// What a row measures, where all of its trials are invalid as statements about the storage.
const NOT_STORAGE: &str = "not the storage";

/// Trials whose figures are invalid as statements about the storage: those of memory or of the program.
fn void_as_storage(run: &Run) -> BTreeSet<u64> {
    let void = |line: &&Judgement| line.verdict == Outcome::Invalid && line.about.touches(About::Device);
    run.verdicts.iter().filter(void).filter_map(|line| line.trial).collect()
}

/// Whether a finding of an experiment is an answer on the first screen.
fn answered(run: &Run, experiment: &str) -> bool {
    let first = |finding: &Finding| kind(finding.name).screen_line().when != ReadWhen::Alone;
    run.findings
        .iter()
        .any(|finding| finding.experiment == experiment && !finding.is_open() && first(finding))
}

/// A point's parts in words, and a row for each direction, whose workload says which of several it is.
/// Where they differ in their spans, or in whether they use the page cache, these are among the parts.
fn rows(point: &Point, spans: bool, ways: bool) -> Vec<(Vec<String>, PointRow)> {
    let span = spans.then(|| format!("within {}", units::size(point.spec.span_bytes)));
    let way = ways.then(|| if point.spec.direct { "direct" } else { "buffered" }.to_owned());
    let streams = if point.spec.and.is_empty() { point.spec.parts() } else { vec![point.spec.describe()] };
    let parts: Vec<String> = streams.into_iter().chain(way).chain(span).collect();
    let own: Vec<(Op, &PointDirection)> =
        Op::DIRECTIONS.into_iter().filter_map(|op| Some((op, point.direction(op)?))).collect();
    let several = own.len() > 1;
    let large = is_large(&point.spec);
    // A program that flushes waits for the commit and not for its write alone.
    let commit = point.commit.as_ref();
    let of =
        |alone: Option<Estimate>, commit: Option<Estimate>| commit.or(alone).map(|latency| latency.value);
    let row = |(op, direction): (Op, &PointDirection)| {
        let commit = commit.filter(|_| op == Op::Write);
        PointRow {
            workload: if several { format!("{op}s") } else { String::new() },
            rate: if large { direction.bytes_per_s } else { direction.iops },
            unit: if large { Unit::Rate } else { Unit::Iops },
            median_ns: of(direction.latency_ns_p50, commit.and_then(|commit| commit.latency_ns_p50)),
            p99_ns: of(direction.latency_ns_p99, commit.and_then(|commit| commit.latency_ns_p99)),
        }
    };
    own.into_iter().map(|one| (parts.clone(), row(one))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_infer::conclude::conclude;
    use iosonde_testkit::pretend::Pretend;

    fn table(experiments: &str) -> Option<PointTable> {
        let study = format!("name = \"x\"\nquestion = \"?\"\n{experiments}");
        let mut run = Pretend { cv: 0.005, ..Pretend::usual() }.run(&study, 1);
        conclude(&mut run, None).unwrap();
        point_table(&run)
    }

    #[test]
    fn what_no_finding_answers_is_read_point_by_point() {
        let mix = "[[experiment]]\nkind = \"mix\"\nmix = 70\n";
        let told = table(mix).expect("a mix without its directions alone has no finding");
        assert_eq!(told.shared, "4 KiB random, 70 % reads, QD 32");
        let workloads: Vec<&str> = told.rows.iter().map(|row| row.workload.as_str()).collect();
        assert_eq!(workloads, ["reads", "writes"]);
        assert!(told.rows.iter().all(|row| row.unit == Unit::Iops && row.median_ns.is_some()));
        let sizes = "[[experiment]]\nkind = \"block-size\"\n";
        assert_eq!(table(sizes), None, "findings say it all");
        assert_eq!(table(&format!("{sizes}{mix}")), None, "beside figures it is one table among many");
        let both = format!(
            "{mix}[[experiment]]\nkind = \"matrix\"\nrw = \"read\"\nblock_size = \"4k\"\ndepth = 1\n"
        );
        assert_eq!(table(&both).map(|told| told.rows.len()), Some(3), "neither has a finding");
    }

    #[test]
    fn what_all_rows_share_is_said_once_and_twenty_rows_are_enough() {
        let matrix =
            |keys: &str| table(&format!("[[experiment]]\nkind = \"matrix\"\nrw = \"randread\"\n{keys}\n"));
        let told = matrix("block_size = [\"4k\", \"64k\", \"1M\"]\ndepth = \"1..128*2\"");
        let told = told.expect("a matrix has no finding");
        assert_eq!((told.rows.len(), told.more), (20, 4));
        let depths = matrix("block_size = \"4k\"\ndepth = [2, 4]").unwrap();
        assert_eq!(depths.shared, "4 KiB random reads");
        assert_eq!(depths.rows[0].workload, "QD 2");
        let spans = matrix("block_size = \"4k\"\ndepth = 1\nspan = [\"64M\", \"256M\"]").unwrap();
        assert_eq!(spans.rows[1].workload, "within 256 MiB", "{spans:?}");
        let large = matrix("block_size = \"1M\"\ndepth = 1").unwrap();
        assert_eq!(large.rows[0].unit, Unit::Rate);
        assert_eq!(large.heads(), ["", "rate", "p50", "p99"]);
        let cells = large.cells(&large.rows[0]);
        assert!(cells[1].contains("/s ±") && cells[2..].iter().all(|time| time.ends_with('s')), "{cells:?}");
        assert_eq!(spans.heads()[1], "IOPS", "the unit of all rows stands above them");
    }

    #[test]
    fn streams_that_run_at_once_are_told_where_none_is_alone() {
        let log = "beside = [{ rw = \"write\", sync = \"fdatasync:1\", depth = 1 }]\ndepth = 4";
        let told = table(&format!("[[experiment]]\nkind = \"matrix\"\nrw = \"randread\"\n{log}\n")).unwrap();
        let both = "4 KiB random reads, QD 4, with 4 KiB sequential writes, QD 1, fdatasync:1";
        assert!(
            told.rows.iter().all(|row| told.shared == both || row.workload.starts_with(both)),
            "{told:?}"
        );
    }

    #[test]
    fn what_memory_gave_is_not_shown_as_the_storages_speed() {
        let study = "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"matrix\"\nrw = \"randread\"\n\
            depth = [1, 2]\n";
        let mut run = Pretend { cv: 0.005, ..Pretend::usual() }.run(study, 1);
        run.trials.iter_mut().for_each(|trial| trial.witnesses.block_layer_read_bytes = Some(0));
        conclude(&mut run, None).unwrap();
        let told = point_table(&run).expect("a matrix has no finding");
        assert!(told.shared.ends_with(NOT_STORAGE), "{told:?}");
    }

    #[test]
    fn an_experiment_that_asks_for_points_shows_them_beside_its_finding_when_it_is_alone() {
        let latency = "[[experiment]]\nkind = \"latency\"\n";
        assert_eq!(table(latency).map(|told| told.rows.len()), Some(6));
        assert_eq!(table(&format!("{latency}[[experiment]]\nkind = \"block-size\"\n")), None);
    }
}
