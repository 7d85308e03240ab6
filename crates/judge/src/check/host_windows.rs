//! What each host did in each window of a trial.

use std::collections::BTreeMap;

use iosonde_model::{HostShare, Run, Trial, Window, cause::HostsSlowed};
use iosonde_stats::robust::median;

use super::{
    course,
    slow_periods::{LOW_SHARE, whole_windows},
};

/// Fewest hosts of which one can be unlike the others.
pub(super) const HOSTS_MIN: usize = 3;

/// A window of a trial of several hosts.
pub(super) struct HostWindow {
    /// Its number in the trial.
    pub(super) window: usize,
    /// Requests of each host that completed in it, in the order of the trial's hosts.
    pub(super) requests: Vec<f64>,
    /// ln of each host's throughput.
    pub(super) logs: Vec<f64>,
}

/// The windows of a trial; none where those of each host were not kept.
pub(super) fn of(trial: &Trial) -> Vec<HostWindow> {
    let kept = !trial.hosts.is_empty()
        && trial.hosts.iter().all(|host| host.window_ios.len() == trial.windows.len());
    let one = |(window, own): (usize, &Window)| {
        let requests: Vec<f64> = trial.hosts.iter().map(|host| host.window_ios[window] as f64).collect();
        let logs = requests.iter().map(|requests| course::log(requests / own.length_s)).collect();
        HostWindow { window, requests, logs }
    };
    if kept { whole_windows(trial).map(one).collect() } else { Vec::new() }
}

/// How many hosts were slower than otherwise in these windows, on median; `None` where that is not known.
pub(super) fn slowed(run: &Run, windows: impl Iterator<Item = (u64, usize)>) -> Option<HostsSlowed> {
    let usual = usual(run);
    let (mut slowed, mut hosts) = (Vec::new(), Vec::new());
    for (id, window) in windows {
        let trial = run.trials.iter().find(|trial| trial.id == id)?;
        let found = of(trial).into_iter().find(|own| own.window == window)?;
        let is_low = |(host, log): (&HostShare, &f64)| {
            usual.get(&(trial.point, host.rank)).is_some_and(|usual| log - usual < LOW_SHARE.ln())
        };
        let low = trial.hosts.iter().zip(&found.logs).filter(|&(host, log)| is_low((host, log))).count();
        slowed.push(low as f64);
        hosts.push(trial.hosts.len() as f64);
    }
    let middle = |all: &[f64]| median(all).map(|count| count.round() as usize);
    Some(HostsSlowed { slowed: middle(&slowed)?, hosts: middle(&hosts)? }).filter(|found| found.hosts > 1)
}

/// ln of the usual throughput of each host in a window of each point.
fn usual(run: &Run) -> BTreeMap<(Option<usize>, u32), f64> {
    let mut logs: BTreeMap<(Option<usize>, u32), Vec<f64>> = BTreeMap::new();
    for trial in &run.trials {
        for window in of(trial) {
            for (host, log) in trial.hosts.iter().zip(window.logs) {
                logs.entry((trial.point, host.rank)).or_default().push(log);
            }
        }
    }
    logs.into_iter().filter_map(|(key, logs)| Some((key, median(&logs)?))).collect()
}
