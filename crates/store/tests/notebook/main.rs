//! The notebook from outside: round trips, finding runs, dying in the middle, files that are no notebooks.

mod dying;
mod examples;
mod files;
mod runs;
mod trials;
