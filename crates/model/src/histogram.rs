//! A log-linear histogram of nanoseconds: constant relative error, no saturation, one increment an I/O.
//!
//! Values below 256 ns have a bucket each; above, every power of two is cut into 256 equal buckets. A bucket is
//! reported by its middle, so the error is at most half of 1/256 = 0.2 % (and at most 0.4 % to either edge).
//! The range is that of `u64`: 584 years, so nothing ever lands in an overflow bucket.
//!
//! Only touched buckets cost memory that the processor sees: latencies within a factor of four share 4 KiB. What is
//! kept is packed to the buckets in use, each by its distance from the one before and its count, seven bits a byte: of
//! 117 KB some 400 bytes stay, where a cut to the range of the latencies left 11 KB.

use std::ops::Range;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

const SUB_BITS: u32 = 8;
const SUBS: usize = 1 << SUB_BITS;
const BUCKETS: usize = (64 - SUB_BITS as usize + 1) * SUBS;
/// Another byte of this number follows.
const MORE: u8 = 0x80;

/// Counts of values by size. Serialised as `[[upper_ns, count], ..]`, empty buckets left out.
#[derive(Clone)]
pub struct Histogram {
    /// Every bucket's count; empty in a packed one.
    counts: Box<[u64]>,
    /// The buckets in use of a packed one.
    packed: Box<[u8]>,
    total: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS].into(), ..Self::none() }
    }
}

#[inline]
fn index(ns: u64) -> usize {
    if ns < SUBS as u64 {
        return ns as usize;
    }
    let shift = 63 - ns.leading_zeros() - SUB_BITS;
    // Everything at or above 2^8 has its top bit implied: (shift + 1) blocks of SUBS lie below it.
    ((shift as usize + 1) << SUB_BITS) + ((ns >> shift) as usize - SUBS)
}

/// The smallest value of a bucket, and how many values it holds.
fn bounds(index: usize) -> (u64, u64) {
    if index < SUBS {
        return (index as u64, 1);
    }
    let shift = (index >> SUB_BITS) as u32 - 1;
    (((index & (SUBS - 1)) + SUBS) as u64 * (1u64 << shift), 1 << shift)
}

impl Histogram {
    /// Without values, packed.
    fn none() -> Self {
        let (counts, packed) = (Box::default(), Box::default());
        Self { counts, packed, total: 0, sum_ns: 0, min_ns: u64::MAX, max_ns: 0 }
    }

    /// An empty histogram; allocates once.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one value.
    #[inline]
    pub fn record(&mut self, ns: u64) {
        match self.counts.get_mut(index(ns)) {
            Some(count) => *count += 1,
            None => self.unpacked()[index(ns)] += 1,
        }
        self.total += 1;
        self.sum_ns += u128::from(ns);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// All buckets of one that is packed.
    #[cold]
    fn unpacked(&mut self) -> &mut [u64] {
        let mut all = vec![0; BUCKETS];
        self.filled().for_each(|(i, count)| all[i] = count);
        (self.counts, self.packed) = (all.into(), Box::default());
        &mut self.counts
    }

    /// Range of the buckets in use.
    fn used(&self) -> Range<usize> {
        if self.total == 0 { 0..0 } else { index(self.min_ns)..index(self.max_ns) + 1 }
    }

    /// The buckets in use with their counts, ascending.
    fn filled(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let used = if self.counts.is_empty() { 0..0 } else { self.used() };
        let counted = used.map(|i| (i, self.counts[i])).filter(|(_, count)| *count > 0);
        counted.chain(Packed { rest: &self.packed, bucket: 0 })
    }

    /// The same, in as little memory as it takes: for what is kept.
    #[must_use]
    pub fn packed(self) -> Self {
        if self.counts.is_empty() {
            return self;
        }
        let packed = pack(self.filled());
        Self { counts: Box::default(), packed, ..self }
    }

    /// Adds another histogram's counts.
    pub fn merge(&mut self, other: &Self) {
        if other.total == 0 {
            return;
        }
        if self.counts.is_empty() {
            self.unpacked();
        }
        for (i, count) in other.filled() {
            self.counts[i] = self.counts[i].saturating_add(count);
        }
        self.total = self.total.saturating_add(other.total);
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Forgets everything, touching only the buckets that were used.
    pub fn clear(&mut self) {
        if !self.counts.is_empty() {
            let used = self.used();
            self.counts[used].fill(0);
        }
        self.packed = Box::default();
        (self.total, self.sum_ns, self.min_ns, self.max_ns) = (0, 0, u64::MAX, 0);
    }

    /// Returns the number of values.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The smallest value, exactly.
    pub fn min_ns(&self) -> Option<u64> {
        (self.total > 0).then_some(self.min_ns)
    }

    /// The largest value, exactly.
    pub fn max_ns(&self) -> Option<u64> {
        (self.total > 0).then_some(self.max_ns)
    }

    /// The mean, exactly.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.total > 0).then(|| self.sum_ns as f64 / self.total as f64)
    }

    /// The standard deviation from the buckets' middles (n in the denominator).
    pub fn stddev_ns(&self) -> Option<f64> {
        let mean = self.mean_ns()?;
        let squares: f64 =
            self.buckets().map(|(middle, _, count)| count as f64 * (middle - mean).powi(2)).sum();
        Some((squares / self.total as f64).sqrt())
    }

    /// Returns the smallest value such that a share `q` of all values is not above it (inverse of the empirical
    /// distribution), to within the bucket's error and never outside min..max. In nanoseconds.
    pub fn quantile_ns(&self, q: f64) -> Option<f64> {
        if self.total == 0 {
            return None;
        }
        let rank = ((q * self.total as f64).ceil() as u64).clamp(1, self.total);
        let mut below = 0;
        for (middle, _, count) in self.buckets() {
            below = count.saturating_add(below);
            if below >= rank {
                return Some(middle.clamp(self.min_ns as f64, self.max_ns as f64));
            }
        }
        Some(self.max_ns as f64)
    }

    /// The used buckets: (middle, upper bound inclusive, count), ascending.
    pub fn buckets(&self) -> impl Iterator<Item = (f64, u64, u64)> + '_ {
        self.filled().map(|(i, count)| {
            let (low, width) = bounds(i);
            (low as f64 + (width - 1) as f64 / 2.0, low + (width - 1), count)
        })
    }

    /// Rebuilds a histogram from its written form. `mean_ns`, `min_ns` and `max_ns` restore what buckets lose.
    pub fn from_pairs(
        pairs: &[(u64, u64)],
        mean_ns: Option<f64>,
        min_ns: Option<u64>,
        max_ns: Option<u64>,
    ) -> Self {
        let mut out = Self::none();
        let mut sum = 0.0;
        let mut filled: Vec<(usize, u64)> = Vec::with_capacity(pairs.len());
        for &(upper, count) in pairs.iter().filter(|(_, count)| *count > 0) {
            let i = index(upper);
            let (low, width) = bounds(i);
            filled.push((i, count));
            out.total = out.total.saturating_add(count);
            sum += (low as f64 + (width - 1) as f64 / 2.0) * count as f64;
            out.min_ns = out.min_ns.min(low);
            out.max_ns = out.max_ns.max(upper);
        }
        // A file may say any order and any count; a histogram that was recorded is in order, and never comes near the
        // end of the numbers.
        filled.sort_by_key(|(i, _)| *i);
        filled.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1.saturating_add(next.1);
            }
            same
        });
        out.packed = pack(filled.into_iter());
        out.sum_ns = mean_ns.map_or(sum, |mean| mean * out.total as f64) as u128;
        if out.total > 0 {
            // Kept inside the buckets that were written: the used range is found by these two.
            out.min_ns = min_ns.filter(|&v| index(v) == index(out.min_ns)).unwrap_or(out.min_ns);
            out.max_ns = max_ns.filter(|&v| index(v) == index(out.max_ns)).unwrap_or(out.max_ns);
        }
        out
    }
}

/// Reads packed buckets.
struct Packed<'a> {
    rest: &'a [u8],
    bucket: usize,
}

impl Packed<'_> {
    fn number(&mut self) -> Option<u64> {
        let (&first, rest) = self.rest.split_first()?;
        if first & MORE == 0 {
            self.rest = rest;
            return Some(u64::from(first));
        }
        let length = self.rest.iter().position(|byte| byte & MORE == 0)? + 1;
        let (digits, rest) = self.rest.split_at(length);
        self.rest = rest;
        Some(digits.iter().rev().fold(0, |sum, byte| sum << 7 | u64::from(byte & !MORE)))
    }
}

impl Iterator for Packed<'_> {
    type Item = (usize, u64);

    fn next(&mut self) -> Option<Self::Item> {
        // What another host sent may say anything.
        self.bucket = self.bucket.saturating_add(self.number()? as usize);
        Some((self.bucket, self.number()?))
    }
}

/// Buckets with their counts, ascending, as bytes.
fn pack(filled: impl Iterator<Item = (usize, u64)>) -> Box<[u8]> {
    let (mut packed, mut before) = (Vec::new(), 0);
    for (i, count) in filled {
        push_number(&mut packed, (i - before) as u64);
        push_number(&mut packed, count);
        before = i;
    }
    packed.into()
}

/// Seven bits a byte, the lowest first.
fn push_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= u64::from(MORE) {
        bytes.push(number as u8 | MORE);
        number >>= 7;
    }
    bytes.push(number as u8);
}

impl std::fmt::Debug for Histogram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Histogram({} values, mean {:?} ns)", self.total, self.mean_ns())
    }
}

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        self.total == other.total && self.buckets().eq(other.buckets())
    }
}

/// As bytes, with what buckets lose: between hosts. A result of a trial of 1 s is then 8 kB long, with the written form
/// 14 kB (`bench/many-hosts gather`).
#[derive(Serialize, Deserialize)]
struct Exact {
    #[serde(with = "serde_bytes")]
    packed: Box<[u8]>,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

impl Exact {
    /// Only what `packed` can have made.
    fn histogram(self) -> Option<Histogram> {
        let Self { packed, sum_ns, min_ns, max_ns } = self;
        let mut filled = Packed { rest: &packed, bucket: 0 };
        let (mut total, mut ends) = (0u64, None);
        for (i, count) in filled.by_ref() {
            let (first, last) = ends.unwrap_or((i, i));
            if i >= BUCKETS || count == 0 || (i <= last && total > 0) {
                return None;
            }
            total = total.checked_add(count)?;
            ends = Some((first, i));
        }
        let kept = ends.is_none_or(|ends| ends == (index(min_ns), index(max_ns)));
        let whole = kept && filled.rest.is_empty();
        let (min_ns, max_ns) = if total == 0 { (u64::MAX, 0) } else { (min_ns, max_ns) };
        whole.then(|| Histogram { packed, total, sum_ns, min_ns, max_ns, ..Histogram::none() })
    }
}

impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            let Self { packed, sum_ns, min_ns, max_ns, .. } = self.clone().packed();
            return Exact { packed, sum_ns, min_ns, max_ns }.serialize(serializer);
        }
        serializer.collect_seq(self.buckets().map(|(_, upper, count)| (upper, count)))
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            let exact = Exact::deserialize(deserializer)?;
            return exact.histogram().ok_or_else(|| D::Error::custom("buckets that no histogram has"));
        }
        let pairs = Vec::<(u64, u64)>::deserialize(deserializer)?;
        Ok(Self::from_pairs(&pairs, None, None, None))
    }
}

/// How many values a quantile needs, so that ten lie beyond it on average: fewer do not determine it (p99 needs 1,000).
/// `quantile` is below 1.
pub fn requests_beyond(quantile: f64) -> u64 {
    // Rounded: 1 - 0.9 is a little less than 0.1 in binary, and 101 would be required.
    (10.0 / (1.0 - quantile)).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Packing changes what it takes, and nothing that it does.
        #[test]
        fn a_packed_histogram_is_the_same(
            before in proptest::collection::vec(0u64..5_000_000_000, 0..40),
            after in proptest::collection::vec(0u64..5_000_000_000, 0..40),
        ) {
            let recorded = |values: &[u64]| {
                let mut histogram = Histogram::new();
                values.iter().for_each(|&ns| histogram.record(ns));
                histogram
            };
            let whole = recorded(&before);
            let mut packed = whole.clone().packed();
            prop_assert_eq!(&packed, &whole);
            // A bucket's distance takes two bytes at most, since there are fewer than 2^14, and such a count one.
            prop_assert!(packed.counts.is_empty() && packed.packed.len() <= 3 * before.len());
            let mut merged = whole.clone();
            merged.merge(&recorded(&after).packed());
            let mut into_packed = packed.clone();
            into_packed.merge(&recorded(&after));
            after.iter().for_each(|&ns| packed.record(ns));
            let all = recorded(&[before, after].concat());
            prop_assert_eq!((&packed, &merged, &into_packed), (&all, &all, &all));
            let mut cleared = all.packed();
            cleared.clear();
            prop_assert_eq!(cleared, Histogram::new());
        }
    }

    #[test]
    fn packed_numbers_of_every_length_come_back() {
        let counts = (0..64).map(|bits| 1 << bits).chain([127, 128, 16_383, 16_384, u64::MAX / 2]);
        for count in counts {
            let pairs = [(3, count), (1_000, 1), (u64::MAX, count)];
            let histogram = Histogram::from_pairs(&pairs, None, None, None);
            let back: Vec<u64> = histogram.buckets().map(|(.., count)| count).collect();
            assert_eq!(back, [count, 1, count]);
        }
    }

    #[test]
    fn counts_that_no_run_has_are_the_most_that_there_is() {
        let all = u64::MAX;
        let mut histogram = Histogram::from_pairs(&[(100, all), (100, 7), (200, all)], None, None, None);
        assert_eq!(histogram.total(), all);
        histogram.merge(&histogram.clone());
        assert_eq!((histogram.total(), histogram.quantile_ns(1.0).is_some()), (all, true));
    }

    #[test]
    fn buckets_tile_the_range() {
        for i in 0..BUCKETS - 1 {
            let (low, width) = bounds(i);
            assert_eq!(index(low), i);
            assert_eq!(index(low + (width - 1)), i);
            assert_eq!(bounds(i + 1).0, low + width);
        }
        assert_eq!(index(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn nothing_saturates_at_a_thousand_seconds() {
        let mut h = Histogram::new();
        h.record(1_000_000_000_000);
        let got = h.quantile_ns(0.5).unwrap();
        assert!((got / 1e12 - 1.0).abs() <= 0.004, "{got}");
    }

    #[test]
    fn empty_is_none_not_zero() {
        let h = Histogram::new();
        assert_eq!((h.mean_ns(), h.min_ns(), h.quantile_ns(0.99), h.stddev_ns()), (None, None, None, None));
    }

    proptest! {
        #[test]
        fn quantiles_stay_within_the_stated_error(
            mut values in prop::collection::vec(100u64..1_000_000_000_000, 1..400),
            q in 0.0f64..=1.0,
        ) {
            let mut h = Histogram::new();
            values.iter().for_each(|&v| h.record(v));
            values.sort_unstable();
            let rank = ((q * values.len() as f64).ceil() as usize).clamp(1, values.len());
            let truth = values[rank - 1] as f64;
            let got = h.quantile_ns(q).unwrap();
            prop_assert!((got / truth - 1.0).abs() <= 0.004, "{} for {}", got, truth);
        }

        #[test]
        fn merging_is_counting_both(
            a in prop::collection::vec(any::<u64>(), 0..50),
            b in prop::collection::vec(any::<u64>(), 0..50),
        ) {
            let fill = |values: &[u64]| {
                let mut h = Histogram::new();
                values.iter().for_each(|&v| h.record(v));
                h
            };
            let mut merged = fill(&a);
            merged.merge(&fill(&b));
            let both = fill(&[a, b].concat());
            prop_assert_eq!(merged.mean_ns(), both.mean_ns());
            prop_assert_eq!(merged, both);
        }

        /// What another host sent is refused, or is a histogram whose buckets can be read.
        #[test]
        fn any_bytes_are_refused_or_are_a_histogram(
            packed in prop::collection::vec(prop_oneof![0u8..8, any::<u8>()], 0..12),
            honest in prop::bool::weighted(0.8),
            ends: (u64, u64),
        ) {
            let filled: Vec<usize> = Packed { rest: &packed, bucket: 0 }.map(|(i, _)| i).collect();
            let low = |i: Option<&usize>| i.filter(|i| **i < BUCKETS).map_or(0, |i| bounds(*i).0);
            let (min_ns, max_ns) = if honest { (low(filled.first()), low(filled.last())) } else { ends };
            let exact = Exact { packed: packed.into(), sum_ns: 0, min_ns, max_ns };
            if let Some(mut histogram) = exact.histogram() {
                histogram.merge(&histogram.clone());
                prop_assert_eq!(histogram.buckets().map(|(.., count)| count).sum::<u64>(), histogram.total());
            }
        }

        #[test]
        fn written_and_read_back_it_is_the_same(values in prop::collection::vec(any::<u64>(), 0..60)) {
            let mut h = Histogram::new();
            values.iter().for_each(|&v| h.record(v));
            let back: Histogram = serde_json::from_str(&serde_json::to_string(&h).unwrap()).unwrap();
            prop_assert_eq!(&back, &h);
            let back: Histogram = rmp_serde::from_slice(&rmp_serde::to_vec_named(&h).unwrap()).unwrap();
            prop_assert_eq!((&back, back.sum_ns, back.min_ns, back.max_ns), (&h, h.sum_ns, h.min_ns, h.max_ns));
            h.clear();
            prop_assert_eq!(h.buckets().count(), 0);
        }
    }
}
