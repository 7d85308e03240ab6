//! Words of the check `interference`.

use iosonde_model::{
    cause::{CountedAt, HostsSlowed, Interference, Missing},
    units,
};

pub(super) fn words(cause: &Interference) -> String {
    match cause {
        Interference::OtherBytes { others_bytes, issued_bytes, counted_at } => {
            let (place, tool) = match counted_at {
                CountedAt::Device(name) => (name.as_deref().unwrap_or("the device"), "; `iotop` shows which"),
                CountedAt::Mount => ("this mount", ""),
            };
            format!(
                "another process moved {} on {place}, the trial itself {}{tool}",
                units::decimal_bytes(*others_bytes),
                units::decimal_bytes(*issued_bytes)
            )
        }
        Interference::AtLimit { others_bytes, issued_bytes } => format!(
            "another process moved {} beside this trial's {}; at a control group's limit, its effect is unknown",
            units::decimal_bytes(*others_bytes),
            units::decimal_bytes(*issued_bytes)
        ),
        Interference::Steal { steal_share } => {
            format!("the hypervisor took {} of CPU time (steal: adds latency)", units::percent(*steal_share))
        }
        Interference::CpuPressure { pressure_cpu_some_share, .. } => format!(
            "programs waited for a CPU {} of the time, so the CPU may be the limit; {}",
            units::percent(*pressure_cpu_some_share),
            match cause.mostly_own_cpu_share() {
                Some(own) => format!(
                    "iosonde itself used {} of the busy CPU time: use fewer jobs, or an engine that needs less CPU",
                    units::percent(own)
                ),
                None => "stop other programs".to_owned(),
            }
        ),
        Interference::MemoryShort => {
            "the system signalled that memory was short, so it may have paged; stop other programs".to_owned()
        }
        Interference::Retransmissions { retransmissions } => {
            let plural = if *retransmissions == 1 { "" } else { "s" };
            format!(
                "the network file system retransmitted {retransmissions} request{plural}: their latency is not the \
                 storage's"
            )
        }
        Interference::Unseen { missing } => {
            let missing: Vec<&str> = missing.iter().copied().map(unread).collect();
            format!("interference may be undetected: {}", missing.join("; "))
        }
        Interference::TooFewWindows { windows_needed, requests_needed } => format!(
            "no point has {windows_needed} windows of {requests_needed:.0} requests, which would show stalls by other \
             guests"
        ),
        Interference::Stalls { stretches, length_s, loss_share, time_share, period_s, hosts } => {
            let every = period_s
                .map_or_else(String::new, |period_s| format!(", every {}", units::time(period_s * 1e9)));
            format!(
                "{stretches} slow periods of about {}{every}{} ({} of the time observed, {} slower): other users or \
                 garbage \
                 collection",
                units::time(length_s * 1e9),
                hosts.map_or_else(String::new, on_hosts),
                units::percent(*time_share),
                units::percent(*loss_share)
            )
        }
    }
}

/// ` on all 8 hosts`.
fn on_hosts(HostsSlowed { slowed, hosts }: HostsSlowed) -> String {
    if slowed == hosts { format!(" on all {hosts} hosts") } else { format!(" on {slowed} of {hosts} hosts") }
}

fn unread(missing: Missing) -> &'static str {
    match missing {
        Missing::DeviceCounters => "the device's counters were not read",
        Missing::UncachedCounters => "with buffered I/O, other I/O cannot be separated from read-ahead",
        Missing::Steal => "steal time was not read",
        Missing::CpuPressure => "CPU pressure was not read",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_bytes_are_told_in_numbers() {
        let counted_at = CountedAt::Device(Some("vda".into()));
        let moved =
            Interference::OtherBytes { others_bytes: 60 << 20, issued_bytes: 110_000 * 4096, counted_at };
        assert_eq!(
            words(&moved),
            "another process moved 62.9 MB on vda, the trial itself 451 MB; `iotop` shows which"
        );
    }

    #[test]
    fn pressure_of_its_own_threads_is_nothing_that_others_did() {
        let pressure =
            |own_cpu_share| words(&Interference::CpuPressure { pressure_cpu_some_share: 0.4, own_cpu_share });
        let others =
            "programs waited for a CPU 40 % of the time, so the CPU may be the limit; stop other programs";
        assert_eq!(pressure(None), others);
        assert_eq!(pressure(Some(0.2)), others);
        assert_eq!(
            pressure(Some(0.8)),
            "programs waited for a CPU 40 % of the time, so the CPU may be the limit; iosonde itself used 80 % of the \
             busy CPU time: use fewer jobs, or an engine that needs less CPU"
        );
    }

    #[test]
    fn regular_stalls_have_their_period() {
        let stalls = |period_s, hosts| {
            words(&Interference::Stalls {
                stretches: 6,
                length_s: 0.6,
                loss_share: 0.5,
                time_share: 0.075,
                period_s,
                hosts,
            })
        };
        let rest = "(7.5 % of the time observed, 50 % slower): other users or garbage collection";
        assert_eq!(stalls(Some(9.6), None), format!("6 slow periods of about 600 ms, every 9.60 s {rest}"));
        assert_eq!(stalls(None, None), format!("6 slow periods of about 600 ms {rest}"));
        let all = Some(HostsSlowed { slowed: 8, hosts: 8 });
        assert_eq!(stalls(None, all), format!("6 slow periods of about 600 ms on all 8 hosts {rest}"));
    }
}
