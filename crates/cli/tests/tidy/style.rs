//! Style: openings, sizes, and nothing left for later.

use syn::{
    Block, ImplItemFn, ItemFn, Signature, TraitItemFn,
    spanned::Spanned,
    visit::{self, Visit},
};

use crate::{Fault, Source};

/// rustfmt keeps code within 110. What it cannot break (comments, texts, macros) may have ten more.
const LINE_COLUMNS: usize = 120;
const FUNCTION_LINES: usize = 70;
const FILE_LINES: usize = 800;

/// Functions that are longer than they should be: file, name, lines. The number may only fall; an entry goes when
/// its function fits.
pub(crate) const LONGER: &[(&str, &str, usize)] = &[];

/// Files that do not begin with a `//!` comment.
pub(crate) fn openings(sources: &[Source]) -> Vec<Fault> {
    let silent = sources.iter().filter(|source| !source.text.starts_with("//! "));
    silent.map(|source| source.fault(1, "begin the file with `//!` and a sentence: what it is for")).collect()
}

/// Lines, functions and files that are too long.
pub(crate) fn sizes(sources: &[Source], longer: &[(&str, &str, usize)]) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut used = vec![false; longer.len()];
    for source in sources {
        for (line, number) in source.text.lines().zip(1..) {
            let columns = line.chars().count();
            if columns > LINE_COLUMNS {
                faults.push(
                    source.fault(number, format!("{columns} columns; break the line after {LINE_COLUMNS}")),
                );
            }
        }
        let lines = source.text.lines().count();
        if lines > FILE_LINES {
            faults.push(
                source.fault(lines, format!("{lines} lines; split the file, one idea each ({FILE_LINES})")),
            );
        }
        for function in functions(source) {
            let known =
                longer.iter().position(|(path, name, _)| *path == source.path && *name == function.name);
            let allowed = known.map_or(FUNCTION_LINES, |at| longer[at].2);
            known.into_iter().for_each(|at| used[at] = true);
            faults.extend(judge(source, &function, allowed, known.is_some()));
        }
    }
    let gone = longer.iter().zip(used).filter(|(_, used)| !used);
    faults.extend(gone.map(|((path, name, _), _)| {
        Source::new(path, "")
            .fault(1, format!("`{name}` is gone; take it out of LONGER in tests/tidy/style.rs"))
    }));
    faults
}

fn judge(source: &Source, function: &Function, allowed: usize, listed: bool) -> Option<Fault> {
    let Function { name, line, lines } = function;
    let what = if lines > &allowed {
        format!("`{name}` has {lines} lines; split it, so that it fits on a screen ({allowed})")
    } else if listed && *lines <= FUNCTION_LINES {
        format!("`{name}` fits now; take it out of LONGER in tests/tidy/style.rs")
    } else if listed && *lines < allowed {
        format!("`{name}` has become shorter; write {lines} instead of {allowed} in tests/tidy/style.rs")
    } else {
        return None;
    };
    Some(source.fault(*line, what))
}

struct Function {
    name: String,
    line: usize,
    lines: usize,
}

fn functions(source: &Source) -> Vec<Function> {
    #[derive(Default)]
    struct Found(Vec<Function>);
    impl Found {
        // From `fn` to the closing brace: comments and attributes before it are not its length.
        fn push(&mut self, signature: &Signature, block: &Block) {
            let (first, last) = (signature.span().start().line, block.span().end().line);
            self.0.push(Function { name: signature.ident.to_string(), line: first, lines: last + 1 - first });
        }
    }
    impl<'ast> Visit<'ast> for Found {
        fn visit_item_fn(&mut self, node: &'ast ItemFn) {
            self.push(&node.sig, &node.block);
            visit::visit_item_fn(self, node);
        }
        fn visit_impl_item_fn(&mut self, node: &'ast ImplItemFn) {
            self.push(&node.sig, &node.block);
            visit::visit_impl_item_fn(self, node);
        }
        fn visit_trait_item_fn(&mut self, node: &'ast TraitItemFn) {
            node.default.iter().for_each(|block| self.push(&node.sig, block));
            visit::visit_trait_item_fn(self, node);
        }
    }
    let mut found = Found::default();
    found.visit_file(&source.syntax());
    found.0
}

/// Macros and comments that promise to do it later. In two halves, so that this file may hold them.
const LATER_MACROS: [&str; 2] = [concat!("to", "do"), concat!("unimple", "mented")];
const LATER_WORDS: [&str; 4] =
    [concat!("FIX", "ME"), concat!("X", "XX"), concat!("TO", "DO"), concat!("HA", "CK")];

/// What was left for later.
pub(crate) fn leftovers(sources: &[Source]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for source in sources {
        for name in LATER_MACROS {
            let lines = source.lines_with(&[name, "!"]);
            faults
                .extend(lines.into_iter().map(|line| source.fault(line, format!("`{name}!`: write it now"))));
        }
        for (line, number) in source.text.lines().zip(1..) {
            let words = line.split(|c: char| !c.is_ascii_alphanumeric());
            faults.extend(words.filter(|word| LATER_WORDS.contains(word)).map(|word| {
                source.fault(
                    number,
                    format!("`{word}`: do it, or open an issue and say here why it is not done"),
                )
            }));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(faults: &[Fault]) -> Vec<usize> {
        faults.iter().map(|fault| fault.line).collect()
    }

    fn long_function(lines: usize) -> Source {
        let body = "    step();\n".repeat(lines - 2);
        Source::new("a.rs", &format!("//! A.\n\n/// Doc.\n#[inline]\nfn long() {{\n{body}}}\n"))
    }

    #[test]
    fn a_file_without_a_comment_is_caught() {
        assert_eq!(lines(&openings(&[Source::new("a.rs", "use b;\n//! A.")])), [1]);
        assert!(openings(&[Source::new("a.rs", "//! A.\nuse b;")]).is_empty());
    }

    #[test]
    fn a_function_is_measured_from_fn_to_brace() {
        assert!(sizes(&[long_function(70)], &[]).is_empty());
        let faults = sizes(&[long_function(71)], &[]);
        assert_eq!(lines(&faults), [5]);
        assert!(faults[0].what.starts_with("`long` has 71 lines"), "{}", faults[0]);
    }

    #[test]
    fn the_ratchet_only_turns_one_way() {
        let listed = |lines| [("a.rs", "long", lines)];
        assert!(sizes(&[long_function(90)], &listed(90)).is_empty());
        assert!(sizes(&[long_function(91)], &listed(90))[0].what.contains("has 91 lines"));
        assert!(sizes(&[long_function(89)], &listed(90))[0].what.contains("write 89 instead of 90"));
        assert!(sizes(&[long_function(70)], &listed(90))[0].what.contains("fits now"));
        assert!(sizes(&[Source::new("a.rs", "")], &listed(90))[0].what.contains("is gone"));
    }

    #[test]
    fn columns_are_characters_not_bytes() {
        let wide = |columns: usize| Source::new("a.rs", &format!("//! A.\n// {}\n", "µ".repeat(columns - 3)));
        assert!(sizes(&[wide(120)], &[]).is_empty());
        assert_eq!(lines(&sizes(&[wide(121)], &[])), [2]);
    }

    #[test]
    fn later_is_caught_in_code_and_in_comments_but_not_in_strings() {
        let [later, _] = LATER_MACROS;
        let [word, ..] = LATER_WORDS;
        let source =
            Source::new("a.rs", &format!("//! A.\nfn f() {{\n    {later}!()\n}}\n// {word}: tidy up\n"));
        assert_eq!(lines(&leftovers(&[source])), [3, 5]);
        assert!(
            leftovers(&[Source::new("a.rs", &format!("//! A.\nconst S: &str = \"{later}!\";\n"))]).is_empty()
        );
    }
}
