//! A target, admitted and ready to be measured: what it is, what measures it, and what must be said of it.

use std::{
    fs::File,
    io,
    path::Path,
    sync::{Arc, atomic::AtomicBool},
};

use iosonde_hosts::Deed;
use iosonde_model::{Device, DeviceNote, HidingLayer, Host, HostLayout, Medium, RunHost, TrialSpec, units};
use iosonde_rig::{
    drive::Limits,
    engine::{self, SharedDevice, Storage},
    guard::{self, Admitted, Intent, OwnFiles, Protected, StrayRecorder, Target, Writes, marker},
    placement::Placement,
    platform, prepare,
    trial::{Bed, FinishedTrial, Order},
    witness::Watch,
};
use iosonde_sim::{Device as SimulatedDevice, DeviceFile, DeviceParameter};
use iosonde_store::{TEXT_BYTES_MAX, read_text};

use crate::{
    failure::{Failure, in_words},
    hosts::{Hosts, failure_of},
    layout::Sharing,
    options::Options,
};

pub mod fits;

/// A target ready to be measured.
pub struct Session {
    /// Where trials run.
    pub bed: Bed,
    /// Description of the storage; the working set is known only after preparation.
    pub device: Device,
    /// The machine.
    pub host: Host,
    /// Identity of a file, which tells it from a later file of the same name.
    pub identity: Option<String>,
    /// Whether it must be filled before it is read.
    pub fill: bool,
    /// The most that may be prepared: free space, or the size of what is there.
    pub room_bytes: u64,
    /// How many times larger the storage is than what stands for it: above 1 for a simulated device that is scaled.
    pub scale: f64,
    /// Whether requests through a page cache differ here from others.
    pub has_page_cache: bool,
    /// Whether the next trial is buffered where the others use direct I/O.
    buffered: bool,
    /// Keeps the descriptor and the own file.
    pub admitted: Option<Admitted>,
    /// The hosts that measure it at the same time.
    pub hosts: Hosts,
    /// How they share it.
    pub sharing: Sharing,
    /// Block size and jobs of the turns in which data is written, where other hosts' turns are read.
    pub turns: Option<(u64, u32)>,
    /// What each of them has there; empty where this one is alone.
    pub members: Vec<RunHost>,
}

impl Session {
    /// Requested size of the prepared area. Sizes on the command line are sizes of the whole device.
    pub fn asked_bytes(&self, options: &Options, default_bytes: u64) -> u64 {
        match options.size_bytes {
            Some(exact_bytes) if options.exact_size => exact_bytes,
            Some(typed_bytes) => (typed_bytes as f64 / self.scale).round() as u64,
            None => default_bytes,
        }
    }

    /// Leaves direct I/O for the trials that ask for the page cache, and comes back to it.
    pub fn go_through_page_cache(&mut self, buffered: bool) -> Result<(), Failure> {
        let Some(admitted) = &self.admitted else { return Ok(()) };
        if !self.device.direct || buffered == self.buffered {
            return Ok(());
        }
        // What a buffered trial left dirty would be written beside the next one.
        self.bed
            .settle()
            .map_err(|e| Failure::failed(format!("{}: cannot be flushed: {e}", admitted.path.display())))?;
        self.bed.files().try_for_each(|file| guard::set_direct(file, !buffered))?;
        self.buffered = buffered;
        self.hosts.share(Deed::PageCache(buffered)).map_err(failure_of)
    }

    /// Runs a trial on all hosts.
    pub fn run(&mut self, order: &Order, own: &[Limits], stop: &AtomicBool) -> io::Result<FinishedTrial> {
        self.hosts.run(&mut self.bed, order, own, stop)
    }

    /// Waits until everything written is on the storage, on all hosts.
    pub fn settle(&self) -> io::Result<()> {
        self.bed.settle()?;
        self.hosts.share(Deed::Settle)
    }

    /// Addresses so many bytes from now on, on this host.
    pub fn address(&mut self, bytes: u64) {
        self.device.working_set_bytes = bytes;
        let addressed = self.bed.place.placement.covered_bytes(0..bytes);
        if let Some(watch) = &mut self.bed.watch {
            watch.set_span(addressed.clone());
        }
        self.bed.place.addressed = addressed;
    }

    /// The parts of hosts lie so many bytes apart from now on, on this host.
    pub fn lie_apart(&mut self, bytes: u64) {
        self.bed.place.placement.part_bytes = bytes;
    }

    /// The parts of hosts lie so many bytes apart from now on, on all hosts.
    pub fn lie_apart_on_all(&mut self, bytes: u64) -> Result<(), Failure> {
        self.lie_apart(bytes);
        self.hosts.share(Deed::Apart(bytes)).map_err(failure_of)
    }

    /// Takes its place among the hosts of the run.
    pub fn take_place(&mut self, sharing: &Sharing, rank: u32) -> Result<(), Failure> {
        self.bed.place.placement = sharing.placement(rank);
        let more = self.admitted.iter().flat_map(|admitted| &admitted.more);
        self.bed.place.more = more.map(|own| Arc::clone(own.file())).collect();
        if self.device.direct {
            self.bed.place.more.iter().try_for_each(|file| guard::set_direct(file, true))?;
        }
        self.device.layout = sharing.layout;
        self.device.worker_files = (sharing.files > 1).then_some(sharing.files);
        self.device.rotated = sharing.rotate;
        self.sharing = sharing.clone();
        Ok(())
    }

    /// Notes the turns of the workloads where hosts read each other's: all workloads have the same then.
    pub fn take_turns<'a>(&mut self, specs: impl Iterator<Item = &'a TrialSpec>) {
        let Placement { layout, rotate, .. } = self.bed.place.placement;
        if rotate && layout == HostLayout::SharedStrided {
            self.turns = specs.last().map(|spec| (spec.block_size_bytes, spec.jobs));
        }
    }

    /// Opens the files of the next host, where reads go there.
    pub fn meet(&mut self) -> Result<(), Failure> {
        let rank = self.bed.place.placement.rank;
        let (Some((maker, names)), Some(admitted)) = (self.sharing.next_files(rank), &self.admitted) else {
            return Ok(());
        };
        let files = guard::files_of_another(&admitted.path, names, maker).map_err(Failure::usage)?;
        for file in files {
            if self.device.direct {
                guard::set_direct(&file, true)?;
            }
            self.bed.place.next.push(Arc::new(file));
        }
        Ok(())
    }

    /// Areas that are filled and addressed: one for each host that has its own.
    pub fn areas(&self) -> u32 {
        if self.bed.place.placement.layout.separates_hosts() { self.hosts.count() } else { 1 }
    }

    /// Proves that all hosts see one storage, where they share it; returns the bytes that were written for that.
    pub fn prove_shared(&mut self) -> Result<u64, Failure> {
        if !self.sharing.needs_proof() {
            return Ok(0);
        }
        let (storage, direct) = (&self.bed.storage, self.device.direct);
        let target =
            self.admitted.as_ref().map_or_else(String::new, |admitted| admitted.path.display().to_string());
        let fail =
            |error| Failure::failed(format!("{target}: the marker for the other hosts failed: {error}"));
        let (mut written_bytes, mut length_bytes) = (0, self.room_bytes);
        if self.device.writable {
            marker::write(storage, direct, rand::random()).map_err(fail)?;
            written_bytes = u64::from(marker::BLOCK_BYTES);
            length_bytes = written_bytes;
        }
        let digest = marker::digest(storage, direct, length_bytes).map_err(fail)?;
        self.hosts.share(Deed::See { length_bytes, digest }).map_err(failure_of)?;
        Ok(written_bytes)
    }

    /// Refuses storage that is not what host 0 has before it.
    pub fn see(&self, length_bytes: u64, digest: u64) -> Result<(), Failure> {
        let path =
            self.admitted.as_ref().map_or_else(String::new, |admitted| admitted.path.display().to_string());
        match marker::is_seen(&self.bed.storage, self.device.direct, length_bytes, digest) {
            Ok(true) => Ok(()),
            Ok(false) if self.device.writable => {
                Err(Failure::usage(format!("does not see what host 0 wrote to {path}: not the same storage")))
            }
            Ok(false) => Err(Failure::usage(format!(
                "reads other data from {path} than host 0 does: not the same storage"
            ))),
            Err(error) => {
                Err(Failure::failed(format!("{path}: the marker of host 0 cannot be read: {error}")))
            }
        }
    }

    /// Addresses so many bytes from now on, on all hosts.
    pub fn address_on_all(&mut self, bytes: u64) -> Result<(), Failure> {
        self.address(bytes);
        self.hosts.share(Deed::Address(bytes)).map_err(failure_of)
    }
}

/// Opens a target on this host.
pub fn open_here(
    text: &str,
    options: &Options,
    asked: Asked,
    strays: &mut dyn StrayRecorder,
) -> Result<Session, Failure> {
    let target = Target::parse(text).map_err(|refusal| Failure::usage(refusal.for_command(asked.command)))?;
    let mut session = match &target {
        Target::Simulated(name) => simulated(name, &device_file(name)?, options),
        target => real(target, options, asked, strays),
    }?;
    if let Some((sharing, rank)) = asked.place {
        session.take_place(sharing, rank)?;
    }
    Ok(session)
}

/// Refuses a target that is not there or is no storage, before anything else is opened or made for it.
pub fn check_target(text: &str, command: &str) -> Result<(), Failure> {
    match Target::parse(text).map_err(|refusal| Failure::usage(refusal.for_command(command)))? {
        Target::Simulated(name) => device_file(&name).map(drop),
        _ => Ok(()),
    }
}

/// Who opens a target.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The command, for advice that can be typed: `iosonde run quick`.
    pub command: &'a str,
    /// Whether it writes to the target, beyond preparing it.
    pub writes: Writes,
    /// What the run needs beside the target: its notebook, study and results.
    pub apart: &'a [Protected],
    /// Most workers of any workload.
    pub workers: u32,
    /// Number of this host, and how it shares the target with the others; `None` for one host.
    pub place: Option<(&'a Sharing, u32)>,
}

/// The text of a simulated device: a built-in one, or a file's.
pub fn device_file(name: &str) -> Result<DeviceFile, Failure> {
    let text = if name.ends_with(".toml") {
        read_text(Path::new(name), TEXT_BYTES_MAX).map_err(|e| {
            Failure::usage(format!("the simulated device {name} cannot be read: {}", in_words(&e)))
        })?
    } else {
        let unknown = |unknown| {
            Failure::usage(format!(
                "{unknown}\n  iosonde devices lists them; a file of your own ends in .toml"
            ))
        };
        iosonde_sim::builtin(name).map_err(unknown)?.to_owned()
    };
    DeviceFile::parse_with(&text, name, &|member| member_text(name, member)).map_err(Failure::usage)
}

/// The text of an array's member: a built-in device, or a file whose path begins where the array's own file lies.
fn member_text(array: &str, member: &str) -> Result<String, String> {
    if !member.ends_with(".toml") {
        return iosonde_sim::builtin(member).map(str::to_owned).map_err(|unknown| unknown.to_string());
    }
    let path = Path::new(array).parent().unwrap_or(Path::new("")).join(member);
    read_text(&path, TEXT_BYTES_MAX).map_err(|error| format!("{} cannot be read: {error}", path.display()))
}

/// Opens a simulated device, which begins as new.
pub fn simulated(name: &str, file: &DeviceFile, options: &Options) -> Result<Session, Failure> {
    // A state is written to all that is prepared: of a large device more than there is memory for.
    let written_bytes = options.state.and(options.size_bytes).filter(|_| !options.exact_size).unwrap_or(0);
    let file = &file.written_to(written_bytes).map_err(Failure::usage)?;
    let inside = SimulatedDevice::new(file, options.seed);
    refuse_what_it_lacks(name, &inside, options)?;
    let capacity_bytes = inside.capacity_bytes();
    let has_page_cache = inside.resident_bytes(0..4096).is_some();
    let bed = Bed::simulated(SharedDevice::new(inside));
    let chosen = engine::choose(&bed.storage, options.engine.as_deref()).map_err(Failure::usage)?;
    let mut device = Device::unknown("simulated", capacity_bytes);
    device.name = Some(name.to_owned());
    device.description = Some(file.summary().to_owned()).filter(|summary| !summary.is_empty());
    device.burst_credit = file.has_burst_credit().then_some(true);
    device.size_bytes = Some(capacity_bytes);
    device.medium = Medium::Simulated;
    device.engine = chosen.name;
    device.direct = options.direct.unwrap_or(true);
    device.logical_block_bytes = Some(512);
    device.writable = !options.read_only;
    device.new_files = true;
    let steady =
        |parameter: &&DeviceParameter| parameter.key == "flash.state" && parameter.value.contains("steady");
    device.state = file.parameters().iter().find(steady).map(|_| "steady".to_owned());
    // What a system in front of such storage would know of it, and no more.
    let has = |section: &str| file.parameters().iter().any(|parameter| parameter.key.starts_with(section));
    device.rotational = has("disk.").then_some(true).or_else(|| has("flash.").then_some(false));
    device.unseen.extend(has("network.").then_some(HidingLayer::Server));
    let host =
        Host { clock: Some(bed.clock.describe()), memory_bytes: file.memory_bytes(), ..Host::default() };
    let whole_bytes = file.scale().map(|scale| (capacity_bytes as f64 * scale).round() as u64);
    let smaller = |whole_bytes| DeviceNote::SimulatedSmaller { simulated_bytes: capacity_bytes, whole_bytes };
    device.notes.extend(whole_bytes.map(smaller));
    let mut session = Session {
        bed,
        device,
        host,
        identity: None,
        fill: false,
        room_bytes: capacity_bytes,
        scale: file.scale().unwrap_or(1.0),
        has_page_cache,
        buffered: false,
        admitted: None,
        hosts: Hosts::alone(),
        sharing: Sharing::default(),
        turns: None,
        members: Vec::new(),
    };
    let working_set_bytes = session.asked_bytes(options, prepare::DEFAULT_SIZE_BYTES).min(capacity_bytes);
    refuse_a_crumb(&format!("sim:{name}"), working_set_bytes)?;
    session.device.working_set_bytes = working_set_bytes;
    Ok(session)
}

/// Options that have nothing to act on in a simulated device.
fn refuse_what_it_lacks(name: &str, device: &SimulatedDevice, options: &Options) -> Result<(), Failure> {
    if options.destroy.is_some() {
        return Err(Failure::usage(format!(
            "sim:{name} is simulated and holds nothing to destroy; leave --destroy out"
        )));
    }
    if options.direct == Some(false) && device.resident_bytes(0..4096).is_none() {
        return Err(Failure::usage(format!(
            "sim:{name} has no page cache for --buffered to go through; leave it out, or give the device's file \
             `page_cache = true`, `memory` and `copy_rate` under [host]"
        )));
    }
    Ok(())
}

fn real(
    target: &Target,
    options: &Options,
    asked: Asked,
    strays: &mut dyn StrayRecorder,
) -> Result<Session, Failure> {
    let own = asked.place.map_or(OwnFiles::ONE, |(sharing, rank)| sharing.own_files(rank));
    let beside_host0 = asked.place.is_some_and(|(_, rank)| rank > 0);
    let protected = protected(target, asked.apart);
    let intent = Intent { protected, own, beside_host0, ..options.intent(asked.writes) };
    let admitted = guard::admit(target, &intent, strays)
        .map_err(|refusal| Failure::usage(refusal.for_command(asked.command)))?;
    let mut device = platform::describe(&admitted.file, &admitted.path, admitted.kind);
    device.writable = admitted.writable;
    device.asked_size_bytes = options.size_bytes;
    device.notes.extend(admitted.notes.iter().cloned());
    device.notes.extend(idle_word(&admitted, options));
    device.direct = choose_direct(&admitted, options, &mut device)?;
    let storage = Storage::File(Arc::clone(&admitted.file));
    let chosen = engine::choose(&storage, options.engine.as_deref()).map_err(Failure::usage)?;
    device.notes.extend(chosen.note.map(DeviceNote::Loop));
    device.engine = chosen.name;
    let room_bytes = admitted.room_bytes.unwrap_or(admitted.size_bytes);
    device.working_set_bytes = options.size_bytes.unwrap_or(u64::MAX).min(room_bytes);
    refuse_a_crumb(&admitted.path.display().to_string(), device.working_set_bytes)?;
    device.notes.extend(holes(&admitted, device.working_set_bytes));
    let watch = Watch::open(&admitted.file, &device, 0..device.working_set_bytes);
    let mut bed = Bed::real(storage, watch);
    let folder = admitted.own.as_ref().and_then(|own| own.folder());
    bed.folder = folder.map(File::try_clone).transpose().map_err(Failure::failed)?;
    device.new_files = bed.folder.is_some();
    let mut host = platform::host();
    host.clock = Some(bed.clock.describe());
    Ok(Session {
        bed,
        device,
        host,
        identity: identity(&admitted),
        fill: admitted.writable,
        room_bytes,
        scale: 1.0,
        has_page_cache: true,
        buffered: false,
        admitted: Some(admitted),
        hosts: Hosts::alone(),
        sharing: Sharing::default(),
        turns: None,
        members: Vec::new(),
    })
}

/// What is never written to: what the run needs, this program, and any notebook.
fn protected(target: &Target, apart: &[Protected]) -> Vec<Protected> {
    let program =
        std::env::current_exe().ok().map(|path| Protected { path, what: "this program, which is running" });
    let notebook = target.path().filter(|path| iosonde_store::is_notebook(path));
    let notebook =
        notebook.map(|path| Protected { path: path.to_owned(), what: "one of iosonde's notebooks of runs" });
    apart.iter().cloned().chain(program).chain(notebook).collect()
}

/// An inode's number comes back with the next file; its time of birth does not. A block device gives its identity
/// each time that it is opened for writing.
fn identity(admitted: &Admitted) -> Option<String> {
    if admitted.kind != guard::TargetKind::File {
        return None;
    }
    let found = admitted.file.metadata().ok()?;
    let born = found.created().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let (device, number) = platform::identity_of(&admitted.file).ok()?;
    Some(format!("{device}:{number}:{}", born.map_or(0, |since| since.as_nanos())))
}

/// A word to overwrite that has nothing to do.
fn idle_word(admitted: &Admitted, options: &Options) -> Option<DeviceNote> {
    options.destroy.as_ref()?;
    if options.read_only {
        return Some(DeviceNote::ReadOnlyWins);
    }
    admitted.own.is_some().then_some(DeviceNote::NothingToDestroy)
}

/// Less than 1 MiB is not storage that anybody asks about, and it is the unit of filling.
fn refuse_a_crumb(target: &str, bytes: u64) -> Result<(), Failure> {
    if bytes >= prepare::FILL_BLOCK_BYTES {
        return Ok(());
    }
    let size = units::size(bytes);
    Err(Failure::usage(format!(
        "{target}: {size} are too little to measure; 1 MiB is the least (--size, or a larger file)"
    )))
}

/// What of an existing file was never written: reading that moves nothing, whatever the clock says.
fn holes(admitted: &Admitted, working_set_bytes: u64) -> Option<DeviceNote> {
    // What may be written is filled before anything is read.
    if admitted.own.is_some() || admitted.writable || working_set_bytes == 0 {
        return None;
    }
    let unmapped_bytes = platform::unmapped_bytes(&admitted.file, 0..working_set_bytes)?;
    (unmapped_bytes > 0).then_some(DeviceNote::Holes { unmapped_bytes, file_bytes: working_set_bytes })
}

/// Direct I/O wherever it is to be had and not forbidden; says so where it is not.
fn choose_direct(admitted: &Admitted, options: &Options, device: &mut Device) -> Result<bool, Failure> {
    if options.direct == Some(false) {
        device.notes.push(DeviceNote::BufferedAsAsked);
        return Ok(false);
    }
    let path = admitted.path.display();
    match guard::direct_ability(&admitted.file) {
        Ok(Some(ability)) => {
            guard::set_direct(&admitted.file, true)?;
            device.direct_alignment_bytes = Some(u64::from(ability.offset_alignment_bytes));
            Ok(true)
        }
        Ok(None) | Err(_) if options.direct != Some(true) => {
            device.notes.push(DeviceNote::NoDirectIo);
            Ok(false)
        }
        Ok(None) => Err(Failure::usage(format!(
            "{path} does not offer direct I/O; leave --direct out to measure buffered"
        ))),
        Err(why) => Err(Failure::usage(format!(
            "{path} does not offer direct I/O ({why}); leave --direct out to measure buffered"
        ))),
    }
}
