//! How many times faster the storage reads at its first addresses than at its last.
//!
//! What it is: a disk's outer tracks are longer than its inner ones and pass in the same time, so that sequential
//! reading is about twice as fast there. 1 on storage without a platter.
//!
//! How it is computed: the throughput of large sequential reads at the first place over that at the last. Where the
//! whole interval of the ratio lies within 5 % of 1, throughput is the same everywhere, and the finding is absent.
//! Each place is some way from the edge. Tracks of a constant width hold bytes in proportion to their length, so
//! the square of the throughput falls in proportion to the address. This extrapolates the two figures to the edges.
//!
//! Assumes: that the medium, not a link or the program, limits these reads (another limit evens out the fast end),
//! and that the first address lies at the outer edge, as it does on disks.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    About, Conditions, Detail, Estimate, ExperimentName, Finding, FindingName, Op, Rw, Unit,
    detail::{Lack, Platter, PlatterProblem},
};

use super::{
    FindingKind, Proof, ScreenLine,
    effect::{self, MARGIN},
    group::{self, Writer},
};

pub(crate) struct ZoneRatio;

impl FindingKind for ZoneRatio {
    fn id(&self) -> FindingName {
        FindingName::ZoneRatio
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::Disk]
    }

    fn computed_from(&self) -> Option<&'static [About]> {
        Some(&[About::Rate])
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::always("zones")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Ratio, confidence };
        let mut groups = group::groups(points, |op, evidence| {
            let spec = &evidence.point.spec;
            (spec.rw == Rw::Read && spec.stride_bytes.is_none()).then(|| Conditions {
                op: Some(op),
                random: Some(false),
                block_size_bytes: Some(spec.block_size_bytes),
                queue_depth: Some(spec.asked_in_flight() as u32),
                span_bytes: Some(spec.span_bytes),
                ..Conditions::default()
            })
        });
        groups.retain(|group| group.points.len() > 1);
        groups.iter_mut().map(|group| one(&writer, &group.conditions, &mut group.points)).collect()
    }

    fn wants(&self) -> Option<Lack> {
        Some(Lack::Zones)
    }

    fn proof(&self) -> Proof {
        Proof { truths: &[(Some(2.0), "210 MB/s / 105 MB/s")], widest: 0.06, ..super::disk_proof() }
    }
}

fn one(writer: &Writer, conditions: &Conditions, points: &mut [&Evidence]) -> Finding {
    points.sort_by_key(|evidence| evidence.point.spec.offset_bytes);
    let (first, last) = (points[0], points[points.len() - 1]);
    let ratio = group::valid_rate(first, Op::Read, &[]).and_then(|over| {
        Ok(effect::ratio(over, group::valid_rate(last, Op::Read, &[])?, writer.confidence, 1))
    });
    let ratio = match ratio {
        Ok(ratio) => to_the_edges(ratio, first, last),
        Err(why) => return writer.inconclusive(conditions, points, why),
    };
    let (low, high) = (ratio.low.unwrap_or(0.0), ratio.high.unwrap_or(f64::INFINITY));
    let end_bytes = last.point.spec.offset_bytes + last.point.spec.span_bytes;
    if low >= 1.0 / (1.0 + MARGIN) && high <= 1.0 + MARGIN {
        let one = Detail::Platter(Platter::OneZone { end_bytes, low, high });
        return writer.absent(conditions, points, one);
    }
    if low <= 1.0 {
        return writer.inconclusive(conditions, points, PlatterProblem::ZonesUnclear { low, high });
    }
    let zones = Detail::Platter(Platter::Zones { places: points.len(), end_bytes });
    writer.concluded(conditions, points, ratio, zones)
}

/// The ratio between the first byte and the last, of the ratio between two places.
fn to_the_edges(ratio: Estimate, first: &Evidence, last: &Evidence) -> Estimate {
    let middle = |evidence: &Evidence| {
        let spec = &evidence.point.spec;
        spec.offset_bytes as f64 + spec.span_bytes as f64 / 2.0
    };
    let end = (last.point.spec.offset_bytes + last.point.spec.span_bytes) as f64;
    let (near, far) = (middle(first) / end, middle(last) / end);
    // With squares q and 1 at the two places, a line between them goes on to both edges.
    let carried = |ratio: f64| {
        let fall = (ratio * ratio - 1.0) / (far - near);
        let (outer, inner) = (ratio * ratio + fall * near, 1.0 - fall * (1.0 - far));
        if inner > 0.0 { (outer / inner).sqrt() } else { ratio }
    };
    Estimate { value: carried(ratio.value), low: ratio.low.map(carried), high: ratio.high.map(carried) }
}
