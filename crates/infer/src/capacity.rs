//! What storage really holds, from what was read back.
//!
//! Fake storage either has nothing behind its real capacity, or gives several addresses one place. In the first case
//! what is kept ends at one offset. In the second one every block that holds another place's data tells a distance, and
//! all of them are multiples of the real capacity: their greatest common divisor is believed if it explains every block
//! that was read, by which of its writes came last.

use std::ops::Range;

use iosonde_model::{BeyondCapacity, BlockRun, BlockState, CapacityFinding, CapacityProbe, KeptPart};

/// An end at one offset is believed if what contradicts it is at most this share of what supports it. A choice.
const UNFIT_SHARE: f64 = 0.5;
/// Largest share of the read blocks that may contradict a wrap: some may be bad as well. A choice.
const CONTRADICTING_SHARE: f64 = 0.01;
/// Probability that a larger share of bad blocks than the stated one was missed.
const MISS_PROBABILITY: f64 = 0.05;

/// More than this was lost right before the last data that were kept, where a cache held those: bad blocks are rarely
/// so many side by side, and one request that came to nothing is no larger. A choice.
const LOST_BEFORE_CACHED_BYTES: u64 = 1 << 20;

/// Concludes what the storage holds.
pub fn finding(probe: &CapacityProbe) -> CapacityFinding {
    let Some(first) = probe.runs.iter().find(|run| run.state != BlockState::Kept) else {
        let places = probe.writes.iter().filter(|write| write.end - write.start == probe.block_bytes).count();
        let every_block = probe.step_bytes <= probe.block_bytes;
        // None of n independent places is bad with probability (1 - share)^n.
        let missed = 1.0 - MISS_PROBABILITY.powf(1.0 / places.max(1) as f64);
        return CapacityFinding::Genuine { missed_share: (!every_block).then_some(missed) };
    };
    wrap(probe).or_else(|| end(probe)).unwrap_or_else(|| {
        let weights = Weights::of(probe);
        let all = weights.sum(&probe.runs, |_| true);
        let bad = weights.sum(&probe.runs, is_bad);
        CapacityFinding::Damaged { share: bad / all, first_bytes: first.from_bytes }
    })
}

/// A capacity that ends within a range, after blocks within that range were tested: what is kept ends there once, or
/// nothing is known better.
pub fn narrowed(finding: CapacityFinding, within: &CapacityProbe) -> CapacityFinding {
    let CapacityFinding::Ends { at_least_bytes, at_most_bytes, beyond } = finding else { return finding };
    let first_bad = within.runs.iter().position(is_bad).unwrap_or(within.runs.len());
    let (kept, bad) = within.runs.split_at(first_bad);
    if !bad.iter().all(is_bad) {
        return finding;
    }
    CapacityFinding::Ends {
        at_least_bytes: kept.last().map_or(at_least_bytes, |run| run.end_bytes().max(at_least_bytes)),
        at_most_bytes: bad.first().map_or(at_most_bytes, |run| run.from_bytes.min(at_most_bytes)),
        beyond,
    }
}

/// Parts into which the storage is divided to show where data is kept: each is an eightieth of a chart's width.
const PARTS: u64 = 80;

/// Tested and kept blocks in parts of equal length; parts in which no block was tested are left out.
pub fn kept_parts(probe: &CapacityProbe) -> Vec<KeptPart> {
    let length_bytes = probe.claimed_bytes.div_ceil(PARTS).next_multiple_of(probe.block_bytes).max(1);
    let part = |from_bytes: u64| {
        let to_bytes = (from_bytes + length_bytes).min(probe.claimed_bytes);
        let blocks_in = |run: &BlockRun| {
            let inside = run.end_bytes().min(to_bytes).saturating_sub(run.from_bytes.max(from_bytes));
            inside / probe.block_bytes
        };
        let blocks = probe.runs.iter().map(blocks_in).sum();
        let kept = probe.runs.iter().filter(|run| !is_bad(run)).map(blocks_in).sum();
        KeptPart { from_bytes, to_bytes, blocks, kept }
    };
    let starts = (0..PARTS).map(|nth| nth * length_bytes).take_while(|from| *from < probe.claimed_bytes);
    starts.map(part).filter(|part| part.blocks > 0).collect()
}

fn is_bad(run: &BlockRun) -> bool {
    run.state != BlockState::Kept
}

/// Addresses that runs stand for: a block that was written alone for those up to the next place, others for themselves.
struct Weights {
    step_bytes: u64,
    windows: Vec<Range<u64>>,
}

impl Weights {
    fn of(probe: &CapacityProbe) -> Self {
        let is_window = |write: &&Range<u64>| write.end - write.start > probe.block_bytes;
        let windows = probe.writes.iter().filter(is_window).cloned().collect();
        Self { step_bytes: probe.step_bytes, windows }
    }

    fn of_run(&self, run: &BlockRun) -> f64 {
        let in_window = self.windows.iter().any(|window| window.contains(&run.from_bytes));
        (if in_window { run.length_bytes } else { self.step_bytes }) as f64
    }

    fn sum(&self, runs: &[BlockRun], counts: impl Fn(&BlockRun) -> bool) -> f64 {
        runs.iter().filter(|run| counts(run)).map(|run| self.of_run(run)).sum()
    }
}

fn greatest_common_divisor(mut one: u64, mut other: u64) -> u64 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// The real capacity, if addresses begin again there.
fn wrap(probe: &CapacityProbe) -> Option<CapacityFinding> {
    let distances = probe.runs.iter().filter_map(|run| match run.state {
        BlockState::Shifted { by_bytes } => Some(by_bytes.unsigned_abs()),
        _ => None,
    });
    let period_bytes = distances.fold(0, greatest_common_divisor);
    if period_bytes < probe.block_bytes || period_bytes >= probe.claimed_bytes {
        return None;
    }
    let weights = Weights::of(probe);
    let written = probe.runs.iter().filter(|run| run.state != BlockState::Unwritable);
    let (mut all, mut contradicting) = (0.0, 0.0);
    for run in written {
        // What lies in a run has one writer after the other, at one distance.
        let weight = weights.of_run(run);
        all += weight;
        let ends = [run.from_bytes, run.end_bytes() - probe.block_bytes];
        let fits = ends.into_iter().all(|at| {
            let due = last_written(probe, period_bytes, at).map(|from| from as i64 - at as i64);
            match run.state {
                BlockState::Kept => due == Some(0),
                BlockState::Shifted { by_bytes } => due == Some(by_bytes),
                BlockState::Lost | BlockState::Unreadable | BlockState::Unwritable => false,
            }
        });
        contradicting += if fits { 0.0 } else { weight };
    }
    (contradicting <= CONTRADICTING_SHARE * all)
        .then_some(CapacityFinding::Wraps { real_bytes: period_bytes })
}

/// The address whose data a place holds, if addresses begin again after a period: the one that was written last of all
/// that share the place.
fn last_written(probe: &CapacityProbe, period_bytes: u64, at_bytes: u64) -> Option<u64> {
    let phase = at_bytes % period_bytes;
    probe.writes.iter().rev().find_map(|write| {
        let last = write.end.checked_sub(probe.block_bytes)?.checked_sub(phase)?;
        let address = phase + last / period_bytes * period_bytes;
        (address >= write.start).then_some(address)
    })
}

/// The offset at which what is kept ends, if it ends at one.
fn end(probe: &CapacityProbe) -> Option<CapacityFinding> {
    let weights = Weights::of(probe);
    let judged = match probe.runs.as_slice() {
        // A cache still holds what was written last. Where a request failed, what came after it did not.
        [judged @ .., lost, last]
            if !is_bad(last)
                && matches!(lost.state, BlockState::Lost | BlockState::Shifted { .. })
                && lost.length_bytes > LOST_BEFORE_CACHED_BYTES =>
        {
            &probe.runs[..judged.len() + 1]
        }
        all => all,
    };
    // With the end before all runs, all that is bad fits and all that is kept does not. It moves behind run by run.
    let kept = weights.sum(judged, |run| !is_bad(run));
    let (mut unfit, mut best) = (kept, (kept, 0));
    for (index, run) in judged.iter().enumerate() {
        let weight = weights.of_run(run);
        unfit += if is_bad(run) { weight } else { -weight };
        if unfit < best.0 {
            best = (unfit, index + 1);
        }
    }
    let (unfit, index) = best;
    let (below, above) = judged.split_at(index);
    let fits = weights.sum(above, is_bad);
    if above.is_empty() || unfit > UNFIT_SHARE * fits {
        return None;
    }
    let has = |is: fn(BlockState) -> bool| above.iter().any(|run| is(run.state));
    let beyond = if has(|state| matches!(state, BlockState::Shifted { .. })) {
        BeyondCapacity::Mixed
    } else if has(|state| state == BlockState::Lost) {
        BeyondCapacity::Lost
    } else {
        BeyondCapacity::Errors
    };
    Some(CapacityFinding::Ends {
        at_least_bytes: below.last().map_or(0, BlockRun::end_bytes),
        at_most_bytes: above[0].from_bytes,
        beyond,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: u64 = 4096;

    /// A device of 1,000 blocks that was written whole, and of which a rule tells what each block holds.
    fn written_whole(holds: impl Fn(u64) -> BlockState) -> CapacityProbe {
        let mut runs: Vec<BlockRun> = Vec::new();
        for block in 0..1000 {
            let state = holds(block);
            match runs.last_mut().filter(|run| run.state == state) {
                Some(run) => run.length_bytes += BLOCK,
                None => runs.push(BlockRun { from_bytes: block * BLOCK, length_bytes: BLOCK, state }),
            }
        }
        let all: Range<u64> = 0..1000 * BLOCK;
        CapacityProbe {
            claimed_bytes: all.end,
            block_bytes: BLOCK,
            step_bytes: BLOCK,
            writes: vec![all],
            runs,
        }
    }

    #[test]
    fn parts_hold_every_tested_block_once() {
        let kept = |block: u64| if block < 640 { BlockState::Kept } else { BlockState::Lost };
        let parts = kept_parts(&written_whole(kept));
        assert_eq!(parts.iter().map(|part| part.blocks).sum::<u64>(), 1000);
        assert_eq!(parts.iter().map(|part| part.kept).sum::<u64>(), 640);
        assert!(parts.windows(2).all(|pair| pair[0].to_bytes == pair[1].from_bytes));
        let whole = |part: &KeptPart| part.to_bytes > 640 * BLOCK || part.kept == part.blocks;
        assert!(parts.iter().all(whole));
        assert_eq!(parts.last().map(|part| part.to_bytes), Some(1000 * BLOCK));
    }

    #[test]
    fn one_request_that_failed_is_damage_and_no_end() {
        // A MiB of 256 blocks, with more data kept before and behind it.
        for state in [BlockState::Unwritable, BlockState::Unreadable, BlockState::Lost] {
            let probe =
                written_whole(|block| if (300..556).contains(&block) { state } else { BlockState::Kept });
            let found = finding(&probe);
            let CapacityFinding::Damaged { share, first_bytes } = found else {
                panic!("{state:?}: {found:?}")
            };
            assert!((share - 0.256).abs() < 1e-9 && first_bytes == 300 * BLOCK, "{found:?}");
        }
    }

    #[test]
    fn what_came_back_whole_is_genuine() {
        let genuine = finding(&written_whole(|_| BlockState::Kept));
        assert_eq!(genuine, CapacityFinding::Genuine { missed_share: None });
    }

    #[test]
    fn the_period_of_addresses_is_exact_also_where_it_is_no_power_of_two() {
        for real in [1, 7, 300, 333, 512, 999] {
            let probe = written_whole(|block| {
                let last = block % real + (999 - block % real) / real * real;
                match last.cast_signed() - block.cast_signed() {
                    0 => BlockState::Kept,
                    by => BlockState::Shifted { by_bytes: by * BLOCK.cast_signed() },
                }
            });
            assert_eq!(finding(&probe), CapacityFinding::Wraps { real_bytes: real * BLOCK }, "{real}");
        }
    }

    #[test]
    fn an_end_is_found_although_a_cache_keeps_what_was_written_last() {
        // A cache may hold more than what was lost before it.
        for cached in [900, 750] {
            let probe = written_whole(|block| match block {
                400.. if block < cached => BlockState::Lost,
                _ => BlockState::Kept,
            });
            let (at_least_bytes, at_most_bytes) = (400 * BLOCK, 400 * BLOCK);
            let ends = CapacityFinding::Ends { at_least_bytes, at_most_bytes, beyond: BeyondCapacity::Lost };
            assert_eq!(finding(&probe), ends, "{cached}");
        }
        let bad_block = written_whole(|block| if block == 700 { BlockState::Lost } else { BlockState::Kept });
        assert!(matches!(finding(&bad_block), CapacityFinding::Damaged { .. }));
    }

    #[test]
    fn blocks_within_the_range_narrow_it_unless_they_contradict_one_another() {
        let ends = |low: u64, high: u64| CapacityFinding::Ends {
            at_least_bytes: low * BLOCK,
            at_most_bytes: high * BLOCK,
            beyond: BeyondCapacity::Lost,
        };
        let run = |block: u64, state| BlockRun { from_bytes: block * BLOCK, length_bytes: BLOCK, state };
        let within = |states: [BlockState; 3]| CapacityProbe {
            runs: [200, 400, 600].into_iter().zip(states).map(|(block, state)| run(block, state)).collect(),
            ..written_whole(|_| BlockState::Kept)
        };
        let (kept, lost) = (BlockState::Kept, BlockState::Lost);
        assert_eq!(narrowed(ends(100, 900), &within([kept, lost, lost])), ends(201, 400));
        assert_eq!(narrowed(ends(100, 900), &within([lost; 3])), ends(100, 200));
        assert_eq!(narrowed(ends(100, 900), &within([kept; 3])), ends(601, 900));
        assert_eq!(narrowed(ends(100, 900), &within([lost, kept, lost])), ends(100, 900));
    }

    #[test]
    fn what_shares_one_place_is_no_wrap() {
        let probe = written_whole(|block| match block {
            ..400 | 999 => BlockState::Kept,
            _ => BlockState::Shifted { by_bytes: (999 - block as i64) * BLOCK as i64 },
        });
        assert!(matches!(
            finding(&probe),
            CapacityFinding::Ends { at_most_bytes, beyond: BeyondCapacity::Mixed, .. } if at_most_bytes == 400 * BLOCK
        ));
    }

    /// In a sample, blocks of windows are many and count for themselves; single ones count for those around them.
    #[test]
    fn what_shares_one_place_is_no_wrap_in_a_sample_either() {
        let mut probe = written_whole(|_| BlockState::Kept);
        (probe.claimed_bytes, probe.step_bytes) = (1100 * BLOCK, 100 * BLOCK);
        let singles = (2..10).map(|place| place * 100..place * 100 + 1);
        let written = std::iter::once(0..100).chain(singles).chain(std::iter::once(1000..1100));
        probe.writes = written.map(|blocks| blocks.start * BLOCK..blocks.end * BLOCK).collect();
        let shared = |block: u64| match block {
            1099 => BlockState::Kept,
            _ => BlockState::Shifted { by_bytes: (1099 - block.cast_signed()) * BLOCK.cast_signed() },
        };
        let run = |blocks: Range<u64>, state| BlockRun {
            from_bytes: blocks.start * BLOCK,
            length_bytes: (blocks.end - blocks.start) * BLOCK,
            state,
        };
        let kept =
            [0..100, 200..201, 300..301, 400..401, 500..501].map(|blocks| run(blocks, BlockState::Kept));
        let gone = (6..10).map(|place| place * 100).chain(1000..1100);
        probe.runs = kept.into_iter().chain(gone.map(|block| run(block..block + 1, shared(block)))).collect();
        let ends = CapacityFinding::Ends {
            at_least_bytes: 501 * BLOCK,
            at_most_bytes: 600 * BLOCK,
            beyond: BeyondCapacity::Mixed,
        };
        assert_eq!(finding(&probe), ends);
    }

    #[test]
    fn scattered_loss_is_damage_with_its_share() {
        let probe = written_whole(|block| if block % 10 == 3 { BlockState::Lost } else { BlockState::Kept });
        let CapacityFinding::Damaged { share, first_bytes } = finding(&probe) else { panic!() };
        assert!((share - 0.1).abs() < 1e-9);
        assert_eq!(first_bytes, 3 * BLOCK);
    }

    #[test]
    fn single_places_promise_what_they_can() {
        let mut probe = written_whole(|_| BlockState::Kept);
        probe.step_bytes = 10 * BLOCK;
        probe.writes = (0..100).map(|place| place * 10 * BLOCK..(place * 10 + 1) * BLOCK).collect();
        let CapacityFinding::Genuine { missed_share: Some(missed) } = finding(&probe) else { panic!() };
        // The rule of three: 3 / 100.
        assert!((missed - 0.0295).abs() < 1e-4);
    }
}
