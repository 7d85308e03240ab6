//! Ranking of three sides or more, from fastest to slowest. Neighbours that do not differ significantly share a rank.

use iosonde_model::Likeness;

use super::{
    pair::pair,
    side::{Question, Side},
};

pub(super) fn ranking(sides: &[Side], question: &Question) -> Vec<Vec<String>> {
    let mean_against_first = |side: &Side| {
        let (pair, _) = pair(&sides[0], side, question);
        pair.geometric_means.first().map(|mean| mean.ratio)
    };
    let mut known: Vec<(&Side, f64)> = vec![(&sides[0], 1.0)];
    known.extend(sides[1..].iter().filter_map(|side| Some((side, mean_against_first(side)?))));
    known.sort_by(|(_, x), (_, y)| match question.figure.more_is_better() {
        true => y.total_cmp(x),
        false => x.total_cmp(y),
    });
    let mut places: Vec<Vec<&Side>> = Vec::new();
    for (side, _) in known {
        // Against the first of the place: a chain of small steps would join what lies far apart.
        let apart = places.last().is_none_or(|place| {
            let (pair, _) = pair(place[0], side, question);
            pair.geometric_means.first().is_some_and(|mean| mean.verdict == Likeness::Slower)
        });
        if apart { places.push(vec![side]) } else { places.last_mut().expect("one is there").push(side) }
    }
    places.into_iter().map(|place| place.into_iter().map(|side| side.name.clone()).collect()).collect()
}
