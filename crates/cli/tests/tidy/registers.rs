//! Files that the compiler does not see: modules that nobody declares, entries that nobody registers, studies
//! that nobody compiles in.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};
use syn::{Attribute, Expr, ExprLit, Item, ItemMacro, Lit, Meta};

use crate::{Fault, Source, sources::flat_tokens};

/// Modules beside the entries of a registry that are no entries: folder and names.
pub(crate) const HELPERS: &[(&str, &[&str])] = &[
    (
        "crates/judge/src/check",
        &["at_limit", "counted", "course", "host_windows", "judged", "missing", "pause", "slow_periods"],
    ),
    ("crates/plan/src/experiment", &["grid", "parameters"]),
    (
        "crates/infer/src/finding",
        &[
            "best",
            "cached",
            "closed_loop",
            "durable",
            "effect",
            "group",
            "hockney",
            "layout",
            "limit",
            "lookup",
            "over_trials",
            "plateau",
            "platter",
            "pooled",
        ],
    ),
    ("crates/report/src/chart", &["course", "heat", "law", "mixes", "pick"]),
    ("crates/rig/src/engine", &["waiting"]),
    ("crates/sim/src/part", &["effects"]),
    ("crates/store/src/export", &["capacity", "cells", "figures", "fio_form", "fio_logs"]),
    (
        "crates/store/src/import",
        &[
            "build",
            "corpus",
            "damage",
            "fio_disk",
            "fio_jobs",
            "fio_options",
            "json",
            "table",
            "words",
            "xml",
        ],
    ),
];

/// A `registry!` and its file.
pub(crate) struct Register<'a> {
    pub(crate) source: &'a Source,
    /// Module and type of each entry.
    pub(crate) entries: Vec<(String, String)>,
}

impl Register<'_> {
    pub(crate) fn has_module(&self, name: &str) -> bool {
        self.entries.iter().any(|(module, _)| module == name)
    }
}

/// Every registry.
pub(crate) fn registries(sources: &[Source]) -> Vec<Register<'_>> {
    let found = sources.iter().filter(|source| source.stem() == "mod").map(|source| Register {
        source,
        entries: macros(&source.syntax().items).flat_map(|item| entries(&item)).collect(),
    });
    found.filter(|register| !register.entries.is_empty()).collect()
}

fn macros(items: &[Item]) -> impl Iterator<Item = ItemMacro> {
    let ours = items.iter().filter_map(|item| match item {
        Item::Macro(item) if item.mac.path.is_ident("registry") => Some(item.clone()),
        _ => None,
    });
    ours.collect::<Vec<_>>().into_iter()
}

/// `psync::Psync` anywhere in the macro.
fn entries(item: &ItemMacro) -> Vec<(String, String)> {
    let tokens = flat_tokens(item.mac.tokens.clone());
    let words: Vec<&str> = tokens.iter().map(|(word, _)| word.as_str()).collect();
    let pairs = words.windows(4).filter_map(|window| match window {
        [module, ":", ":", entry] => Some((module.to_string(), entry.to_string())),
        _ => None,
    });
    pairs.collect()
}

/// Files in a registry's folder that are neither registered nor known as helpers, and helpers that are gone.
pub(crate) fn unregistered(sources: &[Source], helpers: &[(&str, &[&str])]) -> Vec<Fault> {
    let mut faults = Vec::new();
    let registries = registries(sources);
    for register in &registries {
        let folder = register.source.folder();
        let known =
            |name: &str| helpers.iter().any(|(place, names)| *place == folder && names.contains(&name));
        for source in sources.iter().filter(|source| source.folder() == folder && source.stem() != "mod") {
            // The tests of an entry may lie in a file of their own beside it.
            let name = source.stem().strip_suffix("_tests").unwrap_or(source.stem());
            if !register.has_module(name) && !known(name) {
                let what = format!(
                    "add `{}::..` to the registry in {}, or to HELPERS in tests/tidy/registers.rs",
                    source.stem(),
                    register.source.path
                );
                faults.push(source.fault(1, what));
            }
        }
    }
    for (folder, names) in helpers {
        for name in *names {
            let path = format!("{folder}/{name}.rs");
            if !sources.iter().any(|source| source.path == path) {
                let what = "this helper is gone; take it out of HELPERS in tests/tidy/registers.rs";
                faults.push(Source::new(&path, "").fault(1, what));
            }
        }
    }
    faults
}

/// Files that no `mod` and no registry leads to from a crate's root.
pub(crate) fn unreached(sources: &[Source]) -> Vec<Fault> {
    let by_path: BTreeMap<&str, &Source> =
        sources.iter().map(|source| (source.path.as_str(), source)).collect();
    let mut waiting: Vec<&Source> = sources.iter().filter(|source| is_root(&source.path)).collect();
    let mut reached: BTreeSet<&str> = BTreeSet::new();
    while let Some(source) = waiting.pop() {
        if !reached.insert(&source.path) {
            continue;
        }
        let own_folder = ["mod", "lib", "main"].contains(&source.stem()) || is_root(&source.path);
        let folder = if own_folder {
            source.folder().to_owned()
        } else {
            source.path.trim_end_matches(".rs").to_owned()
        };
        for declared in declared(&source.syntax().items) {
            let places = match declared {
                Declared::Name(name) => [format!("{folder}/{name}.rs"), format!("{folder}/{name}/mod.rs")],
                Declared::Path(path) => [without_dots(&format!("{}/{path}", source.folder())), String::new()],
            };
            waiting.extend(places.iter().filter_map(|place| by_path.get(place.as_str())));
        }
    }
    let dead = sources.iter().filter(|source| !reached.contains(source.path.as_str()));
    dead.map(|source| {
        source.fault(1, "nothing compiles this file; declare it with `mod`, register it, or remove it")
    })
    .collect()
}

/// `a/b/../c` is `a/c`.
fn without_dots(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            ".." => parts.truncate(parts.len().saturating_sub(1)),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Where Cargo begins by itself: libraries, programs, tests, examples, benches and build scripts.
fn is_root(path: &str) -> bool {
    let Some(inside) = path.splitn(3, '/').nth(2) else { return false };
    let parts: Vec<&str> = inside.split('/').collect();
    matches!(
        parts[..],
        ["build.rs"]
            | ["src", "lib.rs" | "main.rs"]
            | ["src", "bin", _]
            | ["tests" | "examples" | "benches", _]
            | ["tests" | "examples" | "benches", _, "main.rs"]
    )
}

/// How a module in a file of its own is declared.
enum Declared {
    /// `mod name;`, or in a registry.
    Name(String),
    /// `#[path = "file.rs"] mod name;`
    Path(String),
}

/// The names of the modules that lie in files of their own where `mod` leads to them.
pub(crate) fn declared_names(items: &[Item]) -> Vec<String> {
    let names = declared(items).into_iter().filter_map(|declared| match declared {
        Declared::Name(name) => Some(name),
        Declared::Path(_) => None,
    });
    names.collect()
}

/// The modules that a file says lie in files of their own.
fn declared(items: &[Item]) -> Vec<Declared> {
    let plain = items.iter().filter_map(|item| match item {
        Item::Mod(item) if item.content.is_none() => {
            let path = item.attrs.iter().find_map(written_path).map(Declared::Path);
            Some(path.unwrap_or_else(|| Declared::Name(item.ident.to_string())))
        }
        _ => None,
    });
    let registered = macros(items).flat_map(|item| entries(&item)).map(|(module, _)| Declared::Name(module));
    plain.chain(registered).collect()
}

fn written_path(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else { return None };
    match &pair.value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) if pair.path.is_ident("path") => Some(text.value()),
        _ => None,
    }
}

/// Studies that no source file takes in. (The devices have a test of their own beside their list.)
pub(crate) fn left_out(root: &Path, sources: &[Source]) -> Vec<Fault> {
    let files = fs::read_dir(root.join("studies")).into_iter().flatten().flatten();
    let studies = files.map(|file| format!("studies/{}", file.file_name().to_string_lossy()));
    let missing = studies.filter(|path| {
        let taken = format!("/{path}\")");
        path.ends_with(".toml") && !sources.iter().any(|source| source.text.contains(&taken))
    });
    let what = "compile it in: add a line with `include_str!` to crates/cli/src/studies.rs";
    missing.map(|path| Source::new(&path, "").fault(1, what)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small_crate() -> Vec<Source> {
        vec![
            Source::new("crates/x/src/lib.rs", "//! X.\npub mod engine;\nmod plan;\n"),
            Source::new(
                "crates/x/src/engine/mod.rs",
                "//! E.\nmod pool;\nregistry! { pub ALL: E \"e\" { one::One } }\n",
            ),
            Source::new(
                "crates/x/src/engine/one.rs",
                "//! One.\n#[path = \"../engine/one_tests.rs\"]\nmod tests;\n",
            ),
            Source::new("crates/x/src/engine/one_tests.rs", "//! Tests.\n"),
            Source::new("crates/x/src/engine/pool.rs", "//! Pool.\n"),
            Source::new("crates/x/src/plan.rs", "//! Plan.\n#[cfg(test)]\nmod tests;\n"),
            Source::new("crates/x/src/plan/tests.rs", "//! Tests.\n"),
            Source::new("crates/x/tests/a.rs", "//! A.\nmod common;\n"),
            Source::new("crates/x/tests/common/mod.rs", "//! C.\n"),
            Source::new("crates/x/tests/b/main.rs", "//! B.\nmod inside;\n"),
            Source::new("crates/x/tests/b/inside.rs", "//! I.\n"),
        ]
    }

    fn paths(faults: Vec<Fault>) -> Vec<String> {
        faults.into_iter().map(|fault| fault.path).collect()
    }

    #[test]
    fn a_file_that_nobody_declares_is_caught() {
        let mut sources = small_crate();
        assert_eq!(paths(unreached(&sources)), [""; 0]);
        for dead in ["crates/x/src/engine/two.rs", "crates/x/src/old.rs", "crates/x/tests/b/other.rs"] {
            sources.push(Source::new(dead, "//! Dead.\n"));
            assert_eq!(paths(unreached(&sources)), [dead]);
            sources.pop();
        }
    }

    #[test]
    fn a_module_beside_the_entries_must_be_a_known_helper() {
        let sources = small_crate();
        assert_eq!(paths(unregistered(&sources, &[])), ["crates/x/src/engine/pool.rs"]);
        let known: &[(&str, &[&str])] = &[("crates/x/src/engine", &["pool"])];
        assert_eq!(paths(unregistered(&sources, known)), [""; 0]);
        let gone: &[(&str, &[&str])] = &[("crates/x/src/engine", &["pool", "old"])];
        assert_eq!(paths(unregistered(&sources, gone)), ["crates/x/src/engine/old.rs"]);
    }

    #[test]
    fn a_study_that_nobody_compiles_in_is_caught() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("studies")).unwrap();
        fs::write(root.path().join("studies/quick.toml"), "").unwrap();
        let taken = Source::new("a.rs", "const Q: &str = include_str!(\"../../../studies/quick.toml\");");
        assert_eq!(paths(left_out(root.path(), &[taken])), [""; 0]);
        assert_eq!(paths(left_out(root.path(), &[])), ["studies/quick.toml"]);
    }
}
