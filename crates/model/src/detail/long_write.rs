//! Facts about long writes and their buffers.

/// Write buffers that a long write shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LongWrite {
    /// Throughput falls within the trials.
    Falls {
        /// Trials in which it falls.
        trials: usize,
        /// Falls of each: one for each buffer.
        buffers: usize,
        /// Result of a shorter pause about the buffer's content.
        pause: Option<Pause>,
    },
    /// Throughput never falls.
    Level {
        /// Most bytes that a trial wrote.
        written_bytes: u64,
    },
    /// Part of the buffer was free again after a pause.
    Drains(Pause),
}

/// A pause between two long writes that is too short to empty the buffer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pause {
    /// Length of the pause.
    pub gap_s: f64,
    /// How the buffer drained in it.
    pub drain: Drain,
}

/// How a write buffer drains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drain {
    /// At the sustained throughput, while it is written to as well.
    WhileFilled,
    /// More slowly than that: only while nothing is written.
    OnlyIdle,
    /// Nothing had drained.
    Nothing,
    /// All had drained.
    Everything,
    /// The pause does not tell.
    Unknown,
}

impl Drain {
    /// Whether the buffer holds all that was written until the throughput fell, and not only what exceeded the
    /// sustained throughput.
    pub fn holds_all(self) -> bool {
        matches!(self, Self::OnlyIdle | Self::Nothing)
    }

    /// Whether it is known what the buffer holds.
    pub fn is_known(self) -> bool {
        self.holds_all() || self == Self::WhileFilled
    }
}

/// Why a long write tells nothing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LongWriteProblem {
    /// A trial has too few windows with writes.
    FewWindows {
        /// Windows of the trial with the fewest.
        windows: usize,
    },
    /// The buffer took about as much as it can drain in a pause.
    PerhapsNotEmpty {
        /// Bytes that it took.
        taken_bytes: f64,
    },
    /// The buffer took much more in the first trial than later.
    FirstTookMore,
    /// Throughput falls in some trials only.
    SomeFall {
        /// Trials in which it falls.
        falls: usize,
        /// All trials.
        trials: usize,
    },
    /// The throughput that lasts within a trial stepped between trials, and too few came after that.
    SteppedLate {
        /// Bytes per second before.
        before: f64,
        /// Bytes per second after.
        after: f64,
        /// Trials after it.
        trials: usize,
    },
    /// The buffer is full within the first windows of a trial.
    FullTooSoon,
    /// No buffer fills within a trial.
    NoBuffer,
    /// All had drained within the pause.
    AllDrained {
        /// Length of the pause.
        gap_s: f64,
    },
    /// Nothing had drained within the pause.
    NothingDrained {
        /// Length of the pause.
        gap_s: f64,
    },
    /// Too few writes after the shorter pause are valid.
    FewAfterPause,
}
