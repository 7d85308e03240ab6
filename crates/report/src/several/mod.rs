//! Several runs on one page: machines, devices or settings side by side, from a comparison and the runs behind it.
//!
//! The answer first, then the ratios with their intervals, bars for each operation, and each relation (throughput by
//! block size, by queue depth) with a line for each side; last what else differs, and every side's own facts.

mod bars;
mod markdown;
mod overlay;
mod page;
mod ratios;

use iosonde_infer::compare::Side;
use iosonde_model::Compared;

use crate::figure::Figure;

pub use markdown::{markdown, markdown_folder};
pub use page::several;

/// Every chart of a comparison.
pub fn figures_of_several(sides: &[Side], compared: &Compared) -> Vec<Figure> {
    let mut figures: Vec<Figure> = Vec::new();
    for (place, pair) in compared.pairs.iter().enumerate() {
        figures.extend(ratios::ratios(compared, pair, place));
    }
    figures.extend(bars::bars(sides));
    figures.extend(overlay::overlays(sides));
    figures
}
