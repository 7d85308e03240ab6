//! Advice, whole sentences: its figures are findings', and latency is weighed.

use super::*;
use crate::{
    conclude::conclude,
    pretend::{Pretend, QUICK, wording},
};

fn of(pretend: &Pretend) -> Vec<Advice> {
    let mut run = pretend.run(QUICK, 1);
    conclude(&mut run, None).unwrap();
    run.advice
}

#[test]
fn sizes_depths_and_pages() {
    let advice = of(&Pretend { cv: 0.01, ..Pretend::usual() });
    let words = |advice: &Advice| (wording(&advice.sentence), wording(&advice.why));
    let sentences: Vec<_> = advice.iter().map(words).collect();
    let expected = |op: &str| {
        [
            (
                format!(
                    "for throughput with one {op} at a time, ask for # MiB or more; where somebody waits \
                     for the answer, for no more than is needed"
                ),
                "# MiB take # ms [#, #], # KiB # µs [#, #]".to_owned(),
            ),
            (
                format!(
                    "# KiB {op}s: keep # [#, #] in flight; # [#, #] give # % of the throughput, and \
                     beyond that each only waits longer"
                ),
                format!("with # in flight a {op} takes # ms [#, #], alone # µs [#, #]"),
            ),
        ]
    };
    assert_eq!(sentences[..4], [expected("read"), expected("write")].concat());
    assert_eq!(
        sentences[4].0,
        "# KiB pages: one client gets # k [#, #] reads/s, many at once at most # k [#, #]"
    );
    assert_eq!(sentences.len(), 5);
    assert!(advice.iter().all(|advice| !advice.findings.is_empty()));
}

#[test]
fn order_is_advised_only_where_it_pays() {
    let disk = Pretend { random_ratio: 0.1, ..Pretend::usual() };
    assert!(of(&disk).iter().any(|advice| advice.sentence == "lay out data so that it is read in order"));
    assert!(of(&Pretend::usual()).iter().all(|advice| !advice.sentence.contains("in order")));
}

#[test]
fn pages_follow_from_the_law() {
    // One: 1 / (100 µs + 8,192 B / 1 GB/s) = 9,243. Many: the lower of 80,000 and 1 GB/s / 8,192 B = 122,070.
    let advice = of(&Pretend { cv: 0.001, ..Pretend::usual() });
    let pages = advice.iter().find(|advice| advice.sentence.starts_with("8 KiB pages")).unwrap();
    assert!(pages.sentence.contains("one client gets 9.2"), "{}", pages.sentence);
    assert!(pages.sentence.contains("at most 80"), "{}", pages.sentence);
}
