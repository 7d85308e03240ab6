//! Stride against block size as a heat map: where in the plane the rate changes.

use iosonde_model::{About, Op, Point, Run, units};

use super::pick::{self, Doubts, THROUGHPUT};
use crate::figure::{Axis, Cell, Figure};
use crate::quantity::Quantity;

/// The map of one direction; the name is the chart's.
pub(super) fn strides(run: &Run, name: &str, op: Op) -> Option<Figure> {
    let points: Vec<&Point> = run.points.iter().filter(|point| is_strided(point, op)).collect();
    let lead = points.first()?;
    let (columns, rows) = (
        places(&points, |point| point.spec.stride_bytes.unwrap_or(0)),
        places(&points, |point| point.spec.block_size_bytes),
    );
    // Fewer strides than three are a sentence.
    if columns.len() < 3 {
        return None;
    }
    let doubts = Doubts::about(run, &[About::Rate]);
    let all: Vec<f64> =
        points.iter().filter_map(|point| Some(point.direction(op)?.bytes_per_s.value)).collect();
    let (least, most) = (all.iter().copied().reduce(f64::min)?, all.iter().copied().reduce(f64::max)?);
    let cell = |point: &&Point| {
        let estimate = point.direction(op)?.bytes_per_s;
        let (standing, why) = doubts.of(point);
        // By ratio, like the axes: a factor of two is the same step of shade everywhere.
        let shade =
            if most / least > 1.02 { (estimate.value / least).ln() / (most / least).ln() } else { 0.5 };
        Some(Cell {
            column: columns.iter().position(|&bytes| Some(bytes) == point.spec.stride_bytes)?,
            row: rows.iter().position(|&bytes| bytes == point.spec.block_size_bytes)?,
            value: estimate.value,
            interval: pick::interval(estimate),
            shade,
            label: Quantity::BytesPerSecond.earned_text(estimate.value, estimate.low, estimate.high),
            tip: pick::tip(point, &[pick::line(THROUGHPUT, estimate)], why),
            standing,
        })
    };
    let cells: Vec<Cell> = points.iter().filter_map(cell).collect();
    let names = |bytes: &[u64]| bytes.iter().map(|&bytes| units::size(bytes)).collect();
    let held = pick::in_flight(lead.spec.asked_in_flight());
    Some(Figure {
        name: name.into(),
        title: format!("Does it matter how far apart {op}s are?"),
        answer: pick::sentences(run, &["stride_effect"]),
        reading: "The darker a field, the higher its throughput, by ratio. A row of one shade says that the distance \
                  does not matter."
            .into(),
        experiment: Some(lead.experiment.clone()),
        x: Axis::places(&format!("from the beginning of one {op} to that of the next, {held}"), names(&columns)),
        y: Axis::places("block size", names(&rows)),
        cells,
        cells_are: Some(("throughput", Quantity::BytesPerSecond)),
        ..Figure::default()
    })
}

fn is_strided(point: &Point, op: Op) -> bool {
    let spec = &point.spec;
    spec.stride_bytes.is_some() && !spec.rw.is_mixed() && spec.rw.has(op) && point.direction(op).is_some()
}

fn places(points: &[&Point], of: fn(&Point) -> u64) -> Vec<u64> {
    let mut places: Vec<u64> = points.iter().map(|point| of(point)).collect();
    places.sort_unstable();
    places.dedup();
    places
}
