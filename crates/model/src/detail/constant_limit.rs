//! Facts about a limit that holds from the first second on.

/// Quantity that a limit counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Requests, whatever their size.
    Requests,
    /// Parts of requests: a request counts once for each of them.
    Chunks {
        /// Size of a part.
        chunk_bytes: u64,
    },
    /// Bytes.
    Bytes,
}

/// A limit that holds from the first second on, or that there is none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ConstantLimit {
    /// Points are held at one value.
    Held {
        /// Quantity that is the same at all of them.
        counted: Counted,
        /// True if reads and writes share it, false if each has its own; `None` where no mix was measured at it.
        shared: Option<bool>,
        /// Points at the limit.
        points: usize,
        /// Largest deviation of one of them, as a share.
        apart_share: f64,
        /// Variance between trials over that of a medium with the same latencies; `None` where these are too few.
        scatter_ratio: Option<f64>,
        /// Time between two portions, where the limit lets its budget pass in portions, as a control group does.
        portions_s: Option<f64>,
        /// Share of the trials' time that the volume's own controller counts above this limit, where that proves it.
        exceeded_share: Option<f64>,
    },
    /// No quantity is the same where a limit would hold it.
    None {
        /// Points that were compared.
        points: usize,
    },
}
