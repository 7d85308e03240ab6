//! Throughput of each host over the time of the run: whether one host fell behind, and when.
//!
//! Hosts report a trial as a whole, so that a field is a trial, or several in a row where there are more than fit. The
//! workload is that of the table of hosts.

use iosonde_infer::hosts::{HostTable, host_table};
use iosonde_judge::host_rates::HostRates;
use iosonde_model::{Named, Phase, Run, Trial, units};
use iosonde_stats::robust::median;

use super::Chart;
use crate::figure::{Axis, DotStanding, Figure, HeatCell};
use crate::quantity::Quantity;
use crate::text::host_table;

/// Columns that can be told apart on a telephone.
const COLUMNS_MOST: usize = 12;

/// The chart.
pub struct HostsOverTime;

impl Named for HostsOverTime {
    fn name(&self) -> &'static str {
        "hosts-over-time"
    }
}

impl Chart for HostsOverTime {
    fn draw(&self, run: &Run) -> Option<Figure> {
        let table = host_table(run)?;
        let trials = trials(run, &table);
        // Two trials are no course.
        if trials.len() < 3 {
            return None;
        }
        let columns: Vec<&[(&Trial, HostRates)]> =
            trials.chunks(trials.len().div_ceil(COLUMNS_MOST)).collect();
        let hosts = host_table::shown(&table);
        let at = |rank: u32| table.rows.iter().position(|row| row.rank == rank);
        let mut cells = Vec::new();
        // The first host stands on top.
        for (row, host) in hosts.iter().rev().enumerate() {
            let place = at(host.rank)?;
            for (column, trials) in columns.iter().enumerate() {
                cells.push(cell((column, row), trials, place, &host_table::name(host))?);
            }
        }
        let (least, most) = shade(&mut cells)?;
        let point = run.points.iter().find(|point| point.id == table.point)?;
        let several = if columns[0].len() > 1 {
            format!(" A field is the median of up to {} trials.", columns[0].len())
        } else {
            String::new()
        };
        let few = match table.rows.len() - hosts.len() {
            0 => String::new(),
            left => format!(" {left} hosts between these are not shown."),
        };
        Some(Figure {
            name: self.name().into(),
            title: "Did every host keep its throughput?".into(),
            reading: format!(
                "{}: the darker a field, the higher the host's throughput, by ratio: from {} to {}.{several}{few}",
                table.spec.describe(),
                Quantity::Iops.text(least),
                Quantity::Iops.text(most)
            ),
            experiment: Some(point.experiment.clone()),
            x: Axis::places(
                "time since the run began (s)",
                columns.iter().map(|trials| format!("{:.0}", trials[0].0.started_s)).collect(),
            ),
            y: Axis::places("host", hosts.iter().rev().map(|host| host_table::name(host)).collect()),
            cells,
            cells_are: Some(("throughput", Quantity::Iops)),
            ..Figure::default()
        })
    }
}

/// Trials of the table's workload in which all of its hosts took part, in the order of time.
fn trials<'a>(run: &'a Run, table: &HostTable) -> Vec<(&'a Trial, HostRates)> {
    let own = |trial: &&Trial| {
        trial.phase == Phase::Measure
            && trial.point == Some(table.point)
            && trial.hosts.len() == table.rows.len()
    };
    run.trials.iter().filter(own).filter_map(|trial| Some((trial, HostRates::of(trial)?))).collect()
}

fn cell(
    (column, row): (usize, usize),
    trials: &[(&Trial, HostRates)],
    host: usize,
    name: &str,
) -> Option<HeatCell> {
    let values: Vec<f64> = trials.iter().map(|(_, rates)| rates.logs[host].exp()).collect();
    let value = median(&values)?;
    let first = trials[0].0;
    Some(HeatCell {
        column,
        row,
        value,
        interval: None,
        shade: 0.5,
        label: String::new(),
        tip: vec![
            name.to_owned(),
            format!("round {}, after {}", first.round, units::duration(first.started_s)),
            Quantity::Iops.text(value),
        ],
        standing: DotStanding::Stands,
    })
}

/// Shades fields by the ratio of their values, as the axes are; least and most of them.
fn shade(cells: &mut [HeatCell]) -> Option<(f64, f64)> {
    let values = || cells.iter().map(|cell| cell.value);
    let (least, most) = (values().reduce(f64::min)?, values().reduce(f64::max)?);
    // Within 2 % hosts are alike: the margin of the check `odd-host`.
    if most / least > 1.02 {
        for cell in cells.iter_mut() {
            cell.shade = (cell.value / least).ln() / (most / least).ln();
        }
    }
    Some((least, most))
}
