//! Memory of the program itself: the heap of this system grows by itself, and takes no figure beforehand.

/// Reserves nothing.
pub fn reserve(_bytes: usize) {}
