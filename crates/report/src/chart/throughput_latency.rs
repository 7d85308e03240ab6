//! Throughput against latency, one dot for each number of requests in flight: what more of them buy, and what
//! they cost.
//!
//! The curve runs to the right while the storage still has something idle, then turns up: from there on
//! another request in flight only waits. By Little's law the corner of the two limits, the highest rate and
//! the latency of one request alone, is a number of requests in flight: the knee. The thin curve joins every
//! rate and latency with that product; its band is the knee's interval.

use iosonde_model::{About, Estimate, Named, Op, Point, Run};

use super::Chart;
use super::pick::{self, Doubts, Family, MEAN, RATE};
use crate::figure::{Along, Axis, Curve, Dot, Figure, Mark, Series, Tone, decimal_ticks};
use crate::quantity::Quantity;

/// The chart.
pub struct ThroughputLatency;

impl Named for ThroughputLatency {
    fn name(&self) -> &'static str {
        "throughput-latency"
    }
}

impl Chart for ThroughputLatency {
    fn draw(&self, run: &Run) -> Option<Figure> {
        let families = pick::one_of_each(pick::by_depth(run));
        let doubts = Doubts::about(run, &[About::Rate, About::Latency]);
        let mut series: Vec<Series> = Vec::new();
        for family in &families {
            let tone = Tone::of(family.op, false);
            let dots = curve(family, &doubts);
            let size = iosonde_model::units::size(family.spec().block_size_bytes);
            series.push(Series {
                name: format!("{size} {}", family.pattern()),
                tone,
                joined: true,
                dots,
                ..Series::default()
            });
        }
        let lead = families.iter().find(|family| family.op == Op::Read).or(families.first())?;
        let x = Axis::from_zero("requests completed per second", Quantity::Iops, &pick::places(&series));
        let mut heights = pick::heights(&series);
        // Room for the number beside the highest dot.
        heights.extend(heights.iter().copied().reduce(f64::max).map(|highest| highest * 1.2));
        let y = Axis::log("mean latency", Quantity::Nanoseconds, &heights, &decimal_ticks(&heights));
        let marks = limits(run, lead);
        let curves = knee(run, lead, &x, &y).into_iter().collect();
        let names = ["queue_depth_knee", "depth_for_95_percent"];
        let reading = "Each dot is a number of requests in flight, written beside it: to the right is more a \
                       second, upwards a longer wait. The broken line joins all rates and latencies that \
                       make up the knee; beyond it, more in flight is mostly more waiting.";
        Some(Figure {
            name: self.name().into(),
            title: "How many requests should be in flight?".into(),
            answer: pick::sentences_of(run, &names, &families),
            reading: reading.into(),
            experiment: lead.experiment(run),
            also: pick::experiments(run, &families),
            x,
            y,
            series,
            marks,
            curves,
            ..Figure::default()
        })
    }
}

fn curve(family: &Family, doubts: &Doubts) -> Vec<Dot> {
    family.points.iter().filter_map(|point| dot(point, family.op, doubts)).collect()
}

fn dot(point: &Point, op: Op, doubts: &Doubts) -> Option<Dot> {
    let direction = point.direction(op)?;
    let (rate, mean): (Estimate, Estimate) = (direction.iops, direction.latency_ns_mean?);
    let (standing, why) = doubts.of(point);
    let mut figures = vec![pick::line(RATE, rate), pick::line(MEAN, mean)];
    figures.extend(direction.latency_ns_p99.map(|p99| pick::line(pick::P99, p99)));
    Some(Dot {
        x: rate.value,
        y: mean.value,
        x_interval: pick::interval(rate),
        y_interval: pick::interval(mean),
        label: Some(point.spec.asked_in_flight().to_string()),
        tip: pick::tip(point, &figures, why),
        standing,
    })
}

fn limits(run: &Run, lead: &Family) -> Vec<Mark> {
    let found = |name| pick::finding(run, name, lead.op, lead.spec());
    let most = found("max_iops").and_then(|f| pick::mark(f, Along::X, "at most", Tone::Neutral));
    let alone = found("base_latency").and_then(|f| pick::mark(f, Along::Y, "one alone", Tone::Neutral));
    most.into_iter().chain(alone).collect()
}

/// Rates and latencies whose product is the knee: latency = in flight / rate.
fn knee(run: &Run, lead: &Family, x: &Axis, y: &Axis) -> Option<Curve> {
    let finding = pick::finding(run, "queue_depth_knee", lead.op, lead.spec())?;
    let in_flight = finding.value?;
    let law = |in_flight: f64| -> Vec<(f64, f64)> {
        // 48 steps: smooth at any size a screen has.
        let latencies = (0..=48).map(|step| y.low * (y.high / y.low).powf(f64::from(step) / 48.0));
        latencies.map(|ns| (in_flight * 1e9 / ns, ns)).filter(|(rate, _)| *rate <= x.high).collect()
    };
    let band = finding.low.zip(finding.high).map_or_else(Vec::new, |(low, high)| {
        let mut outline = law(low);
        // The lower curve meets the frame earlier: its end is carried along the frame to keep the outline
        // simple.
        let meet = |in_flight: f64| (x.high, (in_flight * 1e9 / x.high).clamp(y.low, y.high));
        outline.insert(0, meet(low));
        outline.insert(0, meet(high));
        outline.extend(law(high).into_iter().rev());
        outline
    });
    let name = format!("knee: {}", Quantity::InFlight.interval_text(in_flight, finding.low, finding.high));
    Some(Curve { name, tone: Tone::Law, points: law(in_flight), band })
}
