//! What a chart sets side by side is alike, and says so where it is not: findings stand over the points that they rest
//! on, void points are called void, and a bound is called what it is.

use iosonde_model::{
    About, CheckName, Conditions, Detail, Estimate, Finding, FindingName, Judgement, Point, Reason, Run, Rw,
    Status, Sync, TrialSpec, Verdict, detail::QueueDepthProblem,
};
use iosonde_report::chart::figures;
use iosonde_report::figure::{DotStanding, Figure};
use iosonde_report::{Paint, html, terminal};

use super::common;

const PLAIN: Paint = Paint { color: false, width: 80 };

fn figure(run: &Run, name: &str) -> Figure {
    let drawn = figures(run).into_iter().find(|figure| figure.name == name);
    drawn.unwrap_or_else(|| panic!("{name} is not drawn"))
}

fn found(run: &mut Run, name: FindingName) -> &mut Finding {
    run.findings.iter_mut().find(|finding| finding.name == name).expect("it is found")
}

/// More sizes than the plain experiment has, buffered and ten times as fast, every trial invalid.
fn with_a_buffered_copy(mut run: Run) -> Run {
    let direct: Vec<Point> = run.points.iter().filter(|p| p.experiment == "block-size").cloned().collect();
    let sizes =
        direct.iter().flat_map(|point| [point.spec.block_size_bytes, point.spec.block_size_bytes + 512]);
    for (place, block_size_bytes) in sizes.collect::<Vec<_>>().into_iter().enumerate() {
        let like = &direct[place / 2];
        let (id, next) = (run.points.len(), run.trials.iter().map(|trial| trial.id).max().unwrap_or(0) + 1);
        let spec = TrialSpec { direct: false, block_size_bytes, ..like.spec.clone() };
        let mut trial = run.trials.iter().find(|trial| trial.point == Some(like.id)).expect("it ran").clone();
        (trial.id, trial.point, trial.spec) = (next, Some(id), spec.clone());
        let mut point = Point { id, spec, experiment: "media".into(), also: Vec::new(), ..like.clone() };
        (point.trials, point.invalid, point.trial_ids) = (1, 0, vec![next]);
        for direction in [&mut point.read, &mut point.write].into_iter().flatten() {
            direction.bytes_per_s.value *= 10.0;
            (direction.bytes_per_s.low, direction.bytes_per_s.high) = (None, None);
        }
        let why = Verdict::Invalid(Reason::new(
            About::Device,
            iosonde_model::cause::CacheServed::Memory { name: None },
        ));
        run.verdicts.push(Judgement::new(CheckName::CacheServed, "trial", Some(next), None, why));
        run.trials.push(trial);
        run.points.push(point);
    }
    run
}

#[test]
fn a_rate_that_was_still_rising_is_a_least_in_the_picture_too() {
    let mut run = common::run(9);
    let labels = |run: &Run| {
        let marks = figure(run, "throughput-latency").marks;
        marks.into_iter().map(|mark| mark.label).collect::<Vec<_>>().join("; ")
    };
    assert!(labels(&run).contains("reads: highest 294 k IOPS"), "{}", labels(&run));
    found(&mut run, FindingName::MaxIops).at_least = true;
    assert!(labels(&run).contains("reads: at least 294 k IOPS"), "{}", labels(&run));
    // Known to a factor of four only: then the least of it.
    let most = found(&mut run, FindingName::MaxIops);
    (most.value, most.low, most.high) = (Some(77e3), Some(39e3), Some(152e3));
    assert!(labels(&run).contains("reads: at least 39 k IOPS"), "{}", labels(&run));
}

#[test]
fn a_line_that_is_not_drawn_is_not_explained() {
    let mut run = common::run(9);
    let drawn = figure(&run, "throughput-latency");
    assert_eq!(drawn.curves.len(), 1);
    assert!(drawn.reading.contains("Dashed: the queue depth"), "{}", drawn.reading);
    let knee = found(&mut run, FindingName::QueueDepthKnee);
    (knee.status, knee.value, knee.low, knee.high) = (Status::Inconclusive, None, None, None);
    let seen = Estimate { value: 36.0, low: Some(20.0), high: Some(60.0) };
    let unseen = QueueDepthProblem::PlateauUnseen { knee: seen, times_needed: 4.0, deepest: 32 };
    knee.detail = Detail::Inconclusive(unseen.into());
    let drawn = figure(&run, "throughput-latency");
    assert!(
        drawn.curves.is_empty() && !drawn.reading.contains("Dashed: the queue depth"),
        "{}",
        drawn.reading
    );
    assert!(drawn.reading.contains("probably near QD 36"), "{}", drawn.reading);
}

#[test]
fn what_the_page_cache_served_is_not_drawn_under_the_findings_of_the_device() {
    let run = with_a_buffered_copy(common::run(9));
    for name in
        ["throughput-vs-block-size", "iops-vs-block-size", "latency-vs-block-size", "measured-vs-model"]
    {
        let drawn = figure(&run, name);
        let void = drawn.series.iter().flat_map(|s| &s.dots).filter(|dot| dot.standing == DotStanding::Void);
        assert_eq!(void.count(), 0, "{name}: {}", drawn.reading);
        assert_eq!(drawn.experiment.as_deref(), Some("block-size"), "{name}");
    }
    assert!(!figure(&run, "throughput-vs-block-size").marks.is_empty(), "half of the rate is marked");
}

#[test]
fn where_all_is_invalid_the_picture_and_the_text_say_so_and_no_law_lies_over_it() {
    let mut run = with_a_buffered_copy(common::run(9));
    run.points.retain(|point| point.experiment == "media");
    let drawn = figure(&run, "throughput-vs-block-size");
    assert!(
        drawn.reading.contains("hollow dots; for example, 4 KiB random reads, QD 1 is invalid: "),
        "{}",
        drawn.reading
    );
    assert!(drawn.marks.is_empty() && drawn.curves.is_empty(), "findings of other points");
    let text = terminal::charts(&run, PLAIN);
    let (points, _) =
        text.split_once("Did the storage stay the same").expect("the canary's chart comes last");
    let rows: Vec<&str> = points.lines().filter(|line| line.contains('█')).collect();
    assert!(!rows.is_empty() && rows.iter().all(|row| row.ends_with("  invalid")), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn the_text_says_how_many_are_in_flight() {
    let text = terminal::charts(&common::run(9), PLAIN);
    let (_, of) = text.split_once("Which queue depth saturates the storage?").expect("it is drawn");
    let rows: Vec<&str> = of.lines().skip(2).take(8).map(str::trim).collect();
    for (row, depth) in rows.iter().zip([1, 2, 4, 8, 16, 32, 64, 128]) {
        assert!(row.starts_with(&format!("QD {depth}: ")), "{row}");
    }
}

#[test]
fn two_lines_of_one_pattern_have_two_names() {
    let mut run = common::run(3);
    let writes = |point: &&Point| point.spec.rw == Rw::RandWrite && point.experiment == "block-size";
    let plain: Vec<Point> = run.points.iter().filter(writes).cloned().collect();
    for like in plain {
        let sync = "fdatasync:1".parse::<Sync>().expect("it is one");
        let spec = TrialSpec { sync, ..like.spec.clone() };
        run.points.push(Point { id: run.points.len(), experiment: "rewrite".into(), spec, ..like });
    }
    let drawn = figure(&run, "throughput-vs-block-size");
    let mut names: Vec<&str> = drawn.series.iter().map(|series| series.name.as_str()).collect();
    assert!(names.contains(&"random writes, fdatasync:1") && names.contains(&"random writes"), "{names:?}");
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), drawn.series.len());
}

#[test]
fn what_several_findings_say_alike_stands_once_with_their_depths() {
    let mut run = common::run(3);
    let like = run.findings[0].clone();
    for depth in [1, 4, 16] {
        let conditions = Conditions { queue_depth: Some(depth), ..Conditions::default() };
        let told = Finding {
            name: FindingName::BurstRate,
            experiment: "queue-depth".into(),
            conditions,
            status: Status::Absent,
            detail: Detail::Plain,
            ..like.clone()
        };
        run.findings.push(told);
    }
    let page = html(&run).replace('\u{a0}', " ");
    let (_, section) = page.split_once("Which queue depth saturates this storage").expect("the section");
    let (section, _) = section.split_once("</section>").expect("it ends");
    assert_eq!(section.matches("Burst throughput").count(), 1);
    assert!(section.contains("none (at QD 1, 4 and 16)."), "{section}");
}

#[test]
fn strides_of_one_block_size_are_a_line_and_of_several_a_map() {
    let mut run = common::rich(3);
    assert!(!figure(&run, "stride-reads").cells.is_empty());
    run.points.retain(|point| point.spec.stride_bytes.is_none() || point.spec.block_size_bytes == 4096);
    let drawn = figure(&run, "stride-reads");
    assert!(drawn.cells.is_empty());
    let strides: Vec<f64> = drawn.series[0].dots.iter().map(|dot| dot.x).collect();
    assert_eq!(strides, [65_536.0, 262_144.0, 1_048_576.0, 4_194_304.0]);
}

#[test]
fn rows_of_one_name_say_where_they_differ_and_which_are_void() {
    let mut run = with_a_buffered_copy(common::run(3));
    let like = run.points[0].clone();
    for offset_bytes in [512, 1024] {
        let spec = TrialSpec { offset_bytes, ..like.spec.clone() };
        run.points.push(Point { id: run.points.len(), spec, ..like.clone() });
    }
    let text = iosonde_report::markdown::markdown(&run);
    for wanted in ["4 KiB random reads, QD 1, from 0 B on |", "QD 1, from 512 B on |"] {
        assert!(text.contains(wanted), "{wanted}");
    }
    let row = text.lines().find(|line| line.starts_with("| 4.50 KiB random reads")).expect("a row");
    assert!(row.contains("| 1, invalid |"), "{row}");
    assert!(text.contains("; all of them invalid as figures of the storage"), "how sure it is says so");
}

#[test]
fn where_two_lines_run_upon_each_other_a_number_stands_once() {
    let mut run = common::run(3);
    let count = |run: &Run| {
        let drawn = figure(run, "throughput-latency");
        let svg = iosonde_report::picture::svg(&drawn, iosonde_report::picture::Theme::Light);
        svg.matches(">16</text>").count()
    };
    assert_eq!(count(&run), 2);
    let reads: Vec<Point> = run.points.iter().filter(|p| p.experiment == "queue-depth").cloned().collect();
    for point in run.points.iter_mut().filter(|point| point.experiment == "queue-depth-writes") {
        let like = reads.iter().find(|read| read.spec.queue_depth == point.spec.queue_depth);
        point.write = like.expect("reads have the same depths").read.clone();
    }
    assert_eq!(count(&run), 1);
}

#[test]
fn patterns_have_a_row_for_each_direction_with_its_value() {
    let mut run = common::run(3);
    let mix = run.points.last().expect("the mix comes last").clone();
    for rw in [Rw::RandRead, Rw::RandWrite] {
        let spec = TrialSpec { rw, read_percent: None, ..mix.spec.clone() };
        let reads = rw == Rw::RandRead;
        let (read, write) = (mix.read.clone().filter(|_| reads), mix.write.clone().filter(|_| !reads));
        run.points.push(Point { id: run.points.len(), spec, read, write, ..mix.clone() });
    }
    run.points.retain(|point| point.experiment == "mix");
    let drawn = figure(&run, "access-patterns");
    let rows: Vec<String> = drawn.table().1.into_iter().map(|row| row[0].clone()).collect();
    let its = |op: &str| format!("random, 70 % reads: its {op}s");
    assert_eq!(rows, ["random reads".to_owned(), "random writes".to_owned(), its("read"), its("write")]);
    assert!(drawn.headings().is_empty());
    let text = terminal::charts(&run, PLAIN);
    assert!(text.contains("    random writes  ") && text.contains(" MB/s (±"), "{text}");
}

#[test]
fn a_point_without_figures_has_a_row_that_says_how_many_trials_are_void() {
    let text = iosonde_report::markdown::markdown(&common::nothing());
    let row = text.lines().find(|line| line.starts_with("| 16 KiB random writes")).expect("a row");
    assert!(row.contains("| – |") && row.contains("| 2 (2 invalid) |"), "{row}");
}
