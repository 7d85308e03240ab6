//! Words of findings, one file for each family.

mod inconclusive;
mod note;

use iosonde_infer::{finding::group::workload, words::capitalised};
use iosonde_model::{Detail, Finding, FindingName};

/// A finding in one sentence, with its interval.
pub fn sentence(finding: &Finding) -> String {
    match &finding.detail {
        Detail::Said { sentence, .. } => sentence.clone(),
        Detail::Inconclusive(why) => {
            format!("{}: unknown; {}.", subject(finding), inconclusive::words(why))
        }
    }
}

/// Assumptions behind a finding, or why it is inconclusive and what would answer.
pub fn why_of(finding: &Finding) -> Option<String> {
    let own = match &finding.detail {
        Detail::Said { why, .. } => why.clone(),
        Detail::Inconclusive(why) => Some(capitalised(&format!("{}.", inconclusive::words(why)))),
    };
    let notes: Vec<String> = finding.notes.iter().map(note::words).collect();
    let all: Vec<String> = own.into_iter().chain(notes).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// What a finding is about: `Base latency of 4 KiB random reads`.
fn subject(finding: &Finding) -> String {
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
    match finding.conditions.op {
        Some(_) => format!("{what} of {}", workload(&finding.conditions)),
        None => what.to_owned(),
    }
}
