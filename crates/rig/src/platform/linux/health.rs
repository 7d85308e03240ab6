//! What an NVMe drive says of its own health: the SMART page, asked of its controller. Only root may ask.

use iosonde_model::Health;

use super::{
    BlockDevice, System,
    log_page::{Controller, EVERY_NAMESPACE},
};

/// Number of the page, of the NVMe base specification.
const SMART: u8 = 0x02;
const PAGE_BYTES: usize = 512;
/// Meanings of the bits of the first byte (critical warning).
const WARNINGS: [&str; 6] = [
    "its spare blocks are nearly used up",
    "it is too hot or too cold",
    "it is no longer reliable",
    "it takes no more writes",
    "the backup of its volatile memory failed",
    "its persistent memory became unreliable",
];
/// A data unit of the page: 1,000 times 512 bytes.
const UNIT_BYTES: f64 = 512_000.0;

/// Health of an NVMe drive; `None` for other drives, and without the permission to ask.
pub(super) fn health(system: &System, disk: &BlockDevice) -> Option<Health> {
    let page = Controller::open(system, disk)?.page::<PAGE_BYTES>(SMART, EVERY_NAMESPACE)?;
    Some(parse(&page))
}

fn parse(page: &[u8; PAGE_BYTES]) -> Health {
    // Sixteen bytes, of which a drive of this century fills half.
    let long = |at: usize| u64::from_le_bytes(page[at..at + 8].try_into().expect("eight bytes"));
    let minutes = |at: usize| u32::from_le_bytes(page[at..at + 4].try_into().expect("four bytes"));
    let warns = |bit: &usize| page[0] & (1 << bit) != 0;
    Health {
        warnings: (0..WARNINGS.len()).filter(warns).map(|bit| WARNINGS[bit].to_owned()).collect(),
        spare_share: f64::from(page[3]) / 100.0,
        used_share: f64::from(page[5]) / 100.0,
        written_bytes: long(48) as f64 * UNIT_BYTES,
        media_errors: long(160),
        too_hot_s: f64::from(minutes(192).saturating_add(minutes(196))) * 60.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_as_the_specification_lays_it_out() {
        let mut page = [0; PAGE_BYTES];
        (page[0], page[3], page[5]) = (0b0101, 4, 103);
        page[48..56].copy_from_slice(&2_000u64.to_le_bytes());
        page[160] = 7;
        (page[192], page[196]) = (10, 2);
        let health = parse(&page);
        assert_eq!(health.warnings, ["its spare blocks are nearly used up", "it is no longer reliable"]);
        assert_eq!((health.spare_share, health.used_share, health.media_errors), (0.04, 1.03, 7));
        assert_eq!((health.written_bytes, health.too_hot_s), (1.024e9, 720.0));
    }
}
