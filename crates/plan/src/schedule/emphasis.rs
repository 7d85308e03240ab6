//! Which points the rounds after the first ones visit, where some tell more than others.

/// The share of rounds that visit each point.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Emphasis {
    /// Rounds that visit every point, before.
    pub(super) after: u32,
    /// Share for each point, by its id; points beyond the end are visited in every round.
    pub(super) shares: Vec<f64>,
}

impl Emphasis {
    /// Returns true if some points are visited less often than others in this round.
    pub(super) fn is_on(&self, round: u32) -> bool {
        round > self.after && self.shares.iter().any(|share| *share < 1.0)
    }

    /// Returns the points that a round visits, spread evenly over the rounds as in Bresenham's line. If there are none,
    /// returns all of them, since something is left to do.
    pub(super) fn due(&self, open: Vec<usize>, round: u32) -> Vec<usize> {
        if !self.is_on(round) {
            return open;
        }
        let number = f64::from(round - self.after);
        // 1e-9: a third times three is 1.
        let by = |share: f64, number: f64| (share * number + 1e-9).floor();
        let is_due = |point: &usize| {
            let share = self.shares.get(*point).copied().unwrap_or(1.0);
            by(share, number) > by(share, number - 1.0)
        };
        let due: Vec<usize> = open.iter().copied().filter(is_due).collect();
        if due.is_empty() { open } else { due }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_kept_over_the_rounds() {
        let emphasis = Emphasis { after: 5, shares: vec![1.0, 0.25, 0.0, 1.0 / 3.0] };
        let visits = |point: usize| {
            (6..=17).filter(|round| emphasis.due((0..5).collect(), *round).contains(&point)).count()
        };
        assert_eq!([0, 1, 2, 3, 4].map(visits), [12, 3, 0, 4, 12]);
        assert_eq!(emphasis.due(vec![1, 2], 5), [1, 2], "not yet");
        assert_eq!(emphasis.due(vec![2], 9), [2], "nothing else is left");
        assert!(!Emphasis { after: 5, shares: vec![1.0; 4] }.is_on(9));
    }
}
