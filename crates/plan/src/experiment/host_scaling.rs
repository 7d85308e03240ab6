//! How the throughput of many hosts grows with their number.
//!
//! The same requests are made by 1, 2, 4, .. hosts at the same time, each number being a point. Each host that takes
//! part has its own queue of `depth` requests for each of its jobs. The others wait until the trial is over, without
//! any request.
//!
//! Parameters: `rw` (patterns), `block_size`, `hosts` (a list or a range, in which N is all hosts of the run; each
//! number of fewer than 8), `depth` and `jobs` (of each host). A saturation point takes 4 hosts or more.
//!
//! How to read it: throughput grows in proportion to the hosts while each is its own limit: its processor, its link, or
//! its queue depth. It levels off where what they share is busy: servers, disks or a switch. `host_saturation` says at
//! how many hosts the two lines meet. Below it, more hosts get more together; above it, each gets less.
//!
//! Traps:
//! - With a deep queue one host may saturate the storage, and with a shallow one none of them does: the number holds
//!   for this depth.
//! - Hosts of the lowest ranks take part. Where these are on one machine (`mpirun --map-by slot`), they share its link:
//!   start with `--map-by node`.
//! - An engine with one request per worker (psync) has no deeper queue: `--set depth=1 --set jobs=16`.
//! - A slow host among the first ones lowers every point. The check `odd-host` compares hosts in the trials of all.
//!
//! It needs several hosts: `iosonde-mpi`, or `--hosts` with a simulated device.

use iosonde_model::{Device, ExperimentName, TrialSpec};

use super::{Experiment, Parameter, ParameterError, Parameters, grid};

pub(super) struct HostScaling;

/// 16 requests of each host: a host's own limit on most networks, and a single host does not saturate many servers.
const fn parameters(hosts: &'static str) -> [Parameter; 5] {
    let (rw, block_size) = (grid::rw("\"randread\""), grid::block_size("\"4k\""));
    [rw, block_size, grid::hosts(hosts), grid::depth("16"), grid::jobs("1")]
}

const PARAMETERS: &[Parameter] = &parameters("[\"1..N*2\", \"N\"]");
const EVERY_NUMBER: &[Parameter] = &parameters("[\"1..N+1\"]");
/// Fewer hosts have fewer than four numbers of which each is twice the one before, and a saturation point takes four.
const DOUBLED_FROM: u32 = 8;
impl Experiment for HostScaling {
    fn id(&self) -> ExperimentName {
        ExperimentName::HostScaling
    }

    fn question(&self) -> &'static str {
        "How does throughput grow with the number of hosts?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn grid(&self, parameters: &Parameters, device: &Device) -> Result<Vec<TrialSpec>, ParameterError> {
        if device.hosts.unwrap_or(1) < 2 {
            return Err(parameters.fail(
                "it needs several hosts, and this run has one; start them with MPI (mpirun -n 16 --map-by node \
                 iosonde-mpi run host-scaling PATH), or simulate them (iosonde run host-scaling sim:plain-nvme \
                 --hosts 16)",
            ));
        }
        let few = device.hosts.is_some_and(|hosts| hosts < DOUBLED_FROM);
        if few {
            return grid::cross(&parameters.with_defaults(EVERY_NUMBER)?, device);
        }
        grid::cross(parameters, device)
    }

    fn chooses_hosts(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(text: &str, hosts: Option<u32>) -> Result<Vec<u32>, ParameterError> {
        let given = toml::from_str(text).unwrap();
        let parameters = Parameters::check("host-scaling", &given, PARAMETERS)?;
        let device = Device { hosts, ..Device::unknown("file", 1 << 30) };
        Ok(HostScaling.grid(&parameters, &device)?.iter().map(|spec| spec.hosts).collect())
    }

    #[test]
    fn all_hosts_are_the_last_number_whatever_it_is() {
        assert_eq!(hosts("", Some(16)).unwrap(), [1, 2, 4, 8, 16]);
        assert_eq!(hosts("", Some(12)).unwrap(), [1, 2, 4, 8, 12]);
        assert_eq!(hosts("hosts = \"1..N+3\"", Some(8)).unwrap(), [1, 4, 7]);
        // Those that the run does not have are left out by the plan, which says so.
        assert_eq!(hosts("hosts = [1, 32]", Some(8)).unwrap(), [1, 32]);
    }

    #[test]
    fn one_host_is_told_how_to_start_several() {
        let said = hosts("", None).unwrap_err().to_string();
        assert!(said.contains("mpirun -n 16") && said.contains("--hosts 16"), "{said}");
    }
}
