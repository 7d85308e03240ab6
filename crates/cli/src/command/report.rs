//! `iosonde report`: a run's report again, in any format; of several runs, one page that compares them.

use std::path::{Path, PathBuf};

use iosonde_infer::compare;
use iosonde_model::{Run, Unknown};
use iosonde_report::{FORMATS, Files, Format, text::tables_page::tables_page};
use iosonde_store::export::EXPORTS;

use crate::{
    args::ReportArgs,
    destination::default_out,
    failure::Failure,
    notebook,
    output::{self, write},
    screen::Screen,
    sides,
};

/// An unknown format, with those that there are.
pub fn formats_there_are<'a>(unknown: &Unknown, names: impl Iterator<Item = &'a str>) -> Failure {
    Failure::usage(format!("{unknown}\n  formats: {}", names.collect::<Vec<_>>().join(", ")))
}

/// Writes reports.
pub fn run(args: &ReportArgs, store: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    let formats: Result<Vec<&'static dyn Format>, _> =
        args.format.iter().map(|name| FORMATS.find(name)).collect();
    let formats =
        formats.map_err(|unknown| formats_there_are(&unknown, FORMATS.iter().map(|format| format.name())))?;
    if formats.len() > 1 && args.out.is_some() {
        return Err(Failure::usage("-o names one file; leave it out to write several formats"));
    }
    let out = args.out.as_deref().filter(|out| !out.is_dir());
    output::check_beside(out, args.runs.iter().map(String::as_str), screen)?;
    if args.runs.len() > 1 {
        return several(args, &formats, store, screen);
    }
    let run = notebook::find(store, &screen, args.runs.first().map(String::as_str))?;
    for format in formats {
        one(&run, format, args.out.as_deref(), screen)?;
    }
    Ok(())
}

/// One format of a run.
fn one(run: &Run, format: &dyn Format, out: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    let name = default_out(run, format.extension());
    if is_folder(format, out)
        && let Some(mut files) = format.folder(run).map_err(Failure::failed)?
    {
        files.extend(tables(run));
        return folder(&out.map_or_else(|| as_folder(&name), Path::to_owned), &files, screen);
    }
    file(&format.render(run).map_err(Failure::failed)?, &name, format.extension(), out, screen)
}

/// The run's tables beside its charts, and a page that says how a chart is drawn from them.
fn tables(run: &Run) -> Files {
    let table = |file: &str, export: &str| {
        let text = EXPORTS.find(export).ok()?.write(run).ok()?;
        Some((file.to_owned(), text.into_bytes()))
    };
    let points = table("points.csv", "points-csv");
    let page = tables_page(points.is_some()).into_bytes();
    let all = [points, table("trials.csv", "csv"), Some(("tables.md".to_owned(), page))];
    all.into_iter().flatten().collect()
}

/// Whether a format that can be a folder is one: not on stdout, nor where a file of its own is named.
fn is_folder(format: &dyn Format, out: Option<&Path>) -> bool {
    let ending = Path::new("x").with_extension(format.extension());
    !out.is_some_and(|path| path == Path::new("-") || path.extension() == ending.extension())
}

/// `iosonde-quick-7f3a.md` as the name of a folder.
fn as_folder(name: &Path) -> PathBuf {
    PathBuf::from(name.to_string_lossy().replace('.', "-"))
}

/// A report's files into a folder of their own.
fn folder(path: &Path, files: &Files, screen: Screen) -> Result<(), Failure> {
    output::write_folder(path, files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())), screen)
}

fn file(
    bytes: &[u8],
    name: &Path,
    extension: &str,
    out: Option<&Path>,
    screen: Screen,
) -> Result<(), Failure> {
    if out == Some(Path::new("-")) {
        return match std::str::from_utf8(bytes) {
            Ok(text) => screen.result(text),
            Err(_) => Err(Failure::usage(format!("a {extension} is no text; name a file with -o"))),
        };
    }
    let path = out.unwrap_or(name).to_owned();
    // A folder is known as bad usage before it is known as a failed write.
    output::check(&path, &[], screen)?;
    write(&path, bytes, screen)?;
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
    let compared = compare::compare(&sides, &sides::usual_question(&sides))
        .map_err(|why| Failure::usage(iosonde_report::text::compare::nothing(&why)))?;
    let ids: Vec<&str> = sides.iter().map(|side| side.runs[0].info.id.as_str()).collect();
    for format in formats {
        let extension = format.extension();
        let (name, out) = (name_of_several(&ids, extension), args.out.as_deref());
        let files = format.several_folder(&sides, &compared).filter(|_| is_folder(*format, out));
        if let Some(files) = files {
            folder(&out.map_or_else(|| as_folder(&name), Path::to_owned), &files, screen)?;
            continue;
        }
        let bytes = format.several(&sides, &compared).map_err(Failure::failed)?;
        file(&bytes, &name, extension, out, screen)?;
    }
    Ok(())
}

/// Named by the runs, so that one comparison does not replace another.
fn name_of_several(ids: &[&str], extension: &str) -> PathBuf {
    // Four ids make a name that still reads; who compares more of them knows which by the first.
    let shown = ids[..ids.len().min(4)].join("-");
    let more = if ids.len() > 4 { format!("-and-{}-more", ids.len() - 4) } else { String::new() };
    let name = format!("iosonde-{shown}{more}");
    let safe = |c: char| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '-' };
    PathBuf::from(format!("{}.{extension}", name.chars().map(safe).collect::<String>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_several_runs_is_named_by_them() {
        assert_eq!(name_of_several(&["a1", "b2"], "html"), Path::new("iosonde-a1-b2.html"));
        let many = name_of_several(&["a", "b", "c", "../d", "e"], "svg");
        assert_eq!(many, Path::new("iosonde-a-b-c----d-and-1-more.svg"));
    }
}
