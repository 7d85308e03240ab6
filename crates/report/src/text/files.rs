//! Words of small files: the answer, a table of steps, and what the figures mean.

use iosonde_judge::estimate::FEWEST_TRIALS;
use iosonde_model::{
    FileStep, FileStepFigures, FilesCache, FilesFinding, FilesFindingName, SmallFiles, Unit, units,
};

use super::{
    number::{self, Figure, Style},
    table::{Cell, ResultRow, ResultTable},
};

/// What stands where a percentile has too few values.
const NONE: &str = "–";

/// Name of a step.
pub fn step(step: FileStep) -> &'static str {
    match step {
        FileStep::Create => "create",
        FileStep::Stat => "stat",
        FileStep::Open => "open",
        FileStep::Read => "read",
        FileStep::List => "list",
        FileStep::Rename => "rename",
        FileStep::Unlink => "unlink",
        FileStep::WriteFsync => "write+fsync",
    }
}

/// The answer in a sentence.
pub fn answer(found: &SmallFiles) -> String {
    let of = |name| found.findings.iter().find(move |finding| finding.name == name);
    let created = of(FilesFindingName::FileCreatesPerS).map_or_else(String::new, finding);
    let flushed = of(FilesFindingName::FsyncFileLatency).map_or_else(String::new, finding);
    format!("{}: {created}; {flushed}", found.target)
}

/// A finding in a sentence without its end.
pub fn finding(finding: &FilesFinding) -> String {
    let value = |style: Style| number::with_interval(style, &finding.value);
    match finding.name {
        FilesFindingName::FileCreatesPerS => {
            format!("{} files created per second", value(Style::bare(Unit::Iops)))
        }
        FilesFindingName::StatLatency if finding.from_memory == Some(true) => {
            format!("stat takes {}, answered from memory", value(Unit::Time.into()))
        }
        FilesFindingName::StatLatency => format!("stat takes {}", value(Unit::Time.into())),
        FilesFindingName::FsyncFileLatency => {
            format!("a new file with fsync takes {}", value(Unit::Time.into()))
        }
    }
}

/// What was measured, in labelled lines above the table.
pub fn before(found: &SmallFiles) -> Vec<(&'static str, String)> {
    let layout = found.layout;
    let plural = |count: u64, one: &str, many: &str| {
        if count == 1 { format!("1 {one}") } else { format!("{} {many}", units::count(count as f64)) }
    };
    let place = found.file_system.as_ref().map_or_else(String::new, |name| format!("{name}, "));
    let size = if layout.file_bytes == 0 { "no content".to_owned() } else { units::size(layout.file_bytes) };
    vec![(
        "tested",
        format!(
            "{place}{}{} of {size} in {}, {}; {} rounds, 95 % confidence intervals",
            if ended_early(found).is_some() { "up to " } else { "" },
            plural(layout.files, "file", "files"),
            plural(layout.directories, "directory", "directories"),
            plural(u64::from(layout.workers), "worker", "workers"),
            found.rounds,
        ),
    )]
}

/// Figures of each step.
pub fn table(found: &SmallFiles) -> ResultTable {
    let cell = |figure: Figure| Some(Cell::from(figure));
    let rows = found.steps.iter().map(|figures| {
        let time = |estimate: Option<_>| match estimate {
            Some(estimate) => number::figure(Unit::Time, &estimate),
            None => Figure { value: NONE.to_owned(), interval: String::new() },
        };
        ResultRow {
            label: step(figures.step).to_owned(),
            indented: false,
            cells: vec![
                cell(number::figure(Style::bare(Unit::Iops), &figures.per_s)),
                cell(time(figures.latency_ns_p50)),
                cell(time(figures.latency_ns_p99)),
            ],
        }
    });
    ResultTable { corner: "", heads: vec!["per second", "p50", "p99"], rows: rows.collect() }
}

/// What the figures mean, in labelled lines below the table.
pub fn after(found: &SmallFiles) -> Vec<(&'static str, String)> {
    let synced = number::with_interval(Style::bare(Unit::Iops), &found.synced_creates_per_s);
    let mut lines = vec![(
        "flushed",
        format!(
            "only write+fsync waits for storage; created with one sync for all files: {synced} per second"
        ),
    )];
    lines.extend(vague(found).map(|line| ("unknown", line)));
    lines.extend(untold(found).map(|line| ("missing", line)));
    lines.extend(memory(found).map(|line| ("memory", line)));
    lines.extend(ended_early(found).map(|line| ("ended early", line)));
    let created = done(found, FileStep::Create).unwrap_or(found.layout.files * found.rounds as u64);
    let names = created.div_ceil((found.rounds as u64 * found.layout.directories).max(1));
    let plural = if names == 1 { "" } else { "s" };
    let count = units::count(names as f64);
    let listed = format!("names per second; latency of a directory of {count} name{plural}");
    lines.push(("list", listed));
    lines.push(("took", units::duration(found.elapsed_s)));
    lines
}

fn done(found: &SmallFiles, step: FileStep) -> Option<u64> {
    found.steps.iter().find(|figures| figures.step == step).map(|figures| figures.done)
}

/// Steps whose rounds differ too much for a figure.
fn vague(found: &SmallFiles) -> Option<String> {
    let is_unknown =
        |figures: &&FileStepFigures| number::figure(Style::bare(Unit::Iops), &figures.per_s).is_unknown();
    let vague = found.steps.iter().filter(is_unknown);
    let rate = |figures: &FileStepFigures| {
        format!("{} {}", step(figures.step), number::with_interval(Style::bare(Unit::Iops), &figures.per_s))
    };
    let told: Vec<String> = vague.map(rate).collect();
    (!told.is_empty()).then(|| format!("rounds differ too much: {} per second", told.join(", ")))
}

/// Why percentiles are missing, or have no interval.
fn untold(found: &SmallFiles) -> Option<String> {
    let percentiles = || found.steps.iter().flat_map(|step| [step.latency_ns_p50, step.latency_ns_p99]);
    let bare = percentiles().flatten().any(|estimate| estimate.low.is_none());
    let bare = (bare && found.rounds < FEWEST_TRIALS)
        .then(|| format!("percentiles have an interval from {FEWEST_TRIALS} rounds on (--rounds)"));
    let none = percentiles()
        .any(|figure| figure.is_none())
        .then(|| format!("{NONE} for a percentile that fewer than ten calls exceed"));
    let told: Vec<String> = [bare, none].into_iter().flatten().collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// Steps that had no time for all files.
fn ended_early(found: &SmallFiles) -> Option<String> {
    let all = found.layout.files * found.rounds as u64;
    let created = done(found, FileStep::Create).unwrap_or(all);
    let few = |step: FileStep| {
        let of = if matches!(step, FileStep::Create | FileStep::WriteFsync) { all } else { created };
        let done = done(found, step).filter(|done| *done < of)?;
        let [done, of] = [done, of].map(|count| units::count(count as f64));
        Some(format!("{} {done} of {of}", self::step(step)))
    };
    let told: Vec<String> = found.steps.iter().filter_map(|figures| few(figures.step)).collect();
    let told = (!told.is_empty()).then(|| told.join(", "));
    told.map(|told| format!("files done: {told}; give more --time, or fewer --files"))
}

/// What a cache answered.
fn memory(found: &SmallFiles) -> Option<String> {
    if found.in_memory {
        return Some("the directory lies in memory: no figure says anything of storage".to_owned());
    }
    let from_memory = |answer: Option<bool>| {
        let own =
            found.steps.iter().filter(move |figures| figures.step.reads() && figures.from_memory == answer);
        own.map(|figures| step(figures.step)).collect::<Vec<_>>()
    };
    let why = match found.cache {
        FilesCache::Kept => "the files had just been written; --uncached drops it before",
        FilesCache::DataDropped => "names and inodes stay; as root, --uncached drops them too",
        FilesCache::AllDropped => {
            "the kernel fetched nothing, although it was told to drop data, names and inodes"
        }
    };
    let (answered, unknown) = (from_memory(Some(true)), from_memory(None));
    match (&answered[..], &unknown[..]) {
        ([], []) => None,
        ([], unknown) if found.file_system.is_some() => {
            Some(format!("the kernel does not tell whether memory answered {}", listed(unknown)))
        }
        ([], _) => None,
        (answered, _) => Some(format!("answered {}, and not storage: {why}", listed(answered))),
    }
}

/// `stat, open and read`.
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Circumstances, Estimate, FilesLayout};

    use super::*;
    use crate::{Answer, Paint};

    fn estimate(value: f64) -> Estimate {
        Estimate { value, low: Some(value * 0.97), high: Some(value * 1.03) }
    }

    fn found(cache: FilesCache, stat_from_memory: Option<bool>) -> SmallFiles {
        let figures = |(nth, step): (usize, FileStep)| {
            let latency_ns = 1500.0 * 4_f64.powi(nth as i32);
            FileStepFigures {
                step,
                done: 100_000,
                per_s: estimate(1e9 / latency_ns),
                round_per_s: vec![1e9 / latency_ns; 3],
                latency_ns_mean: estimate(latency_ns),
                latency_ns_p50: Some(estimate(latency_ns * 0.8)),
                latency_ns_p99: (nth != 4).then(|| estimate(latency_ns * 5.0)),
                fetched_bytes: stat_from_memory.map(|_| 0),
                from_memory: stat_from_memory.map(|yes| yes && step.reads()),
            }
        };
        let steps: Vec<FileStepFigures> = FileStep::ALL.into_iter().enumerate().map(figures).collect();
        let value =
            |step: FileStep| steps[FileStep::ALL.iter().position(|one| *one == step).unwrap()].clone();
        let findings = vec![
            FilesFinding {
                name: FilesFindingName::FileCreatesPerS,
                value: value(FileStep::Create).per_s,
                from_memory: Some(false),
            },
            FilesFinding {
                name: FilesFindingName::StatLatency,
                value: value(FileStep::Stat).latency_ns_mean,
                from_memory: stat_from_memory,
            },
            FilesFinding {
                name: FilesFindingName::FsyncFileLatency,
                value: value(FileStep::WriteFsync).latency_ns_mean,
                from_memory: Some(false),
            },
        ];
        SmallFiles {
            target: "./".into(),
            file_system: Some("ext4".into()),
            in_memory: false,
            layout: FilesLayout { files: 10_000, file_bytes: 4096, directories: 10, workers: 1 },
            cache,
            seed: 1,
            rounds: 10,
            steps,
            synced_creates_per_s: estimate(31_000.0),
            findings,
            elapsed_s: 12.3,
            circumstances: Circumstances::default(),
        }
    }

    #[test]
    fn the_screen_says_what_memory_answered() {
        let screen = |cache, memory| found(cache, memory).screen(Paint { color: false, width: 80 });
        insta::assert_snapshot!(
            [
                screen(FilesCache::Kept, Some(true)),
                screen(FilesCache::DataDropped, Some(true)),
                screen(FilesCache::AllDropped, Some(false)),
                screen(FilesCache::Kept, None),
            ]
            .join("\n")
        );
    }

    #[test]
    fn steps_that_time_ended_are_named_with_what_they_did() {
        let whole = found(FilesCache::Kept, Some(true));
        assert_eq!(ended_early(&whole), None);
        let few = |figures: &FileStepFigures| match figures.step {
            FileStep::WriteFsync => 30,
            _ => 5_000,
        };
        let steps = whole.steps.iter().map(|one| FileStepFigures { done: few(one), ..one.clone() }).collect();
        let told = ended_early(&SmallFiles { steps, ..whole }).unwrap();
        assert!(told.starts_with("files done: create 5 k of 100 k, write+fsync 30 of 100 k;"), "{told}");
    }

    #[test]
    fn a_directory_in_memory_says_nothing_of_storage() {
        let found = SmallFiles { in_memory: true, ..found(FilesCache::Kept, Some(true)) };
        assert!(memory(&found).unwrap().starts_with("the directory lies in memory"));
    }
}
