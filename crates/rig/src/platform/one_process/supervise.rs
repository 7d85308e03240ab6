//! One process measures: nothing waits for it beside it. Where a call of the storage does not return, not even its end
//! comes before that call's.

use crate::platform::ProcessGroup;

/// Goes on in this process.
pub fn go_on_under_supervision(_: ProcessGroup) {}

/// There is no other process that could be stopped.
pub(crate) fn is_stopped() -> bool {
    false
}

/// Not called: see [`is_stopped`].
pub(crate) fn stop_with_the_other() {}
