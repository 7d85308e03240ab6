//! What a network file system exchanged with its server: the per-mount statistics of NFS (`/proc/self/mountstats`), or
//! the counters of an SMB share.
//!
//! They count for everybody who uses the mount, as a disk's counters do. What the server's cache did is seen by nobody
//! here.

use std::{fs::File, path::Path};

use iosonde_model::{Counter, Witnesses};

use super::{
    network_counters::{Counters, Times},
    smb,
};
use crate::platform::linux::{System, mount_of, unescape};
use crate::witness::grown;

/// A mount whose statistics can be read.
#[derive(Debug)]
pub(super) struct Network {
    system: System,
    at: String,
    /// Share of an SMB mount; `None` for NFS.
    share: Option<String>,
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
        let delta = |counter: Counter, count: fn(Counters) -> Option<u64>| {
            grown(counter, &self.at, before.and_then(count), after.and_then(count))
        };
        let read = delta(Counter::BytesRead, |c| Some(c.read_bytes));
        match (read, delta(Counter::BytesWritten, |c| Some(c.write_bytes))) {
            (Ok(read), Ok(write)) => {
                (out.network_read_bytes, out.network_write_bytes) = (Some(read), Some(write));
            }
            (Err(why), _) | (_, Err(why)) => out.absent.push(why),
        }
        let requests = delta(Counter::Requests, |c| c.requests).ok();
        let sent = delta(Counter::Transmissions, |c| c.transmissions).ok();
        out.network_retransmissions = sent.zip(requests).and_then(|(sent, asked)| sent.checked_sub(asked));
        let times = before.and_then(|c| c.times).zip(after.and_then(|c| c.times));
        let mut mean_ns = |counter: Counter, time: fn(Times) -> u64| {
            let (before, after) = times?;
            let ms = grown(counter, &self.at, Some(time(before)), Some(time(after)));
            let ms = ms.map_err(|why| out.absent.push(why)).ok()?;
            requests.filter(|&asked| asked > 0).map(|asked| ms as f64 * 1e6 / asked as f64)
        };
        let queued_ns = mean_ns(Counter::QueueTime, |times| times.queued_ms);
        let round_trip_ns = mean_ns(Counter::RoundTripTime, |times| times.round_trip_ms);
        let execution_ns = mean_ns(Counter::ExecutionTime, |times| times.execution_ms);
        out.network_queued_ns = queued_ns;
        (out.network_round_trip_ns, out.network_execution_ns) = (round_trip_ns, execution_ns);
    }
}

/// `bytes:` counts what programs read and wrote, buffered and direct, and then what the server sent and took; the lines
/// `READ:` and `WRITE:` requests, transmissions, timeouts, bytes sent and received, and milliseconds in the queue, on
/// the way and in all. NFS 4.2 may read by `READ_PLUS:` instead, which older kernels do not list. Of two mounts at one
/// point the later one hides the earlier.
fn parse(text: &str, at: &str) -> Option<Counters> {
    let lines: Vec<&str> = text.lines().collect();
    let heads = |line: &str| -> bool {
        let place = line.strip_prefix("device ").and_then(|rest| rest.split_once(" mounted on "));
        let named = place.and_then(|(_, rest)| rest.rsplit_once(" with fstype "));
        named.is_some_and(|(path, kind)| kind.starts_with("nfs") && unescape(path).to_str() == Some(at))
    };
    let own = &lines[lines.iter().rposition(|line| heads(line))? + 1..];
    let end = own.iter().position(|line| line.starts_with("device ")).unwrap_or(own.len());
    let row = |name: &str| -> Option<Vec<u64>> {
        let line = own[..end].iter().find_map(|line| line.trim().strip_prefix(name))?;
        line.split_whitespace().map(|word| word.parse().ok()).collect()
    };
    let bytes = row("bytes:")?;
    let (reads, writes) = (row("READ:")?, row("WRITE:")?);
    let sparse_reads = row("READ_PLUS:").unwrap_or_else(|| vec![0; reads.len()]);
    let sum = |place: usize| {
        let of = |row: &[u64]| row.get(place).copied();
        of(&reads)?.checked_add(of(&writes)?)?.checked_add(of(&sparse_reads)?)
    };
    Some(Counters {
        read_bytes: *bytes.get(4)?,
        write_bytes: *bytes.get(5)?,
        requests: Some(sum(0)?),
        transmissions: Some(sum(1)?),
        times: Some(Times { queued_ms: sum(5)?, round_trip_ms: sum(6)?, execution_ms: sum(7)? }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_model::Absence;
    use proptest::prelude::*;

    const TEXT: &str = "device proc mounted on /proc with fstype proc\n\
        device srv:/other mounted on /mnt/o with fstype nfs4 statvers=1.1\n\tbytes:\t1 1 1 1 1 1 1 1\n\
        device srv:/data mounted on /mnt/d with fstype nfs4 statvers=1.1\n\topts:\trw,vers=4.2\n\
        \tbytes:\t100 200 300 400 5000 6000 7 8\n\tper-op statistics\n\
        \t\tREAD: 40 42 0 6400 5000 10 200 230 0\n\t\tWRITE: 10 10 0 6000 640 5 100 110 0\n\
        device tmpfs mounted on /run with fstype tmpfs\n";

    /// As a kernel of the 6.x series prints it for NFS 4.2, shortened to the operations that are read; a space in a
    /// mount point is `\040` there.
    const KERNEL: &str = "device filer.example:/export/home mounted on /mnt/my\\040data with fstype nfs4 statvers=1.1\n\
        \topts:\trw,vers=4.2,rsize=1048576,wsize=1048576,namlen=255,acregmin=3,acregmax=60,hard,proto=tcp,\
        nconnect=4,timeo=600,retrans=2,sec=sys,clientaddr=10.1.2.4,local_lock=none\n\tage:\t5403\n\
        \timpl_id:\tname='',domain='',date='0,0'\n\tcaps:\tcaps=0xffffbfff,wtmult=512,dtsize=1048576,bsize=0\n\
        \tnfsv4:\tbm0=0xfdffbfff,bm1=0xf9be3e,bm2=0x68800,acl=0x3,sessions,pnfs=not configured\n\
        \tsec:\tflavor=1,pseudoflavor=1\n\
        \tevents:\t13 40960 5 0 4 6 41043 20480 0 3 0 0 0 9 40960 0 7 0 0 20480 0 0 0 0 0 0 0\n\
        \tbytes:\t0 0 167772160 83886080 167772160 83886080 0 0\n\
        \tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n\
        \txprt:\ttcp 0 0 2 0 14 61530 61530 0 983012 0 2 14 36840\n\tper-op statistics\n\
        \t        NULL: 1 1 0 44 24 3 0 3 0\n\
        \t        READ: 40960 40963 1 8519680 172261376 61440 96256 158720 0\n\
        \t       WRITE: 20480 20480 0 87818240 3604480 20480 40960 62464 0\n\
        \t      COMMIT: 4 4 0 816 416 0 12 12 0\n\
        \t   READ_PLUS: 0 0 0 0 0 0 0 0 0\n\n";

    #[test]
    fn the_right_mounts_counters_are_read() {
        let want = Counters {
            read_bytes: 5000,
            write_bytes: 6000,
            requests: Some(50),
            transmissions: Some(52),
            times: Some(Times { queued_ms: 15, round_trip_ms: 300, execution_ms: 340 }),
        };
        assert_eq!(parse(TEXT, "/mnt/d"), Some(want));
        assert_eq!(parse(TEXT, "/mnt"), None);
        // The other mount has no lines of requests.
        assert_eq!(parse(TEXT, "/mnt/o"), None);
    }

    #[test]
    fn what_a_kernel_prints_is_read_whole_and_cut_off_it_is_absent() {
        let found = parse(KERNEL, "/mnt/my data").unwrap();
        assert_eq!((found.read_bytes, found.write_bytes), (167_772_160, 83_886_080));
        assert_eq!((found.requests, found.transmissions), (Some(61_440), Some(61_443)));
        let times = Times { queued_ms: 81_920, round_trip_ms: 137_216, execution_ms: 221_184 };
        assert_eq!(found.times, Some(times));
        assert_eq!(parse("", "/mnt/my data"), None);
        // Cut off before the line of writes is whole: absent, and no part of it is taken for the whole.
        let writes = KERNEL.find("       WRITE:").unwrap();
        for end in 0..writes + "       WRITE: 20480 20480 0 87818240 3604480 20480 40960 ".len() {
            assert_eq!(parse(&KERNEL[..end], "/mnt/my data"), None, "{:?}", &KERNEL[..end]);
        }
        // A share of the reads went by another operation.
        let sparse = KERNEL.replace("READ_PLUS: 0 0 0 0 0 0 0 0 0", "READ_PLUS: 10 11 0 1 1 2 30 40 0");
        let found = parse(&sparse, "/mnt/my data").unwrap();
        assert_eq!((found.requests, found.transmissions), (Some(61_450), Some(61_454)));
    }

    #[test]
    fn of_two_mounts_at_one_point_the_later_one_is_meant() {
        let later = KERNEL.replace("167772160 83886080 167772160", "167772160 83886080 4096");
        assert_eq!(parse(&format!("{KERNEL}{later}"), "/mnt/my data").unwrap().read_bytes, 4096);
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
            times: Some(Times { queued_ms: 5, round_trip_ms: 100, execution_ms: 110 }),
        };
        let mut out = Witnesses::default();
        network.since(Some(before), &mut out);
        assert_eq!((out.network_read_bytes, out.network_write_bytes), (Some(4000), Some(0)));
        // 22 transmissions of 20 requests; 200 ms for 20.
        assert_eq!((out.network_retransmissions, out.network_round_trip_ns), (Some(2), Some(1e7)));
        assert_eq!((out.network_queued_ns, out.network_execution_ns), (Some(5e5), Some(1.15e7)));
        // One sum began again: that one is absent, and the others stay.
        let reset = Times { queued_ms: 16, round_trip_ms: 100, execution_ms: 110 };
        let mut out = Witnesses::default();
        network.since(Some(Counters { times: Some(reset), ..before }), &mut out);
        assert_eq!((out.network_queued_ns, out.network_round_trip_ns), (None, Some(1e7)));
        assert!(
            matches!(out.absent[0], Absence::WentBackwards { counter: Counter::QueueTime, .. }),
            "{:?}",
            out.absent
        );
        // Mounted anew meanwhile: the counters began again.
        let mut out = Witnesses::default();
        network.since(Some(Counters { read_bytes: 9999, ..before }), &mut out);
        assert_eq!(out.network_read_bytes, None);
        assert!(
            matches!(out.absent[0], Absence::WentBackwards { counter: Counter::BytesRead, .. }),
            "{:?}",
            out.absent
        );
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
        assert_eq!(out.absent, [Absence::NotReadTwice { counter: Counter::BytesRead, of: "/mnt/s".into() }]);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[\\PC\n]*") {
            let _ = parse(&text, "/mnt/d");
            let _ = parse(&format!("device a mounted on /mnt/d with fstype nfs\n{text}"), "/mnt/d");
        }
    }
}
