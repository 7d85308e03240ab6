//! `io_properties.yaml` of Seastar (ScyllaDB, Redpanda): what its I/O scheduler may give a disk.
//!
//! `read_iops` and `write_iops` are the highest rates of 4 KiB random requests, `read_bandwidth` and
//! `write_bandwidth` those of sequential requests of 128 KiB and more, in bytes per second, as `iotune` measures them.
//! The mount point is the target as an absolute path, where it exists. A run without one of the figures is refused: a
//! scheduler would take a guess for a limit.

use std::fmt::Write;

use iosonde_model::{Named, Run, Rw};

use super::{
    ExportFormat,
    capacity::{Kind, highest},
};

/// The registered format.
pub struct IoProperties;

impl Named for IoProperties {
    fn name(&self) -> &'static str {
        "io-properties"
    }
}

/// The keys, in the order in which iotune writes them.
const KEYS: [(&str, Kind); 4] = [
    ("read_iops", Kind { rw: Rw::RandRead, small: true }),
    ("read_bandwidth", Kind { rw: Rw::Read, small: false }),
    ("write_iops", Kind { rw: Rw::RandWrite, small: true }),
    ("write_bandwidth", Kind { rw: Rw::Write, small: false }),
];

impl ExportFormat for IoProperties {
    fn extension(&self) -> &'static str {
        "io_properties.yaml"
    }

    fn write(&self, run: &Run) -> Result<String, String> {
        // Its reader knows no folder that `./` would be in.
        let mount = std::fs::canonicalize(&run.info.target)
            .map_or_else(|_| run.info.target.clone(), |path| path.display().to_string());
        // A JSON string is a YAML string.
        let mount = serde_json::to_string(&mount).map_err(|error| error.to_string())?;
        let mut text = format!("disks:\n  - mountpoint: {mount}\n");
        for (key, kind) in KEYS {
            let figure = highest(run, kind)?;
            let (low, high) = figure.low.zip(figure.high).unwrap_or((figure.value, figure.value));
            let _ = writeln!(text, "    {key}: {:.0} # {low:.0} to {high:.0}", figure.value);
        }
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::capacity::tests::measured;

    #[test]
    fn the_four_figures_stand_under_their_keys() {
        let mut run = measured();
        run.info.target = "/var/lib/scylla".to_owned();
        let text = IoProperties.write(&run).unwrap();
        let keys: Vec<&str> = text.lines().skip(2).filter_map(|line| line.trim().split(':').next()).collect();
        assert!(text.starts_with("disks:\n  - mountpoint: \"/var/lib/scylla\"\n"), "{text}");
        assert_eq!(keys, ["read_iops", "read_bandwidth", "write_iops", "write_bandwidth"]);
        assert!(text.contains("read_iops: 100003 # 98003 to 102003\n"), "{text}");
        run.points.remove(0);
        assert!(IoProperties.write(&run).unwrap_err().contains("no sequential reads of 128 KiB or more"));
    }
}
