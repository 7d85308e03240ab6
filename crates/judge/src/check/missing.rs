//! No check passes in silence where its witness is missing: each figure is taken away in turn.

use iosonde_model::{Absence, CheckName, Medium, Outcome, Run, Rw, Scope, Trial, Verdict};

use super::{CHECKS, TrialStanding, specimen};

/// What a check says of the only trial of a run.
fn outcome(check: CheckName, run: &Run) -> Option<Outcome> {
    let check = CHECKS.iter().find(|known| known.id() == check).expect("it is registered");
    check.check(Scope::Trial(0), run).map(|verdict| match verdict {
        Verdict::Pass => Outcome::Pass,
        Verdict::NotChecked(_) => Outcome::NotChecked,
        Verdict::Warning(_) => Outcome::Warning,
        Verdict::Invalid(_) => Outcome::Invalid,
    })
}

fn direct() -> Trial {
    specimen::usual()
}

/// Read past a page cache that holds all of it: only the device's count tells who served it.
fn resident() -> Trial {
    let mut trial = specimen::usual();
    let span = Some(trial.spec.span_bytes);
    (trial.witnesses.resident_before_bytes, trial.witnesses.resident_after_bytes) = (span, span);
    trial
}

/// A requested rate that was served.
fn offered() -> Trial {
    let mut trial = specimen::usual();
    trial.spec.rate_iops = Some(100_000.0);
    (trial.achieved_rate_iops, trial.pacing_error_ns_p99) = (Some(100_000.0), Some(2_000.0));
    trial
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
type Case = (CheckName, fn() -> Trial, fn(&mut Run));

const CASES: [Case; 23] = [
    (CheckName::CacheServed, direct, |r| r.trials[0].witnesses.block_layer_read_bytes = None),
    (CheckName::CacheServed, buffered_read, |r| {
        let t = &mut r.trials[0];
        t.witnesses.block_layer_read_bytes = None;
        t.witnesses.resident_after_bytes = None;
    }),
    (CheckName::DirectIgnored, direct, |r| {
        let t = &mut r.trials[0];
        t.witnesses.resident_before_bytes = None;
        t.witnesses.resident_after_bytes = None;
        t.witnesses.block_layer_read_bytes = None;
    }),
    (CheckName::Unmapped, direct, |r| r.trials[0].witnesses.unmapped_bytes = None),
    (CheckName::WriteBack, buffered_write, |r| {
        let t = &mut r.trials[0];
        t.witnesses.dirty_after_bytes = None;
        t.witnesses.block_layer_write_bytes = None;
    }),
    (CheckName::Interference, direct, |r| r.trials[0].witnesses.block_layer_read_bytes = None),
    (CheckName::Interference, direct, |r| r.trials[0].witnesses.block_layer_write_bytes = None),
    (CheckName::Interference, direct, |r| r.trials[0].witnesses.steal_share = None),
    (CheckName::Interference, direct, |r| r.trials[0].witnesses.pressure_cpu_some_share = None),
    (CheckName::Throttled, direct, |r| r.trials[0].witnesses.io_limits = None),
    (CheckName::DirectIgnored, resident, |r| r.trials[0].witnesses.block_layer_read_bytes = None),
    (CheckName::DepthNotReached, direct, |r| r.trials[0].witnesses.block_layer_in_flight_mean = None),
    (CheckName::MissedRate, offered, |r| r.trials[0].achieved_rate_iops = None),
    (CheckName::MissedRate, offered, |r| r.trials[0].pacing_error_ns_p99 = None),
    (CheckName::LittlesLaw, direct, |r| r.trials[0].read.as_mut().expect("it reads").latency_ns.mean = None),
    (CheckName::Errors, direct, |r| r.trials[0].read.as_mut().expect("it reads").ios = 0),
    (CheckName::Clock, direct, |r| r.trials[0].witnesses.calendar_step_s = None),
    (CheckName::Clock, direct, |r| r.trials[0].witnesses.suspended_s = None),
    (CheckName::GeneratorBound, direct, |r| r.trials[0].busy_share = None),
    (CheckName::DepthNotReached, direct, |r| r.trials[0].in_flight_mean = None),
    (CheckName::AboveTheLimit, direct, |r| r.info.device.link = None),
    (CheckName::Compressible, direct, |r| r.info.device.file_system = None),
    (CheckName::Compressible, direct, |r| r.info.device.file_system = Some("btrfs".into())),
];

#[test]
fn a_check_without_its_witness_abstains_and_says_so() {
    for (place, (check, trial, take)) in CASES.into_iter().enumerate() {
        let whole = specimen::run(trial());
        assert_eq!(outcome(check, &whole), Some(Outcome::Pass), "{check} {place} with its witness");
        let mut run = whole;
        take(&mut run);
        let said = outcome(check, &run);
        // Without a witness a void would be a guess; a doubt says as much as an abstention.
        assert!(
            matches!(said, Some(Outcome::NotChecked | Outcome::Warning)),
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
        absent: vec![Absence::ControlGroupsUnreadable],
        ..Default::default()
    };
    let mut run = specimen::run(trial);
    (run.info.device.link, run.info.device.medium) = (None, Medium::Unknown);
    let said: Vec<(CheckName, Option<Outcome>)> =
        CHECKS.iter().map(|check| (check.id(), outcome(check.id(), &run))).collect();
    assert!(said.iter().all(|(_, outcome)| *outcome != Some(Outcome::Invalid)), "{said:?}");
    for check in [
        CheckName::CacheServed,
        CheckName::Unmapped,
        CheckName::Interference,
        CheckName::Throttled,
        CheckName::Clock,
        CheckName::AboveTheLimit,
    ] {
        assert!(said.contains(&(check, Some(Outcome::NotChecked))), "{check}: {said:?}");
    }
}

/// Every check of single trials is among the cases, but for those that need nothing from anybody else.
#[test]
fn every_check_of_trials_has_a_case() {
    // `corrupted` and `errors` count, `units` compares figures of one trial, `not-steady` looks at windows, and too few
    // requests are too few.
    let alone = [CheckName::Corrupted, CheckName::Units, CheckName::NotSteady, CheckName::TooFewSamples];
    let run = specimen::run(specimen::usual());
    let of_trials = CHECKS.iter().filter(|check| check.check(Scope::Trial(0), &run).is_some());
    for check in of_trials.filter(|check| !alone.contains(&check.id())) {
        assert!(CASES.iter().any(|case| case.0 == check.id()), "{} has no case", check.id());
    }
}

/// What a check says of the whole of a run.
fn of_run(check: CheckName, run: &Run) -> Option<Verdict> {
    let check = CHECKS.iter().find(|known| known.id() == check).expect("it is registered");
    check.judge(Scope::Run, run, &TrialStanding::default())
}

#[test]
fn a_check_of_runs_abstains_where_there_is_too_little_to_see() {
    let short = specimen::rounds(2, |_| 100.0);
    for check in [CheckName::Interference, CheckName::Throttled, CheckName::Drift, CheckName::Outliers] {
        let said = of_run(check, &short);
        assert!(matches!(said, Some(Verdict::NotChecked(_))), "{check} of two trials: {said:?}");
    }
    let mut buffered = specimen::run(buffered_read());
    buffered.info.host.memory_bytes = Some(1 << 29);
    assert_eq!(of_run(CheckName::WorkingSet, &buffered), Some(Verdict::Pass));
    buffered.info.host.memory_bytes = None;
    assert!(matches!(of_run(CheckName::WorkingSet, &buffered), Some(Verdict::NotChecked(_))));
}
