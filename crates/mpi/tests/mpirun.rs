//! `iosonde-mpi` under mpirun, on this machine: real files, real messages, killed processes. Run by ./test where MPI
//! is.

// What was skipped is said where people and ./test read it.
#![allow(clippy::print_stderr)]

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, ChildStderr, Command, ExitStatus, Output, Stdio},
    thread,
    time::Duration,
};

use iosonde_rig::clock::monotonic_ns;

/// A folder for a run's file and notebook, removed afterwards. Not in /tmp, which may lie in memory.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(path.join("target")).expect("a folder can be made");
        Self(path)
    }

    fn target(&self) -> String {
        self.0.join("target").to_string_lossy().into_owned()
    }

    /// What is left on the target.
    fn left(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.join("target")).expect("the target is there");
        entries
            .map(|entry| entry.expect("it can be listed").file_name().to_string_lossy().into_owned())
            .collect()
    }

    /// Nothing is left, at once or as soon as the processes that outlive a killed run have removed its files:
    /// mpirun does not wait for them.
    fn is_cleared(&self) -> bool {
        within_s(60, || self.left().is_empty().then_some(())).is_some()
    }
}

/// What is there within so many seconds.
fn within_s<T>(limit_s: u64, mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let began_ns = monotonic_ns();
    loop {
        let found = look();
        if found.is_some() || monotonic_ns() - began_ns > limit_s * 1_000_000_000 {
            return found;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn mpirun(ranks: u32, folder: &Folder, words: &[&str]) -> Command {
    let mut command = Command::new("mpirun");
    // Only root needs it, and nobody else minds.
    command.args(["--allow-run-as-root", "--oversubscribe", "-n", &ranks.to_string()]);
    command.arg(env!("CARGO_BIN_EXE_iosonde-mpi")).args(words);
    command.env("IOSONDE_STORE", folder.0.join("runs.db")).current_dir(&folder.0).stdin(Stdio::null());
    command
}

fn run(ranks: u32, folder: &Folder, words: &[&str]) -> Output {
    mpirun(ranks, folder, words).output().expect("mpirun is there")
}

fn document(output: &Output) -> serde_json::Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("stdout is one document")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const POINT: [&str; 9] = ["--rw", "randwrite", "--bs", "64k", "--depth", "2", "--time", "1s", "--size=16M"];

#[test]
fn the_hosts_bytes_are_those_of_the_block_layer() {
    let folder = Folder::new("bytes");
    for ranks in [2, 4] {
        let target = folder.target();
        let words: Vec<&str> = ["point", &target].into_iter().chain(POINT).chain(["--json"]).collect();
        let run = document(&run(ranks, &folder, &words));
        let trial = run["trials"].as_array().unwrap().last().unwrap();
        let hosts = trial["hosts"].as_array().unwrap();
        assert_eq!(hosts.len(), ranks as usize);
        let sum: u64 = hosts.iter().map(|host| host["issued_write_bytes"].as_u64().unwrap()).sum();
        assert_eq!(sum, trial["witnesses"]["issued_write_bytes"].as_u64().unwrap());
        if let Some(counted) = trial["witnesses"]["block_layer_write_bytes"].as_u64() {
            // Other programs write, too: less than what the hosts wrote is never right.
            assert!(
                counted >= sum - sum / 200,
                "{ranks} hosts wrote {sum}, the block layer counted {counted}"
            );
        }
        assert_eq!(trial["witnesses"]["hosts"]["hosts"], ranks);
        assert_eq!(run["run"]["hosts"].as_array().unwrap().len(), ranks as usize);
    }
    assert_eq!(folder.left(), [""; 0]);
}

/// All prepare, and those that a trial does not have issue nothing in it.
#[test]
fn the_number_of_hosts_changes_from_trial_to_trial() {
    let folder = Folder::new("scaling");
    let target = folder.target();
    let words = ["run", "host-scaling", &target, "--set", "hosts=1,3", "--set", "depth=2", "--rounds", "5"];
    let more = ["--time", "10s", "--size=16M", "--seed", "5", "--json"];
    let run = document(&run(3, &folder, &[&words[..], &more].concat()));
    let mut seen = Vec::new();
    for trial in run["trials"].as_array().unwrap() {
        let hosts = trial["hosts"].as_array().unwrap();
        // Absent is one host.
        let asked = trial["spec"]["hosts"].as_u64().unwrap_or(1);
        assert_eq!(hosts.len() as u64, asked);
        assert_eq!(trial["witnesses"]["hosts"]["hosts"].as_u64(), Some(asked));
        let sum: u64 = hosts.iter().map(|host| host["issued_read_bytes"].as_u64().unwrap()).sum();
        assert_eq!(Some(sum), trial["witnesses"]["issued_read_bytes"].as_u64());
        if trial["phase"] == "prepare" {
            assert_eq!(asked, 3, "every host fills its own file");
        } else if !seen.contains(&asked) {
            seen.push(asked);
        }
    }
    seen.sort_unstable();
    assert_eq!(seen, [1, 3]);
    assert_eq!(folder.left(), [""; 0]);
}

const STUDY: [&str; 7] = ["--set", "depth=1,4,8", "--size=16M", "--precision", "1%", "--seed", "5"];

fn begin(ranks: u32, folder: &Folder, time: &str) -> Child {
    let target = folder.target();
    let words: Vec<&str> = ["run", "queue-depth", &target, "--time", time].into_iter().chain(STUDY).collect();
    let mut command = mpirun(ranks, folder, &words);
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("mpirun is there")
}

/// The working processes of a run: those whose parent is an iosonde-mpi, too.
fn workers(mpirun: u32) -> Vec<u32> {
    let of = |parent: u32| -> Vec<u32> {
        let output =
            Command::new("pgrep").args(["-P", &parent.to_string()]).output().expect("pgrep is there");
        String::from_utf8_lossy(&output.stdout).lines().filter_map(|line| line.parse().ok()).collect()
    };
    of(mpirun).into_iter().flat_map(of).collect()
}

/// The working processes, once the second round has begun, and what the run says from then on. Before it there may be
/// nothing to go on with, however long filling takes on a busy disk; after the sixth the run may have ended.
fn measuring(child: &mut Child, ranks: usize) -> (Vec<u32>, BufReader<ChildStderr>) {
    let mut says = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut line = String::new();
    let mut said = String::new();
    while !line.starts_with("round 2") {
        line.clear();
        assert!(says.read_line(&mut line).is_ok_and(|bytes| bytes > 0), "it ended: {said}");
        said.push_str(&line);
    }
    let workers = workers(child.id());
    assert_eq!(workers.len(), ranks, "each rank is a process that works and one that waits");
    (workers, says)
}

/// Kills a process of a run, and gives back how that ended, what it had still to say, and after how many seconds.
fn killed(mut child: Child, mut says: BufReader<ChildStderr>, worker: u32) -> (ExitStatus, String, u64) {
    let killed_ns = monotonic_ns();
    Command::new("kill").args(["-9", &worker.to_string()]).status().expect("kill is there");
    let mut said = String::new();
    says.read_to_string(&mut said).expect("it is text");
    let status = child.wait().expect("it ends");
    (status, said, (monotonic_ns() - killed_ns) / 1_000_000_000)
}

/// The notebook is sound, and the run is no more under way: host 0 closes it when mpirun has gone already, which took
/// 1.7 to 4.6 s on a disk of 60 requests a second, under a debugger.
fn rests(folder: &Folder) {
    let state = || {
        let runs = document(&run(1, folder, &["ls", "--json"]));
        (runs[0]["state"] != "running").then(|| runs[0]["state"].clone())
    };
    let state = within_s(60, state).expect("it ends");
    assert!(state == "interrupted" || state == "failed", "{state}");
}

#[test]
fn a_killed_host_ends_the_run_and_the_run_goes_on() {
    let folder = Folder::new("killed");
    let mut child = begin(3, &folder, "30s");
    let (workers, says) = measuring(&mut child, 3);
    let (status, said_last, ended_s) = killed(child, says, workers[2]);
    assert!(ended_s < 30, "{ended_s} s");
    assert!(!status.success(), "{said_last}");
    assert!(folder.is_cleared(), "{:?} are left; {said_last}", folder.left());
    rests(&folder);
    let other = run(2, &folder, &["resume"]);
    assert_eq!(other.status.code(), Some(2), "{}", said(&other));
    assert!(said(&other).contains("mpirun -n 3"), "{} {said_last}", said(&other));
    let resumed = document(&run(3, &folder, &["resume", "--json"]));
    assert_eq!(resumed["run"]["state"], "done");
    assert_eq!(folder.left(), [""; 0]);
}

#[test]
fn bad_usage_is_said_once_and_touches_nothing() {
    let folder = Folder::new("usage");
    let nowhere = run(3, &folder, &["run", "queue-depth", "/nowhere/at/all"]);
    assert_eq!(nowhere.status.code(), Some(2));
    assert_eq!(said(&nowhere).matches("/nowhere/at/all").count(), 1, "{}", said(&nowhere));
    let target = folder.target();
    let little =
        run(4, &folder, &["run", "queue-depth", &target, "--set", "rw=randwrite", "--max-write", "1M"]);
    assert_eq!(little.status.code(), Some(2), "{}", said(&little));
    assert!(said(&little).contains("--max-write"), "{}", said(&little));
    let several = run(2, &folder, &["run", "queue-depth", &target, &folder.0.to_string_lossy()]);
    assert_eq!(several.status.code(), Some(2), "{}", said(&several));
    let simulated = run(2, &folder, &["run", "queue-depth", "sim:ideal"]);
    assert!(said(&simulated).contains("--hosts 2"), "{}", said(&simulated));
    let words = ["point", &target, "--rw", "randwrite", "--size=8M", "--time", "500ms", "--seed"];
    let mut unlike = mpirun(1, &folder, &words);
    unlike.args(["1", ":", "-n", "1", env!("CARGO_BIN_EXE_iosonde-mpi")]).args(words).arg("2");
    let unlike = unlike.output().expect("mpirun is there");
    assert_eq!(unlike.status.code(), Some(2), "{}", said(&unlike));
    assert!(said(&unlike).contains("--seed 2"), "{}", said(&unlike));
    assert_eq!(folder.left(), [""; 0]);
}

const LAYOUTS: [&str; 5] =
    ["file-per-host", "file-per-worker", "shared-segmented", "shared-strided", "shared"];

/// One workload in a layout: 48 MiB a host, two jobs.
fn laid_out(folder: &Folder, target: &str, more: &[&str]) -> serde_json::Value {
    let words = ["point", target, "--bs", "64k", "--depth", "2", "--jobs", "2", "--time", "500ms", "--json"];
    let words: Vec<&str> = words.iter().chain(more).copied().collect();
    document(&run(3, folder, &words))
}

#[test]
fn every_layout_measures_what_it_filled_and_leaves_nothing() {
    let folder = Folder::new("layouts");
    let target = folder.target();
    for layout in LAYOUTS {
        for rotate in [&[][..], &["--rotate"]] {
            if layout == "shared" && !rotate.is_empty() {
                continue;
            }
            let words = [&["--rw", "randread", "--size=12M", "--layout", layout], rotate].concat();
            let run = laid_out(&folder, &target, &words);
            let (device, trials) = (&run["run"]["device"], run["trials"].as_array().unwrap());
            assert_eq!(device["layout"], layout);
            assert_eq!(device["rotated"].as_bool().unwrap_or(false), !rotate.is_empty());
            let filled = |trial: &&serde_json::Value| trial["phase"] == "prepare";
            let written: u64 = trials
                .iter()
                .filter(filled)
                .map(|trial| trial["witnesses"]["issued_write_bytes"].as_u64().unwrap())
                .sum();
            let areas = if layout == "shared" { 1 } else { 3 };
            assert_eq!(written, areas * (12 << 20), "{layout} {rotate:?}");
            let trial = trials.last().unwrap();
            assert_eq!(trial["read"]["errors"], 0, "{layout} {rotate:?}");
            assert_eq!(trial["hosts"].as_array().unwrap().len(), 3);
            // All of it was filled: a hole would be read without moving a byte.
            if let Some(holes) = trial["witnesses"]["unmapped_bytes"].as_u64() {
                assert_eq!(holes, 0, "{layout} {rotate:?}");
            }
            assert_eq!(folder.left(), [""; 0], "{layout} {rotate:?}");
        }
    }
}

#[test]
fn one_existing_file_is_shared_by_all_hosts() {
    let folder = Folder::new("existing");
    let file = folder.0.join("file");
    fs::write(&file, vec![0; 36 << 20]).expect("it can be made");
    let target = file.to_string_lossy().into_owned();
    for layout in &LAYOUTS[2..] {
        let run = laid_out(&folder, &target, &["--rw", "randwrite", "--destroy", "--layout", layout]);
        assert_eq!(run["run"]["device"]["layout"], *layout);
        assert_eq!(fs::metadata(&file).unwrap().len(), 36 << 20, "{layout} stays within it");
        // All was filled with random data; 4 KiB of zeros are none.
        let bytes = fs::read(&file).unwrap();
        assert!(bytes.chunks(4096).all(|block| block.iter().any(|&byte| byte != 0)), "{layout}");
        fs::write(&file, vec![0; 36 << 20]).unwrap();
    }
    let apart = run(2, &folder, &["point", &target, "--destroy", "--layout", "file-per-host"]);
    assert_eq!(apart.status.code(), Some(2));
    assert!(said(&apart).contains("name a directory"), "{}", said(&apart));
}

/// Gives rank 1 another folder under the path of the target, as a host that has not mounted the shared one.
fn elsewhere(folder: &Folder, words: &[&str]) -> Output {
    let other = folder.0.join("other");
    fs::create_dir_all(&other).expect("a folder can be made");
    let script = format!(
        "if [ \"${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}\" = 1 ]; then \
           exec unshare -m sh -c 'mount --bind {} {} && exec \"$@\"' sh \"$@\"; \
         fi; \
         exec \"$@\"",
        other.display(),
        folder.target()
    );
    let mut command = Command::new("mpirun");
    command.args(["--allow-run-as-root", "--oversubscribe", "-n", "2", "sh", "-c", &script, "sh"]);
    command.arg(env!("CARGO_BIN_EXE_iosonde-mpi")).args(words);
    command.env("IOSONDE_STORE", folder.0.join("runs.db")).current_dir(&folder.0).stdin(Stdio::null());
    command.output().expect("mpirun is there")
}

#[test]
fn a_path_that_is_not_shared_is_refused_with_host_and_path() {
    let may = Command::new("unshare").args(["-m", "true"]).status().is_ok_and(|status| status.success());
    if !may {
        eprintln!("skipped: this user may not make a mount namespace (unshare -m)");
        return;
    }
    let folder = Folder::new("unshared");
    let target = folder.target();
    let words = ["point", &target, "--rw", "randread", "--size=8M", "--time", "500ms"];
    for more in [&["--layout", "shared"][..], &["--layout", "shared-strided"], &["--rotate"]] {
        let output = elsewhere(&folder, &[&words[..], more].concat());
        assert_eq!(output.status.code(), Some(2), "{more:?}: {}", said(&output));
        let text = said(&output);
        assert!(text.contains("host ") && text.contains("does not see the file that host"), "{text}");
        assert!(text.contains(&target) && text.contains("not the same storage"), "{text}");
        assert_eq!(folder.left(), [""; 0]);
    }
    // A file of the same name on both: only what host 0 writes tells them apart.
    for place in ["target", "other"] {
        fs::write(folder.0.join(place).join("file"), vec![1; 8 << 20]).unwrap();
    }
    let file = format!("{target}/file");
    let words = ["point", &file, "--rw", "randwrite", "--destroy", "--time", "500ms"];
    let output = elsewhere(&folder, &words);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("does not see what host 0 wrote to"), "{}", said(&output));
    let other = fs::read(folder.0.join("other/file")).unwrap();
    assert!(other.iter().all(|&byte| byte == 1), "nothing was written to it");
    // A file for each host needs nothing of the others.
    let apart = elsewhere(&folder, &["point", &target, "--rw", "randread", "--size=8M", "--time", "500ms"]);
    assert!(apart.status.success(), "{}", said(&apart));
}

#[test]
fn a_killed_run_of_one_file_goes_on_in_its_layout() {
    let folder = Folder::new("kill-shared");
    let target = folder.target();
    let words = ["run", "queue-depth", &target, "--time", "20s", "--layout", "shared-segmented"];
    let words: Vec<&str> = words.into_iter().chain(STUDY).collect();
    let mut command = mpirun(2, &folder, &words);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("mpirun is there");
    let (workers, says) = measuring(&mut child, 2);
    // Host 0 made the file, and has no time to remove it: a process that outlives it does.
    let (status, said_last, _) = killed(child, says, workers[0]);
    assert!(!status.success(), "{said_last}");
    assert!(folder.is_cleared(), "{:?} are left; {said_last}", folder.left());
    rests(&folder);
    let resumed = document(&run(2, &folder, &["resume", "--json"]));
    assert_eq!(resumed["run"]["state"], "done");
    assert_eq!(resumed["run"]["device"]["layout"], "shared-segmented");
    assert_eq!(folder.left(), [""; 0]);
}
