//! Figures that contradict each other: an error of units, of counting, or of copying.
//!
//! Looks at: every figure of a trial that can be computed from others:
//! - operations per second times seconds are operations, and operations times block size are bytes;
//! - the windows add up to the whole, and the histogram counts as many as the trial;
//! - smallest ≤ median ≤ 90th ≤ 99th ≤ .. ≤ largest, and the mean lies between smallest and largest;
//! - the trial counts no more than was issued;
//! - no request or flush took a hundred times as long as the run.
//!
//! Rule: off by more than 1 % is wrong. These are identities, not statistics: they hold to the last digit, and the
//! histogram's buckets add at most 0.4 %. Errors of units are large: 2.4 % (kB taken for KiB) is the smallest usual
//! one. A published table has rounded throughputs and no counts. There, operations times block size are compared
//! with bytes per second, with 6 % allowed. Where four rows of one table or more differ by the same factor (within
//! 0.4 %, so that rounding to four digits did not make it), 1 % is enough: 2.4 % is kB taken for KiB in all of them.
//! Figures of two or three digits scatter more: there each row must be within 1 % of a power of 1.024, and their
//! median within 0.4 %. Or, since some tools cut digits off and do not round: with an error of one in its last digit,
//! each row must allow one power of 1.024, and three rows or more must not allow equal figures.
//! IOPS that are the throughput over another block size are named with that size. Another tool's runtime is known to a
//! millisecond.
//!
//! Verdict: invalid, about everything in the trial. Not checked where nothing completed.
//!
//! Example: a report that reads nanoseconds as milliseconds finds a latency "incredibly small" and calls the effect
//! of a ninefold block size "minimal".
//!
//! What to do: with iosonde's own trials this is a bug; please report it. With another tool's file, look at its
//! version: fio changed from microseconds to nanoseconds in 2017, and scripts written for the old unit still run.

use iosonde_model::CheckName;
#[cfg(test)]
use iosonde_model::Rw;
use iosonde_model::{
    About, Direction, Op, Reason, Run, Scope, Trial, TrialSpec, Verdict,
    cause::{self, LatencyStatistic, TrialFigure},
};

use super::{Check, judged};
#[cfg(test)]
use super::{Specimens, specimen};

/// 1 %: the identities hold to 0.4 % (a histogram's bucket), and the smallest slip, 1000 for 1024, is 2.4 %.
const TOLERANCE: f64 = 0.01;

pub(super) struct Units;

impl Check for Units {
    fn id(&self) -> CheckName {
        CheckName::Units
    }

    fn check(&self, scope: Scope, run: &Run) -> Option<Verdict> {
        match scope {
            Scope::Run => slip(run).map(|slip| Verdict::Invalid(Reason::new(About::All, slip))),
            _ => judged::any(scope, run).map(|trial| verdict(trial, run)),
        }
    }

    #[cfg(test)]
    fn specimens(&self) -> Specimens {
        let read = |change: fn(&mut Direction)| {
            let mut trial = specimen::usual();
            change(trial.read.as_mut().expect("it reads"));
            trial
        };
        let kilo = read(|read| read.bytes_per_s *= 1024.0 / 1000.0);
        let micro = read(|read| read.latency_ns.mean = read.latency_ns.mean.map(|ns| ns / 1000.0));
        let disorder = read(|read| std::mem::swap(&mut read.latency_ns.p50, &mut read.latency_ns.p99));
        let mut disorder = disorder;
        disorder.read.as_mut().expect("it reads").latency_ns.p99 = Some(1000.0);
        let mut lost_window = specimen::usual();
        lost_window.windows.pop();
        let mut overcounted = specimen::usual();
        overcounted.witnesses.issued_read_bytes /= 2;
        let mut overflown = specimen::usual();
        overflown.read.as_mut().expect("it reads").latency_ns.max = Some(59_401_000_000_000);
        let mut silent = specimen::usual();
        silent.read = Some(specimen::direction(0, 4096, 320_000));
        Specimens {
            pass: vec![
                specimen::run(specimen::usual()),
                specimen::run(specimen::healthy(Rw::RandRw, 16384, 8, 20_000)),
                specimen::run(specimen::tabled()),
                // Figures of two digits.
                table(|row| 1.0 + 0.02 * (row as f64 - 2.0)),
            ],
            invalid: [kilo, micro, disorder, lost_window, overcounted, overflown]
                .map(specimen::run)
                .into_iter()
                .chain([table(|_| 1.024), table(|_| 16.0)])
                .collect(),
            not_checked: vec![specimen::run(silent)],
            ..Specimens::default()
        }
    }
}

/// For a specimen: five rows, and how many times IOPS × block size their throughput is.
#[cfg(test)]
fn table(factor: fn(row: usize) -> f64) -> Run {
    let mut run = specimen::run(specimen::tabled());
    let row = |row: usize| {
        let mut trial = Trial { id: row as u64, ..specimen::tabled() };
        let read = trial.read.as_mut().expect("it reads");
        read.iops *= 1.0 + row as f64;
        read.bytes_per_s = read.iops * trial.spec.block_size_bytes as f64 * factor(row);
        trial
    };
    run.trials = (0..5).map(row).collect();
    run
}

/// Rows of a table that show one factor, how closely they agree, and its least distance from 1: figures of four digits
/// are rounded by at most 0.05 %.
const ROWS_MIN: usize = 4;
const ALIKE: f64 = 0.004;
const SLIP_MIN: f64 = 0.01;

/// Ratio of throughput and IOPS × block size of a table's rows.
fn ratios(trial: &Trial) -> impl Iterator<Item = f64> {
    let of = |op, direction| {
        whole(op, direction, trial, 0.0).into_iter().map(|twice| twice.stated / twice.worked_out)
    };
    trial
        .directions()
        .filter(|(_, d)| d.ios == 0 && d.iops > 0.0)
        .flat_map(move |(op, direction)| of(op, direction))
}

/// One factor between the throughputs of a table and IOPS × block size.
fn slip(run: &Run) -> Option<cause::Units> {
    let tabled = run.trials.iter().filter(|trial| trial.is_uncounted());
    let mut all: Vec<f64> =
        tabled.flat_map(ratios).filter(|ratio| *ratio > 0.0 && ratio.is_finite()).collect();
    all.sort_by(f64::total_cmp);
    let (least, most) = (*all.first()?, *all.last()?);
    let factor = iosonde_stats::robust::median(&all)?;
    let power = (factor.ln() / 1.024f64.ln()).round() as i32;
    let from_power = |ratio: f64| (ratio / 1.024f64.powi(power)).ln().abs();
    let is_power = (1..=3).contains(&power.abs()) && from_power(factor) <= ALIKE;
    let alike = most / least - 1.0 <= ALIKE && factor.ln().abs() > SLIP_MIN;
    let rounded = is_power && from_power(least).max(from_power(most)) <= SLIP_MIN;
    let slipped = all.len() >= ROWS_MIN && (alike || rounded);
    let power = is_power.then_some(power);
    let found = slipped.then_some(cause::Units::Slip { factor, rows: all.len(), power });
    found.or_else(|| printed_slip(run))
}

/// Rows that figures with an error of one in their last digit cannot explain.
const UNEXPLAINED_MIN: usize = 3;
/// More than that, since a tool may work out a figure from one that it has rounded to four digits.
const SPARE: f64 = 1e-3;

/// One power of 1.024 that all rows of a table allow, where several do not allow equal figures.
fn printed_slip(run: &Run) -> Option<cause::Units> {
    let tabled = run.trials.iter().filter(|trial| trial.is_uncounted());
    let rows: Vec<(f64, f64)> = tabled.flat_map(printed_ratios).collect();
    let allows = |(low, high): &(f64, f64), factor: f64| {
        (low * (1.0 - SPARE)..=high * (1.0 + SPARE)).contains(&factor)
    };
    let unexplained = rows.iter().filter(|row| !allows(row, 1.0)).count();
    let is_all = |power: &i32| rows.iter().all(|row| allows(row, 1.024f64.powi(*power)));
    let power = [1, -1, 2, -2, 3, -3].into_iter().find(is_all)?;
    (rows.len() >= ROWS_MIN && unexplained >= UNEXPLAINED_MIN).then(|| cause::Units::Slip {
        factor: 1.024f64.powi(power),
        rows: rows.len(),
        power: Some(power),
    })
}

/// Least and highest ratio of throughput and IOPS × block size that a table's digits leave open.
fn printed_ratios(trial: &Trial) -> impl Iterator<Item = (f64, f64)> {
    let of = |(op, direction)| {
        let twice = whole(op, direction, trial, 0.0).into_iter().next()?;
        let (rate, iops) = (twice.stated, direction.iops);
        if !(rate > 0.0 && rate.is_finite() && iops.is_finite()) {
            return None;
        }
        let block = twice.worked_out / iops;
        let [rate_step, iops_step] = [last_digit(rate), last_digit(iops)];
        let low = (rate - rate_step) / ((iops + iops_step) * block);
        let high = (rate + rate_step) / ((iops - iops_step).max(0.0) * block);
        Some((low, high))
    };
    trial.directions().filter(|(_, d)| d.ios == 0 && d.iops > 0.0).filter_map(of)
}

/// Place of a figure's last digit: 100 of 12,100. Zeros at the end count as unknown.
fn last_digit(value: f64) -> f64 {
    let highest = value.abs().log10().floor() as i32;
    let is_whole = |place: &i32| {
        let digits = value / 10f64.powi(*place);
        (digits - digits.round()).abs() < 1e-6 * digits.abs().max(1.0)
    };
    // No table has more digits.
    10f64.powi((highest - 6..=highest).rev().find(is_whole).unwrap_or(highest - 6))
}

/// IOPS that were worked out with the block size of another trial, or with another power of two.
fn other_block_size(op: Op, direction: &Direction, trial: &Trial, run: &Run) -> Option<cause::Units> {
    let implied = direction.bytes_per_s / direction.iops;
    let is =
        |bytes: &u64| (implied / *bytes as f64).ln().abs() <= ALIKE && *bytes != trial.spec.block_size_bytes;
    let others = run.trials.iter().map(|other| other.spec.block_size_bytes);
    let from_block_size_bytes = others.chain((9..=26).map(|power| 1 << power)).find(is)?;
    Some(cause::Units::OtherBlockSize {
        op,
        stated_iops: direction.iops,
        from_block_size_bytes,
        block_size_bytes: trial.spec.block_size_bytes,
    })
}

/// Tolerance for a table, whose figures are rounded: two digits may be off by 5 %.
const TABLE_TOLERANCE: f64 = 0.06;

/// Two ways to the same figure.
struct Twice {
    figure: TrialFigure,
    op: Op,
    stated: f64,
    worked_out: f64,
}

impl Twice {
    fn off(&self) -> f64 {
        let scale = self.stated.abs().max(self.worked_out.abs());
        if scale == 0.0 { 0.0 } else { (self.stated - self.worked_out).abs() / scale }
    }
}

fn verdict(trial: &Trial, run: &Run) -> Verdict {
    if trial.directions().all(|(_, direction)| direction.ios == 0 && direction.iops == 0.0) {
        return Verdict::NotChecked(Reason::new(About::All, cause::Units::NothingCompleted));
    }
    let mut identities = Vec::new();
    for (op, direction) in trial.directions().filter(|(_, d)| d.ios > 0 || d.iops > 0.0) {
        identities.extend(whole(op, direction, trial, runtime_error_s(run)));
        identities.extend(parts(op, direction, trial));
        if let Some(disorder) = disorder(op, direction) {
            return Verdict::Invalid(Reason::new(About::All, disorder));
        }
    }
    if let Some(longer) = longer_than_run(trial) {
        return Verdict::Invalid(Reason::new(About::Latency, longer));
    }
    // A NaN compares as neither; it is a contradiction too.
    let tolerance = if trial.is_uncounted() { TABLE_TOLERANCE } else { TOLERANCE };
    let wrong = identities.into_iter().find(|identity| identity.off().is_nan() || identity.off() > tolerance);
    let too_much = overcounted(trial);
    let contradiction = wrong.map(|Twice { figure, op, stated, worked_out }| {
        let other = match figure {
            TrialFigure::BytesPerS if trial.is_uncounted() => trial.direction(op),
            _ => None,
        };
        other
            .and_then(|direction| other_block_size(op, direction, trial, run))
            .unwrap_or(cause::Units::Contradiction { figure, op, stated, worked_out })
    });
    match contradiction.or(too_much) {
        Some(fault) => Verdict::Invalid(Reason::new(About::All, fault)),
        None => Verdict::Pass,
    }
}

/// Other tools round a runtime to milliseconds.
fn runtime_error_s(run: &Run) -> f64 {
    if run.info.is_imported() { 1e-3 } else { 0.0 }
}

/// A rate that was worked out over so many seconds, as near to the stated one as an error of these allows.
fn over_a_rounded_time(stated: f64, worked_out: f64, seconds: f64, error_s: f64) -> f64 {
    let low = worked_out * seconds / (seconds + error_s);
    let high = if seconds > error_s { worked_out * seconds / (seconds - error_s) } else { f64::INFINITY };
    // A rate that is no number stays a contradiction.
    if error_s > 0.0 && low <= high && stated.is_finite() { stated.clamp(low, high) } else { worked_out }
}

/// Figures of the whole trial.
fn whole(op: Op, direction: &Direction, trial: &Trial, error_s: f64) -> Vec<Twice> {
    let ios = direction.ios as f64;
    let bytes = direction.bytes as f64;
    let one_size = trial
        .spec
        .streams()
        .all(|stream| stream.block_sizes.is_one() && stream.block_size_bytes == trial.spec.block_size_bytes);
    if direction.ios == 0 {
        let worked_out = direction.iops * trial.spec.block_size_bytes as f64;
        let (figure, stated) = (TrialFigure::BytesPerS, direction.bytes_per_s);
        return if one_size { vec![Twice { figure, op, stated, worked_out }] } else { Vec::new() };
    }
    // Workers measure from a completion of their own to another: each stream's rate is right over its own time, and
    // the trial's time is the one for which all requests together have the sum of the rates.
    let (stated, worked_out) = if several(trial) {
        let sum = |figure: fn(&Direction) -> f64| trial.directions().map(|(_, d)| figure(d)).sum::<f64>();
        (sum(|d| d.iops), sum(|d| d.ios as f64) / trial.measured_s)
    } else {
        (direction.iops, ios / trial.measured_s)
    };
    let worked_out = over_a_rounded_time(stated, worked_out, trial.measured_s, error_s);
    let seconds = if several(trial) { ios / direction.iops } else { trial.measured_s };
    let mut out = vec![Twice { figure: TrialFigure::RequestsPerS, op, stated, worked_out }];
    // Unlike sizes over unlike times have no common second.
    if one_size || !several(trial) {
        let (figure, stated) = (TrialFigure::BytesPerS, direction.bytes_per_s);
        let worked_out = over_a_rounded_time(stated, bytes / seconds, seconds, error_s);
        out.push(Twice { figure, op, stated, worked_out });
    }
    // A short transfer moves fewer; the check `errors` speaks of those.
    if direction.short == 0 {
        // Several sizes, or several streams: the sum lies between all of the smallest and all of the largest.
        let (smallest, largest) = sizes(op, trial);
        let worked_out = bytes.clamp(ios * smallest as f64, ios * largest as f64);
        out.push(Twice { figure: TrialFigure::Bytes, op, stated: bytes, worked_out });
    }
    let counted = direction.histogram.total() as f64;
    // An imported result may come without a histogram.
    if counted > 0.0 {
        let figure = TrialFigure::RequestsInHistogram;
        out.push(Twice { figure, op, stated: counted, worked_out: ios });
        if let (Some(stated), Some(worked_out)) = (direction.latency_ns.mean, direction.histogram.mean_ns()) {
            out.push(Twice { figure: TrialFigure::MeanLatencyNs, op, stated, worked_out });
        }
    }
    out
}

/// The smallest and the largest request of a direction, over all streams.
fn sizes(op: Op, trial: &Trial) -> (u64, u64) {
    let streams = || trial.spec.streams().filter(|stream| stream.has(op));
    let smallest = streams().map(TrialSpec::smallest_block_bytes).min();
    (smallest.unwrap_or(0), streams().map(|stream| stream.block_size_bytes).max().unwrap_or(u64::MAX))
}

/// Whether several workers made the requests.
fn several(trial: &Trial) -> bool {
    trial.spec.jobs > 1 || trial.spec.hosts > 1 || !trial.spec.and.is_empty()
}

/// The windows' sums against the whole. Those of several workers cover the time that all of them measured, and each
/// worker's own time is a little longer: there the sum may be smaller.
fn parts(op: Op, direction: &Direction, trial: &Trial) -> Option<Twice> {
    let lanes = trial.windows.iter().filter_map(|window| window.direction(op));
    let lanes: Vec<_> = lanes.collect();
    let stated = lanes.iter().map(|lane| lane.ios).sum::<u64>() as f64;
    let figure = TrialFigure::RequestsInWindows;
    let whole = direction.ios as f64;
    let worked_out = if several(trial) && stated < whole { stated } else { whole };
    (!lanes.is_empty()).then_some(Twice { figure, op, stated, worked_out })
}

/// The latencies in their order.
fn disorder(op: Op, direction: &Direction) -> Option<cause::Units> {
    use LatencyStatistic::{Max, Mean, Min, P50, P90, P99, P99_9, P99_99};
    let latency = &direction.latency_ns;
    let (min, max) = (latency.min.map(|ns| ns as f64), latency.max.map(|ns| ns as f64));
    let quantiles = [
        (Min, min),
        (P50, latency.p50),
        (P90, latency.p90),
        (P99, latency.p99),
        (P99_9, latency.p99_9),
        (P99_99, latency.p99_99),
        (Max, max),
    ];
    let around_mean = [(Min, min), (Mean, latency.mean), (Max, max)];
    descending(op, &quantiles).or_else(|| descending(op, &around_mean))
}

fn descending(op: Op, values: &[(LatencyStatistic, Option<f64>)]) -> Option<cause::Units> {
    let known: Vec<_> = values.iter().filter_map(|(name, value)| Some((*name, (*value)?))).collect();
    let pair = known
        .windows(2)
        .find(|pair| pair[0].1.is_nan() || pair[1].1.is_nan() || pair[0].1 > pair[1].1 * (1.0 + TOLERANCE))?;
    let [(lower, lower_ns), (higher, higher_ns)] = [pair[0], pair[1]];
    Some(cause::Units::Disorder { op, lower, lower_ns, higher, higher_ns })
}

/// Times by which a latency exceeds the run, and its least, from which on it is miscounted: the last flush of a run may
/// take minutes beyond it. fio 3.33 has flushes of 16 hours in runs of a second.
const LONGER_TIMES: f64 = 100.0;
const LONGER_S: f64 = 600.0;

/// A latency that no request of the trial can have had.
fn longer_than_run(trial: &Trial) -> Option<cause::Units> {
    let of_requests = trial.directions().filter_map(|(_, direction)| direction.latency_ns.max);
    let of_flushes = trial.flush.as_ref().and_then(|flush| flush.latency_ns.max);
    let (longest_s, measured_s) = (of_requests.chain(of_flushes).max()? as f64 / 1e9, trial.measured_s);
    let is_longer = measured_s > 0.0 && longest_s > LONGER_S && longest_s > LONGER_TIMES * measured_s;
    is_longer.then_some(cause::Units::LongerThanRun { longest_s, measured_s })
}

/// What counts was issued, and the warm-up besides.
fn overcounted(trial: &Trial) -> Option<cause::Units> {
    let seen = &trial.witnesses;
    let issued_bytes = seen.issued_read_bytes + seen.issued_write_bytes + seen.issued_trim_bytes;
    let counted_bytes: u64 = trial.directions().map(|(_, direction)| direction.bytes).sum();
    // 0: an imported result does not say what was issued.
    let too_much = issued_bytes > 0 && counted_bytes as f64 > issued_bytes as f64 * (1.0 + TOLERANCE);
    too_much.then_some(cause::Units::Overcounted { counted_bytes, issued_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn said(run: &Run, scope: Scope) -> Option<cause::Units> {
        match Units.check(scope, run)? {
            Verdict::Invalid(reason) => match reason.cause {
                cause::Cause::Units(facts) => Some(facts),
                other => panic!("{other:?}"),
            },
            _ => None,
        }
    }

    #[test]
    fn trims_beside_reads_are_issued_too() {
        let mut trial = specimen::usual();
        let read = trial.read.clone().unwrap();
        trial.witnesses.issued_trim_bytes = 1 << 30;
        let trim = specimen::direction((1 << 30) / 4096, 4096, 10_000);
        trial.trim = Some(trim);
        assert!(read.bytes > 0 && overcounted(&trial).is_none());
        trial.witnesses.issued_trim_bytes = 0;
        assert!(overcounted(&trial).is_some());
    }

    #[test]
    fn a_runtime_that_was_rounded_to_milliseconds_contradicts_no_rate() {
        // 5.833 ms are written as 6: 1,024 requests at 175,560 a second, and not 170,667.
        let rate = |iops: f64, measured_s: f64| {
            let mut trial = specimen::usual();
            trial.measured_s = measured_s;
            trial.windows.clear();
            let read = trial.read.as_mut().unwrap();
            *read = specimen::direction(1024, 4096, 5_000);
            (read.iops, read.bytes_per_s) = (iops, iops * 4096.0);
            specimen::imported(trial)
        };
        let of = |run: &Run| verdict(&run.trials[0], run);
        assert_eq!(of(&rate(175_560.0, 0.006)), Verdict::Pass);
        assert!(matches!(of(&rate(220_000.0, 0.006)), Verdict::Invalid(_)), "5.0 ms are no 6");
        // Over a minute, a slip of 2.4 % is one.
        let slow = rate(1024.0 / 60.0 * 1.024, 60.0);
        assert!(matches!(of(&slow), Verdict::Invalid(_)));
    }

    #[test]
    fn one_factor_in_all_rows_of_a_table_is_named() {
        let Some(cause::Units::Slip { factor, rows: 5, power: Some(1) }) =
            said(&table(|_| 1.024), Scope::Run)
        else {
            panic!("kB for KiB")
        };
        assert!((factor - 1.024).abs() < 1e-9);
        let mega = said(&table(|_| 1.0 / 1.048_576), Scope::Run);
        assert!(matches!(mega, Some(cause::Units::Slip { power: Some(-2), .. })), "{mega:?}");
        let other = said(&table(|_| 1.035), Scope::Run);
        assert!(matches!(other, Some(cause::Units::Slip { power: None, .. })), "{other:?}");
        // Rounding to four digits, and to two.
        assert_eq!(said(&table(|row| 1.0 + 0.0005 * row as f64), Scope::Run), None);
        assert_eq!(said(&table(|row| 1.024 + 0.02 * row as f64), Scope::Run), None);
        let mut few = table(|_| 1.024);
        few.trials.truncate(3);
        assert_eq!(said(&few, Scope::Run), None);
    }

    /// Figures of so many digits, drawn over a decade; rounded, or cut.
    fn rounded(rows: usize, digits: i32, factor: f64, seed: u64, to_digits: fn(f64) -> f64) -> Run {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let round = |value: f64| {
            let unit = 10f64.powi(value.log10().floor() as i32 + 1 - digits);
            to_digits(value / unit) * unit
        };
        let mut run = specimen::run(specimen::tabled());
        let row = |row| {
            let mut trial = Trial { id: row as u64, ..specimen::tabled() };
            let read = trial.read.as_mut().expect("it reads");
            let iops = 10f64.powf(3.0 + random.random::<f64>());
            read.iops = round(iops);
            read.bytes_per_s = round(iops * trial.spec.block_size_bytes as f64 * factor);
            trial
        };
        run.trials = (0..rows).map(row).collect();
        run
    }

    #[test]
    fn digits_make_no_slip_and_hide_none_of_three() {
        for to_digits in [f64::round, f64::floor] {
            let slips = |rows, digits, factor| {
                let is_slip = |&seed: &u64| slip(&rounded(rows, digits, factor, seed, to_digits)).is_some();
                (0..2000).filter(is_slip).count()
            };
            for (rows, digits) in [(4, 2), (8, 2), (4, 3), (8, 3), (8, 4)] {
                let of_right = slips(rows, digits, 1.0);
                assert!(
                    of_right <= 4,
                    "{rows} rows of {digits} digits: {of_right} of 2,000 are right, and called a slip"
                );
            }
            for rows in [4, 8] {
                let found = slips(rows, 3, 1.0 / 1.024);
                assert!(found >= 1900, "{rows} rows: {found} of 2,000");
            }
        }
    }

    /// Two digits in MiB are many digits in bytes, which say nothing of how exact they are.
    #[test]
    fn digits_of_other_units_make_no_slip() {
        let in_mib = |seed| {
            let mut run = rounded(4, 7, 1.0, seed, f64::round);
            for read in run.trials.iter_mut().filter_map(|trial| trial.read.as_mut()) {
                let mib = read.bytes_per_s / 1_048_576.0;
                let unit = 10f64.powi(mib.log10().floor() as i32 - 1);
                read.bytes_per_s = (mib / unit).round() * unit * 1_048_576.0;
            }
            run
        };
        let slips = (0..2000).filter(|&seed| slip(&in_mib(seed)).is_some()).count();
        assert!(slips <= 4, "{slips} of 2,000 are right, and called a slip");
        // Without a rate there is no digit to look at.
        let mut silent = rounded(4, 3, 1.0, 1, f64::round);
        silent.trials.iter_mut().for_each(|trial| trial.read.as_mut().unwrap().bytes_per_s = 0.0);
        assert_eq!(slip(&silent), None);
    }

    #[test]
    fn a_last_digit_is_that_which_is_printed() {
        let of = |value: f64, place: f64| assert!((last_digit(value) / place - 1.0).abs() < 1e-9, "{value}");
        of(12_100.0, 100.0);
        of(405.41 * 1e6, 1e4);
        of(1.19e9, 1e7);
        of(194.0, 1.0);
        of(0.25, 0.01);
    }

    #[test]
    fn iops_of_another_pass_are_named_with_its_block_size() {
        let mut run = table(|_| 1.0);
        let read = run.trials[2].read.as_mut().unwrap();
        read.iops = read.bytes_per_s / f64::from(256 << 10);
        let found = said(&run, Scope::Trial(2));
        let Some(cause::Units::OtherBlockSize { from_block_size_bytes, block_size_bytes, .. }) = found else {
            panic!("{found:?}")
        };
        assert_eq!(
            (from_block_size_bytes, block_size_bytes),
            (256 << 10, run.trials[2].spec.block_size_bytes)
        );
        // No block size gives these.
        run.trials[2].read.as_mut().unwrap().iops *= 1.3;
        assert!(matches!(said(&run, Scope::Trial(2)), Some(cause::Units::Contradiction { .. })));
    }
}
