//! Options that shape what is written of a fio job: its logs and its percentiles. The formats read them from the job's
//! options; here they are refused where they ask for something that was not measured.

use super::{given::Options, refusal::Refusal};

/// Percentiles that fio takes at most.
const PERCENTILES_MAX: usize = 20;
/// Shortest time that a line of a log stands for: a window.
const LINE_MS_MIN: u64 = 100;

/// Refuses what cannot be written.
pub(super) fn check(options: &Options) -> Result<(), Refusal> {
    let logs = ["write_bw_log", "write_iops_log", "write_lat_log"].map(|name| options.text(name).is_some());
    let line_ms = options.number("log_avg_msec", u64::from(u32::MAX))?;
    if logs.contains(&true) && line_ms.is_some_and(|ms| ms < LINE_MS_MIN) {
        return Err(options.unsupported("log_avg_msec", "a line stands for 100 ms or more"));
    }
    let Some(list) = options.text("percentile_list") else { return Ok(()) };
    let percents = list.split([':', ',']).map(|word| word.trim().parse::<f64>());
    let percents: Option<Vec<f64>> =
        percents.map(|one| one.ok().filter(|percent| (0.0..=100.0).contains(percent))).collect();
    match percents {
        Some(percents) if percents.len() <= PERCENTILES_MAX => Ok(()),
        _ => Err(options.misread("percentile_list", "it is a list of at most 20, as in 50:99:99.9")),
    }
}
