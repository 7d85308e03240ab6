//! Wires: one file per subcommand; owns stdout, stderr, exit codes and signals.
//!
//! A library beside the program, so that tests and benches run a study on a simulated device by the functions that
//! `iosonde run` calls, without a process and a notebook for each.

mod answer;
mod args;
mod builtin;
mod campaign;
mod command;
mod destination;
mod failure;
mod follower;
mod help;
mod hosts;
mod joined;
mod layout;
mod measure;
mod notebook;
mod options;
mod output;
mod progress;
mod requirements;
mod results;
mod screen;
mod selftest;
mod session;
mod sheets;
mod sides;
mod simulated;
mod single;
mod state;
mod stream;
mod studies;
mod usage;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use args::{Cli, Command};
use command::registry;
use failure::Failure;
use screen::Screen;

pub use follower::run_on_hosts;
pub use simulated::{run_on_cluster, run_proof, run_simulated};

/// Runs the program on its command line and returns its exit code.
pub fn run_program() -> ExitCode {
    let measures = |cli: &Cli| {
        if measures(&cli.command) {
            iosonde_rig::supervise::go_on_under_supervision(iosonde_rig::platform::ProcessGroup::Shared);
        }
        Ok(())
    };
    prepared();
    leave(run_after(false, measures))
}

/// What every process of the program does first. Before it has any thread: several hosts are led and followed under
/// supervision, too.
pub fn prepared() {
    iosonde_rig::confine::gain_nothing();
    iosonde_rig::interrupt::outlive_file_size_limit();
    iosonde_store::ask_of_the_killed(iosonde_rig::platform::locked_by_the_killed);
}

/// Says on stderr what went wrong before there was a command.
pub fn complain(text: &str) {
    Screen::complain(text);
}

/// Carries the command line out, of `iosonde-mpi` where `on_hosts`; returns the exit code.
fn run_after(on_hosts: bool, before: impl FnOnce(&Cli) -> Result<(), Failure>) -> u8 {
    let done = usage::parse(&std::env::args_os().collect::<Vec<_>>(), on_hosts).and_then(|cli| {
        before(&cli)?;
        let screen = Screen::new(&cli.shared);
        dispatch(&cli, screen)
    });
    match done {
        Ok(()) => 0,
        Err(Failure { code, text }) => {
            if !text.is_empty() {
                Screen::complain(&text);
            }
            code
        }
    }
}

/// Ends with an exit code; what was to be said is said.
fn leave(code: u8) -> ExitCode {
    let _ = io::stdout().flush();
    iosonde_rig::leave::with_code(code);
    ExitCode::from(code)
}

/// Whether a command opens a target, whose storage may hang.
fn measures(command: &Command) -> bool {
    match command {
        // Repeats have a process each, which does the same.
        Command::Run(args) => args.repeats.is_none() || args.part.is_some(),
        Command::Resume(_)
        | Command::Check(_)
        | Command::Capacity(_)
        | Command::Cold(_)
        | Command::Files(_)
        | Command::Point(_)
        | Command::Fio(_)
        | Command::Doctor(_) => true,
        _ => false,
    }
}

/// Refuses what one host does by itself: the others would only look on.
fn refuse_on_hosts(cli: &Cli) -> Result<(), Failure> {
    match &cli.command {
        Command::Capacity(_)
        | Command::Cold(_)
        | Command::Doctor(_)
        | Command::Files(_)
        | Command::Fio(_) => Err(Failure::usage(format!(
            "{}; hosts together do run, point, check and resume",
            help::USE_IOSONDE
        ))),
        Command::Run(args) if args.repeats.is_some() => Err(Failure::usage(
            "--repeats starts a process for each, which MPI does not know; start the run itself several times",
        )),
        _ => Ok(()),
    }
}

fn dispatch(cli: &Cli, screen: Screen) -> Result<(), Failure> {
    let store = cli.shared.store.as_deref();
    match &cli.command {
        Command::Run(args) => command::run::run(args, store, screen),
        Command::Resume(args) => command::resume::run(args, store, screen),
        Command::Check(args) => command::check::run(args, store, screen),
        Command::Capacity(args) => command::capacity::run(args, store, screen),
        Command::Cold(args) => command::cold::run(args, store, screen),
        Command::Files(args) => command::files::run(args, store, screen),
        Command::Point(args) => command::point::run(args, store, screen),
        Command::Fio(args) => command::fio::run(args, store, screen),
        Command::Ls(args) => command::ls::run(args, store, screen),
        Command::Show(args) => command::show::run(args, store, screen),
        Command::Rm(args) => command::rm::run(args, store, screen),
        Command::Report(args) => command::report::run(args, store, screen),
        Command::Judge(args) => command::judge::run(args, screen),
        Command::Export(args) => command::export::run(args, store, screen),
        Command::Import(args) => command::import::run(args, store, screen),
        Command::Compare(args) => command::compare::run(args, store, screen),
        Command::Spec(args) => command::spec::run(args, store, screen),
        Command::Specs(args) => command::spec::list_sheets(args.name.as_deref(), screen),
        Command::Requirements(args) => command::check::list_requirements(args.name.as_deref(), screen),
        Command::Doctor(args) => command::doctor::run(args, screen),
        Command::Studies(args) => command::studies::run(args, screen),
        Command::Engines(args) => registry::engine(args.name.as_deref(), screen),
        Command::Checks(args) => registry::show(&iosonde_judge::check::CHECKS, args.name.as_deref(), screen),
        Command::Experiments(args) => registry::experiment(args.name.as_deref(), screen),
        Command::Findings(args) => {
            registry::show(&iosonde_infer::finding::FINDINGS, args.name.as_deref(), screen)
        }
        Command::Selftest(args) => command::selftest::run(args, screen),
        Command::Devices(args) => command::devices::run(args, store, screen),
        Command::Explain(args) => registry::explain(&args.name, screen),
        Command::Man(args) => command::man::man(args, screen),
        Command::Completions(args) => command::man::completions(args, screen),
    }
}
