//! The first lines of a report, for what people meet: memory, holes, virtual machines, noise, lost trials.

use iosonde_model::{
    About, Absence, Cause, CheckName, Closed, Counter, Device, DeviceNote, FindingName, HidingLayer,
    Judgement, Medium, Op, Phase, Reason, RequestError, RunState, Scopes, Status, Tally, Trial, Verdict,
    cause::NoWitness,
};

use super::*;
use iosonde_infer::conclude::conclude;
use iosonde_testkit::{
    pretend::{Pretend, QUICK},
    specimen,
};

fn of(pretend: &Pretend, change: impl Fn(&mut Run)) -> ValidityText {
    let mut run = pretend.run(QUICK, 1);
    change(&mut run);
    let closed = vec![Some(Closed::Budget); 27];
    conclude(&mut run, Some(&closed)).unwrap();
    validity(&run)
}

fn texts(told: &ValidityText) -> Vec<String> {
    told.lines.iter().map(|line| format!("{} {}", symbol(line.mark), line.text)).collect()
}

/// Reads only, so that there is no warning about a write buffer.
fn reader() -> Pretend {
    let device = Device { writable: false, ..Pretend::usual().device };
    Pretend { device, cv: 0.01, ..Pretend::usual() }
}

#[test]
fn a_clean_run_of_reads_is_a_plain_yes() {
    let told = of(&reader(), |_| {});
    assert_eq!((told.mark, told.headline.as_str()), (Weight::Yes, "yes"));
    // 6 sizes + 7 more depths + 2 orders = 15 points that read, 8 rounds.
    assert_eq!(texts(&told), ["✓ all 120 trials valid"]);
}

#[test]
fn that_writes_may_fit_a_buffer_is_advice_and_no_warning() {
    let mut run = Pretend { cv: 0.01, ..Pretend::usual() }.run(QUICK, 1);
    conclude(&mut run, Some(&[Some(Closed::Budget); 27])).unwrap();
    assert_eq!(validity(&run).headline, "yes");
    let advised = crate::text::advice::advice(&run);
    let said =
        advised.iter().find(|advice| advice.sentence.contains("may be slower")).expect("writes are short");
    // 1 GiB was written, and how large the disk is is unknown.
    let larger = "may be slower: `iosonde run sustained-write ./ --size 16G`";
    assert!(said.sentence.ends_with(larger), "{said:?}");
    run.info.device.size_bytes = Some(9 << 30);
    let said = crate::text::advice::advice(&run);
    assert!(
        said.iter().any(|advice| advice.sentence.ends_with("--size 4G`")),
        "half of the disk at most: {said:?}"
    );
}

#[test]
fn a_buffer_that_was_looked_for_is_no_guess() {
    let with = |status| {
        let mut run = Pretend { cv: 0.01, ..Pretend::usual() }.run(QUICK, 1);
        conclude(&mut run, Some(&[Some(Closed::Budget); 27])).unwrap();
        run.findings.push(specimen::write_buffer(status, 64 << 20));
        validity(&run).lines.into_iter().map(|line| line.text).find(|text| text.starts_with("writes: "))
    };
    let found = with(Status::Found).expect("the other points may lie within it");
    assert!(found.starts_with("writes: a buffer of 64 MiB absorbs the first writes"), "{found}");
    assert_eq!(with(Status::Absent), None);
    assert_eq!(with(Status::Inconclusive), None, "nobody knows: that is advice");
}

#[test]
fn a_trial_that_moved_little_had_its_witness_and_is_no_doubt() {
    let with = |first: NoWitness, unchecked: u64| {
        let mut run = reader().run(QUICK, 1);
        let tally = Tally {
            of: Scopes::Trials,
            judged: 120,
            passed: 120 - unchecked,
            unchecked,
            warned: 0,
            invalid: 0,
            outliers: None,
            first: Some(Box::new(first.into())),
        };
        let unchecked = Verdict::NotChecked(Reason::new(About::Device, Cause::Tally(tally)));
        run.verdicts = vec![Judgement::new(CheckName::CacheServed, "run", None, None, unchecked)];
        validity(&run).lines.iter().any(|line| line.text.contains("trials not checked"))
    };
    assert!(!with(NoWitness::TooSmall { issued_bytes: 12_300, needed_bytes: 1 << 20 }, 120));
    assert!(with(NoWitness::NotRead { said: Vec::new() }, 120));
    assert!(!with(NoWitness::NotRead { said: Vec::new() }, 59), "most of the trials had a witness");
}

#[test]
fn a_count_that_is_that_of_all_is_told_once() {
    let told = of(&reader(), |run| {
        run.trials.iter_mut().for_each(|trial| trial.witnesses.steal_share = Some(0.3));
    });
    let first = &texts(&told)[0];
    let all = "✗ all 120 trials invalid; for example, 4 KiB random reads, QD 1: the hypervisor took 30 %";
    assert!(first.starts_with(all), "{first}");
}

#[test]
fn preparations_and_canaries_are_not_counted_among_the_trials() {
    let told = of(&reader(), |run| {
        run.trials.iter_mut().for_each(|trial| trial.witnesses.pressure_cpu_some_share = Some(0.9));
    });
    let doubt = texts(&told).into_iter().find(|text| text.contains("CPU"));
    assert!(
        doubt.as_deref().is_some_and(|text| text.starts_with("! 15 workloads (120 trials), such as 4 KiB ")),
        "{doubt:?}"
    );
}

#[test]
fn one_trial_that_is_void_is_spoken_of_as_one() {
    let told = of(&reader(), |run| {
        run.trials.truncate(1);
        run.trials[0].witnesses.steal_share = Some(0.3);
    });
    let first = &texts(&told)[0];
    assert!(first.starts_with("✗ the trial is invalid: the hypervisor took 30 %"), "{first}");
}

#[test]
fn what_a_change_made_imprecise_is_said() {
    let told = of(&Pretend { cv: 0.02, change: -0.5, rounds: 12, ..reader() }, |_| {});
    let said =
        |text: &String| text.contains("less precise than ±5.0 %") && text.ends_with(": their rates drifted");
    assert!(texts(&told).iter().any(said), "{:?}", texts(&told));
}

#[test]
fn what_was_asked_and_not_reached_is_said() {
    let told = of(&Pretend { cv: 0.12, ..reader() }, |_| {});
    assert_eq!(told.mark, Weight::Doubt);
    let text = &texts(&told)[0];
    assert!(
        text.starts_with(
            "! throughput of 15 of 15 workloads is less precise than ±5.0 %; run again with more `--time`"
        ),
        "{text}"
    );
}

#[test]
fn a_cache_on_the_other_side_is_a_warning_where_writes_are_faster_than_reads() {
    let mut pretend = reader();
    pretend.device.medium = Medium::Virtual;
    pretend.device.unseen = vec![HidingLayer::VirtualMachineHost];
    assert_eq!(of(&pretend, |_| {}).headline, "yes");
    let told = |pretend: &Pretend| {
        let mut run = pretend.run(QUICK, 1);
        conclude(&mut run, Some(&[Some(Closed::Budget); 27])).unwrap();
        let of = |op, bytes_per_s: f64| {
            let value = (bytes_per_s, iosonde_model::Unit::Rate);
            let name = iosonde_model::FindingName::DeviceBandwidth;
            crate::text::finding::example::found(name, op, value, iosonde_model::Detail::Plain)
        };
        run.findings = vec![of(Op::Read, 1e9), of(Op::Write, 3e9)];
        validity(&run)
    };
    let warning = |place: &str| {
        format!(
            "! {place} may have taken the writes, whose bandwidth is above that of reads; try a larger `--size`"
        )
    };
    let of_guest = told(&pretend);
    assert_eq!(of_guest.headline, "yes, with 1 warning");
    assert_eq!(texts(&of_guest)[0], warning("a host cache"));
    // An NFS client on bare metal is no guest.
    pretend.device.medium = Medium::Network;
    assert_eq!(texts(&told(&pretend))[0], warning("a cache behind this volume"));
}

#[test]
fn tmpfs_is_memory_in_the_first_line() {
    let mut pretend = reader();
    (pretend.device.medium, pretend.device.file_system) = (Medium::Memory, Some("tmpfs".into()));
    let told = of(&pretend, |_| {});
    assert_eq!(told.mark, Weight::No);
    assert_eq!(told.headline, "no: data came from memory, not from storage (tmpfs keeps its data in memory)");
}

#[test]
fn a_file_just_written_and_read_back_is_memory_in_the_first_line() {
    let mut pretend = reader();
    pretend.device.direct = false;
    let told = of(&pretend, |run| {
        run.info.host.memory_bytes = Some(8 << 30);
        for trial in &mut run.trials {
            trial.spec.direct = false;
            trial.witnesses.block_layer_read_bytes = Some(0);
        }
    });
    assert!(
        told.headline
            .starts_with("no: data came from memory, not from storage (120 of 120 trials; for example, ")
            && told.headline.contains(", and none of it came from the device)")
    );
    assert!(texts(&told).contains(&"! the area of 1 GiB fits into memory (8 GiB)".to_owned()));
}

#[test]
fn what_a_study_sends_through_the_cache_on_purpose_spoils_no_other_figure() {
    let mut pretend = reader();
    pretend.device.direct = true;
    let cached = |meant: bool| {
        of(&pretend, move |run| {
            run.info.host.memory_bytes = Some(8 << 30);
            let own = run.trials.iter_mut().filter(|trial| trial.phase == Phase::Measure);
            for trial in own.filter(|trial| trial.point.is_some_and(|point| point < 3)) {
                trial.spec.direct = !meant;
                trial.witnesses.block_layer_read_bytes = Some(0);
                busy(trial, 1.0);
            }
        })
    };
    let told = cached(true);
    assert!(told.headline.starts_with("yes"), "{}", told.headline);
    let line = "3 of 15 workloads use the page cache, as the study asks: what programs get, not the storage";
    assert!(told.lines.iter().any(|shown| shown.text == line), "{:?}", texts(&told));
    // Direct I/O that the cache served was meant for the storage.
    assert!(cached(false).headline.starts_with("partly: 3 of 15"), "{}", cached(false).headline);
}

#[test]
fn a_hole_is_no_storage() {
    let unread = |run: &mut Run| {
        run.trials.iter_mut().for_each(|trial| trial.witnesses.block_layer_read_bytes = Some(0));
    };
    let told = of(&reader(), unread);
    assert!(told.headline.starts_with("no: nothing was read from storage (120 of 120 trials; for example, "));
    // A neighbour's megabyte changes nothing.
    let busy = of(&reader(), |run| {
        run.trials.iter_mut().for_each(|trial| trial.witnesses.block_layer_read_bytes = Some(1 << 20));
    });
    assert!(busy.headline.starts_with("no: nothing was read from storage ("), "{}", busy.headline);
    let ignored = of(&reader(), |run| {
        unread(run);
        run.trials.iter_mut().for_each(|trial| trial.witnesses.resident_after_bytes = Some(1 << 30));
    });
    assert!(
        ignored.headline.starts_with("no: data came from memory, not from storage ("),
        "{}",
        ignored.headline
    );
    let mut sparse = reader();
    sparse.device.notes.push("the whole file is addressed".into());
    // A sentence decides nothing, whatever its words are.
    sparse.device.notes.push("no holes here".into());
    sparse.device.notes.push(DeviceNote::Holes { unmapped_bytes: 1 << 30, file_bytes: 1 << 30 });
    assert_eq!(
        of(&sparse, unread).headline,
        "no: nothing was read from storage (100 % of the file's 1 GiB are holes that were never written)"
    );
}

/// Busy so much of the time, with a processor of its own.
fn busy(trial: &mut Trial, share: f64) {
    (trial.busy_share, trial.cpu_system_s) = (Some(share), Some(share * trial.elapsed_s));
}

#[test]
fn the_program_s_own_limit_is_no_storage() {
    let told = of(&reader(), |run| run.trials.iter_mut().for_each(|trial| busy(trial, 0.99)));
    assert!(told.headline.starts_with("no: the load generator was the limit, not the storage ("));
}

#[test]
fn a_few_lost_trials_are_named_and_leave_a_yes() {
    let told = of(&reader(), |run| {
        for trial in run.trials.iter_mut().filter(|trial| trial.phase == Phase::Measure).take(2) {
            trial.read.as_mut().unwrap().errors = 1;
            trial.error_examples.push(RequestError::System { errno: 5, count: 1 });
        }
    });
    assert_eq!(told.headline, "yes");
    assert!(
        told.lines[0].text.starts_with(
            "118 of 120 trials used; 2 invalid in 2 workloads; for example, 4 KiB random reads, QD 1: 1"
        ),
        "{told:?}"
    );
}

#[test]
fn a_tenth_of_the_points_without_a_trial_that_stands_make_it_a_part() {
    let without = |points: usize| {
        let change = |run: &mut Run| {
            let own = run.trials.iter_mut().filter(|trial| trial.phase == Phase::Measure);
            own.filter(|trial| trial.point.is_some_and(|point| point < points))
                .for_each(|trial| busy(trial, 1.0));
        };
        of(&reader(), change).headline
    };
    assert!(without(1).starts_with("yes"), "{}", without(1));
    let part = without(3);
    let first = "partly: 3 of 15 workloads did not measure the storage; ";
    assert!(part.starts_with(first), "{part}");
}

#[test]
fn without_a_witness_memory_cannot_be_ruled_out() {
    let told = of(&reader(), |run| {
        for trial in &mut run.trials {
            trial.witnesses.block_layer_read_bytes = None;
            trial.witnesses.absent = vec![Absence::NoBlockDevice { file_system: Some("tmpfs".into()) }];
        }
    });
    assert_eq!(
        texts(&told)[0],
        "! 120 of 120 trials not checked: bytes moved by the device are unknown: no block device with \
         counters is known below this tmpfs"
    );
}

#[test]
fn less_than_asked_and_less_than_finished_are_said() {
    let mut pretend = reader();
    pretend.device.asked_size_bytes = Some(4 << 30);
    let told = of(&pretend, |run| run.info.state = RunState::Interrupted);
    assert_eq!(told.headline, "yes, with 2 warnings");
    assert_eq!(
        texts(&told)[..2],
        [
            "! the run was interrupted; `iosonde resume` continues it",
            "! 1 GiB were measured, not the requested 4 GiB"
        ]
    );
}

#[test]
fn an_arm_is_spoken_of_only_where_something_turns() {
    let of_medium = |medium, rotational| {
        let mut pretend = reader();
        (pretend.device.medium, pretend.device.rotational) = (medium, Some(rotational));
        pretend.device.size_bytes = Some(256 << 30);
        texts(&of(&pretend, |_| {}))
    };
    let arm = "! random access was measured within 1 GiB of this 275 GB disk (0.4 %); a larger `--size` shows how much \
               slower it is over the whole disk";
    assert_eq!(of_medium(Medium::Disk, true)[0], arm);
    assert_eq!(of_medium(Medium::Simulated, true)[0], arm);
    // A guest's virtio disk calls itself rotating whatever it lies on.
    assert_eq!(of_medium(Medium::Virtual, true), ["✓ all 120 trials valid"]);
    assert_eq!(of_medium(Medium::Flash, false), ["✓ all 120 trials valid"]);
}

#[test]
fn writing_to_what_a_snapshot_shares_is_told() {
    let with = |pretend: &Pretend, share: f64| {
        of(pretend, |run| {
            for trial in &mut run.trials {
                trial.witnesses.shared_bytes = Some((share * trial.spec.span_bytes as f64) as u64);
            }
        })
    };
    let said = |told: &ValidityText| {
        let found = told.lines.iter().find(|line| line.text.contains("snapshot"));
        found.map(|line| line.text.clone())
    };
    let writer = Pretend { cv: 0.01, ..Pretend::usual() };
    let text = said(&with(&writer, 0.5)).expect("half of it is shared");
    assert!(
        text.starts_with("writes: a copy or a snapshot shares 512 MiB of the 1 GiB written to"),
        "{text}"
    );
    assert_eq!(said(&with(&reader(), 0.5)), None);
    assert_eq!(said(&with(&writer, 0.0)), None);
}

#[test]
fn a_file_in_pieces_is_told_on_a_disk_alone() {
    let of_medium = |medium, pieces| {
        let mut pretend = reader();
        pretend.device.medium = medium;
        let told = of(&pretend, |run| {
            run.trials.iter_mut().for_each(|trial| trial.witnesses.pieces = Some(pieces));
        });
        texts(&told)
    };
    assert_eq!(
        of_medium(Medium::Disk, 1024)[0],
        "! the file lies in 1024 pieces of 1 MiB on average; sequential requests include seeks between them"
    );
    assert_eq!(of_medium(Medium::Disk, 8), ["✓ all 120 trials valid"]);
    assert_eq!(of_medium(Medium::Flash, 1024), ["✓ all 120 trials valid"]);
}

#[test]
fn what_the_drive_or_the_machine_says_of_itself_is_a_doubt() {
    let mut pretend = reader();
    let warnings = vec!["it is too hot or too cold".to_owned()];
    pretend.device.health = Some(iosonde_model::Health { warnings, ..Default::default() });
    let told = of(&pretend, |run| run.info.host.on_battery = Some(true));
    assert_eq!(
        texts(&told)[..2],
        [
            "! the drive itself warns: it is too hot or too cold",
            "! measured on battery; processors and links may have been slowed"
        ]
    );
}

#[test]
fn a_witness_that_vanishes_in_mid_run_is_told() {
    let told = of(&reader(), |run| {
        for trial in run.trials.iter_mut().skip(110) {
            trial.witnesses.block_layer_read_bytes = None;
            let (counter, of, before, after) = (Counter::SectorsRead, "vda".into(), 1000, 3);
            trial.witnesses.absent = vec![Absence::WentBackwards { counter, of, before, after }];
        }
    });
    assert_eq!(
        texts(&told)[0],
        "! 10 of 120 trials have no device counters, from trial 111 on (the sectors read of vda fell from 1000 \
         to 3: the counter was reset or wrapped around); cached data cannot be ruled out there"
    );
    assert_eq!(told.headline, "yes, with 1 warning");
}

#[test]
fn a_volume_that_may_be_on_credit_is_named_until_a_limit_shows() {
    let with_credit = |credit: Option<bool>, change: fn(&mut Run)| {
        let mut pretend = reader();
        (pretend.device.medium, pretend.device.burst_credit) = (Medium::Virtual, credit);
        texts(&of(&pretend, change))[0].clone()
    };
    const STANDS: &str = "✓ all 120 trials valid";
    let line = with_credit(Some(true), |run| run.info.elapsed_s = 300.0);
    assert!(line.starts_with("! this type of volume has burst credit, and 5 min"), "{line}");
    assert_eq!(with_credit(None, |_| {}), STANDS);
    // An hour below full rate spends no credit: only a fall that was seen ends the doubt.
    assert!(
        with_credit(Some(true), |run| run.info.elapsed_s = 4000.0)
            .starts_with("! this type of volume has burst credit")
    );
    // A limit that showed says it better.
    let limit = iosonde_model::IoLimit {
        set_by: "/sys/fs/cgroup/box/io.max".into(),
        device: "vda".into(),
        op: Op::Read,
        iops: Some(1.0),
        bytes_per_s: None,
    };
    let mut pretend = reader();
    pretend.device.burst_credit = Some(true);
    let told = of(&pretend, |run| run.trials[0].witnesses.io_limits = Some(vec![limit.clone()]));
    assert!(!texts(&told).iter().any(|line| line.contains("burst credit")), "{told:?}");
}

#[test]
fn too_few_rounds_say_nothing() {
    let told = of(&reader(), |run| run.info.rounds = 2);
    assert_eq!(told.headline, "no: only 2 of at least 3 rounds were completed");
    // What else might be wrong with figures that say nothing is not told.
    assert_eq!(texts(&told), ["✓ all 120 trials valid"]);
}

#[test]
fn a_failed_run_and_a_pause_are_told() {
    let told = of(&reader(), |run| {
        run.info.state = RunState::Failed;
        run.trials[7].warmup_s += 4.0;
        run.trials[7].elapsed_s += 4.0;
    });
    let lines = texts(&told);
    assert_eq!(told.headline, "yes, with 2 warnings");
    assert!(lines[0].contains("(1 trial): the storage did not answer for 3.99 s before"), "{lines:?}");
    assert_eq!(lines[1], "! the run ended with an error before it was complete");
}

#[test]
fn nothing_measured_is_a_no() {
    assert_eq!(of(&reader(), |run| run.trials.clear()).headline, "no: nothing was measured");
}

/// Words of the verdict that the tests below push.
const FELL: &str = "control group";

const LIMIT: &str = "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"limit\"";

fn believed(study: &str) -> (ValidityText, String) {
    let mut run = Pretend { cv: 0.01, ..Pretend::usual() }.run(study, 1);
    run.info.device.model = Some("Amazon Elastic Block Store".into());
    conclude(&mut run, None).unwrap();
    let fell = Verdict::Warning(Reason::new(About::Rate, iosonde_model::cause::Throttled::Unseen));
    run.verdicts.push(Judgement::new(CheckName::Throttled, "run", None, None, fell));
    let limit = run.findings.iter_mut().find(|finding| finding.name == FindingName::ThrottleRate).unwrap();
    (limit.status, limit.value, limit.low, limit.high) =
        (Status::Found, Some(3000.0), Some(2999.0), Some(3001.0));
    let advised =
        crate::text::advice::advice(&run).iter().map(|advice| format!("{}\n", advice.sentence)).collect();
    (validity(&run), advised)
}

#[test]
fn a_limit_that_was_asked_for_is_the_answer_and_no_doubt() {
    let (told, advised) = believed(LIMIT);
    let said = |text: &str| told.lines.iter().any(|line| line.text.contains(text));
    assert!(said("a rate limit was looked for and found") && !said(FELL), "{told:?}");
    assert!(!said("has burst credit"), "its end was seen: {told:?}");
    assert_eq!(advised, "expect 3.00 k IOPS (±0.1 %) of reads; for more, have the limit raised\n");
    // Beside other questions it stays a doubt about their figures.
    let both = format!("{LIMIT}\n[[experiment]]\nkind = \"queue-depth\"\ndepth = 2");
    let (told, _) = believed(&both);
    assert!(told.lines.iter().any(|line| line.text.contains(FELL)), "{told:?}");
}

#[test]
fn trials_are_repeated_where_later_ones_replace_all_of_them() {
    let mut run = iosonde_testkit::specimen::run(iosonde_testkit::specimen::usual());
    conclude(&mut run, None).unwrap();
    let example = Judgement { check: CheckName::NotSteady, ..run.verdicts[0].clone() };
    let reason = |replaced| {
        let check = CheckName::NotSteady;
        InvalidBy {
            check,
            trials: 3,
            workloads: 2,
            depth_only: false,
            replaced,
            workload: None,
            example: example.clone(),
        }
    };
    assert_eq!(briefly(&[reason(true)]), ": not steady at first, repeated with a longer warm-up");
    assert_eq!(briefly(&[reason(false)]), " in 2 workloads (the rate was not steady)");
    // Beside another reason, each has its own words.
    assert!(briefly(&[reason(true), reason(false)]).starts_with(" (the rate was not steady, 2 workloads; "));
}
