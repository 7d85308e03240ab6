//! How long a request takes when a cache answers it.
//!
//! What it is: the mean time of reads within a span that a cache holds completely, as the program sees it: the path
//! to the cache and back included.
//!
//! How it is computed: in the smallest span that was measured, where `cache_bytes` finds that larger spans are
//! slower. If some reads miss even there, only the fast ones count (the two groups are separated where the variance
//! between the logarithms of their latencies is largest). The interval is a jackknife over trials.
//!
//! Assumes: what `cache_bytes` assumes. At a queue depth above 1 the time includes waiting for other requests; the
//! conditions give the depth.

use iosonde_judge::evidence::{Evidence, WithInterval};
use iosonde_model::{
    Conditions, Detail, ExperimentName, Finding, FindingName, Inconclusive, Status, Unit,
    detail::{CacheProblem, Lack},
};

use super::{
    FindingKind, Proof, ScreenLine, cached,
    group::{self, Writer},
};

pub(crate) struct CacheLatency;

impl FindingKind for CacheLatency {
    fn id(&self) -> FindingName {
        FindingName::CacheLatency
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::WorkingSet]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::alone("cache")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let sizes = Writer { name: self.id(), experiment, unit: Unit::Bytes, confidence };
        let writer = Writer { unit: Unit::Time, ..sizes };
        let groups = cached::groups(points);
        groups
            .iter()
            .filter(|group| group.points.len() > 1)
            .map(|group| one(&writer, &sizes, group))
            .collect()
    }

    fn wants(&self) -> Option<Lack> {
        Some(Lack::Spans)
    }

    fn proof(&self) -> Proof {
        Proof {
            truths: &[(Some(8_000.0), "read_cache of 8 us, and nothing on the way to it")],
            widest: 0.05,
            study: r#"
name = "spans"
question = "How long does a cached read take?"
time = "15s"
size = "1GiB"
[[experiment]]
kind = "working-set"
span = "8M..256M*2"
depth = 1
"#,
            ..cached::PROOF
        }
    }
}

fn one(writer: &Writer, sizes: &Writer, group: &group::Group) -> Finding {
    let held = cached::one(sizes, group);
    let smallest = group.points.iter().min_by_key(|evidence| evidence.point.spec.span_bytes);
    let smallest = *smallest.expect("a group has points");
    let spec = &smallest.point.spec;
    let conditions = Conditions { span_bytes: Some(spec.span_bytes), ..group.conditions.clone() };
    let points = [smallest];
    match held.status {
        Status::Found => {}
        Status::Absent => return writer.absent(&conditions, &points, held.detail),
        Status::Inconclusive => return writer.inconclusive(&conditions, &points, CacheProblem::SizeUnknown),
    }
    match cached::answered_ns(smallest, group.op) {
        Some(time) => writer.concluded(&conditions, &points, time.estimate(writer.confidence), Detail::Plain),
        None => {
            let spec = Box::new(spec.clone());
            writer.inconclusive(&conditions, &points, Inconclusive::NoInterval { spec })
        }
    }
}
