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

/// The outermost element of a document.
pub(super) fn document(text: &str) -> Result<Element, ImportError> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().trim_text(true);
    let damaged = |byte: usize, why: String| {
        let (line, column) = place_of(text, byte.min(text.len()));
        Damage::at(line, column, why)
    };
    // Places by counting on: looking each up from the beginning would take the square of the time.
    let (mut lines, mut line_start, mut counted) = (1, 0, 0);
    let mut count_to = |byte: usize| {
        let part = text.as_bytes().get(counted..byte).unwrap_or_default();
        lines += part.iter().filter(|byte| **byte == b'\n').count();
        if let Some(at) = part.iter().rposition(|byte| *byte == b'\n') {
            line_start = counted + at + 1;
        }
        counted = counted.max(byte);
        (lines, text.get(line_start..byte).map_or(1, |before| before.chars().count() + 1))
    };
    let (mut open, mut elements, mut root): (Vec<Element>, usize, Option<Element>) = (Vec::new(), 0, None);
    loop {
        // Blanks before it are skipped.
        let before = usize::try_from(reader.buffer_position()).unwrap_or(text.len());
        let blanks = text.as_bytes().get(before..).unwrap_or_default();
        let began = before + blanks.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        let event = reader.read_event().map_err(|error| {
            damaged(usize::try_from(reader.error_position()).unwrap_or(text.len()), error.to_string())
        })?;
        match event {
            Event::Start(tag) | Event::Empty(tag) if root.is_some() => {
                let name = String::from_utf8_lossy(tag.name().as_ref()).into_owned();
                return Err(damaged(began, format!("<{name}> stands behind the end of the document")));
            }
            Event::Start(tag) => {
                elements += 1;
                if open.len() >= DEPTH_MAX || elements > ELEMENTS_MAX {
                    let why = format!(
                        "more than {DEPTH_MAX} levels or {ELEMENTS_MAX} elements, which no result has"
                    );
                    return Err(damaged(began, why));
                }
                let name = String::from_utf8_lossy(tag.name().as_ref()).into_owned();
                let place = count_to(began);
                open.push(Element { name, place, ..Element::default() });
            }
            Event::Empty(tag) => {
                elements += 1;
                let name = String::from_utf8_lossy(tag.name().as_ref()).into_owned();
                let place = count_to(began);
                if let Some(parent) = open.last_mut().filter(|_| elements <= ELEMENTS_MAX) {
                    parent.children.push(Element { name, place, ..Element::default() });
                }
            }
            Event::Text(part) => {
                if let Some(element) = open.last_mut() {
                    element.text.push_str(&String::from_utf8_lossy(&part));
                }
            }
            Event::End(_) => {
                if let Some(element) = open.pop() {
                    match open.last_mut() {
                        Some(parent) => parent.children.push(element),
                        None => root = Some(element),
                    }
                }
            }
            Event::DocType(_) => {
                return Err(damaged(
                    began,
                    "a DOCTYPE, which no result has; its entities are not expanded".into(),
                ));
            }
            Event::Eof => break,
            // Names of files may have entities; nothing that is read does.
            _ => {}
        }
    }
    if let Some(element) = open.last() {
        let lines = text.lines().count();
        let why = format!(
            "the XML ends within <{}>: the program was stopped, or the copy is not whole",
            element.name
        );
        return Err(Damage::at(lines, text.lines().last().map_or(1, |line| line.chars().count() + 1), why));
    }
    root.ok_or_else(|| Damage::at(1, 1, "no XML element"))
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
