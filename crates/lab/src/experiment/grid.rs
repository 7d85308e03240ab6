//! The common shape of an experiment's points: every combination of the lists that a study gives.

use iosonde_model::{Device, Rw, TrialSpec};

/// The lists whose combinations are wanted.
#[derive(Debug, Clone)]
pub(super) struct Grid {
    pub(super) patterns: Vec<Rw>,
    pub(super) block_sizes_bytes: Vec<u64>,
    pub(super) depths: Vec<u32>,
    /// Shares of reads in percent; used by mixed patterns only.
    pub(super) read_percents: Vec<f64>,
}

impl Grid {
    /// Every combination on this device, patterns outermost. What the device does not allow is still in it:
    /// the plan leaves that out, and says so, for all experiments alike.
    pub(super) fn specs(&self, device: &Device) -> Vec<TrialSpec> {
        let mut specs = Vec::new();
        for &rw in &self.patterns {
            let mixes: Vec<_> = match rw.is_mixed() {
                true => self.read_percents.iter().copied().map(Some).collect(),
                false => vec![None],
            };
            for &block_size_bytes in &self.block_sizes_bytes {
                for &queue_depth in &self.depths {
                    for &read_percent in &mixes {
                        specs.push(spec(device, rw, block_size_bytes, queue_depth, read_percent));
                    }
                }
            }
        }
        specs
    }
}

fn spec(
    device: &Device,
    rw: Rw,
    block_size_bytes: u64,
    queue_depth: u32,
    read_percent: Option<f64>,
) -> TrialSpec {
    TrialSpec {
        rw,
        block_size_bytes,
        queue_depth,
        jobs: 1,
        read_percent,
        stride_bytes: None,
        offset_bytes: 0,
        span_bytes: device.working_set_bytes,
        engine: device.engine.clone(),
        direct: device.direct,
        ..TrialSpec::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_mixed_patterns_multiply_by_the_mix() {
        let grid = Grid {
            patterns: vec![Rw::RandRead, Rw::RandRw],
            block_sizes_bytes: vec![4096, 8192],
            depths: vec![1],
            read_percents: vec![30.0, 70.0],
        };
        let specs = grid.specs(&Device::unknown("file", 1 << 30));
        // One pattern × 2 sizes + one mixed pattern × 2 sizes × 2 mixes.
        assert_eq!(specs.len(), 2 + 4);
        assert_eq!(specs[0].read_percent, None);
        assert_eq!(specs[5].read_percent, Some(70.0));
        assert!(specs.iter().all(|spec| spec.span_bytes == 1 << 30));
    }
}
