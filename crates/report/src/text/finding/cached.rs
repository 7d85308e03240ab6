//! Words of `cache_bytes` and `cache_latency`.

use crate::text::{case::capitalised, workload::workload};
use iosonde_model::{
    Finding, FindingName,
    detail::{CacheProblem, Cached},
    units,
};

use super::value::value;

/// One sentence with its full stop.
pub(super) fn sentence(finding: &Finding, facts: Cached) -> String {
    let (what, figure) = (workload(&finding.conditions), value(finding));
    match facts {
        Cached::Shares { page_cache, .. } => format!("{} holds {figure} of {what}.", cache(page_cache)),
        Cached::Step { fast_span_bytes, slow_span_bytes, page_cache } => format!(
            "{} holds {figure}: {what} are faster within {} than within {}.",
            cache(page_cache),
            units::size(fast_span_bytes),
            units::size(slow_span_bytes)
        ),
        Cached::Level { .. } if finding.name == FindingName::CacheLatency => {
            format!("No cache found, so it has no latency ({what}).")
        }
        Cached::Level { smallest_span_bytes, largest_span_bytes, page_cache } => capitalised(&format!(
            "{}: {what} are as fast within {} as within {}.",
            if page_cache { "the page cache holds all" } else { "no smaller cache found" },
            units::size(largest_span_bytes),
            units::size(smallest_span_bytes)
        )),
    }
}

fn cache(page_cache: bool) -> &'static str {
    if page_cache { "The page cache" } else { "A cache" }
}

/// Assumptions, or why there is no cache.
pub(super) fn why(facts: Cached) -> String {
    match facts {
        Cached::Shares { spans, .. } => {
            let spans =
                if spans == 1 { "one slower span".to_owned() } else { format!("{spans} slower spans") };
            format!(
                "The size is the share of fast requests times the span, in {spans}. Assumes that the cache keeps \
                 recently used data."
            )
        }
        Cached::Step { .. } => {
            "The size lies between two measured spans; spans in between would narrow the interval.".to_owned()
        }
        Cached::Level { .. } => {
            "Every span keeps more than 90 % of the throughput of the smallest.".to_owned()
        }
    }
}

/// Assumptions of a cache's latency.
pub(super) const LATENCY: &str =
    "Mean over the smallest span, which the cache holds; the interval leaves out one trial at a time.";

/// A clause without its full stop.
pub(super) fn problem(problem: CacheProblem) -> String {
    match problem {
        CacheProblem::PassCutShort { held_bytes, span_bytes, passed_bytes } => format!(
            "{} or more; within {} requests are slower, but only {} of that could be read before each trial, which may \
             not fill a cache; measure spans up to {}",
            units::size(held_bytes),
            units::size(span_bytes),
            units::size(passed_bytes),
            units::size(passed_bytes)
        ),
        CacheProblem::StillFilling { span_bytes, gain } => format!(
            "within {}, requests become {} faster during a trial; use a longer `--time` or a higher queue depth",
            units::size(span_bytes),
            units::percent(gain)
        ),
        CacheProblem::TooSlow { span_bytes, request_ns } => format!(
            "even within {} a request takes {}, too long for a cache (shorter seeks of a disk?)",
            units::size(span_bytes),
            units::time(request_ns)
        ),
        CacheProblem::Scatter => {
            "the throughput of the spans scatters too much; use a longer `--time`".to_owned()
        }
        CacheProblem::SizeUnknown => "whether there is a cache is unknown (see `cache_bytes`)".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Detail, Op, Unit};

    use super::*;
    use crate::text::finding::{example, sentence, why_of};

    #[test]
    fn a_cache_has_a_size_and_no_cache_its_evidence() {
        let shares = Detail::Cached(Cached::Shares { spans: 2, page_cache: true });
        let found = example::found(FindingName::CacheBytes, Op::Read, (50_331_648.0, Unit::Bytes), shares);
        assert_eq!(sentence(&found), "The page cache holds 48.0 MiB (47.0–49.0) of 4 KiB random reads.");
        let level = |page_cache| Cached::Level {
            smallest_span_bytes: 8 << 20,
            largest_span_bytes: 256 << 20,
            page_cache,
        };
        let absent = |page_cache| {
            example::absent(FindingName::CacheBytes, Op::Read, Detail::Cached(level(page_cache)))
        };
        let all = sentence(&absent(true));
        assert_eq!(
            all,
            "The page cache holds all: 4 KiB random reads are as fast within 256 MiB as within 8 MiB."
        );
        let none = absent(false);
        let said = "No smaller cache found: 4 KiB random reads are as fast within 256 MiB as within 8 MiB.";
        assert_eq!(sentence(&none), said);
        let why = "Every span keeps more than 90 % of the throughput of the smallest.";
        assert_eq!(why_of(&none).as_deref(), Some(why));
    }

    #[test]
    fn a_disk_is_no_cache() {
        let slow = CacheProblem::TooSlow { span_bytes: 4 << 20, request_ns: 4e6 };
        assert_eq!(
            example::unknown(FindingName::CacheBytes, Op::Read, slow),
            "Cache size of 4 KiB random reads: unknown; even within 4 MiB a request takes 4.00 ms, too long for a \
             cache (shorter seeks of a disk?)."
        );
    }
}
