//! fio's counters of the block devices below its files: `disk_util` in JSON, `Disk stats` in text.
//!
//! They cover the whole run, all jobs and all processes together. So they are an upper bound of what the device did for
//! each job: `read_most_bytes` and `write_most_bytes`. fio before 3.36 counts requests and no bytes.

use iosonde_model::Trial;
use serde_json::Value;

/// No request of a block device is larger: most queues split at 0.5 to 1.3 MiB, and NVMe drives at 2 MiB.
const REQUEST_BYTES_MAX: u64 = 4 << 20;
const SECTOR_BYTES: u64 = 512;

/// Bytes that all devices read and wrote at most.
pub(super) type MostBytes = [u64; 2];

/// Counters of a JSON document. Jobs in several places may be on a file system without a device, whose bytes are not
/// counted.
pub(super) fn of_document(document: &Value) -> Option<MostBytes> {
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
        let of = |device: &Value, side: &str| {
            let number = |what: &str| device[format!("{side}_{what}")].as_u64();
            let sectors = number("sectors").map(|sectors| sectors.saturating_mul(SECTOR_BYTES));
            let requests = || Some(number("ios")?.saturating_mul(REQUEST_BYTES_MAX));
            sectors.or_else(requests)
        };
        ["read", "write"].map(|side| sum(devices.iter().map(|device| of(device, side))))
    })
}

/// Counters of a text: `  vda: ios=1891/1, sectors=15128/8, merge=0/0, ..`.
pub(super) fn of_text(text: &str) -> Option<MostBytes> {
    let devices = text.lines().skip_while(|line| !line.starts_with("Disk stats (read/write)")).skip(1);
    let rows: Vec<&str> =
        devices.map_while(|line| line.trim().split_once(": ios=").map(|(_, rest)| rest)).collect();
    let of = |row: &str, at: usize| {
        let pair = |text: &str| text.split('/').nth(at)?.parse::<u64>().ok();
        let (requests, rest) = row.split_once(", ")?;
        let sectors = rest.strip_prefix("sectors=").and_then(|rest| pair(rest.split(", ").next()?));
        let sectors = sectors.map(|sectors| sectors.saturating_mul(SECTOR_BYTES));
        sectors.or_else(|| Some(pair(requests)?.saturating_mul(REQUEST_BYTES_MAX)))
    };
    (!rows.is_empty()).then(|| [0, 1].map(|at| sum(rows.iter().map(|row| of(row, at)))))
}

/// A device without a counter may have moved anything.
fn sum(bytes: impl Iterator<Item = Option<u64>>) -> u64 {
    bytes.fold(0, |sum, own| sum.saturating_add(own.unwrap_or(u64::MAX)))
}

/// Gives the bounds to each result.
pub(super) fn witness(trials: &mut [Trial], most: Option<MostBytes>) {
    for trial in trials {
        let witnesses = &mut trial.witnesses;
        [witnesses.read_most_bytes, witnesses.write_most_bytes] =
            most.map_or([None; 2], |most| most.map(Some));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn requests_bound_bytes_and_sectors_tell_them() {
        let text = "Run status group 0 (all jobs):\n\nDisk stats (read/write):\n  vda: ios=3/1, merge=0/0, util=2%\n";
        assert_eq!(of_text(text), Some([12 << 20, 4 << 20]));
        let newer = text.replace("ios=3/1, ", "ios=3/1, sectors=64/8, ");
        assert_eq!(of_text(&newer), Some([32 << 10, 4 << 10]));
        assert_eq!(of_text("no counters"), None);
        let mut document = json!({
            "disk_util": [{ "read_ios": 3, "write_ios": 1 }, { "read_sectors": 64, "read_ios": 1, "write_ios": 0 }],
            "jobs": [{ "job options": { "directory": "a" } }, { "job options": { "directory": "a" } }],
        });
        assert_eq!(of_document(&document), Some([(12 << 20) + (32 << 10), 4 << 20]));
        // One of them may be on a network.
        document["jobs"][1]["job options"]["directory"] = "b".into();
        assert_eq!(of_document(&document), None);
    }
}
