//! Several block sizes in one workload: `4k:60,64k:40`.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::units::{parse_size, size};

/// Block size and its share of the requests.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WeightedSize {
    /// Bytes of a request.
    pub bytes: u64,
    /// Share of the requests, in percent of all.
    pub percent: f64,
}

/// Block sizes with their shares; empty where a workload has one size.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct BlockSizes(Vec<WeightedSize>);

impl BlockSizes {
    /// Sizes in bytes with their numbers of requests, or other weights above 0.
    pub fn weighted(sizes: &[(u64, f64)]) -> Self {
        let sum: f64 = sizes.iter().map(|(_, weight)| weight).sum();
        Self(
            sizes
                .iter()
                .map(|&(bytes, weight)| WeightedSize { bytes, percent: 100.0 * weight / sum })
                .collect(),
        )
    }

    /// Returns true if the workload has one size.
    pub fn is_one(&self) -> bool {
        self.0.is_empty()
    }

    /// The sizes, as given.
    pub fn iter(&self) -> impl Iterator<Item = WeightedSize> {
        self.0.iter().copied()
    }

    /// The largest of several.
    pub fn largest_bytes(&self) -> Option<u64> {
        self.iter().map(|size| size.bytes).max()
    }

    /// The smallest of several.
    pub fn smallest_bytes(&self) -> Option<u64> {
        self.iter().map(|size| size.bytes).min()
    }

    /// `4 KiB (60 %) and 64 KiB (40 %)`.
    pub(super) fn describe(&self) -> Option<String> {
        let words: Vec<String> = self
            .iter()
            .map(|one| format!("{} ({} %)", size(one.bytes), (one.percent * 10.0).round() / 10.0))
            .collect();
        (!words.is_empty()).then(|| words.join(" and "))
    }
}

impl FromStr for BlockSizes {
    type Err = String;

    /// Reads `4k` (no weights: one size) or `4k:60,64k:40`; weights need not add up to 100.
    fn from_str(text: &str) -> Result<Self, String> {
        let parts: Vec<&str> = text.split(',').collect();
        if parts.len() > 1 && parts.iter().any(|part| !part.contains(':')) {
            return Err(format!(
                "`{text}`: sizes after a comma need weights, as in 4k:60,64k:40 (in fio a bare comma separates read \
                 and write sizes, which iosonde does not mix up)"
            ));
        }
        let mut sizes = Vec::new();
        for part in parts {
            let Some((bytes, weight)) = part.split_once(':') else { return Ok(Self::default()) };
            let bytes = parse_size(bytes).map_err(|e| e.to_string())?;
            let weight =
                weight.trim().trim_end_matches('%').parse().ok().filter(|w: &f64| *w > 0.0 && w.is_finite());
            let weight =
                weight.ok_or_else(|| format!("`{part}`: a weight is a number above 0, as in 4k:60"))?;
            sizes.push((bytes, weight));
        }
        Ok(Self::weighted(&sizes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_become_percent_of_all() {
        let sizes: BlockSizes = "4k:3,64k:1".parse().unwrap();
        let read: Vec<_> = sizes.iter().map(|size| (size.bytes, size.percent)).collect();
        assert_eq!(read, [(4096, 75.0), (65_536, 25.0)]);
        assert_eq!(sizes.describe().unwrap(), "4 KiB (75 %) and 64 KiB (25 %)");
        assert!("4k".parse::<BlockSizes>().unwrap().is_one());
    }

    #[test]
    fn a_comma_without_weights_is_refused() {
        assert!("4k,64k".parse::<BlockSizes>().unwrap_err().contains("need weights"));
        assert!("4k:60,64k".parse::<BlockSizes>().is_err());
        assert!("4k:0".parse::<BlockSizes>().is_err());
    }
}
