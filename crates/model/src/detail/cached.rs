//! Facts about caches.

/// How a cache shows, or that none does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cached {
    /// In slower spans a share of the requests is fast.
    Shares {
        /// Spans whose shares agree on a size.
        spans: usize,
        /// Whether it is the page cache.
        page_cache: bool,
    },
    /// Requests are slower from one measured span to the next.
    Step {
        /// Bytes of the largest span that is fast.
        fast_span_bytes: u64,
        /// Bytes of the smallest span that is slower.
        slow_span_bytes: u64,
        /// Whether it is the page cache.
        page_cache: bool,
    },
    /// Every span is as fast as the smallest.
    Level {
        /// Bytes of the smallest span.
        smallest_span_bytes: u64,
        /// Bytes of the largest span.
        largest_span_bytes: u64,
        /// Whether the page cache holds it.
        page_cache: bool,
    },
}

/// Why nothing can be said of a cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CacheProblem {
    /// The pass that fills the cache before each trial was cut short.
    PassCutShort {
        /// Bytes of the largest span that is as fast as the smallest: a cache holds as much at least.
        held_bytes: u64,
        /// Bytes of the span.
        span_bytes: u64,
        /// Bytes that were read before a trial.
        passed_bytes: u64,
    },
    /// A span becomes faster within its trials.
    StillFilling {
        /// Bytes of the span.
        span_bytes: u64,
        /// Throughput of the second half over the first, less 1.
        gain: f64,
    },
    /// Requests within the smallest span take too long for a cache, and are not of two kinds.
    TooSlow {
        /// Bytes of the smallest span.
        span_bytes: u64,
        /// Time of one request.
        request_ns: f64,
    },
    /// Spans may or may not differ.
    Scatter,
    /// The size of the cache is inconclusive.
    SizeUnknown,
}
