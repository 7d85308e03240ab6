//! `iosonde man` and `iosonde completions`: made from the same definitions as `--help`.

use std::path::Path;

use clap::{Command, CommandFactory, builder::PossibleValuesParser};
use clap_mangen::Man;
use iosonde_report::FORMATS;
use iosonde_rig::engine::ENGINES;
use iosonde_store::export::EXPORTS;

use crate::{
    args::{Cli, CompletionsArgs, ManArgs},
    failure::Failure,
    help, output,
    screen::Screen,
    studies::STUDIES,
};

/// Prints a manual page, or writes all of them into a folder.
pub fn man(args: &ManArgs, screen: Screen) -> Result<(), Failure> {
    let mut command = help::complete(Cli::command());
    command.build();
    if let Some(folder) = &args.out {
        return all(&command, folder, screen);
    }
    let own = match &args.command {
        None => Some(&command),
        Some(name) => command.find_subcommand(name),
    };
    let own = own.ok_or_else(|| {
        let name = args.command.as_deref().unwrap_or_default();
        Failure::usage(format!("there is no command named `{name}`; iosonde --help lists them"))
    })?;
    let page = page(own)?;
    screen.result(&String::from_utf8_lossy(&page))
}

/// Every page: `iosonde.1`, `iosonde-run.1`, ..
fn all(command: &Command, folder: &Path, screen: Screen) -> Result<(), Failure> {
    let own = command.get_subcommands().filter(|own| own.get_name() != "help");
    let pages = std::iter::once(command).chain(own).map(|own| {
        // `iosonde run` is `iosonde-run`, as in git's manual.
        let name = own.get_display_name().unwrap_or(own.get_name());
        Ok((format!("{name}.1"), page(own)?))
    });
    let pages: Vec<(String, Vec<u8>)> = pages.collect::<Result<_, Failure>>()?;
    output::write_folder(folder, pages.iter().map(|(name, page)| (name.as_str(), page.as_slice())), screen)
}

fn page(command: &Command) -> Result<Vec<u8>, Failure> {
    let mut page = Vec::new();
    let version = concat!("iosonde ", env!("CARGO_PKG_VERSION"));
    Man::new(command.clone()).source(version).manual("iosonde").render(&mut page).map_err(Failure::failed)?;
    Ok(page)
}

/// Prints the completions of a shell.
pub fn completions(args: &CompletionsArgs, screen: Screen) -> Result<(), Failure> {
    let mut script = Vec::new();
    let mut command = with_names(help::complete(Cli::command()));
    clap_complete::generate(args.shell, &mut command, "iosonde", &mut script);
    screen.result(&String::from_utf8_lossy(&script))
}

/// Offers the names that an argument takes. The parser itself takes any word, since its own errors name the nearest.
/// A study of `run` may be a file, which zsh would not complete beside names; so only `studies` has them.
fn with_names(command: Command) -> Command {
    let engines: Vec<&str> = ENGINES.iter().map(|engine| engine.name()).collect();
    let exports = EXPORTS.iter().map(|format| format.name()).collect();
    let formats = FORMATS.iter().map(|format| format.name()).collect();
    let studies = STUDIES.iter().map(|(name, _)| *name).collect();
    [
        ("export", "format", exports),
        ("report", "format", formats),
        ("studies", "name", studies),
        ("run", "engine", engines.clone()),
        ("point", "engine", engines),
    ]
    .into_iter()
    .fold(command, |command, (name, argument, words): (_, _, Vec<&'static str>)| {
        let offered = PossibleValuesParser::new(words);
        command.mut_subcommand(name, |own| own.mut_arg(argument, |own| own.value_parser(offered)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completions_offer_the_names_of_formats_studies_and_engines() {
        let mut script = Vec::new();
        let mut command = with_names(help::complete(Cli::command()));
        clap_complete::generate(clap_complete::Shell::Bash, &mut command, "iosonde", &mut script);
        let script = String::from_utf8(script).unwrap();
        for name in ["fio-json-plus", "svg", "four-media", "io_uring"] {
            assert!(script.contains(name), "{name}");
        }
    }
}
