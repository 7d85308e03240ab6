//! Direct I/O: read from statx, then tried. Whether the bytes really bypass the page cache is for the
//! witnesses to say: tmpfs and ZFS take O_DIRECT and serve from memory.

use std::{fs::File, io};

use rustix::{
    fs::{AtFlags, OFlags, StatxFlags, fcntl_getfl, fcntl_setfl, statx},
    io::{Errno, pread},
};

/// Alignment where the kernel does not report one: the page size of common machines; no device has larger sectors.
const SAFE_ALIGNMENT_BYTES: u32 = 4096;

/// Alignment that direct I/O on a file needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DirectAbility {
    /// Alignment of the buffer's address.
    pub memory_alignment_bytes: u32,
    /// Alignment of offset and length.
    pub offset_alignment_bytes: u32,
}

/// Switches O_DIRECT of an open file on or off, for everybody who shares the descriptor. Fails with EINVAL
/// where the file system has no direct I/O.
pub fn set_direct(file: &File, on: bool) -> io::Result<()> {
    let mut flags = fcntl_getfl(file)?;
    flags.set(OFlags::DIRECT, on);
    Ok(fcntl_setfl(file, flags)?)
}

/// Tests direct I/O on a file. Returns `Ok(None)` where the file system offers none; an error is a sentence fragment
/// with the reason why a trial read failed. The file's flags are unchanged afterwards.
pub fn direct_ability(file: &File) -> Result<Option<DirectAbility>, String> {
    let told = told_by_kernel(file);
    if told == Some(None) {
        return Ok(None);
    }
    let before = fcntl_getfl(file).map_err(|error| format!("its flags cannot be read: {error}"))?;
    match set_direct(file, true) {
        Ok(()) => {}
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => return Ok(None),
        Err(error) => return Err(format!("the kernel refuses O_DIRECT on it: {error}")),
    }
    let tried = match told {
        Some(Some(ability)) => try_read(file, ability).map(|()| ability),
        _ => find_alignment(file),
    };
    fcntl_setfl(file, before).map_err(|error| format!("its flags cannot be set back: {error}"))?;
    tried.map(Some).map_err(|error| format!("a direct read of it failed: {error}"))
}

/// `None` where the kernel does not tell (before 6.1, and tmpfs); `Some(None)` where it says that there is
/// none.
fn told_by_kernel(file: &File) -> Option<Option<DirectAbility>> {
    let told = statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok()?;
    if !StatxFlags::from_bits_retain(told.stx_mask).contains(StatxFlags::DIOALIGN) {
        return None;
    }
    let ability = DirectAbility {
        memory_alignment_bytes: told.stx_dio_mem_align,
        offset_alignment_bytes: told.stx_dio_offset_align,
    };
    Some((ability.offset_alignment_bytes > 0).then_some(ability))
}

/// The smaller of two common sectors that a read of the file gets through with.
fn find_alignment(file: &File) -> Result<DirectAbility, Errno> {
    let of = |bytes| DirectAbility { memory_alignment_bytes: bytes, offset_alignment_bytes: bytes };
    // Reads at and behind the end of a file are not checked, so an empty file proves nothing.
    let long_enough = rustix::fs::seek(file, rustix::fs::SeekFrom::End(0))
        .is_ok_and(|end| end >= SAFE_ALIGNMENT_BYTES.into());
    if long_enough && try_read(file, of(512)).is_ok() {
        return Ok(of(512));
    }
    try_read(file, of(SAFE_ALIGNMENT_BYTES)).map(|()| of(SAFE_ALIGNMENT_BYTES))
}

/// Reads the smallest aligned piece at the start.
fn try_read(file: &File, ability: DirectAbility) -> Result<(), Errno> {
    let length = ability.offset_alignment_bytes as usize;
    let (mut memory, start) = whole_pages(length, ability.memory_alignment_bytes as usize);
    let Some(buffer) = memory.get_mut(start..start.saturating_add(length)) else {
        // align_offset may give up (it never does for bytes); then nothing is known.
        return Err(Errno::INVAL);
    };
    pread(file, buffer, 0).map(drop)
}

/// Memory of which `length` bytes from the second value on lie at the start of a page, and nothing else in their pages.
/// Pages, whatever alignment is told: zram (Linux 6.18) says 512 bytes and fills the whole page that a buffer lies in,
/// wherever in it the buffer begins. What stood before the buffer was lost, and this program with it.
fn whole_pages(length: usize, alignment: usize) -> (Vec<u8>, usize) {
    let page = rustix::param::page_size();
    let alignment = alignment.max(page);
    let memory = vec![0_u8; length.next_multiple_of(page) + alignment];
    let start = memory.as_ptr().align_offset(alignment);
    (memory, start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn the_flag_is_set_and_cleared_and_left_as_it_was() {
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&[1; 8192], 0).unwrap();
        let is_direct = |file: &File| fcntl_getfl(file).unwrap().contains(OFlags::DIRECT);
        match direct_ability(&file).unwrap() {
            Some(ability) => {
                assert!(ability.offset_alignment_bytes.is_power_of_two(), "{ability:?}");
                assert!(!is_direct(&file));
                set_direct(&file, true).unwrap();
                assert!(direct_ability(&file).unwrap().is_some() && is_direct(&file));
                set_direct(&file, false).unwrap();
                assert!(!is_direct(&file));
            }
            None => assert!(set_direct(&file, true).is_err()),
        }
    }

    #[test]
    fn what_is_read_into_shares_its_pages_with_nothing() {
        let page = rustix::param::page_size();
        for (length, alignment) in [(512, 1), (512, 512), (4096, 512), (4096, 4096), (8192, 65_536)] {
            let (memory, start) = whole_pages(length, alignment);
            let address = memory[start..].as_ptr() as usize;
            assert!(address.is_multiple_of(page) && address.is_multiple_of(alignment));
            assert!(memory.len() - start >= length.next_multiple_of(page), "{length} {alignment}");
        }
    }

    #[test]
    fn a_pipe_has_no_direct_reads_at_an_offset() {
        let (reader, _writer) = io::pipe().unwrap();
        let file = File::from(std::os::fd::OwnedFd::from(reader));
        assert!(!matches!(direct_ability(&file), Ok(Some(_))));
    }
}
