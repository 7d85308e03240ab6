//! The findings that a fitted model uses, by name.

use std::collections::BTreeSet;

use iosonde_judge::validity::{Invalidity, TrialStanding};
use iosonde_model::{
    About, CheckName, Derivation, Estimate, Finding, FindingName, Op, Point, Run, Rw, Status, Sync, Trait,
    TraitKey, TraitSource, Trial, TrialSpec,
};
use iosonde_stats::normal;

/// A mean that is no better known than this goes by the trials that were not disturbed.
const WIDE: f64 = 0.1;

/// The relative error of what the undisturbed trials of a point say: some of them were disturbed a little.
const UNDISTURBED: f64 = 0.05;

/// A rate of reads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Read {
    pub(super) random: bool,
    pub(super) bytes: f64,
    pub(super) in_flight: f64,
    pub(super) per_ns: f64,
    /// The standard error of its logarithm.
    pub(super) error: f64,
}

/// The rates of plain reads that a run has, and what the program does for each.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reads {
    pub(super) all: Vec<Read>,
    /// 0 where it was not counted: it is then part of the way.
    pub(super) host_ns: f64,
}

/// Whether a workload is reads of one size over the whole span, as fast as one stream gets them.
pub(super) fn is_plain_read(spec: &TrialSpec) -> bool {
    matches!(spec.rw, Rw::Read | Rw::RandRead)
        && spec.direct
        && spec.and.is_empty()
        && spec.rate_iops.is_none()
        && spec.stride_bytes.is_none()
        && spec.jobs == 1
}

/// A finding that was found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fact<'a> {
    pub(super) finding: &'a Finding,
    /// What its points say in the median, where the finding's mean is too uncertain to build on.
    instead: Option<f64>,
}

impl Fact<'_> {
    pub(super) fn value(&self) -> f64 {
        // What was found has a value.
        self.instead.or(self.finding.value).unwrap_or(f64::NAN)
    }

    pub(super) fn block_bytes(&self) -> f64 {
        self.finding.conditions.block_size_bytes.unwrap_or(4096) as f64
    }

    pub(super) fn span_bytes(&self) -> Option<f64> {
        self.finding.conditions.span_bytes.map(|bytes| bytes as f64)
    }

    /// Whether more than this may be there.
    pub(super) fn is_a_bound(&self) -> bool {
        self.finding.at_least
    }

    fn relative_half_width(&self) -> f64 {
        match (self.finding.low, self.finding.high) {
            (Some(low), Some(high)) => (high - low) / 2.0 / self.value().abs(),
            _ => 0.0,
        }
    }
}

/// What a run found.
pub(super) struct Facts<'a> {
    run: &'a Run,
    /// Trials whose rates say nothing of storage and program.
    void: BTreeSet<u64>,
    /// And those that the program bounds: they say nothing where the program is not drawn.
    bound: BTreeSet<u64>,
}

/// Trials that a verdict of these checks keeps from telling of the storage's rates.
fn void(standing: &TrialStanding, counts: impl Fn(CheckName) -> bool) -> BTreeSet<u64> {
    let of_rates = |one: Invalidity| one.touches(About::Device) || one.touches(About::Rate);
    standing.invalid(|one| of_rates(one) && counts(one.check)).collect()
}

impl<'a> Facts<'a> {
    pub(super) fn of(run: &'a Run) -> Self {
        let standing = TrialStanding::of(run);
        let void_by_others = void(&standing, |check| check != CheckName::GeneratorBound);
        Self { run, void: void_by_others, bound: void(&standing, |_| true) }
    }

    /// The trials of a point whose rates stand.
    fn standing(&self, point: &Point) -> impl Iterator<Item = &'a Trial> + '_ {
        let run = self.run;
        let ids = point.trial_ids.clone();
        run.trials.iter().filter(move |trial| ids.contains(&trial.id) && !self.void.contains(&trial.id))
    }

    /// Whether a point's own estimate, in which invalid trials may be, is usable: most of its trials are valid.
    fn stands(&self, point: &Point) -> bool {
        2 * self.standing(point).count() > point.trial_ids.len()
    }

    /// A finding that was concluded without a value.
    pub(super) fn inconclusive(&self, name: FindingName, op: Op) -> Option<&'a Finding> {
        self.run.findings.iter().find(|finding| {
            finding.name == name
                && finding.conditions.op == Some(op)
                && finding.status == Status::Inconclusive
        })
    }

    fn found(&self, name: FindingName) -> std::vec::IntoIter<Fact<'a>> {
        let is = move |finding: &&Finding| {
            finding.name == name
                && finding.status == Status::Found
                && finding.value.is_some_and(|value| value.is_finite() && value > 0.0)
                // An interval over decades says nothing to build on.
                && !Estimate { value: 0.0, low: finding.low, high: finding.high }.is_vague()
        };
        self.run
            .findings
            .iter()
            .filter(is)
            .map(|finding| Fact { finding, instead: None })
            .collect::<Vec<_>>()
            .into_iter()
    }

    pub(super) fn any(&self, name: FindingName) -> Option<Fact<'a>> {
        self.found(name).next()
    }

    /// Whether the run looked for it and says that there is no such thing.
    pub(super) fn says_none(&self, name: FindingName) -> bool {
        self.run.findings.iter().any(|finding| finding.name == name && finding.status == Status::Absent)
    }

    pub(super) fn of_op(&self, name: FindingName, op: Op) -> Option<Fact<'a>> {
        self.found(name).find(|fact| fact.finding.conditions.op == Some(op))
    }

    /// Finding of the smallest requests; random ones before others.
    fn smallest(&self, name: FindingName, op: Op) -> Option<Fact<'a>> {
        let of_op = self.found(name).filter(|fact| fact.finding.conditions.op == Some(op));
        of_op.min_by_key(|fact| {
            let conditions = &fact.finding.conditions;
            (conditions.block_size_bytes.unwrap_or(u64::MAX), conditions.random == Some(false))
        })
    }

    /// How long the smallest request takes alone: the least of what several experiments found, since what was written
    /// before makes it longer and nothing makes it shorter. Where all of them are too uncertain, it goes by the trials
    /// that were not disturbed.
    pub(super) fn alone(&self, op: Op) -> Option<Fact<'a>> {
        let least = self.smallest(FindingName::BaseLatency, op).and_then(|smallest| {
            let like = |fact: &Fact| {
                fact.finding.conditions.op == Some(op) && fact.block_bytes() == smallest.block_bytes()
            };
            self.found(FindingName::BaseLatency).filter(like).min_by(|a, b| a.value().total_cmp(&b.value()))
        });
        let certain = least.is_some_and(|least| least.relative_half_width() <= WIDE);
        if certain { least } else { self.undisturbed_alone(op).or(least) }
    }

    fn undisturbed_alone(&self, op: Op) -> Option<Fact<'a>> {
        let rw = if op == Op::Read { Rw::RandRead } else { Rw::RandWrite };
        let single = |point: &&Point| {
            let spec = &point.spec;
            let plain = spec.direct && spec.rate_iops.is_none() && spec.sync == Sync::None;
            spec.rw == rw && spec.asked_in_flight() == 1 && plain
        };
        let points = self.run.points.iter().filter(single);
        let smallest = points.min_by_key(|point| point.spec.block_size_bytes)?;
        let about = |finding: &&Finding| {
            let conditions = &finding.conditions;
            finding.name == FindingName::BaseLatency
                && conditions.op == Some(op)
                && conditions.block_size_bytes == Some(smallest.spec.block_size_bytes)
        };
        let finding = self.run.findings.iter().find(about)?;
        Some(Fact { finding, instead: Some(1e9 / self.undisturbed(smallest, op)?) })
    }

    /// The rate of a point's trials that met nothing of what was written before, which makes them slower and never
    /// faster: the upper quartile.
    fn undisturbed(&self, point: &Point, op: Op) -> Option<f64> {
        let rates = self.standing(point).filter_map(|trial| Some(trial.direction(op)?.iops));
        let mut rates: Vec<f64> = rates.filter(|rate| *rate > 0.0).collect();
        rates.sort_by(f64::total_cmp);
        rates.get(3 * rates.len() / 4).copied()
    }

    /// The highest throughput of the smallest requests, where one stream measured them.
    /// Where that is too uncertain, reads go by the fastest of their points.
    pub(super) fn most(&self, op: Op) -> Option<Fact<'a>> {
        let Some(smallest) = self.smallest(FindingName::MaxIops, op).map(|fact| fact.block_bytes()) else {
            let about = |finding: &&Finding| {
                finding.name == FindingName::MaxIops && finding.conditions.op == Some(op)
            };
            let finding = self.run.findings.iter().find(about).filter(|_| op == Op::Read)?;
            let rates = self.depths(&Fact { finding, instead: None });
            let most = rates.into_iter().map(|(_, rate)| rate).max_by(f64::total_cmp)?;
            return Some(Fact { finding, instead: Some(most) });
        };
        let like = |fact: &Fact| fact.finding.conditions.op == Some(op) && fact.block_bytes() == smallest;
        // Of several experiments that asked, the one that got most went deepest.
        self.found(FindingName::MaxIops).filter(like).max_by(|a, b| a.value().total_cmp(&b.value()))
    }

    /// The limit of large random requests at QD 1 (half size over the cost per request), with the findings
    /// behind it, where it lies below sequential throughput: bytes then pass the medium and the link one after
    /// the other.
    pub(super) fn one_at_a_time(&self, op: Op) -> Option<(f64, [Fact<'a>; 2])> {
        let (cost, half) =
            (self.of_op(FindingName::PerRequestCost, op)?, self.of_op(FindingName::HalfSize, op)?);
        Some((half.value() * 1e9 / cost.value(), [cost, half]))
    }

    /// Depth for 95 % of the throughput over the saturation point, at the lowest value that their intervals allow.
    pub(super) fn lines_ratio(&self) -> Option<f64> {
        let depth = self.smallest(FindingName::DepthFor95Percent, Op::Read)?;
        let knee = self.found(FindingName::QueueDepthKnee).find(|knee| {
            knee.finding.conditions.op == Some(Op::Read) && knee.block_bytes() == depth.block_bytes()
        })?;
        Some(depth.finding.low? / knee.finding.high?)
    }

    /// The deepest that a finding's trials went.
    pub(super) fn deepest(&self, fact: &Fact) -> Option<f64> {
        let trials = self.run.trials.iter().filter(|trial| fact.finding.trials.contains(&trial.id));
        trials.map(|trial| trial.spec.asked_in_flight()).max().map(|depth| depth as f64)
    }

    /// Random reads of the size of a finding: queue depths with their IOPS.
    pub(super) fn depths(&self, like: &Fact) -> Vec<(f64, f64)> {
        let bytes = like.block_bytes() as u64;
        let of_size = |point: &&Point| {
            let spec = &point.spec;
            spec.rw == Rw::RandRead
                && spec.block_size_bytes == bytes
                && spec.direct
                && spec.and.is_empty()
                && spec.rate_iops.is_none()
        };
        let rate = |point: &Point| {
            let iops = point.direction(Op::Read)?.iops;
            let bound = point.trial_ids.iter().filter(|id| self.bound.contains(id)).count();
            let told = 2 * bound < point.trial_ids.len() && !iops.is_vague();
            told.then_some((point.spec.asked_in_flight() as f64, iops.value))
        };
        self.run.points.iter().filter(of_size).filter_map(rate).collect()
    }

    /// The rates of plain reads.
    pub(super) fn reads(&self) -> Reads {
        let read = |point: &Point| {
            let (spec, iops) = (&point.spec, point.direction(Op::Read)?.iops);
            let wide = 2.0 * normal(self.run.info.confidence);
            let error = iops.low.zip(iops.high).map(|(low, high)| (high / low).ln() / wide);
            let known = error.filter(|error| self.stands(point) && *error <= WIDE / 2.0);
            let told = known.map(|error| (iops.value, error));
            let (rate, error) = match told {
                Some(told) => told,
                None => (self.undisturbed(point, Op::Read)?, UNDISTURBED),
            };
            (rate > 0.0 && rate.is_finite()).then(|| Read {
                random: spec.rw.is_random(),
                bytes: spec.block_size_bytes as f64,
                in_flight: spec.asked_in_flight() as f64,
                per_ns: rate / 1e9,
                error,
            })
        };
        let plain = self.run.points.iter().filter(|point| is_plain_read(&point.spec));
        let all: Vec<Read> = plain.filter_map(read).collect();
        let least = all.iter().map(|read| read.bytes).fold(f64::INFINITY, f64::min);
        Reads { host_ns: self.program_ns(least).unwrap_or(0.0), all }
    }

    /// What the program does for each small read, where its time was counted: the least of all trials.
    fn program_ns(&self, bytes: f64) -> Option<f64> {
        let counted = |trial: &Trial| {
            let spec = &trial.spec;
            let small = is_plain_read(spec) && spec.block_size_bytes as f64 == bytes;
            let rate = trial.direction(Op::Read)?.iops;
            (small && rate > 0.0).then_some(trial.busy_share? * 1e9 / rate)
        };
        let standing = self.run.trials.iter().filter(|trial| !self.void.contains(&trial.id));
        standing.filter_map(counted).reduce(f64::min).filter(|ns| *ns > 0.0)
    }

    /// The depth of which a finding says that it gives 95 % of the rate, for the requests of another.
    pub(super) fn depth_for_95(&self, like: &Fact) -> Option<Fact<'a>> {
        self.found(FindingName::DepthFor95Percent).find(|depth| {
            depth.finding.conditions.op == like.finding.conditions.op
                && depth.block_bytes() == like.block_bytes()
        })
    }

    /// What the system knows of the medium.
    pub(super) fn rotates(&self) -> Option<bool> {
        self.run.info.device.rotates()
    }

    /// Its size, or at least what was addressed.
    pub(super) fn capacity_bytes(&self) -> f64 {
        let device = &self.run.info.device;
        let addressed =
            self.run.trials.iter().map(|trial| trial.spec.offset_bytes + trial.spec.span_bytes).max();
        device.size_bytes.unwrap_or(0).max(addressed.unwrap_or(0)).max(device.working_set_bytes).max(1 << 20)
            as f64
    }
}

/// A parameter that is to be set.
#[derive(Clone, Copy)]
pub(super) struct Setting(pub(super) TraitKey);

impl Setting {
    /// Worked out from findings: their relative widths add up as squares do, as for a product.
    pub(super) fn from(self, value: f64, facts: &[Fact], derivation: Derivation) -> Trait {
        let estimated = facts.iter().all(|fact| fact.instead.is_none());
        let width = facts.iter().map(|fact| fact.relative_half_width().powi(2)).sum::<f64>().sqrt();
        let mut sources: Vec<_> = facts.iter().map(|fact| TraitSource::Finding(fact.finding.name)).collect();
        sources.dedup();
        let estimate = Estimate {
            value,
            low: estimated.then_some(value * (1.0 - width).max(0.0)),
            high: estimated.then_some(value * (1.0 + width)),
        };
        Trait { key: self.0, estimate, sources, derivation }
    }

    /// Chosen from few candidates by findings: no interval says how far off it may be.
    pub(super) fn chosen(self, value: f64, facts: &[Fact], derivation: Derivation) -> Trait {
        let mut chosen = self.from(value, facts, derivation);
        (chosen.estimate.low, chosen.estimate.high) = (None, None);
        chosen
    }

    /// A finding's own value.
    pub(super) fn is(self, fact: &Fact, derivation: Derivation) -> Trait {
        let finding = fact.finding;
        let estimate = Estimate { value: fact.value(), low: finding.low, high: finding.high };
        Trait { key: self.0, estimate, sources: vec![TraitSource::Finding(finding.name)], derivation }
    }

    /// What the run's points tell, though no finding says it.
    pub(super) fn fitted(self, value: f64, derivation: Derivation) -> Trait {
        let estimate = Estimate { value, low: None, high: None };
        Trait { key: self.0, estimate, sources: vec![TraitSource::Points], derivation }
    }

    /// What no finding tells.
    pub(super) fn assumed(self, value: f64, derivation: Derivation) -> Trait {
        Trait { sources: Vec::new(), ..self.fitted(value, derivation) }
    }
}

/// The trait of a key.
pub(super) fn find(traits: &[Trait], key: TraitKey) -> Option<&Trait> {
    traits.iter().find(|one| one.key == key)
}
