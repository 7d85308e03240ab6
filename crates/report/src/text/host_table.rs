//! Hosts of a run beside each other, as a table.
//!
//! Up to 16 hosts are shown in the order of their ranks. Of more, a reader looks for the ends: the slowest and the
//! fastest few, and those that a check names. The others are in the exported files.

use iosonde_infer::hosts::{Echo, HostRow, HostTable, Starts, host_table};
use iosonde_model::{Estimate, Run, Unit, units};

use super::{
    number::{alone, figure},
    point_table::is_large,
};

/// Most hosts that are shown one by one.
const ALL_MOST: usize = 16;
/// So many of the slowest and of the fastest are shown where there are more hosts.
const SLOWEST: usize = 5;
const FASTEST: usize = 3;
/// And so many of those that a check names.
const ODD_MOST: usize = 8;

/// Heads of the columns.
pub const HEADS: [&str; 7] = ["host", "throughput", "share", "p50", "p99", "late by", ""];

/// Rows of a table of hosts.
#[derive(Debug, Clone, PartialEq)]
pub struct HostRows {
    /// The workload, and what the figures are.
    pub caption: String,
    /// Cells in the order of [`HEADS`].
    pub rows: Vec<[String; 7]>,
    /// Where the hosts are that are not shown, and what the network between hosts takes.
    pub notes: Vec<String>,
}

/// The hosts of a run; `None` where one host measured.
pub fn host_rows(run: &Run) -> Option<HostRows> {
    let table = host_table(run)?;
    let shown = shown(&table);
    let left = table.rows.len() - shown.len();
    let mut why = String::new();
    if shown.iter().any(|row| row.iops.low.is_none()) {
        why += "; no intervals with fewer than 5 trials";
    }
    // The rule of every percentile: at least ten requests beyond it.
    if shown.iter().any(|row| row.latency_ns_p99.is_none()) {
        why += "; no p99 with fewer than 1,000 requests of a host in a trial";
    }
    Some(HostRows {
        caption: format!(
            "{}: {}, {:.0} % CI; latency and lateness are medians over trials{why}",
            table.spec.describe(),
            match table.trials {
                1 => "1 valid trial".to_owned(),
                trials => format!("{trials} valid trials"),
            },
            100.0 * table.confidence
        ),
        rows: shown.iter().map(|row| cells(&table, row)).collect(),
        notes: (left > 0)
            .then(|| {
                format!(
                    "{left} hosts between these are not shown: `iosonde export {} -f hosts-csv`",
                    run.info.id
                )
            })
            .into_iter()
            .chain(table.starts.map(starts))
            .chain(table.echo.map(echo))
            .chain(table.on_one_machine.then(|| ONE_MACHINE.to_owned()))
            .collect(),
    })
}

/// Where all processes are on one machine.
const ONE_MACHINE: &str = "all of them are processes on one machine, which share its processors and its link";

/// `they began within 0.23 ms of each other (median; at most 0.62 ms), and shared 99.1 % of the time and more`
fn starts(starts: Starts) -> String {
    let [median, most, clocks] = [starts.skew_ns_median, starts.skew_ns_most, starts.clock_error_ns as f64]
        .map(|ns| alone(Unit::Time, ns));
    format!(
        "in each trial of the run all began within {median} of each other (median; at most {most}) and measured \
         together for {:.1} % of the time or more; their clocks are known to ±{clocks}",
        // Rounded down: a share is no larger than it says.
        (1000.0 * starts.overlap_share_least).floor() / 10.0
    )
}

/// `an echo between hosts took 18.0 to 25.0 µs, ..`
fn echo(echo: Echo) -> String {
    let [nearest, farthest] = echo.shortest_ns.map(|ns| alone(Unit::Time, ns));
    let took = if nearest == farthest { nearest } else { format!("{nearest} to {farthest}") };
    let share = echo.share.map_or_else(String::new, |share| {
        format!(
            ", {} of the median latency: the network's share where storage is behind the same network",
            units::percent(share)
        )
    });
    format!("an echo between hosts took {took}{share}")
}

/// Hosts that are shown: all in the order of their ranks, or the ends in the order of their throughput.
pub fn shown(table: &HostTable) -> Vec<&HostRow> {
    let mut rows: Vec<&HostRow> = table.rows.iter().collect();
    if rows.len() <= ALL_MOST {
        return rows;
    }
    rows.sort_by(|a, b| a.iops.value.total_cmp(&b.iops.value));
    let fastest = rows.len() - FASTEST;
    let mut odd = 0;
    let mut place = 0;
    rows.retain(|row| {
        odd += usize::from(row.odd.is_some());
        place += 1;
        place <= SLOWEST || place > fastest || row.odd.is_some() && odd <= ODD_MOST
    });
    rows
}

fn cells(table: &HostTable, row: &HostRow) -> [String; 7] {
    let time = |ns: Option<f64>| ns.map_or_else(|| "–".to_owned(), |ns| alone(Unit::Time, ns));
    let slow = if row.slowed { "! slow at times".to_owned() } else { String::new() };
    let odd = row.odd.as_ref().map_or(slow, |odd| {
        let ratio = Estimate { value: odd.ratio, low: Some(odd.low), high: Some(odd.high) };
        format!("! {} of the others", figure(Unit::Ratio, &ratio).whole())
    });
    [
        name(row),
        rate(table, row),
        format!("{:.1} %", 100.0 * row.share),
        time(row.latency_ns_p50),
        time(row.latency_ns_p99),
        late(row.late_ns),
        odd,
    ]
}

/// Rank and name of a host: `5 node-05`.
pub fn name(row: &HostRow) -> String {
    format!("{} {}", row.rank, row.name).trim_end().to_owned()
}

fn rate(table: &HostTable, row: &HostRow) -> String {
    let (unit, factor) = if is_large(&table.spec) {
        (Unit::Rate, table.spec.block_size_bytes as f64)
    } else {
        (Unit::Iops, 1.0)
    };
    let times = |end: Option<f64>| end.map(|end| end * factor);
    let Estimate { value, low, high } = row.iops;
    match (times(low), times(high)) {
        (Some(low), Some(high)) => {
            let estimate = Estimate { value: value * factor, low: Some(low), high: Some(high) };
            figure(unit, &estimate).whole()
        }
        _ => alone(unit, value * factor),
    }
}

/// After the announced moment; before it where the clocks are compared no better.
fn late(ns: f64) -> String {
    if ns.abs() < 0.5 {
        return "0".to_owned();
    }
    let sign = if ns < 0.0 { "−" } else { "" };
    format!("{sign}{}", alone(Unit::Time, ns.abs()))
}

#[cfg(test)]
mod tests {
    use iosonde_model::{TrialSpec, cause::OddOne};

    use super::*;

    fn table(hosts: u32, odd: &[u32]) -> HostTable {
        let row = |rank: u32| HostRow {
            rank,
            name: format!("node-{rank:02}"),
            iops: Estimate { value: 1000.0 + f64::from(rank), low: Some(990.0), high: Some(1100.0) },
            share: 1.0 / f64::from(hosts),
            latency_ns_p50: Some(1e6),
            latency_ns_p99: None,
            late_ns: 12_000.0,
            slowed: false,
            odd: odd.contains(&rank).then(|| OddOne {
                rank,
                name: format!("node-{rank:02}"),
                ratio: 0.8,
                low: 0.79,
                high: 0.81,
            }),
        };
        let spec = TrialSpec::default().on_hosts(hosts);
        let rows = (0..hosts).map(row).collect();
        HostTable {
            point: 0,
            spec,
            trials: 8,
            confidence: 0.95,
            rows,
            echo: None,
            starts: None,
            on_one_machine: false,
        }
    }

    fn ranks(table: &HostTable) -> Vec<u32> {
        shown(table).iter().map(|row| row.rank).collect()
    }

    #[test]
    fn sixteen_hosts_are_all_shown_and_of_more_the_ends() {
        assert_eq!(ranks(&table(16, &[])), (0..16).collect::<Vec<_>>());
        assert_eq!(ranks(&table(64, &[])), [0, 1, 2, 3, 4, 61, 62, 63]);
        assert_eq!(ranks(&table(64, &[2, 30])), [0, 1, 2, 3, 4, 30, 61, 62, 63]);
        let many: Vec<u32> = (10..40).collect();
        assert_eq!(ranks(&table(64, &many)).len(), SLOWEST + FASTEST + ODD_MOST);
    }

    #[test]
    fn the_starts_are_told_with_the_error_of_the_clocks() {
        let told = starts(Starts {
            skew_ns_median: 230_000.0,
            skew_ns_most: 620_000.0,
            overlap_share_least: 0.9919,
            clock_error_ns: 12_000,
        });
        assert_eq!(
            told,
            "in each trial of the run all began within 230 µs of each other (median; at most 620 µs) and measured \
             together for 99.1 % of the time or more; their clocks are known to ±12.0 µs"
        );
    }

    #[test]
    fn an_echo_is_told_with_its_share() {
        let told = echo(Echo { shortest_ns: [18_000.0, 25_000.0], share: Some(0.07) });
        let said = "an echo between hosts took 18.0 µs to 25.0 µs, 7.0 % of the median latency: the network's share \
                    where storage is behind the same network";
        assert_eq!(told, said);
        assert_eq!(
            echo(Echo { shortest_ns: [18_000.0; 2], share: None }),
            "an echo between hosts took 18.0 µs"
        );
    }

    #[test]
    fn a_row_says_how_a_host_differs() {
        let table = table(4, &[1]);
        let row = cells(&table, &table.rows[1]);
        assert_eq!(row[0], "1 node-01");
        assert_eq!(row[2..6], ["25.0 %", "1.00 ms", "–", "12.0 µs"].map(str::to_owned));
        assert_eq!(row[6], "! 0.800× ±1.3 % of the others");
        assert_eq!(cells(&table, &table.rows[0])[6], "");
        assert_eq!(late(-1500.0), "−1.50 µs");
    }
}
