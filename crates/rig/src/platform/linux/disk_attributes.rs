//! Attributes of a disk whose text needs interpretation.

use super::BlockDevice;

/// Vendor and model. `ATA` is no vendor but the translation in front of every SATA disk.
pub(super) fn model(disk: &BlockDevice) -> Option<String> {
    let vendor =
        disk.attribute("device/vendor").filter(|vendor| vendor != "ATA" && !vendor.starts_with("0x"));
    let model = disk.attribute("device/model").or_else(|| disk.attribute("device/name"));
    let words = [vendor, model].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    (!words.is_empty()).then_some(words)
}

/// The one in brackets: `none [mq-deadline] kyber`. A device without a choice gives its only one bare.
pub(super) fn active_scheduler(text: &str) -> Option<String> {
    let bracketed = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(name, _)| name);
    let name = bracketed.unwrap_or(text).trim();
    (!name.is_empty() && !name.contains(' ')).then(|| name.to_owned())
}
