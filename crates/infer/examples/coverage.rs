//! Prints how often the intervals cover, in every cell of the noise that storage shows: the table of
//! `docs/intervals.md`. Fresh seeds unless one is given.
//!
//! `coverage [--replicates N] [--seed N] [--cells TEXT]`: `--cells` keeps the cells whose line contains the
//! text. All 1,092 cells with 1,000 runs each take hours; 40 runs each take half an hour of one processor.

#![allow(clippy::print_stdout)]

use std::hash::{BuildHasher, Hasher, RandomState};

use iosonde_model::Closed;
use iosonde_plan::schedule::Terms;
use iosonde_testkit::schedule::{Adding, Answer, Kinship, Noise, Shape, simulate_adding};

/// Points of the simulated study: as many as `quick` has.
const POINTS: usize = 27;
const CONFIDENCE: f64 = 0.95;

#[derive(Clone, Copy, PartialEq)]
enum Stop {
    /// 70 s, which is what `quick` has to measure in, and a precision that nothing reaches.
    Budget,
    /// The same 70 s, and a precision that about half of the points reach in rounds 8 to 10.
    Either,
    /// A precision of 0.6 CV, which independent noise reaches after about 14 rounds, and time enough.
    Precision,
    /// As `Either`, and then `run --add` by 35 s, up to four times, until every interval is as narrow as 0.5 CV.
    Added,
}

struct Cell {
    stop: Stop,
    noise: Noise,
}

impl Cell {
    fn terms(&self, seed: u64) -> Terms {
        let (precision, budget_s) = match self.stop {
            Stop::Budget => (1e-6, 70.0),
            Stop::Either | Stop::Added => (0.72 * self.noise.cv, 70.0),
            Stop::Precision => (0.6 * self.noise.cv, 600.0),
        };
        let overhead_s = 0.01;
        let rounds = None;
        Terms { seed, precision, confidence: CONFIDENCE, budget_s, rounds, overhead_s }
    }

    fn adding(&self) -> Option<Adding> {
        let precision = 0.5 * self.noise.cv;
        (self.stop == Stop::Added).then_some(Adding { precision, budget_s: 35.0, times: 4 })
    }

    fn family(&self) -> String {
        let n = self.noise;
        format!(
            "{} | {:>2.0} % | {}{} | {:>3.1} {}",
            match self.stop {
                Stop::Budget => "budget   ",
                Stop::Either => "either   ",
                Stop::Precision => "precision",
                Stop::Added => "added    ",
            },
            n.cv * 100.0,
            if n.unlike > 1.0 { format!("unlike {:>2.0}", n.unlike) } else { "alike    ".to_owned() },
            if n.shape == Shape::Steady { "" } else { ", bent drift" },
            n.correlation,
            if n.kinship == Kinship::Time { "time " } else { "point" },
        )
    }

    fn name(&self) -> String {
        let n = self.noise;
        let shape = match n.shape {
            Shape::Steady => "/min",
            Shape::Step => " step",
            Shape::Cycle => " cycle",
            Shape::Own => "/min own",
        };
        let drift = n.drift_per_minute * 100.0;
        format!("{} | {drift:>3.0} %{shape} | {:.0} %", self.family(), n.outliers * 100.0)
    }
}

fn cells() -> Vec<Cell> {
    let mut out = Vec::new();
    for stop in [Stop::Budget, Stop::Either, Stop::Precision, Stop::Added] {
        for unlike in [1.0, 5.0, 20.0] {
            for cv in [0.02, 0.05, 0.10] {
                for (correlation, kinship) in [
                    (0.0, Kinship::Time),
                    (0.3, Kinship::Time),
                    (0.3, Kinship::Point),
                    (0.6, Kinship::Time),
                    (0.6, Kinship::Point),
                ] {
                    for drift_per_minute in [0.0, -0.05, -0.18] {
                        for outliers in [0.0, 0.02] {
                            let noise = Noise {
                                cv,
                                unlike,
                                correlation,
                                kinship,
                                drift_per_minute,
                                shape: Shape::Steady,
                                outliers,
                            };
                            out.push(Cell { stop, noise });
                        }
                    }
                }
            }
        }
    }
    out.extend(other_shapes());
    out
}

/// Drifts that no straight line describes, at the same noise.
fn other_shapes() -> impl Iterator<Item = Cell> {
    let noise = |shape, drift_per_minute| {
        let (kinship, outliers) = (Kinship::Time, 0.0);
        Noise { cv: 0.05, unlike: 1.0, correlation: 0.3, kinship, drift_per_minute, shape, outliers }
    };
    let both = [Stop::Budget, Stop::Precision].into_iter();
    both.flat_map(move |stop| {
        let shapes = [Shape::Step, Shape::Cycle, Shape::Own].into_iter();
        shapes.flat_map(move |shape| {
            [-0.05, -0.18].into_iter().map(move |drift| Cell { stop, noise: noise(shape, drift) })
        })
    })
}

#[derive(Default, Clone)]
struct Tally {
    answers: f64,
    covered: f64,
    widths: f64,
    naive: f64,
    naive_widths: f64,
    /// Width over that of the plain t interval, for each answer.
    width_ratios: Vec<f64>,
}

impl Tally {
    fn add(&mut self, answers: &[Answer]) {
        for answer in answers {
            let (Some(covers), Some(estimate), Some((middle, half))) =
                (answer.covers(CONFIDENCE), answer.estimate, answer.naive)
            else {
                continue;
            };
            self.answers += 1.0;
            self.covered += f64::from(u8::from(covers));
            self.widths += 2.0 * estimate.half_width(CONFIDENCE).sinh();
            self.naive += f64::from(u8::from((middle - answer.log_truth).abs() <= half));
            self.naive_widths += 2.0 * half.sinh();
            self.width_ratios.extend(answer.width_ratio(CONFIDENCE));
        }
    }

    fn coverage(&self) -> f64 {
        self.covered / self.answers
    }

    fn median_ratio(&self) -> f64 {
        iosonde_stats::robust::median(&self.width_ratios).unwrap_or(f64::NAN)
    }

    /// Share of intervals more than three times as wide as the plain one.
    fn wide(&self) -> f64 {
        self.width_ratios.iter().filter(|ratio| **ratio > 3.0).count() as f64 / self.answers
    }
}

struct Line {
    name: String,
    /// What the summary puts together: everything but drift and outliers.
    family: String,
    point: Tally,
    ratio: Tally,
    plain: Tally,
    rounds: f64,
    precise: f64,
    aside: f64,
}

fn measure(cell: &Cell, replicates: u64, seed: u64) -> Line {
    let (mut point, mut ratio, mut plain) = (Tally::default(), Tally::default(), Tally::default());
    let (mut trials, mut precise, mut aside) = (0.0, 0.0, 0.0);
    for replicate in 0..replicates {
        let terms = cell.terms(seed.wrapping_add(replicate.wrapping_mul(0x9e37_79b9)));
        // Long budgets would make long trials; a quarter of a second keeps all kinds alike.
        let outcome = simulate_adding(POINTS, cell.noise, &terms, Some(0.24), cell.adding())
            .expect("the budget holds three rounds");
        point.add(&outcome.points);
        ratio.add(&outcome.ratios);
        plain.add(&outcome.plain_ratios);
        trials += outcome.trials as f64;
        aside += outcome.set_aside as f64 / outcome.trials as f64;
        precise += outcome.closed.iter().filter(|c| **c == Some(Closed::Precision)).count() as f64;
    }
    let runs = replicates as f64;
    let rounds = trials / runs / (POINTS + 1) as f64;
    let precise = precise / runs / POINTS as f64;
    Line {
        name: cell.name(),
        family: cell.family(),
        point,
        ratio,
        plain,
        rounds,
        precise,
        aside: aside / runs,
    }
}

fn print(line: &Line) {
    let share = |tally: &Tally| format!("{:5.1}", 100.0 * tally.coverage());
    let width = |tally: &Tally| format!("{:5.2}", 100.0 * tally.widths / tally.answers);
    println!(
        "{} | {} | {} | {:5.2} | {:5.2} | {} | {} | {} | {:5.1} | {:5.2} | {:5.1} | {:5.1} | {:3.0} | {:4.1}",
        line.name,
        share(&line.point),
        width(&line.point),
        line.point.median_ratio(),
        100.0 * line.point.wide(),
        share(&line.ratio),
        width(&line.ratio),
        share(&line.plain),
        100.0 * line.point.naive / line.point.answers,
        100.0 * line.point.naive_widths / line.point.answers,
        100.0 * line.ratio.naive / line.ratio.answers,
        line.rounds,
        100.0 * line.precise,
        100.0 * line.aside,
    );
}

/// One line for each noise and correlation: the worst coverage, the mean width and the largest ratio of widths over
/// drifts and outliers.
fn families(lines: &[Line]) {
    println!(
        "\n| stop | CV | points | correlation | points | width | over plain | above 3 | ratios | width | single | \
         naive | width | rounds |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for family in lines.chunk_by(|a, b| a.family == b.family) {
        let worst = |of: fn(&Line) -> f64| family.iter().map(of).fold(1.0, f64::min) * 100.0;
        let most = |of: fn(&Line) -> f64| family.iter().map(of).fold(0.0, f64::max);
        let mean = |of: fn(&Line) -> f64| family.iter().map(of).sum::<f64>() / family.len() as f64;
        println!(
            "| {} | {:.1} | {:.1} | {:.2} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.0} |",
            family[0].family,
            worst(|line| line.point.coverage()),
            mean(|line| 100.0 * line.point.widths / line.point.answers),
            most(|line| line.point.median_ratio()),
            100.0 * most(|line| line.point.wide()),
            worst(|line| line.ratio.coverage()),
            mean(|line| 100.0 * line.ratio.widths / line.ratio.answers),
            worst(|line| line.plain.coverage()),
            worst(|line| line.point.naive / line.point.answers),
            mean(|line| 100.0 * line.point.naive_widths / line.point.answers),
            mean(|line| line.rounds),
        );
    }
    println!();
}

fn summary(what: &str, mut values: Vec<(f64, &str)>) {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (least, cell) = values[0];
    let below = values.iter().filter(|(v, _)| *v < 0.93).count();
    let above = values.iter().filter(|(v, _)| *v > 0.97).count();
    println!(
        "{what}: least {:.1} % ({cell}), median {:.1} %; of {} cells {below} are below 93 % and {above} above 97 %",
        100.0 * least,
        100.0 * values[values.len() / 2].0,
        values.len()
    );
}

/// Cells that are wider than the bars allow: a median ratio to the plain t interval of 1.3, 2 % of ratios above 3.
/// Correlation inside points requires more: the plain interval of ten trials with ρ = 0.6 is 2.06 times too narrow.
fn widths(lines: &[Line]) {
    for (what, apart) in [("inside points", true), ("elsewhere", false)] {
        let of = |line: &&Line| line.name.contains("point |") && !line.name.contains("0.0 point");
        let chosen: Vec<&Line> = lines.iter().filter(|line| of(line) == apart).collect();
        let most = |of: fn(&Line) -> f64| chosen.iter().map(|line| of(line)).fold(0.0, f64::max);
        println!(
            "correlation {what}, {} cells: median ratio of widths at most {:.2}, {} cells above 1.3; above 3 at most \
             {:.1} %, {} cells over 2 %",
            chosen.len(),
            most(|line| line.point.median_ratio()),
            chosen.iter().filter(|line| line.point.median_ratio() > 1.3).count(),
            100.0 * most(|line| line.point.wide()),
            chosen.iter().filter(|line| line.point.wide() > 0.02).count(),
        );
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let given = |name: &str| arguments.iter().position(|a| a == name).and_then(|i| arguments.get(i + 1));
    let number =
        |name: &str, otherwise: u64| given(name).and_then(|text| text.parse().ok()).unwrap_or(otherwise);
    let replicates = number("--replicates", 1000);
    let seed = number("--seed", RandomState::new().build_hasher().finish());
    let wanted = given("--cells").cloned().unwrap_or_default();
    println!("{replicates} runs of {POINTS} points a cell, seed {seed}; shares and widths in %");
    println!(
        "stop | CV | points | correlation | drift | outliers | point | width | over plain, median | above 3 | ratio \
         | width | ratio of single \
         estimates | naive point | width | naive ratio | rounds | closed by precision | set aside"
    );
    let cells: Vec<Cell> = cells().into_iter().filter(|cell| cell.name().contains(&wanted)).collect();
    let mut lines = Vec::new();
    for cell in &cells {
        let line = measure(cell, replicates, seed);
        print(&line);
        lines.push(line);
    }
    families(&lines);
    widths(&lines);
    let of = |tally: fn(&Line) -> &Tally| {
        lines.iter().map(|line| (tally(line).coverage(), line.name.as_str())).collect()
    };
    summary("points", of(|line| &line.point));
    summary("ratios", of(|line| &line.ratio));
    summary("ratios of single estimates", of(|line| &line.plain));
}
