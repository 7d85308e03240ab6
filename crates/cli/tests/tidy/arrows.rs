//! The arrows between crates: which crate may depend on which, and that settings are the workspace's.

use std::{fs, path::Path};

use crate::{Fault, Source};

/// What each crate may use: model names, stats counts, sim pretends, rig touches, judge doubts, plan chooses, infer
/// concludes, store keeps, report tells, cli wires.
const ARROWS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("sim", &["model"]),
    ("rig", &["model", "sim"]),
    // Several hosts that measure together: what they say to each other, over any link.
    ("hosts", &["model", "rig"]),
    ("stats", &[]),
    ("judge", &["model", "stats"]),
    ("plan", &["model", "stats", "judge"]),
    // A run's points are planned again from its study before anything is concluded from them.
    ("infer", &["model", "stats", "judge", "plan"]),
    ("store", &["model"]),
    ("report", &["model", "stats", "judge", "plan", "infer"]),
    ("cli", &["model", "stats", "sim", "rig", "hosts", "judge", "plan", "infer", "store", "report"]),
    ("testkit", &["model", "stats", "judge", "plan"]),
];

/// What a crate's tests may use besides: findings are proved on simulated devices.
const FOR_TESTS: &[(&str, &[&str])] = &[
    ("judge", &["testkit"]),
    ("plan", &["testkit"]),
    ("infer", &["testkit", "sim", "rig"]),
    ("report", &["testkit"]),
];

const PREFIX: &str = "iosonde-";

/// Each crate's folder name and its Cargo.toml.
pub(crate) fn manifests(root: &Path) -> Vec<(String, Source)> {
    let folders = fs::read_dir(root.join("crates")).expect("the workspace has crates");
    let mut out = Vec::new();
    for folder in folders.flatten().filter(|entry| entry.path().is_dir()) {
        let name = folder.file_name().to_string_lossy().into_owned();
        let path = format!("crates/{name}/Cargo.toml");
        let text = fs::read_to_string(root.join(&path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        // crates/mpi is a workspace of its own, so that nothing else needs MPI.
        if !text.contains("[workspace]") {
            out.push((name, Source::new(&path, &text)));
        }
    }
    assert!(out.len() >= ARROWS.len(), "only {} crates were found", out.len());
    out
}

/// Dependencies that point the wrong way, and settings that a crate has for itself.
pub(crate) fn wrong_ways(manifests: &[(String, Source)]) -> Vec<Fault> {
    manifests.iter().flat_map(|(name, source)| judge(name, source)).collect()
}

fn judge(name: &str, source: &Source) -> Vec<Fault> {
    let manifest: toml::Table =
        source.text.parse().unwrap_or_else(|error| panic!("{}: {error}", source.path));
    let of = |list: &[(&str, &'static [&'static str])]| {
        list.iter().find(|(known, _)| *known == name).map(|(_, allowed)| *allowed)
    };
    let Some(allowed) = of(ARROWS) else {
        return vec![
            source.fault(1, "a new crate: draw its arrows in ARROWS (tests/tidy/arrows.rs) and in the docs"),
        ];
    };
    let for_tests = of(FOR_TESTS).unwrap_or_default();
    let mut faults = Vec::new();
    for (section, more) in
        [("dependencies", &[][..]), ("dev-dependencies", for_tests), ("build-dependencies", &[])]
    {
        let Some(table) = manifest.get(section).and_then(toml::Value::as_table) else { continue };
        for (dependency, setting) in table {
            let line = line_of(source, dependency);
            if setting.get("workspace").and_then(toml::Value::as_bool) != Some(true) {
                let what = format!(
                    "`{dependency}.workspace = true`; its version stands in the workspace's Cargo.toml"
                );
                faults.push(source.fault(line, what));
            }
            let Some(ours) = dependency.strip_prefix(PREFIX) else { continue };
            if !allowed.contains(&ours) && !more.contains(&ours) {
                faults.push(
                    source
                        .fault(line, format!("`{name}` must not know `{ours}`; the arrows point downwards")),
                );
            }
        }
    }
    let lints = manifest.get("lints").and_then(|lints| lints.get("workspace")).and_then(toml::Value::as_bool);
    if lints != Some(true) {
        faults.push(source.fault(1, "add `[lints]` with `workspace = true`"));
    }
    faults
}

fn line_of(source: &Source, key: &str) -> usize {
    source.text.lines().position(|line| line.starts_with(key)).map_or(1, |place| place + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caught(name: &str, text: &str) -> Vec<String> {
        judge(name, &Source::new("Cargo.toml", text)).into_iter().map(|fault| fault.to_string()).collect()
    }

    #[test]
    fn an_arrow_upwards_is_caught_and_tests_have_their_own() {
        let text = "[lints]\nworkspace = true\n[dependencies]\niosonde-sim.workspace = true\n";
        assert_eq!(
            caught("infer", text),
            ["Cargo.toml:4: `infer` must not know `sim`; the arrows point downwards"]
        );
        assert_eq!(caught("rig", text), [""; 0]);
        assert_eq!(caught("infer", &text.replace("[dep", "[dev-dep")), [""; 0]);
        assert_eq!(caught("model", &text.replace("[dep", "[dev-dep")).len(), 1);
    }

    #[test]
    fn own_versions_and_own_lints_are_caught() {
        assert_eq!(caught("sim", "[dependencies]\nserde = \"1\"\n").len(), 2);
        assert!(caught("extra", "")[0].contains("a new crate"));
    }
}
