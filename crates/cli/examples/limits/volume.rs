//! Volumes with a limit: requests, bytes or both, shared by reads and writes or one for each, some that count large
//! requests several times, some that let their budget pass in portions of 100 ms as Linux's control groups do.

use iosonde_model::Op;

use super::{
    Drawn, Set,
    draw::{Dice, Noise},
};

/// IOPS of a limit.
const IOPS: (f64, f64) = (500.0, 20_000.0);
/// Bytes per second of a limit.
const BYTES_PER_S: (f64, f64) = (60e6, 1e9);

pub fn draw(dice: &mut Dice) -> Drawn {
    let noise = Noise::draw(dice);
    let (sells_iops, sells_bytes) = [(true, false), (false, true), (true, true)][dice.below(3) as usize];
    let each = dice.chance(0.5);
    let chunk = (sells_iops && !sells_bytes && dice.chance(0.3))
        .then(|| [16 << 10, 64 << 10, 256 << 10][dice.below(3) as usize]);
    // Of two directions, writes get as much or less.
    let second = if dice.chance(0.3) { 1.0 } else { dice.log(0.3, 0.9) };
    let iops = dice.log(IOPS.0, IOPS.1 * second.max(0.5)).round();
    let writes = |all: f64| (all * if each { second } else { 1.0 }).round();
    let bytes = match sells_iops {
        // As clouds sell both: 16 to 256 KiB a second for each IOPS.
        true => (iops * dice.log(16.0, 256.0) * 1024.0).clamp(BYTES_PER_S.0, BYTES_PER_S.1),
        false => dice.log(BYTES_PER_S.0, BYTES_PER_S.1),
    }
    .round();
    let key = |name: &str, read: String, write: String| match each {
        true => format!("{name} = {{ read = {read}, write = {write} }}\n"),
        false => format!("{name} = {read}\n"),
    };
    let rate = |value: f64| format!("\"{value:.0}B/s\"");
    let mut throttle = String::from("[throttle]\n");
    let mut limits = Vec::new();
    let mut set = |bytes: bool, value: f64| {
        if each {
            limits.push(Set { bytes, op: Some(Op::Read), value });
            limits.push(Set { bytes, op: Some(Op::Write), value: writes(value) });
        } else {
            limits.push(Set { bytes, op: None, value });
        }
    };
    if sells_iops {
        throttle += &key("iops", format!("{iops}"), format!("{}", writes(iops)));
        set(false, iops);
    }
    if sells_bytes {
        throttle += &key("bytes", rate(bytes), rate(writes(bytes)));
        set(true, bytes);
    }
    let in_portions = each && chunk.is_none() && dice.chance(0.5);
    if in_portions {
        throttle += "refill = \"100ms\"\n";
    }
    if let Some(chunk) = chunk {
        throttle += &format!("chunk = \"{chunk}B\"\n");
    }
    let device = format!(
        "name = \"volume\"\nsummary = \"a volume\"\ncapacity = \"64GiB\"\n[host]\nrequest_cost = \"{:.2}us\"\n\
         {throttle}[network]\nround_trip = \"{:.0}us\"\nbandwidth = \"{:.2}GB/s\"\n[queue]\nservers = {}\n\
         service = {{ lognormal = {{ mean = \"{:.0}us\", cv = {:.2} }} }}\n{}",
        dice.log(1.0, 4.0),
        dice.log(80.0, 400.0),
        dice.log(2.5, 12.0),
        dice.below(193) + 64,
        dice.log(100.0, 500.0),
        dice.between(0.15, 0.6),
        noise.section()
    );
    let kind = format!(
        "volume, {}{}, {}",
        ["", "IOPS", "bytes", "both"][usize::from(sells_iops) + 2 * usize::from(sells_bytes)],
        if chunk.is_some() { " in chunks" } else { "" },
        match (each, in_portions) {
            (true, true) => "each, in portions",
            (true, false) => "each",
            (false, _) => "shared",
        }
    );
    Drawn { kind, device, limits }
}
