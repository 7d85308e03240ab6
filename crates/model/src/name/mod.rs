//! Names of checks, findings and experiments. A name is written as text here and nowhere else, so that the compiler
//! finds a wrong one.

mod check;
mod experiment;
mod finding;

pub use check::CheckName;
pub use experiment::ExperimentName;
pub use finding::FindingName;

/// Declares an enum of names: one line a name, the variant and its text.
macro_rules! names {
    ($(#[$meta:meta])* $Name:ident $kind:literal { $($Variant:ident $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(into = "&'static str", try_from = "String")]
        #[allow(missing_docs)]
        pub enum $Name {
            $($Variant,)+
        }

        impl $Name {
            /// Names in order.
            pub const ALL: &'static [Self] = &[$(Self::$Variant,)+];

            /// Returns the name that people type and that the JSON contains.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$Variant => $text,)+
                }
            }
        }

        impl From<$Name> for &'static str {
            fn from(name: $Name) -> Self {
                name.as_str()
            }
        }

        impl std::fmt::Display for $Name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $Name {
            type Err = $crate::Unknown;

            fn from_str(typed: &str) -> Result<Self, Self::Err> {
                let texts = || Self::ALL.iter().map(|name| name.as_str());
                let found = Self::ALL.iter().copied().find(|name| name.as_str() == typed);
                found.ok_or_else(|| $crate::Unknown {
                    kind: $kind,
                    typed: typed.to_owned(),
                    nearest: $crate::nearest(typed, texts()),
                })
            }
        }

        impl TryFrom<String> for $Name {
            type Error = $crate::Unknown;

            fn try_from(typed: String) -> Result<Self, Self::Error> {
                typed.parse()
            }
        }
    };
}
use names;

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
        assert_eq!([FindingName::ALL.len(), CheckName::ALL.len(), ExperimentName::ALL.len()], [38, 22, 19]);
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
        assert_eq!(json, r#"["set-aside","littles-law"]"#);
        let back: Vec<CheckName> = serde_json::from_str(&json).unwrap();
        assert_eq!(back, [CheckName::Outliers, CheckName::LittlesLaw]);
        let error = serde_json::from_str::<ExperimentName>("\"mixx\"").unwrap_err().to_string();
        assert!(error.contains("did you mean `mix`?"), "{error}");
    }
}
