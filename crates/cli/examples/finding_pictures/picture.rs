//! One picture as SVG: the figures that were measured with the truth drawn in, and below them the interval that was
//! found beside it.

use std::fmt::Write;

use iosonde_model::{Estimate, Finding, Run, Unit};
use iosonde_report::text::number::with_interval;

use crate::{
    frame::{Dot, Frame, Mark, Series, Shape},
    scale, view,
};

const WIDTH: f64 = 640.0;
const LEFT: f64 = 90.0;
const RIGHT: f64 = WIDTH - 20.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 256.0;
const STRIP: f64 = 352.0;
const HEIGHT: f64 = 416.0;
const DATA: [&str; 2] = ["#2a6f97", "#5a8f3c"];
const TRUTH: &str = "#c1440e";
const GREY: &str = "#555";
/// Letters of 12 px that fit beside each other between the margins.
const LETTERS: usize = 102;
/// Where sentences begin.
const MARGIN: f64 = 24.0;

/// The whole picture.
pub fn svg(run: &Run, finding: &Finding, truth: f64, derivation: &str) -> String {
    let frame = view::of(run, finding, truth).fitted();
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"{LEFT}\" y=\"20\" \
         font-weight=\"bold\">{}</text>\n",
        finding.name
    );
    text(&mut out, (LEFT, 40.0), "start", GREY, &frame.y.name);
    axes(&mut out, &frame);
    for mark in &frame.marks {
        drawn(&mut out, &frame, mark);
    }
    for (series, colour) in frame.series.iter().zip(DATA) {
        figures(&mut out, &frame, series, colour);
    }
    legend(&mut out, &frame);
    strip(&mut out, finding, truth, derivation);
    out + "</svg>\n"
}

fn text(out: &mut String, (x, y): (f64, f64), anchor: &str, colour: &str, words: &str) {
    let words = words.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\" stroke=\"white\" \
         stroke-width=\"3\" paint-order=\"stroke\">{words}</text>"
    );
}

fn x(frame: &Frame, value: f64) -> f64 {
    LEFT + frame.x.share(value) * (RIGHT - LEFT)
}

fn y(frame: &Frame, value: f64) -> f64 {
    BOTTOM - frame.y.share(value) * (BOTTOM - TOP)
}

fn axes(out: &mut String, frame: &Frame) {
    for value in frame.y.ticks() {
        let y = y(frame, value);
        let _ = writeln!(out, "<path d=\"M{LEFT},{y:.1} H{RIGHT}\" stroke=\"#e4e4e4\"/>");
        text(out, (LEFT - 6.0, y + 4.0), "end", GREY, &frame.y.counts.words(value));
    }
    let _ = writeln!(out, "<path d=\"M{LEFT},{TOP} V{BOTTOM} H{RIGHT}\" fill=\"none\" stroke=\"#888\"/>");
    let mut free_from = f64::MIN;
    for (nth, value) in frame.x.ticks().into_iter().enumerate() {
        let words = frame.labels.get(nth).cloned().unwrap_or_else(|| frame.x.counts.words(value));
        let half = 3.4 * words.chars().count() as f64;
        // A label that would lie upon the one before it is left out.
        if x(frame, value) - half > free_from {
            text(out, (x(frame, value), BOTTOM + 16.0), "middle", GREY, &words);
            free_from = x(frame, value) + half + 4.0;
        }
    }
    text(out, (RIGHT, BOTTOM + 34.0), "end", GREY, &frame.x.name);
}

fn figures(out: &mut String, frame: &Frame, series: &Series, colour: &str) {
    if series.shape == Shape::Line {
        let path: Vec<String> =
            series.dots.iter().map(|dot| format!("{:.1},{:.1}", x(frame, dot.x), y(frame, dot.y))).collect();
        let path = path.join(" ");
        let _ = writeln!(
            out,
            "<polyline points=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>"
        );
        return;
    }
    for Dot { x: at, y: value, ends } in &series.dots {
        let (at, top) = (x(frame, *at), y(frame, *value));
        if series.shape == Shape::Bars {
            let (left, high) = (at - 30.0, BOTTOM - top);
            let _ = writeln!(
                out,
                "<rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"60\" height=\"{high:.1}\" fill=\"{colour}\" \
                 opacity=\"0.3\"/>"
            );
        }
        if let Some((low, high)) = ends {
            let (low, high) = (y(frame, *low), y(frame, *high));
            let _ = writeln!(out, "<path d=\"M{at:.1},{low:.1} V{high:.1}\" stroke=\"{colour}\"/>");
        }
        let _ = writeln!(out, "<circle cx=\"{at:.1}\" cy=\"{top:.1}\" r=\"3\" fill=\"{colour}\"/>");
    }
}

/// Which series is which, where there are several.
fn legend(out: &mut String, frame: &Frame) {
    let mut at = RIGHT;
    for (series, colour) in frame.series.iter().zip(DATA).rev() {
        if let Some(name) = &series.name {
            text(out, (at, 40.0), "end", colour, &format!("● {name}"));
            at -= 7.0 * name.len() as f64 + 26.0;
        }
    }
}

/// Beside a line at `at`, to the left of it where there is no room to the right.
fn beside(at: f64) -> (f64, &'static str) {
    if at > LEFT + 0.6 * (RIGHT - LEFT) { (at - 6.0, "end") } else { (at + 6.0, "start") }
}

/// The end of a level above which words that wide cover the fewest figures.
fn free_side(frame: &Frame, level: f64, wide: f64) -> (f64, &'static str) {
    let covered = |left: f64| {
        let within = |dot: &&Dot| {
            let (x, y) = (x(frame, dot.x), y(frame, dot.y));
            (left - 4.0..left + wide + 4.0).contains(&x) && (level - 18.0..level + 1.0).contains(&y)
        };
        frame.series.iter().flat_map(|series| &series.dots).filter(within).count()
    };
    if covered(LEFT + 4.0) < covered(RIGHT - 4.0 - wide) {
        (LEFT + 4.0, "start")
    } else {
        (RIGHT - 4.0, "end")
    }
}

fn drawn(out: &mut String, frame: &Frame, mark: &Mark) {
    match mark {
        Mark::Level { at, words, is_truth } => {
            let (colour, dash) = if *is_truth { (TRUTH, "none") } else { (GREY, "4 3") };
            let at = y(frame, *at);
            let _ = writeln!(
                out,
                "<path d=\"M{LEFT},{at:.1} H{RIGHT}\" stroke=\"{colour}\" stroke-width=\"1.5\" \
                 stroke-dasharray=\"{dash}\" opacity=\"0.8\"/>"
            );
            let (side, anchor) = free_side(frame, at, 6.5 * words.chars().count() as f64);
            text(out, (side, at - 5.0), anchor, colour, words);
        }
        Mark::Place { at, words } => {
            let at = x(frame, *at);
            let _ = writeln!(
                out,
                "<path d=\"M{at:.1},{TOP} V{BOTTOM}\" stroke=\"{TRUTH}\" stroke-width=\"1.5\" opacity=\"0.8\"/>"
            );
            let (at, anchor) = beside(at);
            text(out, (at, TOP + 30.0), anchor, TRUTH, words);
        }
        Mark::Curve { along, words } => {
            let path: Vec<String> =
                along.iter().map(|(a, b)| format!("{:.1},{:.1}", x(frame, *a), y(frame, *b))).collect();
            let path = path.join(" ");
            let _ = writeln!(
                out,
                "<polyline points=\"{path}\" fill=\"none\" stroke=\"{TRUTH}\" stroke-width=\"1.5\" opacity=\"0.8\"/>"
            );
            text(out, (RIGHT - 4.0, BOTTOM - 8.0), "end", TRUTH, words);
        }
    }
}

fn unit(finding: &Finding) -> Unit {
    match finding.unit.name() {
        "ns" => Unit::Time,
        "B/s" => Unit::Rate,
        "IOPS" => Unit::Iops,
        "B" => Unit::Bytes,
        "requests" => Unit::InFlight,
        "hosts" => Unit::Hosts,
        "1/h" => Unit::PerHour,
        _ => Unit::Ratio,
    }
}

/// The interval and the truth on one line.
fn strip(out: &mut String, finding: &Finding, truth: f64, derivation: &str) {
    let value = finding.value.unwrap_or(truth);
    let (low, high) = (finding.low.unwrap_or(value), finding.high.unwrap_or(value));
    let room = (high - low).max(0.02 * truth.abs());
    let (left, right) = (low.min(truth) - room, high.max(truth) + room);
    let x = |value: f64| LEFT + (value - left) / (right - left) * (RIGHT - LEFT);
    let (from, wide) = (x(low), (x(high) - x(low)).max(2.0));
    let _ = writeln!(
        out,
        "<path d=\"M{LEFT},{STRIP} H{RIGHT}\" stroke=\"#bbb\"/>\n<rect x=\"{from:.1}\" y=\"{}\" width=\"{wide:.1}\" \
         height=\"12\" fill=\"{}\" opacity=\"0.35\"/>\n<circle cx=\"{:.1}\" cy=\"{STRIP}\" r=\"4\" fill=\"{}\"/>\n\
         <path d=\"M{:.1},{} V{}\" stroke=\"{TRUTH}\" stroke-width=\"2\"/>",
        STRIP - 6.0,
        DATA[0],
        x(value),
        DATA[0],
        x(truth),
        STRIP - 14.0,
        STRIP + 14.0
    );
    let found = with_interval(unit(finding), &Estimate { value, low: Some(low), high: Some(high) });
    text(out, (MARGIN, STRIP - 22.0), "start", DATA[0], &format!("found: {found}"));
    for (nth, line) in
        lines(&format!("true: {} ({})", exactly(finding, truth), micro(derivation))).iter().enumerate()
    {
        text(out, (MARGIN, STRIP + 32.0 + 16.0 * nth as f64), "start", TRUTH, line);
    }
}

/// With four digits, and without zeros that say nothing.
fn exactly(finding: &Finding, truth: f64) -> String {
    let room = Some(truth * 0.9995).zip(Some(truth * 1.0005));
    let estimate = Estimate { value: truth, low: room.map(|r| r.0), high: room.map(|r| r.1) };
    let words = with_interval(unit(finding), &estimate);
    let words = words.split(" [").next().unwrap_or(&words);
    match words.strip_suffix('×') {
        Some(number) => format!("{}×", scale::short(number)),
        None => scale::short(words),
    }
}

/// Derivations are written with `us`, as device files are.
fn micro(derivation: &str) -> String {
    let words = derivation.split(' ').map(|word| match word.strip_prefix("us") {
        Some(rest) if rest.chars().all(|letter| !letter.is_alphanumeric()) => format!("µs{rest}"),
        _ => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ").replace(" x ", " × ")
}

/// Whole words on as many lines as it takes.
fn lines(words: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words.split(' ') {
        let last = lines.last_mut().expect("there is one");
        if !last.is_empty() && last.chars().count() + 1 + word.chars().count() > LETTERS {
            lines.push(word.to_owned());
        } else {
            if !last.is_empty() {
                last.push(' ');
            }
            last.push_str(word);
        }
    }
    lines
}
