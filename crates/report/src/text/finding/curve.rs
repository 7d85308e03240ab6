//! Words of findings about the course of a curve.

use crate::text::{
    case::capitalised,
    number::with_interval,
    workload::{reads_and_writes, workload_at},
};
use iosonde_infer::finding::effect::MARGIN;
use iosonde_model::{
    Finding, Op, Unit,
    detail::{Crossover, CurveFigure, CurveShape, FeatureKind, Lead, RoomForFeature, UnsureFeature},
};

use super::{
    effect::{at, level, margin},
    value::value,
};

pub(super) fn shape_sentence(finding: &Finding, shape: &CurveShape) -> String {
    let (CurveShape::Smooth { figure, .. } | CurveShape::Feature { figure, .. }) = shape;
    let mut what = workload_at(&finding.conditions);
    if *figure == CurveFigure::Latency {
        what = format!("mean latency of {what} in a mix");
    }
    let said = match shape {
        CurveShape::Smooth { lowest, highest, room, .. } => {
            let largest = margin((room - 1.0).max(MARGIN));
            format!("no dip, peak or step above {largest} from {} to {}", level(*lowest), level(*highest))
        }
        CurveShape::Feature { kind, at: place, before, after, .. } => {
            let name = match kind {
                FeatureKind::Dip => "dip",
                FeatureKind::Peak => "peak",
                FeatureKind::Step => "lasting fall",
            };
            let of = match after {
                Some(after) => format!("the nearer of {} and {}", level(*before), level(*after)),
                None => level(*before),
            };
            format!("{name} {}, {} the {} of {of}", at(*place), value(finding), figure_name(*figure))
        }
    };
    capitalised(&format!("{what}: {said}."))
}

pub(super) fn shape_why(shape: &CurveShape) -> String {
    match shape {
        CurveShape::Smooth { levels, .. } => {
            format!(
                "None of {levels} levels is seen to differ from both neighbours by more than {}.",
                margin(MARGIN)
            )
        }
        CurveShape::Feature { others, levels, .. } => {
            let more = if *others > 0 { format!(" Further features: {others}.") } else { String::new() };
            format!("The intervals exclude 1 on both sides, over all {levels} levels together.{more}")
        }
    }
}

fn figure_name(figure: CurveFigure) -> &'static str {
    match figure {
        CurveFigure::Throughput => "throughput",
        CurveFigure::Latency => "mean latency",
    }
}

pub(super) fn unsure(feature: &UnsureFeature) -> String {
    format!(
        "{} {} is {} that of the nearer neighbour, which may be chance; use a longer `--time`",
        figure_name(feature.figure),
        at(feature.at),
        with_interval(Unit::Ratio, &feature.ratio)
    )
}

pub(super) fn room(room: &RoomForFeature) -> String {
    let height = match room.factor < 100.0 {
        true => format!("of up to {:.1} times", room.factor),
        false => "of any height".to_owned(),
    };
    format!("a dip or peak {height} {} is within the intervals; use a longer `--time`", at(room.at))
}

/// The other direction.
fn other(op: Op) -> Op {
    if op == Op::Read { Op::Write } else { Op::Read }
}

pub(super) fn crossover_sentence(finding: &Finding, facts: &Crossover) -> String {
    let said = match facts {
        Crossover::At { faster_below, .. } => format!(
            "equal throughput at {}; below it {faster_below}s are faster, above it {}s",
            value(finding),
            other(*faster_below)
        ),
        Crossover::Never { lowest, highest, lead } => {
            let lead = match lead {
                Lead::Equal => format!("throughput is equal within {}", margin(MARGIN)),
                Lead::NoneSeen => format!("any difference is below {}", margin(2.0 * MARGIN)),
                Lead::Always(op) => format!("{op}s are faster throughout"),
                Lead::NeverSlower(op) => format!("{op}s are never slower"),
            };
            format!("no crossover from {} to {}; {lead}", level(*lowest), level(*highest))
        }
    };
    capitalised(&format!("{}: {said}.", reads_and_writes(&finding.conditions)))
}

pub(super) fn crossover_why(facts: &Crossover) -> String {
    match facts {
        Crossover::At { narrowed: true, .. } => {
            "The interval holds the crossings of lines through neighbouring levels; it assumes no second bend there."
        }
        Crossover::At { narrowed: false, .. } => {
            "The interval lies between two measured levels, each with a sure leader; levels in between would narrow it."
        }
        Crossover::Never { .. } => "The intervals hold at all levels together.",
    }
    .to_owned()
}
