//! One picture: the points that were measured, and below them the interval that was found with the truth drawn in.

use std::fmt::Write;

use iosonde_lab::words::{Unit, with_interval};
use iosonde_model::{Estimate, Finding, Op, Point, Run, TrialSpec, units};

const WIDTH: f64 = 640.0;
const LEFT: f64 = 90.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 250.0;
const STRIP: f64 = 340.0;
const HEIGHT: f64 = 400.0;
const DATA: &str = "#2a6f97";
const TRUTH: &str = "#c1440e";

/// What points may differ in.
struct Axis {
    name: &'static str,
    of: fn(&TrialSpec) -> f64,
    bytes: bool,
}

const AXES: [Axis; 7] = [
    Axis { name: "stride", of: |s| s.stride_bytes.unwrap_or(0) as f64, bytes: true },
    Axis { name: "in flight", of: |s| s.asked_in_flight() as f64, bytes: false },
    Axis { name: "block size", of: |s| s.block_size_bytes as f64, bytes: true },
    Axis { name: "span", of: |s| s.span_bytes as f64, bytes: true },
    Axis { name: "requests a second offered", of: |s| s.rate_iops.unwrap_or(0.0), bytes: false },
    Axis { name: "share of reads, %", of: |s| s.read_percent.unwrap_or(0.0), bytes: false },
    Axis { name: "offset", of: |s| s.offset_bytes as f64, bytes: true },
];

/// A dot with its interval.
struct Dot {
    x: f64,
    y: f64,
    ends: Option<(f64, f64)>,
}

/// The whole picture.
pub fn svg(run: &Run, finding: &Finding, truth: f64, derivation: &str) -> String {
    let (dots, across, up) = dots(run, finding);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let device = run.trials.first().map_or("", |_| "measured on the simulated device that proves it");
    let _ = writeln!(out, "<text x=\"{LEFT}\" y=\"20\" font-weight=\"bold\">{}</text>", finding.name);
    let _ = writeln!(out, "<text x=\"{LEFT}\" y=\"36\" fill=\"#555\">{up}, {device}</text>");
    plot(&mut out, &dots, &across);
    strip(&mut out, finding, truth, derivation);
    out + "</svg>\n"
}

fn dots(run: &Run, finding: &Finding) -> (Vec<Dot>, Across, &'static str) {
    let op = finding.conditions.op.filter(|op| *op != Op::Flush).unwrap_or(Op::Read);
    let ids = |point: &&Point| {
        run.trials.iter().any(|trial| trial.point == Some(point.id) && finding.trials.contains(&trial.id))
    };
    let points: Vec<&Point> = run.points.iter().filter(ids).collect();
    let distinct = |axis: &Axis| {
        let mut values: Vec<f64> = points.iter().map(|point| (axis.of)(&point.spec)).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values.len()
    };
    let widest = AXES.iter().rev().max_by_key(|axis| distinct(axis)).expect("there are axes");
    if distinct(widest) < 3 {
        return (
            course(run, finding, op),
            Across { name: "seconds of one trial", bytes: false, log: false },
            "bytes a second",
        );
    }
    let dot = |point: &&Point| {
        let direction = point.direction(op).or(point.read.as_ref()).or(point.write.as_ref())?;
        let Estimate { value, low, high } = direction.iops;
        Some(Dot { x: (widest.of)(&point.spec), y: value, ends: low.zip(high) })
    };
    let mut dots: Vec<Dot> = points.iter().filter_map(dot).filter(|dot| dot.x > 0.0).collect();
    dots.sort_by(|a, b| a.x.total_cmp(&b.x));
    (dots, Across { name: widest.name, bytes: widest.bytes, log: true }, "requests a second")
}

/// The windows of the first trial.
fn course(run: &Run, finding: &Finding, op: Op) -> Vec<Dot> {
    let trial = run.trials.iter().find(|trial| finding.trials.contains(&trial.id));
    let windows = trial.map_or(&[][..], |trial| &trial.windows);
    let dot = |window: &iosonde_model::Window| {
        let direction = window.direction(op).or(window.read.as_ref()).or(window.write.as_ref())?;
        (window.length_s > 0.0).then(|| Dot {
            x: window.start_s + window.length_s / 2.0,
            y: direction.bytes as f64 / window.length_s,
            ends: None,
        })
    };
    windows.iter().filter_map(dot).collect()
}

struct Across {
    name: &'static str,
    bytes: bool,
    log: bool,
}

fn plot(out: &mut String, dots: &[Dot], across: &Across) {
    let _ = writeln!(
        out,
        "<path d=\"M{LEFT},{TOP} V{BOTTOM} H{}\" fill=\"none\" stroke=\"#888\"/>",
        WIDTH - RIGHT
    );
    let scale = |value: f64, log: bool| if log { value.max(1e-12).ln() } else { value };
    let xs = || dots.iter().map(|dot| scale(dot.x, across.log));
    let (left, right) = (xs().fold(f64::INFINITY, f64::min), xs().fold(f64::MIN, f64::max));
    let most = dots.iter().map(|dot| dot.ends.map_or(dot.y, |ends| ends.1)).fold(0.0, f64::max) * 1.05;
    let x = |value: f64| {
        let share = (scale(value, across.log) - left) / (right - left).max(1e-12);
        LEFT + 15.0 + share * (WIDTH - RIGHT - LEFT - 30.0)
    };
    let y = |value: f64| BOTTOM - value / most.max(1e-12) * (BOTTOM - TOP);
    for step in 0..=4 {
        let value = most * f64::from(step) / 4.0;
        let _ = writeln!(
            out,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#555\">{}</text>",
            LEFT - 6.0,
            y(value) + 4.0,
            units::count(value)
        );
    }
    let every = dots.len().div_ceil(9).max(1);
    for dot in dots.iter().step_by(every) {
        let words = if across.bytes { units::size_short(dot.x as u64) } else { format!("{:.4}", dot.x) };
        let words = if words.contains('.') {
            words.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            words
        };
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\" fill=\"#555\">{words}</text>",
            x(dot.x),
            BOTTOM + 16.0
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"#555\">{}</text>",
        WIDTH - RIGHT,
        BOTTOM + 32.0,
        across.name
    );
    for dot in dots {
        if let Some((low, high)) = dot.ends {
            let _ = writeln!(
                out,
                "<path d=\"M{:.1},{:.1} V{:.1}\" stroke=\"{DATA}\"/>",
                x(dot.x),
                y(low),
                y(high)
            );
        }
        let _ =
            writeln!(out, "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{DATA}\"/>", x(dot.x), y(dot.y));
    }
}

fn unit(finding: &Finding) -> Unit {
    match finding.unit.as_str() {
        "ns" => Unit::Time,
        "B/s" => Unit::Rate,
        "IOPS" => Unit::Iops,
        "B" => Unit::Bytes,
        "requests" => Unit::InFlight,
        _ => Unit::Ratio,
    }
}

/// The interval and the truth on one line.
fn strip(out: &mut String, finding: &Finding, truth: f64, derivation: &str) {
    let value = finding.value.unwrap_or(truth);
    let (low, high) = (finding.low.unwrap_or(value), finding.high.unwrap_or(value));
    let room = (high - low).max(0.02 * truth.abs());
    let (left, right) = (low.min(truth) - room, high.max(truth) + room);
    let x = |value: f64| LEFT + (value - left) / (right - left) * (WIDTH - RIGHT - LEFT);
    let _ = writeln!(out, "<path d=\"M{LEFT},{STRIP} H{}\" stroke=\"#bbb\"/>", WIDTH - RIGHT);
    let _ = writeln!(
        out,
        "<rect x=\"{:.1}\" y=\"{}\" width=\"{:.1}\" height=\"12\" fill=\"{DATA}\" opacity=\"0.35\"/>",
        x(low),
        STRIP - 6.0,
        (x(high) - x(low)).max(2.0)
    );
    let _ = writeln!(out, "<circle cx=\"{:.1}\" cy=\"{STRIP}\" r=\"4\" fill=\"{DATA}\"/>", x(value));
    let _ = writeln!(
        out,
        "<path d=\"M{:.1},{} V{}\" stroke=\"{TRUTH}\" stroke-width=\"2\"/>",
        x(truth),
        STRIP - 14.0,
        STRIP + 14.0
    );
    let found = with_interval(unit(finding), &Estimate { value, low: Some(low), high: Some(high) });
    let exact = Estimate { value: truth, low: Some(truth), high: Some(truth) };
    let truth = with_interval(unit(finding), &exact);
    let truth = truth.split(" [").next().unwrap_or(&truth).to_owned();
    let _ = writeln!(out, "<text x=\"{LEFT}\" y=\"{}\" fill=\"{DATA}\">found: {found}</text>", STRIP - 22.0);
    let derivation = derivation.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(
        out,
        "<text x=\"{LEFT}\" y=\"{}\" fill=\"{TRUTH}\">true: {truth} ({derivation})</text>",
        STRIP + 32.0
    );
}
