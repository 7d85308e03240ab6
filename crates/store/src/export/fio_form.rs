//! The document of fio's JSON, with or without histograms: one entry for each job.

mod figures;

use std::collections::BTreeMap;

use iosonde_model::{
    Arrivals, Direction, Distribution, HotRange, Op, Outcome, Payload, Phase, RequestError, Run, Sync, Trial,
    TrialSpec, Window,
    fio::{
        self, FioReport, KbBase,
        steady_state::{SteadyMeasure, SteadyState},
    },
};
use serde::Serialize;
use serde_json::{Map, Value, json};

pub use figures::Bins;
use figures::{Detail, direction, flush, idle, percentiles, shares};

/// The document, in fio's order.
#[derive(Serialize)]
struct Document {
    #[serde(rename = "fio version")]
    version: &'static str,
    iosonde: Origin,
    timestamp: i64,
    timestamp_ms: i64,
    time: String,
    #[serde(rename = "global options")]
    global: BTreeMap<String, String>,
    jobs: Vec<Value>,
}

/// Where the figures come from.
#[derive(Serialize)]
struct Origin {
    run: String,
    version: &'static str,
    target: String,
    /// Engine that ran; options of a job have the one that it asks for.
    engine: String,
    /// The worst of all checks.
    verdict: Outcome,
    /// Checks that gave a warning or worse.
    checks: Vec<&'static str>,
}

impl Origin {
    fn of(run: &Run) -> Self {
        let doubts = || run.verdicts.iter().filter(|line| line.verdict >= Outcome::Warning);
        let mut checks: Vec<&str> = doubts().map(|line| line.check.as_str()).collect();
        checks.sort_unstable();
        checks.dedup();
        Self {
            run: run.info.id.clone(),
            version: env!("CARGO_PKG_VERSION"),
            target: run.info.target.clone(),
            engine: run.info.device.engine.clone(),
            verdict: doubts().map(|line| line.verdict).max().unwrap_or(Outcome::Pass),
            checks,
        }
    }
}

/// The document of a run.
pub fn document(run: &Run, bins: Bins) -> Result<String, String> {
    let measured: Vec<&Trial> = run.trials.iter().filter(|trial| trial.phase == Phase::Measure).collect();
    if measured.is_empty() {
        return Err("no trial measured anything, and fio's form has jobs for nothing else".into());
    }
    let reports = reports(run, &measured);
    let jobs =
        measured.iter().zip(&reports).flat_map(|(trial, own)| own.iter().map(|one| job(trial, one, bins)));
    let ended_ms = figures::unix_ms(&run.info.started_at).map(|ms| ms + (run.info.elapsed_s * 1e3) as i64);
    let ended_ms =
        ended_ms.ok_or("the run does not say when it was started, and fio's form has a time stamp")?;
    let document = Document {
        version: "fio-3.0",
        iosonde: Origin::of(run),
        timestamp: ended_ms / 1000,
        timestamp_ms: ended_ms,
        time: figures::calendar(ended_ms / 1000),
        global: run.info.fio.as_ref().map(|fio| fio.global.clone()).unwrap_or_default(),
        jobs: jobs.collect(),
    };
    serde_json::to_string_pretty(&document).map(|text| text + "\n").map_err(|error| error.to_string())
}

/// Entries of the report for each trial: those of fio's job file, or one for each stream.
fn reports(run: &Run, measured: &[&Trial]) -> Vec<Vec<FioReport>> {
    let told = run.info.fio.as_ref().map(|fio| fio.groups.as_slice()).unwrap_or_default();
    let of = |(at, trial): (usize, &&Trial)| match told.get(at) {
        Some(reports) => reports.clone(),
        None => trial
            .spec
            .streams()
            .enumerate()
            .map(|(stream, spec)| {
                let several = !trial.spec.and.is_empty();
                let beside = if several { format!(" stream {}", stream + 1) } else { String::new() };
                FioReport {
                    name: format!("{} {}{beside}", trial.experiment, trial.id),
                    group: at as u32,
                    jobs: spec.jobs.saturating_mul(spec.hosts),
                    first_job: at as u32 + 1,
                    streams: vec![stream],
                    options: options(spec),
                }
            })
            .collect(),
    };
    measured.iter().enumerate().map(of).collect()
}

/// An entry of `jobs`.
fn job(trial: &Trial, report: &FioReport, bins: Bins) -> Value {
    let streams: Vec<_> = report.own(trial).collect();
    let measured_s = report.measured_s(trial);
    let windows: Vec<&[Window]> = match trial.streams.is_empty() {
        true => vec![&trial.windows],
        false => streams.iter().map(|stream| stream.windows.as_slice()).collect(),
    };
    let sides: Vec<_> = Op::DIRECTIONS.iter().map(|op| (*op, report.direction(trial, *op))).collect();
    let errors: u64 = sides.iter().filter_map(|(_, side)| Some(side.as_ref()?.errors)).sum();
    let percentiles = percentiles(report.options.get("percentile_list"));
    let detail = Detail { bins, percentiles: &percentiles };
    let mut own = Map::new();
    let mut set = |name: &str, value: Value| own.insert(name.to_owned(), value);
    set("jobname", json!(report.name));
    set("groupid", json!(report.group));
    set("error", json!(if is_too_slow(report, &sides) { ETIMEDOUT } else { error(trial, errors) }));
    set("eta", json!(0));
    set("elapsed", json!(trial.elapsed_s.ceil() as u64));
    set("total_err", json!(errors));
    set("job options", json!(report.options));
    for (op, side) in &sides {
        let side = side.as_ref();
        let own_s = report.measured_s_of(trial, *op);
        set(op.name(), side.map_or_else(idle, |side| direction(side, *op, own_s, &windows, detail)));
    }
    set("sync", flush(report.flush(trial).as_ref(), &percentiles));
    // fio adds up the times of all jobs of an entry.
    set("job_runtime", json!((measured_s * 1e3 * f64::from(report.jobs)).round() as u64));
    let cpu_s = match trial.streams.is_empty() {
        true => trial.cpu_user_s.zip(trial.cpu_system_s),
        false => streams
            .iter()
            .map(|stream| stream.cpu_user_s.zip(stream.cpu_system_s))
            .try_fold((0.0, 0.0), |(user_s, system_s), own| {
                own.map(|own| (user_s + own.0, system_s + own.1))
            }),
    };
    if let Some((user_s, system_s)) = cpu_s.filter(|_| trial.elapsed_s > 0.0) {
        let percent = |seconds: f64| json!(100.0 * seconds / trial.elapsed_s / f64::from(report.jobs.max(1)));
        set("usr_cpu", percent(user_s));
        set("sys_cpu", percent(system_s));
    }
    let of_jobs: Vec<&TrialSpec> =
        report.streams.iter().filter_map(|at| trial.spec.streams().nth(*at)).collect();
    if !of_jobs.is_empty() && of_jobs.iter().all(|spec| spec.queue_depth == 1) {
        let levels = ["1", "2", "4", "8", "16", "32", ">=64"];
        let share = |(at, level): (usize, &str)| (level.to_owned(), json!(if at == 0 { 100.0 } else { 0.0 }));
        set("iodepth_level", Value::Object(levels.into_iter().enumerate().map(share).collect()));
    }
    let histograms: Vec<_> = sides.iter().filter_map(|(_, side)| Some(&side.as_ref()?.histogram)).collect();
    for (unit, told) in shares(&histograms) {
        set(unit, told);
    }
    for (name, told) in latency_target(trial, &report.options) {
        set(name, told);
    }
    if let Some(told) = steady_state(trial, report) {
        set("steadystate", told);
    }
    Value::Object(own)
}

/// The search for a depth that keeps a latency, where the job has one: its target in nanoseconds, its window in
/// microseconds, as in fio.
fn latency_target(trial: &Trial, options: &BTreeMap<String, String>) -> Vec<(&'static str, Value)> {
    let time_ns = |name: &str| fio::time_ns(options.get(name)?, 1_000).filter(|&ns| ns > 0);
    let Some(target_ns) = time_ns("latency_target") else { return Vec::new() };
    let percent = options.get("latency_percentile").and_then(|word| word.trim().parse::<f64>().ok());
    vec![
        ("latency_depth", json!(trial.spec.queue_depth)),
        ("latency_target", json!(target_ns)),
        ("latency_percentile", json!(percent.unwrap_or(100.0))),
        ("latency_window", json!(time_ns("latency_window").unwrap_or(0) / 1_000)),
    ]
}

/// The criterion that was to end the job, and its last seconds, as in fio: bytes and requests a second, whole.
fn steady_state(trial: &Trial, report: &FioReport) -> Option<Value> {
    let last =
        trial.last_seconds.iter().find(|last| last.streams.iter().any(|at| report.streams.contains(at)))?;
    let time_ns = |name: &str| report.options.get(name).and_then(|word| fio::time_ns(word, 1_000_000_000));
    let base = report.options.get("kb_base").and_then(|word| KbBase::parse(word)).unwrap_or_default();
    let rule = SteadyState::parse(report.options.get("steadystate")?, base)?;
    let duration_s = time_ns("steadystate_duration")? / 1_000_000_000;
    let rule = SteadyState { window_s: duration_s as usize, ..rule };
    let percent = if rule.is_percent { "%" } else { "" };
    let value = rule.value(rule.seconds(last)).unwrap_or(0.0);
    let absolute = SteadyState { is_percent: false, ..rule }.value(rule.seconds(last)).unwrap_or(0.0);
    let (deviation, slope) = match rule.measure {
        SteadyMeasure::Deviation => (absolute, 0.0),
        SteadyMeasure::Slope => (0.0, absolute),
    };
    let whole = |seconds: &[f64]| seconds.iter().map(|one| one.round() as u64).collect::<Vec<_>>();
    let mean = |seconds: &[f64]| (seconds.iter().sum::<f64>() / seconds.len().max(1) as f64).round() as u64;
    Some(json!({
        "ss": format!("{}:{:.6}{percent}", rule.name(), rule.limit),
        "duration": duration_s,
        "attained": u8::from(last.is_met),
        "criterion": format!("{value:.6}{percent}"),
        "max_deviation": deviation,
        "slope": slope,
        "data": {
            "bw_mean": mean(&last.bytes_per_s),
            "iops_mean": mean(&last.iops),
            "iops": whole(&last.iops),
            "bw": whole(&last.bytes_per_s),
        },
    }))
}

/// Linux's number of the error with which fio ends a job that was slower than its `max_latency`.
const ETIMEDOUT: i32 = 110;

/// Whether a request took longer than the job's `max_latency`, which fio writes in microseconds.
fn is_too_slow(report: &FioReport, sides: &[(Op, Option<Direction>)]) -> bool {
    let most_ns = report.options.get("max_latency").and_then(|word| fio::time_ns(word, 1_000));
    let slowest_ns = sides.iter().filter_map(|(_, side)| side.as_ref()?.histogram.max_ns()).max();
    most_ns.filter(|&ns| ns > 0).zip(slowest_ns).is_some_and(|(most_ns, slowest_ns)| slowest_ns > most_ns)
}

/// The errno of the first error; EIO where only the number of errors is known.
fn error(trial: &Trial, errors: u64) -> i32 {
    let system = trial.error_examples.iter().find_map(|error| match error {
        RequestError::System { errno, .. } => Some(*errno),
        _ => None,
    });
    if errors == 0 { 0 } else { system.map_or(5, i32::abs) }
}

/// What follows `rw` where sequential requests leave something out, or go backwards.
fn skip(spec: &TrialSpec) -> String {
    let stride_bytes = spec.stride_bytes.unwrap_or(spec.block_size_bytes);
    match stride_bytes.checked_sub(spec.block_size_bytes) {
        _ if spec.backwards => format!(":-{}", stride_bytes + spec.block_size_bytes),
        Some(bytes @ 1..) => format!(":{bytes}"),
        _ => String::new(),
    }
}

/// The options that would ask fio for the same.
fn options(spec: &TrialSpec) -> BTreeMap<String, String> {
    let mut options = BTreeMap::new();
    let mut set = |name: &str, value: String| options.insert(name.to_owned(), value);
    set("rw", format!("{}{}", spec.rw, skip(spec)));
    set("bs", spec.block_size_bytes.to_string());
    if !spec.block_sizes.is_one() {
        let split = spec.block_sizes.iter().map(|size| format!("{}/{:.0}", size.bytes, size.percent));
        set("bssplit", split.collect::<Vec<_>>().join(":"));
    }
    set("iodepth", spec.queue_depth.to_string());
    // fio's form has no hosts: their jobs are jobs.
    set("numjobs", spec.jobs.saturating_mul(spec.hosts).to_string());
    set("ioengine", spec.engine.split(':').next().unwrap_or_default().to_owned());
    set("direct", u8::from(spec.direct).to_string());
    set("lat_percentiles", "1".to_owned());
    if spec.span_bytes > 0 {
        set("size", spec.span_bytes.to_string());
    }
    if spec.offset_bytes > 0 {
        set("offset", spec.offset_bytes.to_string());
    }
    if let Some(percent) = spec.read_percent {
        set("rwmixread", percent.to_string());
    }
    if let Some(rate) = spec.rate_iops {
        // fio's rate holds for each direction by itself.
        let reads = spec.read_percent.unwrap_or(50.0) / 100.0;
        let mixed = format!("{:.0},{:.0}", rate * reads, rate * (1.0 - reads));
        set("rate_iops", if spec.rw.is_mixed() { mixed } else { format!("{rate:.0}") });
        if spec.arrivals == Arrivals::Poisson {
            set("rate_process", "poisson".to_owned());
        }
    }
    match spec.distribution {
        Distribution::Uniform if spec.rw.is_random() => drop(set("norandommap", "1".to_owned())),
        Distribution::Zipf { theta } => drop(set("random_distribution", format!("zipf:{theta}"))),
        Distribution::Pareto { share } => drop(set("random_distribution", format!("pareto:{share}"))),
        Distribution::Normal { deviation } => {
            drop(set("random_distribution", format!("normal:{:.0}", deviation * 100.0)));
        }
        Distribution::Hot(ranges) => {
            let part = |part: HotRange| format!("{:.0}/{:.0}", part.requests * 100.0, part.span * 100.0);
            let parts: Vec<String> = ranges.parts().map(part).collect();
            drop(set("random_distribution", format!("zoned:{}", parts.join(":"))));
        }
        Distribution::Uniform | Distribution::Once | Distribution::OncePerJob => {}
    }
    match spec.sync {
        Sync::Fsync { every } => drop(set("fsync", every.to_string())),
        Sync::Fdatasync { every } => drop(set("fdatasync", every.to_string())),
        Sync::FsyncAtEnd | Sync::FdatasyncAtEnd => drop(set("end_fsync", "1".to_owned())),
        Sync::Dsync => drop(set("sync", "dsync".to_owned())),
        Sync::Osync => drop(set("sync", "sync".to_owned())),
        Sync::None => {}
    }
    match spec.payload {
        Payload::Random => {}
        Payload::Zero => drop(set("zero_buffers", "1".to_owned())),
        Payload::Compress { share } => {
            drop(set("buffer_compress_percentage", format!("{:.0}", share * 100.0)));
        }
        Payload::Dedupe { share } => drop(set("dedupe_percentage", format!("{:.0}", share * 100.0))),
        Payload::Both { compress, dedupe } => {
            set("buffer_compress_percentage", format!("{:.0}", compress * 100.0));
            set("dedupe_percentage", format!("{:.0}", dedupe * 100.0));
        }
    }
    options
}
