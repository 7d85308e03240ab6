//! Device files: a simulated device as TOML.

use iosonde_model::{
    Document, FileError,
    units::{self, SizeBytes},
};
use serde::{Deserialize, Serialize};
use std::{fmt::Display, sync::Arc};

use crate::{
    builtin::builtin,
    part::{PARTS, Settings, Side},
    start::StartState,
};

/// Setting as written in the file, for printing it back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Parameter {
    /// Section and key, joined by dots: `queue.service.fixed`.
    pub key: String,
    /// Value as written in the file: `80us`.
    pub value: String,
}

/// A simulated device, read and checked.
#[derive(Debug, Clone)]
pub struct DeviceFile {
    name: String,
    summary: String,
    capacity_bytes: u64,
    /// By how much the file's capacity was divided.
    scale: f64,
    parameters: Vec<Parameter>,
    /// In the order of the way down.
    settings: Vec<Arc<dyn Settings>>,
    text: Arc<str>,
    origin: Arc<str>,
    /// The name and the text of an array's members.
    member: Option<(String, String)>,
}

/// Function that returns the text of a device file by its name, for the members of an array.
pub type Members<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// Only devices that come with the program: reading files is not for here.
fn builtin_members(name: &str) -> Result<String, String> {
    builtin(name).map(str::to_owned).map_err(|unknown| unknown.to_string())
}

impl DeviceFile {
    /// Reads a device's text; `origin` is what errors call it. A key that no part knows is an error with a
    /// suggestion, an impossible value one that names key, value and rule.
    pub fn parse(text: &str, origin: &str) -> Result<Self, FileError> {
        Self::parse_with(text, origin, &builtin_members)
    }

    /// Reads a device's text with a function that finds the members of an array, in place of the built-in devices.
    pub fn parse_with(text: &str, origin: &str, members: Members) -> Result<Self, FileError> {
        Self::read(text, origin, None, Some(members))
    }

    /// A member of an array, which is none itself.
    pub(crate) fn member(
        text: &str,
        origin: &str,
        start_state: Option<StartState>,
    ) -> Result<Self, FileError> {
        Self::read(text, origin, start_state, None)
    }

    /// The device alone, as an array's controller sees it: without program and page cache.
    pub(crate) fn without_host(mut self) -> Self {
        self.settings.retain(|part| part.side() != Side::Host);
        self
    }

    /// Returns the device with another start state. A large device may be scaled down: see [`scale`](Self::scale).
    pub fn in_state(&self, state: StartState) -> Result<Self, FileError> {
        let member = self.member.as_ref();
        let members = |_: &str| Ok(member.map_or_else(String::new, |(_, text)| text.clone()));
        Self::read(&self.text, &self.origin, Some(state), Some(&members))
    }

    fn read(
        text: &str,
        origin: &str,
        start_state: Option<StartState>,
        members: Option<Members>,
    ) -> Result<Self, FileError> {
        let document = Document::parse(text, origin)?;
        let top: TopKeys = document.top().map_err(|error| error.explained(NEEDED))?;
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if top.name.is_empty() || !top.name.chars().all(is_plain) {
            let rule = "it must be lower-case letters, digits and hyphens, as in `sim:ideal`";
            return Err(document.impossible("name", rule));
        }
        let capacity_bytes = top.capacity.0;
        // 512 bytes: the smallest logical block that devices have.
        if capacity_bytes < 512 {
            return Err(document.impossible("capacity", "a device holds at least one block of 512 bytes"));
        }
        let mut reader =
            Reader { document, capacity_bytes, start_state, scaled: None, members, member: None };
        let mut settings = Vec::new();
        for part in PARTS.iter() {
            settings.extend(part.read(&mut reader)?);
        }
        let Reader { document, scaled, member, .. } = reader;
        document.refuse_unknown_keys()?;
        if settings.iter().filter(|part| part.side() == Side::Medium).count() != 1 {
            return Err(document.whole(
                "a device needs exactly one medium, where its requests end: [queue], [flash], [disk] or [raid]",
            ));
        }
        let (scale, capacity_bytes) = scaled.unwrap_or((1.0, capacity_bytes));
        let parameters = document.values().into_iter().map(|(key, value)| Parameter { key, value }).collect();
        let (text, origin) = (text.into(), origin.into());
        let TopKeys { name, summary, .. } = top;
        Ok(Self { name, summary, capacity_bytes, scale, parameters, settings, text, origin, member })
    }

    /// Returns the device's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns a sentence about the device; empty if the file has none.
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// Returns the simulated capacity.
    pub fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// Returns the divisor of capacity, buffers and caches; 1 if the device is not scaled. A log of terabytes that
    /// begins filled or steady would need gigabytes of memory. Rates and times are those of the whole device.
    pub fn scale(&self) -> Option<f64> {
        (self.scale > 1.0).then_some(self.scale)
    }

    /// Returns every setting of the file, in the order in which the parts read them.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Memory of the simulated host; `None` where it has no page cache.
    pub fn memory_bytes(&self) -> Option<u64> {
        self.settings().find_map(Settings::memory_bytes)
    }

    /// Returns true if the device is faster until a burst credit is spent.
    pub fn has_burst_credit(&self) -> bool {
        self.settings().any(Settings::has_burst_credit)
    }

    pub(crate) fn settings(&self) -> impl Iterator<Item = &dyn Settings> {
        self.settings.iter().map(AsRef::as_ref)
    }
}

/// Keys before the first section.
#[derive(Deserialize)]
struct TopKeys {
    name: String,
    #[serde(default)]
    summary: String,
    capacity: SizeBytes,
}

const NEEDED: &[(&str, &str)] = &[("name", "what to call the device"), ("capacity", "such as \"1TB\"")];

/// A file being read: parts read their sections one after another, several of them the same one.
pub(crate) struct Reader<'a> {
    document: Document<'a>,
    /// Size of the device, which parts compare theirs with.
    pub(crate) capacity_bytes: u64,
    /// State that was asked for, whatever the file says.
    pub(crate) start_state: Option<StartState>,
    /// Divisor of the device's size where a part had to simulate it smaller, and what is left of it.
    pub(crate) scaled: Option<(f64, u64)>,
    /// Source of an array's members; `None` in a member's own file.
    pub(crate) members: Option<Members<'a>>,
    /// Name and text of the members, which are read again when the device begins in another state.
    pub(crate) member: Option<(String, String)>,
}

impl Reader<'_> {
    /// A section as a part's struct, if the file has it.
    pub(crate) fn section<T: for<'de> Deserialize<'de>>(&self, name: &str) -> Result<Option<T>, FileError> {
        self.document.section(name).map_err(with_meaning)
    }

    /// Whether the file has a section.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.document.get(name).is_some()
    }

    /// An error: the value at this path (`queue.servers`) breaks a rule.
    pub(crate) fn impossible(&self, path: &str, rule: impl Display) -> FileError {
        self.document.impossible(path, rule)
    }

    /// An error: this key is needed by another one.
    pub(crate) fn missing(&self, path: &str, explain: &str) -> FileError {
        self.document.missing(path, explain)
    }

    /// An error of the file as a whole.
    pub(crate) fn whole(&self, message: impl Display) -> FileError {
        self.document.whole(message)
    }
}

fn with_meaning(error: FileError) -> FileError {
    PARTS.iter().fold(error, |error, part| error.explained(part.needed()))
}

impl std::fmt::Display for DeviceFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {}: {}", self.name, units::decimal_bytes(self.capacity_bytes), self.summary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PLAIN: &str =
        "name = \"x\"\ncapacity = \"1GB\"\n[queue]\nservers = 4\nservice = { fixed = \"80us\" }\n";

    fn error(text: &str) -> String {
        DeviceFile::parse(text, "x.toml").expect_err(text).to_string()
    }

    #[test]
    fn every_value_reads_back() {
        let file = DeviceFile::parse(PLAIN, "x.toml").unwrap();
        let read: Vec<_> = file.parameters().iter().map(|p| format!("{} = {}", p.key, p.value)).collect();
        assert_eq!(read, ["name = x", "capacity = 1GB", "queue.servers = 4", "queue.service.fixed = 80us"]);
    }

    #[test]
    fn every_value_of_the_devices_that_come_with_the_program_is_read() {
        fn flat(path: &str, table: &toml::Table, out: &mut Vec<(String, String)>) {
            for (key, value) in table {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                match value {
                    toml::Value::Table(inner) => flat(&path, inner, out),
                    toml::Value::String(text) => out.push((path, text.clone())),
                    scalar => out.push((path, scalar.to_string().trim_end_matches(".0").to_owned())),
                }
            }
        }
        for name in crate::builtin_names() {
            let text = builtin(name).unwrap();
            let (file, mut wanted) = (DeviceFile::parse(text, name).unwrap(), Vec::new());
            flat("", &toml::from_str(text).unwrap(), &mut wanted);
            let mut read: Vec<_> =
                file.parameters().iter().map(|p| (p.key.clone(), p.value.clone())).collect();
            read.sort();
            wanted.sort();
            assert_eq!(read, wanted, "{name}");
        }
    }

    #[test]
    fn an_unknown_key_or_section_gets_its_place_and_a_suggestion() {
        assert_eq!(
            error(&format!("{PLAIN}[link]\nbandwith = \"1GB/s\"\n")),
            "x.toml:7:1: [link] has no key `bandwith`; did you mean `bandwidth`?"
        );
        assert_eq!(
            error(&PLAIN.replace("fixed", "fxied")),
            "x.toml:5:13: [queue.service] lacks `fixed` (a service law: `fixed`, `exponential` or `lognormal`) and \
             has no key `fxied`; did you mean `fixed`?"
        );
        assert_eq!(
            error(&PLAIN.replace("[queue]", "[queu]")),
            "x.toml:3:2: the file has no section [queu]; did you mean [queue]?"
        );
        assert_eq!(
            error(&PLAIN.replace("capacity", "capazity")),
            "x.toml:2:1: the file lacks `capacity` (such as \"1TB\") and has no key `capazity`; did you mean \
             `capacity`?"
        );
        assert_eq!(
            error(&PLAIN.replace("{ fixed = \"80us\" }", "5")),
            "x.toml:5:11: [queue] service must be a table, not 5"
        );
    }

    #[test]
    fn impossible_values_name_key_value_and_rule() {
        assert_eq!(
            error(&PLAIN.replace("80us", "0us")),
            "x.toml:5:21: [queue.service] fixed = 0us cannot be: a service that takes no time gives infinitely many \
             a second"
        );
        assert_eq!(
            error(&PLAIN.replace("80us", "80 parsecs")),
            "x.toml:5:21: [queue.service] fixed: `80 parsecs` is not a time; write for example 80us, 2ms, 90s, 5m or \
             1h"
        );
        assert_eq!(
            error(&PLAIN.replace("servers = 4", "servers = 0")),
            "x.toml:4:11: [queue] servers = 0 cannot be: there must be between 1 and 65,536"
        );
        assert_eq!(
            error(&PLAIN.replace("servers = 4", "servers = true")),
            "x.toml:4:11: [queue] servers must be a whole number such as 4, not true"
        );
        for (section, rule) in [
            ("[link]\nbandwidth = \"0GB/s\"", "never ends a request"),
            ("[noise]\nlag1_100ms = 1.0", "dies away"),
            ("[noise]\ndrift_per_hour = \"-100%\"", "never ends"),
            ("[noise]\ntail = { share = \"1%\", factor = 0.5 }", "the tail is slow"),
            ("[faults]\neio = \"2 per one\"", "a share"),
        ] {
            let said = error(&format!("{PLAIN}{section}\n"));
            assert!(said.contains(rule), "{said}");
        }
    }

    #[test]
    fn a_device_without_a_medium_is_refused() {
        let said = error("name = \"x\"\ncapacity = \"1GB\"\n[link]\nlatency = \"5us\"\n");
        assert_eq!(
            said,
            "x.toml: a device needs exactly one medium, where its requests end: [queue], [flash], [disk] or [raid]"
        );
    }

    #[test]
    fn broken_toml_says_where() {
        let said = error("name = \"x\"\ncapacity = \n");
        assert!(said.starts_with("x.toml:2:12: "), "{said}");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*") {
            let _ = DeviceFile::parse(&text, "x");
        }

        #[test]
        fn no_value_panics(
            key in "(request_cost|bandwidth|servers|service|tail|eio|lag1_100ms)",
            value in "\\PC{0,12}",
        ) {
            for section in ["host", "link", "queue", "noise", "faults"] {
                let text = format!("name = \"x\"\ncapacity = \"1GB\"\n[{section}]\n{key} = {value}\n");
                let _ = DeviceFile::parse(&text, "x").map_err(|error| error.to_string());
            }
        }
    }
}
