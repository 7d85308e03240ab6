//! Sizes, times, counts and percentages as people type and read them.
//!
//! `4k`, `4K` and `4KiB` are 4,096 bytes; `4kB` and `4MB` are decimal. Printed sizes are binary, printed rates
//! decimal, printed times in the unit a person reads.

mod list;
mod quantity;

use std::fmt;

pub use list::{List, Listed, values};
pub use quantity::{BytesPerSecond, Change, Percentage, Share, SizeBytes, TimeNs};

/// A quantity that could not be read: what was typed, and what would have been understood.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{typed}` is not {wanted}; write for example {example}")]
pub struct ParseQuantity {
    typed: String,
    wanted: &'static str,
    example: &'static str,
}

fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let number: f64 = number.replace('_', "").parse().ok()?;
    Some((number, suffix.trim()))
}

/// Reads a size into bytes. A bare number is bytes; a fraction of a byte is refused.
pub fn parse_size(text: &str) -> Result<u64, ParseQuantity> {
    let fail = || ParseQuantity {
        typed: text.to_owned(),
        wanted: "a size",
        example: "4k or 4KiB (4,096 bytes), 4kB (4,000), 1M, 2GiB",
    };
    let (number, suffix) = split(text).ok_or_else(fail)?;
    let factor: u64 = match suffix {
        "" | "B" | "b" => 1,
        "k" | "K" | "KiB" | "kiB" | "Ki" => 1 << 10,
        "m" | "M" | "MiB" | "Mi" => 1 << 20,
        "g" | "G" | "GiB" | "Gi" => 1 << 30,
        "t" | "T" | "TiB" | "Ti" => 1 << 40,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        _ => return Err(fail()),
    };
    let bytes = number * factor as f64;
    let whole = bytes.round();
    // 531.7 x 10^6 is 531,700,000.00000006 in floats: what is within their rounding of a whole number is whole.
    let is_whole = (bytes - whole).abs() <= whole * 4.0 * f64::EPSILON;
    // 2^53: beyond it a float no longer holds every byte count, and no storage is that large.
    if is_whole && bytes <= 9.0e15 { Ok(whole as u64) } else { Err(fail()) }
}

/// Reads a rate such as `3.5GB/s` into bytes per second.
pub fn parse_rate(text: &str) -> Result<u64, ParseQuantity> {
    let fail = || ParseQuantity {
        typed: text.to_owned(),
        wanted: "a rate",
        example: "3.5GB/s, 118MB/s or 200MiB/s",
    };
    let size = text.trim().strip_suffix("/s").ok_or_else(fail)?;
    parse_size(size).map_err(|_| fail())
}

/// Reads a duration such as `80us`, `1.5ms`, `90s`, `5m` or `1h` into nanoseconds. A bare number is seconds.
pub fn parse_time(text: &str) -> Result<u64, ParseQuantity> {
    let fail =
        || ParseQuantity { typed: text.to_owned(), wanted: "a time", example: "80us, 2ms, 90s, 5m or 1h" };
    let (number, suffix) = split(text).ok_or_else(fail)?;
    let factor_ns = match suffix {
        "ns" => 1.0,
        "us" | "µs" => 1e3,
        "ms" => 1e6,
        "" | "s" => 1e9,
        "m" | "min" => 60e9,
        "h" => 3600e9,
        "d" => 86_400e9,
        _ => return Err(fail()),
    };
    let ns = (number * factor_ns).round();
    if ns < 9.0e18 { Ok(ns as u64) } else { Err(fail()) }
}

/// Parses a time that must have a unit, as in a file, where a bare number would be ambiguous.
pub fn parse_time_with_unit(text: &str) -> Result<u64, ParseQuantity> {
    match split(text) {
        Some((number, "")) if number != 0.0 => Err(ParseQuantity {
            typed: text.to_owned(),
            wanted: "a time with its unit",
            example: "80us, 2ms, 90s, 5m or 1h",
        }),
        _ => parse_time(text),
    }
}

/// Reads a percentage such as `2%` (or `2`) into a share: 0.02.
pub fn parse_percent(text: &str) -> Result<f64, ParseQuantity> {
    let fail = || ParseQuantity {
        typed: text.to_owned(),
        wanted: "a percentage from 0% to 100%",
        example: "2% or 0.5%",
    };
    let number = text.trim();
    let number: f64 = number.strip_suffix('%').unwrap_or(number).trim().parse().map_err(|_| fail())?;
    if number.is_finite() && (0.0..=100.0).contains(&number) { Ok(number / 100.0) } else { Err(fail()) }
}

/// Prints a size in binary units: `4 KiB`, `1.5 GiB`.
pub fn size(bytes: u64) -> String {
    scaled(bytes as f64, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB", "PiB"])
}

/// Prints a size without the space that a sentence wants and a chart's axis does not: `4K`, `128K`, `1M`.
pub fn size_short(bytes: u64) -> String {
    scaled(bytes as f64, 1024.0, &["B", "K", "M", "G", "T", "P"]).replace(' ', "")
}

/// Prints bytes per second in decimal units: `6.91 GB/s`.
pub fn rate(bytes_per_s: f64) -> String {
    scaled(bytes_per_s, 1000.0, &["B/s", "kB/s", "MB/s", "GB/s", "TB/s"])
}

/// Prints an amount of data in decimal units, as vendors and network engineers do: `2.1 GB`.
pub fn decimal_bytes(bytes: u64) -> String {
    scaled(bytes as f64, 1000.0, &["B", "kB", "MB", "GB", "TB", "PB"])
}

/// Prints a count with a decimal prefix: `412 k`, `1.02 M`.
pub fn count(value: f64) -> String {
    scaled(value, 1000.0, &["", "k", "M", "G", "T"]).trim_end().to_owned()
}

/// Prints nanoseconds in the unit a person reads: `45 µs`, `1.20 ms`, `38 s`.
pub fn time(ns: f64) -> String {
    let magnitude = ns.abs();
    let (value, unit) = match () {
        () if magnitude < 1e3 => (ns, "ns"),
        () if magnitude < 1e6 => (ns / 1e3, "µs"),
        () if magnitude < 1e9 => (ns / 1e6, "ms"),
        () => (ns / 1e9, "s"),
    };
    format!("{} {unit}", significant(value))
}

/// Prints a stretch of wall-clock time: `320 ms`, `38 s`, `1 min 20 s`, `2 h 5 min`.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    match whole {
        0 if seconds > 0.0 => time(seconds * 1e9),
        0..60 => format!("{whole} s"),
        60..3600 if whole.is_multiple_of(60) => format!("{} min", whole / 60),
        60..3600 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

/// Prints a share as a percentage with two significant digits: 0.0132 is `1.3 %`.
pub fn percent(share: f64) -> String {
    let value = share * 100.0;
    let decimals = if value.abs() >= 9.95 || value == 0.0 {
        0
    } else if value.abs() >= 0.095 {
        1
    } else {
        2
    };
    format!("{value:.decimals$} %")
}

fn scaled(value: f64, base: f64, units: &[&str]) -> String {
    let mut value = value;
    let mut unit = 0;
    // 0.9995: a value that would print as 1000 moves to the next unit instead.
    while value.abs() >= base * 0.9995 && unit + 1 < units.len() {
        value /= base;
        unit += 1;
    }
    if value.fract() == 0.0 {
        format!("{value} {}", units[unit])
    } else {
        format!("{} {}", significant(value), units[unit])
    }
}

/// Three significant digits, and never an exponent between 0.001 and a million.
fn significant(value: f64) -> impl fmt::Display {
    let magnitude = value.abs();
    let decimals = match () {
        () if magnitude >= 99.95 || magnitude == 0.0 => 0,
        () if magnitude >= 9.995 => 1,
        () if magnitude >= 0.9995 => 2,
        () => 3,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn binary_and_decimal_suffixes_differ() {
        assert_eq!(parse_size("4k"), Ok(4096));
        assert_eq!(parse_size("4KiB"), Ok(4096));
        assert_eq!(parse_size("4kB"), Ok(4000));
        assert_eq!(parse_size("1.5M"), Ok(3 << 19));
        assert_eq!(parse_size("512"), Ok(512));
    }

    #[test]
    fn what_is_no_size_says_what_would_be() {
        let error = parse_size("4Q").unwrap_err().to_string();
        assert!(error.contains("`4Q`") && error.contains("4KiB"), "{error}");
        for wrong in ["", "k", "-4k", "0.3", "1e9", "4 k i b", "99999999999T"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn times_and_shares() {
        assert_eq!(parse_time("80us"), Ok(80_000));
        assert_eq!(parse_time("1.5ms"), Ok(1_500_000));
        assert_eq!(parse_time("90"), Ok(90_000_000_000));
        assert_eq!(parse_time("5m"), Ok(300_000_000_000));
        assert!(parse_time("5 parsecs").is_err());
        assert_eq!((parse_time_with_unit("0"), parse_time_with_unit("2ms")), (Ok(0), Ok(2_000_000)));
        let bare = parse_time_with_unit("60").unwrap_err().to_string();
        assert_eq!(bare, "`60` is not a time with its unit; write for example 80us, 2ms, 90s, 5m or 1h");
        assert_eq!(parse_percent("2%"), Ok(0.02));
        assert!(parse_percent("200%").is_err());
        assert_eq!(parse_rate("3.5GB/s"), Ok(3_500_000_000));
        assert_eq!(parse_rate("531.7MB/s"), Ok(531_700_000));
        assert!((1..100_000).all(|tenths| parse_size(&format!("{}.{}MB", tenths / 10, tenths % 10)).is_ok()));
    }

    #[test]
    fn printed_for_people() {
        assert_eq!(size(4096), "4 KiB");
        assert_eq!(size(3 << 29), "1.50 GiB");
        assert_eq!(size_short(131_072), "128K");
        assert_eq!(rate(6_910_000_000.0), "6.91 GB/s");
        assert_eq!(rate(999_999.0), "1.00 MB/s");
        assert_eq!(count(412_345.0), "412 k");
        assert_eq!(count(87.0), "87");
        assert_eq!(time(45_200.0), "45.2 µs");
        assert_eq!(duration(80.0), "1 min 20 s");
        assert_eq!([duration(0.0), duration(0.32), duration(0.6)], ["0 s", "320 ms", "1 s"]);
        assert_eq!(percent(0.0132), "1.3 %");
    }

    proptest! {
        #[test]
        fn a_size_in_bytes_reads_back(bytes in 0u64..1 << 52) {
            prop_assert_eq!(parse_size(&bytes.to_string()), Ok(bytes));
        }

        #[test]
        fn no_text_panics(text in "\\PC*") {
            let _ = (parse_size(&text), parse_time(&text), parse_percent(&text), parse_rate(&text));
        }
    }
}
