//! Values with their intervals, as people read them: one unit, and no more digits than the interval earns.

use iosonde_model::{Estimate, Unit};

/// Unit of a number, and whether its name is written behind the number.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    unit: Unit,
    named: bool,
}

impl Style {
    /// Numbers of IOPS, of a queue depth or of accelerators without the unit's name, which stands elsewhere:
    /// `10.0 k [9.9, 10.1]`.
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
        Unit::Ratio => (1.0, "×"),
        Unit::Accelerators if style.named => (1.0, " accelerators"),
        Unit::Accelerators => (1.0, ""),
        Unit::Hosts => (1.0, " hosts"),
        Unit::None => (1.0, ""),
    }
}

/// A value with its interval, for a sentence.
pub fn with_interval(style: impl Into<Style>, estimate: &Estimate) -> String {
    written(style.into(), estimate, usize::MAX).whole()
}

/// Value with the digits that its interval earns, and without the interval.
pub fn without_interval(style: impl Into<Style>, estimate: &Estimate) -> String {
    written(style.into(), estimate, usize::MAX).value
}

/// A value with its interval in a table's narrow column: no more than four digits, however well it is known.
pub fn in_a_column(style: impl Into<Style>, estimate: &Estimate) -> String {
    let style = style.into();
    if estimate.is_vague() {
        return bounded(style, estimate);
    }
    written(style, estimate, column_decimals(style, estimate.value, 4)).whole()
}

/// A number without an interval, as [`in_a_column`] writes it.
pub fn number_in_a_column(unit: Unit, value: f64) -> String {
    let exact = Estimate { value, low: Some(value), high: Some(value) };
    written(unit.into(), &exact, column_decimals(unit.into(), value, 4)).value
}

fn column_decimals(style: Style, value: f64, digits: usize) -> usize {
    let (factor, _) = scaled(style, value);
    let whole = (value / factor).abs().max(1.0).log10().floor() as usize + 1;
    digits.saturating_sub(whole)
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
            interval => format!("{} ({interval})", self.value),
        }
    }

    /// As in a sentence, with more in the same brackets: `3.00 k IOPS (±0.1 %; reads and writes share it)`.
    pub fn in_words_with(&self, more: &str) -> String {
        match self.interval.as_str() {
            "" | NO_INTERVAL => format!("{} ({more})", self.whole()),
            interval => format!("{} ({interval}; {more})", self.value),
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
/// Distance of the value from the middle, as a share of the interval, from which on it is not in the middle.
const OFF_MIDDLE: f64 = 0.15;

/// A value with three significant digits and its interval, for a table.
pub fn figure(style: impl Into<Style>, estimate: &Estimate) -> Figure {
    let style = style.into();
    let (factor, name) = scaled(style, estimate.value);
    let digits = column_decimals(style, estimate.value, 3);
    let value = format!("{:.digits$}{name}", estimate.value / factor);
    let (Some(low), Some(high)) = (estimate.low, estimate.high) else {
        return Figure { value, interval: NO_INTERVAL.to_owned() };
    };
    if says_nothing(style.unit, low, high) {
        return Figure::unknown();
    }
    if high > FIVE_FOLD * low {
        return Figure { interval: ends(style, low, high), ..Figure::unknown() };
    }
    let half = f64::max(high - estimate.value, estimate.value - low) / estimate.value;
    let off_middle = ((high + low) / 2.0 - estimate.value).abs() > OFF_MIDDLE * (high - low);
    // Three digits do not show the ends of a narrow interval, wherever its value is.
    let is_share = match style.unit {
        Unit::InFlight => false,
        Unit::Bytes => half <= NARROW,
        // Where the interval of a ratio leaves 1 out, a wider one that does not would deny it.
        Unit::Ratio if includes_one(estimate.value, half) && (low > 1.0 || high < 1.0) => false,
        _ => half <= NARROW || half <= SHARE_MAX && !off_middle,
    };
    if is_share {
        // Rounded up: an interval is never told narrower than it is.
        let tenths = (half * 1000.0 - 1e-9).ceil().max(1.0);
        return Figure { value, interval: format!("±{} %", tenths / 10.0) };
    }
    let whole = [estimate.value, low, high].iter().all(|number| number.fract() == 0.0);
    if style.unit == Unit::InFlight && whole && low == high {
        // Requests come whole: the interval holds this number alone.
        return Figure { value: format!("{:.0}{name}", estimate.value), interval: String::new() };
    }
    // As many digits as tell the two ends apart, and at least three.
    let earned = decimals(estimate.value / factor, (high - low) / 2.0 / factor);
    let digits = if style.unit == Unit::InFlight && whole { 0 } else { digits.min(earned) };
    let interval = format!("{:.digits$}–{:.digits$}", low / factor, high / factor);
    Figure { value: format!("{:.digits$}{name}", estimate.value / factor), interval }
}

/// Whether a ratio with this share to either side may be 1.
fn includes_one(ratio: f64, half: f64) -> bool {
    (ratio * (1.0 - half)..=ratio * (1.0 + half)).contains(&1.0)
}

/// A figure in a sentence: `36 (34–38)`, or `between 2 and 29` where no more is known.
pub fn briefly(style: impl Into<Style>, estimate: &Estimate) -> String {
    let style = style.into();
    if estimate.is_vague() { bounded(style, estimate) } else { figure(style, estimate).in_words() }
}

/// High over low of an interval from which on a figure is unknown.
const FIVE_FOLD: f64 = 5.0;

/// A value with its unit, and its interval or what stands in its place.
struct Written {
    value: String,
    interval: String,
}

impl Written {
    fn whole(&self) -> String {
        format!("{} {}", self.value, self.interval)
    }
}

/// A queue depth with its interval: `QD 7.8 [7.1, 8.5]`.
pub fn queue_depth(estimate: &Estimate) -> String {
    format!("QD {}", with_interval(Style::bare(Unit::InFlight), estimate))
}

/// A share with its interval: `20 % [19, 21]`.
pub fn percent(share: &Estimate) -> String {
    written_as(Unit::None, share, usize::MAX, (0.01, " %")).whole()
}

fn written(style: Style, estimate: &Estimate, digits_max: usize) -> Written {
    written_as(style.unit, estimate, digits_max, scaled(style, estimate.value))
}

/// A value in multiples of a factor, with a name behind it.
fn written_as(unit: Unit, estimate: &Estimate, digits_max: usize, (factor, name): (f64, &str)) -> Written {
    let value = estimate.value / factor;
    let (Some(low), Some(high)) = (estimate.low, estimate.high) else {
        let value = format!("{value:.*}{name}", decimals(value, value / 50.0));
        return Written { value, interval: NO_INTERVAL.to_owned() };
    };
    let (low, high) = (low / factor, high / factor);
    if unit == Unit::Ratio && says_nothing(unit, low, high) {
        return Written { value: format!("{value:.2}{name}"), interval: "(no usable interval)".to_owned() };
    }
    let digits = match unit {
        // Whole requests stay whole.
        Unit::InFlight if [value, low, high].iter().all(|number| number.fract() == 0.0) => 0,
        Unit::Ratio => ratio_decimals(value, (high - low) / 2.0),
        _ => decimals(value, (high - low) / 2.0),
    };
    let digits = digits.min(digits_max);
    let interval = format!("[{low:.digits$}, {high:.digits$}]");
    Written { value: format!("{value:.digits$}{name}"), interval }
}

/// High over low of an interval from which on it says nothing: `[0.00, 791.00]` and `339 ns to 6.7 s` are no figures.
const UNKNOWN: f64 = 100.0;

/// Whether not even the ends of an interval are worth a reader's time. Those of sizes and queue depths are levels that
/// were tried.
pub fn says_nothing(unit: Unit, low: f64, high: f64) -> bool {
    !matches!(unit, Unit::Bytes | Unit::InFlight) && high > UNKNOWN * low
}

/// A value with its interval, or `between 2 and 29 requests` where no more is known.
pub fn bounded(style: impl Into<Style>, estimate: &Estimate) -> String {
    let style = style.into();
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) if style.unit == Unit::Ratio && says_nothing(style.unit, low, high) => {
            with_interval(style, estimate)
        }
        (Some(low), Some(high)) if estimate.is_vague() => {
            let (low, high) = match style.unit {
                Unit::InFlight => {
                    (low.floor().to_string(), format!("{}{}", high.ceil(), scaled(style, high).1))
                }
                _ => (rounded(style, low), rounded(style, high)),
            };
            format!("between {low} and {high}")
        }
        _ => with_interval(style, estimate),
    }
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
    // An interval without width belongs to a value that is a whole number or one of a few measured sizes.
    if half_width <= 0.0 {
        return if value.fract() == 0.0 { 0 } else { 2 };
    }
    let of_width = -half_width.log10().floor();
    let of_value = if value.abs() >= 9.95 || value == 0.0 { 0.0 } else { 1.0 };
    f64::max(of_width, of_value).clamp(0.0, 3.0) as usize
}

/// As [`decimals`], and at least two: 1.0 would hide a ratio's 5 %. Small ratios keep as
/// many significant digits as large ones, or `0.002× [0.002, 0.002]` would be all that is said of a disk beside
/// flash.
fn ratio_decimals(value: f64, half_width: f64) -> usize {
    if half_width <= 0.0 || value <= 0.0 {
        return decimals(value, half_width).max(2);
    }
    let zeros = (-value.log10().floor()).clamp(0.0, 4.0);
    let of_width = -half_width.log10().floor();
    of_width.max(zeros + 1.0).clamp(2.0, zeros + 3.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(unit: Unit, value: f64, low: f64, high: f64) -> String {
        with_interval(unit, &Estimate { value, low: Some(low), high: Some(high) })
    }

    #[test]
    fn digits_follow_the_interval() {
        assert_eq!(shown(Unit::Time, 45_230.0, 44_100.0, 46_300.0), "45 µs [44, 46]");
        assert_eq!(shown(Unit::Time, 45_230.0, 44_900.0, 45_500.0), "45.2 µs [44.9, 45.5]");
        assert_eq!(shown(Unit::Rate, 6.91e9, 6.84e9, 6.98e9), "6.91 GB/s [6.84, 6.98]");
        assert_eq!(shown(Unit::Iops, 1.02e6, 0.99e6, 1.04e6), "1.02 M IOPS [0.99, 1.04]");
        assert_eq!(shown(Unit::Bytes, 22_528.0, 20_480.0, 25_600.0), "22 KiB [20, 25]");
        assert_eq!(shown(Unit::InFlight, 46.0, 41.0, 52.0), "46 requests [41, 52]");
        assert_eq!(shown(Unit::Ratio, 1.0, 0.98, 1.02), "1.00× [0.98, 1.02]");
        assert_eq!(shown(Unit::PerHour, -0.051, -0.0593, -0.0432), "-5.1 % an hour [-5.9, -4.3]");
        assert_eq!(percent(&Estimate { value: 0.2, low: Some(0.19), high: Some(0.21) }), "20 % [19, 21]");
        assert_eq!(
            queue_depth(&Estimate { value: 7.8, low: Some(7.1), high: Some(8.5) }),
            "QD 7.8 [7.1, 8.5]"
        );
    }

    #[test]
    fn a_least_of_a_wide_interval_is_its_low_end() {
        let told =
            |low, high| at_least(Unit::Iops, &Estimate { value: 77e3, low: Some(low), high: Some(high) });
        assert_eq!(told(39e3, 152e3), "at least 39 k IOPS");
        assert_eq!(told(75e3, 79e3), "at least 77 k IOPS [75, 79]");
    }

    #[test]
    fn a_column_has_four_digits_at_the_most() {
        let of = |value: f64, off: f64| {
            let ends = [1.0 - off, 1.0 + off].map(|factor| Some(value * factor));
            in_a_column(Unit::Iops, &Estimate { value, low: ends[0], high: ends[1] })
        };
        assert_eq!(of(117_187.0, 2e-5), "117.2 k IOPS [117.2, 117.2]");
        assert_eq!(of(39.863, 2e-5), "39.86 IOPS [39.86, 39.86]");
        assert_eq!(of(1.5e6, 0.1), "1.5 M IOPS [1.4, 1.7]");
        assert_eq!(of(1500.0, 0.8), "between 300 IOPS and 2.7 k IOPS");
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
        assert_eq!(of(Unit::Ratio, 1.09, 1.01, 1.19), "1.09× 1.01–1.19", "±9.2 % would include 1");
        assert_eq!(of(Unit::Iops, 117_190.0, 117_150.0, 117_220.0), "117 k ±0.1 %");
        assert_eq!(of(Unit::InFlight, 36.2, 34.4, 38.1), "36 34–38");
        assert_eq!(of(Unit::InFlight, 2.31, 2.28, 2.33), "2.31 2.28–2.33");
        assert_eq!(of(Unit::InFlight, 3.0, 3.0, 3.0), "3");
        assert_eq!(of(Unit::Bytes, 230.0 * 1024.0, 216.0 * 1024.0, 245.0 * 1024.0), "230 KiB 216–245");
        assert_eq!(of(Unit::Time, 1e6, 3e5, 2e6), "unknown 300 µs to 2 ms", "over a factor of five");
        assert_eq!(of(Unit::Time, 1e5, 5e4, 2.61e5), "unknown 50–261 µs");
        assert_eq!(of(Unit::Time, 1e5, 339.0, 6.7e9), "unknown");
        let without = figure(Unit::Iops, &Estimate { value: 5e3, low: None, high: None });
        assert_eq!(
            (without.interval.as_str(), without.in_words().matches('(').count()),
            ("(no interval)", 1)
        );
    }

    #[test]
    fn what_is_hardly_known_is_told_by_its_bounds() {
        let of =
            |unit, value, low, high| bounded(unit, &Estimate { value, low: Some(low), high: Some(high) });
        assert_eq!(of(Unit::InFlight, 7.9, 2.2, 28.2), "between 2 and 29 requests");
        assert_eq!(of(Unit::InFlight, 7.9, 7.0, 9.0), "7.9 requests [7.0, 9.0]");
        assert_eq!(of(Unit::Iops, 2500.0, 900.0, 3100.0), "between 900 IOPS and 3.1 k IOPS");
        assert_eq!(of(Unit::Time, 80_000.0, 30_000.0, 200_000.0), "between 30 µs and 200 µs");
        assert_eq!(of(Unit::Ratio, 1.27, 0.00204, 791.0), "1.27× (no usable interval)");
        assert_eq!(of(Unit::Ratio, 1.0, 0.303, 3.3), "between 0.30× and 3.30×");
        assert_eq!(of(Unit::Ratio, 2.5, 1.03, 16.1), "between 1.03× and 16×");
        assert_eq!(
            bounded(Unit::Time, &Estimate { value: 8e4, low: None, high: None }),
            "80 µs (no interval)"
        );
    }

    #[test]
    fn the_unit_of_a_column_stands_above_it() {
        let of = |low, high| {
            bounded(Style::bare(Unit::Iops), &Estimate { value: 1e4, low: Some(low), high: Some(high) })
        };
        assert_eq!(of(9800.0, 10_200.0), "10.0 k [9.8, 10.2]");
        assert_eq!(of(300.0, 2700.0), "between 300 and 2.7 k");
        let depth = Estimate { value: 46.0, low: Some(41.0), high: Some(52.0) };
        assert_eq!(with_interval(Style::bare(Unit::InFlight), &depth), "46 [41, 52]");
        assert_eq!(without_interval(Unit::InFlight, &depth), "46 requests");
        assert_eq!(number_in_a_column(Unit::Time, 91_234.5), "91.23 µs");
    }

    #[test]
    fn the_ends_keep_the_value_s_unit() {
        assert_eq!(shown(Unit::Time, 1.05e6, 0.95e6, 1.15e6), "1.1 ms [0.9, 1.1]");
        assert_eq!(shown(Unit::InFlight, 4.0, 4.0, 5.0), "4 requests [4, 5]");
        assert_eq!(shown(Unit::InFlight, 3.0, 3.0, 3.0), "3 requests [3, 3]");
        assert_eq!(shown(Unit::InFlight, 1.0, 1.0, 1.0), "1 requests [1, 1]");
        assert_eq!(shown(Unit::InFlight, 8.2, 7.7, 8.8), "8.2 requests [7.7, 8.8]");
        assert_eq!(shown(Unit::Ratio, 1.0, 0.8, 1.2), "1.00× [0.80, 1.20]");
    }

    #[test]
    fn small_ratios_have_as_many_digits_as_large_ones() {
        assert_eq!(shown(Unit::Ratio, 0.002_31, 0.002_29, 0.002_33), "0.00231× [0.00229, 0.00233]");
        assert_eq!(shown(Unit::Ratio, 0.045_49, 0.045_45, 0.045_53), "0.04549× [0.04545, 0.04553]");
        assert_eq!(shown(Unit::Ratio, 0.17921, 0.17911, 0.17931), "0.1792× [0.1791, 0.1793]");
        assert_eq!(shown(Unit::Ratio, 0.665, 0.62, 0.71), "0.67× [0.62, 0.71]");
        assert_eq!(shown(Unit::Ratio, 11.1111, 11.104, 11.119), "11.111× [11.104, 11.119]");
        assert_eq!(shown(Unit::Ratio, 2.0, 2.0, 2.0), "2.00× [2.00, 2.00]");
    }
}
