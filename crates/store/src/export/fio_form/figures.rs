//! Figures of a job as fio writes them.

use iosonde_model::{Direction, Flush, Histogram, LatencySummary, Op, Window};
use serde_json::{Map, Value, json};

/// Whether histograms are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bins {
    /// As in json+.
    Written,
    /// As in json.
    LeftOut,
}

/// What is told of a latency.
#[derive(Debug, Clone, Copy)]
pub(super) struct Detail<'a> {
    pub(super) bins: Bins,
    pub(super) percentiles: &'a [f64],
}

/// Percentiles of a job: its `percentile_list`, or fio's own.
pub(super) fn percentiles(list: Option<&String>) -> Vec<f64> {
    let own = list.map(|list| list.split([':', ',']).filter_map(|word| word.trim().parse().ok()).collect());
    own.filter(|own: &Vec<f64>| !own.is_empty()).unwrap_or_else(|| PERCENTILES.to_vec())
}

/// fio's default percentiles.
const PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];
/// Length of a sample of fio's (`bwavgtime`).
const SAMPLE_S: f64 = 0.5;
/// Upper bounds of fio's classes of latencies, in nanoseconds and in microseconds; in milliseconds come two more.
const CLASSES: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

/// `read`, `write` or `trim`.
pub(super) fn direction(
    side: &Direction,
    op: Op,
    measured_s: f64,
    windows: &[&[Window]],
    detail: Detail,
) -> Value {
    let mut out = counts(side, measured_s);
    out.insert("slat_ns".into(), silent());
    let latency = latency(&side.latency_ns, &side.histogram, side.ios, detail);
    if !latency.is_empty() {
        out.insert("clat_ns".into(), Value::Object(latency.clone()));
        out.insert("lat_ns".into(), Value::Object(latency));
    }
    let figures = |unit: f64, bytes: bool| samples(windows, op, bytes).map(|samples| Set::of(&samples, unit));
    // A trial without windows was measured by another tool.
    if let (Some(bandwidth), Some(iops)) = (figures(1024.0, true), figures(1.0, false)) {
        let mut set = |name: &str, value: Value| out.insert(name.to_owned(), value);
        set("bw_min", json!(bandwidth.min as u64));
        set("bw_max", json!(bandwidth.max as u64));
        set("bw_agg", json!(100.0));
        set("bw_mean", json!(bandwidth.mean));
        set("bw_dev", json!(bandwidth.deviation));
        set("bw_samples", json!(bandwidth.count));
        set("iops_min", json!(iops.min as u64));
        set("iops_max", json!(iops.max as u64));
        set("iops_mean", json!(iops.mean));
        set("iops_stddev", json!(iops.deviation));
        set("iops_samples", json!(iops.count));
    }
    Value::Object(out)
}

fn counts(side: &Direction, measured_s: f64) -> Map<String, Value> {
    let counts = json!({
        "io_bytes": side.bytes,
        "io_kbytes": side.bytes / 1024,
        "bw_bytes": side.bytes_per_s.round() as u64,
        "bw": (side.bytes_per_s / 1024.0).round() as u64,
        "iops": side.iops,
        // A job that took less than a millisecond took some time all the same.
        "runtime": ((measured_s * 1e3).round() as u64).max(1),
        "total_ios": side.ios,
        "short_ios": side.short,
        "drop_ios": 0,
    });
    let Value::Object(counts) = counts else { unreachable!("it was made as an object") };
    counts
}

/// A direction that moved nothing, whole: readers index it without asking.
pub(super) fn idle() -> Value {
    let counts = ["io_bytes", "io_kbytes", "bw_bytes", "bw", "runtime", "total_ios", "short_ios", "drop_ios"];
    let sets = ["bw_min", "bw_max", "bw_samples", "iops_min", "iops_max", "iops_samples"];
    let means = ["iops", "bw_agg", "bw_mean", "bw_dev", "iops_mean", "iops_stddev"];
    let whole = counts.into_iter().chain(sets).map(|name| (name.to_owned(), json!(0)));
    let broken = means.into_iter().map(|name| (name.to_owned(), json!(0.0)));
    let latencies = ["slat_ns", "clat_ns", "lat_ns"].into_iter().map(|name| (name.to_owned(), silent()));
    Value::Object(whole.chain(broken).chain(latencies).collect())
}

/// A latency of no requests: fio's way to say that nothing was timed.
fn silent() -> Value {
    json!({ "min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0 })
}

/// `sync`: flushes, which fio times by themselves.
pub(super) fn flush(flush: Option<&Flush>, percentiles: &[f64]) -> Value {
    let Some(flush) = flush.filter(|flush| flush.ios > 0) else {
        return json!({ "total_ios": 0, "lat_ns": silent() });
    };
    let detail = Detail { bins: Bins::LeftOut, percentiles };
    json!({
        "total_ios": flush.ios,
        "lat_ns": latency(&flush.latency_ns, &flush.histogram, flush.ios, detail),
    })
}

/// A latency with its percentiles. What another tool did not tell is absent, and never 0.
fn latency(summary: &LatencySummary, histogram: &Histogram, ios: u64, detail: Detail) -> Map<String, Value> {
    let mut out = Map::new();
    let told = [
        ("min", json!(summary.min)),
        ("max", json!(summary.max)),
        ("mean", json!(summary.mean)),
        ("stddev", json!(summary.stddev)),
    ];
    out.extend(told.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, v)| (name.to_owned(), v)));
    if out.is_empty() {
        return out;
    }
    let known = histogram.total() > 0;
    out.insert("N".into(), json!(if known { histogram.total() } else { ios }));
    let of_summary = [
        (50.0, summary.p50),
        (90.0, summary.p90),
        (99.0, summary.p99),
        (99.9, summary.p99_9),
        (99.99, summary.p99_99),
    ];
    let whole = |ns: f64| json!(ns.round() as u64);
    let percentiles: Map<String, Value> = if known {
        let of = |percent: &f64| Some((key(*percent), whole(histogram.quantile_ns(percent / 100.0)?)));
        detail.percentiles.iter().filter_map(of).collect()
    } else {
        of_summary.into_iter().filter_map(|(percent, ns)| Some((key(percent), whole(ns?)))).collect()
    };
    if !percentiles.is_empty() {
        out.insert("percentile".into(), Value::Object(percentiles));
    }
    if known && detail.bins == Bins::Written {
        let bin = |(_, upper_ns, count): (f64, u64, u64)| (upper_ns.to_string(), json!(count));
        out.insert("bins".into(), Value::Object(histogram.buckets().map(bin).collect()));
    }
    out
}

fn key(percent: f64) -> String {
    format!("{percent:.6}")
}

/// Rates of samples of half a second, of all streams together; nothing without windows.
fn samples(windows: &[&[Window]], op: Op, bytes: bool) -> Option<Vec<f64>> {
    let mut sum: Option<Vec<f64>> = None;
    for stream in windows.iter().filter(|stream| stream.iter().any(|window| window.direction(op).is_some())) {
        let (mut rates, mut length_s, mut moved) = (Vec::new(), 0.0, 0.0);
        for window in *stream {
            length_s += window.length_s;
            moved +=
                window.direction(op).map_or(0.0, |lane| if bytes { lane.bytes } else { lane.ios } as f64);
            // A rounding of seconds is no shorter sample.
            if length_s >= SAMPLE_S - 1e-3 {
                rates.push(moved / length_s);
                (length_s, moved) = (0.0, 0.0);
            }
        }
        if rates.is_empty() && length_s > 0.0 {
            rates.push(moved / length_s);
        }
        sum = Some(match sum {
            None => rates,
            // Streams that ended earlier have fewer.
            Some(sum) => sum.iter().zip(&rates).map(|(a, b)| a + b).collect(),
        });
    }
    sum.filter(|rates| !rates.is_empty())
}

/// What fio says of a set of samples.
struct Set {
    min: f64,
    max: f64,
    mean: f64,
    deviation: f64,
    count: usize,
}

impl Set {
    fn of(samples: &[f64], unit: f64) -> Self {
        let count = samples.len();
        let mean = samples.iter().sum::<f64>() / count as f64;
        let squares: f64 = samples.iter().map(|rate| (rate - mean).powi(2)).sum();
        let deviation = if count > 1 { (squares / (count - 1) as f64).sqrt() } else { 0.0 };
        let least = samples.iter().copied().fold(f64::INFINITY, f64::min);
        let most = samples.iter().copied().fold(0.0, f64::max);
        Self { min: least / unit, max: most / unit, mean: mean / unit, deviation: deviation / unit, count }
    }
}

/// Shares of the requests, in percent, by classes of their latency: `latency_ns`, `latency_us`, `latency_ms`.
pub(super) fn shares(histograms: &[&Histogram]) -> Vec<(&'static str, Value)> {
    let total: u64 = histograms.iter().map(|histogram| histogram.total()).sum();
    if total == 0 {
        return Vec::new();
    }
    let bounds: Vec<(&'static str, String, u64)> =
        [("latency_ns", 1), ("latency_us", 1_000), ("latency_ms", 1_000_000)]
            .into_iter()
            .flat_map(|(unit, ns)| CLASSES.iter().map(move |bound| (unit, bound.to_string(), bound * ns)))
            .chain([
                ("latency_ms", "2000".to_owned(), 2_000_000_000),
                ("latency_ms", ">=2000".to_owned(), u64::MAX),
            ])
            .collect();
    let mut counts = vec![0_u64; bounds.len()];
    for (_, upper_ns, count) in histograms.iter().flat_map(|histogram| histogram.buckets()) {
        counts[bounds.partition_point(|(.., bound_ns)| *bound_ns < upper_ns).min(bounds.len() - 1)] += count;
    }
    ["latency_ns", "latency_us", "latency_ms"]
        .into_iter()
        .map(|wanted| {
            let own = bounds.iter().zip(&counts).filter(|((unit, ..), _)| *unit == wanted);
            let share = |((_, name, _), count): (&(&str, String, u64), &u64)| {
                (name.clone(), json!(100.0 * *count as f64 / total as f64))
            };
            (wanted, Value::Object(own.map(share).collect()))
        })
        .collect()
}

/// Milliseconds since 1970 of `2026-01-31T12:00:00Z`, with or without a fraction.
pub(super) fn unix_ms(text: &str) -> Option<i64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let mut date = date.splitn(3, '-').map(str::parse::<i64>);
    let (year, month, day) = (date.next()?.ok()?, date.next()?.ok()?, date.next()?.ok()?);
    let mut time = time.splitn(3, ':');
    let (hours, minutes) = (time.next()?.parse::<i64>().ok()?, time.next()?.parse::<i64>().ok()?);
    let seconds: f64 = time.next()?.parse().ok()?;
    // Days of the civil calendar: years begin in March, so that a leap day is a year's last.
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = year * 365 + year.div_euclid(4) - year.div_euclid(100)
        + year.div_euclid(400)
        + (153 * month + 2) / 5
        + day
        - 1
        - 719_468;
    Some(((days * 24 + hours) * 60 + minutes) * 60_000 + (seconds * 1e3) as i64)
}

/// `Sat Jan 31 12:00:00 2026`, in UTC.
pub(super) fn calendar(unix_s: i64) -> String {
    const MONTHS: [&str; 12] =
        ["Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Jan", "Feb"];
    const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    let (days, rest) = (unix_s.div_euclid(86_400), unix_s.rem_euclid(86_400));
    // 146,097 days are 400 years.
    let from_march = days + 719_468;
    let (era, of_era) = (from_march.div_euclid(146_097), from_march.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let year = year_of_era + era * 400 + i64::from(month >= 10);
    let weekday = WEEKDAYS[days.rem_euclid(7) as usize];
    let (hours, minutes, seconds) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{weekday} {} {day:02} {hours:02}:{minutes:02}:{seconds:02} {year}", MONTHS[month as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_reads_back_as_the_calendar_says() {
        for (text, unix_s, told) in [
            ("1970-01-01T00:00:00Z", 0, "Thu Jan 01 00:00:00 1970"),
            ("2000-02-29T12:30:45Z", 951_827_445, "Tue Feb 29 12:30:45 2000"),
            ("2026-11-23T13:30:12.647Z", 1_795_440_612, "Mon Nov 23 13:30:12 2026"),
            ("2100-03-01T00:00:00Z", 4_107_542_400, "Mon Mar 01 00:00:00 2100"),
        ] {
            assert_eq!(unix_ms(text).map(|ms| ms / 1000), Some(unix_s), "{text}");
            assert_eq!(calendar(unix_s), told);
        }
        assert_eq!(unix_ms("yesterday"), None);
    }

    #[test]
    fn classes_of_latencies_make_a_hundred() {
        let mut histogram = Histogram::new();
        [3, 900, 90_000, 700_000_000, 3_000_000_000].into_iter().for_each(|ns| histogram.record(ns));
        let shares = shares(&[&histogram]);
        let share = |unit: &str, class: &str| {
            shares.iter().find(|(name, _)| *name == unit).and_then(|(_, told)| told[class].as_f64())
        };
        assert_eq!(share("latency_ns", "4"), Some(20.0));
        assert_eq!(share("latency_ns", "1000"), Some(20.0));
        assert_eq!(share("latency_us", "100"), Some(20.0));
        assert_eq!(share("latency_ms", "750"), Some(20.0));
        assert_eq!(share("latency_ms", ">=2000"), Some(20.0));
    }
}
