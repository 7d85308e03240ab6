//! elbencho's CSV (`--csvfile`): a row for each phase, with figures of its end (`[last]`).
//!
//! Rows that move no data of files (directories, stat, delete) are counted and left aside.

use iosonde_model::{LatencySummary, Named, Phase, Rw, Trial, TrialSpec};

use super::{
    Damage, Figures, ImportError, ImportFormat, Imported,
    table::{Row, Table},
};

/// The registered format.
pub struct Elbencho;

impl Named for Elbencho {
    fn name(&self) -> &'static str {
        "elbencho"
    }
}

const NEEDED: [&str; 4] = ["operation", "block size", "time ms [last]", "IOPS [last]"];
const MIB: f64 = 1_048_576.0;

impl ImportFormat for Elbencho {
    fn recognises(&self, text: &str) -> bool {
        let first = text.lines().next().unwrap_or_default();
        first.contains("IOPS [last]") && first.contains("operation")
    }

    fn read(&self, text: &str) -> Result<Imported, ImportError> {
        let table = Table::of(text)?;
        if let Some(missing) = NEEDED.iter().find(|name| !table.has(name)) {
            return Err(Damage::at(1, 1, format!("the table of elbencho has no column `{missing}`")));
        }
        let (mut trials, mut others, mut version) = (Vec::new(), 0, None);
        for row in table.rows() {
            let row = row?;
            version = row.text("version").map(str::to_owned).or(version);
            match trial(&row)? {
                Some(trial) => trials.push(trial),
                None => others += 1,
            }
        }
        let mut notes = Vec::new();
        if others > 0 {
            notes.push(format!("phases of elbencho that moved no data of files and are no result: {others}"));
        }
        let program = version.map_or_else(|| "elbencho".to_owned(), |version| format!("elbencho {version}"));
        Ok(Imported { program: Some(program), ended_s: None, trials, notes })
    }
}

fn trial(row: &Row) -> Result<Option<Trial>, ImportError> {
    let operation = row.text("operation").unwrap_or_default().to_ascii_uppercase();
    let reads_beside = row.number("rwmix read IOPS [last]")?.is_some_and(|iops| iops > 0.0);
    let size = row.number("block size")?.unwrap_or(0.0) as u64;
    let iops = row.number("IOPS [last]")?.filter(|&iops| iops > 0.0);
    let time_s = row.number("time ms [last]")?.unwrap_or(0.0) / 1000.0;
    let writes = operation.starts_with("WRITE") || operation.starts_with("RWMIX");
    if iops.is_none() || size == 0 || !(writes || operation.starts_with("READ")) {
        return Ok(None);
    }
    let side = |lead: &str| -> Result<Figures, ImportError> {
        let column = |name: &str| row.number(&format!("{lead}{name}"));
        let (mib_s, iops) = (column("MiB/s [last]")?, column("IOPS [last]")?);
        let latency = |which: &str| column(&format!("IO lat us [{which}]"));
        let whole = |us: Option<f64>| us.map(|us| (us * 1e3) as u64);
        let mean = latency("avg")?.filter(|us| *us > 0.0).map(|us| us * 1e3);
        let (min, max) =
            if mean.is_some() { (whole(latency("min")?), whole(latency("max")?)) } else { (None, None) };
        Ok(Figures {
            iops,
            // A rate of a few whole MiB is too coarse beside the requests.
            bytes_per_s: mib_s.filter(|mib| *mib >= 100.0).map(|mib| mib * MIB),
            latency_ns: LatencySummary { min, mean, max, ..LatencySummary::default() },
            ..Figures::default()
        })
    };
    let figures = side("")?.direction(size);
    let beside = if reads_beside { side("rwmix read ")?.direction(size) } else { None };
    let random = row.number("random")?.unwrap_or(0.0) > 0.0;
    let (read, write) = if writes { (beside, figures) } else { (figures, None) };
    let rw = match (read.is_some(), write.is_some(), random) {
        (true, true, true) => Rw::RandRw,
        (true, true, false) => Rw::Rw,
        (false, _, true) => Rw::RandWrite,
        (false, _, false) => Rw::Write,
        (true, _, true) => Rw::RandRead,
        (true, _, false) => Rw::Read,
    };
    let count =
        |name: &str| Ok::<_, ImportError>(row.number(name)?.unwrap_or(1.0).clamp(1.0, 65_536.0) as u32);
    let queue_depth = count("IO depth")?;
    let reads = |side: &Option<iosonde_model::Direction>| side.as_ref().map_or(0.0, |side| side.iops);
    let spec = TrialSpec {
        rw,
        block_size_bytes: size,
        queue_depth,
        jobs: count("threads")?.saturating_mul(count("hosts")?).clamp(1, 65_536),
        read_percent: rw
            .is_mixed()
            .then(|| (1000.0 * reads(&read) / (reads(&read) + reads(&write)).max(1e-9)).round() / 10.0),
        engine: if queue_depth > 1 { "libaio" } else { "psync" }.into(),
        direct: row.number("direct IO")?.unwrap_or(0.0) > 0.0,
        span_bytes: row.number("file size")?.unwrap_or(0.0) as u64,
        ..TrialSpec::default()
    };
    let label = row.text("label").map_or_else(|| operation.to_ascii_lowercase(), str::to_owned);
    Ok(Some(Trial {
        experiment: label,
        measured_s: time_s,
        elapsed_s: time_s,
        read,
        write,
        ..Trial::blank(spec, Phase::Measure)
    }))
}
