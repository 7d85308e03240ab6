//! Effect of a preceding write on the throughput of reads, compared with a preceding read.
//!
//! What it is: a ratio, the geometric mean over all points that only read. 0.8× means that the aftermath of a write
//! (a buffer that empties itself, garbage collection, a page cache that writes back) costs reads a fifth of their
//! throughput during a trial. A measurement that alternates reads and writes includes this effect.
//!
//! How it is computed: for each point, the mean of ln(throughput) of the trials right after a trial that writes,
//! minus that of the trials after one that reads. Then the mean over points, with Student's interval from the
//! scatter of trials within both kinds (degrees of freedom after Satterthwaite, Biometrics 2, 1946). Points count
//! with three trials of each kind or more. The order is random in every round, so that a drift affects both kinds
//! equally and only makes the interval wider.
//!
//! Not computed for studies that visit reads before writes (`order = "reads-first"`), where no read comes after a
//! write, nor for a run that only reads. Trials after a canary count as neither.
//!
//! Assumes: that the aftermath of a write is over after one more trial, since only the preceding trial is
//! considered.

use iosonde_model::{
    Conditions, Detail, Estimate, ExperimentName, Finding, FindingName, Inconclusive, Op, Trial, Unit,
    detail::{EffectProblem, ReadsAfterWrites},
};
use std::collections::BTreeMap;

use iosonde_judge::evidence::Evidence;
use iosonde_stats::ErrorVariance;

use super::{
    FindingKind, Proof, ScreenLine,
    effect::answer_of,
    group::{Writer, of_the_device},
};

/// Trials of each kind that a point must have.
const EACH_MIN: usize = 3;
/// Minimum share of reading trials that came after a write: a trial that was made
/// again at the end of a round is no order of visits.
const AFTER_MIN: f64 = 0.1;
/// Smallest relative error of a mean: a simulated device without noise repeats itself.
const GRAIN: f64 = 1e-4;

pub(crate) struct OrderEffect;

impl FindingKind for OrderEffect {
    fn id(&self) -> FindingName {
        FindingName::OrderEffect
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::alone("history")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Ratio, confidence };
        let reads: Vec<&Evidence> = points.iter().filter(|evidence| only_reads(evidence)).collect();
        let after_write = after_writes(points);
        let trials = || reads.iter().flat_map(|evidence| &evidence.trials);
        let after = trials().filter(|trial| after_write.get(&trial.id) == Some(&true)).count();
        if (after as f64) < AFTER_MIN * trials().count() as f64 || after == 0 {
            return Vec::new();
        }
        vec![one(&writer, &reads, &after_write)]
    }

    fn proof(&self) -> Proof {
        Proof {
            device: r#"
name = "spare-tokens"
summary = "a bucket of tokens that slow writes leave full and reads empty"
capacity = "1GiB"
[throttle]
iops = 1000
burst = { iops = 1500, credit = 750 }
[flash]
units = 1
stripe = "16KiB"
page = "16KiB"
mapping_unit = "16KiB"
read = "60us"
program = "10ms"
erase = "1us"
pages_per_block = 65536
placement = "static"
"#,
            study: r#"
name = "in-turn"
question = "What does a write leave behind?"
time = "2m"
precision = "0.1%"
size = "1GiB"
[[experiment]]
kind = "queue-depth"
rw = ["randread", "randwrite"]
block_size = "16k"
depth = [1, 4]
"#,
            // 750 tokens last for 750 / (1,500 - 1,000) = 1.5 s, a trial for 1.44 s: what is left then is spent within
            // the 0.14 s of the next trial's warm-up.
            truths: &[(
                Some(1.5),
                "1,500 a second while the tokens last that writes left, and they last for a trial; else 1,000",
            )],
            widest: 0.02,
        }
    }
}

fn only_reads(evidence: &Evidence) -> bool {
    let spec = &evidence.point.spec;
    !spec.changes() && spec.rw.has(Op::Read) && spec.rate_iops.is_none()
}

/// For each trial, whether the one right before it wrote. Where a canary or a fill came between, which are no point's,
/// it is left out: trials are numbered as they were made.
fn after_writes(points: &[Evidence]) -> BTreeMap<u64, bool> {
    let mut trials: Vec<&Trial> =
        points.iter().flat_map(|evidence| evidence.trials.iter().copied()).collect();
    trials.sort_by(|a, b| a.started_s.total_cmp(&b.started_s).then(a.id.cmp(&b.id)));
    // A point that belongs to two experiments is one.
    trials.dedup_by_key(|trial| trial.id);
    let neighbours = trials.windows(2).filter(|pair| pair[1].id == pair[0].id + 1);
    neighbours.map(|pair| (pair[1].id, pair[0].spec.changes())).collect()
}

/// ln(rate) after a write less that after a read.
struct Difference {
    log: f64,
    error: ErrorVariance,
}

fn difference(evidence: &Evidence, after_write: &BTreeMap<u64, bool>) -> Option<Difference> {
    let of = |kind: bool| -> Vec<f64> {
        let standing = of_the_device(evidence).filter(|trial| trial.iops() > 0.0);
        let own = standing.filter(|trial| after_write.get(&trial.id) == Some(&kind));
        own.map(|trial| trial.iops().ln()).filter(|log| log.is_finite()).collect()
    };
    let (after, other) = (of(true), of(false));
    if after.len() < EACH_MIN || other.len() < EACH_MIN {
        return None;
    }
    // Each kind has a scatter of its own: what a write leaves behind differs from time to time.
    let ((after, a), (other, b)) = (ErrorVariance::of_mean(&after)?, ErrorVariance::of_mean(&other)?);
    let error = ErrorVariance::sum(&[a, b]);
    let error = ErrorVariance { variance: error.variance.max(GRAIN * GRAIN), ..error };
    Some(Difference { log: after - other, error })
}

fn one(writer: &Writer, reads: &[&Evidence], after_write: &BTreeMap<u64, bool>) -> Finding {
    let conditions = Conditions { op: Some(Op::Read), ..Conditions::default() };
    let known: Vec<(&Evidence, Difference)> =
        reads.iter().filter_map(|evidence| Some((*evidence, difference(evidence, after_write)?))).collect();
    let most = known.iter().max_by(|(_, a), (_, b)| a.log.abs().total_cmp(&b.log.abs()));
    let Some((furthest, most)) = most else {
        let why = Inconclusive::Effect(EffectProblem::TooFewReads { needed: EACH_MIN });
        return writer.inconclusive(&conditions, reads, why);
    };
    let count = known.len() as f64;
    let log = known.iter().map(|(_, difference)| difference.log).sum::<f64>() / count;
    let errors: Vec<ErrorVariance> = known.iter().map(|(_, difference)| difference.error).collect();
    let half = ErrorVariance::sum(&errors).half_width(writer.confidence) / count;
    let estimate =
        Estimate { value: log.exp(), low: Some((log - half).exp()), high: Some((log + half).exp()) };
    let detail = Detail::ReadsAfterWrites(ReadsAfterWrites {
        answer: answer_of(&estimate),
        points: known.len(),
        furthest: Box::new(furthest.point.spec.clone()),
        furthest_ratio: most.log.exp(),
    });
    let points: Vec<&Evidence> = known.iter().map(|(evidence, _)| *evidence).collect();
    writer.concluded(&conditions, &points, estimate, detail)
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Point, Rw, detail::RatioAnswer};
    use iosonde_testkit::specimen;
    use rand::{RngExt, SeedableRng, seq::SliceRandom};
    use rand_distr::{Distribution, StandardNormal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// Four points in rounds of random order, two of them reads, whose rate after a write is `effect` of the usual; all
    /// trials scatter by 3 % and the storage loses 0.05 % from trial to trial.
    fn found(effect: f64, rounds: u32, reads_first: bool, seed: u64) -> Vec<Finding> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let points: Vec<Point> = [Rw::RandRead, Rw::Read, Rw::RandWrite, Rw::Write]
            .iter()
            .enumerate()
            .map(|(id, &rw)| Point::planned(id, "x", specimen::healthy(rw, 4096, 4, 1000).spec))
            .collect();
        let mut trials: Vec<Trial> = Vec::new();
        let mut canaries = 0;
        for _ in 0..rounds {
            canaries += 1;
            let mut order = [0, 1, 2, 3];
            match reads_first {
                true => order[..2].shuffle(&mut random),
                false => order.shuffle(&mut random),
            }
            for point in order {
                let before = trials.last().is_some_and(|last: &Trial| {
                    last.spec.changes() && last.id + 1 == trials.len() as u64 + canaries
                });
                let own = if point < 2 && before { effect } else { 1.0 };
                let noise: f64 = StandardNormal.sample(&mut random);
                let drift = 0.9995f64.powi(trials.len() as i32);
                let iops = 1e5 * (point + 1) as f64 * own * drift * (0.03 * noise).exp();
                let mut trial = specimen::healthy(points[point].spec.rw, 4096, 4, iops as u64);
                trial.id = trials.len() as u64 + canaries;
                trial.started_s = trials.len() as f64 + 0.1 * random.random::<f64>();
                trial.point = Some(point);
                trials.push(trial);
            }
        }
        let evidence: Vec<Evidence> = points
            .iter()
            .map(|point| {
                let own: Vec<&Trial> = trials.iter().filter(|trial| trial.point == Some(point.id)).collect();
                let void = vec![None; own.len()];
                Evidence { point, trials: own, void, read: None, write: None }
            })
            .collect();
        OrderEffect.conclude("run", &evidence, 0.95)
    }

    #[test]
    fn its_interval_holds_what_a_write_leaves_behind() {
        let mut held = 0;
        for seed in 0..200 {
            let finding = &found(0.9, 50, false, seed)[0];
            held += usize::from(finding.low.unwrap() <= 0.9 && 0.9 <= finding.high.unwrap());
        }
        assert!(held >= 184, "{held} of 200");
        let of = |effect: f64, rounds: u32| match found(effect, rounds, false, 1).remove(0).detail {
            Detail::ReadsAfterWrites(facts) => (facts.answer, facts.points),
            other => panic!("{other:?}"),
        };
        assert_eq!(of(0.8, 30), (RatioAnswer::Lower, 2));
        assert_eq!(of(1.0, 80), (RatioAnswer::Equal, 2));
    }

    #[test]
    fn too_few_rounds_are_refused_and_reads_that_come_first_ask_nothing() {
        let few = Inconclusive::Effect(EffectProblem::TooFewReads { needed: EACH_MIN });
        assert_eq!(found(0.9, 4, false, 2)[0].detail, Detail::Inconclusive(few));
        // A canary comes before the first of each round.
        assert!(found(0.9, 20, true, 3).is_empty());
    }
}
