//! `iosonde export`: a run in a file for other programs, or for another machine.

use std::path::Path;

use iosonde_store::export::EXPORTS;

use super::report::formats_there_are;
use crate::{
    args::ExportArgs, destination::default_out, failure::Failure, notebook, output::write, screen::Screen,
};

/// Writes a run out.
pub fn run(args: &ExportArgs, store: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    let formats: Result<Vec<_>, _> = args.format.iter().map(|name| EXPORTS.find(name)).collect();
    let formats =
        formats.map_err(|unknown| formats_there_are(&unknown, EXPORTS.iter().map(|format| format.name())))?;
    if formats.len() > 1 && args.out.is_some() {
        return Err(Failure::usage("-o names one file; leave it out to write several formats"));
    }
    let run = notebook::find(store, &screen, args.run.as_deref())?;
    for format in formats {
        let text = format.write(&run).map_err(Failure::failed)?;
        if args.out.as_deref() == Some(Path::new("-")) {
            screen.result(&text)?;
            continue;
        }
        let path = args.out.clone().unwrap_or_else(|| default_out(&run, format.extension()));
        write(&path, text.as_bytes())?;
        screen.say(&format!("written       {}", path.display()));
    }
    Ok(())
}
