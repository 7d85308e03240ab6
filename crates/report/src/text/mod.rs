//! Words: every sentence that a person reads about a run arises here, from facts alone.

pub mod advice;
pub mod applications;
mod check;
mod command;
pub mod compare;
mod finding;
pub mod imported;
mod note;
mod open_questions;
mod pages;
pub mod point_table;
pub mod portrait;
pub mod results;
pub mod sheet;
pub mod validity;
mod vantage;

pub use check::{figures, why, why_at_point};
use finding::plateau_sizes;
pub use finding::{clause, problem, reason, sentence, why_of};
pub use note::note;
