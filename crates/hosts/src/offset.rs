//! The difference between two hosts' clocks: the shortest of several round trips bounds it best (Cristian, 1989).
//!
//! The other clock was read between sending and receiving. Half way is the best guess, and it is off by at most half of
//! the round trip, however uneven the two ways are.

/// A clock seen from this one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Offset {
    /// The other clock less this one, in nanoseconds.
    pub ns: i64,
    /// The round trip that told it, in nanoseconds.
    pub round_trip_ns: u64,
}

/// One question for the time: when it was sent, what was answered, when that came.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Echo {
    pub sent_ns: u64,
    pub told_ns: u64,
    pub came_ns: u64,
}

/// The best of several; `None` without any.
pub(crate) fn best(echoes: &[Echo]) -> Option<Offset> {
    let one = |echo: &Echo| {
        let round_trip_ns = echo.came_ns.saturating_sub(echo.sent_ns);
        Offset { ns: echo.told_ns as i64 - (echo.sent_ns + round_trip_ns / 2) as i64, round_trip_ns }
    };
    echoes.iter().map(one).min_by_key(|offset| offset.round_trip_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_round_trip_tells_the_offset() {
        // The other clock is 1,000 ns ahead. One answer came 400 ns after 100 ns of sending, one took 10 us back.
        let quick = Echo { sent_ns: 5_000, told_ns: 5_100 + 1_000, came_ns: 5_400 };
        let slow = Echo { sent_ns: 6_000, told_ns: 6_100 + 1_000, came_ns: 16_100 };
        let told = best(&[slow, quick]).unwrap();
        assert_eq!(told, Offset { ns: 900, round_trip_ns: 400 });
        assert!(
            (told.ns - 1_000).unsigned_abs() <= told.round_trip_ns / 2,
            "it is off by at most half of it"
        );
        assert_eq!(best(&[]), None);
    }
}
