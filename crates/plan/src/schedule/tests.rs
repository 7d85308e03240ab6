//! Rounds, stopping, resuming.

use iosonde_judge::estimate::FEWEST_TRIALS;
use proptest::prelude::*;

use iosonde_model::{Window, WindowDirection};
use iosonde_testkit::plain::{plain_points, trial};

use super::*;

fn terms(budget_s: f64) -> Terms {
    Terms { seed: 7, precision: 0.05, confidence: 0.95, budget_s, rounds: None, overhead_s: 0.01 }
}

fn visit(trial: usize, slot: Slot, start_s: f64, length_s: f64, stands: bool, log_iops: f64) -> Visit {
    Visit {
        trial,
        point: slot.point,
        round: slot.round,
        start_s,
        end_s: start_s + length_s,
        stands,
        leftover: false,
        log_read_iops: Some(log_iops),
        log_write_iops: None,
        log_trim_iops: None,
    }
}

/// Runs a schedule to its end; `rate` gives ln(IOPS) by trial number and slot, `stands` whether a trial
/// stands.
fn run(
    schedule: &Schedule,
    rate: impl Fn(usize, Slot) -> f64,
    stands: impl Fn(usize, Slot) -> bool,
) -> (Vec<Visit>, Vec<Slot>, f64) {
    let (mut visits, mut slots, mut clock_s) = (Vec::new(), Vec::new(), 0.0);
    while let Some(slot) = schedule.next_slot(&visits, clock_s) {
        let n = visits.len();
        assert!(n < 10_000, "it does not end");
        visits.push(visit(n, slot, clock_s, schedule.trial_s, stands(n, slot), rate(n, slot)));
        slots.push(slot);
        clock_s += schedule.trial_s + 0.01;
    }
    (visits, slots, clock_s)
}

/// Noise of about 10 % without pattern.
fn noisy(n: usize, _: Slot) -> f64 {
    8.0 + 0.1 * ((chance::draw(&[n as u64]) % 1000) as f64 / 1000.0 - 0.5) * 3.46
}

fn quiet(n: usize, slot: Slot) -> f64 {
    8.0 + (noisy(n, slot) - 8.0) / 100.0
}

#[test]
fn trials_that_have_to_be_longer_leave_the_rest_to_the_others() {
    // 10 s for four: one takes 4 s, and three share 6.
    assert_eq!(super::even_s(vec![0.0, 4.0, 0.0, 1.5], 10.0), 2.0);
    assert_eq!(super::even_s(vec![0.0, 0.5, 0.0, 1.5], 10.0), 2.5);
    assert_eq!(super::even_s(vec![8.0, 5.0, 0.0], 10.0), -3.0, "a shortest length follows");
}

#[test]
fn ninety_seconds_make_ten_rounds_of_quarter_seconds() {
    let plan = Schedule::new(plain_points(27), terms(70.0)).unwrap().forecast();
    // 0.97 * 70 s / (10 * 28) − 0.01 s = 0.2325 s; a round takes 28 * 0.2425 = 6.79 s, and 70 s hold ten of
    // them.
    assert!((plan.trial_s - 0.2325).abs() < 1e-12, "{plan:?}");
    assert_eq!((plan.points, plan.rounds_expected), (27, 10));
    assert!((plan.expected_s - 67.9).abs() < 1e-9, "{plan:?}");
    // One point: 80 trials in all are 40 rounds with their canary.
    assert_eq!(Schedule::new(plain_points(1), terms(70.0)).unwrap().forecast().rounds_expected, 41);
    // An hour: no trial longer than 10 s.
    assert_eq!(Schedule::new(plain_points(27), terms(3600.0)).unwrap().forecast().trial_s, 10.0);
}

#[test]
fn a_budget_too_short_says_which_would_do() {
    let refused = Schedule::new(plain_points(27), terms(5.0)).unwrap_err();
    // 3 rounds * 28 trials * 0.16 s = 13.44 s.
    assert_eq!(
        refused.to_string(),
        "5.0 s for measuring are too short: 27 points in 3 rounds of at least 0.15 s a trial take 13.4 s, \
         and 9 of them would fit"
    );
    assert_eq!(Schedule::new(Vec::new(), terms(5.0)).unwrap_err(), Unplannable::Nothing);
    // Points that need 3 s each are not said to need 0.15 s.
    let manner = Manner { trial_s_min: 3.0, ..Manner::default() };
    let long = Visiting { manners: vec![manner; 2], ..Visiting::default() };
    let refused = Schedule::visiting(plain_points(2), long, terms(5.0)).unwrap_err().to_string();
    // 3 rounds of two trials of 3 s and a canary of 0.15 s: (6.15 + 0.03) * 3 = 18.54; 6.15 / 3 = 2.05.
    assert!(refused.contains("at least 2.05 s a trial take 18.5 s"), "{refused}");
    assert!(Schedule::new(plain_points(27), terms(13.5)).is_ok());
}

#[test]
fn rounds_visit_everything_once_in_fresh_order_and_end_with_the_budget() {
    let schedule = Schedule::new(plain_points(9), Terms { precision: 1e-9, ..terms(60.0) }).unwrap();
    let (visits, slots, clock_s) = run(&schedule, noisy, |_, _| true);
    assert!(clock_s <= 60.0 && clock_s > 60.0 - 2.0 * (schedule.trial_s + 0.01), "{clock_s}");
    let orders: Vec<Vec<Option<usize>>> = (1..=8)
        .map(|round| slots.iter().filter(|slot| slot.round == round).map(|slot| slot.point).collect())
        .collect();
    for order in &orders {
        let mut sorted = order.clone();
        sorted.sort_unstable();
        let all: Vec<Option<usize>> = std::iter::once(None).chain((0..9).map(Some)).collect();
        assert_eq!(sorted, all, "every point and the canary");
    }
    assert!(orders.windows(2).all(|pair| pair[0] != pair[1]), "{orders:?}");
    let closed = schedule.closed_after(&visits, clock_s);
    assert!(closed.iter().all(|c| *c == Some(Closed::Budget)), "{closed:?}");
}

#[test]
fn quiet_storage_is_done_after_eight_rounds() {
    let schedule = Schedule::new(plain_points(27), terms(70.0)).unwrap();
    let (visits, slots, clock_s) = run(&schedule, quiet, |_, _| true);
    assert_eq!(slots.last().unwrap().round, 8);
    assert_eq!(visits.len(), 8 * 28);
    assert!(schedule.closed_after(&visits, clock_s).iter().all(|c| *c == Some(Closed::Precision)));
    // Before the eighth round is complete nothing is closed.
    let seven: Vec<Visit> = visits.iter().copied().filter(|visit| visit.round < 8).collect();
    assert!(schedule.closed_after(&seven, 50.0).iter().all(Option::is_none));
}

#[test]
fn a_course_goes_on_until_the_time_is_up_without_a_canary() {
    let manner = Manner { to_the_end: true, trial_s_min: 3.0, in_order: true, ..Manner::default() };
    let of = |manner: Manner| {
        let visiting = Visiting { manners: vec![manner], reads_first: false };
        let schedule = Schedule::visiting(plain_points(1), visiting, terms(2000.0)).unwrap();
        let (visits, slots, clock_s) = run(&schedule, quiet, |_, _| true);
        (slots, clock_s, schedule.closed_after(&visits, clock_s))
    };
    let (slots, clock_s, closed) = of(manner);
    assert!(clock_s > 1980.0 && slots.iter().all(|slot| slot.point == Some(0)), "{clock_s}");
    assert_eq!(closed, [Some(Closed::Budget)]);
    // As quiet as this, any other point is known long before.
    let (_, clock_s, closed) = of(Manner { to_the_end: false, ..manner });
    assert!(clock_s < 1000.0 && closed == [Some(Closed::Precision)], "{clock_s}");
}

#[test]
fn time_that_holds_no_point_is_not_filled_with_canaries() {
    let manner = Manner { trial_s_min: 10.0, ..Manner::default() };
    // 300 s hold 14 rounds of two points of 10 s, and 20 s are left that hold no round.
    let visiting = Visiting { manners: vec![manner; 2], ..Visiting::default() };
    let terms = Terms { precision: 1e-9, ..terms(300.0) };
    let schedule = Schedule::visiting(plain_points(2), visiting, terms).unwrap();
    let (mut visits, mut clock_s): (Vec<Visit>, f64) = (Vec::new(), 0.0);
    while let Some(slot) = schedule.next_slot(&visits, clock_s) {
        let length_s = schedule.length_s(slot.point);
        visits.push(visit(visits.len(), slot, clock_s, length_s, true, noisy(visits.len(), slot)));
        clock_s += length_s + 0.01;
    }
    let last = visits.iter().map(|visit| visit.round).max().unwrap();
    assert!(visits.iter().any(|visit| visit.round == last && visit.point.is_some()), "{last}");
    assert!(clock_s > 285.0, "{clock_s}");
}

#[test]
fn one_noisy_point_gets_what_the_others_leave() {
    let schedule = Schedule::new(plain_points(12), terms(70.0)).unwrap();
    let rate = |n, slot: Slot| if slot.point == Some(3) { noisy(n, slot) } else { quiet(n, slot) };
    let (visits, _, clock_s) = run(&schedule, rate, |_, _| true);
    let count = |point| visits.iter().filter(|visit| visit.point == point).count();
    assert_eq!(count(Some(0)), 8);
    assert!(count(Some(3)) > 12, "{}", count(Some(3)));
    // Alone, the point is visited in every round and the canary in every fourth.
    assert!(count(None) < count(Some(3)), "{} canaries", count(None));
    assert_eq!(schedule.closed_after(&visits, clock_s)[3], Some(Closed::Precision));
}

#[test]
fn exactly_so_many_rounds_are_run() {
    let schedule = Schedule::new(plain_points(5), Terms { rounds: Some(4), ..terms(60.0) }).unwrap();
    let (visits, slots, clock_s) = run(&schedule, quiet, |_, _| true);
    assert_eq!((visits.len(), slots.last().unwrap().round), (4 * 6, 4));
    assert!(schedule.closed_after(&visits, clock_s).iter().all(|c| *c == Some(Closed::Rounds)));
    assert!(schedule.closed_after(&visits[..20], 10.0).iter().all(Option::is_none));
}

#[test]
fn a_void_trial_is_asked_again_once_and_a_hopeless_point_holds_nothing_up() {
    let schedule = Schedule::new(plain_points(12), terms(70.0)).unwrap();
    let (visits, slots, _) = run(&schedule, quiet, |_, slot| slot.point != Some(5));
    for round in 1..=3 {
        let tries = slots.iter().filter(|slot| slot.round == round && slot.point == Some(5)).count();
        assert_eq!(tries, 2, "round {round}");
        // Again, but after the others.
        assert_eq!(slots.iter().rfind(|slot| slot.round == round).unwrap().point, Some(5));
    }
    let later = |round| slots.iter().filter(|slot| slot.round == round && slot.point == Some(5)).count();
    assert_eq!(later(4), 1);
    // 80 trials in all are told in round 7, the eighth lets the other points close.
    assert_eq!(visits.iter().map(|visit| visit.round).max(), Some(8));
    // Nothing stands: three rounds, and no more.
    let (visits, ..) = run(&schedule, quiet, |_, _| false);
    assert_eq!(visits.iter().map(|visit| visit.round).max(), Some(3));
}

#[test]
fn the_last_seconds_go_to_the_widest() {
    let points = 6;
    let schedule = Schedule::new(plain_points(points), Terms { precision: 1e-9, ..terms(60.0) }).unwrap();
    let rate = |n, slot: Slot| if slot.point == Some(2) { noisy(n, slot) } else { quiet(n, slot) };
    let (mut visits, _, _) = run(&schedule, rate, |_, _| true);
    visits.retain(|visit| visit.round <= 9);
    // Time for one trial of a round of seven.
    let slot = schedule.next_slot(&visits, 60.0 - 1.5 * (schedule.trial_s + 0.01)).unwrap();
    assert_eq!((slot.round, slot.point), (10, Some(2)));
    assert_eq!(schedule.next_slot(&visits, 60.0 - 0.9 * schedule.trial_s), None, "it could not end in time");
}

#[test]
fn progress_tells_where_it_stands() {
    let schedule = Schedule::new(plain_points(3), terms(30.0)).unwrap();
    let spec = &schedule.points()[1].spec.clone();
    let begin = schedule.progress(&[], &Voids::new(), 0.0);
    assert_eq!((begin.round, begin.rounds_done, begin.open, begin.of), (1, 0, 3, 3));
    assert_eq!((begin.latest, begin.left), (None, TimeLeft::known(30.0)));
    let one = trial(1, Some(1), 1, spec, 500);
    let after = schedule.progress(&[one], &Voids::new(), 1.0);
    let latest = after.latest.unwrap();
    assert_eq!((latest.point, latest.op, latest.half_width), (1, Op::Read, None));
    assert!((latest.iops - 500.0).abs() < 1e-9);
    assert_eq!(after.left, TimeLeft::known(29.0));
    assert_eq!(after.experiments.len(), 1);
    assert_eq!((after.experiments[0].of, after.experiments[0].latest), (3, Some(latest)));
}

#[test]
fn time_left_is_right_within_a_fifth_after_a_third_of_the_run() {
    // Quiet storage ends after eight rounds of its ten, noisy storage with the budget.
    for (rate, precision) in [(quiet as fn(usize, Slot) -> f64, 0.05), (noisy, 0.05), (noisy, 0.02)] {
        let schedule = Schedule::new(plain_points(12), Terms { precision, ..terms(70.0) }).unwrap();
        let (visits, _, end_s) = run(&schedule, rate, |_, _| true);
        for share in [0.34, 0.5, 0.66] {
            let done = (visits.len() as f64 * share) as usize;
            let elapsed_s = end_s * done as f64 / visits.len() as f64;
            let state = schedule.state_before(&visits[..done], u32::MAX);
            let guessed_s =
                schedule.guessed_s(&visits[..done], &state, elapsed_s, (1.0, Outlook::Likely)).unwrap();
            let left_s = guessed_s.min(70.0 - elapsed_s);
            let off = left_s / (end_s - elapsed_s) - 1.0;
            assert!(off.abs() < 0.2, "{precision}, after {share}: {left_s} of {} s", end_s - elapsed_s);
        }
    }
}

#[test]
fn asked_trials_name_their_point_and_the_canary_its_own() {
    let schedule = Schedule::new(plain_points(3), terms(30.0)).unwrap();
    let (mut trials, mut seeds) = (Vec::new(), std::collections::BTreeSet::new());
    for id in 1..=8 {
        let asked = schedule.next(&trials, &Voids::new(), id as f64 * 0.3).unwrap();
        assert_eq!(asked.phase == Phase::Canary, asked.point.is_none());
        assert_eq!(asked.spec, schedule.points()[asked.point.unwrap_or(0)].spec);
        assert!(seeds.insert(asked.seed), "every trial draws anew");
        trials.push(trial(id, asked.point, asked.round, &asked.spec, 500));
    }
    assert_eq!(trials[3].round, 1);
    assert_eq!(trials[4].round, 2);
}

/// A limit that lets its budget pass each 100 ms, beyond a queue depth of 9.
#[test]
fn trials_are_longer_where_the_storage_falls_silent_in_them() {
    // 0.97 * 42 s / (10 * 28) - 0.01 s = 0.1355 s: the shortest.
    for (budget_s, longer_s) in [(42.0, 0.25), (84.0, 0.4)] {
        let schedule = Schedule::new(plain_points(27), terms(budget_s)).unwrap();
        let (mut trials, mut clock_s) = (Vec::new(), 0.0);
        while let Some(asked) = schedule.next(&trials, &Voids::new(), clock_s) {
            let length_s = asked.duration_ns as f64 / 1e9;
            let is_silent = asked.point.is_some_and(|point| point > 8);
            let silences = if is_silent { (length_s / 0.1 + 0.5) as usize } else { 0 };
            let one = trial(trials.len() as u64 + 1, asked.point, asked.round, &asked.spec, 500);
            let stall = iosonde_model::Stall { length_s: 0.09, ..Default::default() };
            let stalls = vec![stall; silences];
            trials.push(Trial { stalls, started_s: clock_s, elapsed_s: length_s, ..one });
            clock_s += length_s + 0.01;
        }
        let lengths_s = |point: usize| -> Vec<f64> {
            trials.iter().filter(|trial| trial.point == Some(point)).map(|trial| trial.elapsed_s).collect()
        };
        let (free, held) = (lengths_s(3), lengths_s(20));
        let is_usual = |length_s: &f64| (length_s - schedule.trial_s).abs() < 1e-8;
        assert!(free.iter().all(is_usual), "{free:?}");
        assert!(is_usual(&held[0]) && held.len() >= FEWEST_TRIALS, "{held:?}");
        let usual_s = median(&held[1..]).unwrap();
        assert!((usual_s / longer_s - 1.0).abs() < 0.1, "{held:?}");
        assert!(clock_s <= budget_s + 1.0, "{clock_s}");
    }
}

/// A buffer that every trial of one point fills, seen when its 27 others are nearly done: what is left is less than two
/// rounds of all.
#[test]
fn a_warm_up_is_longer_as_soon_as_the_other_points_leave_the_time_for_it() {
    let schedule = Schedule::new(plain_points(28), terms(90.0)).unwrap();
    let (mut trials, mut clock_s) = (Vec::<Trial>::new(), 0.0);
    while let Some(asked) = schedule.next(&trials, &Voids::new(), clock_s) {
        let length_s = asked.duration_ns as f64 / 1e9;
        let fills = asked.point == Some(5) && asked.settling_ns == 0;
        // By how much it falls depends on what it finds in the buffer.
        let end = if fills { 250 + 100 * u64::from(asked.round % 2) } else { 500 };
        let mut one = trial(trials.len() as u64 + 1, asked.point, asked.round, &asked.spec, 500 + end);
        let windows = [500, end].map(|iops| Window {
            length_s: 1.0,
            read: Some(WindowDirection { ios: iops, ..Default::default() }),
            ..Window::default()
        });
        (one.windows, one.warmup_s) = (windows.to_vec(), 0.03);
        asked.mark(&mut one);
        trials.push(Trial { started_s: clock_s, elapsed_s: length_s, ..one });
        clock_s += length_s + 0.01;
    }
    let own: Vec<&Trial> = trials.iter().filter(|trial| trial.point == Some(5)).collect();
    let settled = own.iter().filter(|trial| trial.settling_s > 0.0).count();
    assert!((4..=8).contains(&(own.len() - settled)), "{} without", own.len() - settled);
    assert!(settled >= FEWEST_TRIALS, "{settled} of {}", own.len());
    let others = trials.iter().filter(|trial| trial.point != Some(5));
    assert!(others.filter(|trial| trial.settling_s > 0.0).count() == 0);
}

/// Twelve points: two that read, and two of an experiment that wants its order.
fn visited(reads_first: bool) -> Vec<Vec<Option<usize>>> {
    let mut points = plain_points(12);
    points[3].spec.rw = Rw::RandWrite;
    points[8].spec.rw = Rw::Write;
    let mut manners = vec![Manner::default(); 12];
    for place in [5, 6, 7] {
        points[place].experiment = "history".into();
        manners[place] = Manner { in_order: true, ..Manner::default() };
    }
    let visiting = Visiting { manners, reads_first };
    let schedule = Schedule::visiting(points, visiting, Terms { rounds: Some(8), ..terms(70.0) }).unwrap();
    let (_, slots, _) = run(&schedule, quiet, |_, _| true);
    (1..=8).map(|round| slots.iter().filter(|s| s.round == round).map(|s| s.point).collect()).collect()
}

#[test]
fn an_experiment_whose_history_matters_keeps_its_order_and_the_others_none() {
    let rounds = visited(false);
    for round in &rounds {
        let history: Vec<_> = round.iter().flatten().filter(|point| (5..=7).contains(*point)).collect();
        assert_eq!(history, [&5, &6, &7]);
        assert_eq!(round.len(), 13);
    }
    assert!(rounds.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn a_pause_comes_right_before_the_write_that_it_is_for() {
    for reads_first in [false, true] {
        let mut points = plain_points(9);
        let mut manners = vec![Manner::default(); 9];
        for place in [2, 6, 7] {
            points[place].spec.rw = Rw::RandWrite;
        }
        for place in [5, 6] {
            points[place].experiment = "long".into();
            manners[place] = Manner { in_order: true, from_the_start: true, ..Manner::default() };
        }
        let visiting = Visiting { manners, reads_first };
        let terms = Terms { rounds: Some(8), ..terms(70.0) };
        let schedule = Schedule::visiting(points, visiting, terms).unwrap();
        let (_, slots, _) = run(&schedule, quiet, |_, _| true);
        let pauses: Vec<usize> = (0..slots.len()).filter(|&place| slots[place].point == Some(5)).collect();
        assert_eq!(pauses.len(), 8);
        assert!(pauses.iter().all(|&place| slots[place + 1].point == Some(6)), "{slots:?}");
    }
}

#[test]
fn where_asked_points_that_write_come_last_in_every_round() {
    for round in visited(true) {
        let last: std::collections::BTreeSet<_> = round[11..].iter().copied().collect();
        assert_eq!(last, [Some(3), Some(8)].into(), "{round:?}");
    }
    assert!(visited(false).iter().any(|round| round[11] != Some(3) && round[11] != Some(8)));
}

#[test]
fn rounds_that_only_write_have_no_canary_that_reads() {
    let mut points = plain_points(12);
    for point in &mut points[9..] {
        point.spec.rw = Rw::RandWrite;
    }
    let visiting = Visiting { reads_first: true, ..Visiting::default() };
    let of = |points: Vec<Point>| {
        let schedule = Schedule::visiting(points, visiting.clone(), terms(70.0)).unwrap();
        let rate = |n, slot: Slot| if slot.point > Some(8) { noisy(n, slot) } else { quiet(n, slot) };
        let (_, slots, _) = run(&schedule, rate, |_, _| true);
        slots.iter().filter(|slot| slot.point.is_none()).map(|slot| slot.round).collect::<Vec<_>>()
    };
    assert_eq!(of(points.clone()), (1..=8).collect::<Vec<_>>(), "the reads are done after eight rounds");
    points.iter_mut().for_each(|point| point.spec.rw = Rw::RandWrite);
    assert!(of(points).last() > Some(&8), "one that writes itself goes on");
}

/// Nine points of which two write, and a pause with its long write of 5 s.
fn long_and_short() -> Schedule {
    let mut points = plain_points(11);
    let mut manners = vec![Manner::default(); 11];
    for place in [3, 8, 10] {
        points[place].spec.rw = Rw::RandWrite;
    }
    for place in [9, 10] {
        points[place].experiment = "long".into();
        manners[place] =
            Manner { in_order: true, from_the_start: true, trial_s_min: 5.0, ..Manner::default() };
    }
    let visiting = Visiting { manners, reads_first: true };
    // Nine rounds of 2 * 5.01 s and ten of 0.16 s, and 7 s more.
    Schedule::visiting(points, visiting, Terms { precision: 1e-9, ..terms(112.0) }).unwrap()
}

#[test]
fn long_trials_do_not_make_short_ones_seem_as_long() {
    let schedule = long_and_short();
    let (mut visits, mut clock_s): (Vec<Visit>, f64) = (Vec::new(), 0.0);
    while let Some(slot) = schedule.next_slot(&visits, clock_s) {
        let n = visits.len();
        let wide = slot.point.is_some_and(|point| [3, 4, 8].contains(&point));
        let rate = if wide { noisy(n, slot) } else { quiet(n, slot) };
        let length_s = schedule.length_s(slot.point);
        visits.push(visit(n, slot, clock_s, length_s, true, rate));
        clock_s += length_s + 0.01;
    }
    assert!(clock_s <= 112.0 && 112.0 - clock_s < 0.5, "the time is used: {clock_s}");
    let rounds = visits.last().unwrap().round;
    assert!(rounds >= 9, "{rounds}");
    for round in 1..=rounds {
        let own: Vec<Option<usize>> = visits.iter().filter(|v| v.round == round).map(|v| v.point).collect();
        if round <= 9 {
            assert_eq!(own.len(), 12, "round {round} is whole: {own:?}");
        }
        let short: Vec<usize> = own.iter().copied().flatten().filter(|point| *point < 9).collect();
        let writes = |point: &usize| [3, 8].contains(point);
        let first = short.iter().position(writes).unwrap_or(short.len());
        assert!(short[first..].iter().all(writes), "reads first, round {round}: {own:?}");
        let pause = own.iter().position(|point| *point == Some(9));
        let write = own.iter().position(|point| *point == Some(10));
        assert_eq!(pause.map(|place| place + 1), write, "round {round}: {own:?}");
    }
}

#[test]
fn a_pause_and_its_long_write_end_a_run_together_or_not_at_all() {
    let schedule = long_and_short();
    let slots: Vec<Slot> = [9, 10, 4].map(|point| Slot { round: 5, point: Some(point), attempt: 0 }).into();
    let units = schedule.units(&slots, 0.01);
    assert_eq!(units.iter().map(|unit| unit.places.clone()).collect::<Vec<_>>(), [vec![0, 1], vec![2]]);
    assert!((units[0].cost_s - 10.02).abs() < 1e-9, "{units:?}");
    let state = schedule.state_before(&[], 1);
    let kept = |left_s: f64| {
        let mut slots = slots.clone();
        state.keep_widest(&mut slots, &units, left_s);
        slots.iter().map(|slot| slot.point.unwrap()).collect::<Vec<_>>()
    };
    assert_eq!((kept(8.0), kept(10.1), kept(11.0)), (vec![4], vec![9, 10], vec![9, 10, 4]));
}

#[test]
fn points_that_nobody_waits_for_do_not_end_a_run_that_others_need() {
    let terms = Terms { precision: 1e-9, ..terms(70.0) };
    // Only the hopeless one is visited in every round, the others in every fourth.
    let mut shares = vec![0.25; 5];
    shares[2] = 1.0;
    let schedule = Schedule::new(plain_points(5), terms).unwrap().with_emphasis(3, shares);
    let (_, _, clock_s) = run(&schedule, noisy, |_, slot| slot.point != Some(2));
    assert!(clock_s > 69.0, "{clock_s}");
}

#[test]
fn trials_with_a_length_of_their_own_keep_it_and_the_others_share_the_rest() {
    let long = Manner { trial_s_min: 5.0, from_the_start: true, ..Manner::default() };
    let visiting = |count: usize| Visiting {
        manners: (0..count).map(|place| if place == 1 { long } else { Manner::default() }).collect(),
        reads_first: false,
    };
    let schedule = Schedule::visiting(plain_points(9), visiting(9), terms(100.0)).unwrap();
    // 97 s / 10 rounds - 5.01 s = 4.69 s for eight points and the canary.
    let plan = schedule.forecast();
    assert!((plan.trial_s - (4.69 / 9.0 - 0.01)).abs() < 1e-9, "{plan:?}");
    assert_eq!(plan.rounds_expected, 10);
    let (visits, _, clock_s) = run(&schedule, quiet, |_, _| true);
    assert!(clock_s <= 100.0 && !visits.is_empty());
    let asked = (0..10).scan(Vec::new(), |trials, id| {
        let asked = schedule.next(trials, &Voids::new(), 1.0)?;
        trials.push(trial(id, asked.point, asked.round, &asked.spec, 500));
        Some(asked)
    });
    let long = asked.into_iter().find(|asked| asked.point == Some(1)).unwrap();
    assert_eq!((long.duration_ns, long.from_the_start), (5_000_000_000, true));
    // Three rounds of 5.01 s and nine of 0.16 s.
    assert!(Schedule::visiting(plain_points(9), visiting(9), terms(19.0)).is_err());
    assert!(Schedule::visiting(plain_points(9), visiting(9), terms(19.5)).is_ok());
}

proptest! {
    #[test]
    fn resuming_changes_nothing(seed in any::<u64>(), points in 1usize..8, cut in 0usize..60, void in 0u64..20) {
        let terms = Terms { seed, ..terms(40.0) };
        let schedule = Schedule::new(plain_points(points), terms.clone()).unwrap();
        let stands = |n: usize, _: Slot| chance::draw(&[seed, n as u64]) % 20 >= void / 4;
        let (visits, slots, _) = run(&schedule, noisy, stands);
        let cut = cut.min(visits.len());
        // Another schedule, with no memory, that sees the first trials only.
        let fresh = Schedule::new(plain_points(points), terms).unwrap();
        let elapsed_s = cut as f64 * (schedule.trial_s + 0.01);
        prop_assert_eq!(fresh.next_slot(&visits[..cut], elapsed_s), slots.get(cut).copied());
    }
}
