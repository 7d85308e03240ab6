//! Words of `cache_bytes` and `cache_latency`.

use iosonde_infer::{finding::group::workload, words::capitalised};
use iosonde_model::{
    Finding, FindingName,
    detail::{CacheProblem, Cached},
    units,
};

use super::value;

/// One sentence with its full stop.
pub(super) fn sentence(finding: &Finding, facts: Cached) -> String {
    let (what, figure) = (workload(&finding.conditions), value(finding));
    match facts {
        Cached::Shares { page_cache, .. } => format!("{} holds {figure} ({what}).", cache(page_cache)),
        Cached::Step { fast_span_bytes, slow_span_bytes, page_cache } => format!(
            "{} holds {figure}: {what} are faster within {} than within {}.",
            cache(page_cache),
            units::size(fast_span_bytes),
            units::size(slow_span_bytes)
        ),
        Cached::Level { .. } if finding.name == FindingName::CacheLatency => {
            format!("No cache found, so it has no latency ({what}).")
        }
        Cached::Level { smallest_span_bytes, largest_span_bytes } => capitalised(&format!(
            "no cache found: {what} are as fast within {} as within {}.",
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
        CacheProblem::PassCutShort { span_bytes, passed_bytes } => format!(
            "only {} of a span of {} were read before a trial, which may not fill the cache; measure smaller spans",
            units::size(passed_bytes),
            units::size(span_bytes)
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
