//! `iosonde doctor`: what can be measured here, and what will get in the way. Writes nothing.

use std::path::Path;

use iosonde_model::{Device, Medium, units};
use iosonde_rig::{clock, engine::ENGINES};

use crate::{
    args::DoctorArgs,
    failure::Failure,
    notebook,
    screen::Screen,
    session::{self, Asked, Options, Session},
};

/// How long the target is watched while nothing of ours runs.
const LOOK_S: f64 = 1.0;

/// Looks at a target.
pub fn run(args: &DoctorArgs, screen: Screen) -> Result<(), Failure> {
    let path = Path::new(&args.target);
    let options = Options {
        time_ns: 0,
        precision: 0.05,
        confidence: 0.95,
        rounds: None,
        size_bytes: None,
        engine: None,
        direct: None,
        // A file or device is only read; in a directory an own file without a name is made, and nothing in it.
        read_only: !path.is_dir(),
        destroy: None,
        seed: 0,
    };
    let asked = Asked { command: "iosonde run quick", writes: false };
    let mut session = session::open(&args.target, &options, asked, &mut notebook::Unwritten)?;
    let mut text = format!("{}   {}\n\n", args.target, iosonde_report::subject(&session.device));
    for (label, fact) in facts(&session) {
        text += &row(label, &fact);
    }
    text += "\nEngines\n";
    for kind in
        ENGINES.iter().filter(|kind| (kind.name() == "sim") == (session.device.medium == Medium::Simulated))
    {
        let state = match kind.probe(&session.bed.storage) {
            Ok(abilities) => format!("works, up to {} in flight", abilities.depth_max),
            Err(why) => why.to_string(),
        };
        text += &row(kind.name(), &state);
    }
    text += "\nIn the way\n";
    let obstacles = obstacles(&mut session);
    if obstacles.is_empty() {
        text += "  nothing that could be seen in one second\n";
    }
    for obstacle in obstacles {
        text += &format!("  ? {obstacle}\n");
    }
    text += &format!(
        "\nMeasure it:  iosonde run quick {}{}\n",
        args.target,
        if path.is_dir() { "" } else { " --read-only" }
    );
    screen.result(&text)
}

fn row(label: &str, fact: &str) -> String {
    format!("  {label:16} {fact}\n")
}

fn facts(session: &Session) -> Vec<(&'static str, String)> {
    let Device { file_system, mount_options, model, link, scheduler, write_cache, .. } = &session.device;
    let device = &session.device;
    let host = &session.host;
    let block = device.logical_block_bytes.map(|logical| {
        let physical = device.physical_block_bytes.unwrap_or(logical);
        format!("{} logical, {} physical", units::size(logical), units::size(physical))
    });
    let chain = (!device.chain.is_empty()).then(|| device.chain.join(" on "));
    let direct = match (device.direct, device.direct_alignment_bytes) {
        (true, Some(unit)) => format!("yes, in multiples of {}", units::size(unit)),
        (true, None) => "yes".into(),
        (false, _) => "no".into(),
    };
    let facts = [
        ("file system", file_system.clone()),
        ("mounted with", mount_options.clone()),
        ("block devices", chain),
        ("model", model.clone()),
        ("link", link.clone()),
        ("size", device.size_bytes.map(units::size)),
        ("blocks", block),
        ("scheduler", scheduler.clone()),
        ("write cache", write_cache.clone()),
        ("direct I/O", Some(direct)),
        ("room", Some(units::size(session.room_bytes))),
        ("memory", host.memory_bytes.map(units::size)),
        ("processors", host.cpus.map(|n| n.to_string())),
        ("kernel", host.kernel.clone()),
        ("clock", host.clock.clone()),
    ];
    facts.into_iter().filter_map(|(label, fact)| Some((label, fact?))).collect()
}

/// What will get in the way: what cannot be seen, what falls back, and what others do meanwhile.
fn obstacles(session: &mut Session) -> Vec<String> {
    let mut out = session.device.notes.clone();
    if let Some(unseen) = &session.device.unseen {
        out.push(format!("what cannot be seen through: {unseen}"));
    }
    if session.device.medium == Medium::Memory {
        out.push("this is memory, not storage".into());
    }
    let Some(watch) = &mut session.bed.watch else { return out };
    watch.before();
    clock::sleep_s(LOOK_S);
    let seen = watch.after(Default::default());
    let others_bytes = seen.block_layer_read_bytes.unwrap_or(0) + seen.block_layer_write_bytes.unwrap_or(0);
    // 1 MB/s: less than 1 % of anything that is worth measuring.
    if others_bytes > 1_000_000 {
        out.push(format!("others moved {} on this device in one second", units::decimal_bytes(others_bytes)));
    }
    // 10 %: a tenth of the processors busy is more than an idle machine's housekeeping.
    if let Some(busy) = seen.machine_busy_share.filter(|&share| share > 0.1) {
        out.push(format!("the processors are {} busy with other work", units::percent(busy)));
    }
    if let Some(steal) = seen.steal_share.filter(|&share| share > 0.01) {
        out.push(format!("the hypervisor takes {} of the processors", units::percent(steal)));
    }
    out.extend(seen.absent.into_iter().map(|why| format!("no witness: {why}")));
    out
}
