//! Truths about the program that asks: what its processors spend, and what several of them add.

use iosonde_model::{Conditions, FindingName, Op, units};

use super::{
    laws::Laws,
    stated::{SMALL_BYTES, Stated, conditions},
    undefined::why_not,
};

impl Laws<'_> {
    /// Processor time over elapsed time of small requests at queue depth 1: cost / base latency. (Utilisation law,
    /// U = X S: Lazowska et al., 1984, chapter 3.)
    pub(super) fn processor_share(&self, op: Op) -> Stated {
        let conditions = conditions(op, SMALL_BYTES, Some(1));
        let cost_ns = self.load(op, SMALL_BYTES, true).host_cost_ns;
        if cost_ns == 0.0 {
            return Stated::none(conditions, why_not(FindingName::ProcessorShare));
        }
        let latency = self.base_latency(op);
        let Some(latency_ns) = latency.value else { return latency };
        if let Some(why) = self.held_back(&self.load(op, SMALL_BYTES, true), &self.idle(op)) {
            return Stated::none(conditions, why);
        }
        let derivation = format!(
            "the program works {} of every {}, the base latency",
            units::time(cost_ns),
            units::time(latency_ns)
        );
        Stated::some(conditions, cost_ns / latency_ns, "ratio", derivation)
    }

    /// Throughput of several workers over that of one at the same total depth. It is 1 where workers cannot use
    /// more processor time than one of them.
    pub(super) fn jobs_effect(&self) -> Stated {
        let load = self.load(Op::Read, SMALL_BYTES, true);
        let processors = self.file.settings().map(|part| part.processors()).max().unwrap_or(1);
        let conditions = Conditions { queue_depth: None, ..conditions(Op::Read, SMALL_BYTES, None) };
        let why = if load.host_cost_ns == 0.0 {
            "requests cost the program no time, so that one worker asks as fast as several"
        } else if processors == 1 {
            "all workers share one processor"
        } else {
            return Stated::none(conditions, why_not(FindingName::JobsEffect));
        };
        Stated::some(conditions, 1.0, "ratio", why.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::super::truths;
    use super::*;
    use crate::DeviceFile;

    fn value(device: &str, finding: FindingName) -> Option<f64> {
        let text = format!("name = \"x\"\nsummary = \"x\"\ncapacity = \"1GiB\"\n{device}");
        let all = truths(&DeviceFile::parse(&text, "x").unwrap());
        all.into_iter().find(|truth| truth.finding == finding).unwrap().value
    }

    const QUEUE: &str = "[queue]\nservers = 1\nservice = { fixed = \"80us\" }\n";

    #[test]
    fn a_program_works_its_part_of_the_base_latency() {
        let host = "[host]\nrequest_cost = \"20us\"\n";
        // 20 us of every 100.
        assert_eq!(value(&format!("{host}{QUEUE}"), FindingName::ProcessorShare), Some(0.2));
        assert_eq!(value(QUEUE, FindingName::ProcessorShare), None);
        // Held back to 100 a second, it waits for something else than the base latency.
        let throttle = "[throttle]\niops = 100\n";
        assert_eq!(value(&format!("{host}{throttle}{QUEUE}"), FindingName::ProcessorShare), None);
    }

    #[test]
    fn workers_add_nothing_without_processors_to_add() {
        assert_eq!(value(QUEUE, FindingName::JobsEffect), Some(1.0));
        let host = "[host]\nrequest_cost = \"20us\"\n";
        assert_eq!(value(&format!("{host}{QUEUE}"), FindingName::JobsEffect), Some(1.0));
        assert_eq!(value(&format!("{host}processors = 8\n{QUEUE}"), FindingName::JobsEffect), None);
    }

    #[test]
    fn a_servers_memory_is_one_round_trip_away() {
        let network = "[network]\nround_trip = \"0.5ms\"\nbandwidth = \"118MB/s\"\n";
        let of = |more: &str| value(&format!("{network}{more}{QUEUE}"), FindingName::NetworkRoundTrip);
        assert_eq!(of("server_cache = \"64MiB\"\n"), Some(500_000.0));
        // 0.5 ms and the server's 80 us are one figure to a client.
        assert_eq!(of(""), None);
    }

    /// One unit with pages of 4 KiB, and a buffer that empties at a set rate.
    fn one_unit(page: &str) -> String {
        format!(
            "[flash]\nunits = 1\nstripe = \"{page}\"\npage = \"{page}\"\nmapping_unit = \"4KiB\"\nread = \"60us\"\n\
             program = \"100us\"\nerase = \"3ms\"\npages_per_block = 256\nplacement = \"static\"\n\
             write_buffer = {{ size = \"16MiB\", latency = \"10us\", drain = \"20MB/s\", flush = \"1ms\" }}\n"
        )
    }

    #[test]
    fn a_read_across_a_boundary_senses_two_pages() {
        // 60 us for 120; with pages of 16 KiB one read in four crosses a boundary: 4 pages for 5.
        assert_eq!(value(&one_unit("4KiB"), FindingName::AlignmentEffect), Some(0.5));
        assert_eq!(value(&one_unit("16KiB"), FindingName::AlignmentEffect), Some(0.8));
        assert_eq!(value(QUEUE, FindingName::AlignmentEffect), Some(1.0));
        let many = one_unit("4KiB").replace("units = 1", "units = 4");
        assert_eq!(value(&many, FindingName::AlignmentEffect), None);
    }

    #[test]
    fn a_buffer_empties_at_its_drain_or_as_fast_as_pages_are_programmed() {
        assert_eq!(value(&one_unit("4KiB"), FindingName::BufferDrainRate), Some(2e7));
        // 4,096 B / (100 us + 3 ms / 256) = 36.66 MB/s.
        let fast = one_unit("4KiB").replace("20MB/s", "500MB/s");
        let rate = value(&fast, FindingName::BufferDrainRate).unwrap();
        assert!((rate - 4096.0 / (100e-6 + 3e-3 / 256.0)).abs() < 1.0, "{rate}");
        assert_eq!(value(QUEUE, FindingName::BufferDrainRate), None);
    }
}
