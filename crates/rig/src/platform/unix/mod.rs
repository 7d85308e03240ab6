//! What Linux and macOS share.

pub mod interrupt;
