//! What an experiment lacks for a finding that it is made for.

/// Workloads that a finding needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// Equal requests within spans of different sizes.
    Spans,
    /// Sequential reads at QD 1.
    SequentialReads,
    /// Writes that go on until a buffer is full.
    LongWrites,
    /// One load in one direction that goes on.
    LongLoad,
    /// Random writes of several sizes, each durable before the next.
    DurableWrites,
    /// Random requests within a narrow part and random reads over a wider one, at QD 1.
    NarrowAndWide,
    /// Small sequential reads and random reads over the whole span.
    SequentialAndWide,
    /// Large sequential reads in two places or more.
    Zones,
    /// Equal requests at two strides or more.
    Strides,
    /// Reads in strides.
    StridedReads,
    /// Equal requests at two offsets or more.
    Offsets,
    /// Several offered loads with a latency to keep.
    OfferedLoads,
    /// Reads of training records.
    Records,
    /// Files that are written or read whole.
    WholeFiles,
    /// Several workers, and one at the same total queue depth.
    Workers,
    /// Reads or writes by several numbers of hosts.
    Hosts,
}
