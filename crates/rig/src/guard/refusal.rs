//! A refusal: what is wrong with which target, why, and what to do next. Nothing has been written by then.

use std::{fmt, path::Path};

use super::intent::Writes;
use crate::platform::files;

/// Reason why a target is refused. Exit code 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Problem, target and reason, in a sentence.
    pub sentence: String,
    /// Possible next steps, the likeliest first.
    pub advice: Vec<Remedy>,
    command: String,
}

/// Possible next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remedy {
    /// Effect: "Measure it without writing".
    pub what: String,
    /// Arguments to type after the command: `/dev/sda --read-only`.
    pub arguments: Option<String>,
    /// True if nothing is written then, which a command that has to write refuses.
    pub reads_only: bool,
}

impl Refusal {
    pub(crate) fn new(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), advice: Vec::new(), command: "iosonde run".to_owned() }
    }

    /// Adds something to do by hand.
    pub(crate) fn hint(mut self, what: impl Into<String>) -> Self {
        self.advice.push(Remedy { what: what.into(), arguments: None, reads_only: false });
        self
    }

    /// Adds something to type.
    pub(crate) fn command(mut self, what: impl Into<String>, target: &Path, options: &str) -> Self {
        let arguments = format!("{} {options}", quoted(target));
        let arguments = Some(arguments.trim_end().to_owned());
        self.advice.push(Remedy { what: what.into(), arguments, reads_only: false });
        self
    }

    /// Adds the same target without a write.
    pub(crate) fn without_writing(self, path: &Path) -> Self {
        self.reading("Measure it without writing", path)
    }

    /// Adds a target that is only read.
    pub(crate) fn reading(mut self, what: impl Into<String>, path: &Path) -> Self {
        self = self.command(what, path, "--read-only");
        if let Some(last) = self.advice.last_mut() {
            last.reads_only = true;
        }
        self
    }

    /// Leaves out what a command that has to write cannot do.
    pub(crate) fn for_writes(mut self, writes: Writes) -> Self {
        let must_write = matches!(writes, Writes::Needed | Writes::Everywhere);
        self.advice.retain(|remedy| !must_write || !remedy.reads_only);
        self
    }

    /// Sets the command that the advice begins with, in place of `iosonde run`: `iosonde run full`, `iosonde doctor`.
    /// Arguments that do not belong at its end stand where it has `{}`.
    #[must_use]
    pub fn for_command(mut self, command: &str) -> Self {
        command.clone_into(&mut self.command);
        self
    }

    fn typed(&self, arguments: &str) -> String {
        match self.command.split_once("{}") {
            Some((before, behind)) => format!("{before}{arguments}{behind}"),
            None => format!("{} {arguments}", self.command),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.sentence)?;
        let typed = self.advice.iter().filter(|advice| advice.arguments.is_some());
        let width = typed.map(|advice| advice.what.chars().count() + 1).max().unwrap_or(0);
        for Remedy { what, arguments, .. } in &self.advice {
            match arguments {
                Some(arguments) => {
                    write!(f, "\n  {:width$}  {}", format!("{what}:"), self.typed(arguments))?;
                }
                None => write!(f, "\n  {what}")?,
            }
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}

/// A path as a shell takes it.
pub fn quoted(path: &Path) -> String {
    files::quoted(&path.display().to_string())
}

/// The kind was looked at when the command line was read, and is another now.
pub(crate) fn exchanged(path: &Path) -> Refusal {
    Refusal::new(format!("{} became something else while it was being opened.", path.display()))
        .hint("Nothing was written. Try again when it stays what it is.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_stand_in_a_column() {
        let refusal = Refusal::new("/dev/sda holds a mounted file system (/home). It was not touched.")
            .without_writing(Path::new("/dev/sda"))
            .command("Measure inside the file system", Path::new("/home"), "")
            .hint("Or unmount it first.")
            .for_command("iosonde run full");
        let want = "/dev/sda holds a mounted file system (/home). It was not touched.\n\
                    \x20 Measure it without writing:      iosonde run full /dev/sda --read-only\n\
                    \x20 Measure inside the file system:  iosonde run full /home\n\
                    \x20 Or unmount it first.";
        assert_eq!(refusal.to_string(), want);
        let pasted = refusal.clone().for_command("iosonde fio --target {} -- fio ..");
        assert!(
            pasted.to_string().contains("  iosonde fio --target /dev/sda --read-only -- fio ..\n"),
            "{pasted}"
        );
        let said = |writes| refusal.clone().for_writes(writes).to_string();
        assert_eq!(said(Writes::Optional), want);
        assert!(!said(Writes::Needed).contains("--read-only"), "{}", said(Writes::Needed));
    }
}
