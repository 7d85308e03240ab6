//! Silences of the storage, and how long trials should be in which it falls silent again and again.
//!
//! A limit that lets its budget pass in portions stalls what is beyond it until the next one: each 100 ms in a control
//! group of Linux. A trial of 150 ms counts one portion or two, and two stalls, between which whole portions are
//! counted, are rare in it. Longer trials are worth more than many: a portion more or less is a share of the length,
//! and the mean of n trials gains √n.

use iosonde_model::{Stall, Trial};

/// Silences that a trial should hold: a portion more or less is then a quarter of what it counts.
const SILENCES: f64 = 4.0;
/// Mean number of silences in a point's trials from which on they are part of what is measured.
const OFTEN: f64 = 0.5;
/// Length of a silence, in mean times between two completions: large requests at QD 1 take 20 ms each, and no
/// storage is silent between them.
const RARE: f64 = 3.0;
/// Trials of the run that fell silent before any is longer: one may have waited for a processor.
const FEWEST: usize = 5;

/// Length that a point's next trial should have, where the storage falls silent in it; `None` elsewhere. `own` are the
/// point's trials so far, `all` those of the run: the time between two silences is a property of the storage.
pub fn wanted_s(own: &[&Trial], all: &[Trial]) -> Option<f64> {
    let own_silences: usize = own.iter().map(|trial| silences(trial).count()).sum();
    if own_silences as f64 <= OFTEN * own.len() as f64 {
        return None;
    }
    let silent = || all.iter().filter(|trial| silences(trial).next().is_some());
    let number: usize = silent().map(|trial| silences(trial).count()).sum();
    let elapsed_s: f64 = silent().map(|trial| trial.elapsed_s).sum();
    (silent().count() >= FEWEST).then(|| SILENCES * elapsed_s / number as f64)
}

/// Stalls of a trial that are longer than its requests take one by one.
pub fn silences(trial: &Trial) -> impl Iterator<Item = &Stall> {
    let iops = trial.iops();
    trial.stalls.iter().filter(move |stall| stall.length_s * iops >= RARE)
}

#[cfg(test)]
mod tests {
    use iosonde_testkit::specimen;

    use super::*;

    /// A trial of 150 ms with so many silences.
    fn trial(silences: usize) -> Trial {
        let stall = Stall { length_s: 0.09, ..Stall::default() };
        Trial { elapsed_s: 0.15, stalls: vec![stall; silences], ..specimen::usual() }
    }

    #[test]
    fn a_trial_should_hold_four_silences_of_the_storage() {
        let all = [0, 0, 0, 1, 2, 1, 2, 1, 2, 0].map(trial);
        let wanted = |own: std::ops::Range<usize>| wanted_s(&all[own].iter().collect::<Vec<_>>(), &all);
        // Six trials of 150 ms hold nine silences, one each 100 ms.
        let found_s = wanted(3..9).expect("it falls silent in each");
        assert!((found_s - 0.4).abs() < 1e-12, "{found_s}");
        assert_eq!((wanted(0..3), wanted(0..0)), (None, None), "below the limit");
        assert_eq!(wanted(2..4), None, "in one of two trials, it may be anything");
        let few = [1, 2, 1, 2].map(trial);
        assert_eq!(wanted_s(&few.iter().collect::<Vec<_>>(), &few), None);
    }

    #[test]
    fn requests_that_take_long_one_by_one_are_no_silence() {
        let slow = || {
            let stall = Stall { length_s: 0.04, ..Stall::default() };
            Trial { stalls: vec![stall; 4], ..specimen::healthy(iosonde_model::Rw::Read, 4 << 20, 1, 25) }
        };
        let all: Vec<Trial> = (0..8).map(|_| slow()).collect();
        assert_eq!(wanted_s(&all.iter().collect::<Vec<_>>(), &all), None);
    }
}
