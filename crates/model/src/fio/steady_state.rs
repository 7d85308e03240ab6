//! fio's criterion for the end of a job (`steadystate`, `ss`): throughput by the second that deviates little from its
//! mean, or hardly rises or falls, over a window that moves along with the time.

use super::{KbBase, size};
use crate::LastSeconds;

/// Throughput that is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SteadyFigure {
    /// Requests a second.
    Iops,
    /// Bytes a second.
    Bandwidth,
}

/// What is computed from the seconds of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SteadyMeasure {
    /// The largest distance of a second from the mean.
    Deviation,
    /// Slope of the least-squares line, per second.
    Slope,
}

/// Criterion with its limit and its times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadyState {
    /// Throughput that is looked at.
    pub figure: SteadyFigure,
    /// What is computed from it.
    pub measure: SteadyMeasure,
    /// It is met below this.
    pub limit: f64,
    /// True if the limit is in percent of the window's mean, false if it is in requests or bytes a second.
    pub is_percent: bool,
    /// Length of the window.
    pub window_s: usize,
    /// Time from the job's beginning to the first second that counts.
    pub ramp_ns: u64,
}

impl SteadyState {
    /// Reads a criterion and its limit: `iops:10%`, `bw_slope:1m`. Its times are for the caller to set.
    pub fn parse(word: &str, base: KbBase) -> Option<Self> {
        let (name, limit) = word.split_once(':')?;
        let (figure, measure) = match name.trim() {
            "iops" => (SteadyFigure::Iops, SteadyMeasure::Deviation),
            "iops_slope" => (SteadyFigure::Iops, SteadyMeasure::Slope),
            "bw" => (SteadyFigure::Bandwidth, SteadyMeasure::Deviation),
            "bw_slope" => (SteadyFigure::Bandwidth, SteadyMeasure::Slope),
            _ => return None,
        };
        let percent = limit.trim().strip_suffix('%');
        let number = percent.unwrap_or(limit).trim().parse::<f64>().ok();
        let bytes = || size(limit, base).filter(|_| figure == SteadyFigure::Bandwidth);
        let limit = number.or_else(|| bytes().map(|bytes| bytes as f64));
        let limit = limit.filter(|limit| limit.is_finite() && *limit >= 0.0)?;
        Some(Self { figure, measure, limit, is_percent: percent.is_some(), window_s: 0, ramp_ns: 0 })
    }

    /// Name of the criterion, as in `ss=iops_slope:0.3%`.
    pub fn name(&self) -> &'static str {
        match (self.figure, self.measure) {
            (SteadyFigure::Iops, SteadyMeasure::Deviation) => "iops",
            (SteadyFigure::Iops, SteadyMeasure::Slope) => "iops_slope",
            (SteadyFigure::Bandwidth, SteadyMeasure::Deviation) => "bw",
            (SteadyFigure::Bandwidth, SteadyMeasure::Slope) => "bw_slope",
        }
    }

    /// The seconds of the throughput that is looked at.
    pub fn seconds<'a>(&self, last: &'a LastSeconds) -> &'a [f64] {
        match self.figure {
            SteadyFigure::Iops => &last.iops,
            SteadyFigure::Bandwidth => &last.bytes_per_s,
        }
    }

    /// The figure that the limit is compared with; the slope with its sign. `None` for fewer seconds than the window
    /// has, and for a percentage of nothing.
    pub fn value(&self, seconds: &[f64]) -> Option<f64> {
        let window = seconds.len().checked_sub(self.window_s.max(1)).map(|from| &seconds[from..])?;
        let mean = mean(window);
        let value = match self.measure {
            SteadyMeasure::Deviation => window.iter().map(|one| (one - mean).abs()).fold(0.0, f64::max),
            SteadyMeasure::Slope => slope(window, mean),
        };
        if self.is_percent { (mean > 0.0).then(|| 100.0 * value / mean) } else { Some(value) }
    }

    /// Returns true if these seconds meet the criterion.
    pub fn is_met(&self, seconds: &[f64]) -> bool {
        self.value(seconds).is_some_and(|value| value.abs() < self.limit)
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Least squares at equal distances: the sum of (x - mean x) y over the sum of (x - mean x)², which is n (n² - 1) / 12.
fn slope(values: &[f64], mean: f64) -> f64 {
    let n = values.len() as f64;
    if values.len() < 2 {
        return 0.0;
    }
    let middle = (n - 1.0) / 2.0;
    let sum: f64 = values.iter().enumerate().map(|(at, value)| (at as f64 - middle) * (value - mean)).sum();
    sum * 12.0 / (n * (n * n - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(measure: SteadyMeasure, limit: f64, is_percent: bool, window_s: usize) -> SteadyState {
        SteadyState { figure: SteadyFigure::Iops, measure, limit, is_percent, window_s, ramp_ns: 0 }
    }

    #[test]
    fn criteria_are_read() {
        let read = |word| SteadyState::parse(word, KbBase::Compatible);
        for (word, limit, is_percent) in [
            ("iops:10%", 10.0, true),
            ("iops_slope:0.3%", 0.3, true),
            ("bw:1m", 1_048_576.0, false),
            ("bw_slope:5", 5.0, false),
        ] {
            let rule = read(word).unwrap();
            assert_eq!((rule.limit, rule.is_percent), (limit, is_percent), "{word}");
            assert!(word.starts_with(&format!("{}:", rule.name())));
        }
        for word in ["", "iops", "iops:", "iops:1m", "lat:3%", "bw:-1", "bw:inf", "bw:1m%"] {
            assert_eq!(read(word), None, "{word}");
        }
    }

    /// The figures are those of a run of fio 3.33: `iops:30%` over 4 s.
    #[test]
    fn the_deviation_is_fios() {
        let seconds = [50_000.0, 10_030.0, 9_651.0, 9_489.0, 8_957.0];
        let percent = rule(SteadyMeasure::Deviation, 30.0, true, 4).value(&seconds).unwrap();
        assert!((percent - 6.03).abs() < 0.005, "{percent}");
        let absolute = rule(SteadyMeasure::Deviation, 30.0, false, 4).value(&seconds).unwrap();
        assert!((absolute - 574.75).abs() < 1e-9, "{absolute}");
    }

    #[test]
    fn a_slope_is_a_second_and_has_a_sign() {
        let falling: Vec<f64> = (0..10).map(|at| 1000.0 - 5.0 * f64::from(at)).collect();
        let slope = rule(SteadyMeasure::Slope, 6.0, false, 10);
        assert!((slope.value(&falling).unwrap() + 5.0).abs() < 1e-9 && slope.is_met(&falling));
        assert!(!rule(SteadyMeasure::Slope, 4.0, false, 10).is_met(&falling));
        // 5 of 977.5 are 0.51 %.
        assert!(!rule(SteadyMeasure::Slope, 0.5, true, 10).is_met(&falling));
        assert!(rule(SteadyMeasure::Slope, 0.52, true, 10).is_met(&falling));
        assert_eq!(rule(SteadyMeasure::Slope, 1.0, false, 1).value(&[3.0]), Some(0.0));
    }

    #[test]
    fn nothing_is_steady_before_a_window_has_passed() {
        let rule = rule(SteadyMeasure::Deviation, 10.0, true, 3);
        assert!(!rule.is_met(&[100.0, 100.0]) && rule.is_met(&[100.0; 3]));
        assert_eq!(rule.value(&[0.0; 3]), None);
    }
}
