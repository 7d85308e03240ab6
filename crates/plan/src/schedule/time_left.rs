//! Time that a run still takes: one number where it is known, otherwise a range.

use iosonde_model::units;

/// Ends of a range that are at most so far apart, as a ratio, are one number: its ends are then 12 % away.
const AS_ONE: f64 = 1.25;
/// Below this a range counts in seconds, and in minutes from there on.
const SECONDS_BELOW_S: f64 = 100.0;

/// Time until the run ends, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TimeLeft {
    /// Lower limit.
    pub least_s: f64,
    /// Most likely value.
    pub likely_s: f64,
    /// Upper limit.
    pub most_s: f64,
}

impl TimeLeft {
    /// Makes a value without uncertainty: the end of the budget or of the requested rounds.
    pub fn known(left_s: f64) -> Self {
        Self { least_s: left_s, likely_s: left_s, most_s: left_s }
    }

    /// Adds the time of a run that follows.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            least_s: self.least_s + other.least_s,
            likely_s: self.likely_s + other.likely_s,
            most_s: self.most_s + other.most_s,
        }
    }

    /// Returns true if the range is narrow enough to show as one number.
    pub fn is_one_number(self) -> bool {
        self.most_s <= AS_ONE * self.least_s || self.most_s < 1.0
    }

    /// Returns the time in words: `40 s`, `30 to 55 s`, `2 to 5 min`, `up to 3 min`. Ends of a range are rounded
    /// outwards.
    pub fn in_words(self) -> String {
        if self.is_one_number() {
            return units::duration(self.likely_s);
        }
        let (unit_s, unit, step) =
            if self.most_s < SECONDS_BELOW_S { (1.0, "s", 5.0) } else { (60.0, "min", 1.0) };
        let (least, most) = (self.least_s / unit_s / step, self.most_s / unit_s / step);
        match ((least + 0.1).floor() * step, (most - 0.1).ceil() * step) {
            (0.0, most) => format!("up to {most:.0} {unit}"),
            (least, most) => format!("{least:.0} to {most:.0} {unit}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_one_number_and_what_is_not_a_range() {
        let said = |least_s, likely_s, most_s| TimeLeft { least_s, likely_s, most_s }.in_words();
        assert_eq!(TimeLeft::known(80.0).in_words(), "1 min 20 s");
        assert_eq!(said(90.0, 100.0, 110.0), "1 min 40 s");
        assert_eq!(said(31.0, 40.0, 54.0), "30 to 55 s");
        assert_eq!(said(3.0, 8.0, 14.0), "up to 15 s");
        assert_eq!(said(125.0, 200.0, 290.0), "2 to 5 min");
        assert_eq!(said(20.0, 90.0, 190.0), "up to 4 min");
        let both = TimeLeft::known(10.0).and(TimeLeft { least_s: 50.0, likely_s: 60.0, most_s: 80.0 });
        assert_eq!(both, TimeLeft { least_s: 60.0, likely_s: 70.0, most_s: 90.0 });
    }
}
