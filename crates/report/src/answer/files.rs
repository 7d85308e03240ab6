//! Small files.

use iosonde_model::{Circumstances, Estimate, FileStepFigures, SmallFiles, Unit};

use super::{
    Answer,
    shown::{Shown, Tenor},
};
use crate::{
    ReportError,
    chart::{pick, with_doubts},
    document::files_json,
    figure::{Axis, Dot, DotSeries, DotStanding, Figure, Tone},
    quantity::Quantity,
    text::{
        files::{self, step},
        number::{Style, figure},
    },
};

impl Answer for SmallFiles {
    fn circumstances(&self) -> &Circumstances {
        &self.circumstances
    }

    fn json(&self) -> Result<String, ReportError> {
        files_json(self)
    }

    fn shown(&self) -> Shown {
        Shown {
            command: "files",
            word: "files",
            tenor: Tenor::Plain,
            sentence: files::answer(self),
            before: files::before(self),
            table: Some(files::table(self)),
            after: files::after(self),
            figures: vec![rates(self), times(self)],
            target: self.target.clone(),
        }
    }
}

/// How often a second each step is done.
fn rates(found: &SmallFiles) -> Figure {
    let known = |figures: &FileStepFigures| is_known(Style::bare(Unit::Iops), &figures.per_s);
    let of = |reads: bool, name: &str, tone: Tone| {
        let own = rows(found, &known).filter(|(_, figures)| figures.step.reads() == reads);
        let dot = |(row, figures): (usize, &FileStepFigures)| {
            dot(row, figures, &figures.per_s, Style::bare(Unit::Iops), " per second")
        };
        let trials = own
            .clone()
            .flat_map(|(row, figures)| figures.round_per_s.iter().map(move |&rate| (rate, row as f64)));
        DotSeries {
            name: name.into(),
            tone,
            dots: own.clone().map(dot).collect(),
            trials: trials.collect(),
            ..DotSeries::default()
        }
    };
    let series =
        vec![of(true, "steps that only read", Tone::Read), of(false, "steps that change files", Tone::Write)];
    let reading =
        "Of all workers together. Lines are 95 % confidence intervals; what is unknown is left out.";
    in_rows(
        "files-per-second",
        "How many files a second?",
        reading,
        ("per second", Quantity::Iops),
        series,
        (found, &known),
    )
}

/// How long one step takes.
fn times(found: &SmallFiles) -> Figure {
    let known = |figures: &FileStepFigures| {
        let of = |time: &Estimate| is_known(Unit::Time.into(), time);
        [figures.latency_ns_p50, figures.latency_ns_p99].iter().flatten().any(of)
    };
    type Percentile = fn(&FileStepFigures) -> Option<Estimate>;
    let kinds: [(&str, Tone, Percentile); 2] = [
        ("p50", Tone::Side(0), |figures| figures.latency_ns_p50),
        ("p99", Tone::Side(1), |figures| figures.latency_ns_p99),
    ];
    let of = |(name, tone, of): (&str, Tone, Percentile)| {
        let dot = |(row, figures): (usize, &FileStepFigures)| {
            let told = format!(" at {name}");
            of(figures)
                .filter(|time| is_known(Unit::Time.into(), time))
                .map(|time| dot(row, figures, &time, Unit::Time.into(), &told))
        };
        DotSeries {
            name: name.into(),
            tone,
            dots: rows(found, &known).filter_map(dot).collect(),
            ..DotSeries::default()
        }
    };
    let series: Vec<DotSeries> = kinds.into_iter().map(of).filter(|series| !series.dots.is_empty()).collect();
    let reading = "Of list, the time of a whole directory. At p99, one step in a hundred takes longer.";
    in_rows(
        "time-of-a-step",
        "How long does one step take?",
        reading,
        ("time", Quantity::Nanoseconds),
        series,
        (found, &known),
    )
}

/// Steps of which something is known, with their rows, which are counted from below.
fn rows<'a>(
    found: &'a SmallFiles,
    is_known: &'a dyn Fn(&FileStepFigures) -> bool,
) -> impl Iterator<Item = (usize, &'a FileStepFigures)> + Clone {
    found.steps.iter().rev().filter(move |figures| is_known(figures)).enumerate()
}

fn is_known(style: Style, estimate: &Estimate) -> bool {
    !figure(style, estimate).is_unknown()
}

fn dot(row: usize, figures: &FileStepFigures, estimate: &Estimate, style: Style, of: &str) -> Dot {
    let name = step(figures.step);
    let told = format!("{}{of}", figure(style, estimate).whole());
    let (standing, why) = match figures.from_memory {
        Some(true) => (DotStanding::Void, Some("answered from memory")),
        _ => (DotStanding::Stands, None),
    };
    let tip = [Some(name.to_owned()), Some(told), why.map(str::to_owned)];
    Dot {
        x: estimate.value,
        y: row as f64,
        x_interval: estimate.low.zip(estimate.high),
        y_interval: None,
        label: None,
        tip: tip.into_iter().flatten().collect(),
        standing,
    }
}

fn in_rows(
    name: &str,
    title: &str,
    reading: &str,
    (label, quantity): (&str, Quantity),
    series: Vec<DotSeries>,
    (found, known): (&SmallFiles, &dyn Fn(&FileStepFigures) -> bool),
) -> Figure {
    let rounds = series.iter().flat_map(|series| series.trials.iter().map(|trial| trial.0));
    let values: Vec<f64> = pick::places(&series).into_iter().chain(rounds).collect();
    with_doubts(Figure {
        name: name.into(),
        title: title.into(),
        reading: reading.into(),
        x: Axis::fitting(label, quantity, &values),
        y: Axis::places(
            "step",
            rows(found, known).map(|(_, figures)| step(figures.step).to_owned()).collect(),
        ),
        series,
        ..Figure::default()
    })
}
