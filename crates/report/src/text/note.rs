//! Words of a circumstance that a reader of the figures must know.

use iosonde_infer::compare::Scattered;
use iosonde_model::{DeviceNote, LeftOut, LoopNote, Preconditioning, StorageKind, units};

/// The sentence of a note, without a full stop.
pub fn note(note: &DeviceNote) -> String {
    match note {
        DeviceNote::NotDescribed => "the target could not be asked what it is (fstat failed)".to_owned(),
        DeviceNote::BlockDeviceUnseen { file_system } => {
            format!("the block device below this {file_system} file system cannot be seen from here")
        }
        DeviceNote::StorageUnseen { file_system } => {
            format!("the storage below this {file_system} mount cannot be seen from here")
        }
        DeviceNote::SpansDevices { file_system, devices } => format!(
            "this {file_system} file system spans {devices} devices, so no device's counters see all bytes"
        ),
        DeviceNote::SizeNotTold { most_bytes } => format!(
            "the file system does not tell its size, so the file stays at or below {}",
            units::size(*most_bytes)
        ),
        DeviceNote::ReadOnlyWins => "--read-only beats --destroy: nothing is written".to_owned(),
        DeviceNote::NothingToDestroy => {
            "--destroy has nothing to do in a directory: iosonde writes to a file of its own there".to_owned()
        }
        DeviceNote::BufferedAsAsked => {
            "buffered, as requested: these figures include the page cache".to_owned()
        }
        DeviceNote::NoDirectIo => "no direct I/O here: these figures include the page cache".to_owned(),
        DeviceNote::Holes { unmapped_bytes, file_bytes } => format!(
            "{} of the file's {} are holes that were never written",
            units::percent(*unmapped_bytes as f64 / (*file_bytes).max(1) as f64),
            units::size(*file_bytes)
        ),
        DeviceNote::PartAddressed { part_bytes, all_bytes, other } => format!(
            "{} of {} are addressed, as much as {other} has, so that both have the same points",
            units::size(*part_bytes),
            units::size(*all_bytes)
        ),
        DeviceNote::StateReached { state, span_bytes, larger_bytes, rounds } => {
            let part = larger_bytes.map_or_else(String::new, |drive_bytes| {
                let (span, drive) = (units::size(*span_bytes), units::decimal_bytes(drive_bytes));
                format!(" (within {span} of {drive}; a drive of which all is in use may be slower)")
            });
            format!("{state} state reached{part}{}", rounds.as_ref().map_or_else(String::new, held))
        }
        DeviceNote::NotSteady { rounds: None } => {
            "steady state not reached: too few rounds of random writes were made to judge it".to_owned()
        }
        DeviceNote::NotSteady { rounds: Some(rounds) } => not_reached(rounds),
        DeviceNote::SimulatedSmaller { simulated_bytes, whole_bytes } => format!(
            "simulated 1:{:.0}: {} stand for {}; rates and latencies are those of the whole device",
            *whole_bytes as f64 / (*simulated_bytes).max(1) as f64,
            units::size(*simulated_bytes),
            units::decimal_bytes(*whole_bytes)
        ),
        DeviceNote::WriteLimitReached { max_bytes } => {
            format!("writing ended early: --max-write {} allows no more of it", units::size(*max_bytes))
        }
        DeviceNote::OneDevice { targets: [a, b], device } => {
            format!("{a} and {b} lie on one device, {device}: what differs is not the device")
        }
        DeviceNote::RepeatSpread { repeats, first, run_share, point_share } => format!(
            "{repeats} repeats: {}; `iosonde compare {first} OTHER` compares all of them",
            spread(*run_share, *point_share)
        ),
        DeviceNote::LeftOut(what) => left_out(what),
        DeviceNote::Loop(what) => of_the_loop(what),
        DeviceNote::Other(sentence) => sentence.clone(),
    }
}

/// How much repeats of a run differ: `throughput varies by 2.0 % (standard deviation), that of a single point by 3.0
/// %`.
fn spread(run_share: f64, point_share: f64) -> String {
    format!(
        "throughput varies by {} (standard deviation), that of a single point by {}",
        units::percent(run_share),
        units::percent(point_share)
    )
}

/// One run of several repeats: which they are, and how much they differ.
pub fn series(repeat: u32, ids: &[&str], scattered: Option<&Scattered>) -> String {
    let spread = scattered
        .map(|scattered| format!(" From repeat to repeat, {}.", spread(scattered.run, scattered.point)));
    format!(
        "This is repeat {repeat} of {}: {}.{} `iosonde compare {} OTHER` compares all of them.",
        ids.len(),
        ids.join(", "),
        spread.unwrap_or_default(),
        ids.first().unwrap_or(&"RUN")
    )
}

/// What was left out of a study, and why: `13 points that write: nothing may be written here`.
pub fn left_out(what: &LeftOut) -> String {
    match what {
        LeftOut::OtherStorage { experiment, only_on: StorageKind::Rotating } => {
            format!("the experiment {experiment}: it is about rotating disks, and this is none")
        }
        LeftOut::OtherStorage { experiment, only_on: StorageKind::Solid } => {
            format!(
                "the experiment {experiment}: it is about storage without a disk arm, and this is a rotating disk"
            )
        }
        LeftOut::Writing { points } => {
            format!("{} that write: nothing may be written here", counted(*points))
        }
        LeftOut::QueueDepth { points, engine } => {
            format!(
                "{} with a queue depth above 1: the engine {engine} makes one request at a time",
                counted(*points)
            )
        }
        LeftOut::Hosts { points, hosts } => {
            format!("{} with more hosts than the {hosts} of this run", counted(*points))
        }
        LeftOut::NewFiles { points } => format!(
            "{} that write new files: the target must be a directory with O_TMPFILE; `--set files=same` measures one \
             file",
            counted(*points)
        ),
        LeftOut::StrideBelowBlock { points } => {
            format!("{} with a stride smaller than the block", counted(*points))
        }
        LeftOut::BeyondSpan { points, span_bytes } => {
            format!("{} beyond the {} that may be addressed", counted(*points), units::size(*span_bytes))
        }
        LeftOut::Misaligned { points, unit_bytes } => format!(
            "{} at addresses that are not multiples of {}, which direct I/O needs here",
            counted(*points),
            units::size(*unit_bytes)
        ),
        LeftOut::LargeBlocks { points, smallest_bytes, span_bytes } => format!(
            "{} of {} or more: a block may cover a quarter of the {} that may be addressed",
            counted(*points),
            units::size(*smallest_bytes),
            units::size(*span_bytes)
        ),
        LeftOut::NoPageCache => {
            "the page cache, which this simulated device lacks: buffered workloads use direct I/O".to_owned()
        }
    }
}

/// What an engine or the measured loop met.
fn of_the_loop(what: &LoopNote) -> String {
    match what {
        LoopNote::OtherEngine { engine, refused } => {
            format!("{}; measured with {engine} instead", refused.join("; "))
        }
        LoopNote::NothingMoved => {
            "the null engine moves nothing: these figures are the limit of iosonde itself on \
                                   this machine, not those of storage"
                .to_owned()
        }
        LoopNote::HipriIgnored => {
            "hipri is a hint to poll the device, which Linux has ignored since 5.19 in calls that wait"
                .to_owned()
        }
        LoopNote::MadeAgain { requests } => {
            format!("{requests} requests could not be served without waiting and were made a second time")
        }
        LoopNote::BusErrors { requests } => format!(
            "{requests} requests ended in SIGBUS: the storage failed, or the file was cut shorter while it was mapped"
        ),
        LoopNote::LargeBuffers => {
            "buffers of more than 1 GiB cannot be registered; each request pins its own pages".to_owned()
        }
        LoopNote::UnregisteredBuffers { error } => format!(
            "buffers are not registered ({error}; `ulimit -l` limits it): each request pins its own pages"
        ),
        LoopNote::KernelSubmits => {
            "a kernel thread submits (sqpoll): its processor time is not in these figures".to_owned()
        }
        LoopNote::OneAfterTheOther => {
            "libaio makes buffered requests inside io_submit, one after the other: the \
                                       storage never saw the asked depth"
                .to_owned()
        }
        LoopNote::TrimsEndAfterOnePass => {
            "trims end when every block has been trimmed once: a hole cannot be punched \
                                           twice, and storage answers a second trim at once"
                .to_owned()
        }
        LoopNote::NothingToVerify => {
            "a simulated device holds nothing from earlier commands: only writes are verified".to_owned()
        }
        LoopNote::UnverifiedAfterHang { requests } => format!(
            "what was written could not be verified: {requests} requests never came back and may still change it"
        ),
        LoopNote::UnmarkedBlocks { unmarked, blocks } => format!(
            "{unmarked} of {blocks} blocks that were read carry no whole mark (not written with --verify, or with \
             other block sizes) and are not checked"
        ),
    }
}

/// Number of points: `13 points`.
pub fn counted(points: usize) -> String {
    if points == 1 { "1 point".to_owned() } else { format!("{points} points") }
}

/// Workloads whose rate went different ways: `rose in 2, held in 1 of 3 workloads`.
pub fn ways(rose: usize, fell: usize, held: usize) -> String {
    let all = [("rose", rose), ("fell", fell), ("held", held)];
    let told: Vec<String> =
        all.into_iter().filter(|(_, some)| *some > 0).map(|(way, some)| format!("{way} in {some}")).collect();
    format!("{} of {} workloads", told.join(", "), rose + fell + held)
}

/// `: 118 k IOPS and 269 µs mean latency, changing by +0.06 % a round (98 % CI -0.14 to +0.28 %) in rounds 10–19; 1.9
/// passes of random 4 KiB writes in 75 s`.
fn held(rounds: &Preconditioning) -> String {
    let latency =
        rounds.latency_ns.map_or_else(String::new, |ns| format!(" and {} mean latency", units::time(ns)));
    format!(
        ": {} IOPS{latency}, changing by {} in rounds {}–{}; {}",
        units::count(rounds.iops),
        slope(rounds),
        rounds.from_round,
        rounds.rounds,
        passes(rounds)
    )
}

fn not_reached(rounds: &Preconditioning) -> String {
    format!(
        "steady state not reached in {} rounds ({}): IOPS changed by {}; steady is within ±{}, without a step or cycle",
        rounds.rounds,
        passes(rounds),
        slope(rounds),
        units::percent(rounds.bound_share)
    )
}

fn slope(rounds: &Preconditioning) -> String {
    let [value, low, high] = [rounds.slope_per_round, rounds.low, rounds.high].map(|share| share * 100.0);
    let confidence = units::percent(rounds.confidence);
    format!("{value:+.2} % a round ({confidence} CI {low:+.2} to {high:+.2} %)")
}

fn passes(rounds: &Preconditioning) -> String {
    format!("{:.1} passes of random 4 KiB writes in {}", rounds.passes, units::duration(rounds.elapsed_s))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_are_named_with_their_spread() {
        let scattered = Scattered { repeats: 2, run: 0.02, point: 0.03 };
        assert_eq!(
            series(1, &["a1", "b2"], Some(&scattered)),
            "This is repeat 1 of 2: a1, b2. From repeat to repeat, throughput varies by 2.0 % (standard deviation), \
             that of a single point by 3.0 %. `iosonde compare a1 OTHER` compares all of them."
        );
    }

    const ROUNDS: Preconditioning = Preconditioning {
        rounds: 19,
        from_round: 10,
        slope_per_round: 0.0006,
        low: -0.0014,
        high: 0.0028,
        confidence: 0.98,
        bound_share: 0.01,
        passes: 1.9,
        elapsed_s: 75.0,
        iops: 118_300.0,
        latency_ns: Some(269e3),
    };

    #[test]
    fn a_state_is_told_with_what_was_reached() {
        let told = |larger_bytes, rounds| {
            let state = "steady".to_owned();
            note(&DeviceNote::StateReached { state, span_bytes: 1 << 30, larger_bytes, rounds })
        };
        assert_eq!(
            told(None, Some(ROUNDS)),
            "steady state reached: 118 k IOPS and 269 µs mean latency, changing by +0.06 % a round (98 % CI -0.14 to \
             +0.28 %) in rounds 10–19; 1.9 passes of random 4 KiB writes in 1 min 15 s"
        );
        assert_eq!(
            told(Some(1_600_000_000_000), None),
            "steady state reached (within 1 GiB of 1.60 TB; a drive of which all is in use may be slower)"
        );
    }

    #[test]
    fn what_is_left_out_has_its_reason() {
        let large = LeftOut::LargeBlocks { points: 1, smallest_bytes: 4 << 20, span_bytes: 8 << 20 };
        assert_eq!(
            note(&DeviceNote::LeftOut(large)),
            "1 point of 4 MiB or more: a block may cover a quarter of the 8 MiB that may be addressed"
        );
    }

    #[test]
    fn a_state_that_was_not_reached_is_told_with_the_slope() {
        let falling =
            Preconditioning { rounds: 60, slope_per_round: -0.02, low: -0.021, high: -0.019, ..ROUNDS };
        assert_eq!(
            note(&DeviceNote::NotSteady { rounds: Some(falling) }),
            "steady state not reached in 60 rounds (1.9 passes of random 4 KiB writes in 1 min 15 s): IOPS changed by \
             -2.00 % a round (98 % CI -2.10 to -1.90 %); steady is within ±1.0 %, without a step or cycle"
        );
    }
}
