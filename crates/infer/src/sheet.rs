//! A run against a vendor's sheet, line by line.
//!
//! A figure answers a claim only under the claim's conditions: the pattern and block size, the queue depth, the
//! part of the drive that is addressed, and its state. A laptop that writes 316,935 blocks a second into 2 GiB of a
//! fresh drive for a minute does not answer 118,000 over all of a drive that has been written for hours; so the answer
//! there is *not comparable*. As much or less under easier conditions is said, with every condition that is not met.
//!
//! **Above is suspicious, not good.** Vendors claim what they can; a drive that does more was measured in another
//! state, or something else answered.

use iosonde_model::{
    Claim, ClaimUnit, ClaimVerdict, DeviceNote, Estimate, Level, Op, Outcome, Point, Run, Rw, ServedBy,
    Sheet, SheetBasis, SheetLine, TrialSpec, UnlikeClaim,
};

use crate::{compare::like::served_by, finding::over_trials};

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
    let (mut unlike, is_easier) = unlike(run, point, claim, capacity_bytes);
    let mut verdict = against(&measured, claim, margin);
    let levels = levels(point, claim);
    let of_levels: Vec<ClaimVerdict> = levels.iter().map(|level| against(level, claim, margin)).collect();
    match (levels.as_slice(), of_levels.as_slice()) {
        // Two levels have no common mean.
        (_, [one, other]) if one == other => verdict = *one,
        ([low, high], _) => {
            verdict = ClaimVerdict::NotComparable;
            unlike.insert(0, UnlikeClaim::TwoLevels { low: low.value, high: high.value });
        }
        _ if verdict == ClaimVerdict::NotComparable => unlike.insert(0, UnlikeClaim::WideInterval),
        _ => {}
    }
    if measured.low.is_none() {
        unlike.push(UnlikeClaim::NoInterval);
    }
    let served_by = served_by(run, point);
    match served_by {
        Some(ServedBy::Memory) => unlike.insert(0, UnlikeClaim::MemoryAnswered),
        Some(ServedBy::Program) => unlike.insert(0, UnlikeClaim::ProgramLimit),
        _ => {}
    }
    // A lower figure at a lower queue depth than the claim's does not refute it, and a higher one under easier
    // conditions does not confirm it.
    let is_shallower = claim.in_flight.is_some_and(|asked| point.spec.asked_in_flight() < asked);
    let says_nothing = match verdict {
        _ if served_by == Some(ServedBy::Memory) => true,
        // A drive that a program did not keep busy gives at least as much.
        ClaimVerdict::Below => is_shallower || served_by == Some(ServedBy::Program),
        ClaimVerdict::Above => is_easier,
        ClaimVerdict::Meets | ClaimVerdict::NotComparable => false,
    };
    let verdict = if says_nothing || !point.spec.direct { ClaimVerdict::NotComparable } else { verdict };
    told(Some(measured), verdict, SheetBasis::Measured { spec: Box::new(point.spec.clone()), margin, unlike })
}

/// An interval against a claim; not comparable where it is wide enough to meet any.
fn against(measured: &Estimate, claim: &Claim, margin: f64) -> ClaimVerdict {
    let (low, high) = (measured.low.unwrap_or(measured.value), measured.high.unwrap_or(measured.value));
    if low > claim.value * (1.0 + margin) {
        ClaimVerdict::Above
    } else if high < claim.value * (1.0 - margin) {
        ClaimVerdict::Below
    } else if low < claim.value * (1.0 - margin) {
        ClaimVerdict::NotComparable
    } else {
        ClaimVerdict::Meets
    }
}

/// The two levels on which a point's trials lie, the lower first; empty where they lie on one.
fn levels(point: &Point, claim: &Claim) -> Vec<Estimate> {
    let own = point.direction(op(claim.rw)).map_or(&[][..], |direction| &direction.levels);
    let figure = |level: &Level| match claim.unit {
        ClaimUnit::Iops => level.iops,
        ClaimUnit::BytesPerSecond => level.bytes_per_s,
    };
    let mut levels: Vec<Estimate> = own.iter().map(figure).collect();
    levels.sort_by(|a, b| a.value.total_cmp(&b.value));
    levels
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

/// Conditions of a claim that a point does not meet, and whether they are easier than the claim's.
fn unlike(run: &Run, point: &Point, claim: &Claim, capacity_bytes: Option<u64>) -> (Vec<UnlikeClaim>, bool) {
    let mut unlike = Vec::new();
    let device = &run.info.device;
    let span_bytes = point.spec.span_bytes;
    let whole_bytes = device.whole_bytes().filter(|_| device.kind != "file").or(capacity_bytes);
    let share = claim.span.unwrap_or(1.0);
    if let Some(whole_bytes) = whole_bytes
        && (span_bytes as f64) < WHOLE_SHARE * share * whole_bytes as f64
    {
        unlike.push(match claim.span {
            Some(_) => UnlikeClaim::Span { span_bytes: (span_bytes > 0).then_some(span_bytes), whole_bytes },
            None => UnlikeClaim::SpanNotClaimed { span_bytes, whole_bytes },
        });
    }
    unlike.extend(claim.steady.then(|| not_steady(run, point)).flatten());
    let is_easier = unlike.iter().any(|one| !matches!(one, UnlikeClaim::SpanNotClaimed { .. }));
    if !point.spec.direct {
        unlike.push(UnlikeClaim::PageCache);
    }
    let measured = point.spec.asked_in_flight();
    if let Some(claimed) = claim.in_flight.filter(|&claimed| claimed != measured) {
        unlike.push(UnlikeClaim::QueueDepth { measured, claimed });
    }
    (unlike, is_easier)
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
