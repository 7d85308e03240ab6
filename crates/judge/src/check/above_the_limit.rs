//! More throughput than the device's link can carry, or than its medium can deliver.
//!
//! Looks at: bytes per second in each direction against the link that the kernel names (PCIe generation and lanes,
//! SATA, USB; Ethernet to a file server). For a rotating disk, also at random reads and sequential bytes against
//! the limits of arms and platters.
//!
//! Rule for links: the payload bandwidth of the standard, plus 2 % for the clocks. PCIe 3.0 and later send 128 bits
//! as 130; earlier ones and SATA send 8 as 10. USB 2 carries 480 Mb/s; USB 3 at 5 Gb/s sends 8 as 10, faster ones
//! 128 as 132. Nothing that came over the link can exceed it; real transfers stay 5 to 15 % below, because packets
//! have headers. SATA and USB 2 carry one direction at a time, the others both.
//!
//! Rule for media: a rotating disk on SATA or USB is one spindle. It reads or writes at most 300 MB/s sequentially
//! (the fastest disk of 2024 states 285). It serves at most 500 random requests per second over a span larger than
//! 1 GiB: 15,000 turns a minute and a sorting queue give about 450. The cache on the disk holds up to 512 MiB. More
//! than these limits is a warning; more than twice these limits is invalid. Volumes of RAID controllers show no
//! such link and are not checked; nor are virtual disks.
//!
//! Verdict: invalid as a statement about the device, since something nearer answered: memory, a cache, or a device
//! that is not what it says. Not checked where neither link nor medium gives a limit.
//!
//! Example: a USB hard disk of 2013 "reads at 400 to 450 MiB/s, as fast as the SSD". A 100 MiB file just written is
//! in memory; a rotating disk gives a third of that.
//!
//! What to do: as for `cache-served`. If the trial was direct and the device moved the bytes, look at the link
//! (`iosonde doctor`): an enclosure may contain several disks.

use iosonde_model::CheckName;
#[cfg(test)]
use iosonde_model::Rw;
use iosonde_model::{About, Device, Medium, Op, Reason, Run, Scope, Trial, Verdict, cause};

use super::{Check, judged};
#[cfg(test)]
use super::{Specimens, specimen};

/// Margin of a link's limit; clocks may differ.
const LINK_MARGIN: f64 = 1.02;
/// Limit of one spindle; see the manual page above.
const DISK_BYTES_PER_S: f64 = 300e6;
const DISK_RANDOM_IOPS: f64 = 500.0;
/// Times as much as one spindle does is certain.
const CERTAIN: f64 = 2.0;
/// No disk's own cache is larger.
const DISK_CACHE_BYTES: u64 = 1 << 30;

pub(super) struct AboveTheLimit;

impl Check for AboveTheLimit {
    fn id(&self) -> CheckName {
        CheckName::AboveTheLimit
    }

    fn check(&self, scope: Scope, run: &Run) -> Option<Verdict> {
        let device = &run.info.device;
        judged::measuring(scope, run).map(|trial| verdict(trial, device))
    }

    #[cfg(test)]
    fn specimens(&self) -> Specimens {
        let on = |link: Option<&str>, rotational, trial| {
            let medium = if rotational { Medium::Disk } else { Medium::Flash };
            let link = link.map(str::to_owned);
            specimen::run_on(
                Device { link, medium, rotational: Some(rotational), ..Device::unknown("file", 1 << 34) },
                trial,
            )
        };
        let sequential = |mib_per_s| specimen::healthy(Rw::Read, 1 << 20, 8, mib_per_s);
        let random = |iops| {
            let mut trial = specimen::healthy(Rw::RandRead, 4096, 8, iops);
            trial.spec.span_bytes = 1 << 34;
            trial
        };
        let mut small = random(5_000);
        small.spec.span_bytes = 100 << 20;
        Specimens {
            pass: vec![
                // 4 lanes × 16 GT/s × 128/130 / 8 = 7.88 GB/s.
                on(Some("PCIe 4.0 x4"), false, sequential(7_000)),
                on(Some("SATA 6.0 Gb/s"), false, sequential(530)),
                on(Some("SATA 6.0 Gb/s"), true, sequential(250)),
                on(Some("SATA 6.0 Gb/s"), true, random(200)),
                // The disk's own cache may hold it.
                on(Some("SATA 6.0 Gb/s"), true, small),
            ],
            warning: vec![
                // 430 MiB/s are 451 MB/s.
                on(Some("USB 5 Gb/s"), true, sequential(430)),
                on(Some("SATA 6.0 Gb/s"), true, random(700)),
            ],
            invalid: vec![
                on(Some("PCIe 3.0 x4"), false, sequential(4_000)),
                on(Some("SATA 6.0 Gb/s"), false, sequential(700)),
                on(Some("USB 480 Mb/s"), false, sequential(100)),
                on(Some("SATA 6.0 Gb/s"), true, random(20_000)),
                on(Some("USB 10 Gb/s"), true, sequential(650)),
            ],
            not_checked: vec![on(Some("virtio"), false, sequential(9_000)), on(None, true, random(20_000))],
        }
    }
}

/// What a link carries.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Link {
    bytes_per_s: f64,
    /// Whether both directions are carried at the same time.
    duplex: bool,
}

/// Reads the words in which the kernel's link is kept: `PCIe 4.0 x4`, `SATA 6.0 Gb/s`, `USB 480 Mb/s`.
fn link(text: &str) -> Option<Link> {
    let words: Vec<&str> = text.split(' ').collect();
    let bits_per_s = |number: &str, unit: &str| {
        let number: f64 = number.parse().ok().filter(|number| *number > 0.0)?;
        match unit {
            "Gb/s" => Some(number * 1e9),
            "Mb/s" => Some(number * 1e6),
            _ => None,
        }
    };
    match words[..] {
        ["PCIe", generation, lanes] => {
            let (per_lane, code) = match generation {
                "1.0" => (2.5e9, 0.8),
                "2.0" => (5e9, 0.8),
                "3.0" => (8e9, 128.0 / 130.0),
                "4.0" => (16e9, 128.0 / 130.0),
                "5.0" => (32e9, 128.0 / 130.0),
                // PAM4 with forward correction: 242 of 256 bytes are payload.
                "6.0" => (64e9, 242.0 / 256.0),
                _ => return None,
            };
            let lanes: f64 = lanes.strip_prefix('x')?.parse().ok()?;
            Some(Link { bytes_per_s: per_lane * code * lanes / 8.0, duplex: true })
        }
        ["SATA", number, unit] => {
            Some(Link { bytes_per_s: bits_per_s(number, unit)? * 0.8 / 8.0, duplex: false })
        }
        // Its number is what it carries each way; frames and headers take 1 to 6 % of it.
        ["Ethernet", number, unit] => {
            Some(Link { bytes_per_s: bits_per_s(number, unit)? / 8.0, duplex: true })
        }
        ["USB", number, unit] => {
            let bits = bits_per_s(number, unit)?;
            let code = match bits {
                bits if bits < 1e9 => 1.0,
                bits if bits <= 5e9 => 0.8,
                _ => 128.0 / 132.0,
            };
            Some(Link { bytes_per_s: bits * code / 8.0, duplex: bits >= 1e9 })
        }
        _ => None,
    }
}

fn verdict(trial: &Trial, device: &Device) -> Verdict {
    let carried = device.link.as_deref().and_then(link);
    let spindle = spindle(device);
    if carried.is_none() && !spindle {
        let unknown = cause::AboveTheLimit::NoLimit { link: device.link.clone() };
        return Verdict::NotChecked(Reason::new(About::Device, unknown));
    }
    let over = carried.and_then(|carried| above_link(trial, device, carried));
    over.or_else(|| if spindle { above_disk(trial) } else { None }).unwrap_or(Verdict::Pass)
}

/// One disk that rotates, as far as can be known.
fn spindle(device: &Device) -> bool {
    let attached =
        device.link.as_deref().is_some_and(|link| link.starts_with("SATA") || link.starts_with("USB"));
    device.medium == Medium::Disk && attached
}

fn above_link(trial: &Trial, device: &Device, link: Link) -> Option<Verdict> {
    let each: Vec<f64> = [Op::Read, Op::Write]
        .iter()
        .filter_map(|&op| trial.direction(op).map(|direction| direction.bytes_per_s))
        .collect();
    let rate = if link.duplex { each.iter().copied().fold(0.0, f64::max) } else { each.iter().sum() };
    (rate > LINK_MARGIN * link.bytes_per_s).then(|| {
        let above = cause::AboveTheLimit::Link {
            link: device.link.clone().unwrap_or_default(),
            bytes_per_s: rate,
            limit_bytes_per_s: link.bytes_per_s,
        };
        Verdict::Invalid(Reason::new(About::Device, above))
    })
}

fn above_disk(trial: &Trial) -> Option<Verdict> {
    let random =
        trial.spec.streams().all(|stream| stream.rw.is_random() && stream.span_bytes > DISK_CACHE_BYTES);
    let reads = trial.read.as_ref().map_or(0.0, |read| read.iops);
    let (times_the_limit, above) = if random && reads > DISK_RANDOM_IOPS {
        let (limit_iops, times_the_limit) = (DISK_RANDOM_IOPS, reads / DISK_RANDOM_IOPS);
        (times_the_limit, cause::AboveTheLimit::RandomReads { iops: reads, limit_iops, times_the_limit })
    } else {
        let (bytes_per_s, limit_bytes_per_s) = (trial.bytes_per_s(), DISK_BYTES_PER_S);
        let times_the_limit = bytes_per_s / limit_bytes_per_s;
        let above = cause::AboveTheLimit::DiskThroughput { bytes_per_s, limit_bytes_per_s, times_the_limit };
        (times_the_limit, above)
    };
    let reason = Reason::new(About::Device, above);
    match times_the_limit {
        times if times > CERTAIN => Some(Verdict::Invalid(reason)),
        times if times > 1.0 => Some(Verdict::Warning(reason)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_by_their_standards() {
        let rate = |text: &str| link(text).map(|link| (link.bytes_per_s / 1e6).round());
        // 4 × 16e9 × 128/130 / 8; 6e9 × 0.8 / 8; 480e6 / 8; 10e9 × 128/132 / 8.
        assert_eq!(rate("PCIe 4.0 x4"), Some(7877.0));
        assert_eq!(rate("SATA 6.0 Gb/s"), Some(600.0));
        assert_eq!(rate("USB 480 Mb/s"), Some(60.0));
        assert_eq!((rate("Ethernet 1 Gb/s"), rate("Ethernet 2.5 Gb/s")), (Some(125.0), Some(313.0)));
        assert_eq!(rate("USB 10 Gb/s"), Some(1212.0));
        assert_eq!(rate("USB 5 Gb/s"), Some(500.0));
        for text in ["virtio", "", "PCIe 9.0 x4", "PCIe 4.0 4", "SATA fast Gb/s", "USB -1 Gb/s", "USB 1 XB/s"]
        {
            assert_eq!(rate(text), None, "{text}");
        }
    }

    /// M6: a USB 3 hard disk at 450 MiB/s.
    #[test]
    fn a_usb_disk_as_fast_as_an_ssd_is_above_the_limit_of_a_disk() {
        let trial = specimen::healthy(Rw::Read, 1 << 20, 1, 450);
        let device = Device {
            link: Some("USB 5 Gb/s".into()),
            medium: Medium::Disk,
            rotational: Some(true),
            ..Device::unknown("file", 100 << 20)
        };
        let above = cause::AboveTheLimit::DiskThroughput {
            bytes_per_s: trial.bytes_per_s(),
            limit_bytes_per_s: 300e6,
            times_the_limit: trial.bytes_per_s() / 300e6,
        };
        assert_eq!(verdict(&trial, &device), Verdict::Warning(Reason::new(About::Device, above)));
    }
}
