//! Words of the check `hosts-apart`.

use iosonde_model::{cause::HostsApart, units};

/// `the 4 hosts overlapped for 71 % of the time; host 3 began 88 ms after the announced moment`.
pub(super) fn words(cause: &HostsApart) -> String {
    match cause {
        HostsApart::Apart { hosts, overlap_share, slowest_rank, slowest_late_ns, clock_error_ns, .. } => {
            let late = units::time(slowest_late_ns.unsigned_abs() as f64);
            let order = if *slowest_late_ns < 0 { "before" } else { "after" };
            let clocks = if *clock_error_ns > 1_000_000 {
                format!("; their clocks are known to ±{}", units::time(*clock_error_ns as f64))
            } else {
                String::new()
            };
            format!(
                "the {hosts} hosts overlapped for {:.1} % of the time; host {slowest_rank} began {late} {order} the \
                 announced moment{clocks}",
                overlap_share * 100.0
            )
        }
        HostsApart::FewTurns { hosts, few, turns_needed, elapsed_s, wanted_s } => {
            let wanted = wanted_s.map_or_else(String::new, |wanted_s| {
                format!(
                    "; trials of {} are needed (`--time`), or a lower queue depth",
                    units::duration(wanted_s)
                )
            });
            format!(
                "{few} of {hosts} hosts completed less than {turns_needed} times their queue depth in {}{wanted}",
                units::duration(*elapsed_s)
            )
        }
        HostsApart::Unknown { hosts } => format!("the starts of the {hosts} hosts are not recorded"),
    }
}
