//! `iosonde report`: a run's report again, in any format; of several runs, one page that compares them.

use std::path::{Path, PathBuf};

use iosonde_lab::compare;
use iosonde_model::Run;
use iosonde_report::{FORMATS, Format};

use super::run::default_out;
use crate::{args::ReportArgs, failure::Failure, notebook, output::write, screen::Screen, sides};

/// Writes reports.
pub fn run(args: &ReportArgs, store: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    let formats: Result<Vec<&'static dyn Format>, _> =
        args.format.iter().map(|name| FORMATS.find(name)).collect();
    let formats = formats.map_err(Failure::usage)?;
    if formats.len() > 1 && args.out.is_some() {
        return Err(Failure::usage("-o names one file; leave it out to write several formats"));
    }
    if args.runs.len() > 1 {
        return several(args, &formats, store, screen);
    }
    let run = notebook::find(store, &screen, args.runs.first().map(String::as_str))?;
    for format in formats {
        one(&run, format, args.out.as_deref(), screen)?;
    }
    Ok(())
}

/// One format: on stdout, as the file that was named, or where iosonde names it, there as a folder if it is one.
fn one(run: &Run, format: &dyn Format, out: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    let ending = Path::new("x").with_extension(format.extension());
    let is_file = out.is_some_and(|path| path == Path::new("-") || path.extension() == ending.extension());
    let folder = if is_file { None } else { format.folder(run).map_err(Failure::failed)? };
    let Some(files) = folder else {
        return file(&format.render(run).map_err(Failure::failed)?, run, format.extension(), out, screen);
    };
    let named = || PathBuf::from(default_out(run, format.extension()).to_string_lossy().replace('.', "-"));
    let path = out.map_or_else(named, Path::to_owned);
    std::fs::create_dir_all(&path)
        .map_err(|error| Failure::failed(format!("{} cannot be made: {error}", path.display())))?;
    for (name, bytes) in &files {
        write(&path.join(name), bytes)?;
    }
    screen.say(&format!("written       {}/ ({} files)", path.display(), files.len()));
    Ok(())
}

fn file(bytes: &[u8], run: &Run, extension: &str, out: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    if out == Some(Path::new("-")) {
        return match std::str::from_utf8(bytes) {
            Ok(text) => screen.result(text),
            Err(_) => Err(Failure::usage(format!("a {extension} is no text; name a file with -o"))),
        };
    }
    let path = out.map_or_else(|| default_out(run, extension), Path::to_owned);
    write(&path, bytes)?;
    screen.say(&format!("written       {}", path.display()));
    Ok(())
}

/// All runs on one page, each compared with the first.
fn several(
    args: &ReportArgs,
    formats: &[&'static dyn Format],
    store: Option<&Path>,
    screen: Screen,
) -> Result<(), Failure> {
    let references: Vec<&String> = args.runs.iter().collect();
    let sides = sides::load(store, &screen, &references)?;
    let compared = compare::compare(&sides, &sides::usual_question(&sides)).map_err(Failure::usage)?;
    for format in formats {
        let Some(bytes) = format.several(&sides, &compared).map_err(Failure::failed)? else {
            let can = "html, text, json and svg can";
            return Err(Failure::usage(format!("{} does not hold several runs: {can}", format.name())));
        };
        let mut named = default_out(&sides[0].runs[0], format.extension());
        named.set_file_name(format!("iosonde-{}-runs.{}", sides.len(), format.extension()));
        let out = args.out.clone().unwrap_or(named);
        file(&bytes, &sides[0].runs[0], format.extension(), Some(&out), screen)?;
    }
    Ok(())
}
