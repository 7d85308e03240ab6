//! The page beside a report's tables: what they hold, and how a chart is drawn from them again.

/// Text of `tables.md` in a folder of charts; `has_points` where the run has workloads with several trials.
pub fn tables_page(has_points: bool) -> String {
    let trials = "`trials.csv` has a line for each trial.";
    if !has_points {
        return format!("# Tables of this run\n\n{trials}\n");
    }
    format!(
        "# Tables of this run\n\n`points.csv` has a line for each workload and direction. Each figure has its unit in \
         its name, and behind it the ends of its 95 % interval (`_low`, `_high`). {trials}\n\nA chart again, with \
         pandas and matplotlib:\n\n{CHART}"
    )
}

/// What docs/notebook.md shows, for block sizes.
const CHART: &str = "```python
points = pandas.read_csv(\"points.csv\").query(\"op == 'read' and queue_depth == 1\").sort_values(\"block_size_bytes\")
ends = [points.iops - points.iops_low, points.iops_high - points.iops]
matplotlib.pyplot.errorbar(points.block_size_bytes, points.iops, yerr=ends)
```
";
