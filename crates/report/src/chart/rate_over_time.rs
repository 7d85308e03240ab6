//! The canary's rate over the time of the run: whether the storage stayed the same while it was measured.
//!
//! The canary is one workload that is run in turn with the points. What it does changes only when the storage,
//! the machine or another program does, so a slope here is drift, and a single low dot is a disturbance. Right
//! after a write it also waits for what that left behind: how often that was, the answer says.
//! Points are compared within rounds, so drift falls on all of them alike.

use iosonde_judge::estimate::leftovers;
use iosonde_model::{Named, Outcome, Phase, Run, Trial, units};

use super::{Chart, pick};
use crate::{
    figure::{Axis, Dot, DotSeries, DotStanding, Figure},
    quantity::Quantity,
};

/// The chart.
pub struct RateOverTime;

impl Named for RateOverTime {
    fn name(&self) -> &'static str {
        "rate-over-time"
    }
}

impl Chart for RateOverTime {
    fn draw(&self, run: &Run) -> Option<Figure> {
        let canaries: Vec<&Trial> = run.trials.iter().filter(|trial| trial.phase == Phase::Canary).collect();
        // Two dots make a line, three a course.
        let first = canaries.first().filter(|_| canaries.len() >= 3)?;
        let dots: Vec<Dot> = canaries.iter().map(|trial| dot(run, trial)).collect();
        let (low, high) = (least(&dots)?, most(&dots)?);
        let leftovers = leftovers(&run.trials);
        let after_writes = match canaries.iter().filter(|trial| leftovers.contains(&trial.id)).count() {
            0 => String::new(),
            count => format!(
                " In {count} of them it came right after a write and took what that left behind: they count in no fit."
            ),
        };
        let series = vec![DotSeries { name: "canary".into(), joined: true, dots, ..DotSeries::default() }];
        Some(Figure {
            name: self.name().into(),
            title: "Did the storage stay the same while it was measured?".into(),
            reading: "Points are compared within rounds, so that a drift falls on all of them alike.".into(),
            answer: format!(
                "The canary, {}, ran {} times in turn with the points: between {} and {}.{after_writes}",
                first.spec.describe(),
                canaries.len(),
                Quantity::Iops.text(low),
                Quantity::Iops.text(high),
            ),
            experiment: None,
            also: Vec::new(),
            x: Axis::from_zero("time since the run began", Quantity::Seconds, &pick::places(&series)),
            y: Axis::from_zero("requests completed per second", Quantity::Iops, &pick::heights(&series)),
            series,
            ..Figure::default()
        })
    }
}

fn least(dots: &[Dot]) -> Option<f64> {
    dots.iter().map(|dot| dot.y).min_by(f64::total_cmp)
}

fn most(dots: &[Dot]) -> Option<f64> {
    dots.iter().map(|dot| dot.y).max_by(f64::total_cmp)
}

fn dot(run: &Run, trial: &Trial) -> Dot {
    let doubt = run.verdicts.iter().find(|v| v.trial == Some(trial.id) && v.verdict >= Outcome::Warning);
    let mut tip = vec![
        format!("round {}, after {}", trial.round, units::duration(trial.started_s)),
        Quantity::Iops.text(trial.iops()),
    ];
    let standing = match doubt.map(|verdict| verdict.verdict) {
        Some(Outcome::Invalid) => DotStanding::Void,
        Some(_) => DotStanding::Doubted,
        None => DotStanding::Stands,
    };
    tip.extend(
        standing.word().zip(doubt).map(|(word, verdict)| format!("{word}: {}", crate::text::why(verdict))),
    );
    Dot {
        x: trial.started_s + trial.warmup_s + trial.measured_s / 2.0,
        y: trial.iops(),
        x_interval: None,
        y_interval: None,
        label: None,
        tip,
        standing,
    }
}
