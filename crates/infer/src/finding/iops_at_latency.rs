//! The highest load at which the storage stays within a latency limit.
//!
//! What it is: the rate of arrivals, in requests per second, at which the limited figure of latency (a percentile or
//! the mean) equals its limit. Latency counts from the moment when a request was due, so that delays by a stall are
//! included. Of a mix of reads and writes it is the rate of the reads, and their latency is limited; the writes come
//! beside them in their share.
//!
//! How it is computed: each round offers the same loads in random order. The limited figure of each load, of all its
//! trials together and on a logarithmic scale, is made to rise with load (isotonic regression, by pooling adjacent
//! violators), and the crossing of the limit is interpolated between two neighbouring loads. A load that was missed
//! stands at the rate that was reached. Latency rises ever faster with load, so that a straight line between two loads
//! crosses too early, and one through the two loads before crosses too late: the parabola through all three gives the
//! value. Where the load above was missed, its latency belongs to the trial's length and not to the storage; latency
//! then rises as 1 / (1 - load / best), with what was reached as the best (M/M/1 and every queue near saturation). The
//! interval goes from the line that is too early to the one that is too late, and beyond them by what leaving out one
//! round after the other shows (jackknife), so that the distance of the loads, the noise of the tail and the variation
//! from round to round are included. The lower end is lower by the limit over a trial's length: a load that is too high
//! by that share keeps the limit until the trial ends.
//!
//! Inconclusive where the loads do not enclose the limit, with all rounds and without any one of them; the text then
//! says on which side the answer lies. Inconclusive, too, where all trials of a load have too few requests for the
//! percentile (p99 needs 1,000, ten beyond it).
//!
//! Traps: a generator that sends late adds its own lateness (see the check `missed-rate`). Equally spaced arrivals
//! wait less than those of independent clients: at half load of one server with constant service half a service
//! time less, on average (M/D/1). A closed loop cannot answer this question at all, because it stops sending when
//! the storage stalls.

use std::collections::BTreeMap;

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    About, Conditions, Detail, Estimate, ExperimentName, Finding, FindingName, Histogram, Inconclusive,
    LatencyLimit, Op, Trial, TrialSpec, Unit,
    detail::{Lack, LatencyLimitProblem, LatencyLimited},
};
use iosonde_stats::{pool_adjacent_violators, student_t};

use super::{
    FindingKind, Proof, ScreenLine,
    group::{Writer, only_direction},
    pooled,
};

/// Rounds that an interval needs.
const FEWEST_ROUNDS: usize = 5;

pub(crate) struct IopsAtLatency;

impl FindingKind for IopsAtLatency {
    fn id(&self) -> FindingName {
        FindingName::IopsAtLatency
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::OpenLoop]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::always("latency limit")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Iops, confidence };
        let mut families: Vec<(TrialSpec, Vec<&Evidence>)> = Vec::new();
        for evidence in points {
            let spec = &evidence.point.spec;
            if spec.latency_limit.is_none() || spec.rate_iops.is_none() || limited(spec).is_none() {
                continue;
            }
            let key = TrialSpec { rate_iops: None, ..spec.clone() };
            match families.iter_mut().find(|(known, _)| *known == key) {
                Some((_, family)) => family.push(evidence),
                None => families.push((key, vec![evidence])),
            }
        }
        families.iter().filter_map(|(spec, family)| concluded(&writer, spec, family)).collect()
    }

    fn wants(&self) -> Option<Lack> {
        Some(Lack::OfferedLoads)
    }

    fn proof(&self) -> Proof {
        Proof {
            device: r#"
name = "one-clerk"
summary = "one server whose service is exponential: M/M/1"
capacity = "64GiB"
[queue]
servers = 1
service = { exponential = "100us" }
"#,
            study: r#"
name = "one-clerk"
question = "How much load keeps p99 under 1 ms?"
time = "400s"
[[experiment]]
kind = "open-loop"
rw = "randread"
rate = [4000, 4500, 5000, 5500, 6000, 6500]
depth = 1024
arrivals = "poisson"
limit = "p99=1ms"
"#,
            truths: &[(
                Some(5394.83),
                "M/M/1: time in the system is exponential with rate mu - lambda, so p99 = ln(100) / (mu - lambda); \
                 10,000/s - 4.60517 / 1 ms = 5,394.8/s",
            )],
            widest: 0.1,
        }
    }
}

fn concluded(writer: &Writer, spec: &TrialSpec, family: &[&Evidence]) -> Option<Finding> {
    let (limit, (op, share)) = (spec.latency_limit?, limited(spec)?);
    let conditions = Conditions {
        op: Some(op),
        random: Some(spec.rw.is_random()),
        block_size_bytes: Some(spec.block_size_bytes),
        queue_depth: Some(spec.queue_depth * spec.jobs),
        span_bytes: Some(spec.span_bytes),
        ..Conditions::default()
    };
    let refused = |problem: LatencyLimitProblem| {
        Some(writer.inconclusive(&conditions, family, Inconclusive::LatencyLimit { limit, problem }))
    };
    let rounds = match rounds(family, limit, op, share) {
        Ok(rounds) => rounds,
        Err(why) => return refused(hopeless(family, limit, op, share).unwrap_or(why)),
    };
    let limit_log = (limit.ns as f64).ln();
    let rounds: Vec<&[Visit]> = rounds.iter().map(Vec::as_slice).collect();
    let whole = curve(&rounds, limit);
    let end = |at: Option<&OnCurve>| at.map_or(f64::NAN, |load| load.load_log.exp());
    let (lowest_iops, highest_iops) = (end(whole.first()), end(whole.last()));
    let at = match crossing(&whole, limit_log) {
        Crossing::At(at) => at,
        Crossing::Above => return refused(LatencyLimitProblem::AllKeep { highest_iops }),
        Crossing::Below => return refused(LatencyLimitProblem::NoneKeeps { lowest_iops }),
    };
    if at.trials < FEWEST_ROUNDS {
        return refused(LatencyLimitProblem::TooFewRounds { rounds: at.trials, needed: FEWEST_ROUNDS });
    }
    let crossed = |rounds: &[&[Visit]]| match crossing(&curve(rounds, limit), limit_log) {
        Crossing::At(at) => Some(at.log),
        Crossing::Above | Crossing::Below => None,
    };
    let Some(error) = pooled::leaving_one_out(&rounds, crossed) else {
        // Without one of the rounds the loads do not enclose the limit: it lies at their nearer end.
        let is_near_the_top = at.log > (lowest_iops * highest_iops).sqrt().ln();
        return refused(match is_near_the_top {
            true => LatencyLimitProblem::AllKeep { highest_iops },
            false => LatencyLimitProblem::NoneKeeps { lowest_iops },
        });
    };
    let half = student_t(writer.confidence, at.trials as f64 - 1.0) * error.standard_error;
    let low = (at.early - half).exp() * (1.0 - unresolved(&whole_trials(family), limit));
    let high = (at.late + half).exp();
    let estimate = Estimate { value: at.log.exp(), low: Some(low), high: Some(high) };
    let (arrivals, rounds) = (spec.arrivals, at.trials);
    let facts = LatencyLimited { limit, arrivals, read_share: spec.rw.is_mixed().then_some(share), rounds };
    Some(writer.concluded(&conditions, family, estimate, Detail::LatencyLimited(facts)))
}

/// Lengths of a family's trials, in seconds.
fn whole_trials(family: &[&Evidence]) -> Vec<f64> {
    let all = family.iter().flat_map(|evidence| evidence.standing(About::Latency));
    all.map(|trial| trial.measured_s).filter(|length_s| *length_s > 0.0).collect()
}

/// Share by which a load may be too high without being told from one that keeps the limit: what waits under it grows by
/// that share of a trial's time, and a trial begins with nothing waiting.
fn unresolved(lengths_s: &[f64], limit: LatencyLimit) -> f64 {
    let shortest_s = lengths_s.iter().copied().fold(f64::INFINITY, f64::min);
    (limit.ns as f64 / 1e9 / shortest_s).min(0.5)
}

/// The requests whose latency is limited, and their share of all: of a mix the reads, for which somebody waits.
fn limited(spec: &TrialSpec) -> Option<(Op, f64)> {
    match only_direction(spec.rw) {
        Some(op) => Some((op, 1.0)),
        None => spec.rw.is_mixed().then(|| (Op::Read, spec.read_percent.unwrap_or(50.0) / 100.0)),
    }
}

/// Why no load keeps the limit, though each has too few requests for its percentile: of all that the lowest load
/// completed, significantly more than the limit allows took longer.
fn hopeless(family: &[&Evidence], limit: LatencyLimit, op: Op, op_share: f64) -> Option<LatencyLimitProblem> {
    let allowed = 1.0 - limit.quantile?;
    let load = |evidence: &&&Evidence| evidence.point.spec.rate_iops.unwrap_or(f64::INFINITY);
    let lowest = family.iter().min_by(|a, b| load(a).total_cmp(&load(b)))?;
    let all = pooled::merged(pooled::latencies(lowest, op));
    let (count, over) = all.buckets().fold((0.0, 0.0), |(count, over), (middle, _, n)| {
        (count + n as f64, over + if middle > limit.ns as f64 { n as f64 } else { 0.0 })
    });
    let share = over / f64::max(count, 1.0);
    // Three standard errors of a share.
    let surely = count >= SURELY_OF && share - 3.0 * (share * (1.0 - share) / count).sqrt() > allowed;
    surely.then(|| LatencyLimitProblem::NoneCanKeep {
        lowest_iops: op_share * load(&lowest),
        over_share: share,
    })
}

/// Requests from which on a share of them is known well enough.
const SURELY_OF: f64 = 50.0;

/// Where the limit is crossed.
enum Crossing {
    /// Between two loads.
    At(Crossed),
    /// Every load keeps it.
    Above,
    /// No load keeps it.
    Below,
}

/// Logarithms of loads at a crossing.
#[derive(Debug, Clone, Copy)]
struct Crossed {
    /// By a straight line between the two loads around it.
    early: f64,
    /// Best estimate.
    log: f64,
    /// By a straight line through the two loads before it, or the load above.
    late: f64,
    /// Trials of that of the two loads around it which has fewer.
    trials: usize,
}

/// A load and its latencies in one trial.
#[derive(Debug, Clone, Copy)]
struct Visit<'a> {
    /// Place of the load's point in the family.
    load: usize,
    /// Logarithm of the load that was reached, in requests per second.
    load_log: f64,
    latencies: &'a Histogram,
    /// Whether less was reached than was offered.
    missed: bool,
}

/// The visits of each round.
fn rounds<'a>(
    family: &[&Evidence<'a>],
    limit: LatencyLimit,
    op: Op,
    share: f64,
) -> Result<Vec<Vec<Visit<'a>>>, LatencyLimitProblem> {
    let mut rounds: BTreeMap<u32, Vec<Visit>> = BTreeMap::new();
    let (mut too_few, mut loads) = (None, 0);
    for (load, evidence) in family.iter().enumerate() {
        let spec = &evidence.point.spec;
        let rate_iops = share * spec.rate_iops.expect("it was looked for") * f64::from(spec.jobs);
        let took_time = |trial: &&Trial| trial.measured_s > 0.0;
        let standing: Vec<&Trial> = evidence.standing(About::Latency).filter(took_time).collect();
        let own = |trial: &&'a Trial| Some((*trial, &trial.direction(op)?.histogram));
        let own: Vec<(&Trial, &Histogram)> = standing.iter().filter_map(own).collect();
        let requests: u64 = own.iter().map(|(_, latencies)| latencies.total()).sum();
        // A load too low for its figure, without any one of its trials, says nothing, and takes nothing from the
        // others.
        let largest = own.iter().map(|(_, latencies)| latencies.total()).max().unwrap_or(0);
        if requests - largest < limit.requests_needed() {
            let (spec, needed) = (Box::new(spec.clone()), limit.requests_needed());
            too_few = Some(LatencyLimitProblem::TooFewRequests { spec, needed });
            continue;
        }
        loads += 1;
        for (trial, latencies) in own {
            let reached = reached_iops(trial, rate_iops);
            let (load_log, missed) = (reached.ln(), reached < rate_iops);
            rounds.entry(trial.round).or_default().push(Visit { load, load_log, latencies, missed });
        }
    }
    if loads < 2 {
        return Err(too_few.unwrap_or(LatencyLimitProblem::NoRounds));
    }
    Ok(rounds.into_values().collect())
}

/// A load of a curve.
#[derive(Debug, Clone, Copy)]
struct OnCurve {
    /// Logarithm of the load, mean over its trials.
    load_log: f64,
    /// Logarithm of the limited figure, of the latencies of all its trials together.
    latency_log: f64,
    trials: usize,
    /// Trials in which less was reached than was offered.
    missed: usize,
}

/// The curve of latencies over loads, loads rising.
fn curve(rounds: &[&[Visit]], limit: LatencyLimit) -> Vec<OnCurve> {
    let mut loads: BTreeMap<usize, Vec<&Visit>> = BTreeMap::new();
    for visit in rounds.iter().copied().flatten() {
        loads.entry(visit.load).or_default().push(visit);
    }
    let one = |visits: &Vec<&Visit>| {
        let all = pooled::merged(visits.iter().map(|visit| visit.latencies));
        Some(OnCurve {
            load_log: visits.iter().map(|visit| visit.load_log).sum::<f64>() / visits.len() as f64,
            latency_log: limit.figure_ns(&all)?.ln(),
            trials: visits.len(),
            missed: visits.iter().filter(|visit| visit.missed).count(),
        })
    };
    let mut curve: Vec<OnCurve> = loads.values().filter_map(one).collect();
    curve.sort_by(|a, b| a.load_log.total_cmp(&b.load_log));
    curve
}

/// The load of a trial: what was reached where that is less than what was offered, beyond what chance explains.
fn reached_iops(trial: &Trial, offered_iops: f64) -> f64 {
    let asked_iops = trial.spec.rate_iops.map_or(f64::INFINITY, |rate| rate * f64::from(trial.spec.jobs));
    let Some(achieved_iops) = trial.achieved_rate_iops else { return offered_iops };
    // Three standard errors of a Poisson count.
    let chance_iops = 3.0 * (asked_iops / trial.measured_s).sqrt();
    if asked_iops - achieved_iops > chance_iops {
        offered_iops * achieved_iops / asked_iops
    } else {
        offered_iops
    }
}

/// Where a curve, made to rise with load, crosses the limit.
fn crossing(curve: &[OnCurve], limit: f64) -> Crossing {
    let pools = pool_adjacent_violators(curve.iter().map(|load| (load.latency_log, load.trials as f64)));
    let rising: Vec<f64> = pools.iter().flat_map(|pool| std::iter::repeat_n(pool.mean, pool.count)).collect();
    let first = match rising.iter().position(|&log| log > limit) {
        None => return Crossing::Above,
        Some(0) => return Crossing::Below,
        Some(first) => first,
    };
    let (below, above) = (rising[first - 1], rising[first]);
    let share = (limit - below) / (above - below);
    let (from, to) = (curve[first - 1].load_log, curve[first].load_log);
    let early = from + share * (to - from);
    // By the rise up to the load below; a level curve says nothing of where it bends.
    let before = first.checked_sub(2).map(|before| (curve[before].load_log, rising[before]));
    let slope = before.map_or(0.0, |(log, latency)| (below - latency) / (from - log));
    let late = if slope > 0.0 { (from + (limit - below) / slope).min(to) } else { to }.max(early);
    // The parabola through three loads with equal distances: its crossing divides the two lines' in this ratio.
    let parabola = early + (late - early) * (1.0 - share) / 2.0;
    let is_overload = 2 * curve[first].missed > curve[first].trials;
    let log = if is_overload { saturating(from, to, below - limit) } else { parabola }.clamp(early, late);
    Crossing::At(Crossed { early, log, late, trials: curve[first - 1].trials.min(curve[first].trials) })
}

/// Load at which latency reaches the limit where it rises as 1 / (1 - load / best): logarithms of a load, of the best,
/// and of the latency there over the limit.
fn saturating(load: f64, best: f64, latency_over_limit: f64) -> f64 {
    (best.exp() - (best.exp() - load.exp()) * latency_over_limit.exp()).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_no_load_keeps_is_said_to_be_one() {
        use iosonde_model::{Point, Rw};
        use iosonde_testkit::specimen;
        // A disk: 5 ms each, and 60 requests a trial.
        let problem = |limit: &str, latency_ns: u64| {
            let mut trial = specimen::healthy(Rw::RandRead, 4096, 8, 60);
            trial.spec.rate_iops = Some(500.0);
            trial.spec.latency_limit = Some(limit.parse().unwrap());
            trial.read = Some(specimen::direction(60, 4096, latency_ns));
            let point = Point::planned(0, "promise", trial.spec.clone());
            let evidence = Evidence {
                point: &point,
                trials: vec![&trial; 5],
                void: vec![None; 5],
                read: None,
                write: None,
            };
            match IopsAtLatency.conclude("promise", &[evidence], 0.95).remove(0).detail {
                Detail::Inconclusive(Inconclusive::LatencyLimit { problem, .. }) => problem,
                detail => panic!("{detail:?}"),
            }
        };
        assert_eq!(
            problem("p99=1ms", 5_000_000),
            LatencyLimitProblem::NoneCanKeep { lowest_iops: 500.0, over_share: 1.0 }
        );
        assert!(matches!(
            problem("p99=1ms", 500_000),
            LatencyLimitProblem::TooFewRequests { needed: 1000, .. }
        ));
    }

    fn on_curve(points: &[(f64, f64)]) -> Vec<OnCurve> {
        let on = |&(load, ns): &(f64, f64)| OnCurve {
            load_log: load.ln(),
            latency_log: ns.ln(),
            trials: 6,
            missed: 0,
        };
        points.iter().map(on).collect()
    }

    #[test]
    fn a_crossing_lies_between_its_neighbours_or_outside() {
        // Latency doubles from one load to the next; the limit lies half-way on the logarithmic scale.
        let curve = on_curve(&[(1000.0, 1e6), (2000.0, 2e6), (4000.0, 4e6)]);
        let Crossing::At(at) = crossing(&curve, (2e6 * 2f64.sqrt()).ln()) else { panic!("it is crossed") };
        // A straight line all the way: both lines cross at the same load.
        for log in [at.early, at.log, at.late] {
            assert!((log.exp() - 2000.0 * 2f64.sqrt()).abs() < 1e-6);
        }
        assert!(matches!(crossing(&curve, 5e6f64.ln()), Crossing::Above));
        assert!(matches!(crossing(&curve, 5e5f64.ln()), Crossing::Below));
    }

    #[test]
    fn the_parabola_finds_the_crossing_of_a_curve_that_bends() {
        // M/M/1 with 10,000 a second: p99 = ln(100) / (mu - lambda).
        let p99_ns = |load: f64| 1e9 * 100f64.ln() / (10_000.0 - load);
        let curve = on_curve(&[2500.0, 5000.0, 9000.0].map(|load| (load, p99_ns(load))));
        let truth = 10_000.0 - 100f64.ln() * 1e3 / 2.0;
        let Crossing::At(at) = crossing(&curve, 2e6f64.ln()) else { panic!("it is crossed") };
        assert!(at.early.exp() < truth && truth < at.late.exp(), "{at:?}");
        let off = |log: f64| (log.exp() / truth).ln().abs();
        assert!(off(at.log) < off(at.early) && off(at.log) < off(at.late), "{at:?} {truth}");
    }

    #[test]
    fn beyond_the_best_the_latency_of_an_overload_does_not_count() {
        // M/M/1 with 10,000 a second: p99 = ln(100) / (mu - lambda); a load of 20,000 reaches 10,000.
        let p99_ns = |load: f64| 1e9 * 100f64.ln() / (10_000.0 - load);
        let at = |limit_ns: f64, overload_ns: f64| {
            let mut curve =
                on_curve(&[(4000.0, p99_ns(4000.0)), (8000.0, p99_ns(8000.0)), (10_000.0, overload_ns)]);
            curve[2].missed = 6;
            let Crossing::At(at) = crossing(&curve, limit_ns.ln()) else { panic!("it is crossed") };
            at.log.exp()
        };
        for limit_ns in [5e6, 1e7, 2e7] {
            let truth = 10_000.0 - 1e9 * 100f64.ln() / limit_ns;
            // Whatever the length of the trial made of it.
            for overload_ns in [1e8, 1e9] {
                assert!((at(limit_ns, overload_ns) / truth - 1.0).abs() < 1e-9, "{limit_ns}");
            }
        }
    }

    #[test]
    fn a_load_that_was_missed_stands_at_what_was_reached() {
        let mut trial = iosonde_testkit::specimen::healthy(iosonde_model::Rw::RandRead, 4096, 8, 600);
        trial.spec.rate_iops = Some(1000.0);
        trial.measured_s = 1.0;
        trial.achieved_rate_iops = Some(600.0);
        assert_eq!(reached_iops(&trial, 900.0), 540.0);
        trial.achieved_rate_iops = Some(950.0);
        assert_eq!(reached_iops(&trial, 900.0), 900.0, "chance");
    }
}
