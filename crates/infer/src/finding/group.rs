//! Common parts of findings: which points belong together, whether their figures are valid, and how a finding is
//! built.

use iosonde_judge::{estimate::FEWEST_TRIALS, evidence::Evidence};
use iosonde_model::{
    About, Conditions, Detail, Direction, Estimate, Finding, FindingName, Inconclusive, Op, Rw, Status,
    Trial, Unit,
};
use iosonde_stats::{LogEstimate, robust};
use statrs::distribution::{ChiSquared, ContinuousCDF};

/// Points that differ in what a finding varies and in nothing else.
pub(super) struct Group<'e, 'a> {
    /// What they have in common.
    pub(super) conditions: Conditions,
    /// The direction that they measure.
    pub(super) op: Op,
    /// In the order of the plan.
    pub(super) points: Vec<&'e Evidence<'a>>,
}

/// The direction of a workload that has only one.
pub(super) fn only_direction(rw: Rw) -> Option<Op> {
    match (rw.reads(), rw.writes()) {
        (true, false) => Some(Op::Read),
        (false, true) => Some(Op::Write),
        _ => None,
    }
}

/// Sorts points of one direction into groups by what `conditions` says of each; `None` leaves a point out.
pub(super) fn groups<'e, 'a>(
    points: &'e [Evidence<'a>],
    conditions: impl Fn(Op, &Evidence) -> Option<Conditions>,
) -> Vec<Group<'e, 'a>> {
    let mut groups: Vec<Group> = Vec::new();
    for evidence in points {
        let Some(op) = only_direction(evidence.point.spec.rw) else { continue };
        let Some(conditions) = conditions(op, evidence) else { continue };
        match groups.iter_mut().find(|group| group.conditions == conditions) {
            Some(group) => group.points.push(evidence),
            None => groups.push(Group { conditions, op, points: vec![evidence] }),
        }
    }
    groups
}

/// Whether enough trials of a point are valid for all that a finding uses.
///
/// A finding is about the device, so what is invalid about the device is always invalid here.
pub(super) fn valid(evidence: &Evidence, used: &[About]) -> Result<(), Inconclusive> {
    stands_as(evidence, &[&[About::Device], used].concat())
}

fn stands_as(evidence: &Evidence, used: &[About]) -> Result<(), Inconclusive> {
    let run = evidence.trials.len();
    for &about in used {
        // A trial that took no time says nothing.
        let valid = evidence.standing(about).filter(|trial| trial.measured_s > 0.0).count();
        if valid < FEWEST_TRIALS {
            let (spec, needed) = (Box::new(evidence.point.spec.clone()), FEWEST_TRIALS);
            return Err(Inconclusive::TooFewTrials { spec, valid, run, needed, about });
        }
    }
    Ok(())
}

/// The trials whose throughputs are valid as statements about the device.
pub(super) fn of_the_device<'a>(evidence: &Evidence<'a>) -> impl Iterator<Item = &'a Trial> {
    evidence.with(|void| !void.is_some_and(|void| void.touches(About::Rate) || void.touches(About::Device)))
}

/// Completions per second of a point, if its figures stand.
pub(super) fn valid_rate(evidence: &Evidence, op: Op, used: &[About]) -> Result<LogEstimate, Inconclusive> {
    valid(evidence, &[&[About::Rate], used].concat())?;
    rate_of(evidence, op)
}

/// The same, whether the device or the program set them.
pub(super) fn valid_rate_whatever_set_it(evidence: &Evidence, op: Op) -> Result<LogEstimate, Inconclusive> {
    stands_as(evidence, &[About::Rate])?;
    rate_of(evidence, op)
}

fn rate_of(evidence: &Evidence, op: Op) -> Result<LogEstimate, Inconclusive> {
    let direction = evidence.direction(op).ok_or_else(|| no_interval(evidence))?;
    in_numbers(direction.iops, evidence)?;
    Ok(no_better_than_requests(grained(direction.iops), evidence, op, |own| Some(own.iops)))
}

/// The mean latency of a point, if its figures stand.
pub(super) fn valid_latency(evidence: &Evidence, op: Op) -> Result<LogEstimate, Inconclusive> {
    valid(evidence, &[About::Latency])?;
    let direction = evidence.direction(op).ok_or_else(|| no_interval(evidence))?;
    in_numbers(direction.latency_ns_mean, evidence)?;
    // Between writes that are flushed lies the flush, so that the rate is not the reciprocal of their latency.
    Ok(no_better_than_requests(grained(direction.latency_ns_mean), evidence, op, |own| own.latency_ns.mean))
}

/// The scatter between trials is partly borrowed from the other points, which may make many more requests each, or
/// spend their time in a link that does not scatter. A mean of requests at QD 1 is known no better than
/// their number allows, as if each were independent, nor than its own trials agree. Requests are not independent where
/// trials agree far better than that allows: under a rate limit, one request in 200 waits for all of them.
fn no_better_than_requests(
    estimate: LogEstimate,
    evidence: &Evidence,
    op: Op,
    figure: impl Fn(&Direction) -> Option<f64>,
) -> LogEstimate {
    if evidence.point.spec.asked_in_flight() != 1 {
        return estimate;
    }
    let latencies =
        || evidence.standing(About::Rate).filter_map(|trial| trial.direction(op)).map(|d| &d.latency_ns);
    let requests: u64 = evidence.standing(About::Rate).filter_map(|t| t.direction(op)).map(|d| d.ios).sum();
    let spreads = latencies().filter_map(|l| Some(l.stddev? / l.mean.filter(|mean| *mean > 0.0)?));
    let squares: Vec<f64> = spreads.map(|spread| spread * spread).collect();
    if requests == 0 || squares.is_empty() {
        return estimate;
    }
    let variance = squares.iter().sum::<f64>() / squares.len() as f64;
    let all: Vec<f64> = evidence
        .standing(About::Rate)
        .filter_map(|trial| figure(trial.direction(op)?))
        .filter(|value| *value > 0.0)
        .collect();
    let own = without_odd_ones(all.clone());
    let (of_requests, of_trials) = ((variance / requests as f64).sqrt(), standard_error(&own));
    if of_trials > of_requests.max(estimate.standard_error) {
        // What a few trials say of their own scatter is known no better than they are many.
        let degrees_of_freedom = (own.len() as f64 - 1.0).min(estimate.degrees_of_freedom);
        return LogEstimate { standard_error: of_trials, degrees_of_freedom, ..estimate };
    }
    // All of them: an odd trial may be the one that has the slow request.
    if agree_too_well(&all, of_requests) {
        return estimate;
    }
    LogEstimate { standard_error: estimate.standard_error.max(of_requests), ..estimate }
}

/// Chance with which trials of independent requests agree so well.
const TOO_WELL: f64 = 1e-3;

/// Whether the trials' means scatter less than those of independent requests do, whose mean over all trials would have
/// this standard error (a chi-square test).
fn agree_too_well(values: &[f64], of_requests: f64) -> bool {
    let degrees_of_freedom = values.len() as f64 - 1.0;
    let of_trials = standard_error(values);
    if values.len() < FEWEST_TRIALS || of_requests <= 0.0 {
        return false;
    }
    let chi_square = degrees_of_freedom * (of_trials / of_requests).powi(2);
    ChiSquared::new(degrees_of_freedom).is_ok_and(|law| law.cdf(chi_square) < TOO_WELL)
}

/// Multiple of the median absolute deviation beyond which an outlier is excluded from a point's throughput (see
/// `iosonde checks outliers`); it does not show how far the others agree.
const ODD: f64 = 4.5 * 1.4826;
/// Trials that agree to the digit have no median distance.
const DIGITS: f64 = 1e-3;

/// Throughputs without outliers, where these are one in five or fewer.
fn without_odd_ones(rates: Vec<f64>) -> Vec<f64> {
    let Some(median) = robust::median(&rates) else { return rates };
    let off = |rate: f64| (rate / median).ln();
    let distances: Vec<f64> = rates.iter().map(|&rate| off(rate)).collect();
    let far = ODD * robust::median_absolute_deviation(&distances).unwrap_or(0.0).max(DIGITS);
    let near: Vec<f64> = rates.iter().copied().filter(|&rate| off(rate).abs() <= far).collect();
    if near.len() >= FEWEST_TRIALS && 5 * near.len() >= 4 * rates.len() { near } else { rates }
}

/// Standard error of the mean logarithm of independent values, their drift included.
fn standard_error(values: &[f64]) -> f64 {
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    LogEstimate::mean_of(&logs)
        .filter(|_| logs.len() >= FEWEST_TRIALS)
        .map_or(0.0, |mean| mean.standard_error)
}

/// A device without noise, or a throttle, repeats its rate to the last digit; a standard error of nothing
/// would weigh that infinitely, and call a miss of a billionth a contradiction. No trial is known better
/// than to one request in ten thousand.
fn grained(estimate: LogEstimate) -> LogEstimate {
    LogEstimate { standard_error: estimate.standard_error.max(1e-4), ..estimate }
}

/// Trials that took no time have no rate.
fn in_numbers(estimate: LogEstimate, evidence: &Evidence) -> Result<(), Inconclusive> {
    if estimate.log_mean.is_finite() && estimate.standard_error.is_finite() {
        return Ok(());
    }
    Err(Inconclusive::NotANumber { spec: Box::new(evidence.point.spec.clone()) })
}

fn no_interval(evidence: &Evidence) -> Inconclusive {
    Inconclusive::NoInterval { spec: Box::new(evidence.point.spec.clone()) }
}

/// High over low of an interval from which on a value is not known: it says less than the grid it was measured on.
const UNKNOWN: f64 = 5.0;

/// The parts that all findings of one kind and one experiment share.
#[derive(Clone, Copy)]
pub(super) struct Writer<'a> {
    pub(super) name: FindingName,
    pub(super) experiment: &'a str,
    pub(super) unit: Unit,
    pub(super) confidence: f64,
}

impl Writer<'_> {
    /// A finding with its value and the facts beside it.
    pub(super) fn concluded(
        &self,
        conditions: &Conditions,
        points: &[&Evidence],
        estimate: Estimate,
        detail: Detail,
    ) -> Finding {
        let ends = [Some(estimate.value), estimate.low, estimate.high];
        if !ends.iter().flatten().all(|end| end.is_finite()) {
            return self.inconclusive(conditions, points, Inconclusive::EstimateNotANumber);
        }
        let within = estimate.low.is_none_or(|low| low <= estimate.value)
            && estimate.high.is_none_or(|high| estimate.value <= high);
        debug_assert!(within, "{} outside its interval: {estimate:?}", self.name);
        if let (Some(low), Some(high)) = (estimate.low, estimate.high)
            && low > 0.0
            && high >= UNKNOWN * low
        {
            let unit = self.unit;
            return self.inconclusive(conditions, points, Inconclusive::WideInterval { unit, low, high });
        }
        let Estimate { value, low, high } = estimate;
        Finding { value: Some(value), low, high, ..self.blank(conditions, points, Status::Found, detail) }
    }

    /// A finding that was looked for and is not there.
    pub(super) fn absent(&self, conditions: &Conditions, points: &[&Evidence], detail: Detail) -> Finding {
        self.blank(conditions, points, Status::Absent, detail)
    }

    /// A finding that the trials do not allow.
    pub(super) fn inconclusive(
        &self,
        conditions: &Conditions,
        points: &[&Evidence],
        why: impl Into<Inconclusive>,
    ) -> Finding {
        self.blank(conditions, points, Status::Inconclusive, Detail::Inconclusive(why.into()))
    }

    fn blank(
        &self,
        conditions: &Conditions,
        points: &[&Evidence],
        status: Status,
        detail: Detail,
    ) -> Finding {
        Finding {
            name: self.name,
            experiment: self.experiment.to_owned(),
            conditions: conditions.clone(),
            status,
            value: None,
            unit: self.unit,
            low: None,
            high: None,
            at_least: false,
            confidence: self.confidence,
            detail,
            notes: Vec::new(),
            trials: trial_ids(points, About::Device),
        }
    }
}

/// The trials behind a finding that are valid for these figures.
pub(super) fn trial_ids(points: &[&Evidence], about: About) -> Vec<u64> {
    let mut ids: Vec<u64> =
        points.iter().flat_map(|evidence| evidence.standing(about).map(|trial| trial.id)).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

#[cfg(test)]
mod tests {
    use iosonde_judge::evidence::DirectionEvidence;
    use iosonde_model::Point;
    use iosonde_testkit::specimen;

    use super::*;

    #[test]
    fn an_interval_that_spans_a_factor_of_five_is_no_finding() {
        let writer = Writer {
            name: FindingName::PlateauBlockSize,
            experiment: "x",
            unit: Unit::Bytes,
            confidence: 0.95,
        };
        let of = |low: f64, high: f64| {
            let estimate = Estimate { value: low, low: Some(low), high: Some(high) };
            writer.concluded(&Conditions::default(), &[], estimate, Detail::Plain)
        };
        assert_eq!(of(16_384.0, 65_536.0).status, Status::Found);
        let whole_grid = of(16_384.0, 4_194_304.0);
        assert_eq!((whole_grid.status, whole_grid.value), (Status::Inconclusive, None));
        let Detail::Inconclusive(Inconclusive::WideInterval { unit, low, high }) = whole_grid.detail else {
            panic!("{whole_grid:?}")
        };
        assert_eq!((unit, low, high), (Unit::Bytes, 16_384.0, 4_194_304.0));
    }

    #[test]
    fn a_trial_that_was_set_aside_widens_nothing() {
        let agree = [60_742.8; 11];
        let mut one_off: Vec<f64> = agree.to_vec();
        one_off.push(13_110.0);
        assert_eq!(without_odd_ones(one_off), agree);
        let scatter = vec![900.0, 950.0, 1000.0, 1050.0, 1100.0];
        assert_eq!(without_odd_ones(scatter.clone()), scatter);
        let two_levels = vec![900.0, 900.0, 900.0, 900.0, 500.0, 500.0];
        assert_eq!(without_odd_ones(two_levels.clone()), two_levels);
    }

    #[test]
    fn requests_that_depend_on_each_other_do_not_widen_a_rate_that_all_trials_have() {
        let error = |rates: [u64; 7]| {
            let limited = |rate| {
                let mut trial = specimen::healthy(Rw::RandRead, 4096, 1, rate);
                // One request in 200 waits for 100 ms, the others take 120 us: 14 times the mean.
                let latency = &mut trial.read.as_mut().expect("it reads").latency_ns;
                latency.stddev = latency.mean.map(|mean| 14.0 * mean);
                trial
            };
            let trials = rates.map(limited);
            let point = Point::planned(0, "x", trials[0].spec.clone());
            let borrowed =
                LogEstimate { log_mean: 2000f64.ln(), standard_error: 1e-3, degrees_of_freedom: 100.0 };
            let both = DirectionEvidence { iops: borrowed, latency_ns_mean: borrowed, shared_error: 0.0 };
            let (trials, void) = (trials.iter().collect(), vec![None; 7]);
            let evidence = Evidence { point: &point, trials, void, read: Some(both), write: None };
            valid_latency(&evidence, Op::Read).unwrap().standard_error
        };
        assert_eq!(error([2000, 2000, 2001, 2000, 2000, 1999, 2000]), 1e-3);
        // Trials of independent requests differ by a third or more: 14 over the root of 2,000 is 31 %.
        let independent = error([2000, 1500, 2600, 1700, 2100, 1400, 2500]);
        assert!(independent > 0.1, "{independent}");
        // One that waited longer, as an outlier, and others that met no wait: nothing of this is exact.
        let unseen = error([2000, 2000, 2000, 2000, 2000, 2000, 900]);
        assert!(unseen > 0.1, "{unseen}");
    }

    #[test]
    fn an_error_of_five_trials_has_four_degrees_of_freedom() {
        // Rates that scatter by 10 %, of a point whose neighbours let it believe in 0.1 %.
        let rates = [900, 950, 1000, 1050, 1100];
        let trials: Vec<Trial> = rates.map(|rate| specimen::healthy(Rw::RandRead, 4096, 1, rate)).into();
        let point = Point::planned(0, "x", trials[0].spec.clone());
        let borrowed =
            LogEstimate { log_mean: 1000f64.ln(), standard_error: 0.001, degrees_of_freedom: 100.0 };
        let both = DirectionEvidence { iops: borrowed, latency_ns_mean: borrowed, shared_error: 0.0 };
        let (trials, void) = (trials.iter().collect(), vec![None; 5]);
        let evidence = Evidence { point: &point, trials, void, read: Some(both), write: None };
        let own = valid_rate(&evidence, Op::Read, &[]).unwrap();
        assert_eq!(own.degrees_of_freedom, 4.0);
        // By hand: the logarithms scatter by 0.0794, over the root of 5.
        assert!((own.standard_error - 0.0355).abs() < 1e-3, "{own:?}");
    }
}
