//! Words of `mapping_unit_bytes`.

use crate::text::workload::workload;
use iosonde_model::{
    Finding,
    detail::{MappingUnit, MappingUnitProblem},
    units,
};

use super::value::value;

/// One sentence with its full stop.
pub(super) fn sentence(finding: &Finding, facts: MappingUnit) -> String {
    format!(
        "The mapping unit is {}: smaller {} take {} longer, since the rest is read first.",
        value(finding),
        workload(&finding.conditions),
        units::percent(facts.longer)
    )
}

/// Assumptions.
pub(super) fn why(facts: MappingUnit) -> String {
    format!("Single durable writes of {} sizes. Assumes that a durable write is on the medium.", facts.sizes)
}

/// A clause without its full stop.
pub(super) fn problem(problem: &MappingUnitProblem) -> String {
    match problem {
        MappingUnitProblem::Buffered { spec } => {
            format!(
                "{} were buffered, and the page cache reads its own pages first; use direct I/O",
                spec.describe()
            )
        }
        MappingUnitProblem::FewSizes { sizes, needed } => {
            format!("the number of measured sizes is {sizes}; {needed} are needed")
        }
        MappingUnitProblem::NoFall { smallest_bytes } => format!(
            "no size is faster than a smaller one: the unit is at most {}, or a cache hides the read",
            units::size(*smallest_bytes)
        ),
        MappingUnitProblem::SmallFall { size_bytes, fall_ns } => format!(
            "writes of {} take only {} less than smaller ones (scatter, or a buffer that begins early)",
            units::size(*size_bytes),
            units::time(*fall_ns)
        ),
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Detail, FindingName, Op, Unit};

    use super::*;
    use crate::text::finding::{example, sentence};

    #[test]
    fn a_unit_is_told_with_what_less_of_it_costs() {
        let detail = Detail::MappingUnit(MappingUnit { sizes: 10, longer: 0.125 });
        let mut finding =
            example::found(FindingName::MappingUnitBytes, Op::Write, (8192.0, Unit::Bytes), detail);
        finding.conditions.block_size_bytes = None;
        let said = sentence(&finding);
        assert!(
            said.ends_with("smaller random writes take 12 % longer, since the rest is read first."),
            "{said}"
        );
        let few = MappingUnitProblem::FewSizes { sizes: 3, needed: 4 };
        let said = example::unknown(FindingName::MappingUnitBytes, Op::Write, few);
        assert!(said.ends_with("unknown; the number of measured sizes is 3; 4 are needed."), "{said}");
    }
}
