//! Time that a run still takes: one number where it is known, otherwise a range.

/// Ends of a range that are at most so far apart, as a ratio, are one number: its ends are then 12 % away.
const AS_ONE: f64 = 1.25;

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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_runs_one_after_another_add_up() {
        let both = TimeLeft::known(10.0).and(TimeLeft { least_s: 50.0, likely_s: 60.0, most_s: 80.0 });
        assert_eq!(both, TimeLeft { least_s: 60.0, likely_s: 70.0, most_s: 90.0 });
        assert!(TimeLeft { least_s: 80.0, ..both }.is_one_number() && !both.is_one_number());
    }
}
