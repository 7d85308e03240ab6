//! The time of a request against its size, t(b) = t₀ + b/B: one fit, which three findings use.
//!
//! Hockney, The Science of Computer Benchmarking (SIAM 1996): a pipe is described by its bandwidth r∞ and by n½,
//! the size at which half of it is reached. Here B is r∞ and t₀ = n½ / B. The fit is made on logarithms, where the
//! scatter is equal at all sizes.
//!
//! Real storage differs a little from any law. Where points miss it by more than their errors, the interval is
//! widened by the square root of chi² over its degrees of freedom (Birge, The calculation of errors by the method
//! of least squares, 1932). Where they differ significantly (at 1 %), the text says so. Where a size misses by more
//! than 10 %, the law is rejected.
//!
//! The points' errors are not independent: one trend is taken from all of them, and neighbours in time resemble each
//! other. The fit weights the rest of each error, and the shared part, which no number of sizes makes smaller, is added
//! to the interval by what it moves each parameter: t₀ as much as the points, n½ hardly.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    Conditions, Estimate, Inconclusive, Op,
    detail::{SizeLaw, SizeLawProblem},
};
use iosonde_stats::{
    LogEstimate,
    least_squares::{Fit, least_squares},
    normal, student_t,
};
use statrs::distribution::{ChiSquared, ContinuousCDF};

use super::{
    Proof,
    group::{self, Group},
};

/// Sizes that a fit of two parameters needs, to have two left for judging it.
pub(super) const SIZES_MIN: usize = 4;
/// Largest over smallest size: a law of two parts is not seen in a narrow range.
const SIZE_RANGE_MIN: u64 = 16;
/// The largest miss that a stretched interval may cover.
pub(super) const MISS_MAX: f64 = 0.10;
/// Largest share of a point's variance that is taken for shared: a fit needs errors of the points' own.
const SHARED_MOST: f64 = 0.9;
/// Chance of calling a true law bent.
pub(super) const REJECTED_AT: f64 = 0.01;

/// One point of the curve.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) bytes: u64,
    /// ln of the nanoseconds of a request: one over the throughput at QD 1.
    pub(super) log_time: f64,
    /// As of a normal deviate.
    pub(super) standard_error: f64,
    /// The part of it that other sizes share.
    pub(super) shared_error: f64,
}

impl Size {
    /// The part of the standard error that is this size's own.
    fn own_error(&self) -> f64 {
        let share = self.shared_error.powi(2) / self.standard_error.powi(2);
        self.standard_error * (1.0 - share.min(SHARED_MOST)).sqrt()
    }
}

/// The fitted law.
pub(super) struct Hockney {
    /// What every request costs, whatever its size, in nanoseconds.
    pub(super) t0_ns: Estimate,
    /// The size at which half of the asymptotic rate is reached, in bytes; `None` where the time of a
    /// request does not depend on its size as far as was measured.
    pub(super) half_size_bytes: Option<Estimate>,
    /// How well the points follow it.
    pub(super) fit: SizeLaw,
}

/// ln t(b) = ln t₀ + ln(1 + b / n½).
fn log_time(log_t0: f64, log_half: f64, bytes: u64) -> f64 {
    log_t0 + (bytes as f64 / log_half.exp()).ln_1p()
}

/// The law through the points of a group, or why there is none.
pub(super) fn of(group: &Group, confidence: f64) -> Result<Hockney, Inconclusive> {
    of_rates(group, &|evidence, op| group::valid_rate(evidence, op, &[]), confidence)
}

/// The rate of a point's direction, or why it is unknown.
pub(super) type Rate = dyn Fn(&Evidence, Op) -> Result<LogEstimate, Inconclusive>;

/// The law through the points of a group by these rates, or why there is none.
pub(super) fn of_rates(group: &Group, rate: &Rate, confidence: f64) -> Result<Hockney, Inconclusive> {
    one_at_a_time(group)?;
    Ok(fit(&sizes(group, rate, confidence)?, confidence)?)
}

/// The curve of a group of points at QD 1, or why there is none.
fn sizes(group: &Group, rate: &Rate, confidence: f64) -> Result<Vec<Size>, Inconclusive> {
    let mut sizes = Vec::new();
    for evidence in &group.points {
        let rate = rate(evidence, group.op)?;
        sizes.push(Size {
            bytes: evidence.point.spec.block_size_bytes,
            log_time: 1e9_f64.ln() - rate.log_mean,
            standard_error: rate.normal_error(confidence),
            shared_error: evidence.direction(group.op).map_or(0.0, |direction| direction.shared_error),
        });
    }
    sizes.sort_by_key(|size| size.bytes);
    Ok(sizes)
}

/// The law through these points, or why not.
pub(super) fn fit(sizes: &[Size], confidence: f64) -> Result<Hockney, SizeLawProblem> {
    let wide = |first: &Size, last: &Size| last.bytes >= first.bytes * SIZE_RANGE_MIN;
    let (first, last) = (sizes.first(), sizes.last());
    if sizes.len() < SIZES_MIN || !first.zip(last).is_some_and(|(first, last)| wide(first, last)) {
        let (sizes, needed, range_needed) = (sizes.len(), SIZES_MIN, SIZE_RANGE_MIN);
        return Err(SizeLawProblem::TooFewSizes { sizes, needed, range_needed });
    }
    let (fit, rising) = curve(sizes)?;
    let at = |bytes: u64| {
        if rising { log_time(fit.parameters[0], fit.parameters[1], bytes) } else { fit.parameters[0] }
    };
    let misses = sizes.iter().map(|size| (size.bytes, (size.log_time - at(size.bytes)).exp_m1().abs()));
    let (worst_size_bytes, worst_miss_share) =
        misses.max_by(|a, b| a.1.total_cmp(&b.1)).expect("there are sizes");
    let stretched = is_bent(fit.chi_square, fit.degrees_of_freedom);
    if stretched && worst_miss_share > MISS_MAX {
        return Err(SizeLawProblem::NotLinear { size_bytes: worst_size_bytes, miss_share: worst_miss_share });
    }
    let law = SizeLaw { worst_size_bytes, worst_miss_share, widened: stretched };
    let t = if stretched { student_t(confidence, fit.degrees_of_freedom) } else { normal(confidence) };
    // What the points miss by beyond their own errors belongs to the interval even where a bend is not sure.
    let fit = if stretched || fit.chi_square > fit.degrees_of_freedom { fit.widened() } else { fit };
    let shared = shift(sizes, &fit);
    let estimate = |parameter: usize| {
        let own = t * fit.standard_error(parameter);
        let (log, half) = (fit.parameters[parameter], own.hypot(normal(confidence) * shared[parameter]));
        Estimate { value: log.exp(), low: Some((log - half).exp()), high: Some((log + half).exp()) }
    };
    Ok(Hockney { t0_ns: estimate(0), half_size_bytes: rising.then(|| estimate(1)), fit: law })
}

/// How far each parameter moves where all sizes are wrong together by the error that they share.
fn shift(sizes: &[Size], fit: &Fit) -> Vec<f64> {
    let wrong = |size: &Size| Size { log_time: size.log_time + size.shared_error, ..*size };
    let moved = curve(&sizes.iter().map(wrong).collect::<Vec<_>>());
    let alike = moved.ok().filter(|(moved, _)| moved.parameters.len() == fit.parameters.len());
    let distance = |moved: &Fit, at: usize| (moved.parameters[at] - fit.parameters[at]).abs();
    let of = |(moved, _): &(Fit, bool)| (0..fit.parameters.len()).map(|at| distance(moved, at)).collect();
    alike.as_ref().map_or_else(|| vec![0.0; fit.parameters.len()], of)
}

/// The least-squares curve with parameters ln t₀ and ln n½, and true; or a constant, ln t₀ alone, and false
/// where time does not rise with size.
fn curve(sizes: &[Size]) -> Result<(Fit, bool), SizeLawProblem> {
    let observed: Vec<_> = sizes.iter().map(|size| size.log_time).collect();
    let errors: Vec<_> = sizes.iter().map(Size::own_error).collect();
    let (first, last) = (sizes[0], sizes[sizes.len() - 1]);
    // The cost of the smallest size, and the size that takes this long at the largest one's rate.
    let rate = last.bytes as f64 / last.log_time.exp();
    let rising = |p: &[f64]| sizes.iter().map(|size| log_time(p[0], p[1], size.bytes)).collect();
    if let Ok(fit) = least_squares(rising, &observed, &errors, &[first.log_time, first.log_time + rate.ln()])
        // 10: there the largest size takes a tenth longer than the smallest; beyond, n½ is a guess.
        && fit.parameters[1].exp() < 10.0 * last.bytes as f64
    {
        return Ok((fit, true));
    }
    let level = |p: &[f64]| vec![p[0]; sizes.len()];
    least_squares(level, &observed, &errors, &[first.log_time])
        .map(|fit| (fit, false))
        .map_err(|_| SizeLawProblem::NoFit)
}

/// Whether the residuals are larger than the points' own errors explain.
pub(super) fn is_bent(chi_square: f64, degrees_of_freedom: f64) -> bool {
    ChiSquared::new(degrees_of_freedom).is_ok_and(|law| 1.0 - law.cdf(chi_square) < REJECTED_AT)
}

/// The groups that a curve over block sizes is made of: one for each pattern and queue depth.
pub(super) fn groups<'e, 'a>(points: &'e [Evidence<'a>]) -> Vec<Group<'e, 'a>> {
    group::groups(points, |op, evidence| {
        let spec = &evidence.point.spec;
        Some(Conditions {
            op: Some(op),
            random: Some(spec.rw.is_random()),
            queue_depth: Some(spec.queue_depth * spec.jobs),
            span_bytes: Some(spec.span_bytes),
            ..Conditions::default()
        })
    })
}

/// Error at a queue depth above 1: then the time between completions is no request's time.
fn one_at_a_time(group: &Group) -> Result<(), SizeLawProblem> {
    match group.conditions.queue_depth {
        Some(1) => Ok(()),
        depth => Err(SizeLawProblem::SeveralInFlight { queue_depth: depth.unwrap_or(0) }),
    }
}

/// One device and study that prove all findings of the law; each adds its truths.
pub(super) const PROOF: Proof = Proof {
    device: r#"
name = "hockney"
summary = "100 us whatever the size, then 1 GB/s"
capacity = "64GiB"
[host]
request_cost = "20us"
[link]
bandwidth = "1GB/s"
latency = "5us"
[queue]
servers = 4
service = { fixed = "75us" }
[noise]
latency_cv = 0.05
"#,
    study: r#"
name = "hockney"
question = "What does a request cost?"
time = "90s"
[[experiment]]
kind = "block-size"
rw = ["randread", "randwrite"]
block_size = "4k..4M*4"
depth = 1
"#,
    truths: &[],
    widest: 0.0,
};

#[cfg(test)]
#[path = "hockney_tests.rs"]
mod tests;
