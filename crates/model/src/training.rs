//! Training of published models: what it reads, how fast an accelerator takes it, and how large its checkpoints are.
//!
//! Source: MLPerf Storage v2.0 (mlcommons/storage, `configs/dlio/workload` and `Submission_guidelines.md`, June 2025),
//! with the times of one NVIDIA H100.

use crate::name::names;

names! {
    /// A model whose training set is read from storage.
    TrainingModel "training model" {
        ResNet50 "resnet50",
        Unet3d "unet3d",
        CosmoFlow "cosmoflow",
    }
}

/// What a training run reads, and how fast.
struct Reading {
    label: &'static str,
    /// Bytes of a record, on average.
    record_bytes: u64,
    /// Records of a batch.
    batch: u32,
    /// Time that an accelerator computes on a batch.
    compute_s: f64,
    /// Share of its time that an accelerator must compute.
    utilisation: f64,
    /// Threads of each accelerator that read.
    readers: u32,
}

/// Records are read in pieces of at most this size: what the readahead of several files at a time asks of storage.
const PIECE_BYTES_MAX: u64 = 4 << 20;
/// Direct I/O takes whole pages.
const PAGE_BYTES: u64 = 4096;

impl TrainingModel {
    const fn reading(self) -> Reading {
        match self {
            Self::ResNet50 => Reading {
                label: "ResNet-50",
                record_bytes: 114_660,
                batch: 400,
                compute_s: 0.224,
                utilisation: 0.9,
                readers: 8,
            },
            Self::Unet3d => Reading {
                label: "3D U-Net",
                record_bytes: 146_600_628,
                batch: 7,
                compute_s: 0.323,
                utilisation: 0.9,
                readers: 4,
            },
            Self::CosmoFlow => Reading {
                label: "CosmoFlow",
                record_bytes: 2_828_486,
                batch: 1,
                compute_s: 0.00350,
                utilisation: 0.7,
                readers: 4,
            },
        }
    }

    /// The model's usual name: `ResNet-50`.
    pub const fn label(self) -> &'static str {
        self.reading().label
    }

    /// Requests that a record is read with.
    pub const fn pieces(self) -> u64 {
        self.reading().record_bytes.div_ceil(PIECE_BYTES_MAX)
    }

    /// Bytes of a request: the record in equal pieces of whole pages.
    pub const fn piece_bytes(self) -> u64 {
        self.reading().record_bytes.div_ceil(self.pieces()).next_multiple_of(PAGE_BYTES)
    }

    /// The model whose records are read with requests of this size.
    pub fn of_piece(bytes: u64) -> Option<Self> {
        Self::ALL.iter().copied().find(|model| model.piece_bytes() == bytes)
    }

    /// Requests a second that keep one accelerator busy for [`Self::utilisation`] of its time.
    pub fn iops_of_one(self) -> f64 {
        let reading = self.reading();
        reading.utilisation * f64::from(reading.batch) / reading.compute_s * self.pieces() as f64
    }

    /// Share of its time that an accelerator must compute.
    pub const fn utilisation(self) -> f64 {
        self.reading().utilisation
    }

    /// Threads of each accelerator that read.
    pub const fn readers(self) -> u32 {
        self.reading().readers
    }
}

/// A checkpoint: the state of a training run, which its hosts write together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Checkpoint {
    /// The model's usual name: `Llama 3 8B`.
    pub model: &'static str,
    /// Bytes of all its files.
    pub bytes: u64,
    /// Accelerators, each of which writes its own files.
    pub writers: u32,
}

/// Published checkpoints, from the smallest.
pub const CHECKPOINTS: [Checkpoint; 4] = [
    Checkpoint { model: "Llama 3 8B", bytes: 105_000_000_000, writers: 8 },
    Checkpoint { model: "Llama 3 70B", bytes: 912_000_000_000, writers: 64 },
    Checkpoint { model: "Llama 3 405B", bytes: 5_290_000_000_000, writers: 512 },
    Checkpoint { model: "1T parameters", bytes: 18_000_000_000_000, writers: 1024 },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_model_is_told_by_the_size_of_its_requests() {
        for &model in TrainingModel::ALL {
            assert_eq!(TrainingModel::of_piece(model.piece_bytes()), Some(model));
            assert!(model.piece_bytes().is_multiple_of(PAGE_BYTES));
        }
        assert_eq!(TrainingModel::of_piece(4096), None);
        assert_eq!((TrainingModel::ResNet50.pieces(), TrainingModel::Unet3d.pieces()), (1, 35));
    }

    #[test]
    fn an_accelerator_takes_what_the_source_says() {
        // The guide's figures at full use of an H100: 205 MB/s, 3.18 GB/s and 808 MB/s.
        let full = |model: TrainingModel| {
            model.iops_of_one() / model.utilisation() / model.pieces() as f64
                * model.reading().record_bytes as f64
        };
        assert!((full(TrainingModel::ResNet50) - 204.75e6).abs() < 0.1e6);
        assert!((full(TrainingModel::Unet3d) - 3.177e9).abs() < 0.01e9);
        assert!((full(TrainingModel::CosmoFlow) - 808.1e6).abs() < 1e6);
    }
}
