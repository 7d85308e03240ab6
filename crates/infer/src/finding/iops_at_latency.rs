//! The highest load at which the storage stays within a latency limit.
//!
//! What it is: the rate of arrivals, in requests per second, at which the limited figure of latency (a percentile
//! or the mean) equals its limit. Latency counts from the moment when a request was due, so that delays by a stall
//! are included.
//!
//! How it is computed: each round offers the same loads in random order. Within a round, latency is made to rise
//! with load (isotonic regression of its logarithm, by pooling adjacent violators), and the crossing of the limit
//! is interpolated between two neighbouring loads, both on logarithmic scales. Each round gives one crossing. Their
//! mean and scatter give the value and its interval (Student's t over rounds), so that the noise of the tail and
//! the variation from round to round are both included.
//!
//! Inconclusive where the loads did not enclose the limit in at least four of five rounds; the text then says on
//! which side the answer lies. Inconclusive, too, where a trial has too few requests for the percentile (p99 needs
//! 1,000, ten beyond it).
//!
//! Traps: a generator that sends late adds its own lateness (see the check `missed-rate`). Equally spaced arrivals
//! wait less than those of independent clients: at half load of one server with constant service half a service
//! time less, on average (M/D/1). A closed loop cannot answer this question at all, because it stops sending when
//! the storage stalls.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    About, Conditions, Detail, Estimate, ExperimentName, Finding, FindingName, Inconclusive, LatencyLimit,
    Op, Trial, TrialSpec, Unit,
    detail::{Lack, LatencyLimitProblem, LatencyLimited},
};
use iosonde_stats::{pool_adjacent_violators, student_t};

use super::{
    FindingKind, Proof, Told,
    group::{Writer, only_direction},
    pooled,
};

/// Rounds in which the loads must have enclosed the limit, of all.
const ENCLOSED_SHARE_MIN: f64 = 0.8;
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

    fn told(&self) -> Told {
        Told::always("latency limit")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Iops, confidence };
        let mut families: Vec<(TrialSpec, Vec<&Evidence>)> = Vec::new();
        for evidence in points {
            let spec = &evidence.point.spec;
            if spec.latency_limit.is_none() || spec.rate_iops.is_none() || only_direction(spec.rw).is_none() {
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
    let (limit, op) = (spec.latency_limit?, only_direction(spec.rw)?);
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
    let rounds = match rounds(family, limit, op) {
        Ok(rounds) => rounds,
        Err(why) => return refused(hopeless(family, limit, op).unwrap_or(why)),
    };
    let (lowest, highest) = (rounds.iter().map(|r| r[0].0), rounds.iter().map(|r| r[r.len() - 1].0));
    let (lowest, highest) = (lowest.fold(f64::INFINITY, f64::min), highest.fold(0.0, f64::max));
    let crossings: Vec<Crossing> = rounds.iter().map(|round| crossing(round, limit.ns as f64)).collect();
    let logs: Vec<f64> =
        crossings.iter().filter_map(|c| if let Crossing::At(log) = c { Some(*log) } else { None }).collect();
    if (logs.len() as f64) < ENCLOSED_SHARE_MIN * crossings.len() as f64 {
        let above = crossings.iter().filter(|c| matches!(c, Crossing::Above)).count();
        return refused(match above * 2 > crossings.len() - logs.len() {
            true => LatencyLimitProblem::AllKeep { highest_iops: highest },
            false => LatencyLimitProblem::NoneKeeps { lowest_iops: lowest },
        });
    }
    if logs.len() < FEWEST_ROUNDS {
        return refused(LatencyLimitProblem::TooFewRounds { rounds: logs.len(), needed: FEWEST_ROUNDS });
    }
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
    // As elsewhere: nothing is known better than to one in ten thousand.
    let half = student_t(writer.confidence, n - 1.0) * (variance / n).sqrt().max(1e-4);
    let estimate =
        Estimate { value: mean.exp(), low: Some((mean - half).exp()), high: Some((mean + half).exp()) };
    let facts = LatencyLimited { limit, arrivals: spec.arrivals, rounds: logs.len() };
    Some(writer.concluded(&conditions, family, estimate, Detail::LatencyLimited(facts)))
}

/// Why no load keeps the limit, though each has too few requests for its percentile: of all that the lowest load
/// completed, significantly more than the limit allows took longer.
fn hopeless(family: &[&Evidence], limit: LatencyLimit, op: Op) -> Option<LatencyLimitProblem> {
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
    surely.then(|| LatencyLimitProblem::NoneCanKeep { lowest_iops: load(&lowest), over_share: share })
}

/// Requests from which on a share of them is known well enough.
const SURELY_OF: f64 = 50.0;

/// Where the limit was crossed within a round.
enum Crossing {
    /// The logarithm of the load.
    At(f64),
    /// Every load kept it.
    Above,
    /// No load kept it.
    Below,
}

/// Loads and latencies of each round, loads rising: (requests a second, ns).
fn rounds(
    family: &[&Evidence],
    limit: LatencyLimit,
    op: Op,
) -> Result<Vec<Vec<(f64, f64)>>, LatencyLimitProblem> {
    let mut rounds: std::collections::BTreeMap<u32, Vec<(f64, f64)>> = std::collections::BTreeMap::new();
    let mut too_few = None;
    for evidence in family {
        let spec = &evidence.point.spec;
        let rate_iops = spec.rate_iops.expect("it was looked for") * f64::from(spec.jobs);
        let figure_ns = |trial: &Trial| limit.figure_ns(&trial.direction(op)?.histogram);
        let took_time = |trial: &&Trial| trial.measured_s > 0.0;
        let standing: Vec<&Trial> = evidence.standing(About::Latency).filter(took_time).collect();
        let figures: Option<Vec<f64>> = standing.iter().map(|trial| figure_ns(trial)).collect();
        // A load too low for its figure says nothing, and takes nothing from the others.
        let Some(figures) = figures else {
            let (spec, needed) = (Box::new(spec.clone()), limit.requests_needed());
            too_few = Some(LatencyLimitProblem::TooFewRequests { spec, needed });
            continue;
        };
        for (trial, figure_ns) in standing.into_iter().zip(figures) {
            rounds.entry(trial.round).or_default().push((rate_iops, figure_ns));
        }
    }
    let mut whole: Vec<Vec<(f64, f64)>> = rounds.into_values().filter(|round| round.len() >= 2).collect();
    whole.iter_mut().for_each(|round| round.sort_by(|a, b| a.0.total_cmp(&b.0)));
    if whole.is_empty() {
        return Err(too_few.unwrap_or(LatencyLimitProblem::NoRounds));
    }
    Ok(whole)
}

/// Where a round's latency, made to rise with load, crosses the limit.
fn crossing(round: &[(f64, f64)], limit_ns: f64) -> Crossing {
    let pools = pool_adjacent_violators(round.iter().map(|(_, ns)| (ns.ln(), 1.0)));
    let rising: Vec<f64> = pools.iter().flat_map(|pool| std::iter::repeat_n(pool.mean, pool.count)).collect();
    let limit = limit_ns.ln();
    match rising.iter().position(|&log| log > limit) {
        None => Crossing::Above,
        Some(0) => Crossing::Below,
        Some(first) => {
            let (below, above) = (rising[first - 1], rising[first]);
            let share = (limit - below) / (above - below);
            let (from, to) = (round[first - 1].0.ln(), round[first].0.ln());
            Crossing::At(from + share * (to - from))
        }
    }
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

    #[test]
    fn a_crossing_lies_between_its_neighbours_or_outside() {
        // Latency doubles from one load to the next; the limit lies half-way on the logarithmic scale.
        let round = [(1000.0, 1e6), (2000.0, 2e6), (4000.0, 4e6)];
        let Crossing::At(log) = crossing(&round, 2e6 * 2f64.sqrt()) else { panic!("it is crossed") };
        assert!((log.exp() - 2000.0 * 2f64.sqrt()).abs() < 1e-6);
        assert!(matches!(crossing(&round, 5e6), Crossing::Above));
        assert!(matches!(crossing(&round, 5e5), Crossing::Below));
    }
}
