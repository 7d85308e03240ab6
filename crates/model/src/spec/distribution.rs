//! How random offsets are drawn: `uniform`, `once`, `once:job`, `zipf:1.1`, `pareto:0.2`, `normal:10%`, `hot:80%/20%`,
//! `hot:50%/5%:30%/15%`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::as_text::as_text;
use crate::units::parse_percent;

/// Distribution of random offsets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Distribution {
    /// Independent uniform choice of blocks.
    #[default]
    Uniform,
    /// Random permutation: each block exactly once per pass, by one of the jobs that share the span.
    Once,
    /// Random permutation for each job: each job visits each block exactly once per pass, as fio's jobs do.
    OncePerJob,
    /// The k-th most popular block in proportion to k^-θ; where popular blocks lie is random.
    Zipf {
        /// θ, above 0.
        theta: f64,
    },
    /// A share h of the blocks gets a share 1 - h of the requests, and so on within that share: the self-similar
    /// distribution of Gray et al. 1994, which fio calls pareto; 0.2 is "80:20". Where popular blocks lie is random.
    Pareto {
        /// h, between 0 and 0.5.
        share: f64,
    },
    /// Around the middle of the span.
    Normal {
        /// The standard deviation as a share of the span.
        deviation: f64,
    },
    /// Shares of the requests go to shares of the span, one after another from its beginning, the rest to the rest;
    /// uniform in each.
    Hot(HotRanges),
}

/// Most ranges that requests can be directed to, beside the rest.
pub const HOT_RANGES_MAX: usize = 7;

/// One range of the span.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct HotRange {
    /// Share of the requests that it gets.
    pub requests: f64,
    /// Its share of the span.
    pub span: f64,
}

/// Ranges of the span, in their order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HotRanges {
    count: usize,
    list: [HotRange; HOT_RANGES_MAX],
}

impl HotRanges {
    /// Between one and [`HOT_RANGES_MAX`] ranges, each with some requests and some of the span, that leave some of
    /// both.
    pub fn new(ranges: &[HotRange]) -> Option<Self> {
        let leave_some = |share: fn(&HotRange) -> f64| {
            // 0.5 + 0.3 + 0.2 may be a little less than 1.
            ranges.iter().all(|range| share(range) > 0.0)
                && ranges.iter().map(share).sum::<f64>() < 1.0 - 1e-9
        };
        let fits = (1..=HOT_RANGES_MAX).contains(&ranges.len());
        (fits && leave_some(|range| range.requests) && leave_some(|range| range.span)).then(|| {
            let mut list = [HotRange::default(); HOT_RANGES_MAX];
            list[..ranges.len()].copy_from_slice(ranges);
            Self { count: ranges.len(), list }
        })
    }

    /// All parts of the span: the ranges, and then the rest.
    pub fn parts(&self) -> impl Iterator<Item = HotRange> {
        let ranges = &self.list[..self.count];
        let left = |share: fn(&HotRange) -> f64| 1.0 - ranges.iter().map(share).sum::<f64>();
        let rest = HotRange { requests: left(|range| range.requests), span: left(|range| range.span) };
        ranges.iter().copied().chain([rest])
    }
}

impl Distribution {
    /// Whether a pass has each block once: of the stream, or of each job.
    pub fn is_once(&self) -> bool {
        matches!(self, Self::Once | Self::OncePerJob)
    }

    /// The distribution in the description of a stream.
    pub fn describe(&self) -> String {
        match self {
            Self::Once => "each block once".to_owned(),
            Self::OncePerJob => "each block once per job".to_owned(),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => f.write_str("uniform"),
            Self::Once => f.write_str("once"),
            Self::OncePerJob => f.write_str("once:job"),
            Self::Zipf { theta } => write!(f, "zipf:{theta}"),
            Self::Pareto { share } => write!(f, "pareto:{share}"),
            Self::Normal { deviation } => write!(f, "normal:{}%", tidy(*deviation)),
            Self::Hot(ranges) => {
                f.write_str("hot")?;
                ranges.list[..ranges.count]
                    .iter()
                    .try_for_each(|range| write!(f, ":{}%/{}%", tidy(range.requests), tidy(range.span)))
            }
        }
    }
}

/// A share in percent without the dust of binary fractions: 0.07 is 7, not 7.000000000000001.
pub(super) fn tidy(share: f64) -> f64 {
    (share * 1e11).round() / 1e9
}

impl FromStr for Distribution {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let number = |least: f64, most: f64, what: &str| {
            let fits = rest.parse().ok().filter(|value: &f64| *value > least && *value < most);
            fits.ok_or_else(|| format!("`{text}`: {what}"))
        };
        let share = |text: &str| parse_percent(text).ok().filter(|share| *share > 0.0 && *share < 1.0);
        match name {
            "uniform" | "random" if rest.is_empty() => Ok(Self::Uniform),
            "once" if rest.is_empty() => Ok(Self::Once),
            "once" if rest == "job" => Ok(Self::OncePerJob),
            "zipf" => number(0.0, 10.0, "zipf takes θ between 0 and 10, as in zipf:1.1")
                .map(|theta| Self::Zipf { theta }),
            "pareto" => number(0.0, 0.5, "pareto takes h between 0 and 0.5; pareto:0.2 sends 80 % to 20 %")
                .map(|share| Self::Pareto { share }),
            "normal" => share(rest)
                .map(|deviation| Self::Normal { deviation })
                .ok_or_else(|| format!("`{text}`: normal takes σ as a share of the span, as in normal:10%")),
            "hot" => {
                let range = |text: &str| {
                    let (requests, span) = text.split_once('/')?;
                    Some(HotRange { requests: share(requests)?, span: share(span)? })
                };
                let ranges: Option<Vec<HotRange>> = rest.split(':').map(range).collect();
                ranges.and_then(|ranges| HotRanges::new(&ranges)).map(Self::Hot).ok_or_else(|| {
                    format!(
                        "`{text}`: hot takes shares of the requests and of the span, as in hot:80%/20%; several \
                         (hot:50%/5%:30%/15%, at most {HOT_RANGES_MAX}) leave some of both for the rest"
                    )
                })
            }
            _ => Err(format!(
                "`{text}` is no distribution (they are uniform, once, once:job, zipf:θ, pareto:h, normal:σ% and \
                 hot:A%/B%)"
            )),
        }
    }
}

as_text!(Distribution);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_read_back_as_they_are_printed() {
        let hot = ["hot:80%/20%", "hot:50%/5%:30%/15%"];
        for text in
            ["uniform", "once", "once:job", "zipf:1.1", "pareto:0.2", "normal:7%"].into_iter().chain(hot)
        {
            assert_eq!(text.parse::<Distribution>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn the_rest_gets_what_the_ranges_leave() {
        let Distribution::Hot(ranges) = "hot:50%/5%:30%/15%".parse().unwrap() else { panic!("hot") };
        let parts: Vec<_> = ranges.parts().map(|part| (tidy(part.requests), tidy(part.span))).collect();
        assert_eq!(parts, [(50.0, 5.0), (30.0, 15.0), (20.0, 80.0)]);
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_an_example() {
        let hot = ["hot:80%", "hot:0%/20%", "hot:50%/5%:50%/15%", "hot:50%/50%:10%/50%", "hot:1%/1%:"];
        for text in
            ["zipf", "zipf:0", "zipf:x", "pareto:0.7", "normal:0", "gauss", "once:1"].into_iter().chain(hot)
        {
            let refusal = text.parse::<Distribution>().unwrap_err();
            assert!(refusal.contains(text) && refusal.len() > text.len() + 10, "{refusal}");
        }
    }
}
