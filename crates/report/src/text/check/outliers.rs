//! Words of the check `outliers`.

use iosonde_model::{
    cause::{Agreeing, Cold, Excluded, Outliers},
    units,
};

pub(super) fn words(cause: &Outliers) -> String {
    match cause {
        Outliers::TooFewVisits { visits_needed } => {
            format!("no point has the {visits_needed} trials that an outlier needs beside it")
        }
        Outliers::Far(found) if found.outliers == 1 => {
            format!(
                "trial {} was excluded as an outlier (percentiles count it): {}",
                found.farthest_trial,
                distance(found)
            )
        }
        Outliers::Far(found) => format!(
            "{} of {} trials were excluded as outliers (percentiles count them); trial {}: {}",
            found.outliers,
            found.trials,
            found.farthest_trial,
            distance(found)
        ),
        Outliers::Many(found) => format!(
            "{} of {} trials were excluded as outliers (chance: 1 in 400; percentiles count them); trial {}: {}",
            found.outliers,
            found.trials,
            found.farthest_trial,
            distance(found)
        ),
        Outliers::Cold(Cold { cold, points, trials, rate_share, .. }) => format!(
            "{cold} of {trials} trials, the first ones of {points} workloads, were excluded: slower than all that \
             followed, the slowest at {} of their rate (a cold cache, or work left from before the run)",
            units::percent(*rate_share)
        ),
        Outliers::Agree(Agreeing { agreeing, of_trials, rate_share, scatter_share }) => format!(
            "{agreeing} of {of_trials} trials agree on {} of the others' rate ({}); they count, and widen the interval",
            units::percent(*rate_share),
            scatter_words(*scatter_share)
        ),
    }
}

/// `31 % of the point's usual rate (the others scatter by 1.2 %)`.
fn distance(found: &Excluded) -> String {
    let scatter = scatter_words(found.scatter_share);
    format!("{} of the point's usual rate ({scatter})", units::percent(found.rate_share))
}

/// `the others scatter by 1.2 %`.
fn scatter_words(share: f64) -> String {
    match share {
        // "0.00 %" is no figure.
        share if share < 5e-5 => "the others scatter by less than 0.01 %".to_owned(),
        share => format!("the others scatter by {}", units::percent(share)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_farthest_is_named() {
        let found = |outliers| Excluded {
            outliers,
            trials: 284,
            farthest_trial: 6,
            rate_share: 0.31,
            scatter_share: 1e-5,
        };
        let distance = "31 % of the point's usual rate (the others scatter by less than 0.01 %)";
        assert_eq!(
            words(&Outliers::Far(found(1))),
            format!("trial 6 was excluded as an outlier (percentiles count it): {distance}")
        );
        let two = Agreeing { agreeing: 2, of_trials: 12, rate_share: 0.31, scatter_share: 0.04 };
        assert_eq!(
            words(&Outliers::Agree(two)),
            "2 of 12 trials agree on 31 % of the others' rate (the others scatter by 4.0 %); they count, and widen \
             the interval"
        );
        let many = words(&Outliers::Many(found(9)));
        assert!(
            many.starts_with(
                "9 of 284 trials were excluded as outliers (chance: 1 in 400; percentiles count them); trial 6: 31 %"
            )
        );
    }
}
