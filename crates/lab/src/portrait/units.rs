//! Units side by side, each with a line of its own, to which addresses send requests: flash.
//!
//! With U units of time S and a way of time o, one request takes o + S. N random requests in flight keep each unit
//! busy for a share ρ of the time, where N = X o + U (ρ + ρ² / (2 (1 - ρ))) and X = U ρ / S: the mean number at a
//! server with fixed times and arrivals by chance (Pollaczek and Khinchine). Simulated closed networks agree: with
//! as many in flight as units 59 % of U / S, with four times as many 88 %, with eight times as many 94 %. From the
//! highest rate and the depth of it follows U where `parallelism` is not known, and else o. Where the link bounds
//! small reads before the units do, U is the number with which all depths together give most nearly the rates that
//! they gave. Units come in powers of two, or three times those; the nearest such number is drawn. The page is the
//! one with which single reads of all sizes take the times that they took.

use iosonde_model::{Op, Trait};

use super::{
    facts::{Fact, Facts, Place},
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
/// More than any drive has.
const MOST_UNITS: u32 = 512;
/// Ways that are tried, as shares of the time of one alone.
const WAYS: [f64; 7] = [0.02, 0.05, WAY_SHARE, 0.15, 0.2, 0.3, 0.4];
/// Sizes of single reads that tell a page.
const FEWEST_SIZES: usize = 3;
/// By so much in all logarithms of times a stripe of more pages must be nearer than one of half as many.
const PLAINER: f64 = 0.01;
/// No flash programs a page in less, so that a write which is done sooner was taken by a buffer.
const PROGRAM_NS: f64 = 150e3;
/// A usual program, where a buffer hides it.
const USUAL_PROGRAM_NS: f64 = 600e3;
/// A buffer of usual size, and how long a usual one takes to drain.
const USUAL_BUFFER_BYTES: f64 = 67_108_864.0;
const USUAL_DRAIN_S: f64 = 0.25;

/// Reads as the law has them.
struct Reads<'a> {
    alone: Fact<'a>,
    most: Fact<'a>,
    /// The depth that nearly the most needs, where the link bounds it.
    nearly: Option<Fact<'a>>,
    units: f64,
    way_ns: f64,
    sense_ns: f64,
    /// What large reads got, and how many times as fast the link is.
    bandwidth: f64,
    link: f64,
    /// The link bounds small reads before the units do.
    linked: bool,
    solved: bool,
}

pub(super) fn draw(facts: &Facts) -> (Vec<Trait>, Vec<String>) {
    let (mut traits, mut untold) = (Vec::new(), Vec::new());
    let Some((reads, shape)) = Reads::of(facts) else { return (traits, untold) };
    servers::link(facts, reads.way_ns, &mut traits, &mut untold);
    widen_for_writes(facts, &mut traits);
    traits.push(reads.units_trait(facts, &mut untold));
    let place = Place { key: "flash.read", label: "read of a page", unit: "ns" };
    let why = "what a small read takes alone, less its way and its bytes";
    traits.push(place.from(reads.sense_ns, &[reads.alone], why));
    let page_bytes = layout(facts, &reads, shape, &mut traits, &mut untold);
    writes(facts, &reads, page_bytes, &mut traits, &mut untold);
    (traits, untold)
}

impl<'a> Reads<'a> {
    /// With the way and the link, of several, that fit single reads of all sizes best; and how addresses lie then.
    fn of(facts: &Facts<'a>) -> Option<(Self, Option<Shape>)> {
        let usual = Self::with(facts, None, 1.0)?;
        let singles = facts.single_reads();
        if singles.len() < FEWEST_SIZES || !usual.bandwidth.is_finite() {
            return Some((usual, None));
        }
        let stripe = facts.any("stripe_bytes").map(|stripe| stripe.value());
        // A link that is faster than what large reads got leaves it to the units to bound them.
        let links: &[f64] = if usual.linked { &[1.0] } else { &[1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0] };
        let candidates = links.iter().flat_map(|link| WAYS.iter().map(move |way| (*way, *link)));
        let fits = candidates.filter_map(|(way, link)| {
            let reads = Self::with(facts, Some(way), link)?;
            let (off, shape) = reads.nearest(&singles, stripe);
            Some((off + PLAINER * ((link - 1.0) / 4.0 + (way - WAY_SHARE).abs()), reads, shape))
        });
        let (_, reads, shape) = fits.min_by(|a, b| a.0.total_cmp(&b.0))?;
        Some((reads, Some(shape)))
    }

    /// With a way that is a share of the time of one alone, and a link that is so many times as fast as large reads.
    fn with(facts: &Facts<'a>, share: Option<f64>, link: f64) -> Option<Self> {
        let (alone, most) = (facts.alone(Op::Read)?, facts.most(Op::Read)?);
        let bandwidth = facts.of_op("device_bandwidth", Op::Read).map_or(f64::INFINITY, |rate| rate.value());
        let moved_ns = alone.block_bytes() * 1e9 / (bandwidth * link);
        let alone_ns = (alone.value() - moved_ns).max(alone.value() * 0.05);
        let depth = facts.deepest(&most).unwrap_or(256.0);
        let linked = most.value() * most.block_bytes() > LINK_BOUND * bandwidth;
        let known = facts.any("parallelism").map(|units| units.value());
        // The way is part of every write too.
        let least_ns = facts.alone(Op::Write).map_or(alone_ns, |write| write.value().min(alone_ns));
        let usual_ns = (share.unwrap_or(WAY_SHARE) * alone_ns).min(0.8 * least_ns);
        let per_ns = most.value() / 1e9;
        let solved =
            known.filter(|_| !linked).and_then(|units| way(units, alone_ns, per_ns, depth, least_ns));
        let way_ns = solved.unwrap_or(usual_ns);
        let sense_ns = alone_ns - way_ns;
        let nearly = facts.depth_for_95(&most).filter(|_| linked);
        let most_per_ns = bandwidth / alone.block_bytes() / 1e9;
        let by_depths =
            if linked { fit_units(&facts.depths(&most), way_ns, sense_ns, most_per_ns) } else { None };
        let units = known.or(by_depths).unwrap_or_else(|| match nearly {
            Some(depth) => units(way_ns, sense_ns, 0.95 * per_ns, depth.value()),
            None => units(way_ns, sense_ns, per_ns, depth),
        });
        let solved = solved.is_some();
        Some(Self { alone, most, nearly, units, way_ns, sense_ns, bandwidth, link, linked, solved })
    }

    fn units_trait(&self, facts: &Facts, untold: &mut Vec<String>) -> Trait {
        let place = Place { key: "flash.units", label: "units", unit: "1" };
        if let Some(fact) = facts.any("parallelism") {
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
            "How many units there are follows from the rates at all depths only: nothing told them apart by their \
             addresses (`parallelism`)."
                .to_owned(),
        );
        let facts: Vec<Fact> =
            [Some(self.most), Some(self.alone), self.nearly].into_iter().flatten().collect();
        place.from(self.units, &facts, "what the highest rate asks for, by the law of lines of their own")
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
    let (mut low_ns, mut high_ns) = (0.0, most_ns.min(alone_ns * 0.95));
    // Falling in the way: a longer one leaves the units less to do.
    if too_many(low_ns) < 0.0 || too_many(high_ns) > 0.0 {
        return None;
    }
    for _ in 0..60 {
        let middle_ns = (low_ns + high_ns) / 2.0;
        if too_many(middle_ns) > 0.0 { low_ns = middle_ns } else { high_ns = middle_ns }
    }
    Some(high_ns)
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
    plain().min_by(|a, b| off(*a).total_cmp(&off(*b))).unwrap_or(enough)
}

/// Numbers of units that are built: powers of two, and three times those, as `parallelism` assumes too.
fn plain() -> impl Iterator<Item = f64> {
    (0..=MOST_UNITS.ilog2())
        .flat_map(|power| [1u32 << power, 3 << power])
        .filter(|units| *units <= MOST_UNITS)
        .map(f64::from)
}

/// The number of units with which all depths together give most nearly the rates that they gave.
fn fit_units(depths: &[(f64, f64)], way_ns: f64, sense_ns: f64, most_per_ns: f64) -> Option<f64> {
    // Where the link bounds them, rates say nothing of units.
    let telling: Vec<_> =
        depths.iter().filter(|(depth, rate)| *depth > 1.0 && rate / 1e9 < LINK_BOUND * most_per_ns).collect();
    let off = |units: f64| -> f64 {
        let miss = |&&(depth, rate): &&(f64, f64)| {
            (per_ns_at(depth, units, way_ns, sense_ns).min(most_per_ns) * 1e9 / rate).ln().abs()
        };
        telling.iter().map(miss).sum()
    };
    plain().min_by(|a, b| off(*a).total_cmp(&off(*b))).filter(|_| !telling.is_empty())
}

/// The rate that so many in flight give.
fn per_ns_at(depth: f64, units: f64, way_ns: f64, sense_ns: f64) -> f64 {
    let (mut low, mut high) = (0.0, 0.999_999);
    for _ in 0..40 {
        let busy = (low + high) / 2.0;
        let in_flight = population(units, busy) + units * busy / sense_ns * way_ns;
        if in_flight < depth { low = busy } else { high = busy }
    }
    (units * low / sense_ns).min(depth / (way_ns + sense_ns))
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
    facts.any("write_buffer_bytes").is_some()
        || facts.alone(Op::Write).is_some_and(|write| write.value() < PROGRAM_NS)
}

/// Stripe, page and mapping unit; gives the page.
fn layout(
    facts: &Facts,
    reads: &Reads,
    shape: Option<Shape>,
    traits: &mut Vec<Trait>,
    untold: &mut Vec<String>,
) -> f64 {
    let place = |key, label| Place { key, label, unit: "B" };
    let stripe = facts.any("stripe_bytes");
    let bandwidth = reads.bandwidth;
    let fit = shape.map(|Shape { page, stripe }| {
        widen_link(bandwidth * reads.link, bandwidth, traits);
        (page, stripe)
    });
    let (page_bytes, stripe_bytes) = fit.unwrap_or_else(|| {
        let least = if bandwidth.is_finite() { bandwidth * reads.sense_ns / 1e9 / reads.units } else { 0.0 };
        let page = PAGE_BYTES.max(2f64.powf(least.max(512.0).log2().ceil()));
        let stripe = stripe.map_or(page, |stripe| stripe.value());
        (page.min(stripe), stripe)
    });
    let why =
        "of all powers of two the one with which single reads of each size take most nearly what they took";
    let (page, spread) = (place("flash.page", "page"), place("flash.stripe", "stripe"));
    match stripe {
        Some(stripe) => traits.push(spread.is(&stripe, "from the stride that meets all units")),
        None if fit.is_some() => traits.push(spread.fitted(stripe_bytes, why)),
        None => {
            untold.push(
                "How neighbouring addresses are spread over the units was not found (`stripe_bytes`)."
                    .to_owned(),
            );
            traits.push(spread.assumed(stripe_bytes, "one page on each in turn"));
        }
    }
    if fit.is_some() {
        traits.push(page.fitted(page_bytes, why));
    } else {
        untold.push("The page was not found: reads of a few pages may be off.".to_owned());
        traits.push(page.assumed(
            page_bytes,
            "the usual one, or the least with which large reads are as fast as they were",
        ));
    }
    let mapping = place("flash.mapping_unit", "mapping unit");
    traits.push(match facts.any("mapping_unit_bytes") {
        Some(unit) => mapping.is(&unit, "smaller writes read first"),
        None => mapping.assumed(MAPPING_BYTES.min(page_bytes), "the usual one"),
    });
    page_bytes
}

/// How addresses lie on the units.
#[derive(Debug, Clone, Copy)]
struct Shape {
    page: f64,
    stripe: f64,
}

impl Reads<'_> {
    /// The shape with which single reads take the times that they took, and how far off they are.
    fn nearest(&self, singles: &[(f64, f64)], stripe: Option<f64>) -> (f64, Shape) {
        let powers = |from: i32, to: i32| (from..=to).map(|power| 2f64.powi(power));
        let shapes = powers(12, 17).flat_map(|page| {
            let stripes: Vec<f64> = match stripe {
                Some(stripe) => vec![stripe],
                None => powers(0, 4).map(|pages| page * pages).collect(),
            };
            stripes
                .into_iter()
                .filter(move |stripe| *stripe >= page)
                .map(move |stripe| Shape { page, stripe })
        });
        let off = |shape: &Shape| {
            let misses = singles.iter().map(|&(bytes, ns)| (self.time_ns(shape, bytes) / ns).ln().abs());
            let carried = (self.units * shape.page * 1e9 / self.sense_ns).min(self.bandwidth * self.link);
            // Where the link bounds small reads, units beyond it were not seen.
            let short = if self.linked { 0.0 } else { (self.bandwidth / carried).ln().abs() };
            misses.sum::<f64>() + short + PLAINER * (shape.stripe / shape.page).log2()
        };
        let best = shapes.map(|shape| (off(&shape), shape)).min_by(|a, b| a.0.total_cmp(&b.0));
        best.unwrap_or((f64::INFINITY, Shape { page: PAGE_BYTES, stripe: PAGE_BYTES }))
    }

    /// One read that is alone: its way, the unit with most of its pages, and its bytes.
    fn time_ns(&self, shape: &Shape, bytes: f64) -> f64 {
        let (pages, run) = ((bytes / shape.page).ceil(), shape.stripe / shape.page);
        let round = run * self.units;
        let on_one = if pages <= round { pages.min(run) } else { run * (pages / round).ceil() };
        self.way_ns + self.sense_ns * on_one + bytes * 1e9 / (self.bandwidth * self.link)
    }
}

/// Where the units bound large reads, the link is as fast as single reads say.
fn widen_link(link: f64, bandwidth: f64, traits: &mut [Trait]) {
    if link <= bandwidth {
        return;
    }
    for one in
        traits.iter_mut().filter(|one| one.key.starts_with("link.bandwidth.") && one.estimate.value < link)
    {
        let place = Place {
            key: if one.key.ends_with("read") { "link.bandwidth.read" } else { "link.bandwidth.write" },
            label: if one.key.ends_with("read") { "link, reads" } else { "link, writes" },
            unit: "B/s",
        };
        let why = "the units bound large reads; single reads of each size take most nearly what they took";
        *one = place.fitted(link, why);
    }
}

fn writes(facts: &Facts, reads: &Reads, page_bytes: f64, traits: &mut Vec<Trait>, untold: &mut Vec<String>) {
    let program = Place { key: "flash.program", label: "program of a page", unit: "ns" };
    let Some(alone) = facts.alone(Op::Write) else {
        untold.push("Nothing was written: writes are not drawn.".to_owned());
        traits.push(program.assumed(USUAL_PROGRAM_NS, "a usual one"));
        return;
    };
    let link = super::find(traits, "link.bandwidth.write").map_or(f64::INFINITY, |link| link.estimate.value);
    let rest_ns = (alone.value() - reads.way_ns - alone.block_bytes() * 1e9 / link).max(1e3);
    let lasting = facts.of_op("sustained_rate", Op::Write).or(facts.of_op("device_bandwidth", Op::Write));
    if !is_buffered(facts) {
        traits.push(program.from(
            rest_ns,
            &[alone],
            "what a small write takes alone, less its way and its bytes",
        ));
        return;
    }
    // As slow as it may be without bounding what lasts.
    let bound_ns = lasting.map_or(f64::INFINITY, |rate| reads.units * page_bytes * 1e9 / rate.value());
    let (program_ns, flush_ns) = match facts.any("flush_latency") {
        Some(flush) => {
            let ns = flush.value().min(bound_ns).max(reads.sense_ns);
            traits.push(program.from(ns, &[flush], "a flush after one write waits for one program"));
            (ns, (flush.value() - ns).max(0.0))
        }
        None => (USUAL_PROGRAM_NS.min(bound_ns), 0.0),
    };
    if facts.any("flush_latency").is_none() {
        untold.push(
            "What a program takes was not found (`flush_latency`): reads among writes may be off.".to_owned(),
        );
        traits.push(program.assumed(program_ns, "a usual one, and fast enough for what lasts"));
    }
    buffer(facts, rest_ns, flush_ns, lasting, traits, untold);
}

fn buffer(
    facts: &Facts,
    latency_ns: f64,
    flush_ns: f64,
    lasting: Option<Fact>,
    traits: &mut Vec<Trait>,
    untold: &mut Vec<String>,
) {
    let place = |key, label, unit| Place { key, label, unit };
    let size = place("flash.write_buffer.size", "buffer", "B");
    match facts.any("write_buffer_bytes") {
        Some(bytes) => traits.push(size.is(&bytes, "what is written before it becomes slower")),
        None => {
            untold.push(
                "Writes are taken by a buffer whose size was not found; `iosonde run sustained-write TARGET` would \
                 tell."
                    .to_owned(),
            );
            let drains = lasting.map_or(f64::INFINITY, |rate| rate.value() * USUAL_DRAIN_S);
            let bytes = USUAL_BUFFER_BYTES.min(drains).max(1_048_576.0);
            traits.push(size.assumed(bytes, "a usual one, or what drains in a quarter of a second"));
        }
    }
    let alone: Vec<_> = facts.alone(Op::Write).into_iter().collect();
    let why = "what a small write takes alone, less its way and its bytes";
    traits.push(
        place("flash.write_buffer.latency", "write into the buffer", "ns").from(latency_ns, &alone, why),
    );
    if let Some(rate) = lasting {
        traits.push(place("flash.write_buffer.drain", "drains", "B/s").is(&rate, "what writes go on at"));
    }
    let why = "what a flush takes beyond the program";
    traits.push(place("flash.write_buffer.flush", "flush", "ns").assumed(flush_ns, why));
}
