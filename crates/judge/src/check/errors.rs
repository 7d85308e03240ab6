//! Requests that failed, never completed, or moved fewer bytes than requested.
//!
//! Looks at: the counts of failed, short and hung requests of every trial, preparation included.
//!
//! Rule: one is enough. A request that fails returns early, so the throughput of a trial with failures counts work
//! that was not done, and its latencies mix two different things. The kernel has already retried what can be
//! retried when a program sees an error, so no error is noise. A trial in which nothing completed is checked here
//! too.
//!
//! Verdict: invalid, about everything in the trial. A warning where another tool ended the job by its own limit of
//! latency (fio's `max_latency`). Not checked without a count of errors (a published table of
//! throughput).
//!
//! Example: a script that ignores the result of `pread` measures the end of the file. Reads beyond it return at
//! once with 0 bytes, and the smaller the file the "faster" the storage.
//!
//! What to do: read the kernel's log (`dmesg`) for the device named there; replace the cable or the device if the
//! log mentions retries. Short transfers on a file that shrank: another program writes to it.

use iosonde_model::CheckName;
#[cfg(test)]
use iosonde_model::Rw;
use iosonde_model::{About, Reason, RequestError, Run, Scope, Trial, Verdict, cause};

use super::{Check, judged};
#[cfg(test)]
use super::{Specimens, specimen};

pub(super) struct Errors;

impl Check for Errors {
    fn id(&self) -> CheckName {
        CheckName::Errors
    }

    fn check(&self, scope: Scope, run: &Run) -> Option<Verdict> {
        judged::any(scope, run).map(verdict)
    }

    #[cfg(test)]
    fn specimens(&self) -> Specimens {
        let mut failing = specimen::usual();
        failing.read.as_mut().expect("it reads").errors = 3;
        failing.error_examples.push(RequestError::System { errno: 5, count: 3 });
        let mut short = specimen::usual();
        short.read.as_mut().expect("it reads").short = 1;
        let hung = Trial { hung: 2, ..specimen::usual() };
        let mut silent = specimen::usual();
        silent.read = Some(specimen::direction(0, 4096, 320_000));
        Specimens {
            pass: vec![
                specimen::run(specimen::usual()),
                specimen::run(specimen::healthy(Rw::RandRw, 4096, 8, 20_000)),
            ],
            warning: [RequestError::TooSlow, RequestError::TooLowRate]
                .map(|limit| specimen::run(Trial { error_examples: vec![limit], ..specimen::usual() }))
                .into(),
            invalid: [failing, short, hung, silent].map(specimen::run).into(),
            not_checked: vec![specimen::run(specimen::tabled())],
        }
    }
}

fn verdict(trial: &Trial) -> Verdict {
    let errors = trial.errors();
    let short: u64 = trial.directions().map(|(_, direction)| direction.short).sum();
    let done: u64 = trial.directions().map(|(_, direction)| direction.ios).sum();
    let requests = done + errors + trial.hung;
    if errors > 0 || trial.hung > 0 || short > 0 {
        let (hung, example) = (trial.hung, trial.error_examples.first().cloned());
        let failed = cause::Errors::Failed { requests, errors, hung, short, example };
        return Verdict::Invalid(Reason::new(About::All, failed));
    }
    if trial.is_uncounted() {
        return Verdict::NotChecked(Reason::new(About::All, cause::Errors::NotCounted));
    }
    if done == 0 {
        let example = trial.error_examples.first().cloned();
        let nothing = cause::Errors::NothingCompleted { measured_s: trial.measured_s, example };
        return Verdict::Invalid(Reason::new(About::All, nothing));
    }
    let is_limit = |error: &&RequestError| matches!(error, RequestError::TooSlow | RequestError::TooLowRate);
    if let Some(limit) = trial.error_examples.iter().find(is_limit) {
        let ended = cause::Errors::EndedEarly { ended_after_s: trial.measured_s, limit: limit.clone() };
        return Verdict::Warning(Reason::new(About::All, ended));
    }
    Verdict::Pass
}
