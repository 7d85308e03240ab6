//! Names of checks, findings and experiments. A name is written as text here and nowhere else, so that the compiler
//! finds a wrong one.

mod check;
mod comparison;
mod declare;
mod experiment;
mod finding;
mod portrait;

pub use check::CheckName;
pub use comparison::{ComparedFigure, RunProperty, WorkloadGroup};
pub(crate) use declare::names;
pub use experiment::ExperimentName;
pub use finding::FindingName;
pub use portrait::TraitKey;

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_name_is_unique_and_reads_back() {
        fn check<N: Copy + PartialEq + std::fmt::Debug + std::str::FromStr<Err = crate::Unknown>>(
            all: &[N],
            text: impl Fn(N) -> &'static str,
        ) {
            let texts: BTreeSet<_> = all.iter().map(|&name| text(name)).collect();
            assert_eq!(texts.len(), all.len());
            assert!(all.iter().all(|&name| text(name).parse() == Ok(name)));
        }
        check(FindingName::ALL, FindingName::as_str);
        check(CheckName::ALL, CheckName::as_str);
        check(ExperimentName::ALL, ExperimentName::as_str);
        check(ComparedFigure::ALL, ComparedFigure::as_str);
        check(WorkloadGroup::ALL, WorkloadGroup::as_str);
        check(RunProperty::ALL, RunProperty::as_str);
        check(TraitKey::ALL, TraitKey::as_str);
        assert_eq!([FindingName::ALL.len(), CheckName::ALL.len(), ExperimentName::ALL.len()], [45, 27, 24]);
    }

    #[test]
    fn a_wrong_name_gets_a_suggestion() {
        let error = "base_latncy".parse::<FindingName>().unwrap_err().to_string();
        assert_eq!(error, "there is no finding named `base_latncy`; did you mean `base_latency`?");
        let error = "mmap".parse::<CheckName>().unwrap_err();
        assert_eq!((error.kind, error.nearest), ("check", None));
    }

    #[test]
    fn the_json_holds_the_text() {
        let json = serde_json::to_string(&[CheckName::Outliers, CheckName::LittlesLaw]).unwrap();
        assert_eq!(json, r#"["outliers","littles-law"]"#);
        let back: Vec<CheckName> = serde_json::from_str(&json).unwrap();
        assert_eq!(back, [CheckName::Outliers, CheckName::LittlesLaw]);
        assert_eq!("set-aside".parse(), Ok(CheckName::Outliers), "its name in schema 1");
        let error = serde_json::from_str::<ExperimentName>("\"mixx\"").unwrap_err().to_string();
        assert!(error.contains("did you mean `mix`?"), "{error}");
    }
}
