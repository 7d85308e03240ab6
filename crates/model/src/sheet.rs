//! A vendor's sheet: what a drive is said to do, and under which conditions. A TOML file.

use serde::{Deserialize, Serialize};

use crate::{Rw, units};

/// A sheet.
#[derive(Debug, Clone, PartialEq)]
pub struct Sheet {
    /// `d7-p5600`.
    pub name: String,
    /// The drive in a sentence.
    pub summary: String,
    /// Where the figures stand.
    pub source: String,
    /// Of the drive that the figures are for.
    pub capacity_bytes: Option<u64>,
    /// Its lines.
    pub claims: Vec<Claim>,
}

/// One line of a sheet.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// As it stands on the sheet.
    pub line: String,
    /// The access pattern.
    pub rw: Rw,
    /// Bytes of one request; `None` where the sheet does not say.
    pub block_size_bytes: Option<u64>,
    /// What is claimed.
    pub value: f64,
    /// In which unit.
    pub unit: ClaimUnit,
    /// Requests in flight in all; `None` where the sheet does not say.
    pub in_flight: Option<u64>,
    /// The part of the drive that is addressed, as a share; `None` where the sheet does not say.
    pub span: Option<f64>,
    /// Whether it holds in the steady state.
    pub steady: bool,
}

/// What a claim counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClaimUnit {
    /// Requests a second.
    #[serde(rename = "IOPS")]
    Iops,
    /// Bytes a second.
    #[serde(rename = "B/s")]
    BytesPerSecond,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SheetFile {
    name: String,
    summary: String,
    source: String,
    capacity: Option<String>,
    claim: Vec<ClaimFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimFile {
    line: String,
    rw: Rw,
    block_size: Option<String>,
    value: String,
    in_flight: Option<u64>,
    span: Option<String>,
    state: Option<String>,
}

/// A sheet without lines.
const CLAIMS_NOTHING: &str = "it claims nothing; add a [[claim]] with line, rw and value";

impl Sheet {
    /// Reads a sheet's text; `origin` is what errors call it.
    ///
    /// # Errors
    /// A sentence with the line or the claim, and what would be right.
    pub fn parse(text: &str, origin: &str) -> Result<Self, String> {
        let file: SheetFile = toml::from_str(text).map_err(|error| {
            let error = error.to_string();
            if error.contains("missing field `claim`") {
                format!("sheet {origin}: {CLAIMS_NOTHING}")
            } else {
                format!("sheet {origin}: {error}")
            }
        })?;
        if file.claim.is_empty() {
            return Err(format!("sheet {origin}: {CLAIMS_NOTHING}"));
        }
        let fail = |what: &str, error: &dyn std::fmt::Display| format!("sheet {origin}: {what}: {error}");
        let capacity = file.capacity.as_deref().map(units::parse_size).transpose();
        let claims = file.claim.into_iter().map(|claim| {
            let line = claim.line.clone();
            Claim::of(claim).map_err(|error| fail(&line, &error))
        });
        Ok(Self {
            capacity_bytes: capacity.map_err(|error| fail("capacity", &error))?,
            claims: claims.collect::<Result<_, _>>()?,
            name: file.name,
            summary: file.summary,
            source: file.source,
        })
    }
}

impl Claim {
    fn of(file: ClaimFile) -> Result<Self, String> {
        let said = |error: units::ParseQuantity| error.to_string();
        let (value, unit) = parse_value(&file.value)?;
        let steady = match file.state.as_deref() {
            None | Some("fresh") => false,
            Some("steady") => true,
            Some(other) => return Err(format!("`{other}` is no state; fresh or steady")),
        };
        Ok(Self {
            rw: file.rw,
            block_size_bytes: file.block_size.as_deref().map(units::parse_size).transpose().map_err(said)?,
            in_flight: file.in_flight,
            span: file.span.as_deref().map(units::parse_percent).transpose().map_err(said)?,
            line: file.line,
            value,
            unit,
            steady,
        })
    }

    /// Reads a claim as it is typed: `randwrite 4k 118000`, `read 128k 3500MB/s`.
    ///
    /// # Errors
    /// What a claim looks like.
    pub fn parse(text: &str) -> Result<Self, String> {
        let form =
            || format!("`{text}` is no claim; as in \"randwrite 4k 118000\" or \"read 128k 3500MB/s\"");
        let words: Vec<&str> = text.split_whitespace().collect();
        let [rw, size, value @ ..] = &words[..] else { return Err(form()) };
        let (value, unit) = parse_value(&value.join(" ")).map_err(|_| form())?;
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
fn parse_value(text: &str) -> Result<(f64, ClaimUnit), String> {
    let form = || format!("`{text}` is no figure; as in \"118000 IOPS\" or \"3500 MB/s\"");
    let bare = text.trim().replace(' ', "");
    if bare.ends_with("B/s") {
        let bytes_per_s = units::parse_rate(&bare).map_err(|error| format!("{}: {error}", form()))?;
        return if bytes_per_s > 0 {
            Ok((bytes_per_s as f64, ClaimUnit::BytesPerSecond))
        } else {
            Err(form())
        };
    }
    let value: f64 = bare.strip_suffix("IOPS").unwrap_or(&bare).parse().map_err(|_| form())?;
    if value.is_finite() && value > 0.0 { Ok((value, ClaimUnit::Iops)) } else { Err(form()) }
}

/// How a run stands to one line of a sheet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Standing {
    /// As claimed, within the margin, under the claim's conditions.
    #[serde(rename = "meets")]
    Meets,
    /// Less, with certainty.
    #[serde(rename = "below")]
    Below,
    /// More, with certainty: suspicious rather than good.
    #[serde(rename = "above")]
    Above,
    /// Measured under other conditions, or not at all.
    #[serde(rename = "not comparable")]
    NotComparable,
}

impl std::fmt::Display for Standing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Meets => "meets",
            Self::Below => "below",
            Self::Above => "above",
            Self::NotComparable => "not comparable",
        })
    }
}

/// One line of a sheet with what was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SheetLine {
    /// As it stands on the sheet.
    pub line: String,
    /// What is claimed.
    pub claimed: f64,
    /// In which unit.
    pub unit: ClaimUnit,
    /// What was measured by the point that comes nearest to the claim's conditions.
    pub measured: Option<f64>,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// How they stand to each other.
    pub verdict: Standing,
    /// Why.
    pub why: String,
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
    fn what_a_sheet_gets_wrong_is_said_with_its_line() {
        let read = |claims: &str| {
            Sheet::parse(&format!("name = 'x'\nsummary = ''\nsource = ''\n{claims}"), "x.toml")
        };
        assert!(read("claim = []").unwrap_err().contains("claims nothing"));
        let claim = |more: &str| read(&format!("[[claim]]\nline = 'random read'\nrw = 'randread'\n{more}"));
        assert!(claim("value = '5 apples'").unwrap_err().contains("random read: `5 apples` is no figure"));
        assert!(claim("value = '5'\nstate = 'tired'").unwrap_err().contains("fresh or steady"));
        assert!(claim("value = '5'\ncolour = 'red'").unwrap_err().contains("colour"));
        assert!(claim("value = '5 IOPS'\nspan = '100%'").is_ok());
    }
}
