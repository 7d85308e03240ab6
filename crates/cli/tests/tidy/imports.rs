//! What a file names of its own crate: paths that begin with `crate`, `self`, `super` or a module that it declares.

use std::collections::BTreeSet;

use syn::{
    Attribute, Item, ItemMod, ItemUse, Macro, Meta, Path, UseTree, Visibility,
    spanned::Spanned,
    visit::{self, Visit},
};

use crate::{Source, registers, sources::flat_tokens};

/// A path into the own crate.
pub(crate) struct Import {
    /// From the crate's root: `["check", "errors", "Errors"]`.
    pub(crate) path: Vec<String>,
    pub(crate) line: usize,
    /// The name under which a `pub use` passes it on, where it does.
    pub(crate) passed_on_as: Option<String>,
    /// Whether it is in code that is compiled for tests alone.
    pub(crate) for_tests: bool,
}

/// Where a file stands in its crate: `crates/lab/src/check/errors.rs` is `["check", "errors"]`.
pub(crate) fn module_path(source: &Source) -> Vec<String> {
    let inside = source.path.split_once("/src/").map_or("", |(_, inside)| inside);
    let names = inside.strip_suffix(".rs").unwrap_or(inside).split('/');
    names.filter(|name| !["mod", "lib", "main"].contains(name)).map(str::to_owned).collect()
}

/// Every path into the own crate that a file names, and every name with which a path in its code begins.
pub(crate) fn of(source: &Source) -> (Vec<Import>, BTreeSet<String>) {
    let syntax = source.syntax();
    let mut found = Found {
        module: module_path(source),
        children: registers::declared_names(&syntax.items),
        passes_on: false,
        for_tests: false,
        imports: Vec::new(),
        used: BTreeSet::new(),
    };
    found.visit_file(&syntax);
    (found.imports, found.used)
}

struct Found {
    module: Vec<String>,
    /// Modules in files of their own that this one declares.
    children: Vec<String>,
    /// Inside a `pub use`.
    passes_on: bool,
    /// Inside code for tests.
    for_tests: bool,
    imports: Vec<Import>,
    used: BTreeSet<String>,
}

impl Found {
    /// Adds a path as it is written: `super::x` in `check::errors` is `check::x`.
    fn add(&mut self, written: &[String], name: &str, line: usize) {
        let (mut path, mut rest) = (self.module.clone(), written);
        match rest.first().map(String::as_str) {
            Some("crate") => (path, rest) = (Vec::new(), &rest[1..]),
            Some("self") => rest = &rest[1..],
            Some("super") => {}
            Some(first) if self.children.iter().any(|child| child == first) => {}
            // Another crate, or a name that this file defines or imports itself.
            _ => return,
        }
        while rest.first().is_some_and(|name| name == "super") {
            path.pop();
            rest = &rest[1..];
        }
        path.extend_from_slice(rest);
        let passed_on_as = self.passes_on.then(|| name.to_owned());
        self.imports.push(Import { path, line, passed_on_as, for_tests: self.for_tests });
    }

    fn add_tree(&mut self, before: &[String], tree: &UseTree) {
        let with = |name: String| [before, &[name]].concat();
        match tree {
            UseTree::Path(path) => self.add_tree(&with(path.ident.to_string()), &path.tree),
            UseTree::Name(name) if name.ident == "self" => {
                self.add(before, before.last().map_or("", String::as_str), name.span().start().line);
            }
            UseTree::Name(name) => {
                let ident = name.ident.to_string();
                self.add(&with(ident.clone()), &ident, name.span().start().line);
            }
            UseTree::Rename(name) => {
                self.add(&with(name.ident.to_string()), &name.rename.to_string(), name.span().start().line);
            }
            UseTree::Glob(glob) => self.add(&with("*".into()), "*", glob.span().start().line),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.add_tree(before, tree)),
        }
    }
}

impl<'ast> Visit<'ast> for Found {
    fn visit_item(&mut self, node: &'ast Item) {
        let before = self.for_tests;
        self.for_tests |= attributes(node).iter().any(is_for_tests);
        visit::visit_item(self, node);
        self.for_tests = before;
    }

    fn visit_item_use(&mut self, node: &'ast ItemUse) {
        self.passes_on = !matches!(node.vis, Visibility::Inherited);
        self.add_tree(&[], &node.tree);
        self.passes_on = false;
    }

    /// `pub(super)` names a module and imports nothing.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    fn visit_path(&mut self, node: &'ast Path) {
        let written: Vec<_> = node.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.add(&written, "", node.span().start().line);
        self.used.extend(written.into_iter().next());
        visit::visit_path(self, node);
    }

    /// A macro's words are no syntax yet: what looks like a path is taken for one.
    fn visit_macro(&mut self, node: &'ast Macro) {
        let tokens = flat_tokens(node.tokens.clone());
        for (at, (word, line)) in tokens.iter().enumerate() {
            self.used.insert(word.clone());
            let follows = at > 0 && tokens[at - 1].0 == ":";
            if ["crate", "self", "super"].contains(&word.as_str()) && !follows {
                let more =
                    tokens[at + 1..].chunks_exact(3).take_while(|next| next[0].0 == ":" && next[1].0 == ":");
                let written: Vec<_> =
                    std::iter::once(word.clone()).chain(more.map(|next| next[2].0.clone())).collect();
                if written.len() > 1 {
                    self.add(&written, "", *line);
                }
            }
        }
        visit::visit_macro(self, node);
    }

    fn visit_item_mod(&mut self, node: &'ast ItemMod) {
        let (module, children) = (self.module.clone(), std::mem::take(&mut self.children));
        self.module.push(node.ident.to_string());
        node.content.iter().flat_map(|(_, items)| items).for_each(|item: &Item| self.visit_item(item));
        (self.module, self.children) = (module, children);
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn is_for_tests(attribute: &Attribute) -> bool {
    matches!(&attribute.meta, Meta::List(list)
        if list.path.is_ident("cfg") && flat_tokens(list.tokens.clone()).iter().any(|(word, _)| word == "test"))
}
