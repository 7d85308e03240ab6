//! Words: every sentence that a person reads about a run arises here, from facts alone.

mod absence;
pub mod advice;
pub mod applications;
pub mod capacity;
pub mod case;
mod check;
pub mod cold;
mod command;
pub mod compare;
pub mod compare_table;
mod concurrent_table;
pub mod files;
mod finding;
pub mod footnote;
pub mod glossary;
pub mod host_table;
pub mod imported;
pub mod layer;
pub mod layout;
mod limits_meet;
pub mod marks;
mod mean_above_p99;
mod note;
pub mod number;
pub mod odd_side;
mod open_questions;
mod pages;
pub mod point_table;
pub mod portrait;
pub mod ranking_table;
pub mod requirement;
pub mod result_table;
pub mod results;
pub mod sheet;
mod slow;
pub mod slower_than_then;
pub mod storage_line;
pub mod table;
pub mod tables_page;
mod time_left;
mod training_table;
pub mod validity;
pub mod vantage;
mod workload;

pub use absence::{absence, counted_error, hidden_by, no_interval, request_error};
pub use check::{figures, why, why_at_point};
pub(crate) use finding::quantity;
pub use finding::{clause, problem, reason, sentence, why_of};
pub use note::{counted, left_out, note, series};
pub use slow::slow;
pub use time_left::time_left;

#[cfg(test)]
mod sentence_tests;
