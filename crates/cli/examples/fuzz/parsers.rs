//! Every parser of files that somebody else may have written, with what is computed from them.

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    time::Duration,
};

use iosonde_infer::{conclude::conclude, requirement::lines};
use iosonde_model::{Device, Requirement, Sheet, Study};
use iosonde_plan::fio;
use iosonde_report::FORMATS;
use iosonde_rig::witness::thread_cpu;
use iosonde_sim::DeviceFile;
use iosonde_store::{Notebook, import, read_run};

use super::mutate::{self, Dice};

/// An output of the importer's corpus.
macro_rules! tool {
    ($name:literal) => {
        include_str!(concat!("../../../store/tests/data/tools/", $name))
    };
}

/// The longest that a file may keep a processor busy.
pub const TIME_MAX: Duration = Duration::from_secs(5);

/// A parser: its name, what is given to it, and what it does with that.
pub struct Parser {
    pub name: &'static str,
    pub corpus: Vec<Vec<u8>>,
    /// Whether a file is bytes, not text.
    pub binary: bool,
    /// True if the file was accepted.
    pub read: fn(&[u8], &Path) -> bool,
}

fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// Job files of fio with every option that is read (`the_fuzzer_has_every_option_of_job_files`).
pub const JOB_FILES: &[&str] = &[
    "[global]\nioengine=libaio\ndirect=1\nsize=1g\nruntime=10\ntime_based\n; all at once\n[a]\nrw=randrw\n\
     bssplit=4k/60:64k/40\nrwmixread=70\niodepth=16\nnumjobs=4\nrandom_distribution=zipf:1.2\n[b]\nstonewall\n\
     rw=write:8k\nbs=4k,16k\nfdatasync=32\nbuffer_compress_percentage=50\nfilename=x\\:y\noffset_increment=1m\n",
    "[j]\nfilesize=64m\nnrfiles=3\nfilename_format=f.$jobnum\nrw=randread\nbsrange=1k-16k\nba=512\n\
     rate_iops=500,300\nrate_process=poisson\noffset=1m\nio_size=200m\nloops=3\nkb_base=1000\n\
     [k]\nverify=crc32c\nrw=randwrite\nsize=0x100000\nrandom_distribution=zoned:50/5:30/15:20/80\n",
    "[global]\nioengine=io_uring\ndirect=1\nfilename=a\nsize=64m\nruntime=1m\ntime_based\nramp_time=2s\n\
     log_avg_msec=500\nwrite_bw_log=x\nwrite_lat_log\nwrite_iops_log\n\
     percentile_list=50:99:99.9\ngroup_reporting\n[steady]\n\
     rw=randread\nbs=4k\niodepth=32\niodepth_low=8\niodepth_batch_complete_min=4\nss=iops_slope:0.3%\nss_dur=10s\n\
     ss_ramp=5s\nrate_min=1m,2m\nrate_cycle=500\nexitall\nexit_what=stonewall\nio_submit_mode=offload\nsqthread_poll\n\
     [paused]\nname=p\nrw=randwrite\nthinktime=500us\nthinktime_spin=100\nthinktime_blocks=8\nthinktime_iotime=3\n\
     startdelay=2\nnorandommap\npercentage_random=80\noffset_align=8k\nend_fsync=1\nfsync_on_close=1\natomic=0\n\
     dedupe_percentage=40\nsync=dsync\nstonewall\n\
     [deep]\nnew_group\nwait_for=p\nrw=randread:8\niodepth=256\nlatency_target=500us\nlatency_window=5s\n\
     latency_percentile=99.9\nlatency_run=1\nmax_latency=2s\nnumber_ios=5000\nhipri\n",
    "[global]\ndirectory=d\n[back]\nsize=64m\nrw=read:-8k\nbs=4k\nbuffered=1\ninvalidate=0\nfadvise_hint=sequential\n\
     uncached=0\nrate=4m\nrate_iops_min=20\n[verified]\nrw=randrw\n\
     rwmixwrite=30\nbs=8k\nverify=md5\ndo_verify=1\nsize=8m\nfsync=16\n\
     zero_buffers=0\n",
];

const REQUIREMENTS: &[&str] = &[
    include_str!("../../../../requirements/etcd.toml"),
    include_str!("../../../../requirements/openshift-etcd.toml"),
    include_str!("../../../../requirements/sd-card-a1.toml"),
];

/// All of them; the folder holds a notebook `n.db` and a run's file `run.json`.
pub fn parsers(folder: &Path) -> Vec<Parser> {
    let file = |name: &str| fs::read(folder.join(name)).unwrap();
    let devices: Vec<&str> =
        ["ideal", "sata-ssd", "hdd-7200", "cloud-volume", "nfs", "raid0", "mac-nocache", "container"]
            .map(|name| iosonde_sim::builtin(name).unwrap())
            .into();
    vec![
        Parser { name: "device file", corpus: texts(&devices), binary: false, read: device },
        Parser {
            name: "study",
            corpus: texts(&[
                include_str!("../../../../studies/quick.toml"),
                include_str!("../../../../studies/full.toml"),
            ]),
            binary: false,
            read: |bytes, _| {
                let text = String::from_utf8_lossy(bytes);
                let Ok(study) = Study::parse(&text, "f.toml") else { return false };
                iosonde_plan::points::plan(&study, &Device::unknown("file", 1 << 30)).is_ok()
            },
        },
        Parser {
            name: "sheet",
            corpus: texts(&[include_str!("../../../../specs/samsung-990-pro.toml")]),
            binary: false,
            read: |bytes, _| Sheet::parse(&String::from_utf8_lossy(bytes), "f.toml").is_ok(),
        },
        Parser { name: "requirement", corpus: texts(REQUIREMENTS), binary: false, read: requirement },
        Parser {
            name: "results of fio",
            corpus: texts(&[
                include_str!("../../../store/tests/data/fio-3.33-jobs.json"),
                include_str!("../../../store/tests/data/fio-3.33-group.json"),
                include_str!("../../../store/tests/data/fio-3.33-mixed.json"),
                include_str!("../../../store/tests/data/fio-3.33-warnings.txt"),
                include_str!("../../../store/tests/data/fio-matrix.csv"),
            ]),
            binary: false,
            read: result,
        },
        results(
            "text of fio",
            &[tool!("fio-randread-qd8.txt"), tool!("fio-two-jobs.txt"), tool!("fio-2.16.txt")],
        ),
        results(
            "terse lines of fio",
            &[tool!("fio-numjobs.terse"), tool!("fio-terse-v2.terse"), tool!("fio-terse-v5.terse")],
        ),
        results("text of KDiskMark", &[tool!("kdiskmark-mix.txt")]),
        results("text of CrystalDiskMark", &[tool!("crystaldiskmark.txt")]),
        results("YABS", &[tool!("yabs.json"), tool!("yabs-2024.txt")]),
        results("XML of diskspd", &[tool!("diskspd-randread.xml"), tool!("diskspd-mix-zeros.xml")]),
        results("CSV of elbencho", &[tool!("elbencho.csv")]),
        results("text of sysbench", &[tool!("sysbench-rndrw.txt"), tool!("sysbench-rndrd-direct.txt")]),
        results("text of pg_test_fsync", &[tool!("pg_test_fsync.txt")]),
        results("text of dd", &[tool!("dd-reads.txt"), tool!("dd-direct-write.txt")]),
        Parser { name: "fio job file", corpus: texts(JOB_FILES), binary: false, read: job_file },
        Parser { name: "run", corpus: vec![file("run.json")], binary: false, read: run },
        Parser { name: "notebook", corpus: vec![file("n.db")], binary: true, read: notebook },
    ]
}

/// A parser of another tool's results.
fn results(name: &'static str, corpus: &[&str]) -> Parser {
    Parser { name, corpus: texts(corpus), binary: false, read: result }
}

/// As `iosonde check FILE` does, with a run that is held against it.
fn requirement(bytes: &[u8], folder: &Path) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let Ok(requirement) = Requirement::parse(&text, "f.toml") else { return false };
    let rows = requirement.limits.iter().map(|limit| limit.workload.row()).collect::<Vec<_>>();
    let run = read_run(&folder.join("run.json")).unwrap();
    rows.len() == lines(&run, &requirement).len()
}

/// As `iosonde judge` reads a file.
fn result(bytes: &[u8], _: &Path) -> bool {
    import::import(&String::from_utf8_lossy(bytes)).is_ok()
}

/// As `iosonde devices NAME` does.
fn device(bytes: &[u8], _: &Path) -> bool {
    let Ok(file) = DeviceFile::parse(&String::from_utf8_lossy(bytes), "f.toml") else { return false };
    iosonde_sim::truths_with_references(&file, 1);
    true
}

/// As `iosonde report FILE` does, in every format but pictures.
fn run(bytes: &[u8], folder: &Path) -> bool {
    let path = folder.join("mutant.json");
    fs::write(&path, bytes).unwrap();
    let Ok(mut run) = read_run(&path) else { return false };
    if conclude(&mut run, None).is_err() {
        return false;
    }
    for format in FORMATS.iter().filter(|format| format.extension() != "png") {
        let _ = format.render(&run);
    }
    true
}

/// As `iosonde ls` and `iosonde show` do.
fn notebook(bytes: &[u8], folder: &Path) -> bool {
    let path = folder.join("mutant.db");
    for ending in ["-wal", "-shm", "-journal"] {
        let _ = fs::remove_file(folder.join(format!("mutant.db{ending}")));
    }
    fs::write(&path, bytes).unwrap();
    let Ok(notebook) = Notebook::open_existing(&path) else { return false };
    let Ok(runs) = notebook.list() else { return false };
    // Most have a byte in a trial that is another: refused, as it must be, and the list stands.
    runs.iter().for_each(|run| drop(notebook.load(&run.id)));
    true
}

/// What a series of mutants came to.
#[derive(Debug, Default)]
pub struct Tally {
    pub mutants: u64,
    pub accepted: u64,
    pub longest: Duration,
    pub wrong: Vec<String>,
}

/// Gives one mutant after another to a parser, while `goes_on` holds.
pub fn series(parser: &Parser, folder: &Path, seed: u64, mut goes_on: impl FnMut(u64) -> bool) -> Tally {
    let mut tally = Tally::default();
    while goes_on(tally.mutants) {
        let own = seed + tally.mutants;
        let mut dice = Dice(own);
        let original = &parser.corpus[dice.below(parser.corpus.len())];
        let change = if parser.binary { mutate::bytes } else { mutate::text };
        let mutant = change(original, &mut dice);
        let began_s = busy_s();
        let read = catch_unwind(AssertUnwindSafe(|| (parser.read)(&mutant, folder)));
        let took = Duration::from_secs_f64(busy_s() - began_s);
        let wrong = match read {
            Err(_) => Some("a panic".to_owned()),
            Ok(_) if took > TIME_MAX => Some(format!("{:.1} s", took.as_secs_f64())),
            Ok(accepted) => {
                tally.accepted += u64::from(accepted);
                None
            }
        };
        if let Some(wrong) = wrong {
            fs::write(std::env::temp_dir().join(format!("iosonde-mutant-{own}")), &mutant).unwrap();
            tally.wrong.push(format!("{}, seed {own}: {wrong}", parser.name));
        }
        (tally.mutants, tally.longest) = (tally.mutants + 1, tally.longest.max(took));
    }
    tally
}

/// Time on the processor: others may use the machine meanwhile.
fn busy_s() -> f64 {
    thread_cpu().map_or(0.0, |(user_s, system_s)| user_s + system_s)
}

/// A job file that is read, typed and laid out; as a command line, too.
pub fn job_file(bytes: &[u8], _: &Path) -> bool {
    let read = |_: &Path| Ok(bytes.to_vec());
    let variable = |name: &str| (name.len() < 4).then(|| "1".to_owned());
    let world = fio::World { read: &read, variable: &variable, keyword: &|_| Some(4096) };
    let words: Vec<String> =
        String::from_utf8_lossy(bytes).split_whitespace().map(|word| format!("--{word}")).collect();
    let _ = fio::read::command_line(&words, &world);
    let Ok(sections) = fio::read::files(&["j.fio".into()], &world) else { return false };
    let Ok(jobs) = sections.iter().map(fio::Job::of).collect::<Result<Vec<_>, _>>() else { return false };
    let found = |path: &str| if path.ends_with('/') { fio::Found::Directory } else { fio::Found::Nothing };
    fio::groups(jobs).is_ok_and(|groups| {
        groups.iter().all(|group| {
            let site = group.site(&found).unwrap_or(fio::Site::Own("./".into()));
            let bytes = group.needs_bytes(&site, fio::Caps::default()).ok().flatten().unwrap_or(1 << 30);
            let existing = fio::Site::Existing("/dev/x".into());
            let laid = |site| group.lay(site, bytes, fio::Caps::default());
            laid(&existing).is_ok_and(|laid| iosonde_rig::offset::span_problem(&laid.spec).is_none())
                && laid(&site).is_ok()
        })
    })
}
