//! Which figures of a run are valid: every check's verdicts, and what they make invalid.

use std::collections::BTreeMap;

use iosonde_model::CheckName;
use iosonde_model::{About, Cause, Judgement, Outcome, Phase, Run, Scope, Scopes, Tally, Trial, Verdict};

use crate::{
    check::{CHECKS, Check},
    estimate::{self, Estimates, FEWEST_TRIALS, OutlierTrials, Voids},
    validity::{Invalidity, TrialStanding},
};

/// The confidence of every interval; runs that were kept before it was recorded had the default.
pub fn confidence(run: &Run) -> f64 {
    if run.info.confidence > 0.0 { run.info.confidence } else { 0.95 }
}

/// What judging a run came to, beside the verdicts and points in the run.
pub struct Judged {
    /// What is void of each trial.
    pub voids: Voids,
    /// The fit of all points without what is void.
    pub estimates: Estimates,
}

/// Judges the trials of a run whose points are planned, works out every point, and judges points and run.
pub fn judge(run: &mut Run) -> Judged {
    (run.verdicts, run.findings) = (Vec::new(), Vec::new());

    let of_trials = judge_trials(run);
    let standing = standing_of(run, &of_trials);
    let voids = voids_of(run, &standing);
    let confidence = confidence(run);
    let estimates = estimate::fill_points(&mut run.points, &run.trials, &voids, confidence);
    let standing = standing.with_outliers(&estimates);

    let scopes: Vec<_> = (0..run.points.len()).map(Scope::Point).chain([Scope::Run]).collect();
    let mut judged = of_trials;
    judged.iter_mut().for_each(|judged| judged.judge_after(&scopes, run, &standing));
    run.verdicts = judged.iter().flat_map(|judged| judged.judgements(run)).collect();
    count_outliers(run, standing.outliers());
    Judged { voids, estimates }
}

/// Counts the outliers beside a pass: one trial in 400 is one by chance, which is no warning, and must not go unsaid
/// either.
fn count_outliers(run: &mut Run, outliers: &OutlierTrials) {
    let measured = |trial: &&Trial| trial.phase == Phase::Measure && outliers.contains_key(&trial.id);
    let count = run.trials.iter().filter(measured).count();
    for line in
        run.verdicts.iter_mut().filter(|line| line.check == CheckName::Outliers && line.scope == "run")
    {
        // Where the check has spoken, its own count stands: two counts on one page are one too many.
        if let Some(Cause::Tally(tally)) = &mut line.cause {
            tally.outliers = Some(count as u64);
        }
    }
}

/// What one check said of everything that it looks at.
struct OfCheck {
    check: &'static dyn Check,
    verdicts: Vec<(Scope, Verdict)>,
}

impl OfCheck {
    fn of_trials(check: &'static dyn Check, run: &Run) -> Self {
        let trials = (0..run.trials.len()).map(Scope::Trial);
        Self { check, verdicts: trials.filter_map(|scope| Some((scope, check.check(scope, run)?))).collect() }
    }

    /// Adds what the check says of points and of the run, now that the invalid trials are known.
    fn judge_after(&mut self, scopes: &[Scope], run: &Run, standing: &TrialStanding) {
        let verdict = |&scope| Some((scope, self.check.judge(scope, run, standing)?));
        self.verdicts.extend(scopes.iter().filter_map(verdict));
    }

    /// Every doubt and void.
    fn troubles(&self, run: &Run) -> Vec<Judgement> {
        let trouble = self
            .verdicts
            .iter()
            .filter(|(_, verdict)| matches!(verdict, Verdict::Warning(_) | Verdict::Invalid(_)));
        let judgement = |(scope, verdict): &(Scope, Verdict)| {
            let (scope, trial, point) = match *scope {
                Scope::Trial(place) => ("trial", Some(run.trials[place].id), None),
                Scope::Point(place) => ("point", None, Some(run.points[place].id)),
                Scope::Run => ("run", None, None),
            };
            Judgement::new(self.check.id(), scope, trial, point, verdict.clone())
        };
        trouble.map(judgement).collect()
    }

    /// Every doubt and void on its own line; passes and abstentions counted on one line each for the whole
    /// run, so that nothing passes silently and a file of a thousand trials stays small.
    fn judgements(&self, run: &Run) -> Vec<Judgement> {
        // As everywhere, the trials that are figures are counted; canaries and filling where there are no others.
        let figure = |scope: Scope| match scope {
            Scope::Trial(place) => run.trials[place].phase == Phase::Measure,
            Scope::Point(_) | Scope::Run => true,
        };
        let of_figures: Vec<_> = self.verdicts.iter().filter(|(scope, _)| figure(*scope)).cloned().collect();
        let counted = if of_figures.is_empty() { &self.verdicts } else { &of_figures };
        let count =
            |outcome| counted.iter().filter(|(_, verdict)| outcome_of(verdict) == outcome).count() as u64;
        let tally = |first: Option<Cause>| {
            Cause::Tally(Tally {
                of: scopes(counted),
                judged: counted.len() as u64,
                passed: count(Outcome::Pass),
                unchecked: count(Outcome::NotChecked),
                warned: count(Outcome::Warning),
                invalid: count(Outcome::Invalid),
                outliers: None,
                first: first.map(Box::new),
            })
        };
        let line = |verdict: Verdict, first: Option<Cause>| {
            let judgement = Judgement::new(self.check.id(), "run", None, None, verdict);
            Judgement { cause: Some(tally(first)), ..judgement }
        };
        let mut out = self.troubles(run);
        if count(Outcome::Pass) > 0 {
            out.push(line(Verdict::Pass, None));
        }
        let unchecked = counted.iter().find(|(_, verdict)| outcome_of(verdict) == Outcome::NotChecked);
        if let Some((_, Verdict::NotChecked(first))) = unchecked {
            out.push(line(Verdict::NotChecked(first.clone()), Some(first.cause.clone())));
        }
        out
    }
}

fn outcome_of(verdict: &Verdict) -> Outcome {
    match verdict {
        Verdict::Pass => Outcome::Pass,
        Verdict::NotChecked(_) => Outcome::NotChecked,
        Verdict::Warning(_) => Outcome::Warning,
        Verdict::Invalid(_) => Outcome::Invalid,
    }
}

fn scopes(verdicts: &[(Scope, Verdict)]) -> Scopes {
    let any = |wanted: fn(&Scope) -> bool| verdicts.iter().any(|(scope, _)| wanted(scope));
    let (trials, points) = (any(|s| matches!(s, Scope::Trial(_))), any(|s| matches!(s, Scope::Point(_))));
    match (trials, points, any(|s| matches!(s, Scope::Run))) {
        (true, false, false) => Scopes::Trials,
        (true, false, true) => Scopes::TrialsAndRun,
        (true, true, _) => Scopes::TrialsAndPoints,
        (false, true, _) => Scopes::Points,
        (false, false, _) => Scopes::Run,
    }
}

/// Invalid figures of each trial, by its id. The schedule asks for them after every trial.
///
/// A trial's verdicts may be about several things. Voids about the device outweigh those about depth, since
/// every finding that uses depth is about the device as well; other pairs void everything. And a point is
/// the mean of like trials: where enough of them stand wholly, the others are left out of all its figures;
/// where they do not, they stay in what they are not void in, so that the figures can be shown beside the
/// verdict.
pub fn voids(run: &Run) -> Voids {
    // Nothing but what is invalid is kept: the verdicts of 1,000 trials take 6 MB, after every trial.
    let of_check = |check: &'static dyn Check| {
        let trials = (0..run.trials.len()).map(Scope::Trial);
        trials.filter_map(move |scope| invalidity(run, check.id(), scope, &check.check(scope, run)?))
    };
    voids_of(run, &CHECKS.iter().flat_map(of_check).collect())
}

fn judge_trials(run: &Run) -> Vec<OfCheck> {
    CHECKS.iter().map(|check| OfCheck::of_trials(check, run)).collect()
}

fn standing_of(run: &Run, judged: &[OfCheck]) -> TrialStanding {
    let of = |one: &OfCheck| {
        let id = one.check.id();
        let invalid = one.verdicts.iter().filter_map(|(scope, verdict)| invalidity(run, id, *scope, verdict));
        invalid.collect::<Vec<_>>()
    };
    judged.iter().flat_map(of).collect()
}

fn invalidity(run: &Run, check: CheckName, scope: Scope, verdict: &Verdict) -> Option<(u64, Invalidity)> {
    match (scope, verdict) {
        (Scope::Trial(place), Verdict::Invalid(reason)) => {
            Some((run.trials[place].id, Invalidity { check, about: reason.about }))
        }
        _ => None,
    }
}

fn voids_of(run: &Run, standing: &TrialStanding) -> Voids {
    let all = |causes: &[Invalidity]| causes.iter().map(|one| one.about).reduce(together);
    let mut voids: Voids = standing.iter().filter_map(|(id, causes)| Some((id, all(causes)?))).collect();
    let mut whole: BTreeMap<usize, usize> = BTreeMap::new();
    let measured = || run.trials.iter().filter(|trial| trial.phase == Phase::Measure);
    for trial in measured().filter(|trial| !voids.contains_key(&trial.id)) {
        *whole.entry(trial.point.unwrap_or(usize::MAX)).or_default() += 1;
    }
    for trial in measured() {
        let enough =
            whole.get(&trial.point.unwrap_or(usize::MAX)).is_some_and(|&count| count >= FEWEST_TRIALS);
        if let Some(about) = voids.get_mut(&trial.id).filter(|_| enough) {
            *about = About::All;
        }
    }
    voids
}

fn together(a: About, b: About) -> About {
    match (a, b) {
        _ if a == b => a,
        (About::Device, About::Depth) | (About::Depth, About::Device) => About::Device,
        _ => About::All,
    }
}
