//! fio's JSON, for the programs that read it: every trial that measured is a job in a group of its own.
//!
//! What fio states under other names stands under them: `iops`, `bw_bytes`, `lat_ns` and its percentiles, which count
//! from submission to completion as here (`lat_percentiles=1`). Times are in milliseconds, the options those that would
//! ask fio for the same. What has no place there is left out: verdicts, windows, witnesses, streams beside the first.
//! `fio version` names 3.0, the oldest with this form, and `iosonde` names the program that wrote it.

use iosonde_model::{Direction, Named, Op, Phase, Run, Sync, Trial, TrialSpec};
use serde_json::{Map, Value, json};

use super::ExportFormat;

/// The registered format.
pub struct FioJson;

impl Named for FioJson {
    fn name(&self) -> &'static str {
        "fio-json"
    }
}

impl ExportFormat for FioJson {
    fn extension(&self) -> &'static str {
        "fio.json"
    }

    fn write(&self, run: &Run) -> Result<String, String> {
        let told = |trial: &&Trial| trial.phase == Phase::Measure && trial.streams.is_empty();
        let jobs: Vec<Value> =
            run.trials.iter().filter(told).enumerate().map(|(group, trial)| job(group, trial)).collect();
        if jobs.is_empty() {
            return Err("no trial measured a single stream, and fio's form has jobs for nothing else".into());
        }
        let document = json!({
            "fio version": "fio-3.0",
            "iosonde": { "version": env!("CARGO_PKG_VERSION"), "run": run.info.id },
            "jobs": jobs,
        });
        serde_json::to_string_pretty(&document).map(|text| text + "\n").map_err(|error| error.to_string())
    }
}

fn job(group: usize, trial: &Trial) -> Value {
    let side = |op| trial.direction(op).map(|side| direction(side, trial.measured_s)).unwrap_or_else(idle);
    json!({
        "jobname": format!("{} {}", trial.experiment, trial.id),
        "groupid": group,
        "error": 0,
        "total_err": trial.directions().map(|(_, side)| side.errors).sum::<u64>(),
        "job options": options(&trial.spec),
        "read": side(Op::Read),
        "write": side(Op::Write),
        "trim": side(Op::Trim),
    })
}

/// The options that would ask fio for the same.
fn options(spec: &TrialSpec) -> Value {
    let mut options = Map::new();
    let mut set = |name: &str, value: String| options.insert(name.to_owned(), Value::String(value));
    set("rw", spec.rw.to_string());
    set("bs", spec.block_size_bytes.to_string());
    set("iodepth", spec.queue_depth.to_string());
    set("numjobs", spec.jobs.to_string());
    set("ioengine", spec.engine.clone());
    set("direct", u8::from(spec.direct).to_string());
    set("lat_percentiles", "1".to_owned());
    if spec.span_bytes > 0 {
        set("size", spec.span_bytes.to_string());
    }
    if let Some(percent) = spec.read_percent {
        set("rwmixread", percent.to_string());
    }
    match spec.sync {
        Sync::Fsync { every } => drop(set("fsync", every.to_string())),
        Sync::Fdatasync { every } => drop(set("fdatasync", every.to_string())),
        Sync::Dsync => drop(set("sync", "dsync".to_owned())),
        Sync::None => {}
    }
    Value::Object(options)
}

fn direction(side: &Direction, measured_s: f64) -> Value {
    let latency = &side.latency_ns;
    let percentiles = [
        ("50.000000", latency.p50),
        ("90.000000", latency.p90),
        ("99.000000", latency.p99),
        ("99.900000", latency.p99_9),
        ("99.990000", latency.p99_99),
    ];
    let known = percentiles.into_iter().filter_map(|(name, ns)| Some((name.to_owned(), json!(ns?))));
    let mut told = Map::new();
    let figures = [
        ("min", json!(latency.min)),
        ("max", json!(latency.max)),
        ("mean", json!(latency.mean)),
        ("stddev", json!(latency.stddev)),
        ("percentile", Value::Object(known.collect())),
    ];
    // What was not measured is absent there, too, and never 0.
    told.extend(
        figures.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, v)| (name.to_owned(), v)),
    );
    json!({
        "io_bytes": side.bytes,
        "total_ios": side.ios,
        "short_ios": side.short,
        "runtime": (measured_s * 1e3).round() as u64,
        "iops": side.iops,
        "bw_bytes": side.bytes_per_s.round() as u64,
        "lat_ns": told,
    })
}

fn idle() -> Value {
    json!({ "io_bytes": 0, "total_ios": 0, "runtime": 0, "iops": 0.0, "bw_bytes": 0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::IMPORTS;

    #[test]
    fn what_is_written_reads_back_as_the_same_trials() {
        let run = crate::run_file::tests::imported();
        let told: Vec<&Trial> = run.trials.iter().filter(|trial| trial.streams.is_empty()).collect();
        let text = FioJson.write(&run).unwrap();
        let back = IMPORTS.find("fio-json").unwrap().read(&text).unwrap();
        assert_eq!(back.trials.len(), told.len());
        for (own, read) in told.iter().zip(&back.trials) {
            assert_eq!((own.spec.rw, own.spec.queue_depth), (read.spec.rw, read.spec.queue_depth));
            assert_eq!(own.spec.block_size_bytes, read.spec.block_size_bytes);
            for op in [Op::Read, Op::Write] {
                let told = |trial: &Trial| {
                    trial.direction(op).map(|side| [side.iops, side.latency_ns.mean.unwrap_or(0.0)])
                };
                let (own, read) = (told(own), told(read));
                assert_eq!(own.is_some(), read.is_some());
                for (own, read) in own.into_iter().flatten().zip(read.into_iter().flatten()) {
                    assert!((own - read).abs() <= 1e-9 * own, "{op}: {own} and {read}");
                }
            }
        }
    }

    #[test]
    fn a_run_of_nothing_is_refused_in_words() {
        let mut run = crate::run_file::tests::imported();
        run.trials.clear();
        assert!(FioJson.write(&run).unwrap_err().contains("no trial"));
    }
}
