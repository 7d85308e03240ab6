//! What others conclude from the same points: iotune's rule, and the highest point of the grid.

use iosonde_model::{FindingName, Op, Point, Run};

/// A rule's guess.
pub struct Guess {
    pub rule: &'static str,
    pub value: f64,
}

fn rates(run: &Run, x: impl Fn(&Point) -> Option<f64>) -> Vec<(f64, f64)> {
    let of = |point: &Point| {
        let direction =
            if point.spec.rw.reads() { point.direction(Op::Read) } else { point.direction(Op::Write) };
        Some((x(point)?, direction?.iops.value))
    };
    let mut all: Vec<(f64, f64)> = run.points.iter().filter_map(of).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all
}

/// What the two rules say where they say anything.
pub fn guesses(run: &Run, finding: FindingName) -> Vec<Guess> {
    let curve = match finding {
        FindingName::QueueDepthKnee | FindingName::MaxIops => rates(run, |point| {
            (point.experiment == "queue-depth").then_some(f64::from(point.spec.queue_depth))
        }),
        FindingName::MappingUnitBytes => rates(run, |point| {
            (point.experiment == "rewrite" && point.spec.offset_bytes == 0)
                .then_some(point.spec.block_size_bytes as f64)
        }),
        _ => return Vec::new(),
    };
    let highest = curve.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1));
    // The first doubling that gains 5 % or less ends the rise.
    let level = curve.windows(2).find(|pair| pair[1].1 <= 1.05 * pair[0].1).map(|pair| pair[0]);
    let of = |rule, point: Option<(f64, f64)>| {
        let value = if finding == FindingName::MaxIops { point?.1 } else { point?.0 };
        Some(Guess { rule, value })
    };
    [of("iotune's rule", level), of("highest grid point", highest)].into_iter().flatten().collect()
}
