//! Percentiles at the end of another tool's histogram.
//!
//! Looks at: percentiles of results of fio, against the value of the last bin of its histogram: 17.1 s from version 3.0
//! on, 16.7 s before.
//!
//! Rule: fio counts whatever takes longer in its last bin. A percentile within 0.1 % of that bin's value is a lower
//! bound, not a figure; fio's bins are 1.6 % wide.
//!
//! Verdict: a warning about the latency. Not checked where no percentile is given. iosonde's own histograms have no
//! last bin.
//!
//! Example: a p99.9 of 17112760 µs over a network file system whose server was away for a minute.
//!
//! What to do: read the maximum, which fio keeps apart; look for what stopped the storage for so long.

#[cfg(test)]
use iosonde_model::LatencySummary;
use iosonde_model::{
    About, CheckName, Reason, Run, Scope, Trial, Verdict,
    cause::{self, LatencyStatistic},
};

use super::{Check, judged};
#[cfg(test)]
use super::{Specimens, specimen};

/// Middle of the last bin: 2^33 + 63.5 × 2^27 ns, and before version 3.0 2^23 + 63.5 × 2^17 µs.
const LAST_BINS_NS: [f64; 2] = [17_112_760_320.0, 16_711_680_000.0];
/// fio's text rounds milliseconds to five digits.
const NEAR: f64 = 1e-3;

pub(super) struct Saturated;

impl Check for Saturated {
    fn id(&self) -> CheckName {
        CheckName::Saturated
    }

    fn check(&self, scope: Scope, run: &Run) -> Option<Verdict> {
        judged::measuring(scope, run).filter(|_| run.info.is_imported()).map(verdict)
    }

    #[cfg(test)]
    fn specimens(&self) -> Specimens {
        let with = |p99_9: f64| {
            let mut trial = specimen::usual();
            let latency_ns = &mut trial.read.as_mut().expect("it reads").latency_ns;
            *latency_ns = LatencySummary { p99_9: Some(p99_9), ..latency_ns.clone() };
            specimen::imported(trial)
        };
        Specimens {
            pass: vec![with(1e9), with(17.0e9), specimen::imported(specimen::usual())],
            warning: vec![with(17_112_760_320.0), with(17_113e6), with(16_712e6)],
            not_checked: vec![specimen::imported(specimen::tabled())],
            ..Specimens::default()
        }
    }
}

fn verdict(trial: &Trial) -> Verdict {
    let reason = |cause: cause::Saturated| Reason::new(About::Latency, cause);
    let all = trial.directions().flat_map(|(op, side)| {
        let of = &side.latency_ns;
        let own = [
            (LatencyStatistic::P50, of.p50),
            (LatencyStatistic::P90, of.p90),
            (LatencyStatistic::P99, of.p99),
            (LatencyStatistic::P99_9, of.p99_9),
            (LatencyStatistic::P99_99, of.p99_99),
        ];
        own.into_iter().filter_map(move |(percentile, ns)| Some((op, percentile, ns?)))
    });
    let all: Vec<_> = all.collect();
    if all.is_empty() {
        return Verdict::NotChecked(reason(cause::Saturated::NoPercentile));
    }
    let near = |ns: f64| LAST_BINS_NS.into_iter().find(|bin| (ns / bin - 1.0).abs() <= NEAR);
    let found = all.into_iter().find_map(|(op, percentile, ns)| Some((op, percentile, near(ns)?)));
    found.map_or(Verdict::Pass, |(op, percentile, bin_ns)| {
        Verdict::Warning(reason(cause::Saturated::LastBin { op, percentile, bin_ns }))
    })
}
