//! Which way of making a write durable is the fastest.
//!
//! What it is: the highest rate at which one writer makes writes of one size durable, one after another, over all ways
//! that were measured (`fdatasync`, `fsync`, `O_DSYNC`, `O_SYNC`, with direct and with buffered I/O); the ways that
//! may be the fastest; and the rate of the slowest over it.
//!
//! How it is computed: as `max_iops`, since the largest of several estimates is too high: the lower end is the highest
//! of lower ends made stricter by the number of ways (Bonferroni), the upper end is the highest upper end. A way may be
//! the fastest if its own estimate lies within that interval. A way whose interval contains all that the others give
//! and is three times as wide is left out, and named. The slowest is held against the fastest estimate, with an
//! interval that holds for all pairs of ways together. All ways are equal where that whole interval lies within 5 % of
//! 1.
//!
//! Assumes: that the storage tells the truth about what is durable (`early-flush` looks for storage that does not).
//!
//! Traps: a file that grows makes `fdatasync` write its length each time; here it does not grow. With several clients a
//! group commit shares a flush, and ways that mark each write (`O_DSYNC` with direct I/O) cannot.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    Detail, ExperimentName, Finding, FindingName, Inconclusive, Op, Sync, TrialSpec, Unit,
    detail::{SyncMethod, SyncMethods},
};
use iosonde_stats::LogEstimate;

use super::{
    FindingKind, Proof, ScreenLine, best, durable, effect,
    group::{self, Writer},
};

pub(crate) struct FastestSync;

impl FindingKind for FastestSync {
    fn id(&self) -> FindingName {
        FindingName::FastestSync
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::SyncMethods]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::always("fastest")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Iops, confidence };
        let mut groups: Vec<(TrialSpec, Vec<&Evidence>)> = Vec::new();
        for evidence in points.iter().filter(|evidence| durable::each_write(&evidence.point.spec)) {
            let spec = evidence.point.spec.clone();
            let alike = TrialSpec { sync: Sync::None, direct: false, ..spec };
            match groups.iter_mut().find(|(known, _)| *known == alike) {
                Some((_, members)) => members.push(evidence),
                None => groups.push((alike, vec![evidence])),
            }
        }
        groups.retain(|(_, members)| members.len() > 1);
        groups.iter().map(|(spec, members)| fastest(&writer, spec, members)).collect()
    }

    fn proof(&self) -> Proof {
        Proof {
            study: r#"
name = "sync"
question = "Which way is the fastest?"
time = "60s"
size = "1GiB"
[[experiment]]
kind = "sync-methods"
block_size = "16k"
"#,
            truths: &[(Some(625.0), "12 us into the buffer and 1.588 ms for the flush, by each method")],
            widest: 0.03,
            ..durable::PROOF
        }
    }
}

fn fastest(writer: &Writer, spec: &TrialSpec, members: &[&Evidence]) -> Finding {
    let conditions = durable::conditions(spec);
    let mut valid: Vec<(&Evidence, LogEstimate)> = Vec::new();
    let mut left_out: Vec<(SyncMethod, Inconclusive)> = Vec::new();
    for evidence in members {
        match group::valid_rate(evidence, Op::Write, &[]) {
            Ok(rate) => valid.push((evidence, rate)),
            Err(why) => left_out.push((method(evidence), why)),
        }
    }
    if let (0 | 1, Some((_, why))) = (valid.len(), left_out.first()) {
        return writer.inconclusive(&conditions, members, why.clone());
    }
    let rates: Vec<LogEstimate> = valid.iter().map(|&(_, rate)| rate).collect();
    let precise = best::without_ignorance(&rates, writer.confidence, |_| true);
    let imprecise = (0..rates.len()).filter(|place| !precise.contains(place));
    let left_out =
        imprecise.map(|place| method(valid[place].0)).chain(left_out.into_iter().map(|(own, _)| own));
    let left_out: Vec<SyncMethod> = left_out.collect();
    let valid: Vec<(&Evidence, LogEstimate)> = precise.into_iter().map(|place| valid[place]).collect();
    let rates: Vec<LogEstimate> = valid.iter().map(|&(_, rate)| rate).collect();
    let (estimate, top) = best::highest(&rates, writer.confidence).expect("there are two");
    let by_rate = |a: &usize, b: &usize| rates[*a].log_mean.total_cmp(&rates[*b].log_mean);
    let most = (0..rates.len()).max_by(by_rate).expect("there are two");
    let slowest = (0..rates.len()).min_by(by_rate).expect("there are two");
    let pairs = rates.len() * (rates.len() - 1) / 2;
    let (fastest, others): (Vec<usize>, Vec<usize>) = (0..rates.len()).partition(|place| top.contains(place));
    let methods = |places: Vec<usize>| places.into_iter().map(|place| method(valid[place].0)).collect();
    let facts = SyncMethods {
        fastest: methods(fastest),
        others: methods(others),
        slowest: method(valid[slowest].0),
        slowest_ratio: effect::ratio(rates[slowest], rates[most], writer.confidence, pairs),
        left_out,
    };
    let points: Vec<&Evidence> = valid.iter().map(|&(evidence, _)| evidence).collect();
    writer.concluded(&conditions, &points, estimate, Detail::SyncMethods(facts))
}

fn method(evidence: &Evidence) -> SyncMethod {
    let spec = &evidence.point.spec;
    SyncMethod { sync: spec.sync, direct: spec.direct }
}

#[cfg(test)]
mod tests {
    use iosonde_model::Study;
    use iosonde_plan::points;

    use super::*;
    use crate::testing::Pretend;

    const STUDY: &str = "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"sync-methods\"";

    /// The finding where every method but `dsync` with direct I/O takes so many times as long as the law says.
    fn concluded(cv: f64, slowdown: f64, seed: u64) -> (Finding, SyncMethods) {
        let pretend = Pretend { cv, ..Pretend::usual() };
        let study = Study::parse(STUDY, "x").unwrap();
        let points = points::plan(&study, &pretend.device).unwrap().points;
        let mut evidence = pretend.evidence(&points, seed);
        for one in &mut evidence {
            let spec = &one.point.spec;
            if let Some(write) = one.write.as_mut()
                && !(spec.sync.with_each_write() && spec.direct)
            {
                write.iops.log_mean -= slowdown.ln();
            }
        }
        let finding = FastestSync.conclude("x", &evidence, 0.95).remove(0);
        let Detail::SyncMethods(facts) = finding.detail.clone() else { panic!("{finding:?}") };
        (finding, facts)
    }

    #[test]
    fn the_fastest_are_named_and_how_far_behind_the_slowest_is() {
        // 100 us and 8,192 B at 1 GB/s: 9,243 a second.
        let (finding, facts) = concluded(0.005, 2.0, 1);
        assert!((finding.value.unwrap() / 9243.0 - 1.0).abs() < 0.01, "{finding:?}");
        assert_eq!(facts.fastest.len() + facts.others.len(), 8);
        assert!(facts.fastest.iter().all(|one| one.direct && one.sync.with_each_write()), "{facts:?}");
        assert!((facts.slowest_ratio.value - 0.5).abs() < 0.01, "{facts:?}");
    }

    /// Equal methods: the rate is held, and no difference is claimed; over 200 draws.
    #[test]
    fn among_equals_no_difference_is_claimed_more_often_than_asked() {
        let (mut misses, mut claims) = (0, 0);
        for seed in 0..200 {
            let (finding, facts) = concluded(0.05, 1.0, seed);
            let truth = 9243.0;
            misses += u32::from(!(finding.low.unwrap() <= truth && truth <= finding.high.unwrap()));
            claims += u32::from(facts.slowest_ratio.high.unwrap() < 1.0);
        }
        // 5 % of 200, and three deviations of it.
        assert!(misses <= 19 && claims <= 19, "{misses} misses, {claims} claims");
    }
}
