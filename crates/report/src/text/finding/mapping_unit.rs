//! Words of `mapping_unit_bytes`.

use iosonde_infer::finding::group::workload;
use iosonde_model::{
    Finding,
    detail::{MappingUnit, MappingUnitProblem},
    units,
};

use super::value;

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
                "{} went through the page cache, which reads its own pages first; use direct I/O",
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
