//! Lists of values and ranges: `32`, `"4k"`, `[1, "2..8*2"]`, `"0..100+10"`.

use std::{
    fmt::{self, Display},
    marker::PhantomData,
    str::FromStr,
};

use serde::{Deserialize, Deserializer, de};

use super::SizeBytes;

/// Type whose values may be listed.
pub trait Listed: Sized + FromStr<Err: Display> {
    /// The values of one text: one value, or a range where the type has them.
    ///
    /// # Errors
    /// Returns a sentence that names a text which cannot be parsed.
    fn expand(text: &str) -> Result<Vec<Self>, String> {
        text.parse().map(|value| vec![value]).map_err(|error: Self::Err| error.to_string())
    }
}

impl Listed for String {}
impl Listed for bool {
    fn expand(text: &str) -> Result<Vec<Self>, String> {
        text.parse().map(|value| vec![value]).map_err(|_| format!("it is true or false, not {text}"))
    }
}
impl Listed for crate::Rw {}
impl Listed for crate::Arrivals {}
impl Listed for crate::Sync {}
impl Listed for crate::training::TrainingModel {}
impl Listed for crate::Files {}
impl Listed for crate::Payload {}
impl Listed for crate::Distribution {}
impl Listed for crate::LatencyLimit {}
impl Listed for SizeBytes {
    fn expand(text: &str) -> Result<Vec<Self>, String> {
        let read = |text: &str| text.parse().map(|size: Self| size.0).map_err(|error| error.to_string());
        Ok(values(text, read)?.into_iter().map(Self).collect())
    }
}

/// Value or list of values, ranges expanded.
#[derive(Debug, Clone, PartialEq)]
pub struct List<T>(pub Vec<T>);

impl<T: Listed> List<T> {
    /// Values of a TOML value.
    ///
    /// # Errors
    /// Returns a sentence that names a value which cannot be parsed.
    pub fn read(value: &toml::Value) -> Result<Vec<T>, String> {
        let list = Self::deserialize(value.clone()).map_err(|error| error.message().to_owned())?;
        Ok(list.0)
    }
}

impl<'de, T: Listed> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrMany(PhantomData))
    }
}

struct OneOrMany<T>(PhantomData<T>);

impl<'de, T: Listed> de::Visitor<'de> for OneOrMany<T> {
    type Value = List<T>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a value, a range or a list of them")
    }

    fn visit_bool<E: de::Error>(self, flag: bool) -> Result<List<T>, E> {
        self.visit_str(&flag.to_string())
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<List<T>, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<List<T>, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<List<T>, E> {
        T::expand(text).map(List).map_err(E::custom)
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<List<T>, A::Error> {
        let mut values = Vec::new();
        while let Some(List(more)) = list.next_element::<List<T>>()? {
            values.extend(more);
        }
        if values.is_empty() { Err(de::Error::custom("it is empty")) } else { Ok(List(values)) }
    }
}

/// Expands a value or a range: `4k..4M*4` is 4 KiB, 16 KiB, .. 4 MiB; `0..100+10` counts in steps of ten.
///
/// # Errors
/// Returns a sentence if `read` refuses a value, or if a range does not end.
pub fn values(text: &str, read: impl Fn(&str) -> Result<u64, String>) -> Result<Vec<u64>, String> {
    let form = "a range is written `first..last*factor` or `first..last+step`";
    let Some((first, rest)) = text.split_once("..") else { return Ok(vec![read(text)?]) };
    let at = rest.find(['*', '+']).ok_or(form)?;
    let (last, step) = (read(&rest[..at])?, read(&rest[at + 1..])?);
    let multiply = rest.as_bytes()[at] == b'*';
    let mut value = read(first)?;
    if value > last {
        return Err(format!("`{first}..{rest}` runs backwards: {first} is more than {}", &rest[..at]));
    }
    if step == 0 || (multiply && (step < 2 || value == 0)) {
        return Err(format!("a step of {step} never arrives; {form}"));
    }
    let mut out = Vec::new();
    while value <= last {
        // 10,000: more points than any budget; a slip such as `1..1000000+1` should not fill the memory.
        if out.len() == 10_000 {
            return Err("more than 10,000 values".into());
        }
        out.push(value);
        value = if multiply { value.saturating_mul(step) } else { value.saturating_add(step) };
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(text: &str) -> Result<Vec<u64>, String> {
        let table: toml::Table = toml::from_str(&format!("v = {text}")).unwrap();
        Ok(List::<SizeBytes>::read(&table["v"])?.into_iter().map(|size| size.0).collect())
    }

    #[test]
    fn values_lists_and_ranges() {
        assert_eq!(sizes("512"), Ok(vec![512]));
        assert_eq!(sizes("[\"4k\", \"1..8*2\", 9]"), Ok(vec![4096, 1, 2, 4, 8, 9]));
        assert_eq!(sizes("\"0..20+10\""), Ok(vec![0, 10, 20]));
    }

    #[test]
    fn slips_are_named() {
        for (text, wanted) in [
            ("\"1..8*1\"", "never arrives"),
            ("\"8..1*2\"", "`8..1*2` runs backwards"),
            ("\"1..8\"", "a range is written"),
            ("\"1..1000000+1\"", "more than 10,000"),
            ("[]", "it is empty"),
            ("{}", "a value, a range or a list of them"),
            ("\"4q\"", "`4q` is not a size"),
        ] {
            let said = sizes(text).unwrap_err();
            assert!(said.contains(wanted), "{said}");
        }
    }
}
