//! Which units, page, stripe, way and link explain the reads of a run best.
//!
//! All numbers of units and all pages that are built are tried, each with several ways and links; the nearest of them
//! are then moved to where they are nearest (a search along each axis in turn, with halving steps). Near means: least
//! squares of the logarithms, each over its own error and that of the laws ([`super::array`]), and no rate counts for
//! more than four of these errors, since a trial that met what was written before it is no sign of another device. Of
//! those that explain the run alike the plainer is taken: a stripe of one page, a power of two, a page near 16 KiB.

use super::{
    array::Array,
    facts::{Read, Reads},
};

/// The laws are that near, relatively.
const LAW_ERROR: f64 = 0.012;
/// A rate that lies further off than so many errors counts like this.
const FARTHEST: f64 = 4.0;
/// Sizes of single reads, and all points, without which nothing is fitted.
const FEWEST_SIZES: usize = 3;
const FEWEST: usize = 6;
/// More than any drive has.
const MOST_UNITS: u32 = 512;
/// Shares of one small read's time that are tried as its way.
const WAYS: [f64; 10] = [0.02, 0.04, 0.07, 0.1, 0.14, 0.18, 0.23, 0.3, 0.4, 0.5];
/// Links that are tried, over the highest rate of bytes.
const LINKS: [f64; 14] = [1.0, 1.03, 1.1, 1.2, 1.35, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.5, 8.0, 12.0];
/// A link this many times as fast as the highest rate of bytes, or faster, shows in no rate.
const UNSEEN: f64 = 16.0;
/// Candidates that are moved to where they are nearest.
const MOVED: usize = 12;
/// Squared errors by which a candidate must be nearer to be taken before a plainer one: for each doubling of the stripe
/// over the page, for three times a power of two (other odd numbers of them pay twice), and for each doubling of the
/// page away from the usual one.
const STRIPES: f64 = 1.0;
const THREES: f64 = 1.0;
const PAGES: f64 = 0.1;
const USUAL_PAGE_BYTES: f64 = 16_384.0;

/// Numbers of units that are built: powers of two, and small odd numbers of them.
pub(super) fn plain() -> impl Iterator<Item = f64> {
    (0..=MOST_UNITS.ilog2())
        .flat_map(|power| [1u32, 3, 5, 7, 9].map(|odd| odd << power))
        .filter(|units| *units <= MOST_UNITS)
        .map(f64::from)
}

/// What was measured, sorted by the law that holds for it.
struct Measured<'r> {
    reads: &'r Reads,
    singles: Vec<Read>,
    small: Vec<Read>,
    small_depths: Vec<f64>,
    large: Vec<Read>,
    /// The smallest size, and how long one of it takes alone, without the program's part.
    bytes: f64,
    alone_ns: f64,
    most_bytes_per_ns: f64,
}

/// What is searched along: the rest of a candidate follows.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    off: f64,
    units: f64,
    page_bytes: f64,
    stripe_bytes: f64,
    way_share: f64,
    link_bytes_per_ns: f64,
}

/// The array that explains the reads best, without a bound of its link where none shows; nothing where they are too
/// few. What strides found is taken as it is.
pub(super) fn fit(reads: &Reads, units: Option<f64>, stripe_bytes: Option<f64>) -> Option<Array> {
    let measured = Measured::of(reads)?;
    let mut nearest: Vec<Candidate> = Vec::new();
    let counts: Vec<f64> = units.map_or_else(|| plain().collect(), |units| vec![units]);
    for units in counts {
        for (way_share, link) in WAYS.iter().flat_map(|way| LINKS.iter().map(move |link| (*way, *link))) {
            let link_bytes_per_ns = measured.most_bytes_per_ns * link;
            let start = Candidate {
                off: 0.0,
                units,
                page_bytes: 4096.0,
                stripe_bytes: 4096.0,
                way_share,
                link_bytes_per_ns,
            };
            let Some(off_small) = measured.off_small(&start) else { continue };
            for (page_bytes, stripe_bytes) in shapes(stripe_bytes, measured.bytes) {
                let mut candidate = Candidate { page_bytes, stripe_bytes, ..start };
                candidate.off = off_small + measured.off_large(&candidate) + strange(&candidate);
                nearest.push(candidate);
            }
        }
        nearest.sort_by(|a, b| a.off.total_cmp(&b.off));
        // Neighbours of the nearest crowd it; each shape may have some.
        nearest.truncate(4 * MOVED);
    }
    let moved = nearest.into_iter().take(MOVED).map(|candidate| measured.moved(candidate));
    let mut best = moved.min_by(|a, b| a.off.total_cmp(&b.off))?;
    if best.link_bytes_per_ns >= 0.99 * UNSEEN * measured.most_bytes_per_ns {
        best.link_bytes_per_ns = f64::INFINITY;
    }
    measured.array(&best)
}

/// Pages and stripes that are tried.
fn shapes(stripe_bytes: Option<f64>, least_bytes: f64) -> impl Iterator<Item = (f64, f64)> {
    let pages = (12..=17).map(|power| 2f64.powi(power)).filter(move |page| *page >= least_bytes);
    pages.flat_map(move |page| {
        let stripes: Vec<f64> = match stripe_bytes {
            Some(stripe) => vec![stripe],
            None => (0..=4).map(|power| page * 2f64.powi(power)).collect(),
        };
        stripes.into_iter().filter(move |stripe| *stripe >= page).map(move |stripe| (page, stripe))
    })
}

/// What a candidate pays for not being plain.
fn strange(candidate: &Candidate) -> f64 {
    let Candidate { units, page_bytes, stripe_bytes, .. } = *candidate;
    let odd = if units.log2().fract() == 0.0 {
        0.0
    } else if (units / 3.0).log2().fract() == 0.0 {
        THREES
    } else {
        2.0 * THREES
    };
    STRIPES * (stripe_bytes / page_bytes).log2() + odd + PAGES * (page_bytes / USUAL_PAGE_BYTES).log2().abs()
}

/// How far a rate lies from what a candidate gives.
fn off(read: &Read, per_ns: f64) -> f64 {
    let miss = (per_ns / read.per_ns).ln().powi(2) / (LAW_ERROR.powi(2) + read.error.powi(2));
    miss.min(FARTHEST.powi(2))
}

impl<'r> Measured<'r> {
    fn of(reads: &'r Reads) -> Option<Self> {
        let of = |keep: &dyn Fn(&Read) -> bool| -> Vec<Read> {
            reads.all.iter().filter(|read| keep(read)).copied().collect()
        };
        let singles = of(&|read| read.random && read.in_flight == 1.0);
        let least = singles.iter().min_by(|a, b| a.bytes.total_cmp(&b.bytes)).copied()?;
        let small = of(&|read| read.random && read.bytes == least.bytes && read.in_flight > 1.0);
        let large = of(&|read| read.bytes >= LARGE_BYTES && read.in_flight > 1.0);
        let mut sizes: Vec<u64> = singles.iter().map(|read| read.bytes as u64).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let enough = sizes.len() >= FEWEST_SIZES && singles.len() + small.len() + large.len() >= FEWEST;
        if !enough || small.is_empty() {
            return None;
        }
        // Several experiments may have asked the same.
        let alone = |read: &&Read| read.bytes == least.bytes;
        let fastest = singles.iter().filter(alone).map(|read| read.per_ns).fold(0.0, f64::max);
        let most = singles.iter().chain(&large).chain(&small).map(|read| read.bytes * read.per_ns);
        Some(Self {
            small_depths: small.iter().map(|read| read.in_flight).collect(),
            bytes: least.bytes,
            alone_ns: 1.0 / fastest - reads.host_ns,
            most_bytes_per_ns: most.fold(0.0, f64::max),
            reads,
            singles,
            small,
            large,
        })
    }

    /// The array of a candidate; `None` where the link's time exceeds that of one measured read.
    fn array(&self, candidate: &Candidate) -> Option<Array> {
        let medium_ns = self.alone_ns - self.bytes / candidate.link_bytes_per_ns;
        (medium_ns > 0.0).then_some(Array {
            host_ns: self.reads.host_ns,
            way_ns: medium_ns * candidate.way_share,
            sense_ns: medium_ns * (1.0 - candidate.way_share),
            units: candidate.units,
            page_bytes: candidate.page_bytes,
            stripe_bytes: candidate.stripe_bytes,
            link_bytes_per_ns: candidate.link_bytes_per_ns,
        })
    }

    /// Several small reads at once, for which page and stripe do not matter.
    fn off_small(&self, candidate: &Candidate) -> Option<f64> {
        let rates = self.array(candidate)?.small_per_ns(self.bytes, &self.small_depths);
        Some(self.small.iter().zip(rates).map(|(read, per_ns)| off(read, per_ns)).sum())
    }

    fn off_large(&self, candidate: &Candidate) -> f64 {
        let Some(array) = self.array(candidate) else { return f64::INFINITY };
        let singles = self.singles.iter().map(|read| off(read, 1.0 / array.alone_ns(read.bytes)));
        let large = self.large.iter().map(|read| off(read, array.large_per_ns(read.bytes, read.in_flight)));
        singles.chain(large).sum()
    }

    /// Where way and link bring a candidate nearest.
    fn moved(&self, mut candidate: Candidate) -> Candidate {
        let mut step = 0.25;
        while step > 0.004 {
            let (way, link) = (candidate.way_share, candidate.link_bytes_per_ns);
            let tries = [
                (way * (1.0 + step), link),
                (way / (1.0 + step), link),
                (way, (link * (1.0 + step)).min(UNSEEN * self.most_bytes_per_ns)),
                (way, (link / (1.0 + step)).max(self.most_bytes_per_ns)),
            ];
            let before = candidate.off;
            for (way_share, link_bytes_per_ns) in tries.into_iter().filter(|(way, _)| *way < 0.9) {
                let mut other = Candidate { way_share, link_bytes_per_ns, ..candidate };
                let Some(off_small) = self.off_small(&other) else { continue };
                other.off = off_small + self.off_large(&other) + strange(&other);
                if other.off < candidate.off {
                    candidate = other;
                }
            }
            if candidate.off > before - 1e-9 {
                step /= 2.0;
            }
        }
        candidate
    }
}

/// Reads of so much keep all units of most arrays busy.
const LARGE_BYTES: f64 = 1_048_576.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// Throughput of an array at the points of the fitted studies, modified by a rule.
    fn reads(array: &Array, wobble: f64) -> Reads {
        let mut all = Vec::new();
        let mut push = |random, bytes: f64, in_flight, per_ns: f64| {
            let sign = if all.len() % 2 == 0 { 1.0 } else { -1.0 };
            all.push(Read { random, bytes, in_flight, per_ns: per_ns * (1.0 + wobble * sign), error: 0.004 });
        };
        for power in 0..6 {
            let bytes = 4096.0 * 4f64.powi(power);
            push(true, bytes, 1.0, 1.0 / array.alone_ns(bytes));
        }
        let depths = [4.0, 16.0, 64.0, 256.0];
        for (depth, per_ns) in depths.iter().zip(array.small_per_ns(4096.0, &depths)) {
            push(true, 4096.0, *depth, per_ns);
        }
        push(false, LARGE_BYTES, 8.0, array.large_per_ns(LARGE_BYTES, 8.0));
        Reads { all, host_ns: array.host_ns }
    }

    #[test]
    fn arrays_are_found_again_from_their_reads() {
        for (units, page_bytes, gbps) in
            [(4.0, 16_384.0, 5.0), (8.0, 4096.0, 1.8), (32.0, 4096.0, 5.5), (16.0, 8192.0, 1.0)]
        {
            let array = Array {
                host_ns: 1e3,
                way_ns: 12e3,
                sense_ns: 65e3,
                units,
                page_bytes,
                stripe_bytes: page_bytes,
                link_bytes_per_ns: gbps,
            };
            let found = fit(&reads(&array, 0.003), None, None).unwrap();
            assert_eq!((found.units, found.page_bytes, found.stripe_bytes), (units, page_bytes, page_bytes));
            for (is, was) in [
                (found.sense_ns, array.sense_ns),
                (found.link_bytes_per_ns, gbps),
                (found.alone_ns(4096.0), array.alone_ns(4096.0)),
            ] {
                assert!((is / was - 1.0).abs() < 0.04, "{found:?} of {array:?}");
            }
        }
    }

    /// 64 units of 80 us give 13 GB/s at most, and 3 at the sizes measured: nothing comes near 1,000.
    #[test]
    fn a_link_is_drawn_near_what_was_moved_or_not_at_all() {
        let array = Array {
            host_ns: 1e3,
            way_ns: 9e3,
            sense_ns: 80e3,
            units: 64.0,
            page_bytes: 16_384.0,
            stripe_bytes: 16_384.0,
            link_bytes_per_ns: 1e3,
        };
        let reads = reads(&array, 0.0);
        let most = reads.all.iter().map(|read| read.bytes * read.per_ns).fold(0.0, f64::max);
        let found = fit(&reads, None, None).unwrap();
        let link = found.link_bytes_per_ns;
        assert!(link.is_infinite() || link <= UNSEEN * most, "{found:?}");
        assert!((found.alone_ns(4096.0) / array.alone_ns(4096.0) - 1.0).abs() < 0.04, "{found:?}");
    }

    #[test]
    fn too_few_reads_tell_nothing() {
        let array = Array {
            host_ns: 0.0,
            way_ns: 1e4,
            sense_ns: 6e4,
            units: 8.0,
            page_bytes: 16_384.0,
            stripe_bytes: 16_384.0,
            link_bytes_per_ns: 2.0,
        };
        let mut few = reads(&array, 0.0);
        few.all.truncate(2);
        assert_eq!(fit(&few, None, None), None);
        assert_eq!(fit(&Reads { all: Vec::new(), host_ns: 0.0 }, None, None), None);
    }
}
