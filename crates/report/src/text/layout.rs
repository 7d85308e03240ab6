//! The hosts of a run and how they share the storage, in words.

use iosonde_model::{Device, HostLayout};

/// The layout as it is typed: `shared-strided, rotated reads`.
pub fn layout(layout: HostLayout, rotated: bool) -> String {
    format!("{layout}{}", if rotated { ", rotated reads" } else { "" })
}

/// Hosts and layout: `4 hosts, layout shared-strided, rotated reads`; `None` for one host without a layout.
pub(crate) fn hosts_and_layout(device: &Device) -> Option<String> {
    let hosts = device.hosts.map(|hosts| format!("{hosts} hosts"));
    let layout = device.layout.map(|known| format!("layout {}", layout(known, device.rotated)));
    let parts: Vec<String> = [hosts, layout].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_host_says_nothing_and_several_say_how_they_share() {
        let one = Device::unknown("directory", 1 << 30);
        assert_eq!(hosts_and_layout(&one), None);
        let four =
            Device { hosts: Some(4), layout: Some(HostLayout::SharedStrided), rotated: true, ..one.clone() };
        assert_eq!(hosts_and_layout(&four).unwrap(), "4 hosts, layout shared-strided, rotated reads");
        let workers = Device { layout: Some(HostLayout::FilePerWorker), ..one };
        assert_eq!(hosts_and_layout(&workers).unwrap(), "layout file-per-worker");
    }
}
