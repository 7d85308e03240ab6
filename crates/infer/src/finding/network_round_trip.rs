//! Network round trip: the time of a request to network storage that does not depend on its size.
//!
//! What it is: the part of a read's time that is neither its bytes' nor this program's: the round trip, and the
//! time that the server needs to find data in its memory. It separates the two limits of network storage: requests
//! at QD 1 are limited by round trips, large ones at higher depth by the link (`device_bandwidth`).
//!
//! How it is computed: t₀ of the law t(b) = t₀ + b/B, fitted to the times of single reads over their sizes (see
//! `per_request_cost`), minus the time in which the program itself was busy. Where the client of the network file
//! system counts the time from sending to answer (NFS does), its count for the smallest reads is given beside it.
//!
//! Inconclusive where the smallest reads form different groups (four fifths of them spread over more than half of
//! the median): then some wait for the server's medium, and a smaller `--size` fits its memory.
//!
//! How often it is right: `bench/blind --devices 400 --seed 20261122 --kinds network`: found on 380 of 400 servers,
//! the truth in all of their intervals, with a median width of 0.1 %.
//!
//! Concluded only on network file systems. Assumes: that the server answers from its memory. A server whose medium
//! takes the same time for every read adds that to the figure, and this side cannot detect it.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    About, Detail, Estimate, ExperimentName, Finding, FindingName, Inconclusive, Note, Op, Status, Trial,
    Unit,
    detail::{RoundTrip, SizeLawProblem},
};

use super::{
    FindingKind, Proof, ScreenLine,
    group::{self, Group, Writer},
    hockney, pooled,
};

/// Share of the median of the smallest reads within which four fifths of them must lie.
const ALIKE: f64 = 0.5;

pub(crate) struct NetworkRoundTrip;

impl FindingKind for NetworkRoundTrip {
    fn id(&self) -> FindingName {
        FindingName::NetworkRoundTrip
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::BlockSize]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::alone("network")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Time, confidence };
        let mut groups = hockney::groups(points);
        groups.retain(|group| {
            let over_a_network =
                group.points.iter().flat_map(|one| &one.trials).any(|trial| is_network(trial));
            over_a_network && group.op == Op::Read && group.conditions.queue_depth == Some(1)
        });
        groups.iter().map(|group| one(&writer, group)).collect()
    }

    fn proof(&self) -> Proof {
        Proof {
            device: r#"
name = "server"
summary = "a server that has everything in memory, 0.5 ms away over 118 MB/s"
capacity = "64MiB"
[host]
request_cost = "6us"
[network]
round_trip = "0.5ms"
bandwidth = "118MB/s"
server_cache = "1GiB"
[queue]
servers = 4
service = { fixed = "80us" }
[noise]
latency_cv = 0.05
"#,
            study: r#"
name = "network"
question = "How far away is the server?"
time = "60s"
size = "64MiB"
[[experiment]]
kind = "block-size"
rw = "read"
block_size = "4k..1M*4"
depth = 1
"#,
            truths: &[(Some(500_000.0), "round_trip of 0.5 ms; the server's memory answers at once")],
            widest: 0.02,
        }
    }
}

fn is_network(trial: &Trial) -> bool {
    trial.witnesses.network_round_trip_ns.is_some() || trial.witnesses.network_read_bytes.is_some()
}

fn one(writer: &Writer, group: &Group) -> Finding {
    match round_trip(group, writer.confidence) {
        Ok((trip, facts)) => {
            writer.concluded(&group.conditions, &group.points, trip, Detail::RoundTrip(facts))
        }
        Err(why) => writer.inconclusive(&group.conditions, &group.points, why),
    }
}

fn round_trip(group: &Group, confidence: f64) -> Result<(Estimate, RoundTrip), Inconclusive> {
    let law = hockney::of(group, confidence)?;
    let smallest = group.points.iter().min_by_key(|one| one.point.spec.block_size_bytes);
    let smallest = smallest.ok_or(Inconclusive::NothingMeasured)?;
    of_one_kind(smallest)?;
    let cpu_ns = busy_ns(smallest);
    let less = |ns: f64| ns - cpu_ns.unwrap_or(0.0);
    let trip = Estimate {
        value: less(law.t0_ns.value),
        low: law.t0_ns.low.map(less),
        high: law.t0_ns.high.map(less),
    };
    if trip.low.is_none_or(|low| low <= 0.0) {
        return Err(SizeLawProblem::BelowCpuTime.into());
    }
    let counted: Vec<f64> =
        smallest.standing(About::Rate).filter_map(|trial| trial.witnesses.network_round_trip_ns).collect();
    let client_ns = (!counted.is_empty()).then(|| counted.iter().sum::<f64>() / counted.len() as f64);
    let client_block_size_bytes = smallest.point.spec.block_size_bytes;
    Ok((trip, RoundTrip { law: law.fit, cpu_ns, client_ns, client_block_size_bytes }))
}

/// Reads that wait for the server's medium are of another kind than those that its memory answers.
fn of_one_kind(smallest: &Evidence) -> Result<(), Inconclusive> {
    group::valid(smallest, &[About::Latency])?;
    let all = pooled::merged(pooled::latencies(smallest, Op::Read));
    let quantiles = [0.1, 0.5, 0.9].map(|share| all.quantile_ns(share));
    let [Some(p10_ns), Some(middle), Some(p90_ns)] = quantiles else {
        return Err(Inconclusive::NothingMeasured);
    };
    if p90_ns - p10_ns > ALIKE * middle {
        return Err(SizeLawProblem::MixedLatency { p10_ns, p90_ns }.into());
    }
    Ok(())
}

/// Time per request in which the program itself was busy.
fn busy_ns(evidence: &Evidence) -> Option<f64> {
    let each = |trial: &Trial| {
        let iops = trial.read.as_ref()?.iops;
        (iops > 0.0).then_some(trial.busy_share? / iops * 1e9)
    };
    let all: Vec<f64> = evidence.standing(About::Rate).filter_map(each).collect();
    (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64)
}

/// Says beside a round trip what the link carries, where the run knows.
pub(crate) fn beside_the_link(findings: &mut [Finding]) {
    let found = |name: FindingName| {
        move |finding: &&Finding| {
            finding.name == name && finding.status == Status::Found && finding.conditions.op == Some(Op::Read)
        }
    };
    let link = findings.iter().find(found(FindingName::DeviceBandwidth)).and_then(|finding| {
        let rate = Estimate { value: finding.value?, low: finding.low, high: finding.high };
        let depth = finding.conditions.queue_depth.filter(|depth| *depth > 1)?;
        Some(Note::LinkCarries { queue_depth: depth, bytes_per_s: rate })
    });
    let Some(note) = link else { return };
    let trips = findings.iter_mut().filter(|finding| found(FindingName::NetworkRoundTrip)(&&**finding));
    trips.for_each(|trip| trip.notes.push(note.clone()));
}

#[cfg(test)]
mod tests {
    use iosonde_model::Study;
    use iosonde_plan::points;

    use super::*;
    use crate::testing::Pretend;

    fn concluded(change: impl Fn(&mut Trial)) -> Vec<Finding> {
        let study = Study::parse(NetworkRoundTrip.proof().study, "x").unwrap();
        let pretend = Pretend { cv: 0.002, ..Pretend::usual() };
        let points = points::plan(&study, &pretend.device).unwrap().points;
        let mut evidence = pretend.evidence(&points, 1);
        for one in &mut evidence {
            let mut trial = one.trials[0].clone();
            change(&mut trial);
            let trial: &'static Trial = Box::leak(Box::new(trial));
            one.trials.fill(trial);
        }
        NetworkRoundTrip.conclude("x", &evidence, 0.95)
    }

    #[test]
    fn a_local_device_has_no_round_trip_and_a_network_has_the_cost_less_the_program() {
        assert!(concluded(|_| ()).is_empty());
        let found = &concluded(|trial| {
            trial.witnesses.network_round_trip_ns = Some(95_000.0);
            // 0.5 µs of every request.
            let iops = trial.read.as_ref().unwrap().iops;
            trial.busy_share = Some(500.0 * iops / 1e9);
        })[0];
        // 100 µs + b / 1 GB/s, of which half a microsecond is the program's.
        let Detail::RoundTrip(facts) = found.detail else { panic!("{found:?}") };
        assert!(found.low.unwrap() <= 99_500.0 && 99_500.0 <= found.high.unwrap(), "{found:?}");
        assert_eq!((facts.client_ns, facts.client_block_size_bytes), (Some(95_000.0), 4096));
        assert!((facts.cpu_ns.unwrap() - 500.0).abs() < 1e-6, "{facts:?}");
    }

    #[test]
    fn reads_of_two_kinds_are_refused() {
        let refused = &concluded(|trial| {
            trial.witnesses.network_read_bytes = Some(1);
            let read = trial.read.as_mut().unwrap();
            (0..read.histogram.total()).for_each(|_| read.histogram.record(9_000_000));
        })[0];
        let Detail::Inconclusive(Inconclusive::SizeLaw(SizeLawProblem::MixedLatency { p10_ns, p90_ns })) =
            refused.detail
        else {
            panic!("{refused:?}")
        };
        assert!(p10_ns < p90_ns && p90_ns > 8.9e6, "{p10_ns} {p90_ns}");
    }

    #[test]
    fn the_link_stands_beside_the_round_trip() {
        let mut all = concluded(|trial| trial.witnesses.network_round_trip_ns = Some(95_000.0));
        let mut link = Finding { name: FindingName::DeviceBandwidth, unit: Unit::Rate, ..all[0].clone() };
        (link.value, link.low, link.high) = (Some(1.2e8), Some(1.1e8), Some(1.3e8));
        link.conditions.queue_depth = Some(16);
        all.push(link);
        beside_the_link(&mut all);
        let bytes_per_s = Estimate { value: 1.2e8, low: Some(1.1e8), high: Some(1.3e8) };
        assert_eq!(all[0].notes, [Note::LinkCarries { queue_depth: 16, bytes_per_s }]);
    }
}
