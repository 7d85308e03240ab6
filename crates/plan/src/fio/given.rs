//! Options of one job, as typed values.

use std::{cell::RefCell, collections::BTreeMap, collections::BTreeSet};

use iosonde_model::fio::{self, KbBase};

use super::{
    option::Role,
    place::Place,
    read::{Given, Section},
    refusal::{Refusal, Why},
};

/// Size that may be a share of the file or device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    /// Bytes.
    Bytes(u64),
    /// Percent of the whole.
    Percent(u64),
}

impl Amount {
    /// Bytes, of a whole of so many.
    pub fn of(self, whole_bytes: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Percent(percent) => (u128::from(whole_bytes) * u128::from(percent) / 100) as u64,
        }
    }
}

/// What the kernel is told of the order of buffered requests, which sets its readahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// Nothing.
    Normal,
    /// Random order: no readahead.
    Random,
    /// Sequential order: more readahead.
    Sequential,
}

/// Something that is done otherwise than fio does it, or that fio would do silently.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A synchronous engine has one request outstanding, whatever the depth.
    DepthOne {
        /// Requested depth.
        asked: u32,
        /// fio's name of the engine.
        engine: String,
    },
    /// Another engine of ours stands for fio's.
    Engine {
        /// fio's engine.
        asked: String,
        /// Ours.
        used: String,
    },
    /// The last of several values of an option counts.
    Overridden {
        /// The option.
        option: &'static str,
        /// The value that was dropped.
        dropped: String,
    },
    /// A flush after so many writes of a mix; fio flushes after its reads, too.
    FlushesOfMix {
        /// The option.
        option: &'static str,
        /// Writes for each flush.
        every: u32,
        /// How many flushes fio makes for one of these.
        times: f64,
    },
    /// An option that only changes what fio writes beside its report.
    NoLog {
        /// The option.
        option: &'static str,
    },
}

/// Options of a job by name.
pub(super) struct Options {
    pub(super) given: BTreeMap<&'static str, Given>,
    place: Place,
    base: KbBase,
    /// Names that were looked up: a test compares them with the table.
    pub(super) asked: RefCell<BTreeSet<&'static str>>,
}

impl Options {
    pub(super) fn of(section: &Section, changes: &mut Vec<Change>) -> Result<Self, Refusal> {
        let mut given: BTreeMap<&'static str, Given> = BTreeMap::new();
        for (one, own) in
            section.global.iter().map(|one| (one, false)).chain(section.own.iter().map(|one| (one, true)))
        {
            if let Role::Refused { unless, instead } = one.option.role
                && !unless.contains(&one.value.as_str())
            {
                let name = one.option.name;
                let value = one.value.clone();
                let why = match value.is_empty() {
                    true => Why::Unsupported { name, instead },
                    false => Why::Value { name, value, instead: instead.to_owned() },
                };
                return Err(why.at(one.place.clone()));
            }
            if one.option.name == "write_hist_log" {
                changes.push(Change::NoLog { option: one.option.name });
            }
            let twice =
                |list: &[Given]| list.iter().filter(|other| other.option.name == one.option.name).count() > 1;
            let dropped = given.insert(one.option.name, one.clone());
            if let Some(dropped) = dropped.filter(|dropped| dropped.value != one.value)
                && twice(if own { &section.own } else { &section.global })
            {
                changes.push(Change::Overridden { option: one.option.name, dropped: dropped.value });
            }
        }
        let mut options =
            Self { given, place: section.place.clone(), base: KbBase::Compatible, asked: RefCell::default() };
        options.base = match options.text("kb_base") {
            None => KbBase::Compatible,
            Some(word) => {
                KbBase::parse(word).ok_or_else(|| options.misread("kb_base", "it is 1000 or 1024"))?
            }
        };
        Ok(options)
    }

    /// Where an option was given; the section for one that was not.
    pub(super) fn place(&self, name: &'static str) -> Place {
        self.given.get(name).map_or_else(|| self.place.clone(), |given| given.place.clone())
    }

    /// Meaning of a `k` in its sizes.
    pub(super) fn base(&self) -> KbBase {
        self.base
    }

    pub(super) fn text(&self, name: &'static str) -> Option<&str> {
        self.asked.borrow_mut().insert(name);
        self.given.get(name).map(|given| given.value.as_str())
    }

    pub(super) fn misread(&self, name: &'static str, wanted: impl Into<String>) -> Refusal {
        let value = self.text(name).unwrap_or_default().to_owned();
        Why::Misread { name, value, wanted: wanted.into() }.at(self.place(name))
    }

    pub(super) fn unsupported(&self, name: &'static str, instead: impl Into<String>) -> Refusal {
        let value = self.text(name).unwrap_or_default().to_owned();
        let instead = instead.into();
        // A name alone is what fio takes as a yes.
        let why = match value.is_empty() {
            true => Why::Flag { name, instead },
            false => Why::Value { name, value, instead },
        };
        why.at(self.place(name))
    }

    pub(super) fn size_of(&self, name: &'static str, word: &str) -> Result<u64, Refusal> {
        fio::size(word, self.base).ok_or_else(|| self.misread(name, "sizes are written as 4096, 4k or 1m"))
    }

    pub(super) fn size(&self, name: &'static str) -> Result<Option<u64>, Refusal> {
        self.text(name).map(|word| self.size_of(name, word)).transpose()
    }

    pub(super) fn amount(&self, name: &'static str) -> Result<Option<Amount>, Refusal> {
        let Some(word) = self.text(name) else { return Ok(None) };
        let Some(percent) = word.strip_suffix('%') else {
            return Ok(Some(Amount::Bytes(self.size_of(name, word)?)));
        };
        match percent.parse() {
            Ok(percent @ 0..=100) => Ok(Some(Amount::Percent(percent))),
            _ => Err(self.misread(name, "a share lies between 0% and 100%")),
        }
    }

    /// A whole number from 0 to `most`.
    pub(super) fn number(&self, name: &'static str, most: u64) -> Result<Option<u64>, Refusal> {
        let Some(word) = self.text(name) else { return Ok(None) };
        match fio::size(word, self.base) {
            Some(number) if number <= most => Ok(Some(number)),
            _ => Err(self.misread(name, format!("it is a whole number from 0 to {most}"))),
        }
    }

    /// A time; a bare number counts seconds.
    pub(super) fn time_ns(&self, name: &'static str) -> Result<Option<u64>, Refusal> {
        self.time_in(name, 1_000_000_000)
    }

    /// A time; a bare number counts microseconds.
    pub(super) fn short_time_ns(&self, name: &'static str) -> Result<Option<u64>, Refusal> {
        Ok(self.time_in(name, 1_000)?.filter(|&ns| ns > 0))
    }

    fn time_in(&self, name: &'static str, unit_ns: u64) -> Result<Option<u64>, Refusal> {
        let Some(word) = self.text(name) else { return Ok(None) };
        let known = fio::time_ns(word, unit_ns).filter(|&ns| ns <= TIME_MAX_NS);
        known
            .map(Some)
            .ok_or_else(|| self.misread(name, "times are written as 30, 30s, 5m or 500ms, up to a year"))
    }

    pub(super) fn yes(&self, name: &'static str) -> Result<Option<bool>, Refusal> {
        match self.text(name) {
            None => Ok(None),
            Some("" | "1" | "true") => Ok(Some(true)),
            Some("0" | "false") => Ok(Some(false)),
            Some(_) => Err(self.misread(name, "it is 0 or 1")),
        }
    }

    /// A value for one direction: of three with commas, the last given stands for those that follow.
    pub(super) fn lane<'a>(&self, text: &'a str, direction: usize) -> &'a str {
        let parts: Vec<&str> = text.split(',').collect();
        parts[direction.min(parts.len() - 1)]
    }
}

/// A year: 2^64 ns are 584 of them.
const TIME_MAX_NS: u64 = 366 * 86_400_000_000_000;
/// Files of a group, each counted for every clone. Their names are made several times: a second's work.
pub(super) const FILES_MAX: u64 = 1 << 18;
/// Queue depth.
pub(super) const DEPTH_MAX: u64 = 65_536;
