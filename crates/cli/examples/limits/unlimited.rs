//! Devices that nobody limits: queues, slow and fast links, flash, disks, servers behind a network, half of each kind
//! with the noise of other benches and half without any, and a fifth of all with stalls at a regular distance.

use super::{
    Drawn,
    draw::{Dice, Noise},
};

type Medium = fn(&mut Dice) -> String;

const KINDS: [(&str, Medium); 7] = [
    ("queue", queue),
    ("deterministic queue", fixed),
    ("link", link),
    ("flash", flash),
    ("flash behind a buffer", buffered),
    ("disk", disk),
    ("server", server),
];

pub fn draw(dice: &mut Dice) -> Drawn {
    let (kind, medium) = KINDS[dice.below(KINDS.len() as u64) as usize];
    let noise = if dice.chance(0.5) { Noise::draw(dice).section() } else { String::new() };
    let (noise, stalls) = match dice.chance(0.2) {
        true => (stalling(dice, noise), ", regular stalls"),
        false => (noise, ""),
    };
    let cost_us = dice.log(0.5, 8.0);
    let device = format!(
        "name = \"unlimited\"\nsummary = \"no limit\"\ncapacity = \"256GiB\"\n[host]\nrequest_cost = \
         \"{cost_us:.2}us\"\n{}{noise}",
        medium(dice)
    );
    Drawn { kind: format!("no limit, {kind}{stalls}"), device, limits: Vec::new() }
}

/// The same noise, and for a part of every period the medium all but stops, as if a limit let its budget pass in
/// portions.
fn stalling(dice: &mut Dice, noise: String) -> String {
    let section = if noise.is_empty() { "[noise]\n".to_owned() } else { noise };
    let every_ms = dice.log(50.0, 250.0);
    let for_ms = every_ms * dice.between(0.2, 0.9);
    format!(
        "{section}neighbour = {{ every = \"{every_ms:.0}ms\", for = \"{for_ms:.0}ms\", takes = \"99.9%\" }}\n"
    )
}

/// With a link that may be the bottleneck of large requests.
fn wire(dice: &mut Dice, low: f64, high: f64) -> String {
    format!(
        "[link]\nbandwidth = \"{:.0}MB/s\"\nlatency = \"{:.1}us\"\nduplex = {}\n",
        dice.log(low, high),
        dice.log(2.0, 80.0),
        dice.chance(0.5)
    )
}

fn queue(dice: &mut Dice) -> String {
    let service = match dice.chance(0.5) {
        true => format!("{{ exponential = \"{:.1}us\" }}", dice.log(40.0, 4000.0)),
        false => {
            let (mean, cv) = (dice.log(40.0, 4000.0), dice.between(0.05, 1.0));
            format!("{{ lognormal = {{ mean = \"{mean:.1}us\", cv = {cv:.2} }} }}")
        }
    };
    let servers = dice.log(1.0, 48.0).round();
    format!("{}[queue]\nservers = {servers}\nservice = {service}\n", wire(dice, 200.0, 6000.0))
}

fn fixed(dice: &mut Dice) -> String {
    let (servers, us) = (dice.log(1.0, 48.0).round(), dice.log(40.0, 4000.0));
    let wire = wire(dice, 200.0, 6000.0);
    format!("{wire}[queue]\nservers = {servers}\nservice = {{ fixed = \"{us:.1}us\" }}\n")
}

/// A bus that is slower than what is behind it.
fn link(dice: &mut Dice) -> String {
    let (mean, cv) = (dice.log(20.0, 300.0), dice.between(0.1, 0.6));
    let wire = wire(dice, 30.0, 900.0);
    format!(
        "{wire}[queue]\nservers = 64\nservice = {{ lognormal = {{ mean = \"{mean:.1}us\", cv = {cv:.2} }} }}\n"
    )
}

fn cells(dice: &mut Dice) -> String {
    format!(
        "[flash]\nunits = {}\nstripe = \"16KiB\"\npage = \"16KiB\"\nmapping_unit = \"4KiB\"\nread = \"{:.1}us\"\n\
         program = \"{:.0}us\"\nerase = \"3ms\"\npages_per_block = 256\nplacement = \"static\"\n",
        dice.power(1, 6),
        dice.log(50.0, 300.0),
        dice.log(200.0, 1500.0)
    )
}

fn flash(dice: &mut Dice) -> String {
    wire(dice, 300.0, 7000.0) + &cells(dice)
}

fn buffered(dice: &mut Dice) -> String {
    let drain = dice.log(30.0, 900.0);
    let buffer = format!(
        "write_buffer = {{ size = \"{}MiB\", latency = \"{:.0}us\", drain = \"{drain:.0}MB/s\", flush = \"1ms\" }}\n",
        dice.power(2, 7),
        dice.log(8.0, 40.0)
    );
    wire(dice, 300.0, 7000.0) + &cells(dice) + &buffer
}

fn disk(dice: &mut Dice) -> String {
    let rpm = [5400.0, 7200.0, 10_000.0, 15_000.0][dice.below(4) as usize];
    let (track_ms, outer) = (dice.log(0.2, 1.5), dice.log(60e6, 290e6));
    let cache = if dice.chance(0.5) { "write_cache = \"32MiB\"\n" } else { "" };
    format!(
        "{}[disk]\nrpm = {rpm}\nseek = {{ track = \"{track_ms:.3}ms\", average = \"{:.3}ms\" }}\nouter = \
         \"{outer:.0}B/s\"\ninner = \"{:.0}B/s\"\ncache = \"64MiB\"\n\
         {cache}queue = {{ slots = 32, policy = \"{}\" }}\n",
        wire(dice, 150.0, 1200.0),
        track_ms + dice.log(2.0, 14.0),
        outer / dice.between(1.0, 2.2),
        if dice.chance(0.5) { "sptf" } else { "fifo" }
    )
}

fn server(dice: &mut Dice) -> String {
    let cache = match dice.chance(0.5) {
        true => format!("server_cache = \"{}MiB\"\n", dice.power(8, 11)),
        false => String::new(),
    };
    format!(
        "[network]\nround_trip = \"{:.0}us\"\nbandwidth = \"{:.0}MB/s\"\n{cache}[queue]\nservers = {}\n\
         service = {{ lognormal = {{ mean = \"{:.0}us\", cv = {:.2} }} }}\n",
        dice.log(60.0, 2000.0),
        dice.log(80.0, 3000.0),
        dice.log(2.0, 64.0).round(),
        dice.log(50.0, 5000.0),
        dice.between(0.1, 0.9)
    )
}
