//! Words of findings, one file for each family.

mod curve;
mod drift;
pub(super) mod effect;
mod cached;
mod durable;
mod inconclusive;
mod lack;
mod limit;
mod long_write;
mod mapping_unit;
mod note;
mod platter;
mod readahead;

use iosonde_infer::{
    finding::{group::workload, lookup::estimate},
    words::{capitalised, with_interval},
};
use iosonde_model::{Conditions, Detail, Finding, FindingName, Status};

/// A finding in one sentence, with its interval.
pub fn sentence(finding: &Finding) -> String {
    match &finding.detail {
        Detail::Said { sentence, .. } => sentence.clone(),
        Detail::Inconclusive(why) => {
            format!("{}: unknown; {}.", subject(finding), inconclusive::words(why))
        }
        Detail::Effect(facts) => effect::sentence(finding, facts),
        Detail::AccessOrder(answer) => effect::order_sentence(finding, *answer),
        Detail::Workers(facts) => effect::workers_sentence(finding, facts),
        Detail::ReadsAfterWrites(facts) => effect::after_writes_sentence(finding, facts),
        Detail::Shape(facts) => curve::shape_sentence(finding, facts),
        Detail::Crossover(facts) => curve::crossover_sentence(finding, facts),
        Detail::Drift(facts) => drift::sentence(finding, facts),
        Detail::Plain => plain(finding),
        Detail::Cached(facts) => cached::sentence(finding, *facts),
        Detail::Readahead(facts) => readahead::sentence(finding, *facts),
        Detail::LongWrite(facts) => long_write::sentence(finding, *facts),
        Detail::Limit(facts) => limit::sentence(finding, facts),
        Detail::Durable(facts) => durable::sentence(finding, *facts),
        Detail::MappingUnit(facts) => mapping_unit::sentence(finding, *facts),
        Detail::Platter(facts) => platter::sentence(finding, *facts),
    }
}

/// Assumptions behind a finding, or why it is inconclusive and what would answer.
pub fn why_of(finding: &Finding) -> Option<String> {
    let own = match &finding.detail {
        Detail::Said { why, .. } => why.clone(),
        Detail::Inconclusive(why) => Some(capitalised(&format!("{}.", inconclusive::words(why)))),
        Detail::Effect(facts) => Some(effect::why(facts)),
        Detail::AccessOrder(_) => Some(effect::order_why(finding)),
        Detail::Workers(facts) => Some(effect::workers_why(facts)),
        Detail::ReadsAfterWrites(facts) => Some(effect::after_writes_why(facts)),
        Detail::Shape(facts) => Some(curve::shape_why(facts)),
        Detail::Crossover(facts) => Some(curve::crossover_why(facts)),
        Detail::Drift(facts) => Some(drift::why(facts)),
        Detail::Plain => why_of_plain(finding).map(str::to_owned),
        Detail::Cached(facts) => Some(cached::why(*facts)),
        Detail::Readahead(facts) => Some(readahead::why(finding, *facts)),
        Detail::LongWrite(facts) => Some(long_write::why(*facts)),
        Detail::Limit(facts) => Some(limit::why(finding, facts)),
        Detail::Durable(facts) => Some(durable::why(*facts)),
        Detail::MappingUnit(facts) => Some(mapping_unit::why(*facts)),
        Detail::Platter(facts) => Some(platter::why(*facts)),
    };
    let notes: Vec<String> = finding.notes.iter().map(note::words).collect();
    let all: Vec<String> = own.into_iter().chain(notes).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// A finding without facts beside its value.
fn plain(finding: &Finding) -> String {
    match finding.name {
        FindingName::RotationPeriod => platter::rotation(finding),
        FindingName::SeekTimeAverage => platter::seek(finding),
        _ if finding.status == Status::Absent => format!("{}: none.", subject(finding)),
        _ => format!("{}: {}.", subject(finding), value(finding)),
    }
}

fn why_of_plain(finding: &Finding) -> Option<&'static str> {
    match finding.name {
        FindingName::CacheLatency => Some(cached::LATENCY),
        FindingName::RotationPeriod => Some(platter::ROTATION),
        FindingName::SeekTimeAverage => Some(platter::why_of_seek(finding)),
        _ => None,
    }
}

/// A finding's value with its interval.
fn value(finding: &Finding) -> String {
    with_interval(finding.unit, &estimate(finding))
}

/// What a finding is about: `Base latency of 4 KiB random reads`.
pub(super) fn subject(finding: &Finding) -> String {
    let what = match finding.name {
        FindingName::DeviceBandwidth => "Bandwidth",
        FindingName::MaxIops => "Highest IOPS",
        FindingName::BaseLatency => "Latency at QD 1",
        FindingName::PerRequestCost => "Fixed cost per request",
        FindingName::HalfSize => "Half-bandwidth size",
        FindingName::NetworkRoundTrip => "Network round trip",
        FindingName::PlateauBlockSize => "Block size of the plateau",
        FindingName::QueueDepthKnee => "Saturation point",
        FindingName::DepthFor95Percent => "Queue depth for 95 % of the maximum",
        FindingName::EffectiveDepth => "Effective queue depth",
        FindingName::RandomVsSequential => "Random against sequential throughput",
        FindingName::IopsAtLatency => "IOPS within the latency limit",
        FindingName::MixInterference => "Effect of mixing reads and writes",
        FindingName::StrideEffect => "Effect of the stride",
        FindingName::AlignmentEffect => "Effect of alignment",
        FindingName::JobsEffect => "Effect of several workers",
        FindingName::Shape => "Dips, peaks and steps",
        FindingName::Crossover => "Crossover of reads and writes",
        FindingName::CacheBytes => "Cache size",
        FindingName::CacheLatency => "Cache latency",
        FindingName::ReadaheadBytes => "Read-ahead",
        FindingName::BurstRate => "Burst throughput",
        FindingName::SustainedRate => "Sustained throughput",
        FindingName::WriteBufferBytes => "Write buffer size",
        FindingName::BufferDrainRate => "Drain rate of the write buffer",
        FindingName::ThrottleRate => "Rate limit",
        FindingName::BurstCreditBytes => "Burst credit",
        FindingName::FlushLatency => "Flush latency",
        FindingName::LogWritesPerS => "Log writes per second",
        FindingName::ProcessorShare => "CPU share",
        FindingName::Drift => "Drift",
        FindingName::OrderEffect => "Effect of the preceding workload",
        FindingName::Parallelism => "Parallel units",
        FindingName::StripeBytes => "Stripe size",
        FindingName::MappingUnitBytes => "Mapping unit",
        FindingName::RotationPeriod => "Rotation period",
        FindingName::SeekTimeAverage => "Average seek time",
        FindingName::ZoneRatio => "Ratio of outer to inner zone",
    };
    match finding.name {
        _ if finding.conditions == Conditions::default() => return what.to_owned(),
        FindingName::MixInterference
        | FindingName::StrideEffect
        | FindingName::AlignmentEffect
        | FindingName::JobsEffect => return format!("{what} on {}", effect::requests(&finding.conditions)),
        FindingName::Shape => return format!("{what} of {}", effect::requests(&finding.conditions)),
        FindingName::Crossover => return format!("Crossover of {}", curve::both(&finding.conditions)),
        _ => {}
    }
    match finding.conditions.op {
        Some(_) => format!("{what} of {}", workload(&finding.conditions)),
        None => what.to_owned(),
    }
}
