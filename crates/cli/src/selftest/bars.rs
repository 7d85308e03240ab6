//! What the checks must reach, whatever the number of runs: at most 5 % of clean runs with a warning, no clean trial
//! invalid, at least 95 % of each stated effect caught.
//!
//! A bar is missed where chance alone would make so poor a count in fewer than 1 of 1,000 selftests, if the true share
//! lay right at the bar: at least 5 of 8 runs must be caught, and 928 of 1,000.

use super::{Cell, Score};

/// Share of clean runs with a warning or an invalid trial.
const FALSE_MAX: f64 = 0.05;
/// Share of effects that are detected.
const CAUGHT_MIN: f64 = 0.95;
/// That a program right at a bar is said to miss it.
const CHANCE: f64 = 0.001;

/// A sentence for every bar that is missed.
pub fn missed(cells: &[Cell], scores: &[Score]) -> Vec<String> {
    let pairs = || cells.iter().zip(scores);
    let clean = || pairs().filter(|(cell, _)| cell.check.is_none()).map(|(_, score)| score);
    let sum = |count: fn(&Score) -> usize| clean().map(count).sum::<usize>();
    let (runs, doubted, void) = (sum(|s| s.runs), sum(|s| s.others), sum(|s| s.void_trials));
    let mut out = Vec::new();
    if too_many(doubted, runs, FALSE_MAX) {
        out.push(format!("{doubted} of {runs} clean runs have a warning; 5 % is the bar"));
    }
    if void > 0 {
        out.push(format!("{void} clean trials are invalid; none may be"));
    }
    for (cell, score) in pairs().filter(|(cell, _)| cell.check.is_some() && cell.stated) {
        if too_many(score.runs - score.caught, score.runs, 1.0 - CAUGHT_MIN) {
            out.push(format!(
                "`{}` catches {} of {} ({} {}); 95 % is the bar",
                cell.check_name(),
                score.caught,
                score.runs,
                cell.name,
                cell.size()
            ));
        }
    }
    out
}

/// Whether so many of `runs` are more than luck makes where `share` of them is allowed.
fn too_many(count: usize, runs: usize, share: f64) -> bool {
    // ln of the binomial law's weights, one after the other: the first of 12,000 runs is e^-615.
    let mut log = runs as f64 * (1.0 - share).ln();
    let mut fewer = 0.0;
    for k in 0..count {
        fewer += log.exp();
        log += ((runs - k) as f64 / (k + 1) as f64 * share / (1.0 - share)).ln();
    }
    count > 0 && 1.0 - fewer < CHANCE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn luck_is_allowed_and_no_more() {
        // Binomial tails at 5 %: of 8, P(4 or more) = 3.7e-4 and P(3 or more) = 5.8e-3; of 1,000, 72 and 73.
        assert!(!too_many(3, 8, 0.05) && too_many(4, 8, 0.05));
        assert!(!too_many(0, 8, 0.05) && !too_many(0, 0, 0.05));
        assert!(!too_many(71, 1000, 0.05) && too_many(74, 1000, 0.05));
    }
}
