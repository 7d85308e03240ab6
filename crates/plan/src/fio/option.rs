//! fio's options in one table: what is used, what has no effect on a measurement, and what is refused, with the nearest
//! supported thing.

use iosonde_model::nearest;

use super::refusal::Why;

/// Whether an option has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// It may stand alone.
    Nothing,
    /// A value follows.
    Value,
}

/// What becomes of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It is read by [`Job`](super::Job).
    Used,
    /// It has no effect on a measurement here, for this reason.
    Idle(&'static str),
    /// It is refused, unless its value is one of these, with which fio does the usual thing.
    Refused {
        /// Values that are taken.
        unless: &'static [&'static str],
        /// What to do instead.
        instead: &'static str,
    },
}

/// Option of fio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FioOption {
    /// fio's first name for it.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// Whether it has a value.
    pub takes: Takes,
    /// What becomes of it.
    pub role: Role,
}

impl FioOption {
    /// All its names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }

    /// Refuses an option of fio itself that is not supported.
    pub(super) fn refuse(&self) -> Result<Takes, Why> {
        match self.role {
            Role::Refused { instead, .. } => Err(Why::Unsupported { name: self.name, instead }),
            _ => Ok(self.takes),
        }
    }
}

const fn used(name: &'static str, aliases: &'static [&'static str]) -> FioOption {
    FioOption { name, aliases, takes: Takes::Value, role: Role::Used }
}

const fn flag(name: &'static str, aliases: &'static [&'static str]) -> FioOption {
    FioOption { name, aliases, takes: Takes::Nothing, role: Role::Used }
}

const fn idle(name: &'static str, aliases: &'static [&'static str], why: &'static str) -> FioOption {
    FioOption { name, aliases, takes: Takes::Value, role: Role::Idle(why) }
}

const fn idle_flag(name: &'static str, why: &'static str) -> FioOption {
    FioOption { name, aliases: &[], takes: Takes::Nothing, role: Role::Idle(why) }
}

const fn refused(
    name: &'static str,
    aliases: &'static [&'static str],
    unless: &'static [&'static str],
    instead: &'static str,
) -> FioOption {
    FioOption { name, aliases, takes: Takes::Value, role: Role::Refused { unless, instead } }
}

const fn refused_flag(name: &'static str, instead: &'static str) -> FioOption {
    FioOption { name, aliases: &[], takes: Takes::Nothing, role: Role::Refused { unless: &["0"], instead } }
}

const OFF: &[&str] = &["0"];
const OWN_FILES: &str = "iosonde makes and removes its own files";
const REPORT: &str = "it shapes fio's report; every latency and window is recorded here";
const LOGS: &str = "logs have one line for log_avg_msec, and one file for an entry of the report";
const HISTOGRAM_LOGS: &str = "no log of histograms is written; `--json` has whole histograms";
const SEEDED: &str = "the seed is --seed, and every run reports its own";
const SUBMISSION: &str = "a request is sent as soon as the depth allows it";
const ONLY_READ: &str = "reading back is done once, after the last write";
const ZONES: &str = "zones are not supported; offset and size address a part of a device";
const REPLAY: &str =
    "logs of other programs' I/O are not replayed; describe the load with rw, bs and rate_iops";
const TOOL: &str = "give it to the whole program: ionice, nice, taskset or numactl before `iosonde fio`";
const TRIMS: &str = "trims amid writes are not supported; a job of rw=randtrim may run beside the writer";
const FLOWS: &str = "jobs do not wait for each other's counts; rate_iops in each sets their ratio";
const CHECKED: &str = "verify marks each block with its place, version and checksum";
const ENGINE_OPTION: &str = "engine options are given as in `iosonde point --engine io_uring:sqpoll`";
const PRIORITIES: &str = "requests of several priorities are not supported; ionice sets one for all";

/// Every option of a job.
pub const OPTIONS: &[FioOption] = &[
    // What runs.
    used("name", &[]),
    idle("description", &[], "a note for people"),
    used("rw", &["readwrite"]),
    used("bs", &["blocksize"]),
    used("bsrange", &["blocksize_range"]),
    used("bssplit", &[]),
    used("ba", &["blockalign"]),
    refused_flag("bs_unaligned", "sizes are multiples of the smallest"),
    used("rwmixread", &[]),
    used("rwmixwrite", &[]),
    refused("rw_sequencer", &[], &["sequential"], "a larger bs reads neighbouring blocks"),
    used("percentage_random", &[]),
    used("random_distribution", &[]),
    flag("norandommap", &[]),
    idle("randrepeat", &[], SEEDED),
    idle("allrandrepeat", &[], SEEDED),
    idle("randseed", &[], SEEDED),
    idle("random_generator", &[], SEEDED),
    used("ioengine", &[]),
    used("iodepth", &[]),
    idle("iodepth_batch", &["iodepth_batch_submit"], SUBMISSION),
    used("iodepth_batch_complete_min", &["iodepth_batch_complete"]),
    idle("iodepth_batch_complete_max", &[], SUBMISSION),
    used("iodepth_low", &[]),
    refused("serialize_overlap", &[], OFF, "requests to one block may overlap, as in fio by default"),
    used("io_submit_mode", &[]),
    used("numjobs", &[]),
    FioOption { aliases: &["threads"], ..idle_flag("thread", "every job is a thread") },
    flag("stonewall", &["wait_for_previous"]),
    flag("new_group", &[]),
    flag("group_reporting", &[]),
    used("wait_for", &[]),
    // Where.
    used("filename", &[]),
    used("directory", &[]),
    used("filename_format", &[]),
    refused("opendir", &[], &[], "name the file with filename"),
    refused("lockfile", &[], &["none"], "files are not locked"),
    idle("unique_filename", &[], "only fio's network clients have several"),
    used("size", &[]),
    used("io_size", &["io_limit"]),
    used("filesize", &[]),
    used("offset", &["fileoffset"]),
    used("offset_increment", &[]),
    used("offset_align", &[]),
    used("number_ios", &[]),
    used("nrfiles", &["nr_files"]),
    refused("file_service_type", &[], &["roundrobin"], "files of a job take turns"),
    idle("openfiles", &[], OWN_FILES),
    refused("fill_device", &["fill_fs"], OFF, "size says how much is written"),
    refused("file_append", &[], OFF, "offset says where writing begins"),
    idle("fallocate", &[], "what is measured is filled first"),
    idle("overwrite", &[], "what is measured is filled first"),
    idle("unlink", &[], OWN_FILES),
    idle("unlink_each_loop", &[], OWN_FILES),
    idle("create_serialize", &[], OWN_FILES),
    idle("create_fsync", &[], OWN_FILES),
    idle("create_on_open", &[], OWN_FILES),
    refused("create_only", &[], OFF, "nothing would be measured"),
    idle("allow_file_create", &[], "a file that is missing is made, and removed"),
    refused(
        "allow_mounted_write",
        &[],
        OFF,
        "a mounted device is never written; measure a file in its file system",
    ),
    refused(
        "pre_read",
        &[],
        OFF,
        "the page cache is emptied of the file first; invalidate=0 leaves it as it is",
    ),
    // How long.
    used("runtime", &["timeout"]),
    flag("time_based", &[]),
    used("ramp_time", &[]),
    used("loops", &[]),
    used("startdelay", &[]),
    used("steadystate", &["ss"]),
    used("steadystate_duration", &["ss_dur"]),
    used("steadystate_ramp_time", &["ss_ramp"]),
    flag("exitall", &[]),
    used("exit_what", &[]),
    idle_flag("exitall_on_error", "errors are counted, and make a result invalid"),
    idle("continue_on_error", &[], "errors are counted, and make a result invalid"),
    idle("ignore_error", &[], "errors are counted, and make a result invalid"),
    idle("error_dump", &[], "errors are counted, and make a result invalid"),
    // How fast.
    used("rate", &[]),
    used("rate_iops", &[]),
    used("rate_process", &[]),
    used("rate_min", &["ratemin"]),
    used("rate_iops_min", &[]),
    used("rate_cycle", &["ratecycle"]),
    idle("rate_ignore_thinktime", &[], "it belongs to thinktime"),
    used("thinktime", &[]),
    used("thinktime_spin", &[]),
    used("thinktime_blocks", &[]),
    idle("thinktime_blocks_type", &[], "a pause begins when nothing is outstanding: both count the same"),
    used("thinktime_iotime", &[]),
    used("max_latency", &[]),
    used("latency_target", &[]),
    used("latency_window", &[]),
    used("latency_percentile", &[]),
    used("latency_run", &[]),
    refused("flow", &[], OFF, FLOWS),
    refused("flow_id", &[], OFF, FLOWS),
    refused("flow_sleep", &[], OFF, FLOWS),
    // Cache and durability.
    used("direct", &[]),
    used("buffered", &[]),
    used("atomic", &[]),
    used("invalidate", &[]),
    used("fadvise_hint", &[]),
    used("fsync", &[]),
    used("fdatasync", &[]),
    used("sync", &[]),
    used("end_fsync", &[]),
    used("fsync_on_close", &[]),
    refused("write_barrier", &[], OFF, "fdatasync=N flushes"),
    refused("sync_file_range", &[], &[], "fdatasync=N flushes"),
    refused("write_hint", &[], &["none"], "writes have no hint of their lifetime"),
    // Content.
    flag("zero_buffers", &[]),
    idle_flag("refill_buffers", "every written block is unlike every other"),
    idle("scramble_buffers", &[], "every written block is unlike every other"),
    refused(
        "buffer_pattern",
        &[],
        &[],
        "zero_buffers writes zeros, buffer_compress_percentage a compressible part",
    ),
    used("buffer_compress_percentage", &[]),
    refused("buffer_compress_chunk", &[], OFF, "the compressible part lies in every 4 KiB"),
    used("dedupe_percentage", &[]),
    refused(
        "dedupe_mode",
        &[],
        &["repeat"],
        "blocks repeat ones that were written before (dedupe_mode=repeat)",
    ),
    refused("dedupe_working_set_percentage", &[], &[], "blocks repeat ones that were written before"),
    refused("dedupe_global", &[], OFF, "each job repeats its own blocks"),
    // Verification.
    used("verify", &[]),
    used("do_verify", &[]),
    refused_flag(
        "verify_only",
        "what an earlier run wrote carries other marks; verify checks what this run writes",
    ),
    idle("verify_interval", &[], CHECKED),
    idle("verify_offset", &[], CHECKED),
    refused("verify_pattern", &[], &[], CHECKED),
    idle("verify_fatal", &[], ONLY_READ),
    idle("verify_dump", &[], ONLY_READ),
    idle("verify_async", &[], ONLY_READ),
    refused("verify_backlog", &[], OFF, ONLY_READ),
    refused("verify_backlog_batch", &[], OFF, ONLY_READ),
    refused("experimental_verify", &[], OFF, ONLY_READ),
    idle("verify_state_load", &[], ONLY_READ),
    idle("verify_state_save", &[], ONLY_READ),
    refused("trim_percentage", &[], OFF, TRIMS),
    refused("trim_verify_zero", &[], OFF, TRIMS),
    refused("trim_backlog", &[], OFF, TRIMS),
    refused("trim_backlog_batch", &[], OFF, TRIMS),
    // Replay and zones.
    refused("write_iolog", &[], &[], REPLAY),
    refused("read_iolog", &[], &[], REPLAY),
    refused("read_iolog_chunked", &[], OFF, REPLAY),
    refused("replay_no_stall", &[], OFF, REPLAY),
    refused("replay_redirect", &[], &[], REPLAY),
    refused("replay_scale", &[], &[], REPLAY),
    refused("replay_align", &[], OFF, REPLAY),
    refused("replay_time_scale", &[], &[], REPLAY),
    refused("replay_skip", &[], &[], REPLAY),
    refused("merge_blktrace_file", &[], &[], REPLAY),
    refused("merge_blktrace_scalars", &[], &[], REPLAY),
    refused("merge_blktrace_iters", &[], &[], REPLAY),
    refused("zonemode", &[], &["none"], ZONES),
    refused("zonesize", &[], OFF, ZONES),
    refused("zonecapacity", &[], OFF, ZONES),
    refused("zonerange", &[], OFF, ZONES),
    refused("zoneskip", &[], OFF, ZONES),
    refused("read_beyond_wp", &[], OFF, ZONES),
    refused("max_open_zones", &[], OFF, ZONES),
    refused("job_max_open_zones", &[], OFF, ZONES),
    refused("ignore_zone_limits", &[], OFF, ZONES),
    refused("zone_reset_threshold", &[], OFF, ZONES),
    refused("zone_reset_frequency", &[], OFF, ZONES),
    // Processor, memory and system.
    refused("nice", &[], OFF, TOOL),
    refused("prio", &[], OFF, TOOL),
    refused("prioclass", &[], OFF, TOOL),
    refused("cpumask", &[], &[], TOOL),
    refused("cpus_allowed", &[], &[], TOOL),
    refused("cpus_allowed_policy", &[], &["shared"], TOOL),
    refused("numa_cpu_nodes", &[], &[], TOOL),
    refused("numa_mem_policy", &[], &[], TOOL),
    refused("mem", &["iomem"], &["malloc", "mmap", "shm"], "buffers are ordinary memory"),
    idle("hugepage-size", &[], "buffers are ordinary memory"),
    refused("lockmem", &[], OFF, "`ulimit` and control groups limit memory"),
    refused("ioscheduler", &[], &[], "set it before: /sys/block/DEVICE/queue/scheduler"),
    refused("exec_prerun", &[], &[], "run the program before `iosonde fio`"),
    refused("exec_postrun", &[], &[], "run the program after `iosonde fio`"),
    refused("profile", &[], &[], "`iosonde studies` lists what comes with iosonde"),
    refused("cgroup", &[], &[], "`systemd-run --scope` starts a program in a control group"),
    refused("cgroup_weight", &[], &[], "`systemd-run --scope` starts a program in a control group"),
    idle("cgroup_nodelete", &[], "it belongs to cgroup"),
    refused("uid", &[], &[], "start iosonde as that user"),
    refused("gid", &[], &[], "start iosonde as that user"),
    idle("clocksource", &[], "iosonde has a clock of its own and checks it"),
    idle("gtod_reduce", &[], REPORT),
    idle("gtod_cpu", &[], REPORT),
    // Report.
    idle("per_job_logs", &[], LOGS),
    flag("write_bw_log", &[]),
    flag("write_lat_log", &[]),
    flag("write_iops_log", &[]),
    idle_flag("write_hist_log", HISTOGRAM_LOGS),
    idle("bwavgtime", &[], LOGS),
    idle("iopsavgtime", &[], LOGS),
    idle("log_entries", &[], LOGS),
    used("log_avg_msec", &[]),
    idle("log_hist_msec", &[], HISTOGRAM_LOGS),
    idle("log_hist_coarseness", &[], HISTOGRAM_LOGS),
    refused("log_max_value", &[], OFF, "a line has the mean of its time; max_latency limits the greatest"),
    idle("log_offset", &[], LOGS),
    idle("log_prio", &[], LOGS),
    idle("log_compression", &[], LOGS),
    idle("log_compression_cpus", &[], LOGS),
    idle("log_store_compressed", &[], LOGS),
    refused("log_unix_epoch", &[], OFF, "times in a log count from the beginning of the jobs"),
    refused("log_alternate_epoch", &[], OFF, "times in a log count from the beginning of the jobs"),
    idle("log_alternate_epoch_clock_id", &[], LOGS),
    idle("block_error_percentiles", &[], REPORT),
    idle("stats", &[], REPORT),
    idle("clat_percentiles", &[], REPORT),
    idle("lat_percentiles", &[], REPORT),
    refused("slat_percentiles", &[], OFF, "a latency is that of the whole request, its submission included"),
    used("percentile_list", &[]),
    idle("significant_figures", &[], REPORT),
    idle("disk_util", &[], REPORT),
    idle("disable_lat", &[], REPORT),
    idle("disable_clat", &[], REPORT),
    idle("disable_slat", &[], REPORT),
    idle("disable_bw_measurement", &["disable_bw"], REPORT),
    refused("unified_rw_reporting", &[], &["0", "none"], "reads and writes have figures of their own"),
    used("kb_base", &[]),
    idle("unit_base", &[], REPORT),
    // Options of engines that are supported.
    flag("hipri", &[]),
    refused("hipri_percentage", &[], &["100"], ENGINE_OPTION),
    idle_flag("fixedbufs", "buffers are registered with io_uring where the kernel allows it"),
    idle_flag("registerfiles", "the file is registered with io_uring"),
    flag("sqthread_poll", &[]),
    refused("sqthread_poll_cpu", &[], &[], ENGINE_OPTION),
    idle("nonvectored", &[], "requests have one buffer"),
    used("uncached", &[]),
    refused("nowait", &[], OFF, ENGINE_OPTION),
    refused("force_async", &[], OFF, ENGINE_OPTION),
    refused("cmd_type", &[], &[], "the engines are those of `iosonde engines`"),
    idle_flag("userspace_reap", "completions are read as the kernel offers them"),
    refused("thp", &[], OFF, "buffers are ordinary memory"),
    refused("cmdprio_percentage", &[], OFF, PRIORITIES),
    refused("cmdprio_class", &[], OFF, PRIORITIES),
    refused("cmdprio", &[], OFF, PRIORITIES),
    refused("cmdprio_bssplit", &[], &[], PRIORITIES),
];

/// Options of fio itself, which stand on its command line only.
pub const GENERAL: &[FioOption] = &[
    used("output-format", &[]),
    used("output", &[]),
    used("section", &[]),
    flag("readonly", &[]),
    idle("eta", &[], "progress is shown on a terminal only; --no-progress hides it"),
    idle("eta-interval", &[], "progress is shown on a terminal only; --no-progress hides it"),
    idle("eta-newline", &[], "progress is shown on a terminal only; --no-progress hides it"),
    idle("max-jobs", &[], "threads need no table"),
    idle("alloc-size", &[], "memory is not allocated beforehand"),
    idle_flag("warnings-fatal", "what fio warns of is refused or told"),
    idle("status-interval", &[], "the report is printed at the end"),
    refused("bandwidth-log", &[], OFF, "write_bw_log=NAME with log_avg_msec=1000 in a job writes its log"),
    idle("inflate-log", &[], LOGS),
    refused_flag("minimal", "output-format=json and --json are for programs"),
    refused_flag("append-terse", "output-format=json and --json are for programs"),
    refused("terse-version", &[], &[], "output-format=json and --json are for programs"),
    refused("server", &[], &[], "start iosonde on each machine"),
    refused("client", &[], &[], "start iosonde on each machine"),
    refused("remote-config", &[], &[], "start iosonde on each machine"),
    refused("daemonize", &[], &[], "your shell or systemd-run starts programs in the background"),
    refused("idle-prof", &[], &[], "the processor time of a request is measured anyway"),
    refused("debug", &[], &[], "-v prints every check"),
    refused_flag("parse-only", "--dry-run shows what would be run"),
    refused_flag("showcmd", "--dry-run shows what would be run"),
    refused("trigger-file", &[], &[], "no command is run when something happens in a run"),
    refused("trigger-timeout", &[], &[], "no command is run when something happens in a run"),
    refused("trigger", &[], &[], "no command is run when something happens in a run"),
    refused("trigger-remote", &[], &[], "no command is run when something happens in a run"),
    refused("aux-path", &[], &[], "iosonde writes no state files"),
];

/// The option of a job with this name.
pub fn named(name: &str) -> Result<&'static FioOption, Why> {
    let name = name.trim();
    if let Some(option) = OPTIONS.iter().find(|option| option.names().any(|own| own == name)) {
        return Ok(option);
    }
    // What is refused itself is no way out.
    let taken = OPTIONS.iter().filter(|option| !matches!(option.role, Role::Refused { .. }));
    let near = nearest(name, taken.flat_map(FioOption::names));
    Err(Why::Unknown { name: name.to_owned(), nearest: near })
}

/// The option of fio itself with this name.
pub fn general(name: &str) -> Option<&'static FioOption> {
    GENERAL.iter().find(|option| option.names().any(|own| own == name))
}
