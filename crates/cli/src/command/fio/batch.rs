//! Groups of fio's jobs that are one run.

use iosonde_plan::fio::{Group, Site};

/// Groups on one target.
pub struct Batch {
    /// The target.
    pub site: Site,
    /// The groups, in their order.
    pub groups: Vec<Group>,
}
