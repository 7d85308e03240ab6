//! `iosonde doctor`: what can be measured here, and what will get in the way. Writes nothing.
//!
//! A target that cannot be measured is what a doctor is for: it is described, and what to do is said. Only one that
//! does not exist is the user's mistake.

use std::{io, path::Path, sync::Arc};

use iosonde_infer::slow::{self, Slow};
use iosonde_model::{Device, Medium, Phase, Trial, TrialSpec, Witnesses, units};
use iosonde_rig::{
    ceiling, clock,
    engine::{ENGINES, EngineOption, Storage},
    guard::{self, Intent, Target, Writes},
    platform::{self, Layer, TargetKind},
};

use self::facts::{below, condition, itself, row, rows};
use crate::{
    args::DoctorArgs,
    failure::Failure,
    notebook,
    options::Options,
    screen::Screen,
    session::{self, Asked, Session},
};

mod facts;

/// How long the target is watched while nothing of ours runs.
const LOOK_S: f64 = 1.0;
/// What the advice is to be typed behind.
const COMMAND: &str = "iosonde run quick";

/// Looks at a target.
pub fn run(args: &DoctorArgs, screen: Screen) -> Result<(), Failure> {
    let target = &args.target;
    let seen = match Target::parse(target) {
        Err(refusal) if is_missing(target) => {
            return Err(Failure::usage(refusal.for_command(COMMAND)));
        }
        // A simulated device that does not exist is a name mistyped.
        Ok(Target::Simulated(name)) => session::device_file(&name).map(|_| None)?,
        _ => look(target),
    };
    let kind = seen.as_ref().map(|(kind, ..)| *kind);
    let mut session = open(target, kind);
    let device = session.as_ref().map_or_else(
        |_| seen.as_ref().map(|(_, device, _)| device.clone()),
        |session| Some(session.device.clone()),
    );
    let witnessed = session.as_mut().ok().and_then(watched);
    let mut text = format!("{target}\n");
    if let Some(device) = &device {
        text += &described(device, seen.as_ref(), session.as_ref().ok());
        let condition = condition(device, witnessed.as_ref());
        if !condition.is_empty() {
            text += &rows("Condition", condition);
        }
        text += &machine(session.as_ref().ok(), witnessed.as_ref());
        text += &engines(session.as_ref().ok());
        text += &ceilings(target, session.as_ref().ok());
    }
    text += &measurable(target, kind, &session);
    if let Ok(session) = &session {
        text += &why_slow(session, witnessed.clone());
        text += &in_the_way(session, witnessed);
        let option =
            if matches!(kind, Some(TargetKind::File | TargetKind::Block)) { " --read-only" } else { "" };
        text += &format!("\nMeasure it:  {COMMAND} {}{option}\n", guard::quoted(Path::new(target)));
    }
    screen.result(&text)
}

/// Whether nothing is there; what cannot be reached for another reason may well be.
fn is_missing(target: &str) -> bool {
    let found = std::fs::metadata(target).map_err(|error| error.kind());
    matches!(found, Err(io::ErrorKind::NotFound | io::ErrorKind::NotADirectory))
}

/// What the kernel tells of a directory, file or block device, readable or not.
fn look(target: &str) -> Option<(TargetKind, Device, Vec<Layer>)> {
    let path = Path::new(target);
    let kind = platform::kind(path, std::fs::metadata(path).ok()?.file_type()).ok()?;
    let (device, layers) = platform::look(path, kind).ok()?;
    Some((kind, device, layers))
}

/// As a run would open it, only to read: in a directory an own file without a name is made, and nothing in it.
fn open(target: &str, kind: Option<TargetKind>) -> Result<Session, Failure> {
    let options = Options {
        time_ns: 0,
        precision: 0.05,
        confidence: 0.95,
        rounds: None,
        size_bytes: None,
        engine: None,
        direct: None,
        read_only: matches!(kind, Some(TargetKind::File | TargetKind::Block)),
        destroy: None,
        destroyed: None,
        seed: 0,
        order_seed: None,
        state: None,
        max_write_bytes: None,
        exact_size: false,
        hosts: None,
        layout: None,
        rotate: false,
        additions: Vec::new(),
    };
    let asked = Asked { command: COMMAND, writes: Writes::None, apart: &[], workers: 1, place: None };
    session::open_here(target, &options, asked, &mut notebook::Unwritten)
}

/// The target by itself, and what lies below it by itself.
fn described(
    device: &Device,
    seen: Option<&(TargetKind, Device, Vec<Layer>)>,
    session: Option<&Session>,
) -> String {
    let (kind, layers) = seen.map_or((None, &[][..]), |(kind, _, layers)| (Some(*kind), &layers[..]));
    let mut text = rows(heading(kind), itself(device, kind, layers.first(), session));
    let lower = if kind == Some(TargetKind::Block) { layers.get(1..).unwrap_or_default() } else { layers };
    if !lower.is_empty() {
        text += &rows("Layers below", lower.iter().map(|layer| (layer.name.clone(), below(layer))));
    }
    text
}

fn heading(kind: Option<TargetKind>) -> &'static str {
    match kind {
        Some(TargetKind::Directory) => "The directory",
        Some(TargetKind::File) => "The file",
        Some(TargetKind::Block) => "The device",
        None => "The simulated device",
    }
}

fn machine(session: Option<&Session>, seen: Option<&Witnesses>) -> String {
    // Without a session no clock was chosen.
    let host = session.map_or_else(platform::host, |session| session.host.clone());
    let frequency_hz = seen.and_then(|seen| seen.cpu_frequency_hz);
    let battery = |on: bool| if on { "yes: processors and links may be slowed" } else { "no" };
    let facts = [
        ("memory", host.memory_bytes.map(units::size)),
        ("processors", host.cpus.map(|n| n.to_string())),
        ("kernel", host.kernel),
        ("virtual machine", host.virtualization),
        ("clock", host.clock),
        ("frequency", frequency_hz.map(|hz| format!("{:.2} GHz", hz / 1e9))),
        ("power", host.power),
        ("on battery", host.on_battery.map(|on| battery(on).to_owned())),
    ];
    let known = facts.into_iter().filter_map(|(label, fact)| Some((label.to_owned(), fact?)));
    rows("The machine", known)
}

fn engines(session: Option<&Session>) -> String {
    let simulated = session.is_some_and(|session| session.device.medium == Medium::Simulated);
    // Whether an engine works hardly depends on the file: an empty one tells where the target cannot be opened.
    let stand_in = || platform::nothing().map(|file| Storage::File(Arc::new(file)));
    let spare = if session.is_none() { stand_in().ok() } else { None };
    let Some(storage) = session.map(|session| &session.bed.storage).or(spare.as_ref()) else {
        return String::new();
    };
    let kinds = ENGINES.iter().filter(|kind| (kind.name() == "sim") == simulated);
    let states = kinds.map(|kind| {
        let state = match kind.probe(storage) {
            Ok(abilities) => {
                let works = |option: &&EngineOption| kind.probe_options(storage, &[option.name]).is_ok();
                let options: Vec<_> = kind.options().iter().filter(works).map(|option| option.name).collect();
                let with = match &options[..] {
                    [] => String::new(),
                    [one] => format!("; option {one}"),
                    some => format!("\noptions {}", some.join(", ")),
                };
                format!("works, queue depth up to {}{with}", abilities.depth_max)
            }
            Err(why) => why.to_string(),
        };
        (kind.name().to_owned(), state)
    });
    rows("Engines", states)
}

/// What one worker could generate at most, without the storage: measured in a second.
fn ceilings(target: &str, session: Option<&Session>) -> String {
    let Some(session) = session.filter(|session| session.device.medium != Medium::Simulated) else {
        return String::new();
    };
    let (engine, temporary) = (&session.device.engine, std::env::temp_dir());
    let folder = if Path::new(target).is_dir() { Path::new(target) } else { temporary.as_path() };
    // The smallest block of direct I/O almost everywhere, and the one that most is measured with.
    let measured = [512, 4096].map(|bytes| ceiling::measure(engine, bytes, Some(folder)));
    let known = measured.into_iter().filter_map(Result::ok).map(|ceiling| {
        let cached = ceiling
            .cached_iops
            .map_or_else(String::new, |iops| format!("{} IOPS from the page cache, ", units::count(iops)));
        let own = ceiling
            .user_ns_per_io
            .map_or_else(String::new, |ns| format!(" ({ns:.0} ns of CPU in user mode each)"));
        let text = format!("{cached}{} IOPS without storage{own}", units::count(ceiling.null_iops));
        (units::size(ceiling.block_size_bytes), text)
    });
    rows(&format!("Maximum of one worker with {engine}"), known)
}

/// Reading and writing: whether a run could do it, and if not what to do.
fn measurable(target: &str, kind: Option<TargetKind>, session: &Result<Session, Failure>) -> String {
    let mut text = String::from("\nWhat can be measured\n");
    let session = match session {
        Ok(session) => session,
        Err(refused) => return text + &row("nothing", &refused.text),
    };
    let room = units::size(session.room_bytes);
    match kind {
        Some(TargetKind::Directory) => {
            let file = format!("yes, in a temporary file of up to {room}");
            text += &row("reads and writes", &file);
        }
        Some(TargetKind::File | TargetKind::Block) => {
            text += &row("reads", "yes, with --read-only");
            text += &row("writes", &writing(target));
        }
        None => text += &row("reads and writes", "yes, in simulated time"),
    }
    text
}

/// What stands against writing to a file or device that is there.
fn writing(target: &str) -> String {
    let intent = Intent::of(Writes::Optional);
    // Without the word `--destroy` the guard never opens anything for writing: it says what would be needed.
    match Target::parse(target).and_then(|target| guard::admit(&target, &intent, &mut notebook::Unwritten)) {
        Ok(_) => "yes".into(),
        Err(refusal) => refusal.for_command(COMMAND).to_string(),
    }
}

/// Causes that may make the storage slower than it could be, the surest first.
fn why_slow(session: &Session, seen: Option<Witnesses>) -> String {
    let reading =
        seen.map(|witnesses| Trial { witnesses, ..Trial::blank(TrialSpec::default(), Phase::Measure) });
    let causes = slow::causes_before(&session.device, &session.host, reading.as_ref());
    if causes.is_empty() {
        return String::new();
    }
    let line =
        |(place, cause): (usize, &Slow)| format!("  {}. {}\n", place + 1, iosonde_report::text::slow(cause));
    let lines: String = causes.iter().enumerate().map(line).collect();
    format!("\nWhy it may be slow\n{lines}")
}

/// What cannot be seen, what falls back, and what others do meanwhile.
fn in_the_way(session: &Session, seen: Option<Witnesses>) -> String {
    let mut obstacles: Vec<String> = session.device.notes.iter().map(iosonde_report::note).collect();
    let hidden = iosonde_report::text::hidden_by(&session.device.unseen);
    obstacles.extend(hidden.map(|layers| format!("not visible from here: {layers}")));
    if session.device.medium == Medium::Memory {
        obstacles.push("this is memory, not storage".into());
    }
    let simulated = session.device.medium == Medium::Simulated;
    obstacles.extend(seen.into_iter().flat_map(|seen| others(session, seen)));
    let mut text = String::from("\nPossible disturbances\n");
    if obstacles.is_empty() {
        text += if simulated { "  none\n" } else { "  none seen in one second\n" };
    }
    obstacles.iter().for_each(|obstacle| text += &format!("  ? {obstacle}\n"));
    text
}

/// What the witnesses see while nothing of ours runs; a simulated device has none.
fn watched(session: &mut Session) -> Option<Witnesses> {
    let watch = session.bed.watch.as_mut()?;
    watch.before();
    clock::sleep_s(LOOK_S);
    Some(watch.after(Witnesses::default()))
}

/// What others do with the device and the machine meanwhile.
fn others(session: &Session, seen: Witnesses) -> Vec<String> {
    let mut out = Vec::new();
    let others_bytes = seen.block_layer_read_bytes.unwrap_or(0) + seen.block_layer_write_bytes.unwrap_or(0);
    // 1 MB/s: less than 1 % of anything that is worth measuring.
    if others_bytes > 1_000_000 {
        let disk = session.device.name.as_deref().unwrap_or("this device");
        out.push(format!(
            "other programs moved {} on {disk} in one second",
            units::decimal_bytes(others_bytes)
        ));
    }
    // 10 %: more than the background work of an idle machine.
    if let Some(busy) = seen.machine_busy_share.filter(|&share| share > 0.1) {
        out.push(format!("the processors are {} busy with other work", units::percent(busy)));
    }
    if let Some(steal) = seen.steal_share.filter(|&share| share > 0.01) {
        out.push(format!("the hypervisor takes {} of the processors", units::percent(steal)));
    }
    out.extend(seen.absent.iter().map(|why| format!("no witness: {}", iosonde_report::text::absence(why))));
    out
}
