//! A portrait in words, and as the file of a simulated device.

use iosonde_model::{Build, Run, Trait, units};

use super::find;
use crate::words::{Unit, with_interval};

/// `Flash, as its requests tell: 32 units side by side [31, 33], ..`: what findings tell with their interval, what was
/// fitted as `about`, and by name what was assumed, since a value that nobody measured is no part of a picture.
pub(super) fn sentence(build: Build, all: &[Trait]) -> String {
    let (head, places): (_, &[_]) = match build {
        Build::Units => (
            "Flash, as its requests tell",
            &[
                ("flash.units", "{} units side by side"),
                ("flash.read", "a page read in {}"),
                ("flash.stripe", "addresses spread in stripes of {}"),
                ("flash.write_buffer.size", "a buffer of {}"),
                ("flash.write_buffer.drain", "a buffer that drains at {}"),
                ("flash.program", "a page programmed in {}"),
                ("link.bandwidth.read", "a link of {} or more"),
            ],
        ),
        Build::Servers => (
            "Storage behind one line",
            &[
                ("queue.servers", "{} served at once"),
                ("queue.service.fixed", "each in {}"),
                ("link.bandwidth.read", "a link of {} or more"),
            ],
        ),
        Build::Disk => (
            "A rotating disk",
            &[
                ("disk.rpm", "{} turns a minute"),
                ("disk.seek.average", "{} for a seek to a random place"),
                ("disk.outer", "{} at its outer edge"),
                ("disk.inner", "{} at its inner edge"),
                ("disk.write_cache", "a write cache of {}"),
            ],
        ),
    };
    let turns = find(all, "disk.rpm").is_some_and(|turn| !turn.is_assumed());
    let head =
        if build == Build::Disk && !turns { "Slow in random order, as a rotating disk is" } else { head };
    let traits = || places.iter().filter_map(|(key, words)| Some((find(all, key)?, words)));
    let (mut told, mut assumed) = (Vec::new(), Vec::new());
    for (one, words) in traits() {
        match one.is_assumed() {
            true => assumed.push(one.label.as_str()),
            false => told.push(words.replace("{}", &value(one))),
        }
    }
    let told = if told.is_empty() { "nothing more was found".to_owned() } else { told.join(", ") };
    let told = told.replace("about 1 units side by side", "about one unit");
    let rest = match assumed.as_slice() {
        [] => String::new(),
        assumed => {
            format!(" No finding tells the rest ({}): a usual one stands in.", assumed.join(", "))
        }
    };
    format!("{head}: {told}.{rest}{}", caution(build, all))
}

/// Units and servers that no address told apart are numbers that reproduce rates.
fn caution(build: Build, traits: &[Trait]) -> &'static str {
    let certain = |key| find(traits, key).is_some_and(|one| one.estimate.low.is_some());
    match build {
        Build::Disk => "",
        Build::Units if certain("flash.units") => "",
        _ => " Such a model does as the storage did; what the storage is built of may be something else.",
    }
}

/// A value with its interval; `about` where a fit chose it among several.
fn value(one: &Trait) -> String {
    let of = one.estimate.value;
    match (one.unit.as_str(), one.estimate.low, one.estimate.high) {
        (_, None, _) | (_, _, None) => format!("about {}", fitted(one)),
        ("ns", ..) => with_interval(Unit::Time, &one.estimate),
        ("B", ..) => with_interval(Unit::Bytes, &one.estimate),
        ("B/s", ..) => with_interval(Unit::Rate, &one.estimate),
        (_, Some(low), Some(high)) => format!("{of:.0} [{low:.0}, {high:.0}]"),
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
        Build::Units => &["host", "link", "flash"],
        Build::Servers => &["link", "queue"],
        Build::Disk => &["link", "disk"],
    };
    let has = |section: &&&str| traits.iter().any(|one| one.key.starts_with(&format!("{section}.")));
    for section in sections.iter().filter(has) {
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
