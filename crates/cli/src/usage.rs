//! The command line as typed. Errors have clap's words; a tip is added for three that it cannot know.

use std::{ffi::OsString, path::Path};

use clap::{
    Arg, Command, CommandFactory, FromArgMatches,
    builder::{OsStr, Resettable, StyledStr},
    error::{ContextKind, ContextValue, Error, ErrorKind},
};
use iosonde_plan::fio::OPTIONS;

use crate::{args::Cli, failure::Failure, help, studies};

/// Reads the command line, of `iosonde-mpi` where `on_hosts`. `--help` and `--version` end here, with a failure of
/// code 0 and no text.
pub fn parse(words: &[OsString], on_hosts: bool) -> Result<Cli, Failure> {
    read(words, on_hosts).map_err(|error| {
        // A reader that went away (`| head`) is no failure.
        let _ = error.print();
        Failure { code: error.exit_code() as u8, text: String::new() }
    })
}

fn read(words: &[OsString], on_hosts: bool) -> Result<Cli, Error> {
    let command = if on_hosts { help::on_hosts(command()) } else { command() };
    // What the environment names would count as typed, and `iosonde` alone would be an error in place of the help.
    let command = match words.len() {
        0 | 1 => command.mut_args(|arg| arg.env(Resettable::<OsStr>::Reset)),
        _ => command,
    };
    let matches = command.clone().try_get_matches_from(words);
    matches.and_then(|matches| Cli::from_arg_matches(&matches)).map_err(|mut error| {
        let tip = misplaced(&error).or_else(|| below_zero(&error, words)).or_else(|| fios_own(&error));
        if let Some(tip) = tip.or_else(|| lacks_equals(&error, &command, words)) {
            let tips = ContextValue::StyledStrs(vec![StyledStr::from(tip)]);
            error.insert(ContextKind::Suggested, tips);
        }
        // What the environment names was not typed, and is not required.
        if let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) {
            let usage = usage.to_string().replace("--store <PATH>", "[OPTIONS]");
            error.insert(ContextKind::Usage, ContextValue::StyledStr(StyledStr::from(usage)));
        }
        error
    })
}

/// As declared; and what begins with a minus and a digit is a value, so that it can be refused as one.
fn command() -> Command {
    let option = |arg: Arg| {
        let takes_value = arg.get_action().takes_values() && !arg.is_positional();
        if takes_value { arg.allow_negative_numbers(true) } else { arg }
    };
    help::complete(Cli::command()).mut_args(option).mut_subcommands(|command| command.mut_args(option))
}

fn text(error: &Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text),
        _ => None,
    }
}

/// A study or a target where a command belongs.
fn misplaced(error: &Error) -> Option<String> {
    let typed = text(error, ContextKind::InvalidSubcommand)?;
    if typed.starts_with("sim:") || Path::new(typed).exists() {
        return Some(format!("`{typed}` is a target; to measure it:  iosonde run quick {typed}"));
    }
    studies::is_known(typed).then(|| format!("`{typed}` is a study; to run it:  iosonde run {typed} ./"))
}

/// A value that begins with a minus, which clap takes for an option.
fn below_zero(error: &Error, words: &[OsString]) -> Option<String> {
    let number = text(error, ContextKind::InvalidArg)?;
    number.strip_prefix('-')?.chars().next().filter(char::is_ascii_digit)?;
    let at = words.iter().position(|word| word.to_string_lossy().starts_with(number))?;
    let (option, value) = (words.get(at.checked_sub(1)?)?.to_string_lossy(), words[at].to_string_lossy());
    Some(format!("`{value}` is below zero, and {option} takes no such value"))
}

/// An option that fio has.
fn fios_own(error: &Error) -> Option<String> {
    let is_unknown =
        error.kind() == ErrorKind::UnknownArgument && error.get(ContextKind::SuggestedArg).is_none();
    let typed = text(error, ContextKind::InvalidArg).filter(|_| is_unknown)?;
    let name = typed.strip_prefix("--")?.split('=').next()?;
    let durable = ["fsync", "fdatasync"].contains(&name);
    let here = if durable { format!("`--sync {name}:N` is that here; ") } else { String::new() };
    let is_fios = OPTIONS.iter().any(|option| option.names().any(|own| own == name));
    is_fios.then(|| format!("{here}fio's own command lines are run by:  iosonde fio -- fio {typed} .."))
}

/// A word behind an option that takes its value only behind `=`, such as `--destroy`.
fn lacks_equals(error: &Error, command: &Command, words: &[OsString]) -> Option<String> {
    let typed = text(error, ContextKind::InvalidArg)?;
    let at = words.iter().position(|word| word == typed)?;
    let option = words.get(at.checked_sub(1)?)?.to_str()?;
    let name = option.strip_prefix("--")?;
    let mut arguments = command.get_subcommands().flat_map(Command::get_arguments);
    let optional = arguments.any(|arg| arg.is_require_equals_set() && arg.get_long() == Some(name));
    optional.then(|| format!("{option} takes its value behind `=`:  {option}={typed}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(typed: &str) -> Error {
        let words: Vec<OsString> =
            std::iter::once("iosonde").chain(typed.split_whitespace()).map(OsString::from).collect();
        read(&words, false).expect_err(typed)
    }

    #[test]
    fn every_mistake_names_what_is_wrong_and_what_would_be_right() {
        for (typed, kind, named) in [
            ("", ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand, &["iosonde run quick ./"][..]),
            ("shwo last", ErrorKind::InvalidSubcommand, &["shwo", "show"]),
            ("sim:ideal", ErrorKind::InvalidSubcommand, &["iosonde run quick sim:ideal"]),
            ("queue-depth", ErrorKind::InvalidSubcommand, &["iosonde run queue-depth ./"]),
            ("run", ErrorKind::MissingRequiredArgument, &["STUDY|TARGET"]),
            ("run quick ./ --tiem 4s", ErrorKind::UnknownArgument, &["--tiem", "--time"]),
            ("run quick ./ --depth 4", ErrorKind::UnknownArgument, &["--depth"]),
            ("run quick ./ --size", ErrorKind::InvalidValue, &["--size <SIZE>"]),
            ("run quick ./ --size --quiet", ErrorKind::InvalidValue, &["--size <SIZE>"]),
            ("run quick ./ --size 4Q", ErrorKind::ValueValidation, &["--size", "`4Q`", "4KiB"]),
            ("run quick ./ --seed -1", ErrorKind::ValueValidation, &["--seed", "-1"]),
            ("run quick ./ --rounds 0", ErrorKind::ValueValidation, &["--rounds", "1..=1000"]),
            ("run quick ./ --confidence 30", ErrorKind::ValueValidation, &["between 50% and 99.9%"]),
            ("run quick ./ --direct --buffered", ErrorKind::ArgumentConflict, &["--direct", "--buffered"]),
            ("run quick ./ --size 4M --size 8M", ErrorKind::ArgumentConflict, &["--size"]),
            ("run quick ./ --color often", ErrorKind::InvalidValue, &["--color", "auto, always, never"]),
            ("point ./ ./", ErrorKind::UnknownArgument, &["'./'"]),
            ("point ./ --destroy 8:0:1", ErrorKind::UnknownArgument, &["--destroy=8:0:1"]),
            (
                "point ./ --fdatasync=1",
                ErrorKind::UnknownArgument,
                &["--sync fdatasync:N", "iosonde fio -- fio"],
            ),
            ("point ./ --norandommap", ErrorKind::UnknownArgument, &["iosonde fio -- fio --norandommap"]),
            ("point ./ --depth -4", ErrorKind::ValueValidation, &["--depth", "1..=65536"]),
            ("point ./ --bs -4k", ErrorKind::UnknownArgument, &["--bs", "-4k"]),
            ("point ./ --rw randred", ErrorKind::ValueValidation, &["--rw", "did you mean `randread`?"]),
            ("rm", ErrorKind::MissingRequiredArgument, &["RUNS"]),
            ("studies --toml", ErrorKind::MissingRequiredArgument, &["NAME"]),
        ] {
            let (error, text) = (error(typed), error(typed).to_string());
            assert_eq!((error.kind(), error.exit_code()), (kind, 2), "{typed}: {text}");
            named.iter().for_each(|name| assert!(text.contains(name), "{typed}: `{name}` is not in: {text}"));
        }
    }

    #[test]
    fn fios_spellings_are_taken() {
        let typed = "point ./ --readwrite randrw --blocksize 4k --iodepth 4 --numjobs 2 --rwmixread 70% --ioengine \
                     psync --runtime 5s --random_distribution zipf:1.2 --rate_iops 500";
        let words: Vec<OsString> =
            std::iter::once("iosonde").chain(typed.split_whitespace()).map(OsString::from).collect();
        assert!(read(&words, false).is_ok());
    }

    #[test]
    fn a_name_that_is_no_text_is_refused() {
        use std::os::unix::ffi::OsStringExt;
        let words = ["iosonde", "run", "quick"].map(OsString::from).into_iter();
        let words: Vec<OsString> = words.chain([OsString::from_vec(vec![0xff, 0xfe])]).collect();
        let error = read(&words, false).unwrap_err();
        assert_eq!((error.kind(), error.exit_code()), (ErrorKind::InvalidUtf8, 2));
    }

    #[test]
    fn the_declaration_holds_together() {
        command().debug_assert();
    }
}
