//! Words of the check `early-flush`.

use iosonde_model::{Unit, cause::EarlyFlush};

use crate::text::number::alone;

/// `half of the commits took 200 µs or less; a rotating disk needs 2.00 ms: ..`.
pub(super) fn words(cause: &EarlyFlush) -> String {
    let time = |ns: f64| alone(Unit::Time, ns);
    match *cause {
        EarlyFlush::BeforeRotation { commit_ns_p50, half_rotation_ns } => format!(
            "half of the commits took {} or less, and a rotating disk needs {}: a cache answers, and a power failure \
             may lose what it holds",
            time(commit_ns_p50),
            time(half_rotation_ns)
        ),
        EarlyFlush::BeforeCommand { flush_ns_mean, command_ns } => format!(
            "a flush took {} on average, less than a command to a drive ({}): flushes do not reach it, and a power \
             failure may lose its cache",
            time(flush_ns_mean),
            time(command_ns)
        ),
        EarlyFlush::BeforeAnyDrive { flush_ns_mean } => format!(
            "a flush took {} on average: none reached a drive, so it needs none (memory protected against power \
             failure), or flushes are ignored",
            time(flush_ns_mean)
        ),
        EarlyFlush::MediumHidden => "the medium is hidden: whether flushes reach it is unknown".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_fast_stands_beside_what_is_possible() {
        let cause = EarlyFlush::BeforeRotation { commit_ns_p50: 2e5, half_rotation_ns: 2e6 };
        assert!(
            words(&cause).starts_with("half of the commits took 200 µs or less, and a rotating disk needs 2")
        );
    }
}
