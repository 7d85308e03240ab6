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
mod platter;
mod pooled;

use iosonde_judge::evidence::Evidence;
use iosonde_model::ExperimentName;
use iosonde_model::FindingName;
use iosonde_model::detail::Lack;
use iosonde_model::{Conditions, Finding, Named, registry};

use crate::words::Unit;
use iosonde_judge::check::Symptom;

pub mod lookup;

registry! {
    /// Every finding.
    pub FINDINGS: FindingKind "finding" {
        device_bandwidth::DeviceBandwidth,
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
        throttle_rate::ThrottleRate,
        burst_credit_bytes::BurstCreditBytes,
        flush_latency::FlushLatency,
        log_writes_per_s::LogWritesPerS,
        processor_share::ProcessorShare,
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
pub use random_vs_sequential::RandomVsSequential;
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
    /// Name that people type and that stands in the JSON.
    fn id(&self) -> FindingName;

    /// Concludes from the points of one experiment, at a confidence such as 0.95: one finding for each set of
    /// conditions that the points allow, refused ones included.
    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding>;

    /// Names of the experiments whose points can answer it; none for a finding about the run as a whole, which is
    /// concluded once from all points.
    fn answers(&self) -> &'static [ExperimentName];

    /// Whether it is about the run as a whole.
    fn of_the_run(&self) -> bool {
        self.answers().is_empty()
    }

    /// Where it stands on a report's first screen. There are no other lists of that: a finding that is asked for and
    /// answered is read.
    fn told(&self) -> Told;

    /// Workloads that it needs, where an experiment that is made for it may lack them: then it is inconclusive instead
    /// of passed over. `None` for a finding that is only a by-product of its experiments.
    fn wants(&self) -> Option<Lack> {
        None
    }

    /// Symptom that is the answer itself where this was found, and no doubt about it.
    fn explains(&self) -> Option<Symptom> {
        None
    }

    /// A simulated device and a study whose answer is known.
    fn proof(&self) -> Proof;
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
pub struct Told {
    /// The word before it: `knee`. Findings that share a word share its line, or stand below each other.
    pub label: &'static str,
    /// When it is read there.
    pub when: When,
}

/// When a finding is read on a report's first screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Whenever there is one.
    Always,
    /// The same; a page that can be unfolded shows it behind the figures.
    Folded,
    /// Where its experiment has nothing else to say: it says in other words what others say, or qualifies them.
    Alone,
}

impl Told {
    const fn always(label: &'static str) -> Self {
        Self { label, when: When::Always }
    }

    const fn folded(label: &'static str) -> Self {
        Self { label, when: When::Folded }
    }

    const fn alone(label: &'static str) -> Self {
        Self { label, when: When::Alone }
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
    use iosonde_plan::{experiment::EXPERIMENTS, plan};

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
            let device =
                Device { engine: "sim".into(), direct: true, ..Device::unknown("simulated", 1 << 30) };
            let plan = plan::points(&study, &device).unwrap();
            assert!(plan.left_out.is_empty(), "{}: {:?}", kind.name(), plan.left_out);
            let found = &Pretend { device, ..Pretend::usual() }.conclusions(kind, proof.study, 1)[0];
            // A pretended storage is no network, and its trials come in no order.
            let unasked = [FindingName::NetworkRoundTrip, FindingName::OrderEffect].contains(&kind.id());
            let count = if unasked { 0 } else { proof.truths.len() };
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

    /// What nothing can be concluded from.
    #[test]
    fn bad_input_is_refused_in_words() {
        const LACKING: [&str; 3] = ["nothing", "one point", "a single depth"];
        let cases = [
            LACKING[0],
            LACKING[1],
            LACKING[2],
            "all void",
            "no trials",
            "two trials",
            "no time",
            "no numbers",
        ];
        for (kind, case) in FINDINGS.iter().flat_map(|kind| cases.map(|case| (kind, case))) {
            let study = Study::parse(kind.proof().study, kind.name()).unwrap();
            let pretend = Pretend::usual();
            let points = plan::points(&study, &pretend.device).unwrap().points;
            let mut evidence = pretend.evidence(&points, 1);
            broken(&mut evidence, case);
            let told = format!("{} of {case}", kind.name());
            let findings = concluded(kind, "x", &evidence, 0.95);
            // What is looked for beside something else is passed over where its points are not there.
            // And a pretended storage is no network, and its trials come in no order.
            let unasked = [FindingName::NetworkRoundTrip, FindingName::OrderEffect].contains(&kind.id());
            let beside = unasked || kind.wants().is_none() && LACKING.contains(&case);
            assert!(beside || !findings.is_empty(), "{told}: not a word");
            for finding in findings {
                let (name, sentence) = (&finding.name, finding.sentence());
                if matches!(finding.detail, Detail::Said { .. }) {
                    assert!(
                        sentence.ends_with('.') && !sentence.contains("NaN") && !sentence.contains("inf"),
                        "{told}: {sentence}"
                    );
                    assert!(finding.status != Status::Inconclusive || finding.why().is_some(), "{told}");
                } else {
                    let why = matches!(finding.detail, Detail::Inconclusive(_));
                    assert_eq!(why, finding.status == Status::Inconclusive, "{told}: {finding:?}");
                }
                let whole =
                    [finding.value, finding.low, finding.high].iter().flatten().all(|end| end.is_finite());
                assert!(whole, "{told}: {finding:?}");
                // The processor's share is about what memory served as well, which is void elsewhere.
                let own = kind.id() == FindingName::ProcessorShare && case == "all void";
                let may = own || LACKING.contains(&case);
                assert!(may || finding.status == Status::Inconclusive, "{told} ({name}): {sentence}");
            }
        }
    }

    #[test]
    fn a_finding_has_an_interval_around_its_value_and_words_for_it() {
        for kind in FINDINGS.iter() {
            let findings = &Pretend::usual().conclusions(kind, kind.proof().study, 1)[0];
            // The law has no caches, buffers or flushes: findings about these are proved on simulated devices.
            for finding in findings.iter().filter(|finding| finding.status == Status::Found) {
                let (low, value, high) = (finding.low, finding.value, finding.high);
                assert!(low <= value && value <= high && low.is_some(), "{}: {finding:?}", kind.name());
                if !matches!(finding.detail, Detail::Said { .. }) {
                    assert!(!matches!(finding.detail, Detail::Inconclusive(_)), "{finding:?}");
                    continue;
                }
                let sentence = finding.sentence();
                assert!(
                    sentence.contains('[') && sentence.ends_with('.') && !sentence.contains("{}"),
                    "{sentence}"
                );
                assert!(
                    sentence.starts_with(|first: char| first.is_uppercase() || first.is_numeric()),
                    "{sentence}"
                );
                assert!(finding.why().is_some_and(|why| why.ends_with('.')), "{:?}", finding.why());
            }
        }
    }
}
