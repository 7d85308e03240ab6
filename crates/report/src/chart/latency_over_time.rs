//! Latency over the time of the longest trial: whether the slow requests come together.
//!
//! A percentile says how many wait long, not when. Median and 99th percentile of each window of the longest trial show
//! whether slow requests are spread evenly or come in fits, as when a buffer is full or a collector runs.

use iosonde_model::{Named, Op, Run, Trial};

use super::{Chart, course, pick};
use crate::figure::{Axis, Dot, DotSeries, DotStanding, Figure, Tone, decimal_ticks};
use crate::quantity::Quantity;

/// The chart.
pub struct LatencyOverTime;

/// Windows that make a course.
const WINDOWS_MIN: usize = 10;

impl Named for LatencyOverTime {
    fn name(&self) -> &'static str {
        "latency-over-time"
    }
}

impl Chart for LatencyOverTime {
    fn draw(&self, run: &Run) -> Option<Figure> {
        let longest = course::standing(run)
            .max_by(|a, b| windows_with_median(a).cmp(&windows_with_median(b)).then(b.id.cmp(&a.id)))?;
        if windows_with_median(longest) < WINDOWS_MIN {
            return None;
        }
        let mut series: Vec<DotSeries> = Vec::new();
        for op in Op::TRANSFERS {
            let median = course::latencies(longest, op, |window| window.latency_ns_p50);
            let tail = course::latencies(longest, op, |window| window.latency_ns_p99);
            series.extend(line(op, "median", false, &median));
            series.extend(line(op, "p99", true, &tail));
        }
        let heights = pick::heights(&series);
        Some(Figure {
            name: self.name().into(),
            title: "Do the slow ones come together?".into(),
            reading: format!(
                "Trial {}, the longest: {}. Each dot is a window of it; a percentile needs ten requests beyond it.",
                longest.id,
                longest.spec.describe()
            ),
            experiment: Some(longest.experiment.clone()),
            x: Axis::from_zero("time since the trial began", Quantity::Seconds, &pick::places(&series)),
            y: Axis::log("latency", Quantity::Nanoseconds, &heights, &decimal_ticks(&heights)),
            series,
            ..Figure::default()
        })
    }
}

/// Windows that tell a median.
fn windows_with_median(trial: &Trial) -> usize {
    let tells = |op| {
        trial.windows.iter().filter(|w| w.direction(op).is_some_and(|d| d.latency_ns_p50.is_some())).count()
    };
    Op::TRANSFERS.into_iter().map(tells).max().unwrap_or(0)
}

fn line(op: Op, words: &str, tail: bool, course: &[(f64, f64)]) -> Option<DotSeries> {
    let dot = |&(x, y): &(f64, f64)| Dot {
        x,
        y,
        x_interval: None,
        y_interval: None,
        label: None,
        tip: vec![format!("{op}s, {words}, after {x:.1} s"), Quantity::Nanoseconds.text(y)],
        standing: DotStanding::Stands,
    };
    (course.len() > 1).then(|| DotSeries {
        name: format!("{op}s, {words}"),
        tone: Tone::of(op, tail),
        joined: true,
        dots: course.iter().map(dot).collect(),
        ..DotSeries::default()
    })
}
