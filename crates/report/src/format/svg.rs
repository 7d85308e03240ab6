//! SVG: every chart of the run, in one picture below each other or a file each, with titles, on white.
//!
//! Nothing in it refers to anything outside, so that it can be put into a page, a paper or a slide as it is.

use iosonde_infer::compare::Side;
use iosonde_model::{Compared, Named, Run};

use super::{Files, Format};
use crate::error::ReportError;
use crate::{chart::figures, figure::Figure, picture::sheet};

/// The format.
pub struct Svg;

impl Named for Svg {
    fn name(&self) -> &'static str {
        "svg"
    }
}

impl Format for Svg {
    fn extension(&self) -> &'static str {
        "svg"
    }

    fn render(&self, run: &Run) -> Result<Vec<u8>, ReportError> {
        Ok(sheet(&figures(run)).into_bytes())
    }

    fn folder(&self, run: &Run) -> Result<Option<Files>, ReportError> {
        Ok(Some(files(&figures(run))))
    }

    fn several(&self, sides: &[Side], compared: &Compared) -> Result<Vec<u8>, ReportError> {
        Ok(sheet(&crate::several::figures_of_several(sides, compared)).into_bytes())
    }

    fn several_folder(&self, sides: &[Side], compared: &Compared) -> Option<Files> {
        Some(files(&crate::several::figures_of_several(sides, compared)))
    }
}

/// A file for each chart.
fn files(figures: &[Figure]) -> Files {
    let one =
        |figure: &Figure| (format!("{}.svg", figure.name), sheet(std::slice::from_ref(figure)).into_bytes());
    figures.iter().map(one).collect()
}
