//! Throughput against latency, one dot for each number of requests in flight: what more of them buy, and what
//! they cost.
//!
//! The curve runs to the right while the storage still has something idle, then turns up: from there on
//! another request in flight only waits. By Little's law the corner of the two limits, the highest rate and
//! the latency of one request alone, is a number of requests in flight: the knee. The broken curve joins every
//! rate and latency with that product; its band is the knee's interval. Where no knee was found there is no curve, and
//! the words below the title say why.

use iosonde_infer::words::Unit;
use iosonde_infer::words::at_least;
use iosonde_infer::words::is_vague;
use iosonde_model::FindingName;
use iosonde_model::{About, Estimate, Finding, Named, Op, Point, Run, Status};

use super::{
    Chart,
    pick::{self, Doubts, Family, MEAN, RATE},
};
use crate::{
    figure::{Along, Axis, Curve, Dot, Figure, Mark, Series, Tone, decimal_ticks},
    quantity::Quantity,
};

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
        let doubts = Doubts::about(run, &[About::Rate, About::Latency, About::Depth]);
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
        let marks = limits(run, &families, lead);
        let curves: Vec<Curve> = families.iter().filter_map(|family| knee(run, family, &x, &y)).collect();
        let names = [FindingName::QueueDepthKnee, FindingName::DepthFor95Percent];
        let reading = reading(run, &families, &curves);
        Some(Figure {
            name: self.name().into(),
            title: "How many requests should be in flight?".into(),
            answer: pick::sentences_of(run, &names, &families),
            reading,
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
    let judged = doubts.of(point);
    let mut figures = vec![pick::line(RATE, rate), pick::line(MEAN, mean)];
    figures.extend(direction.latency_ns_p99.map(|p99| pick::line(pick::P99, p99)));
    Some(Dot {
        x: rate.value,
        y: mean.value,
        x_interval: pick::interval(rate),
        y_interval: pick::interval(mean),
        label: Some(point.spec.asked_in_flight().to_string()),
        tip: pick::tip(point, &figures, judged),
        standing: judged.0,
    })
}

/// How the dots are read, and what the broken lines are where there are any.
fn reading(run: &Run, families: &[Family], curves: &[Curve]) -> String {
    let mut reading =
        "Each dot is a number of requests in flight, written beside it: to the right is more a \
                       second, upwards a longer wait."
            .to_owned();
    if !curves.is_empty() {
        reading += " A broken line joins all rates and latencies that make up the knee; beyond it, more in flight is \
                    mostly more waiting.";
    }
    let refused = |family: &Family| {
        let about = |finding: &&Finding| {
            let conditions = &finding.conditions;
            finding.name == FindingName::QueueDepthKnee
                && finding.status == Status::Inconclusive
                && conditions.op == Some(family.op)
                && conditions.block_size_bytes == Some(family.spec().block_size_bytes)
        };
        let known = pick::finding(run, FindingName::QueueDepthKnee, family).is_some();
        run.findings.iter().find(about).filter(|_| !known).map(crate::text::sentence)
    };
    for why in families.iter().filter_map(refused) {
        reading = format!("{reading} {why}");
    }
    reading
}

/// The highest rates, upright, and the latency of one request of the first family, level.
fn limits(run: &Run, families: &[Family], lead: &Family) -> Vec<Mark> {
    let most = families.iter().filter_map(|family| {
        let found = pick::finding(run, FindingName::MaxIops, family)?;
        // The rate with the most in flight is no limit where it was still rising.
        let rising = found.at_least;
        let bound = if rising { "at least" } else { "at most" };
        let (words, tone) = (format!("{}s: {bound}", family.op), Tone::of(family.op, false));
        let mark = pick::mark(found, Along::X, &words, tone)?;
        let told = Estimate { value: mark.at, low: found.low, high: found.high };
        let label = format!("{}s: {}", family.op, at_least(Unit::Iops, &told));
        Some(if rising && is_vague(&told) { Mark { label, ..mark } } else { mark })
    });
    let alone = pick::finding(run, FindingName::BaseLatency, lead);
    let words = format!("one {} alone", lead.op);
    let alone = alone.and_then(|found| pick::mark(found, Along::Y, &words, Tone::Neutral));
    most.chain(alone).collect()
}

/// Rates and latencies whose product is the knee: latency = in flight / rate.
fn knee(run: &Run, family: &Family, x: &Axis, y: &Axis) -> Option<Curve> {
    let finding = pick::finding(run, FindingName::QueueDepthKnee, family)?;
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
    let at = Quantity::InFlight.interval_text(in_flight, finding.low, finding.high);
    let (name, tone) = (format!("{}s: knee {at}", family.op), Tone::of(family.op, false));
    Some(Curve { name, tone, points: law(in_flight), band })
}
