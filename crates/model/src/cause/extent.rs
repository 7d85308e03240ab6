//! How bad a cause is, so that the worst of several can stand for all.

use super::{Cause, GeneratorBound, Interference, Multimodal};

/// Extent of a cause: two of one variant can be compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Extent {
    /// Bytes of other I/O over those of the trial.
    OthersShare(f64),
    /// Processor time that the hypervisor took.
    StealShare(f64),
    /// Time in which tasks waited for a processor.
    PressureShare(f64),
    /// Time in which the workers were busy.
    BusyShare(f64),
    /// Mean latency of the slower group over that of the faster.
    LatencyRatio(f64),
}

impl Extent {
    fn value(self) -> f64 {
        match self {
            Self::OthersShare(value)
            | Self::StealShare(value)
            | Self::PressureShare(value)
            | Self::BusyShare(value)
            | Self::LatencyRatio(value) => value,
        }
    }

    fn is_like(self, other: Self) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }
}

impl Cause {
    /// How bad it is; `None` for a cause without a measure of that.
    pub fn extent(&self) -> Option<Extent> {
        match self.itself() {
            Self::Interference(Interference::OtherBytes { others_bytes, issued_bytes, .. }) => {
                Some(Extent::OthersShare(*others_bytes as f64 / (*issued_bytes).max(1) as f64))
            }
            Self::Interference(Interference::Steal { steal_share }) => Some(Extent::StealShare(*steal_share)),
            Self::Interference(Interference::CpuPressure { pressure_cpu_some_share, .. }) => {
                Some(Extent::PressureShare(*pressure_cpu_some_share))
            }
            Self::GeneratorBound(GeneratorBound::Near { busy, .. }) => {
                Some(Extent::BusyShare(busy.busy_share))
            }
            Self::Multimodal(Multimodal::Groups { low_ns, high_ns, .. }) => {
                Some(Extent::LatencyRatio(high_ns / low_ns))
            }
            _ => None,
        }
    }

    /// The place of the worst of several causes, the first of equal ones; `None` where they cannot be compared.
    pub fn worst<'a>(causes: impl Iterator<Item = Option<&'a Self>>) -> Option<usize> {
        let extents = causes.map(|cause| cause?.extent()).collect::<Option<Vec<Extent>>>()?;
        let first = *extents.first()?;
        let worst = |(_, one): &(usize, &Extent), (_, other): &(usize, &Extent)| {
            one.value().total_cmp(&other.value())
        };
        let alike = extents.iter().all(|extent| extent.is_like(first));
        extents.iter().enumerate().rev().max_by(worst).filter(|_| alike).map(|(place, _)| place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_is_known_only_among_causes_of_one_kind() {
        let steal = |steal_share| Cause::from(Interference::Steal { steal_share });
        let pressure =
            Cause::from(Interference::CpuPressure { pressure_cpu_some_share: 0.9, own_cpu_share: None });
        let [low, high] = [steal(0.05), steal(0.08)];
        let at_point = steal(0.06).at_point(&crate::TrialSpec::default());
        assert_eq!(Cause::worst([Some(&low), Some(&high), Some(&at_point)].into_iter()), Some(1));
        assert_eq!(Cause::worst([Some(&low), Some(&pressure)].into_iter()), None);
        assert_eq!(Cause::worst([Some(&low), None].into_iter()), None);
        assert_eq!(Cause::worst([Some(&high), Some(&high)].into_iter()), Some(0));
        assert_eq!(Cause::worst(std::iter::empty()), None);
    }
}
