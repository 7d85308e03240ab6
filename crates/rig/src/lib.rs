//! Touches: makes I/O, reads clocks and counters, and guards what it must not harm. The only crate with
//! `unsafe` code. It computes no statistics beyond counting and shows nothing.

#![allow(unsafe_code)]

#[cfg(not(target_os = "linux"))]
compile_error!("iosonde measures on Linux only, so far: engines, guard and witnesses ask the Linux kernel");

pub mod buffer;
pub mod ceiling;
pub mod clock;
mod crew;
pub mod drive;
pub mod engine;
pub mod guard;
pub mod interrupt;
mod merge;
pub mod offset;
mod pace;
pub mod payload;
pub mod platform;
pub mod prepare;
mod recorder;
mod slots;
mod together;
pub mod trial;
pub mod verify;
pub mod witness;
