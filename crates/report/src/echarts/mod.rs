//! From a figure to Apache ECharts: its option object, the colours, and the still picture drawn inside the
//! program.
//!
//! The library and the functions that JSON cannot hold are in `assets/`; the page of the HTML report and the
//! JavaScript engine in this program run the same two files.

mod option;
mod svg;
mod theme;

pub use option::{describe, option};
pub use svg::{DrawError, Painter, svg};
pub(crate) use svg::{HEIGHT, WIDTH};
pub(crate) use theme::COLOURS;
pub use theme::Theme;

/// Apache ECharts, the parts used; built by `assets/build-echarts.sh`.
pub(crate) const LIBRARY: &str = include_str!("../../assets/echarts.min.js");

/// The functions that options name.
pub(crate) const FUNCTIONS: &str = include_str!("../../assets/chart.js");
