//! What `--help`, the manual pages and the completions add to the command line's own definitions: examples of each
//! command, and which of the options that every command takes mean something there.

use clap::{Arg, Command};

/// Examples of a command, one a line: the words, then what they do.
type Examples = &'static [(&'static str, &'static str)];

/// Options of every command that mean nothing to those that only print a list or a page.
const OF_A_LIST: &[&str] = &["store", "quiet", "verbose", "no_progress", "force"];
/// Options that mean nothing where nothing is measured.
const UNMEASURED: &[&str] = &["no_progress", "verbose"];
/// Options that mean nothing where nothing is measured or written to a file.
const UNWRITTEN: &[&str] = &["no_progress", "verbose", "force"];

/// Each command with its examples and the shared options that mean nothing to it.
const COMMANDS: &[(&str, Examples, &[&str])] = &[
    (
        "run",
        &[
            ("run quick ./", "the storage under this folder, in about 90 seconds"),
            ("run quick /dev/nvme1n1 --read-only", "a device, without writing a byte"),
            ("run database ./ --label before", "what a database gets, under a name of yours"),
            ("run quick sim:ideal", "a rehearsal on a simulated device"),
            ("run my-study.toml ./ --repeats 5", "a study of your own, five times"),
        ],
        &[],
    ),
    ("resume", &[("resume", "the newest interrupted run"), ("resume 7f3a", "one by its id")], &[]),
    (
        "point",
        &[
            ("point ./ --rw randread --bs 4k --depth 32", "random reads of 4 KiB at QD 32"),
            ("point ./ --rw write --bs 8k --sync fdatasync:1", "each write flushed, as a log is"),
        ],
        &[],
    ),
    (
        "check",
        &[
            ("check etcd ./", "whether etcd would be content here, in a minute"),
            ("check my-service.toml /srv --junit check.xml", "your own requirement, for CI"),
        ],
        &[],
    ),
    (
        "capacity",
        &[
            ("capacity /dev/sdb --destroy", "whether a stick holds what it claims, in two minutes"),
            ("capacity /media/stick", "its free space; files on it stay"),
            ("capacity /dev/sdb --destroy --full", "every block"),
        ],
        &[],
    ),
    (
        "cold",
        &[
            ("cold /dev/nvme1n1", "whether first reads are slow, in two minutes; only reads"),
            ("cold /srv/db/data.ibd", "one large file"),
        ],
        &[],
    ),
    (
        "files",
        &[
            ("files ./", "10,000 files of 4 KiB, by one worker"),
            ("files /srv/mail --size 32k --workers 8 --directories 8", "eight workers, a directory each"),
        ],
        &[],
    ),
    (
        "fio",
        &[
            ("fio job.fio --time 10s", "a job file, no job longer than 10 seconds"),
            ("fio -- fio --name=a --rw=randread --size=1g", "a fio command line as it is pasted"),
        ],
        &[],
    ),
    (
        "ls",
        &[("ls", "every run in the notebook"), ("ls --store other.db", "those of another notebook")],
        UNWRITTEN,
    ),
    (
        "show",
        &[("show", "the newest run"), ("show 7f3a --json", "one run as a JSON document")],
        &["no_progress"],
    ),
    ("rm", &[("rm 7f3a", "one run"), ("rm 7f3a 1c22", "two of them")], UNWRITTEN),
    (
        "report",
        &[
            ("report last -f md -o notes", "Markdown with charts and their figures, in a folder"),
            ("report before after -f svg", "the charts of two runs together"),
        ],
        UNMEASURED,
    ),
    (
        "judge",
        &[
            ("judge results.json", "what fio's figures say, and what is wrong with them"),
            ("judge diskspd.xml kdiskmark.txt", "results of other tools beside each other"),
            ("judge results/ --strict --junit=judged.xml", "for CI: exit code 3 if a figure is in doubt"),
        ],
        &["no_progress", "store"],
    ),
    (
        "export",
        &[
            ("export last -f csv -o trials.csv", "every trial, one a line"),
            ("export last -f fio-json", "in fio's form, for scripts that read that"),
            ("export last -f openmetrics -o iosonde.prom", "for node_exporter's textfile collector"),
            ("export last -f bencher -o results.json", "for a chart over commits, with intervals"),
            ("export last -f io-properties -o -", "for ScyllaDB and Redpanda, from `run io-cost`"),
        ],
        UNMEASURED,
    ),
    (
        "import",
        &[
            ("import results.json", "fio's results, to compare them"),
            ("import other-machine.run", "a run that `export -f run` wrote"),
        ],
        UNMEASURED,
    ),
    (
        "compare",
        &[
            ("compare before after", "two runs by their labels"),
            ("compare last~1 last --figure latency_ns_p99", "the newest two, by p99 latency"),
        ],
        &["no_progress"],
    ),
    (
        "spec",
        &[
            ("spec last samsung-990-pro", "the newest run against a sheet that comes with iosonde"),
            ("spec last --claim \"randwrite 4k 118000\"", "against one claim"),
        ],
        UNMEASURED,
    ),
    (
        "doctor",
        &[("doctor ./", "the storage under this folder"), ("doctor /dev/nvme0n1", "a device")],
        &["no_progress", "store", "force", "quiet"],
    ),
    ("studies", &[("studies", "the list"), ("studies quick > mine.toml", "a study to change")], OF_A_LIST),
    ("engines", &[("engines", "the list"), ("engines io_uring", "one page")], OF_A_LIST),
    ("checks", &[("checks", "the list"), ("checks cache-served", "one page")], OF_A_LIST),
    ("experiments", &[("experiments", "the list"), ("experiments queue-depth", "one page")], OF_A_LIST),
    ("findings", &[("findings", "the list"), ("findings queue_depth_knee", "one page")], OF_A_LIST),
    (
        "devices",
        &[("devices", "the list"), ("devices sata-ssd", "one device's parameters and truths")],
        UNMEASURED,
    ),
    (
        "requirements",
        &[("requirements", "the list"), ("requirements etcd > mine.toml", "a requirement to change")],
        OF_A_LIST,
    ),
    ("specs", &[("specs", "the list"), ("specs d7-p5600 > mine.toml", "a sheet to change")], OF_A_LIST),
    (
        "selftest",
        &[
            ("selftest", "the usual number of devices"),
            ("selftest --seeds 20 --cells clean", "20 runs of each device without a planted effect"),
        ],
        &["store"],
    ),
    ("explain", &[("explain knee", "a word of the screens"), ("explain etcd", "a program")], OF_A_LIST),
    (
        "man",
        &[
            ("man | man -l -", "the first page, in a pager"),
            ("man -o /usr/local/share/man/man1", "all of them"),
        ],
        OF_A_LIST,
    ),
    (
        "completions",
        &[
            ("completions bash > /etc/bash_completion.d/iosonde", "for bash"),
            ("completions zsh > ~/.zfunc/_iosonde", "for zsh"),
        ],
        OF_A_LIST,
    ),
];

/// The command line with its examples, and without options where they mean nothing.
pub fn complete(command: Command) -> Command {
    let shared: Vec<Arg> = command.get_arguments().cloned().collect();
    COMMANDS.iter().fold(command, |command, (name, examples, meaningless)| {
        // An option of every command does not reach one that has its own of that name.
        let hidden = shared.iter().filter(|arg| meaningless.contains(&arg.get_id().as_str()));
        let hidden: Vec<Arg> = hidden.map(|arg| arg.clone().hide(true)).collect();
        command.mut_subcommand(name, |own| own.after_help(text(examples)).args(hidden))
    })
}

/// Commands of one host: several would only look on.
pub const OF_ONE_HOST: [&str; 5] = ["capacity", "cold", "doctor", "files", "fio"];

/// What is said of these.
pub const USE_IOSONDE: &str = "capacity, cold, doctor, files and fio are about one host: use iosonde";

/// The command line of `iosonde-mpi`: its help leaves out what several hosts do not do.
pub fn on_hosts(command: Command) -> Command {
    let command =
        OF_ONE_HOST.iter().fold(command, |command, name| command.mut_subcommand(name, |own| own.hide(true)));
    command.after_help(format!(
        "Examples:
  mpirun -n 16 --map-by node iosonde-mpi run quick /mnt/lustre
  mpirun -n 16 --map-by node iosonde-mpi run host-scaling /mnt/lustre
  mpirun -n 16 --map-by node iosonde-mpi point /mnt/lustre --rw write --bs 1M --layout file-per-worker
  mpirun -n 16 --map-by node iosonde-mpi resume

{USE_IOSONDE}."
    ))
}

fn text(examples: Examples) -> String {
    let widest = examples.iter().map(|(words, _)| words.len()).max().unwrap_or(0);
    let line = |(words, what): &(&str, &str)| format!("\n  iosonde {words:widest$}  {what}");
    format!("Examples:{}", examples.iter().map(line).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::{CommandFactory, error::ErrorKind};
    use std::path::PathBuf;

    #[test]
    fn every_command_has_two_examples_that_it_takes() {
        let command = complete(Cli::command());
        for own in command.get_subcommands().filter(|own| own.get_name() != "help") {
            let (_, examples, _) = COMMANDS
                .iter()
                .find(|(name, ..)| *name == own.get_name())
                .unwrap_or_else(|| panic!("{} has no examples", own.get_name()));
            assert!(examples.len() >= 2, "{}", own.get_name());
            for (words, what) in *examples {
                let read = command.clone().try_get_matches_from(typed(words));
                assert!(read.is_ok(), "{words}: {}", read.unwrap_err());
                assert!(!what.is_empty() && words.len() + what.len() < 86, "{words}");
            }
        }
    }

    /// The words of a command as a shell would give them: a claim's quotes hold spaces together.
    fn typed(line: &str) -> Vec<String> {
        let typed = line.split(['>', '|', '#', '&']).next().unwrap_or_default();
        let mut parts = typed.split('"');
        let mut all: Vec<String> = vec!["iosonde".into()];
        while let Some(bare) = parts.next() {
            all.extend(bare.split_whitespace().map(str::to_owned));
            all.extend(parts.next().map(str::to_owned));
        }
        all
    }

    #[test]
    fn every_command_of_the_page_of_questions_is_one_that_it_takes() {
        let command = complete(Cli::command());
        let page = include_str!("../../../docs/questions.md");
        let lines: Vec<&str> = page
            .lines()
            .flat_map(|line| line.split(" && "))
            .filter_map(|l| l.trim().strip_prefix("iosonde "))
            .collect();
        assert!(lines.len() >= 25, "{} commands", lines.len());
        for line in lines {
            let read = command.clone().try_get_matches_from(typed(line));
            assert!(read.is_ok(), "{line}: {}", read.unwrap_err());
        }
    }

    #[test]
    fn the_help_of_several_hosts_leaves_out_what_they_refuse() {
        let help = on_hosts(complete(Cli::command())).render_help().to_string();
        let lists = |name: &str| help.lines().any(|line| line.trim_start().starts_with(&format!("{name} ")));
        assert!(["run", "resume", "point", "check", "report"].into_iter().all(lists), "{help}");
        assert!(!OF_ONE_HOST.into_iter().any(lists), "{help}");
        assert_eq!(
            USE_IOSONDE.replace(" and ", ", ").split(" are ").next(),
            Some(OF_ONE_HOST.join(", ").as_str())
        );
        for (name, examples, _) in COMMANDS {
            let words: Vec<_> = typed(examples[0].0).into_iter().map(Into::into).collect();
            let Ok(cli) = crate::usage::parse(&words, true) else { panic!("{name}: {words:?}") };
            assert_eq!(crate::refuse_on_hosts(&cli).is_err(), OF_ONE_HOST.contains(name), "{name}");
        }
    }

    #[test]
    fn options_without_meaning_are_not_in_the_help_and_are_still_taken() {
        let mut command = complete(Cli::command());
        command.build();
        let engines = command.find_subcommand_mut("engines").expect("it is a command");
        let help = engines.render_help().to_string();
        assert!(!help.contains("--store") && !help.contains("--force") && help.contains("--color"), "{help}");
        let read = command.clone().try_get_matches_from(["iosonde", "engines", "--store", "x.db"]);
        assert_eq!(read.unwrap().get_one::<PathBuf>("store"), Some(&PathBuf::from("x.db")));
        let asked = command.try_get_matches_from(["iosonde", "engines", "--help"]).unwrap_err();
        assert_eq!(asked.kind(), ErrorKind::DisplayHelp);
    }
}
