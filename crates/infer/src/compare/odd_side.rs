//! The odd one of many: a side that is slower or faster than all the others.
//!
//! In each round each side's trial of a workload is set against the median of the others' trials of the same round, so
//! that what disturbed all of them is in none of the ratios, and one bad side is in no other's reference. Of each
//! workload that gives a ratio with an interval; a side's ratio is their geometric mean, and its error counts the
//! workloads as wholly alike. With n sides each statement has the n-th part of what may be wrong (Bonferroni). One run
//! of each side: where its file lies, and how it differs from run to run, is not in the interval.

use std::collections::BTreeMap;

use iosonde_judge::estimate::Visit;
use iosonde_model::{ComparedFigure, Estimate, OddSide, OddSides, Op, ServedBy};
use iosonde_stats::{mixed_model::Row, robust::median};

use super::{
    in_turn::{means, valid_visits},
    like,
    side::{Question, Side},
};

/// Two sides differ from each other; from three on one of them may differ from the others.
const SIDES_MIN: usize = 3;

/// Each side against the others; `None` where fewer than three took turns, or they share no valid workload.
pub(super) fn odd_sides(sides: &[Side], question: &Question) -> Option<OddSides> {
    let [first, others @ ..] = sides else { return None };
    let single = sides.iter().all(|side| side.runs.len() == 1);
    let ids = &first.runs[0].info.in_turn_with;
    let in_turn = others.iter().all(|side| side.runs.iter().all(|run| ids.contains(&run.info.id)));
    let layers = question.over || others.iter().any(|side| side.runs[0].info.over.is_some());
    if sides.len() < SIDES_MIN || !single || !in_turn || layers || question.figure != ComparedFigure::Iops {
        return None;
    }
    let workloads = common_workloads(first, others);
    let visits: Vec<_> = sides.iter().map(|side| valid_visits(&side.runs[0])).collect();
    let confidence = 1.0 - (1.0 - question.confidence) / sides.len() as f64;
    let ratio = |place: usize| ratio(place, &visits, &workloads, confidence);
    let ratios: Option<Vec<Estimate>> = (0..sides.len()).map(ratio).collect();
    let (mut odd, mut others_within) = (Vec::new(), 0.0_f64);
    for (side, ratio) in sides.iter().zip(ratios?) {
        let (low, high) = ratio.low.zip(ratio.high)?;
        if low > 1.0 + question.margin || high < 1.0 / (1.0 + question.margin) {
            odd.push(OddSide { name: side.name.clone(), ratio });
        } else {
            others_within = others_within.max(high - 1.0).max(1.0 - low);
        }
    }
    odd.sort_by(|a, b| a.ratio.value.total_cmp(&b.ratio.value));
    let (sides, workloads) = (sides.len(), workloads.len());
    Some(OddSides { sides, workloads, odd, others_within, confidence: question.confidence })
}

/// A workload of all sides: the point's id in each, and the direction.
struct Workload {
    points: Vec<usize>,
    op: Op,
}

/// Those whose figures are about the storage on every side.
fn common_workloads(first: &Side, others: &[Side]) -> Vec<Workload> {
    let mut found: BTreeMap<(usize, Op), Vec<usize>> = BTreeMap::new();
    for (place, other) in others.iter().enumerate() {
        for line in like::lines(first, other, ComparedFigure::Iops).0 {
            if line.pair.is_none() || line.about != ServedBy::Storage {
                continue;
            }
            let points = found.entry((line.points[0], line.op)).or_insert_with(|| vec![line.points[0]]);
            if points.len() == place + 1 {
                points.push(line.points[1]);
            }
        }
    }
    let whole = found.into_iter().filter(|(_, points)| points.len() == others.len() + 1);
    whole.map(|((_, op), points)| Workload { points, op }).collect()
}

/// Geometric mean, over the workloads, of one side's throughput over the median of the others'.
fn ratio(
    place: usize,
    visits: &[BTreeMap<(usize, u32), Visit>],
    workloads: &[Workload],
    confidence: f64,
) -> Option<Estimate> {
    let mut rows = Vec::new();
    for (group, workload) in workloads.iter().enumerate() {
        let point = workload.points[place];
        for (&(_, round), visit) in visits[place].range((point, 0)..=(point, u32::MAX)) {
            let log = |side: usize| {
                let visit = visits[side].get(&(workload.points[side], round))?;
                visit.log_iops(workload.op)
            };
            let others: Vec<f64> = (0..visits.len()).filter(|&side| side != place).filter_map(log).collect();
            // The median of one or two is pulled by each of them.
            if let Some((own, reference)) = log(place).zip(median(&others))
                && others.len() + 1 >= SIDES_MIN
            {
                let (start_s, end_s) = (visit.start_s, visit.end_s);
                rows.push(Row { group, start_s, end_s, log_value: own - reference });
            }
        }
    }
    let told: Vec<_> = means(&rows, workloads.len()).into_iter().flatten().collect();
    if told.is_empty() {
        return None;
    }
    let mean = |of: &dyn Fn(&iosonde_stats::LogEstimate) -> f64| {
        told.iter().map(of).sum::<f64>() / told.len() as f64
    };
    let (log, half) = (mean(&|one| one.log_mean), mean(&|one| one.half_width(confidence)));
    Some(Estimate { value: log.exp(), low: Some((log - half).exp()), high: Some((log + half).exp()) })
}
