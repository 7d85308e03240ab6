//! How long does rank 0 take to gather the results of many hosts?
//!
//!     cargo run --release -p iosonde-hosts --example gather -- [HOSTS [TRIALS [SECONDS]]]
//!
//! Two hosts measure a file by mixed requests. What the second one says of it is then the answer of each of so many
//! hosts, to the same rank 0 as in any run. Answers come over a link of 1 GB/s, on which none passes another. Printed
//! are the size of an answer and the time from the last host's end to the whole trial.

#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use std::{
    collections::VecDeque,
    fs::File,
    io,
    path::Path,
    sync::{Arc, Mutex, atomic::AtomicBool},
    thread,
};

use iosonde_hosts::{Cannot, Coordinator, Deed, Leader, Link, Opening, ThreadLink, Workplace, follow, links};
use iosonde_model::{Phase, RunHost, Rw, TrialSpec};
use iosonde_rig::{
    clock::monotonic_ns,
    drive::Limits,
    engine::Storage,
    guard::StrayRecorder,
    stall::StallWatch,
    trial::{Bed, Order},
};
use serde_json::{Value, json};

const FILE_BYTES: u64 = 64 << 20;
/// 1 GB/s.
const NS_PER_BYTE: u64 = 1;

static RUNS: AtomicBool = AtomicBool::new(false);

struct NoStrays;

impl StrayRecorder for NoStrays {
    fn record(&mut self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn forget(&mut self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

fn bed() -> Bed {
    let file = tempfile::tempfile_in(".").unwrap();
    file.set_len(FILE_BYTES).unwrap();
    let device = iosonde_rig::platform::describe(&file, Path::new("."), iosonde_rig::guard::TargetKind::File);
    let watch = iosonde_rig::witness::Watch::open(&file, &device, 0..FILE_BYTES);
    Bed::real(Storage::File(Arc::<File>::new(file)), watch)
}

struct Host(Option<Bed>);

impl Workplace for Host {
    fn open(&mut self, _: &Opening, _: &mut dyn StrayRecorder) -> Result<RunHost, Cannot> {
        self.0 = Some(bed());
        Ok(RunHost { rank: 1, ..RunHost::default() })
    }

    fn bed(&mut self) -> Option<&mut Bed> {
        self.0.as_mut()
    }

    fn share(&mut self, _: &Deed) -> Result<(), Cannot> {
        Ok(())
    }

    fn watch(&self, _: Phase) -> Option<StallWatch> {
        None
    }
}

/// Keeps the last long message, which is the result.
struct Recording {
    link: ThreadLink,
    longest: Arc<Mutex<Vec<u8>>>,
}

impl Link for Recording {
    fn rank(&self) -> u32 {
        self.link.rank()
    }

    fn count(&self) -> u32 {
        self.link.count()
    }

    fn send(&mut self, to: u32, message: &[u8]) -> io::Result<()> {
        if message.windows(8).take(16).any(|word| word == b"Measured") {
            *self.longest.lock().unwrap() = message.to_vec();
        }
        self.link.send(to, message)
    }

    fn receive(&mut self) -> io::Result<Option<(u32, Vec<u8>)>> {
        self.link.receive()
    }

    fn close(&mut self, well: bool) {
        self.link.close(well);
    }
}

/// Many hosts that say the same.
struct Replay {
    count: u32,
    measured: Vec<u8>,
    /// When each message is there, from whom, and what it says.
    on_its_way: VecDeque<(u64, u32, Vec<u8>)>,
    duration_ns: u64,
    link_free_ns: u64,
    /// When the last host was told that all have ended.
    all_ended_ns: Arc<Mutex<u64>>,
}

impl Link for Replay {
    fn rank(&self) -> u32 {
        0
    }

    fn count(&self) -> u32 {
        self.count
    }

    fn send(&mut self, to: u32, message: &[u8]) -> io::Result<()> {
        let order: Value = rmp_serde::from_slice(message).map_err(io::Error::other)?;
        let now_ns = monotonic_ns();
        let (named, with) = match &order {
            Value::String(name) => (name.as_str(), &Value::Null),
            Value::Object(one) => one.iter().next().map(|(name, with)| (name.as_str(), with)).unwrap(),
            _ => unreachable!("an order is a name, or a name with more"),
        };
        let answer = match named {
            "Clock" => json!({ "Clock": { "now_ns": now_ns } }),
            "Open" => json!({ "Opened": RunHost { rank: to, ..RunHost::default() } }),
            "Trial" => json!("Ready"),
            "Begin" => {
                let at_ns = with["at_ns"].as_u64().unwrap() + self.duration_ns;
                self.on_its_way.push_back((at_ns, to, encoded(&json!("Ended"))?));
                return Ok(());
            }
            "AllEnded" => {
                self.link_free_ns = self.link_free_ns.max(now_ns) + self.measured.len() as u64 * NS_PER_BYTE;
                self.on_its_way.push_back((self.link_free_ns, to, self.measured.clone()));
                *self.all_ended_ns.lock().unwrap() = now_ns;
                return Ok(());
            }
            _ => return Ok(()),
        };
        self.on_its_way.push_back((now_ns, to, encoded(&answer)?));
        Ok(())
    }

    fn receive(&mut self) -> io::Result<Option<(u32, Vec<u8>)>> {
        if self.on_its_way.front().is_none_or(|(at_ns, ..)| *at_ns > monotonic_ns()) {
            return Ok(None);
        }
        Ok(self.on_its_way.pop_front().map(|(_, rank, message)| (rank, message)))
    }

    fn close(&mut self, _: bool) {}
}

fn encoded(value: &Value) -> io::Result<Vec<u8>> {
    rmp_serde::to_vec_named(value).map_err(io::Error::other)
}

fn spec(hosts: u32) -> TrialSpec {
    let one = TrialSpec {
        rw: Rw::RandRw,
        read_percent: Some(50.0),
        block_size_bytes: 4096,
        queue_depth: 1,
        span_bytes: FILE_BYTES,
        engine: "psync".into(),
        direct: true,
        ..TrialSpec::default()
    };
    one.on_hosts(hosts)
}

fn main() {
    let mut words = std::env::args().skip(1).map(|word| word.parse::<f64>().expect("a number"));
    let hosts = words.next().unwrap_or(1024.0) as u32;
    let trials = words.next().unwrap_or(11.0) as usize;
    let duration_ns = (1e9 * words.next().unwrap_or(1.0)) as u64;
    let limits = Limits::time(duration_ns);

    let longest = Arc::new(Mutex::new(Vec::new()));
    let mut both = links(2);
    let mut other = Recording { link: both.remove(1), longest: longest.clone() };
    thread::spawn(move || follow(&mut other, &mut Host(None), &RUNS));
    let mut leader = Leader::new(both.remove(0));
    leader.open(&Opening::default(), RunHost::default(), &mut NoStrays, &RUNS).unwrap();
    let (mut bed, pair) = (bed(), spec(2));
    let order = |spec| Order { spec, limits, phase: Phase::Measure, seed: 1 };
    leader.run(&mut bed, &order(&pair), &[], &RUNS).unwrap();
    leader.end(true);

    let measured = longest.lock().unwrap().clone();
    let all_ended_ns = Arc::new(Mutex::new(0));
    let link = Replay {
        count: hosts,
        measured: measured.clone(),
        on_its_way: VecDeque::new(),
        duration_ns,
        link_free_ns: 0,
        all_ended_ns: all_ended_ns.clone(),
    };
    let mut leader = Leader::new(link);
    leader.open(&Opening::default(), RunHost::default(), &mut NoStrays, &RUNS).unwrap();
    let all = spec(hosts);
    let mut took_ms: Vec<f64> = (0..trials)
        .map(|_| {
            let whole = leader.run(&mut bed, &order(&all), &[], &RUNS).unwrap();
            assert_eq!(whole.trial.hosts.len(), hosts as usize);
            (monotonic_ns() - *all_ended_ns.lock().unwrap()) as f64 / 1e6
        })
        .collect();
    took_ms.sort_by(f64::total_cmp);
    let wire_ms = f64::from(hosts - 1) * measured.len() as f64 * NS_PER_BYTE as f64 / 1e6;
    println!(
        "{hosts} hosts, {trials} trials of {} s: {} bytes from each, {wire_ms:.1} ms at 1 GB/s; gathered in {:.1} ms \
         (median), {:.1} ms at most",
        duration_ns as f64 / 1e9,
        measured.len(),
        took_ms[trials / 2],
        took_ms[trials - 1]
    );
}
