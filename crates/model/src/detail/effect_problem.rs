//! Why an effect is inconclusive.

/// Why levels of a parameter cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffectProblem {
    /// The interval of the ratio spans more than a factor of three.
    TooRough,
    /// No point has one worker at the queue depth of several together.
    NoSingleWorker,
    /// No point has this many reads right after a write and as many after a read.
    TooFewReads {
        /// Reads of either kind that are needed.
        needed: usize,
    },
}
