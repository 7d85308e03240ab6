//! A table of the trials that measured, one a line: for a spreadsheet, or for `iosonde judge`.
//!
//! The columns are those that `import` reads, and behind them `trial`, `point`, `round`, `in_flight` (the mean number
//! of outstanding requests), the 99th percentiles, `void_about` (the figures of the trial that are invalid; empty where
//! all are valid), percentiles of the commits (writes and the flush that makes them durable) and `rate_iops`, the
//! offered load of each job. An empty cell is absent.
//!
//! A trial of several streams has a line for each, since no block size or depth is that of all of them. Trims are left
//! out: the columns know reads and writes.

use iosonde_model::{Direction, LatencySummary, Named, Outcome, Phase, Run, Stream, Trial, TrialSpec};

use super::{
    ExportFormat,
    cells::{number, quoted},
};

/// The registered format.
pub struct Csv;

impl Named for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }
}

const HEADER: &str = "test,block_size,read_pct,queue_depth,jobs,pattern,engine,runtime_s,\
                      read_iops,read_mb_s,read_lat_us,write_iops,write_mb_s,write_lat_us,\
                      trial,point,round,in_flight,read_lat_us_p99,write_lat_us_p99,void_about,\
                      commit_us_p50,commit_us_p99,commit_us_p99_9,rate_iops\n";

impl ExportFormat for Csv {
    fn extension(&self) -> &'static str {
        "csv"
    }

    fn write(&self, run: &Run) -> Result<String, String> {
        let measured = run.trials.iter().filter(|trial| trial.phase == Phase::Measure);
        let lines = measured.flat_map(parts).filter(|part| part.read.is_some() || part.write.is_some());
        Ok(HEADER.to_owned() + &lines.map(|part| line(&part, run)).collect::<String>())
    }
}

/// Subject of one line.
struct Part<'a> {
    trial: &'a Trial,
    spec: &'a TrialSpec,
    read: &'a Option<Direction>,
    write: &'a Option<Direction>,
    in_flight_mean: Option<f64>,
}

fn parts(trial: &Trial) -> Vec<Part<'_>> {
    if trial.streams.is_empty() {
        let Trial { spec, read, write, in_flight_mean, .. } = trial;
        return vec![Part { trial, spec, read, write, in_flight_mean: *in_flight_mean }];
    }
    let streams = trial.streams.iter();
    streams
        .map(|Stream { spec, read, write, in_flight_mean, .. }| Part {
            trial,
            spec,
            read,
            write,
            in_flight_mean: *in_flight_mean,
        })
        .collect()
}

fn line(part: &Part, run: &Run) -> String {
    let Part { trial, spec, .. } = *part;
    let side = |side: &Option<Direction>| {
        let of = |pick: fn(&Direction) -> Option<f64>| number(side.as_ref().and_then(pick));
        let rates = [of(|side| Some(side.iops)), of(|side| Some(side.bytes_per_s / 1e6))];
        [&rates[..], &[of(|side| Some(side.latency_ns.mean? / 1e3))]].concat()
    };
    let p99 =
        |side: &Option<Direction>| number(side.as_ref().and_then(|side| Some(side.latency_ns.p99? / 1e3)));
    let own =
        |void: &&iosonde_model::Judgement| void.trial == Some(trial.id) && void.verdict == Outcome::Invalid;
    let mut voids: Vec<String> =
        run.verdicts.iter().filter(own).map(|void| format!("{:?}", void.about).to_lowercase()).collect();
    voids.dedup();
    let reads = if spec.rw.is_mixed() {
        spec.read_percent.unwrap_or(50.0)
    } else {
        f64::from(!spec.rw.writes()) * 100.0
    };
    let mut cells = vec![
        quoted(&trial.experiment),
        spec.block_size_bytes.to_string(),
        reads.to_string(),
        spec.queue_depth.to_string(),
        spec.jobs.to_string(),
        if spec.rw.is_random() { "random" } else { "sequential" }.to_owned(),
        quoted(&spec.engine),
        trial.measured_s.to_string(),
    ];
    cells.extend(side(part.read));
    cells.extend(side(part.write));
    cells.extend([
        trial.id.to_string(),
        trial.point.map_or_else(String::new, |point| point.to_string()),
        trial.round.to_string(),
        number(part.in_flight_mean),
        p99(part.read),
        p99(part.write),
        voids.join(" "),
    ]);
    cells.extend(commit_cells(trial));
    cells.push(number(spec.rate_iops));
    cells.join(",") + "\n"
}

/// Percentiles of a trial's commits, in microseconds.
fn commit_cells(trial: &Trial) -> [String; 3] {
    let commits = trial.commits().map(LatencySummary::of);
    let of = |pick: fn(&LatencySummary) -> Option<f64>| {
        commits.as_ref().and_then(pick).map_or_else(String::new, |ns| (ns / 1e3).to_string())
    };
    [of(|commits| commits.p50), of(|commits| commits.p99), of(|commits| commits.p99_9)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_a_cell_for_every_column() {
        let run = crate::run_file::tests::imported();
        let text = Csv.write(&run).unwrap();
        let mut lines = text.lines();
        assert_eq!(lines.next().unwrap().split(',').count(), 25);
        assert_eq!(lines.clone().count(), run.trials.len());
        assert!(lines.all(|line| line.split(',').count() == 25), "{text}");
    }

    #[test]
    fn streams_have_a_line_each_and_trims_none() {
        let mut run = crate::run_file::tests::imported();
        run.trials.truncate(1);
        let whole = run.trials[0].clone();
        let stream = |depth: u32| Stream {
            spec: TrialSpec { queue_depth: depth, ..whole.spec.clone() },
            read: whole.read.clone(),
            write: None,
            trim: None,
            flush: None,
            in_flight_mean: Some(f64::from(depth)),
            unserved: 0,
            achieved_rate_iops: None,
            measured_s: None,
            cpu_user_s: None,
            cpu_system_s: None,
            windows: Vec::new(),
        };
        run.trials[0].streams = vec![stream(4), stream(16)];
        let text = Csv.write(&run).unwrap();
        let depths: Vec<&str> = text.lines().skip(1).filter_map(|line| line.split(',').nth(3)).collect();
        assert_eq!(depths, ["4", "16"], "{text}");
        run.trials[0].streams.clear();
        (run.trials[0].trim, run.trials[0].read, run.trials[0].write) = (whole.read, None, None);
        assert_eq!(Csv.write(&run).unwrap().lines().count(), 1);
    }

    #[test]
    fn what_was_exported_can_be_imported() {
        let run = crate::run_file::tests::imported();
        let back = crate::import::import(&Csv.write(&run).unwrap()).unwrap();
        let figures = |trial: &Trial| trial.read.as_ref().map(|side| (side.iops, trial.spec.queue_depth));
        assert_eq!(
            back.trials.iter().map(figures).collect::<Vec<_>>(),
            run.trials.iter().map(figures).collect::<Vec<_>>()
        );
    }

    #[test]
    fn an_offered_load_a_counted_depth_and_percentiles_are_read_back() {
        let mut run = crate::run_file::tests::imported();
        run.trials.truncate(1);
        let trial = &mut run.trials[0];
        (trial.spec.rate_iops, trial.in_flight_mean) = (Some(5000.0), Some(0.06));
        trial.read.as_mut().unwrap().latency_ns.p99 = Some(13_807.5);
        let back = crate::import::import(&Csv.write(&run).unwrap()).unwrap();
        let trial = &back.trials[0];
        assert_eq!((trial.spec.rate_iops, trial.in_flight_mean), (Some(5000.0), Some(0.06)));
        assert_eq!(trial.read.as_ref().unwrap().latency_ns.p99, Some(13_807.5));
        assert_eq!(back.notes, Vec::<String>::new());
    }
}
