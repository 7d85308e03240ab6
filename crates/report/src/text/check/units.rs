//! Words of the check `units`.

use iosonde_model::{
    Op,
    cause::{LatencyStatistic, TrialFigure, Units},
    units,
};

/// `reads per second: 84000 stated, but the other figures give 82031`.
pub(super) fn words(cause: &Units) -> String {
    match cause {
        Units::NothingCompleted => "no request completed".to_owned(),
        Units::Contradiction { figure, op, stated, worked_out } => {
            let (stated, worked_out) = (exact(*stated), exact(*worked_out));
            format!("{}: {stated} stated, but the other figures give {worked_out}", name(*figure, *op))
        }
        Units::LongerThanRun { longest_s, measured_s } => {
            format!(
                "a latency of {longest_s:.0} s in a run of {measured_s:.1} s: the tool that wrote it miscounted"
            )
        }
        Units::Slip { factor, rows: _, power } => {
            let slip = match power.map(i32::abs) {
                Some(1) => " (kB and KiB confused?)",
                Some(2) => " (MB and MiB confused?)",
                Some(_) => " (GB and GiB confused?)",
                None => "",
            };
            format!("throughput is {factor:.3} times IOPS × block size in all rows{slip}")
        }
        Units::OtherBlockSize { op, stated_iops, from_block_size_bytes, block_size_bytes } => format!(
            "{} {op}s per second are the throughput divided by {}, but requests are of {}",
            exact(*stated_iops),
            units::size(*from_block_size_bytes),
            units::size(*block_size_bytes)
        ),
        Units::Disorder { op, lower, lower_ns, higher, higher_ns } => format!(
            "contradictory {op} latencies: {} {} ns is above {} {} ns",
            statistic(*lower),
            exact(lower_ns.round()),
            statistic(*higher),
            exact(higher_ns.round())
        ),
        Units::Overcounted { counted_bytes, issued_bytes } => {
            format!("{counted_bytes} bytes are counted, but the requests moved only {issued_bytes}")
        }
    }
}

/// A number to be compared with another: whole, unless it is small.
fn exact(value: f64) -> String {
    match value {
        value if !value.is_finite() => "(no number)".to_owned(),
        value if value.abs() >= 100.0 => format!("{value:.0}"),
        value => format!("{value}"),
    }
}

fn name(figure: TrialFigure, op: Op) -> String {
    match figure {
        TrialFigure::RequestsPerS => format!("{op}s per second"),
        TrialFigure::BytesPerS => format!("{op} throughput in bytes per second"),
        TrialFigure::Bytes => format!("bytes of all {op}s"),
        TrialFigure::RequestsInHistogram => format!("{op}s in the latency histogram"),
        TrialFigure::MeanLatencyNs => format!("mean {op} latency in ns"),
        TrialFigure::RequestsInWindows => format!("{op}s in all windows"),
    }
}

pub(super) fn statistic(statistic: LatencyStatistic) -> &'static str {
    match statistic {
        LatencyStatistic::Min => "minimum",
        LatencyStatistic::P50 => "median",
        LatencyStatistic::P90 => "p90",
        LatencyStatistic::P99 => "p99",
        LatencyStatistic::P99_9 => "p99.9",
        LatencyStatistic::P99_99 => "p99.99",
        LatencyStatistic::Mean => "mean",
        LatencyStatistic::Max => "maximum",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_values_are_exact() {
        let (figure, op) = (TrialFigure::RequestsPerS, Op::Read);
        assert_eq!(
            words(&Units::Contradiction { figure, op, stated: 84_000.4, worked_out: 99.5 }),
            "reads per second: 84000 stated, but the other figures give 99.5"
        );
    }
}
