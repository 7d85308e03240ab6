//! How much faster or slower random requests are than sequential ones, everything else equal.
//!
//! What it is: the throughput of random requests over that of sequential ones, at the same block size and queue
//! depth.
//!
//! How it is computed: the difference of the two logarithms, with the errors of both. "As fast" is said when the
//! whole interval lies within 5 % of 1; "slower" or "faster" when all of it lies on one side of 1. Otherwise it is
//! inconclusive: an interval that contains 1 is not yet evidence that order does not matter.
//!
//! Assumes: that both points met the same storage, which the random order of trials within each round ensures.
//!
//! Traps: a span that fits a cache makes order irrelevant on any storage; read-ahead outside a virtual machine
//! makes sequential reads fast on any storage. The answer holds for its block size.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{About, Conditions, Detail, Estimate, ExperimentName, Finding, FindingName, Unit};

use super::{
    FindingKind, Proof, ScreenLine, effect,
    group::{self, Group, Writer},
};

/// The registered kind.
pub struct RandomVsSequential;

impl FindingKind for RandomVsSequential {
    fn id(&self) -> FindingName {
        FindingName::RandomVsSequential
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::RandomVsSequential, ExperimentName::Readahead]
    }

    fn computed_from(&self) -> Option<&'static [About]> {
        Some(&[About::Rate, About::Depth])
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::always("order")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Ratio, confidence };
        let groups = group::groups(points, |op, evidence| {
            let spec = &evidence.point.spec;
            Some(Conditions {
                op: Some(op),
                random: None,
                block_size_bytes: Some(spec.block_size_bytes),
                queue_depth: Some(spec.queue_depth * spec.jobs),
                span_bytes: Some(spec.span_bytes),
                ..Conditions::default()
            })
        });
        groups.iter().filter_map(|group| compare(&writer, group)).collect()
    }

    fn proof(&self) -> Proof {
        Proof {
            device: r#"
name = "two-units"
summary = "two units of flash that reads in order visit in turn"
capacity = "1GiB"
[flash]
units = 2
stripe = "16KiB"
page = "16KiB"
mapping_unit = "4KiB"
read = "60us"
program = "600us"
erase = "3ms"
pages_per_block = 256
placement = "static"
"#,
            study: r#"
name = "order"
question = "Does order matter?"
time = "60s"
precision = "0.5%"
size = "1GiB"
[[experiment]]
kind = "random-vs-sequential"
rw = ["read", "randread"]
block_size = "16k"
depth = [2, 1]
"#,
            // After each 60 us both units are free or one request still waits: a random new one makes either state
            // with chance 1/2, and 2 or 1 requests end next. In order it is always 2.
            truths: &[
                (Some(0.75), "QD 2 on 2 units: 1 or 2 random reads end each 60 us, and always 2 in order"),
                (Some(1.0), "QD 1, no read waits for another: 60 us either way"),
            ],
            widest: 0.12,
        }
    }
}

/// `None` where a group has only one of the two patterns.
fn compare(writer: &Writer, group: &Group) -> Option<Finding> {
    let of = |random: bool| group.points.iter().find(|evidence| evidence.point.spec.rw.is_random() == random);
    let (random, sequential) = (of(true)?, of(false)?);
    let (conditions, points) = (&group.conditions, [*random, *sequential]);
    let rates = group::valid_rate(random, group.op, &[About::Depth])
        .and_then(|over| Ok((over, group::valid_rate(sequential, group.op, &[About::Depth])?)));
    let (over, under) = match rates {
        Ok(rates) => rates,
        Err(why) => return Some(writer.inconclusive(conditions, &points, why)),
    };
    let log_ratio = over.log_mean - under.log_mean;
    let half = over.half_width(writer.confidence).hypot(under.half_width(writer.confidence));
    let (low, high) = ((log_ratio - half).exp(), (log_ratio + half).exp());
    let estimate = Estimate { value: log_ratio.exp(), low: Some(low), high: Some(high) };
    let detail = Detail::AccessOrder(effect::answer_of(&estimate));
    Some(writer.concluded(conditions, &points, estimate, detail))
}

#[cfg(test)]
mod tests {
    use iosonde_model::detail::RatioAnswer;

    use super::*;
    use crate::testing::{Conclusions, Pretend};

    const STUDY: &str = "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \
     \"random-vs-sequential\"\nrw = [\"read\", \"randread\"]";

    fn found(pretend: &Pretend) -> Finding {
        pretend.conclusions(&RandomVsSequential, STUDY, 1).remove(0).remove(0)
    }

    #[test]
    fn as_fast_needs_an_interval_within_the_margin() {
        let exact = found(&Pretend { cv: 0.01, ..Pretend::usual() });
        assert_eq!(exact.detail, Detail::AccessOrder(RatioAnswer::Equal), "{exact:?}");
        let noisy = found(&Pretend { cv: 0.2, ..Pretend::usual() });
        assert_eq!(noisy.detail, Detail::AccessOrder(RatioAnswer::Undecided), "{noisy:?}");
        assert!(noisy.detail.is_open());
    }

    #[test]
    fn slower_and_faster_need_an_interval_beside_one() {
        let disk = found(&Pretend { random_ratio: 0.1, ..Pretend::usual() });
        assert_eq!(disk.detail, Detail::AccessOrder(RatioAnswer::Lower));
        assert!((0.09..0.11).contains(&disk.value.unwrap()), "{disk:?}");
        let odd = found(&Pretend { random_ratio: 1.5, ..Pretend::usual() });
        assert_eq!(odd.detail, Detail::AccessOrder(RatioAnswer::Higher));
    }

    #[test]
    fn a_study_without_one_of_the_patterns_did_not_ask() {
        let reads = STUDY.replace("\"read\", ", "");
        assert!(Pretend::usual().conclusions(&RandomVsSequential, &reads, 1)[0].is_empty());
    }
}
