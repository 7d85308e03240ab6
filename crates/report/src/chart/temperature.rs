//! The device's temperature over the time of the run, where it has a sensor.
//!
//! Storage that grows warm slows itself down; a rate that falls while the temperature stands at its highest is heat and
//! not drift.

use iosonde_model::{Named, Run};

use super::{Chart, pick};
use crate::figure::{Axis, Dot, DotSeries, DotStanding, Figure};
use crate::quantity::Quantity;

/// The chart.
pub struct Temperature;

impl Named for Temperature {
    fn name(&self) -> &'static str {
        "temperature"
    }
}

impl Chart for Temperature {
    fn draw(&self, run: &Run) -> Option<Figure> {
        let dot = |trial: &iosonde_model::Trial| {
            let (x, y) = (trial.started_s + trial.elapsed_s, trial.witnesses.temperature_celsius?);
            Some(Dot {
                x,
                y,
                x_interval: None,
                y_interval: None,
                label: None,
                tip: vec![
                    format!("after trial {}: {}", trial.id, trial.spec.describe()),
                    format!("{y:.0} °C"),
                ],
                standing: DotStanding::Stands,
            })
        };
        let dots: Vec<Dot> = run.trials.iter().filter_map(dot).collect();
        if dots.len() < 3 {
            return None;
        }
        let warmest = dots.iter().map(|dot| dot.y).fold(f64::NEG_INFINITY, f64::max);
        let coolest = dots.iter().map(|dot| dot.y).fold(f64::INFINITY, f64::min);
        let series =
            vec![DotSeries { name: "warmest sensor".into(), joined: true, dots, ..DotSeries::default() }];
        Some(Figure {
            name: self.name().into(),
            title: "Did it grow warm?".into(),
            answer: format!("The warmest sensor read between {coolest:.0} and {warmest:.0} °C."),
            x: Axis::from_zero("time since the run began", Quantity::Seconds, &pick::places(&series)),
            y: Axis::from_zero("temperature", Quantity::Celsius, &pick::heights(&series)),
            series,
            ..Figure::default()
        })
    }
}
