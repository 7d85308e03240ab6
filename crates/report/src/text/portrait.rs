//! Words of the device model fitted to a run.

use crate::text::{case::capitalised, number::with_interval};
use iosonde_model::{
    Build, Compliance, Derivation, FindingName, Misfit, NoPortrait, Portrait, Trait, TraitKey, TraitSource,
    Unidentified, Unit, units,
};

/// `Fitted model: flash, 6 parallel units, 65.0 µs page read. Stripe and write buffer are defaults (not identified).`
pub fn sentence(portrait: &Portrait) -> String {
    let rotation = portrait.find(TraitKey::DiskRpm).is_some_and(|one| !one.is_assumed());
    let head = match portrait.build {
        Build::Units => "flash",
        Build::Servers => "one queue",
        Build::Disk if rotation => "rotating disk",
        Build::Disk => "slow random access like a rotating disk",
    };
    let shown =
        || shown(portrait.build).iter().filter_map(|&(key, words)| Some((portrait.find(key)?, words)));
    let known = shown().filter(|(one, _)| !one.is_assumed()).map(|(one, words)| match one.key {
        TraitKey::FlashUnits if value(one) == "1" => "1 unit".to_owned(),
        TraitKey::QueueServers if portrait.unidentified.contains(&Unidentified::MoreServers) => {
            format!("at least {} parallel servers", value(one))
        }
        TraitKey::QueueServers if value(one) == "1" => "1 server".to_owned(),
        // As much has passed through it.
        TraitKey::LinkRead => {
            format!("link of at least {}", units::rate(one.estimate.low.unwrap_or(one.estimate.value)))
        }
        _ => words.replace("{}", &value(one)),
    });
    let known: Vec<String> = std::iter::once(head.to_owned()).chain(known).collect();
    let defaults: Vec<&str> =
        shown().filter(|(one, _)| one.is_assumed()).map(|(one, _)| label(one.key)).collect();
    let defaults = match defaults.as_slice() {
        [] => String::new(),
        [one] => format!(" {} is a default (not identified).", capitalised(one)),
        several => format!(" {} are defaults (not identified).", capitalised(&listed(several))),
    };
    format!("Fitted model: {}.{defaults}{}", known.join(", "), caution(portrait))
}

/// Parameters that the sentence names.
fn shown(build: Build) -> &'static [(TraitKey, &'static str)] {
    match build {
        Build::Units => &[
            (TraitKey::FlashUnits, "{} parallel units"),
            (TraitKey::FlashRead, "{} page read"),
            (TraitKey::FlashStripe, "{} stripe"),
            (TraitKey::BufferSize, "{} write buffer"),
            (TraitKey::BufferDrain, "{} buffer drain"),
            (TraitKey::FlashProgram, "{} page program"),
            (TraitKey::LinkRead, "link of at least {}"),
        ],
        Build::Servers => &[
            (TraitKey::QueueServers, "{} parallel servers"),
            (TraitKey::QueueService, "{} service time"),
            (TraitKey::LinkRead, "link of at least {}"),
        ],
        Build::Disk => &[
            (TraitKey::DiskRpm, "{} rpm"),
            (TraitKey::DiskSeekAverage, "{} average seek"),
            (TraitKey::DiskOuter, "{} at the outer edge"),
            (TraitKey::DiskInner, "{} at the inner edge"),
            (TraitKey::DiskWriteCache, "{} write cache"),
        ],
    }
}

fn listed(words: &[&str]) -> String {
    match words {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => words.concat(),
    }
}

/// Units and servers that no address pattern separated are numbers that reproduce rates.
fn caution(portrait: &Portrait) -> &'static str {
    let certain = |key| portrait.find(key).is_some_and(|one| one.estimate.low.is_some());
    match portrait.build {
        Build::Disk => "",
        Build::Units if certain(TraitKey::FlashUnits) => "",
        _ => " The model reproduces the measured rates; the real structure may differ.",
    }
}

/// Value of a parameter, with its interval where it has one.
pub fn value(one: &Trait) -> String {
    let of = one.estimate.value;
    match (one.key.unit(), one.estimate.low, one.estimate.high) {
        (Unit::None, Some(low), Some(high)) => format!("{of:.0} [{low:.0}, {high:.0}]"),
        (unit, Some(_), Some(_)) => with_interval(unit, &one.estimate),
        (Unit::Time, ..) => units::time(of),
        (Unit::Bytes, ..) => units::size(of as u64),
        (Unit::Rate, ..) => units::rate(of),
        _ => format!("{of:.0}"),
    }
}

/// Name of a parameter.
pub fn label(key: TraitKey) -> &'static str {
    match key {
        TraitKey::HostRequestCost => "CPU time per request",
        TraitKey::LinkLatency => "path latency",
        TraitKey::LinkRead => "link, reads",
        TraitKey::LinkWrite => "link, writes",
        TraitKey::FlashUnits => "parallel units",
        TraitKey::FlashRead => "page read",
        TraitKey::FlashPage => "page",
        TraitKey::FlashStripe => "stripe",
        TraitKey::FlashMappingUnit => "mapping unit",
        TraitKey::FlashProgram => "page program",
        TraitKey::BufferSize => "write buffer",
        TraitKey::BufferLatency => "write into the buffer",
        TraitKey::BufferDrain => "buffer drain",
        TraitKey::BufferFlush => "flush",
        TraitKey::QueueServers => "parallel servers",
        TraitKey::QueueService => "service time",
        TraitKey::DiskRpm => "rotation, rpm",
        TraitKey::DiskOuter => "outer edge",
        TraitKey::DiskInner => "inner edge",
        TraitKey::DiskSeekTrack => "track-to-track seek",
        TraitKey::DiskSeekAverage => "average seek",
        TraitKey::DiskCache => "cache",
        TraitKey::DiskWriteCache => "write cache",
        TraitKey::DiskQueueSlots => "queue slots",
    }
}

/// Name of a source: a finding's, or `points`.
pub fn source(source: TraitSource) -> &'static str {
    match source {
        TraitSource::Finding(name) => name.as_str(),
        TraitSource::Points => "points",
    }
}

/// How a parameter follows from its sources, or which default was taken.
pub fn how(derivation: Derivation) -> &'static str {
    match derivation {
        Derivation::BusyTimePerRequest => "CPU time over the number of requests",
        Derivation::BestFit => "best fit to reads of all sizes and queue depths",
        Derivation::LatencyLessPath => "latency at QD 1 minus path and transfer",
        Derivation::LatencyLessMedium => "latency at QD 1 minus the medium's part",
        Derivation::Strides => "strides that reach all units or fewer",
        Derivation::UnitsForHighestRate => "units that the highest IOPS needs in a queueing model",
        Derivation::EqualToReads => "as for reads; no burst was measured",
        Derivation::StrideOfAllUnits => "stride that reaches all units",
        Derivation::PagePerUnit => "default: one page per unit",
        Derivation::PageForRate => "default, or the smallest page that reaches the measured bandwidth",
        Derivation::SmallWritesReadFirst => "smaller writes cause a read first",
        Derivation::Default => "default",
        Derivation::DefaultWithinSustained => "default that does not limit sustained writes",
        Derivation::FlushAfterWrite => "a flush after one write waits for path and one program",
        Derivation::BytesBeforeSlower => "bytes written before throughput falls",
        Derivation::BelowDetection => "default: too small to show in a long write",
        Derivation::QuarterSecondOfDrain => "default, or a quarter of a second of drain",
        Derivation::SustainedRate => "sustained writes",
        Derivation::FlushBeyondProgram => "flush latency minus path and program",
        Derivation::RateTimesLatency => "highest IOPS times latency at QD 1, in whole servers",
        Derivation::ServersOverRate => "servers over the highest IOPS",
        Derivation::SlopeOverSize => "slope of latency over request size at QD 1",
        Derivation::HighestBandwidth => "highest bandwidth; link and medium are not separated",
        Derivation::FarBelowOneTurn => "default, far below one turn",
        Derivation::RotationPeriod => "60 s over the rotation period",
        Derivation::LogWriteWaitsOneTurn => "each durable log write waits one turn",
        Derivation::SequentialAtStart => "sequential requests at the first addresses",
        Derivation::LinearZones => "linear over the zones",
        Derivation::HalfOfOuter => "default: half of the outer edge",
        Derivation::MediumThenLink => "single large reads pass medium and link in turn",
        Derivation::ShortSeeks => "default of 0.6 ms, or less where measured seeks are shorter",
        Derivation::SeekBeyondHalfTurn => {
            "random read minus half a turn, scaled to the whole disk by a square-root law"
        }
        Derivation::SeekBeyondDefaultTurn => "random read minus half of a default turn",
        Derivation::ReadAheadSeen => "default: sequential reads did not wait for a turn",
        Derivation::WritesSkipArm => "default: writes did not wait for the arm",
        Derivation::SataSlots => "default of SATA: random reads gain from queue depth",
    }
}

/// Something that the run does not identify, and what would.
pub fn unidentified(what: Unidentified) -> String {
    match what {
        Unidentified::PathShare => {
            "Path latency: default; the link or the CPU limits small reads first.".into()
        }
        Unidentified::Units => {
            "Parallel units: estimated from throughput; no address pattern separated them (`parallelism`)."
                .into()
        }
        Unidentified::LinkBound => "Link: no limit found; no workload came near it.".into(),
        Unidentified::Stripe => "Stripe: unknown (`stripe_bytes`).".into(),
        Unidentified::Page => "Page size: unknown; reads of a few pages may deviate.".into(),
        Unidentified::Writes => "Writes: not measured, not modelled.".into(),
        Unidentified::Program => {
            "Program time: unknown (`flush_latency`); reads mixed with writes may deviate.".into()
        }
        Unidentified::BufferSize => {
            "Write buffer size: unknown; `iosonde run sustained-write TARGET` measures it.".into()
        }
        Unidentified::MoreServers => {
            "Parallel servers: perhaps more; throughput still rose at the deepest valid queue.".into()
        }
        Unidentified::Bandwidth(op) => format!(
            "Bandwidth of large {op}s: unknown, unlimited in the model; `iosonde run quick TARGET` measures it."
        ),
        Unidentified::DiskBandwidth => "Bandwidth: unknown; `iosonde run quick TARGET` measures it.".into(),
        Unidentified::Rotation => {
            "Rotation: unknown (`rotation_period`); 7,200 rpm is a default, and the seek depends on it."
                .into()
        }
        Unidentified::LongSeeks => "Seeks beyond the addressed part of the disk are extrapolated.".into(),
        Unidentified::Noise => "Noise, neighbours, heat and slow drift are not modelled.".into(),
    }
}

/// `4 KiB random reads, QD 32`, with the direction where the workload has two.
pub fn workload(one: &Compliance) -> String {
    let its = if one.spec.rw.is_mixed() { format!(": its {}s", one.op) } else { String::new() };
    format!("{}{its}", one.spec.describe())
}

/// Why the model misses a workload.
pub fn misfit(why: Misfit) -> String {
    match why {
        Misfit::Mix => "mixes of reads and writes are not fitted".into(),
        Misfit::BufferSize => "the write buffer size is a default".into(),
        Misfit::Program => "the program time is a default".into(),
        Misfit::Stripe => "the stripe is a default".into(),
        Misfit::Page { page_bytes } => format!("the page of {} is a default", units::size(page_bytes)),
        Misfit::DiskOrder => "the disk's order of requests is not fitted".into(),
        Misfit::WritesAsReads => "writes are modelled as reads".into(),
        Misfit::Structure => "no default explains it; the storage has another structure".into(),
    }
}

/// Why there is no model of a run.
pub fn nothing(why: &NoPortrait) -> String {
    let what = match why.lacks {
        FindingName::MaxIops => "the highest IOPS of small reads",
        _ => "the latency of small reads at QD 1",
    };
    match &why.inconclusive {
        Some(finding) => format!("{what} is unknown. {}", super::sentence(finding).trim_end_matches('.')),
        None => format!("{what} is unknown; `iosonde run quick TARGET` measures it"),
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::Estimate;

    use super::*;

    fn one(key: TraitKey, value: f64, sources: Vec<TraitSource>) -> Trait {
        let estimate = Estimate { value, low: None, high: None };
        Trait { key, estimate, sources, derivation: Derivation::BestFit }
    }

    #[test]
    fn a_model_names_what_was_fitted_and_which_parameters_are_defaults() {
        let points = || vec![TraitSource::Points];
        let portrait = Portrait {
            build: Build::Units,
            traits: vec![
                one(TraitKey::FlashUnits, 6.0, points()),
                one(TraitKey::FlashRead, 65e3, points()),
                one(TraitKey::FlashStripe, 16384.0, Vec::new()),
                one(TraitKey::BufferSize, 1e6, Vec::new()),
            ],
            unidentified: Vec::new(),
            capacity_bytes: 1 << 30,
        };
        assert_eq!(
            sentence(&portrait),
            "Fitted model: flash, 6 parallel units, 65.0 µs page read. Stripe and write buffer are defaults (not \
             identified). The model reproduces the measured rates; the real structure may differ."
        );
    }

    #[test]
    fn a_missing_finding_is_named_with_the_command_that_measures_it() {
        let why = NoPortrait { lacks: FindingName::BaseLatency, inconclusive: None };
        assert_eq!(
            nothing(&why),
            "the latency of small reads at QD 1 is unknown; `iosonde run quick TARGET` measures it"
        );
    }
}
