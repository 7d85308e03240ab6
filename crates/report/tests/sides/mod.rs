//! Several runs on one page: bars that are fair to every side, with their conditions and values; nothing cut off.

use iosonde_infer::compare::{Question, Side, compare};
use iosonde_judge::check::CHECKS;
use iosonde_model::CheckName;
use iosonde_model::{About, Compared, ComparedFigure, Judgement, Reason, Rw, Verdict};
use iosonde_report::{
    figure::{DotStanding, Figure},
    picture::{self, Theme},
};

use super::common;

/// Sides of these names, of one and the same run.
fn sides(names: &[&str]) -> Vec<Side> {
    let side = |name: &&str| Side { name: (*name).to_owned(), ..common::side(1) };
    names.iter().map(side).collect()
}

fn scale(side: &mut Side, which: impl Fn(&iosonde_model::TrialSpec) -> bool, bytes_per_s: f64) {
    for point in side.runs[0].points.iter_mut().filter(|point| which(&point.spec)) {
        for direction in [&mut point.read, &mut point.write].into_iter().flatten() {
            direction.bytes_per_s.value = bytes_per_s;
            direction.bytes_per_s.low = Some(bytes_per_s * 0.99);
            direction.bytes_per_s.high = Some(bytes_per_s * 1.01);
        }
    }
}

/// By IOPS, as `compare` does without options.
pub fn compared(sides: &[Side]) -> Compared {
    let question = Question { figure: ComparedFigure::Iops, margin: 0.02, confidence: 0.95, over: false };
    compare(sides, &question).expect("they have like points")
}

fn bars(sides: &[Side]) -> Figure {
    let compared = compared(sides);
    let figures = iosonde_report::several::figures_of_several(sides, &compared);
    figures.into_iter().find(|figure| figure.name == "bars").expect("they share workloads")
}

/// One side is best with 16 KiB at QD 1, the other with 1 MiB at QD 8, by far.
fn unlike() -> Vec<Side> {
    let mut sides = sides(&["small", "large"]);
    let writes = |spec: &iosonde_model::TrialSpec| spec.rw == Rw::RandWrite;
    for (side, at_16k, at_1m) in [(0, 700e6, 480e6), (1, 230e6, 3500e6)] {
        scale(&mut sides[side], writes, 100e6);
        scale(&mut sides[side], |spec| writes(spec) && spec.block_size_bytes == 16_384, at_16k);
        scale(&mut sides[side], |spec| writes(spec) && spec.queue_depth == 8, at_1m);
    }
    sides
}

fn value(figure: &Figure, heading: &str, side: &str) -> String {
    let rows = figure.table().1;
    let row = rows.iter().find(|row| row[0] == format!("{heading}: {side}"));
    row.unwrap_or_else(|| panic!("no row {heading}: {side} in {rows:?}"))[1].clone()
}

#[test]
fn the_workload_of_a_bar_is_fair_to_every_side_and_says_its_conditions() {
    let sides = unlike();
    // The order of the sides does not decide.
    for figure in [bars(&sides), bars(&[sides[1].clone(), sides[0].clone()])] {
        let heading = "1 MiB random writes, QD 8";
        assert_eq!(value(&figure, heading, "large"), "3.50 GB/s (±1 %)");
        assert_eq!(value(&figure, heading, "small"), "480 MB/s (±1 %)");
        let more = "small moves more random writes with 16 KiB, QD 1: 700 MB/s.";
        assert!(figure.reading.contains(more), "{}", figure.reading);
        assert!(!figure.reading.contains("large moves more random writes"), "{}", figure.reading);
    }
}

#[test]
fn what_is_void_of_the_storage_is_no_sides_best() {
    let mut sides = unlike();
    let run = &mut sides[0].runs[0];
    let best = |p: &&iosonde_model::Point| p.spec.rw == Rw::RandWrite && p.spec.block_size_bytes == 16_384;
    let ids = run.points.iter().find(best).expect("it is measured").trial_ids.clone();
    for id in ids {
        let why = Verdict::Invalid(Reason::new(
            About::Device,
            iosonde_model::cause::CacheServed::Memory { name: None },
        ));
        run.verdicts.push(Judgement::new(CheckName::WriteBack, "trial", Some(id), None, why));
    }
    let reading = bars(&sides).reading;
    assert!(!reading.contains("small moves more random writes"), "{reading}");
}

#[test]
fn a_void_bar_is_hollow_and_gives_its_own_reason() {
    let mut sides = sides(&["one", "two"]);
    let run = &mut sides[1].runs[0];
    for id in run.trials.iter().map(|trial| trial.id).collect::<Vec<_>>() {
        let why = Verdict::Invalid(Reason::new(
            About::Device,
            iosonde_model::cause::CacheServed::Memory { name: None },
        ));
        run.verdicts.push(Judgement::new(CheckName::NotSteady, "trial", Some(id), None, why));
    }
    let figure = bars(&sides);
    let standing = |side: usize| figure.series[side].dots.iter().map(|dot| dot.standing);
    assert!(standing(0).all(|standing| standing != DotStanding::Void));
    assert!(standing(1).all(|standing| standing == DotStanding::Void));
    assert!(figure.reading.contains("hollow bars; for example, two, "), "{}", figure.reading);
    assert!(figure.reading.contains("memory"), "{}", figure.reading);
    assert!(!figure.reading.contains("memory or the program"), "{}", figure.reading);
}

#[test]
fn every_bar_has_its_value_and_no_two_texts_share_a_line() {
    let figure = bars(&sides(&["one", "two", "three", "four", "five", "six"]));
    let svg = picture::svg(&figure, Theme::Light);
    let values: Vec<String> =
        figure.series.iter().flat_map(|s| &s.dots).filter_map(|dot| dot.label.clone()).collect();
    for value in &values {
        let equal = values.iter().filter(|other| *other == value).count();
        assert_eq!(svg.matches(&format!(">{value}</text>")).count(), equal, "{value}");
    }
    let mut rows: Vec<usize> = figure
        .series
        .iter()
        .flat_map(|s| &s.dots)
        .map(|dot| dot.y as usize)
        .chain(figure.headings())
        .collect();
    rows.sort_unstable();
    assert_eq!(rows, (0..figure.y.places.len()).collect::<Vec<_>>(), "a row each");
    // A bar ends where there is room for its value.
    let ends = figure.series.iter().flat_map(|s| &s.dots).map(|dot| figure.x.share(dot.x));
    assert!(ends.fold(0.0, f64::max) < 0.75);
}

#[test]
fn a_page_tells_every_doubt_that_it_counts_and_leaves_out_no_single_row() {
    let mut sides = sides(&["one", "two"]);
    let run = &mut sides[0].runs[0];
    let checks: Vec<_> = CHECKS.iter().map(|check| check.id()).take(5).collect();
    for (place, check) in checks.iter().enumerate() {
        let why = Verdict::Warning(Reason::new(
            About::Rate,
            iosonde_model::cause::CacheServed::Resident { span_bytes: (place as u64 + 1) << 20 },
        ));
        run.verdicts.push(Judgement::new(*check, "run", None, None, why));
    }
    let compared = compared(&sides);
    let page = iosonde_report::several(&sides, &compared).replace('\u{a0}', " ");
    let (_, told) = page.split_once("Valid?").expect("it is asked");
    let (told, _) = told.split_once("</section>").expect("it ends");
    for (place, check) in checks.iter().enumerate() {
        let bytes = iosonde_model::units::size((place as u64 + 1) << 20);
        assert!(told.contains(&bytes), "{check} is counted and not told: {told}");
    }
    let lines = compared.lines(&compared.pairs[0]).filter(|line| line.ratio.is_some()).count();
    let rows = lines + compared.pairs[0].geometric_means.len();
    assert_eq!(page.contains("are shown."), rows > 44, "{rows} rows");
}

#[test]
fn the_page_says_whose_runs_its_sides_are() {
    let sides = sides(&["7f3a91", "0c12de"]);
    let compared = compared(&sides);
    let page = iosonde_report::several(&sides, &compared);
    let told = page.split("<h1>").nth(1).and_then(|rest| rest.split("</header>").next()).unwrap();
    let study = &sides[0].runs[0].info.study;
    assert!(told.contains(&format!("7f3a91: {study} on ")) && told.contains(" · 0c12de: "), "{told}");
}
