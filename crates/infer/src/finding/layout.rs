//! How addresses are spread over units, from the throughput of strided reads: the common part of two findings.
//!
//! The candidates are layouts in which the byte at an offset lies on unit floor(offset / stripe) mod units, with
//! stripes of a power of two and units of a power of two or three times one. For each, a closed loop of this depth
//! is simulated with units that take one unit of time each, first come, first served. It gives the throughput at
//! every stride in multiples of one unit's own, which is the only fitted value. The answer is all layouts whose
//! residuals exceed those of the best by no more than chance.

use std::{cmp::Reverse, collections::BinaryHeap};

use iosonde_judge::{evidence::Evidence, reach};
use iosonde_model::{Conditions, Estimate, Inconclusive, Op, Rw, detail::LayoutProblem};
use iosonde_stats::normal;

use super::{Proof, group};

/// Strides below which a layout is a guess.
const STRIDES_MIN: usize = 6;
/// Service that varies costs a closed loop up to so much of its rate, which the candidates do not know.
///
/// Tuned on simulated units with lognormal service of 10 %, two to four requests a unit, whose seeds are not recorded.
const MODEL_ERROR: f64 = 0.03;
/// The largest residual of an accepted layout.
const MISS_MAX: f64 = 0.15;
/// Rates whose highest is less than so many times the lowest show no units.
const LEVEL: f64 = 1.2;
/// Share of the link's throughput, or of the program's time, from which on it hides the units.
const BOUND: f64 = 0.8;
/// The time of one read alone over that of one unit: more cannot be a way to the storage and back, and means that the
/// slowest stride still keeps several units busy.
const ALONE_MAX: f64 = 2.6;
/// Candidates by the rough law that are worked through.
const WORKED_THROUGH: usize = 10;

/// A way of spreading addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) units: u64,
    pub(super) stripe_bytes: u64,
}

/// What strides show.
pub(super) enum Shown {
    /// The likeliest layout first, then the others that chance does not exclude.
    Layouts(Vec<Layout>),
    /// Every stride is served alike.
    Level,
}

/// One stride.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stride {
    pub(super) stride_bytes: u64,
    pub(super) log_rate: f64,
    pub(super) standard_error: f64,
}

/// What the strided reads have in common.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pattern {
    pub(super) block_bytes: u64,
    pub(super) span_bytes: u64,
    pub(super) in_flight: usize,
}

/// The points that tell of units.
pub(super) struct Points<'e, 'a> {
    pub(super) strided: Vec<&'e Evidence<'a>>,
    /// Strides whose figures do not stand, where enough others do.
    left_out: Vec<&'e Evidence<'a>>,
    alone: Option<&'e Evidence<'a>>,
    large: Option<&'e Evidence<'a>>,
}

/// Distance between two requests of a strided point.
pub(super) fn stride_bytes(evidence: &Evidence) -> u64 {
    evidence.point.spec.stride_bytes.unwrap_or(0)
}

/// Whether two strided points differ in their strides only.
fn alike(one: &Evidence, other: &Evidence) -> bool {
    let (one, other) = (&one.point.spec, &other.point.spec);
    (one.block_size_bytes, one.asked_in_flight(), one.span_bytes)
        == (other.block_size_bytes, other.asked_in_flight(), other.span_bytes)
}

impl<'e, 'a> Points<'e, 'a> {
    /// One for each block size, queue depth and span with strides, in the order of the plan.
    pub(super) fn of(points: &'e [Evidence<'a>]) -> Vec<Self> {
        let is_strided = |evidence: &&Evidence| {
            let spec = &evidence.point.spec;
            spec.and.is_empty() && spec.rw == Rw::Read && spec.stride_bytes.is_some()
        };
        let mut families: Vec<Vec<&Evidence>> = Vec::new();
        for evidence in points.iter().filter(is_strided) {
            match families.iter_mut().find(|family| alike(family[0], evidence)) {
                Some(family) => family.push(evidence),
                None => families.push(vec![evidence]),
            }
        }
        families.into_iter().map(|strided| Self::with(strided, points)).collect()
    }

    /// Strides of one kind, and the points beside them that say what may hide the units.
    fn with(mut strided: Vec<&'e Evidence<'a>>, points: &'e [Evidence<'a>]) -> Self {
        strided.sort_by_key(|evidence| evidence.point.spec.stride_bytes);
        let spec = &strided[0].point.spec;
        let reads = || points.iter().filter(|evidence| evidence.point.spec.and.is_empty());
        let alone = reads().find(|evidence| {
            let other = &evidence.point.spec;
            other.rw == Rw::RandRead
                && other.asked_in_flight() == 1
                && other.block_size_bytes == spec.block_size_bytes
        });
        let large = reads().find(|evidence| {
            let other = &evidence.point.spec;
            other.rw == Rw::Read
                && other.stride_bytes.is_none()
                && other.block_size_bytes > 8 * spec.block_size_bytes
        });
        // A stride more or less is no reason to say nothing; too few of them are.
        let stands = |evidence: &&Evidence| group::valid_rate(evidence, Op::Read, &[]).is_ok();
        let (standing, left_out): (Vec<_>, Vec<_>) = strided.iter().copied().partition(stands);
        match standing.len() >= STRIDES_MIN {
            true => Self { strided: standing, left_out, alone, large },
            false => Self { strided, left_out: Vec::new(), alone, large },
        }
    }

    /// Strides whose trials are not valid, where enough others are.
    pub(super) fn invalid_strides_bytes(&self) -> Vec<u64> {
        self.left_out.iter().map(|evidence| stride_bytes(evidence)).collect()
    }

    /// What they show, or why nothing.
    pub(super) fn shown(&self, confidence: f64) -> Result<Shown, Inconclusive> {
        let spec = &self.strided[0].point.spec;
        let in_flight = spec.asked_in_flight() as usize;
        if self.strided.len() < STRIDES_MIN || in_flight < 2 {
            let (strides, needed) = (self.strided.len(), STRIDES_MIN);
            return Err(LayoutProblem::TooFewStrides { strides, needed, queue_depth: in_flight }.into());
        }
        let mut strides = Vec::new();
        for evidence in &self.strided {
            let rate = group::valid_rate(evidence, Op::Read, &[])?;
            strides.push(Stride {
                stride_bytes: stride_bytes(evidence),
                log_rate: rate.log_mean,
                standard_error: rate.normal_error(confidence),
            });
        }
        // A link or a program that bounds all strides alike hides whatever is striped.
        self.unbounded(ends(&strides).1, spec.block_size_bytes)?;
        let alone_s = match self.alone {
            Some(alone) => Some(1.0 / group::valid_rate(alone, Op::Read, &[])?.value()),
            None => None,
        };
        let pattern = Pattern { block_bytes: spec.block_size_bytes, span_bytes: spec.span_bytes, in_flight };
        match judged(&pattern, &strides, alone_s, confidence)? {
            Shown::Level if !self.left_out.is_empty() => {
                let invalid_strides_bytes = self.invalid_strides_bytes();
                Err(LayoutProblem::EqualValidStrides { invalid_strides_bytes }.into())
            }
            shown => Ok(shown),
        }
    }

    /// What limits the highest rate must be the units.
    fn unbounded(&self, highest: f64, block_bytes: u64) -> Result<(), Inconclusive> {
        if let Some(large) = self.large {
            let carried =
                group::valid_rate(large, Op::Read, &[])?.value() * large.point.spec.block_size_bytes as f64;
            let share = highest.exp() * block_bytes as f64 / carried;
            if share > BOUND {
                return Err(LayoutProblem::LinkLimit { share, bytes_per_s: carried }.into());
            }
        }
        // Strides that are left out may be those that kept the program busiest.
        let all = self.strided.iter().chain(&self.left_out);
        let trials = all.flat_map(|evidence| &evidence.trials).filter(|trial| !reach::is_fed(trial));
        let busy = trials.filter_map(|trial| trial.busy_share).fold(0.0, f64::max);
        if busy > BOUND {
            return Err(LayoutProblem::GeneratorLimit { cpu_share: busy }.into());
        }
        Ok(())
    }
}

/// The lowest and the highest logarithm of a rate.
fn ends(strides: &[Stride]) -> (f64, f64) {
    let rates = || strides.iter().map(|stride| stride.log_rate);
    (rates().fold(f64::INFINITY, f64::min), rates().fold(f64::NEG_INFINITY, f64::max))
}

/// What rates that nothing else bounds say, with the time of one read alone where it is known.
fn judged(
    pattern: &Pattern,
    strides: &[Stride],
    alone_s: Option<f64>,
    confidence: f64,
) -> Result<Shown, LayoutProblem> {
    let (lowest, highest) = ends(strides);
    if highest - lowest < LEVEL.ln() {
        return Ok(Shown::Level);
    }
    let layouts = layouts(pattern, strides, confidence)?;
    // The lowest rate must be that of one unit, or their number has a factor that no stride reaches.
    let times = alone_s.map_or(1.0, |alone_s| lowest.exp() * alone_s);
    if times > ALONE_MAX {
        return Err(LayoutProblem::NoSingleUnit { requests: times });
    }
    Ok(Shown::Layouts(layouts))
}

/// Rates in multiples of one unit's, on a logarithmic scale, without regard to order: even loads at whole stripes,
/// and as many units as the outstanding requests reach at smaller strides.
fn rough(layout: &Layout, pattern: &Pattern, stride_bytes: u64) -> f64 {
    let Layout { units, stripe_bytes } = *layout;
    let reached = (pattern.in_flight as f64 * stride_bytes as f64 / stripe_bytes as f64).max(1.0);
    let busy = if stride_bytes.is_multiple_of(stripe_bytes) {
        units / gcd(units, stride_bytes / stripe_bytes)
    } else {
        units
    };
    (busy as f64).min(reached).ln()
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The closed loop, worked through.
fn worked_through(layout: &Layout, pattern: &Pattern, stride_bytes: u64) -> f64 {
    // Requests until a pass over the span goes over to the next unit; the loop is followed through two of them, or
    // until they are too far apart to matter.
    let pass = (pattern.span_bytes / stride_bytes).max(1);
    let phase = pass * (layout.stripe_bytes / pattern.block_bytes).max(1);
    let most = 32 * pattern.in_flight as u64;
    let wanted = (2 * phase).clamp(most.min(4 * pattern.in_flight as u64), most);
    let mut free_at = vec![0u64; layout.units as usize];
    let mut outstanding: BinaryHeap<Reverse<u64>> = BinaryHeap::with_capacity(pattern.in_flight);
    let (mut now, mut half_at) = (0, 0);
    for nth in 0..wanted + pattern.in_flight as u64 {
        if outstanding.len() == pattern.in_flight {
            now = outstanding.pop().map_or(now, |Reverse(end)| end);
        }
        if nth == wanted / 2 + pattern.in_flight as u64 {
            half_at = now;
        }
        let offset = nth % pass * stride_bytes + nth / pass * pattern.block_bytes;
        let unit = (offset / layout.stripe_bytes % layout.units) as usize;
        // 1,000: so that halves would not be lost to whole numbers.
        free_at[unit] = free_at[unit].max(now) + 1000;
        outstanding.push(Reverse(free_at[unit]));
    }
    let counted = (wanted - wanted / 2) as f64;
    (counted * 1000.0 / (now - half_at).max(1) as f64).ln()
}

fn candidates(pattern: &Pattern, strides: &[Stride]) -> Vec<Layout> {
    let largest = strides.iter().map(|stride| stride.stride_bytes).max().unwrap_or(0);
    let powers = |most: u64| (0..40).map(|exponent| 1u64 << exponent).take_while(move |power| *power <= most);
    // More units than outstanding requests are never seen.
    let most = pattern.in_flight as u64;
    let counts = powers(most).chain(powers(most / 3).map(|power| 3 * power)).filter(|units| *units > 1);
    let stripes: Vec<u64> = powers(largest).filter(|bytes| *bytes >= pattern.block_bytes.min(4096)).collect();
    counts.flat_map(|units| stripes.iter().map(move |&stripe_bytes| Layout { units, stripe_bytes })).collect()
}

/// chi² with one unit's rate fitted, and the largest miss.
fn misses(strides: &[Stride], predicted: &[f64], model_error: f64) -> (f64, f64) {
    let weight = |stride: &Stride| (stride.standard_error.powi(2) + model_error.powi(2)).recip();
    let pairs = || strides.iter().zip(predicted);
    let total: f64 = strides.iter().map(weight).sum();
    let rate = pairs().map(|(stride, at)| weight(stride) * (stride.log_rate - at)).sum::<f64>() / total;
    let miss = |(stride, at): (&Stride, &f64)| (stride.log_rate - at - rate).abs();
    let chi_square = pairs().map(|pair| weight(pair.0) * miss(pair).powi(2)).sum();
    (chi_square, pairs().map(miss).fold(0.0, f64::max))
}

/// The likeliest layout, and those that chance does not exclude.
pub(super) fn layouts(
    pattern: &Pattern,
    strides: &[Stride],
    confidence: f64,
) -> Result<Vec<Layout>, LayoutProblem> {
    let mut roughly: Vec<(f64, Layout)> = candidates(pattern, strides)
        .into_iter()
        .map(|layout| {
            let rates: Vec<f64> =
                strides.iter().map(|stride| rough(&layout, pattern, stride.stride_bytes)).collect();
            // 0.2: the rough law is off by that much where loads are uneven.
            (misses(strides, &rates, 0.2).0, layout)
        })
        .collect();
    roughly.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut fitted: Vec<(f64, f64, Layout)> = roughly
        .into_iter()
        .take(WORKED_THROUGH)
        .map(|(_, layout)| {
            let rates: Vec<f64> =
                strides.iter().map(|stride| worked_through(&layout, pattern, stride.stride_bytes)).collect();
            let (chi_square, miss) = misses(strides, &rates, MODEL_ERROR);
            (chi_square, miss, layout)
        })
        .collect();
    fitted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (best, miss, _) = *fitted.first().ok_or(LayoutProblem::NoLayout)?;
    if miss > MISS_MAX {
        return Err(LayoutProblem::Uneven { miss_share: miss });
    }
    // Two parameters; both are whole numbers, so that this is cautious.
    let most = best + 2.0 * normal(confidence).powi(2);
    Ok(fitted
        .into_iter()
        .take_while(|(chi_square, ..)| *chi_square <= most)
        .map(|(.., layout)| layout)
        .collect())
}

/// Conditions of what strided reads say.
pub(super) fn conditions(points: &Points) -> Conditions {
    let spec = &points.strided[0].point.spec;
    Conditions {
        op: Some(Op::Read),
        random: Some(false),
        block_size_bytes: Some(spec.block_size_bytes),
        queue_depth: Some(spec.asked_in_flight() as u32),
        span_bytes: Some(spec.span_bytes),
        ..Conditions::default()
    }
}

/// Value and ends of one figure of the layouts, the likeliest first.
pub(super) fn over(layouts: &[Layout], figure: impl Fn(&Layout) -> u64) -> Estimate {
    let figures = || layouts.iter().map(|layout| figure(layout) as f64);
    Estimate {
        value: figures().next().unwrap_or(0.0),
        low: figures().reduce(f64::min),
        high: figures().reduce(f64::max),
    }
}

/// One device and study that prove what is said of units.
pub(super) const PROOF: Proof = Proof {
    device: r#"
name = "eight-units"
summary = "8 units in stripes of 32 KiB"
capacity = "64GiB"
[host]
request_cost = "2us"
[link]
bandwidth = "3GB/s"
latency = "5us"
[flash]
units = 8
stripe = "32KiB"
page = "16KiB"
mapping_unit = "4KiB"
read = "80us"
program = "600us"
erase = "3ms"
pages_per_block = 256
placement = "static"
[noise]
latency_cv = 0.05
rate_cv_100ms = 0.02
lag1_100ms = 0.6
"#,
    study: r#"
name = "units"
question = "How many units are there?"
time = "50s"
size = "4GiB"
[[experiment]]
kind = "units"
depth = 32
stride = ["4k..4M*2", "12k..3M*2"]
"#,
    truths: &[],
    widest: 0.0,
};

#[cfg(test)]
mod tests {
    use super::*;

    const PATTERN: Pattern = Pattern { block_bytes: 4096, span_bytes: 4 << 30, in_flight: 128 };

    fn strides() -> Vec<u64> {
        (12..24).map(|power| 1 << power).chain((12..22).map(|power| 3 << power)).collect()
    }

    /// The closed loop once more, by another route than the candidates': events in the order of time, each unit
    /// with a queue of its own, and service that scatters.
    fn simulated(layout: Layout, pattern: &Pattern, stride_bytes: u64, rng: &mut impl rand::Rng) -> f64 {
        use rand_distr::{Distribution, LogNormal};
        let service = LogNormal::new(0.0, 0.05).unwrap();
        let pass = pattern.span_bytes / stride_bytes;
        let unit = |nth: u64| {
            let offset = nth % pass * stride_bytes + nth / pass * pattern.block_bytes;
            (offset / layout.stripe_bytes % layout.units) as usize
        };
        let mut waiting = vec![0u64; layout.units as usize];
        let mut ends: Vec<Option<f64>> = vec![None; layout.units as usize];
        let (mut sent, mut done, mut now, wanted) = (0, 0u64, 0.0, 4000);
        while done < wanted {
            while sent - done < pattern.in_flight as u64 {
                waiting[unit(sent)] += 1;
                sent += 1;
            }
            for unit in 0..waiting.len() {
                if waiting[unit] > 0 && ends[unit].is_none() {
                    ends[unit] = Some(now + service.sample(rng));
                }
            }
            let next = |unit: &usize| ends[*unit].unwrap_or(f64::INFINITY);
            let first = (0..ends.len()).min_by(|a, b| next(a).total_cmp(&next(b))).unwrap();
            now = ends[first].take().unwrap();
            waiting[first] -= 1;
            done += 1;
        }
        (done as f64 / now).ln()
    }

    fn measured_by_simulation(layout: Layout, pattern: &Pattern) -> Vec<Stride> {
        use rand::SeedableRng;
        let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(layout.units);
        let mut of = |stride_bytes: u64| Stride {
            stride_bytes,
            log_rate: 11.0 + simulated(layout, pattern, stride_bytes, &mut rng),
            standard_error: 0.015,
        };
        strides().into_iter().map(&mut of).collect()
    }

    #[test]
    fn a_layout_is_found_from_a_loop_that_was_worked_through_otherwise() {
        let pattern = Pattern { in_flight: 64, ..PATTERN };
        for units in [4, 6, 8, 16] {
            let layout = Layout { units, stripe_bytes: 32_768 };
            let found = layouts(&pattern, &measured_by_simulation(layout, &pattern), 0.95).unwrap();
            assert_eq!(found[0], layout, "{found:?}");
        }
    }

    #[test]
    fn a_number_of_units_that_no_candidate_has_is_refused_or_hides_itself() {
        // Strides of 2^k and 3 x 2^k keep to no part of 5 or 7 units: every stride is served alike. Of 10 units they
        // keep to half at most.
        let pattern = Pattern { in_flight: 64, ..PATTERN };
        for units in [5, 7, 10] {
            let strides = measured_by_simulation(Layout { units, stripe_bytes: 32_768 }, &pattern);
            // e^11 requests a second are one unit's own rate.
            match judged(&pattern, &strides, Some((-11f64).exp()), 0.95) {
                Ok(Shown::Layouts(found)) => panic!("{units} units are taken for {found:?}"),
                Ok(Shown::Level) => assert_ne!(units, 10),
                Err(LayoutProblem::NoSingleUnit { requests }) => {
                    assert!((requests - 5.0).abs() < 0.05, "{requests}");
                }
                Err(why) => panic!("{why:?}"),
            }
        }
    }

    fn measured(layout: Layout, pattern: &Pattern) -> Vec<Stride> {
        // Within 2 %, by a rule.
        let off = |nth: usize| 0.02 * ((nth * 7 % 5) as f64 / 2.0 - 1.0);
        let of = |(nth, stride_bytes): (usize, u64)| Stride {
            stride_bytes,
            log_rate: 11.0 + worked_through(&layout, pattern, stride_bytes) + off(nth),
            standard_error: 0.015,
        };
        strides().into_iter().enumerate().map(of).collect()
    }

    #[test]
    fn every_layout_is_found_again() {
        for units in [2, 3, 4, 6, 8, 12, 16, 24, 32, 64] {
            for stripe_bytes in [4096, 16_384, 65_536] {
                let layout = Layout { units, stripe_bytes };
                let found = layouts(&PATTERN, &measured(layout, &PATTERN), 0.95).unwrap();
                assert_eq!(found[0], layout, "{found:?}");
            }
        }
    }

    #[test]
    fn a_stride_of_a_round_meets_one_unit_and_one_of_a_stripe_all() {
        let layout = Layout { units: 8, stripe_bytes: 16_384 };
        let rate = |stride: u64| worked_through(&layout, &PATTERN, stride).exp();
        assert!((rate(131_072) - 1.0).abs() < 0.02, "{}", rate(131_072));
        assert!((rate(16_384) - 8.0).abs() < 0.1, "{}", rate(16_384));
        // Two stripes leave every second unit idle.
        assert!((rate(32_768) - 4.0).abs() < 0.1, "{}", rate(32_768));
    }

    #[test]
    fn rates_of_something_else_are_refused() {
        let falling = |(nth, stride_bytes): (usize, u64)| Stride {
            stride_bytes,
            log_rate: 10.0 - 0.45 * nth as f64,
            standard_error: 0.01,
        };
        let all: Vec<Stride> = (12..24).map(|power| 1 << power).enumerate().map(falling).collect();
        let why = layouts(&PATTERN, &all, 0.95).unwrap_err();
        assert!(matches!(why, LayoutProblem::Uneven { miss_share } if miss_share > MISS_MAX), "{why:?}");
    }
}
