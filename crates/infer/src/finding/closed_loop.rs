//! Throughput against queue depth: one family of curves, fitted once, which two findings use.
//!
//! X(N) = N / [R₀ (1 + (Nᵏ − 1) / N*ᵏ)^(1/k)], with X(1) = 1/R₀ and X(∞) = N*/R₀. k sets how sharp the corner at
//! the saturation point N* is. k = 1 is exactly the closed network of equal exponential stations; k → ∞ is exactly
//! one queue before servers that share it, whatever the service law. All lie between the two straight asymptotes of
//! operational analysis (Denning and Buzen, Computing Surveys 10 (1978) 225).
//!
//! k is not chosen: value and interval come from the same profile likelihood, over every k and every N* from 1 on
//! (a saturation point below 1 would mean that throughput falls with queue depth). R₀ has a closed form for each
//! pair. The possible error of a wrong family is added in quadrature: the difference to a second estimate that uses
//! no family, R₀ over the slope of N/X(N) beyond the saturation point, and at least 3 %. Where the corner is known
//! to be sharp, it is less: 12 % over k, or that difference as far as it exceeds the slope's own noise.

pub(crate) mod design;

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    About, Conditions, Estimate, Inconclusive, TrialSpec,
    detail::{DepthMiss, QueueDepthProblem},
};
use iosonde_stats::{normal, student_t};

use super::{
    Proof,
    group::{self, Group},
    hockney::{MISS_MAX, is_bent},
};

/// R₀, N* and k.
const PARAMETERS: usize = 3;
/// Queue depths that a fit of three parameters needs, to have one left for judging it.
pub(crate) const DEPTHS_MIN: usize = 4;
/// The deepest over the upper end of the knee: before that the plateau is a guess, and with it the knee.
pub(crate) const BEYOND_KNEE_MIN: f64 = 4.0;
/// Least share of the knee by which the family may be wrong.
///
/// Tuned on computed closed networks of one and of many queues, fixed, exponential and mixed: bias −2.3 to +0.3 %,
/// without chance and so without seeds. Tested with `bench/depth-coverage` (seed 20261121) on devices of which some
/// are not of the family: knee intervals hold the truth in 91.5 to 99 % of 200 runs a device (docs/intervals.md).
const FAMILY_MIN: f64 = 0.03;
/// The corner beyond which that share becomes less, in proportion to the corner's rounding, which is 2^(−1/k): both
/// asymptotes are what they are in any family, and a curve that follows them to the corner can miss it little. Tuned:
/// the networks behind the 3 % have corners of 1 to 2, and twice that is taken.
const SHARP: f64 = 4.0;
/// Share by which a curve of the family may miss the level of the true one where it levels off, in the same
/// trials.
const LEVEL_MIN: f64 = 0.01;

/// Share of the asymptotic throughput from which on the highest that was measured counts as the highest.
pub(super) const HIGHEST: f64 = 0.95;

/// One point of the curve.
#[derive(Debug, Clone, Copy)]
pub(super) struct Depth {
    pub(super) in_flight: f64,
    pub(super) log_rate: f64,
    /// As of a normal deviate.
    pub(super) standard_error: f64,
}

/// The curves with one k.
#[derive(Debug, Clone, Copy)]
struct Shape {
    k: f64,
    /// ln N* where they fit best.
    log_knee: f64,
    chi_square: f64,
    /// The least and the largest ln N* within the joint interval, without the family's share.
    ends: (f64, f64),
}

impl Shape {
    /// The ends with the family's share, in quadrature.
    fn widened(&self, family: f64) -> (f64, f64) {
        let below = (self.log_knee - self.ends.0).hypot(family);
        let above = (self.ends.1 - self.log_knee).hypot(family);
        ((self.log_knee - below).max(0.0), self.log_knee + above)
    }
}

/// All curves of the family that the points allow.
pub(super) struct ClosedLoopFit {
    best: Shape,
    deepest: f64,
    /// Only those within the interval.
    shapes: Vec<Shape>,
    /// Share by which the family may be wrong.
    family: f64,
    /// Largest deviation, where the interval was stretched for it.
    pub(super) widened_for: Option<DepthMiss>,
}

impl ClosedLoopFit {
    /// Deepest measured queue depth.
    pub(super) fn deepest(&self) -> u64 {
        self.deepest as u64
    }

    /// N*, the queue depth at which the two asymptotes meet.
    pub(super) fn knee(&self) -> Estimate {
        let ends = || self.shapes.iter().map(|shape| shape.widened(self.family));
        let low = ends().map(|(low, _)| low).fold(f64::INFINITY, f64::min);
        let high = ends().map(|(_, high)| high).fold(0.0, f64::max);
        Estimate { value: self.best.log_knee.exp(), low: Some(low.exp()), high: Some(high.exp()) }
    }

    /// Whether all curves within the interval give less than 95 % of their maximum at the deepest point: then the
    /// highest throughput that was measured is a lower limit.
    pub(super) fn still_rises(&self) -> bool {
        // X(N) / X(∞), and X(∞) = N*/R₀.
        let reached = |shape: &Shape| log_rate(0.0, shape.log_knee, shape.k, self.deepest) - shape.log_knee;
        self.shapes.iter().all(|shape| reached(shape) < HIGHEST.ln())
    }

    /// The smallest whole queue depth that gives `share` of the throughput at the deepest point.
    pub(super) fn depth_for(&self, share: f64) -> Estimate {
        let deepest = self.deepest;
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        for shape in &self.shapes {
            // At a given k, a higher saturation point needs a deeper queue: the ends of one are the ends of the other.
            // Where the curve is flat, a small error in its level is a large one in N.
            let (below, above) = shape.widened(self.family);
            low = low.min(reaches(share * (1.0 - LEVEL_MIN), deepest, shape.k, below));
            high = high.max(reaches(share * (1.0 + LEVEL_MIN), deepest, shape.k, above));
        }
        let value = reaches(share, deepest, self.best.k, self.best.log_knee);
        // 1e-6: what the bisection leaves above a whole number is no further request.
        let whole = |in_flight: f64| (in_flight - 1e-6).ceil().clamp(1.0, deepest);
        Estimate { value: whole(value), low: Some(whole(low)), high: Some(whole(high)) }
    }
}

/// ln X(N).
fn log_rate(log_r0: f64, log_knee: f64, k: f64, in_flight: f64) -> f64 {
    let log_n = in_flight.ln();
    // ln(1 + (Nᵏ − 1) / N*ᵏ) = softplus(x), written so that no power overflows.
    let x = k * (log_n - log_knee) + (-(-k * log_n).exp()).ln_1p();
    let softplus = if x > 30.0 { x } else { x.exp().ln_1p() };
    log_n - log_r0 - softplus / k
}

/// The sum of squared misses of the curve with these two parameters, in standard errors, and the ln R₀ that makes it
/// least: their weighted mean.
fn misses(depths: &[Depth], k: f64, log_knee: f64) -> (f64, f64) {
    let (mut weights, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for depth in depths {
        let weight = depth.standard_error.powi(-2);
        let miss = depth.log_rate - log_rate(0.0, log_knee, k, depth.in_flight);
        weights += weight;
        sum += weight * miss;
        squares += weight * miss * miss;
    }
    ((squares - sum * sum / weights).max(0.0), -sum / weights)
}

/// The N at which X(N) is `share` of X(deepest), by bisection: X rises with N.
fn reaches(share: f64, deepest: f64, k: f64, log_knee: f64) -> f64 {
    let log_x = |log_n: f64| log_rate(0.0, log_knee, k, log_n.exp());
    let wanted = log_x(deepest.ln()) + share.ln();
    let (mut low, mut high) = (0.0, deepest.ln());
    // 50 halvings leave 1e-14 of the range.
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        if log_x(middle) < wanted { low = middle } else { high = middle }
    }
    high.exp()
}

/// The curves that the points of a group allow, or why none.
pub(super) fn of(group: &Group, confidence: f64) -> Result<ClosedLoopFit, Inconclusive> {
    over(group, TrialSpec::asked_in_flight, confidence)?.map_err(Inconclusive::from)
}

/// The curves over another number than the queue depth, which is proportional to it; or why none.
///
/// # Errors
/// Points that cannot be used; within, why they follow no curve.
pub(super) fn over(
    group: &Group,
    number: fn(&TrialSpec) -> u64,
    confidence: f64,
) -> Result<Result<ClosedLoopFit, QueueDepthProblem>, Inconclusive> {
    Ok(fit(&depths(group, number, confidence)?, confidence))
}

/// The points of a group in the order of their depth, or why they cannot be used.
fn depths(group: &Group, number: fn(&TrialSpec) -> u64, confidence: f64) -> Result<Vec<Depth>, Inconclusive> {
    let mut depths = Vec::new();
    for evidence in &group.points {
        let rate = group::valid_rate(evidence, group.op, &[About::Depth])?;
        depths.push(Depth {
            in_flight: number(&evidence.point.spec) as f64,
            log_rate: rate.log_mean,
            standard_error: rate.normal_error(confidence),
        });
    }
    depths.sort_by(|a, b| a.in_flight.total_cmp(&b.in_flight));
    Ok(depths)
}

/// The groups that a curve over queue depth is made of: one for each pattern and block size.
pub(super) fn groups<'e, 'a>(points: &'e [Evidence<'a>]) -> Vec<Group<'e, 'a>> {
    group::groups(points, |op, evidence| {
        let spec = &evidence.point.spec;
        Some(Conditions {
            op: Some(op),
            random: Some(spec.rw.is_random()),
            block_size_bytes: Some(spec.block_size_bytes),
            span_bytes: Some(spec.span_bytes),
            ..Conditions::default()
        })
    })
}

/// The curves that these points allow, or why none.
pub(super) fn fit(depths: &[Depth], confidence: f64) -> Result<ClosedLoopFit, QueueDepthProblem> {
    let smallest = depths.first().map_or(0.0, |depth| depth.in_flight);
    let deepest = depths.last().map_or(0.0, |depth| depth.in_flight);
    if depths.len() < DEPTHS_MIN || smallest > 1.0 {
        let (depths, needed, smallest) = (depths.len(), DEPTHS_MIN, smallest as u64);
        return Err(QueueDepthProblem::TooFewDepths { depths, needed, smallest });
    }
    let mut shapes: Vec<Shape> = sharpnesses().map(|k| shape(depths, k)).collect();
    let by_chi_square = |a: &&Shape, b: &&Shape| a.chi_square.total_cmp(&b.chi_square);
    let best = *shapes.iter().min_by(by_chi_square).expect("there are sharpnesses");
    let spare = (depths.len() - PARAMETERS) as f64;
    let bent = is_bent(best.chi_square, spare);
    let worst = worst_miss(depths, &best);
    if bent && worst.miss_share > MISS_MAX {
        return Err(QueueDepthProblem::NoCurve(worst));
    }
    let stretch = if bent { best.chi_square / spare } else { 1.0 };
    let t = if bent { student_t(confidence, spare) } else { normal(confidence) };
    // The profile: chi² may exceed its least by t² in all.
    let most = best.chi_square + t * t * stretch;
    shapes.retain_mut(|shape| {
        shape.ends = ends(depths, shape, most);
        shape.chi_square <= most
    });
    let softest = shapes.iter().map(|shape| shape.k).fold(best.k, f64::min);
    let family = family(depths, &best, least_family(softest));
    let curve = ClosedLoopFit { best, deepest, shapes, family, widened_for: bent.then_some(worst) };
    let knee = curve.knee();
    let high = knee.high.unwrap_or(f64::INFINITY);
    if deepest < BEYOND_KNEE_MIN * high {
        let (times_needed, deepest) = (BEYOND_KNEE_MIN, deepest as u64);
        return Err(QueueDepthProblem::PlateauUnseen { knee, times_needed, deepest });
    }
    Ok(curve)
}

/// 1, 1.09, 1.19, .. 64: by then a corner is as sharp as grids of powers of two can show. With a point right at the
/// knee 64 would still be 1 % too low there.
fn sharpnesses() -> impl Iterator<Item = f64> {
    (0..=48).map(|step| (f64::from(step) / 8.0).exp2()).chain([128.0, 256.0, 1024.0])
}

/// The least share by which the family may be wrong where the corner is no softer than this.
fn least_family(softest: f64) -> f64 {
    FAMILY_MIN * (SHARP / softest).min(1.0)
}

/// ln N* reaches from a storage that one request keeps busy to one that 16 times the deepest would.
fn log_knee_max(depths: &[Depth]) -> f64 {
    (16.0 * depths[depths.len() - 1].in_flight).ln()
}

/// The best curve with this k.
fn shape(depths: &[Depth], k: f64) -> Shape {
    let chi_square = |log_knee: f64| misses(depths, k, log_knee).0;
    let most = log_knee_max(depths);
    // 40 places first, as two plateaus make two minima; between its neighbours the least has one.
    let place = |i: usize| most * i as f64 / 40.0;
    let least = (0..=40).min_by(|&a, &b| chi_square(place(a)).total_cmp(&chi_square(place(b)))).unwrap_or(0);
    let (mut low, mut high) = (place(least.saturating_sub(1)), place((least + 1).min(40)));
    // Golden section: 40 steps leave 1e-9.
    for _ in 0..40 {
        let part = (high - low) * 0.381_966;
        let (a, b) = (low + part, high - part);
        if chi_square(a) <= chi_square(b) { high = b } else { low = a }
    }
    let log_knee = if chi_square(low) <= chi_square(high) { low } else { high };
    Shape { k, log_knee, chi_square: chi_square(log_knee), ends: (log_knee, log_knee) }
}

/// How far ln N* may go to either side before chi² exceeds `most`, by bisection.
fn ends(depths: &[Depth], shape: &Shape, most: f64) -> (f64, f64) {
    let outermost = |limit: f64| {
        let (mut inside, mut outside) = (shape.log_knee, limit);
        if misses(depths, shape.k, limit).0 <= most {
            return limit;
        }
        // 30 halvings leave 1e-8 of the range.
        for _ in 0..30 {
            let middle = (inside + outside) / 2.0;
            if misses(depths, shape.k, middle).0 <= most { inside = middle } else { outside = middle }
        }
        inside
    };
    (outermost(0.0), outermost(log_knee_max(depths)))
}

fn worst_miss(depths: &[Depth], shape: &Shape) -> DepthMiss {
    let (_, log_r0) = misses(depths, shape.k, shape.log_knee);
    let miss = |depth: &Depth| {
        (depth.log_rate - log_rate(log_r0, shape.log_knee, shape.k, depth.in_flight)).exp_m1().abs()
    };
    let misses =
        depths.iter().map(|depth| DepthMiss { queue_depth: depth.in_flight as u64, miss_share: miss(depth) });
    misses.max_by(|a, b| a.miss_share.total_cmp(&b.miss_share)).expect("there are depths")
}

/// By what share the knee may be wrong because the family is: against R₀ over the slope of N/X(N) beyond
/// the knee.
fn family(depths: &[Depth], best: &Shape, least: f64) -> f64 {
    let (r0, knee) = (misses(depths, best.k, best.log_knee).1.exp(), best.log_knee.exp());
    let beyond: Vec<_> = depths.iter().filter(|depth| depth.in_flight >= 2.0 * knee).collect();
    let mut sums = [0.0; 5];
    for depth in beyond {
        let time = depth.in_flight / depth.log_rate.exp();
        let weight = (time * depth.standard_error).powi(-2);
        let terms = [1.0, depth.in_flight, time, depth.in_flight * depth.in_flight, depth.in_flight * time];
        sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += weight * term);
    }
    let [w, n, time, nn, n_time] = sums;
    let determinant = w * nn - n * n;
    let slope = (w * n_time - n * time) / determinant;
    let difference = (r0 / slope / knee).ln();
    // Where the corner is sharp, only what is more than the slope's noise is the family's.
    let noise = if least < FAMILY_MIN { w / determinant / (slope * slope) } else { 0.0 };
    let seen = (difference * difference - noise).max(0.0).sqrt();
    // No slope (one point beyond the knee, or a falling line): nothing to compare with, so twice the least.
    if difference.is_finite() && noise.is_finite() { seen.max(least) } else { 2.0 * least }
}

/// One device and study that prove all findings about queue depth; each adds its truths.
pub(super) const PROOF: Proof = Proof {
    device: r#"
name = "knee"
summary = "4 equal servers of 80 us"
capacity = "64GiB"
[queue]
servers = 4
service = { fixed = "80us" }
[noise]
latency_cv = 0.05
"#,
    study: r#"
name = "knee"
question = "Which queue depth saturates this storage?"
time = "90s"
[[experiment]]
kind = "queue-depth"
rw = ["randread", "randwrite"]
block_size = "4k"
depth = "1..128*2"
"#,
    truths: &[],
    widest: 0.0,
};

#[cfg(test)]
#[path = "closed_loop_tests.rs"]
mod tests;
