//! Row of the data that a mixed model is fitted to.

/// Measured value of a group.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// Index of the group: 0, 1, ..
    pub group: usize,
    /// Start of the measurement, in seconds.
    pub start_s: f64,
    /// End of the measurement, in seconds.
    pub end_s: f64,
    /// Natural logarithm of the value.
    pub log_value: f64,
}
