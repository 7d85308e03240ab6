//! `iosonde man` and `iosonde completions`: made from the same definitions as `--help`.

use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use crate::{
    args::{Cli, CompletionsArgs, ManArgs},
    failure::Failure,
    help, output,
    screen::Screen,
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
    clap_complete::generate(args.shell, &mut help::complete(Cli::command()), "iosonde", &mut script);
    screen.result(&String::from_utf8_lossy(&script))
}
