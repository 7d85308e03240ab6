//! fio's JSON, from version 3.0 on: `fio --output-format=json` or `json+`.
//!
//! Jobs of one group ran at the same time, so that they are one result: several of like options are the jobs of one
//! workload, others are streams beside it. Where jobs of a group ran for unlike times, each is a result of its own.
//! With `group_reporting` fio has summed them already and names the options of the first alone. Options stand in
//! `job options` and, for all jobs, in `global options`; what stands in neither has fio's own default (4 KiB, one in
//! flight, buffered). Text before, between and after is passed over: fio prints its warnings there, and with
//! `--status-interval` several documents, of which the last has everything.
//!
//! Latency is `lat_ns`, from submission to completion. Percentiles are those of `lat_ns` where the file has them
//! (`lat_percentiles=1`), otherwise those of `clat_ns`, where submission takes less than a tenth of the whole.

mod options;

use iosonde_model::{
    Flush, Histogram, LatencySummary, Named, Op, Phase, RequestError, Stream, Trial, TrialSpec,
};
use serde_json::Value;

use super::{Figures, ImportError, ImportFormat, Imported};
use options::Options;

/// The registered format.
pub struct FioJson;

impl Named for FioJson {
    fn name(&self) -> &'static str {
        "fio-json"
    }
}

/// Jobs of a group whose times differ by more than this share did not run together.
const LIKE_TIMES: f64 = 0.05;
/// Submission's share of the latency above which percentiles of completion alone say too little.
const SUBMISSION_MAX: f64 = 0.1;

impl ImportFormat for FioJson {
    fn recognises(&self, text: &str) -> bool {
        text.contains("\"fio version\"")
    }

    fn read(&self, text: &str) -> Result<Imported, ImportError> {
        let damaged = |why: String| ImportError::Damaged(why);
        let (document, count) = last_document(text).map_err(damaged)?;
        let version =
            document["fio version"].as_str().unwrap_or_default().trim_start_matches("fio-").to_owned();
        let major: Option<u32> = version.split(['.', '-']).next().and_then(|number| number.parse().ok());
        if major.is_some_and(|major| major < 3) {
            let why = format!(
                "was written by fio {version}, whose latencies have other names and units; 3.0 and later can be read"
            );
            return Err(damaged(why));
        }
        let jobs = document["jobs"].as_array().filter(|jobs| !jobs.is_empty());
        let jobs =
            jobs.ok_or_else(|| damaged("holds no jobs; fio probably ended before it measured".into()))?;
        let mut notes = Vec::new();
        if count > 1 {
            notes.push(format!("the file holds {count} reports of the same run; the last one counts"));
        }
        let group = |job: &Value| job["groupid"].as_i64().unwrap_or(0);
        let alone = |job: &Value| jobs.iter().filter(|other| group(other) == group(job)).count() == 1;
        let jobs = jobs.iter().map(|job| Job::of(job, &document["global options"], alone(job)));
        let jobs: Vec<Job> = jobs.collect::<Result<_, _>>().map_err(damaged)?;
        let idle = jobs.iter().filter(|job| job.parts().next().is_none() && job.errors == 0).count();
        if idle > 0 {
            notes.push(format!("{idle} of {} jobs moved nothing and are no result", jobs.len()));
        }
        let trials: Vec<Trial> = groups(&jobs).iter().filter_map(|group| trial(group, &mut notes)).collect();
        let ended_s =
            document["timestamp_ms"].as_f64().map(|ms| ms / 1000.0).or(document["timestamp"].as_f64());
        let program = Some(format!("fio {version}"));
        notes.dedup();
        Ok(Imported { program, ended_s, trials, notes })
    }
}

/// The last whole JSON document of a text, and how many there are.
fn last_document(text: &str) -> Result<(Value, usize), String> {
    let (mut last, mut count, mut at, mut failed) = (None, 0, 0, None);
    // Lines are counted on, not anew: a text may be thousands of broken beginnings.
    let (mut lines, mut counted) = (0, 0);
    while let Some(start) = document_start(text, at) {
        let mut stream = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        match stream.next() {
            Some(Ok(value)) => {
                at = start + stream.byte_offset();
                if value.get("fio version").is_some() {
                    (last, count) = (Some(value), count + 1);
                }
            }
            Some(Err(error)) => {
                lines += text[counted..start].matches('\n').count();
                counted = start;
                let line = lines + error.line();
                let early = if error.is_eof() {
                    "it ends early: fio was stopped, or the copy is not whole"
                } else {
                    ""
                };
                failed = Some(if early.is_empty() {
                    format!("line {line}: {}", bare(&error))
                } else {
                    early.to_owned()
                });
                at = start + 1;
            }
            None => break,
        }
    }
    let why = failed.unwrap_or_else(|| "no JSON document begins in it".to_owned());
    last.map(|last| (last, count)).ok_or_else(|| format!("is damaged ({why})"))
}

/// Returns the message without the place, which counts from the document's beginning.
fn bare(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split_once(" at line ").map_or(text.clone(), |(what, _)| what.to_owned())
}

/// The next line that begins with `{`.
fn document_start(text: &str, from: usize) -> Option<usize> {
    let begins = |at: &usize| *at == 0 || text.as_bytes()[at - 1] == b'\n';
    text.get(from..)?.match_indices('{').map(|(place, _)| from + place).find(begins)
}

/// Entry of `jobs`.
#[derive(Debug, Clone)]
struct Job {
    name: String,
    group: i64,
    options: Options,
    /// Jobs that this entry sums up.
    summed: u32,
    read: Option<Figures>,
    write: Option<Figures>,
    trim: Option<Figures>,
    flush: Option<(u64, LatencySummary)>,
    runtime_s: f64,
    cpu_s: Option<(f64, f64)>,
    errors: u64,
}

impl Job {
    /// `alone`: the only entry of its group.
    fn of(job: &Value, global: &Value, alone: bool) -> Result<Self, String> {
        let name = job["jobname"].as_str().unwrap_or("job").to_owned();
        let options =
            Options::of(&job["job options"], global).map_err(|why| format!("job `{name}`: {why}"))?;
        let runtime = |op: &str| positive(&job[op]["runtime"]).map_or(0.0, |ms| ms / 1000.0);
        let runtime_s = runtime("read").max(runtime("write")).max(runtime("trim"));
        let all_s = positive(&job["job_runtime"]).map_or(runtime_s, |ms| ms / 1000.0);
        // fio does not write down that it was told to report by groups; but then it adds up the times of all jobs.
        // (The times of writing and of verifying add up likewise.)
        let together = if runtime_s > 0.0 && !options.verifies { (all_s / runtime_s).round() } else { 1.0 };
        let together = (together as u32).clamp(1, 65_536);
        let summed = if alone { together.max(options.jobs) } else { together };
        let percent = |key: &str| positive(&job[key]).map(|percent| percent / 100.0 * all_s);
        let cpu_s = percent("usr_cpu").zip(percent("sys_cpu").or(Some(0.0)));
        let flush = positive(&job["sync"]["total_ios"])
            .map(|ios| (ios as u64, latency(&job["sync"]["lat_ns"], &Value::Null)));
        let error = job["error"].as_i64().unwrap_or(0);
        let counted = positive(&job["total_err"]).map_or(0, |count| count as u64);
        let side = |name: &str| figures(&job[name]);
        Ok(Self {
            group: job["groupid"].as_i64().unwrap_or(0),
            summed,
            read: side("read"),
            write: side("write"),
            trim: side("trim"),
            flush,
            runtime_s,
            cpu_s,
            errors: counted.max(u64::from(error != 0)),
            name,
            options,
        })
    }

    fn parts(&self) -> impl Iterator<Item = (Op, &Figures)> {
        let parts = [(Op::Read, &self.read), (Op::Write, &self.write), (Op::Trim, &self.trim)];
        parts.into_iter().filter_map(|(op, figures)| Some((op, figures.as_ref()?)))
    }

    /// Bytes of a request, from what was moved; what was asked where the file does not count.
    fn block_size_bytes(&self) -> u64 {
        let (ios, bytes) = self.parts().fold((0, 0), |(ios, bytes), (_, part)| {
            (ios + part.ios.unwrap_or(0), bytes + part.bytes.unwrap_or(0))
        });
        let mean = if ios > 0 { (bytes as f64 / ios as f64).round() as u64 } else { 0 };
        if mean > 0 { mean } else { self.options.block_size_bytes }
    }

    fn spec(&self) -> TrialSpec {
        let jobs = self.summed.max(1);
        self.options.spec(self.block_size_bytes(), jobs)
    }
}

/// Jobs that ran together. Those of one group did, unless their times tell otherwise.
fn groups(jobs: &[Job]) -> Vec<Vec<&Job>> {
    let mut groups: Vec<Vec<&Job>> = Vec::new();
    for job in jobs {
        let like = |other: &&Job| {
            other.group == job.group
                && (other.runtime_s - job.runtime_s).abs() <= LIKE_TIMES * other.runtime_s.max(job.runtime_s)
        };
        match groups.iter_mut().find(|group| group.first().is_some_and(like)) {
            Some(group) => group.push(job),
            None => groups.push(vec![job]),
        }
    }
    groups
}

fn trial(group: &[&Job], notes: &mut Vec<String>) -> Option<Trial> {
    let working: Vec<&Job> =
        group.iter().copied().filter(|j| j.parts().next().is_some() || j.errors > 0).collect();
    let first = *working.first()?;
    let alike = working.iter().all(|job| job.options == first.options);
    let mut spec = first.spec();
    let mut streams = Vec::new();
    if alike {
        spec.jobs = working.iter().map(|job| job.summed).sum();
    } else {
        spec.and = working[1..].iter().map(|job| job.spec()).collect();
        streams = working.iter().map(|job| stream(job)).collect();
    }
    if first.summed > first.options.jobs {
        notes.push(format!(
            "`{}` sums up {} jobs that ran together, and fio's file names the options of the first alone: the others \
             are taken to be like it (group_reporting)",
            first.name, first.summed
        ));
    }
    let measured_s = working.iter().map(|job| job.runtime_s).fold(0.0, f64::max);
    let side = |op| direction(&working, op);
    let cpu_s: Option<Vec<_>> = working.iter().map(|job| job.cpu_s).collect();
    let sum = |pick: fn(&(f64, f64)) -> f64| cpu_s.as_ref().map(|all| all.iter().map(pick).sum::<f64>());
    let busiest = working.iter().filter_map(|job| {
        let (user_s, system_s) = job.cpu_s?;
        (job.runtime_s > 0.0).then(|| (user_s + system_s) / job.runtime_s / f64::from(job.summed))
    });
    let names: Vec<&str> = working.iter().map(|job| job.name.as_str()).collect();
    let mut trial = Trial {
        experiment: if alike { first.name.clone() } else { names.join(" + ") },
        measured_s,
        elapsed_s: measured_s,
        read: side(Op::Read),
        write: side(Op::Write),
        trim: side(Op::Trim),
        flush: flush(&working),
        streams,
        busy_share: busiest.reduce(f64::max),
        cpu_user_s: sum(|cpu| cpu.0),
        cpu_system_s: sum(|cpu| cpu.1),
        ..Trial::blank(spec, Phase::Measure)
    };
    trial.achieved_rate_iops = trial.spec.rate_iops.map(|_| trial.iops());
    let bytes = |side: &Option<iosonde_model::Direction>| side.as_ref().map_or(0, |side| side.bytes);
    trial.witnesses.issued_read_bytes = bytes(&trial.read);
    trial.witnesses.issued_write_bytes = bytes(&trial.write);
    trial.witnesses.issued_trim_bytes = bytes(&trial.trim);
    trial.witnesses.issued_ios = trial.directions().map(|(_, side)| side.ios).sum();
    if working.iter().any(|job| job.errors > 0) {
        trial.error_examples.push(RequestError::JobStopped);
    }
    Some(trial)
}

fn stream(job: &Job) -> Stream {
    let alone = [job];
    Stream {
        spec: job.spec(),
        read: direction(&alone, Op::Read),
        write: direction(&alone, Op::Write),
        trim: direction(&alone, Op::Trim),
        flush: flush(&alone),
        in_flight_mean: None,
        unserved: 0,
        achieved_rate_iops: None,
        measured_s: Some(job.runtime_s),
        cpu_user_s: job.cpu_s.map(|cpu| cpu.0),
        cpu_system_s: job.cpu_s.map(|cpu| cpu.1),
        windows: Vec::new(),
    }
}

/// Merges one direction of jobs that ran together: rates are added, mean latencies weighted, extremes kept.
fn direction(jobs: &[&Job], op: Op) -> Option<iosonde_model::Direction> {
    let parts: Vec<&Figures> =
        jobs.iter().flat_map(|job| job.parts()).filter(|part| part.0 == op).map(|p| p.1).collect();
    let failed: u64 = jobs.iter().map(|job| job.errors).sum();
    let first = parts.first().copied().cloned();
    let mut all = match parts.len() {
        0 => return None,
        1 => first?,
        _ => Figures {
            ios: parts.iter().map(|part| part.ios).sum(),
            bytes: parts.iter().map(|part| part.bytes).sum(),
            errors: 0,
            short: parts.iter().map(|part| part.short).sum(),
            iops: parts.iter().map(|part| part.iops).sum(),
            bytes_per_s: parts.iter().map(|part| part.bytes_per_s).sum(),
            latency_ns: LatencySummary {
                min: parts.iter().map(|part| part.latency_ns.min).min().flatten(),
                mean: weighted_mean(&parts),
                max: parts.iter().map(|part| part.latency_ns.max).max().flatten(),
                ..LatencySummary::default()
            },
        },
    };
    // fio does not say which direction failed; the first that there is stands for it.
    let stands = jobs.iter().flat_map(|job| job.parts()).map(|part| part.0).min() == Some(op);
    all.errors = if stands { failed } else { 0 };
    all.direction(jobs.first()?.block_size_bytes())
}

fn weighted_mean(parts: &[&Figures]) -> Option<f64> {
    let all: Option<Vec<(f64, f64)>> =
        parts.iter().map(|part| Some((part.ios? as f64, part.latency_ns.mean?))).collect();
    let all = all?;
    let ios: f64 = all.iter().map(|(ios, _)| ios).sum();
    (ios > 0.0).then(|| all.iter().map(|(ios, mean)| ios * mean).sum::<f64>() / ios)
}

fn flush(jobs: &[&Job]) -> Option<Flush> {
    let flushes: Vec<_> = jobs.iter().filter_map(|job| job.flush.as_ref()).collect();
    let (_, latency_ns) = flushes.first()?;
    Some(Flush {
        ios: flushes.iter().map(|(ios, _)| ios).sum(),
        errors: 0,
        latency_ns: latency_ns.clone(),
        histogram: Histogram::new(),
        commit: None,
    })
}

/// `read`, `write` or `trim` of a job; nothing where it did none.
fn figures(side: &Value) -> Option<Figures> {
    let ios = positive(&side["total_ios"])? as u64;
    Some(Figures {
        ios: Some(ios),
        bytes: Some(positive(&side["io_bytes"]).map_or(0, |bytes| bytes as u64)),
        errors: 0,
        short: positive(&side["short_ios"]).map_or(0, |count| count as u64),
        iops: positive(&side["iops"]),
        bytes_per_s: positive(&side["bw_bytes"]).or_else(|| Some(positive(&side["bw"])? * 1024.0)),
        latency_ns: latency(&side["lat_ns"], side),
    })
}

/// `lat_ns`, with percentiles from where they are. Nothing was timed where `N` is 0 (gtod_reduce, disable_lat).
fn latency(lat: &Value, side: &Value) -> LatencySummary {
    let Some(mean) = positive(&lat["mean"]).filter(|_| lat.get("N").is_none_or(|n| n.as_f64() != Some(0.0)))
    else {
        return LatencySummary::default();
    };
    let submission = positive(&side["slat_ns"]["mean"]).unwrap_or(0.0);
    let (clat, own) = (&side["clat_ns"]["percentile"], &lat["percentile"]);
    let from = if own.is_object() { own } else { clat };
    let usable = own.is_object() || submission <= SUBMISSION_MAX * mean;
    let (min, max) = (lat["min"].as_f64(), lat["max"].as_f64());
    let percentile = |key: &str| {
        let value = positive(&from[key]).filter(|_| usable)?;
        // Of another moment's clock: what does not lie between the ends is none of this distribution's.
        (min.is_none_or(|min| value >= min) && max.is_none_or(|max| value <= max)).then_some(value)
    };
    let whole = |value: Option<f64>| value.filter(|ns| *ns >= 0.0 && *ns < 1e18).map(|ns| ns as u64);
    LatencySummary {
        min: whole(min),
        mean: Some(mean),
        stddev: lat["stddev"].as_f64().filter(|value| value.is_finite()),
        p50: percentile("50.000000"),
        p90: percentile("90.000000"),
        p99: percentile("99.000000"),
        p99_9: percentile("99.900000"),
        p99_99: percentile("99.990000"),
        max: whole(max),
    }
}

/// A number above 0; anything else says nothing. 2^53, from which on not every whole number is one of these, is eight
/// petabytes or a hundred days of nanoseconds: no count of a measurement.
fn positive(value: &Value) -> Option<f64> {
    const MOST: f64 = (1_u64 << 53) as f64;
    value.as_f64().filter(|number| *number > 0.0 && *number < MOST)
}

#[cfg(test)]
mod tests;
