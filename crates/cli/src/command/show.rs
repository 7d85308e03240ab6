//! `iosonde show`: a run again, as it was shown at its end.

use std::path::Path;

use iosonde_report::{Paint, terminal};

use crate::{args::ShowArgs, failure::Failure, notebook, output::write, screen::Screen};

/// Shows a run.
pub fn run(args: &ShowArgs, store: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    let run = notebook::find(store, &screen, args.run.as_deref())?;
    if let Some(path) = &args.json {
        let text = iosonde_report::json(&run).map_err(Failure::failed)?;
        return if path == Path::new("-") { screen.result(&text) } else { write(path, text.as_bytes()) };
    }
    let paint = Paint { color: screen.color, width: screen.width };
    screen.result(&if run.info.is_imported() {
        iosonde_report::judged(&run, paint)
    } else if run.info.study == "point" {
        terminal::trial(&run, paint)
    } else {
        terminal::summary(&run, paint)
    })
}
