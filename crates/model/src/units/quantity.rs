//! Quantities as types that are read from text with their unit.

use std::str::FromStr;

use serde::{Deserialize, Deserializer};

use super::{ParseQuantity, parse_percent, parse_rate, parse_size, parse_time_with_unit};
use crate::toml_file::from_text;

macro_rules! quantities {
    ($($(#[$doc:meta])* $Name:ident($Inner:ty) = $parse:path, $expected:literal;)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd)]
        pub struct $Name(pub $Inner);

        impl FromStr for $Name {
            type Err = ParseQuantity;
            fn from_str(text: &str) -> Result<Self, ParseQuantity> {
                $parse(text).map(Self)
            }
        }

        impl<'de> Deserialize<'de> for $Name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                from_text(deserializer, $expected)
            }
        }
    )+};
}

quantities! {
    /// Nanoseconds: `"80us"`.
    TimeNs(u64) = parse_time_with_unit, "a time such as \"80us\"";
    /// Bytes: `"16KiB"`.
    SizeBytes(u64) = parse_size, "a size such as \"16KiB\"";
    /// Bytes per second: `"3.5GB/s"`.
    BytesPerSecond(u64) = parse_rate, "a rate such as \"3.5GB/s\"";
    /// Share from 0 to 1, written as a percentage: `"2%"` is 0.02.
    Percentage(f64) = parse_percent, "a percentage such as \"2%\"";
    /// Share from 0 to 1, also of a rare event: `"0.1%"` or `"1 per million"`.
    Share(f64) = parse_share, "a share such as \"0.1%\" or \"1 per million\"";
    /// Relative change: `"-2%"` is -0.02.
    Change(f64) = parse_change, "a change such as \"-2%\"";
}

fn parse_change(text: &str) -> Result<f64, ParseQuantity> {
    match text.trim().strip_prefix('-') {
        Some(fall) => parse_percent(fall).map(|share| -share),
        None => parse_percent(text.trim().trim_start_matches('+')),
    }
}

fn parse_share(text: &str) -> Result<f64, ParseQuantity> {
    let fail = || ParseQuantity {
        typed: text.to_owned(),
        wanted: "a share between none and all",
        example: "0.1% or 1 per million",
    };
    let Some((count, of)) = text.split_once(" per ") else { return parse_percent(text).map_err(|_| fail()) };
    let of = match of.trim() {
        "hundred" => 1e2,
        "thousand" => 1e3,
        "million" => 1e6,
        "billion" => 1e9,
        other => other.replace([',', '_'], "").parse().map_err(|_| fail())?,
    };
    let count: f64 = count.trim().parse().map_err(|_| fail())?;
    let share = count / of;
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err(fail()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shares_as_people_write_them() {
        assert_eq!(parse_share("0.1%"), Ok(0.001));
        assert_eq!(parse_share("1 per million"), Ok(1e-6));
        assert_eq!(parse_share("3 per 1,000"), Ok(0.003));
        assert_eq!((parse_change("-2%"), parse_change("+2%")), (Ok(-0.02), Ok(0.02)));
        for wrong in ["2 per 1", "1 per none", "-1 per million", "x", "1 per 0"] {
            assert!(parse_share(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*") {
            let _ = (parse_share(&text), parse_change(&text));
        }
    }
}
