//! A ratio of two sides: its interval, and whether that says faster, slower or the same.

use iosonde_model::{GeometricMean, Likeness, WorkloadGroup};
use iosonde_stats::ErrorVariance;

use super::side::Question;

/// A ratio with its interval and what it says.
#[derive(Debug, Clone)]
pub(super) struct Ratio {
    pub value: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub verdict: Likeness,
}

impl Ratio {
    /// `wrong` is the chance that its interval may miss.
    pub fn new(log_ratio: f64, spread: Option<ErrorVariance>, wrong: f64, question: &Question) -> Self {
        let Some(spread) = spread else {
            return Self { value: log_ratio.exp(), low: None, high: None, verdict: Likeness::CannotTell };
        };
        let half = spread.half_width(1.0 - wrong);
        let (low, high) = ((log_ratio - half).exp(), (log_ratio + half).exp());
        let edge = 1.0 + question.margin;
        let (more, less) = match question.figure.more_is_better() {
            true => (Likeness::Faster, Likeness::Slower),
            false => (Likeness::Slower, Likeness::Faster),
        };
        let verdict = match () {
            () if low > edge => more,
            () if high < 1.0 / edge => less,
            () if low >= 1.0 / edge && high <= edge => Likeness::Same,
            () => Likeness::CannotTell,
        };
        Self { value: log_ratio.exp(), low: Some(low), high: Some(high), verdict }
    }

    pub fn geometric_mean(self, of: WorkloadGroup, points: usize) -> GeometricMean {
        let Self { value: ratio, low, high, verdict } = self;
        GeometricMean { of, points, ratio, low, high, verdict }
    }
}
