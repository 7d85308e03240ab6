//! Files beyond the standard library: reading at a place, space, what was never written.

use std::{
    ffi::OsStr,
    fs::{File, FileType},
    io,
    mem::zeroed,
    ops::Range,
    os::windows::fs::{FileExt, MetadataExt},
    path::Path,
};

use windows_sys::Win32::{
    Foundation::{ERROR_INVALID_FUNCTION, ERROR_NOT_SUPPORTED, GENERIC_READ, GENERIC_WRITE},
    Storage::FileSystem::{
        BY_HANDLE_FILE_INFORMATION, CREATE_NEW, DELETE, FILE_ALLOCATION_INFO, FILE_ATTRIBUTE_SPARSE_FILE,
        FILE_FLAG_DELETE_ON_CLOSE, FILE_STANDARD_INFO, FileAllocationInfo, FileStandardInfo,
        GetDiskFreeSpaceExW, GetFileInformationByHandle, SetFileInformationByHandle,
    },
    System::{
        Ioctl::{FILE_ALLOCATED_RANGE_BUFFER, FSCTL_QUERY_ALLOCATED_RANGES},
        SystemInformation::{GlobalMemoryStatusEx, MEMORYSTATUSEX},
    },
};

use super::handle::{SHARED, control_bytes, create, information, open, raw, wide};
use crate::{
    guard::random_name,
    platform::{AtomicWrites, TargetKind},
};

/// A text as the command processor and PowerShell take it. No name of a file has a quotation mark in it.
pub(crate) fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || r"\/._-+:,@=~".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("\"{text}{}\"", if text.ends_with('\\') { "\\" } else { "" })
    }
}

/// Reads at a place; returns the bytes read.
pub(crate) fn read_at(file: &File, bytes: &mut [u8], offset_bytes: u64) -> io::Result<usize> {
    file.seek_read(bytes, offset_bytes)
}

/// Does nothing: Windows empties no part of its cache on request. A handle without buffering writes out and drops what
/// the cache holds of each place that it reads or writes.
pub(crate) fn drop_pages(_file: &File, _range: Range<u64>) {}

/// Does nothing: the advice of Windows belongs to the opening of a file.
pub(crate) fn advise(_file: &File, _random: Option<bool>) {}

/// Gives a file its clusters; returns how many bytes it then has, and `None` where the file system reserves none.
pub(crate) fn allocate(file: &File, bytes: u64) -> io::Result<Option<u64>> {
    let asked = FILE_ALLOCATION_INFO { AllocationSize: bytes as i64 };
    // SAFETY: the structure is that of the class, and outlives the call.
    let done = unsafe {
        let length = size_of::<FILE_ALLOCATION_INFO>() as u32;
        SetFileInformationByHandle(raw(file), FileAllocationInfo, (&raw const asked).cast(), length)
    };
    if done == 0 {
        let error = io::Error::last_os_error();
        let unable = [ERROR_INVALID_FUNCTION, ERROR_NOT_SUPPORTED].map(|code| Some(code as i32));
        return if unable.contains(&error.raw_os_error()) { Ok(None) } else { Err(error) };
    }
    let found: FILE_STANDARD_INFO = information(file, FileStandardInfo)?;
    Ok(Some(found.AllocationSize as u64))
}

/// Free bytes for this user in the volume of a folder.
pub(crate) fn available_bytes(folder: &Path) -> io::Result<u64> {
    Ok(space(folder)?.0)
}

/// Free bytes for this user, and all bytes that this user may have, in the volume of a folder.
pub(super) fn space(folder: &Path) -> io::Result<(u64, u64)> {
    let path = wide(&std::path::absolute(folder)?);
    let (mut available_bytes, mut total_bytes) = (0, 0);
    // SAFETY: the path ends with a zero, and the numbers are places of ours.
    let told = unsafe {
        GetDiskFreeSpaceExW(
            path.as_ptr(),
            &raw mut available_bytes,
            &raw mut total_bytes,
            std::ptr::null_mut(),
        )
    };
    if told == 0 { Err(io::Error::last_os_error()) } else { Ok((available_bytes, total_bytes)) }
}

/// Makes a file that is gone when its last handle is closed, however the process ends.
pub(crate) fn temporary(folder: &Path) -> io::Result<File> {
    let access = GENERIC_READ | GENERIC_WRITE | DELETE;
    create(&folder.join(random_name()), access, SHARED, CREATE_NEW, FILE_FLAG_DELETE_ON_CLOSE)
}

/// Opens a file without contents that takes whatever is written.
pub fn nothing() -> io::Result<File> {
    File::open("NUL")
}

/// Memory of this machine.
pub(crate) fn memory_bytes() -> Option<u64> {
    // SAFETY: plain numbers; the system reads the length and fills in the rest.
    unsafe {
        let mut status: MEMORYSTATUSEX = zeroed();
        status.dwLength = size_of::<MEMORYSTATUSEX>() as u32;
        (GlobalMemoryStatusEx(&raw mut status) != 0).then_some(status.ullTotalPhys)
    }
}

/// Whether a path names a volume or a drive itself.
pub(crate) fn is_device(path: &Path) -> bool {
    let text = path.as_os_str().to_string_lossy().replace('/', "\\");
    let name =
        text.strip_prefix(r"\\.\").or_else(|| text.strip_prefix(r"\\?\").filter(|rest| !rest.contains('\\')));
    let name = name.map(str::to_ascii_lowercase);
    name.is_some_and(|name| {
        let drive = name.len() == 2 && name.ends_with(':');
        drive
            || ["physicaldrive", "harddisk", "volume{", "cdrom", "globalroot"]
                .iter()
                .any(|of| name.starts_with(of))
    })
}

/// A name without its ending; `None` if it has another.
pub fn without_ending<'a>(name: &'a OsStr, ending: &str) -> Option<&'a OsStr> {
    Some(OsStr::new(name.to_str()?.strip_suffix(ending)?))
}

/// Kind of what lies at a path.
///
/// # Errors
/// Returns what it is where that is no storage.
pub fn kind(path: &Path, kind: FileType) -> Result<TargetKind, &'static str> {
    match () {
        () if is_device(path) => Ok(TargetKind::Block),
        () if kind.is_dir() => Ok(TargetKind::Directory),
        () if path.to_string_lossy().starts_with(r"\\.\") => Err("a device that is no disk"),
        () if kind.is_file() => Ok(TargetKind::File),
        () => Err("neither a directory, nor a file, nor a disk"),
    }
}

/// Volume and number of the file at a path, links followed: two paths with the same ones lead to one file.
pub fn identity(path: &Path) -> io::Result<(u64, u64)> {
    identity_of(&open(path, 0, SHARED, 0)?)
}

/// Volume and number of an open file.
pub fn identity_of(file: &File) -> io::Result<(u64, u64)> {
    // SAFETY: plain numbers, which the system fills in.
    let (found, told) = unsafe {
        let mut found: BY_HANDLE_FILE_INFORMATION = zeroed();
        let told = GetFileInformationByHandle(raw(file), &raw mut found);
        (found, told)
    };
    if told == 0 {
        return Err(io::Error::last_os_error());
    }
    let index = u64::from(found.nFileIndexHigh) << 32 | u64::from(found.nFileIndexLow);
    Ok((found.dwVolumeSerialNumber.into(), index))
}

/// Bytes of a span that a sparse file has no clusters for; `None` where the file is not sparse: then nothing tells how
/// far it was written (its valid data length), which is why what may be written is filled first.
pub fn unmapped_bytes(file: &File, span: Range<u64>) -> Option<u64> {
    if file.metadata().ok()?.file_attributes() & FILE_ATTRIBUTE_SPARSE_FILE == 0 {
        return None;
    }
    const RANGES_MAX: usize = 4096;
    let length_bytes = span.end.saturating_sub(span.start);
    let question = FILE_ALLOCATED_RANGE_BUFFER { FileOffset: span.start as i64, Length: length_bytes as i64 };
    let most = RANGES_MAX * size_of::<FILE_ALLOCATED_RANGE_BUFFER>();
    let answer = control_bytes(file, FSCTL_QUERY_ALLOCATED_RANGES, &question, most).ok()?;
    // Each range is an offset and a length of eight bytes.
    let lengths = answer.chunks_exact(size_of::<FILE_ALLOCATED_RANGE_BUFFER>()).map(|range| {
        let length: [u8; 8] = range[8..].try_into().expect("eight bytes");
        u64::from_le_bytes(length)
    });
    Some(length_bytes.saturating_sub(lengths.sum()))
}

/// Sets nothing: files of Windows have streams in that place, which not every file system keeps.
///
/// # Errors
/// Always.
pub fn set_attribute(_file: &File, _name: &str, _value: &str) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns nothing: see [`set_attribute`].
pub fn attribute(_path: &Path, _name: &str) -> Option<String> {
    None
}

/// False: a process that was ended holds no file any longer.
pub fn locked_by_the_killed(_file: &File) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_command_line_would_split_is_quoted() {
        assert_eq!(quoted(r"C:\a\b-c.d"), r"C:\a\b-c.d");
        assert_eq!(quoted(r"C:\my disk\"), r#""C:\my disk\\""#);
    }

    #[test]
    fn volumes_and_drives_are_told_from_files() {
        for device in [r"\\.\C:", r"\\.\PhysicalDrive0", r"\\?\Volume{0}", "//./PhysicalDrive1"] {
            assert!(is_device(Path::new(device)), "{device}");
        }
        for other in [r"C:\", r"C:\a", r"\\srv\share", r"\\?\C:\a", "a"] {
            assert!(!is_device(Path::new(other)), "{other}");
        }
    }
}

/// None: this system promises no atomic writes.
pub fn atomic_writes(_file: &File) -> Option<Option<AtomicWrites>> {
    None
}
