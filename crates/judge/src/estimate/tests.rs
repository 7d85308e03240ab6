//! From trials to points.

use iosonde_testkit::plain::{plain_points, trial};

use super::*;

/// `rounds` rounds of three points at about 1,000, 2,000 and 3,000 I/Os a second.
fn run(rounds: u64) -> (Vec<Point>, Vec<Trial>) {
    let points = plain_points(3);
    let of = |i: u64| {
        let (round, point) = (i / 3, ((i + i / 3) % 3) as usize);
        // ±1 % by a rule without pattern in time.
        let iops = (point as u64 + 1) * (990 + (i * i * 7 + i) % 21);
        trial(i + 1, Some(point), round as u32 + 1, &points[point].spec, iops)
    };
    let trials = (0..3 * rounds).map(of).collect();
    (points, trials)
}

#[test]
fn points_get_their_figures_and_agree_with_one_another() {
    let (mut points, trials) = run(10);
    assert_eq!(fill_points(&mut points, &trials, &Voids::new(), 0.95).outliers(), OutlierTrials::default());
    for (place, point) in points.iter().enumerate() {
        let read = point.read.as_ref().unwrap();
        let iops = 1000.0 * (place + 1) as f64;
        assert!((read.iops.value / iops - 1.0).abs() < 0.01, "{read:?}");
        assert!(read.iops.low.unwrap() < iops && iops < read.iops.high.unwrap());
        // 4,096 bytes a request at QD 1, so that latency is the reciprocal.
        assert!((read.bytes_per_s.value / read.iops.value - 4096.0).abs() < 1e-6);
        assert!((read.latency_ns_mean.unwrap().value * read.iops.value / 1e9 - 1.0).abs() < 1e-3);
        assert!((read.latency_ns_p50.unwrap().value * iops / 1e9 - 1.0).abs() < 0.02);
        assert_eq!((point.trials, point.invalid, point.why_no_interval.as_ref()), (10, 0, None));
        assert_eq!(point.trial_ids.len(), 10);
        assert_eq!(point.write, None);
    }
    // p99.9 of 10,000 requests rests on ten of them; the quickest point has 30,000.
    assert!(points[2].read.as_ref().unwrap().latency_ns_p99_9.is_some());
}

#[test]
fn the_interval_of_a_point_on_two_levels_holds_both() {
    let (mut points, mut trials) = run(12);
    for own in trials.iter_mut().skip(12).filter(|own| own.point == Some(1)) {
        let (id, round, spec) = (own.id, own.round, own.spec.clone());
        *own = trial(id, Some(1), round, &spec, 600 + id % 7);
    }
    fill_points(&mut points, &trials, &Voids::new(), 0.95);
    let stepped = points[1].read.as_ref().unwrap();
    assert_eq!(stepped.levels.len(), 2);
    let holds = |estimate: &Estimate, value: f64| {
        estimate.low.is_some_and(|low| low <= value) && estimate.high.is_some_and(|high| value <= high)
    };
    for iops in [605.0, 1995.0] {
        assert!(holds(&stepped.iops, iops) && holds(&stepped.bytes_per_s, 4096.0 * iops), "{stepped:?}");
        assert!(holds(&stepped.latency_ns_mean.unwrap(), 1e9 / iops), "{stepped:?}");
    }
    let level = points[0].read.as_ref().unwrap();
    assert!(level.levels.is_empty() && !holds(&level.iops, 900.0));
}

#[test]
fn an_interval_between_the_trials_reaches_to_the_nearest_on_both_sides() {
    let (points, mut trials) = run(11);
    let own = |trials: &[Trial]| -> Vec<f64> {
        trials.iter().filter(|t| t.point == Some(1)).map(|t| t.direction(Op::Read).unwrap().iops).collect()
    };
    let estimate = |low, high| Estimate { value: 1000.0, low: Some(low), high: Some(high) };
    let near = |trials: &[Trial], iops| {
        let direction = PointDirection { iops, ..second_points_reads(&points, trials) };
        let kept: Vec<&Trial> = trials.iter().filter(|trial| trial.point == Some(1)).collect();
        levels::near_trials(direction, &kept, Op::Read).iops
    };
    let (least, most) =
        own(&trials).into_iter().fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)));
    // All trials below: a trend's work. One inside: nothing to mend.
    assert_eq!(near(&trials, estimate(most + 1.0, most + 2.0)), estimate(most + 1.0, most + 2.0));
    assert_eq!(near(&trials, estimate(least, least + 0.5)), estimate(least, least + 0.5));
    let last = trials.iter().rposition(|trial| trial.point == Some(1)).unwrap();
    let (id, round, spec) = (trials[last].id, trials[last].round, trials[last].spec.clone());
    trials[last] = trial(id, Some(1), round, &spec, 5000);
    assert_eq!(near(&trials, estimate(most + 1.0, most + 2.0)), estimate(most, 5000.0));
}

fn second_points_reads(points: &[Point], trials: &[Trial]) -> PointDirection {
    let mut points = points.to_vec();
    fill_points(&mut points, trials, &Voids::new(), 0.95);
    points[1].read.clone().unwrap()
}

#[test]
fn cold_trials_are_in_no_figure_where_several_points_have_them() {
    let of = |points_cold: usize| {
        let (mut points, mut trials) = run(10);
        let mut cold = Vec::new();
        for point in 0..points_cold {
            let own: Vec<usize> = (0..trials.len()).filter(|&i| trials[i].point == Some(point)).collect();
            // A tenth of the rate, then half of it.
            for (&at, share) in own[..2].iter().zip([10, 2]) {
                let (id, round, spec) = (trials[at].id, trials[at].round, trials[at].spec.clone());
                trials[at] = trial(id, Some(point), round, &spec, 1000 * (point as u64 + 1) / share);
                cold.push(id);
            }
        }
        cold.sort_unstable();
        let estimates = fill_points(&mut points, &trials, &Voids::new(), 0.95);
        let found: Vec<u64> = estimates.cold().keys().copied().collect();
        (points, cold, found)
    };
    let (points, cold, found) = of(2);
    assert_eq!(found, cold);
    let read = points[0].read.as_ref().unwrap();
    assert!((read.iops.value / 1000.0 - 1.0).abs() < 0.01, "{read:?}");
    // A request of the cold trials takes 2 ms or 10 ms.
    assert!(read.latency_ns_p99.unwrap().value < 1.1e6, "{read:?}");
    let (_, _, found) = of(1);
    assert!(found.is_empty(), "one point of three may have been disturbed: {found:?}");
}

#[test]
fn four_trials_have_no_interval_and_say_so() {
    let (mut points, trials) = run(4);
    let estimates = fill_points(&mut points, &trials, &Voids::new(), 0.95);
    let read = points[0].read.as_ref().unwrap();
    assert_eq!((read.iops.low, read.iops.high), (None, None));
    assert!((read.iops.value / 1000.0 - 1.0).abs() < 0.011, "the plain mean");
    assert_eq!(points[0].why_no_interval, Some(NoInterval::TooFew { trials: 4, valid: 4, needed: 5 }));
    assert!(estimates.evidence(&points, &trials, &Voids::new()).iter().all(|e| e.read.is_none()));
}

#[test]
fn the_latency_of_few_requests_is_no_better_known_than_their_throughput() {
    let width = |rate_iops| {
        let mut points = plain_points(1);
        points[0].spec.rate_iops = rate_iops;
        let spec = points[0].spec.clone();
        // Eight trials of ten requests each, alike to the last digit.
        let trials: Vec<Trial> = (0..8).map(|i| trial(i + 1, Some(0), i as u32 + 1, &spec, 10)).collect();
        fill_points(&mut points, &trials, &Voids::new(), 0.95);
        let read = points.remove(0).read.unwrap();
        [read.iops, read.latency_ns_mean.unwrap()].map(|one| (one.high.unwrap() / one.low.unwrap()).ln())
    };
    let [rate, latency] = width(None);
    assert!((rate / latency - 1.0).abs() < 1e-9 && rate > 0.01, "{rate} {latency}");
    let [rate, latency] = width(Some(10.0));
    assert!(latency < rate / 100.0, "what is sent at a rate says nothing of its latency: {rate} {latency}");
}

#[test]
fn void_trials_count_for_nothing_that_they_are_about() {
    let (mut points, mut trials) = run(8);
    // Wildly fast, and void: must not show.
    let own: Vec<u64> = trials.iter().filter(|t| t.point == Some(0)).map(|t| t.id).collect();
    for id in &own[..2] {
        let spec = trials[*id as usize - 1].spec.clone();
        let round = trials[*id as usize - 1].round;
        trials[*id as usize - 1] = trial(*id, Some(0), round, &spec, 50_000);
    }
    let voids = Voids::from([(own[0], About::All), (own[1], About::Rate), (own[2], About::Depth)]);
    let estimates = fill_points(&mut points, &trials, &voids, 0.95);
    assert_eq!((points[0].trials, points[0].invalid, points[0].left_out), (8, 3, 2));
    assert!((points[0].read.as_ref().unwrap().iops.value / 1000.0 - 1.0).abs() < 0.01);
    let evidence = estimates.evidence(&points, &trials, &voids);
    assert_eq!(evidence[0].standing(About::Rate).count(), 6);
    assert_eq!(evidence[0].standing(About::Depth).count(), 6, "one void of all, one of depth");
    assert_eq!(evidence[0].trials.len(), 8);
    assert!(evidence[0].read.is_some());

    // Figures of a program that say nothing of the device: they are shown, and a reader of the JSON is told.
    let of_memory: Voids = own.iter().map(|id| (*id, About::Device)).collect();
    fill_points(&mut points, &trials, &of_memory, 0.95);
    assert_eq!((points[0].invalid, points[0].left_out), (8, 0));
    assert!(points[0].read.is_some());

    let all: Voids = own.iter().map(|id| (*id, About::All)).collect();
    fill_points(&mut points, &trials, &all, 0.95);
    assert_eq!(points[0].read, None);
    assert_eq!(points[0].why_no_interval, Some(NoInterval::NoneValid { trials: 8 }));
    let most: Voids = own[..4].iter().map(|id| (*id, About::All)).collect();
    fill_points(&mut points, &trials, &most, 0.95);
    assert_eq!(points[0].why_no_interval, Some(NoInterval::TooFew { trials: 8, valid: 4, needed: 5 }));
}

#[test]
fn a_slow_trial_is_named() {
    let (mut points, mut trials) = run(10);
    let spec = trials[13].spec.clone();
    let (point, round) = (trials[13].point, trials[13].round);
    trials[13] = trial(14, point, round, &spec, 500);
    let outliers = fill_points(&mut points, &trials, &Voids::new(), 0.95).outliers();
    assert_eq!(outliers.keys().collect::<Vec<_>>(), [&14]);
    // By Little's law at QD 1: the latency, too, is that of the other trials.
    let read = points.iter().find(|own| Some(own.id) == point).and_then(|own| own.read.as_ref()).unwrap();
    let depth = read.iops.value * read.latency_ns_mean.unwrap().value / 1e9;
    assert!((depth - 1.0).abs() < 0.001, "{depth}");
    // 500 of about 3,000 a second, where the others scatter by about 0.6 % (even steps over ±1 %).
    let apart = outliers[&14];
    assert!((apart.share - 1.0 / 6.0).abs() < 0.003 && apart.scatter < 0.01, "{apart:?}");
}

#[test]
fn a_pause_is_not_measuring_time() {
    // The same trials, the second half of them an hour later.
    let (points, trials) = run(10);
    let mut resumed = trials.clone();
    resumed[15..].iter_mut().for_each(|trial| trial.started_s += 3600.0);
    let (plain, later) = (visits(&trials, &Voids::new()), visits(&resumed, &Voids::new()));
    let length = |visits: &[Visit]| visits.last().unwrap().end_s;
    assert!(
        (length(&later) - length(&plain) - 0.99).abs() < 1e-9,
        "a second for the hour, of which 0.01 was there"
    );
    let estimate =
        |trials: &[Trial]| Estimates::of(&points, trials, &Voids::new()).iops(1, Op::Read).unwrap();
    assert!((estimate(&trials).log_mean - estimate(&resumed).log_mean).abs() < 1e-3);
}

#[test]
fn what_was_not_measured_says_so() {
    let (mut points, _) = run(1);
    fill_points(&mut points, &[], &Voids::new(), 0.95);
    assert_eq!(points[0].why_no_interval, Some(NoInterval::NotMeasured));
    assert_eq!(points[0].read, None);
}

/// Eight rounds of ten points that read, then six in which another point writes and a canary comes right after it.
fn writes_alone_at_the_end(canary_iops: u64) -> (Vec<Point>, Vec<Trial>) {
    let mut points = plain_points(11);
    points[10].spec.rw = iosonde_model::Rw::RandWrite;
    let of_reads = (0..80_u64).map(|i| {
        let point = (i % 10) as usize;
        trial(i + 1, Some(point), i as u32 / 10 + 1, &points[point].spec, 998 + (i * i / 3) % 5)
    });
    let late = (80..92_u64).map(|i| {
        let point = (i % 2 == 0).then_some(10);
        let iops = if point.is_some() { 500 } else { canary_iops };
        trial(i + 1, point, i as u32 / 2 - 31, &points[point.unwrap_or(0)].spec, iops)
    });
    let trials = of_reads.chain(late).collect();
    (points, trials)
}

#[test]
fn what_a_write_left_to_the_canary_is_no_trend_of_the_reads() {
    let half_width = |canary_iops| {
        let (points, trials) = writes_alone_at_the_end(canary_iops);
        let estimate = Estimates::of(&points, &trials, &Voids::new()).iops(3, Op::Read).unwrap();
        assert!((estimate.log_mean.exp() / 1000.0 - 1.0).abs() < 0.002, "{estimate:?}");
        estimate.half_width(0.95)
    };
    assert!((half_width(400) / half_width(1000) - 1.0).abs() < 1e-9, "whatever the canary says");
    assert!(half_width(400) < 0.005);
}
