//! Mean queue depth by Little's law: throughput times mean latency, over every kind of request.

use iosonde_model::{Op, Trial, TrialSpec, cause::Term};

/// Rate and mean latency of each kind of request, and the longest latency of any in nanoseconds. A result without its
/// longest latency has at least its mean on the edge.
pub fn terms(trial: &Trial) -> (Vec<Term>, f64) {
    let known = trial.directions().filter_map(|(_, d)| Some((d.iops, d.latency_ns.mean?, d.latency_ns.max)));
    let mut known: Vec<_> = known.collect();
    // A flush is outstanding like any other request.
    if let Some(flush) = &trial.flush
        && let Some(mean_ns) = flush.latency_ns.mean
    {
        known.push((flush.ios as f64 / trial.measured_s, mean_ns, flush.latency_ns.max));
    }
    let longest_ns = known.iter().map(|&(_, mean, max)| max.map_or(mean, |ns| ns as f64)).fold(0.0, f64::max);
    let terms = known.iter().map(|&(iops, latency_ns_mean, _)| Term { iops, latency_ns_mean });
    (terms.collect(), longest_ns)
}

/// Mean queue depth from these terms.
pub fn by_littles_law(terms: &[Term]) -> f64 {
    terms.iter().map(|term| term.iops * term.latency_ns_mean / 1e9).sum()
}

/// How far the queue depth that a trial counted lies from what its throughput and latency give, as a share.
///
/// `None` where it counted none, where nothing completed, and where requests of several kinds did: their sum may agree
/// while one kind has one too many (376 writes for 375, each followed by a flush). Nor at QD 1, where the law holds by
/// construction and tells nothing.
///
/// Over a finite time the two differ by the requests that cross its ends: by how much longer those outstanding at its
/// end had waited than those at its beginning. Where both ends lie at the same place of the storage's cycle they agree.
pub fn edge_share(trial: &Trial) -> Option<f64> {
    let is_told = terms(trial).0.len() == 1;
    Some((law_over_counted(trial).filter(|_| is_told)? - 1.0).abs())
}

/// The queue depth by the law over the one that was counted.
fn law_over_counted(trial: &Trial) -> Option<f64> {
    let counted = trial.in_flight_mean.filter(|mean| *mean > 0.0)?;
    let by_law = by_littles_law(&terms(trial).0);
    (trial.spec.asked_in_flight() > 1 && by_law > 0.0 && by_law.is_finite()).then(|| by_law / counted)
}

/// Whether each request follows the end of another one, so that latency and throughput are one figure.
pub fn is_closed_loop(spec: &TrialSpec) -> bool {
    spec.rate_iops.is_none() && spec.think.is_none() && !spec.sync.flushes()
}

/// Mean latency of a trial in nanoseconds, as far as it can be known.
///
/// In a closed loop whose depth was counted it is that depth over the throughput. Completed requests alone leave out
/// what the others have waited so far: a disk that serves the nearest request first (`hdd-7200`, QD 32, trials of
/// 0.3 s) had 860 IOPS and 34.9 ms in one table, which is a queue depth of 30. On a fast disk the two agree within
/// 0.4 % (QD 2 to 128 of a virtual disk, 10 trials each).
pub fn latency_ns_mean(trial: &Trial, op: Op) -> Option<f64> {
    let of_completed_ns = trial.direction(op)?.latency_ns.mean?;
    // Streams beside each other have rates and flushes of their own.
    let is_one_loop = trial.streams.is_empty() && is_closed_loop(&trial.spec);
    let left_out = law_over_counted(trial).filter(|_| is_one_loop);
    Some(of_completed_ns / left_out.unwrap_or(1.0))
}

#[cfg(test)]
mod tests {
    use iosonde_testkit::specimen;

    use super::*;

    #[test]
    fn a_trial_of_whole_cycles_has_no_edges_and_one_that_ends_a_little_later_has() {
        // Eight in flight, one served every 30 ms, each in 240 ms.
        let mut trial = specimen::usual();
        (trial.in_flight_mean, trial.spec.queue_depth) = (Some(8.0), 8);
        trial.measured_s = 0.3;
        let read = trial.read.as_mut().unwrap();
        (read.ios, read.iops, read.latency_ns.mean) = (10, 10.0 / 0.3, Some(240e6));
        trial.flush = None;
        assert!(edge_share(&trial).unwrap() < 1e-12);
        trial.read.as_mut().unwrap().iops = 10.0 / 0.31;
        assert!((edge_share(&trial).unwrap() - (1.0 - 0.3 / 0.31)).abs() < 1e-12);
        // 8 outstanding at 32.3 IOPS take 248 ms each, though those that completed took 240 ms.
        assert!((latency_ns_mean(&trial, Op::Read).unwrap() - 248e6).abs() < 1.0);
        let offered =
            Trial { spec: TrialSpec { rate_iops: Some(100.0), ..trial.spec.clone() }, ..trial.clone() };
        assert_eq!(latency_ns_mean(&offered, Op::Read), Some(240e6));
        let mixed = Trial { write: trial.read.clone(), ..trial.clone() };
        assert_eq!(edge_share(&mixed), None);
        // As many reads as writes: 4 of each kind are outstanding.
        assert!((latency_ns_mean(&mixed, Op::Write).unwrap() - 124e6).abs() < 1.0);
        let mut alone = trial.clone();
        (alone.in_flight_mean, alone.spec.queue_depth) = (Some(1.0), 1);
        assert_eq!(edge_share(&alone), None);
        trial.in_flight_mean = None;
        assert_eq!(edge_share(&trial), None);
    }
}
