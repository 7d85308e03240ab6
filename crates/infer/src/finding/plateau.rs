//! The block size from which larger requests no longer increase throughput, by given rates: those that are valid for
//! the device, or those that a program saw.

use iosonde_model::{
    Detail, Estimate, Finding, Inconclusive,
    detail::{Plateau, PlateauMethod, SizeLawProblem},
};
use iosonde_stats::{LogEstimate, student_t};

use super::{
    best,
    group::{Group, Writer},
    hockney::{self, Rate},
};

/// Share of the asymptotic rate that counts as the plateau.
const SHARE: f64 = 0.95;

/// The finding about a group of sizes, by these rates.
pub(super) fn conclude(writer: &Writer, group: &Group, rate: &Rate) -> Finding {
    let (conditions, points) = (&group.conditions, &group.points);
    let measured = || points.iter().map(|evidence| evidence.point.spec.block_size_bytes);
    match plateau(group, rate, writer.confidence) {
        Ok(Sizes { value, low, high, method }) => {
            let estimate = Estimate { value: value as f64, low: Some(low as f64), high: Some(high as f64) };
            let next_smaller_bytes = measured().filter(|&bytes| bytes < low).max();
            let detail = Detail::Plateau(Plateau { next_smaller_bytes, method });
            writer.concluded(conditions, points, estimate, detail)
        }
        Err(why) => writer.inconclusive(conditions, points, why),
    }
}

/// Measured sizes.
struct Sizes {
    value: u64,
    low: u64,
    high: u64,
    method: PlateauMethod,
}

/// Bytes per second of each size, in order of the sizes.
fn rates(group: &Group, rate: &Rate) -> Result<Vec<(u64, LogEstimate)>, Inconclusive> {
    let mut rates = Vec::new();
    for evidence in &group.points {
        let bytes = evidence.point.spec.block_size_bytes;
        let mut rate = rate(evidence, group.op)?;
        rate.log_mean += (bytes as f64).ln();
        rates.push((bytes, rate));
    }
    rates.sort_by_key(|&(bytes, _)| bytes);
    if rates.len() < hockney::SIZES_MIN {
        let (sizes, needed) = (rates.len(), hockney::SIZES_MIN);
        return Err(SizeLawProblem::TooFewSizes { sizes, needed, range_needed: 1 }.into());
    }
    Ok(rates)
}

fn plateau(group: &Group, rate: &Rate, confidence: f64) -> Result<Sizes, Inconclusive> {
    let rates = rates(group, rate)?;
    let law = hockney::of_rates(group, rate, confidence).ok();
    let law = law.and_then(|law| law.half_size_bytes.map(|half| (law, half)));
    match law {
        Some((law, half)) => {
            let told = match by_law(&rates, &half, PlateauMethod::Law(law.fit)) {
                // The law may place it beyond the largest size where the sizes themselves show no rise.
                Err(SizeLawProblem::StillRising { .. }) if !surely_rises(&rates, confidence) => {
                    return Ok(by_comparison(&rates, confidence)?);
                }
                told => told?,
            };
            // A law that bends a little may be good for its two parameters, and not against points that were
            // measured: these would have to give nearly all of the highest rate at a smaller size than the law says
            // of that rate.
            let by_law = of_highest_by_law(&rates, &half);
            match by_comparison(&rates, confidence) {
                Ok(seen) if seen.high < told.low && seen.high < by_law => Ok(Sizes {
                    method: PlateauMethod::ComparisonAgainstLaw { law_bytes: told.value },
                    ..seen
                }),
                _ => Ok(told),
            }
        }
        None => Ok(by_comparison(&rates, confidence)?),
    }
}

/// 95 % at 19 n½, rounded up to a measured size.
fn by_law(
    rates: &[(u64, LogEstimate)],
    half: &Estimate,
    method: PlateauMethod,
) -> Result<Sizes, SizeLawProblem> {
    let times = SHARE / (1.0 - SHARE);
    let measured =
        |bytes: f64| rates.iter().map(|&(size, _)| size).find(|&size| size as f64 >= times * bytes);
    let largest_bytes = rates.last().map_or(0, |&(size, _)| size);
    let needed_bytes = Some((times * half.value).round() as u64);
    let rising = SizeLawProblem::StillRising { largest_bytes, needed_bytes };
    let (Some(low), Some(high)) = (half.low, half.high) else { return Err(rising) };
    Ok(Sizes {
        value: measured(half.value).ok_or(rising)?,
        low: measured(low).ok_or(rising)?,
        high: measured(high).ok_or(rising)?,
        method,
    })
}

/// The smallest size that gives 95 % of the largest size's rate by the law: less than 19 n½, since no size reaches the
/// law's limit.
fn of_highest_by_law(rates: &[(u64, LogEstimate)], half: &Estimate) -> u64 {
    let half_bytes = half.low.unwrap_or(half.value);
    let largest_bytes = rates.last().map_or(0, |&(size, _)| size);
    let share = SHARE / (1.0 + half_bytes / largest_bytes as f64);
    let needed_bytes = half_bytes * share / (1.0 - share);
    rates.iter().map(|&(size, _)| size).find(|&size| size as f64 >= needed_bytes).unwrap_or(largest_bytes)
}

/// Whether the throughput of the largest size is significantly higher than that of the next smaller one.
fn surely_rises(rates: &[(u64, LogEstimate)], confidence: f64) -> bool {
    let [.., (_, before), (_, last)] = rates else { return false };
    let error = last.half_width(confidence).hypot(before.half_width(confidence));
    last.log_mean - before.log_mean > error
}

/// Every size against the highest rate.
fn by_comparison(rates: &[(u64, LogEstimate)], confidence: f64) -> Result<Sizes, SizeLawProblem> {
    let estimates: Vec<_> = rates.iter().map(|&(_, rate)| rate).collect();
    let (top, _) = best::highest(&estimates, confidence).ok_or(SizeLawProblem::Unsure)?;
    let (top, high, low) = (top.value.ln(), top.high.map_or(0.0, f64::ln), top.low.map_or(0.0, f64::ln));
    let top_error = (high - low) / 2.0;
    let wanted = top + SHARE.ln();
    // How far each size's rate lies above 95 % of the highest, and how far that may be wrong.
    let above: Vec<_> = rates
        .iter()
        .map(|&(size, rate)| {
            let own = student_t(confidence, rate.degrees_of_freedom) * rate.standard_error;
            (size, rate.log_mean - wanted, own.hypot(top_error))
        })
        .collect();
    let from = |holds: &dyn Fn(f64, f64) -> bool| {
        let after = above.iter().rposition(|&(_, above, error)| !holds(above, error)).map_or(0, |i| i + 1);
        above.get(after).map(|&(size, ..)| size)
    };
    let largest_bytes = rates[rates.len() - 1].0;
    let likely = from(&|above, _| above >= 0.0).ok_or(SizeLawProblem::Unsure)?;
    if likely == largest_bytes {
        let rising = SizeLawProblem::StillRising { largest_bytes, needed_bytes: None };
        return Err(if surely_rises(rates, confidence) { rising } else { SizeLawProblem::Unsure });
    }
    Ok(Sizes {
        value: likely,
        low: from(&|above, error| above + error >= 0.0).ok_or(SizeLawProblem::Unsure)?,
        high: from(&|above, error| above - error >= 0.0).unwrap_or(largest_bytes),
        method: PlateauMethod::Comparison,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Throughput of 1, 4, 16 and 64 MiB in MB/s, each with this share as its standard error.
    fn rates(mb_per_s: [f64; 4], error: f64) -> Vec<(u64, LogEstimate)> {
        let one = |(place, mb): (usize, f64)| {
            let standard_error = error;
            (
                1 << (20 + 2 * place),
                LogEstimate { log_mean: (mb * 1e6).ln(), standard_error, degrees_of_freedom: 10.0 },
            )
        };
        mb_per_s.into_iter().enumerate().map(one).collect()
    }

    #[test]
    fn what_is_too_uncertain_does_not_rise() {
        // As on a real disk: the largest is no more than the smallest.
        for levels in [[1479.0, 1399.0, 1244.0, 1342.0], [1250.0, 1244.0, 1300.0, 1400.0]] {
            let problem = by_comparison(&rates(levels, 0.06), 0.95).err();
            assert!(matches!(problem, None | Some(SizeLawProblem::Unsure)), "{problem:?}");
        }
        let half = Estimate { value: 5e6, low: Some(4e6), high: Some(6e6) };
        let law = by_law(&rates([1479.0, 1399.0, 1244.0, 1342.0], 0.06), &half, PlateauMethod::Comparison);
        assert!(matches!(law, Err(SizeLawProblem::StillRising { .. })), "the law alone would say so");
        assert!(!surely_rises(&rates([1479.0, 1399.0, 1244.0, 1342.0], 0.06), 0.95));
        let rising = by_comparison(&rates([500.0, 900.0, 1200.0, 1400.0], 0.01), 0.95).err();
        assert!(matches!(rising, Some(SizeLawProblem::StillRising { .. })), "{rising:?}");
    }
}
