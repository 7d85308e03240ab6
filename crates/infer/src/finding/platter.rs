//! Requests that wait for a rotating platter: the common part of two findings.
//!
//! Requests to random addresses of many adjacent tracks wait between zero and one rotation, uniformly distributed.
//! So the quantiles of their latencies lie on a straight line. It begins at the latency of a request that need not
//! wait, and rises by one rotation. The line is fitted from the 10th to the 85th percentile (least squares),
//! without the ends, which short seeks and the scatter of service round off.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{About, Histogram, Inconclusive, Op, detail::PlatterProblem};
use iosonde_stats::Estimated;

use super::{group, pooled};

/// Quantiles through which the line is drawn.
const FROM: f64 = 0.10;
const TO: f64 = 0.85;
const STEPS: usize = 30;
/// The largest distance of a quantile from the line, as a share of a turn. A normal spread misses it by 7 %, an
/// exponential one by 15.
const BENT: f64 = 0.04;
/// Standard error of the rise for one even wait, as a share of it; it falls with the root of their number. Trials that
/// happen to agree better than independent waits can are luck, and a point whose trials agree is closed early.
///
/// Derived: quantiles p < q of n even waits have the covariance p (1 - q) / n, with which the least-squares slope
/// through these quantiles has the standard error 0.743 / sqrt(n). The rest, 8 %, is for the buckets of the histogram.
const OF_ONE_WAIT: f64 = 0.8;
/// Service that scatters by 10 % flattens the line by that much (the square of 0.1), in all trials alike.
const FLATTENED: f64 = 0.01;
/// Limit, as a share of the median, of the latest tenth of waits that belong to no platter.
const LATE: f64 = 0.5;
/// One turn of the fastest disks that were made, 15,000 a minute; a random request waits for half of it on average.
const FASTEST_TURN_NS: f64 = 4e6;
/// Where nineteen of twenty random reads take less than half of that, no platter is waited for.
const NEARLY_ALL: f64 = 0.95;
/// Requests with which quantiles are known to 1.5 % of a turn.
const FEWEST_REQUESTS: u64 = 1_000;
/// Beyond so many times the median lies what no arm and no platter explains: a retry, another program.
const FAR_OUT: f64 = 4.0;

/// The line through the quantiles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Line {
    /// Where it begins.
    pub(super) at_once_ns: f64,
    /// By how much it rises.
    pub(super) turn_ns: f64,
    /// The largest miss, as a share of the rise.
    pub(super) bent: f64,
}

/// The line of a histogram.
pub(super) fn line(histogram: &Histogram) -> Option<Line> {
    let place = |step: usize| FROM + (TO - FROM) * step as f64 / STEPS as f64;
    let quantile = |step: usize| Some((place(step), histogram.quantile_ns(place(step))?));
    let points: Vec<(f64, f64)> = (0..=STEPS).map(quantile).collect::<Option<_>>()?;
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0, sum.1 + point.1));
    let (x, y) = (x / count, y / count);
    let rise: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    let turn_ns = rise / points.iter().map(|point| (point.0 - x).powi(2)).sum::<f64>();
    let at_once_ns = y - turn_ns * x;
    let miss = |point: &(f64, f64)| (point.1 - at_once_ns - turn_ns * point.0).abs();
    let bent = points.iter().map(miss).fold(0.0, f64::max) / turn_ns;
    Some(Line { at_once_ns, turn_ns, bent })
}

/// The points that tell of arm and platter.
pub(super) struct Sweep<'e, 'a> {
    /// Random requests within the narrowest part.
    pub(super) narrow: &'e Evidence<'a>,
    /// Random reads over the widest.
    pub(super) wide: Option<&'e Evidence<'a>>,
    /// Small reads in sequence.
    pub(super) in_turn: Option<&'e Evidence<'a>>,
}

/// What the narrow part says of a turn.
pub(super) enum Turn {
    /// A turn, and how it shows.
    Found(Estimated),
    /// Waits do not spread as far as a turn: nothing rotates.
    Still {
        /// How far three quarters of the latencies lie apart, as a share of the middle one.
        spread: f64,
    },
}

fn alone(evidence: &Evidence, random: bool) -> bool {
    let spec = &evidence.point.spec;
    spec.asked_in_flight() == 1
        && spec.rate_iops.is_none()
        && spec.rw.is_random() == random
        && spec.stride_bytes.is_none()
        && spec.and.is_empty()
        && group::only_direction(spec.rw).is_some()
}

impl<'e, 'a> Sweep<'e, 'a> {
    /// The points that belong together; `None` where random requests were made within one span only.
    pub(super) fn of(points: &'e [Evidence<'a>]) -> Option<Self> {
        let random = || points.iter().filter(|evidence| alone(evidence, true));
        let span = |evidence: &&Evidence| evidence.point.spec.span_bytes;
        let narrow = random().min_by_key(span)?;
        let reads = |evidence: &&Evidence| evidence.point.spec.rw.reads();
        let wide = random().filter(reads).max_by_key(span);
        let in_turn = points.iter().filter(reads).find(|evidence| {
            alone(evidence, false)
                && evidence.point.spec.block_size_bytes == narrow.point.spec.block_size_bytes
        });
        let wide = wide.filter(|wide| span(wide) > span(&narrow));
        wide.is_some().then_some(Self { narrow, wide, in_turn })
    }

    /// The rotation period, or that there is none, or why it is inconclusive.
    pub(super) fn turn(&self) -> Result<Turn, Inconclusive> {
        let spec = &self.narrow.point.spec;
        let op = group::only_direction(spec.rw).unwrap_or(Op::Read);
        group::valid(self.narrow, &[About::Latency])?;
        let trials = pooled::latencies(self.narrow, op);
        let whole = pooled::merged(trials.iter().copied());
        let (Some(line), Some(median_ns)) = (line(&whole), whole.quantile_ns(0.5)) else {
            return Err(PlatterProblem::NothingMeasured { spec: Box::new(spec.clone()) }.into());
        };
        let spread = (TO - FROM) * line.turn_ns / median_ns;
        if is_still(&whole, line, median_ns) {
            self.nothing_travels()?;
            return Ok(Turn::Still { spread });
        }
        if line.bent > BENT {
            return Err(PlatterProblem::Uneven { spec: Box::new(spec.clone()), miss: line.bent }.into());
        }
        if whole.total() < FEWEST_REQUESTS {
            let (requests, needed) = (whole.total(), FEWEST_REQUESTS);
            return Err(PlatterProblem::FewRequests { requests, needed }.into());
        }
        let turn = pooled::jackknife(&trials, |histogram| self::line(histogram).map(|line| line.turn_ns));
        let least = OF_ONE_WAIT / (whole.total() as f64).sqrt();
        let turn = turn.map(|turn| Estimated {
            standard_error: turn.standard_error.max(least * turn.value).hypot(FLATTENED * turn.value / 2.0),
            ..turn
        });
        turn.map(Turn::Found).ok_or_else(|| Inconclusive::NoInterval { spec: Box::new(spec.clone()) })
    }

    /// A cache may answer what is asked within a narrow part. That nothing turns must be seen in the widest part too.
    fn nothing_travels(&self) -> Result<(), Inconclusive> {
        let Some(wide) = self.wide else { return Ok(()) };
        group::valid(wide, &[About::Latency])?;
        let whole = pooled::merged(pooled::latencies(wide, Op::Read));
        let (Some(line), Some(median_ns)) = (line(&whole), whole.quantile_ns(0.5)) else {
            let spec = Box::new(wide.point.spec.clone());
            return Err(PlatterProblem::NothingMeasured { spec }.into());
        };
        let soon = whole.quantile_ns(NEARLY_ALL).is_some_and(|most| most < FASTEST_TURN_NS / 2.0);
        if soon || is_still(&whole, line, median_ns) {
            return Ok(());
        }
        let spec = Box::new(wide.point.spec.clone());
        Err(PlatterProblem::OnlyNarrowIsStill { spec, median_ns }.into())
    }
}

/// Half a turn is the least that a request to a random address waits on average; what lies closer together than that
/// waits for something else. Nor do waits for a platter bend and begin late: of those, some are over at once.
fn is_still(latencies: &Histogram, line: Line, median_ns: f64) -> bool {
    let begins_late = latencies.quantile_ns(FROM).is_some_and(|early| early > LATE * median_ns);
    line.turn_ns < 0.5 * median_ns || (line.bent > BENT && begins_late)
}

/// The mean latency of a point's trials without what lies far out.
pub(super) fn mean(evidence: &Evidence) -> Result<Estimated, Inconclusive> {
    group::valid(evidence, &[About::Latency])?;
    let op = group::only_direction(evidence.point.spec.rw).unwrap_or(Op::Read);
    let trials = pooled::latencies(evidence, op);
    let mean = pooled::jackknife(&trials, without_far_out)
        .ok_or_else(|| Inconclusive::NoInterval { spec: Box::new(evidence.point.spec.clone()) })?;
    // As for a turn: no better than independent requests.
    let whole = pooled::merged(trials.iter().copied());
    let spread = whole.quantile_ns(0.9).zip(whole.quantile_ns(0.1)).map_or(0.0, |(high, low)| high - low);
    // Between the 10th and the 90th percentile lie 2.77 standard deviations of an even spread.
    let least = spread / 2.77 / (whole.total() as f64).sqrt();
    Ok(Estimated { standard_error: mean.standard_error.max(least), ..mean })
}

fn without_far_out(histogram: &Histogram) -> Option<f64> {
    pooled::mean_within(histogram, FAR_OUT)
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Point, Rw, Trial};
    use iosonde_testkit::specimen;

    use super::*;

    /// Five trials of one kind of request.
    fn trials(rw: Rw, span_bytes: u64, latencies: impl Fn(u32) -> f64) -> (Point, Vec<Trial>) {
        let mut trial = specimen::healthy(rw, 4096, 1, 1000);
        trial.spec.span_bytes = span_bytes;
        let direction = if rw.reads() { &mut trial.read } else { &mut trial.write };
        direction.as_mut().unwrap().histogram = histogram((0..1000).map(latencies));
        (Point::planned(0, "disk", trial.spec.clone()), vec![trial; 5])
    }

    fn turn(narrow: &(Point, Vec<Trial>), wide: &(Point, Vec<Trial>)) -> Result<Turn, Inconclusive> {
        let evidence = |(point, trials): &'static (Point, Vec<Trial>)| {
            let (trials, void) = (trials.iter().collect(), vec![None; 5]);
            Evidence { point, trials, void, read: None, write: None }
        };
        let points = [narrow, wide].map(|one| evidence(Box::leak(Box::new(one.clone()))));
        Sweep::of(&points).expect("two spans").turn()
    }

    #[test]
    fn a_cache_before_the_narrow_part_is_no_storage_without_a_platter() {
        // An arm that takes 1 to 16 ms, and a turn of 8.3 ms.
        let travels = |nth: u32| 1e6 + f64::from(nth % 40) * 4e5 + f64::from(nth / 40) * 3.3e5;
        let soon = |nth: u32| 60_000.0 + f64::from(nth % 100) * 50.0;
        let narrow = trials(Rw::RandRead, 64 << 20, soon);
        let Err(why) = turn(&narrow, &trials(Rw::RandRead, 1 << 40, travels)) else { panic!("a disk") };
        let narrow_only = matches!(why, Inconclusive::Platter(PlatterProblem::OnlyNarrowIsStill { .. }));
        assert!(narrow_only, "{why:?}");
        let still = |turn| matches!(turn, Ok(Turn::Still { .. }));
        assert!(still(turn(&narrow, &trials(Rw::RandRead, 1 << 40, soon))));
        // Durable writes take longer than reads; a cache in front of some reads is no platter either.
        let programmed = trials(Rw::RandWrite, 64 << 20, |nth| 600_000.0 + f64::from(nth % 100) * 300.0);
        let some_cached = |nth: u32| if nth.is_multiple_of(3) { 8_000.0 } else { soon(nth) };
        assert!(still(turn(&programmed, &trials(Rw::RandRead, 1 << 40, some_cached))));
    }

    fn histogram(values: impl Iterator<Item = f64>) -> Histogram {
        let mut histogram = Histogram::new();
        values.for_each(|value| histogram.record(value as u64));
        histogram
    }

    #[test]
    fn even_waits_lie_on_a_line_of_one_turn() {
        // 0.7 ms and anything up to 8.333 ms.
        let even = histogram((0..5000).map(|i| 700_000.0 + 8_333_333.0 * (f64::from(i) + 0.5) / 5000.0));
        let line = line(&even).unwrap();
        assert!((line.turn_ns / 8_333_333.0 - 1.0).abs() < 0.003, "{line:?}");
        assert!((line.at_once_ns - 700_000.0).abs() < 20_000.0 && line.bent < 0.01, "{line:?}");
    }

    #[test]
    fn other_spreads_are_bent() {
        // Exponential: -ln(1 - q).
        let waits = histogram((0..5000).map(|i| -1e6 * (1.0 - (f64::from(i) + 0.5) / 5000.0).ln()));
        assert!(line(&waits).unwrap().bent > 2.0 * BENT);
        assert_eq!(line(&Histogram::new()), None);
    }

    #[test]
    fn what_lies_far_out_does_not_move_the_mean() {
        let mut all = histogram((0..1000).map(|i| 1e6 + f64::from(i)));
        all.record(1_000_000_000);
        assert!((without_far_out(&all).unwrap() / 1_000_500.0 - 1.0).abs() < 0.003);
    }
}
