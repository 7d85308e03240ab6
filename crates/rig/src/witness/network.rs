//! What a network file system exchanged with its server: the per-mount statistics of NFS (`/proc/self/mountstats`), or
//! the counters of an SMB share.
//!
//! They count for everybody who uses the mount, as a disk's counters do. What the server's cache did is seen by nobody
//! here.

use std::{fs::File, path::Path};

use iosonde_model::Witnesses;

use super::{reading::grown, smb};
use crate::platform::{System, mount_of};

/// A mount whose statistics can be read.
#[derive(Debug)]
pub(super) struct Network {
    system: System,
    at: String,
    /// Of SMB, the share.
    share: Option<String>,
}

/// What it counts since it was mounted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counters {
    pub(super) read_bytes: u64,
    pub(super) write_bytes: u64,
    pub(super) requests: Option<u64>,
    pub(super) transmissions: Option<u64>,
    pub(super) round_trip_ms: Option<u64>,
}

impl Network {
    /// The mount below a file; nothing where that is neither NFS nor SMB.
    pub(super) fn open(system: &System, file: &File) -> Option<Self> {
        let mount = mount_of(system, file, Path::new("/"))?;
        let at = mount.at.to_str()?.to_owned();
        let share = match mount.file_system.as_str() {
            "nfs" | "nfs4" => None,
            "cifs" | "smb3" => Some(smb::share(mount.source.to_str()?)?),
            _ => return None,
        };
        Some(Self { system: system.clone(), at, share })
    }

    pub(super) fn counters(&self) -> Option<Counters> {
        match &self.share {
            None => parse(&self.system.text("/proc/self/mountstats")?, &self.at),
            Some(share) => smb::parse(&self.system.text("/proc/fs/cifs/Stats")?, share),
        }
    }

    /// Adds what was exchanged since an earlier reading, or why that is not known.
    pub(super) fn since(&self, before: Option<Counters>, out: &mut Witnesses) {
        let after = self.counters();
        let delta = |what: &str, count: fn(Counters) -> Option<u64>| {
            let name = format!("the count of {what} of {}", self.at);
            grown(&name, before.and_then(count), after.and_then(count))
        };
        match (delta("bytes read", |c| Some(c.read_bytes)), delta("bytes written", |c| Some(c.write_bytes))) {
            (Ok(read), Ok(write)) => {
                (out.network_read_bytes, out.network_write_bytes) = (Some(read), Some(write));
            }
            (Err(why), _) | (_, Err(why)) => out.absent.push(why),
        }
        let requests = delta("requests", |c| c.requests).ok();
        let sent = delta("transmissions", |c| c.transmissions).ok();
        let waited_ms = delta("waits", |c| c.round_trip_ms).ok();
        out.network_retransmissions = sent.zip(requests).and_then(|(sent, asked)| sent.checked_sub(asked));
        let mean = requests.zip(waited_ms).filter(|(asked, _)| *asked > 0);
        out.network_round_trip_ns = mean.map(|(asked, ms)| ms as f64 * 1e6 / asked as f64);
    }
}

/// `bytes:` counts what programs read and wrote, buffered and direct, and then what the server sent and took; the lines
/// `READ:` and `WRITE:` requests, transmissions, timeouts, bytes sent and received, and milliseconds in the queue, on
/// the way and in all.
fn parse(text: &str, at: &str) -> Option<Counters> {
    let header = format!(" mounted on {at} with fstype nfs");
    let mut lines = text.lines().skip_while(|line| !(line.starts_with("device ") && line.contains(&header)));
    lines.next()?;
    let own: Vec<&str> = lines.take_while(|line| !line.starts_with("device ")).collect();
    let row = |name: &str| -> Option<Vec<u64>> {
        let line = own.iter().find_map(|line| line.trim().strip_prefix(name))?;
        line.split_whitespace().map(|word| word.parse().ok()).collect()
    };
    let bytes = row("bytes:")?;
    let (reads, writes) = (row("READ:")?, row("WRITE:")?);
    let both = |place: usize| reads.get(place)?.checked_add(*writes.get(place)?);
    Some(Counters {
        read_bytes: *bytes.get(4)?,
        write_bytes: *bytes.get(5)?,
        requests: Some(both(0)?),
        transmissions: Some(both(1)?),
        round_trip_ms: Some(both(6)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "device proc mounted on /proc with fstype proc\n\
        device srv:/other mounted on /mnt/o with fstype nfs4 statvers=1.1\n\tbytes:\t1 1 1 1 1 1 1 1\n\
        device srv:/data mounted on /mnt/d with fstype nfs4 statvers=1.1\n\topts:\trw,vers=4.2\n\
        \tbytes:\t100 200 300 400 5000 6000 7 8\n\tper-op statistics\n\
        \t\tREAD: 40 42 0 6400 5000 10 200 230 0\n\t\tWRITE: 10 10 0 6000 640 5 100 110 0\n\
        device tmpfs mounted on /run with fstype tmpfs\n";

    #[test]
    fn the_right_mounts_counters_are_read() {
        let want = Counters {
            read_bytes: 5000,
            write_bytes: 6000,
            requests: Some(50),
            transmissions: Some(52),
            round_trip_ms: Some(300),
        };
        assert_eq!(parse(TEXT, "/mnt/d"), Some(want));
        assert_eq!(parse(TEXT, "/mnt"), None);
        // The other mount has no lines of requests.
        assert_eq!(parse(TEXT, "/mnt/o"), None);
    }

    #[test]
    fn what_was_exchanged_between_two_readings() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("proc/self")).unwrap();
        std::fs::write(root.path().join("proc/self/mountstats"), TEXT).unwrap();
        let network = Network { system: System::at(root.path()), at: "/mnt/d".into(), share: None };
        let before = Counters {
            read_bytes: 1000,
            write_bytes: 6000,
            requests: Some(30),
            transmissions: Some(30),
            round_trip_ms: Some(100),
        };
        let mut out = Witnesses::default();
        network.since(Some(before), &mut out);
        assert_eq!((out.network_read_bytes, out.network_write_bytes), (Some(4000), Some(0)));
        // 22 transmissions of 20 requests; 200 ms for 20.
        assert_eq!((out.network_retransmissions, out.network_round_trip_ns), (Some(2), Some(1e7)));
        // Mounted anew meanwhile: the counters began again.
        let mut out = Witnesses::default();
        network.since(Some(Counters { read_bytes: 9999, ..before }), &mut out);
        assert_eq!(out.network_read_bytes, None);
        assert!(out.absent[0].contains("went backwards"), "{:?}", out.absent);
    }

    #[test]
    fn an_smb_share_is_a_witness_as_an_nfs_mount_is() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("proc/fs/cifs")).unwrap();
        let stats = root.path().join("proc/fs/cifs/Stats");
        let network =
            Network { system: System::at(root.path()), at: "/mnt/s".into(), share: smb::share("//srv/data") };
        std::fs::write(&stats, "1) \\\\srv\\data\nBytes read: 100  Bytes written: 7\n").unwrap();
        let before = network.counters();
        std::fs::write(&stats, "1) \\\\srv\\data\nBytes read: 4196  Bytes written: 7\n").unwrap();
        let mut out = Witnesses::default();
        network.since(before, &mut out);
        assert_eq!((out.network_read_bytes, out.network_write_bytes), (Some(4096), Some(0)));
        assert_eq!((out.network_retransmissions, out.network_round_trip_ns), (None, None));
        // The share was mounted anew, or the module unloaded.
        std::fs::remove_file(&stats).unwrap();
        let mut out = Witnesses::default();
        network.since(before, &mut out);
        assert_eq!(out.network_read_bytes, None);
        assert!(out.absent[0].contains("/mnt/s could not be read"), "{:?}", out.absent);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[\\PC\n]*") {
            let _ = parse(&text, "/mnt/d");
            let _ = parse(&format!("device a mounted on /mnt/d with fstype nfs\n{text}"), "/mnt/d");
        }
    }
}
