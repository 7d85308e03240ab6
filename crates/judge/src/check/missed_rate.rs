//! A requested rate that was not served, or requests that the generator itself sent late.
//!
//! Looks at: workloads with a rate. It compares the completions per second of each stream with the requested rate.
//! It counts the requests that were due and never sent, and measures how late requests were sent although a slot
//! was free for them.
//!
//! Rule: 1 % less than requested is missed, beyond what chance explains. Arrivals of independent clients scatter by
//! the square root of their number (three standard deviations of a Poisson count are allowed), and a trial's edges
//! cut off a request or two. Less than 1 % does not matter for planning.
//!
//! Rule of lateness: a 99th percentile of lateness above 10 % of the median latency is a warning: the tail is then
//! partly the generator's. Latency counts from the due moment, so every latency figure includes the lateness.
//!
//! Verdict: invalid as a statement about throughput. The served load is not the load that the point is named after,
//! and its latencies are those of an overload that has lasted so long. Loads that are offered to find a latency limit
//! are passed: some of them must be more than the storage takes, and their throughput is what was reached.
//!
//! Trials without a rate are not checked, nor are those without counts of completions or of lateness.
//!
//! Example: fio with a rate that the device cannot serve reports the lower rate it reached, in the same place and
//! without a message (axboe/fio#1144 is one of several threads).
//!
//! What to do: lower the rate, allow more outstanding requests (`--depth`), or spread the load over more jobs where
//! the processor is the limit (`generator-bound`).

#[cfg(test)]
use iosonde_model::Arrivals;
use iosonde_model::{About, CheckName, Op, Reason, Run, Scope, Trial, TrialSpec, Verdict, cause};

use super::{Check, judged};
#[cfg(test)]
use super::{Specimens, specimen};
use crate::achieved_rate;

/// Share of the median latency.
const LATE_SHARE_MAX: f64 = 0.1;

pub(super) struct MissedRate;

impl Check for MissedRate {
    fn id(&self) -> CheckName {
        CheckName::MissedRate
    }

    fn check(&self, scope: Scope, run: &Run) -> Option<Verdict> {
        let offered = |trial: &&Trial| trial.spec.streams().any(|stream| stream.rate_iops.is_some());
        judged::measuring(scope, run).filter(offered).map(verdict)
    }

    #[cfg(test)]
    fn specimens(&self) -> Specimens {
        // 100,000 a second were served, with a median latency of 320 us.
        let offered = |rate_iops, arrivals, late_ns| {
            let mut trial = specimen::usual();
            (trial.spec.rate_iops, trial.spec.arrivals) = (Some(rate_iops), arrivals);
            (trial.achieved_rate_iops, trial.pacing_error_ns_p99) = (Some(100_000.0), Some(late_ns));
            specimen::run(trial)
        };
        let mut unserved = specimen::usual();
        (unserved.spec.rate_iops, unserved.unserved) = (Some(200_000.0), 900_000);
        unserved.achieved_rate_iops = Some(100_000.0);
        // Another tool's result, which says only what was asked.
        let mut uncounted = specimen::usual();
        uncounted.spec.rate_iops = Some(100_000.0);
        let mut untimed = uncounted.clone();
        untimed.achieved_rate_iops = Some(100_000.0);
        // A load that is more than the storage takes, to find the one that keeps a limit.
        let mut beyond = untimed.clone();
        (beyond.spec.rate_iops, beyond.pacing_error_ns_p99) = (Some(150_000.0), Some(2_000.0));
        beyond.spec.latency_limit = Some("p99=1ms".parse().expect("a limit"));
        Specimens {
            pass: vec![
                offered(100_000.0, Arrivals::Fixed, 2_000.0),
                // 0.9 % less than asked is within the rule.
                offered(100_900.0, Arrivals::Fixed, 2_000.0),
                // 1.2 % less, of some 900,000 requests: 1 % and three standard deviations of 0.1 %.
                offered(101_200.0, Arrivals::Poisson, 2_000.0),
                specimen::run(beyond),
            ],
            warning: vec![offered(100_000.0, Arrivals::Fixed, 60_000.0)],
            invalid: vec![offered(102_000.0, Arrivals::Poisson, 2_000.0), specimen::run(unserved)],
            not_checked: vec![specimen::run(uncounted), specimen::run(untimed)],
        }
    }
}

fn verdict(trial: &Trial) -> Verdict {
    if trial.achieved_rate_iops.is_none() {
        return Verdict::NotChecked(Reason::new(About::Rate, cause::MissedRate::Uncounted));
    }
    let whole = (&trial.spec, trial.achieved_rate_iops, trial.unserved);
    let streams =
        trial.streams.iter().map(|stream| (&stream.spec, stream.achieved_rate_iops, stream.unserved));
    let all = if trial.streams.is_empty() { vec![whole] } else { streams.collect() };
    all.into_iter()
        .find_map(|(spec, achieved, unserved)| missed(spec, achieved?, unserved, trial.measured_s))
        .unwrap_or_else(|| late(trial))
}

fn missed(spec: &TrialSpec, achieved_iops: f64, unserved: u64, measured_s: f64) -> Option<Verdict> {
    if spec.latency_limit.is_some() {
        return None;
    }
    let asked_iops = achieved_rate::asked_iops(spec)?;
    if achieved_rate::is_reached(spec, achieved_iops, measured_s)? {
        return None;
    }
    let short =
        cause::MissedRate::Short { achieved_rate_iops: achieved_iops, asked_rate_iops: asked_iops, unserved };
    Some(Verdict::Invalid(Reason::new(About::Rate, short)))
}

fn late(trial: &Trial) -> Verdict {
    let Some(late_ns) = trial.pacing_error_ns_p99 else {
        return Verdict::NotChecked(Reason::new(About::Latency, cause::MissedRate::LatenessUncounted));
    };
    let medians_ns = Op::DIRECTIONS.iter().filter_map(|&op| trial.direction(op)?.latency_ns.p50);
    let median_ns = medians_ns.fold(f64::INFINITY, f64::min);
    if late_ns <= LATE_SHARE_MAX * median_ns {
        return Verdict::Pass;
    }
    let late = cause::MissedRate::Late { pacing_error_ns_p99: late_ns, latency_ns_p50: median_ns };
    Verdict::Warning(Reason::new(About::Latency, late))
}
