//! Estimators with stated assumptions; every one is checked against a case done by hand and against
//! properties.

pub mod autoregression;
mod bisect;
pub mod bootstrap;
pub mod change;
pub mod common_slope;
pub mod effects;
mod estimate;
pub mod least_squares;
pub mod matrix;
mod pool_adjacent_violators;
pub mod robust;
pub mod series;
pub mod shrink;
pub mod steady;
mod two_groups;

pub use bisect::bisect;
pub use estimate::{ErrorVariance, Estimated, LogEstimate, normal, student_t};
pub use pool_adjacent_violators::{Pool, pool_adjacent_violators};
pub use two_groups::two_groups;
