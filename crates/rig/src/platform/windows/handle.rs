//! Control codes and questions about open handles, with answers as values.

use std::{
    fs::File,
    io,
    mem::{size_of, zeroed},
    os::windows::{
        ffi::OsStrExt,
        io::{AsRawHandle, FromRawHandle},
    },
    path::Path,
    ptr,
};

use windows_sys::Win32::{
    Foundation::{HANDLE, INVALID_HANDLE_VALUE},
    Storage::FileSystem::{
        CreateFileW, FILE_FLAG_BACKUP_SEMANTICS, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE,
        GetFileInformationByHandleEx, OPEN_EXISTING, ReOpenFile,
    },
    System::IO::DeviceIoControl,
};

/// What others may do with a file that is open here.
pub(super) const SHARED: u32 = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

/// A handle as the system takes it.
pub(super) fn raw(file: &File) -> HANDLE {
    file.as_raw_handle()
}

/// A path as the system takes it: UTF-16 with a zero behind it. Absolute paths of any length get the prefix that lifts
/// the limit of 260 characters.
pub(super) fn wide(path: &Path) -> Vec<u16> {
    let text: Vec<u16> = path.as_os_str().encode_wide().collect();
    let starts = |prefix: &str| text.starts_with(&prefix.encode_utf16().collect::<Vec<_>>());
    let drive = text.get(1) == Some(&u16::from(b':')) && text.get(2) == Some(&u16::from(b'\\'));
    let (prefix, rest) = match () {
        () if drive => (r"\\?\", &text[..]),
        () if starts(r"\\") && !starts(r"\\?\") && !starts(r"\\.\") => (r"\\?\UNC\", &text[2..]),
        () => ("", &text[..]),
    };
    prefix.encode_utf16().chain(rest.iter().copied()).chain([0]).collect()
}

/// Opens what is there with these rights and flags; folders as well.
pub(super) fn open(path: &Path, access: u32, share: u32, flags: u32) -> io::Result<File> {
    create(path, access, share, OPEN_EXISTING, flags | FILE_FLAG_BACKUP_SEMANTICS)
}

/// Opens or makes a file.
pub(super) fn create(path: &Path, access: u32, share: u32, how: u32, flags: u32) -> io::Result<File> {
    let path = wide(&std::path::absolute(path)?);
    // SAFETY: the path ends with a zero; the handle is new and nobody else's.
    unsafe {
        let handle = CreateFileW(path.as_ptr(), access, share, ptr::null(), how, flags, ptr::null_mut());
        owned(handle)
    }
}

/// Opens the very file of a handle again, with other rights and flags.
pub(super) fn reopen(file: &File, access: u32, flags: u32) -> io::Result<File> {
    // SAFETY: the handle is open; the new one is nobody else's.
    unsafe { owned(ReOpenFile(raw(file), access, SHARED, flags)) }
}

/// # Safety
/// The handle is new and nobody else's, or invalid.
unsafe fn owned(handle: HANDLE) -> io::Result<File> {
    if handle == INVALID_HANDLE_VALUE {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the caller answers for it.
    Ok(unsafe { File::from_raw_handle(handle) })
}

/// Sends a control code with a question and returns the answer; `None` where the device does not answer whole.
pub(super) fn control<Q, A: Copy>(file: &File, code: u32, question: &Q) -> Option<A> {
    // SAFETY: `A` is a plain structure of the system, for which zeros are a value; both places outlive the call, and
    // their lengths are told.
    unsafe {
        let mut answer: A = zeroed();
        let mut length = 0;
        let told = DeviceIoControl(
            raw(file),
            code,
            ptr::from_ref(question).cast(),
            size_of::<Q>() as u32,
            (&raw mut answer).cast(),
            size_of::<A>() as u32,
            &raw mut length,
            ptr::null_mut(),
        );
        (told != 0 && length as usize >= size_of::<A>()).then_some(answer)
    }
}

/// Sends a control code with a question and returns as many bytes as the answer has, up to `most`.
pub(super) fn control_bytes<Q>(file: &File, code: u32, question: &Q, most: usize) -> io::Result<Vec<u8>> {
    let mut answer = vec![0; most];
    let mut length = 0;
    // SAFETY: both places outlive the call, and their lengths are told.
    let told = unsafe {
        DeviceIoControl(
            raw(file),
            code,
            ptr::from_ref(question).cast(),
            size_of::<Q>() as u32,
            answer.as_mut_ptr().cast(),
            most as u32,
            &raw mut length,
            ptr::null_mut(),
        )
    };
    if told == 0 {
        return Err(io::Error::last_os_error());
    }
    answer.truncate(length as usize);
    Ok(answer)
}

/// A fact about an open file, by its class.
pub(super) fn information<A: Copy>(file: &File, class: i32) -> io::Result<A> {
    // SAFETY: `A` is the plain structure of the class, for which zeros are a value, and outlives the call.
    unsafe {
        let mut answer: A = zeroed();
        let length = size_of::<A>() as u32;
        match GetFileInformationByHandleEx(raw(file), class, (&raw mut answer).cast(), length) {
            0 => Err(io::Error::last_os_error()),
            _ => Ok(answer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_shared_paths_get_their_prefix() {
        let of = |text: &str| String::from_utf16(&wide(Path::new(text))).unwrap();
        assert_eq!(of(r"C:\a"), "\\\\?\\C:\\a\0");
        assert_eq!(of(r"\\srv\share\a"), "\\\\?\\UNC\\srv\\share\\a\0");
        assert_eq!(of(r"\\?\C:\a"), "\\\\?\\C:\\a\0");
        assert_eq!(of(r"\\.\PhysicalDrive0"), "\\\\.\\PhysicalDrive0\0");
    }
}
