//! Lists of what can be extended: engines, experiments, checks, findings, charts.
//!
//! An entry is one file, and the file's `//!` comment is the entry's manual page, so that the manual cannot be
//! somewhere else than the code. The `registry!` macro declares the module, lists its type and takes the page.
//! (It hides the modules from `cargo fmt`; `./test` formats every tracked file by name instead.)

/// Item that is selected by name. Names are lower case with hyphens or underscores.
pub trait Named: Sync {
    /// Returns the name that people type and that the JSON contains.
    fn name(&self) -> &'static str;

    /// Whether it is meant by what was typed: its name, or a former one.
    fn is_called(&self, typed: &str) -> bool {
        self.name() == typed
    }
}

/// Registered item and the source file that defines it.
pub struct Entry<T: ?Sized + 'static> {
    /// The thing itself.
    pub item: &'static T,
    /// The whole text of its file.
    pub source: &'static str,
}

impl<T: ?Sized> Entry<T> {
    /// The manual page: the file's leading `//!` lines.
    pub fn manual(&self) -> String {
        let lines = self.source.lines().map_while(|line| line.strip_prefix("//!"));
        lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
    }

    /// The page's first paragraph, on one line.
    pub fn summary(&self) -> String {
        let page = self.manual();
        page.lines().take_while(|line| !line.trim().is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// A name that is not in a registry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no {kind} named `{typed}`{}", hint(.nearest))]
pub struct Unknown {
    /// Kind of item: "engine", "check".
    pub kind: &'static str,
    /// Name as typed.
    pub typed: String,
    /// The registered name that looks most like it.
    pub nearest: Option<String>,
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map_or_else(String::new, |name| format!("; did you mean `{name}`?"))
}

/// The name among `names` that a person most likely meant, if any is near enough: one that looks alike, or the only one
/// of which a whole word was typed (`knee`).
pub fn nearest<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let names: Vec<&str> = names.into_iter().collect();
    let scored = names.iter().map(|name| (strsim::jaro_winkler(typed, name), *name));
    // 0.8: below it, suggestions read as guesses ("psync" for "mmap").
    let alike =
        scored.filter(|(score, _)| *score >= 0.8).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, name)| name);
    let mut with_word = names.iter().filter(|name| name.split(['-', '_']).any(|word| word == typed));
    let only = with_word.next().filter(|_| with_word.next().is_none()).copied();
    alike.or(only).map(str::to_owned)
}

/// An ordered list of entries of one kind.
pub struct Registry<T: ?Sized + 'static> {
    kind: &'static str,
    entries: &'static [Entry<T>],
}

impl<T: ?Sized + Named> Registry<T> {
    /// Made by the `registry!` macro.
    pub const fn new(kind: &'static str, entries: &'static [Entry<T>]) -> Self {
        Self { kind, entries }
    }

    /// Returns the kind of item in the singular: "engine".
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// The entries, in their registered order.
    pub fn entries(&self) -> impl Iterator<Item = &'static Entry<T>> + use<T> {
        self.entries.iter()
    }

    /// The registered things, in order.
    pub fn iter(&self) -> impl Iterator<Item = &'static T> + use<T> {
        self.entries.iter().map(|entry| entry.item)
    }

    /// The entry of that name.
    pub fn entry(&self, name: &str) -> Result<&'static Entry<T>, Unknown> {
        self.entries.iter().find(|entry| entry.item.is_called(name)).ok_or_else(|| Unknown {
            kind: self.kind,
            typed: name.to_owned(),
            nearest: nearest(name, self.entries.iter().map(|entry| entry.item.name())),
        })
    }

    /// The thing of that name.
    pub fn find(&self, name: &str) -> Result<&'static T, Unknown> {
        self.entry(name).map(|entry| entry.item)
    }

    /// Panics unless every name is unique and well formed and every entry has a manual page. For tests: a list
    /// that nobody tests goes wrong.
    pub fn assert_well_formed(&self) {
        let mut seen = Vec::new();
        for entry in self.entries() {
            let name = entry.item.name();
            assert!(!seen.contains(&name), "{} `{name}` is registered twice", self.kind);
            assert!(
                name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c)),
                "{} `{name}` is no name",
                self.kind
            );
            assert!(entry.manual().len() > 80, "{} `{name}` has no manual page", self.kind);
            seen.push(name);
        }
        assert!(!seen.is_empty());
    }
}

/// Declares modules and lists their entries: one line an entry. It begins with `#[cfg(..)]` where not every system has
/// it.
///
/// `registry! { /// doc
///   pub ENGINES: EngineKind "engine" { psync::Psync, io_uring::IoUring } }`
#[macro_export]
macro_rules! registry {
    ($(#[$meta:meta])* $vis:vis $NAME:ident : $Trait:ident $kind:literal {
        $($(#[cfg($where:meta)])? $module:ident :: $Type:ident),+ $(,)?
    }) => {
        $( $(#[cfg($where)])? mod $module; )+
        $(#[$meta])*
        $vis static $NAME: $crate::Registry<dyn $Trait> = $crate::Registry::new($kind, &[
            $(
                $(#[cfg($where)])?
                $crate::Entry {
                    item: &$module::$Type,
                    source: include_str!(concat!(stringify!($module), ".rs")),
                }
            ),+
        ]);
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Psync;
    impl Named for Psync {
        fn name(&self) -> &'static str {
            "psync"
        }
    }
    const SOURCE: &str = "//! One call an I/O.\n//! Simple.\n//!\n//! More.\nuse x;";
    static LIST: Registry<dyn Named> = Registry::new("engine", &[Entry { item: &Psync, source: SOURCE }]);

    #[test]
    fn a_manual_page_is_the_leading_comment() {
        let entry = LIST.entry("psync").unwrap();
        assert_eq!(entry.manual(), "One call an I/O.\nSimple.\n\nMore.");
        assert_eq!(entry.summary(), "One call an I/O. Simple.");
    }

    #[test]
    fn a_wrong_name_gets_a_suggestion_only_when_near() {
        let Err(near) = LIST.find("psnyc") else { panic!("found") };
        assert_eq!(near.to_string(), "there is no engine named `psnyc`; did you mean `psync`?");
        let Err(far) = LIST.find("mmap") else { panic!("found") };
        assert_eq!(far.nearest, None);
        let names = [crate::FindingName::QueueDepthKnee.as_str(), "queue-depth", "mix"];
        assert_eq!(nearest("knee", names).as_deref(), Some(names[0]));
        assert_eq!(nearest("depth", names), None, "two have it");
    }
}
