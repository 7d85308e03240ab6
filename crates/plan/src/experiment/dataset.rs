//! How many accelerators can train from this storage.
//!
//! Random reads of whole records, as a data loader with a shuffled order makes them, at the number of readers that 1,
//! 2, 4, .. accelerators have together: every number is a point. Records, batches, computing times and readers are
//! those of MLPerf Storage v2.0 (June 2025) for one NVIDIA H100: ResNet-50 (records of 115 kB, 8 readers), 3D U-Net
//! (147 MB, read in pieces of 4 MiB by 4 readers) and CosmoFlow (2.8 MB, 4 readers). The results are not results of
//! MLPerf.
//!
//! Parameters: `model` (of these three), `accelerators` (numbers to try), `buffered` (use the page cache).
//!
//! How to read it: `accelerators_fed` is the number of accelerators that are busy for 90 % of their time (CosmoFlow: 70
//! %), the rule of that benchmark. A number below 1 is the share of what one accelerator needs.
//!
//! Traps:
//! - A training set that fits in memory is read from storage once, and then from memory. These reads bypass memory, as
//!   those of a set five times as large nearly do. The study `dataset` also shows where the page cache ends.
//! - Opening files takes time as well, most for many small ones: `iosonde files` measures that.
//! - A loader that decodes images may be the limit before storage is.

use iosonde_model::{Device, ExperimentName, Rw, TrialSpec, training::TrainingModel};

use super::{Experiment, Parameter, ParameterError, Parameters, grid};

pub(super) struct Dataset;

const PARAMETERS: &[Parameter] = &[
    Parameter {
        key: "model",
        explain: "what is trained: resnet50, unet3d, cosmoflow",
        default: "[\"resnet50\", \"unet3d\", \"cosmoflow\"]",
    },
    Parameter {
        key: "accelerators",
        explain: "numbers of accelerators that read at the same time",
        default: "\"1..16*2\"",
    },
    grid::buffered("false"),
];

/// Bytes outstanding beyond which more readers are not tried: 128 MiB at 14 GB/s, the fastest drives of 2025, are 10
/// ms.
const IN_FLIGHT_BYTES_MAX: u64 = 128 << 20;

impl Experiment for Dataset {
    fn id(&self) -> ExperimentName {
        ExperimentName::Dataset
    }

    fn question(&self) -> &'static str {
        "How many accelerators can train from this storage?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn grid(&self, parameters: &Parameters, device: &Device) -> Result<Vec<TrialSpec>, ParameterError> {
        let numbers = parameters.counts("accelerators")?;
        let mut specs = Vec::new();
        for model in parameters.parsed::<TrainingModel>("model")? {
            let bytes = model.piece_bytes();
            let readers = numbers.iter().map(|number| number.saturating_mul(model.readers()));
            let tried =
                |(at, readers): &(usize, u32)| *at == 0 || u64::from(*readers) * bytes <= IN_FLIGHT_BYTES_MAX;
            for (_, readers) in readers.enumerate().filter(tried) {
                let plain = grid::cross_as(parameters, device, Rw::RandRead)?;
                specs.extend(plain.into_iter().map(|spec| TrialSpec {
                    block_size_bytes: bytes,
                    queue_depth: readers,
                    ..spec
                }));
            }
        }
        Ok(specs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_of_several_accelerators_are_tried_until_enough_is_in_flight() {
        let parameters = Parameters::check("dataset", &toml::Table::new(), PARAMETERS).unwrap();
        let specs = Dataset.grid(&parameters, &Device::unknown("file", 1 << 30)).unwrap();
        let readers = |model: TrainingModel| -> Vec<u32> {
            let own = specs.iter().filter(|spec| spec.block_size_bytes == model.piece_bytes());
            own.map(|spec| spec.queue_depth).collect()
        };
        assert_eq!(readers(TrainingModel::ResNet50), [8, 16, 32, 64, 128]);
        assert_eq!(readers(TrainingModel::Unet3d), [4, 8, 16, 32]);
        assert_eq!(readers(TrainingModel::CosmoFlow), [4, 8, 16, 32]);
        let wrong = toml::from_str("model = \"resnet\"").unwrap();
        let wrong = Parameters::check("dataset", &wrong, PARAMETERS).unwrap();
        let said = Dataset.grid(&wrong, &Device::unknown("file", 1 << 30)).unwrap_err().to_string();
        assert!(said.contains("did you mean `resnet50`?"), "{said}");
    }
}
