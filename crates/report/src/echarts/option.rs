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
    let mut series: Vec<Value> = figure.curves.iter().flat_map(|curve| curves(curve, unit_x, unit_y)).collect();
    series.push(marks(&figure.marks, unit_x, unit_y));
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
        "grid": { "left": 12, "right": 24, "top": 64, "bottom": 30, "containLabel": true },
        "legend": {
            "data": names, "top": 0, "left": 8, "itemWidth": 22, "itemHeight": 9, "itemGap": 18,
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
fn describe(figure: &Figure) -> String {
    let dots: usize = figure.series.iter().map(|series| series.dots.len()).sum();
    let names: Vec<&str> = figure.series.iter().map(|series| series.name.as_str()).collect();
    format!(
        "{} {} Chart of {} against {}, {dots} points: {}. The same figures stand in the table below it.",
        figure.title,
        figure.caption,
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
        "name": axis.title(),
        "nameLocation": "middle",
        "nameGap": if horizontal { 32 } else { 14 },
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
    if !horizontal {
        // Above the plot: text on its side is slow to read.
        fields.insert("nameLocation".into(), "end".into());
        fields["nameTextStyle"]["align"] = "left".into();
        // The labels' width: the name begins at the picture's edge, not at the axis.
        fields["nameTextStyle"]["padding"] = json!([0, 0, 0, -44]);
    }
    fields.insert("min".into(), unit.apply(axis.low).into());
    fields.insert("max".into(), unit.apply(axis.high).into());
    fields.insert("type".into(), if axis.spacing == Spacing::Log { "log" } else { "value" }.into());
    if axis.spacing == Spacing::Log {
        log_ticks(axis, fields);
    }
    out
}

/// ECharts' own ticks on a log axis are powers of ten; these are where the figure wants them.
fn log_ticks(axis: &Axis, fields: &mut Map<String, Value>) {
    let labels: Map<String, Value> = axis
        .ticks
        .iter()
        .map(|&tick| (near(tick), Value::from(axis.quantity.tick_text(tick))))
        .collect();
    let values = json!(axis.ticks);
    let mut formatter = function("ticks");
    formatter["labels"] = Value::Object(labels);
    fields["axisLabel"]["formatter"] = formatter;
    fields["axisLabel"]["customValues"] = values.clone();
    fields["axisTick"]["customValues"] = values;
}

/// A number as JavaScript writes it after rounding to nine digits: the key under which a tick's label is found.
fn near(value: f64) -> String {
    let rounded: f64 = format!("{value:.8e}").parse().expect("a printed number reads back");
    format!("{rounded}")
}

fn measured(series: &Series, x: Unit, y: Unit) -> Vec<Value> {
    let tone = series.tone.name();
    let dots: Vec<Value> = series.dots.iter().map(|dot| datum(dot, tone, x, y)).collect();
    let line = json!({
        "type": if series.joined { "line" } else { "scatter" },
        "name": series.name,
        "data": dots,
        "symbol": "circle", "symbolSize": 7, "showAllSymbol": true,
        "color": colour(tone),
        "lineStyle": { "width": 2, "color": colour(tone), "type": if series.broken { "dashed" } else { "solid" } },
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

fn datum(dot: &Dot, tone: &str, x: Unit, y: Unit) -> Value {
    let mut out = json!({ "value": [x.apply(dot.x), y.apply(dot.y)], "tip": dot.tip });
    if let Some(label) = &dot.label {
        out["label"] = json!({ "show": true, "formatter": label.replace(['{', '}'], ""), "position": "top",
                               "color": colour("ink"), "fontSize": 12, "distance": 6 });
    }
    if dot.standing == Standing::Doubted {
        out["itemStyle"] = json!({ "color": colour("paper"), "borderColor": colour(tone), "borderWidth": 1.75 });
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
        "type": "line", "name": curve.name, "data": course, "showSymbol": false, "silent": true,
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
fn marks(marks: &[Mark], x: Unit, y: Unit) -> Value {
    let key = |mark: &Mark| if mark.along == Along::X { "xAxis" } else { "yAxis" };
    let unit = |mark: &Mark| if mark.along == Along::X { x } else { y };
    let mut upright = 0;
    let line = |mark: &Mark| {
        // Labels of upright lines take turns in height, since neighbours would write over each other.
        let (position, distance) = match mark.along {
            Along::Y => ("insideStartTop", json!([4, 3])),
            Along::X => {
                upright += 1;
                ("end", json!(4 + 15 * ((upright - 1) % 3)))
            }
        };
        let mut out = json!({
            "lineStyle": { "color": colour(mark.tone.name()), "type": "dotted", "width": 1.25 },
            "label": { "formatter": mark.label.replace(['{', '}'], ""), "color": colour(mark.tone.name()),
                       "position": position, "distance": distance, "fontSize": 12 },
        });
        out[key(mark)] = unit(mark).apply(mark.at).into();
        out
    };
    let lines: Vec<Value> = marks.iter().map(line).collect();
    let area = |mark: &Mark| {
        let (low, high) = mark.interval?;
        let (mut from, mut to) = (json!({ "itemStyle": { "color": colour(mark.tone.name()) } }), json!({}));
        from[key(mark)] = unit(mark).apply(low).into();
        to[key(mark)] = unit(mark).apply(high).into();
        Some(json!([from, to]))
    };
    let areas: Vec<Value> = marks.iter().filter_map(area).collect();
    json!({
        "type": "line", "data": [], "silent": true,
        "markLine": { "silent": true, "symbol": "none", "data": lines },
        "markArea": { "silent": true, "itemStyle": { "opacity": 0.1 }, "data": areas },
    })
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
    fn values_are_given_in_the_axis_unit() {
        let axis = Axis::from_zero("throughput", Quantity::BytesPerSecond, &[6.9e9]);
        assert_eq!(Unit::of(&axis).apply(1.234_567_8e9), 1.234_568);
    }
}
