//! fio's jobs from the files and the command line, and what they ask of this machine.

use std::path::Path;

use clap::CommandFactory;
use iosonde_model::fio::FioJobs;
use iosonde_plan::fio::{Change, CommandLine, Found, Given, Job, Refusal, Section, World, read};
use iosonde_rig::{engine::ENGINES, platform};
use iosonde_store::{TEXT_BYTES_MAX, read_at_most};

use crate::{
    args::{Cli, FioArgs, FioFormat},
    failure::{Failure, in_words},
    results,
};

/// Jobs, with the options of the command that fio's own command line may have set.
pub struct Jobs {
    /// Options of `iosonde fio`.
    pub args: FioArgs,
    /// The jobs.
    pub jobs: Vec<Job>,
    /// What is kept of them with the run.
    pub global: FioJobs,
}

/// Reads what was typed.
pub fn jobs(args: &FioArgs) -> Result<Jobs, Failure> {
    let read_file = |path: &Path| match path.as_os_str() == "-" {
        true => results::standard_input().map_err(|failure| failure.text),
        false => read_at_most(path, TEXT_BYTES_MAX).map_err(|error| in_words(&error)),
    };
    let variable = |name: &str| std::env::var(name).ok();
    let memory_mib = || platform::host().memory_bytes.map(|bytes| bytes >> 20);
    let keyword = |word: &str| match word {
        "pagesize" => Some(platform::page_bytes()),
        "ncpus" => std::thread::available_parallelism().ok().map(|count| count.get() as u64),
        "mb_memory" => memory_mib(),
        _ => None,
    };
    let world = World { read: &read_file, variable: &variable, keyword: &keyword };
    let mut args = args.clone();
    if args.line.is_empty() && args.files.is_empty() {
        return Err(Failure::usage(
            "no job: name fio's job files (iosonde fio JOBFILE..), or paste a command line behind -- (iosonde fio -- \
             fio --name=x --rw=randread ..)",
        ));
    }
    let sections = if args.line.is_empty() {
        read::files(&args.files, &world).map_err(|refusal| no_jobs(&args.files, refusal))?
    } else {
        refuse_our_own(&args.line)?;
        let CommandLine { sections, general } =
            read::command_line(&args.line, &world).map_err(Failure::usage)?;
        refuse_twice(&args, &general)?;
        general.iter().try_for_each(|(name, value)| general_option(&mut args, name, value))?;
        sections
    };
    let names: Vec<&str> = sections.iter().map(|section| section.name.as_str()).collect();
    if let Some(missing) = args.section.iter().find(|wanted| !names.contains(&wanted.as_str())) {
        return Err(Failure::usage(format!(
            "--section {missing}: no section has that name; there are {}",
            names.join(", ")
        )));
    }
    let wanted = |section: &&Section| args.section.is_empty() || args.section.contains(&section.name);
    let chosen: Vec<&Section> = sections.iter().filter(wanted).collect();
    if chosen.is_empty() {
        return Err(Failure::usage("no job: --name=NAME begins one, or name a job file"));
    }
    let told =
        |list: &[Given]| list.iter().map(|one| (one.option.name.to_owned(), one.value.clone())).collect();
    let global = FioJobs { global: told(&chosen[0].global), groups: Vec::new() };
    let mut jobs = chosen.into_iter().map(Job::of).collect::<Result<Vec<_>, _>>().map_err(Failure::usage)?;
    jobs.iter_mut().for_each(with_an_engine_of_this_system);
    Ok(Jobs { args, jobs, global })
}

/// Asynchronous engines of single systems, which stand for each other.
const DEEP: [&str; 2] = ["libaio", "iocp"];

/// A job file of another system keeps its queue depth here.
fn with_an_engine_of_this_system(job: &mut Job) {
    let is_here = |name: &&str| ENGINES.find(name).is_ok();
    if !DEEP.contains(&job.engine.as_str()) || is_here(&job.engine.as_str()) {
        return;
    }
    if let Some(used) = DEEP.into_iter().find(is_here) {
        let asked = job.given.get("ioengine").cloned().unwrap_or_default();
        job.changes.retain(|change| !matches!(change, Change::Engine { .. }));
        job.changes.push(Change::Engine { asked, used: used.to_owned() });
        used.clone_into(&mut job.engine);
    }
}

/// The reason why job files cannot be read. A result of a tool among them is named as one.
fn no_jobs(files: &[String], refusal: Refusal) -> Failure {
    let result = files.iter().find_map(|file| Some((file, results::command_for(Path::new(file))?)));
    match result {
        Some((file, command)) => {
            Failure::usage(format!("{file} holds results and no jobs; to see them:  {command}"))
        }
        None => Failure::usage(refusal),
    }
}

/// Refuses options of `iosonde fio` among the words of fio's command line, where they would be taken for fio's.
fn refuse_our_own(line: &[String]) -> Result<(), Failure> {
    let mut command = Cli::command();
    command.build();
    let Some(own) = command.find_subcommand("fio") else { return Ok(()) };
    let is_ours = |word: &str| {
        let long = word.strip_prefix("--").map(|rest| rest.split('=').next().unwrap_or(rest));
        let mut letters = word.strip_prefix('-').filter(|_| long.is_none()).unwrap_or_default().chars();
        let short = letters.next().filter(|_| letters.next().is_none());
        own.get_arguments().any(|arg| {
            long.is_some_and(|long| arg.get_long() == Some(long))
                || short.is_some_and(|short| arg.get_short() == Some(short))
        })
    };
    let Some(at) = read::foreign(line, is_ours) else { return Ok(()) };
    let name = line[at].split('=').next().unwrap_or_default();
    Err(Failure::usage(format!(
        "{name} is an option of iosonde, and behind `--` all is fio's; put it before:  iosonde fio {name} .. -- fio .."
    )))
}

/// Refuses an option that was given twice, before `--` and behind it: one of the two would do nothing.
fn refuse_twice(args: &FioArgs, general: &[(&'static str, String)]) -> Result<(), Failure> {
    let ours = [("output", args.output.is_some()), ("output-format", args.output_format.is_some())];
    let twice = ours.iter().find(|(name, given)| *given && general.iter().any(|(other, _)| other == name));
    twice.map_or(Ok(()), |(name, _)| {
        Err(Failure::usage(format!("--{name} was given twice, before `--` and behind it; leave one out")))
    })
}

/// An option of fio itself, as one of ours.
fn general_option(args: &mut FioArgs, name: &str, value: &str) -> Result<(), Failure> {
    match name {
        "output-format" => {
            args.output_format = Some(match value {
                "normal" => FioFormat::Normal,
                "json" => FioFormat::Json,
                "json+" => FioFormat::JsonPlus,
                _ => {
                    return Err(Failure::usage(format!(
                        "--output-format={value} is not supported: normal, json and json+ are"
                    )));
                }
            });
        }
        "output" => args.output = Some(value.into()),
        "section" => args.section.push(value.to_owned()),
        "readonly" => args.read_only = true,
        _ => {}
    }
    Ok(())
}

/// What a path leads to.
pub fn found(path: &str) -> Found {
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => Found::Directory,
        Ok(_) => Found::File,
        Err(_) => Found::Nothing,
    }
}
