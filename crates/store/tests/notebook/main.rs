//! The notebook from outside: round trips, finding runs, dying in the middle, a notebook that was removed or replaced,
//! files that are no notebooks.

mod adopt;
mod dying;
mod examples;
mod files;
mod kept;
mod runs;
mod trials;
