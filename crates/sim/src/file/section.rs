//! Reading a device file key by key: what no part asks for is unknown, and every value that is read is kept.

use iosonde_model::{nearest, units};
use std::{fmt::Display, ops::Range};
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{DeviceError, Members, Parameter};
use crate::start::StartState;

/// A file being read. Parts ask for their keys; what nobody asked for is refused at the end.
pub(crate) struct Reader<'a> {
    text: &'a str,
    origin: &'a str,
    root: &'a DeTable<'a>,
    /// Every path that was asked for, whether the file has it or not: `queue.service`.
    known: Vec<String>,
    /// Keys that must be tables and are something else; said once everything has been read.
    not_tables: Vec<(usize, String)>,
    parameters: Vec<Parameter>,
    /// The device's size, which parts compare theirs with.
    pub(crate) capacity_bytes: u64,
    /// The state that was asked for, whatever the file says.
    pub(crate) start_state: Option<StartState>,
    /// By how much a part had to divide the device, and what is left of it.
    pub(super) scaled: Option<(f64, u64)>,
    /// Where members come from; `None` in a member's own file.
    members: Option<Members<'a>>,
    /// The name and text of the members that were read.
    pub(super) member: Option<(String, String)>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        text: &'a str,
        origin: &'a str,
        root: &'a DeTable<'a>,
        start_state: Option<StartState>,
        members: Option<Members<'a>>,
    ) -> Self {
        Self {
            members,
            member: None,
            text,
            origin,
            root,
            known: Vec::new(),
            not_tables: Vec::new(),
            parameters: Vec::new(),
            capacity_bytes: 0,
            start_state,
            scaled: None,
        }
    }

    /// The device is simulated smaller than it is.
    pub(crate) fn scale_capacity(&mut self, by: f64, capacity_bytes: u64) {
        self.scaled = Some((by, capacity_bytes));
    }

    /// Where an array's members come from; `None` where this is a member's file.
    pub(crate) fn members(&self) -> Option<Members<'a>> {
        self.members
    }

    /// Members are read again when the device begins in another state.
    pub(crate) fn keep_member(&mut self, name: &str, text: String) {
        self.member = Some((name.to_owned(), text));
    }

    /// The keys before the first section.
    pub(crate) fn top(&mut self) -> Section<'_, 'a> {
        let table = self.root;
        Section { reader: self, path: String::new(), table, at: 0..0 }
    }

    /// A section, if the file has it. Several parts may read the same one.
    pub(crate) fn section(&mut self, name: &'static str) -> Option<Section<'_, 'a>> {
        self.know(name.to_owned());
        let (at, table) = self.find_table(self.root, "", name)?;
        Some(Section { reader: self, path: name.to_owned(), table, at })
    }

    /// Every value that was read.
    pub(crate) fn into_parameters(self) -> Vec<Parameter> {
        self.parameters
    }

    /// An error about this file.
    pub(crate) fn fail(&self, at: Option<usize>, message: String) -> DeviceError {
        DeviceError { origin: self.origin.to_owned(), line: at.map(|at| line_of(self.text, at)), message }
    }

    fn know(&mut self, path: String) {
        if !self.known.contains(&path) {
            self.known.push(path);
        }
    }

    /// A table; what stands in its place otherwise is noted.
    fn find_table(
        &mut self,
        parent: &'a DeTable<'a>,
        path: &str,
        key: &str,
    ) -> Option<(Range<usize>, &'a DeTable<'a>)> {
        let value = parent.get(key)?;
        let table = value.get_ref().as_table();
        if table.is_none() {
            let message = format!("{} must be a table, not {}", join(path, key), describe(value.get_ref()));
            self.not_tables.push((value.span().start, message));
        }
        Some((value.span(), table?))
    }

    /// Keys that nobody asked for are errors, the first one in the file first.
    pub(crate) fn refuse_unknown_keys(&self) -> Result<(), DeviceError> {
        if let Some((at, message)) = self.not_tables.first() {
            return Err(self.fail(Some(*at), message.clone()));
        }
        match self.first_unknown("", self.root) {
            Some((at, path, key)) => Err(self.fail(Some(at), self.unknown_message(&path, &key))),
            None => Ok(()),
        }
    }

    fn unknown_message(&self, path: &str, key: &str) -> String {
        let siblings = self.known.iter().filter_map(|known| match known.rsplit_once('.') {
            Some((parent, name)) => (parent == path).then_some(name),
            None => path.is_empty().then_some(known.as_str()),
        });
        let near = nearest(key, siblings);
        let hint = |quote: [&str; 2]| {
            near.as_ref()
                .map_or_else(String::new, |near| format!("; did you mean {}{near}{}?", quote[0], quote[1]))
        };
        match (path, self.root.get(key).map(Spanned::get_ref)) {
            ("", Some(DeValue::Table(_))) => format!("a device has no section [{key}]{}", hint(["[", "]"])),
            ("", _) => format!("the file has no key `{key}`{}", hint(["`", "`"])),
            _ => format!("[{path}] has no key `{key}`{}", hint(["`", "`"])),
        }
    }

    fn first_unknown(&self, path: &str, table: &DeTable) -> Option<(usize, String, String)> {
        let of_entry = |(key, value): (&Spanned<_>, &Spanned<DeValue>)| {
            let name: &std::borrow::Cow<str> = key.get_ref();
            let below = join(path, name);
            if !self.known.contains(&below) {
                return Some((key.span().start, path.to_owned(), name.to_string()));
            }
            value.get_ref().as_table().and_then(|inner| self.first_unknown(&below, inner))
        };
        table.iter().filter_map(of_entry).min_by_key(|(at, ..)| *at)
    }
}

/// One table of the file.
pub(crate) struct Section<'r, 'a> {
    reader: &'r mut Reader<'a>,
    path: String,
    table: &'a DeTable<'a>,
    at: Range<usize>,
}

impl<'a> Section<'_, 'a> {
    /// Whether a key holds a table, where it may hold something else.
    pub(crate) fn is_table(&self, key: &str) -> bool {
        self.table.get(key).is_some_and(|value| value.get_ref().is_table())
    }

    /// A table within this one, if it is there.
    pub(crate) fn table(&mut self, key: &'static str) -> Option<Section<'_, 'a>> {
        let path = join(&self.path, key);
        self.reader.know(path.clone());
        let (at, table) = self.reader.find_table(self.table, &self.path, key)?;
        Some(Section { reader: self.reader, path, table, at })
    }

    /// A time in nanoseconds.
    pub(crate) fn time_ns(&mut self, key: &'static str) -> Result<Option<u64>, DeviceError> {
        self.quantity(key, "a time such as \"80us\"", units::parse_time_with_unit)
    }

    /// A time of work: `"60s at full rate"`, or a time alone.
    pub(crate) fn work_time_ns(&mut self, key: &'static str) -> Result<Option<u64>, DeviceError> {
        self.quantity(key, "a time such as \"60s at full rate\"", |text| {
            units::parse_time_with_unit(text.trim().strip_suffix("at full rate").unwrap_or(text))
        })
    }

    /// A size in bytes.
    pub(crate) fn size_bytes(&mut self, key: &'static str) -> Result<Option<u64>, DeviceError> {
        self.quantity(key, "a size such as \"16KiB\"", units::parse_size)
    }

    /// A rate in bytes per second.
    pub(crate) fn rate(&mut self, key: &'static str) -> Result<Option<u64>, DeviceError> {
        self.quantity(key, "a rate such as \"3.5GB/s\"", units::parse_rate)
    }

    /// A share: `"0.1%"` or `"1 per million"`.
    pub(crate) fn share(&mut self, key: &'static str) -> Result<Option<f64>, DeviceError> {
        self.quantity(key, "a share such as \"0.1%\" or \"1 per million\"", parse_share)
    }

    /// A relative change: `"-2%"` is -0.02.
    pub(crate) fn change(&mut self, key: &'static str) -> Result<Option<f64>, DeviceError> {
        self.quantity(key, "a change such as \"-2%\"", |text| match text.trim().strip_prefix('-') {
            Some(fall) => units::parse_percent(fall).map(|share| -share),
            None => units::parse_percent(text.trim().trim_start_matches('+')),
        })
    }

    /// A whole number.
    pub(crate) fn count(&mut self, key: &'static str) -> Result<Option<u64>, DeviceError> {
        let Some((at, value)) = self.find(key) else { return Ok(None) };
        let DeValue::Integer(integer) = value else {
            return Err(self.not_a(key, at, "a whole number such as 4", value));
        };
        let digits = integer.as_str().replace('_', "");
        let parsed = u64::from_str_radix(&digits, integer.radix());
        let parsed = parsed.map_err(|_| self.not_a(key, at, "a whole number such as 4", value))?;
        self.keep(key, &parsed);
        Ok(Some(parsed))
    }

    /// A plain number.
    pub(crate) fn number(&mut self, key: &'static str) -> Result<Option<f64>, DeviceError> {
        let Some((at, value)) = self.find(key) else { return Ok(None) };
        let text = match value {
            DeValue::Integer(integer) => integer.as_str(),
            DeValue::Float(float) => float.as_str(),
            _ => return Err(self.not_a(key, at, "a number such as 0.05", value)),
        };
        let parsed = text.replace('_', "").parse().ok().filter(|number: &f64| number.is_finite());
        let parsed = parsed.ok_or_else(|| self.not_a(key, at, "a number such as 0.05", value))?;
        self.keep(key, &parsed);
        Ok(Some(parsed))
    }

    /// Yes or no.
    pub(crate) fn flag(&mut self, key: &'static str) -> Result<Option<bool>, DeviceError> {
        let Some((at, value)) = self.find(key) else { return Ok(None) };
        let DeValue::Boolean(flag) = value else { return Err(self.not_a(key, at, "true or false", value)) };
        self.keep(key, flag);
        Ok(Some(*flag))
    }

    /// Text.
    pub(crate) fn text(&mut self, key: &'static str) -> Result<Option<String>, DeviceError> {
        let Some((at, value)) = self.find(key) else { return Ok(None) };
        let DeValue::String(text) = value else { return Err(self.not_a(key, at, "text in quotes", value)) };
        self.keep(key, text);
        Ok(Some(text.to_string()))
    }

    /// An error: this key is needed.
    pub(crate) fn missing(&self, key: &str, what: &str) -> DeviceError {
        let lacks = format!("{} lacks `{key}` ({what})", self.title());
        // A key that nobody knows is most likely the missing one, mistyped. Keys known by now are this key's
        // siblings.
        let unknown = self.table.keys().find(|key| {
            let path = join(&self.path, key.get_ref());
            !self.reader.known.contains(&path) && self.looks_like_a_slip(key.get_ref())
        });
        match unknown {
            Some(key) => {
                let said = self.reader.unknown_message(&self.path, key.get_ref());
                let said = said.split_once(" has no key ").map_or(said.as_str(), |(_, rest)| rest);
                self.reader.fail(Some(key.span().start), format!("{lacks} and has no key {said}"))
            }
            None => self.reader.fail((self.at.end > 0).then_some(self.at.start), lacks),
        }
    }

    fn looks_like_a_slip(&self, key: &str) -> bool {
        self.reader.unknown_message(&self.path, key).contains("did you mean `")
    }

    /// An error: this value breaks a rule.
    pub(crate) fn impossible(&self, key: &str, rule: &str) -> DeviceError {
        let path = join(&self.path, key);
        let read = self.reader.parameters.iter().rev().find(|parameter| parameter.key == path);
        let value = read.map_or_else(String::new, |parameter| format!(" = {}", parameter.value));
        let at = self.table.get(key).map_or(self.at.start, |value| value.span().start);
        self.reader.fail(Some(at), format!("{} {key}{value} cannot be: {rule}", self.title()))
    }

    /// What people call this table.
    fn title(&self) -> String {
        if self.path.is_empty() { "the file".to_owned() } else { format!("[{}]", self.path) }
    }

    fn find(&mut self, key: &'static str) -> Option<(usize, &'a DeValue<'a>)> {
        let path = join(&self.path, key);
        self.reader.know(path);
        self.table.get(key).map(|value| (value.span().start, value.get_ref()))
    }

    fn keep(&mut self, key: &str, value: &dyn Display) {
        let path = join(&self.path, key);
        // Several parts may read one key.
        if self.reader.parameters.iter().all(|parameter| parameter.key != path) {
            self.reader.parameters.push(Parameter { key: path, value: value.to_string() });
        }
    }

    fn not_a(&self, key: &str, at: usize, wanted: &str, value: &DeValue) -> DeviceError {
        let got = describe(value);
        self.reader.fail(Some(at), format!("{} {key} must be {wanted}, not {got}", self.title()))
    }

    fn quantity<T, E: Display>(
        &mut self,
        key: &'static str,
        wanted: &str,
        parse: impl Fn(&str) -> Result<T, E>,
    ) -> Result<Option<T>, DeviceError> {
        let Some((at, value)) = self.find(key) else { return Ok(None) };
        let DeValue::String(text) = value else { return Err(self.not_a(key, at, wanted, value)) };
        self.keep(key, text);
        match parse(text) {
            Ok(parsed) => Ok(Some(parsed)),
            Err(error) => Err(self.reader.fail(Some(at), format!("{} {key}: {error}", self.title()))),
        }
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

fn describe(value: &DeValue) -> String {
    match value {
        DeValue::String(text) => format!("\"{text}\""),
        DeValue::Integer(integer) => integer.to_string(),
        DeValue::Float(float) => float.to_string(),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Datetime(date) => date.to_string(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

fn line_of(text: &str, at: usize) -> usize {
    1 + text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count()
}

/// Text that is no TOML: the parser's words, and the line.
pub(super) fn syntax_error(text: &str, origin: &str, error: &toml::de::Error) -> DeviceError {
    let line = error.span().map(|span| line_of(text, span.start));
    DeviceError { origin: origin.to_owned(), line, message: format!("this is not TOML: {}", error.message()) }
}

fn parse_share(text: &str) -> Result<f64, String> {
    let fail =
        || format!("`{text}` is not a share between none and all; write for example 0.1% or 1 per million");
    let Some((count, of)) = text.split_once(" per ") else {
        return units::parse_percent(text).map_err(|_| fail());
    };
    let of = match of.trim() {
        "hundred" => 1e2,
        "thousand" => 1e3,
        "million" => 1e6,
        "billion" => 1e9,
        other => other.replace([',', '_'], "").parse().map_err(|_| fail())?,
    };
    let count: f64 = count.trim().parse().map_err(|_| fail())?;
    let share = count / of;
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err(fail()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shares_as_people_write_them() {
        assert_eq!(parse_share("0.1%"), Ok(0.001));
        assert_eq!(parse_share("1 per million"), Ok(1e-6));
        assert_eq!(parse_share("3 per 1,000"), Ok(0.003));
        for wrong in ["2 per 1", "1 per none", "-1 per million", "x", "1 per 0"] {
            assert!(parse_share(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*") {
            let _ = (parse_share(&text), crate::DeviceFile::parse(&text, "x"));
        }

        #[test]
        fn no_value_panics(
            key in "(request_cost|bandwidth|servers|service|tail|eio|lag1_100ms)",
            value in "\\PC{0,12}",
        ) {
            for section in ["host", "link", "queue", "noise", "faults"] {
                let text = format!("name = \"x\"\ncapacity = \"1GB\"\n[{section}]\n{key} = {value}\n");
                let _ = crate::DeviceFile::parse(&text, "x");
            }
        }
    }
}
