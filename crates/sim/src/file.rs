//! Device files: a simulated device as TOML.

use iosonde_model::{
    FileError, TomlDocument,
    units::{self, SizeBytes},
};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

use crate::{
    builtin::builtin,
    files::{self, FileService, FilesSettings},
    part::{PARTS, Settings, Side},
    reader::{Members, Reader, Start},
    start::StartState,
};

/// Setting of a device file as written there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeviceParameter {
    /// Section and key, joined by dots: `queue.service.fixed`.
    pub key: String,
    /// Value as written in the file: `80us`.
    pub value: String,
}

/// Description of a simulated device, read from TOML and checked.
#[derive(Debug, Clone)]
pub struct DeviceFile {
    name: String,
    summary: String,
    capacity_bytes: u64,
    /// By how much the file's capacity was divided.
    scale: f64,
    parameters: Vec<DeviceParameter>,
    /// In the order of the way down.
    settings: Vec<Arc<dyn Settings>>,
    /// Its service of files.
    files: Option<FilesSettings>,
    text: Arc<str>,
    origin: Arc<str>,
    /// The name and the text of an array's members.
    member: Option<(String, String)>,
}

/// Only devices that come with the program: reading files is not for here.
fn builtin_members(name: &str) -> Result<String, String> {
    builtin(name).map(str::to_owned).map_err(|unknown| unknown.to_string())
}

impl DeviceFile {
    /// Reads a device's text; `origin` is the name of the file in errors.
    ///
    /// # Errors
    /// Returns a [`FileError`] for an unknown key, with the nearest known one, and for an impossible value, with key,
    /// value and rule.
    pub fn parse(text: &str, origin: &str) -> Result<Self, FileError> {
        Self::parse_with(text, origin, &builtin_members)
    }

    /// Reads a device's text with a function that finds the members of an array, in place of the built-in devices.
    ///
    /// # Errors
    /// As for [`DeviceFile::parse`], and the error of `members`.
    pub fn parse_with(text: &str, origin: &str, members: Members) -> Result<Self, FileError> {
        Self::read(text, origin, Start::default(), Some(members))
    }

    /// A member of an array, which is none itself.
    pub(crate) fn member(text: &str, origin: &str, start: Start) -> Result<Self, FileError> {
        Self::read(text, origin, start, None)
    }

    /// The device alone, as an array's controller sees it: without program and page cache.
    pub(crate) fn without_host(mut self) -> Self {
        self.settings.retain(|part| part.side() != Side::Host);
        self
    }

    /// Returns the device with another start state. A large device may be scaled down: see [`scale`](Self::scale).
    pub fn in_state(&self, state: StartState) -> Result<Self, FileError> {
        self.beginning(Start { state: Some(state), written_bytes: 0 })
    }

    /// Returns the device for a run that writes so many different bytes of it. A device that has no memory for them is
    /// scaled down, as one that begins filled is.
    pub fn written_to(&self, bytes: u64) -> Result<Self, FileError> {
        self.beginning(Start { state: None, written_bytes: bytes })
    }

    fn beginning(&self, start: Start) -> Result<Self, FileError> {
        let member = self.member.as_ref();
        let members = |_: &str| Ok(member.map_or_else(String::new, |(_, text)| text.clone()));
        Self::read(&self.text, &self.origin, start, Some(&members))
    }

    fn read(text: &str, origin: &str, start: Start, members: Option<Members>) -> Result<Self, FileError> {
        let document = TomlDocument::parse(text, origin)?;
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
        let meanings = PARTS.iter().flat_map(|part| part.needed()).chain(files::NEEDED).copied().collect();
        let mut reader =
            Reader { document, meanings, capacity_bytes, start, scaled: None, members, member: None };
        let mut settings = Vec::new();
        for part in PARTS.iter() {
            settings.extend(part.read(&mut reader)?);
        }
        let files = FilesSettings::read(&reader)?;
        let Reader { document, scaled, member, .. } = reader;
        document.refuse_unknown_keys()?;
        if settings.iter().filter(|part| part.side() == Side::Medium).count() != 1 {
            return Err(document.whole(
                "a device needs exactly one medium, where its requests end: [queue], [flash], [disk] or [raid]",
            ));
        }
        let (scale, capacity_bytes) = scaled.unwrap_or((1.0, capacity_bytes));
        let parameters =
            document.values().into_iter().map(|(key, value)| DeviceParameter { key, value }).collect();
        let (text, origin) = (text.into(), origin.into());
        let TopKeys { name, summary, .. } = top;
        Ok(Self { name, summary, capacity_bytes, scale, parameters, settings, files, text, origin, member })
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
    pub fn parameters(&self) -> &[DeviceParameter] {
        &self.parameters
    }

    /// Returns the memory of the simulated host; `None` if it has no page cache.
    pub fn memory_bytes(&self) -> Option<u64> {
        self.settings().find_map(Settings::memory_bytes)
    }

    /// Returns its service of files at the beginning of its time; `None` if it has none.
    pub fn file_service(&self, seed: u64) -> Option<FileService> {
        self.files.map(|settings| FileService::new(settings, seed))
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
            ("[noise]\ndrift_per_gib = \"-100%\"", "never ends"),
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
