//! Other people's crates: where they come from, and what their licences ask for. `deny.toml` has the list of licences,
//! for `cargo deny` too, which also knows the advisories.

use std::{path::Path, process::Command};

use serde_json::Value;

use crate::{Fault, Source};

/// The licences that `deny.toml` allows.
pub(crate) fn allowed(root: &Path) -> Vec<String> {
    let path = root.join("deny.toml");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let settings: toml::Table = text.parse().unwrap_or_else(|error| panic!("deny.toml: {error}"));
    let list = settings["licenses"]["allow"].as_array().expect("deny.toml has a list `allow`");
    list.iter().map(|one| one.as_str().expect("licences are text").to_owned()).collect()
}

/// The crates that a build for this machine takes, tests' own among them, as cargo tells them.
pub(crate) fn packages(root: &Path) -> Vec<Value> {
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let words =
        ["metadata", "--format-version", "1", "--locked", "--offline", "--filter-platform", &platform];
    let done = Command::new(env!("CARGO")).args(words).current_dir(root).output().expect("cargo runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let told: Value = serde_json::from_slice(&done.stdout).expect("cargo tells JSON");
    told["packages"].as_array().expect("it has packages").clone()
}

/// Crates under a licence that is not allowed, or none.
pub(crate) fn licences(packages: &[Value], allowed: &[String]) -> Vec<Fault> {
    let others = packages.iter().filter(|package| !package["source"].is_null());
    let faults = others.filter_map(|package| {
        let licence = package["license"].as_str().unwrap_or("none is named");
        let is_allowed = Expression::of(licence).holds(allowed);
        let what = format!(
            "{} {} has the licence `{licence}`: allow it in deny.toml, if its terms can be met, or take another crate",
            package["name"].as_str().unwrap_or_default(),
            package["version"].as_str().unwrap_or_default()
        );
        (!is_allowed).then(|| Source::new("Cargo.lock", "").fault(1, what))
    });
    faults.collect()
}

/// Crates of Cargo.lock that come from elsewhere than the first one's registry, or whose content is not fixed.
pub(crate) fn sources(lock: &Source) -> Vec<Fault> {
    let locked: toml::Table = lock.text.parse().unwrap_or_else(|error| panic!("{}: {error}", lock.path));
    let packages = locked["package"].as_array().expect("it locks packages");
    let registry = packages.iter().find_map(|package| package.get("source")?.as_str());
    let faults = packages.iter().filter_map(|package| {
        let told = |key: &str| package.get(key).and_then(toml::Value::as_str);
        let is_registry =
            told("source") == registry && registry.is_some_and(|name| name.starts_with("registry+"));
        let name = told("name").unwrap_or_default();
        let what = match told("source") {
            None if name.starts_with("iosonde") => return None,
            None => "is a folder beside this one: nobody else has it",
            Some(_) if !is_registry => "comes from elsewhere than the others",
            Some(_) if told("checksum").is_none() => "has no checksum",
            Some(_) => return None,
        };
        Some(lock.fault(1, format!("{name} {what}")))
    });
    faults.collect()
}

/// An SPDX expression, as words and parentheses, read from left to right: `AND` binds before `OR`.
struct Expression<'a> {
    words: Vec<&'a str>,
    at: usize,
}

impl<'a> Expression<'a> {
    fn of(text: &'a str) -> Self {
        let mut words = Vec::new();
        // Older crates write `MIT/Apache-2.0`.
        for word in text.split_inclusive(['(', ')', '/', ' ']) {
            let (name, end) = word.split_at(word.len() - usize::from(word.ends_with(['(', ')', '/', ' '])));
            words.extend(
                [name, if end == "/" { "OR" } else { end.trim() }].into_iter().filter(|w| !w.is_empty()),
            );
        }
        Self { words, at: 0 }
    }

    /// Whether it can be met with the licences that are allowed; what cannot be read cannot.
    fn holds(mut self, allowed: &[String]) -> bool {
        let holds = self.any(allowed);
        holds && self.at == self.words.len()
    }

    fn takes(&mut self, word: &str) -> bool {
        let is_next = self.words.get(self.at) == Some(&word);
        self.at += usize::from(is_next);
        is_next
    }

    fn any(&mut self, allowed: &[String]) -> bool {
        let mut holds = self.all(allowed);
        while self.takes("OR") {
            holds |= self.all(allowed);
        }
        holds
    }

    fn all(&mut self, allowed: &[String]) -> bool {
        let mut holds = self.one(allowed);
        while self.takes("AND") {
            holds &= self.one(allowed);
        }
        holds
    }

    fn one(&mut self, allowed: &[String]) -> bool {
        if self.takes("(") {
            let holds = self.any(allowed);
            return self.takes(")") && holds;
        }
        let mut name = self.words.get(self.at).copied().unwrap_or_default().to_owned();
        self.at += 1;
        if self.takes("WITH") {
            name += " WITH ";
            name += self.words.get(self.at).copied().unwrap_or_default();
            self.at += 1;
        }
        allowed.contains(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licences_are_read_as_spdx_has_them() {
        let allowed = ["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
        for (text, holds) in [
            ("MIT", true),
            ("GPL-3.0-only", false),
            ("GPL-3.0-only OR MIT", true),
            ("Unlicense/MIT", true),
            ("GPL-2.0/LGPL-2.1", false),
            ("MIT AND GPL-3.0-only", false),
            ("GPL-3.0-only AND MIT OR Zlib", true),
            ("(GPL-3.0-only OR MIT) AND Zlib", true),
            ("(GPL-3.0-only OR MIT) AND AGPL-3.0", false),
            ("Apache-2.0 WITH LLVM-exception OR GPL-3.0-only", true),
            ("Apache-2.0", false),
            ("MIT Zlib", false),
            ("(MIT", false),
            ("none is named", false),
            ("", false),
        ] {
            assert_eq!(Expression::of(text).holds(&allowed), holds, "{text}");
        }
    }

    #[test]
    fn a_crate_under_another_licence_is_named() {
        let crates = serde_json::json!([
            {"name": "ours", "version": "1.0.0", "license": null, "source": null},
            {"name": "free", "version": "1.0.0", "license": "MIT", "source": "registry+x"},
            {"name": "copyleft", "version": "2.0.0", "license": "GPL-3.0-only", "source": "registry+x"},
            {"name": "silent", "version": "3.0.0", "license": null, "source": "registry+x"},
        ]);
        let found = licences(crates.as_array().unwrap(), &["MIT".to_owned()]);
        let named: Vec<_> = found.iter().map(|fault| fault.what.split(' ').next().unwrap()).collect();
        assert_eq!(named, ["copyleft", "silent"]);
    }

    #[test]
    fn a_crate_from_elsewhere_is_named() {
        let text = r#"
            [[package]]
            name = "iosonde-rig"
            [[package]]
            name = "a"
            source = "registry+x"
            checksum = "1"
            [[package]]
            name = "b"
            source = "registry+x"
            [[package]]
            name = "c"
            source = "git+https://example.org/c#1"
            [[package]]
            name = "d"
            [[package]]
            name = "e"
            source = "registry+y"
            checksum = "1"
        "#;
        let found = sources(&Source::new("Cargo.lock", text));
        let named: Vec<_> = found.iter().map(|fault| &fault.what[..1]).collect();
        assert_eq!(named, ["b", "c", "d", "e"]);
    }
}
