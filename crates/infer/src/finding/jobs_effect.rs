//! Whether several workers get more throughput than one worker at the same total queue depth.
//!
//! What it is: the throughput of N workers with depth d each, over that of one worker with depth N × d, at the
//! greatest total depth that both have. The load on the storage is equal; what differs is how many processors
//! submit it. At 1, only the total queue depth matters. Above 1, one worker was the limit; below 1, workers
//! obstruct each other.
//!
//! How it is computed: the difference of the two logarithms, with the errors of both. "No effect" is said where the
//! whole interval lies within 5 % of 1, "more" or "fewer" where all of it lies on one side of 1. Otherwise it is
//! inconclusive. The single worker's processor is named as its limit where it was busy for 80 % of the time or
//! more. Trials that `generator-bound` finds invalid as statements about the storage are included, because the
//! question is whether the program is the limit.
//!
//! An engine with one request per worker (psync, mmap) has no single worker with a deeper queue. The figure is then
//! N workers over one, and the sentence says so: it is the gain of a deeper queue, by the only way that such an
//! engine has.
//!
//! How often it is right: `bench/blind --kinds worker`, where workers change nothing and where one worker is the
//! limit; its figures are in docs/findings.md.
//!
//! Assumes: a processor for each worker. Where there are fewer, workers wait for each other, and the ratio holds
//! for this machine only.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    About, Conditions, Detail, Estimate, ExperimentName, Finding, FindingName, Inconclusive, TrialSpec, Unit,
    detail::{EffectAnswer, EffectProblem, Lack, Workers, WorkersAnswer},
};
use iosonde_plan::{experiment::alone, points};

use super::{
    FindingKind, Proof, ScreenLine, effect,
    group::{self, Group, Writer},
};

/// Share of the time from which on a single worker's processor is called its limit: the warning level of
/// `generator-bound`.
const BUSY: f64 = 0.8;

pub(crate) struct JobsEffect;

impl FindingKind for JobsEffect {
    fn id(&self) -> FindingName {
        FindingName::JobsEffect
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::Jobs]
    }

    fn computed_from(&self) -> Option<&'static [About]> {
        Some(&[About::Rate])
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::always("workers")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Ratio, confidence };
        let groups = group::groups(points, |op, evidence| {
            let spec = &evidence.point.spec;
            Some(Conditions {
                op: Some(op),
                random: Some(spec.rw.is_random()),
                block_size_bytes: Some(spec.block_size_bytes),
                span_bytes: Some(spec.span_bytes),
                ..Conditions::default()
            })
        });
        groups.iter().filter_map(|group| compare(&writer, group)).collect()
    }

    fn wants(&self) -> Option<Lack> {
        Some(Lack::Workers)
    }

    fn proof(&self) -> Proof {
        Proof {
            device: r#"
name = "busy-workers"
summary = "workers that each have a processor, which takes 40 us for a request, and a server for each request"
capacity = "64GiB"
[host]
request_cost = "40us"
processors = 8
[queue]
servers = 32
service = { fixed = "60us" }
[noise]
latency_cv = 0.05
"#,
            study: r#"
name = "workers"
question = "Do several workers get more than one?"
time = "60s"
[[experiment]]
kind = "jobs"
jobs = [1, 8]
"#,
            truths: &[(
                Some(3.2),
                "8 workers / (40 us on their own processors + 60 us) = 80,000, over 1 / 40 us = 25,000",
            )],
            widest: 0.03,
        }
    }
}

/// Several workers, and what they are held against.
struct Pair<'g, 'a> {
    several: &'g Evidence<'a>,
    one: &'g Evidence<'a>,
}

impl<'g, 'a> Pair<'g, 'a> {
    /// The pair with the greatest total depth, and of these with the most workers.
    fn of(group: &Group<'g, 'a>, against: impl Fn(&TrialSpec) -> Option<TrialSpec>) -> Option<Self> {
        let pair = |&several: &&'g Evidence<'a>| {
            let wanted = against(&several.point.spec)?;
            let one = group.points.iter().find(|other| other.point.spec == wanted)?;
            Some(Self { several, one })
        };
        let size = |pair: &Self| (pair.several.point.spec.asked_in_flight(), pair.several.point.spec.jobs);
        group.points.iter().filter_map(pair).max_by_key(size)
    }
}

/// `None` where several workers were not measured.
fn compare(writer: &Writer, group: &Group) -> Option<Finding> {
    let spec = |evidence: &&Evidence| evidence.point.spec.clone();
    let most = group.points.iter().map(spec).filter(|spec| spec.jobs > 1).max_by_key(|spec| spec.jobs)?;
    let blocking = points::is_blocking(&most.engine);
    let against = |several: &TrialSpec| match blocking {
        true => (several.jobs > 1).then(|| TrialSpec { jobs: 1, ..several.clone() }),
        false => alone(several),
    };
    let Some(pair) = Pair::of(group, against) else {
        let why = Inconclusive::Effect(EffectProblem::NoSingleWorker);
        return Some(writer.inconclusive(&group.conditions, &group.points, why));
    };
    Some(held_against(writer, group, &pair, blocking))
}

fn held_against(writer: &Writer, group: &Group, pair: &Pair, blocking: bool) -> Finding {
    let (several, one) = (&pair.several.point.spec, &pair.one.point.spec);
    let conditions =
        Conditions { queue_depth: Some(several.asked_in_flight() as u32), ..group.conditions.clone() };
    let points = [pair.several, pair.one];
    let rate = |evidence| group::valid_rate_whatever_set_it(evidence, group.op);
    let (over, under) = match rate(pair.several).and_then(|over| Ok((over, rate(pair.one)?))) {
        Ok(rates) => rates,
        Err(why) => return writer.inconclusive(&conditions, &points, why),
    };
    let Some(found) = effect::extreme(under, &[over], writer.confidence) else {
        return writer.inconclusive(&conditions, &points, Inconclusive::EstimateNotANumber);
    };
    if found.answer == EffectAnswer::Undecided && found.ratio.is_vague() {
        return writer.inconclusive(&conditions, &points, Inconclusive::Effect(EffectProblem::TooRough));
    }
    let answer = match found.answer {
        _ if blocking => WorkersAnswer::QueueDepth { engine: several.engine.clone() },
        EffectAnswer::Undecided | EffectAnswer::NoneSeen => WorkersAnswer::Undecided,
        EffectAnswer::NoEffect => WorkersAnswer::NoEffect,
        EffectAnswer::Changes => limit(&found.ratio, pair.one),
    };
    let detail = Detail::Workers(Workers {
        answer,
        workers: several.jobs,
        queue_depth_each: several.queue_depth,
        queue_depth_single: one.queue_depth,
        over_one_of_them: if blocking { None } else { over_one_of_them(writer, group, pair) },
    });
    let mut finding = writer.concluded(&conditions, &points, found.ratio, detail);
    finding.trials = group::trial_ids(&points, About::Rate);
    finding
}

/// Why the two differ, as far as the single worker's own time tells.
fn limit(ratio: &Estimate, one: &Evidence) -> WorkersAnswer {
    if ratio.value < 1.0 {
        return WorkersAnswer::Contention;
    }
    match busy_share(one) {
        Some(busy) if busy >= BUSY => WorkersAnswer::CpuOfSingleWorker,
        cpu_busy_share => WorkersAnswer::SingleWorker { cpu_busy_share },
    }
}

/// Busy share of the busiest worker, over the trials that recorded it.
fn busy_share(evidence: &Evidence) -> Option<f64> {
    let shares: Vec<f64> = evidence.standing(About::Rate).filter_map(|trial| trial.busy_share).collect();
    let sum: f64 = shares.iter().map(|share| share.min(1.0)).sum();
    (!shares.is_empty()).then(|| sum / shares.len() as f64)
}

/// What the same workers get over one of them alone.
fn over_one_of_them(writer: &Writer, group: &Group, pair: &Pair) -> Option<Estimate> {
    let several = &pair.several.point.spec;
    let single = |evidence: &&&Evidence| evidence.point.spec == TrialSpec { jobs: 1, ..several.clone() };
    let rate = |evidence| group::valid_rate_whatever_set_it(evidence, group.op).ok();
    let (over, under) = (rate(pair.several)?, rate(group.points.iter().find(single)?)?);
    Some(effect::ratio(over, under, writer.confidence, 1))
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Device, Status};
    use iosonde_testkit::specimen;

    use super::*;
    use crate::testing::{Conclusions, Pretend};

    const STUDY: &str = "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"jobs\"";

    fn found(pretend: &Pretend) -> Finding {
        pretend.conclusions(&JobsEffect, STUDY, 1).remove(0).remove(0)
    }

    fn workers(finding: &Finding) -> Workers {
        let Detail::Workers(workers) = finding.detail.clone() else { panic!("{finding:?}") };
        workers
    }

    #[test]
    fn where_the_storage_does_not_see_who_asks_the_requests_in_flight_are_what_counts() {
        let exact = found(&Pretend { cv: 0.0005, ..Pretend::usual() });
        let facts = workers(&exact);
        assert_eq!(facts.answer, WorkersAnswer::NoEffect);
        assert_eq!((facts.workers, facts.queue_depth_each, facts.queue_depth_single), (8, 1, 8));
        // 8 / 104.1 us is 76,850 a second, and the storage could do 80,000: 8, give or take 0.05 %.
        let one = facts.over_one_of_them.expect("one worker alone was measured");
        assert!((one.value - 7.999).abs() < 5e-4, "{one:?}");
        let noisy = found(&Pretend { cv: 0.2, ..Pretend::usual() });
        assert_eq!(workers(&noisy).answer, WorkersAnswer::Undecided);
        assert!(noisy.status == Status::Found && noisy.detail.is_open());
    }

    #[test]
    fn an_engine_that_makes_one_request_at_a_time_is_compared_with_one_worker() {
        let device = Device { engine: "psync".into(), ..Pretend::usual().device };
        let sync = found(&Pretend { cv: 0.0005, device, ..Pretend::usual() });
        let facts = workers(&sync);
        assert_eq!(facts.answer, WorkersAnswer::QueueDepth { engine: "psync".into() });
        assert_eq!((facts.workers, facts.queue_depth_single, facts.over_one_of_them), (8, 1, None));
        assert!((sync.value.unwrap() - 7.999).abs() < 5e-4, "{sync:?}");
    }

    #[test]
    fn without_one_that_has_as_many_in_flight_nothing_is_said() {
        let study = iosonde_model::Study::parse(STUDY, "x").unwrap();
        let pretend = Pretend::usual();
        let points = points::plan(&study, &pretend.device).unwrap().points;
        let mut evidence = pretend.evidence(&points, 1);
        evidence.retain(|evidence| evidence.point.spec.queue_depth == 1);
        let refused = JobsEffect.conclude("x", &evidence, 0.95).remove(0);
        let why = Inconclusive::Effect(EffectProblem::NoSingleWorker);
        assert_eq!((refused.status, refused.detail), (Status::Inconclusive, Detail::Inconclusive(why)));
        evidence.retain(|evidence| evidence.point.spec.jobs == 1);
        assert!(JobsEffect.conclude("x", &evidence, 0.95).is_empty());
    }

    #[test]
    fn the_limit_is_the_processor_only_where_it_was_busy() {
        let more = Estimate { value: 1.8, low: Some(1.7), high: Some(1.9) };
        let point = iosonde_model::Point::planned(0, "x", specimen::usual().spec);
        let limit_at = |busy_share: Option<f64>, ratio: &Estimate| {
            let trial = iosonde_model::Trial { busy_share, ..specimen::usual() };
            let evidence = Evidence {
                point: &point,
                trials: vec![&trial; 2],
                void: vec![None; 2],
                read: None,
                write: None,
            };
            limit(ratio, &evidence)
        };
        assert_eq!(limit_at(Some(0.97), &more), WorkersAnswer::CpuOfSingleWorker);
        let idle = WorkersAnswer::SingleWorker { cpu_busy_share: Some(0.4) };
        assert_eq!(limit_at(Some(0.4), &more), idle);
        assert_eq!(limit_at(None, &more), WorkersAnswer::SingleWorker { cpu_busy_share: None });
        let fewer = Estimate { value: 0.8, low: Some(0.7), high: Some(0.9) };
        assert_eq!(limit_at(Some(0.97), &fewer), WorkersAnswer::Contention);
    }
}
