//! Advice, whole sentences: its figures are findings', and latency is weighed.

use super::*;
use iosonde_infer::conclude::conclude;
use iosonde_model::{FindingName, Inconclusive};
use iosonde_testkit::pretend::Pretend;
use iosonde_testkit::pretend::QUICK;
use iosonde_testkit::pretend::wording;

fn of(pretend: &Pretend) -> Vec<Advice> {
    let mut run = pretend.run(QUICK, 1);
    conclude(&mut run, None).unwrap();
    advice(&run)
}

#[test]
fn sizes_and_longer_writes() {
    // 19 times 100 µs at 0.3 GB/s: 95 % from 0.6 MB on.
    let advice = of(&Pretend { cv: 0.01, bytes_per_s: 0.3e9, ..Pretend::usual() });
    // An interval about the value or one that is not: both are right.
    let figures = |words: String| words.replace("(#–#)", "(±# %)");
    let words = |advice: &Advice| (figures(wording(&advice.sentence)), wording(&advice.why));
    let sentences: Vec<_> = advice.iter().map(words).collect();
    let size = |op: &str| format!("{op}s of # MiB take # ms (±# %), of # KiB # µs (±# %)");
    assert_eq!(
        sentences[0],
        (
            "for bandwidth of random reads or writes at QD #, use blocks of # MiB or more: \
             they reach at least # % of the highest at QD #, # MB/s (±# %)"
                .to_owned(),
            format!("{}; {}", size("read"), size("write"))
        )
    );
    assert!(
        sentences[1].0.starts_with("writes covered an area of # GiB; over a larger one they may be slower: "),
        "{sentences:?}"
    );
    assert_eq!(sentences.len(), 2);
    assert!(!advice[0].findings.is_empty());
}

#[test]
fn order_is_advised_only_where_it_pays() {
    let disk = Pretend { random_ratio: 0.1, ..Pretend::usual() };
    assert!(of(&disk).iter().any(|advice| advice.sentence == "lay out data for sequential reads"));
    assert!(of(&Pretend::usual()).iter().all(|advice| !advice.sentence.contains("sequential")));
}

#[test]
fn the_smallest_or_more_is_no_advice() {
    let mut run = Pretend { cv: 0.01, ..Pretend::usual() }.run(QUICK, 1);
    conclude(&mut run, None).unwrap();
    let mut set = |name: FindingName, value: f64, low: f64, high: f64| {
        let finding = run.findings.iter_mut().find(|f| f.name == name && f.conditions.op == Some(Op::Read));
        let finding = finding.unwrap();
        (finding.value, finding.low, finding.high) = (Some(value), Some(low), Some(high));
    };
    set(FindingName::PlateauBlockSize, 4096.0, 4096.0, 4096.0);
    let sentences: Vec<_> = advice(&run).into_iter().map(|advice| advice.sentence).collect();
    assert!(
        !sentences.iter().any(|text| text.starts_with("block size") && text.contains("reads")),
        "{sentences:#?}"
    );
}

#[test]
fn what_is_hardly_known_is_advised_by_its_bounds_or_not_at_all() {
    let mut run = Pretend::usual().run(QUICK, 1);
    conclude(&mut run, None).unwrap();
    let mut set = |name: FindingName, value: f64, low: f64, high: f64| {
        let finding = run.findings.iter_mut().find(|f| f.name == name && f.conditions.op == Some(Op::Write));
        let finding = finding.unwrap();
        finding.status = iosonde_model::Status::Found;
        (finding.value, finding.low, finding.high) = (Some(value), Some(low), Some(high));
    };
    set(FindingName::QueueDepthKnee, 7.9, 2.2, 28.2);
    set(FindingName::DepthFor95Percent, 63.0, 3.0, 104.0);
    set(FindingName::PlateauBlockSize, 524_288.0, 262_144.0, 1_048_576.0);
    let sentences: Vec<_> = advice(&run).into_iter().map(|advice| advice.sentence).collect();
    let has = |text: &str| {
        assert!(sentences.iter().any(|sentence| sentence.starts_with(text)), "{sentences:#?}");
    };
    has("for bandwidth of random writes at QD 1, use blocks of 1 MiB or more: they reach at least 95 % of ");
    has("for bandwidth of random reads at QD 1, use blocks of 4 MiB: ");
    assert!(!sentences.iter().any(|sentence| sentence.starts_with("4 KiB writes, low")), "{sentences:#?}");
}

#[test]
fn a_buffer_that_was_found_is_advised_about_though_its_rate_before_was_not() {
    let mut run = Pretend::usual().run(QUICK, 1);
    conclude(&mut run, None).unwrap();
    let like = run.findings.iter().find(|finding| finding.conditions.op == Some(Op::Write)).unwrap().clone();
    let of = |name: FindingName, value: f64| Finding {
        name,
        status: iosonde_model::Status::Found,
        value: Some(value),
        low: Some(value * 0.99),
        high: Some(value * 1.01),
        ..like.clone()
    };
    run.findings
        .extend([of(FindingName::SustainedRate, 4.8e8), of(FindingName::WriteBufferBytes, 67_108_864.0)]);
    let all = advice(&run);
    let long = all.iter().find(|advice| advice.sentence.starts_with("sustained writes: expect 480 MB/s"));
    let long = long.unwrap_or_else(|| panic!("{all:#?}"));
    assert!(
        long.sentence.contains("the buffer of 64.0 MiB") || long.sentence.contains("the buffer of 64 MiB"),
        "{long:?}"
    );
    assert_eq!(long.why, "throughput falls once the buffer is full");
}

#[test]
fn small_writes_far_slower_than_reads_are_to_be_collected() {
    let advised = |iops: f64| {
        let mut run = Pretend { cv: 0.01, ..Pretend::usual() }.run(QUICK, 1);
        conclude(&mut run, None).unwrap();
        let most = |op: Op| {
            move |finding: &&mut Finding| {
                finding.name == FindingName::MaxIops && finding.conditions.op == Some(op)
            }
        };
        let writes = run.findings.iter_mut().find(most(Op::Write)).expect("they were measured");
        (writes.value, writes.low, writes.high) = (Some(iops), Some(0.95 * iops), Some(1.05 * iops));
        advice(&run).into_iter().find(|advice| advice.sentence.contains(": 4 KiB random writes reach "))
    };
    // 80,000 reads a second: 1,778 times as many, and 10 times.
    assert!(advised(45.0).is_some_and(|advice| advice.sentence.ends_with(" at best")));
    assert_eq!(advised(8_000.0), None);
}

/// A run in which the block size that is enough for writes is open for this reason.
fn with_open_size(why: Inconclusive) -> Run {
    let mut run = Pretend { cv: 0.01, bytes_per_s: 0.3e9, ..Pretend::usual() }.run(QUICK, 1);
    conclude(&mut run, None).unwrap();
    let is_it = |own: &&mut Finding| {
        own.name == FindingName::PlateauBlockSize && own.conditions.op == Some(Op::Write)
    };
    let plateau = run.findings.iter_mut().find(is_it).unwrap();
    (plateau.status, plateau.value, plateau.low, plateau.high) = (Status::Inconclusive, None, None, None);
    plateau.detail = Detail::Inconclusive(why);
    run
}

#[test]
fn a_size_known_only_roughly_is_advised_by_its_upper_end_and_is_no_open_question() {
    let (unit, low, high) = (iosonde_model::Unit::Bytes, 65_536.0, 1_048_576.0);
    let run = with_open_size(Inconclusive::WideInterval { unit, low, high });
    let sentence = advice(&run).remove(0).sentence;
    assert!(
        sentence
            .starts_with("for bandwidth of random reads or writes at QD 1, use blocks of 1 MiB or more: "),
        "{sentence}"
    );
    let open = crate::text::results::results(&run).lines;
    assert!(open.iter().all(|line| line.inconclusive != Some(FindingName::PlateauBlockSize)), "{open:?}");
}

#[test]
fn the_largest_size_is_not_enough_where_throughput_still_rises_at_it() {
    let rising =
        iosonde_model::detail::SizeLawProblem::StillRising { largest_bytes: 4 << 20, needed_bytes: None };
    let run = with_open_size(Inconclusive::SizeLaw(rising));
    let sentence = advice(&run).remove(1).sentence;
    assert_eq!(
        wording(&sentence),
        "for bandwidth of random writes at QD #, use blocks of # MiB: # MB/s (±# %); larger ones may be \
         faster"
    );
}

#[test]
fn behind_a_cache_the_size_is_advised_that_no_cache_of_this_machine_holds() {
    let pretend = Pretend::usual();
    let mut run = pretend.run(QUICK, 1);
    run.info.device.direct = false;
    run.info.host.memory_bytes = Some(8 << 30);
    run.info.device.size_bytes = Some(1 << 40);
    for trial in &mut run.trials {
        trial.spec.direct = false;
        (trial.witnesses.block_layer_read_bytes, trial.witnesses.block_layer_write_bytes) =
            (Some(0), Some(0));
    }
    conclude(&mut run, None).unwrap();
    let first = |run: &Run| advice(run).remove(0).sentence;
    assert_eq!(
        first(&run),
        "use direct I/O (without `--buffered`), or `--size 32G`, 4 times this machine's memory, if there is room"
    );
    run.info.device.size_bytes = Some(48 << 30);
    assert!(first(&run).ends_with("a `--size` of several times this machine's memory"), "{}", first(&run));
}

#[test]
fn what_the_hypervisor_took_is_not_looked_for_by_iotop() {
    let first = |change: fn(&mut iosonde_model::Witnesses)| {
        let mut run = Pretend::usual().run(QUICK, 1);
        run.trials.iter_mut().for_each(|trial| change(&mut trial.witnesses));
        conclude(&mut run, None).unwrap();
        advice(&run).remove(0).sentence
    };
    assert_eq!(
        first(|seen| seen.steal_share = Some(0.3)),
        "measure when the host of this virtual machine is less busy, or on an instance with CPUs of its own"
    );
    let others = first(|seen| {
        seen.block_layer_read_bytes = seen.block_layer_read_bytes.map(|bytes| 3 * bytes + (1 << 30));
    });
    assert_eq!(others, "find the other process with `iotop`, or measure at a quiet time");
}

#[test]
fn two_figures_are_one_where_each_may_be_the_other() {
    let of = |value: f64, low: f64, high: f64| Estimate { value, low: Some(low), high: Some(high) };
    assert_eq!(together(&of(1.5, 1.3, 2.1), &of(2.4, 2.1, 2.9)), None);
    let both = together(&of(2.0, 1.9, 2.1), &of(2.05, 2.0, 2.12)).unwrap();
    assert_eq!((both.low, both.high), (Some(1.9), Some(2.12)));
    assert!(together(&of(2.0, 1.99, 2.03), &of(2.05, 2.02, 2.07)).is_some());
    assert_eq!(together(&of(2.0, 1.99, 2.01), &of(2.05, 2.02, 2.07)), None);
}
