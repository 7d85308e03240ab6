//! Why trials are invalid in a few words, where they are only counted.

use iosonde_model::{
    CheckName, Judgement,
    cause::{Cause, GeneratorBound, HostsApart, Interference},
};

/// `the rate was not steady`.
pub(in crate::text) fn brief(judgement: &Judgement) -> &'static str {
    match judgement.check {
        CheckName::Errors => "requests failed",
        CheckName::Corrupted => "what was read was not what was written",
        CheckName::Units => "units do not agree",
        CheckName::CacheServed | CheckName::WorkingSet => "a cache answered",
        CheckName::DirectIgnored => "direct I/O was ignored",
        CheckName::Unmapped => "nothing was written there before",
        CheckName::WriteBack => "writes stayed in memory",
        CheckName::EarlyFlush => "a flush came back too early",
        CheckName::AboveTheLimit => "faster than the device can be",
        CheckName::Clock => "the clock jumped",
        CheckName::HostsApart => match judgement.cause.as_ref().map(Cause::itself) {
            Some(Cause::HostsApart(HostsApart::FewTurns { .. })) => {
                "they were too short for the queue of all hosts"
            }
            _ => "hosts were not in step",
        },
        CheckName::Compressible => "data could be compressed",
        CheckName::DepthNotReached | CheckName::LittlesLaw => "the queue depth was not reached",
        CheckName::GeneratorBound => match judgement.cause.as_ref().map(Cause::itself) {
            Some(Cause::GeneratorBound(GeneratorBound::Preempted { .. })) => "other programs used the CPU",
            Some(Cause::GeneratorBound(
                GeneratorBound::Saturated(busy) | GeneratorBound::Near { busy, .. },
            )) if busy.of_another => "the program was CPU-bound",
            _ => "iosonde was CPU-bound",
        },
        CheckName::Saturated => "the requested rate was too high",
        CheckName::TooFewSamples => "too few requests",
        CheckName::MissedRate => "the requested rate was missed",
        CheckName::Outliers => "outliers",
        CheckName::NotSteady => "the rate was not steady",
        CheckName::Drift => "the rate drifted",
        CheckName::Interference => interference(judgement),
        CheckName::Throttled => "the device throttled itself",
        CheckName::Multimodal => "several latency groups",
        CheckName::OddHost => "one host was unlike the others",
        CheckName::HostSlowed => "one host was slow at times",
    }
}

/// What took the device or the processors.
fn interference(judgement: &Judgement) -> &'static str {
    match judgement.cause.as_ref().map(Cause::itself) {
        Some(Cause::Interference(Interference::Steal { .. })) => "the hypervisor took CPU time",
        Some(Cause::Interference(cause @ Interference::CpuPressure { .. })) => {
            match cause.mostly_own_cpu_share().is_some() {
                true => "iosonde's own threads waited for the CPU",
                false => "other programs used the CPU",
            }
        }
        Some(Cause::Interference(Interference::MemoryShort)) => "memory was short",
        Some(Cause::Interference(Interference::Stalls { .. })) => "slow periods",
        Some(Cause::Interference(Interference::Retransmissions { .. })) => "the network lost requests",
        _ => "other processes used the device",
    }
}
