//! Units side by side, each with a line of its own, to which addresses send requests: flash.
//!
//! With U units of time S and a way of time o, one request takes o + S. N random requests in flight keep each unit
//! busy for a share ρ of the time, where N = X o + U (ρ + ρ² / (2 (1 - ρ))) and X = U ρ / S: the mean number at a
//! server with fixed times and arrivals by chance (Pollaczek and Khinchine). Simulated closed networks agree: with
//! as many in flight as units 59 % of U / S, with four times as many 88 %, with eight times as many 94 %. From the
//! highest rate and the depth of it follows U where `parallelism` is not known, and else o. Where the link bounds
//! small reads before the units do, U is the number that 95 % of the rate ask for.
//! Units come in powers of two, or three times those; the nearest such number is drawn.
//!
//! That is what findings alone tell, and page and link are then assumed. Where the run has reads of several sizes,
//! and several at a time, its points are fitted instead ([`super::fit`]), and units, page, stripe, way and link are
//! those that explain all of them together.

use iosonde_model::{FindingName, Op, Trait};
use iosonde_stats::bisect;

use super::{
    array::Array,
    facts::{Fact, Facts, Place},
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
/// Of what a fit chose.
const NEAREST: &str = "of all that were tried, with which reads of each size, one and several at a time, take most \
                       nearly what they took";
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
    /// Of which everything follows, where the run's points suffice for a fit.
    fitted: Option<Array>,
    units: f64,
    way_ns: f64,
    sense_ns: f64,
    /// What large reads got.
    bandwidth: f64,
    solved: bool,
}

pub(super) fn draw(facts: &Facts) -> (Vec<Trait>, Vec<String>) {
    let (mut traits, mut untold) = (Vec::new(), Vec::new());
    let Some(reads) = Reads::of(facts) else { return (traits, untold) };
    if let Some(array) = reads.fitted.filter(|array| array.host_ns > 0.0) {
        let place = Place { key: "host.request_cost", label: "the program, for each request", unit: "ns" };
        traits.push(place.fitted(array.host_ns, "the time that it was busy, over the requests of that time"));
    }
    servers::link(facts, reads.way_ns, &mut traits, &mut untold);
    if let Some(array) = reads.fitted {
        fitted_link(&array, &mut traits, &mut untold);
    }
    widen_for_writes(facts, &mut traits);
    traits.push(reads.units_trait(facts, &mut untold));
    let place = Place { key: "flash.read", label: "read of a page", unit: "ns" };
    let why = "what a small read takes alone, less its way and its bytes";
    let known = facts.any(FindingName::Parallelism).is_some() && reads.solved;
    let sense = place.from(reads.sense_ns, &[reads.alone], why);
    // Without the units the share that is way was chosen with them, and no interval has that.
    traits.push(if known { sense } else { place.chosen(reads.sense_ns, &[reads.alone], why) });
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

    fn units_trait(&self, facts: &Facts, untold: &mut Vec<String>) -> Trait {
        let place = Place { key: "flash.units", label: "units", unit: "1" };
        if let Some(fact) = facts.any(FindingName::Parallelism) {
            if !self.solved {
                untold.push(
                    "How much of a read is its way was assumed: the link, or the program, bounds small reads before \
                     the units do."
                        .to_owned(),
                );
            }
            return place.is(&fact, "from strides that meet all units, or fewer");
        }
        untold.push(
            "How many units there are follows from the rates of all sizes and depths only: nothing told them apart by \
             their addresses (`parallelism`)."
                .to_owned(),
        );
        if self.fitted.is_some() {
            return place.fitted(self.units, NEAREST);
        }
        let both = [self.most, self.alone];
        place.chosen(self.units, &both, "what the highest rate asks for, by the law of lines of their own")
    }
}

/// The link that explains the reads best: where the units bound large reads, a faster one than these show.
fn fitted_link(array: &Array, traits: &mut Vec<Trait>, untold: &mut Vec<String>) {
    let rate = array.link_bytes_per_ns * 1e9;
    if rate.is_infinite() {
        traits.retain(|one| !one.key.starts_with("link.bandwidth"));
        untold.push("No link was seen: nothing that was measured came near one's bound.".to_owned());
        return;
    }
    let place = |key, label| Place { key, label, unit: "B/s" }.fitted(rate, NEAREST);
    traits.retain(|one| one.key != "link.bandwidth.read");
    traits.push(place("link.bandwidth.read", "link, reads"));
    let written = traits.iter_mut().find(|one| one.key == "link.bandwidth.write");
    if let Some(written) = written.filter(|written| written.estimate.value < rate) {
        *written = place("link.bandwidth.write", "link, writes");
    }
}

/// How many are at U units in all when each is busy for a share of the time.
fn population(units: f64, busy: f64) -> f64 {
    units * (busy + busy * busy / (2.0 * (1.0 - busy)))
}

/// The way that makes `depth` in flight give a rate; nothing where no way does.
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

/// The number of units with which `depth` in flight give a rate.
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
    let read = super::find(traits, "link.bandwidth.read").cloned();
    let (Some(read), Some(place)) = (read, traits.iter().position(|one| one.key == "link.bandwidth.write"))
    else {
        return;
    };
    if !is_buffered(facts) || read.estimate.value <= traits[place].estimate.value {
        return;
    }
    let why = "as reads: what lasts is the medium's rate, and a burst was not told apart from it".to_owned();
    traits[place] = Trait { key: "link.bandwidth.write".into(), label: "link, writes".into(), why, ..read };
}

fn is_buffered(facts: &Facts) -> bool {
    facts.any(FindingName::WriteBufferBytes).is_some()
        || facts.alone(Op::Write).is_some_and(|write| write.value() < PROGRAM_NS)
}

/// Stripe, page and mapping unit; gives the page.
fn layout(facts: &Facts, reads: &Reads, traits: &mut Vec<Trait>, untold: &mut Vec<String>) -> f64 {
    let place = |key, label| Place { key, label, unit: "B" };
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
    let (page, spread) = (place("flash.page", "page"), place("flash.stripe", "stripe"));
    match stripe {
        Some(stripe) => traits.push(spread.is(&stripe, "from the stride that meets all units")),
        None if reads.fitted.is_some() => traits.push(spread.fitted(stripe_bytes, NEAREST)),
        None => {
            untold.push(
                "How neighbouring addresses are spread over the units was not found (`stripe_bytes`)."
                    .to_owned(),
            );
            traits.push(spread.assumed(stripe_bytes, "one page on each in turn"));
        }
    }
    if reads.fitted.is_some() {
        traits.push(page.fitted(page_bytes, NEAREST));
    } else {
        untold.push("The page was not found: reads of a few pages may be off.".to_owned());
        traits.push(page.assumed(
            page_bytes,
            "the usual one, or the least with which large reads are as fast as they were",
        ));
    }
    let mapping = place("flash.mapping_unit", "mapping unit");
    traits.push(match facts.any(FindingName::MappingUnitBytes) {
        Some(unit) => mapping.is(&unit, "smaller writes read first"),
        None => mapping.assumed(MAPPING_BYTES.min(page_bytes), "the usual one"),
    });
    page_bytes
}

fn writes(facts: &Facts, reads: &Reads, page_bytes: f64, traits: &mut Vec<Trait>, untold: &mut Vec<String>) {
    let program = Place { key: "flash.program", label: "program of a page", unit: "ns" };
    let (alone, buffered) = (facts.alone(Op::Write), is_buffered(facts));
    if alone.is_none() && !buffered {
        untold.push("Nothing was written: writes are not drawn.".to_owned());
        traits.push(program.assumed(USUAL_PROGRAM_NS, "a usual one"));
        return;
    }
    let link = super::find(traits, "link.bandwidth.write").map_or(f64::INFINITY, |link| link.estimate.value);
    let way_ns = reads.way_ns + reads.fitted.map_or(0.0, |array| array.host_ns);
    let rest_ns = |alone: Fact| (alone.value() - way_ns - alone.block_bytes() * 1e9 / link).max(1e3);
    let rest_ns = alone.map_or(USUAL_ANSWER_NS, rest_ns);
    let lasting = facts
        .of_op(FindingName::SustainedRate, Op::Write)
        .or(facts.of_op(FindingName::DeviceBandwidth, Op::Write));
    if let Some(alone) = alone.filter(|_| !buffered) {
        traits.push(program.from(
            rest_ns,
            &[alone],
            "what a small write takes alone, less its way and its bytes",
        ));
        return;
    }
    // As slow as it may be without bounding what lasts.
    let bound_ns = lasting.map_or(f64::INFINITY, |rate| reads.units * page_bytes * 1e9 / rate.value());
    let (program_ns, flush_ns) = match facts.any(FindingName::FlushLatency) {
        Some(flush) => {
            let ns = (flush.value() - way_ns).min(bound_ns).max(reads.sense_ns);
            let why = "a flush after one write goes the way and waits for one program";
            // A piece that is larger than a page takes several of them, and whether it is was perhaps not found.
            let whole =
                facts.any(FindingName::MappingUnitBytes).is_some_and(|unit| unit.value() <= page_bytes);
            traits.push(if whole {
                program.from(ns, &[flush], why)
            } else {
                program.chosen(ns, &[flush], why)
            });
            (ns, (flush.value() - way_ns - ns).max(0.0))
        }
        None => (USUAL_PROGRAM_NS.min(bound_ns), 0.0),
    };
    if facts.any(FindingName::FlushLatency).is_none() {
        untold.push(
            "What a program takes was not found (`flush_latency`): reads among writes may be off.".to_owned(),
        );
        traits.push(program.assumed(program_ns, "a usual one, and fast enough for what lasts"));
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
    untold: &mut Vec<String>,
) {
    let place = |key, label, unit| Place { key, label, unit };
    let size = place("flash.write_buffer.size", "buffer", "B");
    match facts.any(FindingName::WriteBufferBytes) {
        Some(bytes) => traits.push(size.is(&bytes, "what is written before it becomes slower")),
        None => {
            untold.push(
                "Writes are taken by a buffer whose size was not found; `iosonde run sustained-write TARGET` would \
                 tell."
                    .to_owned(),
            );
            // A long write would have shown a larger one, unless the link is no faster than what drains.
            let unseen = facts.says_none(FindingName::WriteBufferBytes)
                && lasting.is_some_and(|rate| rate.value() < LINK_BOUND * link);
            let drain_s = if unseen { UNSEEN_DRAIN_S } else { USUAL_DRAIN_S };
            let drains = lasting.map_or(f64::INFINITY, |rate| rate.value() * drain_s);
            let bytes = USUAL_BUFFER_BYTES.min(drains).max(1_048_576.0);
            let why = if unseen {
                "too small for a long write to show it"
            } else {
                "a usual one, or what drains in a quarter of a second"
            };
            traits.push(size.assumed(bytes, why));
        }
    }
    let alone: Vec<_> = facts.alone(Op::Write).into_iter().collect();
    let why = "what a small write takes alone, less its way and its bytes";
    let latency = place("flash.write_buffer.latency", "write into the buffer", "ns");
    traits.push(if alone.is_empty() {
        latency.assumed(latency_ns, "a usual one; how long a small write takes alone was not found")
    } else {
        latency.from(latency_ns, &alone, why)
    });
    if let Some(rate) = lasting {
        traits.push(place("flash.write_buffer.drain", "drains", "B/s").is(&rate, "what writes go on at"));
    }
    let why = "what a flush takes beyond the program";
    traits.push(place("flash.write_buffer.flush", "flush", "ns").assumed(flush_ns, why));
}
