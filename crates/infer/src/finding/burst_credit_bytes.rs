//! How much passes before a limit applies: the credit of a cloud volume at the beginning of the run.
//!
//! What it is: the bytes moved beyond the limit's own rate until throughput fell to it. A volume that counts
//! requests has a credit of requests. It is given here in bytes, and the sentence says for which request size.
//!
//! How it is computed: `throttle_rate` finds the fall. The credit is everything that passed since the first request
//! of the experiment, minus what the limit's rate let pass in that time. Pauses are included: the bucket fills
//! while idle. The interval contains four parts: the window in which it fell, the limit's own interval over all of
//! that time, the requests outstanding at the fall, and the time that starting a trial takes. Where it fell while
//! the schedule repeated the load for itself, the moment is not known, and the interval contains all of that time.
//!
//! Assumes: a token bucket, and that the experiment is the only one of its study: trials of others would spend
//! credit unseen. Filling the working set spends some as well, so that a small `--size` finds more of it. The
//! schedule's own repeats between trials are the same load and are counted as such.
//!
//! What it is not: the full credit, unless the volume had rested before. A second run right after finds less.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    Detail, Estimate, ExperimentName, Finding, FindingName, Unit,
    detail::{Lack, Limit},
};

use super::{
    FindingKind, Proof, ScreenLine,
    group::{Group, Writer},
    limit::{self, Fell, Shown},
};

pub(crate) struct BurstCreditBytes;

impl FindingKind for BurstCreditBytes {
    fn id(&self) -> FindingName {
        FindingName::BurstCreditBytes
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::Limit]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::always("credit")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Bytes, confidence };
        let groups = limit::groups(points);
        groups.iter().map(|group| one(&writer, group)).collect()
    }

    fn wants(&self) -> Option<Lack> {
        Some(Lack::LongLoad)
    }

    fn proof(&self) -> Proof {
        Proof { truths: &[(Some(327_680_000.0), "a credit of 80,000 requests of 4 KiB")], ..limit::PROOF }
    }
}

fn one(writer: &Writer, group: &Group) -> Finding {
    let absent = |facts: Limit| writer.absent(&group.conditions, &group.points, Detail::Limit(facts));
    match limit::shown(group.points[0], group.op, writer.confidence) {
        Err(why) => writer.inconclusive(&group.conditions, &group.points, why),
        Ok(Shown::Level(load_s)) => absent(Limit::Level { load_s }),
        Ok(Shown::Witnessed(rates, limit)) => absent(Limit::Set { limit, trials: rates.len() }),
        Ok(Shown::Fell(Fell { before, credit, lasted_s, .. })) => {
            let block_bytes = group.conditions.block_size_bytes.unwrap_or(1);
            let times = |end: f64| end * block_bytes as f64;
            let estimate = Estimate {
                value: times(credit.value),
                low: credit.low.map(times),
                high: credit.high.map(times),
            };
            let fell = Detail::Limit(Limit::Fell { before_iops: before, lasted_s });
            writer.concluded(&group.conditions, &group.points, estimate, fell)
        }
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Inconclusive, Point, Rw, Status, Trial, detail::LimitProblem};
    use iosonde_testkit::specimen;

    use super::*;
    use crate::testing::{Conclusions, Pretend};

    /// What trials of one load say, with the place of each among all trials and the moment when it began.
    fn concluded(rates: &[u64], place: impl Fn(usize) -> (u64, f64)) -> Finding {
        let trial = |(nth, rate): (usize, &u64)| {
            let mut trial = specimen::healthy(Rw::RandRead, 4096, 32, *rate);
            (trial.id, trial.started_s) = place(nth);
            // Nothing is outstanding when it ends, and nothing was before it began.
            trial.witnesses.issued_ios = *rate;
            trial.windows.iter_mut().for_each(|window| window.start_s -= 0.1);
            (trial.warmup_s, trial.elapsed_s) = (0.0, 1.0);
            trial
        };
        let trials: Vec<Trial> = rates.iter().enumerate().map(trial).collect();
        let point = Point::planned(0, "limit", trials[0].spec.clone());
        let (trials, void) = (trials.iter().collect(), vec![None; rates.len()]);
        let evidence = [Evidence { point: &point, trials, void, read: None, write: None }];
        BurstCreditBytes.conclude("limit", &evidence, 0.95).remove(0)
    }

    #[test]
    fn breaks_are_counted_for_what_they_held() {
        const RATES: [u64; 9] = [5000, 5000, 5000, 1000, 1000, 1000, 1000, 1000, 1000];
        let requests = |finding: &Finding| {
            assert_eq!(finding.status, Status::Found, "{finding:?}");
            [finding.low, finding.value, finding.high].map(|end| end.unwrap() / 4096.0)
        };
        let holds = |[low, value, high]: [f64; 3], truth: f64| {
            assert!(low <= truth && truth <= high && (value / truth - 1.0).abs() < 0.05, "{truth}: {value}");
        };
        // 3 s at 4,000 above the cap.
        holds(requests(&concluded(&RATES, |nth| (nth as u64 + 1, nth as f64))), 12_000.0);
        // A pause of 1 s in which nothing passes and the bucket fills.
        let paused = |nth: usize| (nth as u64 + 1, nth as f64 + if nth > 1 { 1.0 } else { 0.0 });
        holds(requests(&concluded(&RATES, paused)), 11_000.0);
        // The schedule's own trial in the same break spends as the others do, and where the rate is low after it, the
        // credit was spent at any moment of it.
        let in_it =
            |nth: usize| (nth as u64 + 1 + u64::from(nth > 2), nth as f64 + if nth > 2 { 1.0 } else { 0.0 });
        let [low, _, high] = requests(&concluded(&RATES, in_it));
        assert!(low < 12_100.0 && high > 15_900.0 && high < 17_000.0, "{low} .. {high}");
        let repeated = |nth: usize| (nth as u64 + 1 + u64::from(nth > 1), paused(nth).1);
        holds(requests(&concluded(&RATES, repeated)), 16_000.0);
        let others = |nth: usize| (nth as u64 + 1 + 3 * u64::from(nth > 1), paused(nth).1);
        let refused = concluded(&RATES, others);
        let why = Inconclusive::Limit(LimitProblem::OtherWorkloads);
        assert_eq!(refused.detail, Detail::Inconclusive(why));
    }

    #[test]
    fn storage_without_a_limit_has_no_credit() {
        let study = "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"limit\"";
        let found = &Pretend::usual().conclusions(&BurstCreditBytes, study, 1)[0];
        assert_eq!((found.len(), found[0].status), (1, Status::Absent), "{:?}", found[0]);
    }
}
