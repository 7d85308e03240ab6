//! Errors in files: the place, the key, and what was expected there.

use std::fmt;

/// A file that cannot be used, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileError {
    /// The file's path, or the name of what comes with the program.
    pub origin: String,
    /// Place in the file; `None` where the whole file is meant.
    pub place: Option<TextPosition>,
    /// The section with its parents, with dots between: `queue.service`; empty for keys before the first section.
    pub table: String,
    /// The key in that section; `None` where no single key is meant.
    pub key: Option<String>,
    /// Problem found there.
    pub problem: Box<Problem>,
}

/// A place in a text, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextPosition {
    /// Line.
    pub line: usize,
    /// Character within the line.
    pub column: usize,
}

impl TextPosition {
    /// Place of a byte of the text.
    pub fn at(text: &str, at: usize) -> Self {
        let before = String::from_utf8_lossy(&text.as_bytes()[..at.min(text.len())]);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        Self { line: 1 + before.matches('\n').count(), column: 1 + before[line_start..].chars().count() }
    }
}

/// A reason why a file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// The text is not TOML; in the parser's words.
    Syntax(String),
    /// Unknown key.
    Unknown {
        /// The known key that resembles it.
        nearest: Option<String>,
        /// Known keys of the section.
        known: Vec<String>,
        /// True if the key begins a section.
        is_section: bool,
        /// Section that has such a key.
        belongs_to: Option<&'static str>,
    },
    /// A key that is needed.
    Missing {
        /// Name of the key.
        key: String,
        /// Meaning or example; may be empty.
        explain: String,
        /// An unknown key of the section, and the known one that was most likely meant.
        slip: Option<(String, String)>,
    },
    /// Value of another kind.
    Type {
        /// The right kind, with an example.
        expected: String,
        /// The value.
        found: String,
    },
    /// Value that is not one of the allowed words.
    Choice {
        /// The word.
        typed: String,
        /// The words that are allowed.
        allowed: &'static [&'static str],
    },
    /// Value that cannot be read; in the words of its type, which name the value.
    Value(String),
    /// A value that can be read and breaks a rule.
    Rule {
        /// Value as written in the file, if there is one.
        value: Option<String>,
        /// Rule that the value breaks.
        rule: String,
    },
    /// Something that no key alone is to blame for.
    Whole(String),
}

impl FileError {
    /// Adds to a missing key its meaning: each key with its sections, as in `queue.servers`.
    pub fn explained(mut self, meanings: &[(&str, &str)]) -> Self {
        if let Problem::Missing { key, explain, .. } = &mut *self.problem {
            let path = if self.table.is_empty() { key.clone() } else { format!("{}.{key}", self.table) };
            if let Some((_, meaning)) = meanings.iter().find(|(known, _)| *known == path) {
                *explain = (*meaning).to_owned();
            }
        }
        self
    }
}

impl std::error::Error for FileError {}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.origin)?;
        if let Some(TextPosition { line, column }) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        f.write_str(": ")?;
        let title = if self.table.is_empty() { "the file".to_owned() } else { format!("[{}]", self.table) };
        let key = self.key.as_deref().unwrap_or_default();
        let named = match (self.table.as_str(), key) {
            ("", key) => format!("`{key}`"),
            (_, "") => title.clone(),
            (_, key) => format!("{title} {key}"),
        };
        match &*self.problem {
            Problem::Syntax(words) => write!(f, "this is not TOML: {words}"),
            Problem::Unknown { is_section: true, nearest, known, .. } => {
                write!(f, "{title} has no section [{key}]")?;
                match nearest {
                    Some(near) => write!(f, "; did you mean [{near}]?"),
                    None => write!(f, " (it has {})", known.join(", ")),
                }
            }
            Problem::Unknown { nearest, known, belongs_to, .. } => {
                write!(f, "{title} has no key `{key}`")?;
                match (nearest, belongs_to) {
                    (Some(near), _) => write!(f, "; did you mean `{near}`?"),
                    (None, Some(section)) => write!(f, "; `{key}` belongs under {section}"),
                    (None, None) => write!(f, " (it has {})", known.join(", ")),
                }
            }
            Problem::Missing { key, explain, slip } => {
                write!(f, "{title} lacks `{key}`")?;
                if !explain.is_empty() {
                    write!(f, " ({explain})")?;
                }
                match slip {
                    Some((typed, near)) => write!(f, " and has no key `{typed}`; did you mean `{near}`?"),
                    None => Ok(()),
                }
            }
            Problem::Type { expected, found } => write!(f, "{named} must be {expected}, not {found}"),
            Problem::Choice { typed, allowed } => {
                let allowed = allowed.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>();
                write!(f, "{named} is one of {}, not \"{typed}\"", allowed.join(", "))
            }
            Problem::Value(why) => write!(f, "{named}: {why}"),
            Problem::Rule { value: Some(value), rule } => write!(f, "{named} = {value} cannot be: {rule}"),
            Problem::Rule { value: None, rule } => write!(f, "{named} cannot be: {rule}"),
            Problem::Whole(message) => f.write_str(message),
        }
    }
}
