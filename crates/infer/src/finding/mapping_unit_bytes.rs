//! The smallest piece that the storage can rewrite without reading first.
//!
//! What it is: the unit of a drive's mapping. A smaller write must be merged with the rest of its unit, which is
//! read for it. It therefore takes longer than a write of the whole unit.
//!
//! How it is computed: single durable writes of growing size, without those that met an erase or a retry (half as
//! long again as the median). Up to one unit their time does not grow, and falls where less of the unit must be
//! read; from one unit on it does not fall again. For each size the nearest curve is fitted that does not rise
//! before it and does not fall after it (isotonic regression by pooling neighbours: Barlow, Bartholomew, Bremner
//! and Brunk, 1972). The unit is the smallest size whose curve is not significantly farther from the points than
//! the nearest of all; the interval comes from a stricter and a laxer test.
//!
//! Where a buffer answers writes before they are flushed, it may begin with a full page sooner than with a part of
//! one. A fall by less than twice the time of its answer is therefore not accepted.
//!
//! Assumes: that a durable write is on the medium, so that no memory hides the reading. A kernel's page is read
//! first in the same way for buffered writes: those trials are not used. Where no fall is visible, the unit is no
//! larger than the smallest write, or something hides it, and the finding is inconclusive.
//!
//! Source: the read-modify-write of partial pages is described in Agrawal and others, Design Tradeoffs for SSD
//! Performance (2008).

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    About, Conditions, Detail, Estimate, ExperimentName, Finding, FindingName, Histogram, Inconclusive, Op,
    Sync, Trial, Unit,
    detail::{Lack, MappingUnit, MappingUnitProblem},
};
use iosonde_stats::{normal, pool_adjacent_violators};

use super::{
    FindingKind, Proof, ScreenLine,
    group::{self, Group, Writer},
    pooled,
};

/// Sizes that a fall must stand between.
const SIZES_MIN: usize = 4;
/// chi² by which a curve must be farther than the nearest to be excluded: 3.5 standard errors, since any of ten sizes
/// may seem to fall by chance (0.5 % for all).
const EXCLUDED: f64 = 12.0;
/// Stricter and laxer chi² limits, for the ends of the interval.
const SURELY_EXCLUDED: f64 = 20.0;
const HARDLY_EXCLUDED: f64 = 7.0;
/// Share of a buffer's answer by which it may begin earlier with one size than with another.
const EARLY: f64 = 0.5;
/// Multiple of the median: longer writes met an erase or a retry, of which some sizes have more than others by chance.
const USUAL: f64 = 1.5;
/// Buckets of a histogram are known to half of this.
const GRAIN: f64 = 2e-3;
/// A smaller fall may be the scatter that all points of a run share.
const FALL_MIN: f64 = 0.01;

pub(crate) struct MappingUnitBytes;

impl FindingKind for MappingUnitBytes {
    fn id(&self) -> FindingName {
        FindingName::MappingUnitBytes
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::Rewrite]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::always("rewritten")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Bytes, confidence };
        // A flush after several writes is no part of each. The time of a flush of its own belongs to every
        // size, so that sizes are compared within one way of being durable; conditions do not know of it.
        let ways = [Sync::Dsync, Sync::Fsync { every: 1 }, Sync::Fdatasync { every: 1 }];
        ways.iter().flat_map(|way| of_one_way(&writer, points, *way)).collect()
    }

    fn wants(&self) -> Option<Lack> {
        Some(Lack::DurableWrites)
    }

    fn proof(&self) -> Proof {
        Proof {
            device: r#"
name = "pieces"
summary = "flash that maps pieces of 8 KiB"
capacity = "16GiB"
[host]
request_cost = "2us"
[flash]
units = 8
stripe = "16KiB"
page = "16KiB"
mapping_unit = "8KiB"
read = "80us"
program = "600us"
erase = "3ms"
pages_per_block = 256
placement = "static"
[noise]
latency_cv = 0.03
rate_cv_100ms = 0.02
lag1_100ms = 0.6
"#,
            study: r#"
name = "pieces"
question = "How large are the pieces?"
time = "70s"
size = "4GiB"
[[experiment]]
kind = "rewrite"
block_size = "512..256k*2"
"#,
            truths: &[(Some(8192.0), "mapping_unit of 8 KiB")],
            widest: 0.01,
        }
    }
}

fn of_one_way(writer: &Writer, points: &[Evidence], way: Sync) -> Vec<Finding> {
    let mut groups = group::groups(points, |op, evidence| {
        let spec = &evidence.point.spec;
        let durable = spec.sync == way && spec.asked_in_flight() == 1;
        (op == Op::Write && spec.rw.is_random() && durable && spec.offset_bytes == 0).then(|| Conditions {
            op: Some(op),
            random: Some(true),
            queue_depth: Some(1),
            span_bytes: Some(spec.span_bytes),
            ..Conditions::default()
        })
    });
    groups.retain(|group| group.points.len() > 1);
    groups.iter().map(|group| one(writer, group)).collect()
}

/// A size, the logarithm of the time of a write, and its weight.
#[derive(Debug, Clone, Copy)]
struct Size {
    bytes: u64,
    log_time: f64,
    weight: f64,
    /// The time of the answer, where durability is waited for after it; 0 where the answer is what takes time.
    answered_ns: f64,
}

fn one(writer: &Writer, group: &Group) -> Finding {
    let mut points = group.points.clone();
    points.sort_by_key(|evidence| evidence.point.spec.block_size_bytes);
    let fall = sizes(&points, writer.confidence).and_then(|sizes| Ok(fall(&sizes)?));
    match fall {
        Ok(fall) => {
            let estimate = Estimate {
                value: fall.bytes as f64,
                low: Some(fall.low as f64),
                high: Some(fall.high as f64),
            };
            let facts = Detail::MappingUnit(MappingUnit { sizes: points.len(), longer: fall.longer });
            writer.concluded(&group.conditions, &points, estimate, facts)
        }
        Err(why) => writer.inconclusive(&group.conditions, &points, why),
    }
}

fn sizes(points: &[&Evidence], confidence: f64) -> Result<Vec<Size>, Inconclusive> {
    if let Some(buffered) = points.iter().find(|evidence| !evidence.point.spec.direct) {
        let spec = Box::new(buffered.point.spec.clone());
        return Err(MappingUnitProblem::Buffered { spec }.into());
    }
    points.iter().map(|evidence| size(evidence, confidence)).collect()
}

fn size(evidence: &Evidence, confidence: f64) -> Result<Size, Inconclusive> {
    group::valid(evidence, &[About::Latency])?;
    let trials: Vec<&Trial> = evidence.standing(About::Latency).collect();
    let log_time = pooled::leaving_one_out(&trials, |trials| {
        let of = |part: fn(&Trial) -> Option<&Histogram>| {
            let all = pooled::merged(trials.iter().filter_map(|trial| part(trial)));
            if all.total() == 0 { Some(0.0) } else { pooled::mean_within(&all, USUAL) }
        };
        let write = of(|trial| trial.write.as_ref().map(|write| &write.histogram))?;
        let flush = of(|trial| trial.flush.as_ref().map(|flush| &flush.histogram))?;
        (write > 0.0).then(|| (write + flush).ln())
    });
    let mean = |part: fn(&Trial) -> Option<f64>| trials.iter().find_map(|trial| part(trial)).unwrap_or(0.0);
    let write_ns = mean(|trial| trial.write.as_ref().and_then(|write| write.latency_ns.p50));
    let flush_ns = mean(|trial| trial.flush.as_ref().and_then(|flush| flush.latency_ns.p50));
    let Some(log_time) = log_time else {
        return Err(Inconclusive::NoInterval { spec: Box::new(evidence.point.spec.clone()) });
    };
    let answered_ns = if flush_ns > write_ns { write_ns } else { 0.0 };
    let early = EARLY * answered_ns / log_time.value.exp();
    let error = (log_time.half_width(confidence) / normal(confidence)).hypot(GRAIN).hypot(early);
    Ok(Size {
        bytes: evidence.point.spec.block_size_bytes,
        log_time: log_time.value,
        weight: error.powi(-2),
        answered_ns,
    })
}

/// Where the time falls.
#[derive(Debug, PartialEq)]
struct Fall {
    bytes: u64,
    low: u64,
    high: u64,
    /// Share by which smaller writes take longer.
    longer: f64,
}

fn fall(sizes: &[Size]) -> Result<Fall, MappingUnitProblem> {
    if sizes.len() < SIZES_MIN {
        return Err(MappingUnitProblem::FewSizes { sizes: sizes.len(), needed: SIZES_MIN });
    }
    let curve = |place: usize| {
        let (before, last) = monotone(sizes[..place].iter().map(|s| (-s.log_time, s.weight)));
        let (after, first) = monotone(sizes[place..].iter().rev().map(|s| (-s.log_time, s.weight)));
        (before + after, first - last)
    };
    let curves: Vec<(f64, f64)> = (0..sizes.len()).map(curve).collect();
    let nearest = curves.iter().map(|curve| curve.0).fold(f64::INFINITY, f64::min);
    // Where even the nearest misses the points by more than their errors, all misses weigh less.
    let stretch = (nearest / (sizes.len() - 2) as f64).max(1.0);
    let from =
        |excluded: f64| curves.iter().position(|curve| curve.0 <= nearest + excluded * stretch).unwrap_or(0);
    let place = from(EXCLUDED);
    if place == 0 {
        return Err(MappingUnitProblem::NoFall { smallest_bytes: sizes[0].bytes });
    }
    let height = curves[place].1;
    let fallen_ns = height.exp_m1() * sizes[place].log_time.exp();
    if height < FALL_MIN || fallen_ns < 2.0 * sizes[place].answered_ns {
        return Err(MappingUnitProblem::SmallFall { size_bytes: sizes[place].bytes, fall_ns: fallen_ns });
    }
    let (low, high) = (from(SURELY_EXCLUDED).max(1), from(HARDLY_EXCLUDED));
    Ok(Fall {
        bytes: sizes[place].bytes,
        low: sizes[low].bytes,
        high: sizes[high].bytes,
        longer: height.exp_m1(),
    })
}

/// The weighted sum of squares by which values miss the nearest sequence that does not fall, and its last member.
fn monotone(values: impl Iterator<Item = (f64, f64)>) -> (f64, f64) {
    let pools = pool_adjacent_violators(values);
    (pools.iter().map(|pool| pool.squares).sum(), pools.last().map_or(0.0, |pool| pool.mean))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times of writes where pieces of `piece` are read first (at a tenth of what programming takes), off by `error`.
    fn times(piece: u64, page: u64, error: impl Fn(usize) -> f64) -> Vec<Size> {
        let of = |(nth, bytes): (usize, u64)| {
            let pages = bytes.max(piece).div_ceil(page) as f64;
            let read = if bytes < piece { 0.1 * (pages - (bytes / page) as f64) } else { 0.0 };
            Size {
                bytes,
                log_time: (pages + read).ln() + error(nth),
                weight: 0.003f64.powi(-2),
                answered_ns: 0.0,
            }
        };
        (9..20).map(|power| 1u64 << power).enumerate().map(of).collect()
    }

    #[test]
    fn a_piece_is_found_whatever_the_page() {
        for piece in [1024, 4096, 16_384, 65_536] {
            for page in [4096, 16_384] {
                let found = fall(&times(piece, page, |nth| 0.002 * (nth % 3) as f64)).unwrap();
                assert_eq!(found.bytes, piece, "{page}: {found:?}");
                assert!(found.low <= piece && piece <= found.high, "{page}: {found:?}");
            }
        }
    }

    #[test]
    fn ways_of_being_durable_are_not_mixed() {
        use iosonde_judge::evidence::Evidence;
        use iosonde_model::{Point, Rw};
        use iosonde_testkit::specimen;
        // Larger ones were made with a flush of their own, which takes another time.
        let of = |(nth, power): (usize, u32)| {
            let mut trial = specimen::healthy(Rw::RandWrite, 1 << power, 1, 1000);
            trial.spec.sync = if power < 12 { Sync::Dsync } else { Sync::Fdatasync { every: 1 } };
            let trial: &'static Trial = Box::leak(Box::new(trial));
            let point: &'static Point =
                Box::leak(Box::new(Point::planned(nth, "rewrite", trial.spec.clone())));
            Evidence { point, trials: vec![trial; 5], void: vec![None; 5], read: None, write: None }
        };
        let points: Vec<Evidence> = (9..16).enumerate().map(of).collect();
        let said = MappingUnitBytes.conclude("rewrite", &points, 0.95);
        assert_eq!(said.len(), 2, "{said:?}");
        let few = MappingUnitProblem::FewSizes { sizes: 3, needed: 4 };
        assert_eq!(said[0].detail, Detail::Inconclusive(few.into()));
    }

    #[test]
    fn times_that_only_grow_show_no_piece() {
        let why = fall(&times(512, 16_384, |nth| 0.003 * (nth % 2) as f64));
        assert_eq!(why, Err(MappingUnitProblem::NoFall { smallest_bytes: 512 }));
        let few = fall(&times(4096, 4096, |_| 0.0)[..3]);
        assert_eq!(few, Err(MappingUnitProblem::FewSizes { sizes: 3, needed: 4 }));
    }
}
