//! Each host's throughput in a trial of several.
//!
//! It is mean queue depth over mean latency (Little's law) where that holds, because a count of requests is off by up
//! to one turn of the queue.

use iosonde_model::{HostDirection, HostShare, Op, Run, Trial};

/// Throughputs of the hosts of one trial.
#[derive(Debug, Clone, PartialEq)]
pub struct HostRates {
    /// Logarithm of each host's requests a second, in the order of the trial's hosts.
    pub logs: Vec<f64>,
    /// What one turn more or less on both sides of a ratio changes it by; 0 where Little's law tells the throughput.
    /// Hosts that take turns at a queue complete all that they have outstanding in each, and the same hosts are ahead
    /// in each round.
    pub one_turn: f64,
}

impl HostRates {
    /// Those of a trial; `None` where it was made by one host, or where a host did nothing.
    pub fn of(trial: &Trial) -> Option<Self> {
        let hosts: Vec<Throughput> = trial.hosts.iter().map(Throughput::of).collect();
        let least = hosts.iter().map(|host| host.ios).reduce(f64::min)?;
        if least <= 0.0 || !hosts.iter().all(|host| host.by_count.is_finite()) {
            return None;
        }
        let outstanding = trial.spec.asked_in_flight() as f64 / hosts.len() as f64;
        let one_turn = 2.0 * (1.0 + outstanding / least).ln();
        // Flushes are in the queue depth and in no direction's latency.
        let holds =
            |log: &f64, host: &Throughput| trial.flush.is_none() && (log - host.by_count).abs() <= one_turn;
        let by_law = hosts.iter().map(|host| host.by_law.filter(|log| holds(log, host)));
        match by_law.collect() {
            Some(logs) => Some(Self { logs, one_turn: 0.0 }),
            None => Some(Self { logs: hosts.iter().map(|host| host.by_count).collect(), one_turn }),
        }
    }
}

/// A host's throughput in one trial, as logarithms.
struct Throughput {
    ios: f64,
    by_count: f64,
    /// Mean queue depth over mean latency.
    by_law: Option<f64>,
}

impl Throughput {
    fn of(host: &HostShare) -> Self {
        let sum = |of: fn(&HostDirection) -> Option<f64>| -> Option<f64> {
            Op::DIRECTIONS.into_iter().filter_map(|op| host.direction(op)).map(of).sum()
        };
        let ios = sum(|own| Some(own.ios as f64)).unwrap_or(0.0);
        let waited_ns = sum(|own| match own.ios {
            0 => Some(0.0),
            ios => own.latency_ns_mean.map(|mean_ns| mean_ns * ios as f64),
        });
        let by_law =
            host.in_flight_mean.zip(waited_ns).map(|(depth, waited_ns)| (depth * ios / waited_ns * 1e9).ln());
        let by_count = sum(|own| Some(own.iops)).unwrap_or(0.0).ln();
        Self { ios, by_count, by_law: by_law.filter(|log| log.is_finite()) }
    }
}

/// Number of hosts of a run: which of them take part in a trial of fewer is drawn anew for each.
pub fn all_hosts(run: &Run) -> usize {
    let ranks = run.trials.iter().flat_map(|trial| &trial.hosts).map(|host| host.rank as usize + 1);
    ranks.max().unwrap_or(0)
}
