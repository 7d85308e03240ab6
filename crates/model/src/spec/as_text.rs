//! Types that serde reads and writes as the text that `FromStr` and `Display` define.

/// Implements the conversions that `#[serde(try_from = "String", into = "String")]` needs.
macro_rules! as_text {
    ($type:ty) => {
        impl TryFrom<String> for $type {
            type Error = String;
            fn try_from(text: String) -> Result<Self, String> {
                text.parse()
            }
        }
        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.to_string()
            }
        }
    };
}
pub(super) use as_text;
