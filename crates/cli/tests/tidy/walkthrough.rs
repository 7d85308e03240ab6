//! The contributor's page against the code: its skeletons must implement the traits as they are today.

use quote::ToTokens;
use std::{collections::BTreeMap, path::Path};
use syn::{FnArg, ImplItem, Item, Signature, TraitItem};

use crate::{Fault, Source};

pub(crate) const PAGE: &str = "CONTRIBUTING.md";

/// The Rust skeletons of a page: the line on which each begins, and its text.
fn skeletons(page: &str) -> Vec<(usize, String)> {
    let mut out: Vec<(usize, String)> = Vec::new();
    let mut inside = false;
    for (line, number) in page.lines().zip(1..) {
        match line {
            "```rust" => {
                inside = true;
                out.push((number, String::new()));
            }
            "```" => inside = false,
            text if inside => {
                let (_, skeleton) = out.last_mut().expect("a fence has opened one");
                skeleton.push_str(text);
                skeleton.push('\n');
            }
            _ => {}
        }
    }
    out
}

/// What a method takes and gives; what it calls its arguments is its own business.
fn shape(signature: &Signature) -> String {
    let types = signature.inputs.iter().map(|input| match input {
        FnArg::Receiver(receiver) => receiver.to_token_stream().to_string(),
        FnArg::Typed(typed) => typed.ty.to_token_stream().to_string(),
    });
    let types: Vec<_> = types.collect();
    format!("({}) {}", types.join(", "), signature.output.to_token_stream())
}

/// Each method of a trait with its shape, and whether it must be written.
type Methods = BTreeMap<String, (String, bool)>;

fn traits(sources: &[Source]) -> BTreeMap<String, Methods> {
    let mut out = BTreeMap::new();
    for source in sources.iter().filter(|source| source.text.contains("pub trait ")) {
        for item in source.syntax().items {
            let Item::Trait(item) = item else { continue };
            let methods = item.items.iter().filter_map(|item| match item {
                TraitItem::Fn(method) => {
                    let what = (shape(&method.sig), method.default.is_none());
                    Some((method.sig.ident.to_string(), what))
                }
                _ => None,
            });
            out.insert(item.ident.to_string(), methods.collect());
        }
    }
    out
}

/// Skeletons that do not parse, or that implement a trait as it no longer is.
pub(crate) fn stale(page: &str, sources: &[Source]) -> Vec<Fault> {
    let traits = traits(sources);
    let mut faults = Vec::new();
    for (first, text) in skeletons(page) {
        let at = |line: usize, what: String| Fault { path: PAGE.to_owned(), line: first + line, what };
        let file = match syn::parse_file(&text) {
            Ok(file) => file,
            Err(error) => {
                faults.push(at(error.span().start().line, format!("the skeleton is no Rust: {error}")));
                continue;
            }
        };
        for item in file.items {
            let Item::Impl(item) = item else { continue };
            let name =
                item.trait_.as_ref().and_then(|(_, path, _)| Some(path.segments.last()?.ident.clone()));
            let Some((name, methods)) =
                name.and_then(|name| Some((name.clone(), traits.get(&name.to_string())?)))
            else {
                continue;
            };
            let line = name.span().start().line;
            let written: Vec<&Signature> = item
                .items
                .iter()
                .filter_map(|item| match item {
                    ImplItem::Fn(method) => Some(&method.sig),
                    _ => None,
                })
                .collect();
            for signature in &written {
                let same =
                    methods.get(&signature.ident.to_string()).is_some_and(|(s, _)| *s == shape(signature));
                if !same {
                    let line = signature.ident.span().start().line;
                    faults.push(at(line, format!("`{name}::{}` is not like this any more", signature.ident)));
                }
            }
            for (method, (_, needed)) in methods {
                if *needed && !written.iter().any(|signature| signature.ident == method) {
                    faults.push(at(line, format!("`{name}` has a method `{method}` now; write it here too")));
                }
            }
        }
    }
    faults
}

/// Reads the page.
pub(crate) fn page(root: &Path) -> String {
    std::fs::read_to_string(root.join(PAGE)).unwrap_or_else(|error| panic!("{PAGE}: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caught(skeleton: &str) -> Vec<String> {
        let sources = [Source::new(
            "a.rs",
            "//! A.\npub trait Check { fn why(&self, run: &Run); fn more(&self) {} }\n",
        )];
        let page = format!("# Page\n\n```rust\n{skeleton}\n```\n\nText.\n");
        stale(&page, &sources).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_skeleton_that_the_trait_has_left_behind_is_caught() {
        assert_eq!(caught("impl Check for A { fn why(&self, _unused: &Run) {} }"), [""; 0]);
        assert_eq!(
            caught("impl Check for A { fn why(&self) {} }"),
            ["CONTRIBUTING.md:4: `Check::why` is not like this any more"]
        );
        assert_eq!(
            caught("impl Check for A { fn more(&self) {} }"),
            ["CONTRIBUTING.md:4: `Check` has a method `why` now; write it here too"]
        );
        assert!(caught("impl Check for {")[0].starts_with("CONTRIBUTING.md:4: the skeleton is no Rust"));
    }
}
