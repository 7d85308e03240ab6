//! What follows from the settings of flash in closed form.

use iosonde_model::{FindingName, Op, units as quantity};

use super::{layout::Layout, settings::FlashSettings, slc::Fold, steady, units::Times};
use crate::part::{Burst, Fact, IdleLatency, Law, Limit, Load, Part, PartPosition, Settings, Side};

/// Size of the requests for which the alignment effect is stated.
const BLOCK_BYTES: u64 = 4096;

impl FlashSettings {
    /// Pages that an aligned request of this size programs, after rounding to mapping units.
    fn programs(&self, bytes: u64) -> f64 {
        let rounded = bytes.next_multiple_of(self.layout.mapping_unit_bytes);
        match self.buffer {
            // Gathered: four mapping units of 4 KiB are one program of 16 KiB.
            Some(_) => rounded as f64 / self.layout.page_bytes as f64,
            None => rounded.div_ceil(self.layout.page_bytes) as f64,
        }
    }

    /// Operations on the busiest unit when an aligned request of this size is alone.
    fn turns(&self, bytes: u64) -> u64 {
        let pages = bytes.div_ceil(self.layout.page_bytes);
        let pages_per_stripe = self.layout.stripe_bytes / self.layout.page_bytes;
        let round = pages_per_stripe * u64::from(self.layout.units);
        pages / round * pages_per_stripe + (pages % round).min(pages_per_stripe)
    }

    /// Pages that an aligned request of this size must sense before it can be rewritten.
    fn sensed_before(&self, bytes: u64) -> u64 {
        let rounded = bytes.next_multiple_of(self.layout.mapping_unit_bytes);
        if rounded == bytes {
            0
        } else {
            rounded.div_ceil(self.layout.page_bytes) - bytes / self.layout.page_bytes
        }
    }

    /// The time a unit spends on each page that the user writes, in the long run.
    fn lasting_page_ns(&self, random: bool) -> f64 {
        let Times { read_ns, program_ns, erase_ns, pages_per_block, .. } = self.times;
        let pages = pages_per_block as f64;
        match self.log {
            Some(log) if random => {
                // A block that is collected is still valid to u, so that 1 - u of it takes new data.
                let u = steady::valid_when_collected(&log.size, log.policy);
                let sensed = pages * (1.0 - (1.0 - u).powi(log.size.slots_per_page as i32));
                program_ns + (sensed * read_ns + u * pages * program_ns + erase_ns) / (pages * (1.0 - u))
            }
            _ => program_ns + erase_ns / pages,
        }
    }

    /// The mean time of programming one page of a fresh device.
    fn page_alone_ns(&self) -> f64 {
        let Times { program_ns, erase_ns, pages_per_block, .. } = self.times;
        match self.slc {
            Some(slc) => slc.program_ns,
            None if self.log.is_some() => program_ns,
            None => program_ns + erase_ns / pages_per_block as f64,
        }
    }

    /// Write amplification of random writes in steady state.
    fn amplification(&self) -> Option<f64> {
        self.log.map(|log| 1.0 / (1.0 - steady::valid_when_collected(&log.size, log.policy)))
    }

    /// Bytes a second of lasting writes of whole pages, and how.
    fn sustained(&self, random: bool) -> (f64, String) {
        let Layout { units, page_bytes, .. } = self.layout;
        // A fast cache that folds when it is full passes every page on: programmed there, sensed, programmed again.
        let folding = self.slc.filter(|slc| slc.fold == Fold::Full);
        let folding_ns = folding.map_or(0.0, |slc| slc.program_ns + self.times.read_ns);
        let page_ns = self.lasting_page_ns(random) + folding_ns;
        let programs = f64::from(units) * page_bytes as f64 * 1e9 / page_ns;
        let collecting = match self.amplification().filter(|_| random) {
            Some(amplification) => {
                format!(" with collecting (everything is written {amplification:.2} times)")
            }
            None => String::new(),
        };
        let words = format!(
            "{units} units x {} / {}{collecting}",
            quantity::size(page_bytes),
            quantity::time(page_ns)
        );
        match self.buffer.and_then(|buffer| buffer.drain_bytes_per_s) {
            Some(drain) if (drain as f64) < programs => (drain as f64, "the write buffer's drain".to_owned()),
            _ => (programs, words),
        }
    }

    /// Writes that program a page sense others first, where they do not give whole mapping units.
    fn lasting_writes(&self, load: &Load) -> Limit {
        let (units, bytes) = (self.layout.units, load.block_size_bytes);
        let programs = self.programs(bytes);
        let (bytes_per_s, mut words) = self.sustained(load.random);
        let mut per_s = bytes_per_s / (programs * self.layout.page_bytes as f64);
        let sensed = self.sensed_before(bytes) as f64;
        if sensed > 0.0 {
            let request_ns = programs * self.lasting_page_ns(load.random) + sensed * self.times.read_ns;
            per_s = per_s.min(f64::from(units) * 1e9 / request_ns);
            words = format!("{units} units / {} for {sensed} pages sensed", quantity::time(request_ns));
        }
        let words = format!("lasting writes, {words}, {programs:.2} pages programmed a request");
        Limit { per_s: per_s / load.stretch, words }
    }

    /// Aligned 4 KiB reads over those that begin 2 KiB later. Each page has one of them across its end; more than one
    /// unit would sense its two pages at once, or not, depending on the stripe and the queue depth.
    fn alignment_effect(&self) -> Option<Fact> {
        let Layout { units, page_bytes, .. } = self.layout;
        if units > 1 || !page_bytes.is_multiple_of(BLOCK_BYTES) {
            return None;
        }
        let value = 1.0 / (1.0 + BLOCK_BYTES as f64 / page_bytes as f64);
        let derivation = format!(
            "the one unit senses a page for an aligned 4 KiB read; of reads from 2 KiB on, one in {} senses two",
            page_bytes / BLOCK_BYTES
        );
        Some(Fact {
            finding: FindingName::AlignmentEffect,
            op: Some(Op::Read),
            value,
            unit: "ratio",
            derivation,
        })
    }

    /// Size and latency of the read cache, where there is one.
    fn cache_facts(&self) -> Vec<Fact> {
        let Some(cache) = self.cache else { return Vec::new() };
        let latency_ns = cache.latency_ns as f64;
        let size = self.scaled("the read cache");
        let latency = format!("held in the read cache, {} within the device", quantity::time(latency_ns));
        vec![
            fact(FindingName::CacheBytes, Some(Op::Read), cache.size_bytes as f64, "B", &size),
            fact(FindingName::CacheLatency, Some(Op::Read), latency_ns, "ns", &latency),
        ]
    }

    fn scaled(&self, words: &str) -> String {
        match self.log.filter(|log| log.scale > 1.0) {
            Some(log) => format!("{words}, divided by {:.1} as the whole device is", log.scale),
            None => words.to_owned(),
        }
    }
}

impl Settings for FlashSettings {
    fn side(&self) -> Side {
        Side::Medium
    }

    fn build(&self, place: &PartPosition) -> Box<dyn Part> {
        self.chips(place)
    }

    fn scatters(&self) -> bool {
        true
    }

    fn lays_out(&self) -> bool {
        self.layout.units > 1
    }

    fn idle(&self, load: &Load) -> Option<IdleLatency> {
        let turns = self.turns(load.block_size_bytes) as f64;
        let (fixed_ns, words) = match (load.op, self.buffer) {
            (Op::Flush, Some(buffer)) => {
                (self.page_alone_ns() * load.stretch + buffer.flush_ns as f64, "a page and the flush")
            }
            (Op::Trim | Op::Flush, _) => (super::chips::LOOKUP_NS as f64, "a look into the mapping"),
            (Op::Read, _) => (turns * self.times.read_ns * load.stretch, "sensing"),
            (Op::Write, Some(buffer)) => (buffer.latency_ns as f64, "write buffer"),
            (Op::Write, None) => {
                let rounded = load.block_size_bytes.next_multiple_of(self.layout.mapping_unit_bytes);
                // Where anything is missing, the busiest unit misses all of its pages, unless it is the only
                // one.
                let missing = match self.sensed_before(load.block_size_bytes) {
                    pages if pages == 0 || self.layout.units == 1 => pages,
                    _ => self.turns(rounded),
                };
                let programs = self.turns(rounded) as f64 * self.times.program_ns;
                ((programs + missing as f64 * self.times.read_ns) * load.stretch, "rewriting")
            }
        };
        let words = format!("{words} {}", quantity::time(fixed_ns));
        Some(IdleLatency { fixed_ns, ns_per_byte: 0.0, linear: false, words })
    }

    fn limit(&self, load: &Load) -> Option<Limit> {
        if load.op == Op::Write {
            return Some(self.lasting_writes(load));
        }
        let units = self.layout.units;
        let pages = load.block_size_bytes.div_ceil(self.layout.page_bytes);
        let read_ns = self.times.read_ns * load.stretch;
        let each = if pages > 1 { format!(" / {pages} pages") } else { String::new() };
        let words = format!("{units} units / {}{each} for addresses spread evenly", quantity::time(read_ns));
        Some(Limit { per_s: f64::from(units) * 1e9 / read_ns / pages as f64, words })
    }

    fn bursts(&self, load: &Load) -> Vec<Burst> {
        let bytes = load.block_size_bytes;
        let of_buffer = self.buffer.map(|buffer| Burst {
            limit: None,
            words: format!("until the buffer of {} is full", quantity::size(buffer.size_bytes)),
        });
        let of_cache = self.slc.map(|slc| {
            let Layout { units, page_bytes, .. } = self.layout;
            let per_s = f64::from(units) * page_bytes as f64 * 1e9 / slc.program_ns;
            let words = format!(
                "{units} units x {} / {} / {}",
                quantity::size(page_bytes),
                quantity::time(slc.program_ns),
                quantity::size(bytes)
            );
            Burst {
                limit: Some(Limit { per_s: per_s / bytes as f64 / load.stretch, words }),
                words: format!("until the fast cache of {} is full", quantity::size(slc.size_bytes)),
            }
        });
        of_buffer.into_iter().chain(of_cache).collect()
    }

    fn no_closed_form(&self, load: &Load, law: Law) -> Option<&'static str> {
        let erases = law == Law::Alone && self.buffer.is_none() && self.times.erase_ns > 0.0;
        (load.op == Op::Write && erases).then_some(
            "some writes meet an erase and others do not, which depends on what was written before",
        )
    }

    fn facts(&self, _load: &Load) -> Vec<Fact> {
        let (sustained, words) = self.sustained(true);
        let mut facts = vec![
            fact(
                FindingName::Parallelism,
                None,
                f64::from(self.layout.units),
                "requests",
                "as many as there are units",
            ),
            fact(
                FindingName::MappingUnitBytes,
                Some(Op::Write),
                self.layout.mapping_unit_bytes as f64,
                "B",
                "as set",
            ),
            fact(FindingName::SustainedRate, Some(Op::Write), sustained, "B/s", &words),
        ];
        if self.layout.units > 1 && self.log.is_none() {
            facts.push(fact(FindingName::StripeBytes, None, self.layout.stripe_bytes as f64, "B", "as set"));
        }
        if let Some(buffer) = self.buffer {
            let words = self.scaled("the buffer, as set; what drains meanwhile comes on top");
            facts.push(fact(
                FindingName::WriteBufferBytes,
                Some(Op::Write),
                buffer.size_bytes as f64,
                "B",
                &words,
            ));
        }
        if self.buffer.is_some() && self.slc.is_none() {
            let (rate, words) = self.sustained(false);
            facts.push(fact(FindingName::BufferDrainRate, Some(Op::Write), rate, "B/s", &words));
        }
        facts.extend(self.alignment_effect());
        if let Some(slc) = self.slc {
            let words = self.scaled(&format!("the fast cache, as set, {}", slc.fold));
            facts.push(fact(
                FindingName::WriteBufferBytes,
                Some(Op::Write),
                slc.size_bytes as f64,
                "B",
                &words,
            ));
        }
        facts.extend(self.cache_facts());
        facts
    }
}

fn fact(finding: FindingName, op: Option<Op>, value: f64, unit: &'static str, derivation: &str) -> Fact {
    Fact { finding, op, value, unit, derivation: derivation.to_owned() }
}
