//! Words of the check `host-slowed`.

use iosonde_model::{
    cause::{HostSlowed, SlowedHost},
    units,
};

use super::odd_host::host;

/// `host 3 (node7): 6 slow periods of about 600 ms (5 % of the time, 50 % slower than the others)`.
pub(super) fn words(cause: &HostSlowed) -> String {
    match cause {
        HostSlowed::Slowed { hosts, slowed } => {
            let shown: Vec<String> = slowed.iter().take(2).map(one).collect();
            let more = slowed.len() - shown.len();
            let more = if more > 0 { format!("; {more} more of {hosts} hosts") } else { String::new() };
            format!("{}{more}", shown.join("; "))
        }
        HostSlowed::TooFewHosts { hosts, needed } => {
            format!("{hosts} hosts; {needed} are needed to tell one from the others")
        }
        HostSlowed::NoWindows { hosts } => {
            format!("the course of each of {hosts} hosts was not kept: that is done for up to 64")
        }
        HostSlowed::TooFewWindows { windows_needed, requests_needed } => {
            format!("no workload has {windows_needed} windows of {requests_needed:.0} requests of each host")
        }
    }
}

fn one(slowed: &SlowedHost) -> String {
    let every = slowed
        .period_s
        .map_or_else(String::new, |period_s| format!(", every {}", units::time(period_s * 1e9)));
    let whose = if slowed.is_made_up() {
        "the others gained most of that".to_owned()
    } else {
        format!("the sum of all hosts fell by {}", units::percent(1.0 - slowed.all_share))
    };
    format!(
        "{}: {} slow periods of about {}{every} ({} of the time, {} slower than the others); {whose}",
        host(slowed.rank, &slowed.name),
        slowed.periods,
        units::time(slowed.length_s * 1e9),
        units::percent(slowed.time_share),
        units::percent(slowed.loss_share)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slowed_host_is_told_with_what_the_others_did() {
        let slowed = |made_up_share| SlowedHost {
            rank: 3,
            name: "node7".into(),
            periods: 6,
            length_s: 0.6,
            loss_share: 0.5,
            time_share: 0.05,
            period_s: Some(9.6),
            all_share: 0.94,
            made_up_share,
        };
        let told =
            |made_up_share| words(&HostSlowed::Slowed { hosts: 8, slowed: vec![slowed(made_up_share); 3] });
        let head = "host 3 (node7): 6 slow periods of about 600 ms, every 9.60 s (5.0 % of the time, 50 % slower than \
                    the others)";
        let fell = format!("{head}; the sum of all hosts fell by 6.0 %");
        assert_eq!(told(0.0), format!("{fell}; {fell}; 1 more of 8 hosts"));
        assert!(told(0.9).starts_with(&format!("{head}; the others gained most of that")));
    }
}
