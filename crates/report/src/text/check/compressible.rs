//! Words of the check `compressible`.

use iosonde_model::{
    cause::{Compressible, CompressingLayer, Saving},
    units,
};

/// `zeros were written to btrfs with compress=zstd: they are not stored; use `--payload random``.
pub(super) fn words(cause: &Compressible) -> String {
    match cause {
        Compressible::Imported => "the file states neither the payload nor the file system".to_owned(),
        Compressible::ZerosCompressed { layer: on } => {
            format!("zeros were written to {}: they are not stored; use `--payload random`", layer(on))
        }
        Compressible::Zeros => {
            "zeros were written: some storage does not store them and is faster; use `--payload random`"
                .to_owned()
        }
        Compressible::WrittenCompressed { layer: on, saved_share, saving } => {
            format!("{} on {}: the device stored less", part(*saved_share, *saving), layer(on))
        }
        Compressible::WrittenUnseen { saved_share, saving } => {
            format!("{}; whether the storage stores it in full is unknown", part(*saved_share, *saving))
        }
        Compressible::ReadCompressed { layer: on } => {
            format!("data from before this run, on {}: the device may have read fewer bytes", layer(on))
        }
        Compressible::ReadUnseen => {
            "data from before this run; whether the storage below compresses it is unknown".to_owned()
        }
        Compressible::ReadUnknown => {
            "data from before this run; the file system does not report whether it is compressed".to_owned()
        }
    }
}

fn part(share: f64, saving: Saving) -> String {
    let saving = match saving {
        Saving::Compresses => "compresses",
        Saving::Repeats => "is duplicate",
    };
    format!("{} of the payload {saving}", units::percent(share))
}

fn layer(layer: &CompressingLayer) -> String {
    match layer {
        CompressingLayer::CompressedExtents { compressed_bytes } => {
            format!("a file with {} in compressed extents", units::size(*compressed_bytes))
        }
        CompressingLayer::MarkedFile => "a file marked for compression".to_owned(),
        CompressingLayer::Mount { file_system, option } => format!("{file_system} with {option}"),
        CompressingLayer::Zfs => "ZFS, which compresses by default".to_owned(),
        CompressingLayer::Zram { device } => format!("{device}, which compresses"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compressing_layer_is_named() {
        let layer = CompressingLayer::Mount { file_system: "btrfs".into(), option: "compress=zstd:3".into() };
        let cause = Compressible::WrittenCompressed { layer, saved_share: 0.5, saving: Saving::Compresses };
        assert_eq!(
            words(&cause),
            "50 % of the payload compresses on btrfs with compress=zstd:3: the device stored less"
        );
    }
}
