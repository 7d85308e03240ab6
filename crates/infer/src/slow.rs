//! Why storage may be slower than it could be: causes that the system shows, the surest first.
//!
//! What the trials showed comes first, then what bounds every figure, then settings that cost something in some
//! workloads. Each cause is one rule; a rule that lacks its facts says nothing. None is a verdict: whether a cause
//! costs anything here is measured by removing it.

use iosonde_model::{
    CheckName, Device, Finding, FindingName, Host, Medium, Outcome, Phase, Run, Shingled, Status, Trial,
};

/// A sensor that reads so much is hot: drives begin to slow down between 70 and 85 °C.
const HOT_CELSIUS: f64 = 70.0;
/// More than the memory of any rotating disk: sheets of 2025 say 64 to 512 MiB. The parts of a disk in which shingled
/// recording keeps writes hold 20 GB and more (Aghayev and Desnoyers, Skylight, FAST 2015).
const MORE_THAN_MEMORY_BYTES: f64 = (1_u64 << 30) as f64;

/// A cause, with its evidence. The order is the rank.
#[derive(Debug, Clone, PartialEq)]
pub enum Slow {
    /// The load generator was the limit in trials.
    Generator {
        /// Those trials.
        limited: usize,
        /// Measured trials.
        trials: usize,
    },
    /// The device reached the temperature from which drives slow down.
    Hot {
        /// Highest reading of its warmest sensor.
        celsius: f64,
    },
    /// The link is slower than both of its ends could have it.
    Link {
        /// Link in use.
        link: String,
        /// Link that is possible.
        could: String,
        /// Its rate over that of the link in use.
        times: f64,
    },
    /// The tracks of the disk overlap.
    Shingled {
        /// What shows it.
        by: Shingled,
    },
    /// A rotating disk takes more writes at once than its memory can hold.
    WritesMovedLater {
        /// So many at least: the lower end of `write_buffer_bytes`.
        bytes: f64,
    },
    /// The write cache of a disk or SATA drive is off.
    WriteCacheOff,
    /// The partition begins within a block of the disk, so that each write of one block touches two.
    Misaligned {
        /// Bytes by which it misses a block.
        bytes: u64,
    },
    /// The machine saves power.
    PowerSaving {
        /// Its settings, as the kernel names them; `None` on battery.
        settings: Option<String>,
    },
    /// A layer encrypts.
    Encrypted {
        /// The layer.
        by: String,
    },
    /// A cache of this machine lies below the target.
    CacheBelow {
        /// Number of such layers.
        layers: usize,
    },
    /// Overwritten data gets a new place each time.
    CopiesOnWrite,
    /// The kernel's queue holds fewer requests than a workload's queue depth.
    QueueLimit {
        /// Requests that the queue holds.
        requests: u64,
        /// Largest queue depth measured.
        queue_depth: u64,
    },
    /// A scheduler orders requests for a drive that needs no order.
    Scheduler {
        /// Its name.
        name: String,
    },
    /// The file system discards freed blocks at once, beside other requests.
    OnlineDiscard,
    /// A host stands between this machine and the medium: its cache and its limits are unknown.
    Host,
}

/// What the rules look at.
struct Seen<'a> {
    device: &'a Device,
    host: &'a Host,
    trials: Vec<&'a Trial>,
    findings: &'a [Finding],
    generator_limited: usize,
    queue_depth: u64,
}

/// The rules, in the order of their rank.
const RULES: [fn(&Seen) -> Option<Slow>; 15] = [
    generator,
    hot,
    link,
    shingled,
    moved_later,
    write_cache,
    misaligned,
    power,
    encrypted,
    cache_below,
    copies_on_write,
    queue_limit,
    scheduler,
    online_discard,
    host,
];

/// Causes that a run shows.
pub fn causes(run: &Run) -> Vec<Slow> {
    let trials: Vec<&Trial> = run.trials.iter().filter(|trial| trial.phase == Phase::Measure).collect();
    let limited = run.verdicts.iter().filter(|line| {
        line.check == CheckName::GeneratorBound
            && line.verdict == Outcome::Invalid
            && line.trial.is_some_and(|id| trials.iter().any(|trial| trial.id == id))
    });
    let depths = run.points.iter().map(|point| point.spec.asked_in_flight());
    let seen = Seen {
        device: &run.info.device,
        host: &run.info.host,
        findings: &run.findings,
        generator_limited: limited.count(),
        queue_depth: depths.max().unwrap_or(0),
        trials,
    };
    RULES.iter().filter_map(|rule| rule(&seen)).collect()
}

/// Causes that show before anything is measured.
pub fn causes_before(device: &Device, host: &Host, reading: Option<&Trial>) -> Vec<Slow> {
    let trials = reading.into_iter().collect();
    let seen = Seen { device, host, trials, findings: &[], generator_limited: 0, queue_depth: 0 };
    RULES.iter().filter_map(|rule| rule(&seen)).collect()
}

fn generator(seen: &Seen) -> Option<Slow> {
    let (limited, trials) = (seen.generator_limited, seen.trials.len());
    (limited > 0).then_some(Slow::Generator { limited, trials })
}

fn hot(seen: &Seen) -> Option<Slow> {
    let readings = seen.trials.iter().filter_map(|trial| trial.witnesses.temperature_celsius);
    let celsius = readings.fold(f64::MIN, f64::max);
    (celsius >= HOT_CELSIUS).then_some(Slow::Hot { celsius })
}

fn link(seen: &Seen) -> Option<Slow> {
    let could = seen.device.faster_link.clone()?;
    Some(Slow::Link { link: seen.device.link.clone()?, could: could.link, times: could.times })
}

/// A guest's disk says that it rotates, and takes trims, whatever lies behind it.
fn shingled(seen: &Seen) -> Option<Slow> {
    let by = seen.device.shingled.filter(|_| seen.device.medium == Medium::Disk)?;
    Some(Slow::Shingled { by })
}

fn moved_later(seen: &Seen) -> Option<Slow> {
    let buffers = seen
        .findings
        .iter()
        .filter(|finding| finding.name == FindingName::WriteBufferBytes && finding.status == Status::Found);
    let bytes = buffers.filter_map(|finding| finding.low).fold(0.0, f64::max);
    (seen.device.rotates() == Some(true) && bytes >= MORE_THAN_MEMORY_BYTES)
        .then_some(Slow::WritesMovedLater { bytes })
}

/// A drive with power-loss protection has no volatile cache to switch off, and says `write through`: only where a cache
/// is the rule, and single writes cannot bypass it, is its absence a setting.
fn write_cache(seen: &Seen) -> Option<Slow> {
    let off = seen.device.write_cache.as_deref() == Some("write through");
    (off && seen.device.medium == Medium::Disk).then_some(Slow::WriteCacheOff)
}

fn misaligned(seen: &Seen) -> Option<Slow> {
    let bytes = seen.device.misaligned_bytes.filter(|&bytes| bytes > 0)?;
    Some(Slow::Misaligned { bytes })
}

fn power(seen: &Seen) -> Option<Slow> {
    if seen.host.on_battery == Some(true) {
        return Some(Slow::PowerSaving { settings: None });
    }
    (seen.host.saves_power == Some(true)).then(|| Slow::PowerSaving { settings: seen.host.power.clone() })
}

fn encrypted(seen: &Seen) -> Option<Slow> {
    Some(Slow::Encrypted { by: seen.device.encrypted_by.clone()? })
}

fn cache_below(seen: &Seen) -> Option<Slow> {
    let layers = seen.device.caches_below.len();
    (layers > 0).then_some(Slow::CacheBelow { layers })
}

fn copies_on_write(seen: &Seen) -> Option<Slow> {
    (seen.device.copies_on_write == Some(true)).then_some(Slow::CopiesOnWrite)
}

fn queue_limit(seen: &Seen) -> Option<Slow> {
    let (requests, queue_depth) = (seen.device.queue_requests?, seen.queue_depth);
    (requests > 0 && queue_depth > requests).then_some(Slow::QueueLimit { requests, queue_depth })
}

/// Flash needs no order; `bfq` costs most, by the kernel's own documentation.
fn scheduler(seen: &Seen) -> Option<Slow> {
    let name = seen.device.scheduler.clone().filter(|name| name != "none")?;
    (seen.device.medium == Medium::Flash).then_some(Slow::Scheduler { name })
}

fn online_discard(seen: &Seen) -> Option<Slow> {
    let options = seen.device.mount_options.as_deref()?;
    let set = |option: &str| option == "discard" || option.starts_with("discard=");
    options.split(',').any(set).then_some(Slow::OnlineDiscard)
}

fn host(seen: &Seen) -> Option<Slow> {
    (seen.device.medium == Medium::Virtual).then_some(Slow::Host)
}

#[cfg(test)]
mod tests {
    use iosonde_model::{About, CacheBelow, Conditions, Detail, FasterLink, Judgement, Rw, TrialSpec, Unit};
    use iosonde_testkit::specimen;

    use super::*;

    /// A specimen for each rule: what makes it speak.
    type Change = fn(&mut Run);

    fn limited_by_the_generator(run: &mut Run) {
        run.verdicts.push(Judgement {
            scope: "trial".into(),
            trial: Some(run.trials[0].id),
            point: None,
            check: CheckName::GeneratorBound,
            verdict: Outcome::Invalid,
            about: About::Device,
            cause: None,
        });
    }

    /// What a disk takes at once.
    fn buffer(low: f64) -> Finding {
        Finding {
            name: FindingName::WriteBufferBytes,
            experiment: "sustained-write".into(),
            conditions: Conditions::default(),
            status: Status::Found,
            value: Some(low),
            unit: Unit::Bytes,
            low: Some(low),
            high: Some(low),
            at_least: false,
            confidence: 0.95,
            detail: Detail::Plain,
            notes: Vec::new(),
            trials: Vec::new(),
        }
    }

    fn specimens() -> [(Change, Slow); 16] {
        let link = || Slow::Link { link: "PCIe 3.0 x2".into(), could: "PCIe 4.0 x4".into(), times: 4.0 };
        [
            (limited_by_the_generator, Slow::Generator { limited: 1, trials: 1 }),
            (|run| run.trials[0].witnesses.temperature_celsius = Some(78.0), Slow::Hot { celsius: 78.0 }),
            (
                |run| {
                    run.info.device.link = Some("PCIe 3.0 x2".into());
                    run.info.device.faster_link = Some(FasterLink { link: "PCIe 4.0 x4".into(), times: 4.0 });
                },
                link(),
            ),
            (
                |run| {
                    run.info.device.medium = Medium::Disk;
                    run.info.device.write_cache = Some("write through".into());
                },
                Slow::WriteCacheOff,
            ),
            (
                |run| {
                    run.info.device.medium = Medium::Disk;
                    run.info.device.write_cache = Some("write back".into());
                    run.info.device.shingled = Some(Shingled::Trims);
                },
                Slow::Shingled { by: Shingled::Trims },
            ),
            (
                |run| {
                    run.info.device.medium = Medium::Disk;
                    run.info.device.write_cache = Some("write back".into());
                    run.findings = vec![buffer(512e6), buffer(22e9)];
                },
                Slow::WritesMovedLater { bytes: 22e9 },
            ),
            (|run| run.info.device.misaligned_bytes = Some(3584), Slow::Misaligned { bytes: 3584 }),
            (|run| run.info.host.on_battery = Some(true), Slow::PowerSaving { settings: None }),
            (
                |run| {
                    run.info.host.power = Some("PCIe links powersave".into());
                    run.info.host.saves_power = Some(true);
                },
                Slow::PowerSaving { settings: Some("PCIe links powersave".into()) },
            ),
            (
                |run| run.info.device.encrypted_by = Some("dm-crypt (dm-0)".into()),
                Slow::Encrypted { by: "dm-crypt (dm-0)".into() },
            ),
            (
                |run| {
                    let cache = CacheBelow::Loop { device: "loop0".into(), file: "/disk.img".into() };
                    run.info.device.caches_below = vec![cache];
                },
                Slow::CacheBelow { layers: 1 },
            ),
            (|run| run.info.device.copies_on_write = Some(true), Slow::CopiesOnWrite),
            (
                |run| {
                    run.info.device.queue_requests = Some(32);
                    run.points[0].spec = TrialSpec { queue_depth: 128, ..run.points[0].spec.clone() };
                },
                Slow::QueueLimit { requests: 32, queue_depth: 128 },
            ),
            (|run| run.info.device.scheduler = Some("bfq".into()), Slow::Scheduler { name: "bfq".into() }),
            (|run| run.info.device.mount_options = Some("rw,discard=async".into()), Slow::OnlineDiscard),
            (|run| run.info.device.medium = Medium::Virtual, Slow::Host),
        ]
    }

    fn healthy() -> Run {
        let mut run = specimen::run(specimen::healthy(Rw::RandRead, 4096, 32, 10_000));
        run.info.device.medium = Medium::Flash;
        run.info.device.scheduler = Some("none".into());
        run.info.device.mount_options = Some("rw,nodiscard".into());
        (run.info.device.misaligned_bytes, run.info.device.queue_requests) = (Some(0), Some(1023));
        run.info.device.write_cache = Some("write through".into());
        run.info.host.saves_power = Some(false);
        run
    }

    #[test]
    fn each_rule_speaks_of_its_specimen_alone() {
        assert_eq!(causes(&healthy()), []);
        for (change, expected) in specimens() {
            let mut run = healthy();
            change(&mut run);
            assert_eq!(causes(&run), [expected]);
        }
    }

    #[test]
    fn only_a_rotating_disk_that_takes_more_than_memory_moves_writes_later() {
        let mut run = healthy();
        run.findings = vec![buffer(22e9)];
        assert_eq!(causes(&run), []);
        (run.info.device.medium, run.info.device.write_cache) = (Medium::Disk, Some("write back".into()));
        run.findings = vec![buffer(512e6)];
        assert_eq!(causes(&run), []);
    }

    #[test]
    fn causes_are_ranked() {
        let mut run = healthy();
        let all = specimens();
        for place in [14, 2, 1] {
            all[place].0(&mut run);
        }
        let found = causes(&run);
        assert!(
            matches!(found.as_slice(), [Slow::Hot { .. }, Slow::Link { .. }, Slow::OnlineDiscard]),
            "{found:?}"
        );
        let reading = &run.trials[0];
        assert_eq!(causes_before(&run.info.device, &run.info.host, Some(reading)), found);
        assert_eq!(causes_before(&run.info.device, &run.info.host, None), found[1..]);
    }
}
