//! A table of the hosts' parts of the trials that measured: a line for each host of each trial.
//!
//! Columns: `trial`, `point`, `round`, `hosts` (that took part), `rank`, `host` (name), `read_iops`, `read_mb_s`,
//! `read_lat_us` (mean), `read_lat_us_p50`, `read_lat_us_p99`, the same of writes, `in_flight` (mean queue depth),
//! `late_us` (first request after the announced moment) and `runtime_s`. An empty cell is absent. Throughput is that of
//! counted requests. A run of one host is refused.

use iosonde_model::{HostDirection, HostShare, Named, Phase, Run, Trial};

use super::{
    ExportFormat,
    cells::{number, quoted},
};

/// The registered format.
pub struct HostsCsv;

impl Named for HostsCsv {
    fn name(&self) -> &'static str {
        "hosts-csv"
    }
}

const HEADER: &str = "trial,point,round,hosts,rank,host,\
                      read_iops,read_mb_s,read_lat_us,read_lat_us_p50,read_lat_us_p99,\
                      write_iops,write_mb_s,write_lat_us,write_lat_us_p50,write_lat_us_p99,\
                      in_flight,late_us,runtime_s\n";

impl ExportFormat for HostsCsv {
    fn extension(&self) -> &'static str {
        // Not that of `csv`, which may be written beside it.
        "hosts.csv"
    }

    fn write(&self, run: &Run) -> Result<String, String> {
        if run.info.hosts.is_empty() {
            return Err("the run is of one host; -f csv writes its trials".to_owned());
        }
        let measured = run.trials.iter().filter(|trial| trial.phase == Phase::Measure);
        let lines = measured.flat_map(|trial| trial.hosts.iter().map(move |host| line(run, trial, host)));
        Ok(HEADER.to_owned() + &lines.collect::<String>())
    }
}

fn side(side: Option<&HostDirection>) -> [String; 5] {
    let of = |pick: fn(&HostDirection) -> Option<f64>| number(side.and_then(pick));
    [
        of(|side| Some(side.iops)),
        of(|side| Some(side.bytes_per_s / 1e6)),
        of(|side| Some(side.latency_ns_mean? / 1e3)),
        of(|side| Some(side.latency_ns_p50? / 1e3)),
        of(|side| Some(side.latency_ns_p99? / 1e3)),
    ]
}

fn line(run: &Run, trial: &Trial, host: &HostShare) -> String {
    let name = run.info.hosts.iter().find(|known| known.rank == host.rank).map(|known| quoted(&known.name));
    let mut cells = vec![
        trial.id.to_string(),
        trial.point.map_or_else(String::new, |point| point.to_string()),
        trial.round.to_string(),
        trial.hosts.len().to_string(),
        host.rank.to_string(),
        name.unwrap_or_default(),
    ];
    cells.extend(side(host.read.as_ref()));
    cells.extend(side(host.write.as_ref()));
    cells.extend([
        number(host.in_flight_mean),
        (host.late_ns as f64 / 1e3).to_string(),
        host.elapsed_s.to_string(),
    ]);
    cells.join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use iosonde_model::RunHost;

    use super::*;

    #[test]
    fn every_host_of_every_trial_has_a_line() {
        let mut run = crate::run_file::tests::imported();
        let refused = HostsCsv.write(&run).unwrap_err();
        assert_eq!(refused, "the run is of one host; -f csv writes its trials");
        let read = HostDirection {
            iops: 250.0,
            bytes_per_s: 1e6,
            latency_ns_mean: Some(2000.0),
            ..HostDirection::default()
        };
        let share =
            |rank| HostShare { rank, read: Some(read.clone()), late_ns: 1500, ..HostShare::default() };
        run.trials[0].phase = Phase::Measure;
        run.trials[0].hosts = vec![share(0), share(1)];
        run.info.hosts = vec![RunHost { rank: 1, name: "a,b".into(), ..RunHost::default() }];
        let text = HostsCsv.write(&run).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        let heads = lines[0].split(',').count();
        assert_eq!(lines[1].split(',').count(), heads, "{text}");
        assert!(lines[2].contains(",2,1,\"a,b\",250,1,2,,,,,,,,,1.5,0"), "{}", lines[2]);
    }
}
