//! Where the requests of one host go among those of all hosts: the addresses of each layout.
//!
//! A job draws addresses within a part of its own, from 0 on, whatever the layout. A [`Lane`] takes them to the file:
//! `base + within * times`. A part in one piece has `times` 1. In a strided file it is the number of all workers, since
//! the blocks of worker w lie at w, w + W, w + 2 W. So a layout costs one multiplication a request.

use std::{fs::File, io, ops::Range, sync::Arc};

use iosonde_model::{HostLayout, Op, Phase, TrialSpec, units::size};

use crate::offset::{JobRange, largest_bytes};

/// Place of one host among the hosts of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// Layout of the data.
    pub layout: HostLayout,
    /// Number of this host, from 0.
    pub rank: u32,
    /// Number of hosts.
    pub hosts: u32,
    /// Files of each host: as many as workers where each has its own, else 1.
    pub files: u32,
    /// Distance between the parts of two hosts, where they lie one behind the other in one file.
    pub part_bytes: u64,
    /// True if reads go to the part of the next host.
    pub rotate: bool,
    /// True on storage without files: a file is a part of it.
    pub no_files: bool,
}

/// Addresses of one job: the byte `within` of its part lies at `base + within * times`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lane {
    /// Size of the part.
    pub length_bytes: u64,
    /// Beginning of what it writes.
    pub write_base_bytes: u64,
    /// Beginning of what it reads: another host's where reads are rotated.
    pub read_base_bytes: u64,
    /// Distance in the file between neighbouring blocks of the part, in blocks.
    pub times: u64,
    /// The file.
    pub file: LaneFile,
}

/// File of one job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneFile {
    /// One of this host's files.
    Own(u32),
    /// One of the next host's files.
    Next(u32),
}

/// How the parts of a layout lie in their files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spread {
    /// At the beginning of a file, for all jobs of a host.
    Whole,
    /// At the beginning of a file for each job.
    File,
    /// One host's behind the other's.
    Segments,
    /// Blocks of all workers in turn.
    Blocks,
}

/// Placement of this host with the files that it uses beside its first one.
#[derive(Debug, Default)]
pub struct Place {
    /// Where its requests go.
    pub placement: Placement,
    /// Files of its second worker and of those after it, where each has its own.
    pub more: Vec<Arc<File>>,
    /// Files of the next host, where reads are rotated and hosts have files of their own.
    pub next: Vec<Arc<File>>,
    /// The addressed part of each file.
    pub addressed: Range<u64>,
}

impl Place {
    /// Returns the file of a job; `None` for the host's first one.
    ///
    /// # Errors
    /// The workload has more workers than there are files.
    pub fn file(&self, lane: Lane) -> io::Result<Option<Arc<File>>> {
        let (files, at) = match lane.file {
            LaneFile::Own(0) => return Ok(None),
            LaneFile::Own(n) => (&self.more, n as usize - 1),
            LaneFile::Next(n) => (&self.next, n as usize),
        };
        files.get(at).cloned().map(Some).ok_or_else(|| {
            let files = self.placement.files;
            io::Error::other(format!("there are files for {files} jobs, and this workload has more"))
        })
    }
}

/// Returns the reason why a workload cannot be made in a layout, with an alternative; `None` where it can.
pub fn problem(spec: &TrialSpec, placement: &Placement) -> Option<String> {
    let Placement { layout, rotate, hosts, .. } = *placement;
    let (files_apart, alone) = (!layout.is_shared() && !placement.no_files, hosts == 1);
    if layout == HostLayout::FilePerWorker && !placement.no_files && spec.streams().count() > 1 {
        return Some(format!(
            "--layout {layout} has one stream of requests; measure the others by themselves"
        ));
    }
    if rotate && files_apart && spec.streams().any(|stream| stream.rw.is_mixed()) {
        return Some(format!(
            "--rotate with --layout {layout} reads from another file than it writes, and a mix has one; use \
             shared-segmented or shared-strided"
        ));
    }
    let knows_its_blocks =
        layout != HostLayout::SharedStrided && (layout.separates_hosts() || alone) && !rotate;
    if spec.streams().any(|stream| stream.verify) && !knows_its_blocks {
        return Some(
            "--verify needs a part in one piece that nobody else writes: --layout file-per-host, file-per-worker or \
             shared-segmented, without --rotate"
                .into(),
        );
    }
    if layout == HostLayout::SharedStrided { spec.streams().find_map(strided_problem) } else { None }
}

/// What does not lie in the blocks of a strided file.
fn strided_problem(spec: &TrialSpec) -> Option<String> {
    let block_bytes = spec.block_size_bytes;
    let misses = |bytes: Option<u64>| bytes.is_some_and(|bytes| !bytes.is_multiple_of(block_bytes.max(1)));
    // A block further on would be another worker's.
    let turn_bytes = block_bytes.saturating_mul(u64::from(spec.jobs)).max(1);
    let why = if !spec.block_sizes.is_one() {
        "one block size".to_owned()
    } else if misses(spec.align_bytes)
        || misses(spec.stride_bytes)
        || !spec.offset_bytes.is_multiple_of(turn_bytes)
    {
        format!(
            "--align and --stride in blocks of {}, and --offset in multiples of {}",
            size(block_bytes),
            size(turn_bytes)
        )
    } else {
        return None;
    };
    Some(format!("--layout shared-strided gives blocks to the workers in turn and needs {why}"))
}

impl Default for Placement {
    /// One host with one file.
    fn default() -> Self {
        let layout = HostLayout::FilePerHost;
        Self { layout, rank: 0, hosts: 1, files: 1, part_bytes: 0, rotate: false, no_files: false }
    }
}

/// Returns true if a workload fills what will be measured: it then goes over all of it, each host over its part.
pub fn is_fill(phase: Phase, spec: &TrialSpec) -> bool {
    phase == Phase::Prepare && spec.rw.changes() && !spec.rw.is_random()
}

impl Placement {
    fn spread(&self, fills: bool) -> Spread {
        match self.layout {
            HostLayout::FilePerHost | HostLayout::FilePerWorker if self.no_files => Spread::Segments,
            HostLayout::FilePerHost => Spread::Whole,
            HostLayout::FilePerWorker => Spread::File,
            HostLayout::SharedSegmented => Spread::Segments,
            HostLayout::SharedStrided => Spread::Blocks,
            // What all hosts address is filled once.
            HostLayout::Shared if fills => Spread::Blocks,
            HostLayout::Shared => Spread::Whole,
        }
    }

    fn next_rank(&self) -> u32 {
        (self.rank + 1) % self.hosts
    }

    /// The rank whose part is read.
    fn read_rank(&self) -> u32 {
        if self.rotate { self.next_rank() } else { self.rank }
    }

    /// Returns the addresses of one job of a workload.
    pub fn lane(&self, phase: Phase, spec: &TrialSpec, job: u32) -> Lane {
        let part = JobRange::of(spec, job);
        let block_bytes = largest_bytes(spec);
        let (jobs, hosts) = (u64::from(spec.jobs), u64::from(self.hosts));
        let spread = self.spread(is_fill(phase, spec));
        let base_bytes = |rank: u32| match spread {
            Spread::Whole => part.base_bytes,
            // An offset is that of all files of the host.
            Spread::File => spec.offset_bytes / u64::from(self.files) / block_bytes * block_bytes,
            Spread::Segments => u64::from(rank) * self.part_bytes + part.base_bytes,
            Spread::Blocks => {
                hosts * spec.offset_bytes + (u64::from(rank) * jobs + u64::from(job)) * block_bytes
            }
        };
        let (length_bytes, times) = match spread {
            // All equal, so that the last block of each lies within the file.
            Spread::Blocks => (spec.span_bytes / block_bytes / jobs * block_bytes, hosts * jobs),
            _ => (part.length_bytes, 1),
        };
        let in_next = self.rotate && !spec.rw.changes();
        let file = match spread {
            Spread::Whole if in_next => LaneFile::Next(0),
            Spread::File if in_next => LaneFile::Next(job),
            Spread::File => LaneFile::Own(job),
            _ => LaneFile::Own(0),
        };
        Lane {
            length_bytes,
            write_base_bytes: base_bytes(self.rank),
            read_base_bytes: base_bytes(self.read_rank()),
            times,
            file,
        }
    }

    /// Part of each file in which this host's bytes lie, of `range_bytes` of what it prepared.
    pub fn covered_bytes(&self, range_bytes: Range<u64>) -> Range<u64> {
        let each = |map: &dyn Fn(u64) -> u64| map(range_bytes.start)..map(range_bytes.end);
        match self.spread(false) {
            Spread::Whole => range_bytes,
            Spread::File => each(&|bytes| bytes / u64::from(self.files)),
            Spread::Segments => each(&|bytes| bytes + u64::from(self.read_rank()) * self.part_bytes),
            Spread::Blocks => each(&|bytes| bytes * u64::from(self.hosts)),
        }
    }

    /// Share of [`Placement::covered_bytes`] that is this host's.
    pub fn covered_share(&self) -> f64 {
        if self.spread(false) == Spread::Blocks { 1.0 / f64::from(self.hosts) } else { 1.0 }
    }

    /// Hosts among which the prepared area is divided: it is one area of all where no host has a part of its own.
    pub fn sharers(&self) -> u64 {
        if self.layout.separates_hosts() { 1 } else { u64::from(self.hosts) }
    }
}

impl Lane {
    /// Returns the address in the file of a byte of the part.
    #[inline]
    pub fn at(&self, op: Op, within_bytes: u64) -> u64 {
        let base_bytes = if op == Op::Read { self.read_base_bytes } else { self.write_base_bytes };
        base_bytes + within_bytes * self.times
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Device, Ranges, Rw};
    use proptest::prelude::*;

    use super::*;

    const BLOCK_BYTES: u64 = 4096;

    /// Blocks of each file, by file and number, and the workers that may address each.
    fn owners(placement: Placement, spec: &TrialSpec, op: Op) -> Vec<((u32, u64), u32)> {
        let mut owned = Vec::new();
        for rank in 0..placement.hosts {
            let placement = Placement { rank, ..placement };
            for job in 0..spec.jobs {
                let lane = placement.lane(Phase::Measure, spec, job);
                let of_host = match lane.file {
                    LaneFile::Own(_) => rank,
                    LaneFile::Next(_) => (rank + 1) % placement.hosts,
                };
                let file = match lane.file {
                    LaneFile::Own(_) | LaneFile::Next(_) if placement.layout.is_shared() => 0,
                    LaneFile::Own(n) | LaneFile::Next(n) => of_host * placement.files + n,
                };
                for block in 0..lane.length_bytes / BLOCK_BYTES {
                    let at = lane.at(op, block * BLOCK_BYTES) / BLOCK_BYTES;
                    owned.push(((file, at), rank * spec.jobs + job));
                }
            }
        }
        owned.sort_unstable();
        owned
    }

    fn placed(layout: HostLayout, hosts: u32, jobs: u32, each: u64) -> (Placement, TrialSpec) {
        let part_bytes = each * u64::from(jobs) * BLOCK_BYTES;
        let files = if layout == HostLayout::FilePerWorker { jobs } else { 1 };
        let placement = Placement { layout, hosts, files, part_bytes, ..Placement::default() };
        let device = Device {
            layout: Some(layout),
            hosts: Some(hosts),
            worker_files: (files > 1).then_some(files),
            ..Device::unknown("directory", part_bytes)
        };
        let spec = TrialSpec { rw: Rw::RandRead, jobs, span_bytes: part_bytes, ..TrialSpec::default() };
        (placement, device.by_hosts(spec))
    }

    proptest! {
        #[test]
        fn parts_of_workers_are_disjoint_and_cover_their_files(
            at in 1usize..4, hosts in 1u32..9, jobs in 1u32..6, each in 1u64..20,
        ) {
            let layout = HostLayout::ALL[at];
            let (placement, spec) = placed(layout, hosts, jobs, each);
            let owned = owners(placement, &spec, Op::Write);
            prop_assert!(owned.windows(2).all(|two| two[0].0 != two[1].0), "{layout}: two workers own a block");
            let files = if layout.is_shared() { 1 } else { u64::from(hosts * jobs) };
            let blocks = u64::from(hosts * jobs) * each;
            prop_assert_eq!(owned.len() as u64, blocks);
            for (n, ((file, block), _)) in owned.iter().enumerate() {
                prop_assert_eq!(u64::from(*file) * (blocks / files) + block, n as u64, "{} leaves a gap", layout);
            }
        }

        #[test]
        fn rotated_reads_are_those_of_the_next_host(
            at in 0usize..4, hosts in 2u32..9, jobs in 1u32..4, each in 1u64..10,
        ) {
            let (placement, spec) = placed(HostLayout::ALL[at], hosts, jobs, each);
            let written = owners(placement, &spec, Op::Write);
            let read = owners(Placement { rotate: true, ..placement }, &spec, Op::Read);
            prop_assert_eq!(read.len(), written.len());
            for (block, worker) in read {
                let writers = written.iter().filter(|(other, _)| *other == block);
                let next = (worker / jobs + 1) % hosts;
                prop_assert!(writers.clone().count() > 0);
                prop_assert!(writers.into_iter().all(|(_, writer)| writer / jobs == next));
            }
        }

        #[test]
        fn filling_reaches_every_block_of_a_shared_file_once(
            at in 2usize..5, hosts in 1u32..9, mib in 1u64..6,
        ) {
            let layout = HostLayout::ALL[at];
            let each_bytes = mib << 20;
            let placement = Placement { layout, hosts, part_bytes: each_bytes, ..Placement::default() };
            let spec = TrialSpec {
                rw: Rw::Write, block_size_bytes: 1 << 20, span_bytes: each_bytes, ..TrialSpec::default()
            };
            let mut filled: Vec<u64> = (0..hosts)
                .flat_map(|rank| {
                    let lane = Placement { rank, ..placement }.lane(Phase::Prepare, &spec, 0);
                    (0..mib).map(move |block| lane.at(Op::Write, block << 20) >> 20)
                })
                .collect();
            filled.sort_unstable();
            prop_assert_eq!(filled, (0..u64::from(hosts) * mib).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_strided_file_has_block_k_of_worker_i_at_k_times_n_plus_i() {
        let (placement, spec) = placed(HostLayout::SharedStrided, 3, 2, 5);
        let lane = Placement { rank: 1, ..placement }.lane(Phase::Measure, &spec, 1);
        // Worker 3 of 6.
        let blocks: Vec<u64> = (0..3).map(|k| lane.at(Op::Read, k * BLOCK_BYTES) / BLOCK_BYTES).collect();
        assert_eq!(blocks, [3, 9, 15]);
        assert_eq!(spec.ranges, Ranges::Disjoint);
    }

    #[test]
    fn one_host_with_one_file_is_where_it_was() {
        let spec = TrialSpec { offset_bytes: 8192, span_bytes: 1 << 20, jobs: 2, ..TrialSpec::default() };
        let lane = Placement::default().lane(Phase::Measure, &spec, 1);
        assert_eq!((lane.write_base_bytes, lane.length_bytes, lane.times), (8192, 1 << 20, 1));
        assert_eq!(Placement::default().covered_bytes(0..77), 0..77);
    }

    #[test]
    fn simulated_files_lie_one_behind_the_other() {
        let placement =
            Placement { rank: 2, hosts: 4, part_bytes: 1 << 20, no_files: true, ..Placement::default() };
        let spec = TrialSpec { span_bytes: 1 << 20, ..TrialSpec::default() };
        assert_eq!(placement.lane(Phase::Measure, &spec, 0).read_base_bytes, 2 << 20);
        assert_eq!(placement.covered_bytes(0..10), (2 << 20)..(2 << 20) + 10);
    }
}
