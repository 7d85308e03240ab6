//! Calls that never return. The only test of its program: the threads of others would count as running.

use std::{
    sync::mpsc::{self, RecvTimeoutError},
    time::Duration,
};

use iosonde_rig::stall::StallWatch;

const AFTER: Duration = Duration::from_millis(400);

#[test]
fn threads_that_all_wait_are_seen_and_one_that_runs_is_enough() {
    let (said, heard) = mpsc::channel();
    let words = said.clone();
    let watch = StallWatch::start(AFTER, move |_| words.send("while one ran").unwrap());
    // Runs for a moment, ten times in that time, for five times as long.
    for _ in 0..50 {
        std::hint::black_box((0..200_000_u64).fold(0, |sum, n| sum ^ std::hint::black_box(n)));
        assert_eq!(heard.recv_timeout(AFTER / 10), Err(RecvTimeoutError::Timeout));
    }
    drop(watch);
    let words = said.clone();
    let over = StallWatch::start(AFTER, move |_| words.send("after its end").unwrap());
    drop(over);
    assert_eq!(heard.recv_timeout(AFTER * 3), Err(RecvTimeoutError::Timeout));
    let watch = StallWatch::start(AFTER, move |_| said.send("nothing runs").unwrap());
    assert_eq!(heard.recv_timeout(AFTER * 20), Ok("nothing runs"));
    drop(watch);
}
