//! Words: every sentence that a person reads about a run arises here, from facts alone.

pub mod advice;
pub mod applications;
mod check;
mod command;
mod finding;
mod note;
pub mod imported;
mod open_questions;
mod pages;
pub mod point_table;
pub mod results;
pub mod validity;
mod vantage;

pub use check::{figures, why};
pub use finding::{sentence, why_of};
pub use note::note;
