//! Throughput against the number in flight: one family of curves, fitted once, which two findings read.
//!
//! X(N) = N / [R₀ (1 + (Nᵏ − 1) / N*ᵏ)^(1/k)], with X(1) = 1/R₀ and X(∞) = N*/R₀. k says how sharp the
//! corner at the knee N* is: k = 1 is the closed network of equal exponential stations, exactly; k → ∞ is
//! one line before servers that share it, exactly, whatever the service law. All lie between the two
//! straight asymptotes that operational analysis draws (Denning and Buzen, Computing Surveys 10 (1978)
//! 225).
//!
//! k is not chosen: the interval is the profile likelihood over all k that the points allow. What a wrong
//! family may cost is added in quadrature: the difference to a second estimate that uses no family, R₀ over
//! the slope of N/X(N) beyond the knee, and at least 3 %.

use iosonde_model::{About, Conditions, Estimate, units};

use super::{
    Proof,
    group::{self, Group},
    hockney::{MISS_MAX, is_bent},
};
use crate::{
    evidence::{Evidence, student_t},
    stats::least_squares::{Fit, least_squares},
};

/// Numbers in flight that a fit of three parameters needs, to have one left for judging it.
const DEPTHS_MIN: usize = 4;
/// The deepest over the knee: before that the plateau is a guess, and with it the knee.
const BEYOND_KNEE_MIN: f64 = 4.0;
/// Least share of the knee by which the family may be wrong. Tried on closed networks of one and of many
/// queues, fixed, exponential and mixed: bias −2.3 to +0.3 %.
const FAMILY_MIN: f64 = 0.03;
/// Share by which a curve of the family may miss the level of the true one where it levels off, in the same
/// trials.
const LEVEL_MIN: f64 = 0.01;

/// One point of the curve.
#[derive(Debug, Clone, Copy)]
pub(super) struct Depth {
    pub(super) in_flight: f64,
    pub(super) log_rate: f64,
    pub(super) standard_error: f64,
    pub(super) degrees_of_freedom: f64,
}

/// The curve with one k.
struct Shape {
    k: f64,
    /// ln R₀ in seconds, ln N*.
    fit: Fit,
    /// How far ln N* may lie to either side within the joint interval, without the family's share.
    reach: f64,
}

impl Shape {
    fn log_knee(&self) -> f64 {
        self.fit.parameters[1]
    }
}

/// All curves of the family that the points allow.
pub(super) struct ClosedLoop {
    best: usize,
    deepest: f64,
    /// Only those within the interval.
    shapes: Vec<Shape>,
    /// Share by which the family may be wrong.
    family: f64,
    stretched_for: Option<(f64, f64)>,
}

impl ClosedLoop {
    /// N*, the number in flight at which the two asymptotes meet.
    pub(super) fn knee(&self) -> Estimate {
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        for shape in &self.shapes {
            let half = shape.reach.hypot(self.family);
            low = low.min((shape.log_knee() - half).exp());
            high = high.max((shape.log_knee() + half).exp());
        }
        Estimate { value: self.shapes[self.best].log_knee().exp(), low: Some(low), high: Some(high) }
    }

    /// The least whole number in flight that gives `share` of the rate with the most that were measured.
    pub(super) fn depth_for(&self, share: f64) -> Estimate {
        let deepest = self.deepest;
        let (mut low, mut high) = (f64::INFINITY, 0.0_f64);
        for shape in &self.shapes {
            let reach = shape.reach.hypot(self.family);
            for log_knee in [shape.log_knee() - reach, shape.log_knee() + reach] {
                let at = reaches(share, deepest, shape.k, log_knee);
                // Where the curve is flat, a small error in its level is a large one in N.
                let away = LEVEL_MIN / slope(shape.k, log_knee, at);
                low = low.min(at * (-away).exp());
                high = high.max(at * away.exp());
            }
        }
        let best = &self.shapes[self.best];
        let value = reaches(share, deepest, best.k, best.log_knee());
        let whole = |in_flight: f64| in_flight.ceil().clamp(1.0, deepest);
        Estimate { value: whole(value), low: Some(whole(low)), high: Some(whole(high)) }
    }

    /// What a reader must know of the fit.
    pub(super) fn assumption(&self) -> String {
        let base = "throughput follows one of the closed-loop curves between a sharp corner and the \
         exponential network; R₀ is the time of a request that is alone";
        match self.stretched_for {
            Some((depth, share)) => format!(
                "{base}. The points bend away from it, by {} with {depth} in flight; the interval is \
                 stretched to match.",
                units::percent(share)
            ),
            None => format!("{base}."),
        }
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

/// d ln X / d ln N, over 5 % to either side.
fn slope(k: f64, log_knee: f64, in_flight: f64) -> f64 {
    let rise = log_rate(0.0, log_knee, k, in_flight * 1.05) - log_rate(0.0, log_knee, k, in_flight / 1.05);
    rise / (2.0 * 1.05_f64.ln())
}

/// The curves that the points of a group allow, or why none.
pub(super) fn of(group: &Group, confidence: f64) -> Result<ClosedLoop, String> {
    fit(&depths(group)?, confidence)
}

/// The points of a group in the order of their depth, or why they cannot be used.
fn depths(group: &Group) -> Result<Vec<Depth>, String> {
    let mut depths = Vec::new();
    for evidence in &group.points {
        let rate = group::rate(evidence, group.op, &[About::Depth])?;
        depths.push(Depth {
            in_flight: evidence.point.spec.asked_in_flight() as f64,
            log_rate: rate.log_mean,
            standard_error: rate.standard_error,
            degrees_of_freedom: rate.degrees_of_freedom,
        });
    }
    depths.sort_by(|a, b| a.in_flight.total_cmp(&b.in_flight));
    Ok(depths)
}

/// The groups that a curve over the number in flight is made of: one for each pattern and block size.
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
pub(super) fn fit(depths: &[Depth], confidence: f64) -> Result<ClosedLoop, String> {
    let (Some(first), Some(last)) = (depths.first(), depths.last()) else {
        return Err("nothing was measured".into());
    };
    if depths.len() < DEPTHS_MIN || first.in_flight > 1.0 {
        return Err(format!(
            "a curve of three parameters needs {DEPTHS_MIN} numbers in flight, 1 among them; {} were \
             measured, from {}",
            depths.len(),
            first.in_flight
        ));
    }
    let mut shapes: Vec<Shape> = sharpnesses().filter_map(|k| shape(depths, k)).collect();
    let by_chi_square = |a: &&Shape, b: &&Shape| a.fit.chi_square.total_cmp(&b.fit.chi_square);
    let best = shapes.iter().min_by(by_chi_square).ok_or("no curve could be fitted")?;
    let (best_k, least) = (best.k, best.fit.chi_square);
    let knee = best.fit.parameters[1].exp();
    if last.in_flight < BEYOND_KNEE_MIN * knee {
        return Err(format!(
            "the knee would lie near {knee:.0}, and to see the plateau takes {BEYOND_KNEE_MIN} times as \
             many in flight; {} were the most",
            last.in_flight
        ));
    }
    let own = depths.iter().map(|depth| depth.degrees_of_freedom).fold(f64::INFINITY, f64::min);
    // k is fitted too, though outside the least squares.
    let judged = Fit { degrees_of_freedom: best.fit.degrees_of_freedom - 1.0, ..best.fit.clone() };
    let bent = is_bent(&judged, own);
    let worst = worst_miss(depths, best);
    if bent && worst.1 > MISS_MAX {
        let share = units::percent(worst.1);
        return Err(format!(
            "throughput follows no closed-loop curve: {} in flight miss the nearest by {share}",
            worst.0
        ));
    }
    let family = family(depths, &best.fit);
    let stretch = if bent { least / judged.degrees_of_freedom } else { 1.0 };
    let t = student_t(confidence, if bent { own.min(judged.degrees_of_freedom) } else { own });
    // The profile: chi² may exceed its least by t² in all, of which this k has used up a part.
    shapes.retain_mut(|shape| {
        let left = t * t * stretch - (shape.fit.chi_square - least);
        shape.reach = shape.fit.standard_error(1) * left.max(0.0).sqrt();
        left >= 0.0
    });
    let best =
        shapes.iter().position(|shape| shape.k == best_k).expect("the best is within its own interval");
    Ok(ClosedLoop { best, deepest: last.in_flight, shapes, family, stretched_for: bent.then_some(worst) })
}

/// 1, 1.19, 1.41, .. 64: by then a corner is as sharp as grids of powers of two can show.
fn sharpnesses() -> impl Iterator<Item = f64> {
    (0..=96).map(|step| (f64::from(step) / 16.0).exp2())
}

fn shape(depths: &[Depth], k: f64) -> Option<Shape> {
    let observed: Vec<_> = depths.iter().map(|depth| depth.log_rate).collect();
    let errors: Vec<_> = depths.iter().map(|depth| depth.standard_error).collect();
    let model = |p: &[f64]| depths.iter().map(|depth| log_rate(p[0], p[1], k, depth.in_flight)).collect();
    let most = observed.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let start = [-observed[0], most - observed[0]];
    let fit = least_squares(model, &observed, &errors, &start).ok()?;
    Some(Shape { k, fit, reach: 0.0 })
}

fn worst_miss(depths: &[Depth], shape: &Shape) -> (f64, f64) {
    let p = &shape.fit.parameters;
    let miss =
        |depth: &Depth| (depth.log_rate - log_rate(p[0], p[1], shape.k, depth.in_flight)).exp_m1().abs();
    let misses = depths.iter().map(|depth| (depth.in_flight, miss(depth)));
    misses.max_by(|a, b| a.1.total_cmp(&b.1)).expect("there are depths")
}

/// By what share the knee may be wrong because the family is: against R₀ over the slope of N/X(N) beyond
/// the knee.
fn family(depths: &[Depth], fit: &Fit) -> f64 {
    let (r0, knee) = (fit.parameters[0].exp(), fit.parameters[1].exp());
    let beyond: Vec<_> = depths.iter().filter(|depth| depth.in_flight >= 2.0 * knee).collect();
    let mut sums = [0.0; 5];
    for depth in beyond {
        let time = depth.in_flight / depth.log_rate.exp();
        let weight = (time * depth.standard_error).powi(-2);
        let terms = [1.0, depth.in_flight, time, depth.in_flight * depth.in_flight, depth.in_flight * time];
        sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += weight * term);
    }
    let [w, n, time, nn, n_time] = sums;
    let slope = (w * n_time - n * time) / (w * nn - n * n);
    let difference = (r0 / slope / knee).ln().abs();
    // No slope (one point beyond the knee, or a falling line): nothing to compare with, so twice the least.
    if difference.is_finite() { difference.max(FAMILY_MIN) } else { 2.0 * FAMILY_MIN }
}

/// One device and study that prove all findings about the number in flight; each adds its truths.
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
question = "How many requests must be in flight?"
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
