//! One axis: where a value lies on it, and which values are written beside it.

use iosonde_model::units;

/// What the numbers of an axis count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    Requests,
    InFlight,
    Rate,
    Bytes,
    TimeNs,
    Seconds,
    Share,
    Ratio,
}

impl Counts {
    pub fn words(self, value: f64) -> String {
        match self {
            _ if value == 0.0 => "0".into(),
            Self::Requests => short(&units::count(value)),
            Self::InFlight | Self::Seconds | Self::Ratio => short(&format!("{value:.3}")),
            Self::Rate => short(&units::rate(value)),
            Self::Bytes => short(&units::size(value.round().max(0.0) as u64)),
            Self::TimeNs => short(&units::time(value)),
            Self::Share => short(&format!("{:.1} %", value * 100.0)),
        }
    }
}

/// `50.0 k` is `50 k`.
pub fn short(text: &str) -> String {
    let (number, rest) = text.split_once(' ').map_or((text, String::new()), |(a, b)| (a, format!(" {b}")));
    let number =
        if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    format!("{number}{rest}")
}

pub struct Scale {
    pub name: String,
    pub counts: Counts,
    pub log: bool,
    pub low: f64,
    pub high: f64,
    /// Values to write; empty where round ones do.
    pub at: Vec<f64>,
}

impl Scale {
    pub fn share(&self, value: f64) -> f64 {
        let of = |value: f64| if self.log { value.max(1e-12).ln() } else { value };
        (of(value) - of(self.low)) / (of(self.high) - of(self.low)).max(1e-12)
    }

    /// Those values to write that lie within.
    pub fn ticks(&self) -> Vec<f64> {
        let ticks = match (self.at.is_empty(), self.log) {
            (false, _) => self.at.clone(),
            (true, true) => self.powers(),
            (true, false) => self.steps(),
        };
        let within = |value: &f64| (-0.001..=1.001).contains(&self.share(*value));
        ticks.into_iter().filter(within).collect()
    }

    fn steps(&self) -> Vec<f64> {
        let room = (self.high - self.low) / 4.0;
        let step = if self.counts == Counts::Bytes {
            room.log2().ceil().exp2()
        } else {
            let base = 10f64.powf(room.log10().floor());
            [1.0, 2.0, 2.5, 5.0, 10.0]
                .into_iter()
                .map(|digit| digit * base)
                .find(|s| *s >= room)
                .unwrap_or(room)
        };
        let first = (self.low / step).ceil() as i64;
        (first..first + 8).map(|count| count as f64 * step).filter(|value| *value <= self.high).collect()
    }

    fn powers(&self) -> Vec<f64> {
        let decades = (self.high / self.low).log10();
        let digits: &[f64] = match decades {
            many if many > 2.5 => &[1.0],
            few if few < 1.2 => &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
            _ => &[1.0, 2.0, 5.0],
        };
        let first = self.low.log10().floor() as i32;
        (first..=first + 12)
            .flat_map(|power| digits.iter().map(move |digit| digit * 10f64.powi(power)))
            .collect()
    }
}
