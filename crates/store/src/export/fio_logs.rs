//! fio's logs of throughput, IOPS and latency: `NAME_bw.1.log`, one line for each `log_avg_msec` and direction.
//!
//! A line is `time in ms, value, direction, 0, 0`, as fio 3 writes it where it averages. Values are KiB/s, requests a
//! second, and nanoseconds. Clones of a job are one log, under the number of the first. A line stands for whole windows
//! of 100 ms; without `log_avg_msec` each window has a line. There is no log of submission latency, which is not
//! measured, and `_lat` and `_clat` are the same.

use iosonde_model::{
    Op, Run, Trial,
    fio::{self, FioJobs, FioReport, KbBase, Slice},
};

/// A log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Log {
    /// Its path, as fio would name it.
    pub path: String,
    /// Its lines.
    pub text: String,
}

#[derive(Debug, Clone, Copy)]
enum Value {
    KibPerS,
    Iops,
    Latency,
}

/// Options that ask for logs, and how the logs end.
const LOGS: [(&str, &str, Value); 4] = [
    ("write_bw_log", "bw", Value::KibPerS),
    ("write_iops_log", "iops", Value::Iops),
    ("write_lat_log", "lat", Value::Latency),
    ("write_lat_log", "clat", Value::Latency),
];

/// Paths of the logs that jobs ask for.
pub fn paths(jobs: &FioJobs) -> Vec<String> {
    jobs.groups.iter().flatten().flat_map(asked).map(|(path, _)| path).collect()
}

/// The logs that the jobs of a run ask for.
pub fn logs(run: &Run) -> Vec<Log> {
    let groups = run.info.fio.as_ref().map(|jobs| jobs.groups.as_slice()).unwrap_or_default();
    let measured = run.trials.iter().filter(|trial| trial.phase == iosonde_model::Phase::Measure);
    let of = |(trial, reports): (&Trial, &Vec<FioReport>)| {
        let of = |report| asked(report).map(|(path, value)| Log { path, text: lines(trial, report, value) });
        reports.iter().flat_map(of).collect::<Vec<_>>()
    };
    measured.zip(groups).flat_map(of).collect()
}

fn asked(report: &FioReport) -> impl Iterator<Item = (String, Value)> {
    LOGS.iter().filter_map(|(option, end, value)| {
        let name = report.options.get(*option)?;
        let name = if name.is_empty() { &report.name } else { name };
        Some((format!("{name}_{end}.{}.log", report.first_job), *value))
    })
}

fn lines(trial: &Trial, report: &FioReport, value: Value) -> String {
    let asked_ms = report.options.get("log_avg_msec").and_then(|text| fio::size(text, KbBase::Compatible));
    let line_s = asked_ms.unwrap_or(0) as f64 / 1e3;
    let mut told: Vec<(u64, usize, u64)> = Vec::new();
    for (lane, op) in Op::DIRECTIONS.iter().enumerate() {
        let own = report.slices(trial, *op, line_s).into_iter();
        let line = |slice: Slice| Some(((slice.ended_s * 1e3).round() as u64, lane, figure(&slice, value)?));
        told.extend(own.filter_map(line));
    }
    told.sort_unstable();
    told.iter().map(|(ms, lane, value)| format!("{ms}, {value}, {lane}, 0, 0\n")).collect()
}

/// What a line says; nothing where no request completed, as in fio.
fn figure(slice: &Slice, value: Value) -> Option<u64> {
    let value = match value {
        _ if slice.ios == 0.0 => return None,
        Value::KibPerS => slice.bytes / 1024.0 / slice.length_s,
        Value::Iops => slice.ios / slice.length_s,
        Value::Latency => slice.latency_ns / slice.ios,
    };
    Some(value.round() as u64)
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Phase, TrialSpec, Window, WindowDirection};

    use super::*;

    fn run(options: &[(&str, &str)]) -> Run {
        let mut run = crate::run_file::tests::imported();
        let side = |ios, latency_ns| {
            Some(WindowDirection {
                ios,
                bytes: ios * 4096,
                latency_ns_mean: Some(latency_ns),
                ..WindowDirection::default()
            })
        };
        let window = |at: usize| Window {
            start_s: at as f64 / 10.0,
            length_s: 0.1,
            read: side(100 + at as u64, 1000.0 * at as f64),
            ..Window::default()
        };
        run.trials = vec![Trial {
            windows: (0..5).map(window).collect(),
            ..Trial::blank(TrialSpec::default(), Phase::Measure)
        }];
        let report = FioReport {
            name: "job".into(),
            group: 0,
            jobs: 2,
            first_job: 3,
            streams: vec![0],
            options: options.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
        };
        run.info.fio = Some(FioJobs { groups: vec![vec![report]], ..FioJobs::default() });
        run
    }

    #[test]
    fn lines_are_those_of_fio() {
        let run = run(&[("write_iops_log", "x/y"), ("write_lat_log", ""), ("log_avg_msec", "200")]);
        let logs = logs(&run);
        let names: Vec<&str> = logs.iter().map(|log| log.path.as_str()).collect();
        assert_eq!(names, ["x/y_iops.3.log", "job_lat.3.log", "job_clat.3.log"]);
        assert_eq!(paths(run.info.fio.as_ref().unwrap()), names);
        // The last line stands for what is left.
        assert_eq!(logs[0].text, "200, 1005, 0, 0, 0\n400, 1025, 0, 0, 0\n500, 1040, 0, 0, 0\n");
        // (0 * 100 + 1000 * 101) / 201 ns.
        assert!(logs[1].text.starts_with("200, 502, 0, 0, 0\n"), "{}", logs[1].text);
        assert_eq!(logs[1].text, logs[2].text);
    }

    #[test]
    fn every_window_has_a_line_unless_told_otherwise() {
        let logs = logs(&run(&[("write_bw_log", "b")]));
        assert_eq!(logs[0].text.lines().next(), Some("100, 4000, 0, 0, 0"));
        assert_eq!(logs[0].text.lines().count(), 5);
        assert!(super::logs(&run(&[])).is_empty());
    }
}
