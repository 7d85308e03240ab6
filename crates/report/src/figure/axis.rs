//! One axis: where it begins and ends, where it is labelled, and where a value lies on it.

use crate::quantity::Quantity;

/// How an axis spaces its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    /// Equal steps, equal distances.
    Linear,
    /// Equal ratios, equal distances.
    Log,
}

/// One axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// Label in words: "queue depth".
    pub label: String,
    /// Quantity of its numbers, which determines the unit.
    pub quantity: Quantity,
    /// How it spaces them.
    pub spacing: Spacing,
    /// Where it begins.
    pub low: f64,
    /// Where it ends.
    pub high: f64,
    /// Where it is labelled; empty on a linear axis, whose ticks are equal steps.
    pub ticks: Vec<f64>,
    /// Names of the places 0, 1, .. where it has names instead of numbers.
    pub places: Vec<String>,
}

impl Axis {
    /// A logarithmic axis around these values, with ticks at `ticks` (as many as lie inside).
    pub fn log(label: &str, quantity: Quantity, values: &[f64], ticks: &[f64]) -> Self {
        let (low, high) = extent(values);
        // 6 % of the width on both sides keeps dots and their whiskers off the frame.
        let margin = (high / low).powf(0.06).max(1.1);
        let (low, high) = (low / margin, high * margin);
        let ticks = ticks.iter().copied().filter(|tick| (low..=high).contains(tick)).collect();
        Self {
            label: label.to_owned(),
            quantity,
            spacing: Spacing::Log,
            low,
            high,
            ticks,
            places: Vec::new(),
        }
    }

    /// A linear axis from 0 to a little more than the largest value, ending at a round number.
    pub fn from_zero(label: &str, quantity: Quantity, values: &[f64]) -> Self {
        let (_, high) = extent(values);
        let factor = quantity.scale(high).factor;
        let high = round_up(high * 1.04 / factor) * factor;
        let (spacing, low) = (Spacing::Linear, 0.0);
        Self { label: label.to_owned(), quantity, spacing, low, high, ticks: Vec::new(), places: Vec::new() }
    }

    /// An axis of names.
    pub fn places(label: &str, places: Vec<String>) -> Self {
        let high = places.len() as f64 - 0.5;
        Self {
            label: label.to_owned(),
            quantity: Quantity::Place,
            spacing: Spacing::Linear,
            low: -0.5,
            high,
            ticks: Vec::new(),
            places,
        }
    }

    /// The label with the unit in which its ticks are written: "throughput (MB/s)".
    pub fn title(&self) -> String {
        match (self.spacing, self.quantity) {
            // These ticks carry their own units, or need none.
            (Spacing::Log, _) | (_, Quantity::InFlight | Quantity::Place) => self.label.clone(),
            (Spacing::Linear, quantity) => format!("{} ({})", self.label, quantity.scale(self.high).unit),
        }
    }
}

/// A label at a place of an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// 0 at the axis's beginning, 1 at its end.
    pub share: f64,
    /// Text of the label.
    pub text: String,
}

impl Default for Axis {
    fn default() -> Self {
        Self::from_zero("", Quantity::Place, &[])
    }
}

impl Axis {
    /// A logarithmic axis where the values span more than a factor of 20, so that the small ones are seen, and one from
    /// zero where they do not, so that lengths are in proportion.
    pub fn fitting(label: &str, quantity: Quantity, values: &[f64]) -> Self {
        let (low, high) = extent(values);
        if low > 0.0 && high / low > 20.0 {
            Self::log(label, quantity, values, &decimal_ticks(values))
        } else {
            Self::from_zero(label, quantity, values)
        }
    }

    /// An axis for several series: from zero, so that lengths are in proportion, but logarithmic where their highest
    /// values lie more than a factor of 10 apart. From zero, the smaller series would lie on the frame.
    pub fn of_series(label: &str, quantity: Quantity, series: &[Vec<f64>]) -> Self {
        let highest: Vec<f64> =
            series.iter().filter_map(|one| one.iter().copied().reduce(f64::max)).collect();
        let (least, most) = extent(&highest);
        let all = series.concat();
        if least > 0.0 && most / least > 10.0 && extent(&all).0 > 0.0 {
            Self::log(label, quantity, &all, &decimal_ticks(&all))
        } else {
            Self::from_zero(label, quantity, &all)
        }
    }

    /// Where a value lies: 0 at the beginning of the axis, 1 at its end, and beyond for what is outside.
    pub fn share(&self, value: f64) -> f64 {
        match self.spacing {
            Spacing::Linear => (value - self.low) / (self.high - self.low),
            Spacing::Log => (value.max(f64::MIN_POSITIVE) / self.low).ln() / (self.high / self.low).ln(),
        }
    }

    /// Every label, from the beginning to the end.
    pub fn labels(&self) -> Vec<Tick> {
        let tick = |value: f64, text: String| Tick { share: self.share(value), text };
        if !self.places.is_empty() {
            return self.places.iter().enumerate().map(|(i, name)| tick(i as f64, name.clone())).collect();
        }
        match self.spacing {
            Spacing::Log => self.ticks.iter().map(|&at| tick(at, self.quantity.tick_text(at))).collect(),
            Spacing::Linear => {
                let factor = self.factor();
                let (step, count) = step(self.high / factor);
                (0..=count).map(|i| f64::from(i) * step).map(|at| tick(at * factor, plain(at))).collect()
            }
        }
    }

    /// Divisor of the values, so that plain ticks read in the unit that the axis names.
    pub fn factor(&self) -> f64 {
        match self.spacing {
            Spacing::Linear => self.quantity.scale(self.high).factor,
            Spacing::Log => 1.0,
        }
    }
}

/// A number as short as it can be said, without the noise of binary fractions.
fn plain(value: f64) -> String {
    let rounded: f64 = format!("{value:.6}").parse().expect("a printed number reads back");
    format!("{rounded}")
}

/// Four to six even steps of an axis from 0 to one of the round numbers at which axes end.
fn step(high: f64) -> (f64, u32) {
    let power = 10f64.powf(high.log10().floor());
    let count = match high / power {
        leading if leading < 1.1 || (1.9..2.1).contains(&leading) || leading > 4.9 && leading < 5.1 => 5,
        leading if leading < 1.3 || (2.3..3.1).contains(&leading) || (5.9..6.1).contains(&leading) => 6,
        _ => 4,
    };
    (high / f64::from(count), count)
}

fn extent(values: &[f64]) -> (f64, f64) {
    let finite = values.iter().copied().filter(|v| v.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    if low <= high { (low, high) } else { (1.0, 1.0) }
}

/// The next of 1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8 times a power of ten: each cuts into 4 to 6 even steps.
fn round_up(value: f64) -> f64 {
    if value <= 0.0 {
        return 1.0;
    }
    let power = 10f64.powf(value.log10().floor());
    let steps = [1.0, 1.2, 1.6, 2.0, 2.4, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    let step = steps.into_iter().find(|step| step * power >= value * (1.0 - 1e-9));
    step.unwrap_or(10.0) * power
}

/// 1, 2, 5, 10, 20, .. where the values span little, whole powers of ten where they span more than four.
pub fn decimal_ticks(values: &[f64]) -> Vec<f64> {
    let (low, high) = extent(values);
    let steps: &[f64] = match high / low {
        span if span > 1e4 => &[1.0],
        span if span > 6.0 => &[1.0, 2.0, 5.0],
        _ => &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0],
    };
    let powers = low.log10().floor() as i32 - 1..=high.log10().ceil() as i32;
    powers.flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_linear_axis_begins_at_zero_and_ends_at_a_round_number() {
        let axis = Axis::from_zero("throughput", Quantity::BytesPerSecond, &[1.0e8, 6.9e9]);
        // 6.9 GB/s * 1.04 = 7.18, and the next round number is 8.
        assert_eq!((axis.low, axis.high), (0.0, 8e9));
        assert_eq!(axis.title(), "throughput (GB/s)");
    }

    #[test]
    fn series_far_apart_share_a_log_axis() {
        let spacing = |series: &[Vec<f64>]| Axis::of_series("rate", Quantity::Iops, series).spacing;
        assert_eq!(spacing(&[vec![10.0, 900.0], vec![100.0, 101.0]]), Spacing::Linear);
        assert_eq!(spacing(&[vec![10.0, 900.0], vec![8.0, 45.0]]), Spacing::Log);
        // A single series may span decades: its own proportions matter.
        assert_eq!(spacing(&[vec![10.0, 90_000.0]]), Spacing::Linear);
        assert_eq!(spacing(&[vec![0.0, 900.0], vec![45.0]]), Spacing::Linear);
        assert_eq!(spacing(&[]), Spacing::Linear);
    }

    #[test]
    fn a_log_axis_keeps_the_ticks_inside() {
        let axis =
            Axis::log("block size", Quantity::Bytes, &[4096.0, 65536.0], &[1024.0, 4096.0, 65536.0, 1e9]);
        assert_eq!(axis.ticks, [4096.0, 65536.0]);
        assert!(axis.low < 4096.0 && axis.high > 65536.0);
    }

    #[test]
    fn ticks_thin_out_with_the_span() {
        let narrow = decimal_ticks(&[40.0, 90.0]);
        assert!([40.0, 50.0, 60.0, 80.0].iter().all(|t| narrow.contains(t)), "{narrow:?}");
        let wide = decimal_ticks(&[1.0, 1e6]);
        assert!(wide.iter().all(|tick| (tick.log10() - tick.log10().round()).abs() < 1e-9), "{wide:?}");
    }

    #[test]
    fn steps_are_even_and_end_at_the_axis() {
        for (high, wanted) in [(1.0, 0.2), (120.0, 20.0), (160.0, 40.0), (2.0, 0.4), (0.3, 0.05), (8.0, 2.0)]
        {
            assert!((step(high).0 - wanted).abs() < 1e-9, "{high}: {:?}", step(high));
        }
    }

    #[test]
    fn labels_stand_where_their_values_lie() {
        let axis = Axis::log("block size", Quantity::Bytes, &[4096.0, 65536.0], &[4096.0, 16384.0, 65536.0]);
        let labels = axis.labels();
        assert_eq!(labels[1].text, "16K");
        assert!((labels[1].share - 0.5).abs() < 1e-9, "the middle of a log axis is the geometric mean");
        let axis = Axis::from_zero("throughput", Quantity::BytesPerSecond, &[6.9e9]);
        let texts: Vec<String> = axis.labels().into_iter().map(|tick| tick.text).collect();
        assert_eq!(texts, ["0", "2", "4", "6", "8"]);
    }

    #[test]
    fn nothing_measured_makes_no_infinite_axis() {
        let axis = Axis::from_zero("rate", Quantity::Iops, &[]);
        assert!(axis.high.is_finite() && axis.high > 0.0);
    }
}
