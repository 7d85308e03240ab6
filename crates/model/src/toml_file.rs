//! TOML files read with serde, where every error knows its file, line, column and key.
//!
//! serde's derived code tells a deserializer which keys a struct has, which one is missing and what a value should
//! have been. The `toml` crate turns that into text; [`TomlDocument`] keeps it as a [`Problem`]. Keys that no struct
//! has are refused after reading, so that several structs can read one section.

mod error;
mod node;

use std::{cell::RefCell, fmt::Display, str::FromStr};

use serde::{Deserialize, Deserializer, de};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use crate::nearest;
pub use error::{FileError, Problem, TextPosition};
use node::{Misread, Node, Notes, as_typed, join, split};

/// A parsed file.
pub struct TomlDocument<'a> {
    text: &'a str,
    origin: String,
    root: Spanned<DeValue<'a>>,
    notes: RefCell<Notes>,
}

impl<'a> TomlDocument<'a> {
    /// Parses a file's text; `origin` is what errors call it.
    ///
    /// # Errors
    /// Returns [`Problem::Syntax`] if the text is not TOML.
    pub fn parse(text: &'a str, origin: impl Into<String>) -> Result<Self, FileError> {
        let origin = origin.into();
        match DeTable::parse(text) {
            Ok(table) => {
                let root = Spanned::new(table.span(), DeValue::Table(table.into_inner()));
                Ok(Self { text, origin, root, notes: RefCell::default() })
            }
            Err(error) => {
                let words = error.message().lines().map(str::trim).filter(|line| !line.is_empty());
                let problem = Box::new(Problem::Syntax(words.collect::<Vec<_>>().join("; ")));
                let place = error.span().map(|span| TextPosition::at(text, span.start));
                Err(FileError { origin, place, table: String::new(), key: None, problem })
            }
        }
    }

    /// The whole file; keys that `T` does not have are refused.
    ///
    /// # Errors
    /// Returns the first key or value that `T` does not allow.
    pub fn read<T: for<'de> Deserialize<'de>>(&self) -> Result<T, FileError> {
        let value = self.top()?;
        self.refuse_unknown_keys()?;
        Ok(value)
    }

    /// Keys before the first section. Other keys may be read by other structs.
    ///
    /// # Errors
    /// Returns the first value that `T` does not allow.
    pub fn top<T: for<'de> Deserialize<'de>>(&self) -> Result<T, FileError> {
        T::deserialize(Node::new(&self.root, String::new(), &self.notes)).map_err(|error| self.place(error))
    }

    /// A section, if the file has it. Other keys of it may be read by other structs.
    ///
    /// # Errors
    /// Returns the first value that `T` does not allow.
    pub fn section<T: for<'de> Deserialize<'de>>(&self, name: &str) -> Result<Option<T>, FileError> {
        self.notes.borrow_mut().know(name.to_owned());
        let Some(value) = self.get(name) else { return Ok(None) };
        T::deserialize(Node::new(value, name.to_owned(), &self.notes))
            .map(Some)
            .map_err(|error| self.place(error))
    }

    /// The values that were read, each with its sections and key (`queue.service.fixed`), in the order of reading.
    pub fn values(self) -> Vec<(String, String)> {
        self.notes.into_inner().values
    }

    /// The value of a key within its sections: `queue.service.fixed`; of one of several tables of a name by its number
    /// from 0: `limit.0.below`.
    pub fn get(&self, path: &str) -> Option<&Spanned<DeValue<'a>>> {
        path.split('.').try_fold(&self.root, |value, key| match value.get_ref() {
            DeValue::Array(values) => values.get(key.parse::<usize>().ok()?),
            other => other.as_table()?.get(key),
        })
    }

    /// The line of a byte of the text, counted from 1.
    pub fn line(&self, at: usize) -> usize {
        TextPosition::at(self.text, at).line
    }

    /// An error: the value at this path breaks a rule.
    pub fn impossible(&self, path: &str, rule: impl Display) -> FileError {
        let value = self.get(path).and_then(|value| as_typed(value.get_ref()));
        self.error(path, Problem::Rule { value, rule: rule.to_string() })
    }

    /// An error: this key is needed, and what it means.
    pub fn missing(&self, path: &str, explain: &str) -> FileError {
        let (table, key) = split(path);
        let (key, explain) = (key.to_owned(), explain.to_owned());
        let problem = Box::new(Problem::Missing { key, explain, slip: None });
        let at = self.get(table).map(|value| value.span().start);
        let misread = Misread { problem, at, table: table.to_owned(), key: None };
        self.place(misread)
    }

    /// An error of the file as a whole.
    pub fn whole(&self, message: impl Display) -> FileError {
        let problem = Box::new(Problem::Whole(message.to_string()));
        FileError { origin: self.origin.clone(), place: None, table: String::new(), key: None, problem }
    }

    /// Makes an error about the value at a path, or about the nearest section around it.
    pub fn error(&self, path: &str, problem: Problem) -> FileError {
        let (table, key) = split(path);
        let value = self.get(path).or_else(|| self.get(table).filter(|_| !table.is_empty()));
        let at = value.map(|value| value.span().start);
        self.place(Misread {
            problem: Box::new(problem),
            at,
            table: table.to_owned(),
            key: Some(key.to_owned()),
        })
    }

    /// Refuses the first key of the file that nothing has read.
    ///
    /// # Errors
    /// Returns [`Problem::Unknown`] for the first key that was not read.
    pub fn refuse_unknown_keys(&self) -> Result<(), FileError> {
        let DeValue::Table(root) = self.root.get_ref() else { return Ok(()) };
        self.first_unknown("", root).map_or(Ok(()), |misread| Err(self.place(misread)))
    }

    fn first_unknown(&self, path: &str, table: &DeTable) -> Option<Misread> {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        entries.into_iter().find_map(|(key, value)| {
            let below = join(path, key.get_ref());
            if !self.notes.borrow().knows(path, &below) {
                return Some(self.unknown(path, key, value.get_ref().is_table()));
            }
            match value.get_ref() {
                DeValue::Table(inner) => self.first_unknown(&below, inner),
                DeValue::Array(values) => values
                    .iter()
                    .filter_map(|value| value.get_ref().as_table())
                    .find_map(|inner| self.first_unknown(&below, inner)),
                _ => None,
            }
        })
    }

    fn unknown(&self, path: &str, key: &Spanned<std::borrow::Cow<str>>, is_section: bool) -> Misread {
        let known = self.notes.borrow().siblings(path);
        let problem = Problem::Unknown {
            nearest: nearest(key.get_ref(), known.iter().map(String::as_str)),
            known,
            is_section: is_section && path.is_empty(),
            belongs_to: None,
        };
        let key_text = Some(key.get_ref().to_string());
        Misread {
            problem: Box::new(problem),
            at: Some(key.span().start),
            table: path.to_owned(),
            key: key_text,
        }
    }

    /// An error with its place; a missing key with the unknown one that was most likely meant.
    fn place(&self, misread: Misread) -> FileError {
        let Misread { mut problem, mut at, table, key } = misread;
        if let Problem::Missing { slip, .. } = &mut *problem {
            if let Some((at_slip, typed, near)) = self.slip(&table) {
                *slip = Some((typed, near));
                at = Some(at_slip);
            } else if table.is_empty() {
                // Of the whole file: no line is to blame.
                at = None;
            }
        }
        let place = at.map(|at| TextPosition::at(self.text, at));
        FileError { origin: self.origin.clone(), place, table, key, problem }
    }

    /// A key that nothing knows and that resembles one that is known.
    fn slip(&self, path: &str) -> Option<(usize, String, String)> {
        let value = if path.is_empty() { Some(&self.root) } else { self.get(path) };
        let notes = self.notes.borrow();
        value?.get_ref().as_table()?.keys().find_map(|key| {
            let unknown = !notes.knows(path, &join(path, key.get_ref()));
            let known = notes.siblings(path);
            let near = nearest(key.get_ref(), known.iter().map(String::as_str)).filter(|_| unknown)?;
            Some((key.span().start, key.get_ref().to_string(), near))
        })
    }
}

/// Deserializes a value that is written as text. `expected` describes it: `a size such as "16KiB"`.
///
/// # Errors
/// Returns the deserializer's error if the value is not text, or if `T` cannot be parsed from it.
pub fn from_text<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(
    deserializer: D,
    expected: &'static str,
) -> Result<T, D::Error> {
    struct Text<T>(&'static str, std::marker::PhantomData<T>);
    impl<T: FromStr<Err: Display>> de::Visitor<'_> for Text<T> {
        type Value = T;
        fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
            f.write_str(self.0)
        }
        fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
            text.parse().map_err(E::custom)
        }
    }
    deserializer.deserialize_str(Text(expected, std::marker::PhantomData))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{SizeBytes, TimeNs};
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    struct Disk {
        rpm: u64,
        cache: Option<SizeBytes>,
        seek: Option<Seek>,
    }

    #[derive(Debug, Deserialize)]
    struct Seek {
        average: TimeNs,
        policy: Option<Policy>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Policy {
        Fifo,
        Sptf,
    }

    fn error(text: &str) -> FileError {
        TomlDocument::parse(text, "x.toml").and_then(|document| document.read::<Disk>()).expect_err(text)
    }

    #[test]
    fn values_are_read_with_their_units() {
        let text = "rpm = 7_200\ncache = \"64MiB\"\nseek = { average = \"8ms\", policy = \"sptf\" }\n";
        let document = TomlDocument::parse(text, "x.toml").unwrap();
        let disk: Disk = document.read().unwrap();
        assert_eq!((disk.rpm, disk.cache), (7200, Some(SizeBytes(64 << 20))));
        let seek = disk.seek.unwrap();
        assert!(seek.average == TimeNs(8_000_000) && matches!(seek.policy, Some(Policy::Sptf)));
        let values = document.values();
        let values: Vec<_> = values.iter().map(|(key, value)| (&key[..], &value[..])).collect();
        let wanted = [("rpm", "7200"), ("cache", "64MiB"), ("seek.average", "8ms"), ("seek.policy", "sptf")];
        assert_eq!(values, wanted);
    }

    #[test]
    fn every_problem_has_its_place_and_key() {
        let place = |line, column| Some(TextPosition { line, column });
        let wrong = error("rpm = 7200\ncahce = \"1k\"\n");
        assert_eq!((wrong.place, wrong.key.as_deref()), (place(2, 1), Some("cahce")));
        assert!(matches!(&*wrong.problem, Problem::Unknown { nearest: Some(near), .. } if near == "cache"));
        let wrong = error("rpm = 1\nseek = { average = 3 }\n");
        assert_eq!(
            (wrong.place, &wrong.table[..], wrong.key.as_deref()),
            (place(2, 20), "seek", Some("average"))
        );
        assert!(matches!(&*wrong.problem, Problem::Type { found, .. } if found == "3"));
        let wrong = error("rpm = 1\nseek = {}\n");
        assert_eq!((wrong.place, &wrong.table[..]), (place(2, 8), "seek"));
        assert!(matches!(&*wrong.problem, Problem::Missing { key, slip: None, .. } if key == "average"));
        let wrong = error("rpmm = 1\n");
        assert!(matches!(&*wrong.problem, Problem::Missing { slip: Some((typed, near)), .. }
            if (&typed[..], &near[..]) == ("rpmm", "rpm")));
        let wrong = error("rpm = 1\nseek = { average = \"8ms\", policy = \"fiof\" }\n");
        assert!(matches!(*wrong.problem, Problem::Choice { allowed: &["fifo", "sptf"], .. }));
        assert!(matches!(*error("rpm = -1").problem, Problem::Type { .. }));
        assert!(matches!(*error("rpm = 1\nseek = { average = \"8 parsecs\" }").problem, Problem::Value(_)));
        assert!(matches!(*error("rpm = \n").problem, Problem::Syntax(_)));
    }
}
