//! Layouts on real files: hosts on threads fill one file together, or find out that it is not the same one.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
    thread,
};

use iosonde_hosts::{
    Cannot, Coordinator, Deed, Leader, Opening, Refused, ThreadLink, Workplace, follow, links,
};
use iosonde_model::{HostLayout, Phase, RunHost, Rw, TrialSpec};
use iosonde_rig::{
    clock::Clock,
    drive::Limits,
    engine::Storage,
    guard::{StrayRecorder, marker},
    placement::{Place, Placement},
    stall::StallWatch,
    trial::{Bed, Order},
};

const HOSTS: u32 = 3;
const PART_BYTES: u64 = 4 << 20;

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

fn bed(path: &Path, placement: Placement) -> Bed {
    let file = File::options().read(true).write(true).create(true).truncate(false).open(path).unwrap();
    let place = Place { placement, ..Place::default() };
    Bed { storage: Storage::File(Arc::new(file)), watch: None, clock: Clock::real(), folder: None, place }
}

/// A host that has a file at this path.
struct Host {
    rank: u32,
    path: PathBuf,
    placement: Placement,
    bed: Option<Bed>,
}

impl Workplace for Host {
    fn open(&mut self, _: &Opening, _: &mut dyn StrayRecorder) -> Result<RunHost, Cannot> {
        self.bed = Some(bed(&self.path, Placement { rank: self.rank, ..self.placement }));
        Ok(RunHost { rank: self.rank, name: format!("node{}", self.rank), ..RunHost::default() })
    }

    fn bed(&mut self) -> Option<&mut Bed> {
        self.bed.as_mut()
    }

    fn share(&mut self, deed: &Deed) -> Result<(), Cannot> {
        let (Deed::See { length_bytes, digest }, Some(bed)) = (deed, &self.bed) else { return Ok(()) };
        match marker::is_seen(&bed.storage, false, *length_bytes, *digest) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Cannot { why: "not the same storage".into(), usage: true }),
            Err(error) => Err(Cannot { why: error.to_string(), usage: false }),
        }
    }

    fn watch(&self, _: Phase) -> Option<StallWatch> {
        None
    }
}

/// Rank 0 of hosts with files at these paths, with its own bed.
fn led(paths: &[PathBuf], layout: HostLayout) -> (Leader<ThreadLink>, Bed) {
    let placement = Placement { layout, hosts: HOSTS, part_bytes: PART_BYTES, ..Placement::default() };
    let mut all = links(HOSTS);
    for (mut link, path) in all.drain(1..).zip(paths[1..].to_vec()) {
        thread::spawn(move || {
            let rank = iosonde_hosts::Link::rank(&link);
            follow(&mut link, &mut Host { rank, path, placement, bed: None }, &RUNS)
        });
    }
    let mut leader = Leader::new(all.remove(0));
    let own = RunHost { name: "node0".into(), ..RunHost::default() };
    let bed = bed(&paths[0], placement);
    leader.open(&Opening::default(), own, &mut NoStrays, &RUNS).unwrap();
    (leader, bed)
}

fn fill(block_size_bytes: u64) -> TrialSpec {
    TrialSpec {
        rw: Rw::Write,
        block_size_bytes,
        span_bytes: PART_BYTES,
        engine: "psync".into(),
        direct: false,
        hosts: HOSTS,
        ..TrialSpec::default()
    }
}

#[test]
fn hosts_fill_one_file_without_a_gap_and_no_block_twice() {
    for layout in [HostLayout::SharedSegmented, HostLayout::SharedStrided, HostLayout::Shared] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shared");
        let paths = vec![path.clone(); HOSTS as usize];
        let (mut leader, mut bed) = led(&paths, layout);
        let spec = fill(64 << 10);
        let limits = Limits { warm_up_ns: Some(0), ..Limits::requests(PART_BYTES / spec.block_size_bytes) };
        let order = Order { spec: &spec, limits, phase: Phase::Prepare, seed: 1 };
        let trial = leader.run(&mut bed, &order, &[], &RUNS).unwrap().trial;
        leader.end(true);
        let whole_bytes = PART_BYTES * u64::from(HOSTS);
        assert_eq!(trial.witnesses.issued_write_bytes, whole_bytes, "{layout}");
        let bytes = fs::read(&path).unwrap();
        assert_eq!(bytes.len() as u64, whole_bytes, "{layout}");
        assert!(bytes.chunks(4096).all(|block| block.iter().any(|&byte| byte != 0)), "{layout} left a gap");
    }
}

#[test]
fn a_segment_is_verified_while_the_neighbours_write() {
    let folder = tempfile::tempdir().unwrap();
    let paths = vec![folder.path().join("shared"); HOSTS as usize];
    let (mut leader, mut bed) = led(&paths, HostLayout::SharedSegmented);
    let spec = TrialSpec { rw: Rw::RandWrite, verify: true, ..fill(4096) };
    let order = Order { spec: &spec, limits: Limits::requests(2_000), phase: Phase::Measure, seed: 1 };
    let trial = leader.run(&mut bed, &order, &[], &RUNS).unwrap().trial;
    leader.end(true);
    let found = trial.verify.unwrap();
    assert!(found.checked > 1_000, "{found:?}");
    assert_eq!((found.lost, found.torn, found.misplaced, found.stale), (0, 0, 0, 0));
}

#[test]
fn what_a_layout_cannot_do_is_no_trial() {
    let folder = tempfile::tempdir().unwrap();
    let paths = vec![folder.path().join("shared"); HOSTS as usize];
    let (mut leader, mut bed) = led(&paths, HostLayout::SharedStrided);
    let spec = TrialSpec { rw: Rw::RandWrite, verify: true, ..fill(4096) };
    let order = Order { spec: &spec, limits: Limits::requests(10), phase: Phase::Measure, seed: 1 };
    let refused = leader.run(&mut bed, &order, &[], &RUNS).unwrap_err();
    assert!(refused.to_string().contains("--verify needs a part in one piece"), "{refused}");
    leader.end(true);
}

#[test]
fn a_host_with_other_storage_under_the_path_is_found_by_the_marker() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let proved = |paths: &[PathBuf]| {
        let (mut leader, bed) = led(paths, HostLayout::Shared);
        marker::write(&bed.storage, false, 5).unwrap();
        let (length_bytes, digest) = (4096, marker::digest(&bed.storage, false, 4096).unwrap());
        let proved = leader.share(&Deed::See { length_bytes, digest }, &RUNS);
        leader.end(true);
        proved
    };
    let same = vec![folder.path().join("file"); HOSTS as usize];
    proved(&same).unwrap();
    let [one, two, _] = &same[..] else { panic!("three hosts") };
    let error = proved(&[one.clone(), two.clone(), other.path().join("file")]).unwrap_err();
    let refused = error.get_ref().and_then(|inner| inner.downcast_ref::<Refused>()).unwrap();
    assert_eq!((refused.rank, refused.usage), (2, true), "{refused}");
}

#[test]
fn rotated_reads_open_the_next_hosts_file_and_writes_the_own_one() {
    let folder = tempfile::tempdir().unwrap();
    let (own, next) = (folder.path().join("own"), folder.path().join("next"));
    fs::write(&next, vec![7; PART_BYTES as usize]).unwrap();
    for layout in [HostLayout::FilePerHost, HostLayout::FilePerWorker] {
        let placement = Placement { layout, hosts: 2, rotate: true, ..Placement::default() };
        let mut bed = bed(&own, placement);
        // For reading only: a write there would fail.
        bed.place.next.push(Arc::new(File::open(&next).unwrap()));
        let mut trial = |rw| {
            let spec = TrialSpec { rw, ..fill(4096) };
            let order = Order { spec: &spec, limits: Limits::requests(100), phase: Phase::Measure, seed: 1 };
            bed.run(&order, &RUNS).unwrap().trial
        };
        // The own file is empty: every read of it would come back short.
        let read = trial(Rw::RandRead).read.unwrap();
        assert_eq!((read.ios, read.short, read.errors), (100, 0, 0), "{layout}");
        let write = trial(Rw::RandWrite).write.unwrap();
        assert_eq!((write.ios, write.errors), (100, 0), "{layout}");
        assert!(fs::metadata(&own).unwrap().len() > 0, "{layout}");
        fs::write(&own, []).unwrap();
    }
    assert!(fs::read(&next).unwrap().iter().all(|&byte| byte == 7));
}
