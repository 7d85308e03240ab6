//! A run against a vendor's sheet, line by line.
//!
//! A figure answers a claim only under the claim's conditions: the pattern and block size, the queue depth, the
//! part of the drive that is addressed, and its state. A laptop that writes 316,935 blocks a second into 2 GiB of a
//! fresh drive for a minute does not answer 118,000 over all of a drive that has been written for hours; so the answer
//! there is *not comparable*, with every condition that is not met.
//!
//! **Above is suspicious, not good.** Vendors claim what they can; a drive that does more was measured in another
//! state, or something else answered.

use iosonde_model::{
    Claim, ClaimUnit, ClaimVerdict, DeviceNote, Estimate, Op, Outcome, Point, Run, Rw, Sheet, SheetBasis,
    SheetLine, TrialSpec, UnlikeClaim,
};

use crate::finding::over_trials;

/// A sheet is printed with two digits: nearer than this is what it says.
pub const MARGIN: f64 = 0.05;
/// Share of the drive that counts as all of it: file systems keep a few percent for themselves.
pub const WHOLE_SHARE: f64 = 0.9;
/// Drive writes that bring a drive to its steady state (SNIA, Solid State Storage Performance Test Specification: twice
/// its capacity before the measured rounds).
const STEADY_DRIVE_WRITES: f64 = 2.0;

/// Every line of a sheet.
pub fn lines(run: &Run, sheet: &Sheet, margin: f64) -> Vec<SheetLine> {
    sheet.claims.iter().map(|claim| line(run, claim, sheet.capacity_bytes, margin)).collect()
}

fn line(run: &Run, claim: &Claim, capacity_bytes: Option<u64>, margin: f64) -> SheetLine {
    let told = |measured: Option<Estimate>, verdict, basis: SheetBasis| SheetLine {
        line: claim.line.clone(),
        claimed: claim.value,
        unit: claim.unit,
        measured: measured.map(|estimate| estimate.value),
        low: measured.and_then(|estimate| estimate.low),
        high: measured.and_then(|estimate| estimate.high),
        verdict,
        basis,
    };
    let (point, measured) = match nearest(run, claim) {
        Ok(found) => found,
        Err(why) => return told(None, ClaimVerdict::NotComparable, why),
    };
    let mut unlike = unlike(run, point, claim, capacity_bytes);
    let (low, high) = (measured.low.unwrap_or(measured.value), measured.high.unwrap_or(measured.value));
    let verdict = if low > claim.value * (1.0 + margin) {
        ClaimVerdict::Above
    } else if high < claim.value * (1.0 - margin) {
        ClaimVerdict::Below
    } else if low < claim.value * (1.0 - margin) {
        // It may be met or missed: an interval that is wide enough would "meet" any claim.
        unlike.hard.push(UnlikeClaim::WideInterval);
        ClaimVerdict::NotComparable
    } else {
        ClaimVerdict::Meets
    };
    if measured.low.is_none() {
        unlike.soft.push(UnlikeClaim::NoInterval);
    }
    // More than a fresh drive's share is no answer about a steady one; less is less in any state.
    if claim.steady && verdict == ClaimVerdict::Meets {
        unlike.hard.append(&mut unlike.state);
    }
    // A lower figure at a lower queue depth than the claim's does not refute it.
    let fewer = claim.in_flight.is_some_and(|asked| point.spec.asked_in_flight() < asked);
    if fewer && verdict == ClaimVerdict::Below {
        unlike.hard.append(&mut unlike.soft);
    }
    let verdict = if unlike.hard.is_empty() { verdict } else { ClaimVerdict::NotComparable };
    let unlike = [unlike.hard, unlike.state, unlike.soft].concat();
    told(Some(measured), verdict, SheetBasis::Measured { spec: Box::new(point.spec.clone()), margin, unlike })
}

/// The point nearest to the claim's conditions; of several the fastest, by its interval.
fn nearest<'a>(run: &'a Run, claim: &Claim) -> Result<(&'a Point, Estimate), SheetBasis> {
    let figure = |point: &Point| {
        let direction = point.direction(op(claim.rw))?;
        Some(match claim.unit {
            ClaimUnit::Iops => over_trials::grained(direction.iops),
            ClaimUnit::BytesPerSecond => over_trials::grained(direction.bytes_per_s),
        })
    };
    let fits = |point: &&Point| {
        let size = claim.block_size_bytes.is_none_or(|bytes| point.spec.block_size_bytes == bytes);
        same_pattern(&point.spec, claim.rw) && size && point.spec.block_sizes.is_one()
    };
    let candidates: Vec<&Point> = run.points.iter().filter(fits).collect();
    if candidates.is_empty() {
        return Err(SheetBasis::NotMeasured { rw: claim.rw, block_size_bytes: claim.block_size_bytes });
    }
    let known = candidates.iter().filter_map(|point| Some((*point, figure(point)?)));
    let distance = |point: &Point| match claim.in_flight {
        Some(in_flight) => (point.spec.asked_in_flight() as f64 / in_flight as f64).ln().abs(),
        None => 0.0,
    };
    let surely = |estimate: &Estimate| estimate.low.unwrap_or(estimate.value);
    known
        .min_by(|(a, x), (b, y)| distance(a).total_cmp(&distance(b)).then(surely(y).total_cmp(&surely(x))))
        .ok_or_else(|| voided(run, &candidates))
}

/// Why no candidate has a figure.
fn voided(run: &Run, candidates: &[&Point]) -> SheetBasis {
    let of =
        |id: Option<u64>| id.is_some_and(|id| candidates.iter().any(|point| point.trial_ids.contains(&id)));
    let void = run.verdicts.iter().find(|judged| judged.verdict == Outcome::Invalid && of(judged.trial));
    void.map_or(SheetBasis::NoSuchFigure, |void| SheetBasis::Invalid(Box::new(void.clone())))
}

fn op(rw: Rw) -> Op {
    if rw.writes() { Op::Write } else { Op::Read }
}

fn same_pattern(spec: &TrialSpec, rw: Rw) -> bool {
    spec.rw == rw && spec.and.is_empty() && spec.stride_bytes.is_none() && spec.rate_iops.is_none()
}

/// Conditions of a claim that a point does not meet.
#[derive(Debug, Default)]
struct Unlike {
    /// Without them there is no comparison.
    hard: Vec<UnlikeClaim>,
    /// The drive's state.
    state: Vec<UnlikeClaim>,
    /// Worth knowing.
    soft: Vec<UnlikeClaim>,
}

fn unlike(run: &Run, point: &Point, claim: &Claim, capacity_bytes: Option<u64>) -> Unlike {
    let mut unlike = Unlike::default();
    let device = &run.info.device;
    let whole_bytes = device.size_bytes.filter(|_| device.kind != "file").or(capacity_bytes);
    if let (Some(share), Some(whole_bytes)) = (claim.span, whole_bytes) {
        let span_bytes = point.spec.span_bytes;
        if (span_bytes as f64) < WHOLE_SHARE * share * whole_bytes as f64 {
            let span_bytes = (span_bytes > 0).then_some(span_bytes);
            unlike.hard.push(UnlikeClaim::Span { span_bytes, whole_bytes });
        }
    }
    if let (None, Some(whole_bytes)) = (claim.span, whole_bytes)
        && (point.spec.span_bytes as f64) < WHOLE_SHARE * whole_bytes as f64
    {
        unlike.soft.push(UnlikeClaim::SpanNotClaimed { span_bytes: point.spec.span_bytes, whole_bytes });
    }
    let measured = point.spec.asked_in_flight();
    if let Some(claimed) = claim.in_flight.filter(|&claimed| claimed != measured) {
        unlike.soft.push(UnlikeClaim::QueueDepth { measured, claimed });
    }
    if !point.spec.direct {
        unlike.hard.push(UnlikeClaim::PageCache);
    }
    if claim.steady
        && let Some(why) = not_steady(run, point)
    {
        unlike.state.push(why);
    }
    unlike
}

/// Why a run does not show a drive in its steady state; `None` where it does.
fn not_steady(run: &Run, point: &Point) -> Option<UnlikeClaim> {
    let device = &run.info.device;
    if device.state.as_deref() == Some("steady") {
        return None;
    }
    // However much was written: it was tested, and not reached.
    if device.notes.iter().any(|note| matches!(note, DeviceNote::NotSteady { .. })) {
        return Some(UnlikeClaim::StillChanging);
    }
    let measured_s: f64 = run
        .trials
        .iter()
        .filter(|trial| point.trial_ids.contains(&trial.id))
        .map(|trial| trial.measured_s)
        .sum();
    if run.info.is_imported() {
        return Some(UnlikeClaim::NotSteady { measured_s, drive_writes: None });
    }
    let span_bytes = device.size_bytes.unwrap_or(point.spec.span_bytes).max(1);
    let drive_writes = run.info.bytes_written as f64 / span_bytes as f64;
    (drive_writes < STEADY_DRIVE_WRITES)
        .then_some(UnlikeClaim::NotSteady { measured_s, drive_writes: Some(drive_writes) })
}

#[cfg(test)]
mod tests;
