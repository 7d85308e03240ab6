//! Nothing decides by looking into a sentence: code that thinks matches on facts, and code that shows joins words.

use std::collections::BTreeSet;

use syn::{
    Attribute, BinOp, Expr, ExprBinary, ExprMethodCall, File, ImplItemFn, Item, ItemFn, ItemMod, Local, Meta,
    Pat,
    spanned::Spanned,
    visit::{self, Visit},
};

use crate::{Fault, Source};

/// Crates that measure, keep, think or show.
const CRATES: [&str; 7] = ["rig", "store", "judge", "plan", "infer", "report", "cli"];

/// Methods that look into a text or reshape it.
const LOOKS: [&str; 18] = [
    "contains",
    "starts_with",
    "ends_with",
    "strip_prefix",
    "strip_suffix",
    "split",
    "split_once",
    "splitn",
    "rsplit",
    "rsplit_once",
    "replace",
    "replacen",
    "find",
    "rfind",
    "matches",
    "trim_end_matches",
    "trim_start_matches",
    "trim_matches",
];

/// Functions and methods that return a sentence.
const MAKERS: [&str; 16] = [
    "sentence",
    "why",
    "why_of",
    "words",
    "clause",
    "reason",
    "problem",
    "with_interval",
    "bounded",
    "note",
    "absence",
    "request_error",
    "counted_error",
    "hidden_by",
    "left_out",
    "headline",
];

/// Fields and variables that hold one.
const HOLDERS: [&str; 4] = ["sentence", "why", "headline", "clause"];

/// Calls that hand a text through.
const THROUGH: [&str; 8] =
    ["as_str", "as_ref", "as_deref", "clone", "to_owned", "to_string", "unwrap_or_default", "unwrap"];

/// Places where product code looks into a sentence.
pub(crate) fn looked_into(sources: &[Source]) -> Vec<Fault> {
    let product = |source: &&Source| {
        let crates = CRATES.iter().any(|name| source.path.starts_with(&format!("crates/{name}/src/")));
        crates && !source.path.ends_with("_tests.rs") && source.stem() != "tests"
    };
    sources.iter().filter(product).flat_map(faults).collect()
}

fn faults(source: &Source) -> Vec<Fault> {
    let mut looks = Looks::default();
    looks.visit_file(&source.syntax());
    let what = |method: &str| {
        format!(
            "`{method}` looks into a sentence; match on the facts that it is made of (tests/tidy/prose.rs)"
        )
    };
    looks.found.iter().map(|(line, method)| source.fault(*line, what(method))).collect()
}

/// Calls that look into a sentence, outside tests.
#[derive(Default)]
struct Looks {
    /// Variables of the function that hold a sentence.
    held: BTreeSet<String>,
    found: Vec<(usize, String)>,
}

impl Looks {
    /// Whether an expression is a sentence: made by a function that returns one, or held under such a name.
    fn is_sentence(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) => {
                    path.path.segments.last().is_some_and(|last| MAKERS.contains(&&*last.ident.to_string()))
                }
                _ => false,
            },
            Expr::MethodCall(call) => {
                let name = call.method.to_string();
                MAKERS.contains(&&*name) || THROUGH.contains(&&*name) && self.is_sentence(&call.receiver)
            }
            Expr::Field(field) => match &field.member {
                syn::Member::Named(name) => HOLDERS.contains(&&*name.to_string()),
                syn::Member::Unnamed(_) => false,
            },
            Expr::Path(path) => path.path.get_ident().is_some_and(|name| {
                let name = name.to_string();
                HOLDERS.contains(&&*name) || self.held.contains(&name)
            }),
            Expr::Reference(inner) => self.is_sentence(&inner.expr),
            Expr::Unary(inner) => self.is_sentence(&inner.expr),
            Expr::Paren(inner) => self.is_sentence(&inner.expr),
            Expr::Try(inner) => self.is_sentence(&inner.expr),
            _ => false,
        }
    }
}

impl<'ast> Visit<'ast> for Looks {
    fn visit_expr_method_call(&mut self, node: &'ast ExprMethodCall) {
        let method = node.method.to_string();
        // A list of sentences that is searched for one decides by its words, too.
        let searched = method == "contains" && node.args.iter().any(|argument| self.is_sentence(argument));
        if searched || LOOKS.contains(&&*method) && self.is_sentence(&node.receiver) {
            self.found.push((node.method.span().start().line, method));
        }
        visit::visit_expr_method_call(self, node);
    }

    fn visit_expr_binary(&mut self, node: &'ast ExprBinary) {
        if matches!(node.op, BinOp::Eq(_) | BinOp::Ne(_))
            && (self.is_sentence(&node.left) || self.is_sentence(&node.right))
        {
            self.found.push((node.op.span().start().line, "==".to_owned()));
        }
        visit::visit_expr_binary(self, node);
    }

    fn visit_local(&mut self, node: &'ast Local) {
        let pat = match &node.pat {
            Pat::Type(typed) => &typed.pat,
            pat => pat,
        };
        if let (Pat::Ident(name), Some(init)) = (pat, &node.init)
            && self.is_sentence(&init.expr)
        {
            self.held.insert(name.ident.to_string());
        }
        visit::visit_local(self, node);
    }

    fn visit_item_fn(&mut self, node: &'ast ItemFn) {
        self.held.clear();
        visit::visit_item_fn(self, node);
    }

    fn visit_impl_item_fn(&mut self, node: &'ast ImplItemFn) {
        self.held.clear();
        visit::visit_impl_item_fn(self, node);
    }

    fn visit_item_mod(&mut self, node: &'ast ItemMod) {
        if !is_test(&node.attrs) {
            visit::visit_item_mod(self, node);
        }
    }

    fn visit_file(&mut self, node: &'ast File) {
        node.items
            .iter()
            .filter(|item| !matches!(item, Item::Macro(_)))
            .for_each(|item| self.visit_item(item));
    }
}

/// Whether an item is compiled for tests alone.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, body: &str) -> Vec<usize> {
        let text = format!("//! A.\nfn f(one: &Finding, said: &Line) -> bool {{\n{body}\n}}\n");
        looked_into(&[Source::new(path, &text)]).iter().map(|fault| fault.line).collect()
    }

    #[test]
    fn a_look_into_a_sentence_is_caught() {
        let path = "crates/report/src/a.rs";
        for body in [
            "sentence(one).contains(\"cannot\")",
            "crate::text::why_of(one).unwrap_or_default().starts_with(\"Its \")",
            "one.why().unwrap().split(';').next().is_none()",
            "said.headline.as_str().ends_with('.')",
            "said.contains(&crate::text::sentence(one))",
            "text::note(one) == said.text",
            "bounded(Unit::Iops, one).replace(\" IOPS\", \"\").is_empty()",
        ] {
            assert_eq!(lines(path, body), [3], "{body}");
        }
        assert_eq!(
            lines(path, "let text = super::sentence(one);\ntext.trim_end_matches('.').is_empty()"),
            [4]
        );
    }

    #[test]
    fn lists_names_and_tests_are_not_sentences() {
        let path = "crates/report/src/a.rs";
        assert!(lines(path, "said.contains(&one.name) || one.name.starts_with('a')").is_empty());
        assert!(lines("crates/sim/src/a.rs", "sentence(one).contains('a')").is_empty());
        assert!(lines("crates/report/src/a_tests.rs", "sentence(one).contains('a')").is_empty());
        let test = "//! A.\n#[cfg(test)]\nmod tests {\nfn f() { sentence(1).contains('a'); }\n}\n";
        assert!(looked_into(&[Source::new(path, test)]).is_empty());
    }
}
