//! What a finding is about.

use crate::text::case::lowered;
use crate::text::workload::{reads_and_writes, workload, workload_at};
use iosonde_model::{Conditions, Detail, Finding, FindingName, Inconclusive, Op, training::TrainingModel};

/// What a finding is about: `Base latency of 4 KiB random reads`.
pub(in crate::text) fn subject(finding: &Finding) -> String {
    if let Detail::Inconclusive(Inconclusive::LatencyLimit { limit, .. }) = &finding.detail {
        return format!("IOPS with {} of {}", limit.describe(), workload(&finding.conditions));
    }
    let what = quantity(finding.name);
    match finding.name {
        _ if finding.conditions == Conditions::default() => return what.to_owned(),
        // Its records are the workload.
        FindingName::AcceleratorsFed => {
            let model = finding.conditions.block_size_bytes.and_then(TrainingModel::of_piece);
            return model.map_or(what.to_owned(), |model| format!("{what} with {}", model.label()));
        }
        FindingName::MixInterference
        | FindingName::StrideEffect
        | FindingName::AlignmentEffect
        | FindingName::JobsEffect => return format!("{what} on {}", workload_at(&finding.conditions)),
        FindingName::HostSaturation => return format!("{what} with {}", workload_at(&finding.conditions)),
        FindingName::Shape => return format!("{what} of {}", workload_at(&finding.conditions)),
        FindingName::PlateauBlockSize => return enough_for(&workload(&finding.conditions)),
        FindingName::Crossover => return format!("Crossover of {}", reads_and_writes(&finding.conditions)),
        _ => {}
    }
    match finding.conditions.op {
        // The storage has them, whatever is read.
        _ if [FindingName::Parallelism, FindingName::StripeBytes].contains(&finding.name) => what.to_owned(),
        Some(_) => format!("{what} of {}", workload(&finding.conditions)),
        None => what.to_owned(),
    }
}

/// What findings about both directions of one workload are about: `Knee of 4 KiB random reads and writes`.
pub(in crate::text) fn subject_of_both(finding: &Finding) -> String {
    let reads = Conditions { op: Some(Op::Read), ..finding.conditions.clone() };
    let both = format!("{} and writes", workload(&reads));
    match finding.name {
        FindingName::PlateauBlockSize => enough_for(&both),
        name => format!("{} of {both}", quantity(name)),
    }
}

/// What several findings about one workload are about: `Burst throughput, sustained throughput and write buffer size of
/// 4 KiB random writes`.
pub(in crate::text) fn subject_of_several(
    first: &Finding,
    others: impl Iterator<Item = FindingName>,
) -> String {
    let others: Vec<String> = others.map(|name| lowered(quantity(name))).collect();
    let (last, between) =
        others.split_last().map_or(("", &[][..]), |(last, between)| (last.as_str(), between));
    let before = std::iter::once(quantity(first.name)).chain(between.iter().map(String::as_str));
    format!("{} and {last} of {}", before.collect::<Vec<_>>().join(", "), workload(&first.conditions))
}

fn enough_for(workload: &str) -> String {
    format!("Block size for 95 % of the bandwidth of {workload} at QD 1")
}

/// The quantity that findings of a name give.
pub(crate) fn quantity(name: FindingName) -> &'static str {
    match name {
        FindingName::DeviceBandwidth => "Bandwidth",
        FindingName::MaxIops => "Highest IOPS",
        FindingName::BaseLatency => "Latency at QD 1",
        FindingName::PerRequestCost => "Fixed cost per request",
        FindingName::HalfSize => "Block size that gives half of the bandwidth",
        FindingName::NetworkRoundTrip => "Network round trip",
        FindingName::PlateauBlockSize => "Smallest size for 95 % of the bandwidth at QD 1",
        FindingName::QueueDepthKnee => "Knee",
        FindingName::DepthFor95Percent => "QD for 95 % of max",
        FindingName::EffectiveDepth => "Effective queue depth",
        FindingName::RandomVsSequential => "Random against sequential throughput",
        FindingName::IopsAtLatency => "IOPS within the latency limit",
        FindingName::MixInterference => "Effect of mixing reads and writes",
        FindingName::StrideEffect => "Effect of the stride",
        FindingName::AlignmentEffect => "Effect of alignment",
        FindingName::JobsEffect => "Effect of several workers",
        FindingName::HostSaturation => "Saturation by hosts",
        FindingName::Shape => "Dips, peaks and steps",
        FindingName::Crossover => "Crossover of reads and writes",
        FindingName::CacheBytes => "Cache size",
        FindingName::CacheLatency => "Cache latency",
        FindingName::ReadaheadBytes => "Read-ahead",
        FindingName::BurstRate => "Burst throughput",
        FindingName::SustainedRate => "Sustained throughput",
        FindingName::WriteBufferBytes => "Write buffer size",
        FindingName::BufferDrainRate => "Drain rate of the write buffer",
        FindingName::ConstantLimit => "Rate limit from the first second on",
        FindingName::ThrottleRate => "Rate limit",
        FindingName::BurstCreditBytes => "Burst credit",
        FindingName::FlushLatency => "Flush latency",
        FindingName::LogWritesPerS => "Log writes per second",
        FindingName::CommitLatency => "Commit latency",
        FindingName::FastestSync => "Fastest durable writes",
        FindingName::AcceleratorsFed => "Accelerators kept busy",
        FindingName::CheckpointTime => "Time of a checkpoint",
        FindingName::ProcessorShare => "CPU share",
        FindingName::ProgramPlateau => "Plateau block size of buffered I/O",
        FindingName::Drift => "Drift",
        FindingName::OrderEffect => "Effect of the preceding workload",
        FindingName::Parallelism => "Parallel units",
        FindingName::StripeBytes => "Stripe size",
        FindingName::MappingUnitBytes => "Mapping unit",
        FindingName::RotationPeriod => "Rotation period",
        FindingName::SeekTimeAverage => "Average seek time",
        FindingName::ZoneRatio => "Ratio of outer to inner zone",
    }
}
