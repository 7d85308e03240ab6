//! Kernel devices whose truth can be set: a loop device, and a limit on locked memory. They need root; where it is
//! missing the test says so.

// What was skipped is said where people and ./test read it.
#![allow(clippy::print_stderr)]

mod common;

use std::{path::Path, process::Command};

use common::{Bench, SMALL_STUDY, looped::Loop};

#[test]
fn a_loop_device_needs_the_users_word_and_is_then_measured() {
    let bench = Bench::new();
    std::fs::File::create(bench.path("image")).unwrap().set_len(128 << 20).unwrap();
    let Some(device) = Loop::over(&bench.path("image")) else { return };
    bench.text("small.toml", SMALL_STUDY);
    bench.iosonde(&["point", &device.0, "--rw", "randwrite"]).refused(&[&device.0, "--destroy"]);
    let run = bench.run(&["run", "small.toml", &device.0, "--destroy"]);
    assert_eq!(run.info.device.kind, "block");
    assert_eq!(run.info.device.working_set_bytes, 128 << 20);
    // Not of every point: on a busy disk a trial may end before its first request does, and such a point has no figure.
    assert!(run.trials.iter().any(|trial| trial.read.as_ref().is_some_and(|read| read.ios > 0)));

    // It holds data now: the plain word no longer suffices, and the refusal names the identity that does.
    let said = bench.iosonde(&["run", "small.toml", &device.0, "--destroy"]);
    said.refused(&["--destroy="]);
    let identity = said.err.split("--destroy=").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    let option = format!("--destroy={identity}");
    let run = bench.run(&["point", &device.0, "--rw", "randwrite", "--time", "300ms", &option]);
    assert!(run.trials.last().unwrap().write.as_ref().unwrap().ios > 0);

    // And read-only never needs a word.
    let run = bench.run(&["point", &device.0, "--read-only", "--time", "300ms"]);
    assert_eq!(run.info.bytes_written, 0);
}

/// Root may lock as much memory as it likes; another user may not.
#[test]
fn buffers_that_may_not_be_locked_are_not_registered_and_that_is_said() {
    let bench = Bench::new();
    let root = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()) == 0;
    if !root {
        eprintln!("skipped: becoming another user, whose locked memory is limited, needs root");
        return;
    }
    let path = bench.file("data", 16);
    for (path, mode) in [(bench.folder.path(), 0o777), (&path, 0o644)] {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    // The program's folder may lie where only root may look; a copy beside the notebook does not.
    let program = bench.path("iosonde");
    std::fs::copy(env!("CARGO_BIN_EXE_iosonde"), &program).unwrap();
    let words =
        ["point", "data", "--read-only", "--bs", "64k", "--depth", "32", "--time", "300ms", "--buffered"];
    let mut command = Command::new("sh");
    let inside = "ulimit -l 64 && exec setpriv --reuid=65534 --regid=65534 --clear-groups \"$@\"";
    command.args(["-c", inside, "sh"]).arg(&program).args(words).args(["--engine", "io_uring"]);
    command.current_dir(bench.folder.path()).env("IOSONDE_STORE", bench.path("notebook.db"));
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if said.contains("io_uring is forbidden here") {
        eprintln!("skipped: io_uring is not for this user here");
        return;
    }
    assert!(output.status.success(), "{said}");
    assert!(said.contains("buffers are not registered") && said.contains("ulimit -l"), "{said}");
}

/// A control group's limit on memory, as a container has it; removed at the end.
struct Group(std::path::PathBuf);

impl Group {
    fn of(bytes: u64) -> Option<Self> {
        let first = Path::new("/sys/fs/cgroup/memory");
        let (root, file) = if first.is_dir() {
            (first, "memory.limit_in_bytes")
        } else {
            (Path::new("/sys/fs/cgroup"), "memory.max")
        };
        let group = Self(root.join(format!("iosonde-test-memory-{}", std::process::id())));
        let made = std::fs::create_dir(&group.0)
            .and_then(|()| std::fs::write(group.0.join(file), bytes.to_string()));
        made.map_err(|error| eprintln!("skipped: no control group with a limit on memory: {error}")).ok()?;
        Some(group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// Beyond the limit of its group the kernel would kill the process in the middle of a run.
#[test]
fn buffers_beyond_the_memory_of_a_container_are_refused_beforehand() {
    let bench = Bench::new();
    let Some(group) = Group::of(100 << 20) else { return };
    bench.file("data", 16);
    let inside = |depth: &str| {
        let words = ["point", "data", "--read-only", "--bs", "1M", "--depth", depth, "--time", "200ms", "-q"];
        let inner = bench.command(&words);
        let enter = format!("echo $$ > {}/cgroup.procs && exec \"$@\"", group.0.display());
        let mut command = Command::new("sh");
        command.args(["-c", &enter, "sh"]).arg(inner.get_program()).args(inner.get_args());
        command.current_dir(bench.folder.path()).env("IOSONDE_STORE", bench.path("notebook.db"));
        common::Said::of(command.output().unwrap())
    };
    inside("256").refused(&["need 256 MiB of buffers", "control group", "50 MiB", "lower queue depth"]);
    let said = inside("16");
    assert_eq!(said.code, 0, "{}", said.err);
}
