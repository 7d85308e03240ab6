//! One process measures on Windows: nothing waits for it beside it. The system ends a process whose calls do not return
//! once they are cancelled; where a driver does not cancel them, the process stays.

/// Goes on in this process.
pub fn go_on_under_supervision() {}

/// There is no other process that could be stopped.
pub(crate) fn is_stopped() -> bool {
    false
}

/// Not called: see [`is_stopped`].
pub(crate) fn stop_with_the_other() {}
