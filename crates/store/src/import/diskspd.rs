//! diskspd's XML (`diskspd -Rxml`): one result for each time span.
//!
//! Counts are added over threads and targets and divided by the measured time, which the file gives to 10 ms. Mean
//! latencies and percentiles are those of the whole time span (`-L`). Targets of one time span must be alike.

use iosonde_model::{LatencySummary, Named, Payload, Phase, Rw, Sync, Trial, TrialSpec, Unstated};

use super::{
    Figures, ImportError, ImportFormat, Imported,
    xml::{self, Element},
};

/// The registered format.
pub struct DiskSpd;

impl Named for DiskSpd {
    fn name(&self) -> &'static str {
        "diskspd"
    }
}

impl ImportFormat for DiskSpd {
    fn recognises(&self, text: &str) -> bool {
        let begins = text.trim_start();
        begins.starts_with('<')
            && (text.contains("<Results") || text.contains("<TimeSpan") || begins.starts_with("<?xml"))
    }

    fn read(&self, text: &str) -> Result<Imported, ImportError> {
        let root = xml::document(text)?;
        if root.name != "Results" {
            return Err(
                root.damaged(format!("begins with <{}>; diskspd's results begin with <Results>", root.name))
            );
        }
        let tool = root.path(&["System", "Tool", "Version"]).map_or("", |version| version.text.as_str());
        let asked: Vec<&Element> =
            root.path(&["Profile", "TimeSpans"]).map(|all| all.all("TimeSpan").collect()).unwrap_or_default();
        let mut trials = Vec::new();
        for (at, measured) in root.all("TimeSpan").enumerate() {
            let asked = asked
                .get(at)
                .ok_or_else(|| measured.damaged("a time span that the profile does not have"))?;
            trials.push(trial(asked, measured, at)?);
        }
        Ok(Imported {
            program: Some(format!("diskspd {tool}").trim_end().to_owned()),
            ended_s: None,
            trials,
            notes: Vec::new(),
        })
    }
}

fn trial(asked: &Element, measured: &Element, at: usize) -> Result<Trial, ImportError> {
    if let Some(error) = measured.child("Error") {
        return Err(error.damaged("the test was interrupted before it measured"));
    }
    let time_s = measured.number("TestTimeSeconds")?;
    if time_s <= 0.0 {
        return Err(measured.damaged("a time span of 0 s"));
    }
    let (spec, unstated) = spec(asked)?;
    let sum = |name: &str| -> Result<f64, ImportError> {
        let targets = measured.all("Thread").flat_map(|thread| thread.all("Target"));
        targets.map(|target| target.number(name)).sum()
    };
    let side = |way: &str| -> Result<Option<Figures>, ImportError> {
        let (ios, bytes) = (sum(&format!("{way}Count"))?, sum(&format!("{way}Bytes"))?);
        let latency_ns = measured.child("Latency").map(|latency| latencies(latency, way)).transpose()?;
        let figures = Figures {
            ios: Some(ios as u64),
            bytes: Some(bytes as u64),
            iops: Some(ios / time_s),
            bytes_per_s: Some(bytes / time_s),
            latency_ns: latency_ns.unwrap_or_default(),
            ..Figures::default()
        };
        Ok((ios > 0.0).then_some(figures))
    };
    let (read, write) = (side("Read")?, side("Write")?);
    let size = spec.block_size_bytes;
    let mut found = Trial {
        experiment: if at == 0 { "result".to_owned() } else { format!("time span {}", at + 1) },
        measured_s: time_s,
        elapsed_s: time_s,
        read: read.and_then(|side| side.direction(size)),
        write: write.and_then(|side| side.direction(size)),
        unstated,
        ..Trial::blank(spec, Phase::Measure)
    };
    found.achieved_rate_iops = found.spec.rate_iops.map(|_| found.iops());
    Ok(found)
}

/// Mean, extremes and percentiles of `Latency`, in milliseconds.
fn latencies(latency: &Element, way: &str) -> Result<LatencySummary, ImportError> {
    let Some(mean) = latency.optional(&format!("Average{way}Milliseconds"))? else {
        return Ok(LatencySummary::default());
    };
    let own = format!("{way}Milliseconds");
    let mut found: Vec<(f64, f64)> = Vec::new();
    for bucket in latency.all("Bucket") {
        if let Some(ms) = bucket.optional(&own)? {
            found.push((bucket.number("Percentile")?, ms * 1e6));
        }
    }
    let of = |percent: f64| found.iter().find(|own| (own.0 - percent).abs() < 1e-9).map(|own| own.1);
    Ok(LatencySummary {
        min: of(0.0).map(|ns| ns as u64),
        mean: Some(mean * 1e6),
        stddev: latency.optional(&format!("{way}LatencyStdev"))?.map(|ms| ms * 1e6),
        p50: of(50.0),
        p90: of(90.0),
        p99: of(99.0),
        p99_9: of(99.9),
        p99_99: of(99.99),
        max: of(100.0).map(|ns| ns as u64),
    })
}

/// The workload of a time span, and what the profile leaves open.
fn spec(asked: &Element) -> Result<(TrialSpec, Vec<Unstated>), ImportError> {
    let targets: Vec<&Element> =
        asked.child("Targets").map(|all| all.all("Target").collect()).unwrap_or_default();
    let first = targets.first().ok_or_else(|| asked.damaged("a time span without a target"))?;
    let size = first.number("BlockSize")? as u64;
    if size == 0 {
        return Err(first.damaged("a block size of 0"));
    }
    let alike = |name: &str| targets.iter().all(|target| target.text_of(name) == first.text_of(name));
    if !["BlockSize", "RequestCount", "WriteRatio", "Random", "ThreadsPerFile", "DisableOSCache"]
        .into_iter()
        .all(alike)
    {
        return Err(asked.damaged("a time span of targets with unlike workloads, which is not read"));
    }
    let writes = first.optional("WriteRatio")?.unwrap_or(0.0).clamp(0.0, 100.0);
    let random = first.child("Random").is_some();
    let rw = match (writes, random) {
        (w, true) if w <= 0.0 => Rw::RandRead,
        (w, false) if w <= 0.0 => Rw::Read,
        (w, true) if w >= 100.0 => Rw::RandWrite,
        (w, false) if w >= 100.0 => Rw::Write,
        (_, true) => Rw::RandRw,
        (_, false) => Rw::Rw,
    };
    let count = |element: &Element, name: &str| {
        Ok::<_, ImportError>(element.optional(name)?.unwrap_or(0.0).min(65_536.0) as u32)
    };
    let files = targets.len().min(65_536) as u32;
    // Threads for all targets together (-F), or for each.
    let (shared, shared_depth) = (count(asked, "ThreadCount")?, count(asked, "RequestCount")?);
    let own_depth = count(first, "RequestCount")?.max(1);
    let (jobs, queue_depth) = match (shared, shared_depth) {
        (0, _) => (count(first, "ThreadsPerFile")?.max(1).saturating_mul(files), own_depth),
        (threads, 0) => (threads.saturating_mul(files), own_depth),
        (threads, depth) => (threads, depth),
    };
    let is = |name: &str| first.text_of(name) == "true";
    let direct = is("DisableOSCache") || is("DisableAllCache");
    let rate = first.optional("Throughput")?.filter(|&rate| rate > 0.0);
    let mut unstated = Vec::new();
    if first.optional("ThinkTime")?.is_some_and(|ms| ms > 0.0) {
        unstated.push(Unstated::QueueDepth);
    }
    let span = targets.iter().map(|target| target.optional("FileSize").or(Ok::<_, ImportError>(None)));
    let span_bytes: f64 =
        span.map(|size| size.map(|size| size.unwrap_or(0.0))).sum::<Result<f64, ImportError>>()?;
    let zeros = first.path(&["WriteBufferContent", "Pattern"]).is_some_and(|pattern| pattern.text == "zero");
    let spec = TrialSpec {
        rw,
        block_size_bytes: size,
        queue_depth,
        jobs: jobs.clamp(1, 65_536),
        read_percent: rw.is_mixed().then_some(100.0 - writes),
        engine: "windowsaio".into(),
        direct,
        sync: if rw.writes() && (is("WriteThrough") || is("DisableAllCache")) {
            Sync::Osync
        } else {
            Sync::None
        },
        rate_iops: rate.map(|bytes_per_ms| bytes_per_ms * 1000.0 / size as f64),
        payload: if zeros { Payload::Zero } else { Payload::Random },
        span_bytes: span_bytes as u64,
        ..TrialSpec::default()
    };
    Ok((spec, unstated))
}
