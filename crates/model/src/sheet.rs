//! A vendor's sheet: what a drive is said to do, and under which conditions. A TOML file.

use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    Rw,
    toml_file::{FileError, TomlDocument, from_text},
    units::{self, Percentage, SizeBytes},
};

/// A sheet.
#[derive(Debug, Clone, PartialEq)]
pub struct Sheet {
    /// `d7-p5600`.
    pub name: String,
    /// The drive in a sentence.
    pub summary: String,
    /// Source of the figures.
    pub source: String,
    /// Capacity of the drive that the figures are for.
    pub capacity_bytes: Option<u64>,
    /// Claims.
    pub claims: Vec<Claim>,
}

/// Figure that a data sheet claims.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// Text of the line.
    pub line: String,
    /// The access pattern.
    pub rw: Rw,
    /// Bytes of one request; `None` where the sheet does not say.
    pub block_size_bytes: Option<u64>,
    /// Claimed value.
    pub value: f64,
    /// Unit of the value.
    pub unit: ClaimUnit,
    /// Total queue depth; `None` where the sheet does not say.
    pub in_flight: Option<u64>,
    /// The part of the drive that is addressed, as a share; `None` where the sheet does not say.
    pub span: Option<f64>,
    /// True if the claim holds in the steady state.
    pub steady: bool,
}

/// Unit of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClaimUnit {
    /// Requests a second.
    #[serde(rename = "IOPS")]
    Iops,
    /// Bytes a second.
    #[serde(rename = "B/s")]
    BytesPerSecond,
}

/// A sheet as it is written in a file of its own, or in a study's.
#[derive(Deserialize)]
pub(crate) struct SheetFile {
    name: String,
    summary: String,
    source: String,
    capacity: Option<SizeBytes>,
    pub(crate) claim: Vec<ClaimFile>,
}

#[derive(Deserialize)]
pub(crate) struct ClaimFile {
    line: String,
    rw: Rw,
    block_size: Option<SizeBytes>,
    value: ClaimValue,
    in_flight: Option<u64>,
    span: Option<Percentage>,
    #[serde(default)]
    state: ClaimState,
}

/// State of the drive under which a claim holds.
#[derive(Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ClaimState {
    #[default]
    Fresh,
    Steady,
}

/// What a sheet cannot do without.
const NEEDED: &[(&str, &str)] = &[("claim", "it claims nothing; add a [[claim]] with line, rw and value")];

impl Sheet {
    /// Reads a sheet's text; `origin` is what errors call it.
    ///
    /// # Errors
    /// Returns the place, the key and the rule that it breaks.
    pub fn parse(text: &str, origin: &str) -> Result<Self, FileError> {
        let document = TomlDocument::parse(text, format!("sheet {origin}"))?;
        let file: SheetFile = document.read().map_err(|error| error.explained(NEEDED))?;
        if file.claim.is_empty() {
            return Err(document.missing("claim", "").explained(NEEDED));
        }
        Ok(Self::from(file))
    }
}

impl From<SheetFile> for Sheet {
    fn from(file: SheetFile) -> Self {
        Self {
            capacity_bytes: file.capacity.map(|size| size.0),
            claims: file.claim.into_iter().map(Claim::from).collect(),
            name: file.name,
            summary: file.summary,
            source: file.source,
        }
    }
}

impl From<ClaimFile> for Claim {
    fn from(file: ClaimFile) -> Self {
        Self {
            rw: file.rw,
            block_size_bytes: file.block_size.map(|size| size.0),
            in_flight: file.in_flight,
            span: file.span.map(|span| span.0),
            line: file.line,
            value: file.value.value,
            unit: file.value.unit,
            steady: matches!(file.state, ClaimState::Steady),
        }
    }
}

impl Claim {
    /// Reads a claim as it is typed: `randwrite 4k 118000`, `read 128k 3500MB/s`.
    ///
    /// # Errors
    /// Returns the form of a claim, in a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let form =
            || format!("`{text}` is no claim; as in \"randwrite 4k 118000\" or \"read 128k 3500MB/s\"");
        let words: Vec<&str> = text.split_whitespace().collect();
        let [rw, size, value @ ..] = &words[..] else { return Err(form()) };
        let ClaimValue { value, unit } = value.join(" ").parse().map_err(|_| form())?;
        Ok(Self {
            line: text.to_owned(),
            rw: rw.parse().map_err(|error| format!("{}: {error}", form()))?,
            block_size_bytes: Some(units::parse_size(size).map_err(|error| format!("{}: {error}", form()))?),
            value,
            unit,
            in_flight: None,
            span: None,
            steady: false,
        })
    }
}

/// `118000`, `118000 IOPS`, `3500 MB/s`.
pub(crate) struct ClaimValue {
    pub(crate) value: f64,
    pub(crate) unit: ClaimUnit,
}

impl FromStr for ClaimValue {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || format!("`{text}` is no figure; as in \"118000 IOPS\" or \"3500 MB/s\"");
        let bare = text.trim().replace(' ', "");
        let (value, unit) = if bare.ends_with("B/s") {
            let bytes_per_s = units::parse_rate(&bare).map_err(|error| format!("{}: {error}", form()))?;
            (bytes_per_s as f64, ClaimUnit::BytesPerSecond)
        } else {
            (bare.strip_suffix("IOPS").unwrap_or(&bare).parse().map_err(|_| form())?, ClaimUnit::Iops)
        };
        if value.is_finite() && value > 0.0 { Ok(Self { value, unit }) } else { Err(form()) }
    }
}

impl<'de> Deserialize<'de> for ClaimValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        from_text(deserializer, "a figure such as \"118000 IOPS\" or \"3500 MB/s\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_reads_as_it_is_typed() {
        let claim = Claim::parse("randwrite 4k 118000").unwrap();
        assert_eq!((claim.rw, claim.block_size_bytes, claim.value), (Rw::RandWrite, Some(4096), 118_000.0));
        assert_eq!(claim.unit, ClaimUnit::Iops);
        let claim = Claim::parse("read 128k 3500 MB/s").unwrap();
        assert_eq!((claim.value, claim.unit), (3.5e9, ClaimUnit::BytesPerSecond));
        for wrong in [
            "",
            "randwrite",
            "randwrite 4k",
            "randwrite 4k many",
            "sideways 4k 1",
            "read 4k -1",
            "read 4k 0MB/s",
        ] {
            assert!(Claim::parse(wrong).unwrap_err().contains("as in"), "{wrong}");
        }
    }

    #[test]
    fn what_a_sheet_gets_wrong_is_told_with_its_place() {
        let read = |claims: &str| {
            Sheet::parse(&format!("name = 'x'\nsummary = ''\nsource = ''\n{claims}"), "x.toml")
        };
        let said = |claims: &str| read(claims).unwrap_err().to_string();
        for empty in ["claim = []", ""] {
            assert!(said(empty).contains("claims nothing"), "{}", said(empty));
        }
        let claim = |more: &str| format!("[[claim]]\nline = 'random read'\nrw = 'randread'\n{more}");
        for (more, wanted) in [
            ("value = '5 apples'", "sheet x.toml:7:9: [claim] value: `5 apples` is no figure"),
            ("value = '5'\nstate = 'tired'", "[claim] state is one of \"fresh\", \"steady\""),
            ("value = '5'\ncolour = 'red'", "x.toml:8:1: [claim] has no key `colour` (it has line, rw,"),
            ("", "x.toml:4:1: [claim] lacks `value`"),
        ] {
            assert!(said(&claim(more)).contains(wanted), "{}", said(&claim(more)));
        }
        assert!(read(&claim("value = '5 IOPS'\nspan = '100%'")).is_ok());
    }
}
