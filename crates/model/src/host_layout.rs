//! Where the hosts and workers of a run keep what they measure.

use crate::name::names;

names! {
    /// Layout of the data of several hosts, or of several workers of one host.
    HostLayout "layout" {
        FilePerHost "file-per-host",
        FilePerWorker "file-per-worker",
        SharedSegmented "shared-segmented",
        SharedStrided "shared-strided",
        Shared "shared",
    }
}

impl HostLayout {
    /// Returns true if all hosts use one file.
    pub const fn is_shared(self) -> bool {
        matches!(self, Self::SharedSegmented | Self::SharedStrided | Self::Shared)
    }

    /// Returns true if each worker has a part of its own.
    pub const fn separates_workers(self) -> bool {
        matches!(self, Self::FilePerWorker | Self::SharedSegmented | Self::SharedStrided)
    }

    /// Returns true if each host has a part of its own, which another host can read.
    pub const fn separates_hosts(self) -> bool {
        !matches!(self, Self::Shared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_wrong_ones_find_the_nearest() {
        for layout in HostLayout::ALL {
            assert_eq!(layout.as_str().parse::<HostLayout>().unwrap(), *layout);
        }
        assert_eq!("shared-stride".parse::<HostLayout>().unwrap_err().nearest, Some("shared-strided".into()));
    }
}
