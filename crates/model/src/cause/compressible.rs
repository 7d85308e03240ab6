//! Facts of the check `compressible`.

use serde::Serialize;

/// Data that compresses or repeats, and storage that may save it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Compressible {
    /// Result of another tool, whose file names neither payload nor file system.
    Imported,
    /// Zeros on storage that compresses.
    ZerosCompressed {
        /// Storage that compresses.
        layer: CompressingLayer,
    },
    /// Zeros on storage that is not known to compress.
    Zeros,
    /// Payload of which a part is saved.
    WrittenCompressed {
        /// Storage that compresses.
        layer: CompressingLayer,
        /// Part of the payload that compresses or repeats.
        saved_share: f64,
        /// What that part does.
        saving: Saving,
    },
    /// Payload of which a part may be saved, on storage that cannot be inspected from here.
    WrittenUnseen {
        /// Part of the payload that compresses or repeats.
        saved_share: f64,
        /// What that part does.
        saving: Saving,
    },
    /// Reads of data of unknown origin on storage that compresses.
    ReadCompressed {
        /// Storage that compresses.
        layer: CompressingLayer,
    },
    /// Reads of data of unknown origin on storage that cannot be inspected from here.
    ReadUnseen,
    /// Reads of data of unknown origin on a file system that does not say whether the file is compressed.
    ReadUnknown,
}

/// Way in which a part of the payload can be stored in less space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub enum Saving {
    Compresses,
    Repeats,
}

/// Storage that compresses, and how that is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum CompressingLayer {
    /// File with compressed extents.
    CompressedExtents {
        /// Bytes in them.
        compressed_bytes: u64,
    },
    /// File with the attribute for compression.
    MarkedFile,
    /// File system that is mounted with compression.
    Mount {
        /// Type of the file system.
        file_system: String,
        /// Mount option.
        option: String,
    },
    /// ZFS, which compresses by default.
    Zfs,
    /// Compressed memory as a block device.
    Zram {
        /// Name of the device.
        device: String,
    },
}
