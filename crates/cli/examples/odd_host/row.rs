//! A row of a bench's table: how often, with an interval.

use iosonde_stats::clustered_share::{Block, ClusteredShare};

/// Prints `| what | count of all | interval |`; nothing of none.
pub fn row(what: &str, count: u64, of: u64) {
    if of == 0 {
        return;
    }
    // Spread evenly: the clusters are independent, and their order means nothing.
    let events = |nth: u64| (nth + 1) * count / of - nth * count / of;
    let blocks: Vec<Block> = (0..of).map(|nth| Block { events: events(nth), of: 1 }).collect();
    let ends = ClusteredShare::of(&blocks, 1.0).map(|share| share.ends(0.95));
    let (low, high) = ends.unwrap_or((0.0, 1.0));
    println!("| {what} | {count} of {of} | {:.1}–{:.1} % |", 100.0 * low, 100.0 * high);
}
