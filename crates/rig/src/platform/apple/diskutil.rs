//! The answer of `diskutil info -plist`.

use super::plist::{Facts, text};

/// What macOS says of the disk below a path.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::platform) struct DiskFacts {
    /// `disk3s5`.
    pub(in crate::platform) name: Option<String>,
    /// `APPLE SSD AP0512Z`.
    pub(in crate::platform) model: Option<String>,
    /// `Apple Fabric`, `USB`, `Disk Image`.
    pub(in crate::platform) bus: Option<String>,
    pub(in crate::platform) solid_state: Option<bool>,
    pub(in crate::platform) is_virtual: bool,
    pub(in crate::platform) block_bytes: Option<u64>,
    pub(in crate::platform) size_bytes: Option<u64>,
    /// FileVault, or a volume's own encryption.
    pub(in crate::platform) encrypted: Option<bool>,
}

/// What the facts of a volume, and those of the physical disk below it, say together.
pub(in crate::platform) fn disk_facts(volume: &Facts, disk: Option<&Facts>) -> DiskFacts {
    let of = |key: &str| {
        disk.and_then(|disk| disk.get(key)).or_else(|| volume.get(key)).filter(|text| !text.is_empty())
    };
    let truth = |key: &str| of(key).and_then(|text| text.parse().ok());
    let number = |key: &str| of(key).and_then(|text| text.parse().ok());
    let encrypted = volume.get("FileVault").or_else(|| volume.get("Encryption"));
    DiskFacts {
        name: of("DeviceIdentifier").cloned(),
        model: of("MediaName").map(|text| text.trim().to_owned()),
        bus: of("BusProtocol").cloned(),
        solid_state: truth("SolidState"),
        is_virtual: of("BusProtocol").is_some_and(|bus| bus == "Disk Image"),
        block_bytes: number("DeviceBlockSize"),
        size_bytes: number("TotalSize").or_else(|| number("Size")),
        encrypted: encrypted.and_then(|text| text.parse().ok()),
    }
}

/// The physical disk that an APFS volume or a partition lies on: `disk0`.
pub(in crate::platform) fn physical(volume: &Facts, plist: &str) -> Option<String> {
    // The store of an APFS container is named inside an array, the whole disk of a partition beside it.
    let store =
        plist.split_once("<key>APFSPhysicalStore</key>").and_then(|(_, rest)| rest.split_once("<string>"));
    let store = store.and_then(|(_, rest)| text(rest, "</string>"));
    let name = store.or_else(|| volume.get("ParentWholeDisk").cloned())?;
    let digits = name.strip_prefix("disk")?.split('s').next()?;
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| format!("disk{digits}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::apple::plist::facts;
    use proptest::prelude::*;

    const VOLUME: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>APFSPhysicalStores</key>
	<array>
		<dict>
			<key>APFSPhysicalStore</key>
			<string>disk0s2</string>
		</dict>
	</array>
	<key>BusProtocol</key>
	<string>Apple Fabric</string>
	<key>DeviceBlockSize</key>
	<integer>4096</integer>
	<key>DeviceIdentifier</key>
	<string>disk3s5</string>
	<key>FileVault</key>
	<true/>
	<key>FilesystemName</key>
	<string>APFS</string>
	<key>MediaName</key>
	<string></string>
	<key>ParentWholeDisk</key>
	<string>disk3</string>
	<key>SolidState</key>
	<true/>
	<key>VolumeName</key>
	<string>Data &amp; more</string>
</dict>
</plist>
"#;
    const DISK: &str = "<plist version=\"1.0\"><dict><key>BusProtocol</key><string>Apple Fabric</string>\
        <key>DeviceIdentifier</key><string>disk0</string><key>MediaName</key><string>APPLE SSD AP0512Z</string>\
        <key>SolidState</key><true/><key>TotalSize</key><integer>500277792768</integer>\
        <key>DeviceBlockSize</key><integer>4096</integer></dict></plist>";

    #[test]
    fn a_recorded_apfs_volume_lies_on_its_disk() {
        let volume = facts(VOLUME);
        assert_eq!(volume["VolumeName"], "Data & more");
        assert!(!volume.contains_key("APFSPhysicalStore"), "one level down");
        assert_eq!(physical(&volume, VOLUME).as_deref(), Some("disk0"));
        let disk = facts(DISK);
        let told = disk_facts(&volume, Some(&disk));
        let want = DiskFacts {
            name: Some("disk0".into()),
            model: Some("APPLE SSD AP0512Z".into()),
            bus: Some("Apple Fabric".into()),
            solid_state: Some(true),
            is_virtual: false,
            block_bytes: Some(4096),
            size_bytes: Some(500_277_792_768),
            encrypted: Some(true),
        };
        assert_eq!(told, want);
    }

    #[test]
    fn without_an_answer_nothing_is_known() {
        assert_eq!(disk_facts(&facts(""), None), DiskFacts::default());
        assert_eq!(physical(&facts("<dict><key>ParentWholeDisk</key><string>net</string></dict>"), ""), None);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[\\PC\n<>/]*") {
            let read = facts(&text);
            let _ = (physical(&read, &text), disk_facts(&read, None));
            let _ = facts(&format!("<dict><key>a</key><string>{text}"));
        }
    }
}
