//! Words of the check `not-steady`.

use iosonde_model::{
    LevelCondition,
    cause::{LongWait, NotSteady, Trend, Waited},
    units,
};

pub(super) fn words(cause: &NotSteady) -> String {
    match cause {
        NotSteady::Pause(pause) => self::pause(pause),
        NotSteady::TooFewWindows { windows, needed } => {
            format!("the trial has {windows} windows; steadiness needs {needed}")
        }
        NotSteady::TooFewRounds { rounds, needed } => format!("{rounds} rounds; steadiness needs {needed}"),
        NotSteady::NoTrend => "too few values for a trend".to_owned(),
        NotSteady::Replaced { replacements, longer_s, .. } => {
            let longer = units::time(longer_s * 1e9);
            let plural = if *replacements == 1 { "" } else { "s" };
            format!("its warm-up was too short; {replacements} later trial{plural} warmed up {longer} longer")
        }
        NotSteady::ChangedWithin { before_iops, after_iops, .. } => {
            let why = match after_iops < before_iops {
                true => "a buffer or credit ran out",
                false => "it started slowly",
            };
            let course = course(*before_iops, *after_iops);
            format!("the rate {course} within the trial ({why})")
        }
        NotSteady::Step { before_iops, after_iops, at, members, part_s, held_within_share, .. } => {
            let when = match part_s {
                Some(part_s) => format!("{} into the trial", units::time(*at as f64 * part_s * 1e9)),
                None => format!("in round {} of {members}", at + 1),
            };
            let since = held_within_share.map_or_else(String::new, |share| {
                format!("; since then it is steady within {}", units::percent(share))
            });
            let course = course(*before_iops, *after_iops);
            format!("the rate {course} {when}, so the mean hides two levels{since}")
        }
        NotSteady::Levels { low_iops, low_trials, low_condition, high_iops, high_trials, high_condition } => {
            format!(
                "two rates, {} and {}; the mean describes neither",
                level(*high_iops, *high_condition, *high_trials),
                level(*low_iops, *low_condition, *low_trials)
            )
        }
        NotSteady::Cycle { amplitude_share, period, part_s } => {
            let every = match part_s {
                Some(part_s) => units::time(period * part_s * 1e9),
                None => format!("{period:.0} rounds"),
            };
            format!(
                "the rate varies by ±{} every {every}: measure whole periods",
                units::percent(*amplitude_share)
            )
        }
        NotSteady::Trend(trend) => {
            format!("the rate {} (steady: ±{}): its mean depends on the run time", shown(trend), bound(trend))
        }
        NotSteady::Unknown { trend, needed } => {
            let more = match trend.part_s {
                Some(part_s) => units::duration(needed * part_s),
                None => format!("{needed:.0} rounds"),
            };
            format!(
                "the rate {}: about {more} would show whether it is steady (±{})",
                open(trend),
                bound(trend)
            )
        }
    }
}

/// `13.8 k IOPS after random writes (10 trials)`.
fn level(iops: f64, condition: LevelCondition, trials: usize) -> String {
    let after = match condition {
        LevelCondition::AfterRandomWrites => " after random writes",
        LevelCondition::AfterSequentialWrites => " after sequential writes",
        LevelCondition::BeforeStep | LevelCondition::AfterStep => "",
        LevelCondition::Lower | LevelCondition::Higher => "",
    };
    format!("{} IOPS{after} ({trials} trials)", units::count(iops))
}

fn pause(pause: &LongWait) -> String {
    let usual = |waited: &Waited| format!("median {}: {}", waited.op, units::time(waited.usual_ns));
    match pause {
        LongWait::Everything(waited) => format!(
            "the storage did not answer for {} ({}): check its error log for retries or resets",
            units::time(waited.longest_ns),
            usual(waited)
        ),
        LongWait::Single(waited) => {
            let who = match waited.waited {
                // Only the longest latency is known, as of fio's JSON without bins.
                0 => "a request waited".to_owned(),
                1 => "1 request waited up to".to_owned(),
                count => format!("{count} requests waited up to"),
            };
            format!(
                "{who} {} ({}) while others went on: retries or starvation",
                units::time(waited.longest_ns),
                usual(waited)
            )
        }
        LongWait::Beside { longest_ns, before } => format!(
            "the storage did not answer for {} {} the measured time: check its error log for retries or resets",
            units::time(*longest_ns),
            if *before { "before" } else { "after" }
        ),
    }
}

/// `fell from 16 k to 3 k IOPS`.
fn course(before_iops: f64, after_iops: f64) -> String {
    let word = if after_iops < before_iops { "fell" } else { "rose" };
    format!("{word} from {} to {} IOPS", units::count(before_iops), units::count(after_iops))
}

fn over(trend: &Trend) -> &'static str {
    if trend.part_s.is_some() { "over the trial" } else { "per round" }
}

fn bound(trend: &Trend) -> String {
    units::percent(trend.bound_share)
}

/// A share of change per member, as the change over the trial or per round.
fn scaled(trend: &Trend, share: f64) -> f64 {
    let members = trend.part_s.map_or(1.0, |_| trend.members as f64);
    (share.ln_1p() * members).exp_m1()
}

/// `falls by 3.0 % (3.0–3.1) per round`.
fn shown(trend: &Trend) -> String {
    let falls = trend.slope_per_step < 0.0;
    let percent = |share: f64| scaled(trend, share) * if falls { -100.0 } else { 100.0 };
    let (a, b) = (percent(trend.low), percent(trend.high));
    format!(
        "{} by {:.1} % ({:.1}–{:.1}) {}",
        if falls { "falls" } else { "rises" },
        percent(trend.slope_per_step),
        a.min(b),
        a.max(b),
        over(trend)
    )
}

/// `may fall by 2.0 % or rise by 1.1 % per round`, where the interval holds both.
fn open(trend: &Trend) -> String {
    if (trend.low < 0.0) == (trend.high < 0.0) {
        return shown(trend);
    }
    let percent = |share: f64| units::percent(scaled(trend, share).abs());
    format!("may fall by {} or rise by {} {}", percent(trend.low), percent(trend.high), over(trend))
}

#[cfg(test)]
mod tests {
    use iosonde_model::Op;

    use super::*;

    #[test]
    fn a_step_has_its_moment_and_both_levels() {
        let step = |part_s| NotSteady::Step {
            before_iops: 16e3,
            after_iops: 3e3,
            step_share: -0.81,
            at: 25,
            members: 60,
            part_s,
            held_within_share: None,
        };
        assert_eq!(
            words(&step(Some(0.1))),
            "the rate fell from 16 k to 3 k IOPS 2.50 s into the trial, so the mean hides two levels"
        );
        assert!(words(&step(None)).contains("IOPS in round 26 of 60, "), "{}", words(&step(None)));
    }

    #[test]
    fn two_levels_have_their_conditions_and_trials() {
        let levels = |low_condition, high_condition| NotSteady::Levels {
            low_iops: 13.8e3,
            low_trials: 10,
            low_condition,
            high_iops: 26.7e3,
            high_trials: 8,
            high_condition,
        };
        assert_eq!(
            words(&levels(LevelCondition::AfterRandomWrites, LevelCondition::AfterSequentialWrites)),
            "two rates, 26.7 k IOPS after sequential writes (8 trials) and 13.8 k IOPS after random writes (10 \
             trials); the mean describes neither"
        );
        assert_eq!(
            words(&levels(LevelCondition::Lower, LevelCondition::Higher)),
            "two rates, 26.7 k IOPS (8 trials) and 13.8 k IOPS (10 trials); the mean describes neither"
        );
    }

    #[test]
    fn a_trend_is_told_with_its_interval_or_with_both_directions() {
        let trend = |low, high, part_s| Trend {
            slope_per_step: -0.03,
            low,
            high,
            bound_share: 0.01,
            members: 20,
            part_s,
        };
        let falls = words(&NotSteady::Trend(trend(-0.031, -0.029, None)));
        assert_eq!(
            falls,
            "the rate falls by 3.0 % (2.9–3.1) per round (steady: ±1.0 %): its mean depends on the run time"
        );
        let unknown = words(&NotSteady::Unknown { trend: trend(-0.06, 0.01, None), needed: 40.0 });
        assert!(
            unknown.starts_with("the rate may fall by 6.0 % or rise by 1.0 % per round: about 40 rounds ")
        );
        // 0.97^20 = 0.544.
        let long = words(&NotSteady::Trend(trend(-0.031, -0.029, Some(0.1))));
        assert!(long.starts_with("the rate falls by 45.6 % (44.5–46.7) over the trial ("), "{long}");
    }

    #[test]
    fn a_pause_names_its_length_and_the_usual_latency() {
        let waited = Waited { op: Op::Read, longest_ns: 3e9, usual_ns: 320e3, waited: 32 };
        let all = words(&NotSteady::Pause(LongWait::Everything(waited)));
        assert!(all.starts_with("the storage did not answer for 3.00 s (median read: 320 µs): "), "{all}");
    }
}
