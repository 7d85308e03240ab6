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
                    "# KiB {op}s: keep # [#, #] in flight for # % of the throughput; from the knee on, at # [#, #], \
                     each more adds less to it and more to the wait"
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

#[test]
fn what_is_hardly_known_is_advised_by_its_bounds() {
    let mut run = Pretend::usual().run(QUICK, 1);
    conclude(&mut run, None).unwrap();
    let mut set = |name: &str, value: f64, low: f64, high: f64| {
        let finding = run.findings.iter_mut().find(|f| f.name == name && f.conditions.op == Some(Op::Write));
        let finding = finding.unwrap();
        finding.status = iosonde_model::Status::Found;
        (finding.value, finding.low, finding.high) = (Some(value), Some(low), Some(high));
    };
    set("queue_depth_knee", 7.9, 2.2, 28.2);
    set("depth_for_95_percent", 63.0, 3.0, 104.0);
    set("plateau_block_size", 1_048_576.0, 262_144.0, 4_194_304.0);
    let sentences: Vec<_> = advice(&run).into_iter().map(|advice| advice.sentence).collect();
    let has = |text: &str| assert!(sentences.iter().any(|sentence| sentence == text), "{sentences:#?}");
    has(
        "4 KiB writes: how many to keep in flight is known only to lie between 2 and 29; between 3 and 104 give \
         95 % of the throughput; a longer run (--time) would narrow that",
    );
    has(
        "for throughput with one write at a time, ask for 4 MiB or more (256 KiB may be enough); where somebody \
         waits for the answer, for no more than is needed",
    );
    let knee = crate::storage::storage_lines(&run).into_iter().find(|line| line.label == "knee").unwrap();
    assert!(
        knee.text.ends_with("write between 2 and 29 in flight, 95 % of the rate needs between 3 and 104"),
        "{}",
        knee.text
    );
}
