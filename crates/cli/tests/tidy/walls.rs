//! Walls inside and between crates that Cargo cannot draw: unsafe code, clocks, entries of a registry.

use crate::{
    Fault, Source,
    imports::{self, Import, module_path},
    registers,
};

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
            for Import { path, line, .. } in imports::of(source).0 {
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
