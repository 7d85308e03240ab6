//! The report as one HTML file: no network, opens from a folder, reads without scripts, prints.
//!
//! The first screen gives the three answers and one chart; each experiment follows with its question, answer,
//! charts and how sure it is; then the machine and the method, and, folded, every finding, exclusion and trial.

mod answers;
mod charts;
mod one_answer;
mod page;
mod parts;
mod portrait;
mod sections;
mod tables;

use iosonde_model::Run;
use maud::html as markup;

use crate::story;
use charts::Charts;
pub(crate) use charts::shown as chart;
pub(crate) use one_answer::answer;
pub(crate) use page::document;
pub(crate) use parts::{capital, prose};
pub(crate) use tables::scroll;

/// A concluded run as one HTML file.
pub fn html(run: &Run) -> String {
    let charts = Charts::of_run(run);
    let body = markup! {
        a.skip href="#contents" { "Skip to the contents" }
        (answers::header(run))
        main {
            (answers::first_screen(run, &charts))
            (answers::applications(run))
            (portrait::portrait(run))
            (sections::contents(run))
            (sections::experiments(run, &charts))
            (sections::hosts(run))
            (sections::circumstances(run))
            (sections::method(run))
            (sections::everything(run))
        }
        (page::footer(run))
    };
    page::document(&story::title(run), &run.iosonde, &body)
}
