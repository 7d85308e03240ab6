//! Loop devices, mounts and swap for tests, taken down again whatever happens.

// Each test binary uses a part of this.
#![allow(dead_code)]

use std::{
    fs::{self, File},
    io::{self, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::Command,
};

use iosonde_rig::guard::StrayRecorder;

/// Nobody to record for: where these tests run, own files need no name.
pub struct NoRecord;

impl StrayRecorder for NoRecord {
    fn record(&mut self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn forget(&mut self, _: &Path) -> io::Result<()> {
        Ok(())
    }
}

/// Says on the terminal, past the test harness, that something was not tested.
pub fn skip(what: &str, why: &str) {
    let _ = writeln!(io::stderr(), "skipped: {what}: {why}");
}

/// Runs a system tool; the error is what it said.
pub fn tool(name: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(name).args(arguments).output().map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

/// A loop device over a fresh sparse file.
pub struct Loop {
    pub node: PathBuf,
    pub image: PathBuf,
    pub size_bytes: u64,
    mounted: Option<PathBuf>,
    folder: tempfile::TempDir,
}

impl Loop {
    /// Fails where this user may not, or the kernel has none.
    pub fn new(mib: u64) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let image = folder.path().join("disk.img");
        let size_bytes = mib << 20;
        File::create(&image).and_then(|file| file.set_len(size_bytes)).map_err(|error| error.to_string())?;
        let node = tool("losetup", &["--find", "--show", text(&image)])?;
        Ok(Self { node: node.into(), image, size_bytes, mounted: None, folder })
    }

    /// Tells the kernel of a partition from the first MiB to the end, without a table: not every kernel
    /// reads one.
    pub fn add_partition(&self) -> Result<String, String> {
        let (start, sectors) = (2048, self.size_bytes / 512 - 2048);
        tool("addpart", &[text(&self.node), "1", &start.to_string(), &sectors.to_string()])?;
        let part = format!("{}p1", self.node.display());
        if Path::new(&part).exists() { Ok(part) } else { Err(format!("{part} did not appear")) }
    }

    pub fn make_ext4(&self) -> Result<(), String> {
        tool("mkfs.ext4", &["-q", "-F", text(&self.node)]).map(drop)
    }

    pub fn mount(&mut self, options: &str) -> Result<PathBuf, String> {
        let at = self.folder.path().join("mounted");
        fs::create_dir_all(&at).map_err(|error| error.to_string())?;
        tool("mount", &["-o", options, text(&self.node), text(&at)])?;
        self.mounted = Some(at.clone());
        Ok(at)
    }

    pub fn identity(&self) -> String {
        let name = self.node.file_name().unwrap().to_str().unwrap();
        let number = fs::read_to_string(format!("/sys/class/block/{name}/dev")).unwrap();
        let inode = fs::metadata(&self.image).unwrap().ino();
        format!("{}:{}:inode-{inode}", number.trim(), self.size_bytes)
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        if let Some(at) = &self.mounted {
            let _ = tool("umount", &[text(at)]);
        }
        let _ = tool("delpart", &[text(&self.node), "1"]);
        let _ = tool("losetup", &["--detach", text(&self.node)]);
    }
}

/// A mounted tmpfs.
pub struct Memory {
    folder: tempfile::TempDir,
}

impl Memory {
    pub fn new(options: &str) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        tool("mount", &["-t", "tmpfs", "-o", options, "tmpfs", text(folder.path())])?;
        Ok(Self { folder })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let _ = tool("umount", &[text(self.folder.path())]);
    }
}

/// An active swap file.
pub struct Swap {
    pub file: PathBuf,
    _folder: tempfile::TempDir,
}

impl Swap {
    pub fn new() -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let file = folder.path().join("swapfile");
        // Swap takes no holes.
        fs::write(&file, vec![0_u8; 4 << 20]).map_err(|error| error.to_string())?;
        tool("chmod", &["600", text(&file)])?;
        tool("mkswap", &[text(&file)])?;
        tool("swapon", &["--priority", "0", text(&file)])?;
        Ok(Self { file, _folder: folder })
    }
}

impl Drop for Swap {
    fn drop(&mut self) {
        let _ = tool("swapoff", &[text(&self.file)]);
    }
}

pub fn text(path: &Path) -> &str {
    path.to_str().expect("temporary paths are UTF-8 here")
}
