//! A figure as the option object of Apache ECharts.
//!
//! Plain JSON: where ECharts wants a function or a colour, there stands an object that names it (`$function`,
//! `$colour`), which `assets/chart.js` replaces. Text from outside (labels, paths) stays text.

use serde_json::{Map, Value, json};

use crate::figure::{Along, Axis, Curve, Dot, Figure, Mark, Series, Spacing, Standing};

const FONT: &str = "system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif";

/// The option object of a figure's chart, for any theme and size.
pub fn option(figure: &Figure) -> Value {
    let unit_x = Unit::of(&figure.x);
    let unit_y = Unit::of(&figure.y);
    let mut series: Vec<Value> =
        figure.curves.iter().flat_map(|curve| curves(curve, unit_x, unit_y)).collect();
    series.push(marks(figure, unit_x, unit_y));
    series.extend(figure.series.iter().flat_map(|s| measured(s, unit_x, unit_y)));
    let names: Vec<&str> = figure
        .series
        .iter()
        .map(|series| series.name.as_str())
        .chain(figure.curves.iter().map(|curve| curve.name.as_str()))
        .collect();
    json!({
        "animation": false,
        "backgroundColor": "transparent",
        "textStyle": { "fontFamily": FONT, "color": colour("ink") },
        "aria": { "enabled": true, "label": { "description": describe(figure) } },
        // The name of the y axis, above the plot: text on its side is slow to read.
        "title": { "text": figure.y.title(), "left": 8, "padding": 0,
                   "textStyle": { "color": colour("muted"), "fontSize": 13, "fontWeight": "normal" } },
        "grid": { "left": 12, "right": 24, "bottom": 30, "containLabel": true },
        "legend": {
            "data": names, "top": 5, "left": 8, "padding": 0, "itemWidth": 22, "itemHeight": 9, "itemGap": 16,
            "textStyle": { "color": colour("ink"), "fontSize": 13 }, "inactiveColor": colour("muted"),
        },
        "tooltip": {
            "trigger": "item", "confine": true, "transitionDuration": 0, "padding": [8, 12],
            "backgroundColor": colour("paper"), "borderColor": colour("rule"),
            "textStyle": { "color": colour("ink"), "fontSize": 13 },
            "formatter": function("tip"),
        },
        // Ctrl or a pinch: a wheel that only passes over the page must go on scrolling it.
        "dataZoom": [{ "type": "inside", "filterMode": "none", "zoomOnMouseWheel": "ctrl",
                       "moveOnMouseWheel": false, "preventDefaultMouseMove": false }],
        "xAxis": axis(&figure.x, unit_x, true),
        "yAxis": axis(&figure.y, unit_y, false),
        "series": series,
    })
}

/// What a screen reader says in place of the picture.
pub fn describe(figure: &Figure) -> String {
    let dots: usize = figure.series.iter().map(|series| series.dots.len()).sum();
    let names: Vec<&str> = figure.series.iter().map(|series| series.name.as_str()).collect();
    format!(
        "{} {} Chart of {} against {}, {dots} points: {}. The same figures stand in the table below it.",
        figure.title,
        figure.answer,
        figure.y.label,
        figure.x.label,
        names.join("; ")
    )
}

/// What values are divided by, so that plain ticks read in the unit that the axis names.
#[derive(Clone, Copy)]
struct Unit(f64);

impl Unit {
    fn of(axis: &Axis) -> Self {
        match axis.spacing {
            Spacing::Linear => Self(axis.quantity.scale(axis.high).factor),
            Spacing::Log => Self(1.0),
        }
    }

    fn apply(self, value: f64) -> f64 {
        // Six digits are more than any measurement has, and a third of the bytes in the page.
        let value = value / self.0;
        format!("{value:.6e}").parse().expect("a printed number reads back")
    }
}

fn colour(name: &str) -> Value {
    json!({ "$colour": name })
}

fn function(name: &str) -> Value {
    json!({ "$function": name })
}

fn axis(axis: &Axis, unit: Unit, horizontal: bool) -> Value {
    let mut out = json!({
        "name": if horizontal { axis.title() } else { String::new() },
        "nameLocation": "middle",
        "nameGap": 32,
        "nameTextStyle": { "color": colour("muted"), "fontSize": 13 },
        "axisLine": { "show": horizontal, "lineStyle": { "color": colour("muted") } },
        "axisTick": { "show": horizontal, "lineStyle": { "color": colour("muted") } },
        "axisLabel": { "color": colour("muted"), "fontSize": 12, "hideOverlap": true },
        "splitLine": { "show": !horizontal, "lineStyle": { "color": colour("rule") } },
    });
    let fields = out.as_object_mut().expect("it was written as an object");
    if !axis.places.is_empty() {
        fields.insert("type".into(), "category".into());
        fields.insert("data".into(), json!(axis.places));
        fields["axisTick"]["alignWithLabel"] = true.into();
        fields["axisLabel"]["interval"] = 0.into();
        return out;
    }
    fields.insert("min".into(), unit.apply(axis.low).into());
    fields.insert("max".into(), unit.apply(axis.high).into());
    fields.insert("type".into(), if axis.spacing == Spacing::Log { "log" } else { "value" }.into());
    match axis.spacing {
        Spacing::Log => log_ticks(axis, fields),
        // The axis ends at a round number; ECharts would put its last tick just before it.
        Spacing::Linear => drop(fields.insert("interval".into(), step(unit.apply(axis.high)).into())),
    }
    out
}

/// Four to six even steps of an axis from 0 to one of the round numbers at which axes end.
fn step(high: f64) -> f64 {
    let power = 10f64.powf(high.log10().floor());
    let steps = match high / power {
        leading if leading < 1.1 || (1.9..2.1).contains(&leading) || leading > 4.9 && leading < 5.1 => 5.0,
        leading if leading < 1.3 || (2.3..3.1).contains(&leading) || (5.9..6.1).contains(&leading) => 6.0,
        _ => 4.0,
    };
    high / steps
}

/// ECharts' own ticks on a log axis are powers of ten; these are where the figure wants them.
fn log_ticks(axis: &Axis, fields: &mut Map<String, Value>) {
    let labels: Map<String, Value> =
        axis.ticks.iter().map(|&tick| (near(tick), Value::from(axis.quantity.tick_text(tick)))).collect();
    let values = json!(axis.ticks);
    let mut formatter = function("ticks");
    formatter["labels"] = Value::Object(labels);
    fields["axisLabel"]["formatter"] = formatter;
    fields["axisLabel"]["customValues"] = values.clone();
    fields["axisTick"]["customValues"] = values;
}

/// A number as JavaScript writes it after rounding to nine digits: the key under which a tick's label is
/// found.
fn near(value: f64) -> String {
    let rounded: f64 = format!("{value:.8e}").parse().expect("a printed number reads back");
    format!("{rounded}")
}

fn measured(series: &Series, x: Unit, y: Unit) -> Vec<Value> {
    let tone = series.tone.name();
    let dots: Vec<Value> = series.dots.iter().map(|dot| datum(dot, series, x, y)).collect();
    let course = if series.broken { "dashed" } else { "solid" };
    let line = json!({
        "type": if series.joined { "line" } else { "scatter" },
        "name": series.name,
        "data": dots,
        "symbol": "circle", "symbolSize": if series.dots.len() > 12 { 5 } else { 7 }, "showAllSymbol": true,
        "color": colour(tone),
        "lineStyle": { "width": 2, "color": colour(tone), "type": course },
        "itemStyle": { "color": colour(tone) },
        "emphasis": { "scale": 1.4 },
        "z": 4,
    });
    let whiskers: Vec<Value> = series.dots.iter().filter_map(|dot| whisker(dot, x, y)).collect();
    if whiskers.is_empty() {
        return vec![line];
    }
    let mut render = function("whisker");
    render["colour"] = tone.into();
    // The same name as the line's, so that the legend switches both.
    let whiskers = json!({
        "type": "custom", "name": series.name, "renderItem": render, "data": whiskers,
        "encode": { "x": [0, 2, 3], "y": [1, 4, 5] }, "clip": true, "silent": true,
        "color": colour(tone), "tooltip": { "show": false }, "z": 3,
    });
    vec![line, whiskers]
}

fn datum(dot: &Dot, series: &Series, x: Unit, y: Unit) -> Value {
    let tone = series.tone.name();
    // Above a dot whose whisker stands upright nothing can be read; beside it there is room where no line
    // passes.
    let position = if series.joined { "top" } else { "right" };
    let mut out = json!({ "value": [x.apply(dot.x), y.apply(dot.y)], "tip": dot.tip });
    if let Some(label) = &dot.label {
        out["label"] = json!({ "show": true, "formatter": label.replace(['{', '}'], ""), "position": position,
                               "color": colour("ink"), "fontSize": 12, "distance": 6 });
    }
    if dot.standing == Standing::Doubted {
        out["itemStyle"] =
            json!({ "color": colour("paper"), "borderColor": colour(tone), "borderWidth": 1.75 });
    }
    out
}

fn whisker(dot: &Dot, x: Unit, y: Unit) -> Option<Value> {
    if dot.x_interval.is_none() && dot.y_interval.is_none() {
        return None;
    }
    let ends = |interval: Option<(f64, f64)>, unit: Unit| match interval {
        Some((low, high)) => [Value::from(unit.apply(low)), Value::from(unit.apply(high))],
        None => [Value::Null, Value::Null],
    };
    let [left, right] = ends(dot.x_interval, x);
    let [low, high] = ends(dot.y_interval, y);
    Some(json!([x.apply(dot.x), y.apply(dot.y), left, right, low, high]))
}

fn curves(curve: &Curve, x: Unit, y: Unit) -> Vec<Value> {
    let place = |points: &[(f64, f64)]| -> Vec<[f64; 2]> {
        points.iter().map(|&(a, b)| [x.apply(a), y.apply(b)]).collect()
    };
    let course = place(&curve.points);
    let mut out = vec![json!({
        "type": "line", "name": curve.name, "data": course, "symbol": "none", "silent": true,
        "color": colour("knee"), "lineStyle": { "width": 1.5, "type": [6, 4], "color": colour("knee") },
        "tooltip": { "show": false }, "z": 2,
    })];
    if let (Some(first), false) = (course.first(), curve.band.is_empty()) {
        let mut render = function("band");
        render["colour"] = "knee".into();
        render["outline"] = json!(place(&curve.band));
        out.push(json!({
            "type": "custom", "name": curve.name, "renderItem": render, "data": [first], "clip": true,
            "silent": true, "color": colour("knee"), "tooltip": { "show": false }, "z": 1,
        }));
    }
    out
}

/// Lines and bands of findings, on a series of their own without dots.
fn marks(figure: &Figure, x: Unit, y: Unit) -> Value {
    let mut upright = 0;
    let lines = figure.marks.iter().map(|mark| {
        let mut line = mark_line(mark, &figure.x, upright);
        upright += usize::from(mark.along == Along::X);
        line[key(mark)] = if mark.along == Along::X { x } else { y }.apply(mark.at).into();
        line
    });
    let lines: Vec<Value> = lines.collect();
    let area = |mark: &Mark| {
        let (low, high) = mark.interval?;
        let unit = if mark.along == Along::X { x } else { y };
        let (mut from, mut to) = (json!({ "itemStyle": { "color": colour(mark.tone.name()) } }), json!({}));
        from[key(mark)] = unit.apply(low).into();
        to[key(mark)] = unit.apply(high).into();
        Some(json!([from, to]))
    };
    let areas: Vec<Value> = figure.marks.iter().filter_map(area).collect();
    json!({
        "type": "line", "data": [], "silent": true,
        "markLine": { "silent": true, "symbol": "none", "data": lines },
        "markArea": { "silent": true, "itemStyle": { "opacity": 0.1 }, "data": areas },
    })
}

fn key(mark: &Mark) -> &'static str {
    if mark.along == Along::X { "xAxis" } else { "yAxis" }
}

fn mark_line(mark: &Mark, axis: &Axis, upright: usize) -> Value {
    // Labels of upright lines take turns in height, since neighbours would write over each other.
    let (position, distance) = match mark.along {
        Along::Y => ("insideEndTop", json!([4, 3])),
        Along::X => ("end", json!(4 + 15 * (upright % 3))),
    };
    let mut label = json!({
        "formatter": mark.label.replace(['{', '}'], ""), "color": colour(mark.tone.name()),
        "position": position, "distance": distance, "fontSize": 12,
    });
    if mark.along == Along::X {
        // Near an edge a centred label would be cut off.
        let place = match axis.spacing {
            Spacing::Linear => (mark.at - axis.low) / (axis.high - axis.low),
            Spacing::Log => (mark.at / axis.low).ln() / (axis.high / axis.low).ln(),
        };
        label["align"] = match place {
            place if place > 0.8 => "right",
            place if place < 0.2 => "left",
            _ => "center",
        }
        .into();
    }
    let line = json!({ "color": colour(mark.tone.name()), "type": "dotted", "width": 1.25 });
    json!({ "lineStyle": line, "label": label })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Quantity;

    #[test]
    fn a_tick_is_found_under_the_number_that_javascript_prints() {
        // String(Number((0.1 + 0.2).toPrecision(9))) is "0.3" in JavaScript.
        assert_eq!(near(0.1 + 0.2), "0.3");
        assert_eq!(near(4_194_304.0), "4194304");
        assert_eq!(near(99_999.999_999_999), "100000");
    }

    #[test]
    fn steps_are_even_and_end_at_the_axis() {
        for (high, wanted) in [(1.0, 0.2), (120.0, 20.0), (160.0, 40.0), (2.0, 0.4), (0.3, 0.05), (8.0, 2.0)]
        {
            assert!((step(high) - wanted).abs() < 1e-9, "{high}: {}", step(high));
        }
    }

    #[test]
    fn values_are_given_in_the_axis_unit() {
        let axis = Axis::from_zero("throughput", Quantity::BytesPerSecond, &[6.9e9]);
        assert_eq!(Unit::of(&axis).apply(1.234_567_8e9), 1.234_568);
    }
}
