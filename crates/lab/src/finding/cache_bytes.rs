//! How much of the storage some cache holds, seen by the span at which requests become slower.
//!
//! What it is: a size between two measured spans: the larger part of the storage that is served as fast as the
//! smallest part, and the next one, which surely is not.
//!
//! How it is worked out: the rate in each span against the rate in the smallest, with intervals that hold together
//! (Bonferroni). A span is slower where the whole interval lies more than 5 % below 1. The interval runs from the
//! largest span below that is not slower by more than 10 % to the first slower one; the value is their geometric
//! mean. Where no span is slower, there is none, and the sentence says up to which span.
//!
//! Assumes: that the cache keeps what was used last, that each span was read often enough within a trial to be
//! held, and that the smallest span fits. Whose cache it is cannot be told from the rates.
//!
//! What it is not: the amount of memory in the device: tables, buffers and other users share it.

use iosonde_model::{Conditions, Estimate, Finding, Named, Status, units};

use super::{
    FindingKind, Proof,
    effect::{self, MARGIN},
    group::{self, Group, Writer, workload},
};
use crate::{evidence::Evidence, words::Unit};

/// Below this share of the smallest span's rate a span is not called fast.
const FAST: f64 = 0.9;

pub(crate) struct CacheBytes;

impl Named for CacheBytes {
    fn name(&self) -> &'static str {
        "cache_bytes"
    }
}

impl FindingKind for CacheBytes {
    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.name(), experiment, unit: Unit::Bytes, confidence };
        let groups = group::groups(points, |op, evidence| {
            let spec = &evidence.point.spec;
            Some(Conditions {
                op: Some(op),
                random: Some(spec.rw.is_random()),
                block_size_bytes: Some(spec.block_size_bytes),
                queue_depth: Some(spec.asked_in_flight() as u32),
                ..Conditions::default()
            })
        });
        groups.iter().filter(|group| group.points.len() > 1).map(|group| one(&writer, group)).collect()
    }

    fn proof(&self) -> Proof {
        Proof {
            device: r#"
name = "cached"
summary = "flash behind a cache of 48 MiB"
capacity = "1GiB"
[flash]
units = 8
stripe = "16KiB"
page = "16KiB"
mapping_unit = "4KiB"
read = "60us"
program = "600us"
erase = "3ms"
pages_per_block = 256
placement = "static"
read_cache = { size = "48MiB", latency = "8us" }
[noise]
latency_cv = 0.02
"#,
            study: r#"
name = "spans"
question = "How much is cached?"
time = "15s"
size = "1GiB"
[[experiment]]
kind = "working-set"
span = "8M..256M*2"
"#,
            truths: &[(Some(50_331_648.0), "read_cache of 48 MiB, which holds 32 MiB and not 64")],
            widest: 0.7,
        }
    }
}

fn one(writer: &Writer, group: &Group) -> Finding {
    let what = workload(&group.conditions);
    let about = format!("From which span on {what} are slower");
    let mut points = group.points.clone();
    points.sort_by_key(|evidence| evidence.point.spec.span_bytes);
    let rates: Result<Vec<_>, _> =
        points.iter().map(|evidence| group::rate(evidence, group.op, &[])).collect();
    let rates = match rates {
        Ok(rates) => rates,
        Err(why) => return writer.refused(&group.conditions, &points, &about, &why),
    };
    let spans: Vec<u64> = points.iter().map(|evidence| evidence.point.spec.span_bytes).collect();
    let ratio = |place: usize| effect::ratio(rates[place], rates[0], writer.confidence, rates.len() - 1);
    let slower = |place: &usize| ratio(*place).high.is_some_and(|high| high < 1.0 - MARGIN);
    let fast = |place: &usize| *place == 0 || ratio(*place).low.is_some_and(|low| low > FAST);
    let Some(first_slower) = (1..spans.len()).find(slower) else {
        return no_step(writer, group, &points, &spans, (1..spans.len()).all(|place| fast(&place)));
    };
    let last_fast = (0..first_slower).rfind(fast).unwrap_or(0);
    let (low, high) = (spans[last_fast] as f64, spans[first_slower] as f64);
    let estimate = Estimate { value: (low * high).sqrt(), low: Some(low), high: Some(high) };
    let sentence = format!(
        "{what} within {} are faster than within {}: some cache holds {{}} of what was used last.",
        units::size(spans[last_fast]),
        units::size(spans[first_slower])
    );
    let why = "The interval runs between two measured spans; finer ones in between would narrow it.";
    writer.found(&group.conditions, &points, estimate, &sentence, why)
}

/// A level curve is an answer as well; one that is only not known to fall is none.
fn no_step(writer: &Writer, group: &Group, points: &[&Evidence], spans: &[u64], level: bool) -> Finding {
    let what = workload(&group.conditions);
    let largest = units::size(*spans.last().unwrap_or(&0));
    if !level {
        let about = format!("From which span on {what} are slower");
        return writer.refused(&group.conditions, points, &about, "the rates are too uncertain");
    }
    let refused = writer.refused(&group.conditions, points, "", "");
    Finding {
        status: Status::None,
        sentence: format!(
            "No cache shows: {what} are as fast within {largest} as within {}.",
            units::size(spans[0])
        ),
        why: Some("Every span keeps more than 90 % of the rate in the smallest.".to_owned()),
        ..refused
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pretend::Pretend;

    #[test]
    fn a_level_curve_has_no_cache_and_a_noisy_one_no_answer() {
        let study = "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"working-set\"";
        let exact = Pretend { cv: 0.005, ..Pretend::usual() };
        let found = &exact.conclusions(&CacheBytes, study, 1)[0][0];
        assert_eq!(found.status, Status::None);
        assert!(found.sentence.starts_with("No cache shows: 16 KiB random reads"), "{}", found.sentence);
        let noisy = Pretend { cv: 0.3, ..Pretend::usual() };
        assert_eq!(noisy.conclusions(&CacheBytes, study, 1)[0][0].status, Status::Refused);
    }
}
