//! The course of a rate in time: a trial's windows, a point's trials, a run's trials, as logarithms.

use iosonde_model::{About, Phase, Point, Run, Trial, Window};

use super::TrialStanding;

/// Parts that a trial is cut into at most: judging takes longer with their square, 0.1 s at 200.
const PARTS_MAX: usize = 200;
/// How much noise over 100 ms can resemble that of the 100 ms before. On a virtual machine's disk 0.55 to 0.75 were
/// measured; what wanders more slowly than this is a change that a reader of one mean would want to know.
const RESEMBLANCE_100MS: f64 = 0.8;

/// A stretch of a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stretch {
    /// From the end of the warm-up.
    pub(super) start_s: f64,
    /// Its length.
    pub(super) length_s: f64,
    /// Completions a second, all directions together.
    pub(super) iops: f64,
}

/// A trial's course in at most 200 parts of as many windows each; what is left over at the end is left out.
pub(super) fn parts(trial: &Trial) -> Vec<Stretch> {
    let each = trial.windows.len().div_ceil(PARTS_MAX).max(1);
    let begun_s = trial.windows.first().map_or(0.0, |window| window.start_s);
    let of = |windows: &[Window]| {
        let length_s: f64 = windows.iter().map(|window| window.length_s).sum();
        let iops = windows.iter().map(completed).sum::<u64>() as f64 / length_s.max(1e-9);
        Stretch { start_s: windows[0].start_s - begun_s, length_s, iops }
    };
    trial.windows.chunks_exact(each).map(of).collect()
}

/// How much the noise of one of a trial's parts can resemble that of the one before.
pub(super) fn resemblance(trial: &Trial) -> f64 {
    let each = trial.windows.len().div_ceil(PARTS_MAX).max(1);
    let window_s = trial.windows.first().map_or(0.1, |window| window.length_s);
    of_means(RESEMBLANCE_100MS.powf(window_s / 0.1).min(0.95), each)
}

/// The correlation of neighbouring means of `each` members, of a series whose neighbours have this one.
fn of_means(correlation: f64, each: usize) -> f64 {
    let (count, power) = (each as f64, |lag: usize| correlation.powi(lag as i32));
    let own: f64 = count + 2.0 * (1..each).map(|lag| (each - lag) as f64 * power(lag)).sum::<f64>();
    let between: f64 = (1..2 * each).map(|lag| (count - (count - lag as f64).abs()) * power(lag)).sum();
    between / own
}

/// Requests of a window, all directions together.
pub(super) fn completed(window: &Window) -> u64 {
    let lanes = [&window.read, &window.write, &window.trim];
    lanes.into_iter().flatten().map(|lane| lane.ios).sum()
}

/// ln of a rate; of one in which nothing completed, as if a tenth of a request had: a stall is no small change.
pub(crate) fn log(iops: f64) -> f64 {
    iops.max(0.1).ln()
}

/// Valid trials of a point, in the order of time.
pub(super) fn of_point<'a>(run: &'a Run, point: &Point, standing: &TrialStanding) -> Vec<&'a Trial> {
    let own =
        |trial: &&Trial| trial.phase == Phase::Measure && trial.point == Some(point.id) && trial.iops() > 0.0;
    let mut trials: Vec<&Trial> =
        run.trials.iter().filter(own).filter(|trial| standing.is_valid_for(trial, About::Rate)).collect();
    trials.sort_by(|a, b| a.started_s.total_cmp(&b.started_s));
    trials
}

/// Whether a run is a single workload given by hand.
pub(super) fn is_single(run: &Run) -> bool {
    run.info.study_source.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_of_several_windows_resemble_each_other_less() {
        assert!((of_means(0.8, 1) - 0.8).abs() < 1e-12);
        // (0.8 + 2 x 0.64 + 0.512) / (2 + 2 x 0.8).
        assert!((of_means(0.8, 2) - 2.592 / 3.6).abs() < 1e-12);
        assert!(of_means(0.8, 10) < 0.3 && of_means(0.0, 5).abs() < 1e-12);
    }
}
