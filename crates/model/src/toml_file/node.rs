//! One value of a file as a deserializer, whose errors stay data.

use std::{cell::RefCell, fmt};

use serde::de::{
    self, DeserializeSeed, Deserializer, Expected, IntoDeserializer, MapAccess, SeqAccess, Unexpected,
    Visitor, value::StrDeserializer,
};
use toml::{
    Spanned,
    de::{DeInteger, DeTable, DeValue},
};

use super::error::Problem;
use crate::nearest;

/// A file's keys and values so far.
#[derive(Default)]
pub(super) struct Notes {
    /// Every path that some struct has: `queue.service`.
    known: Vec<String>,
    /// Tables that may hold any key.
    open: Vec<String>,
    /// The values that were read.
    pub(super) values: Vec<(String, String)>,
}

impl Notes {
    pub(super) fn know(&mut self, path: String) {
        if !self.known.contains(&path) {
            self.known.push(path);
        }
    }

    pub(super) fn knows(&self, table: &str, path: &str) -> bool {
        self.known.iter().any(|known| known == path) || self.open.iter().any(|open| open == table)
    }

    /// Known keys of a table.
    pub(super) fn siblings(&self, table: &str) -> Vec<String> {
        let name = |known: &String| match known.rsplit_once('.') {
            Some((parent, name)) => (parent == table).then(|| name.to_owned()),
            None => table.is_empty().then(|| known.clone()),
        };
        self.known.iter().filter_map(name).collect()
    }
}

/// What serde found wrong, and where.
#[derive(Debug)]
pub(super) struct Misread {
    pub(super) problem: Box<Problem>,
    /// Byte of the text.
    pub(super) at: Option<usize>,
    pub(super) table: String,
    pub(super) key: Option<String>,
}

impl Misread {
    fn new(problem: Problem) -> Self {
        Self { problem: Box::new(problem), at: None, table: String::new(), key: None }
    }

    /// Adds the place, unless a value further inside has given its own.
    fn at(mut self, node: &Node) -> Self {
        if self.at.is_some() {
            return self;
        }
        if let Problem::Type { found, .. } = &mut *self.problem {
            *found = describe(node.value.get_ref());
        }
        self.at = Some(node.value.span().start);
        match *self.problem {
            // Of a table, not of a value in it.
            Problem::Missing { .. } | Problem::Unknown { .. } => self.table.clone_from(&node.path),
            _ => {
                let (table, key) = split(&node.path);
                (self.table, self.key) = (table.to_owned(), Some(key.to_owned()));
            }
        }
        self
    }
}

impl fmt::Display for Misread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.problem)
    }
}

impl std::error::Error for Misread {}

impl de::Error for Misread {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(Problem::Value(message.to_string()))
    }

    fn invalid_type(found: Unexpected, expected: &dyn Expected) -> Self {
        Self::new(Problem::Type { expected: expected.to_string(), found: found.to_string() })
    }

    fn invalid_value(found: Unexpected, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn unknown_variant(typed: &str, allowed: &'static [&'static str]) -> Self {
        Self::new(Problem::Choice { typed: typed.to_owned(), allowed })
    }

    fn unknown_field(key: &str, known: &'static [&'static str]) -> Self {
        let problem = Problem::Unknown {
            nearest: nearest(key, known.iter().copied()),
            known: known.iter().map(|key| (*key).to_owned()).collect(),
            is_section: false,
            belongs_to: None,
        };
        Self { key: Some(key.to_owned()), ..Self::new(problem) }
    }

    fn missing_field(key: &'static str) -> Self {
        Self::new(Problem::Missing { key: key.to_owned(), explain: String::new(), slip: None })
    }
}

/// A value and its path.
pub(super) struct Node<'a> {
    value: &'a Spanned<DeValue<'a>>,
    path: String,
    notes: &'a RefCell<Notes>,
}

impl<'a> Node<'a> {
    pub(super) fn new(value: &'a Spanned<DeValue<'a>>, path: String, notes: &'a RefCell<Notes>) -> Self {
        Self { value, path, notes }
    }

    fn wrong_type<T>(&self, expected: &str) -> Result<T, Misread> {
        let problem = Problem::Type { expected: expected.to_owned(), found: String::new() };
        Err(Misread::new(problem).at(self))
    }

    fn only_if<V: Visitor<'a>>(
        &self,
        is: impl Fn(&DeValue<'a>) -> bool,
        expected: &str,
        visitor: V,
    ) -> Result<V::Value, Misread> {
        if is(self.value.get_ref()) { self.any(visitor) } else { self.wrong_type(expected) }
    }

    /// A table's entries: those of a struct's fields in their order, or all.
    fn entries<V: Visitor<'a>>(
        &self,
        table: &'a DeTable<'a>,
        fields: Option<&'static [&'static str]>,
        visitor: V,
    ) -> Result<V::Value, Misread> {
        let entries: Vec<_> = match fields {
            Some(fields) => {
                let path = |field: &&str| join(&self.path, field);
                fields.iter().for_each(|field| self.notes.borrow_mut().know(path(field)));
                fields.iter().filter_map(|field| Some((*field, table.get(*field)?))).collect()
            }
            None => {
                self.notes.borrow_mut().open.push(self.path.clone());
                table.iter().map(|(key, value)| (&**key.get_ref(), value)).collect()
            }
        };
        let entries = Entries { node: self, entries: entries.into_iter(), next: None };
        visitor.visit_map(entries).map_err(|error| error.at(self))
    }

    fn any<V: Visitor<'a>>(&self, visitor: V) -> Result<V::Value, Misread> {
        let read = match self.value.get_ref() {
            DeValue::String(text) => visitor.visit_str(text),
            DeValue::Boolean(flag) => visitor.visit_bool(*flag),
            DeValue::Integer(integer) => match whole(integer) {
                Some(Whole::Signed(number)) => visitor.visit_i64(number),
                Some(Whole::Unsigned(number)) => visitor.visit_u64(number),
                None => return self.wrong_type("a number below 2^64"),
            },
            DeValue::Float(float) => match number(float.as_str()) {
                Some(number) => visitor.visit_f64(number),
                None => return self.wrong_type("a number such as 0.05"),
            },
            DeValue::Datetime(date) => visitor.visit_str(&date.to_string()),
            DeValue::Array(values) => visitor.visit_seq(Elements { node: self, values: values.iter() }),
            DeValue::Table(table) => return self.entries(table, None, visitor),
        };
        read.map_err(|error| error.at(self))
    }
}

impl<'de> Deserializer<'de> for Node<'de> {
    type Error = Misread;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misread> {
        self.any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misread> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Misread> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misread> {
        match self.value.get_ref() {
            DeValue::Table(table) => self.entries(table, Some(fields), visitor),
            _ => self.wrong_type("a table"),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        allowed: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Misread> {
        let DeValue::String(text) = self.value.get_ref() else {
            return self.wrong_type(&format!("one of {}", allowed.join(", ")));
        };
        let word: StrDeserializer<Misread> = (**text).into_deserializer();
        visitor.visit_enum(word).map_err(|error| error.at(&self))
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misread> {
        let whole = |value: &DeValue| {
            value
                .as_integer()
                .is_some_and(|integer| !matches!(whole(integer), None | Some(Whole::Signed(..0))))
        };
        self.only_if(whole, "a whole number such as 4", visitor)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misread> {
        self.only_if(DeValue::is_bool, "true or false", visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misread> {
        self.only_if(|value| value.is_integer() || value.is_float(), "a number such as 0.05", visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Misread> {
        self.only_if(DeValue::is_str, "text in quotes", visitor)
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u128 f32 char str bytes byte_buf unit unit_struct seq tuple tuple_struct map
        identifier ignored_any
    }
}

struct Entries<'n, 'a> {
    node: &'n Node<'a>,
    entries: std::vec::IntoIter<(&'a str, &'a Spanned<DeValue<'a>>)>,
    next: Option<(&'a str, &'a Spanned<DeValue<'a>>)>,
}

impl<'a> MapAccess<'a> for Entries<'_, 'a> {
    type Error = Misread;

    fn next_key_seed<K: DeserializeSeed<'a>>(&mut self, seed: K) -> Result<Option<K::Value>, Misread> {
        self.next = self.entries.next();
        let Some((key, _)) = self.next else { return Ok(None) };
        let key: StrDeserializer<Misread> = key.into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'a>>(&mut self, seed: V) -> Result<V::Value, Misread> {
        let (key, value) = self.next.take().expect("serde asks for a value after its key");
        let path = join(&self.node.path, key);
        let read = seed.deserialize(Node::new(value, path.clone(), self.node.notes))?;
        let values = &mut self.node.notes.borrow_mut().values;
        // Several structs may read one key.
        if let Some(text) =
            as_typed(value.get_ref()).filter(|_| values.iter().all(|(known, _)| *known != path))
        {
            values.push((path, text));
        }
        Ok(read)
    }
}

struct Elements<'n, 'a> {
    node: &'n Node<'a>,
    values: std::slice::Iter<'a, Spanned<DeValue<'a>>>,
}

impl<'a> SeqAccess<'a> for Elements<'_, 'a> {
    type Error = Misread;

    fn next_element_seed<T: DeserializeSeed<'a>>(&mut self, seed: T) -> Result<Option<T::Value>, Misread> {
        let Some(value) = self.values.next() else { return Ok(None) };
        seed.deserialize(Node::new(value, self.node.path.clone(), self.node.notes)).map(Some)
    }
}

enum Whole {
    Signed(i64),
    Unsigned(u64),
}

fn whole(integer: &DeInteger) -> Option<Whole> {
    let digits = integer.as_str().replace('_', "");
    let signed = i64::from_str_radix(&digits, integer.radix()).map(Whole::Signed);
    signed.or_else(|_| u64::from_str_radix(&digits, integer.radix()).map(Whole::Unsigned)).ok()
}

fn number(text: &str) -> Option<f64> {
    text.replace('_', "").parse().ok().filter(|number: &f64| number.is_finite())
}

/// A scalar without its quotes; `None` for tables and lists.
pub(super) fn as_typed(value: &DeValue) -> Option<String> {
    Some(match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(integer) => match whole(integer) {
            Some(Whole::Signed(number)) => number.to_string(),
            Some(Whole::Unsigned(number)) => number.to_string(),
            None => integer.to_string(),
        },
        DeValue::Float(float) => {
            number(float.as_str()).map_or_else(|| float.to_string(), |number| number.to_string())
        }
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Datetime(date) => date.to_string(),
        DeValue::Array(_) | DeValue::Table(_) => return None,
    })
}

fn describe(value: &DeValue) -> String {
    match value {
        DeValue::String(text) => format!("\"{text}\""),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
        scalar => as_typed(scalar).unwrap_or_default(),
    }
}

pub(super) fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Splits `queue.service` into table and key; the table is empty at the top of a file.
pub(super) fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('.').unwrap_or(("", path))
}
