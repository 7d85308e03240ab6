//! Kinds of clusters, drawn at random.
//!
//! In all of them, requests of all hosts are exchangeable: they wait in the same queues and are served by the same law.
//! A host's throughput is then proportional to its queue depth (Little's law), saturated or not, and the true
//! ratio is that of the queue depths.

use iosonde_hosts::Cluster;

use crate::draw::{Dice, Noise};

/// What is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// 3 to 16 hosts on one queue of 2 to 32 servers; one has 0.8 of the others' throughput.
    Queue,
    /// As `queue`, with 3 or 4 hosts.
    Few,
    /// As `queue`; one host has 1.25 times the others' throughput.
    Fast,
    /// As `queue`, with 5 to 16 hosts; two have 0.8 of the others' throughput.
    Two,
    /// As `queue`, reads and writes at two queue depths each.
    Points,
    /// 4 to 32 flash units with queues of their own, at random addresses.
    Flash,
}

/// Names of the kinds.
pub const NAMES: &str = "queue, few, fast, two, points or flash";

impl Kind {
    /// The kind of a name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "queue" => Self::Queue,
            "few" => Self::Few,
            "fast" => Self::Fast,
            "two" => Self::Two,
            "points" => Self::Points,
            "flash" => Self::Flash,
            _ => return None,
        })
    }
}

/// A cluster with its truth.
pub struct Drawn {
    pub hosts: u32,
    pub depth: u64,
    pub servers: u64,
    pub device: String,
    pub study: String,
    /// Ranks of the odd hosts, each with its queue depth over the others'.
    odd: Vec<(u32, f64)>,
    /// Ranks of the hosts that do not have the whole queue depth, with their share of it.
    shallow: Vec<(u32, f64)>,
}

impl Drawn {
    /// Draws one.
    pub fn of(kind: Kind, dice: &mut Dice) -> Self {
        let hosts = match kind {
            Kind::Few => 3 + dice.below(2) as u32,
            Kind::Two => 5 + dice.below(12) as u32,
            _ => 3 + dice.below(14) as u32,
        };
        let depth = 10 * (1 + dice.below(4));
        let servers = dice.power(1, 5);
        let law = if dice.chance(0.5) { "exponential" } else { "fixed" };
        let service_us = dice.log(20.0, 500.0);
        let rank = dice.below(u64::from(hosts)) as u32;
        let noise = Noise::draw(dice).section();
        let storage = if kind == Kind::Flash {
            let units = 2 * servers.max(2);
            format!(
                "[flash]\nunits = {units}\nstripe = \"16KiB\"\npage = \"16KiB\"\nmapping_unit = \"4KiB\"\n\
                 read = \"{service_us:.1}us\"\nprogram = \"700us\"\nerase = \"3ms\"\npages_per_block = 256\n\
                 placement = \"static\"\n"
            )
        } else {
            format!("[queue]\nservers = {servers}\nservice = {{ {law} = \"{service_us:.1}us\" }}\n")
        };
        let device =
            format!("name = \"shared\"\nsummary = \"shared\"\ncapacity = \"4GiB\"\n{storage}{noise}");
        let (rw, depths) = match kind {
            Kind::Points => ("[\"randread\", \"randwrite\"]", format!("[{depth}, {}]", 2 * depth)),
            _ => ("\"randread\"", depth.to_string()),
        };
        let study = format!(
            "name = \"odd\"\nquestion = \"Which host is odd?\"\ntime = \"10s\"\n[[experiment]]\n\
             kind = \"queue-depth\"\nrw = {rw}\ndepth = {depths}\n"
        );
        let mut shallow = vec![(rank, 0.8)];
        if kind == Kind::Two {
            shallow.push(((rank + 1 + dice.below(u64::from(hosts) - 1) as u32) % hosts, 0.8));
        }
        let mut odd = shallow.clone();
        if kind == Kind::Fast {
            // No host has a deeper queue than requested: the others have less.
            shallow = (0..hosts).filter(|other| *other != rank).map(|other| (other, 0.8)).collect();
            odd = vec![(rank, 1.25)];
        }
        Self { hosts, depth, servers, device, study, odd, shallow }
    }

    /// The hosts, odd ones among them.
    pub fn cluster(&self) -> Cluster {
        let shallow = |cluster: Cluster, &(rank, share): &(u32, f64)| cluster.with_shallow(rank, share);
        self.shallow.iter().fold(Cluster::new(self.hosts), shallow)
    }

    /// Ranks of the odd hosts with their true ratios. Depths are multiples of 10, so that 0.8 of them are whole
    /// requests.
    pub fn truths(&self) -> &[(u32, f64)] {
        &self.odd
    }
}
