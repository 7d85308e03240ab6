//! Whole runs of a storage whose truth is known, from trials to findings.

use iosonde_judge::{check::CHECKS, standing::voids};
use iosonde_model::CheckName;
use iosonde_model::FindingName;
use iosonde_model::{
    About, Cause, Detail, Inconclusive, Judgement, Medium, Outcome, Phase, Scopes, Status, cause::Outliers,
};

use super::*;
use crate::testing::{Pretend, QUICK};

fn concluded(pretend: &Pretend, seed: u64) -> Run {
    let mut run = pretend.run(QUICK, seed);
    conclude(&mut run, None).unwrap();
    run
}

fn found(run: &Run, name: FindingName) -> &Finding {
    let is_it = |finding: &&Finding| finding.name == name;
    let finding = run.findings.iter().find(is_it).unwrap_or_else(|| panic!("no {name}"));
    assert_eq!(finding.status, Status::Found, "{finding:?}");
    finding
}

#[test]
fn quick_finds_what_was_put_in() {
    let run = concluded(&Pretend::usual(), 1);
    // t(4 KiB) = 100 µs + 4.096 µs; 19 × 100,000 B = 1.9 MB, next measured size 4 MiB; N* = 80,000 / s ×
    // 104.096 µs; QD 8 gives 8 / 104.096 µs = 96 % of 80,000 and QD 7 84 %.
    let truths = [
        (FindingName::BaseLatency, 104_096.0),
        (FindingName::PerRequestCost, 100_000.0),
        (FindingName::HalfSize, 100_000.0),
        (FindingName::PlateauBlockSize, 4_194_304.0),
        (FindingName::MaxIops, 80_000.0),
        (FindingName::QueueDepthKnee, 8.327_68),
        (FindingName::DepthFor95Percent, 8.0),
        (FindingName::DeviceBandwidth, 1e9),
        (FindingName::RandomVsSequential, 1.0),
    ];
    for (name, truth) in truths {
        let finding = found(&run, name);
        let (low, high) = (finding.low.unwrap(), finding.high.unwrap());
        assert!(low <= truth && truth <= high, "{name}: {truth} is not in {low} .. {high}: {finding:?}");
        assert!((high - low) / truth < 0.3, "{name}: {low} .. {high} says nothing");
        assert!(!finding.trials.is_empty());
    }
    // A storage that follows a law has no dip, one that does not tell reads from writes no crossover, and nothing
    // drifts or is limited.
    let absent = |finding: &Finding| {
        [FindingName::Shape, FindingName::Crossover, FindingName::Drift, FindingName::ConstantLimit]
            .contains(&finding.name)
    };
    // Every pretended round has the same order, so that each point comes after the same one always.
    for finding in run.findings.iter().filter(|finding| finding.name != FindingName::OrderEffect) {
        let expected = if absent(finding) { Status::Absent } else { Status::Found };
        assert_eq!(finding.status, expected, "{finding:?}");
        assert!(finding.notes.is_empty(), "{finding:#?}");
    }
}

#[test]
fn what_two_experiments_find_alike_is_said_once() {
    let run = concluded(&Pretend::usual(), 2);
    // `block-size` and both `queue-depth` experiments share the points of single 4 KiB requests.
    let base: Vec<_> =
        run.findings.iter().filter(|finding| finding.name == FindingName::BaseLatency).collect();
    assert_eq!(base.len(), 2);
    assert!(base.iter().all(|finding| finding.experiment == "block-size"));
}

/// A file system that compresses nothing.
fn on_ext4() -> Pretend {
    let mut pretend = Pretend::usual();
    pretend.device.file_system = Some("ext4".into());
    pretend
}

#[test]
fn nothing_passes_silently() {
    let run = concluded(&on_ext4(), 3);
    // No rate was requested; eight rounds are too few to show a steady state; nothing was written with buffered
    // I/O; the device's link is not known; nothing was verified; only other tools' percentiles are saturated;
    // no write is durable; one host measured.
    let silent = [
        CheckName::MissedRate,
        CheckName::NotSteady,
        CheckName::WriteBack,
        CheckName::AboveTheLimit,
        CheckName::Corrupted,
        CheckName::Saturated,
        CheckName::EarlyFlush,
        CheckName::HostsApart,
        CheckName::OddHost,
        CheckName::HostSlowed,
    ];
    for check in CHECKS.iter().filter(|check| !silent.contains(&check.id())) {
        let lines: Vec<_> = run.verdicts.iter().filter(|judgement| judgement.check == check.id()).collect();
        let pass = lines.iter().find(|judgement| judgement.verdict == Outcome::Pass).unwrap();
        assert_eq!((pass.scope.as_str(), pass.trial), ("run", None));
        // 27 points × 8 rounds.
        let expected = match check.id() {
            CheckName::TooFewSamples => (Scopes::TrialsAndPoints, 243),
            CheckName::Outliers | CheckName::Drift | CheckName::WorkingSet => (Scopes::Run, 1),
            CheckName::Interference | CheckName::Throttled => (Scopes::TrialsAndRun, 217),
            CheckName::Multimodal => (Scopes::Points, 27),
            // 16 of the points read.
            CheckName::Unmapped => (Scopes::Trials, 128),
            _ => (Scopes::Trials, 216),
        };
        let Some(Cause::Tally(tally)) = &pass.cause else { panic!("{pass:?}") };
        assert_eq!((tally.of, tally.judged), expected, "{}", check.id());
        assert_eq!(tally.passed, tally.judged, "{}", check.id());
    }
}

#[test]
fn canaries_are_judged_and_not_counted_among_the_figures() {
    let mut run = on_ext4().run(QUICK, 3);
    let measured = run.trials.len();
    run.trials[..8].iter_mut().for_each(|trial| (trial.phase, trial.point) = (Phase::Canary, None));
    conclude(&mut run, None).unwrap();
    let line = run
        .verdicts
        .iter()
        .find(|line| line.check == CheckName::Clock && line.verdict == Outcome::Pass)
        .unwrap();
    let Some(Cause::Tally(tally)) = &line.cause else { panic!("{line:?}") };
    assert_eq!((tally.passed, tally.judged), (measured as u64 - 8, measured as u64 - 8));
}

#[test]
fn void_trials_reach_no_figure_where_enough_others_stand() {
    let mut run = Pretend::usual().run(QUICK, 4);
    for trial in run.trials.iter_mut().filter(|trial| trial.round == 3) {
        // Half as fast and not from the device.
        trial.witnesses.block_layer_read_bytes = Some(0);
        trial.witnesses.block_layer_write_bytes = Some(0);
    }
    conclude(&mut run, None).unwrap();
    let voids = voids(&run);
    assert_eq!(voids.len(), 27);
    assert!(voids.values().all(|about| *about == About::All));
    assert!(run.points.iter().all(|point| point.invalid == 1));
    let finding = found(&run, FindingName::QueueDepthKnee);
    assert!(finding.trials.iter().all(|id| !voids.contains_key(id)));
}

#[test]
fn memory_is_refused_in_words_and_its_figures_stay() {
    let mut pretend = Pretend::usual();
    pretend.device.medium = Medium::Memory;
    pretend.device.file_system = Some("tmpfs".into());
    let run = concluded(&pretend, 5);
    // What a program gets from memory is no figure of a device, and is known all the same.
    let of_device = |finding: &&iosonde_model::Finding| finding.name != FindingName::ProgramPlateau;
    let mut of_device = run.findings.iter().filter(of_device);
    assert!(of_device.all(|finding| finding.status == Status::Inconclusive));
    let Detail::Inconclusive(Inconclusive::TooFewTrials { valid: 0, run: 8, spec, .. }) =
        &run.findings[0].detail
    else {
        panic!("{:?}", run.findings[0])
    };
    assert_eq!((spec.block_size_bytes, spec.asked_in_flight()), (4096, 1));
    assert!(run.points.iter().all(|point| point.read.is_some() || point.write.is_some()));
}

#[test]
fn a_depth_that_was_not_reached_leaves_the_knee_and_keeps_the_rate() {
    let mut run = Pretend::usual().run(QUICK, 6);
    for trial in run.trials.iter_mut().filter(|trial| trial.spec.queue_depth == 128) {
        trial.in_flight_mean = Some(90.0);
        // The latency fits the depth that was reached, so that only the depth is wrong.
        for direction in [&mut trial.read, &mut trial.write].into_iter().flatten() {
            let latency_ns = (90.0_f64 / direction.iops * 1e9).round() as u64;
            *direction =
                iosonde_testkit::specimen::direction(direction.ios, trial.spec.block_size_bytes, latency_ns);
        }
    }
    conclude(&mut run, None).unwrap();
    let of = |name: FindingName| run.findings.iter().find(|finding| finding.name == name).unwrap();
    assert!(matches!(
        of(FindingName::QueueDepthKnee).detail,
        Detail::Inconclusive(Inconclusive::TooFewTrials { about: About::Depth, .. })
    ));
    assert_eq!(of(FindingName::MaxIops).status, Status::Found);
}

#[test]
fn one_point_that_is_hardly_known_does_not_spoil_the_highest_rate() {
    let mut run = Pretend::usual().run(QUICK, 12);
    for trial in run.trials.iter_mut().filter(|t| t.spec.describe() == "4 KiB random reads, QD 32") {
        // Half as fast in one round, and half as fast again in the next.
        let iops = if trial.round.is_multiple_of(2) { 40_000 } else { 120_000 };
        let other = iosonde_testkit::specimen::healthy(trial.spec.rw, 4096, 32, iops);
        (trial.read, trial.windows, trial.witnesses) = (other.read, other.windows, other.witnesses);
    }
    conclude(&mut run, None).unwrap();
    let most = run.findings.iter().find(|finding| finding.name == FindingName::MaxIops).unwrap();
    assert!(most.low.unwrap() <= 80_000.0 && 80_000.0 <= most.high.unwrap(), "{most:?}");
    assert!(most.high.unwrap() < 90_000.0, "{most:?}");
    let Detail::Highest(facts) = &most.detail else { panic!("{most:?}") };
    let excluded: Vec<u64> = facts.imprecise.iter().map(|one| one.queue_depth).collect();
    assert_eq!(excluded, [32]);
}

#[test]
fn bandwidth_is_the_highest_of_all_points_and_says_of_which() {
    let mut run = Pretend::usual().run(QUICK, 12);
    // One at a time, in another experiment than the one that asks for the bandwidth: 64 GiB/s.
    let is_large =
        |spec: &TrialSpec| spec.rw == iosonde_model::Rw::RandRead && spec.block_size_bytes == 4 << 20;
    for trial in run.trials.iter_mut().filter(|trial| is_large(&trial.spec)) {
        let other = iosonde_testkit::specimen::healthy(trial.spec.rw, 4 << 20, 1, 16_384);
        (trial.read, trial.windows, trial.witnesses) = (other.read, other.windows, other.witnesses);
    }
    conclude(&mut run, None).unwrap();
    let of_reads = |finding: &&Finding| {
        finding.name == FindingName::DeviceBandwidth && finding.conditions.op == Some(iosonde_model::Op::Read)
    };
    let bandwidth = run.findings.iter().find(of_reads).unwrap();
    assert!(bandwidth.high.unwrap() > 6.8e10, "{bandwidth:?}");
    let Detail::Highest(facts) = &bandwidth.detail else { panic!("{bandwidth:?}") };
    let point = run.points.iter().find(|point| is_large(&point.spec)).unwrap();
    assert_eq!(facts.best_points, [point.id]);
    assert_eq!((facts.block_sizes_bytes, facts.queue_depths), ([4 << 20; 2], [1; 2]));
}

#[test]
fn a_smaller_request_that_is_hardly_known_does_not_spoil_the_highest_bandwidth() {
    let spoilt = |size_bytes: u64, times: f64| {
        let mut run = Pretend { bytes_per_s: 1e9, ..Pretend::usual() }.run(QUICK, 12);
        let is_it = |spec: &TrialSpec| {
            (spec.rw, spec.block_size_bytes, spec.asked_in_flight())
                == (iosonde_model::Rw::RandRead, size_bytes, 1)
        };
        for trial in run.trials.iter_mut().filter(|trial| is_it(&trial.spec)) {
            // Half as fast in one round, and half as fast again in the next.
            let iops = times * if trial.round.is_multiple_of(2) { 5e8 } else { 1.5e9 } / size_bytes as f64;
            let other = iosonde_testkit::specimen::healthy(trial.spec.rw, size_bytes, 1, iops as u64);
            (trial.read, trial.windows, trial.witnesses) = (other.read, other.windows, other.witnesses);
        }
        conclude(&mut run, None).unwrap();
        let of_reads = |finding: &&Finding| {
            finding.name == FindingName::DeviceBandwidth
                && finding.conditions.op == Some(iosonde_model::Op::Read)
        };
        run.findings.iter().find(of_reads).unwrap().clone()
    };
    // 1 MiB at QD 8 asks for more than 256 KiB at QD 1 in the same order, and has more bytes outstanding than 4 MiB.
    for size_bytes in [256 << 10, 4 << 20] {
        let known = spoilt(size_bytes, 1.0);
        assert!(known.low.unwrap() <= 1e9 && 1e9 <= known.high.unwrap(), "{known:?}");
        assert!(known.high.unwrap() < 1.05e9, "{known:?}");
        let Detail::Highest(facts) = &known.detail else { panic!("{known:?}") };
        assert_eq!(facts.imprecise.iter().map(|one| one.block_size_bytes).collect::<Vec<_>>(), [size_bytes]);
    }
    // Larger requests that look faster may be.
    let unknown = spoilt(4 << 20, 1.6);
    assert!(unknown.high.unwrap() > 1.2e9, "{unknown:?}");
    let Detail::Highest(facts) = &unknown.detail else { panic!("{unknown:?}") };
    assert_eq!(facts.imprecise, []);
}

#[test]
fn a_single_workload_has_a_point_and_no_finding() {
    let mut run = on_ext4().run(QUICK, 8);
    run.trials.retain(|trial| trial.point == Some(0) && trial.round == 1);
    (run.info.study_source, run.info.study) = (String::new(), "point".into());
    conclude(&mut run, None).unwrap();
    assert_eq!((run.points.len(), run.findings.len(), run.points[0].trials), (1, 0, 1));
    // Ten windows are too few to tell a steady state, and nothing is known of the link.
    let judged =
        |judgement: &&Judgement| ![CheckName::NotSteady, CheckName::AboveTheLimit].contains(&judgement.check);
    let passes = run.verdicts.iter().filter(judged).all(|judgement| judgement.verdict == Outcome::Pass);
    assert!(passes, "{:?}", run.verdicts);
}

#[test]
fn concluding_again_changes_nothing() {
    let mut run = Pretend::usual().run(QUICK, 9);
    let closed = vec![Some(Closed::Precision); 27];
    conclude(&mut run, Some(&closed)).unwrap();
    let first = run.clone();
    conclude(&mut run, None).unwrap();
    assert_eq!(run, first);
    assert!(run.points.iter().all(|point| point.closed == Some(Closed::Precision)));
}

#[test]
fn preparation_is_judged_for_errors_and_for_nothing_else() {
    let mut run = Pretend::usual().run(QUICK, 10);
    run.trials[0].phase = Phase::Prepare;
    run.trials[0].witnesses.block_layer_read_bytes = Some(0);
    conclude(&mut run, None).unwrap();
    assert!(run.verdicts.iter().all(|judgement| judgement.trial != Some(run.trials[0].id)));
}

#[test]
fn a_disturbed_trial_is_an_outlier_and_named() {
    for slow in [12_000, 2_000, 100] {
        let mut run = Pretend::usual().run(QUICK, 11);
        let disturbed = &mut run.trials[40];
        assert_eq!(disturbed.spec.describe(), "4 KiB random reads, QD 4");
        let trial = iosonde_testkit::specimen::healthy(disturbed.spec.rw, 4096, 4, slow);
        (disturbed.read, disturbed.windows, disturbed.witnesses) =
            (trial.read, trial.windows, trial.witnesses);
        conclude(&mut run, None).unwrap();
        let doubt = run.verdicts.iter().find(|judgement| judgement.check == CheckName::Outliers).unwrap();
        assert_eq!(doubt.verdict, Outcome::Warning);
        let Some(Cause::Outliers(Outliers::Far(found))) = &doubt.cause else { panic!("{doubt:?}") };
        assert_eq!((found.outliers, found.farthest_trial), (1, 41));
        // The law says 38,426 a second, and all points scatter by 3 %.
        let share = slow as f64 / 38_426.0;
        assert!((found.rate_share / share - 1.0).abs() < 0.05, "{found:?}");
        // The law says 4 / 104.096 µs = 38,426 a second; the disturbed trial does not move that.
        let iops = run.points[run.trials[40].point.unwrap()].read.as_ref().unwrap().iops;
        assert!(iops.low.unwrap() <= 38_426.0 && 38_426.0 <= iops.high.unwrap(), "{iops:?}");
        assert!(iops.relative_half_width().unwrap() < 0.05, "{iops:?}");
    }
}

#[test]
fn a_run_that_another_version_planned_is_concluded_from_what_its_trials_did() {
    let mut run = concluded(&Pretend::usual(), 1);
    let alone = |run: &Run| found(run, FindingName::BaseLatency).value;
    let before = alone(&run);
    // The grid's depths stood in another order: point by point, the trials did something else than is planned now.
    let swapped = run.info.study_source.replace("\"1..128*2\"", "[128, 64, 32, 16, 8, 4, 2, 1]");
    assert_ne!(swapped, run.info.study_source);
    run.info.study_source = swapped;
    conclude(&mut run, None).unwrap();
    assert_eq!(alone(&run), before);
    for trial in run.trials.iter().filter(|trial| trial.phase == Phase::Measure) {
        assert_eq!(run.points[trial.point.unwrap()].spec, trial.spec);
    }
}
