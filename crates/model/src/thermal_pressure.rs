//! How hot a machine is, in the operating system's own levels.

use serde::{Deserialize, Serialize};

/// Thermal pressure as macOS counts it (`OSThermalNotification.h`). From `heavy` on, the system asks programs to move
/// less data and slows its processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThermalPressure {
    /// Level 0: no heat to speak of.
    Nominal,
    /// Level 1: warmer than usual, at full speed.
    Moderate,
    /// Level 2: slowed.
    Heavy,
    /// Level 3: slowed as far as it goes.
    Trapping,
    /// Level 4: about to sleep because of heat.
    Sleeping,
}

impl ThermalPressure {
    /// The level of that number; `None` for one that is not known.
    pub fn of_level(level: u64) -> Option<Self> {
        let levels = [Self::Nominal, Self::Moderate, Self::Heavy, Self::Trapping, Self::Sleeping];
        usize::try_from(level).ok().and_then(|level| levels.get(level).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_ordered_and_an_unknown_one_is_none() {
        let levels: Vec<_> = (0..5).map_while(ThermalPressure::of_level).collect();
        assert!(levels.len() == 5 && levels.is_sorted());
        assert_eq!(ThermalPressure::of_level(2), Some(ThermalPressure::Heavy));
        assert_eq!(ThermalPressure::of_level(30), None, "iOS counts in tens");
    }
}
