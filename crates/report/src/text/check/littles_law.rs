//! Words of the check `littles-law`.

use iosonde_model::{
    cause::{LittlesLaw, Term},
    units,
};

pub(super) fn words(cause: &LittlesLaw) -> String {
    match cause {
        LittlesLaw::Paced => {
            "with a rate, latency counts from the due time, the queue depth from the submission".to_owned()
        }
        LittlesLaw::Uncounted => {
            "with flushes, the queue depth is a limit, and its mean was not recorded".to_owned()
        }
        LittlesLaw::Unstated => "the file does not state the queue depth".to_owned(),
        LittlesLaw::Blocking { engine, jobs, asked } => {
            // It is asynchronous with direct I/O alone.
            let buffered = if engine == "libaio" { "buffered " } else { "" };
            format!("{engine} sends one {buffered}request at a time: queue depth {jobs}, not {asked}")
        }
        LittlesLaw::NoLatency => "throughput or mean latency is not given".to_owned(),
        LittlesLaw::LongRequests { longest_ns, measured_s } => format!(
            "the longest request took {} of {} measured, which is more than half",
            units::time(*longest_ns),
            units::time(measured_s * 1e9)
        ),
        LittlesLaw::TooFewRequests { requests, counted } => format!(
            "only {requests} requests completed at queue depth {}: some may have never been served",
            depth(*counted)
        ),
        LittlesLaw::Idle { in_flight, expected, terms } => format!(
            "{} = queue depth {in_flight:.2}, not {}: the rate includes time outside the requests ({})",
            product(terms),
            depth(*expected),
            units::percent(1.0 - in_flight / expected)
        ),
        LittlesLaw::Missed { in_flight, expected, misread_thousands, may_wait, terms } => format!(
            "{} = queue depth {}, not {}{}{}",
            product(terms),
            depth(*in_flight),
            depth(*expected),
            misread_thousands.map_or_else(String::new, misread),
            if *may_wait {
                "; a rate, pauses or a flush that the file does not state may explain it"
            } else {
                ""
            }
        ),
    }
}

/// `82.2 k × 260 µs + 81.8 k × 187 µs`: rate times latency.
fn product(terms: &[Term]) -> String {
    let term = |term: &Term| format!("{} × {}", units::count(term.iops), units::time(term.latency_ns_mean));
    terms.iter().map(term).collect::<Vec<_>>().join(" + ")
}

/// Decimals only where they matter.
fn depth(value: f64) -> String {
    if value < 1.0 {
        return format!("{value:.2}");
    }
    if value >= 20.0 || value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

fn misread(thousands: i32) -> String {
    let factor = match thousands.abs() {
        1 => "thousand",
        2 => "million",
        _ => "billion",
    };
    let size = if thousands > 0 { "large" } else { "small" };
    format!("; a latency a {factor} times too {size} was probably read in the wrong unit")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_law_stands_with_the_figures_of_the_table() {
        let terms = vec![
            Term { iops: 82_200.0, latency_ns_mean: 260_000.0 },
            Term { iops: 81_800.0, latency_ns_mean: 187_000.0 },
        ];
        let missed = |misread_thousands| {
            let terms = terms.clone();
            words(&LittlesLaw::Missed {
                in_flight: 36.67,
                expected: 64.0,
                misread_thousands,
                may_wait: false,
                terms,
            })
        };
        assert_eq!(missed(None), "82.2 k × 260 µs + 81.8 k × 187 µs = queue depth 37, not 64");
        let slip = "; a latency a million times too large was probably read in the wrong unit";
        assert!(missed(Some(2)).ends_with(slip), "{}", missed(Some(2)));
    }
}
