//! No check passes in silence where its witness is missing: each figure is taken away in turn.

use iosonde_model::{Medium, Outcome, Run, Rw, Scope, Trial, Verdict};

use super::{CHECKS, specimen};

/// What a check says of the only trial of a run.
fn outcome(check: &str, run: &Run) -> Option<Outcome> {
    let check = CHECKS.iter().find(|known| known.name() == check).expect("it is registered");
    check.check(Scope::Trial(0), run).map(|verdict| match verdict {
        Verdict::Pass => Outcome::Pass,
        Verdict::Abstain(reason) => {
            assert!(reason.why.len() > 20, "{}: {:?} is no reason", check.name(), reason.why);
            Outcome::Abstain
        }
        Verdict::Doubt(_) => Outcome::Doubt,
        Verdict::Void(_) => Outcome::Void,
    })
}

fn direct() -> Trial {
    specimen::usual()
}

fn buffered_read() -> Trial {
    let issued = specimen::buffered(None, None).witnesses.issued_read_bytes;
    specimen::buffered(Some(issued), Some(0))
}

fn buffered_write() -> Trial {
    let mut trial = specimen::healthy(Rw::Write, 1 << 20, 1, 2000);
    trial.spec.direct = false;
    trial
}

/// A check, the trial that it passes with its witness, and what takes the witness away.
type Case = (&'static str, fn() -> Trial, fn(&mut Trial));

const CASES: [Case; 12] = [
    ("cache-served", direct, |t| t.witnesses.block_layer_read_bytes = None),
    ("cache-served", buffered_read, |t| {
        t.witnesses.block_layer_read_bytes = None;
        t.witnesses.resident_after_bytes = None;
    }),
    ("direct-ignored", direct, |t| {
        t.witnesses.resident_before_bytes = None;
        t.witnesses.resident_after_bytes = None;
        t.witnesses.block_layer_read_bytes = None;
    }),
    ("unmapped", direct, |t| t.witnesses.unmapped_bytes = None),
    ("write-back", buffered_write, |t| {
        t.witnesses.dirty_after_bytes = None;
        t.witnesses.block_layer_write_bytes = None;
    }),
    ("interference", direct, |t| t.witnesses.block_layer_read_bytes = None),
    ("interference", direct, |t| t.witnesses.block_layer_write_bytes = None),
    ("clock", direct, |t| t.witnesses.calendar_step_s = None),
    ("clock", direct, |t| t.witnesses.suspended_s = None),
    ("generator-bound", direct, |t| t.busy_share = None),
    ("depth-not-reached", direct, |t| t.in_flight_mean = None),
    ("above-the-limit", direct, |_| {}),
];

#[test]
fn a_check_without_its_witness_abstains_and_says_so() {
    for (place, (check, trial, take)) in CASES.into_iter().enumerate() {
        let whole = specimen::run(trial());
        assert_ne!(outcome(check, &whole), Some(Outcome::Abstain), "{check} {place} with its witness");
        let mut run = whole;
        take(&mut run.trials[0]);
        if check == "above-the-limit" {
            run.info.device.link = None;
        }
        let said = outcome(check, &run);
        // Without a witness a void would be a guess; a doubt says as much as an abstention.
        assert!(
            matches!(said, Some(Outcome::Abstain | Outcome::Doubt)),
            "{check} {place} without its witness: {said:?}"
        );
    }
}

#[test]
fn with_no_witness_at_all_nothing_is_void_and_what_needs_one_abstains() {
    let mut trial = direct();
    trial.witnesses = iosonde_model::Witnesses {
        issued_read_bytes: trial.witnesses.issued_read_bytes,
        issued_ios: trial.witnesses.issued_ios,
        absent: vec!["nothing here may be read (EACCES)".into()],
        ..Default::default()
    };
    let mut run = specimen::run(trial);
    (run.info.device.link, run.info.device.medium) = (None, Medium::Unknown);
    let said: Vec<(&str, Option<Outcome>)> =
        CHECKS.iter().map(|check| (check.name(), outcome(check.name(), &run))).collect();
    assert!(said.iter().all(|(_, outcome)| *outcome != Some(Outcome::Void)), "{said:?}");
    for check in ["cache-served", "unmapped", "interference", "clock", "above-the-limit"] {
        assert!(said.contains(&(check, Some(Outcome::Abstain))), "{check}: {said:?}");
    }
}
