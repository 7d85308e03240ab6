//! Like points: the point of another run that measured the same workload.
//!
//! Where a point's requests go follows from the storage: a run prepares what there is room and time for, and its spans
//! and offsets are parts of that. So a point is like another that goes to the same bytes; failing that, to the same
//! part of what was prepared; failing that, where each run has one point of that work. Two points that differ in their
//! span alone are two questions (a cache, a disk's zones), and are never taken for one another.

use iosonde_model::{Point, Run, TrialSpec};

/// Parts as near as this are the same: spans are whole blocks.
const SAME_PART: f64 = 0.01;

/// The other run's point for the same work: one measured the same way if there is one, else another.
pub(super) fn partner(own: &Run, point: &Point, other: &Run) -> Option<usize> {
    like(own, point, other, way).or_else(|| like(own, point, other, work))
}

/// The point of another run of the same side.
pub(super) fn same_point<'a>(own: &Run, point: &Point, other: &'a Run) -> Option<&'a Point> {
    like(own, point, other, way).map(|place| &other.points[place])
}

/// A workload without where it was done.
fn way(spec: &TrialSpec) -> TrialSpec {
    let and = spec.and.iter().map(way).collect();
    TrialSpec { span_bytes: 0, offset_bytes: 0, and, ..spec.clone() }
}

/// A workload without how it was done.
fn work(spec: &TrialSpec) -> TrialSpec {
    let and = spec.and.iter().map(work).collect();
    TrialSpec { engine: String::new(), direct: true, and, ..way(spec) }
}

fn like(own: &Run, point: &Point, other: &Run, kept: fn(&TrialSpec) -> TrialSpec) -> Option<usize> {
    let wanted = kept(&point.spec);
    let fitting = |run: &Run| -> Vec<usize> {
        (0..run.points.len()).filter(|&place| kept(&run.points[place].spec) == wanted).collect()
    };
    let (ours, theirs) = (fitting(own), fitting(other));
    let bytes = |run: &Run, place: usize| areas_bytes(&run.points[place].spec);
    let at = ours.iter().copied().find(|&place| own.points[place].id == point.id)?;
    // What is measured in two manners is two points of one workload: the first of one run is the first of the other's.
    let rank = ours.iter().filter(|&&place| place < at && bytes(own, place) == bytes(own, at)).count();
    if let Some(same) = theirs.iter().filter(|&&place| bytes(other, place) == bytes(own, at)).nth(rank) {
        return Some(*same);
    }
    let part = theirs.iter().filter(|&&place| {
        // Which goes to the same bytes as another of this run is that one's.
        !ours.iter().any(|&mine| bytes(own, mine) == bytes(other, place))
            && same_part(&parts(own, at), &parts(other, place))
    });
    match (part.copied().next(), &ours[..], &theirs[..]) {
        (Some(place), _, _) => Some(place),
        (None, [_], [only]) => Some(*only),
        _ => None,
    }
}

/// Offset and span of each stream.
fn areas_bytes(spec: &TrialSpec) -> Vec<(u64, u64)> {
    let own = (spec.offset_bytes, spec.span_bytes);
    std::iter::once(own).chain(spec.and.iter().flat_map(areas_bytes)).collect()
}

/// The same as parts of what was prepared; nothing where that is not known.
fn parts(run: &Run, place: usize) -> Vec<(f64, f64)> {
    let all = run.info.device.working_set_bytes as f64;
    let part = |bytes: u64| bytes as f64 / all;
    let areas = areas_bytes(&run.points[place].spec).into_iter().filter(|_| all > 0.0);
    areas.map(|(offset_bytes, span_bytes)| (part(offset_bytes), part(span_bytes))).collect()
}

fn same_part(a: &[(f64, f64)], b: &[(f64, f64)]) -> bool {
    let near = |(a, b): (f64, f64)| (a - b).abs() <= SAME_PART * a.abs().max(b.abs());
    let pairs = || a.iter().zip(b);
    !a.is_empty() && a.len() == b.len() && pairs().all(|(a, b)| near((a.0, b.0)) && near((a.1, b.1)))
}

#[cfg(test)]
mod tests {
    use iosonde_testkit::specimen;

    use super::*;

    /// A run of random reads over these spans of a prepared area.
    fn run(prepared_bytes: u64, spans_bytes: &[u64]) -> Run {
        let mut run = specimen::run(specimen::usual());
        run.info.device.working_set_bytes = prepared_bytes;
        let point = |(id, &span_bytes): (usize, &u64)| {
            Point::planned(id, "working-set", TrialSpec { span_bytes, ..TrialSpec::default() })
        };
        run.points = spans_bytes.iter().enumerate().map(point).collect();
        run
    }

    fn partners(a: &Run, b: &Run) -> Vec<Option<usize>> {
        a.points.iter().map(|point| partner(a, point, b)).collect()
    }

    #[test]
    fn spans_of_one_workload_are_points_of_their_own() {
        let (a, b) = (run(1 << 30, &[1 << 20, 1 << 25, 1 << 30]), run(1 << 30, &[1 << 30, 1 << 20, 1 << 25]));
        assert_eq!(partners(&a, &b), [Some(1), Some(2), Some(0)]);
        assert_eq!(same_point(&a, &a.points[2], &b).unwrap().spec.span_bytes, 1 << 30);
        // What one run added between has no partner, and takes nobody's.
        let more = run(1 << 30, &[1 << 20, 1 << 25, 1 << 30, 700 << 20]);
        assert_eq!(partners(&more, &a), [Some(0), Some(1), Some(2), None]);
        assert_eq!(partners(&a, &more), [Some(0), Some(1), Some(2)]);
    }

    #[test]
    fn where_less_was_prepared_the_same_bytes_meet_and_then_the_same_part() {
        let (a, b) = (run(4 << 30, &[1 << 26, 1 << 30, 4 << 30]), run(2 << 30, &[1 << 26, 1 << 30, 2 << 30]));
        assert_eq!(partners(&a, &b), [Some(0), Some(1), Some(2)]);
        let (zones, half) = (run(1 << 40, &[1 << 20, 1 << 30]), run(1 << 39, &[1 << 19, 1 << 29]));
        assert_eq!(partners(&zones, &half), [Some(0), Some(1)]);
    }

    #[test]
    fn one_of_a_kind_meets_the_only_one_of_its_kind() {
        assert_eq!(partners(&run(0, &[1 << 30]), &run(0, &[1 << 20])), [Some(0)]);
        assert_eq!(partners(&run(0, &[1 << 30]), &run(0, &[1 << 20, 1 << 21])), [None]);
    }

    #[test]
    fn two_manners_of_one_workload_are_told_apart_by_their_order() {
        let a = run(1 << 30, &[1 << 30, 1 << 30]);
        assert_eq!(partners(&a, &a), [Some(0), Some(1)]);
    }
}
