//! Facts about read-ahead.

/// Evidence of a read-ahead, or of none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Readahead {
    /// Whether reads bypass the page cache.
    pub direct: bool,
    /// Block sizes that show it.
    pub block_sizes: usize,
}

/// Why nothing can be said of a read-ahead.
#[derive(Debug, Clone, PartialEq)]
pub enum ReadaheadProblem {
    /// Random reads beside them leave pages in the page cache, on which pieces end early.
    PagesLeftBehind,
    /// Block sizes show pieces of different sizes.
    SizesDisagree {
        /// Bytes of the piece that each shows.
        piece_bytes: Vec<f64>,
    },
    /// The interval reaches zero.
    Scatter,
    /// Few reads wait, and random reads were not measured.
    NoRandomReads,
    /// Sequential reads are faster than random ones, but too few of them wait.
    FewWait {
        /// Smallest share of slow reads that is no tail.
        least_share: f64,
    },
    /// No block size was measured in both orders.
    NothingToCompare,
}
