//! Names that several files must agree on: the archives that `./release` writes and those that `cargo binstall` asks
//! for, and the programs and crates that workflows name.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, process::Command};

use crate::{Fault, Source};

/// Architectures that `./release` builds for.
const TARGETS: [&str; 2] = ["x86_64-unknown-linux-musl", "aarch64-unknown-linux-musl"];

/// The manifest with the metadata of packages.
pub(crate) fn manifest(root: &Path) -> Source {
    let path = "crates/cli/Cargo.toml";
    Source::new(path, &fs::read_to_string(root.join(path)).expect("the program has a manifest"))
}

/// Where `cargo binstall` looks, unlike what `./release` writes: the name of the archive, and the program in it.
pub(crate) fn binstall(root: &Path, manifest: &Source) -> Vec<Fault> {
    let table: toml::Table =
        manifest.text.parse().unwrap_or_else(|error| panic!("{}: {error}", manifest.path));
    let metadata = &table["package"]["metadata"]["binstall"];
    let told = |key: &str| metadata[key].as_str().unwrap_or_else(|| panic!("{key} is text"));
    let line = 1 + manifest.text.lines().position(|line| line.contains("metadata.binstall")).unwrap_or(0);
    let mut faults = Vec::new();
    for target in TARGETS {
        let (archive, members) = archived(root, target);
        let expanded = |key: &str| {
            let values = [
                ("name", "iosonde"),
                ("version", "1.2.3"),
                ("target", target),
                ("bin", "iosonde"),
                ("binary-ext", ""),
            ];
            values.iter().fold(told(key).to_owned(), |text, (name, value)| {
                text.replace(&format!("{{ {name} }}"), value)
            })
        };
        let (url, inside) = (expanded("pkg-url"), expanded("bin-dir"));
        if url.rsplit('/').next() != Some(&archive) {
            faults.push(manifest.fault(line, format!("pkg-url is {url}, and ./release writes {archive}")));
        }
        if !members.contains(&inside) {
            faults.push(manifest.fault(line, format!("bin-dir is {inside}, and {archive} has {members:?}")));
        }
        if told("pkg-fmt") != "tgz" || !archive.ends_with(".tar.gz") {
            faults.push(
                manifest.fault(line, format!("pkg-fmt is {}, and {archive} a tar.gz", told("pkg-fmt"))),
            );
        }
    }
    faults
}

/// The archive of version 1.2.3 for a target, as the function of `./release` writes it, and its files.
fn archived(root: &Path, target: &str) -> (String, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    for (path, text) in [
        (format!("target/{target}/release/iosonde"), "program"),
        ("share/LICENSE-X".to_owned(), "licence"),
        ("share/man/iosonde.1".to_owned(), "page"),
        ("share/completions/_iosonde".to_owned(), "completions"),
        ("README.md".to_owned(), "page"),
        ("CHANGELOG.md".to_owned(), "page"),
    ] {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("folders can be made");
        fs::write(path, text).expect("files can be made");
    }
    let script = r#"
        set -euo pipefail
        eval "$(sed -n '/^archive() {/,/^}/p' "$1")"
        dist=$PWD/dist share=$PWD/share version=1.2.3 SOURCE_DATE_EPOCH=0
        mkdir dist
        archive "$2"
        ls dist
        tar -tzf dist/*
    "#;
    let mut command = Command::new("bash");
    command.args(["-c", script, "bash"]).arg(root.join("release")).arg(target).current_dir(folder.path());
    let done = command.output().expect("bash runs");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let said = String::from_utf8(done.stdout).expect("names are text");
    let mut lines = said.lines().map(str::to_owned);
    (lines.next().expect("an archive was written"), lines.collect())
}

/// Workflows of the repository.
pub(crate) fn workflows(root: &Path) -> Vec<Source> {
    let folder = root.join(".github/workflows");
    let mut names: Vec<String> = fs::read_dir(folder)
        .expect("workflows are there")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let read = |name: String| {
        let path = format!(".github/workflows/{name}");
        Source::new(&path, &fs::read_to_string(root.join(&path)).expect("a workflow"))
    };
    names.into_iter().map(read).collect()
}

/// Programs of this repository that a workflow runs and that are not there or not executable, and crates that are not
/// there. What is built stands in `target`.
pub(crate) fn absent(root: &Path, workflows: &[Source]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for workflow in workflows {
        for (number, line) in workflow.text.lines().enumerate() {
            let Some(command) = commands(line) else { continue };
            let words: Vec<&str> = command.split_whitespace().map(|word| word.trim_matches('"')).collect();
            for word in &words {
                let own = word.strip_prefix("./").or_else(|| word.starts_with("packaging/").then_some(*word));
                let mode =
                    own.map(|path| fs::metadata(root.join(path)).map(|found| found.permissions().mode()));
                if mode.is_some_and(|mode| mode.map_or(true, |bits| bits & 0o111 == 0)) {
                    faults
                        .push(workflow.fault(number + 1, format!("{word} is no program of this repository")));
                }
            }
            for pair in words.windows(2).filter(|pair| pair[0] == "-p") {
                let folder = pair[1].strip_prefix("iosonde-").unwrap_or("cli");
                if !root.join("crates").join(folder).join("Cargo.toml").exists() {
                    faults.push(workflow.fault(number + 1, format!("there is no crate {}", pair[1])));
                }
            }
        }
    }
    faults
}

/// What a line of a workflow runs, or hands on in a variable.
fn commands(line: &str) -> Option<&str> {
    let line = line.trim().trim_start_matches("- ");
    ["run:", "PURE:"].iter().find_map(|key| line.strip_prefix(key)).map(str::trim)
}

#[test]
fn a_name_that_differs_is_caught() {
    let root = crate::sources::root();
    let ours = manifest(&root);
    let changed = |from: &str, to: &str| {
        let text = ours.text.replace(from, to);
        assert_ne!(text, ours.text, "{from} stands in the manifest");
        binstall(&root, &Source::new(&ours.path, &text)).len()
    };
    // One fault for each of two architectures.
    assert_eq!(changed("{ target }.tar.gz\"", "{ target }.tgz\""), 2);
    assert_eq!(changed("bin-dir = \"{ name }-", "bin-dir = \"{ name }_"), 2);
    assert_eq!(changed("pkg-fmt = \"tgz\"", "pkg-fmt = \"txz\""), 2);
    let of = |line: &str| {
        let faults = absent(&root, &[Source::new("a.yml", line)]);
        faults.into_iter().map(|fault| fault.what).collect::<Vec<_>>()
    };
    assert_eq!(of("      - run: ./tset --both"), ["./tset is no program of this repository"]);
    assert_eq!(of("        run: sudo -E packaging/check x86_64"), [""; 0]);
    assert_eq!(
        of("        run: sudo packaging/tools.txt"),
        ["packaging/tools.txt is no program of this repository"]
    );
    assert_eq!(of("  PURE: -p iosonde-model -p iosonde-stat"), ["there is no crate iosonde-stat"]);
    assert_eq!(of("      - run: cargo build -p iosonde"), [""; 0]);
}
