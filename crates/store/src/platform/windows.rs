//! Windows.

use std::{
    env,
    fs::{self, File, OpenOptions},
    io,
    os::windows::fs::OpenOptionsExt,
    path::{Component, Path, PathBuf, Prefix},
};

use winapi_util::{AsHandleRef, Handle, file::information};

/// FILE_FLAG_OPEN_REPARSE_POINT: opens a link itself.
const LINK_ITSELF: u32 = 0x0020_0000;
/// FILE_FLAG_BACKUP_SEMANTICS: opens folders as well.
const FOLDERS_TOO: u32 = 0x0200_0000;

/// Volume and number of a file on it.
pub(crate) type Identity = (u64, u64);

fn of(handle: impl AsHandleRef) -> io::Result<Identity> {
    let found = information(handle)?;
    Ok((found.volume_serial_number(), found.file_index()))
}

fn looked_at(path: &Path, follow: bool) -> io::Result<File> {
    let flags = if follow { FOLDERS_TOO } else { FOLDERS_TOO | LINK_ITSELF };
    OpenOptions::new().access_mode(0).custom_flags(flags).open(path)
}

/// Identity of what a path leads to; with `links` followed, or of the link itself.
pub(crate) fn identity(path: &Path, follow: bool) -> io::Result<Identity> {
    of(Handle::from_file(looked_at(path, follow)?))
}

/// Identity of an open file.
pub(crate) fn identity_of(file: &File) -> io::Result<Identity> {
    of(Handle::from_file(file.try_clone()?))
}

/// Names of the file at a path.
pub(crate) fn links(path: &Path) -> io::Result<u64> {
    links_of(&looked_at(path, true)?)
}

/// Names of an open file.
pub(crate) fn links_of(file: &File) -> io::Result<u64> {
    Ok(information(Handle::from_file(file.try_clone()?))?.number_of_links())
}

/// Opens a link itself, and never what it leads to.
pub(crate) fn never_through_links(options: &mut OpenOptions) {
    options.custom_flags(LINK_ITSELF);
}

/// Whether it may be written, as far as its attribute tells: rights show only when it is opened.
pub(crate) fn may_read_and_write(path: &Path) -> io::Result<()> {
    let found = fs::metadata(path)?;
    // On a folder the attribute means something else.
    if found.is_file() && found.permissions().readonly() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok(())
}

/// `None`: Windows sets no limit on a process's files.
pub(crate) fn file_size_limit() -> Option<u64> {
    None
}

/// A path as bytes: UTF-8 where it is text.
pub(crate) fn bytes_of(path: &Path) -> Vec<u8> {
    path.to_string_lossy().into_owned().into_bytes()
}

/// A path as written in an address: `/C:/a`, `//server/share/a`.
pub(crate) fn address_bytes(path: &Path) -> Vec<u8> {
    let text = path.to_string_lossy().replace('\\', "/");
    let address = match (text.strip_prefix("//?/UNC/"), text.strip_prefix("//?/")) {
        (Some(shared), _) => format!("////{shared}"),
        (None, Some(drive)) => format!("/{drive}"),
        (None, None) => text,
    };
    address.into_bytes()
}

/// The path of [`bytes_of`].
pub(crate) fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

/// `smb` where a path lies on a server, by a drive letter or not.
pub(crate) fn shared_file_system(path: &Path) -> io::Result<Option<&'static str>> {
    let path = fs::canonicalize(path)?;
    let remote = matches!(prefix(&path), Some(Prefix::UNC(..) | Prefix::VerbatimUNC(..)));
    Ok(remote.then_some("smb"))
}

/// False: files are no mounts of their own.
pub(crate) fn is_on_another_mount(_path: &Path, _folder: &Path) -> bool {
    false
}

/// The user's data folder: `%LOCALAPPDATA%`, which stays on this machine.
pub(crate) fn data_folder() -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    set("LOCALAPPDATA").or_else(|| Some(set("USERPROFILE")?.join(r"AppData\Local")))
}

/// Returns true if the notebook may lie on the storage that is measured: on the same volume, or where it is unknown.
/// Two volumes of one disk count as apart, since nothing without rights tells.
pub fn same_storage(notebook: &Path, target: &Path) -> bool {
    let volume = |path: &Path| {
        let found = path.ancestors().find_map(|ancestor| {
            let ancestor = if ancestor.as_os_str().is_empty() { Path::new(".") } else { ancestor };
            identity(ancestor, true).ok()
        });
        found.map(|(volume, _)| volume)
    };
    match (volume(notebook), volume(target)) {
        (Some(ours), Some(theirs)) => ours == theirs,
        _ => true,
    }
}

fn prefix(path: &Path) -> Option<Prefix<'_>> {
    match path.components().next() {
        Some(Component::Prefix(prefix)) => Some(prefix.kind()),
        _ => None,
    }
}
