//! Comparing: the same workload on two machines, two devices or two settings, point by point.
//!
//! Only like points are compared: the same pattern, block size, queue depth, mix and so on. A mean over unlike points
//! is no measure (a ratio of means over a grid of block sizes is mostly the ratio of its largest blocks), so the
//! overall figure is the geometric mean of their ratios.
//!
//! **Memory is not the storage**: figures of memory or of the program itself are invalid as statements about the
//! storage, and are left out. Where that is all there is, on both sides, the same figures still say what programs get
//! on either machine: the ratios are then about that, and the sentence says so. Figures that are invalid for another
//! reason, a limit set on the machine or holes in the file, are not compared.
//!
//! **Offered rates are not compared**: both sides deliver them by design. Their latency is.
//!
//! **The unit is the repeat**: a fresh file, a fresh fill, a fresh process. Trials inside one run cannot see how runs
//! differ; with a run effect of 1 % they call half of all equal pairs different. So the spread comes from the repeats
//! of each side; with one repeat, from older runs of the same study on the same storage; and where there are none,
//! the sentence is about these two runs and not about the storage.
//!
//! **In turn**: where two runs took turns (`run STUDY A B`), each ratio's error comes from pairs of trials side by
//! side, so that what disturbed both alike is not in it. How much repeats differ they cannot tell either.
//!
//! **Many lines**: the geometric mean is asked first, with four fifths of what may be wrong. Where it lies beyond the
//! margin the lines share all of it, otherwise the last fifth, each line its equal part (Bonferroni); so that the
//! interval that is shown is the one that decides, and at most one family of statements in twenty says anything
//! false.

mod differences;
mod highest;
mod in_turn;
mod layer;
pub(crate) mod like;
mod limits;
mod odd_side;
mod pair;
mod partner;
mod ranking;
mod ratio;
mod side;
mod spread;

#[cfg(test)]
mod tests;

use iosonde_model::{Compared, ComparedFigure, ComparedPair, ComparedSide, Comparison};

use self::{like::LinePair, pair::pair};
pub use side::{Question, Side};

/// Why sides cannot be compared at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NothingToCompare {
    /// There is no side.
    NoSide,
    /// There is one side.
    OneSide {
        /// Its name.
        name: String,
    },
    /// Two sides have one name.
    SameName {
        /// The name.
        name: String,
    },
}

/// Compares every side with the first.
///
/// # Errors
/// Fewer than two sides, or two with the same name.
pub fn compare(sides: &[Side], question: &Question) -> Result<Compared, NothingToCompare> {
    let [first, others @ ..] = sides else { return Err(NothingToCompare::NoSide) };
    if others.is_empty() {
        return Err(NothingToCompare::OneSide { name: first.name.clone() });
    }
    let is_twice =
        |&(place, side): &(usize, &Side)| sides[..place].iter().any(|other| other.name == side.name);
    if let Some((_, twice)) = sides.iter().enumerate().find(is_twice) {
        return Err(NothingToCompare::SameName { name: twice.name.clone() });
    }
    let compared: Vec<(ComparedPair, Vec<Comparison>)> =
        others.iter().map(|other| with_p99(first, other, question)).collect();
    let side = |side: &Side| ComparedSide {
        name: side.name.clone(),
        runs: side.runs.iter().map(|run| run.info.clone()).collect(),
        history: if side.runs.len() == 1 { side.history.len() } else { 0 },
    };
    let (pairs, lines): (Vec<_>, Vec<_>) = compared.into_iter().unzip();
    Ok(Compared {
        sides: sides.iter().map(side).collect(),
        comparisons: lines.concat(),
        pairs,
        ranking: if others.len() > 1 { ranking::ranking(sides, question) } else { Vec::new() },
        odd_sides: odd_side::odd_sides(sides, question),
    })
}

/// A pair; a comparison of throughput has p99 latency, too.
fn with_p99(a: &Side, b: &Side, question: &Question) -> (ComparedPair, Vec<Comparison>) {
    let (mut throughput, mut lines) = pair(a, b, question);
    if question.figure == ComparedFigure::Iops {
        let (p99, more) = pair(a, b, &Question { figure: ComparedFigure::LatencyP99, ..*question });
        throughput.p99_means = p99.geometric_means;
        lines.extend(more.into_iter().filter(|line| line.ratio.is_some()));
    }
    (throughput, lines)
}

/// How far the repeats of one side lie apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scattered {
    /// How many there are.
    pub repeats: usize,
    /// Standard deviation of what a repeat adds to all points alike, as a share.
    pub run: f64,
    /// Standard deviation of one point's rate from repeat to repeat, as a share; the root mean square over points.
    pub point: f64,
}

/// How far the rates of one side's repeats lie apart; `None` where there is one, or where they share no points.
pub fn scatter(side: &Side) -> Option<Scattered> {
    let (lines, _) = like::about_one_thing(like::lines(side, side, ComparedFigure::Iops).0);
    let told: Vec<&LinePair> = lines.iter().filter_map(|line| line.pair.as_ref()).collect();
    let (run, point) = spread::scatter(&told)?;
    Some(Scattered { repeats: side.runs.len(), run, point })
}
