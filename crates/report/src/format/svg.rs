//! SVG: every chart of the run below each other in one picture, with titles, on white.
//!
//! Nothing in it refers to anything outside, so that it can be put into a page, a paper or a slide as it is.

use std::fmt::Write;

use iosonde_model::{Named, Run};

use super::{Format, ReportError};
use crate::chart::figures;
use crate::picture::{FILE_HEIGHT as HEIGHT, FILE_WIDTH as WIDTH, Theme, svg};

/// The format.
pub struct Svg;

impl Named for Svg {
    fn name(&self) -> &'static str {
        "svg"
    }
}

/// Room for a chart's title.
const TITLE: u32 = 44;

impl Format for Svg {
    fn extension(&self) -> &'static str {
        "svg"
    }

    fn render(&self, run: &Run) -> Result<Vec<u8>, ReportError> {
        let figures = figures(run);
        let (each, count) = (HEIGHT + TITLE, figures.len() as u32);
        let height = each * count.max(1);
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
             viewBox=\"0 0 {WIDTH} {height}\"><rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>"
        );
        for (figure, place) in figures.iter().zip(0..) {
            let top = place * each;
            let picture = svg(figure, Theme::Light);
            let picture = picture.replacen("<svg ", &format!("<svg y=\"{}\" ", top + TITLE), 1);
            let title = figure.title.replace('&', "&amp;").replace('<', "&lt;");
            write!(
                out,
                "<text x=\"12\" y=\"{}\" font-family=\"system-ui, sans-serif\" font-size=\"17\" \
                 font-weight=\"600\" fill=\"#1d1f21\">{title}</text>{picture}",
                top + 30
            )
            .expect("writing to a String cannot fail");
        }
        out.push_str("</svg>\n");
        Ok(out.into_bytes())
    }
}
