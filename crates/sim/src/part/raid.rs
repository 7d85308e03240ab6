//! An array as the medium: equal devices side by side, striped (RAID level 0).
//!
//! Laws:
//! * the byte at an offset lies on member floor(offset / `stripe`) mod `count`, there at floor(offset / (`stripe` x
//!   `count`)) x `stripe` + offset mod `stripe`. A request becomes one request to each member that it touches, since
//!   what lies on one member is contiguous there, and is done when the last of them is; one that fails makes all fail;
//! * requests no larger than a stripe go to one member, so that `count` members serve `count` times what one does
//!   where addresses lie evenly; random addresses queue at each member apart. An aligned request of `count` stripes or
//!   more moves at `count` times a member's rate (Chen et al., RAID: High-Performance, Reliable Secondary Storage,
//!   ACM Computing Surveys 26, 1994, section 3);
//! * a flush goes to every member.
//!
//! Members are whole devices without their `[host]`: a device's name, or the path of its file. Each has an
//! inside of its
//! own, drawn from a seed of its own. Noise, heat and neighbours belong to members, silent faults to the array.
//!
//! ```toml
//! [raid]
//! level = 0
//! members = "sata-ssd"
//! count = 4
//! stripe = "128KiB"
//! ```

use iosonde_model::{
    FileError, FindingName, Named, Op,
    units::{self, SizeBytes},
};
use serde::Deserialize;
use std::sync::Arc;

use crate::{
    device::Device,
    event::Leg,
    file::DeviceFile,
    flow::{Counters, Flow, Id},
    part::{Burst, Fact, IdleLatency, Law, Limit, Load, Part, PartKind, PartPosition, Settings, Side, Step},
    reader::{Reader, Start},
    request::{Ask, Done, REFUSAL_NS},
    truth::Laws,
};

/// Reads `[raid]`.
pub(crate) struct Raid;

impl Named for Raid {
    fn name(&self) -> &'static str {
        "raid"
    }
}

/// 4,096: more than any array here has, and each is a whole device in memory.
const MEMBERS: std::ops::RangeInclusive<u64> = 2..=4096;

impl PartKind for Raid {
    fn needed(&self) -> &'static [(&'static str, &'static str)] {
        &[
            ("raid.level", "0: stripes without parity"),
            ("raid.members", "a device's name, or the path of its file"),
            ("raid.count", "how many members"),
            ("raid.stripe", "such as \"128KiB\""),
        ]
    }

    fn read(&self, reader: &mut Reader) -> Result<Option<Arc<dyn Settings>>, FileError> {
        let Some(raid) = reader.section::<RaidKeys>("raid")? else { return Ok(None) };
        let RaidKeys { level, members: name, count, stripe: SizeBytes(stripe_bytes) } = raid;
        if level != 0 {
            return Err(reader.impossible("raid.level", "level 0 is simulated: stripes without parity"));
        }
        let Some(members) = reader.members else {
            return Err(reader.impossible("raid.level", "an array's members are single devices"));
        };
        if !MEMBERS.contains(&count) {
            return Err(reader.impossible("raid.count", "an array has between 2 and 4,096 members"));
        }
        // 4 KiB: a page of memory, below which no array goes; 1 GiB: no request is larger.
        if !(4096..=1 << 30).contains(&stripe_bytes) || stripe_bytes % 512 != 0 {
            let rule = "it is a whole number of 512-byte blocks, between 4KiB and 1GiB";
            return Err(reader.impossible("raid.stripe", rule));
        }
        let text = members(&name).map_err(|why| reader.impossible("raid.members", why))?;
        if let Some(section) = ["noise", "neighbour", "thermal"].into_iter().find(|name| reader.has(name)) {
            let rule = "its members wander, not an array: give it to the member's own file";
            return Err(reader.whole(format!("[{section}] beside [raid]: {rule}")));
        }
        let start = Start { written_bytes: reader.start.written_bytes / count, ..reader.start };
        let member = DeviceFile::member(&text, &name, start)?.without_host();
        if member.settings().any(|part| part.fails_in_silence()) {
            let rule = "its writes are lost, torn or misplaced: give such [faults] to the array";
            return Err(reader.impossible("raid.members", rule));
        }
        let capacity_bytes = reader.capacity_bytes as f64;
        let scale = member.scale().unwrap_or(1.0);
        let member_bytes = member.capacity_bytes() / stripe_bytes * stripe_bytes;
        let held_bytes = member_bytes * count;
        // Scaling rounds; that is no mistake of the file.
        if capacity_bytes / scale > held_bytes as f64 * 1.001 {
            let rule =
                format!("{count} members hold {}, less than the capacity", units::decimal_bytes(held_bytes));
            return Err(reader.impossible("raid.count", rule));
        }
        if scale > 1.0 {
            reader.scaled = Some((scale, ((capacity_bytes / scale) as u64).min(held_bytes)));
        }
        reader.member = Some((name.clone(), text));
        Ok(Some(Arc::new(RaidSettings { member, name, count: count as u32, stripe_bytes })))
    }
}

#[derive(Deserialize)]
struct RaidKeys {
    level: u64,
    members: String,
    count: u64,
    stripe: SizeBytes,
}

#[derive(Debug, Clone)]
struct RaidSettings {
    member: DeviceFile,
    name: String,
    count: u32,
    stripe_bytes: u64,
}

impl RaidSettings {
    /// Returns the load of each member that an aligned request touches, and the mean number of such members.
    fn share(&self, load: &Load) -> (Load, f64) {
        let stripes = load.block_size_bytes.div_ceil(self.stripe_bytes).max(1);
        let touched = stripes.min(u64::from(self.count));
        (Load { block_size_bytes: load.block_size_bytes / touched, ..*load }, touched as f64)
    }

    fn of_array(&self, limit: Limit, touched: f64) -> Limit {
        let each = if touched > 1.0 { format!(" / {touched} for each request") } else { String::new() };
        let words = format!("{} members x ({}){each}", self.count, limit.words);
        Limit { per_s: limit.per_s * f64::from(self.count) / touched, words }
    }
}

impl Settings for RaidSettings {
    fn side(&self) -> Side {
        Side::Medium
    }

    fn build(&self, place: &PartPosition) -> Box<dyn Part> {
        // Any odd number spreads the seeds; this one is 2^64 divided by the golden ratio.
        let seed = |number: u64| place.seed.wrapping_add((number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let members = (0..u64::from(self.count)).map(|number| Member {
            device: Device::new(&self.member, seed(number)),
            awake_at_ns: None,
            seen: Counters::default(),
        });
        Box::new(Array {
            members: members.collect(),
            stripe_bytes: self.stripe_bytes,
            stage: place.stage,
            done: Vec::new(),
        })
    }

    fn scatters(&self) -> bool {
        true
    }

    fn lays_out(&self) -> bool {
        true
    }

    fn wanders(&self) -> Option<&'static str> {
        self.member.settings().find_map(|part| part.wanders())
    }

    fn idle(&self, load: &Load) -> Option<IdleLatency> {
        let (share, _) = self.share(load);
        let idle = Laws::of(&self.member).idle_of(&share);
        let ns = idle.fixed_ns + idle.ns_per_byte * share.block_size_bytes as f64;
        let words = format!("a member ({})", idle.words);
        Some(IdleLatency { fixed_ns: ns, ns_per_byte: 0.0, linear: false, words })
    }

    fn limit(&self, load: &Load) -> Option<Limit> {
        let (share, touched) = self.share(load);
        Some(self.of_array(Laws::of(&self.member).most(&share).ok()?, touched))
    }

    fn bursts(&self, load: &Load) -> Vec<Burst> {
        let (share, touched) = self.share(load);
        let of_member = self.member.settings().flat_map(|part| part.bursts(&share));
        let of_array = |burst: Burst| Burst {
            limit: burst.limit.map(|limit| self.of_array(limit, touched)),
            words: format!("{} of each member", burst.words),
        };
        of_member.map(of_array).collect()
    }

    fn no_closed_form(&self, load: &Load, law: Law) -> Option<&'static str> {
        let (share, _) = self.share(load);
        let of_member = self.member.settings().find_map(|part| part.no_closed_form(&share, law));
        let none = || "what one member serves at most has no closed form";
        of_member.or_else(|| (law == Law::Most && Laws::of(&self.member).most(&share).is_err()).then(none))
    }

    fn facts(&self, load: &Load) -> Vec<Fact> {
        let mut facts = vec![Fact {
            finding: FindingName::StripeBytes,
            op: None,
            value: self.stripe_bytes as f64,
            unit: "B",
            derivation: "as set".to_owned(),
        }];
        for fact in self.member.settings().flat_map(|part| part.facts(load)) {
            let adds_up = [
                FindingName::Parallelism,
                FindingName::WriteBufferBytes,
                FindingName::CacheBytes,
                FindingName::SustainedRate,
                FindingName::BufferDrainRate,
            ];
            let same = [
                FindingName::MappingUnitBytes,
                FindingName::CacheLatency,
                FindingName::RotationPeriod,
                FindingName::SeekTimeAverage,
                FindingName::Drift,
            ];
            if adds_up.contains(&fact.finding) {
                let derivation = format!("{} members x ({})", self.count, fact.derivation);
                facts.push(Fact { value: fact.value * f64::from(self.count), derivation, ..fact });
            } else if same.contains(&fact.finding) {
                let derivation = format!("of each {}: {}", self.name, fact.derivation);
                facts.push(Fact { derivation, ..fact });
            }
        }
        facts
    }

    fn caveat(&self, load: &Load, law: Law) -> Option<String> {
        self.member.settings().find_map(|part| part.caveat(load, law))
    }
}

struct Member {
    device: Device,
    /// The earliest moment at which it will be looked at.
    awake_at_ns: Option<u64>,
    seen: Counters,
}

struct Array {
    members: Vec<Member>,
    stripe_bytes: u64,
    stage: u8,
    done: Vec<Done>,
}

impl Array {
    /// Offset and length of a range's part on one member. Members hold whole stripes in turn; the first and the last
    /// stripe may be cut.
    fn on_member(&self, number: u64, offset_bytes: u64, length_bytes: u64) -> Option<(u64, u64)> {
        let (stripe, count) = (self.stripe_bytes, self.members.len() as u64);
        // How many bytes of this member lie below an offset of the array.
        let below = |offset_bytes: u64| {
            let (row, in_row) = (offset_bytes / (stripe * count), offset_bytes % (stripe * count));
            row * stripe + in_row.saturating_sub(number * stripe).min(stripe)
        };
        let (from, to) = (below(offset_bytes), below(offset_bytes + length_bytes));
        (to > from).then_some((from, to - from))
    }

    /// Looks at a member again when something will have happened there.
    fn arrange(&mut self, number: u32, flow: &mut Flow) {
        let member = &mut self.members[number as usize];
        let Some(next_ns) = member.device.next_event_ns() else { return };
        if member.awake_at_ns.is_none_or(|at_ns| next_ns < at_ns) {
            member.awake_at_ns = Some(next_ns);
            flow.events.push(next_ns, number, Leg::Wake(self.stage));
        }
    }
}

impl Part for Array {
    fn down(&mut self, now_ns: u64, id: Id, flow: &mut Flow) -> Step {
        let request = flow[id];
        let mut pieces = 0;
        for number in 0..self.members.len() as u32 {
            let place = match request.op {
                Op::Flush => Some((0, 0)),
                _ => self.on_member(u64::from(number), request.offset_bytes, u64::from(request.length_bytes)),
            };
            let Some((offset_bytes, length_bytes)) = place else { continue };
            let ask = Ask {
                tag: u64::from(id),
                op: request.op,
                offset_bytes,
                length_bytes: length_bytes as u32,
                direct: true,
            };
            self.members[number as usize].device.submit(now_ns, ask);
            self.arrange(number, flow);
            pieces += 1;
        }
        flow[id].pieces_left = pieces;
        if pieces == 0 { Step::Back(now_ns + REFUSAL_NS) } else { Step::Kept }
    }

    fn wake(&mut self, now_ns: u64, number: u32, flow: &mut Flow) {
        let member = &mut self.members[number as usize];
        // An earlier moment was arranged since, and has been.
        if member.awake_at_ns != Some(now_ns) {
            return;
        }
        member.awake_at_ns = None;
        member.device.reap(now_ns, &mut self.done);
        let (counters, seen) = (member.device.counters(), member.seen);
        flow.counters.programmed_bytes += counters.programmed_bytes - seen.programmed_bytes;
        flow.counters.erased_blocks += counters.erased_blocks - seen.erased_blocks;
        member.seen = counters;
        for done in self.done.drain(..) {
            let id = done.tag as Id;
            if done.result < 0 && flow[id].errno == 0 {
                flow[id].errno = -done.result;
            }
            flow[id].pieces_left -= 1;
            if flow[id].pieces_left == 0 {
                flow.events.push(now_ns, id, flow.leg_above(self.stage));
            }
        }
        self.arrange(number, flow);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn array(count: usize, stripe_bytes: u64) -> Array {
        let text = "name = \"x\"\ncapacity = \"1GB\"\n[queue]\nservers = 1\nservice = { fixed = \"80us\" }\n";
        let file = DeviceFile::parse(text, "x").unwrap();
        let member =
            || Member { device: Device::new(&file, 1), awake_at_ns: None, seen: Counters::default() };
        let members = std::iter::repeat_with(member).take(count).collect();
        Array { members, stripe_bytes, stage: 0, done: Vec::new() }
    }

    proptest! {
        #[test]
        fn every_byte_lies_on_one_member_where_the_law_says(
            count in 2usize..6, stripe in 1u64..5, offset in 0u64..200, length in 1u64..200,
        ) {
            let (array, stripe) = (array(count, stripe), stripe);
            let mut bytes: Vec<(u64, u64)> = Vec::new();
            for number in 0..count as u64 {
                if let Some((from, length)) = array.on_member(number, offset, length) {
                    bytes.extend((from..from + length).map(|at| (number, at)));
                }
            }
            let mut expected: Vec<(u64, u64)> = (offset..offset + length)
                .map(|at| (at / stripe % count as u64, at / (stripe * count as u64) * stripe + at % stripe))
                .collect();
            expected.sort_unstable();
            prop_assert_eq!(bytes, expected);
        }
    }
}
