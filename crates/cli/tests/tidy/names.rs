//! Names of findings and checks: written as text in model alone, so that a wrong one does not compile.

use iosonde_model::{CheckName, ExperimentName, FindingName};
use proc_macro2::{TokenStream, TokenTree};
use syn::{Lit, LitStr};

use crate::{Fault, Source};

/// The folder where names are written.
const HOME: &str = "crates/model/src/name/";

/// The enum that has a variant for this text. Single words mean other things too, and what is an experiment's name may
/// be a label that a study gives.
fn home_of(text: &str) -> Option<&'static str> {
    if text.contains('_') && text.parse::<FindingName>().is_ok() {
        return Some("FindingName");
    }
    let check = text.contains('-') && text.parse::<CheckName>().is_ok();
    (check && text.parse::<ExperimentName>().is_err()).then_some("CheckName")
}

/// String literals that are a name.
pub(crate) fn literals(sources: &[Source]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for source in sources.iter().filter(|source| !source.path.starts_with(HOME)) {
        let stream: TokenStream =
            source.text.parse().unwrap_or_else(|error| panic!("{}: {error}", source.path));
        for text in strings(stream) {
            if let Some(home) = home_of(&text.value()) {
                let what = format!("\"{}\" is a name; write its variant of {home}", text.value());
                faults.push(source.fault(text.span().start().line, what));
            }
        }
    }
    faults
}

fn strings(stream: TokenStream) -> Vec<LitStr> {
    let found = stream.into_iter().flat_map(|tree| match tree {
        TokenTree::Group(group) => strings(group.stream()),
        TokenTree::Literal(literal) => match Lit::new(literal) {
            Lit::Str(text) => vec![text],
            _ => Vec::new(),
        },
        TokenTree::Ident(_) | TokenTree::Punct(_) => Vec::new(),
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        literals(&[Source::new(path, text)]).iter().map(|fault| fault.line).collect()
    }

    #[test]
    fn a_name_as_text_is_caught_outside_its_home() {
        let text = format!(
            "//! A.\nconst A: &str = \"{}\";\nconst B: [&str; 1] = [r#\"{}\"#];\n",
            FindingName::BaseLatency,
            CheckName::LittlesLaw
        );
        assert_eq!(lines("crates/lab/src/a.rs", &text), [2, 3]);
        assert_eq!(lines("crates/model/src/name/finding.rs", &text), [0; 0]);
        // Words of other meanings, labels of experiments, and texts that mention a name.
        let others =
            format!("const A: [&str; 3] = [\"drift\", \"working-set\", \"a {}\"];", FindingName::BaseLatency);
        assert_eq!(lines("crates/lab/src/a.rs", &others), [0; 0]);
    }
}
