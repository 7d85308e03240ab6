//! The command line.

use std::path::PathBuf;

use clap::{
    Args, Parser, Subcommand, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser},
};
use iosonde_model::{HostLayout, LatencyLimit, units};

use crate::{state::State, stream::StreamArgs};

/// Storage profiler that checks its own figures
#[derive(Debug, Parser)]
#[command(name = "iosonde", version, after_help = EXAMPLES, max_term_width = 100, subcommand_required = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Options of every command.
    #[command(flatten)]
    pub shared: Shared,
}

const EXAMPLES: &str = "Examples:
  iosonde run quick ./              measure the storage under this folder, in about 90 seconds
  iosonde run quick FILE --read-only  measure without writing a byte
  iosonde run quick sim:ideal       rehearse on a simulated device, in a second
  iosonde point ./ --rw randread --bs 4k --depth 32
  iosonde fio job.fio               the jobs of a fio job file, checked
  iosonde doctor ./                 what can be measured here, and what would disturb it";

/// Options of every command.
#[derive(Debug, Args)]
pub struct Shared {
    /// The notebook of runs [default: iosonde/notebook.db in your data folder]
    #[arg(long, global = true, value_name = "PATH", env = "IOSONDE_STORE")]
    pub store: Option<PathBuf>,
    /// Print the result and nothing else
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Print every trial and check
    #[arg(long, short, global = true, conflicts_with = "quiet")]
    pub verbose: bool,
    /// No live progress line
    #[arg(long, global = true)]
    pub no_progress: bool,
    /// Let a result (-o, --json) replace a file that iosonde did not write
    #[arg(long, global = true)]
    pub force: bool,
    /// Colour the result
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: When,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs)]
pub enum When {
    Auto,
    Always,
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a study on a target and report the results
    Run(Box<RunArgs>),
    /// Continue an interrupted run
    Resume(ResumeArgs),
    /// Run one workload once, like fio, and check it
    Point(Box<PointArgs>),
    /// Check storage against a documented requirement (etcd, ..): pass, fail or inconclusive
    Check(Box<CheckArgs>),
    /// Find out whether storage holds as much as it claims (counterfeit sticks and cards)
    Capacity(CapacityArgs),
    /// Find out whether first reads are slower (volumes restored from snapshots, tiered disks)
    Cold(ColdArgs),
    /// Measure small files: create, stat, open, read, list, rename, unlink, write with fsync
    Files(FilesArgs),
    /// Run fio's job files, or a fio command line, and check the results
    Fio(Box<FioArgs>),
    /// List the runs in the notebook
    Ls(LsArgs),
    /// Show the end screen of a run again
    Show(ShowArgs),
    /// Remove runs from the notebook
    Rm(RmArgs),
    /// Write the report of a run, or of several runs
    Report(ReportArgs),
    /// Check the results of fio, dd, diskspd and other tools
    Judge(JudgeArgs),
    /// Write a run to a file, for other programs or another machine
    Export(ExportArgs),
    /// Keep runs of another machine, or another tool's results, in the notebook
    Import(ImportArgs),
    /// Compare runs (machines, devices, settings) point by point
    Compare(CompareArgs),
    /// Compare a run with a vendor's data sheet, line by line
    Spec(SpecArgs),
    /// Show what can be measured here, and what would disturb it
    Doctor(DoctorArgs),
    /// List the studies, or print one
    Studies(StudiesArgs),
    /// List the engines, or one's manual page
    Engines(NameArgs),
    /// List the checks, or one's manual page
    Checks(NameArgs),
    /// List the experiments, or one's manual page
    Experiments(NameArgs),
    /// List the findings, or one's manual page
    Findings(NameArgs),
    /// List the simulated devices, or one's parameters and truths
    Devices(DevicesArgs),
    /// List the vendors' data sheets, or print one
    Specs(NameArgs),
    /// List the documented requirements, or print one
    Requirements(NameArgs),
    /// Measure iosonde's own error rates on simulated devices with known truth
    Selftest(SelftestArgs),
    /// Print the manual page of any name in the lists
    Explain(ExplainArgs),
    /// Print a manual page in roff, or write all of them
    Man(ManArgs),
    /// Print the completions of a shell
    Completions(CompletionsArgs),
}

/// What to measure and how, for `run` and `point`.
#[derive(Debug, Clone, Args)]
pub struct TargetArgs {
    /// Size of the prepared area [default: run 4 GiB, or what fills in 15 % of the time; point 1 GiB]
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    pub size: Option<u64>,
    /// io_uring, libaio, threads, psync, mmap, null, or with options: io_uring:sqpoll [default: the fastest that works]
    #[arg(long, alias = "ioengine", value_name = "NAME")]
    pub engine: Option<String>,
    /// Require direct I/O [default: direct wherever the file system supports it]; fio's --direct=0 is --buffered
    #[arg(long, value_name = "0|1", num_args = 0..=1, require_equals = true, default_missing_value = "1")]
    #[arg(value_parser = parse_yes, conflicts_with = "buffered")]
    pub direct: Option<bool>,
    /// Buffered I/O: use the page cache
    #[arg(long)]
    pub buffered: bool,
    /// Write nothing: measure an existing file or device by reading it
    #[arg(long)]
    pub read_only: bool,
    /// Overwrite an existing file or device; one that holds data needs its identity
    #[arg(long, value_name = "IDENTITY", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub destroy: Option<String>,
    /// Seed of the random number generator [default: drawn, and reported]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Hosts that measure at the same time: of a simulated target, or as many as iosonde-mpi was started with
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub hosts: Option<u32>,
    /// Where hosts and jobs (workers) keep their data [default: file-per-host in a directory, otherwise shared]
    #[arg(long, value_name = "HOW", value_parser = layouts())]
    pub layout: Option<HostLayout>,
    /// Read what another host wrote, so that caches of the own host do not serve it
    #[arg(long)]
    pub rotate: bool,
    /// Your name for the run
    #[arg(long, alias = "name", value_name = "NAME", value_parser = parse_label)]
    pub label: Option<String>,
    /// Your note
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// Print one JSON document, to stdout or to PATH
    #[arg(long, value_name = "PATH", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Exit with 3 if a verdict is a warning or invalid
    #[arg(long)]
    pub strict: bool,
    /// Confidence of every interval
    #[arg(long, value_name = "P%", value_parser = parse_confidence, default_value = "95%")]
    pub confidence: f64,
}

/// Minimum number of rounds: an interval needs them.
pub const ROUNDS_MIN: u32 = 5;

/// `iosonde run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// A study's name or file (left out: quick), then the target: a directory, file, block device or sim:NAME; several
    /// targets behind a study take turns, and are compared
    #[arg(value_name = "STUDY|TARGET", required_unless_present = "add", num_args = 1..=33)]
    pub words: Vec<String>,
    /// Time limit per target, preparation included [default: the study's; quick: 90s]
    #[arg(long, value_name = "TIME", value_parser = units::parse_time)]
    pub time: Option<u64>,
    /// Required precision: half the width of each interval [default: the study's; quick: 5%]
    #[arg(long, value_name = "P%", value_parser = parse_precision)]
    pub precision: Option<f64>,
    /// Exact number of rounds, at any precision; an interval needs at least 5; with --add, that many more
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    #[arg(conflicts_with = "precision")]
    pub rounds: Option<u32>,
    /// Run it N times, each with a new file, fill and process; `compare` needs this for run-to-run variation
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100), conflicts_with = "dry_run")]
    pub repeats: Option<u32>,
    /// Internal: number and series of a repeat, set by the command that began it
    #[arg(long, hide = true, value_parser = parse_part)]
    pub part: Option<(u32, String)>,
    /// A parameter of the study: depth=1,4 or, of one of its experiments only, mix.depth=32; may be repeated
    #[arg(long, value_name = "KEY=VALUE", conflicts_with_all = ["like", "add"])]
    pub set: Vec<String>,
    /// The lines of a vendor's sheet (`iosonde specs`, or a file) as the study: run spec --sheet d7-p5600 TARGET
    #[arg(long, value_name = "NAME", conflicts_with_all = ["like", "add"])]
    pub sheet: Option<String>,
    /// Repeat the points, size and seed of another run on this target
    #[arg(long, value_name = "RUN")]
    pub like: Option<String>,
    /// More rounds on a finished run [default: the newest]: for --time more, or --rounds more
    #[arg(long, value_name = "RUN", num_args = 0..=1, require_equals = true, default_missing_value = "last")]
    #[arg(conflicts_with_all = ["words", "like", "dry_run", "state", "max_write", "label", "note", "size", "engine"])]
    #[arg(conflicts_with_all = ["direct", "buffered", "read_only", "destroy", "seed", "confidence", "repeats"])]
    #[arg(conflicts_with_all = ["layout", "rotate"])]
    pub add: Option<String>,
    /// The storage below the target: both take turns, and what the layers between them cost is reported
    #[arg(long, value_name = "BASE", conflicts_with_all = ["like", "add", "repeats"])]
    pub over: Option<String>,
    /// Compare the result with an earlier run of this storage
    #[arg(long, value_name = "RUN", conflicts_with_all = ["add", "repeats", "over"])]
    pub against: Option<String>,
    /// Bring the storage to this state first (recorded): fresh, filled:P% or steady
    #[arg(long, value_name = "STATE", conflicts_with = "read_only")]
    pub state: Option<State>,
    /// Limit of all written bytes, filling included; several targets get equal parts
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    pub max_write: Option<u64>,
    /// Address only the first SIZE of the prepared area [default: all of it]
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size, conflicts_with_all = ["like", "add"])]
    pub span: Option<u64>,
    /// Print the plan and measure nothing
    #[arg(long, conflicts_with_all = ["out", "json", "strict", "label", "note"])]
    pub dry_run: bool,
    /// File of the HTML report [default: iosonde-STUDY-RUN.html here]
    #[arg(short, long, value_name = "PATH")]
    pub out: Option<PathBuf>,
    /// What is measured and how.
    #[command(flatten)]
    pub target: TargetArgs,
}

/// `iosonde resume`.
#[derive(Debug, Args)]
pub struct ResumeArgs {
    /// The run [default: the newest interrupted one]
    pub run: Option<String>,
    /// File of the HTML report [default: iosonde-STUDY-RUN.html here]
    #[arg(short, long, value_name = "PATH")]
    pub out: Option<PathBuf>,
    /// Print one JSON document, to stdout or to PATH
    #[arg(long, value_name = "PATH", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Exit with 3 if a verdict is a warning or invalid
    #[arg(long)]
    pub strict: bool,
}

/// `iosonde point`.
#[derive(Debug, Clone, Args)]
pub struct PointArgs {
    /// A directory, file, block device or sim:NAME
    pub target: String,
    /// What the first stream does.
    #[command(flatten)]
    pub stream: StreamArgs,
    /// A stream beside the first, in the same words: "rw=write bs=4k sync=fdatasync:1"; may be repeated
    #[arg(long, value_name = "STREAM", value_parser = crate::stream::parse_beside)]
    pub and: Vec<StreamArgs>,
    /// Writes that are on storage whole or not at all (RWF_ATOMIC); sizes that `iosonde doctor` shows
    #[arg(long)]
    pub atomic: bool,
    /// Run time [default: 5s; with --latency-limit 60s for the whole search]
    #[arg(long, alias = "runtime", value_name = "TIME", value_parser = parse_trial_time)]
    pub time: Option<u64>,
    /// Find the highest load within a latency limit: p99=1ms, p99.9=5ms or mean=200us
    #[arg(long, value_name = "FIGURE=TIME", conflicts_with_all = ["and", "rate", "ios", "warmup", "verify"])]
    pub latency_limit: Option<LatencyLimit>,
    /// Warm-up time, not counted [default: a tenth, and until the queue has turned over once]
    #[arg(long, alias = "ramp_time", value_name = "TIME", value_parser = units::parse_time)]
    pub warmup: Option<u64>,
    /// End after N requests per job
    #[arg(long, alias = "number_ios", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub ios: Option<u64>,
    /// fio's word for what a point does anyway
    #[arg(long = "time_based", hide = true, value_name = "1", num_args = 0..=1, require_equals = true)]
    #[arg(value_parser = ["1"], default_missing_value = "1")]
    pub time_based: Option<String>,
    /// fio's word for what a point does anyway
    #[arg(long = "group_reporting", hide = true, value_name = "1", num_args = 0..=1, require_equals = true)]
    #[arg(value_parser = ["1"], default_missing_value = "1")]
    pub group_reporting: Option<String>,
    /// What is measured and how.
    #[command(flatten)]
    pub common: TargetArgs,
}

/// `iosonde check`.
#[derive(Debug, Clone, Args)]
pub struct CheckArgs {
    /// A requirement's name (`iosonde requirements` lists them), or a path ending in .toml
    pub requirement: String,
    /// A directory, file, block device or sim:NAME
    pub target: String,
    /// Run time, preparation included; more of it narrows the interval [default: the requirement's; 60s]
    #[arg(long, value_name = "TIME", value_parser = units::parse_time)]
    pub time: Option<u64>,
    /// Bring the prepared area to this state first (recorded): fresh, filled:P% or steady, often with a larger --size
    #[arg(long, value_name = "STATE", conflicts_with = "read_only")]
    pub state: Option<State>,
    /// Write a JUnit file for a build server
    #[arg(long, value_name = "PATH")]
    pub junit: Option<PathBuf>,
    /// File of the HTML report [default: no file]
    #[arg(short, long, value_name = "PATH")]
    pub out: Option<PathBuf>,
    /// What is measured and how.
    #[command(flatten)]
    pub common: TargetArgs,
}

/// Where the answer of a command goes that keeps no run, beside the screen.
#[derive(Debug, Clone, Args)]
pub struct AnswerFiles {
    /// File of the HTML page [default: no file]
    #[arg(short, long, value_name = "PATH")]
    pub out: Option<PathBuf>,
    /// Print one JSON document, to stdout or to PATH
    #[arg(long, value_name = "PATH", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub json: Option<PathBuf>,
}

/// `iosonde capacity`.
#[derive(Debug, Clone, Args)]
pub struct CapacityArgs {
    /// A block device, a directory (its free space), a file or sim:NAME
    pub target: String,
    /// Write and read every block, not a sample of them
    #[arg(long)]
    pub full: bool,
    /// Continue an interrupted --full on a device or file
    #[arg(long, requires = "full")]
    pub resume: bool,
    /// Overwrite an existing file or device; one that holds data needs its identity
    #[arg(long, value_name = "IDENTITY", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub destroy: Option<String>,
    /// Look at the first so many bytes only
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    pub size: Option<u64>,
    /// io_uring, libaio, threads or psync [default: the fastest that works here]
    #[arg(long, value_name = "NAME")]
    pub engine: Option<String>,
    /// Seed of the random number generator [default: drawn, and reported]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Where the answer goes.
    #[command(flatten)]
    pub answer: AnswerFiles,
}

/// `iosonde cold`.
#[derive(Debug, Clone, Args)]
pub struct ColdArgs {
    /// A block device, a file or sim:NAME; it is only read
    pub target: String,
    /// Look at the first so many bytes only
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    pub size: Option<u64>,
    /// io_uring, libaio, threads or psync [default: the fastest that works here]
    #[arg(long, value_name = "NAME")]
    pub engine: Option<String>,
    /// Seed of the random number generator [default: drawn, and reported]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Where the answer goes.
    #[command(flatten)]
    pub answer: AnswerFiles,
}

/// `iosonde files`.
#[derive(Debug, Clone, Args)]
pub struct FilesArgs {
    /// A directory, or sim:NAME with a service of files
    pub target: String,
    /// Files of each round
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub files: u64,
    /// Bytes of each file
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size, default_value = "4k")]
    pub size: u64,
    /// Directories that they lie in; as many as workers gives each its own [default: 10]
    #[arg(long, value_name = "N")]
    pub directories: Option<u64>,
    /// Threads at a time, 1 to 64
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub workers: u32,
    /// Rounds, at least 3; ten give intervals 15 % wider than many would
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub rounds: usize,
    /// Time for all rounds; without files to remove and caches to drop
    #[arg(long, value_name = "TIME", value_parser = units::parse_time, default_value = "1m")]
    pub time: u64,
    /// Drop what is read from memory before: as root all of it, which slows other programs for a while; otherwise the
    /// data of files
    #[arg(long)]
    pub uncached: bool,
    /// Seed of the random number generator [default: drawn, and reported]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Where the answer goes.
    #[command(flatten)]
    pub answer: AnswerFiles,
}

/// Reads fio's 0 or 1.
fn parse_yes(text: &str) -> Result<bool, String> {
    match text {
        "1" => Ok(true),
        "0" => Ok(false),
        _ => Err("it is 0 or 1".into()),
    }
}

/// `iosonde fio`.
#[derive(Debug, Clone, Args)]
pub struct FioArgs {
    /// fio's job files
    #[arg(value_name = "JOBFILE")]
    pub files: Vec<String>,
    /// A fio command line, behind `--`: -- fio --name=x --rw=randread --size=1g
    #[arg(last = true, value_name = "FIO", conflicts_with = "files")]
    pub line: Vec<String>,
    /// Measure here instead of the files that the jobs name: a directory, file, block device or sim:NAME
    #[arg(long, value_name = "TARGET")]
    pub target: Option<String>,
    /// Run no job longer than this
    #[arg(long, value_name = "TIME", value_parser = parse_trial_time)]
    pub time: Option<u64>,
    /// Make no file of a job larger than this
    #[arg(long, value_name = "SIZE", value_parser = units::parse_size)]
    pub size: Option<u64>,
    /// Print what would be run, and measure nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Write nothing: refuse jobs that write
    #[arg(long)]
    pub read_only: bool,
    /// Overwrite an existing file or device; one that holds data needs its identity
    #[arg(long, value_name = "IDENTITY", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub destroy: Option<String>,
    /// Seed of the random number generator [default: drawn, and reported]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Your name for the run
    #[arg(long, value_name = "NAME", value_parser = parse_label)]
    pub label: Option<String>,
    /// Your note
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// Print one JSON document, to stdout or to PATH
    #[arg(long, value_name = "PATH", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Print fio's JSON instead: json or json+ [default: normal]
    #[arg(long, value_name = "FORMAT")]
    pub output_format: Option<FioFormat>,
    /// File of the results [default: stdout]
    #[arg(long, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// Run only the sections of this name; may be repeated
    #[arg(long, value_name = "NAME")]
    pub section: Vec<String>,
    /// Exit with 3 if a verdict is a warning or invalid
    #[arg(long)]
    pub strict: bool,
}

/// Form of fio's results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FioFormat {
    /// iosonde's screen.
    Normal,
    /// fio's JSON.
    Json,
    /// fio's JSON with histograms.
    #[value(name = "json+")]
    JsonPlus,
}

/// `iosonde ls`.
#[derive(Debug, Args)]
pub struct LsArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `iosonde show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// An id or the start of one, a label, last, last~1, or a run's file [default: the newest]
    pub run: Option<String>,
    /// Print one JSON document, to stdout or to PATH
    #[arg(long, value_name = "PATH", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub json: Option<PathBuf>,
}

/// `iosonde rm`.
#[derive(Debug, Args)]
pub struct RmArgs {
    /// Ids or starts of ids, labels, last or last~1
    #[arg(required = true)]
    pub runs: Vec<String>,
}

/// `iosonde report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Ids or the starts of ids, labels, last, last~1, or runs' files; of several, one page that compares all with the
    /// first [default: the newest]
    pub runs: Vec<String>,
    /// Formats, separated by commas
    #[arg(short, long, value_name = "FORMAT", value_delimiter = ',', default_value = "html")]
    pub format: Vec<String>,
    /// Output file; - is stdout [default: iosonde-STUDY-RUN.EXTENSION here]
    #[arg(short, long, value_name = "PATH")]
    pub out: Option<PathBuf>,
}

/// `iosonde compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Ids or starts of ids, labels, last or last~1; each includes all its repeats
    #[arg(required = true)]
    pub runs: Vec<String>,
    /// Compare all others with this run [default: the first]
    #[arg(long, value_name = "RUN")]
    pub baseline: Option<String>,
    /// Ratios within this share of 1 count as the same
    #[arg(long, value_name = "P%", value_parser = parse_margin, default_value = "2%")]
    pub margin: f64,
    /// Confidence of all statements together (family-wise)
    #[arg(long, value_name = "P%", value_parser = parse_confidence, default_value = "95%")]
    pub confidence: f64,
    /// Figure to compare: iops, latency_ns_mean, latency_ns_p50 or latency_ns_p99
    #[arg(long, value_name = "NAME", default_value = "iops")]
    pub figure: String,
    /// The first run is of the storage below the others: report what the layers between them cost
    #[arg(long)]
    pub over: bool,
    /// Print one JSON document, to stdout or to PATH
    #[arg(long, value_name = "PATH", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Exit with 3 if anything is slower with 95 % confidence
    #[arg(long)]
    pub strict: bool,
}

/// `iosonde judge`.
#[derive(Debug, Args)]
pub struct JudgeArgs {
    /// Results of fio, KDiskMark, YABS, diskspd, elbencho, sysbench, pg_test_fsync or dd, or CSV: files, folders, or
    /// - for standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Print one JSON document, to stdout or to PATH
    #[arg(long, value_name = "PATH", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Print JUnit's XML for CI, to stdout or to PATH: a test for each result; with --strict, warnings fail too
    #[arg(long, value_name = "PATH", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    #[arg(conflicts_with = "json")]
    pub junit: Option<PathBuf>,
    /// Exit with 3 if a verdict is a warning or invalid
    #[arg(long)]
    pub strict: bool,
}

/// `iosonde export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// An id or the start of one, a label, last, last~1, or a run's file [default: the newest]
    pub run: Option<String>,
    /// run, json, csv, points-csv, hosts-csv, fio-json, fio-json-plus, openmetrics, bencher, io-properties or
    /// io-cost-model, with commas between
    #[arg(short, long, value_name = "FORMAT", value_delimiter = ',', default_value = "run")]
    pub format: Vec<String>,
    /// Output file; - is stdout [default: iosonde-STUDY-RUN.EXTENSION here]
    #[arg(short, long, value_name = "PATH")]
    pub out: Option<PathBuf>,
}

/// `iosonde import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Runs' files, fio's JSON, CSV and the like: files, folders, or - for standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Your name for the runs
    #[arg(long, value_name = "NAME", value_parser = parse_label)]
    pub label: Option<String>,
    /// Your note
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
}

/// `iosonde spec`.
#[derive(Debug, Args)]
pub struct SpecArgs {
    /// An id or the start of one, a label, last or last~1; with --claim alone the newest
    pub run: Option<String>,
    /// A sheet's name, or a path ending in .toml [default: the sheet whose lines the run measured]
    pub sheet: Option<String>,
    /// The same as SHEET, as `run` takes it
    #[arg(long = "sheet", value_name = "SHEET", conflicts_with_all = ["sheet", "claim"])]
    pub named: Option<String>,
    /// A claim instead of a sheet, as in "randwrite 4k 118000"; may be repeated
    #[arg(long, value_name = "CLAIM", conflicts_with = "sheet", value_parser = iosonde_model::Claim::parse)]
    pub claim: Vec<iosonde_model::Claim>,
    /// Tolerance: figures within this share of a claim meet it
    #[arg(long, value_name = "P%", value_parser = parse_margin, default_value = "5%")]
    pub margin: f64,
    /// Print one JSON document, to stdout or to PATH
    #[arg(long, value_name = "PATH", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub json: Option<PathBuf>,
    /// Exit with 3 if a line is below its claim
    #[arg(long)]
    pub strict: bool,
}

/// `iosonde man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// A command [default: iosonde itself]
    #[arg(conflicts_with = "out")]
    pub command: Option<String>,
    /// Write the pages of all commands into this folder
    #[arg(short, long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
}

/// `iosonde completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// Shell that reads them
    pub shell: clap_complete::Shell,
}

/// `iosonde doctor`.
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// A directory, file or block device
    #[arg(default_value = "./")]
    pub target: String,
}

/// `iosonde studies`.
#[derive(Debug, Args)]
pub struct StudiesArgs {
    /// A study's name
    pub name: Option<String>,
    /// Print its file, to copy and edit
    #[arg(long, requires = "name")]
    pub toml: bool,
}

/// A list with manual pages.
#[derive(Debug, Args)]
pub struct NameArgs {
    /// Print the manual page of this one
    pub name: Option<String>,
}

/// `iosonde selftest`.
#[derive(Debug, Args)]
pub struct SelftestArgs {
    /// Runs per cell, with every size of every effect [default: a quick test, 8 runs of the stated effects]
    #[arg(long, value_name = "N", value_parser = parse_count)]
    pub seeds: Option<usize>,
    /// Seed of the first run
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Only cells with TEXT in their check or device; `clean` for the clean devices
    #[arg(long, value_name = "TEXT")]
    pub cells: Option<String>,
    /// Keep every run's outcome in PATH, and continue from there
    #[arg(long, value_name = "PATH")]
    pub keep: Option<PathBuf>,
}

/// `iosonde devices`.
#[derive(Debug, Args)]
pub struct DevicesArgs {
    /// A device's name, or a path ending in .toml
    #[arg(conflicts_with = "from")]
    pub name: Option<String>,
    /// Write a simulated device fitted to a run's findings (id, label or file)
    #[arg(long, value_name = "RUN")]
    pub from: Option<String>,
    /// Run the points of the run, or of RUN, on the fitted device, and show where the model fails
    #[arg(
        long,
        value_name = "RUN",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        requires = "from"
    )]
    pub check: Option<String>,
    /// File of the fitted device [default: stdout]
    #[arg(short, long, value_name = "PATH", requires = "from")]
    pub out: Option<PathBuf>,
    /// Print JSON, to stdout or to PATH
    #[arg(
        long,
        value_name = "PATH",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "-"
    )]
    pub json: Option<PathBuf>,
}

/// `iosonde explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// The name of a study, engine, experiment, check, finding or device
    pub name: String,
}

fn parse_confidence(text: &str) -> Result<f64, String> {
    let share = units::parse_percent(text).map_err(|e| e.to_string())?;
    // 99.9 % as a share has no end in binary.
    let fits = (0.5..0.9991).contains(&share);
    if fits { Ok(share) } else { Err("a confidence lies between 50% and 99.9%".into()) }
}

fn parse_part(text: &str) -> Result<(u32, String), String> {
    let (number, series) = text.split_once(',').ok_or("a part is NUMBER,SERIES")?;
    Ok((number.parse().map_err(|_| "a part has a number")?, series.to_owned()))
}

fn parse_margin(text: &str) -> Result<f64, String> {
    let share = units::parse_percent(text).map_err(|e| e.to_string())?;
    let fits = (0.0..=0.5).contains(&share);
    if fits { Ok(share) } else { Err("a margin lies between 0% and 50%".into()) }
}

fn parse_precision(text: &str) -> Result<f64, String> {
    let share = units::parse_percent(text).map_err(|e| e.to_string())?;
    let fits = (0.001..=0.5).contains(&share);
    if fits { Ok(share) } else { Err("a precision lies between 0.1% and 50%".into()) }
}

fn parse_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("a whole number such as 8, and at least 1".into()),
        Ok(count) => Ok(count),
    }
}

/// A name that can be typed later, and that no other reference has.
pub fn parse_label(text: &str) -> Result<String, String> {
    let reference = text == "last" || text.starts_with("last~");
    if text.trim().is_empty() || text.chars().any(char::is_control) || reference {
        return Err("a label is printable text, and neither empty nor `last`".into());
    }
    Ok(text.trim().to_owned())
}

fn layouts() -> impl TypedValueParser<Value = HostLayout> {
    PossibleValuesParser::new(HostLayout::ALL.iter().map(|layout| layout.as_str()))
        .try_map(|name| name.parse::<HostLayout>())
}

fn parse_trial_time(text: &str) -> Result<u64, String> {
    match units::parse_time(text).map_err(|e| e.to_string())? {
        // 50 ms: the warm-up takes 25 of them.
        ns if ns < 50_000_000 => Err("a trial takes at least 50ms".into()),
        ns if ns > 86_400_000_000_000 => Err("a trial takes at most a day".into()),
        ns => Ok(ns),
    }
}
