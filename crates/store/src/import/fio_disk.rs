//! fio's counters of the block devices below its files: `disk_util` in JSON, `Disk stats` in text, and the end of terse
//! lines.
//!
//! They cover the whole run, all jobs and all processes together. So they are an upper bound of what the device did for
//! each job: `read_most_bytes` and `write_most_bytes`. fio before 3.36 counts requests and no bytes.

use iosonde_model::{Trial, Unstated};
use serde_json::Value;

/// No request of a block device is larger: most queues split at 0.5 to 1.3 MiB, and NVMe drives at 2 MiB.
const REQUEST_BYTES_MAX: u64 = 4 << 20;
/// No request for smaller random reads is larger: fio tells the kernel that they are random (`fadvise_hint`), so that
/// nothing is read ahead. Without that, what is read around a fault of a mapped file has this size by default.
const AROUND_BYTES: u64 = 128 << 10;
const SECTOR_BYTES: u64 = 512;

/// What all devices did for reads and for writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counted {
    requests: [u64; 2],
    /// Where the file has them.
    bytes: [Option<u64>; 2],
}

/// Counters of a JSON document. Jobs in several places may be on a file system without a device, whose bytes are not
/// counted.
pub(super) fn of_document(document: &Value) -> Option<Counted> {
    let devices = document["disk_util"].as_array().filter(|devices| !devices.is_empty())?;
    let global = &document["global options"];
    let place = |job: &'_ Value| {
        let of = |name: &str| {
            let own = &job["job options"][name];
            let given = if own.is_null() { &global[name] } else { own };
            given.as_str().unwrap_or_default().to_owned()
        };
        let (directory, file) = (of("directory"), of("filename"));
        let parent = file.rsplit_once('/').map(|(parent, _)| parent.to_owned()).unwrap_or_default();
        (directory, parent, file.contains(':'))
    };
    let mut places = document["jobs"].as_array()?.iter().map(place);
    let first = places.next().filter(|(.., several)| !several)?;
    places.all(|other| other == first).then(|| {
        let rows = devices.iter().map(|device| {
            let of = |what: &str| ["read", "write"].map(|side| device[format!("{side}_{what}")].as_u64());
            (of("ios"), of("sectors"))
        });
        Counted::sum(rows)
    })
}

/// Counters of a text: `  vda: ios=1891/1, sectors=15128/8, merge=0/0, ..`.
pub(super) fn of_text(text: &str) -> Option<Counted> {
    let devices = text.lines().skip_while(|line| !line.starts_with("Disk stats (read/write)")).skip(1);
    let rows: Vec<&str> =
        devices.map_while(|line| line.trim().split_once(": ios=").map(|(_, rest)| rest)).collect();
    let pair = |text: &str| [0, 1].map(|at| text.split('/').nth(at)?.parse::<u64>().ok());
    let row = |row: &&str| {
        let (requests, rest) = row.split_once(", ").unwrap_or((row, ""));
        let sectors = rest.strip_prefix("sectors=").map(|rest| pair(rest.split(", ").next().unwrap_or("")));
        (pair(requests), sectors.unwrap_or([None; 2]))
    };
    (!rows.is_empty()).then(|| Counted::sum(rows.iter().map(row)))
}

/// Counters of a terse line, behind its last field: `vda;0;227;0;74;0;24;27;1.20%`, for each device.
pub(super) fn of_fields(fields: &[&str]) -> Option<Counted> {
    const OF_A_DEVICE: usize = 9;
    let devices =
        fields.chunks_exact(OF_A_DEVICE).take_while(|device| device[OF_A_DEVICE - 1].ends_with('%'));
    let rows: Vec<Row> =
        devices.map(|device| ([1, 2].map(|at| device[at].parse::<u64>().ok()), [None; 2])).collect();
    (!rows.is_empty()).then(|| Counted::sum(rows.into_iter()))
}

/// Requests and sectors of a device, read and written.
type Row = ([Option<u64>; 2], [Option<u64>; 2]);

impl Counted {
    /// A device without a counter may have done anything.
    fn sum(rows: impl Iterator<Item = Row>) -> Self {
        let none = Self { requests: [0; 2], bytes: [Some(0); 2] };
        rows.fold(none, |sum, (requests, sectors)| Self {
            requests: [0, 1].map(|at| sum.requests[at].saturating_add(requests[at].unwrap_or(u64::MAX))),
            bytes: [0, 1]
                .map(|at| Some(sum.bytes[at]?.saturating_add(sectors[at]?.saturating_mul(SECTOR_BYTES)))),
        })
    }

    /// Bytes that the devices moved at most for requests of which each is one of so many bytes at most.
    fn most_bytes(&self, side: usize, request_bytes: u64) -> u64 {
        self.bytes[side].unwrap_or_else(|| self.requests[side].saturating_mul(request_bytes))
    }
}

/// Gives the bounds to each result.
pub(super) fn witness(trials: &mut [Trial], counted: Option<Counted>) {
    let Some(counted) = counted else { return };
    for trial in trials {
        let is_random = !trial.unstated.contains(&Unstated::Order)
            && trial.spec.streams().all(|spec| spec.rw.is_random());
        let largest = trial.spec.streams().map(|spec| spec.block_size_bytes).max().unwrap_or(0);
        let around = if is_random { largest.max(AROUND_BYTES) } else { REQUEST_BYTES_MAX };
        trial.witnesses.read_most_bytes = Some(counted.most_bytes(0, around.min(REQUEST_BYTES_MAX)));
        trial.witnesses.write_most_bytes = Some(counted.most_bytes(1, REQUEST_BYTES_MAX));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_model::{Phase, Rw, TrialSpec};
    use serde_json::json;

    #[test]
    fn requests_bound_bytes_and_sectors_tell_them() {
        let text = "Run status group 0 (all jobs):\n\nDisk stats (read/write):\n  vda: ios=3/1, merge=0/0, util=2%\n";
        let counted = |requests, bytes| Some(Counted { requests, bytes });
        assert_eq!(of_text(text), counted([3, 1], [None; 2]));
        let newer = text.replace("ios=3/1, ", "ios=3/1, sectors=64/8, ");
        assert_eq!(of_text(&newer), counted([3, 1], [Some(32 << 10), Some(4 << 10)]));
        assert_eq!(of_text("no counters"), None);
        let fields: Vec<&str> = "vda;3;1;0;0;5;5;10;1.20%;".split(';').collect();
        assert_eq!(of_fields(&fields), counted([3, 1], [None; 2]));
        assert_eq!(of_fields(&fields[..4]), None);
        let mut document = json!({
            "disk_util": [{ "read_ios": 3, "write_ios": 1 }, { "read_sectors": 64, "read_ios": 1, "write_ios": 0 }],
            "jobs": [{ "job options": { "directory": "a" } }, { "job options": { "directory": "a" } }],
        });
        assert_eq!(of_document(&document), counted([4, 1], [None; 2]));
        // One of them may be on a network.
        document["jobs"][1]["job options"]["directory"] = "b".into();
        assert_eq!(of_document(&document), None);
    }

    #[test]
    fn random_reads_are_bounded_by_what_is_read_around_them() {
        let counted = of_text("Disk stats (read/write):\n  vda: ios=100/0, merge=0/0, util=2%\n");
        let most = |rw, bytes, unstated: &[Unstated]| {
            let spec = TrialSpec { rw, block_size_bytes: bytes, ..TrialSpec::default() };
            let mut trials = [Trial { unstated: unstated.to_vec(), ..Trial::blank(spec, Phase::Measure) }];
            witness(&mut trials, counted);
            trials[0].witnesses.read_most_bytes.unwrap() / 100
        };
        assert_eq!(most(Rw::RandRead, 4096, &[]), 128 << 10);
        assert_eq!(most(Rw::RandRead, 1 << 20, &[]), 1 << 20);
        assert_eq!(most(Rw::Read, 4096, &[]), 4 << 20);
        assert_eq!(most(Rw::RandRead, 4096, &[Unstated::Order]), 4 << 20);
    }
}
