//! Memory of the program itself: the heap of Windows grows by itself, and takes no figure beforehand.

/// Reserves nothing.
pub fn reserve(_bytes: usize) {}
