//! Throughput against latency, one dot per queue depth: the gain and the cost of a deeper queue.
//!
//! The curve runs to the right while part of the storage is idle, then turns up: from there on another outstanding
//! request only waits. By Little's law the corner of the two limits, the highest throughput and the single-request
//! latency, is a queue depth: the saturation point. The dashed curve joins every throughput and latency with that
//! product; its band is the interval. Without a saturation point there is no curve, and the caption says why.

use crate::{
    figure::{Along, Axis, Curve, Dot, DotSeries, Figure, FindingMark, Tone, decimal_ticks},
    quantity::Quantity,
    text::{
        number::{Style, at_least, with_interval},
        result_table::held_by_limit,
    },
};
use iosonde_model::{About, Estimate, Finding, FindingName, Named, Op, Point, Run, Status, Unit};

use super::{
    Chart,
    pick::{self, Doubts, Family, MEAN, RATE},
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
        let mut series: Vec<DotSeries> = Vec::new();
        for family in &families {
            let tone = Tone::of(family.op, false);
            let dots = curve(family, &doubts);
            let size = iosonde_model::units::size(family.spec().block_size_bytes);
            series.push(DotSeries {
                name: format!("{size} {}", family.pattern()),
                tone,
                joined: true,
                dots,
                ..DotSeries::default()
            });
        }
        let lead = families.iter().find(|family| family.op == Op::Read).or(families.first())?;
        let rates: Vec<Vec<f64>> = series.iter().map(|one| pick::places(std::slice::from_ref(one))).collect();
        let x = Axis::of_series("requests completed per second", Quantity::Iops, &rates);
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
            title: "Which queue depth saturates the storage?".into(),
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

/// How the dots are read, and what the dashed lines are where there are any.
fn reading(run: &Run, families: &[Family], curves: &[Curve]) -> String {
    let mut reading =
        "Each dot is a queue depth, written beside it. Right is higher throughput, up is higher latency."
            .to_owned();
    if !curves.is_empty() {
        reading += " Dashed: the queue depth (throughput × latency) of the knee; above it, a further request \
                    mostly waits.";
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
    // Where no figure is one of the storage, the first line of the page says so and why.
    let known = iosonde_infer::validity::validity(run).fatal.is_none();
    for why in families.iter().filter(|_| known).filter_map(refused) {
        reading = format!("{reading} {why}");
    }
    reading
}

/// The highest rates, upright, and the latency of one request of the first family, level.
fn limits(run: &Run, families: &[Family], lead: &Family) -> Vec<FindingMark> {
    let most = families.iter().filter_map(|family| {
        let found = pick::finding(run, FindingName::MaxIops, family)?;
        // The deepest point is no limit where throughput was still rising.
        let rising = found.at_least;
        let bound = if rising { "at least" } else { "highest" };
        let (words, tone) = (format!("{}s: {bound}", family.op), Tone::of(family.op, false));
        let mark = pick::mark(found, Along::X, &words, tone)?;
        let told = Estimate { value: mark.at, low: found.low, high: found.high };
        let label = match rising {
            true if told.is_vague() => format!("{}s: {}", family.op, at_least(Unit::Iops, &told)),
            true => return Some(mark),
            // With its interval: the highest of several noisy depths is expected to be less than it measured.
            false => {
                let limit = held_by_limit(run, found).map(|figure| figure.in_words());
                format!(
                    "{}s: highest {}",
                    family.op,
                    limit.unwrap_or_else(|| with_interval(Unit::Iops, &told))
                )
            }
        };
        Some(FindingMark { label, ..mark })
    });
    let alone = pick::finding(run, FindingName::BaseLatency, lead);
    let words = format!("{} at QD 1:", lead.op);
    let alone = alone.and_then(|found| pick::mark(found, Along::Y, &words, Tone::Neutral));
    most.chain(alone).collect()
}

/// Throughputs and latencies whose product is the saturation point: latency = depth / throughput.
fn knee(run: &Run, family: &Family, x: &Axis, y: &Axis) -> Option<Curve> {
    let finding = pick::finding(run, FindingName::QueueDepthKnee, family)?;
    let in_flight = finding.value?;
    let law = |in_flight: f64| -> Vec<(f64, f64)> {
        // 48 steps: smooth at any size a screen has.
        let latencies = (0..=48).map(|step| y.low * (y.high / y.low).powf(f64::from(step) / 48.0));
        latencies
            .map(|ns| (in_flight * 1e9 / ns, ns))
            .filter(|(rate, _)| (x.low..=x.high).contains(rate))
            .collect()
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
    let at = with_interval(
        Style::bare(Unit::InFlight),
        &Estimate { value: in_flight, low: finding.low, high: finding.high },
    );
    let (name, tone) = (format!("{}s: knee at QD {at}", family.op), Tone::of(family.op, false));
    Some(Curve { name, tone, points: law(in_flight), band })
}
