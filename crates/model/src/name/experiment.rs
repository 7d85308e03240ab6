//! Names of the experiments, in the order in which a reader should meet them.

super::declare::names! {
    /// Name of an experiment: the kind that a study asks for.
    ExperimentName "experiment" {
        BlockSize "block-size",
        QueueDepth "queue-depth",
        RandomVsSequential "random-vs-sequential",
        Mix "mix",
        OpenLoop "open-loop",
        Latency "latency",
        Jobs "jobs",
        HostScaling "host-scaling",
        Stride "stride",
        Alignment "alignment",
        WorkingSet "working-set",
        Readahead "readahead",
        SustainedWrite "sustained-write",
        Limit "limit",
        Disk "disk",
        Units "units",
        Rewrite "rewrite",
        SyncMethods "sync-methods",
        Media "media",
        Dataset "dataset",
        Checkpoint "checkpoint",
        Matrix "matrix",
        Spec "spec",
        Requirement "requirement",
    }
}
