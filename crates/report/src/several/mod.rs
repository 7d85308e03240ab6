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
    ratios_of_pairs(compared).into_iter().flatten().chain(side_by_side(sides)).collect()
}

/// The ratios of each pair; `None` where it has none.
fn ratios_of_pairs(compared: &Compared) -> Vec<Option<Figure>> {
    let ratios = |(place, pair)| ratios::ratios(compared, pair, place);
    compared.pairs.iter().enumerate().map(ratios).collect()
}

/// Figures with a series for each side.
fn side_by_side(sides: &[Side]) -> Vec<Figure> {
    bars::bars(sides).into_iter().chain(overlay::overlays(sides)).collect()
}
