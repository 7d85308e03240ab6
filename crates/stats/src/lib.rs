//! Statistics of repeated measurements that drift, scatter and resemble their neighbours.
//!
//! Textbook intervals assume independent observations. Measurements taken one after the other are rarely
//! independent, and then those intervals are too narrow. The estimators here measure the correlation and
//! include it. Each module states its assumptions and its source, and is tested against a case worked out by
//! hand and against properties.
//!
//! | task | module |
//! |---|---|
//! | mean of each of several groups that share a drift | [`mixed_model`] |
//! | slope that all groups share | [`trend`] |
//! | regression with AR(1) errors | [`autoregression`] |
//! | correlation of short series, variance of their mean | [`series`] |
//! | drift, step or cycle in one series | [`change_point`] |
//! | equivalence test for a steady state | [`steady`] |
//! | variances of many small groups | [`empirical_bayes`] |
//! | nonlinear curves | [`least_squares`](mod@least_squares) |
//! | share of events in clusters, quantiles of values in blocks | [`clustered_share`] |
//! | median, median absolute deviation | [`robust`] |
//!
//! Positive quantities are treated as natural logarithms, so that a ratio is a difference: 0.05 is about 5 %.
//! Functions return `None` where the data do not determine the answer.
//!
//! # Example: an interval under correlation
//!
//! ```
//! use iosonde_stats::{autoregression::Autoregressive, student_t};
//!
//! // Twelve durations in seconds; slow and fast ones come in groups.
//! let values: [f64; 12] = [1.02, 1.03, 1.05, 1.04, 1.01, 0.99, 0.96, 0.97, 0.98, 1.00, 1.02, 1.01];
//! let n = values.len() as f64;
//! let mean = values.iter().sum::<f64>() / n;
//! let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
//!
//! // As if the values were independent: Student's t with 11 degrees of freedom.
//! let naive = student_t(0.95, n - 1.0) * (variance / n).sqrt();
//!
//! // A constant level with AR(1) errors; the interval averages over the unknown correlation.
//! let fit = Autoregressive::fit(&values, &[vec![1.0; values.len()]]).expect("twelve values suffice");
//! let (low, high) = fit.interval(0, 0.95);
//!
//! assert!(low < mean && mean < high);
//! assert!(fit.correlation() > 0.4, "{:.2}", fit.correlation());
//! assert!((high - low) / 2.0 > 1.5 * naive, "the naive interval, ±{naive:.3}, is too narrow");
//! ```

pub mod autoregression;
mod bisect;
pub mod change_point;
pub mod clustered_share;
pub mod empirical_bayes;
mod estimate;
pub mod least_squares;
pub mod matrix;
pub mod mixed_model;
mod pool_adjacent_violators;
pub mod robust;
pub mod series;
pub mod steady;
pub mod trend;
mod two_groups;

pub use bisect::bisect;
pub use estimate::{ErrorVariance, Estimated, LogEstimate, normal, student_t};
pub use pool_adjacent_violators::{Pool, pool_adjacent_violators};
pub use two_groups::{two_groups, two_levels};
