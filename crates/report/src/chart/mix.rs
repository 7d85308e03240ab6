//! Reads and writes against the share of reads: what they take from each other.
//!
//! From writes alone on the left to reads alone on the right, at one block size and one queue depth; one picture for
//! each block size. If neither disturbed the other, each would follow its share in a straight line.

use iosonde_model::{Named, Run};

use super::{Chart, mixes};
use crate::figure::Figure;

/// The chart.
pub struct Mix;

impl Named for Mix {
    fn name(&self) -> &'static str {
        "mix"
    }
}

impl Chart for Mix {
    fn draw(&self, run: &Run) -> Option<Figure> {
        self.draw_all(run).into_iter().next()
    }

    fn draw_all(&self, run: &Run) -> Vec<Figure> {
        mixes::throughputs(run, self.name())
    }
}
