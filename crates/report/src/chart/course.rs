//! A long trial by its windows: what charts over time and over bytes have in common.

use iosonde_judge::validity::TrialStanding;
use iosonde_model::{Op, Phase, Run, Trial, Window};

/// Maximum number of dots along a line: more overlap on a page, and make it slow.
const DOTS_MAX: usize = 240;

/// Trials whose figures stand.
pub(super) fn standing(run: &Run) -> impl Iterator<Item = &Trial> {
    let standing = TrialStanding::of(run);
    run.trials.iter().filter(move |trial| trial.phase == Phase::Measure && standing.is_valid(trial))
}

/// Where a stretch of a trial ended, and how fast it was.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stretch {
    pub(super) from_s: f64,
    pub(super) length_s: f64,
    pub(super) before_bytes: f64,
    pub(super) bytes: f64,
}

impl Stretch {
    pub(super) fn bytes_per_s(&self) -> f64 {
        self.bytes / self.length_s
    }
}

/// The course of one direction: a stretch for each window, neighbours joined where there are too many.
pub(super) fn stretches(trial: &Trial, op: Op) -> Vec<Stretch> {
    let every = trial.windows.len().div_ceil(DOTS_MAX).max(1);
    let mut before_bytes = 0.0;
    let join = |windows: &[Window]| {
        let bytes: u64 = windows.iter().filter_map(|w| Some(w.direction(op)?.bytes)).sum();
        let length_s: f64 = windows.iter().map(|window| window.length_s).sum();
        let stretch = Stretch { from_s: windows[0].start_s, length_s, before_bytes, bytes: bytes as f64 };
        before_bytes += bytes as f64;
        (length_s > 0.0).then_some(stretch)
    };
    trial.windows.chunks(every).filter_map(join).collect()
}

/// A percentile of the windows' latencies over time: of every so many windows the worst, since what is looked for is
/// what was slow.
pub(super) fn latencies(
    trial: &Trial,
    op: Op,
    of: fn(&iosonde_model::WindowDirection) -> Option<f64>,
) -> Vec<(f64, f64)> {
    let every = trial.windows.len().div_ceil(DOTS_MAX).max(1);
    let worst = |windows: &[Window]| {
        let told = windows
            .iter()
            .filter_map(|window| Some((window.start_s + window.length_s / 2.0, of(window.direction(op)?)?)));
        told.max_by(|a, b| a.1.total_cmp(&b.1))
    };
    trial.windows.chunks(every).filter_map(worst).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_model::{TrialSpec, WindowDirection};

    fn long(windows: usize) -> Trial {
        let window = |i: usize| Window {
            start_s: i as f64 * 0.1,
            length_s: 0.1,
            write: Some(WindowDirection {
                ios: 1,
                bytes: 100,
                latency_ns_p50: Some(i as f64),
                ..WindowDirection::default()
            }),
            ..Window::default()
        };
        Trial {
            windows: (0..windows).map(window).collect(),
            ..Trial::blank(TrialSpec::default(), Phase::Measure)
        }
    }

    #[test]
    fn joined_windows_lose_no_bytes_and_no_time() {
        let stretches = stretches(&long(1001), Op::Write);
        assert!(stretches.len() <= DOTS_MAX, "{}", stretches.len());
        let (bytes, time): (f64, f64) =
            stretches.iter().fold((0.0, 0.0), |(b, t), s| (b + s.bytes, t + s.length_s));
        assert_eq!(bytes, 100_100.0);
        assert!((time - 100.1).abs() < 1e-6, "{time}");
        assert!((stretches[3].bytes_per_s() - 1000.0).abs() < 1e-6);
    }

    #[test]
    fn of_joined_windows_the_slowest_is_shown() {
        let told = latencies(&long(1001), Op::Write, |window| window.latency_ns_p50);
        assert_eq!(told.last().map(|last| last.1), Some(1000.0));
    }
}
