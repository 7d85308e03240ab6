//! Values with their units as people read them: one scale for a value and both ends of its interval.

use crate::text::number::with_interval;
use iosonde_model::{Estimate, Unit, units};

/// Quantity that a number counts, which determines how it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Bytes: binary units, `128 KiB`.
    Bytes,
    /// Bytes per second: decimal units, `6.91 GB/s`.
    BytesPerSecond,
    /// Requests completed per second: `412 k IOPS`.
    Iops,
    /// Nanoseconds: `45.2 µs`.
    Nanoseconds,
    /// Seconds of the run's clock: `80 s`.
    Seconds,
    /// Queue depth: `46`; with an interval `46 requests (41–52)`.
    InFlight,
    /// Hosts: `8`; with an interval `7.8 hosts (7.1–8.5)`.
    Hosts,
    /// A ratio: `1.00×`.
    Ratio,
    /// How far out in the tail: 1 request in so many waits longer. 100 is written `p99`.
    Tail,
    /// A share in percent: `70 %`.
    Percent,
    /// A temperature: `45 °C`.
    Celsius,
    /// The place of a name on an axis of names.
    Place,
}

/// A quantity's display unit: what a value is divided by, and the unit's name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// Base units in one display unit.
    pub factor: f64,
    /// `GB/s`; empty for a bare number.
    pub unit: &'static str,
}

impl Quantity {
    /// The quantity that a finding's unit names; `None` for a unit that this version does not know.
    pub fn of_unit(unit: &str) -> Option<Self> {
        Some(match unit {
            "B" => Self::Bytes,
            "B/s" => Self::BytesPerSecond,
            "IOPS" => Self::Iops,
            "ns" => Self::Nanoseconds,
            "s" => Self::Seconds,
            "requests" => Self::InFlight,
            "hosts" => Self::Hosts,
            "ratio" => Self::Ratio,
            _ => return None,
        })
    }

    /// Unit suffix of a column's name for plain numbers: `bytes_per_s`.
    pub fn column(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::BytesPerSecond => "bytes_per_s",
            Self::Iops => "iops",
            Self::Nanoseconds => "ns",
            Self::Seconds => "s",
            Self::InFlight => "in_flight",
            Self::Hosts => "hosts",
            Self::Ratio => "ratio",
            Self::Percent => "percent",
            Self::Celsius => "celsius",
            Self::Tail => "one_in",
            Self::Place => "",
        }
    }

    /// The unit in which a value of this size reads best.
    pub fn scale(self, value: f64) -> Scale {
        let steps: &[(f64, &'static str)] = match self {
            Self::Bytes => &[
                (1.0, "B"),
                (1024.0, "KiB"),
                (1048576.0, "MiB"),
                (1073741824.0, "GiB"),
                (1099511627776.0, "TiB"),
            ],
            Self::BytesPerSecond => {
                &[(1.0, "B/s"), (1e3, "kB/s"), (1e6, "MB/s"), (1e9, "GB/s"), (1e12, "TB/s")]
            }
            Self::Iops => &[(1.0, "IOPS"), (1e3, "k IOPS"), (1e6, "M IOPS"), (1e9, "G IOPS")],
            Self::Nanoseconds => &[(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")],
            Self::Seconds => &[(1.0, "s")],
            Self::InFlight | Self::Hosts => &[(1.0, "")],
            Self::Ratio => &[(1.0, "×")],
            Self::Percent => &[(1.0, "%")],
            Self::Celsius => &[(1.0, "°C")],
            Self::Tail | Self::Place => &[(1.0, "")],
        };
        // 0.9995: what would print as 1000 kB/s is 1.00 MB/s.
        let fits = |step: &&(f64, &str)| value.abs() >= step.0 * 0.9995;
        let &(factor, unit) = steps.iter().rev().find(fits).unwrap_or(&steps[0]);
        Scale { factor, unit }
    }

    /// A value with its unit: `6.91 GB/s`.
    pub fn text(self, value: f64) -> String {
        if self == Self::Tail {
            return percentile(value);
        }
        let scale = self.scale(value);
        let shown = value / scale.factor;
        let decimals = self.decimals(shown);
        format!("{}{}", number(shown, decimals), suffix(scale.unit))
    }

    /// A value with its unit and its interval in the same unit, as findings' sentences write it:
    /// `6.91 GB/s (±1.1 %)`; without an interval the value alone.
    pub fn interval_text(self, value: f64, low: Option<f64>, high: Option<f64>) -> String {
        match self.unit().filter(|_| low.is_some() && high.is_some()) {
            Some(unit) => with_interval(unit, &Estimate { value, low, high }),
            None => self.text(value),
        }
    }

    /// Unit of findings of this quantity.
    fn unit(self) -> Option<Unit> {
        match self {
            Self::Bytes => Some(Unit::Bytes),
            Self::BytesPerSecond => Some(Unit::Rate),
            Self::Iops => Some(Unit::Iops),
            Self::Nanoseconds => Some(Unit::Time),
            Self::InFlight => Some(Unit::InFlight),
            Self::Hosts => Some(Unit::Hosts),
            Self::Ratio => Some(Unit::Ratio),
            Self::Seconds | Self::Percent | Self::Celsius | Self::Tail | Self::Place => None,
        }
    }

    /// A tick's label, without the unit where the axis names it.
    pub fn tick_text(self, value: f64) -> String {
        match self {
            Self::Bytes => units::size_short(value as u64),
            Self::Nanoseconds => units::time(value).replace(".00", "").replace(".0 ", " "),
            Self::BytesPerSecond => units::rate(value).replace(".00", "").replace(".0 ", " "),
            Self::Iops => units::count(value).replace(".00", "").replace(".0", ""),
            Self::Tail => percentile(value),
            Self::Ratio => format!("{value}×"),
            Self::Seconds | Self::InFlight | Self::Hosts | Self::Percent | Self::Celsius | Self::Place => {
                format!("{value}")
            }
        }
    }

    fn decimals(self, shown: f64) -> usize {
        let magnitude = shown.abs();
        match self {
            // A queue depth of 46.3 is never set, and a size is a power of two or nearly.
            Self::InFlight if magnitude >= 9.95 => 0,
            _ if shown.fract() == 0.0
                && matches!(
                    self,
                    Self::Bytes | Self::InFlight | Self::Hosts | Self::Percent | Self::Celsius
                ) =>
            {
                0
            }
            _ if magnitude >= 99.95 || magnitude == 0.0 => 0,
            _ if magnitude >= 9.995 => 1,
            _ if magnitude >= 0.9995 => 2,
            _ => 3,
        }
    }
}

/// 1 in 1,000 waits longer: `p99.9`.
fn percentile(one_in: f64) -> String {
    // As many digits as tell it from 100: p66.67, p99.999.
    let digits = one_in.log10().ceil().max(2.0) as i32;
    let share = (10_f64.powi(digits) * 100.0 * (1.0 - 1.0 / one_in)).round() / 10_f64.powi(digits);
    format!("p{share}")
}

fn number(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    // A value of a thousand or more (the largest unit, or a count without units) gets its groups apart.
    let (whole, fraction) = text.split_at(text.find('.').unwrap_or(text.len()));
    let digits = whole.trim_start_matches('-');
    if digits.len() <= 3 {
        return text;
    }
    let grouped: Vec<&str> = {
        let first = digits.len() % 3;
        let heads = (first > 0).then(|| &digits[..first]);
        heads.into_iter().chain((first..digits.len()).step_by(3).map(|i| &digits[i..i + 3])).collect()
    };
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}{fraction}", grouped.join(","))
}

fn suffix(unit: &str) -> String {
    match unit {
        "" => String::new(),
        "×" => unit.to_owned(),
        _ => format!(" {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_share_the_unit_of_the_value() {
        let rate = Quantity::BytesPerSecond.interval_text(1.02e9, Some(0.994e9), Some(1.041e9));
        assert_eq!(rate, "1.02 GB/s (±2.6 %)");
        let time = Quantity::Nanoseconds.interval_text(45_200.0, Some(44_000.0), Some(46_400.0));
        assert_eq!(time, "45.2 µs (±2.7 %)");
        assert_eq!(Quantity::InFlight.interval_text(46.3, Some(41.2), Some(51.9)), "46 requests (41–52)");
        assert_eq!(Quantity::Ratio.interval_text(1.0, Some(0.98), Some(1.02)), "1.00× (±2 %)");
    }

    #[test]
    fn without_an_interval_there_are_no_brackets() {
        assert_eq!(Quantity::Iops.interval_text(37_412.0, None, None), "37.4 k IOPS");
        assert_eq!(Quantity::Iops.interval_text(37_412.0, Some(1.0), None), "37.4 k IOPS");
    }

    #[test]
    fn sizes_are_whole_where_they_are_whole() {
        assert_eq!(Quantity::Bytes.text(131_072.0), "128 KiB");
        assert_eq!(Quantity::Bytes.interval_text(22_528.0, Some(20_480.0), Some(25_600.0)), "22 KiB (20–25)");
        assert_eq!(Quantity::Bytes.text(1536.0), "1.50 KiB");
    }

    #[test]
    fn tails_are_written_as_percentiles() {
        let texts = [2.0, 10.0, 100.0, 1000.0, 10_000.0].map(|one_in| Quantity::Tail.text(one_in));
        assert_eq!(texts, ["p50", "p90", "p99", "p99.9", "p99.99"]);
    }

    #[test]
    fn what_would_print_as_a_thousand_moves_on() {
        assert_eq!(Quantity::Iops.text(999_800.0), "1.00 M IOPS");
        assert_eq!(Quantity::Seconds.text(12_345.0), "12,345 s");
        assert_eq!(Quantity::of_unit("furlongs"), None);
    }
}
