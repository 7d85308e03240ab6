//! A workload as all hosts of a run make it.

use crate::{Device, HostLayout, Ranges, TrialSpec};

impl Device {
    /// A workload as the hosts of this run make it: by all of them, and with the parts that the layout gives to
    /// workers. Of a file per worker, those of the workers that a workload lacks are not addressed.
    #[must_use]
    pub fn by_hosts(&self, spec: TrialSpec) -> TrialSpec {
        let hosts = self.hosts.unwrap_or(1);
        let separate = self.layout.is_some_and(HostLayout::separates_workers);
        spec.each_stream(|stream| {
            let files = self.worker_files.map_or(1, |files| u64::from(files.max(stream.jobs)));
            let used = if files > 1 { u64::from(stream.jobs) } else { 1 };
            TrialSpec {
                hosts,
                ranges: if separate && stream.jobs > 1 { Ranges::Disjoint } else { stream.ranges },
                span_bytes: (u128::from(stream.span_bytes) * u128::from(used) / u128::from(files)) as u64,
                ..stream
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(layout: HostLayout, worker_files: Option<u32>) -> Device {
        Device { layout: Some(layout), worker_files, hosts: Some(4), ..Device::unknown("directory", 1 << 30) }
    }

    #[test]
    fn workers_have_parts_where_the_layout_gives_them() {
        let spec = TrialSpec { jobs: 2, span_bytes: 1 << 30, ..TrialSpec::default() };
        let ranges = |layout| device(layout, None).by_hosts(spec.clone()).ranges;
        assert_eq!(ranges(HostLayout::FilePerHost), Ranges::Shared);
        assert_eq!(ranges(HostLayout::Shared), Ranges::Shared);
        assert_eq!(ranges(HostLayout::SharedSegmented), Ranges::Disjoint);
        let of_four = device(HostLayout::FilePerWorker, Some(4)).by_hosts(spec);
        assert_eq!((of_four.hosts, of_four.span_bytes), (4, 1 << 29), "two of four files are addressed");
    }
}
