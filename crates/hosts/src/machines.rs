//! Which hosts share a machine and its storage: one of them reads the counters for all.

use iosonde_model::RunHost;
use serde::{Deserialize, Serialize};

/// For each host, by its rank, the first host on its machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Machines(Vec<u32>);

impl Machines {
    /// Those of these hosts, in the order of their ranks. A host that does not know its machine is on its own.
    pub(crate) fn of(hosts: &[RunHost]) -> Self {
        let first = |host: &RunHost| {
            let like = |other: &&RunHost| {
                (&other.boot, &other.device, &other.file_system)
                    == (&host.boot, &host.device, &host.file_system)
            };
            host.boot.as_ref().and_then(|_| hosts.iter().find(like)).map_or(host.rank, |first| first.rank)
        };
        Self(hosts.iter().map(first).collect())
    }

    /// Whether a host reads the counters of its machine in a trial of these hosts: the first of them there does. The
    /// first of all may not take part.
    pub(crate) fn is_counted_by(&self, rank: u32, taking_part: &[u32]) -> bool {
        let machine = |rank: u32| self.0.get(rank as usize).copied().unwrap_or(rank);
        taking_part.iter().copied().find(|&other| machine(other) == machine(rank)) == Some(rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(boots: &[Option<&str>]) -> Machines {
        let host = |(rank, boot): (u32, &Option<&str>)| RunHost {
            rank,
            boot: boot.map(str::to_owned),
            device: Some("sda".into()),
            ..RunHost::default()
        };
        Machines::of(&(0..).zip(boots).map(host).collect::<Vec<_>>())
    }

    fn counting(machines: &Machines, taking_part: &[u32]) -> Vec<u32> {
        let counts = |rank: &u32| machines.is_counted_by(*rank, taking_part);
        taking_part.iter().copied().filter(counts).collect()
    }

    #[test]
    fn one_host_of_each_machine_counts() {
        let machines = on(&[Some("a"), Some("b"), Some("a"), Some("b"), None, None]);
        assert_eq!(counting(&machines, &[0, 1, 2, 3, 4, 5]), [0, 1, 4, 5]);
    }

    #[test]
    fn a_machine_is_counted_whose_first_host_does_not_take_part() {
        let machines = on(&[Some("a"), Some("b"), Some("a"), Some("b")]);
        assert_eq!(counting(&machines, &[0, 3]), [0, 3]);
        assert_eq!(counting(&machines, &[0, 2, 3]), [0, 3]);
    }

    #[test]
    fn another_device_of_the_same_machine_has_its_own_counters() {
        let host = |rank, device: &str| RunHost {
            rank,
            boot: Some("a".into()),
            device: Some(device.into()),
            ..RunHost::default()
        };
        let machines = Machines::of(&[host(0, "sda"), host(1, "sdb")]);
        assert_eq!(counting(&machines, &[0, 1]), [0, 1]);
    }
}
