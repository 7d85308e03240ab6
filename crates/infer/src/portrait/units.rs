//! Parallel units, each with a queue of its own, to which addresses send requests: flash.
//!
//! With U units of time S and a way of time o, one request takes o + S. N outstanding random requests keep each unit
//! busy for a share ρ of the time, where N = X o + U (ρ + ρ² / (2 (1 - ρ))) and X = U ρ / S: the mean number at a
//! server with fixed times and arrivals by chance (Pollaczek and Khinchine). Simulated closed networks agree: with
//! N equal to the number of units 59 % of U / S, with four times that 88 %, with eight times 94 %. From the
//! highest rate and the depth of it follows U where `parallelism` is not known, and else o. Where the link bounds
//! small reads before the units do, U is the depth that 95 % of the throughput needs.
//! Units come in powers of two, or three times those; the nearest such number is drawn.
//!
//! That is what findings alone tell, and page and link are then assumed. Where the run has reads of several sizes,
//! and several at a time, its points are fitted instead ([`super::fit`]), and units, page, stripe, way and link are
//! those that explain all of them together.

use iosonde_model::{Derivation, FindingName, Op, Trait, TraitKey, Unidentified};
use iosonde_stats::bisect;

use super::{
    array::Array,
    facts::{self, Fact, Facts, Setting},
    fit::{fit, plain},
    servers,
};

/// The share of a request's time that is the way, where nothing tells.
const WAY_SHARE: f64 = 0.1;
/// From this share of the link's rate on, the link may be what bounds small requests.
const LINK_BOUND: f64 = 0.9;
/// The usual page of today's flash.
const PAGE_BYTES: f64 = 16_384.0;
/// The usual piece of a mapping.
const MAPPING_BYTES: f64 = 4_096.0;
/// No flash programs a page in less, so that a write which is done sooner was taken by a buffer.
const PROGRAM_NS: f64 = 150e3;
/// What a buffer usually takes to answer.
const USUAL_ANSWER_NS: f64 = 10e3;
/// A usual program, where a buffer hides it.
const USUAL_PROGRAM_NS: f64 = 600e3;
/// A buffer of usual size, and how long a usual one takes to drain.
const USUAL_BUFFER_BYTES: f64 = 67_108_864.0;
const USUAL_DRAIN_S: f64 = 0.25;
/// One that a long write does not show lifts its first 100 ms by less than 5 %: half of that.
const UNSEEN_DRAIN_S: f64 = 0.0025;

/// Reads as they are drawn.
struct Reads<'a> {
    alone: Fact<'a>,
    most: Fact<'a>,
    /// The fitted array, from which the rest follows, where the run's points suffice for a fit.
    fitted: Option<Array>,
    units: f64,
    way_ns: f64,
    sense_ns: f64,
    /// What large reads got.
    bandwidth: f64,
    solved: bool,
}

pub(super) fn draw(facts: &Facts) -> (Vec<Trait>, Vec<Unidentified>) {
    let (mut traits, mut untold) = (Vec::new(), Vec::new());
    let Some(reads) = Reads::of(facts) else { return (traits, untold) };
    if let Some(array) = reads.fitted.filter(|array| array.host_ns > 0.0) {
        traits.push(Setting(TraitKey::HostRequestCost).fitted(array.host_ns, Derivation::BusyTimePerRequest));
    }
    servers::link(facts, reads.way_ns, &mut traits, &mut untold);
    if let Some(array) = reads.fitted {
        fitted_link(&array, &mut traits, &mut untold);
    }
    widen_for_writes(facts, &mut traits);
    traits.push(reads.units_trait(facts, &mut untold));
    let place = Setting(TraitKey::FlashRead);
    let how = Derivation::LatencyLessPath;
    let known = facts.any(FindingName::Parallelism).is_some() && reads.solved;
    let sense = place.from(reads.sense_ns, &[reads.alone], how);
    // Without the units the share that is way was chosen with them, and no interval has that.
    traits.push(if known { sense } else { place.chosen(reads.sense_ns, &[reads.alone], how) });
    let page_bytes = layout(facts, &reads, &mut traits, &mut untold);
    writes(facts, &reads, page_bytes, &mut traits, &mut untold);
    (traits, untold)
}

impl<'a> Reads<'a> {
    fn of(facts: &Facts<'a>) -> Option<Self> {
        let (alone, most) = (facts.alone(Op::Read)?, facts.most(Op::Read)?);
        let known = facts.any(FindingName::Parallelism).map(|units| units.value());
        let stripe = facts.any(FindingName::StripeBytes).map(|stripe| stripe.value());
        let bandwidth =
            facts.of_op(FindingName::DeviceBandwidth, Op::Read).map_or(f64::INFINITY, |rate| rate.value());
        if let Some(array) = fit(&facts.reads(), known, stripe) {
            return Some(Self {
                alone,
                most,
                units: array.units,
                way_ns: array.way_ns,
                sense_ns: array.sense_ns,
                fitted: Some(array),
                bandwidth,
                solved: true,
            });
        }
        let moved_ns = alone.block_bytes() * 1e9 / bandwidth;
        let alone_ns = (alone.value() - moved_ns).max(alone.value() * 0.05);
        let depth = facts.deepest(&most).unwrap_or(256.0);
        let linked = most.value() * most.block_bytes() > LINK_BOUND * bandwidth;
        // The way is part of every write too.
        let least_ns = facts.alone(Op::Write).map_or(alone_ns, |write| write.value().min(alone_ns));
        let usual_ns = (WAY_SHARE * alone_ns).min(0.8 * least_ns);
        let per_ns = most.value() / 1e9;
        let solved =
            known.filter(|_| !linked).and_then(|units| way(units, alone_ns, per_ns, depth, least_ns));
        let way_ns = solved.unwrap_or(usual_ns);
        let sense_ns = alone_ns - way_ns;
        let units = known.unwrap_or_else(|| match facts.depth_for_95(&most).filter(|_| linked) {
            Some(depth) => units(way_ns, sense_ns, 0.95 * per_ns, depth.value()),
            None => units(way_ns, sense_ns, per_ns, depth),
        });
        let solved = solved.is_some();
        Some(Self { alone, most, fitted: None, units, way_ns, sense_ns, bandwidth, solved })
    }

    fn units_trait(&self, facts: &Facts, untold: &mut Vec<Unidentified>) -> Trait {
        let place = Setting(TraitKey::FlashUnits);
        if let Some(fact) = facts.any(FindingName::Parallelism) {
            if !self.solved {
                untold.push(Unidentified::PathShare);
            }
            return place.is(&fact, Derivation::Strides);
        }
        untold.push(Unidentified::Units);
        if self.fitted.is_some() {
            return place.fitted(self.units, Derivation::BestFit);
        }
        place.chosen(self.units, &[self.most, self.alone], Derivation::UnitsForHighestRate)
    }
}

/// The link that explains the reads best: where the units bound large reads, a faster one than these show.
fn fitted_link(array: &Array, traits: &mut Vec<Trait>, untold: &mut Vec<Unidentified>) {
    let rate = array.link_bytes_per_ns * 1e9;
    if rate.is_infinite() {
        traits.retain(|one| !matches!(one.key, TraitKey::LinkRead | TraitKey::LinkWrite));
        untold.push(Unidentified::LinkBound);
        return;
    }
    let link = |key| Setting(key).fitted(rate, Derivation::BestFit);
    traits.retain(|one| one.key != TraitKey::LinkRead);
    traits.push(link(TraitKey::LinkRead));
    let written = traits.iter_mut().find(|one| one.key == TraitKey::LinkWrite);
    if let Some(written) = written.filter(|written| written.estimate.value < rate) {
        *written = link(TraitKey::LinkWrite);
    }
}

/// How many are at U units in all when each is busy for a share of the time.
fn population(units: f64, busy: f64) -> f64 {
    units * (busy + busy * busy / (2.0 * (1.0 - busy)))
}

/// The way that gives a throughput at `depth`; `None` where no way does.
fn way(units: f64, alone_ns: f64, per_ns: f64, depth: f64, most_ns: f64) -> Option<f64> {
    let too_many = |way_ns: f64| {
        let busy = per_ns * (alone_ns - way_ns) / units;
        // A unit cannot be busy for more than all of the time.
        if busy >= 1.0 { f64::INFINITY } else { population(units, busy) + per_ns * way_ns - depth }
    };
    let (low_ns, high_ns) = (0.0, most_ns.min(alone_ns * 0.95));
    // Falling in the way: a longer one leaves the units less to do.
    if too_many(low_ns) < 0.0 || too_many(high_ns) > 0.0 {
        return None;
    }
    Some(bisect((low_ns, high_ns), 60, |way_ns| too_many(way_ns) > 0.0).1)
}

/// The number of units that gives a throughput at `depth`.
fn units(way_ns: f64, sense_ns: f64, per_ns: f64, depth: f64) -> f64 {
    let at_units = depth - per_ns * way_ns;
    let fits = |units: f64| {
        let busy = per_ns * sense_ns / units;
        busy < 1.0 && population(units, busy) <= at_units
    };
    let least = (per_ns * sense_ns).ceil().max(1.0) as u32;
    // Whole units: the first that are enough.
    let enough = (least..least.saturating_mul(4).max(8))
        .map(f64::from)
        .find(|units| fits(*units))
        .unwrap_or(f64::from(least));
    let off = |units: f64| (units / enough).ln().abs();
    // Fewer than `least` could not have served what was measured.
    let built = plain().filter(|units| *units >= f64::from(least));
    built.min_by(|a, b| off(*a).total_cmp(&off(*b))).unwrap_or(enough)
}

/// Writes that a buffer takes come as fast as the link brings them, however fast they last.
fn widen_for_writes(facts: &Facts, traits: &mut [Trait]) {
    let read = facts::find(traits, TraitKey::LinkRead).cloned();
    let (Some(read), Some(place)) = (read, traits.iter().position(|one| one.key == TraitKey::LinkWrite))
    else {
        return;
    };
    if !is_buffered(facts) || read.estimate.value <= traits[place].estimate.value {
        return;
    }
    traits[place] = Trait { key: TraitKey::LinkWrite, derivation: Derivation::EqualToReads, ..read };
}

fn is_buffered(facts: &Facts) -> bool {
    facts.any(FindingName::WriteBufferBytes).is_some()
        || facts.alone(Op::Write).is_some_and(|write| write.value() < PROGRAM_NS)
}

/// Stripe, page and mapping unit; gives the page.
fn layout(facts: &Facts, reads: &Reads, traits: &mut Vec<Trait>, untold: &mut Vec<Unidentified>) -> f64 {
    let stripe = facts.any(FindingName::StripeBytes);
    let bandwidth = reads.bandwidth;
    let (page_bytes, stripe_bytes) = reads.fitted.map_or_else(
        || {
            let least =
                if bandwidth.is_finite() { bandwidth * reads.sense_ns / 1e9 / reads.units } else { 0.0 };
            let page = PAGE_BYTES.max(2f64.powf(least.max(512.0).log2().ceil()));
            let stripe = stripe.map_or(page, |stripe| stripe.value());
            (page.min(stripe), stripe)
        },
        |array| (array.page_bytes, array.stripe_bytes),
    );
    let (page, spread) = (Setting(TraitKey::FlashPage), Setting(TraitKey::FlashStripe));
    match stripe {
        Some(stripe) => traits.push(spread.is(&stripe, Derivation::StrideOfAllUnits)),
        None if reads.fitted.is_some() => traits.push(spread.fitted(stripe_bytes, Derivation::BestFit)),
        None => {
            untold.push(Unidentified::Stripe);
            traits.push(spread.assumed(stripe_bytes, Derivation::PagePerUnit));
        }
    }
    if reads.fitted.is_some() {
        traits.push(page.fitted(page_bytes, Derivation::BestFit));
    } else {
        untold.push(Unidentified::Page);
        traits.push(page.assumed(page_bytes, Derivation::PageForRate));
    }
    let mapping = Setting(TraitKey::FlashMappingUnit);
    traits.push(match facts.any(FindingName::MappingUnitBytes) {
        Some(unit) => mapping.is(&unit, Derivation::SmallWritesReadFirst),
        None => mapping.assumed(MAPPING_BYTES.min(page_bytes), Derivation::Default),
    });
    page_bytes
}

fn writes(
    facts: &Facts,
    reads: &Reads,
    page_bytes: f64,
    traits: &mut Vec<Trait>,
    untold: &mut Vec<Unidentified>,
) {
    let program = Setting(TraitKey::FlashProgram);
    let (alone, buffered) = (facts.alone(Op::Write), is_buffered(facts));
    if alone.is_none() && !buffered {
        untold.push(Unidentified::Writes);
        traits.push(program.assumed(USUAL_PROGRAM_NS, Derivation::Default));
        return;
    }
    let link = facts::find(traits, TraitKey::LinkWrite).map_or(f64::INFINITY, |link| link.estimate.value);
    let way_ns = reads.way_ns + reads.fitted.map_or(0.0, |array| array.host_ns);
    let rest_ns = |alone: Fact| (alone.value() - way_ns - alone.block_bytes() * 1e9 / link).max(1e3);
    let rest_ns = alone.map_or(USUAL_ANSWER_NS, rest_ns);
    let lasting = facts
        .of_op(FindingName::SustainedRate, Op::Write)
        .or(facts.of_op(FindingName::DeviceBandwidth, Op::Write));
    if let Some(alone) = alone.filter(|_| !buffered) {
        traits.push(program.from(rest_ns, &[alone], Derivation::LatencyLessPath));
        return;
    }
    // As slow as it may be without bounding what lasts.
    let bound_ns = lasting.map_or(f64::INFINITY, |rate| reads.units * page_bytes * 1e9 / rate.value());
    let (program_ns, flush_ns) = match facts.any(FindingName::FlushLatency) {
        Some(flush) => {
            let ns = (flush.value() - way_ns).min(bound_ns).max(reads.sense_ns);
            let how = Derivation::FlushAfterWrite;
            // A piece that is larger than a page takes several of them, and whether it is was perhaps not found.
            let whole =
                facts.any(FindingName::MappingUnitBytes).is_some_and(|unit| unit.value() <= page_bytes);
            traits.push(if whole {
                program.from(ns, &[flush], how)
            } else {
                program.chosen(ns, &[flush], how)
            });
            (ns, (flush.value() - way_ns - ns).max(0.0))
        }
        None => (USUAL_PROGRAM_NS.min(bound_ns), 0.0),
    };
    if facts.any(FindingName::FlushLatency).is_none() {
        untold.push(Unidentified::Program);
        traits.push(program.assumed(program_ns, Derivation::DefaultWithinSustained));
    }
    buffer(facts, link, rest_ns, flush_ns, lasting, traits, untold);
}

fn buffer(
    facts: &Facts,
    link: f64,
    latency_ns: f64,
    flush_ns: f64,
    lasting: Option<Fact>,
    traits: &mut Vec<Trait>,
    untold: &mut Vec<Unidentified>,
) {
    let size = Setting(TraitKey::BufferSize);
    match facts.any(FindingName::WriteBufferBytes) {
        Some(bytes) => traits.push(size.is(&bytes, Derivation::BytesBeforeSlower)),
        None => {
            untold.push(Unidentified::BufferSize);
            // A long write would have shown a larger one, unless the link is no faster than what drains.
            let unseen = facts.says_none(FindingName::WriteBufferBytes)
                && lasting.is_some_and(|rate| rate.value() < LINK_BOUND * link);
            let drain_s = if unseen { UNSEEN_DRAIN_S } else { USUAL_DRAIN_S };
            let drains = lasting.map_or(f64::INFINITY, |rate| rate.value() * drain_s);
            let bytes = USUAL_BUFFER_BYTES.min(drains).max(1_048_576.0);
            let how = if unseen { Derivation::BelowDetection } else { Derivation::QuarterSecondOfDrain };
            traits.push(size.assumed(bytes, how));
        }
    }
    let alone: Vec<_> = facts.alone(Op::Write).into_iter().collect();
    let latency = Setting(TraitKey::BufferLatency);
    traits.push(if alone.is_empty() {
        latency.assumed(latency_ns, Derivation::Default)
    } else {
        latency.from(latency_ns, &alone, Derivation::LatencyLessPath)
    });
    if let Some(rate) = lasting {
        traits.push(Setting(TraitKey::BufferDrain).is(&rate, Derivation::SustainedRate));
    }
    traits.push(Setting(TraitKey::BufferFlush).assumed(flush_ns, Derivation::FlushBeyondProgram));
}
