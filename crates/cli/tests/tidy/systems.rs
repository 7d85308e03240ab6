//! What differs between operating systems stands in folders named `platform`, and in lines of registries.

use crate::{Fault, Source};

/// Conditions that ask for a system.
const SYSTEMS: [&str; 5] = ["target_os", "target_family", "unix", "windows", "target_env"];

/// `cfg` of a system outside `platform`, and its crates outside it.
pub(crate) fn systems(sources: &[Source]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for source in sources.iter().filter(|source| is_judged(&source.path)) {
        for (number, line) in source.text.lines().enumerate() {
            let line = line.trim();
            let asks = (line.contains("cfg(") || line.contains("cfg!("))
                && SYSTEMS.iter().any(|system| has_word(line, system));
            // A line of a registry: the entry stands behind its condition.
            let is_entry =
                source.path.ends_with("/engine/mod.rs") && line.ends_with(',') && line.contains("::");
            if asks && !line.starts_with("//") && !is_entry {
                let what = "what differs between systems belongs into `platform`";
                faults.push(source.fault(number + 1, what));
            }
        }
    }
    faults
}

/// Product code; tests may be about Linux alone.
fn is_judged(path: &str) -> bool {
    path.contains("/src/") && !path.contains("/src/platform/")
}

fn has_word(line: &str, word: &str) -> bool {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|part| part == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_is_caught_outside_platform_alone() {
        let caught =
            |path: &str, line: &str| !systems(&[Source::new(path, &format!("//! A.\n{line}\n"))]).is_empty();
        let asks = "#[cfg(target_os = \"linux\")]";
        assert!(caught("crates/rig/src/drive.rs", asks));
        assert!(caught("crates/cli/src/a.rs", "    if cfg!(windows) {"));
        assert!(!caught("crates/rig/src/platform/mod.rs", asks));
        assert!(!caught("crates/rig/src/engine/mod.rs", "        #[cfg(windows)] iocp::Iocp,"));
        assert!(caught("crates/rig/src/engine/mod.rs", asks));
        assert!(!caught("crates/rig/tests/a.rs", asks));
        assert!(!caught("crates/rig/src/a.rs", "#[cfg(test)]"));
    }
}
