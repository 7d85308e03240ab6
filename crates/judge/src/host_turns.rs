//! How often saturated storage came round to all hosts of a trial.
//!
//! A trial that ends before every host has had its turn a few times counts a turn more of one host than of another.

use iosonde_model::{HostShare, Op, Trial};

/// Requests of a host over those that it had outstanding. On a simulated queue of 1,024 hosts the sum was exact at 4
/// and 17 % too low at 2.
pub const TURNS_MIN: u64 = 3;
/// A longer trial is planned for this many: the last turn is cut somewhere.
const TURNS_WANTED: f64 = 4.0;

/// What is missing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FewTurns {
    /// Hosts that completed too few requests.
    pub few: u32,
    /// Length of a trial with enough turns, in seconds; `None` where nothing completed.
    pub wanted_s: Option<f64>,
}

/// Whether a trial of several hosts has too few turns; `None` where it has enough, or where a rate was asked.
pub fn few_turns(trial: &Trial) -> Option<FewTurns> {
    if trial.hosts.is_empty() || trial.spec.streams().any(|stream| stream.rate_iops.is_some()) {
        return None;
    }
    let outstanding = trial.spec.asked_in_flight();
    let needed = TURNS_MIN * outstanding / trial.hosts.len() as u64;
    let done = |host: &HostShare| -> u64 {
        Op::DIRECTIONS.into_iter().filter_map(|op| host.direction(op)).map(|own| own.ios).sum()
    };
    let few = trial.hosts.iter().filter(|host| done(host) < needed).count() as u32;
    let turns = trial.hosts.iter().map(done).sum::<u64>() as f64 / outstanding.max(1) as f64;
    let wanted_s = (turns > 0.0).then(|| trial.elapsed_s * TURNS_WANTED / turns);
    (few > 0).then_some(FewTurns { few, wanted_s })
}

/// Length that a point's next trial should have, where the last one had too few turns.
pub fn wanted_s(own: &[&Trial]) -> Option<f64> {
    own.iter().filter_map(|trial| few_turns(trial)?.wanted_s).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use iosonde_model::HostDirection;
    use iosonde_testkit::specimen;

    use super::*;

    /// Four hosts of 32 requests each, that completed so many each in a second.
    fn trial(ios: u64) -> Trial {
        let read = HostDirection { ios, ..HostDirection::default() };
        let host = |rank| HostShare { rank, read: Some(read.clone()), ..HostShare::default() };
        let mut trial = Trial { elapsed_s: 1.0, hosts: (0..4).map(host).collect(), ..specimen::usual() };
        (trial.spec.queue_depth, trial.spec.jobs, trial.spec.hosts) = (32, 1, 4);
        trial
    }

    #[test]
    fn a_trial_with_too_few_turns_tells_how_long_it_should_be() {
        assert_eq!(few_turns(&trial(96)), None);
        let short = few_turns(&trial(64)).expect("two turns are too few");
        assert_eq!((short.few, short.wanted_s), (4, Some(2.0)));
        assert_eq!(few_turns(&trial(0)).map(|short| short.wanted_s), Some(None));
        assert_eq!(wanted_s(&[&trial(96), &trial(64), &trial(32)]), Some(4.0));
        assert_eq!(wanted_s(&[&trial(96)]), None);
    }
}
