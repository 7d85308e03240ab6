//! A portrait in words, and as the file of a simulated device.

use iosonde_model::{Build, Run, Trait, units};

use super::find;
use crate::words::{Unit, with_interval};

/// `Flash as requests see it: 32 units [31, 33] at 60 µs [59, 61], ..`: one paragraph.
pub(super) fn sentence(build: Build, traits: &[Trait]) -> String {
    let say = |key: &str, words: &str| find(traits, key).map(|one| words.replace("{}", &value(one)));
    let parts = match build {
        Build::Units => vec![
            say("flash.units", "{} units side by side"),
            say("flash.read", "a page read in {}"),
            say("flash.stripe", "addresses spread in stripes of {}"),
            say("flash.write_buffer.size", "a buffer of {}"),
            say("flash.write_buffer.drain", "which drains at {}"),
            say("flash.program", "a page programmed in {}"),
        ],
        Build::Servers => {
            vec![say("queue.servers", "{} served at once"), say("queue.service.fixed", "each in {}")]
        }
        Build::Disk => vec![
            say("disk.rpm", "{} turns a minute"),
            say("disk.seek.average", "{} for a seek to a random place"),
            say("disk.outer", "{} at its outer edge"),
            say("disk.inner", "{} at its inner edge"),
            say("disk.write_cache", "a write cache of {}"),
        ],
    };
    let link = (build != Build::Disk).then(|| say("link.bandwidth.read", "a link of {} or more")).flatten();
    let head = match build {
        Build::Units => "Flash, as its requests tell",
        Build::Servers => "Storage behind one line",
        Build::Disk => "A rotating disk",
    };
    let parts: Vec<_> = parts.into_iter().chain([link]).flatten().collect();
    format!("{head}: {}.", parts.join(", "))
}

/// A value with its interval; `(assumed)` where there is none.
fn value(one: &Trait) -> String {
    if one.estimate.low.is_none() && !one.is_assumed() {
        return fitted(one);
    }
    let known = |unit| with_interval(unit, &one.estimate);
    let (assumed, of) = (one.is_assumed(), one.estimate.value);
    match (one.unit.as_str(), assumed) {
        ("ns", false) => known(Unit::Time),
        ("B", false) => known(Unit::Bytes),
        ("B/s", false) => known(Unit::Rate),
        (_, false) => match (one.estimate.low, one.estimate.high) {
            (Some(low), Some(high)) => format!("{of:.0} [{low:.0}, {high:.0}]"),
            _ => format!("{of:.0}"),
        },
        ("ns", true) => format!("{} (assumed)", units::time(of)),
        ("B", true) => format!("{} (assumed)", units::size(of as u64)),
        ("B/s", true) => format!("{} (assumed)", units::rate(of)),
        (_, true) => format!("{of:.0} (assumed)"),
    }
}

/// What the run's points tell: the nearest of several candidates, which has no interval.
fn fitted(one: &Trait) -> String {
    let of = one.estimate.value;
    match one.unit.as_str() {
        "ns" => units::time(of),
        "B" => units::size(of as u64),
        "B/s" => units::rate(of),
        _ => format!("{of:.0}"),
    }
}

/// The device's file: what each value follows from stands beside it.
pub(super) fn device(run: &Run, build: Build, traits: &[Trait], untold: &[String]) -> String {
    let mut text = format!(
        "# Source: the findings of run {} ({} on {}), drawn by `iosonde devices --from {}`.\n",
        run.info.id,
        run.info.study,
        one_line(&run.info.target),
        run.info.id
    );
    for sentence in untold {
        text += &commented(sentence);
    }
    let capacity_bytes = super::Facts::of(run).capacity_bytes() as u64;
    text += &format!(
        "name = \"from-{}\"\nsummary = \"drawn from the findings of run {}\"\ncapacity = \"{capacity_bytes}\"\n",
        name(&run.info.id),
        name(&run.info.id)
    );
    let sections: &[&str] = match build {
        Build::Units => &["link", "flash"],
        Build::Servers => &["link", "queue"],
        Build::Disk => &["link", "disk"],
    };
    for section in sections {
        text += &format!("\n[{section}]\n");
        text += &section_text(section, traits, build);
    }
    text
}

/// The keys of a section; those below one key become a table within a line.
fn section_text(section: &str, traits: &[Trait], build: Build) -> String {
    let mut text = String::new();
    let mut tables: Vec<(&str, Vec<String>)> = Vec::new();
    for one in traits {
        let Some(key) = one.key.strip_prefix(section).and_then(|rest| rest.strip_prefix('.')) else {
            continue;
        };
        let said = literal(one);
        match key.split_once('.') {
            Some((table, key)) => {
                let line = format!("{key} = {said}");
                match tables.iter_mut().find(|(name, _)| *name == table) {
                    Some((_, lines)) => lines.push(line),
                    None => tables.push((table, vec![line])),
                }
            }
            None => text += &format!("{}{key} = {said}\n", commented(&note(one))),
        }
    }
    for (table, mut lines) in tables {
        // The rest of what a table needs and no finding tells.
        match (build, table) {
            (Build::Disk, "queue") => lines.push("policy = \"sptf\"".to_owned()),
            (_, "bandwidth") if lines.len() == 1 => {
                let (known, other) =
                    if lines[0].starts_with("read") { ("read", "write") } else { ("write", "read") };
                lines.push(lines[0].replacen(known, other, 1));
            }
            _ => {}
        }
        for one in traits.iter().filter(|one| one.key.starts_with(&format!("{section}.{table}."))) {
            text += &commented(&note(one));
        }
        text += &format!("{table} = {{ {} }}\n", lines.join(", "));
    }
    text
}

fn note(one: &Trait) -> String {
    if one.is_assumed() {
        format!("{}: assumed; {}", one.label, one.why)
    } else {
        format!("{}: {}, from {}: {}", one.label, value(one), one.findings.join(" and "), one.why)
    }
}

/// A value as a device's file has it.
fn literal(one: &Trait) -> String {
    let value = one.estimate.value;
    match one.unit.as_str() {
        "ns" => format!("\"{:.3}us\"", value / 1e3),
        "B" => format!("\"{:.0}\"", value.round()),
        "B/s" => format!("\"{:.0}B/s\"", value.round()),
        _ => format!("{:.0}", value.round().max(1.0)),
    }
}

/// Comments wrapped at 110 columns.
fn commented(text: &str) -> String {
    let mut lines = String::new();
    let mut line = String::from("#");
    for word in text.split_whitespace() {
        if line.chars().count() + word.chars().count() + 1 > 110 {
            lines += &line;
            lines.push('\n');
            line = String::from("#  ");
        }
        line.push(' ');
        line += word;
    }
    lines + &line + "\n"
}

fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A device's name has small letters, digits and hyphens.
fn name(id: &str) -> String {
    id.chars().filter(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || *c == '-').collect()
}
