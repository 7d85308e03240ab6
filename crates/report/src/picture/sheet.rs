//! Figures below each other in one SVG file, each with its title, on white.

use std::fmt::Write;

use super::{FILE_WIDTH as WIDTH, Theme, escaped, file_height, svg};
use crate::{figure::Figure, paint::clean_page};

/// Room for a chart's title.
const TITLE: u32 = 44;

/// Figures below each other on white, each with its title.
pub(crate) fn sheet(figures: &[Figure]) -> String {
    let heights: Vec<u32> = figures.iter().map(|figure| file_height(figure) + TITLE).collect();
    let height = heights.iter().sum::<u32>().max(TITLE);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\"><rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>"
    );
    let mut top = 0;
    for (figure, height) in figures.iter().zip(heights) {
        let picture = svg(figure, Theme::Light);
        let picture = picture.replacen("<svg ", &format!("<svg y=\"{}\" ", top + TITLE), 1);
        write!(
            out,
            "<text x=\"12\" y=\"{}\" font-family=\"system-ui, 'DejaVu Sans', sans-serif\" font-size=\"17\" \
             font-weight=\"600\" fill=\"#1d1f21\">{}</text>{picture}",
            top + 30,
            escaped(&figure.title)
        )
        .expect("writing to a String cannot fail");
        top += height;
    }
    clean_page(&(out + "</svg>\n"))
}
