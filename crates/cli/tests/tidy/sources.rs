//! The workspace's Rust files, and what is wrong with them.

use proc_macro2::{TokenStream, TokenTree};
use std::{
    fmt, fs,
    path::{Path, PathBuf},
};

/// Something to mend.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) path: String,
    pub(crate) line: usize,
    /// What is wrong and what to do.
    pub(crate) what: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.what)
    }
}

/// One Rust file.
#[derive(Debug)]
pub(crate) struct Source {
    /// From the workspace's root: `crates/rig/src/clock.rs`.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned() }
    }

    pub(crate) fn fault(&self, line: usize, what: impl Into<String>) -> Fault {
        Fault { path: self.path.clone(), line, what: what.into() }
    }

    /// Parsed; a file that the compiler takes, this takes.
    pub(crate) fn syntax(&self) -> syn::File {
        syn::parse_file(&self.text).unwrap_or_else(|error| panic!("{}: {error}", self.path))
    }

    /// Every word and punctuation mark with its line; comments and strings are not among them.
    pub(crate) fn tokens(&self) -> Vec<(String, usize)> {
        let stream: TokenStream = self.text.parse().unwrap_or_else(|error| panic!("{}: {error}", self.path));
        flat_tokens(stream)
    }

    /// The lines on which these tokens stand one after the other.
    pub(crate) fn lines_with(&self, wanted: &[&str]) -> Vec<usize> {
        let tokens = self.tokens();
        let same = |window: &[(String, usize)]| {
            window.iter().map(|(word, _)| word.as_str()).eq(wanted.iter().copied())
        };
        tokens.windows(wanted.len()).filter(|window| same(window)).map(|window| window[0].1).collect()
    }

    /// The folder, without the file's name.
    pub(crate) fn folder(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// The file's name without `.rs`.
    pub(crate) fn stem(&self) -> &str {
        let name = self.path.rsplit_once('/').map_or(self.path.as_str(), |(_, name)| name);
        name.strip_suffix(".rs").unwrap_or(name)
    }
}

pub(crate) fn flat_tokens(stream: TokenStream) -> Vec<(String, usize)> {
    let mut out = Vec::new();
    for tree in stream {
        let line = tree.span().start().line;
        match tree {
            TokenTree::Group(group) => out.extend(flat_tokens(group.stream())),
            TokenTree::Ident(word) => out.push((word.to_string(), line)),
            TokenTree::Punct(mark) => out.push((mark.to_string(), line)),
            TokenTree::Literal(_) => {}
        }
    }
    out
}

/// The workspace's root.
pub(crate) fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the crate lies two folders below the workspace's root")
}

/// Every Rust file below `crates/`, in order.
pub(crate) fn all() -> Vec<Source> {
    let root = root();
    let mut paths = Vec::new();
    collect(&root.join("crates"), &mut paths);
    paths.sort();
    let sources = paths.iter().map(|path| {
        let name = path
            .strip_prefix(&root)
            .expect("it was found below the root")
            .to_str()
            .expect("our names are text");
        Source::new(name, &fs::read_to_string(path).unwrap_or_else(|error| panic!("{name}: {error}")))
    });
    let sources: Vec<_> = sources.collect();
    assert!(sources.len() > 50, "only {} files were found: the walk looks in the wrong place", sources.len());
    sources
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let entry = entry.expect("the folder could be read until now");
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        // What builds and editors leave behind is not ours to judge.
        if name.starts_with('.') || name == "target" || name == "node_modules" {
            continue;
        }
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect(&path, paths);
        } else if name.ends_with(".rs") {
            paths.push(path);
        }
    }
}
