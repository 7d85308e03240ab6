//! XML of other programs as a tree, with places and limits. Entities of a document's own are never expanded.

use quick_xml::{Reader, events::Event};

use super::{Damage, ImportError, damage::place_of};

/// Elements within elements: diskspd's results have seven levels.
const DEPTH_MAX: usize = 32;
/// Most elements: diskspd's results have some thousand for each time span.
const ELEMENTS_MAX: usize = 1_000_000;

/// An element with its text and its children.
#[derive(Debug, Default)]
pub(super) struct Element {
    pub(super) name: String,
    pub(super) text: String,
    children: Vec<Element>,
    place: (usize, usize),
}

impl Element {
    /// The first child of this name.
    pub(super) fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }

    /// All children of this name.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// A descendant, by the names on the way.
    pub(super) fn path(&self, names: &[&str]) -> Option<&Self> {
        names.iter().try_fold(self, |element, name| element.child(name))
    }

    /// Text of a child; empty without one.
    pub(super) fn text_of(&self, name: &str) -> &str {
        self.child(name).map_or("", |child| child.text.as_str())
    }

    /// Number of a child that must be there.
    pub(super) fn number(&self, name: &str) -> Result<f64, ImportError> {
        self.optional(name)?.ok_or_else(|| self.damaged(format!("<{}> has no <{name}>", self.name)))
    }

    /// Number of a child, if it is there; a comma before the decimals is taken too, as some Windows print it.
    pub(super) fn optional(&self, name: &str) -> Result<Option<f64>, ImportError> {
        let Some(child) = self.child(name) else { return Ok(None) };
        let number = child.text.replace(',', ".").parse().ok();
        let number = number.filter(|n: &f64| n.is_finite() && (0.0..1e18).contains(n));
        number
            .map(Some)
            .ok_or_else(|| child.damaged(format!("`{}` in <{name}> is no number", shown(&child.text))))
    }

    /// A cause at this element.
    pub(super) fn damaged(&self, why: impl Into<String>) -> ImportError {
        Damage::at(self.place.0, self.place.1, why)
    }
}

fn shown(text: &str) -> String {
    text.chars().take(40).collect()
}

/// Places by counting on: looking each up from the beginning would take the square of the time.
struct Places<'a> {
    text: &'a str,
    line: usize,
    line_start: usize,
    counted: usize,
}

impl Places<'_> {
    fn at(&mut self, byte: usize) -> (usize, usize) {
        let part = self.text.as_bytes().get(self.counted..byte).unwrap_or_default();
        self.line += part.iter().filter(|byte| **byte == b'\n').count();
        if let Some(at) = part.iter().rposition(|byte| *byte == b'\n') {
            self.line_start = self.counted + at + 1;
        }
        self.counted = self.counted.max(byte);
        (self.line, self.text.get(self.line_start..byte).map_or(1, |before| before.chars().count() + 1))
    }
}

/// Elements that are open, and the outermost once it is closed.
#[derive(Default)]
struct Tree {
    open: Vec<Element>,
    elements: usize,
    root: Option<Element>,
}

impl Tree {
    fn begin(&mut self, name: &[u8], place: (usize, usize)) -> Result<(), ImportError> {
        self.elements += 1;
        let name = String::from_utf8_lossy(name).into_owned();
        let element = Element { name, place, ..Element::default() };
        if self.root.is_some() {
            return Err(element.damaged(format!("<{}> stands behind the end of the document", element.name)));
        }
        if self.open.len() >= DEPTH_MAX || self.elements > ELEMENTS_MAX {
            let why = format!("more than {DEPTH_MAX} levels or {ELEMENTS_MAX} elements, which no result has");
            return Err(element.damaged(why));
        }
        self.open.push(element);
        Ok(())
    }

    fn end(&mut self) {
        let Some(element) = self.open.pop() else { return };
        match self.open.last_mut() {
            Some(parent) => parent.children.push(element),
            None => self.root = Some(element),
        }
    }
}

/// The outermost element of a document.
pub(super) fn document(text: &str) -> Result<Element, ImportError> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().trim_text(true);
    let (mut places, mut tree) = (Places { text, line: 1, line_start: 0, counted: 0 }, Tree::default());
    loop {
        // Blanks before it are skipped.
        let before = usize::try_from(reader.buffer_position()).unwrap_or(text.len());
        let blanks = text.as_bytes().get(before..).unwrap_or_default();
        let began = before + blanks.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let event = reader.read_event().map_err(|error| {
            let at = usize::try_from(reader.error_position()).unwrap_or(text.len()).min(text.len());
            let (line, column) = place_of(text, at);
            Damage::at(line, column, error.to_string())
        })?;
        match event {
            Event::Start(tag) => tree.begin(tag.name().as_ref(), places.at(began))?,
            Event::Empty(tag) => {
                tree.begin(tag.name().as_ref(), places.at(began))?;
                tree.end();
            }
            Event::Text(part) => {
                if let Some(element) = tree.open.last_mut() {
                    element.text.push_str(&String::from_utf8_lossy(&part));
                }
            }
            Event::End(_) => tree.end(),
            Event::DocType(_) => {
                let (line, column) = places.at(began);
                return Err(Damage::at(
                    line,
                    column,
                    "a DOCTYPE, which no result has; its entities are not expanded",
                ));
            }
            Event::Eof => break,
            // Names of files may have entities; nothing that is read does.
            _ => {}
        }
    }
    if let Some(element) = tree.open.last() {
        let why = format!(
            "the XML ends within <{}>: the program was stopped, or the copy is not whole",
            element.name
        );
        let last = text.lines().last().map_or(1, |line| line.chars().count() + 1);
        return Err(Damage::at(text.lines().count(), last, why));
    }
    tree.root.ok_or_else(|| Damage::at(1, 1, "no XML element"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_with_places() {
        let root = document("<?xml version=\"1.0\"?>\n<A>\n  <B>1,5</B><C/>\n</A>\n").unwrap();
        assert_eq!((root.name.as_str(), root.place), ("A", (2, 1)));
        assert_eq!((root.number("B").unwrap(), root.child("B").unwrap().place), (1.5, (3, 3)));
        assert_eq!(root.optional("D").unwrap(), None);
        assert_eq!(root.number("D").unwrap_err().place(), Some((2, 1)));
        assert_eq!(root.number("C").unwrap_err().place(), Some((3, 13)));
    }

    #[test]
    fn what_is_damaged_or_hostile_is_refused_with_its_place() {
        let bomb =
            "<?xml version=\"1.0\"?>\n<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]>\n<x>&b;</x>";
        for (text, place, told) in [
            (bomb, Some((2, 1)), "DOCTYPE"),
            ("<A>\n <B>", Some((2, 5)), "ends within <B>"),
            ("<A>\n <B></A>", Some((2, 5)), "B"),
            ("<A></A>\n<B/>", Some((2, 1)), "behind the end"),
            (&"<a>".repeat(100_000), Some((1, 97)), "32 levels"),
            ("", Some((1, 1)), "no XML element"),
        ] {
            let error = document(text).unwrap_err();
            assert_eq!(error.place(), place, "{error}");
            assert!(error.to_string().contains(told), "{error}");
        }
    }
}
