//! JSON of other programs: read with places, without duplicate keys, and with a limit.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::{Damage, ImportError};
use crate::text_file::{VALUES_MAX, values_of};

/// Beginnings that turn out to be none, such as warnings that begin with a brace.
const FALSE_STARTS_MAX: usize = 64;
/// Maps in which fio writes an option that was given twice: the last one counts there.
const MAY_REPEAT: [&str; 2] = ["job options", "global options"];

/// What a text holds.
pub(super) struct Documents {
    /// The whole ones that have the key: at least one.
    pub(super) whole: Vec<Value>,
    /// Why another with this key cannot be read, with its place.
    pub(super) damaged: Option<ImportError>,
}

/// The documents of a text that have a key, by themselves or in an array (`jq -s`). Text before, between and after is
/// passed over.
pub(super) fn documents(text: &str, key: &str) -> Result<Documents, ImportError> {
    if values_of(text) > VALUES_MAX {
        return Err(Damage::whole(format!("has more than {VALUES_MAX} values, which no result has")));
    }
    let (mut found, mut at, mut failed, mut has_key) = (Vec::new(), 0, Vec::new(), Vec::new());
    // Lines are counted on, not anew: a text may be thousands of broken beginnings.
    let (mut lines, mut counted) = (0, 0);
    while let Some(start) = document_start(text, at).filter(|_| failed.len() < FALSE_STARTS_MAX) {
        let mut stream = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Strict>();
        match stream.next() {
            Some(Ok(Strict(value))) => {
                at = start + stream.byte_offset();
                let all = match value {
                    Value::Array(all) => all,
                    one => vec![one],
                };
                found.extend(all.into_iter().filter(|value| value.get(key).is_some()));
            }
            Some(Err(error)) => {
                lines += text[counted..start].matches('\n').count();
                counted = start;
                let end = document_start(text, start + 1).unwrap_or(text.len());
                has_key.push(text[start..end].contains(key));
                failed.push(damage(&text[start..], lines, &error));
                at = start + 1;
            }
            None => break,
        }
    }
    if found.is_empty() {
        // The first that failed: what follows a broken beginning are its inner parts.
        let why = failed.into_iter().next();
        return Err(why.unwrap_or_else(|| Damage::whole("is damaged: no JSON document begins in it")));
    }
    let damaged = failed.into_iter().zip(has_key).find(|(_, has_key)| *has_key).map(|(why, _)| why);
    Ok(Documents { whole: found, damaged })
}

/// What is wrong with a document, by its place in the whole text.
fn damage(document: &str, lines_before: usize, error: &serde_json::Error) -> ImportError {
    let line = document.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
    // What was no UTF-8 is read as this letter.
    if let Some(at) = line.find('\u{fffd}').filter(|_| !error.is_eof()) {
        let column = line[..at].chars().count() + 1;
        let why = "bytes that are not UTF-8; save the file as UTF-8, or UTF-16 with its mark";
        return Damage::at(lines_before + error.line(), column, why);
    }
    Damage::at(lines_before + error.line(), error.column(), bare(error))
}

/// Returns the message without the place, which counts from the document's beginning.
fn bare(error: &serde_json::Error) -> String {
    if error.is_eof() {
        return "the JSON ends early: the program was stopped, or the copy is not whole".to_owned();
    }
    let text = error.to_string();
    text.rsplit_once(" at line ").map_or(text.clone(), |(what, _)| what.to_owned())
}

/// The next line that begins with `{`, or with the `[` of an array of objects.
fn document_start(text: &str, from: usize) -> Option<usize> {
    let begins = |at: &usize| *at == 0 || text.as_bytes()[at - 1] == b'\n';
    let is_document = |at: &usize| {
        begins(at) && (text[*at..].starts_with('{') || text[*at + 1..].trim_start().starts_with('{'))
    };
    text.get(from..)?.match_indices(['{', '[']).map(|(place, _)| from + place).find(is_document)
}

/// A value without duplicate keys.
struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OnceEach).map(Strict)
    }
}

struct OnceEach;

impl<'de> Visitor<'de> for OnceEach {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut all = Vec::new();
        while let Some(Strict(item)) = items.next_element()? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut all = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if all.contains_key(&key) {
                return Err(A::Error::custom(format!(
                    "`{key}` stands twice, and it is open which one holds"
                )));
            }
            let value = if MAY_REPEAT.contains(&key.as_str()) {
                entries.next_value()?
            } else {
                entries.next_value::<Strict>()?.0
            };
            all.insert(key, value);
        }
        Ok(Value::Object(all))
    }
}
