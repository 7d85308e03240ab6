//! Walls inside and between crates that Cargo cannot draw: unsafe code, clocks, entries of a registry.

use syn::{
    Item, ItemMod, Path, UseTree,
    spanned::Spanned,
    visit::{self, Visit},
};

use crate::{Fault, Source, registers};

/// `unsafe` outside the crate that touches.
pub(crate) fn unsafe_code(sources: &[Source]) -> Vec<Fault> {
    let what = "`unsafe` stands in crates/rig alone; find a safe crate, or move it there";
    let outside = sources.iter().filter(|source| !source.path.starts_with("crates/rig/"));
    outside
        .flat_map(|source| source.lines_with(&["unsafe"]).into_iter().map(|line| source.fault(line, what)))
        .collect()
}

const CLOCK: &str = "crates/rig/src/clock.rs";

/// Clocks that are read outside the file of the clock.
pub(crate) fn clocks(sources: &[Source]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for source in sources.iter().filter(|source| source.path != CLOCK) {
        for name in ["Instant", "SystemTime", "Timestamp", "Zoned"] {
            let lines = source.lines_with(&[name, ":", ":", "now"]);
            let what = format!("`{name}::now` is for {CLOCK} alone; take the time from there");
            faults.extend(lines.into_iter().map(|line| source.fault(line, what.as_str())));
        }
    }
    faults
}

/// Entries of a registry that use each other, and engines that use the driver.
pub(crate) fn siblings(sources: &[Source]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for registry in registers::registries(sources) {
        let home = module_path(registry.source);
        let folder = registry.source.folder();
        for source in sources.iter().filter(|s| s.folder() == folder && registry.has_module(s.stem())) {
            for (path, line) in paths(source) {
                let Some(name) = path.strip_prefix(&home[..]).and_then(|rest| rest.first()) else {
                    if folder.ends_with("/engine") && path.first().is_some_and(|first| first == "drive") {
                        faults
                            .push(source.fault(line, "an engine does not know `drive`; the driver calls it"));
                    }
                    continue;
                };
                let other = registry.entries.iter().find(|(module, entry)| name == module || name == entry);
                if name == "*" {
                    faults.push(
                        source.fault(line, "name what is imported: `*` brings the sibling entries too"),
                    );
                } else if other.is_some_and(|(module, _)| module != source.stem()) {
                    let what = format!(
                        "an entry does not use its sibling `{name}`; move what both need into a helper \
                         and name that in HELPERS (tests/tidy/registers.rs)"
                    );
                    faults.push(source.fault(line, what));
                }
            }
        }
    }
    faults
}

/// Where a file stands in its crate: `crates/judge/src/check/errors.rs` is `["check", "errors"]`.
fn module_path(source: &Source) -> Vec<String> {
    let inside = source.path.split_once("/src/").map_or("", |(_, inside)| inside);
    let names = inside.strip_suffix(".rs").unwrap_or(inside).split('/');
    names.filter(|name| !["mod", "lib", "main"].contains(name)).map(str::to_owned).collect()
}

/// Every path that a file of the crate names, from the crate's root; paths into other crates are left out.
fn paths(source: &Source) -> Vec<(Vec<String>, usize)> {
    struct Found {
        module: Vec<String>,
        paths: Vec<(Vec<String>, usize)>,
    }
    impl Found {
        /// `super::x` in `check::errors` is `check::x`.
        fn add(&mut self, written: &[String], line: usize) {
            let (mut from, mut rest) = (self.module.clone(), written);
            match rest.first().map(String::as_str) {
                Some("crate") => (from, rest) = (Vec::new(), &rest[1..]),
                Some("self") => rest = &rest[1..],
                Some("super") => {}
                // Another crate, or a name that this file defines or imports itself.
                _ => return,
            }
            while rest.first().is_some_and(|name| name == "super") {
                from.pop();
                rest = &rest[1..];
            }
            from.extend_from_slice(rest);
            self.paths.push((from, line));
        }
        fn add_tree(&mut self, before: &[String], tree: &UseTree) {
            let with = |name: String| [before, &[name]].concat();
            match tree {
                UseTree::Path(path) => self.add_tree(&with(path.ident.to_string()), &path.tree),
                UseTree::Name(name) if name.ident == "self" => self.add(before, name.span().start().line),
                UseTree::Name(name) => self.add(&with(name.ident.to_string()), name.span().start().line),
                UseTree::Rename(name) => self.add(&with(name.ident.to_string()), name.span().start().line),
                UseTree::Glob(glob) => self.add(&with("*".into()), glob.span().start().line),
                UseTree::Group(group) => group.items.iter().for_each(|tree| self.add_tree(before, tree)),
            }
        }
    }
    impl<'ast> Visit<'ast> for Found {
        fn visit_item_use(&mut self, node: &'ast syn::ItemUse) {
            self.add_tree(&[], &node.tree);
        }
        fn visit_path(&mut self, node: &'ast Path) {
            let written: Vec<_> = node.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.add(&written, node.span().start().line);
            visit::visit_path(self, node);
        }
        fn visit_item_mod(&mut self, node: &'ast ItemMod) {
            self.module.push(node.ident.to_string());
            node.content.iter().flat_map(|(_, items)| items).for_each(|item: &Item| self.visit_item(item));
            self.module.pop();
        }
    }
    let mut found = Found { module: module_path(source), paths: Vec::new() };
    found.visit_file(&source.syntax());
    found.paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_is_caught_outside_rig_even_inside_a_macro() {
        let text = "//! A.\n// unsafe in a comment\nconst S: &str = \"unsafe\";\n\
                    macro_rules! m { () => { unsafe { f() } } }\n";
        let found = unsafe_code(&[
            Source::new("crates/judge/src/a.rs", text),
            Source::new("crates/rig/src/a.rs", text),
        ]);
        assert_eq!(
            found.iter().map(|f| (f.path.as_str(), f.line)).collect::<Vec<_>>(),
            [("crates/judge/src/a.rs", 4)]
        );
    }

    #[test]
    fn a_clock_is_caught_outside_its_file() {
        let text = "//! A.\nfn f() {\n    std::time::Instant::now();\n}\n";
        assert_eq!(clocks(&[Source::new("crates/rig/src/drive.rs", text)])[0].line, 3);
        assert!(clocks(&[Source::new(CLOCK, text)]).is_empty());
    }

    fn caught(file: &str, text: &str) -> Vec<usize> {
        let register = "//! R.\nmod grid;\nregistry! { pub ALL: Kind \"kind\" { one::One, two::Two } }\n";
        let sources = [Source::new("crates/x/src/engine/mod.rs", register), Source::new(file, text)];
        siblings(&sources).iter().map(|fault| fault.line).collect()
    }

    #[test]
    fn a_sibling_is_caught_however_it_is_named() {
        let one = "crates/x/src/engine/one.rs";
        for text in [
            "use super::two::Two;",
            "use super::{Kind, two::{self}};",
            "use super::Two as Other;",
            "use crate::engine::two;",
            "use super::*;",
            "fn f() { super::two::g(); }",
            "mod tests { use super::super::two; }",
            "use crate::drive::Drive;",
        ] {
            assert_eq!(caught(one, &format!("//! One.\n{text}\n")), [2], "{text}");
        }
        for text in [
            "use super::{Kind, grid};",
            "mod tests { use super::*; }",
            "use crate::clock::Clock;",
            "use two::Two;",
            "fn f() { super::one::g(); }",
        ] {
            assert_eq!(caught(one, &format!("//! One.\n{text}\n")), [0; 0], "{text}");
        }
        assert_eq!(caught("crates/x/src/engine/grid.rs", "//! G.\nuse super::two::Two;\n"), [0; 0]);
    }
}
