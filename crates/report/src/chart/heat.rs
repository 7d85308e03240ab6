//! Stride against block size as a heat map: where in the plane the rate changes. Of one block size there is no plane:
//! its rates stand over the strides as a line.

use iosonde_model::{About, Estimate, FindingName, Op, Point, Run, units};

use super::pick::{self, Doubts, THROUGHPUT};
use crate::figure::{Axis, Dot, DotSeries, Figure, HeatCell, Tone};
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
    if rows.len() == 1 {
        return line(run, name, op, &points);
    }
    let doubts = Doubts::about(run, &[About::Rate]);
    let all: Vec<f64> =
        points.iter().filter_map(|point| Some(point.direction(op)?.bytes_per_s.value)).collect();
    let (least, most) = (all.iter().copied().reduce(f64::min)?, all.iter().copied().reduce(f64::max)?);
    let cell = |point: &&Point| {
        let estimate = point.direction(op)?.bytes_per_s;
        let judged = doubts.of(point);
        // By ratio, like the axes: a factor of two is the same step of shade everywhere.
        let shade =
            if most / least > 1.02 { (estimate.value / least).ln() / (most / least).ln() } else { 0.5 };
        Some(HeatCell {
            column: columns.iter().position(|&bytes| Some(bytes) == point.spec.stride_bytes)?,
            row: rows.iter().position(|&bytes| bytes == point.spec.block_size_bytes)?,
            value: estimate.value,
            interval: pick::interval(estimate),
            shade,
            label: short(&estimate),
            tip: pick::tip(point, &[pick::line(THROUGHPUT, estimate)], judged),
            standing: judged.0,
        })
    };
    let cells: Vec<HeatCell> = points.iter().filter_map(cell).collect();
    let names = |bytes: &[u64]| bytes.iter().map(|&bytes| units::size(bytes)).collect();
    let held = pick::in_flight(lead.spec.asked_in_flight());
    Some(Figure {
        name: name.into(),
        title: format!("Does it matter how far apart {op}s are?"),
        answer: pick::sentences(run, &[FindingName::StrideEffect]),
        reading: format!(
            "The darker a field, the higher its throughput, by ratio: from {} to {}. A row of one shade says that the \
             distance does not matter.",
            Quantity::BytesPerSecond.text(least),
            Quantity::BytesPerSecond.text(most)
        ),
        experiment: Some(lead.experiment.clone()),
        x: Axis::places(
            &format!("from the beginning of one {op} to that of the next, {held}"),
            names(&columns),
        ),
        y: Axis::places("block size", names(&rows)),
        cells,
        cells_are: Some(("throughput", Quantity::BytesPerSecond)),
        ..Figure::default()
    })
}

/// The text of a field, which is small: at most three digits; the interval is in the table.
fn short(estimate: &Estimate) -> String {
    Quantity::BytesPerSecond.text(estimate.value)
}

/// Throughput over strides, of one block size.
fn line(run: &Run, name: &str, op: Op, points: &[&Point]) -> Option<Figure> {
    let doubts = Doubts::about(run, &[About::Rate]);
    let lead = points.first()?;
    let dot = |point: &&Point| {
        let estimate = point.direction(op)?.bytes_per_s;
        let judged = doubts.of(point);
        Some(Dot {
            x: point.spec.stride_bytes? as f64,
            y: estimate.value,
            x_interval: None,
            y_interval: pick::interval(estimate),
            label: None,
            tip: pick::tip(point, &[pick::line(THROUGHPUT, estimate)], judged),
            standing: judged.0,
        })
    };
    let mut dots: Vec<Dot> = points.iter().filter_map(dot).collect();
    dots.sort_by(|a, b| a.x.total_cmp(&b.x));
    let size = units::size(lead.spec.block_size_bytes);
    let (name_of, tone) = (format!("{size} {op}s"), Tone::of(op, false));
    let series = vec![DotSeries { name: name_of, tone, joined: true, dots, ..DotSeries::default() }];
    let strides = pick::grid(&series);
    let held = pick::in_flight(lead.spec.asked_in_flight());
    let label = format!("from the beginning of one {op} to that of the next, {held}");
    Some(Figure {
        name: name.into(),
        title: format!("Does it matter how far apart {op}s are?"),
        answer: pick::sentences(run, &[FindingName::StrideEffect]),
        reading: "A level line says that the distance does not matter.".into(),
        experiment: Some(lead.experiment.clone()),
        x: Axis::log(&label, Quantity::Bytes, &strides, &strides),
        y: Axis::fitting("throughput", Quantity::BytesPerSecond, &pick::heights(&series)),
        series,
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
