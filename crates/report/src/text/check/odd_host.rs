//! Words of the check `odd-host`.

use iosonde_model::cause::{OddHost, OddOne};

/// `host 3 (node7) is 20 % slower than the other hosts (18–22 %)`.
pub(super) fn words(cause: &OddHost) -> String {
    match cause {
        OddHost::Odd { hosts, family_wise_confidence, odd } => {
            let shown: Vec<String> = odd.iter().take(3).map(one).collect();
            let more = odd.len() - shown.len();
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            let wrong = (1.0 - family_wise_confidence) * 100.0;
            format!("{}{more}; family-wise error rate {wrong:.0} % over {hosts} hosts", shown.join(", "))
        }
        OddHost::TooFewHosts { hosts, needed } => {
            format!("{hosts} hosts; {needed} are needed to name an odd one")
        }
        OddHost::TooFewRounds { needed } => format!("no workload has {needed} valid rounds of all hosts"),
    }
}

/// `host 3 (node7)`.
pub(super) fn host(rank: u32, name: &str) -> String {
    if name.is_empty() { format!("host {rank}") } else { format!("host {rank} ({name})") }
}

fn one(odd: &OddOne) -> String {
    let share = |ratio: f64| (1.0 - ratio).abs() * 100.0;
    let (a, b) = (share(odd.low), share(odd.high));
    let word = if odd.ratio < 1.0 { "slower" } else { "faster" };
    format!(
        "{} is {:.0} % {word} than the others ({:.0}–{:.0} %)",
        host(odd.rank, &odd.name),
        share(odd.ratio),
        a.min(b),
        a.max(b)
    )
}
