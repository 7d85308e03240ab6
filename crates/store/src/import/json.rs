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

/// The whole documents of a text that have a key: at least one. Text before, between and after is passed over.
pub(super) fn documents(text: &str, key: &str) -> Result<Vec<Value>, ImportError> {
    if values_of(text) > VALUES_MAX {
        return Err(Damage::whole(format!("has more than {VALUES_MAX} values, which no result has")));
    }
    let (mut found, mut at, mut failed) = (Vec::new(), 0, Vec::new());
    // Lines are counted on, not anew: a text may be thousands of broken beginnings.
    let (mut lines, mut counted) = (0, 0);
    while let Some(start) = document_start(text, at).filter(|_| failed.len() < FALSE_STARTS_MAX) {
        let mut stream = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Strict>();
        match stream.next() {
            Some(Ok(Strict(value))) => {
                at = start + stream.byte_offset();
                if value.get(key).is_some() {
                    found.push(value);
                }
            }
            Some(Err(error)) => {
                lines += text[counted..start].matches('\n').count();
                counted = start;
                failed.push(damage(&text[start..], lines, &error));
                at = start + 1;
            }
            None => break,
        }
    }
    // The first that failed: what follows a broken beginning are its inner parts.
    let why = failed.into_iter().next();
    match found.is_empty() {
        false => Ok(found),
        true => Err(why.unwrap_or_else(|| Damage::whole("is damaged: no JSON document begins in it"))),
    }
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

/// The next line that begins with `{`.
fn document_start(text: &str, from: usize) -> Option<usize> {
    let begins = |at: &usize| *at == 0 || text.as_bytes()[at - 1] == b'\n';
    text.get(from..)?.match_indices('{').map(|(place, _)| from + place).find(begins)
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
