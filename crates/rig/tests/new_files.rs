//! Files that a workload creates: each pass over the span is written to a new one, which is gone when the trial ends.

use std::{
    fs::{self, File},
    io::Write,
    sync::{Arc, atomic::AtomicBool},
};

use iosonde_model::{Files, Phase, Rw, Trial, TrialSpec};
use iosonde_rig::{
    clock::Clock,
    drive::Limits,
    engine::{SharedDevice, Storage},
    placement::Place,
    trial::{Bed, Order},
};
use iosonde_sim::{Device, DeviceFile};

const MIB: u64 = 1 << 20;

fn spec(engine: &str, files: Files) -> TrialSpec {
    TrialSpec {
        rw: Rw::Write,
        block_size_bytes: 64 << 10,
        span_bytes: MIB,
        engine: engine.into(),
        direct: false,
        files,
        ..TrialSpec::default()
    }
}

fn order(spec: &TrialSpec) -> Order<'_> {
    let limits = Limits { warm_up_ns: Some(0), ..Limits::time(2_000_000_000) };
    Order { spec, limits, phase: Phase::Measure, seed: 5 }
}

fn written_bytes(trial: &Trial) -> u64 {
    trial.write.as_ref().unwrap().bytes
}

#[test]
fn new_files_leave_the_prepared_file_and_the_folder_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let mut prepared = tempfile::NamedTempFile::new().unwrap();
    prepared.write_all(&vec![7; 4 * MIB as usize]).unwrap();
    let open = File::options().read(true).write(true).open(prepared.path()).unwrap();
    let mut bed = Bed {
        storage: Storage::File(Arc::new(open)),
        watch: None,
        clock: Clock::real(),
        folder: Some(File::open(folder.path()).unwrap()),
        place: Place::default(),
    };
    let trial = bed.run(&order(&spec("psync", Files::New)), &AtomicBool::new(false)).unwrap().trial;
    assert!(trial.error_examples.is_empty(), "{:?}", trial.error_examples);
    // As many as fit into the size of the prepared file, and no more, though time was left.
    assert_eq!(written_bytes(&trial), 4 * MIB);
    assert!(fs::read(prepared.path()).unwrap().iter().all(|&byte| byte == 7), "it was written to");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    bed.folder = None;
    let refused = bed.run(&order(&spec("psync", Files::New)), &AtomicBool::new(false));
    assert!(refused.unwrap_err().to_string().contains("cannot be made on this target"));
    let refused = bed.run(&order(&spec("mmap", Files::New)), &AtomicBool::new(false));
    assert!(refused.unwrap_err().to_string().contains("psync does"));
}

const DEVICE: &str = "name = \"x\"\nsummary = \"\"\ncapacity = \"64GiB\"\n[host]\nrequest_cost = \"4us\"\n\
    memory = \"8GiB\"\ncopy_rate = \"1GiB/s\"\nnew_page = \"2us\"\n[queue]\nservers = 16\n\
    service = { fixed = \"50us\" }\n";

#[test]
fn a_page_of_a_new_file_costs_more_than_one_in_memory() {
    let device = Device::new(&DeviceFile::parse(DEVICE, "x").unwrap(), 3);
    let mut bed = Bed::simulated(SharedDevice::new(device));
    let mut ns_each = |files| {
        let spec = spec("sim", files);
        // The first pass over the same file finds no page of it.
        bed.run(&order(&spec), &AtomicBool::new(false)).unwrap();
        let trial = bed.run(&order(&spec), &AtomicBool::new(false)).unwrap().trial;
        trial.elapsed_s * 1e9 / (written_bytes(&trial) as f64 / spec.block_size_bytes as f64)
    };
    // 64 KiB at 1 GiB/s are 61,035 ns; 16 new pages of 2 us are 32,000 more.
    let (same, new) = (ns_each(Files::Same), ns_each(Files::New));
    assert!((same / 65_035.0 - 1.0).abs() < 0.01, "{same}");
    assert!((new / 97_035.0 - 1.0).abs() < 0.01, "{new}");
}
