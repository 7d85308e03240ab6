//! The guard on a real kernel: what is refused, what is admitted, and that nothing remains. Needs root for
//! loop devices and mounts, and says what it skipped without.

mod support;

use std::{
    fs::{self, File, FileTimes},
    io::{BufRead, BufReader, Write},
    os::unix::fs::{FileExt, MetadataExt},
    path::Path,
    process::{Command, Stdio},
    time::{Duration, SystemTime},
};

use iosonde_rig::{
    guard::{self, Admitted, Destroy, Intent, OwnFiles, Refusal, Target, TargetKind, Writes},
    platform::{System, mounts},
};
use support::{Loop, Memory, NoRecord, Swap, skip, text, tool};

const MIB: u64 = 1 << 20;

fn admit(path: &Path, intent: &Intent) -> Result<Admitted, Refusal> {
    guard::admit(&Target::parse(text(path))?, intent, &mut NoRecord)
}

fn writing(destroy: Option<Destroy>) -> Intent {
    Intent { destroy, ..Intent::of(Writes::Optional) }
}

fn plain() -> Intent {
    writing(Some(Destroy::Plain))
}

fn named(identity: &str) -> Intent {
    writing(Some(Destroy::Identity(identity.to_owned())))
}

const READ_ONLY: Intent = Intent {
    read_only: true,
    destroy: None,
    writes: Writes::Optional,
    protected: Vec::new(),
    own: OwnFiles::ONE,
    beside_host0: false,
};

/// The loop device, or a word that it could not be had.
fn a_loop(what: &str) -> Option<Loop> {
    Loop::new(64).map_err(|why| skip(what, &why)).ok()
}

#[test]
fn what_is_no_storage_says_what_it_is() {
    assert!(Target::parse("/dev/null").unwrap_err().sentence.contains("character device"));
}

#[test]
fn a_link_to_nothing_says_where_it_leads() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink("/nowhere/at/all", &link).unwrap();
    let refusal = Target::parse(text(&link)).unwrap_err();
    assert!(refusal.sentence.ends_with("is a link to /nowhere/at/all, which does not exist."), "{refusal}");
}

#[test]
fn an_existing_file_needs_its_word() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("thesis.tex");
    fs::write(&file, "precious").unwrap();
    let refusal = admit(&file, &writing(None)).unwrap_err();
    let shown = file.display();
    assert_eq!(
        refusal.to_string(),
        format!(
            "{shown} is an existing file of 8 B, and this would overwrite it.\n\
             \x20 Measure it without writing:                       iosonde run {shown} --read-only\n\
             \x20 Measure beside it, with a file of iosonde's own:  iosonde run {}\n\
             \x20 Overwrite it:                                     iosonde run {shown} --destroy",
            folder.path().display()
        )
    );
    assert!(admit(&file, &named("8:0:512")).unwrap_err().sentence.contains("does not name the file"));
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious");

    let admitted = admit(&file, &plain()).unwrap();
    assert_eq!((admitted.kind, admitted.size_bytes, admitted.writable), (TargetKind::File, 8, true));
    admitted.file.write_all_at(b"PRE", 0).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "PREcious");
    // A second measurement on the same file would measure the first.
    assert!(admit(&file, &plain()).unwrap_err().sentence.contains("locked"));
}

/// A database or a virtual machine has its file open: the plain word does not mean to pull it away from under it.
#[test]
fn a_file_that_a_program_writes_to_needs_its_identity() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("vm.img");
    fs::write(&file, "precious").unwrap();
    let identity = format!("inode-{}", fs::metadata(&file).unwrap().ino());
    let vm = File::options().write(true).open(&file).unwrap();
    let refusal = admit(&file, &plain()).unwrap_err();
    let shown = file.display();
    assert_eq!(
        refusal.sentence,
        format!("{shown} is open for writing in another program. It was not touched.")
    );
    assert!(refusal.to_string().contains(&format!("{shown} --destroy={identity}")), "{refusal}");
    assert!(admit(&file, &named("inode-1")).unwrap_err().sentence.contains("does not name the file"));
    assert!(admit(&file, &named(&identity)).unwrap().writable);
    drop(vm);
    assert!(admit(&file, &plain()).unwrap().writable);
}

#[test]
fn what_the_run_itself_needs_is_never_written_to_by_any_name() {
    let folder = tempfile::tempdir().unwrap();
    let (book, link, soft) =
        (folder.path().join("n.db"), folder.path().join("hard"), folder.path().join("soft"));
    fs::write(&book, "runs").unwrap();
    fs::hard_link(&book, &link).unwrap();
    std::os::unix::fs::symlink(&book, &soft).unwrap();
    let identity = format!("inode-{}", fs::metadata(&book).unwrap().ino());
    let protected = vec![
        guard::Protected { path: folder.path().join("not there"), what: "the report" },
        guard::Protected { path: book.clone(), what: "the notebook of this run" },
    ];
    for (path, word) in [(&book, plain()), (&link, plain()), (&soft, named(&identity))] {
        let refusal = admit(path, &Intent { protected: protected.clone(), ..word }).unwrap_err();
        assert!(refusal.sentence.contains("is the notebook of this run"), "{refusal}");
    }
    let read = admit(&book, &Intent { protected, ..READ_ONLY }).unwrap();
    assert!(!read.writable);
}

#[test]
fn a_study_that_reads_gets_a_descriptor_that_cannot_write() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data");
    fs::write(&file, vec![7; 10_000]).unwrap();
    for intent in [
        Intent::of(Writes::None),
        // The word to destroy does not count under --read-only.
        Intent { read_only: true, destroy: Some(Destroy::Plain), ..Intent::of(Writes::Optional) },
    ] {
        let admitted = admit(&file, &intent).unwrap();
        assert!(!admitted.writable);
        assert!(admitted.file.write_at(b"x", 0).is_err());
    }
}

#[test]
fn reading_only_leaves_bytes_and_times_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    fs::write(&path, vec![7; 10_000]).unwrap();
    let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    // Read before it was written: even `relatime` notes the next access.
    let times = FileTimes::new().set_accessed(at(1_000)).set_modified(at(2_000));
    File::options().write(true).open(&path).unwrap().set_times(times).unwrap();
    let admitted = admit(&path, &READ_ONLY).unwrap();
    let mut bytes = vec![0; 10_000];
    admitted.file.read_exact_at(&mut bytes, 0).unwrap();
    assert_eq!(bytes, vec![7; 10_000]);
    let metadata = fs::metadata(&path).unwrap();
    assert_eq!((metadata.atime(), metadata.mtime()), (1_000, 2_000));
    // That an ordinary read would have changed it shows that the above can fail.
    File::open(&path).unwrap().read_exact_at(&mut bytes, 0).unwrap();
    if fs::metadata(&path).unwrap().atime() == 1_000 {
        skip("the access time", "this mount keeps none");
    }
}

#[test]
fn an_empty_file_has_nothing_to_measure() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("empty");
    File::create(&path).unwrap();
    for intent in [plain(), READ_ONLY] {
        assert!(admit(&path, &intent).unwrap_err().sentence.contains("is empty"));
    }
}

#[test]
fn a_file_may_not_become_a_directory_on_the_way() {
    let folder = tempfile::tempdir().unwrap();
    let target = Target::File(folder.path().to_owned());
    let refusal = guard::admit(&target, &plain(), &mut NoRecord).unwrap_err();
    assert!(refusal.sentence.contains("became something else"), "{refusal}");
}

#[test]
fn an_own_file_keeps_to_half_of_what_is_free() {
    let folder = tempfile::tempdir().unwrap();
    let admitted = admit(folder.path(), &writing(None)).unwrap();
    assert_eq!((admitted.kind, admitted.size_bytes, admitted.writable), (TargetKind::Directory, 0, true));
    let space = rustix::fs::statvfs(folder.path()).unwrap();
    // Others write meanwhile: half of what is free now, with 1 GiB of slack.
    let half_bytes = space.f_bavail * space.f_frsize / 2;
    assert!(admitted.room_bytes.unwrap() <= half_bytes + 1024 * MIB);
    admitted.file.write_all_at(&[1; 4096], 0).unwrap();
}

#[test]
fn a_read_only_measurement_of_a_directory_names_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = admit(folder.path(), &READ_ONLY).unwrap_err();
    assert!(
        refusal.to_string().contains("No file in it that this user may read holds 64 MiB or more"),
        "{refusal}"
    );
    let large = folder.path().join("large");
    // A hole holds nothing to read.
    File::create(folder.path().join("hole")).unwrap().set_len(70 * MIB).unwrap();
    fs::write(&large, vec![1; 64 * MIB as usize]).unwrap();
    let refusal = admit(folder.path(), &READ_ONLY).unwrap_err();
    let want = format!("{} --read-only", large.display());
    assert_eq!(refusal.advice[0].arguments.as_deref(), Some(want.as_str()));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn full_and_read_only_file_systems_say_so() {
    let full = match Memory::new("size=32m") {
        Ok(full) => full,
        Err(why) => return skip("full and read-only file systems", &why),
    };
    let refusal = admit(full.path(), &writing(None)).unwrap_err();
    assert!(refusal.sentence.contains("has too little room: 32 MiB of 32 MiB are available"), "{refusal}");
    let frozen = Memory::new("size=1g").unwrap();
    fs::write(frozen.path().join("large"), vec![1; 70 * MIB as usize]).unwrap();
    tool("mount", &["-o", "remount,ro", text(frozen.path())]).unwrap();
    let refusal = admit(frozen.path(), &writing(None)).unwrap_err();
    assert!(refusal.sentence.ends_with("lies on a read-only file system (tmpfs)."), "{refusal}");
    assert!(refusal.advice[0].arguments.as_ref().unwrap().ends_with("/large --read-only"), "{refusal}");
}

#[test]
fn a_place_that_takes_no_files_is_refused() {
    let refusal = admit(Path::new("/proc"), &writing(None)).unwrap_err();
    assert!(refusal.sentence.contains("/proc"), "{refusal}");
}

#[test]
fn the_disk_that_this_system_runs_on_is_refused_whatever_is_given() {
    let root = mounts(&System::real()).into_iter().find(|mount| mount.at == Path::new("/"));
    let Some(source) =
        root.map(|mount| mount.source).filter(|source| source.is_absolute() && source.exists())
    else {
        return skip("the system's disk", "the root file system names no device");
    };
    for intent in [writing(None), plain(), named("anything")] {
        let refusal = admit(&source, &intent).unwrap_err();
        assert!(refusal.sentence.contains("holds a mounted file system (/"), "{refusal}");
        assert!(refusal.advice[0].arguments.as_ref().unwrap().ends_with("--read-only"), "{refusal}");
    }
}

#[test]
fn a_mounted_loop_device_is_refused_whatever_is_given_and_may_be_read() {
    let Some(mut device) = a_loop("a mounted device") else { return };
    device.make_ext4().unwrap();
    let at = device.mount("rw").unwrap();
    for intent in [writing(None), plain(), named(&device.identity())] {
        let refusal = admit(&device.node, &intent).unwrap_err();
        let want = format!(
            "{} holds a mounted file system ({}). It was not touched.",
            device.node.display(),
            at.display()
        );
        assert_eq!(refusal.sentence, want);
        assert_eq!(refusal.advice[1].arguments.as_deref(), at.to_str());
    }
    let admitted = admit(&device.node, &READ_ONLY).unwrap();
    assert_eq!((admitted.kind, admitted.size_bytes, admitted.writable), (TargetKind::Block, 64 * MIB, false));
    assert!(admitted.file.write_at(&[0; 512], 0).is_err());
    // The file behind it is refused too, by whatever name.
    let other_name = device.image.with_extension("hard-link");
    fs::hard_link(&device.image, &other_name).unwrap();
    for name in [&device.image, &other_name] {
        let refusal = admit(name, &plain()).unwrap_err();
        let want = format!("is behind the loop device {}, mounted at", device.node.display());
        assert!(refusal.sentence.contains(&want), "{refusal}");
        // Nor is a result written over it.
        assert!(guard::user_of(name).is_some_and(|user| user.starts_with(&want)));
    }
    assert!(!admit(&device.image, &READ_ONLY).unwrap().writable);
}

#[test]
fn a_loop_device_has_another_name_with_another_file() {
    let Some(device) = a_loop("a device over another file") else { return };
    device.make_ext4().unwrap();
    let identity = device.identity();
    admit(&device.node, &named(&identity)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other.img");
    std::fs::copy(&device.image, &other).unwrap();
    tool("losetup", &["-d", text(&device.node)]).unwrap();
    tool("losetup", &[text(&device.node), text(&other)]).unwrap();
    let refusal = admit(&device.node, &named(&identity)).unwrap_err();
    assert!(refusal.sentence.contains("which is "), "{refusal}");
}

#[test]
fn a_device_that_holds_something_needs_its_name() {
    let Some(device) = a_loop("a device with a signature") else { return };
    device.make_ext4().unwrap();
    let identity = device.identity();
    for intent in [writing(None), plain()] {
        let refusal = admit(&device.node, &intent).unwrap_err();
        assert!(refusal.sentence.contains("holds an ext2, ext3 or ext4 file system"), "{refusal}");
        let want = format!("{} --destroy={identity}", device.node.display());
        assert_eq!(refusal.advice[1].arguments.as_deref(), Some(want.as_str()));
    }
    let refusal = admit(&device.node, &named("7:0:1")).unwrap_err();
    assert!(refusal.sentence.contains(&format!("which is {identity}")), "{refusal}");
    let admitted = admit(&device.node, &named(&identity)).unwrap();
    assert!(admitted.writable);
    // The claim outlives the judgement: nobody can mount it now.
    let folder = tempfile::tempdir().unwrap();
    assert!(tool("mount", &[text(&device.node), text(folder.path())]).is_err());
    drop(admitted);
}

/// The refusal of a device whose claim was just given up. A child that another test forks in that moment has a copy of
/// the claim until it becomes its program.
fn once_let_go(node: &Path) -> Refusal {
    for _ in 0..100 {
        let refusal = admit(node, &plain()).unwrap_err();
        if !refusal.sentence.contains("held by the kernel") {
            return refusal;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    admit(node, &plain()).unwrap_err()
}

#[test]
fn an_empty_device_needs_the_plain_word() {
    let Some(device) = a_loop("an empty device") else { return };
    let refusal = admit(&device.node, &writing(None)).unwrap_err();
    assert!(refusal.sentence.contains("looks empty"), "{refusal}");
    let want = format!("{} --destroy", device.node.display());
    assert_eq!(refusal.advice[1].arguments.as_deref(), Some(want.as_str()));
    let admitted = admit(&device.node, &plain()).unwrap();
    admitted.file.write_all_at(&[1; 4096], 0).unwrap();
    assert!(admit(&device.node, &plain()).unwrap_err().sentence.contains("held by the kernel"));
    drop(admitted);
    // What was written counts from now on.
    let refusal = once_let_go(&device.node);
    assert!(refusal.sentence.contains("data that iosonde does not recognise"), "{refusal}");
}

/// Both ends wiped, as some tools leave it: one byte in the middle, or a copy of a superblock, is somebody's data.
#[test]
fn a_device_that_is_blank_only_at_its_ends_needs_its_name() {
    let Some(device) = a_loop("a device with data in its middle") else { return };
    for (at, bytes) in [(20 * MIB, &b"x"[..]), (64 * MIB - 17 * MIB, b"x"), (8193 * 1024 + 0x38, b"\x53\xef")]
    {
        let image = File::options().write(true).open(&device.image).unwrap();
        image.write_all_at(bytes, at).unwrap();
        image.sync_all().unwrap();
        // The loop device's own cache still holds the zeros that an earlier look has read.
        tool("blockdev", &["--flushbufs", text(&device.node)]).unwrap();
        let refusal = once_let_go(&device.node);
        assert!(refusal.sentence.contains(" holds "), "{at}: {refusal}");
        image.write_all_at(&vec![0; bytes.len()], at).unwrap();
        image.sync_all().unwrap();
    }
}

#[test]
fn a_second_loop_device_over_a_mounted_one_is_refused() {
    let Some(mut device) = a_loop("loop over loop") else { return };
    device.make_ext4().unwrap();
    device.mount("ro").unwrap();
    let node = match tool("losetup", &["--find", "--show", text(&device.image)]) {
        Ok(node) => node,
        Err(why) => return skip("loop over loop", &why),
    };
    let refused = admit(Path::new(&node), &plain());
    tool("losetup", &["--detach", &node]).unwrap();
    let want = format!("is behind the loop device {}", device.node.display());
    assert!(refused.unwrap_err().sentence.contains(&want));
}

#[test]
fn a_disk_with_a_mounted_partition_is_refused() {
    let Some(device) = a_loop("partitions") else { return };
    let part = match device.add_partition() {
        Ok(part) => part,
        Err(why) => return skip("partitions", &why),
    };
    tool("mkfs.ext4", &["-q", "-F", &part]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    tool("mount", &[&part, text(folder.path())]).unwrap();
    let refused = admit(&device.node, &named(&device.identity()));
    tool("umount", &[text(folder.path())]).unwrap();
    let want = format!("holds a mounted file system ({part} at {})", folder.path().display());
    assert!(refused.unwrap_err().sentence.contains(&want));
    // A partition has a name of its own.
    let claimed = admit(Path::new(&part), &named(&format!("{}-no", device.identity())));
    assert!(claimed.unwrap_err().sentence.contains("does not name"));
}

#[test]
fn an_active_swap_file_is_refused_whatever_is_given() {
    let swap = match Swap::new() {
        Ok(swap) => swap,
        Err(why) => return skip("swap", &why),
    };
    let refusal = admit(&swap.file, &plain()).unwrap_err();
    assert!(refusal.sentence.ends_with("is in use as swap. It was not touched."), "{refusal}");
}

const FOLDER: &str = "IOSONDE_TEST_OWN_FILE_IN";

/// No test of its own: the next test runs it in a process that it kills.
#[test]
fn holds_an_own_file_until_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let admitted = admit(Path::new(&folder), &writing(None)).unwrap();
    admitted.file.write_all_at(&vec![1; 8 << 20], 0).unwrap();
    let named = admitted.own.as_ref().is_some_and(|own| own.stray_path().is_some());
    writeln!(std::io::stdout(), "\nready named={named}").unwrap();
    let _ = std::io::stdin().read_line(&mut String::new());
    panic!("was to be killed");
}

#[test]
fn a_killed_process_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "holds_an_own_file_until_killed", "--nocapture"])
        .env(FOLDER, folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let ready = lines.map_while(Result::ok).find(|line| line.starts_with("ready"));
    child.kill().unwrap();
    child.wait().unwrap();
    let left = fs::read_dir(folder.path()).unwrap().count();
    match ready.as_deref() {
        Some("ready named=false") => assert_eq!(left, 0),
        Some(_) => skip("kill -9 leaves nothing", "this file system has no O_TMPFILE"),
        None => panic!("the child never had its file"),
    }
}
