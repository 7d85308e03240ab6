//! Extended attributes: a few bytes that a file system keeps beside a file's own.

use std::{fs::File, io, path::Path};

use rustix::fs::{XattrFlags, fsetxattr, getxattr};

/// Longer ones are none of ours.
const LENGTH_MAX: usize = 256;

/// Sets an attribute, whose name begins with `user.`.
///
/// # Errors
/// Returns an error where the file system keeps none.
pub fn set_attribute(file: &File, name: &str, value: &str) -> io::Result<()> {
    Ok(fsetxattr(file, name, value.as_bytes(), XattrFlags::empty())?)
}

/// Returns an attribute of the file at a path, links followed; `None` if it has none of that name.
pub fn attribute(path: &Path, name: &str) -> Option<String> {
    let mut value = vec![0; LENGTH_MAX];
    let length = getxattr(path, name, &mut value[..]).ok()?;
    value.truncate(length);
    String::from_utf8(value).ok()
}
