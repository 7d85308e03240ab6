//! Witnesses on a real kernel: they agree with what was really done.

mod support;

use std::{fs::File, os::unix::fs::FileExt, path::Path};

use iosonde_model::{Absence, Device, Medium, Witnesses};
use iosonde_rig::{
    guard::{self, Admitted, Intent, Target, Writes},
    platform,
    witness::{Watch, resident_bytes},
};
use support::{Loop, NoRecord, skip, text};

const MIB: u64 = 1 << 20;
const SPAN_BYTES: u64 = 64 * MIB;

/// An own file of 64 MiB, on the device and not in the page cache.
fn filled(folder: &Path) -> (Admitted, Device) {
    let intent = Intent::of(Writes::Optional);
    let target = Target::parse(text(folder)).unwrap();
    let admitted = guard::admit(&target, &intent, &mut NoRecord).unwrap();
    let block: Vec<u8> = (0..MIB).map(|i| (i * 7 + i / 251) as u8).collect();
    (0..SPAN_BYTES / MIB).for_each(|i| admitted.file.write_all_at(&block, i * MIB).unwrap());
    admitted.file.sync_all().unwrap();
    forget(&admitted.file);
    let device = platform::describe(&admitted.file, &admitted.path, admitted.kind);
    (admitted, device)
}

fn forget(file: &File) {
    rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
}

/// Memory that any direct I/O takes.
fn aligned(memory: &mut Vec<u8>) -> &mut [u8] {
    memory.resize(MIB as usize + 4096, 0);
    let start = memory.as_ptr().align_offset(4096);
    &mut memory[start..start + MIB as usize]
}

/// Others' part of what the device moved, at most, where it is told from ours: six times what was seen on a quiet disk
/// (0.8 %).
const OTHERS_SHARE: f64 = 0.05;

/// What others move in about the time that one round takes on a fast disk.
fn idle(watch: &mut Watch) -> Witnesses {
    watch.before();
    std::thread::sleep(std::time::Duration::from_millis(50));
    watch.after(Witnesses::default())
}

/// Reads or writes the whole span once between two readings.
fn watched(watch: &mut Watch, file: &File, write: bool) -> Witnesses {
    let mut memory = Vec::new();
    let block = aligned(&mut memory);
    watch.before();
    for i in 0..SPAN_BYTES / MIB {
        match write {
            true => file.write_all_at(block, i * MIB).unwrap(),
            false => file.read_exact_at(block, i * MIB).unwrap(),
        }
    }
    let issued = |ours: bool| if ours { SPAN_BYTES } else { 0 };
    watch.after(Witnesses {
        issued_read_bytes: issued(!write),
        issued_write_bytes: issued(write),
        issued_ios: SPAN_BYTES / MIB,
        ..Witnesses::default()
    })
}

#[test]
fn direct_io_is_seen_by_the_device() {
    let folder = tempfile::tempdir().unwrap();
    let (admitted, device) = filled(folder.path());
    let direct = guard::direct_ability(&admitted.file);
    if device.name.is_none() || !matches!(direct, Ok(Some(_))) {
        return skip(
            "direct I/O seen by the device",
            "temporary files lie on no block device, or give no direct I/O",
        );
    }
    guard::set_direct(&admitted.file, true).unwrap();
    let mut watch = Watch::open(&admitted.file, &device, 0..SPAN_BYTES);
    for write in [false, true] {
        let mut share_of_span = |ours: bool| {
            let seen = match ours {
                true => watched(&mut watch, &admitted.file, write),
                false => idle(&mut watch),
            };
            assert_eq!(seen.block_layer_device, device.name);
            let bytes = if write { seen.block_layer_write_bytes } else { seen.block_layer_read_bytes };
            bytes.unwrap() as f64 / SPAN_BYTES as f64
        };
        // Others use the disk too, so one round of many must show ours alone, and where none does, a time without
        // anything of ours before each round tells whether the disk was ever left to it.
        let mut rounds = Vec::new();
        while rounds.len() < 32 && !rounds.iter().any(|&(_, ours)| ours <= 1.0 + OTHERS_SHARE) {
            rounds.push((share_of_span(false), share_of_span(true)));
        }
        assert!(rounds.iter().all(|&(_, ours)| ours >= 1.0), "{rounds:?}");
        if rounds.iter().all(|&(_, ours)| ours > 1.0 + OTHERS_SHARE) {
            let disturbed = rounds.iter().any(|&(others, _)| others > OTHERS_SHARE);
            assert!(disturbed, "more than ours was counted on a quiet disk: {rounds:?}");
            skip("that the device sees no more than our direct I/O", "others use the disk all the time");
        }
    }
}

#[test]
fn a_buffered_read_becomes_resident_and_a_second_moves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (admitted, device) = filled(folder.path());
    if let Err(why) = resident_bytes(&admitted.file, 0..SPAN_BYTES) {
        return skip("residency", &format!("{why:?}"));
    }
    if device.medium == Medium::Memory {
        return skip("residency", "temporary files lie in memory");
    }
    let mut watch = Watch::open(&admitted.file, &device, 0..SPAN_BYTES);
    let cold = watched(&mut watch, &admitted.file, false);
    // A kernel that reclaims memory unasked may take some of it back at once.
    let resident = |bytes: Option<u64>| bytes.is_some_and(|bytes| bytes > SPAN_BYTES / 10 * 9);
    assert_eq!(cold.resident_before_bytes, Some(0));
    assert!(resident(cold.resident_after_bytes), "{cold:?}");
    assert!(cold.process_read_bytes.unwrap() >= SPAN_BYTES, "{cold:?}");
    let again = watched(&mut watch, &admitted.file, false);
    assert!(resident(again.resident_before_bytes), "{again:?}");
    // Other tests of this process read from the disk beside this one, but not as much again.
    assert!(again.process_read_bytes.is_some());
    watch.set_span(0..MIB);
    watch.before();
    let part = watch.after(Witnesses::default()).resident_before_bytes.unwrap();
    // Less a few pages, for the same reason: 1,040,384 bytes were seen beside another run of the tests.
    assert!(MIB / 10 * 9 < part && part <= MIB, "{part}");
}

#[test]
fn a_file_in_memory_has_no_block_device() {
    let memory = Path::new("/dev/shm");
    if !memory.is_dir() {
        return skip("a file in memory", "no /dev/shm");
    }
    let folder = tempfile::tempdir_in(memory).unwrap();
    let (admitted, device) = filled(folder.path());
    assert_eq!((device.medium, device.name.as_deref()), (Medium::Memory, None));
    assert_eq!(device.file_system.as_deref(), Some("tmpfs"));
    let mut watch = Watch::open(&admitted.file, &device, 0..SPAN_BYTES);
    let seen = watched(&mut watch, &admitted.file, false);
    assert_eq!((seen.block_layer_read_bytes, seen.block_layer_device), (None, None));
    assert!(seen.absent.contains(&Absence::NoBlockDevice { file_system: Some("tmpfs".into()) }));
}

#[test]
fn a_file_on_a_loop_device_is_followed_to_the_disk_below() {
    let below = {
        let folder = tempfile::tempdir().unwrap();
        filled(folder.path()).1
    };
    let mut device = match Loop::new(256).and_then(|device| device.make_ext4().map(|()| device)) {
        Ok(device) => device,
        Err(why) => return skip("a loop device", &why),
    };
    let at = device.mount("rw").unwrap();
    let (admitted, described) = filled(&at);
    let loop_name = device.node.file_name().unwrap().to_str().unwrap();
    assert_eq!(described.chain.first().map(String::as_str), Some(loop_name));
    assert_eq!(described.name, below.name.clone().or_else(|| Some(loop_name.to_owned())));
    assert_eq!(described.file_system.as_deref(), Some("ext4"));
    drop(admitted);
}

#[test]
fn a_sparse_file_has_no_bytes_and_no_residency() {
    let file = tempfile::tempfile().unwrap();
    file.set_len(SPAN_BYTES).unwrap();
    match platform::unmapped_bytes(&file, 0..SPAN_BYTES) {
        Some(bytes) => assert_eq!(bytes, SPAN_BYTES),
        None => skip("holes", "the file system does not tell"),
    }
}
