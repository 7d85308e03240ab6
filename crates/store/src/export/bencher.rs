//! JSON of Bencher (Bencher Metric Format): a benchmark for each point and direction, for charts over commits.
//!
//! Measures are `iops`, `bytes_per_s`, `latency_ns_mean`, `latency_ns_p50`, `latency_ns_p99` and `latency_ns_p99_9`,
//! and of writes with flushes `commit_latency_ns_mean` and its percentiles, each with `value` and, where there is an
//! interval, `lower_value` and `upper_value`. A point without a valid trial is left out: a chart would take it for a
//! measurement. What memory gave, and not the storage, has `(not of the storage)` behind its name.

use iosonde_model::{Estimate, Named, Op, Point, Run};
use serde_json::{Map, Value, json};

use super::{ExportFormat, figures};

/// The registered format.
pub struct Bencher;

impl Named for Bencher {
    fn name(&self) -> &'static str {
        "bencher"
    }
}

impl ExportFormat for Bencher {
    fn extension(&self) -> &'static str {
        "bencher.json"
    }

    fn write(&self, run: &Run) -> Result<String, String> {
        let mut benchmarks = Map::new();
        for point in run.points.iter().filter(|point| figures::is_counted(point)) {
            for op in Op::DIRECTIONS {
                let measures = measures(point, op);
                if !measures.is_empty() {
                    benchmarks.insert(figures::name(run, point, op), Value::Object(measures));
                }
            }
        }
        if benchmarks.is_empty() {
            return Err(format!("run {} has no point with a valid trial; nothing is written", run.info.id));
        }
        let text = serde_json::to_string_pretty(&benchmarks).map_err(|error| error.to_string())?;
        Ok(text + "\n")
    }
}

fn measures(point: &Point, op: Op) -> Map<String, Value> {
    let metric = |estimate: &Estimate| {
        let mut metric = json!({ "value": estimate.value });
        let ends = [("lower_value", estimate.low), ("upper_value", estimate.high)];
        ends.into_iter()
            .filter_map(|(key, end)| Some((key, end?)))
            .for_each(|(key, end)| metric[key] = end.into());
        metric
    };
    let all = figures::estimates(point, op);
    all.iter().map(|(name, estimate)| ((*name).to_owned(), metric(estimate))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::figures::tests::measured;

    #[test]
    fn every_measure_has_its_value_and_the_ends_that_are_known() {
        let run = measured();
        let document: Value = serde_json::from_str(&Bencher.write(&run).unwrap()).unwrap();
        let all = document.as_object().unwrap();
        assert_eq!(all.len(), 2, "{document}");
        let (name, first) = all.iter().next().unwrap();
        assert_eq!(name, "queue-depth: 4 KiB random reads, QD 4, read");
        let iops = json!({ "value": 1000.0, "lower_value": 950.0, "upper_value": 1060.0 });
        assert_eq!((&first["iops"], &first["latency_ns_p99"]), (&iops, &json!({ "value": 9e6 })));
        let mut void = run;
        void.points.iter_mut().for_each(|point| point.left_out = point.trials);
        assert!(Bencher.write(&void).unwrap_err().contains("no point with a valid trial"));
    }
}
