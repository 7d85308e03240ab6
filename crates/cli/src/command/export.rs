//! `iosonde export`: a run in a file for other programs, or for another machine.

use std::path::Path;

use iosonde_infer::requirement;
use iosonde_model::Run;
use iosonde_store::export::{EXPORTS, ExportFormat};

use super::report::formats_there_are;
use crate::{
    args::ExportArgs,
    destination::default_out,
    failure::Failure,
    notebook,
    output::{self, write},
    screen::Screen,
};

/// Writes a run out.
pub fn run(args: &ExportArgs, store: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    let formats: Vec<Output> =
        args.format.iter().map(|name| Output::named(name)).collect::<Result<_, _>>()?;
    if formats.len() > 1 && args.out.is_some() {
        return Err(Failure::usage("-o names one file; leave it out to write several formats"));
    }
    output::check_beside(args.out.as_deref(), args.run.as_deref(), screen)?;
    let run = notebook::find(store, &screen, args.run.as_deref())?;
    for format in formats {
        let text = format.write(&run)?;
        if args.out.as_deref() == Some(Path::new("-")) {
            screen.result(&text)?;
            continue;
        }
        let path = args.out.clone().unwrap_or_else(|| default_out(&run, format.extension()));
        write(&path, text.as_bytes(), screen)?;
        screen.say(&format!("written       {}", path.display()));
    }
    Ok(())
}

/// A format of the store's, or the document with its words, which is the report's.
enum Output {
    Document,
    Store(&'static dyn ExportFormat),
}

const DOCUMENT: &str = "json";

impl Output {
    fn named(name: &str) -> Result<Self, Failure> {
        if name == DOCUMENT {
            return Ok(Self::Document);
        }
        let there_are = || EXPORTS.iter().map(|format| format.name()).chain([DOCUMENT]);
        EXPORTS.find(name).map(Self::Store).map_err(|unknown| formats_there_are(&unknown, there_are()))
    }

    fn extension(&self) -> &'static str {
        match self {
            Self::Document => DOCUMENT,
            Self::Store(format) => format.extension(),
        }
    }

    fn write(&self, run: &Run) -> Result<String, Failure> {
        match self {
            Self::Document => iosonde_report::json(run).map_err(Failure::failed),
            Self::Store(format) => {
                format.write_answered(run, &requirement::answers(run)).map_err(Failure::failed)
            }
        }
    }
}
