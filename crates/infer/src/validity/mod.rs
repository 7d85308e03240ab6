//! Whether a run is valid: the first answer of every report, as facts.
//!
//! Only what the data carries is used; nothing is measured anew. What changes a reader's use of the figures comes
//! before what merely qualifies them.

mod circumstances;
mod fact;
mod precision;
mod trials;
mod unseen_cache;
mod warnings;
mod write_buffer;

use iosonde_judge::check::Symptom;
use iosonde_model::{Phase, Run, Trial};

use crate::{answered_limit, slow::Slow};
pub use fact::{
    BufferedWrites, ByteSource, Circumstance, Fact, Fatal, InvalidBy, InvalidPoints, NotStorage, Touched,
    WarningScope, WeighedFact, Weight,
};
pub use trials::{half_width, most_invalid_by};
pub use unseen_cache::{has_unseen_cache, is_of_guest};
pub use write_buffer::buffered_writes;

/// Whether a run is valid, and the facts behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct Validity {
    /// The answer.
    pub mark: Weight,
    /// Why no figure is valid, where none is.
    pub fatal: Option<Fatal>,
    /// Points without a valid trial, where they are more than a tenth.
    pub invalid_points: Option<InvalidPoints>,
    /// Facts, those of the most weight first.
    pub lines: Vec<WeighedFact>,
}

impl Validity {
    /// Returns true if some figures are those of the storage, and so many are not that it is the first thing to say.
    pub fn is_partly_valid(&self) -> bool {
        let counted =
            |line: &WeighedFact| matches!(line.fact, Fact::Trials { .. }) && line.mark == Weight::Doubt;
        self.fatal.is_none() && (self.invalid_points.is_some() || self.lines.iter().any(counted))
    }

    /// Number of warnings.
    pub fn warnings(&self) -> usize {
        self.lines.iter().filter(|line| line.mark == Weight::Doubt).count()
    }
}

/// Whether a concluded run is valid.
pub fn validity(run: &Run) -> Validity {
    let explained = answered_limit::explained(run);
    let limit = explained.contains(&Symptom::SeveralRates);
    let run = &*answered_limit::beyond(run, &explained);
    let measured: Vec<&Trial> = run.trials.iter().filter(|trial| trial.phase == Phase::Measure).collect();
    let mut lines = vec![trials::counts(run, &measured)];
    lines.extend(limit.then_some(WeighedFact { mark: Weight::Yes, fact: Fact::LimitFound }));
    let invalid = trials::fatal(run, &measured);
    lines.extend(warnings::of_checks(run, invalid.is_some()));
    lines.extend(warnings::unwitnessed(run));
    lines.extend(warnings::witness_lost(run, &measured));
    lines.extend(circumstances::unfinished(run));
    lines.extend(circumstances::surroundings(run));
    lines.extend(trials::cached_points(run, &measured).filter(|_| invalid.is_none()));
    let fatal = invalid.or_else(|| trials::unrepeated(run));
    // Of figures that say nothing, it does not matter how precise they are or what else might be wrong with
    // them.
    if fatal.is_none() {
        lines.extend(unseen_cache::unseen_cache(run));
        // Where throughput fell to a limit, the mean over the run is not the question.
        lines.extend(precision::imprecise(run).filter(|_| !limit));
        let slow = circumstances::slow(run);
        // It says the buffer, and what the buffer is.
        let told = slow.iter().any(|line| matches!(line.fact, Fact::Slow(Slow::WritesMovedLater { .. })));
        lines.extend(slow);
        lines.extend(write_buffer::write_buffer(run).filter(|_| !told));
        lines.extend(circumstances::short_strokes(run));
        lines.extend(circumstances::fragmented(run));
        lines.extend(circumstances::shared_blocks(run));
        lines.extend(circumstances::burst_credit(run));
    }
    // Stable: within a mark, the order above.
    lines.sort_by_key(|line| std::cmp::Reverse(line.mark));
    let mark = match fatal {
        Some(_) => Weight::No,
        None => lines.iter().map(|line| line.mark).max().unwrap_or(Weight::Yes),
    };
    Validity { mark, fatal, invalid_points: trials::invalid_points(run, &measured), lines }
}
