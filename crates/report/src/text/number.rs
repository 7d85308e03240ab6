//! Values with their intervals, as people read them: one unit, and no more digits than the interval earns.

use iosonde_model::{Estimate, Unit};

/// Unit of a number, and whether its name is written behind the number.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    unit: Unit,
    named: bool,
}

impl Style {
    /// Numbers of IOPS, of a queue depth, of accelerators or of a ratio without the unit's name, which stands
    /// elsewhere: `10.0 k (±1 %)`.
    pub fn bare(unit: Unit) -> Self {
        Self { unit, named: false }
    }
}

impl From<Unit> for Style {
    fn from(unit: Unit) -> Self {
        Self { unit, named: true }
    }
}

/// The factor that brings a value into the range that people read, and what then stands behind the
/// number.
fn scaled(style: Style, value: f64) -> (f64, &'static str) {
    let pick = |base: f64, names: &'static [&'static str]| {
        // 0.9995: what would print as 1000 moves to the next unit instead.
        let mut power = 0;
        while value.abs() >= base.powi(power + 1) * 0.9995 && (power as usize) + 1 < names.len() {
            power += 1;
        }
        (base.powi(power), names[power as usize])
    };
    match style.unit {
        Unit::Time => pick(1e3, &[" ns", " µs", " ms", " s"]),
        Unit::Rate => pick(1e3, &[" B/s", " kB/s", " MB/s", " GB/s", " TB/s"]),
        Unit::Iops if style.named => pick(1e3, &[" IOPS", " k IOPS", " M IOPS", " G IOPS"]),
        Unit::Iops => pick(1e3, &["", " k", " M", " G"]),
        Unit::Bytes => pick(1024.0, &[" B", " KiB", " MiB", " GiB", " TiB"]),
        Unit::InFlight if style.named => (1.0, " requests"),
        Unit::InFlight => (1.0, ""),
        Unit::PerHour => (0.01, " % an hour"),
        Unit::Ratio if style.named => (1.0, "×"),
        Unit::Ratio => (1.0, ""),
        Unit::Accelerators if style.named => (1.0, " accelerators"),
        Unit::Accelerators => (1.0, ""),
        Unit::Hosts => (1.0, " hosts"),
        Unit::None => (1.0, ""),
    }
}

/// A value with its interval in a sentence: `36 (34–38)`, or `between 2 and 29` where no more is known.
pub fn with_interval(style: impl Into<Style>, estimate: &Estimate) -> String {
    let style = style.into();
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) if style.unit == Unit::Ratio && says_nothing(style.unit, low, high) => {
            format!("{} (no usable interval)", alone(style, estimate.value))
        }
        (Some(low), Some(high)) if estimate.is_vague() && style.unit != Unit::PerHour => {
            let (low, high) = match style.unit {
                Unit::InFlight => {
                    (low.floor().to_string(), format!("{}{}", high.ceil(), scaled(style, high).1))
                }
                _ => (rounded(style, low), rounded(style, high)),
            };
            format!("between {low} and {high}")
        }
        _ => figure(style, estimate).in_words(),
    }
}

/// A number without an interval, with three significant digits.
pub fn alone(style: impl Into<Style>, value: f64) -> String {
    let (factor, name) = scaled(style.into(), value);
    format!("{:.*}{name}", three_digits(value / factor), value / factor)
}

/// Decimals of a number with three significant digits (0.9996 is 1.00). Of a ratio of 0.00231, two decimals would leave
/// nothing.
fn three_digits(shown: f64) -> usize {
    let power = if shown == 0.0 { 0.0 } else { (shown.abs() * 1.0005).log10().floor() };
    (2.0 - power).clamp(0.0, 8.0) as usize
}

/// In place of an interval.
const NO_INTERVAL: &str = "(no interval)";

/// A figure in a table of results: its value, and its interval beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// Three significant digits with the unit.
    pub value: String,
    /// `±2.1 %`, or `34–38` where the value is not in the middle, or is small and whole. Empty
    /// where the value is exact, or a bound.
    pub interval: String,
}

impl Figure {
    const UNKNOWN: &str = "unknown";

    /// What was asked and is not known.
    pub fn unknown() -> Self {
        Self { value: Self::UNKNOWN.to_owned(), interval: String::new() }
    }

    /// Whether it is not known.
    pub fn is_unknown(&self) -> bool {
        self.value == Self::UNKNOWN
    }

    /// The same as a minimum.
    #[must_use]
    pub fn at_least(self) -> Self {
        Self { value: format!("≥ {}", self.value), ..self }
    }

    /// Value and interval in a sentence: `36 (34–38)`.
    pub fn in_words(&self) -> String {
        match self.interval.as_str() {
            "" | NO_INTERVAL => self.whole(),
            interval if interval.starts_with('(') => self.whole(),
            interval => format!("{} ({interval})", self.value),
        }
    }

    /// Value and interval in one.
    pub fn whole(&self) -> String {
        format!("{} {}", self.value, self.interval).trim_end().to_owned()
    }
}

/// Half-width from which on a share is no longer read as a small one.
const SHARE_MAX: f64 = 0.1;
/// Half-width up to which an interval is narrow.
const NARROW: f64 = 0.01;
/// Half-width up to which the larger half tells an interval, wherever its value is: two ways to write intervals of one
/// row were read as a message.
const NEARLY_NARROW: f64 = 0.05;
/// Distance of the value from the middle, as a share of the interval, from which on it is not in the middle.
const OFF_MIDDLE: f64 = 0.15;

/// A value with three significant digits and its interval.
pub fn figure(style: impl Into<Style>, estimate: &Estimate) -> Figure {
    let style = style.into();
    figure_in(style, estimate, scaled(style, estimate.value))
}

/// A value in multiples of a factor, with a name behind it.
fn figure_in(style: Style, estimate: &Estimate, (factor, name): (f64, &str)) -> Figure {
    let digits = three_digits(estimate.value / factor);
    let value = format!("{:.digits$}{name}", estimate.value / factor);
    let (Some(low), Some(high)) = (estimate.low, estimate.high) else {
        return Figure { value, interval: NO_INTERVAL.to_owned() };
    };
    // Of a percentage, a share to either side would be a second kind of percent; and it may be below zero.
    let is_percentage = factor < 1.0;
    if !is_percentage && says_nothing(style.unit, low, high) {
        return Figure::unknown();
    }
    if !is_percentage && high > FIVE_FOLD * low {
        return Figure { interval: format!("({})", ends(style, low, high)), ..Figure::unknown() };
    }
    let is_whole = matches!(style.unit, Unit::InFlight | Unit::None | Unit::Hosts)
        && [estimate.value, low, high].iter().all(|number| number.fract() == 0.0)
        && !is_percentage;
    if low == high && (is_whole || style.unit == Unit::Bytes) {
        // Requests are whole numbers, and sizes are levels: the interval has no other value.
        let shown = estimate.value / factor;
        let value = if shown.fract() == 0.0 { format!("{shown:.0}{name}") } else { value };
        return Figure { value, interval: String::new() };
    }
    if let Some(half) = share_to_either_side(style.unit, estimate.value, low, high).filter(|_| !is_percentage)
    {
        // Rounded up: an interval is never told narrower than it is.
        let tenths = (half * 1000.0 - 1e-9).ceil().max(1.0);
        return Figure { value, interval: format!("±{} %", tenths / 10.0) };
    }
    // As many digits as tell the two ends apart, and no more than three.
    let earned = decimals(estimate.value / factor, (high - low) / 2.0 / factor);
    let digits = match style.unit {
        _ if is_whole => 0,
        // 1.0 would hide 5 %.
        Unit::Ratio => digits.min(earned.max(2)),
        _ => digits.min(earned),
    };
    let to = if low < 0.0 { " to " } else { "–" };
    let [least, most] = [low, high].map(|end| format!("{:.digits$}", end / factor));
    // A percentage whose three digits are certain: `0.225 %`.
    let interval = if least == most { String::new() } else { format!("{least}{to}{most}") };
    Figure { value: format!("{:.digits$}{name}", estimate.value / factor), interval }
}

/// A value that is known well, and may be higher: `35.0 MB/s`, `35–43`.
pub fn up_to(style: impl Into<Style>, value: f64, high: f64) -> Figure {
    let style = style.into();
    let (factor, name) = scaled(style, value);
    let digits = three_digits(value / factor);
    let earned = digits.min(decimals(value / factor, (high - value) / factor));
    Figure {
        value: format!("{:.digits$}{name}", value / factor),
        interval: format!("{:.earned$}–{:.earned$}", value / factor, high / factor),
    }
}

/// Whether an interval is told as a share to either side, `±2 %`, and not by its ends.
pub fn is_share(unit: Unit, value: f64, low: f64, high: f64) -> bool {
    share_to_either_side(unit, value, low, high).is_some()
}

/// Half of an interval as a share of the value, where that tells the interval.
fn share_to_either_side(unit: Unit, value: f64, low: f64, high: f64) -> Option<f64> {
    let half = f64::max(high - value, value - low) / value;
    let off_middle = ((high + low) / 2.0 - value).abs() > OFF_MIDDLE * (high - low);
    // Three digits do not show the ends of a narrow interval, wherever its value is.
    let tells = match unit {
        Unit::InFlight | Unit::Hosts => false,
        Unit::Bytes => half <= NARROW,
        // Where the interval of a ratio leaves 1 out, a wider one that does not would deny it.
        Unit::Ratio if includes_one(value, half) && (low > 1.0 || high < 1.0) => false,
        _ => half <= NEARLY_NARROW || half <= SHARE_MAX && !off_middle,
    };
    tells.then_some(half)
}

/// Whether a ratio with this share to either side may be 1.
fn includes_one(ratio: f64, half: f64) -> bool {
    (ratio * (1.0 - half)..=ratio * (1.0 + half)).contains(&1.0)
}

/// High over low of an interval from which on a figure is unknown.
const FIVE_FOLD: f64 = 5.0;

/// A value with its interval, of which ends have their unit: `33 MB/s (25–35)` was read as a range of sizes.
pub fn with_named_ends(unit: Unit, estimate: &Estimate) -> String {
    let told = figure(unit, estimate);
    let ends =
        estimate.low.zip(estimate.high).filter(|(low, high)| !is_share(unit, estimate.value, *low, *high));
    match ends.filter(|_| !told.interval.is_empty() && !estimate.is_vague()) {
        Some(_) => format!("{} ({}{})", told.value, told.interval, scaled(unit.into(), estimate.value).1),
        None => told.in_words(),
    }
}

/// A queue depth with its interval: `QD 7.8 (7.1–8.5)`.
pub fn queue_depth(estimate: &Estimate) -> String {
    format!("QD {}", with_interval(Style::bare(Unit::InFlight), estimate))
}

/// A share with its interval: `20 % (19–21)`.
pub fn percent(share: &Estimate) -> String {
    figure_in(Style::bare(Unit::None), share, (0.01, " %")).in_words()
}

/// High over low of an interval from which on it says nothing: `[0.00, 791.00]` and `339 ns to 6.7 s` are no figures.
const UNKNOWN: f64 = 100.0;

/// Whether not even the ends of an interval are worth a reader's time. Those of sizes and queue depths are levels that
/// were tried.
pub fn says_nothing(unit: Unit, low: f64, high: f64) -> bool {
    !matches!(unit, Unit::Bytes | Unit::InFlight) && high > UNKNOWN * low
}

/// What is a least, such as a rate that was still rising: its low end where that is all that is known.
pub fn at_least(style: impl Into<Style>, estimate: &Estimate) -> String {
    let style = style.into();
    match estimate.low.filter(|_| estimate.is_vague()) {
        Some(low) => format!("at least {}", rounded(style, low)),
        None => format!("at least {}", with_interval(style, estimate)),
    }
}

/// An interval alone: `50–261 µs`, or `950 ns to 6.1 µs` where the ends have different units.
pub fn range(unit: Unit, low: f64, high: f64) -> String {
    ends(unit.into(), low, high)
}

fn ends(style: Style, low: f64, high: f64) -> String {
    let (low_name, name) = (scaled(style, low).1, scaled(style, high).1);
    let [low, high] = [low, high].map(|end| rounded(style, end));
    match low.strip_suffix(name) {
        Some(low) if low_name == name => format!("{low}–{high}"),
        _ => format!("{low} to {high}"),
    }
}

/// A bound: at least two digits, in its own unit, and no zeros behind the point.
fn rounded(style: Style, value: f64) -> String {
    let (factor, name) = scaled(style, value);
    let value = value / factor;
    let decimals = match value {
        // Whether 1.03 or 0.97 is what decides about faster and slower.
        value if style.unit == Unit::Ratio && (0.95..9.95).contains(&value) => 2,
        value if value > 0.0 && value < 0.95 => 1 - value.log10().floor().clamp(-4.0, 0.0) as i32,
        value => i32::from(value < 9.95 && format!("{value:.1}") != format!("{value:.0}.0")),
    };
    let decimals = decimals as usize;
    format!("{value:.decimals$}{name}")
}

/// As many decimals as show the first digit of the interval's half-width, and a value's first two digits.
fn decimals(value: f64, half_width: f64) -> usize {
    let of_value = if value.abs() >= 9.95 || value == 0.0 { 0.0 } else { 1.0 };
    // 0.9999 of a last digit is one.
    f64::max(-(half_width * 1.001).log10().floor(), of_value).clamp(0.0, 8.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_have_the_digits_of_the_value_and_its_unit() {
        let of = |value: f64, low: f64, high: f64| {
            with_named_ends(Unit::Rate, &Estimate { value, low: Some(low), high: Some(high) })
        };
        assert_eq!(of(1.1e9, 1.0e9, 1.4e9), "1.1 GB/s (1.0–1.4 GB/s)");
        assert_eq!(of(33e6, 25e6, 35e6), "33 MB/s (25–35 MB/s)");
        assert_eq!(of(2e9, 1.99e9, 2.01e9), "2.00 GB/s (±0.5 %)");
    }

    fn shown(unit: Unit, value: f64, low: f64, high: f64) -> String {
        with_interval(unit, &Estimate { value, low: Some(low), high: Some(high) })
    }

    #[test]
    fn digits_follow_the_interval() {
        assert_eq!(shown(Unit::Time, 45_230.0, 44_100.0, 46_300.0), "45.2 µs (±2.5 %)");
        assert_eq!(shown(Unit::Time, 45_230.0, 44_900.0, 45_500.0), "45.2 µs (±0.8 %)");
        assert_eq!(shown(Unit::Rate, 6.91e9, 6.84e9, 6.98e9), "6.91 GB/s (±1.1 %)");
        assert_eq!(shown(Unit::Iops, 1.02e6, 0.99e6, 1.04e6), "1.02 M IOPS (±3 %)");
        assert_eq!(shown(Unit::Bytes, 22_528.0, 20_480.0, 25_600.0), "22 KiB (20–25)");
        assert_eq!(shown(Unit::InFlight, 46.0, 41.0, 52.0), "46 requests (41–52)");
        assert_eq!(shown(Unit::Ratio, 1.0, 0.98, 1.02), "1.00× (±2 %)");
        assert_eq!(shown(Unit::PerHour, -0.051, -0.0593, -0.0432), "-5.1 % an hour (-5.9 to -4.3)");
        assert_eq!(percent(&Estimate { value: 0.2, low: Some(0.19), high: Some(0.21) }), "20 % (19–21)");
        let exact = Estimate { value: 0.002_25, low: Some(0.002_249_9), high: Some(0.002_250_1) };
        assert_eq!(percent(&exact), "0.225 %");
        assert_eq!(
            queue_depth(&Estimate { value: 7.8, low: Some(7.1), high: Some(8.5) }),
            "QD 7.8 (7.1–8.5)"
        );
    }

    #[test]
    fn a_least_of_a_wide_interval_is_its_low_end() {
        let told =
            |low, high| at_least(Unit::Iops, &Estimate { value: 77e3, low: Some(low), high: Some(high) });
        assert_eq!(told(39e3, 152e3), "at least 39 k IOPS");
        assert_eq!(told(75e3, 79e3), "at least 77.0 k IOPS (±2.6 %)");
    }

    #[test]
    fn a_figure_has_three_digits_and_the_shorter_way_to_write_its_interval() {
        let of = |unit: Unit, value: f64, low: f64, high: f64| {
            figure(Style::bare(unit), &Estimate { value, low: Some(low), high: Some(high) }).whole()
        };
        assert_eq!(of(Unit::Rate, 3.4996e9, 3.498e9, 3.501e9), "3.50 GB/s ±0.1 %");
        assert_eq!(of(Unit::Time, 67_670.0, 66_300.0, 69_000.0), "67.7 µs ±2.1 %");
        assert_eq!(of(Unit::Rate, 500e6, 480e6, 590e6), "500 MB/s 480–590");
        assert_eq!(of(Unit::Rate, 481e6, 480e6, 590e6), "481 MB/s 480–590");
        assert_eq!(of(Unit::Ratio, 1.09, 1.01, 1.19), "1.09 1.01–1.19", "±9.2 % would include 1");
        assert_eq!(of(Unit::Iops, 117_190.0, 117_150.0, 117_220.0), "117 k ±0.1 %");
        assert_eq!(of(Unit::InFlight, 36.2, 34.4, 38.1), "36 34–38");
        assert_eq!(of(Unit::InFlight, 2.31, 2.28, 2.33), "2.31 2.28–2.33");
        assert_eq!(of(Unit::InFlight, 3.0, 3.0, 3.0), "3");
        assert_eq!(of(Unit::Bytes, 230.0 * 1024.0, 216.0 * 1024.0, 245.0 * 1024.0), "230 KiB 216–245");
        assert_eq!(of(Unit::Time, 1e6, 3e5, 2e6), "unknown (300 µs to 2 ms)", "over a factor of five");
        assert_eq!(of(Unit::Time, 1e5, 5e4, 2.61e5), "unknown (50–261 µs)");
        assert_eq!(of(Unit::Time, 1e5, 339.0, 6.7e9), "unknown");
        let without = figure(Unit::Iops, &Estimate { value: 5e3, low: None, high: None });
        assert_eq!(
            (without.interval.as_str(), without.in_words().matches('(').count()),
            ("(no interval)", 1)
        );
    }

    #[test]
    fn what_is_hardly_known_is_told_by_its_bounds() {
        let of = |unit, value, low, high| {
            with_interval(unit, &Estimate { value, low: Some(low), high: Some(high) })
        };
        assert_eq!(of(Unit::InFlight, 7.9, 2.2, 28.2), "between 2 and 29 requests");
        assert_eq!(of(Unit::InFlight, 7.9, 7.0, 9.0), "7.9 requests (7.0–9.0)");
        assert_eq!(of(Unit::Iops, 2500.0, 900.0, 3100.0), "between 900 IOPS and 3.1 k IOPS");
        assert_eq!(of(Unit::Time, 80_000.0, 30_000.0, 200_000.0), "between 30 µs and 200 µs");
        assert_eq!(of(Unit::Ratio, 1.27, 0.00204, 791.0), "1.27× (no usable interval)");
        assert_eq!(of(Unit::Ratio, 1.0, 0.303, 3.3), "between 0.30× and 3.30×");
        assert_eq!(of(Unit::Ratio, 2.5, 1.03, 16.1), "between 1.03× and 16×");
        assert_eq!(
            with_interval(Unit::Time, &Estimate { value: 8e4, low: None, high: None }),
            "80.0 µs (no interval)"
        );
    }

    #[test]
    fn the_unit_of_a_column_stands_above_it() {
        let of = |low, high| {
            with_interval(Style::bare(Unit::Iops), &Estimate { value: 1e4, low: Some(low), high: Some(high) })
        };
        assert_eq!(of(9800.0, 10_200.0), "10.0 k (±2 %)");
        assert_eq!(of(300.0, 2700.0), "between 300 and 2.7 k");
        let depth = Estimate { value: 46.0, low: Some(41.0), high: Some(52.0) };
        assert_eq!(with_interval(Style::bare(Unit::InFlight), &depth), "46 (41–52)");
        assert_eq!(alone(Unit::Time, 91_234.5), "91.2 µs");
    }

    #[test]
    fn the_ends_keep_the_value_s_unit() {
        assert_eq!(shown(Unit::Time, 1.05e6, 0.85e6, 1.25e6), "1.1 ms (0.8–1.2)");
        assert_eq!(shown(Unit::InFlight, 4.0, 4.0, 5.0), "4 requests (4–5)");
        assert_eq!(shown(Unit::InFlight, 3.0, 3.0, 3.0), "3 requests");
        assert_eq!(shown(Unit::InFlight, 8.2, 7.7, 8.8), "8.2 requests (7.7–8.8)");
        assert_eq!(shown(Unit::Ratio, 1.0, 0.8, 1.2), "1.00× (0.80–1.20)");
    }

    #[test]
    fn small_ratios_have_as_many_digits_as_large_ones() {
        assert_eq!(shown(Unit::Ratio, 0.002_31, 0.002_29, 0.002_33), "0.00231× (±0.9 %)");
        assert_eq!(shown(Unit::Ratio, 0.002_31, 0.002_01, 0.002_93), "0.0023× (0.0020–0.0029)");
        assert_eq!(shown(Unit::Ratio, 0.17921, 0.17911, 0.17931), "0.179× (±0.1 %)");
        assert_eq!(shown(Unit::Ratio, 0.665, 0.55, 0.80), "0.67× (0.55–0.80)");
        assert_eq!(shown(Unit::Ratio, 11.1111, 11.104, 11.119), "11.1× (±0.1 %)");
    }
}
