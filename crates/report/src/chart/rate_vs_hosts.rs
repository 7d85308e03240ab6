//! Throughput against the number of hosts: how many of them saturate what they share.
//!
//! Marked is the saturation point with its interval, where the line through the origin (each host gets what one gets
//! alone) meets the highest throughput.

use iosonde_model::{About, FindingName, Named, Run, TrialSpec};

use super::Chart;
use super::pick::{self, Doubts, Figured, RATE, THROUGHPUT};
use crate::figure::{Along, Axis, DotSeries, Figure, FindingMark, Tone};
use crate::quantity::Quantity;
use crate::text::point_table::is_large;

/// The chart.
pub struct RateVsHosts;

impl Named for RateVsHosts {
    fn name(&self) -> &'static str {
        "rate-vs-hosts"
    }
}

fn hosts(spec: &TrialSpec) -> u64 {
    spec.hosts.into()
}

/// Queue depth of each host.
fn depth(spec: &TrialSpec) -> u64 {
    u64::from(spec.queue_depth) * u64::from(spec.jobs)
}

impl Chart for RateVsHosts {
    fn draw(&self, run: &Run) -> Option<Figure> {
        let mut families = pick::one_way(pick::by_hosts(run));
        families.truncate(4);
        let lead = families.first()?;
        let large = families.iter().all(|family| is_large(family.spec()));
        let figured: Figured = if large { THROUGHPUT } else { RATE };
        let one_depth = families.iter().all(|family| depth(family.spec()) == depth(lead.spec()));
        let doubts = Doubts::about(run, &[About::Rate]);
        let (mut series, mut marks): (Vec<DotSeries>, Vec<FindingMark>) = (Vec::new(), Vec::new());
        for family in &families {
            let other = series.iter().any(|s| s.tone == Tone::of(family.op, false));
            let tone = Tone::of(family.op, other);
            let found = pick::finding(run, FindingName::HostSaturation, family).filter(|_| !other);
            let words = format!("{}s: saturated at", family.op);
            marks.extend(found.and_then(|finding| pick::mark(finding, Along::X, &words, tone)));
            let name = pick::family_name(&families, family);
            series.push(DotSeries {
                name: if one_depth { name } else { format!("{name}, QD {}", depth(family.spec())) },
                tone,
                broken: other,
                joined: true,
                dots: pick::dots(family, &doubts, hosts, figured),
                trials: pick::trials(run, family, hosts, figured),
                ..DotSeries::default()
            });
        }
        let places = pick::grid(&series);
        let label = if large { "throughput of all hosts" } else { "requests of all hosts per second" };
        Some(Figure {
            name: self.name().into(),
            title: "How does throughput grow with the number of hosts?".into(),
            reading: if one_depth {
                format!("QD {} on each host.", depth(lead.spec()))
            } else {
                String::new()
            },
            answer: pick::sentences_of(run, &[FindingName::HostSaturation], &families),
            experiment: lead.experiment(run),
            also: pick::experiments(run, &families),
            x: Axis::log("hosts", Quantity::Hosts, &places, &places),
            y: Axis::from_zero(label, figured.quantity, &pick::heights(&series)),
            series,
            marks,
            ..Figure::default()
        })
    }
}
