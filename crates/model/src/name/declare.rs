//! How a list of names is declared.

/// Declares an enum of names: one line a name, the variant and its text, and where it was renamed its former text,
/// which is still understood.
macro_rules! names {
    ($(#[$meta:meta])* $Name:ident $kind:literal {
        $($Variant:ident $text:literal $(formerly $former:literal)?,)+
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(into = "&'static str", try_from = "String")]
        #[allow(missing_docs)]
        pub enum $Name {
            $($Variant,)+
        }

        impl $Name {
            /// All names, in order.
            pub const ALL: &'static [Self] = &[$(Self::$Variant,)+];

            /// Name that people type and that the JSON contains.
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
                $($(if typed == $former {
                    return Ok(Self::$Variant);
                })?)+
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
pub(crate) use names;
