//! What the words and options of `iosonde run` ask for: a study, the targets, and how each is measured.

use std::path::Path;

use iosonde_model::{Run, Study};
use iosonde_rig::platform;

use crate::{
    args::{RunArgs, parse_label},
    campaign::{CampaignSpec, SessionSpec},
    destination::Destination,
    failure::Failure,
    notebook,
    options::Options,
    output,
    screen::Screen,
    sheets, studies,
};

/// Reads the arguments; nothing has been opened yet.
pub fn campaign(
    args: &RunArgs,
    destination: &Destination,
    store: Option<&Path>,
    screen: &Screen,
) -> Result<CampaignSpec, Failure> {
    let words = words(args)?;
    let (study, sessions) = if words.len() > 2 {
        let (study, targets) = study_and_targets(args, &words)?;
        let base = options_of(args, study.time_ns, study.precision, None);
        let all = options_of_each(&base, &targets)?;
        let labels = labels(args.target.label.as_deref(), targets.len())?;
        let each = targets.into_iter().zip(all).zip(labels);
        (study, each.map(|((target, options), label)| SessionSpec { target, options, label }).collect())
    } else {
        let (study, target, options) = what_was_asked(args, store, screen)?;
        // A label names one run: the first, which stands for all repeats.
        let number = args.part.as_ref().map(|(number, _)| *number).filter(|number| *number > 1);
        let numbered = |label: &String| number.map_or(label.clone(), |number| format!("{label} #{number}"));
        (study, vec![SessionSpec { target, options, label: args.target.label.as_ref().map(numbered) }])
    };
    // The study's file and the sheet's are needed again to repeat the run.
    let read = args.words.first().filter(|_| args.words.len() > 1).into_iter().chain(&args.sheet);
    let apart = output::inputs(read.map(String::as_str)).into_iter().chain(destination.files()).collect();
    if sessions.len() == 1 && study.name == LAYERS && args.against.is_none() {
        let target = &sessions[0].target;
        screen.say(&format!(
            "alone         the cost of a layer is the difference to what lies below it:\n              \
             iosonde run {LAYERS} --over BASE {target}"
        ));
    }
    let against = args.against.as_ref().map(|reference| earlier(store, screen, reference)).transpose()?;
    if against.is_some() && sessions.len() > 1 {
        return Err(Failure::usage(
            "--against compares one target with an earlier run; name one target only",
        ));
    }
    Ok(CampaignSpec {
        study,
        sessions,
        note: args.target.note.clone(),
        over: args.over.is_some(),
        against,
        part: args.part.clone(),
        apart,
    })
}

/// The study and the targets: with `--over`, the base stands before the target.
fn words(args: &RunArgs) -> Result<Vec<String>, Failure> {
    let Some(base) = &args.over else { return Ok(args.words.clone()) };
    match &args.words[..] {
        [study] if studies::is_name(study) && !is_target(study) => {
            Err(Failure::usage(format!("say what lies above {base}:  iosonde run {study} --over {base} ./")))
        }
        [target] => Ok(vec![LAYERS.to_owned(), base.clone(), target.clone()]),
        [study, targets @ ..] => Ok([&[study.clone(), base.clone()], targets].concat()),
        [] => Err(Failure::usage(format!("say what lies above it:  iosonde run {LAYERS} --over {base} ./"))),
    }
}

/// The study of `--over` without one.
const LAYERS: &str = "layers";

/// The earlier run that `--against` names: its id, or the path of its file.
fn earlier(store: Option<&Path>, screen: &Screen, reference: &str) -> Result<String, Failure> {
    let kept = notebook::found(store, screen, Some(reference))?;
    Ok(if Path::new(reference).is_file() { reference.to_owned() } else { kept.info.id })
}

/// The study, where, and how: as typed, or as another run was.
fn what_was_asked(
    args: &RunArgs,
    store: Option<&Path>,
    screen: &Screen,
) -> Result<(Study, String, Options), Failure> {
    let again = args.against.as_ref().filter(|_| args.words.len() == 1 && args.sheet.is_none());
    let Some(reference) = args.like.as_ref().or(again) else {
        let (study, target) = study_and_target(&args.words)?;
        let study = as_set(study, args)?;
        let mut options = options_of(args, study.time_ns, study.precision, None);
        if let Some((_, series)) = args.part.as_ref().filter(|(number, _)| *number > 1) {
            // As large as the first, however fast filling goes this time: the points of a series are the same.
            let (first, _) = kept(store, screen, series)?;
            (options.size_bytes, options.exact_size) = (Some(first.info.device.working_set_bytes), true);
        }
        return Ok((study, target, options));
    };
    let [target] = &args.words[..] else {
        return Err(Failure::usage(format!(
            "--like takes the study from the run; give the target only:  iosonde run --like {reference} ./"
        )));
    };
    let (kept, before) = kept(store, screen, reference)?;
    if args.target.size.is_some() {
        return Err(Failure::usage(
            "--like and --against take that run's size, or the points would not be the same; leave --size out",
        ));
    }
    let study = Study::parse(&kept.info.study_source, &kept.info.study).map_err(Failure::failed)?;
    let options = Options {
        size_bytes: Some(kept.info.device.working_set_bytes),
        exact_size: true,
        seed: args.target.seed.unwrap_or(kept.info.seed),
        state: args.state.or(before.state),
        layout: args.target.layout.or(before.layout),
        rotate: args.target.rotate || before.rotate,
        ..options_of(args, before.time_ns, before.precision, before.rounds)
    };
    Ok((study, target.clone(), options))
}

fn options_of(args: &RunArgs, time_ns: u64, precision: f64, rounds: Option<u32>) -> Options {
    let rounds = args.rounds.or(rounds.filter(|_| args.precision.is_none()));
    Options {
        state: args.state,
        max_write_bytes: args.max_write,
        ..Options::of(&args.target, args.time.unwrap_or(time_ns), args.precision.unwrap_or(precision), rounds)
    }
}

/// The study as the options shape it: a sheet's lines in its place, its parameters, its span.
fn as_set(study: Study, args: &RunArgs) -> Result<Study, Failure> {
    let study = match &args.sheet {
        Some(sheet) => sheets::study(sheet, (args.words.len() > 1).then_some(&study), &args.set)?,
        None => study,
    };
    studies::with_span(studies::with_settings(study, &args.set)?, args.span)
}

/// A run of a study as it was kept, in the notebook or in a file of its own, with its options.
fn kept(store: Option<&Path>, screen: &Screen, reference: &str) -> Result<(Run, Options), Failure> {
    let kept = notebook::found(store, screen, Some(reference))?;
    let options = options_kept(&kept)?;
    Ok((kept, options))
}

/// The options that a run of a study was begun with.
pub fn options_kept(kept: &Run) -> Result<Options, Failure> {
    if kept.info.study_source.is_empty() {
        return Err(Failure::usage(format!(
            "{} has no study: it is a single point or another tool's result",
            kept.info.id
        )));
    }
    Options::kept(kept, "cannot be used")
}

/// The first word is a study where there are two; one word alone is the target.
fn study_and_target(words: &[String]) -> Result<(Study, String), Failure> {
    match words {
        [target, word] if is_target(target) => Err(Failure::usage(format!(
            "`{target}` is a target, and the study comes before it:  iosonde run quick {target}\n  a path with \
             spaces in it needs quotes; --json and --destroy take their value behind `=`: --json={word}"
        ))),
        [study, target] => Ok((studies::find(study)?, target.clone())),
        [target] => {
            if studies::is_name(target) && !Path::new(target).exists() {
                return Err(Failure::usage(format!(
                    "`{target}` is a study; say also what to measure:  iosonde run {target} ./"
                )));
            }
            Ok((studies::find("quick")?, target.clone()))
        }
        [_, _, word, ..] => Err(Failure::usage(format!(
            "--like takes the study from the run and measures one target; `{word}` is one word too many"
        ))),
        [] => Err(Failure::usage("say what to measure:  iosonde run quick ./")),
    }
}

/// Whether a word in a study's place is a target.
fn is_target(word: &str) -> bool {
    let study = word.ends_with(".toml") || studies::is_known(word);
    word.starts_with("sim:") || (!study && Path::new(word).exists())
}

/// The study and its targets, as typed.
fn study_and_targets(args: &RunArgs, words: &[String]) -> Result<(Study, Vec<String>), Failure> {
    let [first, targets @ ..] = words else { return Err(Failure::usage("say what to measure")) };
    if is_target(first) {
        return Err(Failure::usage(format!(
            "`{first}` is a target, and the study comes before the targets:  iosonde run {} {}",
            if args.over.is_some() { LAYERS } else { "quick" },
            words.join(" ")
        )));
    }
    let unknown = |word: &&String| !word.starts_with("sim:") && !Path::new(word).exists();
    if let Some(word) = targets.iter().find(unknown) {
        return Err(Failure::usage(if studies::is_name(word) {
            format!(
                "`{word}` is a study, and a run has one; several targets may follow it:  iosonde run {first} ./a ./b"
            )
        } else {
            format!(
                "there is no target `{word}`: no file, folder or device of that name is here\n  a path with spaces in \
                 it needs quotes; --json and --destroy take their value behind `=`: --json={word}"
            )
        }));
    }
    if args.repeats.is_some() || args.part.is_some() {
        return Err(Failure::usage(
            "--repeats takes one target: run it for each, with a --label, and `iosonde compare` takes them together",
        ));
    }
    if args.like.is_some() {
        return Err(Failure::usage("--like measures one target as another run was; name one only"));
    }
    refuse_twice(targets)?;
    Ok((as_set(studies::find(first)?, args)?, targets.to_vec()))
}

/// One target twice: the comparison would be empty, and two runs would write to one place.
fn refuse_twice(targets: &[String]) -> Result<(), Failure> {
    let place = |target: &String| match target.strip_prefix("sim:") {
        Some(name) if !name.ends_with(".toml") => target.clone(),
        _ => {
            // Two hard links are one file, which only its number tells.
            let path = target.strip_prefix("sim:").unwrap_or(target);
            platform::identity(Path::new(path))
                .map_or(target.clone(), |(device, number)| format!("{device}:{number}"))
        }
    };
    let places: Vec<String> = targets.iter().map(place).collect();
    for (at, found) in places.iter().enumerate() {
        if let Some(before) = places[..at].iter().position(|other| other == found) {
            let both = if targets[before] == targets[at] {
                format!("`{}` is named twice", targets[at])
            } else {
                format!("`{}` and `{}` are the same place", targets[before], targets[at])
            };
            return Err(Failure::usage(format!(
                "{both}: a target is as fast as itself; how much its runs differ is what --repeats tells"
            )));
        }
    }
    Ok(())
}

/// Whether it is an existing file, which `--destroy` would overwrite.
fn is_file(target: &str) -> bool {
    !target.starts_with("sim:") && Path::new(target).is_file()
}

/// The same options for all, except for the device's own chance where it is simulated, its part of what may be
/// written, and the word to overwrite.
fn options_of_each(base: &Options, targets: &[String]) -> Result<Vec<Options>, Failure> {
    let words: Vec<&str> = base.destroy.iter().flat_map(|words| words.split(',')).collect();
    let files: Vec<&str> = targets.iter().map(String::as_str).filter(|target| is_file(target)).collect();
    // `--json out.json` makes a target of out.json: one plain word must not reach what nobody meant.
    if words[..] == [""] && !files.is_empty() {
        return Err(Failure::usage(format!(
            "beside other targets --destroy does not tell which it means. Files that exist: {}. Nothing was touched\n  \
             name each target that may be overwritten, in their order:  --destroy={}\n  (--json takes its path behind \
             `=`: --json=PATH)",
            files.join(", "),
            targets.join(",")
        )));
    }
    if words.len() > 1 && words.len() != targets.len() {
        return Err(Failure::usage(format!(
            "--destroy has {} identities for {} targets; give one for each, in their order, with commas between",
            words.len(),
            targets.len()
        )));
    }
    let one = |number: usize| {
        let word = words.get(number).or(words.first()).copied();
        // A file has no identity but its name; the guard takes the plain word for it.
        let named = |word: &str| word == targets[number] && is_file(word);
        let own = word.map(|word| if named(word) { String::new() } else { word.to_owned() });
        let max_write_bytes = base.max_write_bytes.map(|bytes| bytes / targets.len() as u64);
        // Devices that are simulated from one seed would share their noise, which real ones do not.
        let seed = base.seed.wrapping_add(number as u64);
        Options { destroy: own, seed, max_write_bytes, order_seed: Some(base.seed), ..base.clone() }
    };
    Ok((0..targets.len()).map(one).collect())
}

/// A name for each run: as many as there are targets, with commas between, or one with a number behind it.
fn labels(text: Option<&str>, of: usize) -> Result<Vec<Option<String>>, Failure> {
    let Some(text) = text else { return Ok(vec![None; of]) };
    let names: Vec<&str> = text.split(',').collect();
    match names.len() {
        1 => Ok((1..=of).map(|number| Some(format!("{text}-{number}"))).collect()),
        count if count == of => {
            let names: Result<_, String> =
                names.into_iter().map(|name| parse_label(name).map(Some)).collect();
            names.map_err(|why| Failure::usage(format!("--label {text}: {why}")))
        }
        count => Err(Failure::usage(format!(
            "--label has {count} names for {of} targets; give one for each, with commas between, or one for all"
        ))),
    }
}
