//! `hot:A%/B%`: A % of the requests go to the first B % of the span, the others to the rest; uniform in each. Several
//! ranges follow one another.

use iosonde_model::HotRanges;

use super::{
    alias::Alias,
    random::{Random, below},
};

/// Ranges of places by weight.
#[derive(Debug, Clone)]
pub(super) struct Hot(Alias<Range>);

/// Consecutive places.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Range {
    from: u64,
    places: u64,
}

impl Hot {
    /// Whole places, at least one in each range where there are as many.
    pub(super) fn new(places: u64, ranges: &HotRanges) -> Self {
        Self(Alias::new(&divided(places, ranges)))
    }

    #[inline]
    pub(super) fn draw(&self, random: &mut Random) -> u64 {
        let Range { from, places } = self.0.draw(random);
        from + below(random, places)
    }
}

/// The ranges that have a place, with the requests' share of each.
fn divided(places: u64, ranges: &HotRanges) -> Vec<(Range, f64)> {
    let parts = ranges.parts().count() as u64;
    let (mut from, mut span, mut divided) = (0, 0.0, Vec::new());
    for (nth, part) in (1..).zip(ranges.parts()) {
        span += part.span;
        let end = if nth == parts { places } else { (places as f64 * span).round() as u64 };
        // One place for each part after this one, as far as there are any.
        let end = end.min(places.saturating_sub(parts - nth)).max(from + 1).min(places);
        if end > from {
            divided.push((Range { from, places: end - from }, part.requests));
        }
        from = end;
    }
    divided
}

#[cfg(test)]
mod tests {
    use iosonde_model::HotRange;

    use super::{super::testing::*, *};

    fn ranges(list: &[(f64, f64)]) -> HotRanges {
        let range = |&(requests, span): &(f64, f64)| HotRange { requests, span };
        HotRanges::new(&list.iter().map(range).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn shares_are_exact() {
        for (places, list) in [
            (1000, vec![(0.8, 0.2)]),
            (300, vec![(0.5, 0.01)]),
            (64, vec![(0.1, 0.75)]),
            (5, vec![(0.999, 0.4)]),
            (1000, vec![(0.5, 0.05), (0.3, 0.15)]),
        ] {
            let ranges = ranges(&list);
            let (hot, mut random) = (Hot::new(places, &ranges), random(places));
            let mut counts = vec![0u64; places as usize];
            (0..300_000).for_each(|_| counts[hot.draw(&mut random) as usize] += 1);
            let shares = ranges.parts().flat_map(|part| {
                let own = (places as f64 * part.span).round();
                std::iter::repeat_n(part.requests / own, own as usize)
            });
            assert_fits(&format!("{list:?}"), &counts, shares);
        }
    }

    #[test]
    fn a_range_too_small_for_a_place_gets_one_where_there_are_enough() {
        let three = ranges(&[(0.5, 0.01), (0.3, 0.01)]);
        let two = ranges(&[(0.5, 0.01)]);
        let sizes = |places, ranges: &HotRanges| {
            divided(places, ranges).iter().map(|(range, _)| range.places).collect::<Vec<_>>()
        };
        assert_eq!([1, 2, 3].map(|places| sizes(places, &two)), [vec![1], vec![1, 1], vec![1, 2]]);
        assert_eq!([2, 3, 9].map(|places| sizes(places, &three)), [vec![1, 1], vec![1, 1, 1], vec![1, 1, 7]]);
        for places in 1..5 {
            let (hot, mut random) = (Hot::new(places, &three), random(1));
            assert!((0..100).all(|_| hot.draw(&mut random) < places));
        }
    }
}
