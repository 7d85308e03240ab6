//! fio's terse lines (`--minimal`, `--output-format=terse`), versions 2 to 5: fields between semicolons.
//!
//! They give figures and no options: queue depth, order of offsets, engine and direct I/O stay unknown, and the block
//! size is what the bytes, the IOPS and the runtime allow. A line is a result: nothing tells jobs that ran together
//! from runs after each other. With `group_reporting` a line is the sum that fio made.

use iosonde_model::{LatencySummary, Named, RequestError, Unstated};
use serde_json::{Value, json};

use super::{
    Damage, Figures, ImportError, ImportFormat, Imported, fio_disk,
    fio_jobs::{self, Job, SUBMISSION_MAX},
    fio_options::Options,
    words,
};

/// The registered format.
pub struct FioTerse;

impl Named for FioTerse {
    fn name(&self) -> &'static str {
        "fio-terse"
    }
}

/// Where a version's fields are.
struct Layout {
    /// Index of the job's name; group and error follow.
    name: usize,
    /// Fields of one direction.
    fields: usize,
    /// Directions: version 3 knows no trims, and may have reads and writes together (unified_rw_reporting), behind the
    /// two or instead of them.
    sides: usize,
    /// Directions of these that are read.
    read: usize,
}

const KIB: f64 = 1024.0;
/// Linux's number of the error with which fio ends a job that was slower than allowed.
const TIMED_OUT: i32 = 110;
/// Processor time: user, system, context switches, two kinds of faults.
const CPU_FIELDS: usize = 5;
/// Shares of seven depths, and of latencies in ten classes of microseconds and twelve of milliseconds: the last fields
/// of a job without statistics of disks.
const SHARE_FIELDS: usize = 7 + 10 + 12;

fn layout(line: &str) -> Option<Layout> {
    let mut fields = line.split(';');
    let (version, second) = (fields.next()?, fields.next()?);
    let has_program = second.starts_with("fio-");
    match version {
        // The first line of version 2 has no program; a name may stand there.
        "2" if !has_program && line.matches(';').count() > 120 => {
            Some(Layout { name: 1, fields: 41, sides: 3, read: 3 })
        }
        "3" if has_program => {
            let sides = sides_of_version_3(line);
            Some(Layout { name: 2, fields: 41, sides, read: if sides == 1 { 0 } else { 2 } })
        }
        "4" if has_program => Some(Layout { name: 2, fields: 41, sides: 3, read: 3 }),
        "5" if has_program => Some(Layout { name: 2, fields: 47, sides: 3, read: 3 }),
        _ => None,
    }
}

/// Directions of a line: two, unless the shares of processor time stand behind another number of them.
fn sides_of_version_3(line: &str) -> usize {
    let fields: Vec<&str> = line.split(';').collect();
    let is_cpu = |sides: &usize| {
        let at = 2 + 3 + sides * 41;
        fields.get(at..at + 2).is_some_and(|shares| shares.iter().all(|share| share.trim().ends_with('%')))
    };
    [2, 3, 1].into_iter().find(is_cpu).unwrap_or(2)
}

impl ImportFormat for FioTerse {
    fn recognises(&self, text: &str) -> bool {
        text.lines().any(|line| layout(line.trim_start()).is_some())
    }

    fn read(&self, text: &str) -> Result<Imported, ImportError> {
        let (mut jobs, mut program, mut short, mut slow) = (Vec::new(), None, None, None);
        let (mut hides, mut counted) = (false, None);
        for (number, line) in (1..).zip(text.lines()) {
            let Some(layout) = layout(line.trim_start()) else { continue };
            let row = Row { number, line, fields: line.trim_start().split(';').collect(), layout };
            let second = row.fields[1];
            program = second.strip_prefix("fio-").map(|version| format!("fio {version}")).or(program);
            counted = row.counted();
            jobs.push(row.job()?);
            slow = slow.or(row.is_below_one_a_second()?.then_some(number));
            hides = hides || row.hides_percentiles()?;
            short = short.or((!row.is_whole()).then_some(number));
        }
        let mut notes = vec![
            "the terse format gives no options: queue depth, order and direct I/O are unknown".to_owned(),
        ];
        notes.extend(words::interrupted(text));
        if hides {
            notes.push(words::HIDDEN_PERCENTILES.to_owned());
        }
        if let Some(number) = short {
            notes.push(format!("line {number} ends before its last field: the copy is not whole"));
        }
        if let Some(number) = slow {
            let why = "the terse format does not tell the size of requests of which less than one a second completed";
            if jobs.len() == 1 {
                return Err(Damage::at(number, 1, why));
            }
            notes.push(format!("line {number}: {why}; they are left out"));
        }
        if jobs.len() > 1 {
            notes.push("the terse format does not say which run a line is of: each is a result".to_owned());
        }
        let mut trials = fio_jobs::trials(jobs, &mut notes);
        // Of several lines nobody knows which ran together, and on which file systems.
        let counted = counted.filter(|_| trials.len() == 1);
        fio_disk::witness(&mut trials, counted);
        Ok(Imported { program: program.or(Some("fio".into())), ended_s: None, trials, notes })
    }
}

struct Row<'a> {
    number: usize,
    line: &'a str,
    fields: Vec<&'a str>,
    layout: Layout,
}

impl Row<'_> {
    fn damaged(&self, at: usize, why: &str) -> ImportError {
        let before: usize = self.fields.iter().take(at).map(|field| field.chars().count() + 1).sum();
        let indent = self.line.chars().take_while(|letter| letter.is_whitespace()).count();
        let shown: String = self.fields.get(at).unwrap_or(&"").chars().take(40).collect();
        Damage::at(
            self.number,
            indent + before + 1,
            format!("field {} of the terse line, `{shown}`, {why}", at + 1),
        )
    }

    fn number(&self, at: usize) -> Result<f64, ImportError> {
        let Some(field) = self.fields.get(at) else {
            let why = format!("the terse line ends after {} fields", self.fields.len());
            return Err(Damage::at(self.number, self.line.chars().count() + 1, why));
        };
        let number = field.trim().trim_end_matches('%').parse().ok();
        number
            .filter(|n: &f64| n.is_finite() && (0.0..1e15).contains(n))
            .ok_or_else(|| self.damaged(at, "is no number"))
    }

    fn is_whole(&self) -> bool {
        let Layout { name, fields, sides, .. } = self.layout;
        self.fields.len() >= name + 3 + sides * fields + CPU_FIELDS + SHARE_FIELDS
    }

    /// Counters of the devices, behind the shares.
    fn counted(&self) -> Option<fio_disk::Counted> {
        let Layout { name, fields, sides, .. } = self.layout;
        fio_disk::of_fields(self.fields.get(name + 3 + sides * fields + CPU_FIELDS + SHARE_FIELDS..)?)
    }

    /// Whether a direction did something, and less than a request a second: many sizes fit that.
    fn is_below_one_a_second(&self) -> Result<bool, ImportError> {
        let Layout { name, fields, read, .. } = self.layout;
        for side in 0..read {
            let at = name + 3 + side * fields;
            if self.number(at)? > 0.0 && self.number(at + 2)? < 1.0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a direction has percentiles of completion alone, which say too little.
    fn hides_percentiles(&self) -> Result<bool, ImportError> {
        let Layout { name, fields, read, .. } = self.layout;
        for side in 0..read {
            let at = name + 3 + side * fields;
            if self.number(at)? > 0.0 && self.number(at + 6)? > SUBMISSION_MAX * self.number(at + 34)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn job(&self) -> Result<Job, ImportError> {
        let Layout { name, fields, sides, read } = self.layout;
        if read == 0 {
            return Err(Damage::at(self.number, 1, words::UNIFIED));
        }
        let first = name + 3;
        let mut found = [None, None, None];
        let mut sides_s = [0.0; 3];
        for (at, found) in found.iter_mut().enumerate().take(read) {
            let side = self.side(first + at * fields)?;
            sides_s[at] = side.as_ref().map_or(0.0, |side| side.1);
            *found = side;
        }
        let cpu = first + sides * fields;
        let runtime_s = sides_s.into_iter().fold(0.0, f64::max);
        let share = |at: usize| match self.fields.get(at).is_some_and(|field| !field.trim().ends_with('%')) {
            true => Err(self.damaged(at, "is no share of processor time")),
            false => self.number(at).map(|percent| percent / 100.0 * runtime_s),
        };
        let cpu_s = (share(cpu)?, share(cpu + 1)?);
        self.number(cpu + CPU_FIELDS)?;
        let errors = self.number(name + 2)?;
        let [read, write, trim] = found.map(|side| side.map(|(figures, _, size)| (figures, size)));
        let rw = match (read.is_some(), write.is_some(), trim.is_some()) {
            (true, true, _) => "randrw",
            (_, true, _) => "randwrite",
            (_, _, true) => "randtrim",
            _ => "randread",
        };
        let size = [&read, &write, &trim].into_iter().flatten().map(|(_, size)| *size).next().unwrap_or(4096);
        let count =
            |side: &Option<(Figures, u64)>| side.as_ref().map_or(0.0, |(own, _)| own.iops.unwrap_or(0.0));
        let reads = 100.0 * count(&read) / (count(&read) + count(&write)).max(1e-9);
        let (size, reads) = (size.to_string(), format!("{reads:.0}"));
        let given = json!({ "rw": rw, "bs": size, "rwmixread": reads, "ioengine": "unknown" });
        let options = Options::of(&given, &Value::Null).map_err(|why| self.damaged(name, &why))?;
        Ok(Job {
            name: self.fields[name].to_owned(),
            group: self.number as i64,
            options,
            summed: 1,
            read: read.map(|own| own.0),
            write: write.map(|own| own.0),
            trim: trim.map(|own| own.0),
            flush: None,
            sides_s,
            is_of_several_kinds: false,
            may_verify: true,
            searched_depth: false,
            cpu_s: Some(cpu_s),
            // fio's own limit of latency ends a job with this number, a device's with EIO.
            own_limit: (errors as i32 == TIMED_OUT).then_some(RequestError::TooSlow),
            errors: u64::from(errors > 0.0 && errors as i32 != TIMED_OUT),
            errno: (errors > 0.0 && errors < 4096.0).then_some(errors as i32),
            unstated: vec![Unstated::QueueDepth, Unstated::PageCache, Unstated::Order, Unstated::Load],
        })
    }

    /// Figures of a direction, its runtime and its block size; nothing where it did none.
    fn side(&self, at: usize) -> Result<Option<(Figures, f64, u64)>, ImportError> {
        let (kib, kib_per_s) = (self.number(at)?, self.number(at + 1)?);
        let (iops, runtime_s) = (self.number(at + 2)?, self.number(at + 3)? / 1000.0);
        let slat_mean = self.number(at + 6)?;
        let (clat_min, clat_max, clat_mean) =
            (self.number(at + 8)?, self.number(at + 9)?, self.number(at + 10)?);
        let percentiles = (at + 12..at + 32).map(|at| self.percentile(at)).collect::<Result<Vec<_>, _>>()?;
        let (lat_min, lat_max) = (self.number(at + 32)?, self.number(at + 33)?);
        let (lat_mean, lat_stddev) = (self.number(at + 34)?, self.number(at + 35)?);
        if kib <= 0.0 || runtime_s <= 0.0 || iops < 1.0 {
            return Ok(None);
        }
        let size = block_size(kib * KIB, iops, runtime_s);
        let ios = (kib * KIB / size as f64).round();
        let exact = ios / runtime_s;
        // IOPS are printed without their fraction.
        let agrees = (exact - iops).abs() <= 1.0;
        let of = |percent: f64| percentiles.iter().find(|own| own.0 == percent).map(|own| own.1 * 1e3);
        // Whole microseconds: below one, nothing is known. Percentiles are of completion alone.
        let lowest = clat_min.max(lat_min) * 1e3;
        let of = |percent| of(percent).filter(|&ns| ns > 0.0 && (lowest..=clat_max * 1e3).contains(&ns));
        let timed = lat_mean > 0.0;
        let mostly_completion = slat_mean <= SUBMISSION_MAX * lat_mean && clat_mean > 0.0;
        let of = |percent| of(percent).filter(|_| mostly_completion);
        let latency_ns = if timed {
            LatencySummary {
                min: Some((lat_min * 1e3) as u64),
                mean: Some(lat_mean * 1e3),
                stddev: Some(lat_stddev * 1e3),
                p50: of(50.0),
                p90: of(90.0),
                p99: of(99.0),
                p99_9: of(99.9),
                p99_99: of(99.99),
                max: Some((lat_max * 1e3) as u64),
            }
        } else {
            LatencySummary::default()
        };
        let figures = Figures {
            ios: agrees.then_some(ios as u64),
            bytes: Some((kib * KIB) as u64),
            iops: Some(if agrees { exact } else { iops }),
            bytes_per_s: Some(kib * KIB / runtime_s).filter(|_| kib_per_s > 0.0),
            latency_ns,
            ..Figures::default()
        };
        Ok(Some((figures, runtime_s, size)))
    }

    /// `99.000000%=8454`; unused ones are `0%=0`.
    fn percentile(&self, at: usize) -> Result<(f64, f64), ImportError> {
        let field = self.fields.get(at).copied().unwrap_or_default();
        let parts =
            field.split_once("%=").and_then(|(percent, us)| Some((percent.parse().ok()?, us.parse().ok()?)));
        parts.ok_or_else(|| self.damaged(at, "is no percentile"))
    }
}

/// The roundest size that bytes, whole IOPS and runtime allow: a power of two, else a multiple of 4 KiB or 512 B.
fn block_size(bytes: f64, iops: f64, runtime_s: f64) -> u64 {
    // A kibibyte and a millisecond are rounded too.
    let most = if iops > 0.0 { (bytes + KIB) / (iops * (runtime_s - 0.0005).max(0.0005)) } else { bytes };
    let least = (bytes - KIB).max(1.0) / ((iops + 1.0) * (runtime_s + 0.0005));
    let fits = |size: f64| size >= least && size <= most;
    // Of several powers, the one whose IOPS are those that were printed; of these, the largest.
    let off = |size: f64| ((bytes / size / runtime_s).floor() - iops).abs();
    let power = (9..=30)
        .map(|power| f64::from(1_u32 << power))
        .filter(|size| fits(*size))
        .min_by(|one, other| off(*one).total_cmp(&off(*other)).then(other.total_cmp(one)));
    let multiple = |unit: f64| Some((least / unit).ceil() * unit).filter(|size| fits(*size) && *size > 0.0);
    power.or_else(|| multiple(4096.0)).or_else(|| multiple(512.0)).unwrap_or(((least + most) / 2.0).max(1.0))
        as u64
}
