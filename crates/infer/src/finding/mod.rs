//! Findings: what can be concluded from an experiment's points, one file each.

mod best;
mod cached;
pub(crate) mod closed_loop;
mod durable;
pub mod effect;
pub mod group;
mod hockney;
mod layout;
mod limit;
mod long_write;
pub mod over_trials;
mod plateau;
mod platter;
mod pooled;

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    About, Conditions, ExperimentName, Finding, FindingName, Named, Unit, detail::Lack, registry,
};

use iosonde_judge::check::Symptom;

pub mod lookup;

registry! {
    /// Every finding.
    pub FINDINGS: FindingKind "finding" {
        device_bandwidth::DeviceBandwidth,
        host_saturation::HostSaturation,
        max_iops::MaxIops,
        base_latency::BaseLatency,
        per_request_cost::PerRequestCost,
        half_size::HalfSize,
        network_round_trip::NetworkRoundTrip,
        plateau_block_size::PlateauBlockSize,
        queue_depth_knee::QueueDepthKnee,
        depth_for_95_percent::DepthFor95Percent,
        effective_depth::EffectiveDepth,
        random_vs_sequential::RandomVsSequential,
        iops_at_latency::IopsAtLatency,
        mix_interference::MixInterference,
        stride_effect::StrideEffect,
        alignment_effect::AlignmentEffect,
        jobs_effect::JobsEffect,
        shape::Shape,
        crossover::Crossover,
        cache_bytes::CacheBytes,
        cache_latency::CacheLatency,
        readahead_bytes::ReadaheadBytes,
        burst_rate::BurstRate,
        sustained_rate::SustainedRate,
        write_buffer_bytes::WriteBufferBytes,
        buffer_drain_rate::BufferDrainRate,
        constant_limit::ConstantLimit,
        throttle_rate::ThrottleRate,
        burst_credit_bytes::BurstCreditBytes,
        flush_latency::FlushLatency,
        log_writes_per_s::LogWritesPerS,
        commit_latency::CommitLatency,
        fastest_sync::FastestSync,
        accelerators_fed::AcceleratorsFed,
        checkpoint_time::CheckpointTime,
        processor_share::ProcessorShare,
        program_plateau::ProgramPlateau,
        drift::Drift,
        order_effect::OrderEffect,
        parallelism::Parallelism,
        stripe_bytes::StripeBytes,
        mapping_unit_bytes::MappingUnitBytes,
        rotation_period::RotationPeriod,
        seek_time_average::SeekTimeAverage,
        zone_ratio::ZoneRatio,
    }
}

pub(crate) use network_round_trip::beside_the_link;
#[cfg(test)]
use {
    depth_for_95_percent::DepthFor95Percent, device_bandwidth::DeviceBandwidth, half_size::HalfSize,
    max_iops::MaxIops, per_request_cost::PerRequestCost, plateau_block_size::PlateauBlockSize,
    queue_depth_knee::QueueDepthKnee,
};

/// In the place of an experiment's name, for findings about the run as a whole.
pub const RUN: &str = "run";

/// A registered finding. Pure: it works on a file a year later.
pub trait FindingKind: Sync {
    /// Name that people type and that the JSON contains.
    fn id(&self) -> FindingName;

    /// Concludes from the points of one experiment, at a confidence such as 0.95: one finding for each set of
    /// conditions that the points allow, refused ones included.
    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding>;

    /// Names of the experiments whose points can answer it; none for a finding about the run as a whole, which is
    /// concluded once from all points.
    fn answers(&self) -> &'static [ExperimentName];

    /// Whether it looks at every point of the run, and not only at those of the experiment that asks for it.
    fn looks_at_the_run(&self) -> bool {
        false
    }

    /// Whether it is about the run as a whole.
    fn of_the_run(&self) -> bool {
        self.answers().is_empty()
    }

    /// Figures of its trials that it is computed from, where its unit does not tell: a ratio of rates says nothing of
    /// latencies.
    fn computed_from(&self) -> Option<&'static [About]> {
        None
    }

    /// Place on a report's first screen. There are no other lists of that: a finding that was measured and
    /// answered is read.
    fn screen_line(&self) -> ScreenLine;

    /// Workloads that it needs, where an experiment that is made for it may lack them: then it is inconclusive instead
    /// of passed over. `None` for a finding that is only a by-product of its experiments.
    fn wants(&self) -> Option<Lack> {
        None
    }

    /// Symptom that is the answer itself where this was found, and no warning.
    fn explains(&self) -> Option<Symptom> {
        None
    }

    /// A simulated device and a study whose answer is known.
    fn proof(&self) -> Proof;

    /// Simulated hosts that run the study of its proof at the same time.
    fn proof_hosts(&self) -> u32 {
        1
    }
}

/// The findings that an experiment's points can answer, in the order of the registry.
pub fn answering(experiment: ExperimentName) -> impl Iterator<Item = &'static dyn FindingKind> {
    FINDINGS.iter().filter(move |kind| kind.answers().contains(&experiment))
}

/// The registered finding of a name.
pub fn kind(name: FindingName) -> &'static dyn FindingKind {
    FINDINGS.iter().find(|kind| kind.id() == name).expect("a test holds names and registry together")
}

impl Named for dyn FindingKind + '_ {
    fn name(&self) -> &'static str {
        self.id().as_str()
    }
}

/// Where a finding stands on a report's first screen; among its like in the order of the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScreenLine {
    /// The word before it: `knee`. Findings that share a word share its line, or stand below each other.
    pub label: &'static str,
    /// When it is read there.
    pub when: ReadWhen,
}

/// When a finding is read on a report's first screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadWhen {
    /// Whenever there is one.
    Always,
    /// The same, and those that are inconclusive as well: each answers a question of its own.
    Each,
    /// The same; a page that can be unfolded shows it behind the figures.
    Folded,
    /// Only where it was found: that nothing is there is the usual case.
    Found,
    /// Where its experiment has nothing else to say: it says in other words what others say, or qualifies them.
    Alone,
}

impl ScreenLine {
    const fn always(label: &'static str) -> Self {
        Self { label, when: ReadWhen::Always }
    }

    const fn each(label: &'static str) -> Self {
        Self { label, when: ReadWhen::Each }
    }

    const fn folded(label: &'static str) -> Self {
        Self { label, when: ReadWhen::Folded }
    }

    const fn found(label: &'static str) -> Self {
        Self { label, when: ReadWhen::Found }
    }

    const fn alone(label: &'static str) -> Self {
        Self { label, when: ReadWhen::Alone }
    }
}

/// Findings of a kind; one that is inconclusive where an experiment that is made for it lacks what it needs.
pub(crate) fn concluded(
    kind: &dyn FindingKind,
    experiment: &str,
    points: &[Evidence],
    confidence: f64,
) -> Vec<Finding> {
    let findings = kind.conclude(experiment, points, confidence);
    let Some(wants) = kind.wants().filter(|_| findings.is_empty()) else { return findings };
    // There is no value that would have a unit.
    let writer = group::Writer { name: kind.id(), experiment, unit: Unit::None, confidence };
    let all: Vec<&Evidence> = points.iter().collect();
    vec![writer.inconclusive(&Conditions::default(), &all, wants)]
}

/// A device whose truth is set, and what a finding must say of it.
#[derive(Debug, Clone)]
pub struct Proof {
    /// The simulated device, as TOML.
    pub device: &'static str,
    /// The study that is run on it, as TOML.
    pub study: &'static str,
    /// Truths that must lie in the findings' intervals, in the order in which `conclude` gives them: value
    /// and derivation (`4 servers / 80 us = 50,000 IOPS`). `None`: a finding of that order must be refused
    /// or absent.
    pub truths: &'static [(Option<f64>, &'static str)],
    /// Largest full width of an interval, as a share of the value: an interval that covers everything is no
    /// proof.
    pub widest: f64,
}

/// One disk and study that prove the findings about arm and platter; each adds its truths.
fn disk_proof() -> Proof {
    Proof {
        device: r#"
name = "disk"
summary = "a disk of 7,200 turns a minute"
capacity = "1TB"
[host]
request_cost = "4us"
[link]
bandwidth = "550MB/s"
latency = "20us"
[disk]
rpm = 7200
seek = { track = "0.6ms", average = "8.5ms" }
outer = "210MB/s"
inner = "105MB/s"
cache = "64MiB"
[noise]
latency_cv = 0.02
rate_cv_100ms = 0.02
lag1_100ms = 0.6
tail = { share = "0.1%", factor = 20 }
"#,
        study: r#"
name = "disk"
question = "What do arm and platter do?"
time = "24m"
size = "1TB"
[[experiment]]
kind = "disk"
"#,
        truths: &[],
        widest: 0.0,
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Detail, Device, Status, Study};
    use iosonde_plan::{experiment::EXPERIMENTS, points};

    use super::*;
    use crate::testing::{Conclusions, Pretend};

    #[test]
    fn every_finding_is_well_formed() {
        FINDINGS.assert_well_formed();
    }

    #[test]
    fn names_and_registry_hold_the_same_in_the_same_order() {
        assert_eq!(FINDINGS.iter().map(|kind| kind.id()).collect::<Vec<_>>(), FindingName::ALL);
    }

    /// The last part of docs/findings.md is made of the manual pages: IOSONDE_WRITE_DOCS=1 writes it.
    #[test]
    fn the_page_of_findings_holds_every_manual_page_and_every_picture() {
        const MARK: &str = "<!-- from here on: the manual pages, written by a test -->\n";
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let path = folder.join("findings.md");
        let page = std::fs::read_to_string(&path).expect("docs/findings.md is there");
        let (front, _) = page.split_once(MARK).expect("docs/findings.md has its mark");
        let one = |entry: &iosonde_model::Entry<dyn FindingKind>| {
            let (name, manual) = (entry.item.name(), entry.manual());
            let picture = folder.join("findings").join(format!("{name}.svg"));
            assert!(
                picture.exists(),
                "{name} has no picture: cargo run -p iosonde --example finding_pictures"
            );
            format!("\n### `{name}`\n\n{manual}\n\n![{name}](findings/{name}.svg)\n")
        };
        let expected = format!("{front}{MARK}{}", FINDINGS.entries().map(one).collect::<String>());
        if std::env::var_os("IOSONDE_WRITE_DOCS").is_some() {
            std::fs::write(path, &expected).expect("docs/findings.md can be written");
        } else {
            assert!(
                page == expected,
                "docs/findings.md is old: run this test once with IOSONDE_WRITE_DOCS=1"
            );
        }
    }

    #[test]
    fn every_finding_is_answered_by_experiments_that_exist() {
        for kind in FINDINGS.iter() {
            for name in kind.answers() {
                assert!(EXPERIMENTS.find(name.as_str()).is_ok(), "{} is answered by no {name}", kind.name());
            }
        }
    }

    #[test]
    fn every_proof_can_be_planned_and_says_as_many_truths_as_there_are_findings() {
        for kind in FINDINGS.iter() {
            let proof = kind.proof();
            assert!(
                ["[queue]", "[flash]", "[disk]"].iter().any(|medium| proof.device.contains(medium))
                    && proof.widest > 0.0,
                "{}",
                kind.name()
            );
            let study = Study::parse(proof.study, kind.name()).unwrap();
            let device = Device {
                engine: "sim".into(),
                direct: true,
                hosts: Some(kind.proof_hosts()),
                ..Device::unknown("simulated", 1 << 30)
            };
            let plan = points::plan(&study, &device).unwrap();
            assert!(plan.left_out.is_empty(), "{}: {:?}", kind.name(), plan.left_out);
            let found = &Pretend { device, ..Pretend::usual() }.conclusions(kind, proof.study, 1)[0];
            let count = if UNASKED.contains(&kind.id()) { 0 } else { proof.truths.len() };
            assert_eq!(found.len(), count, "{}: {found:?}", kind.name());
        }
    }

    /// Changes the points that a finding was made for.
    fn broken(evidence: &mut Vec<Evidence>, case: &str) {
        use iosonde_model::About;
        match case {
            "nothing" => evidence.clear(),
            "one point" => evidence.truncate(1),
            "a single depth" => evidence.retain(|e| e.point.spec.queue_depth == 1),
            "all void" => evidence.iter_mut().for_each(|e| e.void.fill(Some(About::All))),
            "no trials" => evidence.iter_mut().for_each(|e| {
                (e.trials, e.void, e.read, e.write) = (Vec::new(), Vec::new(), None, None);
            }),
            "two trials" => evidence.iter_mut().for_each(|e| {
                e.trials.truncate(2);
                e.void.truncate(2);
            }),
            "no time" | "no numbers" => evidence.iter_mut().for_each(|e| {
                let rate = if case == "no time" { f64::INFINITY } else { f64::NAN };
                let spoiled = |trial: &&iosonde_model::Trial| {
                    let mut trial = (*trial).clone();
                    (trial.measured_s, trial.elapsed_s) = (0.0, 0.0);
                    trial.windows.iter_mut().for_each(|window| window.length_s = 0.0);
                    for direction in [&mut trial.read, &mut trial.write].into_iter().flatten() {
                        (direction.iops, direction.bytes_per_s) = (rate, rate);
                    }
                    &*Box::leak(Box::new(trial))
                };
                e.trials = e.trials.iter().map(spoiled).collect();
                for direction in [&mut e.read, &mut e.write].into_iter().flatten() {
                    (direction.iops.log_mean, direction.latency_ns_mean.log_mean) = (rate, -rate);
                }
            }),
            other => panic!("{other}"),
        }
    }

    /// Facts of a finding that contradict each other or the points that it was concluded from.
    fn contradictions(finding: &Finding, points: &[Evidence]) -> Vec<&'static str> {
        let ends = [finding.low, finding.value, finding.high];
        let known: Vec<f64> = ends.into_iter().flatten().collect();
        // Whatever a variant holds: a figure that is no number stands as NaN or inf in its debug text.
        let facts = format!("{:?} {:?}", finding.detail, finding.notes);
        let mut words = facts.split(|letter: char| !letter.is_alphanumeric());
        let ids: Vec<u64> = points.iter().flat_map(|one| &one.trials).map(|trial| trial.id).collect();
        let size = finding.conditions.block_size_bytes;
        let (found, open) =
            (finding.status == Status::Found, matches!(finding.detail, Detail::Inconclusive(_)));
        let rules = [
            (open == (finding.status == Status::Inconclusive), "inconclusive with a reason, and only then"),
            (known.len() == if found { 3 } else { 0 }, "a value with both ends where it is found, else none"),
            (known.iter().all(|end| end.is_finite()), "ends that are numbers"),
            (known.is_sorted(), "the value between its ends"),
            (words.all(|word| word != "NaN" && word != "inf"), "facts that are numbers"),
            (finding.trials.iter().all(|id| ids.contains(id)), "trials of its points"),
            (!found || !finding.trials.is_empty(), "a value rests on trials"),
            (finding.trials.is_sorted(), "trials in order"),
            (
                size.is_none_or(|size| points.iter().any(|one| one.point.spec.block_size_bytes == size)),
                "a block size of its points",
            ),
        ];
        rules.into_iter().filter(|(holds, _)| !holds).map(|(_, rule)| rule).collect()
    }

    /// Findings that a pretended storage cannot show: it is no network, and its trials come in no order.
    const UNASKED: [FindingName; 2] = [FindingName::NetworkRoundTrip, FindingName::OrderEffect];

    #[test]
    fn what_nothing_can_be_concluded_from_is_inconclusive() {
        // What is looked for beside something else is passed over where its points are not there.
        const LACKING: [&str; 3] = ["nothing", "one point", "a single depth"];
        const CASES: [&str; 5] = ["all void", "no trials", "two trials", "no time", "no numbers"];
        let cases = || LACKING.into_iter().chain(CASES);
        for (kind, case) in FINDINGS.iter().flat_map(|kind| cases().map(move |case| (kind, case))) {
            let study = Study::parse(kind.proof().study, kind.name()).unwrap();
            let pretend = Pretend::on_hosts(kind.proof_hosts());
            let points = points::plan(&study, &pretend.device).unwrap().points;
            let mut evidence = pretend.evidence(&points, 1);
            broken(&mut evidence, case);
            let told = format!("{} of {case}", kind.name());
            let findings = concluded(kind, "x", &evidence, 0.95);
            let lacks = LACKING.contains(&case);
            let beside = UNASKED.contains(&kind.id()) || kind.wants().is_none() && lacks;
            assert!(beside || !findings.is_empty(), "{told}: no finding");
            for finding in findings {
                assert_eq!(contradictions(&finding, &evidence), [""; 0], "{told}: {finding:?}");
                // Two are about what memory served as well, which is void elsewhere.
                let of_program = [FindingName::ProcessorShare, FindingName::ProgramPlateau];
                let own = of_program.contains(&kind.id()) && case == "all void";
                assert!(own || lacks || finding.status == Status::Inconclusive, "{told}: {finding:?}");
            }
        }
    }

    #[test]
    fn what_a_finding_says_of_a_known_storage_agrees_with_itself() {
        let mut found = Vec::new();
        for kind in FINDINGS.iter() {
            let study = Study::parse(kind.proof().study, kind.name()).unwrap();
            let pretend = Pretend::on_hosts(kind.proof_hosts());
            let points = points::plan(&study, &pretend.device).unwrap().points;
            let evidence = pretend.evidence(&points, 1);
            let findings = kind.conclude("x", &evidence, 0.95);
            for finding in &findings {
                assert_eq!(contradictions(finding, &evidence), [""; 0], "{}: {finding:?}", kind.name());
                let own = (finding.name, finding.experiment.as_str(), finding.confidence);
                assert_eq!(own, (kind.id(), "x", 0.95));
            }
            if findings.iter().any(|finding| finding.status == Status::Found) {
                found.push(kind.id());
            }
        }
        // What the law is made of. It has no caches, buffers, limits or platters: simulated devices prove these.
        let law = [
            FindingName::DeviceBandwidth,
            FindingName::MaxIops,
            FindingName::BaseLatency,
            FindingName::PerRequestCost,
            FindingName::HalfSize,
            FindingName::PlateauBlockSize,
            FindingName::QueueDepthKnee,
            FindingName::DepthFor95Percent,
            FindingName::EffectiveDepth,
            FindingName::RandomVsSequential,
            FindingName::IopsAtLatency,
        ];
        assert!(law.iter().all(|name| found.contains(name)), "{found:?}");
    }
}
