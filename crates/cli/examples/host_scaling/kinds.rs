//! Kinds of clusters, drawn at random, with their throughput at any number of requests.

use crate::draw::{Dice, Noise};

/// What is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Servers that share one queue.
    Queue,
    /// The same behind a network that delays every request.
    Network,
    /// Flash units with queues of their own, at random addresses.
    Flash,
}

/// Names of the kinds.
pub const NAMES: &str = "queue, network or flash";

impl Kind {
    /// The kind of a name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "queue" => Self::Queue,
            "network" => Self::Network,
            "flash" => Self::Flash,
            _ => return None,
        })
    }
}

/// Service times of the servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Law {
    Fixed,
    Exponential,
}

/// A cluster with its truth.
pub struct Drawn {
    pub hosts: u32,
    pub depth: u64,
    pub device: String,
    pub study: String,
    /// Without any noise but that of the service times.
    pub quiet: bool,
    kind: Kind,
    law: Law,
    servers: u64,
    service_us: f64,
    /// By how much rare slow requests make the mean one longer.
    slower: f64,
    round_trip_us: f64,
}

/// Highest throughput of a cluster: 20 s of it are simulated in a second or two.
const MOST_PER_S: f64 = 150_000.0;

impl Drawn {
    /// Draws one. Between 0.7 and a fifth of all hosts keep the servers busy; the estimate needs four times as many.
    pub fn of(kind: Kind, dice: &mut Dice) -> Self {
        let hosts = 8 + dice.below(57) as u32;
        let depth = 1 + dice.below(16);
        let enough = dice.log(0.7, f64::from(hosts) / 5.0);
        let noise = Noise::draw(dice);
        let law = if dice.chance(0.5) { Law::Exponential } else { Law::Fixed };
        let per_s = dice.log(MOST_PER_S / 5.0, MOST_PER_S);
        let delay = dice.log(0.3, 5.0);
        let quiet = dice.chance(0.5);
        let all = enough * depth as f64;
        let servers = match kind {
            Kind::Queue => all,
            Kind::Network => all / (1.0 + delay),
            // The last of them is busy only with far more requests than units.
            Kind::Flash => all / 2.0,
        };
        let servers = (servers.round() as u64).max(if kind == Kind::Flash { 2 } else { 1 });
        let service_us = (servers as f64 / per_s * 1e7).round() / 10.0;
        let round_trip_us = if kind == Kind::Network { (delay * service_us).round() } else { 0.0 };
        let storage = match (kind, law) {
            (Kind::Flash, _) => format!(
                "[flash]\nunits = {servers}\nstripe = \"4KiB\"\npage = \"4KiB\"\nmapping_unit = \"4KiB\"\nread = \
                 \"{service_us:.1}us\"\nprogram = \"700us\"\nerase = \"3ms\"\npages_per_block = 256\nplacement = \
                 \"static\"\n"
            ),
            (_, Law::Fixed) => queue(servers, "fixed", service_us),
            (_, Law::Exponential) => queue(servers, "exponential", service_us),
        };
        let network = match kind {
            Kind::Network => {
                format!("[network]\nround_trip = \"{round_trip_us}us\"\nbandwidth = \"100GB/s\"\n")
            }
            _ => String::new(),
        };
        let slower = if quiet { 1.0 } else { 1.0 + noise.tail };
        let noise = if quiet { String::new() } else { noise.section() };
        let device = format!(
            "name = \"shared\"\nsummary = \"shared\"\ncapacity = \"4GiB\"\n{network}{storage}{noise}"
        );
        let study = format!(
            "name = \"scaling\"\nquestion = \"How many hosts?\"\ntime = \"20s\"\n[[experiment]]\n\
             kind = \"host-scaling\"\ndepth = {depth}\n"
        );
        Self { hosts, depth, device, study, quiet, kind, law, servers, service_us, slower, round_trip_us }
    }

    /// Requests a second that so many hosts complete together.
    pub fn iops(&self, hosts: u32) -> f64 {
        let requests = u64::from(hosts) * self.depth;
        let (servers, service_s) = (self.servers as f64, self.service_us * self.slower / 1e6);
        let delay = self.round_trip_us / (self.service_us * self.slower);
        match (self.kind, self.law) {
            (Kind::Flash, _) => units(self.servers as usize, requests as usize) / service_s,
            (Kind::Network, Law::Exponential) => repaired(self.servers, requests, delay) / service_s,
            // Nobody waits before all servers are busy.
            _ => (requests as f64 / (delay + 1.0)).min(servers) / service_s,
        }
    }

    /// Whether every request takes the same time, so that the throughput is no matter of chance.
    pub fn is_exact(&self) -> bool {
        self.quiet && self.law == Law::Fixed && self.kind != Kind::Flash
    }

    /// Whether its throughput is known better than by counting.
    pub fn is_closed_form(&self) -> bool {
        self.kind != Kind::Flash
    }

    /// The true number of hosts: all servers busy, over what one host gets.
    pub fn saturation(&self) -> f64 {
        self.servers as f64 / (self.service_us * self.slower / 1e6) / self.iops(1)
    }
}

fn queue(servers: u64, law: &str, service_us: f64) -> String {
    format!("[queue]\nservers = {servers}\nservice = {{ {law} = \"{service_us:.1}us\" }}\n")
}

/// Mean number of busy servers where so many requests are either on their way, for `delay` service times, or before
/// exponential servers: the machine repairman (Feller 1957, XVII.7), whatever the law of the delay.
fn repaired(servers: u64, requests: u64, delay: f64) -> f64 {
    // Logarithms of p(n) / p(0) with n at the servers: 1,000 requests make numbers that no f64 holds.
    let mut logs = vec![0.0f64];
    for n in 0..requests {
        let ratio = (requests - n) as f64 / delay / servers.min(n + 1) as f64;
        logs.push(logs[n as usize] + ratio.ln());
    }
    let most = logs.iter().copied().fold(f64::MIN, f64::max);
    let weights = logs.iter().map(|log| (log - most).exp());
    let busy = |n: usize| servers.min(n as u64) as f64;
    let (sum, all) = weights
        .enumerate()
        .fold((0.0, 0.0), |(sum, all), (n, weight)| (sum + weight * busy(n), all + weight));
    sum / all
}

/// Mean number of busy units: requests go to random units, wait there in order, take one service time, and come back
/// at once. Counted over 400,000 requests, which knows it to about 0.1 %.
fn units(units: usize, requests: usize) -> f64 {
    const COUNTED: usize = 400_000;
    let mut dice = Dice::new(1);
    // Moments at which a unit has done all that was sent to it; requests in the order of their completion.
    let mut free_at = vec![0.0f64; units];
    let mut done = std::collections::BinaryHeap::new();
    let mut send = |now: f64, done: &mut std::collections::BinaryHeap<std::cmp::Reverse<u64>>| {
        let unit = dice.below(units as u64) as usize;
        free_at[unit] = free_at[unit].max(now) + 1.0;
        // Moments are positive: their bits are in their order.
        done.push(std::cmp::Reverse(free_at[unit].to_bits()));
    };
    // Spread over the first service time, since units that begin together would go on together.
    (0..requests).for_each(|nth| send(nth as f64 / requests as f64, &mut done));
    let (warm_up, mut from) = (COUNTED / 10, 0.0);
    for nth in 0..COUNTED + warm_up {
        let now = done.pop().map_or(0.0, |moment| f64::from_bits(moment.0));
        if nth == warm_up {
            from = now;
        }
        if nth + 1 == COUNTED + warm_up {
            return (COUNTED - 1) as f64 / (now - from);
        }
        send(now, &mut done);
    }
    0.0
}
