//! The ratios of one pair as dots with whiskers: all together, by operation, and each like point; 1 is equal.

use crate::{
    figure::{Along, Axis, Dot, DotSeries, DotStanding, Figure, FindingMark, Tone, decimal_ticks},
    quantity::Quantity,
    text,
};
use iosonde_model::{Compared, ComparedPair, ComparedUnit, Estimate, Likeness, WorkloadGroup};

/// Rows that a picture has room for; the table below the charts has all.
const ROWS_MAX: usize = 36;
/// So many more are shown all the same: to leave out one and to say so takes the room of the one.
const ROWS_SPARE: usize = 8;

struct Row {
    name: String,
    ratio: Estimate,
    verdict: Likeness,
    tip: Vec<String>,
    mean: bool,
}

/// The ratios of the pair at this place; `None` where there are none.
pub(super) fn ratios(compared: &Compared, pair: &ComparedPair, place: usize) -> Option<Figure> {
    let mut rows = rows(compared, pair);
    let all = rows.len();
    if all > ROWS_MAX + ROWS_SPARE {
        rows.truncate(ROWS_MAX);
    }
    if rows.is_empty() {
        return None;
    }
    // Read from above, drawn from below.
    rows.reverse();
    let names = rows.iter().map(|row| row.name.clone()).collect();
    let mut values: Vec<f64> = vec![1.0 / (1.0 + pair.margin), 1.0 + pair.margin];
    let finite = |value: Option<f64>| value.filter(|value| value.is_finite() && *value > 0.0);
    for row in &rows {
        values.push(row.ratio.value);
        // An interval over decades is cut off at a hundredfold, so that the others stay readable.
        let (low, high) = (row.ratio.value / 100.0, row.ratio.value * 100.0);
        values.extend(finite(row.ratio.low).map(|value| value.max(low)));
        values.extend(finite(row.ratio.high).map(|value| value.min(high)));
    }
    let what = compared.comparisons.first().map_or("IOPS", |line| text::compare::figure_name(line.figure));
    let shown =
        if all > rows.len() { format!(" The first {ROWS_MAX} of {all} are shown.") } else { String::new() };
    let interval = match pair.unit {
        ComparedUnit::Repeat => ", with its interval, widened for the number of rows",
        ComparedUnit::Run => ", without an interval: one run of a side does not tell how runs differ",
    };
    Some(Figure {
        name: format!("ratios-{place}"),
        title: format!("{} against {}, as a ratio", pair.b, pair.a),
        answer: text::compare::answer(pair),
        reading: format!(
            "Each dot is a ratio of {what}, {} over {}{interval}. Within the grey band both count as the same.{shown}",
            pair.b, pair.a
        ),
        x: Axis::log(
            &format!("{what} of {} as a multiple of {}", pair.b, pair.a),
            Quantity::Ratio,
            &values,
            &ticks(&values),
        ),
        y: Axis::places("", names),
        series: series(&rows),
        marks: vec![FindingMark {
            along: Along::X,
            at: 1.0,
            interval: Some((1.0 / (1.0 + pair.margin), 1.0 + pair.margin)),
            label: "equal".into(),
            tone: Tone::Neutral,
        }],
        ..Figure::default()
    })
}

fn ticks(values: &[f64]) -> Vec<f64> {
    let mut ticks = decimal_ticks(values);
    ticks.push(1.0);
    ticks.sort_by(f64::total_cmp);
    ticks.dedup();
    ticks
}

fn rows(compared: &Compared, pair: &ComparedPair) -> Vec<Row> {
    let shown = |ratio| text::compare::for_the_storage(pair, ratio);
    let means = pair.geometric_means.iter().map(|mean| {
        let name = match mean.of {
            WorkloadGroup::All => "all workloads".to_owned(),
            of => of.to_string(),
        };
        let ratio = shown(Estimate { value: mean.ratio, low: mean.low, high: mean.high });
        let points = if mean.points == 1 { "1 point".to_owned() } else { format!("{} points", mean.points) };
        let tip = vec![format!("{name}: geometric mean over {points}"), said(pair, ratio, mean.verdict)];
        Row { name, ratio, verdict: mean.verdict, tip, mean: true }
    });
    let lines = compared.lines(pair).filter_map(|line| {
        let ratio = shown(Estimate { value: line.ratio?, low: line.low, high: line.high });
        let both =
            if line.spec.read_percent.is_some() { format!(", its {}s", line.op) } else { String::new() };
        let name = format!("{}{both}", line.spec.describe());
        let tip = vec![name.clone(), said(pair, ratio, line.verdict)];
        Some(Row { name, ratio, verdict: line.verdict, tip, mean: false })
    });
    means.chain(lines).collect()
}

fn said(pair: &ComparedPair, ratio: Estimate, verdict: Likeness) -> String {
    format!(
        "{}: {}",
        text::compare::ratio_text(pair, ratio, verdict),
        text::compare::likeness(pair.margin, pair.figure, ratio.value, verdict)
    )
}

fn series(rows: &[Row]) -> Vec<DotSeries> {
    let of = |mean: bool, name: &str, tone: Tone| {
        let dots: Vec<Dot> = rows
            .iter()
            .enumerate()
            .filter(|(_, row)| row.mean == mean)
            .map(|(place, row)| Dot {
                x: row.ratio.value,
                y: place as f64,
                x_interval: row.ratio.low.zip(row.ratio.high),
                y_interval: None,
                label: None,
                tip: row.tip.clone(),
                standing: match row.verdict {
                    Likeness::CannotTell | Likeness::NotComparable => DotStanding::Doubted,
                    Likeness::Same | Likeness::Faster | Likeness::Slower => DotStanding::Stands,
                },
            })
            .collect();
        DotSeries { name: name.into(), tone, dots, ..DotSeries::default() }
    };
    let both = [
        of(true, "geometric means", Tone::Law),
        of(false, "single points (hollow: inconclusive)", Tone::Read),
    ];
    both.into_iter().filter(|series| !series.dots.is_empty()).collect()
}
