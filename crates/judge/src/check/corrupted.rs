//! Data that came back other than it was written.
//!
//! Looks at: what `--verify` found when the blocks of a trial were read back.
//!
//! Rule: one is enough. A block that is lost, stale, torn or misplaced means that the storage, or a layer above it,
//! did not do the work that was timed. A checksum of 64 bits is wrong by chance once in 10¹⁹ blocks. Blocks without
//! a whole mark cannot be checked: they were never written with `--verify`, or were overwritten since. Silent
//! damage of a whole block would look the same.
//!
//! Verdict: invalid, about everything, from one bad block on; a warning where blocks carried no mark. Trials that
//! were not verified are not checked.
//!
//! Example: a drive whose write cache acknowledges a flush without writing is the fastest of all; after a power cut
//! its last writes are lost. None of the field reports verified anything.
//!
//! What to do: back up this storage. Repeat the run on another path to the device (cable, controller, memory) to
//! learn which part is at fault.

use iosonde_model::CheckName;
#[cfg(test)]
use iosonde_model::Verification;
use iosonde_model::{About, Reason, Run, Scope, Trial, Verdict, cause};

use super::{Check, judged};
#[cfg(test)]
use super::{Specimens, specimen};

pub(super) struct Corrupted;

impl Check for Corrupted {
    fn id(&self) -> CheckName {
        CheckName::Corrupted
    }

    fn check(&self, scope: Scope, run: &Run) -> Option<Verdict> {
        judged::any(scope, run).and_then(verdict)
    }

    #[cfg(test)]
    fn specimens(&self) -> Specimens {
        let with = |found: Verification| {
            let mut trial = specimen::usual();
            trial.spec.verify = true;
            trial.verify = Some(found);
            specimen::run(trial)
        };
        let sound = Verification { checked: 1000, ..Verification::default() };
        Specimens {
            pass: vec![with(sound)],
            warning: vec![with(Verification { unmarked: 1, ..sound })],
            invalid: vec![
                with(Verification { lost: 1, ..sound }),
                with(Verification { stale: 1, ..sound }),
                with(Verification { torn: 1, ..sound }),
                with(Verification { misplaced: 1, unmarked: 5, ..sound }),
                with(Verification { unreadable: 1, ..sound }),
            ],
            // Everything was overwritten since.
            not_checked: vec![with(Verification { unmarked: 1000, ..Verification::default() })],
        }
    }
}

fn verdict(trial: &Trial) -> Option<Verdict> {
    let found = trial.verify?;
    let reason = Reason::new(About::All, cause::Corrupted::from(found));
    Some(match found.bad() {
        0 if found.checked == 0 => Verdict::NotChecked(reason),
        0 if found.unmarked == 0 => Verdict::Pass,
        0 => Verdict::Warning(reason),
        _ => Verdict::Invalid(reason),
    })
}
