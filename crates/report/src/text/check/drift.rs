//! Words of the check `drift`.

use iosonde_model::{cause::Drift, units};

use crate::text::note::ways;

pub(super) fn words(cause: &Drift) -> String {
    match *cause {
        Drift::TooFewTrials { trials, needed } => {
            format!("{trials} valid trials at points measured more than once; a drift needs {needed}")
        }
        Drift::Confounded { confounded_share } => format!(
            "points ran one after the other, not in random order ({} confounded): drift and point effects are \
             inseparable",
            units::percent(confounded_share)
        ),
        Drift::NoSlope => "drift and point effects are inseparable".to_owned(),
        Drift::Unlike { rose, fell, held, duration_s, wrote } => format!(
            "over the {} of the run, the rate {}; means hide that{}",
            units::duration(duration_s),
            ways(rose, fell, held),
            // Flash that is written to slows down until its steady state.
            if wrote && fell > rose { " (for a steady state: `--state steady`)" } else { "" }
        ),
        Drift::Changed { change_share, low, high, .. } => {
            let sign = if change_share < 0.0 { -100.0 } else { 100.0 };
            let (a, b) = (low * sign, high * sign);
            // The first digit of the half-width is the last that says something.
            let digits = usize::from((a - b).abs() < 2.0);
            format!(
                "the storage became {:.digits$} % ({:.digits$}–{:.digits$}) {} during the run: do not \
                 compare it with other runs",
                change_share * sign,
                a.min(b),
                a.max(b),
                if change_share < 0.0 { "slower" } else { "faster" }
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_ways_that_points_went_are_told() {
        let unlike =
            |rose, fell, held| words(&Drift::Unlike { rose, fell, held, duration_s: 59.0, wrote: true });
        assert_eq!(
            unlike(1, 0, 0),
            "over the 59 s of the run, the rate rose in 1 of 1 workloads; means hide that"
        );
        let all = "the rate rose in 2, fell in 1, held in 3 of 6 workloads; means hide that";
        assert!(unlike(2, 1, 3).ends_with(all), "{}", unlike(2, 1, 3));
        let slower = "fell in 2 of 3 workloads; means hide that (for a steady state: `--state steady`)";
        assert!(unlike(1, 2, 0).ends_with(slower), "{}", unlike(1, 2, 0));
    }

    #[test]
    fn a_fall_is_told_in_positive_figures() {
        let fell = Drift::Changed { change_share: -0.211, low: -0.23, high: -0.192, duration_s: 56.0 };
        assert_eq!(
            words(&fell),
            "the storage became 21 % (19–23) slower during the run: do not compare it with other runs"
        );
    }
}
