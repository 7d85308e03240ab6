//! `doctor` diagnoses: whatever is there is described, and what to do is said. Small file systems on loop devices
//! need root; where it is missing the test says so.

// What was skipped is said where people and ./test read it.
#![allow(clippy::print_stderr)]

mod common;

use std::{path::PathBuf, process::Command};

use common::{Bench, Said};

/// A small file system in a file, mounted, and gone at the end.
struct Mounted {
    at: PathBuf,
}

impl Mounted {
    fn new(bench: &Bench, mib: u64, options: &str) -> Option<Self> {
        let (image, at) = (bench.path("image"), bench.path("mounted"));
        std::fs::File::create(&image).unwrap().set_len(mib << 20).unwrap();
        std::fs::create_dir(&at).unwrap();
        let made = Command::new("mkfs.ext4").args(["-q", "-m", "0"]).arg(&image).status();
        if !made.is_ok_and(|status| status.success()) {
            eprintln!("skipped: no mkfs.ext4 here");
            return None;
        }
        let mount = Command::new("mount").args(["-o", options]).arg(&image).arg(&at).output().ok()?;
        if !mount.status.success() {
            eprintln!("skipped: nothing can be mounted: {}", String::from_utf8_lossy(&mount.stderr).trim());
            return None;
        }
        Some(Self { at })
    }

    fn device(&self) -> String {
        let output = Command::new("findmnt").args(["-no", "SOURCE"]).arg(&self.at).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.at).status();
    }
}

/// Code 0, and every one of these words in the diagnosis.
fn diagnosed(said: &Said, words: &[&str]) {
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{}", said.out);
    for word in words {
        assert!(said.out.contains(word), "`{word}` is not in:\n{}", said.out);
    }
}

#[test]
fn only_a_target_that_does_not_exist_is_a_mistake() {
    let bench = Bench::new();
    bench.iosonde(&["doctor", "nowhere"]).refused(&["nowhere does not exist", "iosonde run quick ."]);
    bench.iosonde(&["doctor", "sim:idael"]).refused(&["did you mean `ideal`?"]);
    bench.text("file", "");
    bench.iosonde(&["doctor", "file/below"]).refused(&["file/below"]);
    for (target, words) in [
        ("/dev/null", &["nothing", "a character device"][..]),
        // Whether the kernel calls a file there forbidden or impossible depends on the user: only the remedy stays.
        ("/proc", &["file system", "proc", "nothing", "Name a", "directory"]),
        ("file", &["The file", "nothing", "file is empty", "iosonde run quick ."]),
    ] {
        diagnosed(&bench.iosonde(&["doctor", target]), words);
    }
    std::os::unix::fs::symlink("loop", bench.path("loop")).unwrap();
    diagnosed(&bench.iosonde(&["doctor", "loop"]), &["nothing", "loop cannot be reached", "symbolic links"]);
    diagnosed(&bench.iosonde(&["doctor", "sim:ideal"]), &["reads and writes", "iosonde run quick sim:ideal"]);
}

#[test]
fn a_file_is_read_at_once_and_written_only_with_a_word() {
    let bench = Bench::new();
    bench.file("my data", 2);
    let said = bench.iosonde(&["doctor", "my data"]);
    diagnosed(&said, &["size", "2 MiB", "with --read-only", "would overwrite it", "--destroy"]);
    assert!(said.out.ends_with("Measure it:  iosonde run quick 'my data' --read-only\n"), "{}", said.out);
}

#[test]
fn a_full_file_system_says_how_full_and_what_could_be_read_instead() {
    let bench = Bench::new();
    let Some(mounted) = Mounted::new(&bench, 200, "rw") else { return };
    std::fs::write(mounted.at.join("film"), vec![7; 120 << 20]).unwrap();
    std::fs::File::create(mounted.at.join("holes")).unwrap().set_len(1 << 30).unwrap();
    let at = mounted.at.to_str().unwrap();
    let said = bench.iosonde(&["doctor", at]);
    diagnosed(
        &said,
        &["ext4", "nothing", "too little room", "Free some space", "Read a file in it (120 MiB)"],
    );
    assert!(!said.out.contains("holes"), "{}", said.out);
    bench.iosonde(&["run", "quick", at]).refused(&["too little room", "film --read-only"]);
}

#[test]
fn a_read_only_file_system_names_what_can_be_read() {
    let bench = Bench::new();
    let Some(mounted) = Mounted::new(&bench, 64, "ro") else { return };
    let said = bench.iosonde(&["doctor", mounted.at.to_str().unwrap()]);
    diagnosed(&said, &["nothing", "lies on a read-only file system (ext4)", "Name another directory"]);
}

#[test]
fn a_loop_device_and_what_lies_below_it_are_told_apart() {
    let bench = Bench::new();
    let Some(mounted) = Mounted::new(&bench, 64, "rw") else { return };
    let device = mounted.device();
    let said = bench.iosonde(&["doctor", &device]);
    diagnosed(&said, &["reads", "yes, with --read-only", "holds a mounted file system"]);
    let (itself, below) = said.out.split_once("Layers below").expect("the disk below is listed");
    assert!(itself.contains("loop device over") && itself.contains("64 MiB"), "{itself}");
    let below = below.split("\n\n").next().unwrap();
    assert!(!below.contains("64 MiB") && !below.contains("loop"), "{below}");
    // What is kept of a run is of the device itself, too.
    let run = bench.run(&["point", &device, "--read-only", "--time", "100ms"]);
    assert_eq!(run.info.device.size_bytes, Some(64 << 20));
}

#[test]
fn a_folder_of_somebody_else_says_who_may_not_what() {
    let bench = Bench::new();
    let closed = bench.path("closed");
    std::fs::create_dir(&closed).unwrap();
    let inner = bench.command(&["doctor", closed.to_str().unwrap()]);
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]);
    command.arg(inner.get_program()).args(inner.get_args()).current_dir("/");
    for folder in [bench.folder.path(), &closed] {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    // 1: setpriv may not; 126, 127: the other user cannot reach the program.
    let done = command.output().ok().filter(|done| !matches!(done.status.code(), Some(1 | 126 | 127)));
    let Some(done) = done else {
        eprintln!("skipped: no other user can be taken on here");
        return;
    };
    let (out, err) = (String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap());
    assert_eq!((done.status.code(), err.as_str()), (Some(0), ""), "{out}");
    assert!(out.contains("This user may not make a file in") && out.contains("permission denied"), "{out}");
}
