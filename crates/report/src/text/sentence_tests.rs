//! Every sentence about a run, over all findings and over runs that nothing can be concluded from.

use iosonde_infer::{conclude::conclude, finding::FINDINGS};
use iosonde_model::{About, Direction, Finding, Outcome, Run, Study, Trial};
use iosonde_plan::points;
use iosonde_testkit::{
    pretend::Pretend,
    sentence::{faults, faults_within},
};

use super::{advice, applications, results, sentence, validity, why_of};

/// Changes every direction of a run's trials.
fn each(run: &mut Run, change: impl Fn(&mut Direction)) {
    for trial in &mut run.trials {
        [&mut trial.read, &mut trial.write].into_iter().flatten().for_each(&change);
    }
}

/// What breaks a run, by the name that a failing test tells.
type Broken = (&'static str, fn(&mut Run));

const BROKEN: [Broken; 12] = [
    ("whole", |_| {}),
    ("no trials", |run| run.trials.clear()),
    ("one trial", |run| run.trials.truncate(1)),
    ("two rounds", |run| run.trials.retain(|trial| trial.round <= 2)),
    ("one point", |run| run.trials.retain(|trial| trial.point == Some(0))),
    ("no numbers", |run| each(run, |one| (one.iops, one.bytes_per_s) = (f64::NAN, f64::NAN))),
    ("no latency", |run| each(run, |one| one.latency_ns.mean = Some(f64::NAN))),
    ("endless", |run| each(run, |one| (one.iops, one.bytes_per_s) = (f64::INFINITY, f64::INFINITY))),
    ("nothing done", |run| {
        each(run, |one| (one.ios, one.bytes, one.iops, one.bytes_per_s) = (0, 0, 0.0, 0.0));
    }),
    ("no time", |run| {
        for trial in &mut run.trials {
            (trial.measured_s, trial.elapsed_s) = (0.0, 0.0);
            trial.windows.iter_mut().for_each(|window| window.length_s = 0.0);
        }
    }),
    ("all invalid", |run| run.trials.iter_mut().for_each(|trial| trial.busy_share = Some(1.0))),
    ("no windows", |run| run.trials.iter_mut().for_each(|trial| trial.windows.clear())),
];

/// Every faulty text of a finding.
fn of_finding(finding: &Finding) -> Vec<String> {
    let texts = std::iter::once(sentence(finding)).chain(why_of(finding));
    texts
        .filter(|text| !faults(text).is_empty())
        .map(|text| format!("{}: {text} ({})", finding.name, faults(&text).join(", ")))
        .collect()
}

/// Every faulty text on a run's pages.
fn of_run(run: &Run) -> Vec<String> {
    let valid = validity::validity(run);
    let told = results::results(run);
    let lines = told.lines.into_iter().map(|line| line.text).chain([told.storage]);
    let reasons = valid.lines.into_iter().map(|line| line.text);
    let advice = advice::advice(run).into_iter().flat_map(|advice| [advice.sentence, advice.why]);
    let applications = applications::applications(run).into_iter().map(|one| one.gets);
    let verdicts = run.verdicts.iter().filter(|one| one.verdict != Outcome::Pass).map(super::why);
    let all = lines.chain([valid.headline]).chain(reasons).chain(advice).chain(applications).chain(verdicts);
    let faulty = all.filter(|text| !faults_within(text).is_empty());
    faulty.map(|text| format!("{text} ({})", faults_within(&text).join(", "))).collect()
}

#[test]
fn every_sentence_about_a_run_is_whole() {
    let mut faulty = Vec::new();
    for (kind, (case, breaks)) in FINDINGS.iter().flat_map(|kind| BROKEN.map(|broken| (kind, broken))) {
        let mut run = Pretend::on_hosts(kind.proof_hosts()).run(kind.proof().study, 1);
        breaks(&mut run);
        conclude(&mut run, None).unwrap();
        let invalid = run.verdicts.iter().any(|verdict| verdict.verdict == Outcome::Invalid);
        assert!(invalid || case != "all invalid", "no trial is invalid");
        let texts = run.findings.iter().flat_map(of_finding).chain(of_run(&run));
        faulty.extend(texts.map(|text| format!("{} of {case}: {text}", kind.id())));
    }
    assert!(faulty.is_empty(), "{} faults:\n{}", faulty.len(), faulty.join("\n"));
}

#[test]
fn every_sentence_about_points_that_do_not_answer_is_whole() {
    type Break = fn(&mut Vec<Trial>);
    let breaks: [(&str, Break); 3] =
        [("as it is", |_| {}), ("no trials", Vec::clear), ("one trial", |trials| trials.truncate(1))];
    for (kind, (case, breaks)) in FINDINGS.iter().flat_map(|kind| breaks.map(|broken| (kind, broken))) {
        let study = Study::parse(kind.proof().study, "x").unwrap();
        let pretend = Pretend::on_hosts(kind.proof_hosts());
        let points = points::plan(&study, &pretend.device).unwrap().points;
        for void in [None, Some(About::All), Some(About::Rate), Some(About::Device)] {
            let mut evidence = pretend.evidence(&points, 1);
            let kept: Vec<Vec<Trial>> = evidence
                .iter()
                .map(|one| {
                    let mut trials: Vec<Trial> = one.trials.iter().map(|trial| (*trial).clone()).collect();
                    breaks(&mut trials);
                    trials
                })
                .collect();
            for (one, trials) in evidence.iter_mut().zip(&kept) {
                (one.trials, one.void) = (trials.iter().collect(), vec![void; trials.len()]);
            }
            let findings = kind.conclude("x", &evidence, 0.95);
            let faulty: Vec<String> = findings.iter().flat_map(of_finding).collect();
            assert!(faulty.is_empty(), "{} of {case}, invalid: {void:?}:\n{}", kind.id(), faulty.join("\n"));
        }
    }
}
