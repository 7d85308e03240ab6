//! A table with one result a line: rates, and latencies if there are any.
//!
//! The first line that is not a comment (`#`) names the columns, in any order: `test` (a name), `block_size` (`4KiB`),
//! `queue_depth`, `jobs` and `hosts` (1 where they are missing; a depth is that of each job of each host), `read_pct`,
//! `pattern` (`random` or `sequential`; `random` where it is missing), `engine`, `runtime_s`, `span_bytes`, `rate_iops`
//! (an offered load, per job), `arrivals` (`poisson`), `sync` (`fdatasync:1`), `in_flight` (the mean number of
//! outstanding requests, counted); and for `read`, `write` and `trim` each `_iops` or `_kiops`, `_mb_s` or `_mib_s`,
//! `_lat_us`, `_lat_ms` or `_lat_ns` (means), `_lat_us_p99`. An empty cell is absent. Units are those of the names:
//! `mb_s` is 10⁶ bytes a second. `trial`, `point`, `round`, `void_about` and `commit_..` are iosonde's own.

use std::{fmt::Display, str::FromStr};

use iosonde_model::{Named, Op, Phase, Rw, Trial, TrialSpec, Unstated, units};

use super::{
    Damage, Figures, ImportError, ImportFormat, Imported,
    table::{self, Row, Table},
};

/// The registered format.
pub struct Csv;

impl Named for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }
}

/// Columns that have a meaning, besides those of the directions.
const COLUMNS: [&str; 21] = [
    "test",
    "block_size",
    "queue_depth",
    "jobs",
    "read_pct",
    "pattern",
    "engine",
    "runtime_s",
    "span_bytes",
    "rate_iops",
    "in_flight",
    "sync",
    "arrivals",
    "hosts",
    "commit_us_p50",
    "commit_us_p99",
    "commit_us_p99_9",
    "trial",
    "point",
    "round",
    VOID_ABOUT,
];
/// Column of iosonde's own tables: the figures of a row that are invalid.
const VOID_ABOUT: &str = "void_about";
/// Columns for each direction, with the factor to the model's unit.
const FIGURES: [(&str, Figure, f64); 8] = [
    ("iops", Figure::Rate, 1.0),
    ("kiops", Figure::Rate, 1e3),
    ("mb_s", Figure::Bytes, 1e6),
    ("mib_s", Figure::Bytes, 1_048_576.0),
    ("lat_ns", Figure::Latency, 1.0),
    ("lat_us", Figure::Latency, 1e3),
    ("lat_ms", Figure::Latency, 1e6),
    ("lat_us_p99", Figure::P99, 1e3),
];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Figure {
    Rate,
    Bytes,
    Latency,
    P99,
}

impl ImportFormat for Csv {
    fn recognises(&self, text: &str) -> bool {
        let header = table::names(text);
        header.len() > 1 && header.iter().any(|name| figure_of(name).is_some())
    }

    fn read(&self, text: &str) -> Result<Imported, ImportError> {
        let table = Table::of(text)?;
        if !table.has("block_size") {
            let why = "has no column `block_size`, without which no rate of requests can be judged";
            return Err(Damage::whole(why));
        }
        let rows = table.rows().collect::<Result<Vec<_>, _>>()?;
        let trials = rows.iter().map(|row| trial(&table.header, row)).collect::<Result<Vec<_>, _>>()?;
        Ok(Imported { program: None, ended_s: None, trials, notes: notes(&table.header, &rows) })
    }
}

/// Columns that the reader left aside, unless they are empty, and what it assumed.
fn notes(header: &[String], rows: &[Row]) -> Vec<String> {
    let known = |name: &str| COLUMNS.contains(&name) || figure_of(name).is_some();
    let is_left = |name: &&String| !known(name) && rows.iter().any(|row| row.text(name).is_some());
    let strange: Vec<_> = header.iter().filter(is_left).map(|name| format!("`{name}`")).collect();
    let mut notes = Vec::new();
    if !strange.is_empty() {
        notes.push(format!("columns that were not understood and left aside: {}", strange.join(", ")));
    }
    let invalid = rows.iter().filter(|row| row.text(VOID_ABOUT).is_some()).count();
    if invalid > 0 {
        let all = rows.len();
        notes.push(format!(
            "iosonde marked {invalid} of {all} rows as invalid when it measured ({VOID_ABOUT})"
        ));
    }
    if !header.iter().any(|name| name == "pattern") {
        notes.push(
            "the table does not say whether offsets were random; the command below takes them to be".into(),
        );
    }
    notes
}

/// Returns direction, figure and factor to the model's unit of a column.
fn figure_of(name: &str) -> Option<(Op, Figure, f64)> {
    let (direction, rest) = name.split_once('_')?;
    let &(_, figure, factor) = FIGURES.iter().find(|(suffix, _, _)| *suffix == rest)?;
    let op = Op::DIRECTIONS.into_iter().find(|op| op.name() == direction)?;
    Some((op, figure, factor))
}

fn count(row: &Row, column: &str) -> Result<u32, ImportError> {
    let Some(cell) = row.text(column) else { return Ok(1) };
    let count = cell.parse().ok().filter(|&count| count > 0);
    count.ok_or_else(|| {
        row.damaged(column, format!("`{cell}` in column `{column}` is no whole number from 1 on"))
    })
}

/// A word of the model, as `iosonde point` takes it; its usual value where the cell is empty.
fn word<T: FromStr<Err: Display> + Default>(row: &Row, column: &str) -> Result<T, ImportError> {
    let Some(cell) = row.text(column) else { return Ok(T::default()) };
    cell.parse().map_err(|why| row.damaged(column, format!("column `{column}`: {why}")))
}

fn figures(header: &[String], row: &Row, op: Op) -> Result<Figures, ImportError> {
    let mut figures = Figures::default();
    for name in header {
        let Some((_, figure, factor)) = figure_of(name).filter(|own| own.0 == op) else {
            continue;
        };
        let Some(value) = row.number(name)?.map(|value| value * factor) else { continue };
        match figure {
            Figure::Rate => figures.iops = Some(value),
            Figure::Bytes => figures.bytes_per_s = Some(value),
            Figure::Latency => figures.latency_ns.mean = Some(value),
            Figure::P99 => figures.latency_ns.p99 = Some(value),
        }
    }
    Ok(figures)
}

fn trial(header: &[String], row: &Row) -> Result<Trial, ImportError> {
    let size = row.text("block_size").ok_or_else(|| row.damaged("block_size", "no block size"))?;
    let size = units::parse_size(size).map_err(|error| row.damaged("block_size", error.to_string()))?;
    if size == 0 {
        return Err(row.damaged("block_size", "a block size of 0"));
    }
    let side = |op| figures(header, row, op).map(|figures| figures.direction(size));
    let (read, write, trim) = (side(Op::Read)?, side(Op::Write)?, side(Op::Trim)?);
    let percent = row.number("read_pct")?;
    if percent.is_some_and(|percent| percent > 100.0) {
        let why = format!("{} % reads are more than all", percent.unwrap_or_default());
        return Err(row.damaged("read_pct", why));
    }
    let sequential = row.text("pattern").is_some_and(|word| word.starts_with("seq"));
    let (rw, in_turn) = match (read.is_some(), write.is_some(), trim.is_some()) {
        (true, true, _) => (Rw::RandRw, Rw::Rw),
        (true, false, _) => (Rw::RandRead, Rw::Read),
        (false, true, _) => (Rw::RandWrite, Rw::Write),
        (false, false, true) => (Rw::RandTrim, Rw::Trim),
        (false, false, false) => {
            return Err(row.damaged("block_size", "neither a rate of reads nor of writes"));
        }
    };
    let spec = TrialSpec {
        rw: if sequential { in_turn } else { rw },
        block_size_bytes: size,
        queue_depth: count(row, "queue_depth")?,
        jobs: count(row, "jobs")?,
        hosts: count(row, "hosts")?,
        read_percent: if rw == Rw::RandRw { Some(percent.unwrap_or(50.0)) } else { None },
        engine: row.text("engine").unwrap_or("unknown").to_owned(),
        span_bytes: row.number("span_bytes")?.unwrap_or(0.0) as u64,
        rate_iops: row.number("rate_iops")?.filter(|&rate| rate > 0.0),
        sync: word(row, "sync")?,
        arrivals: word(row, "arrivals")?,
        ..TrialSpec::default()
    };
    let runtime_s = row.number("runtime_s")?.unwrap_or(0.0);
    let completions = read.iter().chain(&write).chain(&trim).map(|side| side.iops).sum();
    Ok(Trial {
        experiment: row.text("test").map_or_else(|| "result".to_owned(), |name| format!("test {name}")),
        measured_s: runtime_s,
        elapsed_s: runtime_s,
        in_flight_mean: row.number("in_flight")?,
        achieved_rate_iops: spec.rate_iops.map(|_| completions),
        read,
        write,
        trim,
        unstated: [("queue_depth", Unstated::QueueDepth), ("pattern", Unstated::Order)]
            .into_iter()
            .filter(|(column, _)| !header.iter().any(|name| name == column))
            .map(|(_, what)| what)
            .collect(),
        ..Trial::blank(spec, Phase::Measure)
    })
}
#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        let error = Csv.read(text).unwrap_err();
        let place = error.place().map_or(String::new(), |(line, column)| format!("{line}:{column}: "));
        format!("{place}{error}")
    }

    #[test]
    fn a_line_is_a_result_and_empty_is_absent() {
        let text = "# mean of 5\ntest,block_size,read_pct,queue_depth,read_kiops,read_mb_s,write_kiops,write_mb_s,\
                    read_lat_us,write_lat_us\r\n1,4KiB,50,64,82.2,337,81.8,335,260,187\r\n\
                    4,4KiB,100,64,189,774,,,248,\n";
        let Imported { trials, .. } = Csv.read(text).unwrap();
        assert_eq!(trials.len(), 2);
        let read = trials[0].read.as_ref().unwrap();
        assert_eq!((read.iops, read.bytes_per_s, read.latency_ns.mean), (82_200.0, 337e6, Some(260_000.0)));
        assert_eq!((trials[0].spec.rw, trials[0].spec.read_percent), (Rw::RandRw, Some(50.0)));
        assert_eq!((trials[1].spec.rw, &trials[1].write), (Rw::RandRead, &None));
        assert_eq!(trials[1].experiment, "test 4");
        assert_eq!((trials[1].measured_s, read.ios), (0.0, 0));
    }

    #[test]
    fn quotes_units_and_missing_columns() {
        let text = "\"test\",write_mib_s,block_size,pattern,write_lat_ms,\"remark, if any\"\n\
                    \"a \"\"b\"\"\",1,1MiB,seq,2,x\n";
        let imported = Csv.read(text).unwrap();
        let trial = &imported.trials[0];
        let write = trial.write.as_ref().unwrap();
        assert_eq!((write.iops, write.latency_ns.mean), (1.0, Some(2e6)));
        assert_eq!((trial.spec.rw, trial.spec.queue_depth, trial.spec.jobs), (Rw::Write, 1, 1));
        assert_eq!(trial.experiment, "test a \"b\"");
        assert!(imported.notes[0].contains("`remark, if any`"), "{:?}", imported.notes);
    }

    #[test]
    fn rows_that_iosonde_called_invalid_are_counted() {
        let text = "block_size,read_iops,pattern,void_about\n4k,5,random,device\n4k,6,random,\n";
        let notes = Csv.read(text).unwrap().notes;
        assert_eq!(notes, ["iosonde marked 1 of 2 rows as invalid when it measured (void_about)"]);
    }

    #[test]
    fn another_separator_is_seen_and_a_decimal_comma_is_named() {
        let imported = Csv.read("block_size;read_iops;read_lat_us\n4k;5000;200.5\n").unwrap();
        assert_eq!(imported.trials[0].read.as_ref().unwrap().latency_ns.mean, Some(200_500.0));
        for text in ["block_size\tread_iops\n4k\t5000\n", "block_size|read_iops\n4k|5000\n"] {
            assert_eq!(Csv.read(text).unwrap().trials[0].iops(), 5000.0);
        }
        assert_eq!(said("block_size;read_iops\n4k;82,2\n"), "2:4: `82,2` in column `read_iops` is no number");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        assert!(said("read_iops,queue_depth\n1,2\n").contains("no column `block_size`"));
        assert!(
            said("read_iops,read_iops,block_size\n").contains("1:11: the column `read_iops` stands twice")
        );
        assert_eq!(
            said("block_size,read_iops\n\n4k,fast\n"),
            "3:4: `fast` in column `read_iops` is no number"
        );
        assert_eq!(said("block_size,read_iops\n4k,NaN\n"), "2:4: `NaN` in column `read_iops` is no number");
        assert_eq!(said("block_size,read_iops\n4k,\n"), "2:1: neither a rate of reads nor of writes");
        assert_eq!(said("block_size,read_iops\n,5\n"), "2:1: no block size");
        assert_eq!(said("block_size,read_iops\n4k,5,6\n"), "2:6: 3 cells under 2 columns");
        let cut = said("block_size,read_iops,write_iops\n4k,5,6\n8k,5");
        assert!(
            cut.starts_with("3:") && cut.ends_with("in the middle of a row, after 2 of 3 cells"),
            "{cut}"
        );
        assert!(said("block_size,read_iops,queue_depth\n4k,5,0\n").contains("no whole number from 1 on"));
    }
}
