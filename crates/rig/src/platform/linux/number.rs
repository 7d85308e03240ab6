//! A device's number, `MAJOR:MINOR`, as the kernel writes it in `/sys` and `/proc/self/mountinfo`.

use std::{fmt, str::FromStr};

/// Number of a block device, or of the file system that a file lies in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeviceNumber {
    /// The driver's number; 0 for file systems without a device of their own (tmpfs, btrfs, overlay, NFS).
    pub major: u32,
    /// Minor number.
    pub minor: u32,
}

impl DeviceNumber {
    /// Splits `st_dev` or `st_rdev`.
    pub fn of(dev: u64) -> Self {
        Self { major: rustix::fs::major(dev), minor: rustix::fs::minor(dev) }
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

impl FromStr for DeviceNumber {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (major, minor) = text.trim().split_once(':').ok_or(())?;
        Ok(Self { major: major.parse().map_err(drop)?, minor: minor.parse().map_err(drop)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_kernels_packing_is_undone() {
        // Kernel packing of dev_t: minor bits 0..8, major from bit 8, the minor's rest from bit 20.
        // 259:300 = (300 & 0xff) | 259 << 8 | (300 & !0xff) << 12 = 0x2c | 0x10300 | 0x100000.
        assert_eq!(DeviceNumber::of(0x11032c), DeviceNumber { major: 259, minor: 300 });
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(major: u32, minor: u32) {
            let number = DeviceNumber { major, minor };
            prop_assert_eq!(number.to_string().parse(), Ok(number));
        }

        #[test]
        fn no_text_panics(text in "\\PC*") {
            let _ = text.parse::<DeviceNumber>();
        }
    }
}
