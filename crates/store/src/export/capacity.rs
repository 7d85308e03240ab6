//! How much a storage can do, for programs that are configured with it: the highest throughput of a kind of request.

use iosonde_model::{CheckName, Estimate, Outcome, Point, PointDirection, Run, Rw};

use super::figures::is_of_storage;

/// Kind of request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    /// Pattern; mixes are no such figure.
    pub rw: Rw,
    /// Requests of 4 KiB, in requests per second; otherwise of 128 KiB and more, in bytes per second.
    pub small: bool,
}

/// Size of a small request.
const SMALL_BYTES: u64 = 4096;
/// Size from which a request is large.
const LARGE_BYTES: u64 = 128 << 10;
/// Queue depth from which a figure is one of throughput: QD 1 measures latency.
const IN_FLIGHT_MIN: u64 = 8;

/// Highest throughput of a kind over all points, with its interval.
///
/// # Errors
/// A sentence, where no valid point measured it or its interval says too little.
pub(super) fn highest(run: &Run, kind: Kind) -> Result<Estimate, String> {
    let is_such = |point: &&Point| {
        let spec = &point.spec;
        let sized = match kind.small {
            true => spec.block_size_bytes == SMALL_BYTES,
            false => spec.block_size_bytes >= LARGE_BYTES,
        };
        let plain = spec.block_sizes.is_one() && spec.rate_iops.is_none() && spec.streams().count() == 1;
        spec.rw == kind.rw && sized && plain && spec.asked_in_flight() >= IN_FLIGHT_MIN
    };
    let what = what(kind);
    let all: Vec<&Point> = run.points.iter().filter(is_such).collect();
    if all.is_empty() {
        return Err(format!(
            "run {} has no {what} at QD {IN_FLIGHT_MIN} or more; `iosonde run io-cost {}` measures them",
            run.info.id, run.info.target
        ));
    }
    let figures = all.into_iter().filter(|point| is_of_storage(run, point)).filter_map(|point| {
        let direction = if kind.rw.reads() { &point.read } else { &point.write };
        let rate =
            |direction: &PointDirection| if kind.small { direction.iops } else { direction.bytes_per_s };
        direction.as_ref().map(|direction| (point, rate(direction)))
    });
    let known =
        figures.filter(|(_, figure)| figure.low.is_some() && figure.high.is_some() && !figure.is_vague());
    let (point, estimate) = known.max_by(|(_, a), (_, b)| a.value.total_cmp(&b.value)).ok_or_else(|| {
        format!(
            "{what} of run {} are inconclusive: no point has a valid figure with an interval; measure for longer with \
             `iosonde run --add={} --time 5m`",
            run.info.id, run.info.id
        )
    })?;
    if is_of_program(run, point) {
        return Err(format!(
            "{what} of run {} are inconclusive: iosonde used most of its CPU there, so the storage may be faster; \
             measure on more or faster processors",
            run.info.id
        ));
    }
    Ok(estimate)
}

/// Whether the program may have been the limit in most trials of a point.
fn is_of_program(run: &Run, point: &Point) -> bool {
    let bound = |id: &&u64| {
        run.verdicts.iter().any(|line| {
            line.check == CheckName::GeneratorBound
                && line.trial == Some(**id)
                && [Outcome::Warning, Outcome::Invalid].contains(&line.verdict)
        })
    };
    2 * point.trial_ids.iter().filter(bound).count() > point.trial_ids.len()
}

fn what(Kind { rw, small }: Kind) -> String {
    let order = if rw.is_random() { "random" } else { "sequential" };
    let op = if rw.reads() { "reads" } else { "writes" };
    format!("{order} {op} of {}", if small { "4 KiB" } else { "128 KiB or more" })
}

#[cfg(test)]
pub(super) mod tests {
    use iosonde_model::About;

    use super::*;
    use iosonde_model::{Judgement, TrialSpec};

    /// A run of the study `io-cost`: large requests move 1 GB/s, small ones are made 100,000 times per second.
    pub(crate) fn measured() -> Run {
        let mut run = crate::run_file::tests::imported();
        let kinds = [(Rw::Read, 1 << 20), (Rw::Write, 1 << 20)]
            .into_iter()
            .chain([Rw::Read, Rw::RandRead, Rw::Write, Rw::RandWrite].into_iter().map(|rw| (rw, 4096_u64)));
        let point = |(id, (rw, block_size_bytes)): (usize, (Rw, u64))| {
            let spec = TrialSpec { rw, block_size_bytes, queue_depth: 32, ..TrialSpec::default() };
            let mut point = Point::planned(id, "x", spec);
            let around = |value: f64| Estimate { value, low: Some(0.98 * value), high: Some(1.02 * value) };
            let iops = 100_000.0 + id as f64;
            let direction = PointDirection {
                iops: around(iops),
                bytes_per_s: around(1e9 + id as f64),
                latency_ns_mean: None,
                latency_ns_p50: None,
                latency_ns_p99: None,
                latency_ns_p99_9: None,
                levels: Vec::new(),
            };
            (point.trials, point.left_out) = (8, 0);
            if rw.reads() {
                point.read = Some(direction)
            } else {
                point.write = Some(direction)
            }
            point
        };
        run.points = kinds.enumerate().map(point).collect();
        run
    }

    #[test]
    fn a_figure_is_the_highest_of_its_kind_or_refused_in_words() {
        let mut run = measured();
        let reads = Kind { rw: Rw::RandRead, small: true };
        assert_eq!(highest(&run, reads).unwrap().value, 100_003.0);
        run.points[3].spec.queue_depth = 1;
        assert!(highest(&run, reads).unwrap_err().contains("no random reads of 4 KiB at QD 8 or more"));
        let large = Kind { rw: Rw::Write, small: false };
        assert_eq!(highest(&run, large).unwrap().value, 1e9 + 1.0);
        let busy = |id: u64| Judgement {
            scope: "trial".to_owned(),
            trial: Some(id),
            point: None,
            check: CheckName::GeneratorBound,
            verdict: Outcome::Warning,
            about: About::All,
            cause: None,
        };
        run.points[1].trial_ids = vec![7, 8, 9];
        run.verdicts = vec![busy(7)];
        assert!(highest(&run, large).is_ok(), "one of three");
        run.verdicts.push(busy(8));
        assert!(highest(&run, large).unwrap_err().contains("used most of its CPU"));
        run.points[1].write.as_mut().unwrap().bytes_per_s.low = Some(1.0);
        assert!(highest(&run, large).unwrap_err().contains("are inconclusive"));
    }
}
