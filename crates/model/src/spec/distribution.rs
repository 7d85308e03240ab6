//! How random offsets are drawn: `uniform`, `once`, `zipf:1.1`, `pareto:0.2`, `normal:10%`, `hot:80%/20%`.

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
    /// Random permutation: each block exactly once per pass.
    Once,
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
    /// A share of the requests goes to a share of the span at its beginning, the rest to the rest; uniform in each.
    Hot {
        /// Share of the requests.
        requests: f64,
        /// Share of the span.
        span: f64,
    },
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => f.write_str("uniform"),
            Self::Once => f.write_str("once"),
            Self::Zipf { theta } => write!(f, "zipf:{theta}"),
            Self::Pareto { share } => write!(f, "pareto:{share}"),
            Self::Normal { deviation } => write!(f, "normal:{}%", tidy(*deviation)),
            Self::Hot { requests, span } => write!(f, "hot:{}%/{}%", tidy(*requests), tidy(*span)),
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
            "zipf" => number(0.0, 10.0, "zipf takes θ between 0 and 10, as in zipf:1.1")
                .map(|theta| Self::Zipf { theta }),
            "pareto" => number(0.0, 0.5, "pareto takes h between 0 and 0.5; pareto:0.2 sends 80 % to 20 %")
                .map(|share| Self::Pareto { share }),
            "normal" => share(rest)
                .map(|deviation| Self::Normal { deviation })
                .ok_or_else(|| format!("`{text}`: normal takes σ as a share of the span, as in normal:10%")),
            "hot" => {
                let parts = rest.split_once('/').and_then(|(a, b)| Some((share(a)?, share(b)?)));
                parts.map(|(requests, span)| Self::Hot { requests, span }).ok_or_else(|| {
                    format!("`{text}`: hot takes the requests' share and the span's, as in hot:80%/20%")
                })
            }
            _ => Err(format!(
                "`{text}` is no distribution (they are uniform, once, zipf:θ, pareto:h, normal:σ% and hot:A%/B%)"
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
        for text in ["uniform", "once", "zipf:1.1", "pareto:0.2", "normal:7%", "hot:80%/20%"] {
            assert_eq!(text.parse::<Distribution>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_an_example() {
        for text in
            ["zipf", "zipf:0", "zipf:x", "pareto:0.7", "normal:0", "hot:80%", "hot:0%/20%", "gauss", "once:1"]
        {
            let refusal = text.parse::<Distribution>().unwrap_err();
            assert!(refusal.contains(text) && refusal.len() > text.len() + 10, "{refusal}");
        }
    }
}
