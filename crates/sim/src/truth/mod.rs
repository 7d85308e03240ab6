//! What is true of a simulated device: for each finding a value in closed form with its derivation in words,
//! or why there is none.
//!
//! A truth is a closed form, put together from the laws that the parts state ([`laws`]); or, where there is none, what
//! the device itself does under a stated load, with an interval ([`computed`]); or not defined, with the reason.

mod computed;
mod laws;
mod program;
mod stated;
mod undefined;

use iosonde_model::FindingName;

use crate::file::DeviceFile;
pub(crate) use laws::Laws;
pub(crate) use stated::grouped;
pub use stated::{Known, Truth};

/// Returns the true values in closed form for every finding, in the order of [`FindingName::ALL`]; reads before writes.
pub fn truths(file: &DeviceFile) -> Vec<Truth> {
    let laws = Laws::of(file);
    FindingName::ALL.iter().flat_map(|&name| laws.truths_of(name)).collect()
}

/// Returns the true values, with reference runs where there is no closed form, and beside closed forms that random
/// addresses do not reach. Takes seconds.
pub fn truths_with_references(file: &DeviceFile, seed: u64) -> Vec<Truth> {
    let closed = truths(file);
    let computed = computed::Computed::of(file, &closed, seed);
    FindingName::ALL.iter().flat_map(|&name| computed.truths_of(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin;
    use iosonde_model::Op;

    fn truth(device: &str, finding: FindingName, op: Op) -> Truth {
        let file = DeviceFile::parse(builtin(device).unwrap(), device).unwrap();
        truths(&file).into_iter().find(|t| t.finding == finding && t.conditions.op == Some(op)).unwrap()
    }

    #[test]
    fn every_finding_has_its_truth_or_its_reason() {
        let file = DeviceFile::parse(builtin("plain-nvme").unwrap(), "x").unwrap();
        let all = truths(&file);
        for &name in FindingName::ALL {
            let mut of_name = all.iter().filter(|truth| truth.finding == name).peekable();
            assert!(of_name.peek().is_some(), "{name}");
            assert!(
                of_name.all(|t| t.value.is_some() != t.derivation.starts_with("not defined: ")),
                "{name}"
            );
        }
    }

    #[test]
    fn the_ideal_device() {
        // 4 / 80 us; QD 1: 80 us; 50,000 x 80 us = QD 4.
        let iops = truth("ideal", FindingName::MaxIops, Op::Read);
        assert_eq!((iops.value, iops.unit), (Some(50_000.0), "IOPS"));
        assert_eq!(iops.derivation, "4 servers / 80.0 µs = 50,000");
        assert_eq!(truth("ideal", FindingName::BaseLatency, Op::Write).value, Some(80_000.0));
        assert_eq!(truth("ideal", FindingName::QueueDepthKnee, Op::Read).value, Some(4.0));
        assert_eq!(truth("ideal", FindingName::HalfSize, Op::Read).value, None);
        // 95 % of 50,000 needs 3.8, so 4.
        assert_eq!(truth("ideal", FindingName::DepthFor95Percent, Op::Read).value, Some(4.0));
    }

    #[test]
    fn the_plain_nvme_derives_in_words() {
        // 1.5 + 5 + 60 us, and 4,096 B / 3.5 GB/s = 1.170 us.
        let latency = truth("plain-nvme", FindingName::BaseLatency, Op::Read);
        assert!((latency.value.unwrap() - 67_670.286).abs() < 0.001);
        assert_eq!(
            latency.derivation,
            "program 1.50 µs + link 5.00 µs + b / 3.50 GB/s + service 60.0 µs = 67.7 µs for 4 KiB"
        );
        assert_eq!(
            truth("plain-nvme", FindingName::MaxIops, Op::Read).derivation,
            "32 servers / 60.0 µs = 533,333 (more than that: the program, 1 / 1.50 µs = 666,667; \
             the link, 3.50 GB/s / 4 KiB = 854,492)"
        );
        // 66.5 us x 3.5 GB/s = 232,750 B.
        assert!(
            (truth("plain-nvme", FindingName::HalfSize, Op::Read).value.unwrap() - 232_750.0).abs() < 1e-6
        );
        // 19 times that.
        assert!(
            (truth("plain-nvme", FindingName::PlateauBlockSize, Op::Read).value.unwrap() - 4_422_250.0).abs()
                < 1e-5
        );
        assert_eq!(truth("plain-nvme", FindingName::DepthFor95Percent, Op::Read).value, None);
        assert!(
            (truth("plain-nvme", FindingName::DeviceBandwidth, Op::Write).value.unwrap() - 3.5e9).abs() < 1.0
        );
    }

    #[test]
    fn a_throttled_device_has_no_line_and_no_knee() {
        // 300 a second once the credit is spent: 3.3 ms apart, though a single request takes half a millisecond.
        let iops = truth("cloud-volume", FindingName::MaxIops, Op::Read);
        assert_eq!(iops.value, Some(300.0));
        assert!(iops.derivation.ends_with(
            "(once the burst credit of 5,400,000 requests is spent; until then up to 3,000 a second)"
        ));
        for finding in [
            FindingName::HalfSize,
            FindingName::PerRequestCost,
            FindingName::PlateauBlockSize,
            FindingName::QueueDepthKnee,
        ] {
            assert_eq!(truth("cloud-volume", finding, Op::Read).value, None, "{finding}");
        }
    }

    #[test]
    fn a_drifting_device_says_that_its_truth_is_that_of_its_start() {
        let iops = truth("noisy-virtual-disk", FindingName::MaxIops, Op::Read);
        assert!((iops.value.unwrap() - 83_333.333).abs() < 0.001);
        assert!(iops.derivation.ends_with("(at the start of the device's life, falling by 60 % an hour)"));
        let file = DeviceFile::parse(builtin("noisy-virtual-disk").unwrap(), "x").unwrap();
        let drift = truths(&file).into_iter().find(|truth| truth.finding == FindingName::Drift).unwrap();
        assert_eq!((drift.value, drift.unit), (Some(-0.6), "1/h"));
    }
}
