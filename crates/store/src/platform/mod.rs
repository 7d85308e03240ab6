//! What differs between operating systems for the notebook: identities of files, rights, shared file systems, folders
//! of the user. The same list of functions in each; nothing else in this crate asks which system it is built for.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
use linux as here;
#[cfg(target_os = "macos")]
use macos as here;
#[cfg(windows)]
use windows as here;

pub use here::same_storage;
pub(crate) use here::{
    Identity, address_bytes, bytes_of, data_folder, file_size_limit, identity, identity_of,
    is_on_another_mount, links, links_of, may_read_and_write, never_through_links, path_of,
    shared_file_system,
};
