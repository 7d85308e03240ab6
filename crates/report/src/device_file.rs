//! File of a simulated device that says what was fitted to a run: TOML, with the source of each value as a comment.

use iosonde_model::{Build, Portrait, Run, Trait, Unit};

use crate::text;

/// The file of a fitted device, with the source of each value beside it.
pub fn device_file(run: &Run, portrait: &Portrait) -> String {
    let Portrait { build, traits, .. } = portrait;
    let mut text = format!(
        "# Source: findings of run {} ({} on {}), fitted by `iosonde devices --from {}`.\n",
        run.info.id,
        run.info.study,
        one_line(&run.info.target),
        run.info.id
    );
    for &what in &portrait.unidentified {
        text += &commented(&text::portrait::unidentified(what));
    }
    text += &format!(
        "name = \"from-{0}\"\nsummary = \"fitted to the findings of run {0}\"\ncapacity = \"{1}\"\n",
        name(&run.info.id),
        portrait.capacity_bytes
    );
    let sections: &[&str] = match build {
        Build::Units => &["host", "link", "flash"],
        Build::Servers => &["link", "queue"],
        Build::Disk => &["link", "disk"],
    };
    let has = |section: &&&str| traits.iter().any(|one| one.key.as_str().starts_with(&format!("{section}.")));
    for section in sections.iter().filter(has) {
        text += &format!("\n[{section}]\n");
        text += &section_text(section, traits, *build);
    }
    text
}

/// The keys of a section; those below one key become a table within a line.
fn section_text(section: &str, traits: &[Trait], build: Build) -> String {
    let mut text = String::new();
    let mut tables: Vec<(&str, Vec<String>)> = Vec::new();
    for one in traits {
        let Some(key) = one.key.as_str().strip_prefix(section).and_then(|rest| rest.strip_prefix('.')) else {
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
        for one in traits.iter().filter(|one| one.key.as_str().starts_with(&format!("{section}.{table}."))) {
            text += &commented(&note(one));
        }
        text += &format!("{table} = {{ {} }}\n", lines.join(", "));
    }
    text
}

fn note(one: &Trait) -> String {
    let (label, how) = (text::portrait::label(one.key), text::portrait::how(one.derivation));
    if one.is_assumed() {
        return format!("{label}: not measured; {how}");
    }
    let sources: Vec<&str> = one.sources.iter().map(|&source| text::portrait::source(source)).collect();
    format!("{label}: {}, from {}: {how}", text::portrait::value(one), sources.join(" and "))
}

/// A value as a device's file has it.
fn literal(one: &Trait) -> String {
    let value = one.estimate.value;
    match one.key.unit() {
        Unit::Time => format!("\"{:.3}us\"", value / 1e3),
        Unit::Bytes => format!("\"{:.0}\"", value.round()),
        Unit::Rate => format!("\"{:.0}B/s\"", value.round()),
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
