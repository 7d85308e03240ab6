//! A random pattern of which some requests are sequential: such a request begins where the last one of its direction
//! ended.

use iosonde_model::{Op, Randomness};
use rand::Rng;

use super::random::Random;

/// Where each direction goes on, and how often it does.
#[derive(Debug, Clone)]
pub(super) struct Near {
    which: Which,
    length_bytes: u64,
    /// End of the last request of each direction.
    ends_bytes: [u64; 3],
}

#[derive(Debug, Clone)]
enum Which {
    /// A draw below this is random.
    Below(u64),
    /// The first of so many, and how many follow before the next.
    Every { requests: u32, left: u32 },
}

fn lane(op: Op) -> usize {
    match op {
        Op::Read => 0,
        Op::Write => 1,
        Op::Trim | Op::Flush => 2,
    }
}

impl Near {
    /// In a part of so many bytes; `None` where every request is random.
    pub(super) fn new(randomness: Randomness, length_bytes: u64) -> Option<Self> {
        let which = match randomness {
            Randomness::All | Randomness::Every { requests: ..=1 } => return None,
            // The cast saturates: at 100 % one draw in 2^64 is sequential.
            Randomness::Share { share } => Which::Below((share * 2f64.powi(64)) as u64),
            Randomness::Every { requests } => Which::Every { requests, left: 0 },
        };
        Some(Self { which, length_bytes, ends_bytes: [0; 3] })
    }

    /// Offset of a sequential request; `None` where the request is random. At the end of the part it begins again.
    #[inline]
    pub(super) fn draw(&mut self, random: &mut Random, op: Op, length_bytes: u32) -> Option<u64> {
        match &mut self.which {
            Which::Below(below) if random.next_u64() < *below => return None,
            Which::Below(_) => {}
            Which::Every { requests, left } => match left.checked_sub(1) {
                None => {
                    *left = *requests - 1;
                    return None;
                }
                Some(less) => *left = less,
            },
        }
        let end_bytes = self.ends_bytes[lane(op)];
        let fits = end_bytes + u64::from(length_bytes) <= self.length_bytes;
        let at_bytes = if fits { end_bytes } else { 0 };
        self.follow(op, at_bytes, length_bytes);
        Some(at_bytes)
    }

    /// A request was drawn.
    #[inline]
    pub(super) fn follow(&mut self, op: Op, at_bytes: u64, length_bytes: u32) {
        self.ends_bytes[lane(op)] = at_bytes + u64::from(length_bytes);
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Randomness, Rw, TrialSpec};

    use super::{super::Offsets, *};

    /// Shares of requests that begin where the last of their direction ended.
    fn followed(spec: &TrialSpec) -> f64 {
        let mut offsets = Offsets::new(spec, 0, 3);
        let mut ends = [None; 3];
        let mut count = 0;
        for _ in 0..100_000 {
            let (op, at_bytes, length_bytes) = offsets.draw();
            assert!(at_bytes >= 4096 && at_bytes + u64::from(length_bytes) <= 4096 + spec.span_bytes);
            count += u32::from(ends[lane(op)] == Some(at_bytes));
            ends[lane(op)] = Some(at_bytes + u64::from(length_bytes));
        }
        f64::from(count) / 100_000.0
    }

    #[test]
    fn the_share_that_is_not_random_goes_on_where_its_direction_ended() {
        // A million blocks: chance follows once in a million. Standard error 0.0014; 5 of them.
        for (rw, percent) in [(Rw::RandRead, 75.0), (Rw::RandWrite, 25.0), (Rw::RandRw, 60.0)] {
            let spec = TrialSpec {
                rw,
                randomness: Randomness::Share { share: percent / 100.0 },
                read_percent: rw.is_mixed().then_some(50.0),
                offset_bytes: 4096,
                span_bytes: 4096 << 20,
                ..TrialSpec::default()
            };
            let share = followed(&spec);
            assert!((share - (1.0 - percent / 100.0)).abs() < 0.007, "{rw}: {share}");
        }
    }

    #[test]
    fn all_and_none_are_exact() {
        let spec = |percent| TrialSpec {
            randomness: Randomness::Share { share: percent / 100.0 },
            offset_bytes: 4096,
            span_bytes: 4096 << 20,
            ..TrialSpec::default()
        };
        // Two of a hundred thousand draws may follow by chance; the first of a sequential job follows nothing.
        assert!(followed(&spec(100.0)) < 3e-5);
        assert!((followed(&spec(0.0)) - 0.99999).abs() < 1e-9);
    }

    #[test]
    fn one_of_eight_is_random() {
        let spec = TrialSpec {
            randomness: Randomness::Every { requests: 8 },
            offset_bytes: 4096,
            span_bytes: 4096 << 20,
            ..TrialSpec::default()
        };
        assert!((followed(&spec) - 7.0 / 8.0).abs() < 3e-5);
    }

    #[test]
    fn several_sizes_stay_within_the_span() {
        let spec = TrialSpec {
            randomness: Randomness::Share { share: 0.5 },
            block_sizes: "4k:50,64k:50".parse().unwrap(),
            block_size_bytes: 65_536,
            offset_bytes: 4096,
            span_bytes: 100 * 4096,
            ..TrialSpec::default()
        };
        assert!(followed(&spec) > 0.3);
    }
}
