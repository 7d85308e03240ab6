//! What is written: `random`, `zero`, `compress:50%`, `dedupe:30%`, `compress:50%+dedupe:30%`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{as_text::as_text, distribution::tidy};
use crate::units::parse_percent;

/// Data that is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Payload {
    /// Random bytes, each block unlike every other: neither compressible nor dedupable.
    #[default]
    Random,
    /// Zeros, which some storage does not store at all.
    Zero,
    /// Random bytes of which a share is zeros, in every 4 KiB.
    Compress {
        /// The share that compression can save.
        share: f64,
    },
    /// Random bytes; a share of the 4 KiB blocks equals a block written before.
    Dedupe {
        /// The share that deduplication can save.
        share: f64,
    },
    /// Both: a share of each block is zeros, and a share of the blocks equals one written before.
    Both {
        /// The share that compression can save in a block.
        compress: f64,
        /// The share of the blocks that deduplication can save.
        dedupe: f64,
    },
}

impl Payload {
    /// Share of each block that is zeros.
    pub fn zero_share(self) -> f64 {
        match self {
            Self::Zero => 1.0,
            Self::Compress { share } | Self::Both { compress: share, .. } => share,
            Self::Random | Self::Dedupe { .. } => 0.0,
        }
    }

    /// Share of the blocks that equal one written before, where blocks are told apart.
    pub fn repeated_share(self) -> Option<f64> {
        match self {
            Self::Dedupe { share } | Self::Both { dedupe: share, .. } => Some(share),
            Self::Random | Self::Zero | Self::Compress { .. } => None,
        }
    }
}

impl fmt::Display for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random => f.write_str("random"),
            Self::Zero => f.write_str("zero"),
            Self::Compress { share } => write!(f, "compress:{}%", tidy(*share)),
            Self::Dedupe { share } => write!(f, "dedupe:{}%", tidy(*share)),
            Self::Both { compress, dedupe } => {
                write!(f, "compress:{}%+dedupe:{}%", tidy(*compress), tidy(*dedupe))
            }
        }
    }
}

impl FromStr for Payload {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        if let Some((compress, dedupe)) = text.split_once('+') {
            return match (compress.parse()?, dedupe.parse()?) {
                (Self::Compress { share: compress }, Self::Dedupe { share: dedupe }) => {
                    Ok(Self::Both { compress, dedupe })
                }
                _ => Err(format!("`{text}`: two of a kind; write for example compress:50%+dedupe:30%")),
            };
        }
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let share =
            || parse_percent(rest).map_err(|_| format!("`{text}`: {name} takes a share, as in {name}:50%"));
        match name {
            "random" if rest.is_empty() => Ok(Self::Random),
            "zero" if rest.is_empty() => Ok(Self::Zero),
            "compress" => Ok(Self::Compress { share: share()? }),
            "dedupe" => Ok(Self::Dedupe { share: share()? }),
            _ => Err(format!("`{text}` is no payload (they are random, zero, compress:P% and dedupe:P%)")),
        }
    }
}

as_text!(Payload);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_read_back_as_they_are_printed() {
        for text in ["random", "zero", "compress:50%", "dedupe:30%", "compress:50%+dedupe:30%"] {
            assert_eq!(text.parse::<Payload>().unwrap().to_string(), text);
        }
        assert!("compress".parse::<Payload>().unwrap_err().contains("compress:50%"));
        assert!("zeros".parse::<Payload>().unwrap_err().contains("zero"));
    }
}
