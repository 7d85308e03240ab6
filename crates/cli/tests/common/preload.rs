//! `preload.c`, built once for each test and put under the program. It needs a C compiler, as SQLite does.

use std::{path::PathBuf, process::Command};

use super::Bench;

/// The built library; says so where it cannot be built.
pub(crate) fn library(bench: &Bench) -> Option<PathBuf> {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/preload.c");
    let library = bench.path("preload.so");
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"])
        .arg(&library)
        .arg(source)
        .output();
    match built {
        Ok(output) if output.status.success() => Some(library),
        Ok(output) => panic!("{}", String::from_utf8_lossy(&output.stderr)),
        Err(error) => {
            eprintln!("skipped: no C compiler: {error}");
            None
        }
    }
}
