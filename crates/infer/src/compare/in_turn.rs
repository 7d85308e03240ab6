//! Pairs: two runs that took turns, trial beside trial within each round.
//!
//! What disturbs both alike (a machine that becomes slower, a neighbour that stays for a minute) is in both trials of a
//! pair and not in their ratio. So the error of a line's ratio is taken from its pairs, one a round, through the same
//! fit that gives a run's own intervals ([`MixedModel`]): with its allowance for what neighbours in time have in
//! common, with what lines lend each other, and without pairs that lie far out. The ratio itself stays that of both
//! runs' figures, which are means over time; a mean of the pairs' logarithms is not.

use std::collections::BTreeMap;

use iosonde_judge::{
    estimate::{FEWEST_TRIALS, Visit, visits},
    standing,
};
use iosonde_model::{Op, Run};
use iosonde_stats::{
    LogEstimate,
    mixed_model::{Average, MixedModel, Row},
};

/// One line: the point's id in each run, and which of its requests.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paired {
    pub points: [usize; 2],
    pub op: Op,
}

/// What the pairs say of the logarithm of b / a of each line; none where the runs did not take turns, or a line has too
/// few pairs.
pub(super) fn log_ratios(a: &Run, b: &Run, lines: &[Paired]) -> Vec<Option<LogEstimate>> {
    if !a.info.in_turn_with.contains(&b.info.id) {
        return vec![None; lines.len()];
    }
    let (of_a, of_b) = (valid_visits(a), valid_visits(b));
    let mut rows = Vec::new();
    for (group, line) in lines.iter().enumerate() {
        for (&(_, round), visit) in of_a.range((line.points[0], 0)..=(line.points[0], u32::MAX)) {
            let other = of_b.get(&(line.points[1], round));
            let logs = visit.log_iops(line.op).zip(other.and_then(|other| other.log_iops(line.op)));
            if let Some((log_a, log_b)) = logs {
                let (start_s, end_s) = (visit.start_s, visit.end_s);
                rows.push(Row { group, start_s, end_s, log_value: log_b - log_a });
            }
        }
    }
    means(&rows, lines.len())
}

/// The trials of a run whose throughput is valid, by point and round.
pub(super) fn valid_visits(run: &Run) -> BTreeMap<(usize, u32), Visit> {
    let visits = visits(&run.trials, &standing::voids(run));
    let valid = visits.into_iter().filter(|visit| visit.stands);
    valid.filter_map(|visit| Some(((visit.point?, visit.round), visit))).collect()
}

/// The mean of each group of rows; none where it has too few.
pub(super) fn means(rows: &[Row], groups: usize) -> Vec<Option<LogEstimate>> {
    let Some(fit) = MixedModel::fit(rows, groups, Average::OverTime) else { return vec![None; groups] };
    let told = |group| fit.estimate(group).filter(|_| fit.kept(group) >= FEWEST_TRIALS);
    (0..groups).map(told).collect()
}

#[cfg(test)]
mod tests {
    use iosonde_testkit::plain::{plain_points, trial};
    use iosonde_testkit::specimen;

    use super::*;

    /// Twelve rounds of three points: what disturbs a round, up to 20 %, is on both sides alike, and 1 % is its own.
    fn run(id: &str, other: &str, factor: f64, own: u64) -> Run {
        let mut run = specimen::run(specimen::usual());
        (run.info.id, run.info.in_turn_with) = (id.to_owned(), vec![other.to_owned()]);
        run.info.study_source = String::new();
        run.points = plain_points(3);
        let of = |i: u64| {
            let (round, point) = (i / 3, (i % 3) as usize);
            let common = 1.0 + 0.02 * ((round * round * 7 + i) % 11) as f64;
            let noise = 1.0 + 0.001 * ((i * i * 5 + i * own) % 21) as f64;
            let iops = 1000.0 * (point + 1) as f64 * common * noise * factor;
            trial(i + 1, Some(point), round as u32 + 1, &run.points[point].spec, iops as u64)
        };
        run.trials = (0..36).map(of).collect();
        run
    }

    #[test]
    fn what_disturbs_both_is_not_in_their_ratio() {
        let (a, b) = (run("a", "b", 1.0, 3), run("b", "a", 1.1, 8));
        let lines = [0, 1, 2].map(|point| Paired { points: [point, point], op: Op::Read });
        let pairs = log_ratios(&a, &b, &lines);
        let alone = iosonde_judge::estimate::Estimates::of(&a.points, &a.trials, &standing::voids(&a));
        for (point, ratio) in pairs.iter().enumerate() {
            let ratio = ratio.unwrap();
            let half = ratio.half_width(0.95);
            assert!((ratio.log_mean - 1.1f64.ln()).abs() < half + 0.001, "{ratio:?}");
            let without = alone.iops(point, Op::Read).unwrap().half_width(0.95);
            assert!(half < 0.5 * without, "in pairs {half}, one side alone {without}");
        }
    }

    #[test]
    fn only_runs_that_took_turns_have_pairs_and_only_rounds_that_both_have() {
        let lines = [Paired { points: [0, 0], op: Op::Read }];
        let (a, mut b) = (run("a", "c", 1.0, 3), run("b", "a", 1.0, 8));
        assert_eq!(log_ratios(&a, &b, &lines), [None]);
        let a = run("a", "b", 1.0, 3);
        assert!(log_ratios(&a, &b, &lines)[0].is_some());
        b.trials.retain(|trial| trial.round > 8);
        assert_eq!(log_ratios(&a, &b, &lines), [None], "four pairs are too few for an interval");
    }
}
