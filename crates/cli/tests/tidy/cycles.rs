//! Import cycles between the files of a crate: who reads one file of a cycle must read them all.
//!
//! A `pub use` gives a name and needs nothing: a path through it leads to the file that has the item, and it counts
//! as an import only where its own file uses the name. Code for tests may import what it likes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::{
    Fault, Source,
    imports::{self, Import, module_path},
};

/// Which files each file imports.
type Graph<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// Cycles, each with the shortest way round.
pub(crate) fn cycles(sources: &[Source]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for graph in graphs(sources) {
        for tangle in tangles(&graph) {
            let way = names(&shortest(&graph, &tangle)).join(" -> ");
            let what = format!("an import cycle: {way}; all its files are {}", names(&tangle).join(", "));
            faults.push(Source::new(tangle[0], "").fault(1, what));
        }
    }
    faults
}

/// Files as they are called below their crate's `src`.
fn names<'a>(files: &[&'a str]) -> Vec<&'a str> {
    files.iter().map(|file| file.split_once("/src/").map_or(*file, |(_, name)| name)).collect()
}

/// The imports inside each crate.
fn graphs(sources: &[Source]) -> Vec<Graph<'_>> {
    let mut crates: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
    for source in sources {
        if let Some((name, _)) = source.path.split_once("/src/") {
            crates.entry(name).or_default().push(source);
        }
    }
    crates.into_values().map(|files| Crate::read(&files).graph()).collect()
}

/// The files of one crate by their modules.
struct Crate<'a> {
    files: BTreeMap<Vec<String>, &'a str>,
    imports: BTreeMap<&'a str, (Vec<Import>, BTreeSet<String>)>,
}

impl<'a> Crate<'a> {
    fn read(files: &[&'a Source]) -> Self {
        let modules = files.iter().map(|source| (module_path(source), source.path.as_str()));
        let imports = files.iter().map(|source| (source.path.as_str(), imports::of(source)));
        Self { files: modules.collect(), imports: imports.collect() }
    }

    fn graph(&self) -> Graph<'a> {
        let edges = |(file, (imports, used)): (&&'a str, &(Vec<Import>, BTreeSet<String>))| {
            let needs = |import: &&Import| {
                !import.for_tests && import.passed_on_as.as_ref().is_none_or(|name| used.contains(name))
            };
            let to = imports.iter().filter(needs).filter_map(|import| self.home(&import.path, 0));
            (*file, to.filter(|to| to != file).collect())
        };
        self.imports.iter().map(edges).collect()
    }

    /// The file that has what a path leads to, through every `pub use` on the way.
    fn home(&self, path: &[String], turns: usize) -> Option<&'a str> {
        let length = (0..=path.len()).rev().find(|length| self.files.contains_key(&path[..*length]))?;
        let file = self.files[&path[..length]];
        let passed = path.get(length).and_then(|name| {
            let (imports, _) = &self.imports[file];
            imports.iter().find(|import| import.passed_on_as.as_ref() == Some(name))
        });
        // Two files that pass a name to each other and have it nowhere would not compile.
        match passed.filter(|_| turns < 8) {
            Some(import) => self.home(&[&import.path, &path[length + 1..]].concat(), turns + 1),
            None => Some(file),
        }
    }
}

/// The files that can be reached from a file over at least one import.
fn reached<'a>(graph: &Graph<'a>, from: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut waiting: Vec<&str> = graph[from].iter().copied().collect();
    while let Some(file) = waiting.pop() {
        if reached.insert(file) {
            waiting.extend(&graph[file]);
        }
    }
    reached
}

/// Groups of files of which each imports every other, over others where need be.
fn tangles<'a>(graph: &Graph<'a>) -> Vec<Vec<&'a str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|file| (*file, reached(graph, file))).collect();
    let mut tangles: Vec<Vec<&str>> = Vec::new();
    for file in graph.keys().filter(|file| reached[*file].contains(*file)) {
        match tangles
            .iter_mut()
            .find(|tangle| reached[file].contains(tangle[0]) && reached[tangle[0]].contains(file))
        {
            Some(tangle) => tangle.push(file),
            None => tangles.push(vec![file]),
        }
    }
    tangles
}

/// A shortest way from a tangle's first file back to it.
fn shortest<'a>(graph: &Graph<'a>, tangle: &[&'a str]) -> Vec<&'a str> {
    let mut ways = VecDeque::from([vec![tangle[0]]]);
    let mut seen = BTreeSet::new();
    while let Some(way) = ways.pop_front() {
        for next in &graph[way[way.len() - 1]] {
            let longer = [&way[..], &[*next]].concat();
            if *next == tangle[0] {
                return longer;
            }
            if seen.insert(*next) {
                ways.push_back(longer);
            }
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small_crate(a: &str, b: &str, folder: &str) -> Vec<Source> {
        let file = |path: &str, text: &str| Source::new(path, &format!("//! X.\n{text}\n"));
        vec![
            file("crates/x/src/lib.rs", "mod a;\nmod b;\nmod folder;"),
            file("crates/x/src/a.rs", a),
            file("crates/x/src/b.rs", b),
            file("crates/x/src/folder/mod.rs", folder),
            file("crates/x/src/folder/inner.rs", "use super::Shared;\nfn f(_: Shared) {}"),
        ]
    }

    fn caught(a: &str, b: &str, folder: &str) -> Vec<String> {
        cycles(&small_crate(a, b, folder)).into_iter().map(|fault| fault.what).collect()
    }

    const FOLDER: &str = "mod inner;\npub struct Shared;\npub use inner::f;";

    #[test]
    fn a_cycle_is_caught_however_it_is_written() {
        let said = ["an import cycle: a.rs -> b.rs -> a.rs; all its files are a.rs, b.rs"];
        for a in [
            "use crate::b::g;",
            "use super::b;",
            "fn f() { crate::b::g(); }",
            "fn f() { println!(\"{}\", super::b::g()); }",
            "mod inside { use crate::b::g; }",
        ] {
            assert_eq!(caught(a, "use crate::a::f;", FOLDER), said, "{a}");
            assert_eq!(caught(a, "#[cfg(test)]\nmod tests { use crate::a::f; }", FOLDER), [""; 0], "{a}");
        }
        assert_eq!(caught("use crate::b::g;", "use std::fmt;", FOLDER), [""; 0]);
    }

    #[test]
    fn a_name_that_is_passed_on_leads_to_its_file() {
        // `a` gets `inner`'s function from the folder, and the folder's own struct is what `inner` needs.
        assert_eq!(caught("use crate::folder::f;", "", FOLDER), [""; 0]);
        let uses = format!("{FOLDER}\nfn g() {{ f(Shared) }}");
        let said = "an import cycle: folder/inner.rs -> folder/mod.rs -> folder/inner.rs; all its files are \
                    folder/inner.rs, folder/mod.rs";
        assert_eq!(caught("", "", &uses), [said]);
        let inner = Source::new("crates/x/src/folder/inner.rs", "//! I.\npub(super) fn f() {}\n");
        let mut visible = small_crate("", "", "mod inner;\nfn g() { inner::f() }");
        visible[4] = inner;
        assert!(cycles(&visible).is_empty(), "a visibility is no import");
        let declared = "mod inner;\npub struct Shared;\nfn g() { inner::f(Shared) }";
        assert_eq!(caught("", "", declared), [said]);
    }
}
