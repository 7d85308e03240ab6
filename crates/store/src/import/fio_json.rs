//! fio's JSON, from version 3.0 on: `fio --output-format=json` or `json+`.
//!
//! With `group_reporting` fio has summed them already and names the options of one alone, fio 3.33 those of the last;
//! where these have a direction or a job too few, or other sizes, the jobs were of several kinds, and their depth is
//! unknown. Options are in `job options` and, for all jobs, in `global options`; what is in neither has fio's own
//! default (4 KiB, queue depth 1, buffered). Text before, between and after is passed over, but for an interrupt: fio
//! prints its warnings there, and with `--status-interval` several documents, of which the last has everything.
//!
//! Latency is `lat_ns`, from submission to completion. Percentiles are those of `lat_ns` where the file has them
//! (`lat_percentiles=1`), otherwise those of `clat_ns`, where submission takes less than a tenth of the whole.

use std::collections::BTreeMap;

use iosonde_model::{LatencySummary, Named, RequestError};
use serde_json::Value;

use super::{
    Damage, Figures, ImportError, ImportFormat, Imported, fio_disk,
    fio_jobs::{self, Job, SUBMISSION_MAX},
    fio_options::Options,
    json, words,
};

/// The registered format.
pub struct FioJson;

impl Named for FioJson {
    fn name(&self) -> &'static str {
        "fio-json"
    }
}

const SIDES: [&str; 3] = ["read", "write", "trim"];

/// Linux's number of the error with which fio ends a job that was slower than allowed.
const ETIMEDOUT: i64 = 110;
/// Linux's number of an error of a device, with which fio also ends a job below its own limit of throughput.
const EIO: i64 = 5;

/// Seconds by which the beginnings of one run may differ between two reports.
const MOMENT_S: f64 = 0.2;

impl ImportFormat for FioJson {
    fn recognises(&self, text: &str) -> bool {
        text.contains("\"fio version\"")
    }

    fn read(&self, text: &str) -> Result<Imported, ImportError> {
        let json::Documents { whole: documents, damaged } = json::documents(text, "fio version")?;
        let mut all: Option<Imported> = None;
        let (mut superseded, mut stopped) = (0, None);
        for (at, own) in documents.iter().enumerate() {
            if documents.get(at + 1).is_some_and(|next| goes_on(own, next)) {
                superseded += 1;
                continue;
            }
            let (one, own) = document(own)?;
            stopped = stopped.or(own);
            match &mut all {
                None => all = Some(one),
                Some(all) => {
                    all.trials.extend(one.trials);
                    all.notes.extend(one.notes);
                    (all.ended_s, all.program) = (one.ended_s, all.program.take().or(one.program));
                }
            }
        }
        let mut imported = all.ok_or_else(|| Damage::whole("holds no results of fio"))?;
        let notes = &mut imported.notes;
        if superseded > 0 {
            notes.push(format!(
                "the file holds {} reports of the same run; the last one counts",
                superseded + 1
            ));
        }
        if let Some(why) = damaged {
            let line = why.place().map_or_else(String::new, |(line, _)| format!(" (line {line})"));
            notes.push(format!("a result of the file is left out, since it cannot be read: {why}{line}"));
        }
        // fio's own line tells more than a time that was not used up.
        notes.extend(words::interrupted(text).or(stopped));
        if text.lines().any(words::heads_fio_results) {
            notes.push("fio's text beside the JSON is not read; judge it from a file of its own".to_owned());
        }
        notes.dedup();
        Ok(imported)
    }
}

/// Whether the next document is of the same run, which fio reports several times with `--status-interval`. A job that
/// was run again has the same options, and began after the first had ended.
fn goes_on(own: &Value, next: &Value) -> bool {
    let began = |document: &Value| Some(ended_s(document)? - measured_s(document));
    let apart_s = began(own).zip(began(next)).map_or(0.0, |(own, next)| (next - own).abs());
    jobs_of(own) == jobs_of(next) && apart_s <= (0.5 * measured_s(own)).max(MOMENT_S)
}

/// Seconds since 1970 when a document was written.
fn ended_s(document: &Value) -> Option<f64> {
    document["timestamp_ms"].as_f64().map(|ms| ms / 1000.0).or(document["timestamp"].as_f64())
}

/// Seconds that the groups of a document measured, one after another.
fn measured_s(document: &Value) -> f64 {
    let mut groups: BTreeMap<i64, f64> = BTreeMap::new();
    for own in document["jobs"].as_array().into_iter().flatten() {
        let runtime = |op: &str| positive(&own[op]["runtime"]).unwrap_or(0.0);
        let longest_s = SIDES.map(runtime).into_iter().fold(0.0, f64::max) / 1000.0;
        let group = groups.entry(own["groupid"].as_i64().unwrap_or(0)).or_default();
        *group = group.max(longest_s);
    }
    groups.values().sum()
}

/// Names and options of a document's jobs.
fn jobs_of(document: &Value) -> Vec<[&Value; 2]> {
    let jobs = document["jobs"].as_array().into_iter().flatten();
    jobs.map(|own| [&own["jobname"], &own["job options"]]).collect()
}

/// The results of one document, and what is said of a job that was stopped.
fn document(document: &Value) -> Result<(Imported, Option<String>), ImportError> {
    let version = document["fio version"].as_str().unwrap_or_default().trim_start_matches("fio-").to_owned();
    let major: Option<u32> = version.split(['.', '-']).next().and_then(|number| number.parse().ok());
    if major.is_some_and(|major| major < 3) {
        return Err(Damage::whole(format!(
            "was written by fio {version}, whose latencies have other names and units; 3.0 and later can be read"
        )));
    }
    let jobs = document["jobs"].as_array().filter(|jobs| !jobs.is_empty());
    let jobs = jobs.ok_or_else(|| Damage::whole("holds no jobs; fio probably ended before it measured"))?;
    let moved = |own: &Value, side: &str| positive(&own[side]["total_ios"]).is_some();
    let is_mixed_alone = |own: &&Value| moved(own, "mixed") && !SIDES.iter().any(|side| moved(own, side));
    if let Some(own) = jobs.iter().find(is_mixed_alone) {
        let name = own["jobname"].as_str().unwrap_or("job");
        return Err(Damage::whole(format!("job `{name}` {}", words::UNIFIED)));
    }
    let mut notes = Vec::new();
    if jobs.iter().any(|own| SIDES.iter().any(|op| hides_percentiles(&own[*op]))) {
        notes.push(words::HIDDEN_PERCENTILES.to_owned());
    }
    let group = |job: &Value| job["groupid"].as_i64().unwrap_or(0);
    let alone = |job: &Value| jobs.iter().filter(|other| group(other) == group(job)).count() == 1;
    let jobs = jobs.iter().map(|own| job(own, &document["global options"], alone(own)));
    let jobs = jobs.collect::<Result<Vec<Job>, _>>().map_err(Damage::whole)?;
    let stopped = jobs.iter().find_map(stopped);
    let mut trials = fio_jobs::trials(jobs, &mut notes);
    fio_disk::witness(&mut trials, fio_disk::of_document(document));
    // Our own jobs run to their end.
    if document["iosonde"].is_object() {
        let too_slow =
            trials.iter_mut().filter(|trial| trial.error_examples.contains(&RequestError::TooSlow));
        for trial in too_slow {
            trial.error_examples.clear();
            notes.push(format!("a request of `{}` was slower than its `max_latency`", trial.experiment));
        }
    }
    let ended_s = ended_s(document);
    let own = &document["iosonde"];
    let program = match own["version"].as_str() {
        Some(version) => format!("iosonde {version}"),
        None => format!("fio {version}"),
    };
    let told = match own["verdict"].as_str() {
        Some("invalid") => Some("called figures of this run invalid"),
        Some("warning") => Some("had warnings about this run"),
        _ => None,
    };
    if let Some(told) = told {
        let checks: Vec<&str> =
            own["checks"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        notes.push(format!("iosonde {told} when it measured (checks: {})", checks.join(", ")));
    }
    notes.dedup();
    Ok((Imported { program: Some(program), ended_s, trials, notes }, stopped))
}

/// An entry of `jobs`; `alone`: the only one of its group.
fn job(job: &Value, global: &Value, alone: bool) -> Result<Job, String> {
    let name = job["jobname"].as_str().unwrap_or("job").to_owned();
    let options = Options::of(&job["job options"], global).map_err(|why| format!("job `{name}`: {why}"))?;
    let runtime = |op: &str| positive(&job[op]["runtime"]).map_or(0.0, |ms| ms / 1000.0);
    let reads_back = options.verifies && !options.rw.reads();
    let read_s = if reads_back && runtime("write") > 0.0 { 0.0 } else { runtime("read") };
    let sides_s = [read_s, runtime("write"), runtime("trim")];
    let runtime_s = sides_s.into_iter().fold(0.0, f64::max);
    let all_s = positive(&job["job_runtime"]).map_or(runtime_s, |ms| ms / 1000.0);
    // fio does not write down that it was told to report by groups; but then it adds up the times of all jobs.
    // (The times of writing and of verifying add up likewise.)
    let together = if runtime_s > 0.0 && !options.verifies { (all_s / runtime_s).round() } else { 1.0 };
    // Of jobs of unlike lengths it is no multiple; times are whole milliseconds.
    let apart_s = (all_s - together * runtime_s).abs();
    let are_unlike =
        !options.verifies && all_s > runtime_s && apart_s > fio_jobs::LIKE_TIMES * runtime_s + 2e-3;
    let together = (together as u32).clamp(1, 65_536);
    let summed = if alone { together.max(options.jobs) } else { together };
    let percent = |key: &str| {
        job[key].as_f64().filter(|percent| *percent >= 0.0).map(|percent| percent / 100.0 * all_s)
    };
    // Of a job that verifies, part of it went into reading back.
    let cpu_s = percent("usr_cpu").zip(percent("sys_cpu")).filter(|_| !options.verifies);
    // fio 3.33 writes `total_ios` 0 where it counted 1,023 latencies.
    let flush = positive(&job["sync"]["total_ios"])
        .or_else(|| positive(&job["sync"]["lat_ns"]["N"]))
        .map(|ios| (ios as u64, latency(&job["sync"]["lat_ns"], &Value::Null)));
    let own_limit = own_limit(job, global);
    let error = job["error"].as_i64().filter(|_| own_limit.is_none()).unwrap_or(0);
    let errno = i32::try_from(error).ok().filter(|&errno| errno > 0);
    let counted = positive(&job["total_err"]).filter(|_| own_limit.is_none()).map_or(0, |count| count as u64);
    let side = |name: &str| figures(&job[name]);
    let (mut read, write) = (side("read"), side("write"));
    if let (Some(read), Some(flushes)) = (&mut read, miscounted_flushes(&job["sync"])) {
        read.short = read.short.checked_sub(flushes).unwrap_or(read.short);
    }
    // What `verify` reads back is measured over a time of its own.
    if reads_back && write.is_some() {
        read = None;
    }
    let trim = side("trim");
    let all = [&read, &write, &trim];
    let has_failed = counted > 0 || error != 0;
    let is_of_several_kinds = summed > options.jobs
        || are_unlike
        || !options.verifies && options.has_a_direction_too_few(all)
        || !has_failed && options.has_other_sizes(all);
    Ok(Job {
        group: job["groupid"].as_i64().unwrap_or(0),
        summed,
        read,
        write,
        trim,
        flush,
        sides_s,
        cpu_s,
        errors: counted.max(u64::from(error != 0)).max(if has_failed { untimed(job) } else { 0 }),
        searched_depth: positive(&job["latency_target"]).is_some(),
        errno,
        own_limit,
        is_of_several_kinds,
        may_verify: options.verifies,
        unstated: Vec::new(),
        name,
        options,
    })
}

/// Part of its time after which a job that only the clock ends has ended too early: fio ends a moment late, and never a
/// tenth early.
const ENDED_EARLY_AT: f64 = 0.9;

/// What is said of a job that was stopped: JSON does not tell an interrupt.
fn stopped(job: &Job) -> Option<String> {
    let runs_for_s = job.options.runs_for_s.filter(|_| job.errors == 0 && job.own_limit.is_none())?;
    let measured_s = job.sides_s.into_iter().fold(0.0, f64::max);
    (0.0 < measured_s && measured_s < ENDED_EARLY_AT * runs_for_s).then(|| {
        format!(
            "`{}` ended after {measured_s:.1} s of the {runs_for_s} s that it was to run: fio was probably interrupted",
            job.name
        )
    })
}

/// Requests without a latency, where others have one: of a job that failed, those that did.
fn untimed(job: &Value) -> u64 {
    let missing = |side: &&str| {
        let (all, timed) = (positive(&job[*side]["total_ios"])?, positive(&job[*side]["lat_ns"]["N"])?);
        (timed < all).then_some((all - timed) as u64)
    };
    SIDES.iter().filter_map(missing).fold(0, u64::saturating_add)
}

/// The limit of its own at which fio ended a job: a slow request is none that failed, and a low throughput is none.
fn own_limit(job: &Value, global: &Value) -> Option<RequestError> {
    let is_given = |name: &str| {
        let limit = job["job options"][name].as_str().or_else(|| global[name].as_str());
        limit.is_some_and(|word| word != "0")
    };
    match job["error"].as_i64() {
        Some(ETIMEDOUT) if is_given("max_latency") => Some(RequestError::TooSlow),
        // A request that fails is counted.
        Some(EIO)
            if ["rate_min", "rate_iops_min"].into_iter().any(is_given)
                && positive(&job["total_err"]).is_none() =>
        {
            Some(RequestError::TooLowRate)
        }
        _ => None,
    }
}

/// Flushes that are in the count of short reads: fio 3.33 counts `fdatasync` one place too far.
fn miscounted_flushes(sync: &Value) -> Option<u64> {
    let timed = positive(&sync["lat_ns"]["N"])? as u64;
    positive(&sync["total_ios"]).is_none().then_some(timed)
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

/// Whether there are percentiles that say too little of the whole latency.
fn hides_percentiles(side: &Value) -> bool {
    let [whole, submission] = ["lat_ns", "slat_ns"].map(|key| positive(&side[key]["mean"]));
    let is_large = whole.zip(submission).is_some_and(|(whole, part)| part > SUBMISSION_MAX * whole);
    is_large && side["clat_ns"]["percentile"].is_object() && !side["lat_ns"]["percentile"].is_object()
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
