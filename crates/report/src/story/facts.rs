//! What the storage and the machine are, and how it was measured: labels with what they say.

use iosonde_model::{Ceiling, Device, Health, Host, Medium, Phase, Run, RunState, Witnesses, units};

/// Smaller storage is not sold by its decimal size.
const MILLION: u64 = 1_000_000;

/// A label and what it says.
pub(crate) type Fact = (&'static str, String);

/// What the storage of a run is, as far as the system tells, and what the run saw of it.
pub(crate) fn device_facts(run: &Run) -> Vec<Fact> {
    let mut facts = vec![("Target", run.info.target.clone())];
    facts.extend(of_device(&run.info.device));
    facts.extend(told([
        ("Pieces of the file", pieces(run).map(|pieces| pieces.to_string())),
        ("On the network", on_the_network(run)),
    ]));
    facts
}

/// What the storage is, as far as the system tells.
pub(crate) fn of_device(device: &Device) -> Vec<Fact> {
    let size = |bytes: Option<u64>| bytes.map(units::size);
    let medium = match device.medium {
        Medium::Flash => "flash (the kernel says that it does not rotate)",
        Medium::Disk => "a rotating disk",
        Medium::Memory => "memory",
        Medium::Network => "a network file system",
        Medium::UserSpace => "a file system in user space",
        Medium::Simulated => "a simulated device",
        Medium::Virtual => "a virtual disk",
        Medium::Unknown => "unknown",
    };
    let chain = (device.chain.len() > 1).then(|| device.chain.join(" → "));
    let facts = [
        ("Device", device.name.clone()),
        ("Model", device.model.clone()),
        ("Description", device.description.clone()),
        ("Medium", Some(medium.to_owned())),
        ("Size", device.size_bytes.map(whole_size)),
        ("Link", device.link.clone()),
        ("File system", device.file_system.clone()),
        ("Allocation unit", size(device.allocation_unit_bytes)),
        ("Mounted with", device.mount_options.clone()),
        ("Devices below", chain),
        ("Not visible from here", crate::text::hidden_by(&device.unseen)),
        ("Measured area", size(Some(device.working_set_bytes).filter(|&bytes| bytes > 0))),
        ("Logical block", size(device.logical_block_bytes)),
        ("Physical block", size(device.physical_block_bytes)),
        ("Hosts", crate::text::layout::hosts_and_layout(device)),
        ("Direct I/O", Some(if device.direct { "yes" } else { "no: buffered" }.to_owned())),
        ("Alignment", size(device.direct_alignment_bytes)),
        ("Scheduler", device.scheduler.clone()),
        ("Write cache", device.write_cache.clone()),
        ("Writes past it (FUA)", device.forces_unit_access.map(yes_or_no)),
        ("Encrypted by", device.encrypted_by.clone()),
        ("Copies on write", device.copies_on_write.map(yes_or_no)),
        ("The drive's health", device.health.as_ref().map(health)),
    ];
    told(facts)
}

/// `238 GiB (256 GB)`: as the kernel counts, and as it is sold.
fn whole_size(bytes: u64) -> String {
    let (binary, decimal) = (units::size(bytes), units::decimal_bytes(bytes));
    if bytes < MILLION { binary } else { format!("{binary} ({decimal})") }
}

fn yes_or_no(yes: bool) -> String {
    if yes { "yes" } else { "no" }.to_owned()
}

/// A drive's health, as the drive itself says it.
pub fn health(health: &Health) -> String {
    let hot = (health.too_hot_s > 0.0).then(|| format!("{} too hot", units::duration(health.too_hot_s)));
    let parts = [
        Some(format!("{} of its life used", units::percent(health.used_share))),
        Some(format!("{} written", units::decimal_bytes(health.written_bytes as u64))),
        Some(format!("{} of its spare blocks left", units::percent(health.spare_share))),
        (health.media_errors > 0).then(|| format!("{} errors of the medium", health.media_errors)),
        hot,
    ];
    let warns = health.warnings.iter().map(|warning| format!("it warns: {warning}"));
    parts.into_iter().flatten().chain(warns).collect::<Vec<_>>().join(", ")
}

/// Stretches of the device on which the file lay in the end.
fn pieces(run: &Run) -> Option<u64> {
    run.trials.iter().rev().find_map(|trial| trial.witnesses.pieces)
}

/// The mean of a witness over the measured trials that have it.
fn mean(run: &Run, of: fn(&Witnesses) -> Option<f64>) -> Option<f64> {
    let measured = run.trials.iter().filter(|trial| trial.phase == Phase::Measure);
    let values: Vec<f64> = measured.filter_map(|trial| of(&trial.witnesses)).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Where a network file system's requests spent their time, by the mount's own counters, and what was sent again.
fn on_the_network(run: &Run) -> Option<String> {
    let time = |of| mean(run, of).map(units::time);
    let again: u64 = run.trials.iter().filter_map(|trial| trial.witnesses.network_retransmissions).sum();
    let parts = [
        time(|seen| seen.network_execution_ns).map(|all| format!("a request took {all}")),
        time(|seen| seen.network_queued_ns).map(|queued| format!("{queued} in this machine's queue")),
        time(|seen| seen.network_round_trip_ns).map(|way| format!("{way} to the server and back")),
        (again > 0).then(|| format!("{again} sent again")),
    ];
    let known: Vec<String> = parts.into_iter().flatten().collect();
    (!known.is_empty()).then(|| known.join(", "))
}

/// What the machine did besides, as shares of the time: none of it decides anything, all of it explains.
fn meanwhile(run: &Run) -> Option<String> {
    let share = |of| mean(run, of).map(units::percent);
    let parts = [
        share(|seen| seen.machine_busy_share).map(|busy| format!("processors {busy} busy")),
        share(|seen| seen.softirq_share).map(|served| format!("{served} serving interrupts")),
        share(|seen| seen.steal_share).map(|taken| format!("{taken} taken by a hypervisor")),
        share(|seen| seen.pressure_cpu_some_share)
            .map(|waited| format!("some task waiting for a processor {waited}")),
        share(|seen| seen.pressure_memory_some_share).map(|waited| format!("for memory {waited}")),
        share(|seen| seen.pressure_io_some_share).map(|waited| format!("for I/O {waited} of the time")),
        mean(run, |seen| seen.cpu_frequency_hz).map(|hz| format!("{:.2} GHz", hz / 1e9)),
    ];
    let known: Vec<String> = parts.into_iter().flatten().collect();
    (!known.is_empty()).then(|| known.join(", "))
}

/// The machine that measured, and what it did besides.
pub(crate) fn host_facts(run: &Run) -> Vec<Fact> {
    let mut facts = of_host(&run.info.host);
    facts.extend(told([("While it was measured", meanwhile(run))]));
    facts
}

/// The machine.
pub(crate) fn of_host(host: &Host) -> Vec<Fact> {
    told([
        ("Host", host.name.clone()),
        ("System", host.kernel.clone()),
        ("Processor", host.cpu.clone()),
        ("Processors used", host.cpus.map(|count| count.to_string())),
        ("Memory", host.memory_bytes.map(units::size)),
        ("Virtual machine", host.virtualization.clone()),
        ("On battery", host.on_battery.map(yes_or_no)),
        ("Saving power", host.power.clone()),
        ("Clock", host.clock.clone()),
        ("Generator's ceiling", ceilings(&host.ceilings)),
    ])
}

/// What one worker could do at most: a rate near it would be the generator's, not the storage's.
fn ceilings(ceilings: &[Ceiling]) -> Option<String> {
    let one = |ceiling: &Ceiling| {
        let cached = ceiling
            .cached_iops
            .map_or_else(String::new, |iops| format!("{} IOPS from the page cache, ", units::count(iops)));
        let (size, null) = (units::size(ceiling.block_size_bytes), units::count(ceiling.null_iops));
        format!("{size} with {}: {cached}{null} without storage", ceiling.engine)
    };
    (!ceilings.is_empty()).then(|| ceilings.iter().map(one).collect::<Vec<_>>().join("; "))
}

fn told<const N: usize>(facts: [(&'static str, Option<String>); N]) -> Vec<Fact> {
    facts.into_iter().filter_map(|(label, value)| Some((label, value?))).collect()
}

/// Everything needed to repeat the measurement.
pub(crate) fn method_facts(run: &Run) -> Vec<Fact> {
    let info = &run.info;
    let state = match info.state {
        RunState::Done => "complete",
        RunState::Interrupted => "interrupted",
        RunState::Running => "under way",
        RunState::Failed => "ended by an error",
    };
    let share = |share: f64| (share > 0.0).then(|| units::percent(share));
    told([
        ("Command", Some(info.command.clone())),
        ("Study", Some(info.study.clone())),
        ("Run", Some(format!("{}, {state}", info.id))),
        ("Label", info.label.clone()),
        ("Note", info.note.clone()),
        ("Started", Some(info.started_at.clone())),
        ("Took", Some(units::duration(info.elapsed_s))),
        ("Budget", info.budget_s.map(units::duration)),
        ("Rounds", Some(info.rounds.to_string())),
        ("Precision requested", share(info.precision).map(|p| format!("±{p}"))),
        ("Confidence", share(info.confidence)),
        ("Seed", Some(info.seed.to_string())),
        ("Engine", Some(info.device.engine.clone()).filter(|engine| !engine.is_empty())),
        ("Written", Some(units::decimal_bytes(info.bytes_written))),
        ("iosonde", Some(run.iosonde.clone())),
    ])
}

/// The method in sentences: order, warm-up, intervals, percentiles; of a single workload the warm-up alone.
pub(crate) fn method(run: &Run) -> &'static [&'static str] {
    if is_study(run) { &METHOD } else { &METHOD[..1] }
}

/// Whether a study was run, and not a single workload.
pub(crate) fn is_study(run: &Run) -> bool {
    !run.info.study_source.is_empty()
}

// The warm-up first: it is all of the method that a single workload has.
const METHOD: [&str; 4] = [
    "What completes in the first tenth of a trial (at least 25 ms, at most 5 s) is warm-up and does not count.",
    "Every round visits each open point once in a fresh random order, with a canary among them, so that drift \
     falls on all points alike and is seen.",
    "Rates and mean latencies are fitted on the log scale to points and to the time that all of them share; what \
     is left over, pooled over the points and widened for the correlation from trial to trial, gives the \
     intervals.",
    "The intervals stay honest although a point stops when its interval is narrow enough; percentiles come from \
     the merged histograms of a point's trials, resampled by rounds.",
];
