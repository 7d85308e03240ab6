//! OpenMetrics text, for Prometheus: node_exporter's textfile collector reads it as it is.
//!
//! Each estimate of a point has the samples `bound="value"`, `"low"` and `"high"`, the last two where there is an
//! interval; units are Prometheus' base units and stand in the names. `iosonde_point_valid` is 1 where at least one
//! trial is a figure of the storage. What memory gave has 0 there and the label `void_about` at its figures; points of
//! which no trial counts have no figures. Findings have their value, `low` and `high` under a name for
//! each unit. A requirement that the run answers has a sample for each verdict, 1 for the run's, and its figures with
//! their limits. No sample has a time: the collector refuses them, and `iosonde_run_info` names the run.

use std::collections::BTreeMap;

use iosonde_model::{
    ClaimUnit, Finding, Named, Op, Point, RequiredBound, RequiredOf, RequirementAnswer, RequirementLine,
    RequirementVerdict, Run, Status, Sync, TrialSpec, Unit,
};

use super::{ExportFormat, figures};

/// The registered format.
pub struct OpenMetrics;

impl Named for OpenMetrics {
    fn name(&self) -> &'static str {
        "openmetrics"
    }
}

/// A family: its name, its unit (the end of the name), and what it is.
type Family = (&'static str, &'static str, &'static str);

const INFO: Family = ("iosonde_run_info", "", "Run, study and target; always 1.");
const VALID: Family = (
    "iosonde_point_valid",
    "",
    "1 if at least one trial of the point is a valid figure of the storage, else 0.",
);
const TRIALS: Family = ("iosonde_point_trials", "", "Trials of the point, invalid ones included.");
const INVALID: Family = ("iosonde_point_invalid_trials", "", "Trials of which any figure is invalid.");
const LEFT_OUT: Family = ("iosonde_point_left_out_trials", "", "Trials that the point's figures leave out.");
const IOPS: Family = ("iosonde_point_iops", "iops", "Completed requests per second.");
const RATE: Family =
    ("iosonde_point_throughput_bytes_per_second", "bytes_per_second", "Bytes moved or trimmed per second.");
const LATENCY: Family = ("iosonde_point_latency_seconds", "seconds", "Latency of a request, by statistic.");

const COMMIT: Family =
    ("iosonde_point_commit_latency_seconds", "seconds", "Latency of a write and its flush, by statistic.");

const VERDICT: Family = ("iosonde_requirement_verdict", "", "1 for the verdict on the requirement, else 0.");
const REQUIRED_TIME: Family =
    ("iosonde_requirement_seconds", "seconds", "Required latencies, and what was measured of them.");
const REQUIRED_IOPS: Family =
    ("iosonde_requirement_iops", "iops", "Required rates of requests, and what was measured of them.");
const REQUIRED_RATE: Family = (
    "iosonde_requirement_bytes_per_second",
    "bytes_per_second",
    "Required rates of bytes, and what was measured of them.",
);

/// Family of a figure, its factor to the family's unit, and the statistic that it is.
fn family_of(figure: &str) -> Option<(Family, f64, Option<&str>)> {
    match figure {
        "iops" => Some((IOPS, 1.0, None)),
        "bytes_per_s" => Some((RATE, 1.0, None)),
        latency if latency.starts_with("commit") => {
            Some((COMMIT, 1e-9, Some(latency.strip_prefix("commit_latency_ns_")?)))
        }
        latency => Some((LATENCY, 1e-9, Some(latency.strip_prefix("latency_ns_")?))),
    }
}

fn family_of_unit(unit: Unit) -> Option<(Family, f64)> {
    let family = |name, unit, help| (name, unit, help);
    Some(match unit {
        Unit::Time => (family("iosonde_finding_seconds", "seconds", "Findings that are times."), 1e-9),
        Unit::Rate => (
            family(
                "iosonde_finding_bytes_per_second",
                "bytes_per_second",
                "Findings that are rates of bytes.",
            ),
            1.0,
        ),
        Unit::Iops => (family("iosonde_finding_iops", "iops", "Findings that are rates of requests."), 1.0),
        Unit::Bytes => (family("iosonde_finding_bytes", "bytes", "Findings that are sizes."), 1.0),
        Unit::InFlight => {
            (family("iosonde_finding_requests", "requests", "Findings that are queue depths."), 1.0)
        }
        Unit::PerHour => {
            (family("iosonde_finding_per_hour", "", "Findings that are changes per hour, as shares."), 1.0)
        }
        Unit::Ratio => (family("iosonde_finding_ratio", "ratio", "Findings that are ratios."), 1.0),
        Unit::Accelerators => (
            family(
                "iosonde_finding_accelerators",
                "accelerators",
                "Findings that are numbers of accelerators.",
            ),
            1.0,
        ),
        Unit::Hosts => (family("iosonde_finding_hosts", "hosts", "Findings that are numbers of hosts."), 1.0),
        Unit::None => return None,
    })
}

impl ExportFormat for OpenMetrics {
    fn extension(&self) -> &'static str {
        "prom"
    }

    fn write(&self, run: &Run) -> Result<String, String> {
        self.write_answered(run, &[])
    }

    fn write_answered(&self, run: &Run, answers: &[RequirementAnswer]) -> Result<String, String> {
        let mut page = Page::default();
        let id = ("run", run.info.id.as_str());
        let label = run.info.label.as_deref().unwrap_or_default();
        let info = [
            id,
            ("label", label),
            ("study", run.info.study.as_str()),
            ("target", run.info.target.as_str()),
            ("started_at", run.info.started_at.as_str()),
            ("version", run.iosonde.as_str()),
        ];
        page.add(INFO, &info, 1.0);
        answers.iter().for_each(|answer| page.requirement(answer, id));
        for point in &run.points {
            let number = point.id.to_string();
            let own = [id, ("point", number.as_str()), ("experiment", point.experiment.as_str())];
            let of_storage = figures::is_of_storage(run, point);
            page.add(VALID, &own, f64::from(u8::from(of_storage)));
            page.add(TRIALS, &own, f64::from(point.trials));
            page.add(INVALID, &own, f64::from(point.invalid));
            page.add(LEFT_OUT, &own, f64::from(point.left_out));
            if figures::is_counted(point) {
                let void = if of_storage { "" } else { "device" };
                let own = [&own[..], &[("void_about", void)]].concat();
                Op::DIRECTIONS.into_iter().for_each(|op| page.point(point, op, &own));
            }
        }
        run.findings
            .iter()
            .filter(|finding| finding.status == Status::Found)
            .for_each(|own| page.finding(own, id));
        Ok(page.text())
    }
}

/// A property of the streams of one direction; empty where they differ, so that no figure of several is taken for one
/// of the first.
fn common(spec: &TrialSpec, op: Op, pick: fn(&TrialSpec) -> String) -> String {
    let mut own = spec.streams().filter(|stream| stream.rw.has(op)).map(pick);
    let Some(first) = own.next() else { return pick(spec) };
    if own.all(|other| other == first) { first } else { String::new() }
}

/// Samples by family, in the order in which families were met.
#[derive(Default)]
struct Page {
    order: Vec<Family>,
    samples: BTreeMap<&'static str, Vec<String>>,
}

impl Page {
    fn add(&mut self, family: Family, labels: &[(&str, &str)], value: f64) {
        if !self.samples.contains_key(family.0) {
            self.order.push(family);
        }
        let labels: Vec<String> = labels
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| format!("{name}=\"{}\"", escaped(value)))
            .collect();
        let sample = format!("{}{{{}}} {value}\n", family.0, labels.join(","));
        let samples = self.samples.entry(family.0).or_default();
        // Findings of one name and like conditions would be one series twice.
        let series = |line: &str| line.rsplit_once(' ').map(|(series, _)| series.to_owned());
        if !samples.iter().any(|own| series(own) == series(&sample)) {
            samples.push(sample);
        }
    }

    /// An estimate's value and ends.
    fn bounds(&mut self, family: Family, labels: &[(&str, &str)], [value, low, high]: [Option<f64>; 3]) {
        for (bound, figure) in [("value", value), ("low", low), ("high", high)] {
            if let Some(figure) = figure.filter(|figure| figure.is_finite()) {
                self.add(family, &[labels, &[("bound", bound)]].concat(), figure);
            }
        }
    }

    fn requirement(&mut self, answer: &RequirementAnswer, id: (&str, &str)) {
        let own = [id, ("requirement", answer.name.as_str())];
        for (verdict, name) in VERDICTS {
            let labels = [&own[..], &[("verdict", name)]].concat();
            self.add(VERDICT, &labels, f64::from(u8::from(answer.verdict == verdict)));
        }
        for (nth, line) in answer.lines.iter().enumerate() {
            self.limit(line, [id, own[1], ("limit", &nth.to_string())]);
        }
    }

    /// One limit: what it is, and what was measured.
    fn limit(&mut self, line: &RequirementLine, own: [(&str, &str); 3]) {
        let of = match line.limit.of {
            RequiredOf::Read => "read",
            RequiredOf::Write => "write",
            RequiredOf::Flush => "flush",
            RequiredOf::Commit => "commit",
        };
        let (family, factor, statistic, limit) = match line.limit.bound {
            RequiredBound::Below(latency) => (REQUIRED_TIME, 1e-9, latency.name(), latency.ns as f64),
            RequiredBound::AtLeast { value, unit: ClaimUnit::Iops } => {
                (REQUIRED_IOPS, 1.0, String::new(), value)
            }
            RequiredBound::AtLeast { value, .. } => (REQUIRED_RATE, 1.0, String::new(), value),
        };
        let labels = [&own[..], &[("of", of), ("statistic", &statistic)]].concat();
        let scaled = |figure: Option<f64>| figure.map(|figure| figure * factor);
        self.bounds(family, &labels, [scaled(line.measured), scaled(line.low), scaled(line.high)]);
        self.add(family, &[&labels[..], &[("bound", "limit")]].concat(), limit * factor);
    }

    fn point(&mut self, point: &Point, op: Op, own: &[(&str, &str)]) {
        let label = |pick: fn(&TrialSpec) -> String| common(&point.spec, op, pick);
        let (size, depth, jobs) =
            (
                // Of several sizes, no one gives the bytes of these requests.
                label(|spec| {
                    if spec.block_sizes.is_one() { spec.block_size_bytes.to_string() } else { String::new() }
                }),
                label(|spec| spec.queue_depth.to_string()),
                point
                    .spec
                    .streams()
                    .filter(|stream| stream.rw.has(op))
                    .map(|stream| stream.jobs)
                    .sum::<u32>()
                    .to_string(),
            );
        let hosts = label(|spec| spec.hosts.to_string());
        let pattern = label(|spec| if spec.rw.is_random() { "random" } else { "sequential" }.to_owned());
        let (engine, direct) = (label(|spec| spec.engine.clone()), label(|spec| spec.direct.to_string()));
        // What parts points of one size and depth: an offered load (of each job), a mix, flushes.
        let rate = label(|spec| spec.rate_iops.map_or_else(String::new, |rate| rate.to_string()));
        let reads = label(|spec| match spec.read_percent.filter(|_| spec.rw.is_mixed()) {
            Some(percent) => percent.to_string(),
            None => String::new(),
        });
        let sync = label(|spec| if spec.sync == Sync::None { String::new() } else { spec.sync.to_string() });
        let workload = [
            ("op", op.name()),
            ("pattern", pattern.as_str()),
            ("block_size_bytes", size.as_str()),
            ("queue_depth", depth.as_str()),
            ("jobs", jobs.as_str()),
            ("hosts", hosts.as_str()),
            ("engine", engine.as_str()),
            ("direct", direct.as_str()),
            ("rate_iops", rate.as_str()),
            ("read_percent", reads.as_str()),
            ("sync", sync.as_str()),
        ];
        for (name, estimate) in figures::estimates(point, op) {
            let Some((family, factor, statistic)) = family_of(name) else { continue };
            let statistic = statistic.map(|statistic| ("statistic", statistic));
            let labels: Vec<_> = own.iter().chain(&workload).copied().chain(statistic).collect();
            let scaled = |figure: f64| figure * factor;
            let ends = [Some(estimate.value), estimate.low, estimate.high].map(|end| end.map(scaled));
            self.bounds(family, &labels, ends);
        }
    }

    fn finding(&mut self, finding: &Finding, id: (&str, &str)) {
        let Some((family, factor)) = family_of_unit(finding.unit) else { return };
        let of = &finding.conditions;
        let number = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
        let (size, depth) = (number(of.block_size_bytes), number(of.queue_depth.map(u64::from)));
        let (span, stage) = (number(of.span_bytes), number(of.stage.map(u64::from)));
        let pattern = of.random.map_or("", |random| if random { "random" } else { "sequential" });
        let labels = [
            id,
            ("finding", finding.name.as_str()),
            ("experiment", finding.experiment.as_str()),
            ("op", of.op.map_or("", |op| op.name())),
            ("pattern", pattern),
            ("block_size_bytes", size.as_str()),
            ("queue_depth", depth.as_str()),
            ("span_bytes", span.as_str()),
            ("stage", stage.as_str()),
        ];
        let scaled = |figure: Option<f64>| figure.map(|figure| figure * factor);
        self.bounds(family, &labels, [scaled(finding.value), scaled(finding.low), scaled(finding.high)]);
    }

    fn text(self) -> String {
        let mut out = String::new();
        for (name, unit, help) in &self.order {
            out += &format!("# TYPE {name} gauge\n");
            if !unit.is_empty() {
                out += &format!("# UNIT {name} {unit}\n");
            }
            out += &format!("# HELP {name} {help}\n");
            out += &self.samples[name].concat();
        }
        out + "# EOF\n"
    }
}

const VERDICTS: [(RequirementVerdict, &str); 3] = [
    (RequirementVerdict::Pass, "pass"),
    (RequirementVerdict::Inconclusive, "inconclusive"),
    (RequirementVerdict::Fail, "fail"),
];

/// A label's value: three characters have a backslash in front.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use iosonde_model::{
        About, CheckName, Judgement, LatencyLimit, Reason, RequiredLimit, RequiredWorkload, Rw, Verdict,
        cause,
    };

    use super::*;
    use crate::export::figures::tests::measured;

    #[test]
    fn a_requirement_has_its_verdict_and_its_limit_beside_what_was_measured() {
        let workload = RequiredWorkload {
            rw: Rw::Write,
            block_size_bytes: 2300,
            depth: 1,
            jobs: 1,
            sync: Sync::None,
            read_percent: None,
            buffered: true,
        };
        let bound = RequiredBound::Below(LatencyLimit { quantile: Some(0.99), ns: 10_000_000 });
        let line = RequirementLine {
            limit: RequiredLimit { of: RequiredOf::Commit, bound, workload },
            measured: Some(12e6),
            low: Some(11e6),
            high: None,
            count: 1,
            trials: 1,
            verdict: RequirementVerdict::Fail,
            why: None,
        };
        let answer =
            RequirementAnswer { name: "etcd".into(), verdict: RequirementVerdict::Fail, lines: vec![line] };
        let text = OpenMetrics.write_answered(&measured(), &[answer]).unwrap();
        let of = |family: &str| {
            let own = text.lines().filter(|line| line.starts_with(family));
            own.filter_map(|line| Some(line.split_once(",requirement=")?.1.to_owned())).collect::<Vec<_>>()
        };
        let verdicts = of("iosonde_requirement_verdict{");
        assert_eq!(
            verdicts,
            [
                "\"etcd\",verdict=\"pass\"} 0",
                "\"etcd\",verdict=\"inconclusive\"} 0",
                "\"etcd\",verdict=\"fail\"} 1"
            ]
        );
        let figure = "\"etcd\",limit=\"0\",of=\"commit\",statistic=\"p99\",bound=";
        let samples = [("value", 12e6), ("low", 11e6), ("limit", 10e6)];
        let due = samples.map(|(bound, ns)| format!("{figure}\"{bound}\"}} {}", ns * 1e-9));
        assert_eq!(of("iosonde_requirement_seconds{"), due);
    }

    #[test]
    fn what_parts_two_points_of_one_size_and_depth_is_a_label() {
        let mut run = measured();
        run.points[0].spec.rate_iops = Some(500.0);
        run.points[1].spec.sync = Sync::Fdatasync { every: 1 };
        let text = OpenMetrics.write(&run).unwrap();
        let iops = text.lines().filter(|line| line.starts_with("iosonde_point_iops{"));
        let iops: Vec<&str> = iops.filter(|line| line.contains("bound=\"value\"")).collect();
        assert!(iops[0].contains("rate_iops=\"500\"") && !iops[0].contains("sync="), "{iops:?}");
        assert!(iops[1].contains("sync=\"fdatasync:1\"") && !iops[1].contains("rate_iops="), "{iops:?}");
    }

    #[test]
    fn what_memory_gave_is_marked() {
        let mut run = measured();
        let trial = run.trials[0].id;
        run.points[0].trial_ids = vec![trial];
        (run.points[0].invalid, run.points[0].left_out) = (5, 0);
        let memory = cause::CacheServed::Memory { name: Some("tmpfs".into()) };
        let invalid = Verdict::Invalid(Reason::new(About::Device, memory));
        run.verdicts = vec![Judgement::new(CheckName::CacheServed, "trial", Some(trial), None, invalid)];
        let text = OpenMetrics.write(&run).unwrap();
        let valid: Vec<&str> = text.lines().filter(|line| line.starts_with("iosonde_point_valid{")).collect();
        assert!(valid[0].ends_with(" 0") && valid[1].ends_with(" 1"), "{valid:?}");
        let marked = text.lines().filter(|line| line.contains("void_about=\"device\""));
        assert!(marked.count() > 0, "{text}");
        assert!(figures::name(&run, &run.points[0], Op::Read).ends_with(", read (not of the storage)"));
    }

    #[test]
    fn streams_of_unlike_depth_have_no_depth_in_common() {
        let reader = |queue_depth| TrialSpec { rw: Rw::RandRead, queue_depth, ..TrialSpec::default() };
        let writer = TrialSpec { rw: Rw::Write, queue_depth: 4, ..TrialSpec::default() };
        let depth = |all: TrialSpec, op| common(&all, op, |spec| spec.queue_depth.to_string());
        let of = |and: Vec<TrialSpec>| TrialSpec { and, ..reader(8) };
        assert_eq!(depth(of(vec![writer.clone()]), Op::Write), "4");
        assert_eq!(depth(of(vec![writer.clone()]), Op::Read), "8");
        assert_eq!(depth(of(vec![reader(16), writer]), Op::Read), "");
    }

    #[test]
    fn samples_stand_by_family_with_units_and_bounds() {
        let mut run = measured();
        run.info.label = Some("a \"b\" \\ c".into());
        run.points[1].left_out = run.points[1].trials;
        let text = OpenMetrics.write(&run).unwrap();
        assert!(text.ends_with("# EOF\n") && text.contains("label=\"a \\\"b\\\" \\\\ c\""), "{text}");
        let of = |bound: &str| {
            let line = text
                .lines()
                .find(|line| line.starts_with("iosonde_point_latency_seconds{") && line.contains(bound));
            line.and_then(|line| line.rsplit_once(' '))
                .and_then(|(_, value)| value.parse::<f64>().ok())
                .unwrap()
        };
        // 4 ms, 3.9 to 4.1.
        assert!((of("\"low\"") - 0.0039).abs() < 1e-12 && (of("\"value\"") - 0.004).abs() < 1e-12, "{text}");
        assert!(text.contains("# UNIT iosonde_point_iops iops\n"), "{text}");
        // The second point has no valid trial: that is said, and its figures are not.
        let valid: Vec<&str> = text.lines().filter(|line| line.starts_with("iosonde_point_valid{")).collect();
        assert!(valid[0].ends_with(" 1") && valid[1].ends_with(" 0"), "{valid:?}");
        assert!(
            !text.lines().any(|line| line.starts_with("iosonde_point_iops") && line.contains("point=\"1\""))
        );
        // Each family in one piece, each series once.
        let series: Vec<&str> = text
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.rsplit_once(' '))
            .map(|own| own.0)
            .collect();
        let mut once = series.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), series.len(), "{text}");
    }
}
