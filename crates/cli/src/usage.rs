//! What was typed, or one sentence about what is wrong with it and what would be right.
//!
//! clap finds the mistake; its own words are written for programmers ("invalid digit found in string"), so the
//! sentence is made here from what it found.

use std::{error::Error as _, ffi::OsString, num::ParseIntError, path::Path};

use clap::{
    Arg, Command,
    error::{ContextKind, ContextValue, Error, ErrorKind},
};
use iosonde_model::nearest;

use crate::studies;

/// One sentence about what is wrong with the words of a command line, the program's name first.
pub fn of_a_command(error: &Error, command: &Command, words: &[OsString]) -> String {
    let words: Vec<String> = words.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    Mistake { error, command, words: &words }.sentence()
}

/// What is wrong with the words of a stream, which are options without their dashes.
pub fn of_a_stream(error: &Error, command: &Command) -> String {
    let mistake = Mistake { error, command, words: &[] };
    let bare = |text: &str| {
        text.split_whitespace()
            .map(|word| word.trim_start_matches('-').to_owned())
            .collect::<Vec<_>>()
            .join(" ")
    };
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let name = mistake.argument();
            let name = name.trim_start_matches('-');
            let hint = nearest(name, command.get_arguments().filter_map(Arg::get_long));
            let hint = hint.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            format!("a stream has no `{name}`{hint}")
        }
        _ => bare(&mistake.sentence()),
    }
}

/// What clap found, and where.
struct Mistake<'a> {
    error: &'a Error,
    command: &'a Command,
    words: &'a [String],
}

impl Mistake<'_> {
    fn sentence(&self) -> String {
        match self.error.kind() {
            ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                "say what to do, for example:  iosonde run quick ./\n  iosonde --help lists every command".into()
            }
            ErrorKind::InvalidSubcommand => self.unknown_command(),
            ErrorKind::UnknownArgument | ErrorKind::TooManyValues => match self.argument() {
                option if option.starts_with('-') => self.unknown_option(&option),
                word => self.one_too_many(&word),
            },
            ErrorKind::InvalidValue if self.text(ContextKind::InvalidValue).is_empty() => self.value_missing(),
            ErrorKind::InvalidValue => self.not_one_of_them(),
            ErrorKind::ValueValidation => self.not_understood(),
            ErrorKind::ArgumentConflict => self.conflict(),
            ErrorKind::MissingRequiredArgument => self.argument_missing(),
            ErrorKind::InvalidUtf8 => {
                "an argument is not UTF-8 text, which iosonde needs; give that file another name, or a link to it"
                    .into()
            }
            _ => first_line(self.error),
        }
    }

    /// A piece of what clap found, as text; several with commas between.
    fn text(&self, kind: ContextKind) -> String {
        match self.error.get(kind) {
            Some(ContextValue::String(text)) => text.clone(),
            Some(ContextValue::Strings(texts)) => texts.join(", "),
            _ => String::new(),
        }
    }

    /// The option or word that is wrong, without the name of its value.
    fn argument(&self) -> String {
        let whole = self.text(ContextKind::InvalidArg);
        whole.split([' ', '=', '[']).next().filter(|word| word.starts_with('-')).unwrap_or(&whole).to_owned()
    }

    /// `iosonde run`, or `iosonde` where no command was reached.
    fn name(&self) -> String {
        self.subcommand()
            .map_or_else(|| "iosonde".to_owned(), |found| format!("iosonde {}", found.get_name()))
    }

    fn subcommand(&self) -> Option<&Command> {
        self.words.iter().find_map(|word| self.command.find_subcommand(word))
    }

    fn unknown_command(&self) -> String {
        let typed = self.text(ContextKind::InvalidSubcommand);
        if typed.starts_with("sim:") || Path::new(&typed).exists() {
            return format!("`{typed}` is a target; say what to do with it:  iosonde run quick {typed}");
        }
        if studies::is_known(&typed) {
            return format!("`{typed}` is a study; to run it:  iosonde run {typed} ./");
        }
        let names = || self.command.get_subcommands().map(Command::get_name);
        // Two letters exchanged make another word of a short name: `rnu`.
        let exchanged = names().find(|name| sorted(name) == sorted(&typed)).map(str::to_owned);
        let near = exchanged.or_else(|| nearest(&typed, names()));
        let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        format!("there is no command `{typed}`{hint}\n  iosonde --help lists every command")
    }

    /// A value that begins with a minus, which clap took for an option.
    fn below_zero(&self, option: &str) -> String {
        let at = self.words.iter().position(|word| word.starts_with(option));
        let typed = at.map_or(option, |at| &self.words[at]);
        let before =
            at.and_then(|at| self.words.get(at.checked_sub(1)?)).filter(|word| word.starts_with('-'));
        let lead = before.map_or_else(String::new, |before| format!("{before}: "));
        format!("{lead}`{typed}` is below zero, and no size, time or count of `{}` is", self.name())
    }

    fn unknown_option(&self, option: &str) -> String {
        let name = self.name();
        let bare = option.trim_start_matches('-');
        if bare.starts_with(|c: char| c.is_ascii_digit()) {
            return self.below_zero(option);
        }
        // It exists here, and came with a value that it does not take.
        if self.subcommand().is_some_and(|own| own.get_arguments().any(|arg| is_called(arg, bare))) {
            return format!("{option} of `{name}` takes no value");
        }
        let has = |command: &&Command| command.get_arguments().any(|arg| is_called(arg, bare));
        if let Some(other) = self.command.get_subcommands().find(has) {
            return format!(
                "{option} belongs to `iosonde {}`; `{name}` has no such option",
                other.get_name()
            );
        }
        let options = self.subcommand().unwrap_or(self.command).get_arguments();
        let options = options.chain(self.command.get_arguments()).filter_map(Arg::get_long);
        let hint = match nearest(bare, options) {
            Some(near) => format!("; did you mean --{near}?"),
            None => String::new(),
        };
        format!("`{name}` has no option {option}{hint}\n  {name} --help lists them")
    }

    fn one_too_many(&self, word: &str) -> String {
        let word = match self.text(ContextKind::InvalidValue) {
            value if value.is_empty() => word.to_owned(),
            value => value,
        };
        if let Some(option) = self.option_before(&word) {
            return format!("{option} takes its value behind `=`:  {option}={word}");
        }
        let takes = self.subcommand().map(|found| positionals(found).join(" ")).unwrap_or_default();
        let takes = if takes.is_empty() { "nothing more".to_owned() } else { takes };
        let quotes = if takes.contains("TARGET") { "; a path with spaces in it needs quotes" } else { "" };
        format!("`{word}` is one word too many: `{}` takes {takes}{quotes}", self.name())
    }

    /// The option with an optional value that stands right before a word.
    fn option_before(&self, word: &str) -> Option<&str> {
        let at = self.words.iter().position(|typed| typed == word)?;
        let before = self.words.get(at.checked_sub(1)?)?;
        let optional =
            |arg: &Arg| arg.is_require_equals_set() && is_called(arg, before.trim_start_matches('-'));
        let known = before.starts_with("--") && self.subcommand()?.get_arguments().any(optional);
        known.then_some(before.as_str())
    }

    fn value_missing(&self) -> String {
        let option = self.argument();
        let possible = self.text(ContextKind::ValidValue);
        if !possible.is_empty() {
            return format!("{option} needs a value: one of {possible}");
        }
        match example(&self.text(ContextKind::InvalidArg)) {
            Some(example) => format!("{option} needs a value, for example:  {option} {example}"),
            None => format!("{option} needs a value behind it"),
        }
    }

    fn not_one_of_them(&self) -> String {
        let (option, typed) = (self.argument(), self.text(ContextKind::InvalidValue));
        let possible = self.text(ContextKind::ValidValue);
        let hint = nearest(&typed, possible.split(", "));
        let hint = hint.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        format!("{option} is one of {possible}, not `{typed}`{hint}")
    }

    fn not_understood(&self) -> String {
        let (option, typed) = (self.argument(), self.text(ContextKind::InvalidValue));
        let Some(source) = self.error.source() else { return first_line(self.error) };
        let why = source.to_string();
        if source.is::<ParseIntError>() {
            return format!("{option} takes a whole number such as 8, not `{typed}`");
        }
        if let Some((_, range)) =
            why.split_once(" is not in ").filter(|(number, _)| number.parse::<f64>().is_ok())
        {
            return format!("{option} {}, not {typed}", in_words(range));
        }
        // Our own sentences name what was typed where they can.
        if why.contains(&format!("`{typed}`")) {
            format!("{option}: {why}")
        } else {
            format!("{option} {typed}: {why}")
        }
    }

    fn conflict(&self) -> String {
        let bare = |text: String| text.split(' ').next().unwrap_or_default().to_owned();
        let (one, other) = (self.argument(), bare(self.text(ContextKind::PriorArg)));
        if one == other || other.is_empty() {
            return format!("{one} is given twice; once is enough");
        }
        format!("{one} and {other} exclude each other; leave one of them out")
    }

    fn argument_missing(&self) -> String {
        let missing = self.text(ContextKind::InvalidArg);
        let word = missing.trim_matches(['<', '>', '[', ']', '.']);
        let name = self.name();
        if word == "STUDY|TARGET" {
            return "`iosonde run` needs a target: a directory, a file, a block device or sim:NAME\n  for example:  \
                    iosonde run quick ./"
                .to_owned();
        }
        let help = self.subcommand().and_then(|found| {
            let arg = found.get_arguments().find(|arg| shown(arg) == word)?;
            Some(arg.get_help()?.to_string())
        });
        let help = help.map_or_else(String::new, |help| format!(": {}", uncapital(&help)));
        let example = match name.as_str() {
            "iosonde point" => "iosonde point ./ --rw randread --bs 4k --depth 32",
            "iosonde rm" => "iosonde rm last",
            "iosonde judge" => "iosonde judge result.json",
            "iosonde import" => "iosonde import result.json",
            "iosonde explain" => "iosonde explain max_iops",
            "iosonde studies" => "iosonde studies quick --toml",
            _ => return format!("`{name}` needs {word}{help}"),
        };
        format!("`{name}` needs {word}{help}\n  for example:  {example}")
    }
}

fn is_called(arg: &Arg, name: &str) -> bool {
    arg.get_long() == Some(name) || arg.get_all_aliases().is_some_and(|aliases| aliases.contains(&name))
}

/// How help calls a word that has a place of its own.
fn shown(arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default();
    names.first().map_or_else(|| arg.get_id().as_str().to_uppercase(), |name| name.as_str().to_owned())
}

fn positionals(command: &Command) -> Vec<String> {
    let word = |arg: &Arg| match (arg.is_required_set(), shown(arg)) {
        (_, name) if name == "STUDY|TARGET" => "[STUDY] TARGET".to_owned(),
        (true, name) => name,
        (false, name) => format!("[{name}]"),
    };
    command.get_positionals().map(word).collect()
}

/// A value that an option would take, by the name that its help gives to values.
fn example(argument: &str) -> Option<&'static str> {
    let value = argument.split_once(' ')?.1.trim_matches(['<', '>', '[', ']', '.']);
    Some(match value {
        "SIZE" => "4GiB",
        "TIME" => "90s",
        "P%" => "5%",
        "READ%" => "70%",
        "N" => "8",
        "PATTERN" => "randread",
        "FORMAT" => "md",
        "TEXT" => "'after the update'",
        "NAME" if argument.starts_with("--engine") => "io_uring",
        "NAME" => "before",
        "PATH" if argument.starts_with("--store") => "./notebook.db",
        "PATH" => "./report.html",
        _ => return None,
    })
}

/// A range as clap writes it: `1..=65536`, `1..`.
fn in_words(range: &str) -> String {
    match range.split_once("..") {
        // The largest number of the type is no bound that anybody set.
        Some((low, high)) if high.is_empty() || high.len() > 9 => format!("is at least {low}"),
        Some((low, high)) => format!("lies between {low} and {}", high.trim_start_matches('=')),
        None => format!("must be in {range}"),
    }
}

fn sorted(word: &str) -> Vec<char> {
    let mut letters: Vec<char> = word.chars().collect();
    letters.sort_unstable();
    letters
}

fn uncapital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

/// What clap itself says, for what nobody has met yet.
fn first_line(error: &Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{command_line, parse};

    fn said(typed: &str) -> String {
        let words = std::iter::once("iosonde").chain(typed.split_whitespace()).map(OsString::from).collect();
        let Err(failure) = parse(words) else { return "is taken".to_owned() };
        assert_eq!(failure.code, 2, "{typed}: {}", failure.text);
        failure.text
    }

    #[test]
    fn every_mistake_is_one_sentence_with_the_remedy() {
        let typed = [
            "",
            "rnu quick ./",
            "sim:ideal",
            "quick",
            "queue-depth",
            "frobnicate",
            "run",
            "point ./ more",
            "run quick ./ --tiem 4s",
            "run quick ./ --frobnicate",
            "run quick ./ --depth 4",
            "run quick ./ --json out.json",
            "run quick ./ --size",
            "run quick ./ --size 4Q",
            "run quick ./ --size --quiet",
            "run quick ./ --seed=-1",
            "run quick ./ --seed -1",
            "run quick ./ --seed x",
            "run quick ./ --rounds 0",
            "run quick ./ --confidence 30",
            "run quick ./ --precision",
            "run quick ./ --direct --buffered",
            "run quick ./ --quiet --verbose",
            "run quick ./ --size 4M --size 8M",
            "run quick ./ --color sometimes",
            "run quick ./ --color",
            "run quick ./ --label last",
            "point",
            "point ./ ./",
            "point ./ --depth 0",
            "point ./ --depth -4",
            "point ./ --ios 0",
            "point ./ --rw randred",
            "point ./ --rw",
            "ls all",
            "rm",
            "explain",
            "studies --toml",
            "studies quick --tmol",
            "--stoer x ls",
        ];
        let said = typed.map(|words| format!("iosonde {words}\n  {}", said(words).replace('\n', "\n  ")));
        insta::assert_snapshot!(said.join("\n"));
    }

    #[test]
    fn a_name_that_is_no_text_is_said() {
        use std::os::unix::ffi::OsStringExt;
        let words = ["iosonde", "run", "quick"].map(OsString::from).into_iter();
        let failure = parse(words.chain([OsString::from_vec(vec![0xff, 0xfe])]).collect()).unwrap_err();
        assert!(failure.code == 2 && failure.text.contains("not UTF-8"), "{}", failure.text);
    }

    #[test]
    fn the_declaration_holds_together() {
        command_line().debug_assert();
    }
}
