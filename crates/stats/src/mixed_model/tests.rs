//! The fit on data whose answer is known.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;

/// Rows of `groups` groups in `rounds` rounds, a second each, whose logarithms `value` gives from group and
/// time.
fn rows(groups: usize, rounds: usize, mut value: impl FnMut(usize, f64) -> f64) -> Vec<Row> {
    (0..groups * rounds)
        .map(|i| {
            let start_s = i as f64;
            // A fixed rotation stands for the random order.
            let group = (i + i / groups * 2) % groups;
            Row { group, start_s, end_s: start_s + 1.0, log_value: value(group, start_s + 0.5) }
        })
        .collect()
}

#[test]
fn without_noise_the_levels_come_back() {
    let fit = MixedModel::fit(&rows(3, 8, |group, _| group as f64), 3, Average::OverTime).unwrap();
    for group in 0..3 {
        let got = fit.estimate(group).unwrap();
        assert!((got.log_mean - group as f64).abs() < 1e-9 && got.standard_error < 1e-6, "{got:?}");
    }
    assert!(fit.outliers().is_empty());
    assert_eq!(fit.kept(0), 8);
}

#[test]
fn a_drift_is_averaged_over_the_time_and_not_over_the_rows() {
    // Group 2 has rows in the first third only; a rate that falls by e over the run. Its mean over all the
    // time is (1 − e⁻¹) of its first value, not its own rows' mean.
    let all = rows(4, 12, |group, at_s| group as f64 - at_s / 48.0);
    let early: Vec<Row> = all.into_iter().filter(|row| row.group != 2 || row.start_s < 16.0).collect();
    let fit = MixedModel::fit(&early, 4, Average::OverTime).unwrap();
    let want = 2.0 + (1.0 - (-1f64).exp()).ln();
    // 1e-4: the trend is averaged over 64 places.
    assert!((fit.estimate(2).unwrap().log_mean - want).abs() < 1e-4, "{:?} for {want}", fit.estimate(2));
    assert!((fit.ratio(2, 3).unwrap().log_mean + 1.0).abs() < 1e-6);
}

#[test]
fn groups_that_a_trend_fits_worse_than_none_do_not_follow_it() {
    // Seven groups lose 40 % early, with 1 % of noise; three repeat to the last digit.
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    let all = rows(10, 10, |group, at_s| {
        let noise: f64 = random.sample(StandardNormal);
        let own = if group < 7 { 0.5 * (-at_s / 15.0).exp() + 0.01 * noise } else { 0.0 };
        group as f64 + own
    });
    let fit = MixedModel::fit(&all, 10, Average::OverTime).unwrap();
    for group in 7..10 {
        let got = fit.estimate(group).unwrap();
        assert!((got.log_mean - group as f64).abs() < 1e-6 && got.half_width(0.95) < 1e-4, "{got:?}");
    }
    let got = fit.estimate(2).unwrap();
    // Mean of exp(0.5 exp(-t / 15)) over 100 s.
    let want =
        2.0 + ((0..1000).map(|i| (0.5 * (-f64::from(i) / 150.0).exp()).exp()).sum::<f64>() / 1000.0).ln();
    assert!((got.log_mean - want).abs() < 0.02 && got.half_width(0.95) < 0.04, "{got:?} for {want}");
    // What one follows and another does not is no part of their ratio's certainty, and their difference still is.
    let ratio = fit.ratio(2, 8).unwrap();
    assert!((ratio.log_mean - (want - 8.0)).abs() < 0.02, "{ratio:?}");
}

#[test]
fn rate_times_duration_is_the_concurrency() {
    // QD 1: the latency is the reciprocal of the rate, whatever the drift and the noise.
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let rate = rows(5, 10, |group, at_s| {
        let noise: f64 = random.sample(StandardNormal);
        group as f64 - at_s / 20.0 + 0.1 * noise
    });
    let latency: Vec<Row> = rate.iter().map(|row| Row { log_value: -row.log_value, ..*row }).collect();
    let rate = MixedModel::fit(&rate, 5, Average::OverTime).unwrap();
    let latency = MixedModel::fit(&latency, 5, Average::OverEvents).unwrap();
    for group in 0..5 {
        let product = rate.estimate(group).unwrap().log_mean + latency.estimate(group).unwrap().log_mean;
        assert!(product.abs() < 1e-9, "{product}");
    }
}

#[test]
fn without_drift_the_estimate_is_the_plain_mean_of_the_values() {
    // Two ways of being, one half as fast: the mean of 1 and 1/2 is 0.75, whatever their logarithms say. Both
    // ways come in both halves of the time, so that nothing of it is drift.
    let all = rows(1, 40, |_, at_s| if matches!(at_s as u32 % 4, 0 | 3) { 0.0 } else { -(2f64.ln()) });
    let rate = MixedModel::fit(&all, 1, Average::OverTime).unwrap().estimate(0).unwrap();
    assert!((rate.value() - 0.75).abs() < 0.002, "{rate:?}");
}

#[test]
fn a_slow_row_is_an_outlier_and_a_second_mode_is_not() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    let mut all = rows(6, 10, |_, _| 0.03 * random.sample::<f64, _>(StandardNormal));
    all[17].log_value -= 0.7;
    let fit = MixedModel::fit(&all, 6, Average::OverTime).unwrap();
    assert_eq!(fit.outliers(), [17]);
    // Half of the rows of a group, slow: none of them is an exception.
    for row in all.iter_mut().filter(|row| row.group == 2 && (row.start_s as u32 / 6).is_multiple_of(2)) {
        row.log_value -= 0.7;
    }
    let fit = MixedModel::fit(&all, 6, Average::OverTime).unwrap();
    assert_eq!(fit.kept(2), 10);
    assert!(fit.estimate(2).unwrap().half_width(0.95) > 0.2);
}

#[test]
fn rows_that_are_slow_in_the_same_way_are_a_mode_and_not_outliers() {
    // A drive that is 25 % faster in two of eight trials to the last digit, by what was written before. Both were once
    // excluded as outliers, and the mean was that of the other six, ±0.0 %.
    let fast = |group: usize, at_s: f64| group == 3 && [2.0, 6.0].contains(&(at_s / 12.0).floor());
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    let mut all = rows(12, 8, |group, at_s| {
        let noise = if group == 3 { 1e-7 } else { 2e-3 } * random.sample::<f64, _>(StandardNormal);
        group as f64 + noise + if fast(group, at_s) { 0.25 } else { 0.0 }
    });
    let fit = MixedModel::fit(&all, 12, Average::OverTime).unwrap();
    assert_eq!((fit.kept(3), fit.outliers()), (8, Vec::new()));
    let second = fit.second_modes();
    assert_eq!(second.len(), 2);
    for (row, distance, scatter) in second {
        assert!(all[row].log_value > 3.2 && (distance - 0.25).abs() < 0.01, "{row}: {distance}");
        assert!(scatter < 0.01, "{scatter}");
    }
    let own: Vec<f64> = all.iter().filter(|row| row.group == 3).map(|row| row.log_value.exp()).collect();
    let (mean, half) = (fit.estimate(3).unwrap().value(), fit.estimate(3).unwrap().half_width(0.95));
    assert!((mean / (own.iter().sum::<f64>() / 8.0) - 1.0).abs() < 0.01, "{mean}");
    // The plain t interval has 0.097.
    assert!(half > 0.09 && half < 0.15, "{half}");
    // Two that are slow by different amounts were disturbed.
    let slow: Vec<usize> = (0..all.len()).filter(|&i| all[i].group == 5).take(2).collect();
    (all[slow[0]].log_value, all[slow[1]].log_value) = (4.2, 4.7);
    assert_eq!(MixedModel::fit(&all, 12, Average::OverTime).unwrap().outliers(), slow);
}

/// 4 KiB reads that repeat to the last digit, others that scatter by 1 %, and large reads that fall by 30 % for
/// themselves: every interval was 8 to 50 times as wide as the plain t interval of the same rows.
#[test]
fn a_group_with_a_trend_of_its_own_or_without_scatter_leaves_the_others_intervals_alone() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let all = rows(16, 12, |group, at_s| {
        let noise: f64 = random.sample(StandardNormal);
        let own_trend = 0.4 * (-at_s / 60.0).exp();
        group as f64
            + match group {
                0..4 => 1e-7 * noise,
                4..11 => 0.01 * noise,
                _ => 0.005 * noise + own_trend,
            }
    });
    let fit = MixedModel::fit(&all, 16, Average::OverTime).unwrap();
    for group in 0..16 {
        let own: Vec<f64> = all.iter().filter(|row| row.group == group).map(|row| row.log_value).collect();
        let plain = LogEstimate::mean_of(&own).unwrap().half_width(0.95);
        let half = fit.estimate(group).unwrap().half_width(0.95);
        assert!(half < 1.5 * plain.max(1e-6), "{group}: {half} for {plain}");
    }
}

/// Without noise, one deviating row once made every group's interval ±13 % wide.
#[test]
fn where_rows_repeat_to_the_last_digit_a_deviating_row_is_an_outlier() {
    let mut all = rows(28, 9, |group, _| group as f64);
    let at_s = all.last().unwrap().end_s + 5.0;
    all.push(Row { group: 3, start_s: at_s, end_s: at_s + 1.0, log_value: 2.55 });
    let fit = MixedModel::fit(&all, 28, Average::OverTime).unwrap();
    assert_eq!(fit.outliers(), [all.len() - 1]);
    assert!((0..28).all(|group| fit.estimate(group).unwrap().half_width(0.95) < 1e-3));
    // Two rows a group are too few to say which of them is the exception.
    let mut few = rows(28, 2, |group, _| group as f64);
    few[55].log_value += 0.5;
    assert!(MixedModel::fit(&few, 28, Average::OverTime).unwrap().outliers().is_empty());
}

#[test]
fn a_bend_in_the_drift_is_followed() {
    // The rate halves within a tenth of the run: no straight line, and no noise either. Groups that have rows
    // on both sides know it; group 0, which stopped before, is carried on by them.
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    let all = rows(20, 12, |_, at_s| {
        let step = if at_s < 120.0 { 0.0 } else { -0.7 };
        step + 0.02 * random.sample::<f64, _>(StandardNormal)
    });
    let part: Vec<Row> = all.into_iter().filter(|row| row.group != 0 || row.start_s < 100.0).collect();
    let fit = MixedModel::fit(&part, 20, Average::OverTime).unwrap();
    // Half of the time at 1, half at e^−0.7.
    let want = (0.5 + 0.5 * (-0.7f64).exp()).ln();
    let got = fit.estimate(0).unwrap();
    assert!((got.log_mean - want).abs() < got.half_width(0.99), "{got:?} for {want}");
    assert!(got.half_width(0.95) < 0.12, "{got:?}");
}

#[test]
fn a_group_without_the_trend_stays_within_its_own_values() {
    // Four of ten rounds at 1, then a third of it, as a fast cache fills; groups 0 to 3 know nothing of that. Most rows
    // follow the fall, so that the constant groups' early ones lie far out; as followers of that trend each of them
    // would come out a quarter above all that it ever gave.
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let all = rows(12, 10, |group, at_s| {
        let filled = if group > 3 && at_s > 48.0 { -1.1 } else { 0.0 };
        filled + 0.01 * random.sample::<f64, _>(StandardNormal)
    });
    let fit = MixedModel::fit(&all, 12, Average::OverTime).unwrap();
    for group in 0..4 {
        let got = fit.estimate(group).unwrap();
        // Ten trials with 1 % of noise: ±0.7 %.
        let half = got.half_width(0.99);
        assert!(got.log_mean.abs() < half && half < 0.03, "{group}: {got:?}");
    }
}

#[test]
fn a_group_that_ended_early_goes_no_further_than_the_steadiest_of_the_rest() {
    // Groups 0 to 2 never change and end with the first half; 3 becomes a quarter faster once it is served alone. With
    // the canary, 4, which stays as it is, and without.
    let level = |group: usize, at_s: f64| group as f64 + if group == 3 && at_s > 60.0 { 0.22 } else { 0.0 };
    let all = rows(5, 24, level);
    let early = |row: &&Row| row.group > 2 || row.start_s < 60.0;
    for canary in [true, false] {
        let kept: Vec<Row> =
            all.iter().filter(early).filter(|row| canary || row.group < 4).copied().collect();
        let fit = MixedModel::fit(&kept, 5, Average::OverTime).unwrap();
        for group in 0..3 {
            let got = fit.estimate(group).unwrap().log_mean;
            assert!((got - group as f64).abs() < 1e-6, "{canary} {group}: {got}");
        }
    }
    // What all that are left go through, it goes through as well.
    let falling: Vec<Row> =
        rows(5, 24, |group, at_s| group as f64 - at_s / 120.0).iter().filter(early).copied().collect();
    let fit = MixedModel::fit(&falling, 5, Average::OverTime).unwrap();
    let want = 1.0 + (1.0 - (-1f64).exp()).ln();
    assert!((fit.estimate(1).unwrap().log_mean - want).abs() < 5e-3, "{:?}", fit.estimate(1));
}

#[test]
fn nothing_and_too_little_give_nothing() {
    assert!(MixedModel::fit(&[], 3, Average::OverTime).is_none());
    let once = rows(3, 1, |group, _| group as f64);
    let fit = MixedModel::fit(&once, 4, Average::OverTime).unwrap();
    assert_eq!(fit.estimate(0), None);
    assert_eq!(fit.estimate(3), None);
}

#[test]
fn correlation_is_found_where_it_is() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
    let mut normal = || random.sample::<f64, _>(StandardNormal);
    let mut last = 0.0;
    let wander = rows(20, 15, |_, _| {
        last = 0.6 * last + 0.8 * normal();
        0.05 * last
    });
    let (in_time, in_group) = MixedModel::fit(&wander, 20, Average::OverTime).unwrap().correlations();
    // 300 rows tell ρ to 0.05, and half as much again is feared; the trend takes a part of it for drift.
    assert!(in_time > 0.45 && in_time < 0.75 && in_group < 0.2, "{in_time} {in_group}");
    let mut lasts = [0.0; 20];
    let own = rows(20, 15, |group, _| {
        lasts[group] = 0.6 * lasts[group] + 0.8 * normal();
        0.05 * lasts[group]
    });
    let (in_time, in_group) = MixedModel::fit(&own, 20, Average::OverTime).unwrap().correlations();
    assert!(in_group > 0.45 && in_group < 0.8 && in_time < 0.2, "{in_time} {in_group}");
}

proptest! {
    #[test]
    fn units_and_the_order_of_rows_do_not_matter(
        seed in any::<u64>(),
        factor in -20.0f64..20.0,
        turn in 0usize..60,
    ) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let plain = rows(6, 10, |group, _| group as f64 + 0.1 * random.sample::<f64, _>(StandardNormal));
        let mut moved: Vec<Row> =
            plain.iter().map(|row| Row { log_value: row.log_value + factor, ..*row }).collect();
        moved.rotate_left(turn);
        let fit = |rows: &[Row]| MixedModel::fit(rows, 6, Average::OverTime).unwrap();
        let (a, b) = (fit(&plain), fit(&moved));
        for group in 0..6 {
            let (a, b) = (a.estimate(group).unwrap(), b.estimate(group).unwrap());
            prop_assert!((b.log_mean - a.log_mean - factor).abs() < 1e-7);
            prop_assert!((b.standard_error / a.standard_error - 1.0).abs() < 1e-5);
        }
    }
}

#[test]
fn a_canary_of_another_kind_keeps_a_group_that_ended_early_in_its_place() {
    // Groups 0 to 2 never change and end with the first half. 3 and 4 go on, and rise by a quarter when they are served
    // alone: a buffer that fewer writes leave empty.
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let level = |group: usize, at_s: f64| {
        let risen = if group >= 3 && at_s > 60.0 { 0.22 } else { 0.0 };
        group as f64 + risen + 0.001 * random.sample::<f64, _>(StandardNormal)
    };
    let early = |row: &Row| row.group > 2 || row.start_s < 60.0;
    let kept: Vec<Row> = rows(5, 24, level).into_iter().filter(early).collect();
    let canary = |falls: f64| -> Vec<Row> {
        rows(5, 24, |_, at_s| 5.0 - falls * at_s / 120.0).into_iter().filter(|row| row.group == 0).collect()
    };
    let level = |witness: &[Row]| {
        MixedModel::fit_with(Beside { reference: witness, ..Beside::default() }, &kept, 5, Average::OverTime)
            .unwrap()
            .estimate(1)
            .unwrap()
            .log_mean
    };
    assert!((level(&canary(0.0)) - 1.0).abs() < 0.01, "{}", level(&canary(0.0)));
    assert!(level(&[]) > 1.05, "nobody tells that it is their own doing: {}", level(&[]));
    assert!(level(&canary(-0.5)) > 1.05, "all rise");
    // One that took what writes left behind from then on, and tells nothing of it.
    let ended = canary(-0.5).into_iter().filter(|row| row.end_s < 20.0).collect::<Vec<_>>();
    assert!(!ended.is_empty() && (level(&ended) - 1.0).abs() < 0.01, "{}", level(&ended));
}
