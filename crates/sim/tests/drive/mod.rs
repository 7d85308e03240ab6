//! Tiny drivers for tests: a closed loop and Poisson arrivals, straight on a device.

#![allow(dead_code)] // each test file uses its own part of this

use iosonde_model::Op;
use iosonde_sim::{Ask, Device, DeviceFile, Done};
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, Exp1};
use rand_xoshiro::Xoshiro256PlusPlus;

pub fn device(toml: &str, seed: u64) -> Device {
    let text = format!("name = \"under-test\"\ncapacity = \"1GiB\"\n{toml}");
    Device::new(&DeviceFile::parse(&text, "test").unwrap(), seed)
}

pub fn read(tag: u64, length_bytes: u32) -> Ask {
    Ask { tag, op: Op::Read, offset_bytes: 0, length_bytes, direct: true }
}

/// Goes to the next instant in which something is done.
pub fn next_done(device: &mut Device, done: &mut Vec<Done>) -> u64 {
    loop {
        let now_ns = device.next_event_ns().expect("something is under way");
        device.reap(now_ns, done);
        if !done.is_empty() {
            return now_ns;
        }
    }
}

/// Keeps a queue of `depth` requests until `requests` are done, and says when the last one was.
pub fn closed_loop(device: &mut Device, depth: u64, requests: u64, ask: impl FnMut(u64) -> Ask) -> u64 {
    closed_loop_between(device, depth, 0, requests, ask)
}

/// The same from a moment on.
pub fn closed_loop_between(
    device: &mut Device,
    depth: u64,
    from_ns: u64,
    requests: u64,
    mut ask: impl FnMut(u64) -> Ask,
) -> u64 {
    let (mut asked, mut finished, mut now_ns) = (0, 0, from_ns);
    let mut done = Vec::new();
    while finished < requests {
        let in_flight = asked - finished;
        for _ in in_flight..depth.min(requests - finished) {
            device.submit(now_ns, ask(asked));
            asked += 1;
        }
        now_ns = next_done(device, &mut done);
        finished += done.drain(..).len() as u64;
    }
    now_ns
}

/// Poisson arrivals at `per_s`; gives the mean time from arrival to completion over `requests` in
/// nanoseconds.
pub fn open_loop_mean_ns(device: &mut Device, per_s: f64, requests: u64, seed: u64) -> f64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let (mut asked, mut finished, mut sum_ns) = (0, 0, 0.0);
    let mut due = 0.0;
    let mut done = Vec::new();
    while finished < requests {
        let now_ns = match device.next_event_ns() {
            Some(event_ns) if asked == requests || event_ns <= due as u64 => event_ns,
            _ => {
                device.submit(due as u64, read(due as u64, 4096));
                asked += 1;
                let gap: f64 = Exp1.sample(&mut random);
                due += gap * 1e9 / per_s;
                continue;
            }
        };
        device.reap(now_ns, &mut done);
        finished += done.len() as u64;
        // The tag is the moment of arrival.
        sum_ns += done.drain(..).map(|one| (one.at_ns - one.tag) as f64).sum::<f64>();
    }
    sum_ns / requests as f64
}

/// Random offsets for a closed loop over `blocks` blocks.
pub fn random_blocks(op: Op, blocks: u64, length_bytes: u32, seed: u64) -> impl FnMut(u64) -> Ask {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    move |tag| {
        let offset_bytes = random.random_range(0..blocks) * u64::from(length_bytes);
        Ask { tag, op, offset_bytes, length_bytes, direct: true }
    }
}
