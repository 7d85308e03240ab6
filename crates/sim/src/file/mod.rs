//! Device files: a simulated device as TOML.

mod section;

use iosonde_model::units;
use serde::Serialize;
use std::sync::Arc;

use crate::{
    builtin::builtin,
    part::{PARTS, Settings, Side},
    start::StartState,
};
pub(crate) use section::{Reader, Section};

/// A device file that cannot be used: where, which key and value, and which rule they break.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{origin}{}: {message}", .line.map_or_else(String::new, |line| format!(", line {line}")))]
pub struct DeviceError {
    /// The file's path, or the built-in device's name.
    pub origin: String,
    /// The line, counted from 1, where there is one to point at.
    pub line: Option<usize>,
    /// What is wrong, and what would be right.
    pub message: String,
}

/// One setting as it was read, for printing every value back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Parameter {
    /// Its section and key, with dots: `queue.service.fixed`.
    pub key: String,
    /// Its value as it stands in the file: `80us`.
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

/// Where an array's members come from: the text of a device's file, by its name.
pub type Members<'a> = &'a dyn Fn(&str) -> Result<String, String>;

/// Only devices that come with the program: reading files is not for here.
fn builtin_members(name: &str) -> Result<String, String> {
    builtin(name).map(str::to_owned).map_err(|unknown| unknown.to_string())
}

impl DeviceFile {
    /// Reads a device's text; `origin` is what errors call it. A key that no part knows is an error with a
    /// suggestion, an impossible value one that names key, value and rule.
    pub fn parse(text: &str, origin: &str) -> Result<Self, DeviceError> {
        Self::parse_with(text, origin, &builtin_members)
    }

    /// The same, where the members of an array may be others than the built-in devices.
    pub fn parse_with(text: &str, origin: &str, members: Members) -> Result<Self, DeviceError> {
        Self::read(text, origin, None, Some(members))
    }

    /// A member of an array, which is none itself.
    pub(crate) fn member(
        text: &str,
        origin: &str,
        start_state: Option<StartState>,
    ) -> Result<Self, DeviceError> {
        Self::read(text, origin, start_state, None)
    }

    /// The device alone, as an array's controller sees it: without program and page cache.
    pub(crate) fn without_host(mut self) -> Self {
        self.settings.retain(|part| part.side() != Side::Host);
        self
    }

    /// The same device, beginning in another state than its file says. A large one may become smaller by that: see
    /// [`scale`](Self::scale).
    pub fn in_state(&self, state: StartState) -> Result<Self, DeviceError> {
        let member = self.member.as_ref();
        let members = |_: &str| Ok(member.map_or_else(String::new, |(_, text)| text.clone()));
        Self::read(&self.text, &self.origin, Some(state), Some(&members))
    }

    fn read(
        text: &str,
        origin: &str,
        start_state: Option<StartState>,
        members: Option<Members>,
    ) -> Result<Self, DeviceError> {
        let table =
            toml::de::DeTable::parse(text).map_err(|error| section::syntax_error(text, origin, &error))?;
        let mut reader = Reader::new(text, origin, table.get_ref(), start_state, members);
        let mut top = reader.top();
        let name = top.text("name")?.ok_or_else(|| top.missing("name", "what to call the device"))?;
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        {
            return Err(top
                .impossible("name", "it must be lower-case letters, digits and hyphens, as in `sim:ideal`"));
        }
        let summary = top.text("summary")?.unwrap_or_default();
        let capacity_bytes =
            top.size_bytes("capacity")?.ok_or_else(|| top.missing("capacity", "such as \"1TB\""))?;
        // 512 bytes: the smallest logical block that devices have.
        if capacity_bytes < 512 {
            return Err(top.impossible("capacity", "a device holds at least one block of 512 bytes"));
        }
        reader.capacity_bytes = capacity_bytes;
        let mut settings = Vec::new();
        for part in PARTS.iter() {
            settings.extend(part.read(&mut reader)?);
        }
        reader.refuse_unknown_keys()?;
        if settings.iter().filter(|part| part.side() == Side::Medium).count() != 1 {
            return Err(reader.fail(
                None,
                "a device needs exactly one medium, where its requests end: [queue], [flash], [disk] or [raid]"
                    .into(),
            ));
        }
        let (scale, capacity_bytes) = reader.scaled.unwrap_or((1.0, capacity_bytes));
        let member = reader.member.take();
        let parameters = reader.into_parameters();
        let (text, origin) = (text.into(), origin.into());
        Ok(Self { name, summary, capacity_bytes, scale, parameters, settings, text, origin, member })
    }

    /// What the device is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is, in a sentence; empty where the file says nothing.
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// Its size, as it is simulated.
    pub fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    /// By how much capacity, buffers and caches were divided, where they were: a log of terabytes that begins filled or
    /// steady would take gigabytes of memory. Rates and times are those of the whole device.
    pub fn scale(&self) -> Option<f64> {
        (self.scale > 1.0).then_some(self.scale)
    }

    /// Every value that the file gives, in the order in which the parts read them.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Memory of the simulated host; `None` where it has no page cache.
    pub fn memory_bytes(&self) -> Option<u64> {
        self.settings().find_map(Settings::memory_bytes)
    }

    /// Whether it is faster until a credit is spent, as volumes that are sold with one.
    pub fn has_burst_credit(&self) -> bool {
        self.settings().any(Settings::has_burst_credit)
    }

    pub(crate) fn settings(&self) -> impl Iterator<Item = &dyn Settings> {
        self.settings.iter().map(AsRef::as_ref)
    }
}

impl std::fmt::Display for DeviceFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {}: {}", self.name, units::decimal_bytes(self.capacity_bytes), self.summary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn an_unknown_key_or_section_gets_its_line_and_a_suggestion() {
        assert_eq!(
            error(&format!("{PLAIN}[link]\nbandwith = \"1GB/s\"\n")),
            "x.toml, line 7: [link] has no key `bandwith`; did you mean `bandwidth`?"
        );
        assert_eq!(
            error(&PLAIN.replace("fixed", "fxied")),
            "x.toml, line 5: [queue.service] lacks `fixed` (a service law: `fixed`, `exponential` or `lognormal`) \
             and has no key `fxied`; did you mean `fixed`?"
        );
        assert_eq!(
            error(&PLAIN.replace("[queue]", "[queu]")),
            "x.toml, line 3: a device has no section [queu]; did you mean [queue]?"
        );
        assert_eq!(
            error(&PLAIN.replace("capacity", "capazity")),
            "x.toml, line 2: the file lacks `capacity` (such as \"1TB\") and has no key `capazity`; \
             did you mean `capacity`?"
        );
    }

    #[test]
    fn impossible_values_name_key_value_and_rule() {
        assert_eq!(
            error(&PLAIN.replace("80us", "0us")),
            "x.toml, line 5: [queue.service] fixed = 0us cannot be: a service that takes no time gives infinitely \
             many a second"
        );
        assert_eq!(
            error(&PLAIN.replace("80us", "80 parsecs")),
            "x.toml, line 5: [queue.service] fixed: `80 parsecs` is not a time; write for example 80us, 2ms, 90s, \
             5m or 1h"
        );
        assert_eq!(
            error(&PLAIN.replace("servers = 4", "servers = 0")),
            "x.toml, line 4: [queue] servers = 0 cannot be: there must be between 1 and 65,536"
        );
        assert_eq!(
            error(&PLAIN.replace("servers = 4", "servers = true")),
            "x.toml, line 4: [queue] servers must be a whole number such as 4, not true"
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
        assert!(said.starts_with("x.toml, line 2: "), "{said}");
    }
}
