//! A table of the trials that measured, one a line: for a spreadsheet, or for `iosonde judge`.
//!
//! The columns are those that `import` reads, and behind them `trial`, `point`, `round`, `in_flight` (the mean number
//! of outstanding requests), the 99th percentiles, `void_about` (the figures of the trial that are invalid; empty where
//! all are valid), percentiles of the commits (writes and the flush that makes them durable), `rate_iops` (the offered
//! load of each job), trims, `sync` (`fdatasync:1`), the `arrivals` of a rate and the number of `hosts`, of each of
//! which jobs and depth are. An empty cell is absent.
//!
//! A trial of several streams has a line for each, since no block size or depth is that of all of them; of fio's jobs
//! `test` is the job's name. Of several block sizes, `block_size` is the mean of the requests.

use iosonde_model::{
    Direction, LatencySummary, Named, Phase, Run, Stream, Sync, Trial, TrialSpec, fio::FioReport,
};

use super::{
    ExportFormat,
    cells::{number, quoted, read_percent},
    figures,
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
                      commit_us_p50,commit_us_p99,commit_us_p99_9,rate_iops,\
                      trim_iops,trim_mb_s,trim_lat_us,sync,arrivals,hosts\n";

impl ExportFormat for Csv {
    fn extension(&self) -> &'static str {
        "csv"
    }

    fn write(&self, run: &Run) -> Result<String, String> {
        let measured = run.trials.iter().filter(|trial| trial.phase == Phase::Measure);
        let groups = run.info.fio.as_ref().map_or(&[][..], |fio| &fio.groups);
        let parts = measured.enumerate().flat_map(|(at, trial)| parts(trial, groups.get(at)));
        let lines = parts.filter(|part| part.sides.iter().any(|side| side.is_some()));
        Ok(HEADER.to_owned() + &lines.map(|part| line(&part, run)).collect::<String>())
    }
}

/// Subject of one line.
struct Part<'a> {
    trial: &'a Trial,
    name: &'a str,
    spec: &'a TrialSpec,
    /// Reads, writes and trims.
    sides: [&'a Option<Direction>; 3],
    in_flight_mean: Option<f64>,
    measured_s: f64,
}

fn parts<'a>(trial: &'a Trial, jobs: Option<&'a Vec<FioReport>>) -> Vec<Part<'a>> {
    if trial.streams.is_empty() {
        let Trial { spec, read, write, trim, in_flight_mean, measured_s, .. } = trial;
        let (name, sides) = (trial.experiment.as_str(), [read, write, trim]);
        return vec![Part {
            trial,
            name,
            spec,
            sides,
            in_flight_mean: *in_flight_mean,
            measured_s: *measured_s,
        }];
    }
    let name = |at: usize| {
        let own = jobs.into_iter().flatten().find(|job| job.streams.contains(&at));
        own.map_or(trial.experiment.as_str(), |job| job.name.as_str())
    };
    let streams = trial.streams.iter().enumerate();
    streams
        .map(|(at, Stream { spec, read, write, trim, in_flight_mean, measured_s, .. })| Part {
            trial,
            name: name(at),
            spec,
            sides: [read, write, trim],
            in_flight_mean: *in_flight_mean,
            measured_s: measured_s.unwrap_or(trial.measured_s),
        })
        .collect()
}

/// Bytes of a request; of several sizes the mean, so that throughput is IOPS times this.
fn block_size(part: &Part) -> String {
    let sides = || part.sides.into_iter().flatten();
    let (bytes, ios) = sides().fold((0, 0), |all, side| (all.0 + side.bytes, all.1 + side.ios));
    match part.spec.block_sizes.is_one() || ios == 0 {
        true => part.spec.block_size_bytes.to_string(),
        false => (bytes as f64 / ios as f64).round().to_string(),
    }
}

fn line(part: &Part, run: &Run) -> String {
    let Part { trial, spec, sides: [read, write, trim], .. } = *part;
    let side = |side: &Option<Direction>| {
        let of = |pick: fn(&Direction) -> Option<f64>| number(side.as_ref().and_then(pick));
        let rates = [of(|side| Some(side.iops)), of(|side| Some(side.bytes_per_s / 1e6))];
        [&rates[..], &[of(|side| Some(side.latency_ns.mean? / 1e3))]].concat()
    };
    let p99 =
        |side: &Option<Direction>| number(side.as_ref().and_then(|side| Some(side.latency_ns.p99? / 1e3)));
    let mut cells = vec![
        quoted(part.name),
        block_size(part),
        read_percent(spec),
        spec.queue_depth.to_string(),
        spec.jobs.to_string(),
        if spec.rw.is_random() { "random" } else { "sequential" }.to_owned(),
        quoted(&spec.engine),
        part.measured_s.to_string(),
    ];
    cells.extend(side(read));
    cells.extend(side(write));
    cells.extend([
        trial.id.to_string(),
        trial.point.map_or_else(String::new, |point| point.to_string()),
        trial.round.to_string(),
        number(part.in_flight_mean),
        p99(read),
        p99(write),
        figures::void_about(run, trial.id),
    ]);
    cells.extend(commit_cells(trial, spec));
    cells.push(number(spec.rate_iops));
    cells.extend(side(trim));
    cells.push(if spec.sync == Sync::None { String::new() } else { spec.sync.to_string() });
    cells.push(spec.rate_iops.map_or_else(String::new, |_| spec.arrivals.to_string()));
    cells.push(spec.hosts.to_string());
    cells.join(",") + "\n"
}

/// Percentiles of a trial's commits, in microseconds, on the line of the stream that commits.
fn commit_cells(trial: &Trial, spec: &TrialSpec) -> [String; 3] {
    let commits = trial.commits().filter(|_| spec.sync != Sync::None).map(LatencySummary::of);
    let of = |pick: fn(&LatencySummary) -> Option<f64>| {
        commits.as_ref().and_then(pick).map_or_else(String::new, |ns| (ns / 1e3).to_string())
    };
    [of(|commits| commits.p50), of(|commits| commits.p99), of(|commits| commits.p99_9)]
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Arrivals, Rw, fio::FioJobs};

    use super::*;

    #[test]
    fn every_line_has_a_cell_for_every_column() {
        let run = crate::run_file::tests::imported();
        let text = Csv.write(&run).unwrap();
        let mut lines = text.lines();
        assert_eq!(lines.next().unwrap().split(',').count(), 31);
        assert_eq!(lines.clone().count(), run.trials.len());
        assert!(lines.all(|line| line.split(',').count() == 31), "{text}");
    }

    #[test]
    fn streams_have_a_line_each() {
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
        let names: Vec<&str> = text.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
        assert_eq!(names, [whole.experiment.as_str(); 2]);
        let job = |name: &str, stream: usize| FioReport {
            name: name.into(),
            group: 0,
            jobs: 1,
            first_job: 1,
            streams: vec![stream],
            options: std::collections::BTreeMap::new(),
        };
        let fio = FioJobs { groups: vec![vec![job("log", 0), job("data", 1)]], ..FioJobs::default() };
        run.info.fio = Some(fio);
        let text = Csv.write(&run).unwrap();
        let names: Vec<&str> = text.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
        assert_eq!(names, ["log", "data"]);
    }

    #[test]
    fn trims_are_written_and_read_back() {
        let mut run = crate::run_file::tests::imported();
        run.trials.truncate(1);
        let trial = &mut run.trials[0];
        trial.spec.rw = Rw::RandTrim;
        (trial.trim, trial.write) = (trial.read.take(), None);
        let iops = trial.trim.as_ref().unwrap().iops;
        let back = crate::import::import(&Csv.write(&run).unwrap()).unwrap();
        let trial = &back.trials[0];
        assert_eq!((trial.spec.rw, &trial.read, &trial.write), (Rw::RandTrim, &None, &None));
        assert_eq!(trial.trim.as_ref().unwrap().iops, iops);
    }

    #[test]
    fn of_several_sizes_the_mean_gives_the_throughput() {
        let mut run = crate::run_file::tests::imported();
        run.trials.truncate(1);
        let trial = &mut run.trials[0];
        trial.spec.block_sizes = "4k:50,64k:50".parse().unwrap();
        trial.spec.block_size_bytes = 65_536;
        let read = trial.read.as_mut().unwrap();
        (read.ios, read.bytes, read.iops, read.bytes_per_s) = (100, 100 * 34_816, 50.0, 50.0 * 34_816.0);
        trial.write = None;
        let back = crate::import::import(&Csv.write(&run).unwrap()).unwrap();
        assert_eq!(back.trials[0].spec.block_size_bytes, 34_816);
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
        (trial.spec.sync, trial.spec.arrivals) = (Sync::Fdatasync { every: 1 }, Arrivals::Poisson);
        trial.spec.hosts = 4;
        trial.read.as_mut().unwrap().latency_ns.p99 = Some(13_807.5);
        let back = crate::import::import(&Csv.write(&run).unwrap()).unwrap();
        let trial = &back.trials[0];
        assert_eq!((trial.spec.rate_iops, trial.in_flight_mean), (Some(5000.0), Some(0.06)));
        assert_eq!(trial.spec.hosts, 4);
        assert_eq!((trial.spec.sync, trial.spec.arrivals), (Sync::Fdatasync { every: 1 }, Arrivals::Poisson));
        assert_eq!(trial.read.as_ref().unwrap().latency_ns.p99, Some(13_807.5));
        assert_eq!(back.notes, Vec::<String>::new());
    }
}
