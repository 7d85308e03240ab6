//! Whether a curve has a dip, a peak or a step: a level that significantly differs from both of its neighbours.
//!
//! What it is: the place where the throughput over one parameter (queue depth, block size, stride, offset or mix)
//! contradicts its neighbours, and the throughput there over theirs. A *dip* lies below both, a *peak* above both.
//! A *step* is a fall after which everything stays below all that came before.
//!
//! How it is computed: every level inside the curve is compared with both neighbours, and every fall with all that
//! lies on its other side, with simultaneous intervals over all these comparisons (Bonferroni). A dip or peak
//! counts where both intervals exclude 1 and the interval of the nearer neighbour is not within 5 % of 1. The ratio
//! to the nearer neighbour is the value. Of several, the largest is given and the others are counted. Absent where
//! no level contradicts its neighbours by more than 5 %; the answer says how far one still may, within these
//! intervals. Inconclusive where one seems to and chance may be the cause, and where the intervals leave room for a
//! dip to half or a peak of double.
//!
//! Over the share of reads in a mix, the mean latency of reads and that of writes are looked at in the same way, each
//! for itself: a peak of latency at one mix is found, or refuted.
//!
//! Assumes: that all levels met the same storage, which the random order of trials within each round ensures. Over
//! block sizes bytes per second are compared, over everything else requests per second.
//!
//! What it is not: a cause. A stride at which all requests reach one unit makes a dip, and so does interference at
//! the wrong moment of a single run: measure again before relying on it.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    Conditions, Detail, Estimate, ExperimentName, Finding, FindingName, Inconclusive, Op, TrialSpec, Unit,
    detail::{CurveFigure, CurveShape, FeatureKind, Level, RoomForFeature, UnsureFeature},
};
use iosonde_stats::LogEstimate;

use super::{
    FindingKind, Proof, ScreenLine,
    effect::{self, MARGIN},
    group::{self, Writer},
};

pub(crate) struct Shape;

/// A parameter that a curve may run over.
struct Axis {
    blank: fn(&mut TrialSpec),
    level: fn(&TrialSpec) -> Level,
    /// Whether bytes are compared instead of requests.
    in_bytes: bool,
}

const AXES: [Axis; 5] = [
    Axis {
        blank: |spec| spec.queue_depth = 1,
        level: |spec| Level::QueueDepth(u64::from(spec.queue_depth)),
        in_bytes: false,
    },
    Axis {
        blank: |spec| spec.block_size_bytes = 1,
        level: |spec| Level::BlockSize(spec.block_size_bytes),
        in_bytes: true,
    },
    Axis {
        blank: |spec| spec.stride_bytes = None,
        level: |spec| Level::Stride(spec.stride_bytes.unwrap_or(spec.block_size_bytes)),
        in_bytes: false,
    },
    Axis {
        blank: |spec| spec.offset_bytes = 0,
        level: |spec| Level::Offset(spec.offset_bytes),
        in_bytes: false,
    },
    Axis { blank: as_mix, level: |spec| Level::ReadPercent(read_percent(spec)), in_bytes: false },
];

/// Minimum number of levels of a curve: one between two neighbours.
const LEVELS_MIN: usize = 3;

/// A curve whose intervals leave room for more than a dip to half or a peak of double is not called smooth.
const ROOM_MAX: f64 = 2.0;

fn as_mix(spec: &mut TrialSpec) {
    use iosonde_model::Rw;
    spec.rw = if spec.rw.is_random() { Rw::RandRw } else { Rw::Rw };
    spec.read_percent = None;
}

fn read_percent(spec: &TrialSpec) -> f64 {
    match (spec.rw.reads(), spec.rw.writes()) {
        (true, true) => spec.read_percent.unwrap_or(50.0),
        (reads, _) => f64::from(u8::from(reads)) * 100.0,
    }
}

/// A dip, peak or step, at a place among the levels.
#[derive(Debug, Clone, Copy)]
struct Feature {
    kind: FeatureKind,
    place: usize,
    /// Its rate over the nearer neighbour's.
    ratio: Estimate,
    sure: bool,
}

impl FindingKind for Shape {
    fn id(&self) -> FindingName {
        FindingName::Shape
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::BlockSize, ExperimentName::QueueDepth, ExperimentName::Mix, ExperimentName::Stride]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::alone("shape")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Ratio, confidence };
        let all =
            AXES.iter().flat_map(|axis| curves(axis, points).into_iter().map(move |curve| (axis, curve)));
        let of_curve = |(axis, curve): (&Axis, Vec<&Evidence>)| {
            let rates = curve.iter().map(|evidence| rate(axis, evidence)).collect();
            let mut found =
                vec![one(&writer, axis, &curve, CurveFigure::Throughput, conditions(&curve), rates)];
            found.extend(latencies(&writer, axis, &curve));
            found
        };
        all.flat_map(of_curve).collect()
    }

    fn proof(&self) -> Proof {
        Proof {
            device: r#"
name = "one-bad-stride"
summary = "eight units of flash, all of which a stride of 128 KiB brings down to one"
capacity = "4GiB"
[flash]
units = 8
stripe = "16KiB"
page = "16KiB"
mapping_unit = "4KiB"
read = "60us"
program = "600us"
erase = "3ms"
pages_per_block = 256
placement = "static"
[noise]
latency_cv = 0.02
rate_cv_100ms = 0.02
lag1_100ms = 0.5
"#,
            study: r#"
name = "strides"
question = "Is one stride worse than its neighbours?"
time = "60s"
size = "4GiB"
[[experiment]]
kind = "stride"
rw = "read"
block_size = "16k"
stride = ["80k", "112k", "128k", "144k", "176k"]
depth = 128
"#,
            truths: &[(
                Some(0.125),
                "strides of 5, 7, 9 and 11 stripes go round all 8 units, one of 8 stays on one: 1/8; a pass of 32,768 \
                 reads outlasts a trial of 0.7 s, or the next pass, one block further on, would keep two units busy",
            )],
            widest: 0.05,
        }
    }
}

/// The curves over a parameter: workloads that differ in it and in nothing else, in its order.
fn curves<'e, 'a>(axis: &Axis, points: &'e [Evidence<'a>]) -> Vec<Vec<&'e Evidence<'a>>> {
    let mut curves: Vec<(TrialSpec, Vec<&Evidence>)> = Vec::new();
    // A trim moves no bytes, and is no mix of reads and writes.
    let moves = |spec: &TrialSpec| spec.rate_iops.is_none() && (spec.rw.reads() || spec.rw.writes());
    for evidence in points.iter().filter(|evidence| moves(&evidence.point.spec)) {
        let mut alike = evidence.point.spec.clone();
        (axis.blank)(&mut alike);
        match curves.iter_mut().find(|(known, _)| *known == alike) {
            Some((_, members)) => members.push(evidence),
            None => curves.push((alike, vec![evidence])),
        }
    }
    let mut curves: Vec<Vec<&Evidence>> = curves.into_iter().map(|(_, members)| members).collect();
    let level = |evidence: &&Evidence| (axis.level)(&evidence.point.spec).value();
    curves.iter_mut().for_each(|members| members.sort_by(|a, b| level(a).total_cmp(&level(b))));
    curves.retain(|members| members.len() >= LEVELS_MIN);
    curves
}

/// Requests a second of both directions together. In a mix each has a fixed share, and the larger one is known
/// better.
fn rate(axis: &Axis, evidence: &Evidence) -> Result<LogEstimate, Inconclusive> {
    let spec = &evidence.point.spec;
    let reads = read_percent(spec) / 100.0;
    let (op, share) = if reads >= 0.5 { (Op::Read, reads) } else { (Op::Write, 1.0 - reads) };
    let requests = group::valid_rate(evidence, op, &[])?;
    let each = if axis.in_bytes { spec.block_size_bytes as f64 } else { 1.0 };
    Ok(LogEstimate { log_mean: requests.log_mean - share.ln() + each.ln(), ..requests })
}

/// The mean latency of each direction over a mix.
fn latencies(writer: &Writer, axis: &Axis, curve: &[&Evidence]) -> Vec<Finding> {
    if !curve.iter().any(|evidence| evidence.point.spec.rw.is_mixed()) {
        return Vec::new();
    }
    let of = |op: Op| {
        let has = |evidence: &&&Evidence| evidence.point.spec.rw.has(op);
        let own: Vec<&Evidence> = curve.iter().filter(has).copied().collect();
        let conditions = Conditions { op: Some(op), ..conditions(&own) };
        let values = own.iter().map(|evidence| group::valid_latency(evidence, op)).collect();
        (own.len() >= LEVELS_MIN).then(|| one(writer, axis, &own, CurveFigure::Latency, conditions, values))
    };
    [Op::Read, Op::Write].into_iter().filter_map(of).collect()
}

fn one(
    writer: &Writer,
    axis: &Axis,
    curve: &[&Evidence],
    figure: CurveFigure,
    conditions: Conditions,
    values: Result<Vec<LogEstimate>, Inconclusive>,
) -> Finding {
    let rates = match values {
        Ok(rates) => rates,
        Err(why) => return writer.inconclusive(&conditions, curve, why),
    };
    let features = features(&rates, writer.confidence);
    let at = |place: usize| (axis.level)(&curve[place].point.spec);
    let far = |feature: &&Feature| feature.ratio.value.ln().abs();
    let furthest = |sure: bool| {
        features.iter().filter(|feature| feature.sure == sure).max_by(|a, b| far(a).total_cmp(&far(b)))
    };
    if let Some(&Feature { kind, place, ratio, .. }) = furthest(true) {
        let detail = Detail::Shape(CurveShape::Feature {
            figure,
            kind,
            at: at(place),
            before: at(place - 1),
            after: (kind != FeatureKind::Step).then(|| at(place + 1)),
            others: features.iter().filter(|feature| feature.sure).count() - 1,
            levels: curve.len(),
        });
        return writer.concluded(&conditions, curve, ratio, detail);
    }
    if let Some(feature) = furthest(false) {
        let unsure = UnsureFeature { at: at(feature.place), figure, ratio: feature.ratio };
        return writer.inconclusive(&conditions, curve, Inconclusive::UnsureFeature(unsure));
    }
    let levels = curve.len();
    let rooms = (1..levels - 1).map(|place| (place, room(&rates, place, writer.confidence)));
    let (place, factor) = rooms.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, f64::INFINITY));
    if factor > ROOM_MAX {
        let room = RoomForFeature { at: at(place), figure, factor };
        return writer.inconclusive(&conditions, curve, Inconclusive::RoomForFeature(room));
    }
    let smooth = CurveShape::Smooth { figure, lowest: at(0), highest: at(levels - 1), levels, room: factor };
    writer.absent(&conditions, curve, Detail::Shape(smooth))
}

fn conditions(curve: &[&Evidence]) -> Conditions {
    let spec = &curve[0].point.spec;
    let same = |value: fn(&TrialSpec) -> u64| {
        curve.iter().all(|e| value(&e.point.spec) == value(spec)).then(|| value(spec))
    };
    let ops = || curve.iter().map(|evidence| group::only_direction(evidence.point.spec.rw));
    Conditions {
        op: ops().reduce(|a, b| if a == b { a } else { None }).flatten(),
        random: Some(spec.rw.is_random()),
        block_size_bytes: same(|spec| spec.block_size_bytes),
        queue_depth: same(|spec| spec.asked_in_flight()).map(|depth| depth as u32),
        ..Conditions::default()
    }
}

/// The largest factor by which a level may lie below or above both neighbours within the intervals.
fn room(rates: &[LogEstimate], place: usize, confidence: f64) -> f64 {
    let ratio = |neighbour: usize| {
        effect::ratio(rates[place], rates[neighbour], confidence, comparisons(rates.len()))
    };
    let sides = [ratio(place - 1), ratio(place + 1)];
    let least = |of: fn(&Estimate) -> Option<f64>| {
        sides.iter().map(|side| of(side).unwrap_or(f64::INFINITY)).fold(f64::INFINITY, f64::min)
    };
    least(|side| side.low.map(|low| 1.0 / low)).max(least(|side| side.high))
}

/// Comparisons of a curve: each inner level with two neighbours, and as many falls.
fn comparisons(levels: usize) -> usize {
    3 * (levels - 2) + 1
}

/// All levels that contradict their neighbours by more than the margin, significant or not.
fn features(rates: &[LogEstimate], confidence: f64) -> Vec<Feature> {
    let ratio = |over: usize, under: usize| {
        effect::ratio(rates[over], rates[under], confidence, comparisons(rates.len()))
    };
    let below = |ratio: &Estimate| ratio.high.is_some_and(|high| high < 1.0);
    let above = |ratio: &Estimate| ratio.low.is_some_and(|low| low > 1.0);
    let mut features = Vec::new();
    for place in 1..rates.len() - 1 {
        let sides = [ratio(place, place - 1), ratio(place, place + 1)];
        let nearer = if sides[0].value.ln().abs() < sides[1].value.ln().abs() { sides[0] } else { sides[1] };
        let (dips, peaks) =
            (sides.iter().all(|side| side.value < 1.0), sides.iter().all(|side| side.value > 1.0));
        let sure = if dips { sides.iter().all(below) } else { sides.iter().all(above) };
        if (dips || peaks) && beyond(&nearer, sure) {
            let kind = if dips { FeatureKind::Dip } else { FeatureKind::Peak };
            features.push(Feature { kind, place, ratio: nearer, sure });
        }
    }
    for place in 1..rates.len() {
        // The pair that comes closest to refuting it: the lowest before against the highest after.
        let lowest = (0..place).min_by(|a, b| rates[*a].log_mean.total_cmp(&rates[*b].log_mean));
        let highest = (place..rates.len()).max_by(|a, b| rates[*a].log_mean.total_cmp(&rates[*b].log_mean));
        let (Some(lowest), Some(highest)) = (lowest, highest) else { continue };
        let closest = ratio(highest, lowest);
        // One level before or after says nothing of staying.
        if place >= 2 && rates.len() - place >= 2 && below(&closest) && beyond(&closest, true) {
            features.push(Feature {
                kind: FeatureKind::Step,
                place,
                ratio: ratio(place, place - 1),
                sure: true,
            });
        }
    }
    // Where a step is followed by a level curve, its first level is no dip of its own; a sloping fall is one step.
    let steepest = features
        .iter()
        .filter(|feature| feature.kind == FeatureKind::Step)
        .min_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value))
        .copied();
    features.retain(|feature| feature.kind != FeatureKind::Step);
    features.extend(steepest);
    features
}

/// Whether a ratio matters: its interval is not within the margin, or, where nothing is significant, its value is not.
fn beyond(ratio: &Estimate, sure: bool) -> bool {
    let (low, high) = (1.0 / (1.0 + MARGIN), 1.0 + MARGIN);
    let within = |value: f64| value >= low && value <= high;
    match sure {
        true => !(ratio.low.is_some_and(within) && ratio.high.is_some_and(within)),
        false => !within(ratio.value),
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::Status;

    use super::*;
    use crate::testing::{Conclusions, Pretend};

    const DEPTHS: &str = "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"queue-depth\"";

    #[test]
    fn a_smooth_curve_has_no_shape_and_a_noisy_one_invents_none() {
        let exact = Pretend { cv: 0.005, ..Pretend::usual() };
        let found = &exact.conclusions(&Shape, DEPTHS, 1)[0];
        assert_eq!((found.len(), found[0].status), (1, Status::Absent));
        let (lowest, highest) = (Level::QueueDepth(1), Level::QueueDepth(1024));
        let Detail::Shape(CurveShape::Smooth { levels, room, .. }) = found[0].detail else {
            panic!("{found:?}")
        };
        let figure = CurveFigure::Throughput;
        let smooth = CurveShape::Smooth { figure, lowest, highest, levels, room };
        assert_eq!(found[0].detail, Detail::Shape(smooth));
        assert!(room > 1.0 && room < 1.05, "{room}");
        let noisy = Pretend { cv: 0.1, ..Pretend::usual() };
        let invented = noisy.conclusions(&Shape, DEPTHS, 400);
        let invented = invented.iter().filter(|found| found[0].status == Status::Found).count();
        assert!(invented <= 400 / 50, "{invented} of 400 dips and peaks that are not there");
    }

    #[test]
    fn trims_are_no_writes_of_a_mix() {
        use iosonde_model::{Point, Rw};
        use iosonde_testkit::specimen;
        let of = |(nth, rw): (usize, Rw)| Point::planned(nth, "x", specimen::healthy(rw, 4096, 8, 9).spec);
        let points: Vec<Point> =
            [Rw::RandRead, Rw::RandRw, Rw::RandTrim].into_iter().enumerate().map(of).collect();
        let bare = |point| Evidence { point, trials: vec![], void: vec![], read: None, write: None };
        let evidence: Vec<Evidence> = points.iter().map(bare).collect();
        assert!(Shape.conclude("x", &evidence, 0.95).is_empty(), "two levels are no curve");
    }

    fn features_of(rates: &[f64], error: f64) -> Vec<(FeatureKind, usize, bool)> {
        let rate = |rate: &f64| LogEstimate {
            log_mean: rate.ln(),
            standard_error: error,
            degrees_of_freedom: 100.0,
        };
        let rates: Vec<LogEstimate> = rates.iter().map(rate).collect();
        features(&rates, 0.95).iter().map(|one| (one.kind, one.place, one.sure)).collect()
    }

    #[test]
    fn intervals_leave_room_for_a_feature_that_is_not_seen() {
        let rate = |rate: f64, error: f64| LogEstimate {
            log_mean: rate.ln(),
            standard_error: error,
            degrees_of_freedom: 100.0,
        };
        let of = |rates: [f64; 3], error: f64| {
            let rates = rates.map(|value| rate(value, 0.01));
            let rates = [rates[0], LogEstimate { standard_error: error, ..rates[1] }, rates[2]];
            room(&rates, 1, 0.95)
        };
        assert!((1.0..1.06).contains(&of([100.0, 101.0, 100.0], 0.01)));
        assert!(of([100.0, 100.0, 100.0], 0.5) > 3.0, "the middle is known to a factor of three");
        // A rise to double on the way to fourfold leaves little room for either.
        assert!(of([100.0, 200.0, 400.0], 0.2) < 1.0);
    }

    #[test]
    fn dips_peaks_and_steps_are_told_apart_and_need_their_intervals() {
        assert_eq!(features_of(&[100.0, 100.0, 80.0, 100.0], 0.01), [(FeatureKind::Dip, 2, true)]);
        assert_eq!(features_of(&[100.0, 130.0, 101.0, 100.0], 0.01), [(FeatureKind::Peak, 1, true)]);
        assert_eq!(features_of(&[100.0, 101.0, 60.0, 60.0], 0.01), [(FeatureKind::Step, 2, true)]);
        assert_eq!(features_of(&[100.0, 98.0, 100.0], 0.001), [], "2 % is significant, and does not matter");
        assert_eq!(
            features_of(&[100.0, 90.0, 100.0], 0.05),
            [(FeatureKind::Dip, 1, false)],
            "chance may have done it"
        );
        assert_eq!(features_of(&[10.0, 20.0, 40.0, 41.0], 0.01), [], "a curve that rises and levels off");
        assert_eq!(features_of(&[100.0, 50.0], 0.01), [], "two levels have no inside");
    }
}
