//! The rate that a set limit allows: a control group's, or a cloud volume's once its credit is spent.
//!
//! What it is: the rate at which requests pass a limit that was set, whatever the storage behind it could do.
//!
//! How it is computed: where a control group's limit was seen and reached, from the trials at it, whatever else
//! used the device. The interval contains half a slice of 100 ms, in which the kernel lets the budget pass.
//! Otherwise from an unbroken load: its windows are divided where two levels fit them best. It is a limit where
//! throughput falls by a sixth or more, beyond the scatter by five standard deviations, and the trials after the
//! fall agree within 1 %. The value is the geometric mean over trials, with Student's interval.
//!
//! Where throughput does not fall and no witness exists, no limit is visible. A limit that held from the first
//! second on looks like the storage's own throughput; see `constant_limit`.
//!
//! Assumes: that a medium scatters. Heat slows a drive down as well; a drive that then keeps its throughput within
//! 1 % would be taken for a limit (`throttled` looks at its sensor). Requests of 128 KiB and more are counted in
//! bytes per second.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    Detail, Estimate, ExperimentName, Finding, FindingName, Unit,
    detail::{Lack, Limit},
};

use super::{
    FindingKind, Proof, ScreenLine,
    group::{Group, Writer},
    limit::{self, Fell, Shown},
    over_trials,
};
use iosonde_judge::check::Symptom;

/// Linux lets a limit's budget pass in slices of this length (`DFL_THROTL_SLICE` in block/blk-throttle.c): of a trial's
/// first and last one half is its own, on average.
const SLICE_S: f64 = 0.1;

pub(crate) struct ThrottleRate;

impl FindingKind for ThrottleRate {
    fn id(&self) -> FindingName {
        FindingName::ThrottleRate
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::Limit]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::always("limit")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let groups = limit::groups(points);
        groups.iter().map(|group| one(experiment, group, confidence)).collect()
    }

    fn wants(&self) -> Option<Lack> {
        Some(Lack::LongLoad)
    }

    /// Two rates in one mean are what a limit does: the experiment loads the storage until the rate falls, so that the
    /// trials before and after differ by design.
    fn explains(&self) -> Option<Symptom> {
        Some(Symptom::SeveralRates)
    }

    fn proof(&self) -> Proof {
        Proof { truths: &[(Some(1000.0), "the volume's own rate: 1,000 requests a second")], ..limit::PROOF }
    }
}

fn one(experiment: &str, group: &Group, confidence: f64) -> Finding {
    let block_bytes = group.conditions.block_size_bytes.unwrap_or(0);
    let as_bytes = limit::in_bytes(block_bytes);
    let unit = if as_bytes { Unit::Rate } else { Unit::Iops };
    let writer = Writer { name: FindingName::ThrottleRate, experiment, unit, confidence };
    let evidence = group.points[0];
    match limit::shown(evidence, group.op, confidence) {
        Err(why) => writer.inconclusive(&group.conditions, &group.points, why),
        Ok(Shown::Level(load_s)) => {
            writer.absent(&group.conditions, &group.points, Detail::Limit(Limit::Level { load_s }))
        }
        Ok(Shown::Witnessed(rates, limit)) => {
            let unit = if limit.iops.is_some() { Unit::Iops } else { Unit::Rate };
            let writer = Writer { unit, ..writer };
            let estimate = match over_trials::valid_mean(&rates, confidence) {
                Ok(estimate) => estimate,
                Err(why) => return writer.inconclusive(&group.conditions, &group.points, why),
            };
            let shortest_s =
                evidence.trials.iter().map(|trial| trial.measured_s).fold(f64::INFINITY, f64::min);
            let estimate = over_trials::widened(estimate, SLICE_S / 2.0 / shortest_s.max(SLICE_S));
            let set = Detail::Limit(Limit::Set { limit, trials: rates.len() });
            writer.concluded(&group.conditions, &group.points, estimate, set)
        }
        Ok(Shown::Fell(Fell { before, cap, lasted_s, .. })) => {
            let each = if as_bytes { block_bytes as f64 } else { 1.0 };
            let times = |end: Option<f64>| end.map(|end| end * each);
            let cap = Estimate { value: cap.value * each, low: times(cap.low), high: times(cap.high) };
            let fell = Detail::Limit(Limit::Fell { before_iops: before, lasted_s });
            writer.concluded(&group.conditions, &group.points, cap, fell)
        }
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::{About, Inconclusive, IoLimit, Op, Point, Rw, Status, Trial, detail::LimitProblem};
    use iosonde_testkit::specimen;

    use super::*;
    use crate::testing::{Conclusions, Pretend};

    fn concluded(trials: &[Trial]) -> Finding {
        let point = Point::planned(0, "limit", trials[0].spec.clone());
        let trials: Vec<&Trial> = trials.iter().collect();
        let void = vec![None; trials.len()];
        let evidence = [Evidence { point: &point, trials, void, read: None, write: None }];
        ThrottleRate.conclude("limit", &evidence, 0.95).remove(0)
    }

    fn why(finding: &Finding) -> &Inconclusive {
        let Detail::Inconclusive(why) = &finding.detail else { panic!("{finding:?}") };
        why
    }

    fn trials(rates: &[u64]) -> Vec<Trial> {
        let trial = |(nth, rate): (usize, &u64)| {
            let mut trial = specimen::healthy(Rw::RandRead, 4096, 32, *rate);
            (trial.id, trial.started_s) = (nth as u64 + 1, 1.11 * nth as f64);
            trial
        };
        rates.iter().enumerate().map(trial).collect()
    }

    #[test]
    fn a_fall_to_a_cap_is_a_limit_and_one_to_a_scatter_is_not() {
        let found = concluded(&trials(&[5000, 5000, 1000, 1000, 1001, 999, 1000, 1000]));
        assert_eq!(found.status, Status::Found, "{found:?}");
        assert!((found.value.unwrap() - 1000.0).abs() < 2.0, "{found:?}");
        let scatters = concluded(&trials(&[5000, 5000, 1000, 1050, 950, 1020, 980, 1000]));
        assert!(matches!(why(&scatters), Inconclusive::Limit(LimitProblem::Scatter { .. })), "{scatters:?}");
        let soon = concluded(&trials(&[5000, 5000, 5000, 5000, 1000, 1000, 1000]));
        assert_eq!(*why(&soon), LimitProblem::FewAfterFall { trials: 2 }.into());
        assert_eq!(concluded(&trials(&[5000; 8])).status, Status::Absent);
        assert_eq!(concluded(&trials(&[5000; 3])).status, Status::Inconclusive);
    }

    #[test]
    fn a_control_group_that_was_reached_is_named_with_its_figure() {
        let mut all = trials(&[4990, 5001, 4995, 5000, 4998, 5003]);
        for trial in &mut all {
            trial.witnesses.io_limits = Some(vec![IoLimit {
                set_by: "/sys/fs/cgroup/box/io.max".into(),
                device: "vda".into(),
                op: Op::Read,
                iops: Some(5000.0),
                bytes_per_s: None,
            }]);
        }
        let found = concluded(&all);
        assert!((found.value.unwrap() - 4998.0).abs() < 2.0, "{found:?}");
        let Detail::Limit(Limit::Set { limit, trials: 6 }) = &found.detail else { panic!("{found:?}") };
        assert_eq!((limit.set_by.as_str(), limit.iops), ("/sys/fs/cgroup/box/io.max", Some(5000.0)));
        // 1 s is ten slices of the kernel's: half of one is a twentieth.
        let half = found.high.unwrap() / found.value.unwrap() - 1.0;
        assert!((0.04..0.06).contains(&half), "{found:?}");
        // Whatever else was at the device, the limit is the same.
        let point = Point::planned(0, "limit", all[0].spec.clone());
        let (trials, void) = (all.iter().collect(), vec![Some(About::All); all.len()]);
        let evidence = [Evidence { point: &point, trials, void, read: None, write: None }];
        assert_eq!(ThrottleRate.conclude("limit", &evidence, 0.95)[0].status, Status::Found);
    }

    /// The rule of the check `throttled`, which had called such trials invalid while this finding said that none of
    /// them was valid.
    #[test]
    fn trials_that_lack_half_a_slice_of_the_kernels_are_at_the_limit_where_requests_waited() {
        let mut all = trials(&[4700, 5001, 4740, 5000, 4720, 5003]);
        for trial in &mut all {
            trial.witnesses.io_limits = Some(vec![IoLimit {
                set_by: "/sys/fs/cgroup/box/io.max".into(),
                device: "vda".into(),
                op: Op::Read,
                iops: Some(5000.0),
                bytes_per_s: None,
            }]);
        }
        let limit_of = |found: &Finding| match &found.detail {
            Detail::Limit(Limit::Set { trials, .. }) => Some(*trials),
            _ => None,
        };
        // Slower by themselves: three at the limit are too few.
        assert_eq!(limit_of(&concluded(&all)), None);
        for trial in &mut all {
            (0..2).for_each(|_| trial.read.as_mut().unwrap().histogram.record(80_000_000));
        }
        let found = concluded(&all);
        assert_eq!(limit_of(&found), Some(6));
        assert!(found.low.unwrap() <= 5000.0 && 5000.0 <= found.high.unwrap(), "{found:?}");
    }

    #[test]
    fn writes_that_fall_without_a_witness_are_no_limit() {
        let write = |(nth, rate): (usize, u64)| {
            let mut trial = specimen::healthy(Rw::RandWrite, 4096, 32, rate);
            (trial.id, trial.started_s) = (nth as u64 + 1, 1.11 * nth as f64);
            trial
        };
        let all: Vec<Trial> =
            [5000, 5000, 1000, 1000, 1001, 999, 1000, 1000].into_iter().enumerate().map(write).collect();
        let said = concluded(&all);
        assert_eq!(*why(&said), LimitProblem::WritesFell.into());
    }

    #[test]
    fn trials_that_say_nothing_of_the_device_show_no_limit_and_no_absence() {
        let all = trials(&[5000; 8]);
        let point = Point::planned(0, "limit", all[0].spec.clone());
        let of = |about: Option<About>| {
            let (trials, void) = (all.iter().collect(), vec![about; all.len()]);
            let evidence = [Evidence { point: &point, trials, void, read: None, write: None }];
            ThrottleRate.conclude("limit", &evidence, 0.95).remove(0)
        };
        assert_eq!(of(None).status, Status::Absent);
        // As what memory served is void.
        let said = of(Some(About::Device));
        let few = matches!(why(&said), Inconclusive::TooFewTrials { valid: 0, about: About::Device, .. });
        assert!(few, "{said:?}");
    }

    #[test]
    fn storage_without_a_limit_shows_none() {
        let study = "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"limit\"";
        let found = &Pretend::usual().conclusions(&ThrottleRate, study, 1)[0];
        assert_eq!((found.len(), found[0].status), (1, Status::Absent), "{:?}", found[0]);
    }
}
