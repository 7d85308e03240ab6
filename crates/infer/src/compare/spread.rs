//! How far a side's repeats lie apart, and from that the error of a ratio.
//!
//! The model, in logarithms: a line's figure in one repeat is the line's mean, plus what the repeat adds to all lines
//! alike (the run effect: where the file lies, what the storage did before), plus what it adds to this line alone.
//! Both kinds scatter from repeat to repeat; the mean over lines knows the first kind well, and each line's own
//! scatter borrows from its kin ([`iosonde_stats::empirical_bayes`]). Degrees of freedom of sums follow Satterthwaite.

use iosonde_model::ComparedUnit;
use iosonde_stats::{ErrorVariance, LogEstimate, empirical_bayes::Prior, student_t};

use super::like::{LinePair, Sample, mean};

/// What one line may borrow from the others, in degrees of freedom: as many as two sides of five repeats have.
const BORROWED_MAX: f64 = 16.0;
/// Runs that a history must have: two differ by chance as often as not.
pub const HISTORY_MIN: usize = 3;
/// Errors from trials rest on eight of them and more, pooled over points: so many degrees of freedom they have.
const DEGREES_WITHIN: f64 = 30.0;

/// The error of the mean of so many repeats.
fn of_repeats(one: ErrorVariance, repeats: usize) -> ErrorVariance {
    ErrorVariance { variance: one.variance / repeats as f64, ..one }
}

/// What both sides' repeats, histories or trials say of the errors of all lines.
#[derive(Debug)]
pub struct Spreads {
    pub unit: ComparedUnit,
    sides: [Scatter; 2],
}

impl Spreads {
    pub fn of(lines: &[&LinePair]) -> Self {
        let a: Vec<&Sample> = lines.iter().map(|line| &line.a).collect();
        let b: Vec<&Sample> = lines.iter().map(|line| &line.b).collect();
        let known = Scatter::between(&a).zip(Scatter::between(&b));
        match known {
            Some((a, b)) => Self { unit: ComparedUnit::Repeat, sides: [a, b] },
            None => Self { unit: ComparedUnit::Run, sides: within(lines, [&a, &b]) },
        }
    }

    /// The error of one line's log ratio; `None` where nothing tells.
    pub fn of_line(&self, line: usize) -> Option<ErrorVariance> {
        Some(ErrorVariance::sum(&[self.sides[0].of_line(line)?, self.sides[1].of_line(line)?]))
    }

    /// The error of the mean log ratio of some lines.
    pub fn of_mean(&self, lines: &[usize]) -> Option<ErrorVariance> {
        Some(ErrorVariance::sum(&[self.sides[0].of_mean(lines)?, self.sides[1].of_mean(lines)?]))
    }
}

/// Standard deviations from repeat to repeat: of the mean over all lines, and of one line.
pub fn scatter(lines: &[&LinePair]) -> Option<(f64, f64)> {
    let samples: Vec<&Sample> =
        lines.iter().map(|line| &line.a).filter(|sample| sample.repeats.len() > 1).collect();
    let Scatter::Between { deviations, .. } = Scatter::between(&samples)? else { return None };
    let all: Vec<usize> = (0..deviations.len()).collect();
    let each: Vec<f64> = all.iter().map(|&line| common(&deviations, &[line]).variance).collect();
    Some((common(&deviations, &all).variance.sqrt(), mean(&each).sqrt()))
}

/// What the trials of two single runs say: of each line's pairs where the runs took turns, which is the error of the
/// ratio and stands on the first side, else of each side by itself.
fn within(lines: &[&LinePair], sides: [&[&Sample]; 2]) -> [Scatter; 2] {
    let [mut a, mut b] = sides.map(Scatter::within);
    if let (Scatter::Within(a), Scatter::Within(b)) = (&mut a, &mut b) {
        for (line, pair) in lines.iter().enumerate() {
            if let Some(ratio) = pair.in_turn {
                (a[line], b[line]) = (Some(as_if_known_better(&ratio)), Some(0.0));
            }
        }
    }
    [a, b]
}

/// The standard error with which thirty degrees of freedom give the same interval at 95 %.
fn as_if_known_better(ratio: &LogEstimate) -> f64 {
    ratio.half_width(0.95) / student_t(0.95, DEGREES_WITHIN)
}

/// One side's scatter.
#[derive(Debug)]
enum Scatter {
    /// From repeats, or from older runs: ln(figure) by line and run.
    Between {
        /// Deviations from each line's mean.
        deviations: Vec<Vec<f64>>,
        /// What each line's scatter beyond the run's own is, with its degrees of freedom.
        own: Vec<ErrorVariance>,
        /// The figure is the mean over so many repeats.
        repeats: usize,
    },
    /// From the trials of the only run: standard errors by line.
    Within(Vec<Option<f64>>),
}

impl Scatter {
    fn between(samples: &[&Sample]) -> Option<Self> {
        let repeats = samples.first()?.repeats.len();
        let rows: Vec<&Vec<f64>> = samples
            .iter()
            .map(|sample| if repeats > 1 { &sample.repeats } else { &sample.history })
            .collect();
        let runs = rows.first()?.len();
        let least = if repeats > 1 { 2 } else { HISTORY_MIN };
        if runs < least || rows.iter().any(|row| row.len() != runs) {
            return None;
        }
        let deviations: Vec<Vec<f64>> = rows
            .iter()
            .map(|row| {
                let mean = mean(row);
                row.iter().map(|value| value - mean).collect()
            })
            .collect();
        let own = own(&deviations, runs);
        Some(Self::Between { deviations, own, repeats })
    }

    fn within(samples: &[&Sample]) -> Self {
        let error = |sample: &&Sample| match (sample.within, sample.repeats.len()) {
            (Some(error), _) => Some(error),
            (None, 1) => None,
            // The other side has no spread to set beside it: its repeats count as their mean's error alone.
            (None, count) => {
                let mean = mean(&sample.repeats);
                let sum: f64 = sample.repeats.iter().map(|value| (value - mean).powi(2)).sum();
                Some((sum / (count - 1) as f64 / count as f64).sqrt())
            }
        };
        Self::Within(samples.iter().map(error).collect())
    }

    fn of_line(&self, line: usize) -> Option<ErrorVariance> {
        match self {
            Self::Between { deviations, own, repeats } => {
                let all: Vec<usize> = (0..deviations.len()).collect();
                let run = common(deviations, &all);
                let one = if deviations.len() > 1 { ErrorVariance::sum(&[run, own[line]]) } else { run };
                Some(of_repeats(one, *repeats))
            }
            Self::Within(errors) => errors[line]
                .map(|error| ErrorVariance { variance: error * error, degrees_of_freedom: DEGREES_WITHIN }),
        }
    }

    fn of_mean(&self, lines: &[usize]) -> Option<ErrorVariance> {
        match self {
            Self::Between { deviations, repeats, .. } => {
                Some(of_repeats(common(deviations, lines), *repeats))
            }
            // One run's points share its drift, so that their errors do not cancel as independent ones would: they
            // count as wholly alike, which is too much rather than too little.
            Self::Within(errors) => {
                let told: Option<Vec<f64>> = lines.iter().map(|&line| errors[line]).collect();
                let told = told.filter(|told| !told.is_empty())?;
                Some(ErrorVariance { variance: mean(&told).powi(2), degrees_of_freedom: DEGREES_WITHIN })
            }
        }
    }
}

/// The variance, from run to run, of the mean over some lines.
fn common(deviations: &[Vec<f64>], lines: &[usize]) -> ErrorVariance {
    let runs = deviations[0].len();
    let of_run =
        |run: usize| lines.iter().map(|&line| deviations[line][run]).sum::<f64>() / lines.len() as f64;
    let sum: f64 = (0..runs).map(|run| of_run(run).powi(2)).sum();
    let degrees = (runs - 1) as f64;
    ErrorVariance { variance: sum / degrees, degrees_of_freedom: degrees }
}

/// What each line scatters beyond what its run adds to all lines, with what it borrows from the others.
fn own(deviations: &[Vec<f64>], runs: usize) -> Vec<ErrorVariance> {
    let lines = deviations.len();
    // Of the (runs - 1) degrees of a line, the run's mean over all lines takes its part.
    let degrees = (runs - 1) as f64 * (1.0 - 1.0 / lines as f64);
    let of_run = |run: usize| deviations.iter().map(|line| line[run]).sum::<f64>() / lines as f64;
    let means: Vec<f64> = (0..runs).map(of_run).collect();
    let variances: Vec<f64> = deviations
        .iter()
        .map(|line| line.iter().zip(&means).map(|(d, m)| (d - m).powi(2)).sum::<f64>() / (runs - 1) as f64)
        .collect();
    let groups: Vec<(f64, f64)> = variances.iter().map(|&v| (v, degrees)).collect();
    let prior = Prior::of(&groups, BORROWED_MAX);
    variances
        .iter()
        .map(|&variance| {
            let (variance, degrees_of_freedom) =
                prior.map_or((variance, degrees), |prior| prior.posterior(variance, degrees));
            ErrorVariance { variance, degrees_of_freedom }
        })
        .collect()
}
