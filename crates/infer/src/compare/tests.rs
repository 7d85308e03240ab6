//! Comparing on made-up runs whose truth is set: equal ones, unlike ones, and those that cannot be compared.

use iosonde_model::CheckName;
use iosonde_model::{Estimate, Judgement, Likeness, Planned, Point, PointDirection, Run, Rw, TrialSpec};
use iosonde_testkit::specimen;
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Question, Side, compare};

const QUESTION: Question = Question { figure: 0, margin: 0.02, confidence: 0.95 };

fn estimate(value: f64) -> Estimate {
    Estimate { value, low: Some(value * 0.98), high: Some(value * 1.02) }
}

fn direction(iops: f64) -> PointDirection {
    PointDirection {
        iops: estimate(iops),
        bytes_per_s: estimate(iops * 4096.0),
        latency_ns_mean: Some(estimate(1e9 / iops)),
        latency_ns_p50: None,
        latency_ns_p99: None,
        latency_ns_p99_9: None,
    }
}

/// A run whose points reach these rates: half of them random reads, half random writes.
fn run(id: &str, rates: &[f64]) -> Run {
    let mut run = specimen::run(specimen::usual());
    run.info.id = id.to_owned();
    run.trials.clear();
    run.points = rates
        .iter()
        .enumerate()
        .map(|(place, &iops)| {
            let rw = if place % 2 == 0 { Rw::RandRead } else { Rw::RandWrite };
            let queue_depth = 1 << (place / 2);
            let spec = TrialSpec { rw, queue_depth, span_bytes: 1 << 30, ..TrialSpec::default() };
            let mut point = Point::planned(place, "queue-depth", spec);
            point.trials = 8;
            let told = Some(direction(iops));
            if rw == Rw::RandRead {
                point.read = told
            } else {
                point.write = told
            }
            point
        })
        .collect();
    run
}

fn side(name: &str, runs: Vec<Run>) -> Side {
    Side { name: name.to_owned(), runs, history: Vec::new() }
}

/// Repeats of storage with a run effect and a point-by-run effect of 1 % each.
struct Noisy(Xoshiro256PlusPlus);

impl Noisy {
    fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }

    fn run(&mut self, points: usize, factor: f64) -> Run {
        let run_effect = 0.01 * self.normal();
        let rates: Vec<f64> = (0..points)
            .map(|point| {
                let own = 0.01 * self.normal();
                10_000.0 * (1.0 + point as f64) * factor * (run_effect + own).exp()
            })
            .collect();
        run("r", &rates)
    }

    fn side(&mut self, name: &str, repeats: usize, factor: f64) -> Side {
        side(name, (0..repeats).map(|_| self.run(27, factor)).collect())
    }
}

#[test]
fn equal_storage_is_called_different_in_at_most_four_studies_of_a_hundred() {
    let mut noisy = Noisy(Xoshiro256PlusPlus::seed_from_u64(1));
    let mut wrong = 0;
    let strict = Question { margin: 0.0, ..QUESTION };
    for _ in 0..500 {
        let (a, b) = (noisy.side("A", 5, 1.0), noisy.side("B", 5, 1.0));
        let says = |question: &Question| {
            let compared = compare(&[a.clone(), b.clone()], question).unwrap();
            let different = |verdict| matches!(verdict, Likeness::Faster | Likeness::Slower);
            compared.comparisons.iter().any(|line| different(line.verdict))
                || compared.pairs[0].geometric_means.iter().any(|mean| different(mean.verdict))
        };
        assert!(!says(&QUESTION) || says(&strict), "a margin only ever takes words away");
        wrong += usize::from(says(&strict));
    }
    // Without any margin the family's 5 % would be 25; a margin of 2 % leaves next to nothing of them.
    assert!((5..=35).contains(&wrong), "{wrong} of 500");
}

#[test]
fn five_percent_is_found_in_nine_studies_of_ten_and_its_interval_holds_it() {
    let mut noisy = Noisy(Xoshiro256PlusPlus::seed_from_u64(2));
    let (mut found, mut covered, mut all_covered) = (0, 0, 0);
    for _ in 0..300 {
        let sides = [noisy.side("A", 5, 1.0), noisy.side("B", 5, 1.05)];
        let compared = compare(&sides, &QUESTION).unwrap();
        let mean = &compared.pairs[0].geometric_means[0];
        let holds = |low: Option<f64>, high: Option<f64>| low.unwrap() <= 1.05 && 1.05 <= high.unwrap();
        found += usize::from(mean.verdict == Likeness::Faster);
        covered += usize::from(holds(mean.low, mean.high));
        all_covered += usize::from(compared.comparisons.iter().all(|line| holds(line.low, line.high)));
    }
    assert!(found >= 275, "{found} of 300");
    assert!(covered >= 280, "{covered} of 300");
    assert!(all_covered >= 280, "{all_covered} of 300 hold all lines at once");
}

#[test]
fn one_run_a_side_says_nothing_about_the_storage() {
    let compared = compare(
        &[side("A", vec![run("a", &[1e4, 2e4])]), side("B", vec![run("b", &[1.1e4, 2.2e4])])],
        &QUESTION,
    );
    let compared = compared.unwrap();
    assert_eq!(compared.pairs[0].unit, "run");
    let said = &compared.pairs[0].sentence;
    assert!(said.starts_with("of these two runs, B is faster than A: 1.10×"), "{said}");
    assert!(said.contains("how much repeats of a run differ here is not known"), "{said}");
}

#[test]
fn a_line_without_an_interval_is_in_no_mean_and_takes_no_other_s_away() {
    let (a, mut b) = (run("a", &[1e4, 1e4, 1e4]), run("b", &[1.1e4, 5e4, 1.1e4]));
    let iops = &mut b.points[1].write.as_mut().unwrap().iops;
    (iops.low, iops.high) = (None, None);
    let compared = compare(&[side("A", vec![a]), side("B", vec![b])], &QUESTION).unwrap();
    let (pair, lines) = (&compared.pairs[0], &compared.comparisons);
    assert_eq!(pair.geometric_means[0].points, 2, "{:?}", pair.geometric_means);
    assert!((pair.geometric_means[0].ratio - 1.1).abs() < 1e-9 && pair.geometric_means[0].low.is_some());
    assert!(pair.sentence.contains("over 2 like points (1 more without an interval)"), "{}", pair.sentence);
    assert_eq!(lines.iter().map(|line| line.verdict).filter(|v| *v == Likeness::CannotTell).count(), 1);
}

#[test]
fn a_mean_that_hides_the_opposite_says_so() {
    let (a, b) = (run("a", &[1e4; 6]), run("b", &[2e4, 2e4, 2e4, 2e4, 2e4, 0.5e4]));
    let compared = compare(&[side("A", vec![a]), side("B", vec![b])], &QUESTION).unwrap();
    let said = &compared.pairs[0].sentence;
    assert!(
        said.contains("B is faster than A") && said.contains(", though surely slower at 1 of the points, "),
        "{said}"
    );
}

#[test]
fn older_runs_tell_how_much_repeats_differ() {
    let mut noisy = Noisy(Xoshiro256PlusPlus::seed_from_u64(3));
    let mut with_history = |name: &str, factor: f64| {
        let mut side = noisy.side(name, 1, factor);
        side.history = noisy.side(name, 6, factor).runs;
        side
    };
    let compared = compare(&[with_history("A", 1.0), with_history("B", 1.2)], &QUESTION).unwrap();
    let pair = &compared.pairs[0];
    assert_eq!((pair.unit.as_str(), compared.sides[0].history), ("repeat", 6));
    assert!(pair.sentence.starts_with("B is faster than A: 1.2"), "{}", pair.sentence);
    assert!(pair.sentence.contains("older runs"), "{}", pair.sentence);
    // A history of two is none.
    let mut short = with_history("A", 1.0);
    short.history.truncate(2);
    let compared = compare(&[short, with_history("B", 1.2)], &QUESTION).unwrap();
    assert_eq!(compared.pairs[0].unit, "run");
}

#[test]
fn what_is_void_is_not_compared_and_says_why() {
    let mut a = run("a", &[1e4, 2e4]);
    a.points[0].read = None;
    a.points[0].trial_ids = vec![7];
    let void = iosonde_model::Verdict::Invalid(iosonde_model::Reason::new(
        iosonde_model::About::All,
        "the device moved 3 % of the 2.1 GB that were read: this is memory",
    ));
    a.verdicts = vec![Judgement::new(CheckName::CacheServed, "trial", Some(7), None, void)];
    let compared = compare(&[side("A", vec![a]), side("B", vec![run("b", &[1e4, 2e4])])], &QUESTION).unwrap();
    let line = &compared.comparisons[0];
    assert_eq!((line.verdict, line.ratio, line.a), (Likeness::NotComparable, None, None));
    assert!(line.why.contains("A: void: the device moved 3 %"), "{}", line.why);
    assert_eq!(compared.pairs[0].geometric_means[0].points, 1);
}

/// A run whose points at these places were served by memory.
fn from_memory(id: &str, rates: &[f64], places: &[usize]) -> Run {
    let mut run = run(id, rates);
    for &place in places {
        run.points[place].trials = 1;
        run.points[place].trial_ids = vec![place as u64];
        let why = "the device moved 0 % of the 2.1 GB that were read: this is memory";
        let void =
            iosonde_model::Verdict::Invalid(iosonde_model::Reason::new(iosonde_model::About::Device, why));
        run.verdicts.push(Judgement::new(CheckName::CacheServed, "trial", Some(place as u64), None, void));
    }
    run
}

/// Changes what voided the trials of a run.
fn void_by(check: CheckName, mut run: Run) -> Run {
    run.verdicts.iter_mut().for_each(|judged| judged.check = check);
    run
}

#[test]
fn what_else_is_void_about_the_device_is_not_called_memory() {
    let rates = [1e4, 2e4];
    let sides = |check: CheckName| {
        let of = |id, rates: &[f64]| void_by(check, from_memory(id, rates, &[0, 1]));
        [side("A", vec![of("a", &rates)]), side("B", vec![of("b", &[2e4, 4e4])])]
    };
    let bound = compare(&sides(CheckName::GeneratorBound), &QUESTION).unwrap().pairs.remove(0);
    assert_eq!(bound.about, "program");
    assert!(bound.sentence.contains("the program itself was the limit here"), "{}", bound.sentence);
    assert!(!bound.sentence.contains("memory"), "{}", bound.sentence);
    for other in [CheckName::Throttled, CheckName::Unmapped, CheckName::Compressible] {
        let refused = compare(&sides(other), &QUESTION).unwrap();
        assert!(refused.pairs[0].sentence.contains("cannot be compared"), "{}", refused.pairs[0].sentence);
        assert!(refused.comparisons[0].why.contains("A: void: "), "{:?}", refused.comparisons[0]);
    }
}

#[test]
fn a_depth_that_was_not_reached_is_like_no_other() {
    let mut short = void_by(CheckName::DepthNotReached, from_memory("a", &[1e4, 2e4], &[0]));
    short.verdicts.iter_mut().for_each(|judged| judged.about = iosonde_model::About::Depth);
    let compared =
        compare(&[side("A", vec![short]), side("B", vec![run("b", &[2e4, 4e4])])], &QUESTION).unwrap();
    assert_eq!(compared.pairs[0].geometric_means[0].points, 1);
    let line = &compared.comparisons[0];
    assert_eq!((line.verdict, line.ratio), (Likeness::NotComparable, None));
    assert!(line.why.contains("A: void as a depth figure: "), "{}", line.why);
}

#[test]
fn a_rate_that_was_asked_for_is_in_no_ratio_of_rates() {
    let asked = |id: &str, rates: &[f64]| {
        let mut run = run(id, rates);
        run.points[0].spec.rate_iops = Some(1e4);
        run
    };
    // The first line gives what was asked for on both, the second is half as fast.
    let sides = [side("A", vec![asked("a", &[1e4, 2e4])]), side("B", vec![asked("b", &[1e4, 1e4])])];
    let compared = compare(&sides, &QUESTION).unwrap();
    let mean = &compared.pairs[0].geometric_means[0];
    assert_eq!((mean.points, (mean.ratio * 100.0).round()), (1, 50.0));
    let line = &compared.comparisons[0];
    assert_eq!((line.verdict, line.ratio, line.a), (Likeness::NotComparable, None, Some(1e4_f64.ln().exp())));
    assert!(line.why.contains("--figure latency_ns_mean"), "{}", line.why);
    let waiting = compare(&sides, &Question { figure: 1, ..QUESTION }).unwrap();
    assert_eq!(waiting.pairs[0].geometric_means[0].points, 2, "how long they wait is compared");
}

#[test]
fn where_memory_served_all_of_both_sides_it_is_about_programs_and_says_so() {
    let both = |a: Run, b: Run| compare(&[side("A", vec![a]), side("B", vec![b])], &QUESTION).unwrap();
    let rates = [1e4, 2e4, 3e4];
    let compared = both(from_memory("a", &rates, &[0, 1, 2]), from_memory("b", &[3e4, 6e4, 9e4], &[0, 1, 2]));
    let pair = &compared.pairs[0];
    assert_eq!((pair.about.as_str(), pair.geometric_means[0].points), ("program", 3));
    assert!(pair.sentence.starts_with("of these two runs, B is faster than A: 3.00×"), "{}", pair.sentence);
    assert!(pair.sentence.ends_with("and says nothing about the storage of either"), "{}", pair.sentence);
    assert!(
        compared.comparisons[0].why.contains("A: void: the device moved 0 %"),
        "{:?}",
        compared.comparisons
    );

    // One line that the storage served on both sides, and the others are void beside it.
    let compared = both(from_memory("a", &rates, &[0, 2]), from_memory("b", &[3e4, 2e4, 9e4], &[0, 2]));
    let pair = &compared.pairs[0];
    assert_eq!((pair.about.as_str(), pair.geometric_means[0].points), ("storage", 1));
    assert!(!pair.sentence.contains("programs"), "{}", pair.sentence);
    assert_eq!(compared.comparisons[0].verdict, Likeness::NotComparable);

    // Memory on one side and storage on the other are not compared at all.
    let compared = both(from_memory("a", &rates, &[0, 1, 2]), run("b", &rates));
    assert!(compared.pairs[0].sentence.contains("cannot be compared"), "{}", compared.pairs[0].sentence);
    let line = &compared.comparisons[0];
    assert_eq!((line.verdict, line.a, line.ratio), (Likeness::NotComparable, None, None));
}

#[test]
fn each_direction_has_its_own_mean_where_it_has_several_patterns() {
    let of = |id: &str, writes: f64| {
        let mut run = run(id, &[1e4, 1e4 * writes, 2e4, 2e4 * writes]);
        run.points[2].spec.rw = Rw::Read;
        run.points[3].spec.rw = Rw::Write;
        run
    };
    let sides = [side("A", vec![of("a", 1.0)]), side("B", vec![of("b", 7.0)])];
    let means = compare(&sides, &QUESTION).unwrap().pairs[0].geometric_means.clone();
    let told: Vec<(&str, usize)> = means.iter().map(|mean| (mean.of.as_str(), mean.points)).collect();
    let patterns =
        [("random reads", 1), ("random writes", 1), ("sequential reads", 1), ("sequential writes", 1)];
    assert_eq!(told, [vec![("all", 4), ("all reads", 2), ("all writes", 2)], patterns.to_vec()].concat());
    assert!((means[1].ratio - 1.0).abs() < 1e-12 && (means[2].ratio - 7.0).abs() < 1e-12);
}

#[test]
fn only_like_points_meet() {
    let (mut a, mut b) = (run("a", &[1e4, 2e4]), run("b", &[1e4, 2e4, 3e4]));
    // A span follows from the storage's size, an engine from the machine; a block size is another question.
    a.points[0].spec.span_bytes = 1 << 20;
    a.points[0].spec.engine = "psync".into();
    b.points[1].spec.block_size_bytes = 8192;
    b.points[2].planned = Planned::Adaptive;
    let compared = compare(&[side("A", vec![a]), side("B", vec![b])], &QUESTION).unwrap();
    assert_eq!(compared.comparisons.len(), 1);
    assert_eq!(compared.pairs[0].unmatched, 2, "one on each side; what was added between is not missed");
}

#[test]
fn sides_that_cannot_be_told_apart_share_a_place() {
    let mut noisy = Noisy(Xoshiro256PlusPlus::seed_from_u64(4));
    let sides = [noisy.side("A", 5, 1.0), noisy.side("B", 5, 1.3), noisy.side("C", 5, 1.0)];
    let compared = compare(&sides, &QUESTION).unwrap();
    assert_eq!(compared.ranking[0], ["B"]);
    let mut last = compared.ranking[1].clone();
    last.sort();
    assert_eq!(last, ["A", "C"]);
}

#[test]
fn a_latency_is_better_when_it_is_less() {
    let question = Question { figure: 1, ..QUESTION };
    let sides = [side("A", vec![run("a", &[1e4])]), side("B", vec![run("b", &[2e4])])];
    let compared = compare(&sides, &question).unwrap();
    assert_eq!(compared.comparisons[0].verdict, Likeness::Faster);
    assert!((compared.comparisons[0].ratio.unwrap() - 0.5).abs() < 1e-12, "half the latency");
}

#[test]
fn a_run_is_not_compared_with_itself_or_with_nothing() {
    let a = || side("A", vec![run("a", &[1e4])]);
    assert!(compare(&[a()], &QUESTION).unwrap_err().contains("A alone"));
    assert!(compare(&[a(), a()], &QUESTION).unwrap_err().contains("named twice"));
}

#[test]
fn repeats_say_how_far_they_lie_apart() {
    let mut noisy = Noisy(Xoshiro256PlusPlus::seed_from_u64(5));
    let scattered = super::scatter(&noisy.side("A", 40, 1.0)).unwrap();
    // 1 % of the run and 1 % / √27 of what is each point's own; one point alone: √2 %.
    assert!((scattered.run / 0.0102 - 1.0).abs() < 0.3, "{scattered:?}");
    assert!((scattered.point / 0.0141 - 1.0).abs() < 0.15, "{scattered:?}");
    assert_eq!(super::scatter(&noisy.side("A", 1, 1.0)), None);
}
