//! Names in comparisons: what is compared, and which workloads a mean is about.

super::declare::names! {
    /// Figure that a comparison compares.
    ComparedFigure "figure to compare" {
        Iops "iops",
        LatencyMean "latency_ns_mean",
        LatencyP50 "latency_ns_p50",
        LatencyP99 "latency_ns_p99",
    }
}

super::declare::names! {
    /// Group of workloads that share a geometric mean.
    WorkloadGroup "group of workloads" {
        All "all",
        AllReads "all reads",
        AllWrites "all writes",
        ReadsInMix "reads in a mix",
        WritesInMix "writes in a mix",
        SequentialReads "sequential reads",
        RandomReads "random reads",
        SequentialWrites "sequential writes",
        RandomWrites "random writes",
        Trims "trims",
    }
}

super::declare::names! {
    /// Property of a run besides its storage, in the order in which they usually matter.
    RunProperty "property of a run" {
        Study "study",
        WorkingSetBytes "size",
        DirectIo "way",
        Engine "engine",
        FileSystem "file system",
        MountOptions "mount options",
        TargetKind "kind of target",
        Scheduler "scheduler",
        WriteCache "write cache",
        Encryption "encryption",
        OnBattery "battery",
        PowerSaving "saving power",
        Machine "machine",
        Hosts "hosts",
        Processor "processor",
        ProcessorCount "processors",
        MemoryBytes "memory",
        Kernel "system",
        VirtualMachine "virtual machine",
        State "state",
    }
}

impl ComparedFigure {
    /// Whether more of it is better: true of throughput, false of latency.
    pub const fn more_is_better(self) -> bool {
        matches!(self, Self::Iops)
    }
}
