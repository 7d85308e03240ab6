//! Comparing on made-up runs whose truth is set: equal ones, unlike ones, and those that cannot be compared.

use iosonde_model::{
    About, CheckName, ComparedFigure, ComparedUnit, Comparison, Estimate, Incomparable, Judgement, LayerCost,
    LayerSign, Likeness, NoFigure, OddSide, Planned, Point, PointDirection, Reason, Run, Rw, ServedBy,
    TrialSpec, Verdict, WorkloadGroup,
};
use iosonde_testkit::{
    plain::{plain_points, trial},
    specimen,
};
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{NothingToCompare, Question, Side, compare};

const QUESTION: Question =
    Question { figure: ComparedFigure::Iops, margin: 0.02, confidence: 0.95, over: false };

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
        levels: Vec::new(),
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
            compared.lines(&compared.pairs[0]).any(|line| different(line.verdict))
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
        all_covered += usize::from(compared.lines(&compared.pairs[0]).all(|line| holds(line.low, line.high)));
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
    let pair = &compared.pairs[0];
    assert_eq!((pair.unit, pair.repeats), (ComparedUnit::Run, [1, 1]));
    let mean = &pair.geometric_means[0];
    assert_eq!(mean.verdict, Likeness::Faster);
    assert!((mean.ratio - 1.1).abs() < 1e-9, "{mean:?}");
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
    assert_eq!(pair.without_interval, 1);
    assert_eq!(lines.iter().map(|line| line.verdict).filter(|v| *v == Likeness::CannotTell).count(), 1);
}

#[test]
fn a_mean_that_hides_the_opposite_says_so() {
    let (a, b) = (run("a", &[1e4; 6]), run("b", &[2e4, 2e4, 2e4, 2e4, 2e4, 0.5e4]));
    let compared = compare(&[side("A", vec![a]), side("B", vec![b])], &QUESTION).unwrap();
    let pair = &compared.pairs[0];
    assert_eq!((pair.geometric_means[0].verdict, pair.opposite), (Likeness::Faster, 1));
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
    assert_eq!((pair.unit, pair.repeats, compared.sides[0].history), (ComparedUnit::Repeat, [1, 1], 6));
    let mean = &pair.geometric_means[0];
    assert_eq!(mean.verdict, Likeness::Faster);
    assert!((mean.ratio - 1.2).abs() < 0.05, "{mean:?}");
    // A history of two is none.
    let mut short = with_history("A", 1.0);
    short.history.truncate(2);
    let compared = compare(&[short, with_history("B", 1.2)], &QUESTION).unwrap();
    assert_eq!(compared.pairs[0].unit, ComparedUnit::Run);
}

/// Checks that keep a line's sides from having a figure: side, check, and figures for which it is invalid.
fn invalid(line: &Comparison) -> Vec<(usize, CheckName, About)> {
    let told = line.limits.iter().filter_map(|limit| match limit {
        Incomparable::Side { side, cause: NoFigure::Invalid(judged), .. } => {
            Some((*side, judged.check, judged.about))
        }
        _ => None,
    });
    told.collect()
}

#[test]
fn what_is_void_is_not_compared_and_says_why() {
    let mut a = run("a", &[1e4, 2e4]);
    a.points[0].read = None;
    a.points[0].trial_ids = vec![7];
    let void =
        Verdict::Invalid(Reason::new(About::All, iosonde_model::cause::CacheServed::Memory { name: None }));
    a.verdicts = vec![Judgement::new(CheckName::CacheServed, "trial", Some(7), None, void)];
    let compared = compare(&[side("A", vec![a]), side("B", vec![run("b", &[1e4, 2e4])])], &QUESTION).unwrap();
    let line = &compared.comparisons[0];
    assert_eq!((line.verdict, line.ratio, line.a), (Likeness::NotComparable, None, None));
    assert_eq!(invalid(line), [(0, CheckName::CacheServed, About::All)]);
    assert_eq!(compared.pairs[0].geometric_means[0].points, 1);
}

/// A run whose points at these places were served by memory.
fn from_memory(id: &str, rates: &[f64], places: &[usize]) -> Run {
    let mut run = run(id, rates);
    for &place in places {
        run.points[place].trials = 1;
        run.points[place].trial_ids = vec![place as u64];
        let void = Verdict::Invalid(Reason::new(
            About::Device,
            iosonde_model::cause::CacheServed::Memory { name: None },
        ));
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
    assert_eq!((bound.about, bound.geometric_means[0].points), (ServedBy::Program, 2));
    for other in [CheckName::Throttled, CheckName::Unmapped, CheckName::Compressible] {
        let refused = compare(&sides(other), &QUESTION).unwrap();
        assert!(refused.pairs[0].geometric_means.is_empty());
        assert_eq!(refused.pairs[0].not_compared, 2);
        let of = |side| (side, other, About::Device);
        assert_eq!(invalid(&refused.comparisons[0]), [of(0), of(1)]);
    }
}

#[test]
fn a_depth_that_was_not_reached_is_like_no_other() {
    let mut short = void_by(CheckName::DepthNotReached, from_memory("a", &[1e4, 2e4], &[0]));
    short.verdicts.iter_mut().for_each(|judged| judged.about = About::Depth);
    let compared =
        compare(&[side("A", vec![short]), side("B", vec![run("b", &[2e4, 4e4])])], &QUESTION).unwrap();
    assert_eq!(compared.pairs[0].geometric_means[0].points, 1);
    let line = &compared.comparisons[0];
    assert_eq!((line.verdict, line.ratio), (Likeness::NotComparable, None));
    assert_eq!(invalid(line), [(0, CheckName::DepthNotReached, About::Depth)]);
}

#[test]
fn a_rate_that_was_asked_for_is_in_no_ratio_of_rates() {
    let asked = |id: &str, rates: &[f64]| {
        let mut run = run(id, rates);
        run.points[0].spec.rate_iops = Some(1e4);
        run
    };
    // The first line delivers the requested rate on both, the second is half as fast.
    let sides = [side("A", vec![asked("a", &[1e4, 2e4])]), side("B", vec![asked("b", &[1e4, 1e4])])];
    let compared = compare(&sides, &QUESTION).unwrap();
    let mean = &compared.pairs[0].geometric_means[0];
    assert_eq!((mean.points, (mean.ratio * 100.0).round()), (1, 50.0));
    let line = &compared.comparisons[0];
    assert_eq!((line.verdict, line.ratio, line.a), (Likeness::NotComparable, None, Some(1e4_f64.ln().exp())));
    assert_eq!(line.limits, [Incomparable::FixedRate]);
    let waiting = compare(&sides, &Question { figure: ComparedFigure::LatencyMean, ..QUESTION }).unwrap();
    assert_eq!(waiting.pairs[0].geometric_means[0].points, 2, "how long they wait is compared");
}

#[test]
fn where_memory_served_all_of_both_sides_it_is_about_programs_and_says_so() {
    let both = |a: Run, b: Run| compare(&[side("A", vec![a]), side("B", vec![b])], &QUESTION).unwrap();
    let rates = [1e4, 2e4, 3e4];
    let compared = both(from_memory("a", &rates, &[0, 1, 2]), from_memory("b", &[3e4, 6e4, 9e4], &[0, 1, 2]));
    let pair = &compared.pairs[0];
    assert_eq!((pair.about, pair.geometric_means[0].points), (ServedBy::Memory, 3));
    let mean = &pair.geometric_means[0];
    assert!((mean.ratio - 3.0).abs() < 1e-9 && mean.verdict == Likeness::Faster, "{mean:?}");
    let by_memory = |side| (side, CheckName::CacheServed, About::Device);
    assert_eq!(invalid(&compared.comparisons[0]), [by_memory(0), by_memory(1)]);

    // One line that the storage served on both sides, and the others are void beside it.
    let compared = both(from_memory("a", &rates, &[0, 2]), from_memory("b", &[3e4, 2e4, 9e4], &[0, 2]));
    let pair = &compared.pairs[0];
    assert_eq!((pair.about, pair.geometric_means[0].points), (ServedBy::Storage, 1));
    assert_eq!(compared.comparisons[0].verdict, Likeness::NotComparable);

    // Memory on one side and storage on the other are not compared at all.
    let compared = both(from_memory("a", &rates, &[0, 1, 2]), run("b", &rates));
    assert!(compared.pairs[0].geometric_means.is_empty());
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
    let told: Vec<(WorkloadGroup, usize)> = means.iter().map(|mean| (mean.of, mean.points)).collect();
    let groups = [
        (WorkloadGroup::All, 4),
        (WorkloadGroup::AllReads, 2),
        (WorkloadGroup::AllWrites, 2),
        (WorkloadGroup::RandomReads, 1),
        (WorkloadGroup::RandomWrites, 1),
        (WorkloadGroup::SequentialReads, 1),
        (WorkloadGroup::SequentialWrites, 1),
    ];
    assert_eq!(told, groups);
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
    let question = Question { figure: ComparedFigure::LatencyMean, ..QUESTION };
    let sides = [side("A", vec![run("a", &[1e4])]), side("B", vec![run("b", &[2e4])])];
    let compared = compare(&sides, &question).unwrap();
    assert_eq!(compared.comparisons[0].verdict, Likeness::Faster);
    assert!((compared.comparisons[0].ratio.unwrap() - 0.5).abs() < 1e-12, "half the latency");
}

#[test]
fn a_run_is_not_compared_with_itself_or_with_nothing() {
    let a = || side("A", vec![run("a", &[1e4])]);
    let refused = |sides: &[Side]| compare(sides, &QUESTION).unwrap_err();
    assert_eq!(refused(&[a()]), NothingToCompare::OneSide { name: "A".into() });
    assert_eq!(refused(&[a(), a()]), NothingToCompare::SameName { name: "A".into() });
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

#[test]
fn a_layer_adds_time_at_qd_1_and_leaves_a_share_of_deeper_queues() {
    // 100 µs and 112 µs at QD 1; at QD 2 three quarters are left.
    let base = run("a", &[10_000.0, 10_000.0, 20_000.0, 20_000.0]);
    let mut above = run("b", &[1e9 / 112_000.0, 1e9 / 112_000.0, 15_000.0, 15_000.0]);
    let sides = |above: &Run| [side("base", vec![base.clone()]), side("above", vec![above.clone()])];
    assert_eq!(
        compare(&sides(&above), &QUESTION).unwrap().pairs[0].layer,
        None,
        "nobody said that it lies above"
    );
    above.info.over = Some("a".to_owned());
    let compared = compare(&sides(&above), &QUESTION).unwrap();
    let layer = compared.pairs[0].layer.clone().unwrap();
    assert_eq!(layer.signs, []);
    let LayerCost::AddedNs(added) = layer.lines[0].cost else { panic!("{:?}", layer.lines[0]) };
    assert!((added.value - 12_000.0).abs() < 1.0, "{added:?}");
    // Each side is known within 2 %: 2.24 µs of 112, and as a share of the 12 µs 0.24.
    let half = (added.high.unwrap() - added.low.unwrap()) / 2.0;
    assert!((2_800.0..3_800.0).contains(&half), "{half}");
    let LayerCost::Share(share) = layer.lines[2].cost else { panic!("{:?}", layer.lines[2]) };
    assert!((share.value - 0.75).abs() < 1e-9 && share.low.unwrap() < 0.75 && share.high.unwrap() > 0.75);
}

#[test]
fn a_layer_that_is_faster_than_what_lies_below_it_is_named() {
    let base = run("a", &[10_000.0, 10_000.0, 20_000.0, 20_000.0]);
    let signs = |rates: &[f64]| {
        let mut above = run("b", rates);
        (above.info.over, above.info.device.chain) = (Some("a".to_owned()), base.info.device.chain.clone());
        let sides = [side("base", vec![base.clone()]), side("above", vec![above])];
        compare(&sides, &QUESTION).unwrap().pairs[0].layer.clone().unwrap().signs
    };
    let [LayerSign::ReadsFaster { spec, factor }] = &signs(&[20_000.0, 9_000.0, 60_000.0, 18_000.0])[..]
    else {
        panic!("reads alone are faster")
    };
    assert_eq!((spec.queue_depth, factor.value.round()), (2, 3.0), "the largest factor");
    assert!(matches!(signs(&[9_000.0, 15_000.0, 18_000.0, 19_000.0])[..], [LayerSign::WritesFaster { .. }]));
    assert_eq!(signs(&[10_400.0, 10_400.0, 20_800.0, 20_800.0]), [], "4 % is no cache");
}

#[test]
fn sides_without_a_common_block_device_do_not_lie_above_each_other() {
    let (mut base, mut above) = (run("a", &[10_000.0]), run("b", &[9_000.0]));
    above.info.over = Some("a".to_owned());
    let signs = |base: &Run, above: &Run| {
        let sides = [side("base", vec![base.clone()]), side("above", vec![above.clone()])];
        compare(&sides, &QUESTION).unwrap().pairs[0].layer.clone().unwrap().signs
    };
    base.info.device.chain = vec!["vda".to_owned()];
    above.info.device.chain = vec!["dm-0".to_owned(), "vda".to_owned()];
    assert_eq!(signs(&base, &above), []);
    above.info.device.chain = vec!["vdb".to_owned()];
    assert!(matches!(signs(&base, &above)[..], [LayerSign::NotAbove { .. }]));
    // What is below a network folder is not known.
    above.info.device.chain.clear();
    assert_eq!(signs(&base, &above), []);
}

/// Sides that took turns for twelve rounds: what disturbs a round is on all of them alike, 2 % is each trial's own.
fn in_turn(factors: &[f64], seed: u64) -> Vec<Side> {
    let mut noisy = Noisy(Xoshiro256PlusPlus::seed_from_u64(seed));
    let ids: Vec<String> = (0..factors.len()).map(|place| format!("run{place}")).collect();
    let disturbed: Vec<f64> = (0..12).map(|_| 0.1 * noisy.normal()).collect();
    let each = factors.iter().enumerate().map(|(place, factor)| {
        let mut run = specimen::run(specimen::usual());
        run.info.study_source = String::new();
        run.info.id.clone_from(&ids[place]);
        run.info.in_turn_with = ids.iter().filter(|id| **id != ids[place]).cloned().collect();
        run.points = plain_points(4);
        for point in &mut run.points {
            point.trials = 12;
            point.read = Some(direction(10_000.0 * factor));
        }
        let trials = (0..48_u64).map(|at| {
            let (round, point) = (at / 4, (at % 4) as usize);
            let iops = 10_000.0 * factor * (disturbed[round as usize] + 0.02 * noisy.normal()).exp();
            trial(at + 1, Some(point), round as u32 + 1, &run.points[point].spec, iops as u64)
        });
        run.trials = trials.collect();
        side(&ids[place], vec![run])
    });
    each.collect()
}

#[test]
fn one_slow_side_of_twelve_is_named_with_its_interval() {
    let (mut covered, mut named) = (0, 0);
    for seed in 0..40 {
        let mut factors = [1.0; 12];
        factors[3] = 0.9;
        let found = compare(&in_turn(&factors, seed), &QUESTION).unwrap().odd_sides.unwrap();
        if let [OddSide { name, ratio }] = &found.odd[..] {
            named += usize::from(name == "run3");
            covered += usize::from(ratio.low.unwrap() <= 0.9 && 0.9 <= ratio.high.unwrap());
        }
        assert_eq!((found.sides, found.workloads), (12, 4));
    }
    // True rates of 97 % would give fewer than 34 once in 10,000.
    assert!(named >= 34 && covered >= 34, "{named} named, {covered} intervals contain it");
}

#[test]
fn of_twelve_equal_sides_none_is_odd() {
    let wrong = (0..60)
        .filter(|seed| {
            !compare(&in_turn(&[1.0; 12], 1000 + seed), &QUESTION).unwrap().odd_sides.unwrap().odd.is_empty()
        })
        .count();
    // 5 % of 60 is 3; nine and more happen in 1 of 500.
    assert!(wrong < 9, "{wrong} of 60");
}

#[test]
fn two_sides_repeats_and_layers_have_no_odd_one() {
    assert_eq!(compare(&in_turn(&[1.0, 0.8], 1), &QUESTION).unwrap().odd_sides, None);
    let mut sides = in_turn(&[1.0, 0.8, 1.0], 1);
    assert!(compare(&sides, &QUESTION).unwrap().odd_sides.is_some());
    sides[1].runs[0].info.over = Some("run0".to_owned());
    assert_eq!(compare(&sides, &QUESTION).unwrap().odd_sides, None);
}
