//! `iosonde report`: a run's report again, in any format.

use std::path::Path;

use iosonde_report::FORMATS;

use super::run::default_out;
use crate::{args::ReportArgs, failure::Failure, notebook, output::write, screen::Screen};

/// Writes reports.
pub fn run(args: &ReportArgs, store: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    let formats: Result<Vec<_>, _> = args.format.iter().map(|name| FORMATS.find(name)).collect();
    let formats = formats.map_err(Failure::usage)?;
    if formats.len() > 1 && args.out.is_some() {
        return Err(Failure::usage("-o names one file; leave it out to write several formats"));
    }
    let run = notebook::find(store, &screen, args.run.as_deref())?;
    for format in formats {
        let bytes = format.render(&run).map_err(Failure::failed)?;
        if args.out.as_deref() == Some(Path::new("-")) {
            screen.result(&String::from_utf8_lossy(&bytes))?;
            continue;
        }
        let path = args.out.clone().unwrap_or_else(|| default_out(&run, format.extension()));
        write(&path, &bytes)?;
        screen.say(&format!("written       {}", path.display()));
    }
    Ok(())
}
