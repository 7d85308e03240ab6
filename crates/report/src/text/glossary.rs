//! Terms of the screens, and what people look up: each with its meaning and, where one answers, a command.

/// A term with its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Term {
    /// Its names, the usual one first, in lower case.
    pub names: &'static [&'static str],
    /// Its meaning.
    pub meaning: &'static str,
    /// Whether a report's glossary has it: the terms of its own tables.
    pub in_reports: bool,
}

const fn own(names: &'static [&'static str], meaning: &'static str) -> Term {
    Term { names, meaning, in_reports: true }
}

const fn asked(names: &'static [&'static str], meaning: &'static str) -> Term {
    Term { names, meaning, in_reports: false }
}

/// Terms in the order of a glossary.
pub const TERMS: &[Term] = &[
    own(
        &["queue depth", "qd", "iodepth", "depth"],
        "Number of requests that were sent and not yet answered. QD 1: the next request is sent when the last one is \
         done.",
    ),
    own(&["trial"], "One workload, run once, for a fraction of a second or more."),
    own(
        &["point", "workload"],
        "One combination of pattern, block size, queue depth and so on, with all its trials.",
    ),
    own(
        &["interval", "confidence interval", "ci", "±"],
        "95 % confidence interval of the mean over the trials of a point: if the run were repeated many times, 95 % of \
         these intervals would contain the true value.",
    ),
    own(
        &["invalid"],
        "A trial that a check found not to measure the storage, for example because memory served it. No finding uses \
         it.",
    ),
    own(
        &["canary"],
        "One workload that runs in every round, to show whether the storage changed during the run.",
    ),
    own(&["plateau"], "The block size from which larger requests no longer increase throughput."),
    own(
        &["half bandwidth", "half size", "n½"],
        "The block size that reaches half of the highest throughput.",
    ),
    own(
        &["saturation point", "knee", "saturates", "n*"],
        "The queue depth from which latency grows faster than throughput: highest IOPS × latency at QD 1.",
    ),
    own(
        &["drive write", "drive writes", "dwpd"],
        "As many bytes as the drive holds, written once. Vendors guarantee so many of them per day (DWPD).",
    ),
    own(
        &["dsync", "osync", "o_dsync", "o_sync", "pg_test_fsync"],
        "A file opened with O_DSYNC or O_SYNC makes each write durable before it returns; O_SYNC also writes the \
         file's times. iosonde run sync-methods ./ compares them with fsync and fdatasync, as pg_test_fsync does.",
    ),
    own(
        &["p99", "percentile", "p50", "p99.9"],
        "Of 100 requests, 99 took at most this long. p50 is the median.",
    ),
    asked(
        &["etcd", "kubernetes"],
        "etcd appends about 2 KiB to its log and waits for fdatasync each time; its guide asks for a p99 below \
         10 ms. iosonde check etcd ./ says whether this storage keeps that: pass, fail or inconclusive, in a minute.",
    ),
    asked(
        &["postgres", "postgresql", "mysql", "database"],
        "A database reads pages of 8 or 16 KiB at random and flushes its log at each commit. iosonde run database ./ \
         measures pages, commits, and readers beside a log; iosonde run sync-methods ./ compares wal_sync_method's.",
    ),
    asked(
        &["fsync", "fdatasync", "flush", "commit"],
        "Asks the storage to make what was written durable. A write without it may still be in memory or in the \
         drive's cache. --sync fdatasync:1 flushes after each write; a commit is the write and its flush together.",
    ),
    asked(
        &["fio"],
        "The usual load generator. iosonde point takes its words (--rw randread --bs 4k --iodepth 32); iosonde judge \
         results.json checks results that fio wrote, and iosonde import keeps them to be compared.",
    ),
    asked(
        &["page cache", "buffered", "direct", "o_direct"],
        "Memory in which the system keeps parts of files. Buffered reads of a file that fits in it measure memory; \
         direct I/O goes to the storage. iosonde uses direct I/O unless --buffered is given, and checks which served.",
    ),
    asked(
        &["steady state", "steady", "fresh"],
        "Flash that was written for long is slower than a fresh drive, because it must erase before it writes. \
         --state steady writes until the rate no longer changes, and then measures.",
    ),
    asked(
        &["round"],
        "All points once, in random order. A point gets trials in several rounds, so that a change of the storage \
         during the run does not look like an effect of a parameter.",
    ),
];

/// A term by any of its names.
pub fn term(name: &str) -> Option<&'static Term> {
    let name = name.to_lowercase();
    TERMS.iter().find(|term| term.names.contains(&name.as_str()))
}
