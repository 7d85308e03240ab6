//! A table of the points: a line for each workload and direction, every figure with the ends of its interval.
//!
//! Columns: `point`, `experiment`, `workload` (in words), `op`; what was asked (`pattern` to `span_bytes`;
//! `offered_iops` of each job, where a rate was); `trials`, `left_out_trials` (that no figure contains), `of_storage`
//! (`no`: what memory or the program gave); `iops`, `bytes_per_s`, and latency in nanoseconds: the mean and percentiles
//! of requests, and in the lines of writes of the flushes and of the commits (writes with the flush that makes them
//! durable). Behind each figure are `_low` and `_high`, its 95 % interval. An empty cell is absent: too few trials for
//! an interval, or too few requests for a percentile.

use iosonde_model::{Estimate, Named, Op, Point, PointLatency, Run, Sync};

use super::{
    ExportFormat,
    cells::{number, quoted, read_percent},
    figures,
};

/// The registered format.
pub struct PointsCsv;

impl Named for PointsCsv {
    fn name(&self) -> &'static str {
        "points-csv"
    }
}

const ASKED: &str = "point,experiment,workload,op,pattern,block_size_bytes,read_percent,queue_depth,jobs,hosts,engine,\
                     direct,sync,offered_iops,span_bytes,trials,left_out_trials,of_storage";
/// Figures by the names of the JSON document, in the order of the columns.
const FIGURES: [&str; 14] = [
    "iops",
    "bytes_per_s",
    "latency_ns_mean",
    "latency_ns_p50",
    "latency_ns_p99",
    "latency_ns_p99_9",
    "flush_latency_ns_mean",
    "flush_latency_ns_p50",
    "flush_latency_ns_p99",
    "flush_latency_ns_p99_9",
    "commit_latency_ns_mean",
    "commit_latency_ns_p50",
    "commit_latency_ns_p99",
    "commit_latency_ns_p99_9",
];

impl ExportFormat for PointsCsv {
    fn extension(&self) -> &'static str {
        // Not that of `csv`, which may be written beside it.
        "points.csv"
    }

    fn write(&self, run: &Run) -> Result<String, String> {
        if run.points.is_empty() {
            return Err("the run has single trials and no points; -f csv writes its trials".to_owned());
        }
        let ends = FIGURES.iter().map(|name| format!(",{name},{name}_low,{name}_high"));
        let head = format!("{ASKED}{}\n", ends.collect::<String>());
        let of = |point| Op::DIRECTIONS.into_iter().filter_map(move |op| line(run, point, op));
        Ok(head + &run.points.iter().flat_map(of).collect::<String>())
    }
}

/// `None` where the point has no figures of the direction.
fn line(run: &Run, point: &Point, op: Op) -> Option<String> {
    point.direction(op)?;
    let spec = &point.spec;
    let several = !spec.block_sizes.is_one() || !spec.and.is_empty();
    let word = |yes: bool| if yes { "yes" } else { "no" }.to_owned();
    let mut cells = vec![
        point.id.to_string(),
        quoted(&point.experiment),
        quoted(&spec.describe()),
        op.to_string(),
        if spec.rw.is_random() { "random" } else { "sequential" }.to_owned(),
        // Of several sizes, `workload` has them.
        if several { String::new() } else { spec.block_size_bytes.to_string() },
        read_percent(spec),
        spec.queue_depth.to_string(),
        spec.jobs.to_string(),
        spec.hosts.to_string(),
        quoted(&spec.engine),
        word(spec.direct),
        if spec.sync == Sync::None { String::new() } else { spec.sync.to_string() },
        number(spec.rate_iops),
        spec.span_bytes.to_string(),
        point.trials.to_string(),
        point.left_out.to_string(),
        word(figures::is_of_storage(run, point)),
    ];
    let mut known = figures::estimates(point, op);
    known.extend(point.flush.as_ref().filter(|_| op == Op::Write).into_iter().flat_map(flushes));
    for name in FIGURES {
        let found = known.iter().find(|(own, _)| *own == name).map(|(_, estimate)| *estimate);
        let found = found.filter(|_| figures::is_counted(point));
        let ends = found.and_then(|estimate| estimate.low.zip(estimate.high));
        cells.push(number(found.map(|estimate| estimate.value)));
        cells.push(number(ends.map(|(low, _)| low)));
        cells.push(number(ends.map(|(_, high)| high)));
    }
    Some(cells.join(",") + "\n")
}

fn flushes(flush: &PointLatency) -> impl Iterator<Item = (&'static str, Estimate)> + use<> {
    let all = [
        ("flush_latency_ns_mean", flush.latency_ns_mean),
        ("flush_latency_ns_p50", flush.latency_ns_p50),
        ("flush_latency_ns_p99", flush.latency_ns_p99),
        ("flush_latency_ns_p99_9", flush.latency_ns_p99_9),
    ];
    all.into_iter().filter_map(|(name, estimate)| Some((name, estimate?)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use iosonde_model::Rw;

    use super::*;

    /// Rows by the names of their columns.
    fn rows(run: &Run) -> Vec<BTreeMap<String, String>> {
        let text = PointsCsv.write(run).unwrap();
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        reader.deserialize().map(|row| row.unwrap()).collect()
    }

    #[test]
    fn figures_have_their_intervals_and_what_is_absent_is_empty() {
        let mut run = figures::tests::measured();
        run.points[0].experiment = "=1+1, \"depth\"".to_owned();
        let all = rows(&run);
        assert_eq!(all.len(), 2);
        let of = |name: &str| all[0][name].as_str();
        assert_eq!(of("experiment"), "'=1+1, \"depth\"", "no formula");
        assert_eq!((of("op"), of("block_size_bytes"), of("queue_depth")), ("read", "4096", "4"));
        assert_eq!((of("iops"), of("iops_low"), of("iops_high")), ("1000", "950", "1060"));
        assert_eq!((of("latency_ns_mean"), of("latency_ns_mean_low")), ("4000000", "3900000"));
        // A percentile without an interval, and one that is unknown.
        assert_eq!(
            (of("latency_ns_p99"), of("latency_ns_p99_low"), of("latency_ns_p50")),
            ("9000000", "", "")
        );
        assert_eq!((of("trials"), of("left_out_trials"), of("of_storage")), ("5", "1", "yes"));
        assert_eq!(all[1]["iops_low"], "");
    }

    #[test]
    fn a_flush_has_columns_of_its_own_beside_writes() {
        let mut run = figures::tests::measured();
        let point = &mut run.points[0];
        point.write = point.read.take();
        let time = |ns| Some(Estimate { value: ns, low: Some(0.9 * ns), high: Some(1.1 * ns) });
        let flush = PointLatency {
            count: 100,
            latency_ns_mean: time(1e6),
            latency_ns_p50: None,
            latency_ns_p99: time(3e6),
            latency_ns_p99_9: None,
        };
        (point.flush, point.spec.rw) = (Some(flush), Rw::RandWrite);
        let all = rows(&run);
        assert_eq!((all[0]["op"].as_str(), all[0]["read_percent"].as_str()), ("write", "0"));
        assert_eq!(all[0]["flush_latency_ns_p99_low"], "2700000");
        assert_eq!(
            (all[0]["flush_latency_ns_p50"].as_str(), all[1]["flush_latency_ns_p99"].as_str()),
            ("", "")
        );
    }

    #[test]
    fn a_run_without_points_is_refused() {
        let mut run = figures::tests::measured();
        run.points.clear();
        assert!(PointsCsv.write(&run).unwrap_err().contains("-f csv"));
    }
}
