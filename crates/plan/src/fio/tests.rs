//! Job files as they are read, typed and laid out. What fio itself does was looked up in fio 3.33.

use std::path::Path;

use iosonde_model::{Arrivals, Distribution, Payload, Randomness, Ranges, Rw, Sync, Think};

use super::*;

/// A world of a few files, two variables and fio's own words.
fn world<T>(files: &[(&str, &str)], run: impl FnOnce(&World) -> T) -> T {
    let read = |path: &Path| {
        let found = files.iter().find(|(name, _)| Path::new(name) == path);
        found.map(|(_, text)| text.as_bytes().to_vec()).ok_or_else(|| "no such file".to_owned())
    };
    let variable = |name: &str| (name == "SIZE").then(|| "64m".to_owned());
    let keyword = |word: &str| (word == "pagesize").then_some(4096);
    run(&World { read: &read, variable: &variable, keyword: &keyword })
}

fn sections(text: &str) -> Result<Vec<Section>, Refusal> {
    world(&[("a.fio", text)], |world| read::files(&["a.fio".into()], world))
}

fn jobs(text: &str) -> Result<Vec<Job>, Refusal> {
    sections(text)?.iter().map(Job::of).collect()
}

fn job(options: &str) -> Job {
    jobs(&format!("[j]\nsize=64m\n{options}")).unwrap().remove(0)
}

fn refusal(text: &str) -> String {
    jobs(text).unwrap_err().to_string()
}

fn directory(path: &str) -> Found {
    if matches!(path, "./" | "d") { Found::Directory } else { Found::Nothing }
}

fn laid(text: &str, caps: Caps) -> Laid {
    let group = groups(jobs(text).unwrap()).unwrap().remove(0);
    let site = group.site(&directory).unwrap();
    let bytes = group.needs_bytes(&site, caps).unwrap().unwrap();
    group.lay(&site, bytes, caps).unwrap()
}

#[test]
fn a_job_file_is_read_as_fio_reads_it() {
    let text = "; a comment\n[global]\nname=all\nrw=randread   ; behind\nsize = 1M # too\n\n[ one ]\niodepth=4\n\
                ioengine=libaio\n                [two]\nstonewall\nrw=write\n[global]\nbs=8k\n[three]\nname=last\n";
    let jobs = jobs(text).unwrap();
    let told: Vec<_> =
        jobs.iter().map(|job| (job.name.as_str(), job.spec.rw, job.spec.block_size_bytes)).collect();
    // Options of a later [global] hold for what follows.
    assert_eq!(told, [("one", Rw::RandRead, 4096), ("two", Rw::Write, 4096), ("last", Rw::RandRead, 8192)]);
    assert_eq!((jobs[0].spec.queue_depth, jobs[1].stonewall), (4, true));
    assert_eq!(jobs[0].size, Some(Amount::Bytes(1 << 20)));
}

#[test]
fn a_command_line_is_read_as_fio_reads_it() {
    let words = "sudo fio --bs=8k --name=a --rw randread --direct 1 --size=1m --name=b --rw=write --stonewall \
                 --size=1m \
                 --output-format=json --eta=never";
    let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
    let line = world(&[], |world| read::command_line(&words, world)).unwrap();
    let jobs: Vec<Job> = line.sections.iter().map(|section| Job::of(section).unwrap()).collect();
    assert_eq!(
        (jobs[0].spec.rw, jobs[0].spec.block_size_bytes, jobs[0].spec.direct),
        (Rw::RandRead, 8192, true)
    );
    assert_eq!((jobs[1].spec.rw, jobs[1].spec.block_size_bytes, jobs[1].stonewall), (Rw::Write, 8192, true));
    assert_eq!(line.general, [("output-format", "json".to_owned()), ("eta", "never".to_owned())]);
}

#[test]
fn what_is_wrong_with_a_file_has_its_place() {
    for (text, told) in [
        ("rw=read\n[a]\n", "a.fio:1:1: `rw=read` stands before the first section"),
        ("[a]\nsize=1m\nfilename=\n", "a.fio:3:1: filename needs a value"),
        ("[a]\nsize=1m\ndirect=\n", "a.fio:3:1: direct needs a value"),
        ("[a]\nsize=1m\nrw=write\nverify=foo\n", "verify=foo is not understood"),
        ("[a]\nsize=1m\nrate=1m\nrate_min=2m\n", "rate_min=2m is above rate=1m"),
        ("[a\nsize=1m\n", "a.fio:1:1: the section's header has no closing ]"),
        ("[a]\nsize=1m\n  foo=1\n", "a.fio:3:3: foo is not supported"),
        ("[a]\nsize=1m\niodepht=4\n", "did you mean `iodepth`?"),
        ("[a]\nsize\n", "a.fio:2:1: size needs a value"),
        ("[a]\nsize=${NONE}\n", "the environment variable NONE is not set"),
        ("[a]\nsize=8*$pagesize\n", "needs arithmetic"),
        ("[global]\nsize=1m\n", "no job in it"),
        ("", "no job in it"),
        ("[a]\ninclude b.fio\n", "the included file b.fio cannot be read"),
        ("[a]\ninclude a.fio\n", "includes itself"),
        ("[a]\nsize=1m\nrw=sideways\n", "rw=sideways is not understood"),
        ("[a]\nsize=1m\nthinktime=5ms\nrate_iops=9\n", "a.fio:3:1: thinktime and a rate contradict"),
        ("[a]\nsize=1m\nlatency_target=5ms\n", "a.fio:3:1: latency_target needs the time at each depth"),
        (
            "[a]\nsize=1m\nlatency_target=5ms\nlatency_window=1s\nlatency_percentile=0\n",
            "a.fio:5:1: latency_percentile=0",
        ),
        (
            "[a]\nsize=1m\nlatency_target=5ms\nlatency_window=1s\nrate_iops=9\n",
            "a.fio:3:1: latency_target and a rate contradict",
        ),
        ("[a]\nsize=1m\nstartdelay=5-10\n", "startdelay=5-10 is not supported: write one time"),
        ("[a]\nsize=1m\npercentage_random=50\n", "percentage_random=50 is not supported: it belongs to"),
        ("[a]\nsize=1m\nwrite_bw_log\nlog_avg_msec=10\n", "a.fio:4:1: log_avg_msec=10 is not supported"),
        ("[a]\nsize=1m\npercentile_list=50:high\n", "percentile_list=50:high is not understood"),
        ("[a]\nsize=1m\nioengine=rbd\n", "the engines are io_uring"),
        ("[a]\nsize=1m\nioengine=posixaio\niodepth=8\n", "ioengine=posixaio is not supported"),
        ("[a]\nsize=1m\ntime_based\n", "time_based needs a runtime"),
        ("[a]\nsize=1m\nrw=randrw\nbs=4k,8k\n", "bs=4k,8k is not supported"),
        ("[a]\nsize=1m\nrw=write\nend_fsync=1\nfsync=8\n", "a.fio:5:1: fsync=8 is not supported"),
        ("[a]\nsize=1m\nrw=write\nend_fsync=1\nloops=2\n", "loops=2 is not supported: fio flushes"),
        ("[a]\nsize=1m\nexitall\nexit_what=x\n", "exit_what=x is not understood"),
        ("[a]\nsize=1m\nss=iops:10%\n", "steadystate needs the time that is looked at"),
        ("[a]\nsize=1m\nss=iops:10%\nss_dur=100ms\n", "steadystate_duration=100ms is not understood"),
        ("[a]\nsize=1m\nss=lat:10%\nss_dur=10\n", "steadystate=lat:10% is not understood"),
        ("[a]\nsize=1m\nrw=read:-4k\nbs=4k\n", "backwards needs more than bs"),
        ("[a]\nsize=1m\nrate_min=1m\nrate_iops_min=5\n", "contradict each other"),
        ("[a]\nsize=1m\nioengine=libaio\nsqthread_poll\n", "sqthread_poll is not supported: it goes with"),
        ("[a]\nsize=1m\nrwmixread=70\nrwmixwrite=20\n", "do not make 100"),
        ("[a]\nsize=1m\nbssplit=4k/60:8k/60\n", "bssplit=4k/60:8k/60 is not understood"),
        ("[a]\nsize=1m\nrw=randread:x\n", "rw=randread:x is not understood"),
        ("[a]\nsize=1m\nrandom_distribution=zoned:50/5:30/15\n", "add up to 100"),
        ("[a]\nsize=1m\nrandom_distribution=zoned:50/5:x/95\n", "zones are REQUESTS/FILE in percent"),
        ("[a]\nsize=1m\nverify=crc32c\n", "a job that writes reads back"),
    ] {
        let said = refusal(text);
        assert!(said.contains(told) && !said.contains('\n'), "{text:?}: {said}");
    }
}

#[test]
fn bytes_that_are_no_text_have_their_place() {
    let read = |_: &Path| Ok(b"[a]\nsize=\xff\n".to_vec());
    let none = |_: &str| None;
    let world = World { read: &read, variable: &none, keyword: &|_| None };
    let said = read::files(&["a.fio".into()], &world).unwrap_err().to_string();
    assert_eq!(said, "a.fio:2:6: the text is not UTF-8; save the job file as UTF-8");
    let read = |_: &Path| Ok(vec![b' '; 5 << 20]);
    let world = World { read: &read, variable: &none, keyword: &|_| None };
    assert!(
        read::files(&["a.fio".into()], &world).unwrap_err().to_string().contains("at most 4 MiB are read")
    );
}

#[test]
fn options_become_a_workload() {
    let all = job(
        "rw=randrw\nbssplit=4k/60:64k/40\nrwmixread=70\nioengine=io_uring\niodepth=16\nnumjobs=4\ndirect=1\n\
         random_distribution=zipf:1.2\nfdatasync=32\nbuffer_compress_percentage=50\n",
    )
    .spec;
    assert_eq!((all.rw, all.read_percent, all.queue_depth, all.jobs), (Rw::RandRw, Some(70.0), 16, 4));
    assert_eq!((all.block_size_bytes, all.block_sizes.iter().count(), all.direct), (65_536, 2, true));
    assert_eq!(all.distribution, Distribution::Zipf { theta: 1.2 });
    assert_eq!((all.sync, all.payload), (Sync::Fdatasync { every: 32 }, Payload::Compress { share: 0.5 }));
    // fio visits each block once, unless it is told that it need not.
    assert_eq!(job("rw=randread\n").spec.distribution, Distribution::Once);
    assert_eq!(job("rw=randread\nnorandommap\n").spec.distribution, Distribution::Uniform);
    // JESD219's zones; shares that are left out, and one zone.
    let zones =
        |text: &str| job(&format!("rw=randread\nrandom_distribution=zoned:{text}\n")).spec.distribution;
    assert_eq!(zones("50/5:30/15:20/80").to_string(), "hot:50%/5%:30%/15%");
    assert_eq!(zones("50/5:30/15:20/"), zones("50/5:30/15:20/80"));
    assert_eq!(zones("60/20:30/:10/").to_string(), "hot:60%/20%:30%/40%");
    assert_eq!(zones("100/100"), Distribution::Uniform);
    assert_eq!(job("rw=write\nsync=1\n").spec.sync, Sync::Osync);
    assert_eq!(job("rw=write:4k\nbs=8k\n").spec.stride_bytes, Some(12_288));
    assert_eq!(job("rw=write\nbs=4k,16k\n").spec.block_size_bytes, 16_384);
    assert_eq!(job("rw=read\nbsrange=4k-16k\n").spec.block_sizes.iter().count(), 4);
    // A synchronous engine has one request outstanding.
    let blocking = job("iodepth=32\n");
    assert_eq!(blocking.spec.queue_depth, 1);
    assert_eq!(blocking.changes, [Change::DepthOne { asked: 32, engine: "psync".into() }]);
    // fio 3.33 makes 493 of them where its manual says 153.
    let mix = job("rw=randrw\nrwmixread=75\nfdatasync=4\n");
    assert_eq!(mix.changes, [Change::FlushesOfMix { option: "fdatasync", every: 4, times: 4.0 }]);
    assert_eq!(job("rw=randwrite\nfdatasync=4\n").changes, []);
}

#[test]
fn what_a_program_does_between_requests_is_part_of_the_workload() {
    let think = |options: &str| job(&format!("rw=randread\n{options}")).spec.think;
    assert_eq!(think(""), None);
    assert_eq!(think("thinktime=0\nthinktime_blocks=4\n"), None);
    // fio counts microseconds where nothing else is said, and seconds for the time between two pauses.
    let one = Think { pause_ns: 500_000, spin_ns: 100_000, requests: Some(1), time_ns: None };
    assert_eq!(think("thinktime=500\nthinktime_spin=100\n"), Some(one));
    assert_eq!(think("thinktime=500\nthinktime_spin=100\nthinktime_blocks=8\n").unwrap().requests, Some(8));
    let timed = think("thinktime=2ms\nthinktime_iotime=3\n").unwrap();
    assert_eq!((timed.requests, timed.time_ns), (None, Some(3_000_000_000)));
    assert_eq!(job("startdelay=5\n").spec.delay_ns, 5_000_000_000);
    assert_eq!(job("max_latency=50ms\n").max_latency_ns, Some(50_000_000));
    let refill = |options: &str| job(&format!("ioengine=libaio\niodepth=32\n{options}")).spec.refill_at;
    assert_eq!(refill("iodepth_batch_complete_min=1\n"), None);
    assert_eq!(refill("iodepth_batch_complete=8\n"), Some(24));
    assert_eq!(refill("iodepth_low=4\niodepth_batch_complete=8\n"), Some(4));
    assert_eq!(refill("iodepth_low=32\n"), None);
}

#[test]
fn a_random_pattern_may_be_partly_sequential() {
    let spec = |options: &str| job(&format!("rw=randrw\n{options}")).spec;
    assert_eq!(spec("percentage_random=75\n").randomness, Randomness::Share { share: 0.75 });
    assert_eq!(spec("percentage_random=75\n").distribution, Distribution::Uniform);
    assert_eq!(spec("percentage_random=100\n").distribution, Distribution::Once);
    assert_eq!(job("rw=randread:8\n").spec.randomness, Randomness::Every { requests: 8 });
    assert_eq!(job("rw=randread:1\n").spec.randomness, Randomness::All);
    let both = job("rw=write\nbuffer_compress_percentage=50\ndedupe_percentage=25\n").spec.payload;
    assert_eq!(both, Payload::Both { compress: 0.5, dedupe: 0.25 });
}

#[test]
fn rates_are_those_of_each_direction() {
    let paced = job("rw=randread\nrate_iops=500\nrate_process=poisson\nioengine=libaio\niodepth=32\n").spec;
    assert_eq!((paced.rate_iops, paced.arrivals), (Some(500.0), Arrivals::Poisson));
    // fio 3.33 reads 100 and writes 300 a second, whatever rwmixread says.
    let mixed = job("rw=randrw\nrate_iops=100,300\nrwmixread=70\n").spec;
    assert_eq!((mixed.rate_iops, mixed.read_percent), (Some(400.0), Some(25.0)));
    assert_eq!(job("rw=write\nbs=4k\nrate=,1m\n").spec.rate_iops, Some(256.0));
}

fn endless() -> Ends {
    Ends { duration_ns: None, warm_up_ns: 0, ios: None, steady: None, exit_what: None }
}

#[test]
fn a_job_ends_with_another_or_once_its_throughput_is_steady() {
    let steady = job("ss=bw_slope:1%\nss_dur=30\nss_ramp=10\n").steady.unwrap();
    assert_eq!((steady.name(), steady.limit, steady.is_percent), ("bw_slope", 1.0, true));
    assert_eq!((steady.window_s, steady.ramp_ns), (30, 10_000_000_000));
    assert_eq!(
        job("ss=bw:1m\nss_dur=2m\n").steady.map(|rule| (rule.limit, rule.window_s)),
        Some((1_048_576.0, 120))
    );
    let exit = |text: &str| job(text).exit_what;
    assert_eq!(exit("exit_what=all\n"), None);
    assert_eq!(exit("exitall\n"), Some(ExitWhat::Group));
    assert_eq!(exit("exitall=1\nexit_what=stonewall\n"), Some(ExitWhat::Stonewall));
}

#[test]
fn requests_may_go_backwards() {
    // fio's own example: each begins 8 KiB before the end of the one before, that is, 4 KiB before its beginning.
    let spec = job("rw=read:-8k\nbs=4k\n").spec;
    assert_eq!((spec.backwards, spec.stride_bytes), (true, None));
    assert_eq!(job("rw=read:-12k\nbs=4k\n").spec.stride_bytes, Some(8192));
    assert_eq!(job("rw=read:8k\nbs=4k\n").spec.stride_bytes, Some(12_288));
}

/// Counted by fio 3.33.
#[test]
fn gaps_are_passed_until_all_bytes_of_the_file_are_moved() {
    for (size, rw, requests) in [
        ("16m", "read:64k", 4096),
        ("16m", "write:12k", 4096),
        ("1m", "read:12k", 256),
        // 16 requests 68 KiB apart end with the file.
        ("1m", "read:64k", 16),
        ("1m", "read:-64k", 256),
    ] {
        let all = laid(&format!("[a]\nsize={size}\nrw={rw}\nbs=4k\n"), Caps::default());
        assert_eq!(all.ends, [Ends { ios: Some(requests), ..endless() }], "{rw} of {size}");
    }
}

/// In a file of 64 MiB; counted by fio 3.33.
#[test]
fn what_exists_is_used_as_it_is() {
    let within = |text: &str| {
        let group = groups(jobs(text).unwrap()).unwrap().remove(0);
        let more = group.jobs[0].more_than(64 << 20, Caps::default());
        let laid = group.lay(&Site::Existing("f".into()), 64 << 20, Caps::default()).unwrap();
        (laid.ends[0].ios.unwrap(), more)
    };
    // One pass, where the file goes on behind it; until all bytes are moved, where it ends.
    assert_eq!(within("[a]\nfilename=f\nsize=16m\nrw=read:4k\nbs=4k\n"), (2048, None));
    assert_eq!(within("[a]\nfilename=f\nrw=read:4k\nbs=4k\n"), (16_384, None));
    assert_eq!(within("[a]\nfilename=f\nsize=16m\nrw=read\nbs=4k\n"), (4096, None));
    // fio would make it larger.
    assert_eq!(within("[a]\nfilename=f\nsize=1g\nrw=read\nbs=4k\n"), (16_384, Some(1 << 30)));
}

#[test]
fn engines_have_their_options() {
    for (text, engine) in [
        ("ioengine=io_uring\nhipri\nsqthread_poll=1\n", "io_uring:iopoll,sqpoll"),
        ("ioengine=pvsync2\nhipri\n", "psync:hipri"),
        ("ioengine=io_uring\nuncached=1\nhipri=0\n", "io_uring:dontcache"),
        ("ioengine=null\niodepth=4\n", "null"),
    ] {
        assert_eq!(job(text).engine, engine, "{text}");
    }
}

#[test]
fn sizes_and_times_end_a_job() {
    let one = laid("[a]\nsize=1m\nbs=4k\nrw=randread\n", Caps::default());
    assert_eq!(one.ends, [Ends { ios: Some(256), ..endless() }]);
    let timed = laid("[a]\nsize=1m\nruntime=10\ntime_based\nramp_time=2\n", Caps::default());
    assert_eq!(
        timed.ends,
        [Ends { duration_ns: Some(12_000_000_000), warm_up_ns: 2_000_000_000, ..endless() }]
    );
    let caps = Caps { time_ns: Some(1_000_000_000), size_bytes: Some(512 << 10) };
    let capped = laid("[a]\nsize=1g\nbs=4k\nloops=3\nruntime=1m\n", caps);
    assert_eq!(capped.ends, [Ends { duration_ns: Some(1_000_000_000), ios: Some(384), ..endless() }]);
    assert_eq!((capped.spec.span_bytes, capped.bytes), (512 << 10, 512 << 10));
    let more = laid("[a]\nsize=1m\nio_size=2m\nbs=4k\nnumber_ios=300\n", Caps::default());
    assert_eq!(more.ends[0].ios, Some(300));
}

#[test]
fn files_become_parts_of_one() {
    // Clones have files of their own, unless a name is given.
    let own = laid("[a]\nsize=1m\nnumjobs=4\nrw=randwrite\n", Caps::default());
    assert_eq!((own.spec.span_bytes, own.spec.jobs, own.spec.ranges), (4 << 20, 4, Ranges::Disjoint));
    let shared = laid("[a]\nsize=1m\nnumjobs=4\nfilename=f\n", Caps::default());
    assert_eq!((shared.spec.span_bytes, shared.spec.jobs, shared.spec.ranges), (1 << 20, 4, Ranges::Shared));
    // As fio 3.33 does: a file of whole blocks, and an amount of I/O that the last request completes.
    let ios = |text: &str| laid(&format!("[a]\nrw=write\n{text}"), Caps::default()).ends[0].ios;
    assert_eq!(ios("bs=1m\nsize=1500k\n"), Some(1));
    assert_eq!(ios("bs=64k\nsize=100000\n"), Some(1));
    assert_eq!(ios("bs=1m\nsize=1500k\nloops=3\n"), Some(3));
    assert_eq!(ios("bs=1m\nsize=10m\nio_size=1500k\n"), Some(2));
    assert_eq!(ios("bs=4k\nfilesize=10m\nsize=10k\nloops=2\n"), Some(5));
    // Clones on one file each visit all of its blocks, but for trims.
    let distribution = |rw: &str| {
        let text = format!("[a]\nsize=1m\nnumjobs=4\nfilename=f\nrw={rw}\n");
        laid(&text, Caps::default()).spec.distribution
    };
    assert_eq!(distribution("randread"), Distribution::OncePerJob);
    assert_eq!(distribution("randtrim"), Distribution::Once);
    // Jobs at once are streams; files of one name are one part.
    let text = "[global]\nsize=1m\n[a]\nfilename=f\n[b]\nfilename=g\nrw=write\n[c]\nfilename=f\noffset=512k\n\
                size=512k\n";
    let several = laid(text, Caps::default());
    let places: Vec<_> = several.spec.streams().map(|s| (s.offset_bytes, s.span_bytes)).collect();
    assert_eq!(places, [(0, 1 << 20), (1 << 20, 1 << 20), (512 << 10, 512 << 10)]);
    // Clones at a distance of each other.
    let apart = laid("[a]\nfilename=f\nsize=1m\nnumjobs=3\noffset_increment=2m\n", Caps::default());
    let places: Vec<_> = apart.spec.streams().map(|s| (s.offset_bytes, s.span_bytes, s.jobs)).collect();
    assert_eq!(places, [(0, 1 << 20, 1), (2 << 20, 1 << 20, 1), (4 << 20, 1 << 20, 1)]);
    assert_eq!(apart.reports[0].streams, [0, 1, 2]);
}

/// Three times 7 EiB are more than can be counted in 64 bits: the fuzzer found that they were.
#[test]
fn files_that_no_file_system_holds_are_refused() {
    for (text, at) in [
        ("[a]\nsize=7340032t\nnumjobs=3\n", "a.fio:1:1"),
        ("[a]\nsize=1m\n[b]\nsize=7340032t\n[c]\nsize=7340032t\n", "a.fio:5:1"),
    ] {
        let group = groups(jobs(text).unwrap()).unwrap().remove(0);
        let refused = group.needs_bytes(&Site::Own("./".into()), Caps::default()).unwrap_err().to_string();
        assert!(refused.contains(at) && refused.contains("larger than 8 EiB"), "{refused}");
    }
}

#[test]
fn a_job_may_wait_for_the_jobs_right_before_it() {
    let of = |text: &str| groups(jobs(&format!("[global]\nsize=1m\n{text}")).unwrap());
    let sizes = |text: &str| of(text).unwrap().iter().map(|group| group.jobs.len()).collect::<Vec<_>>();
    assert_eq!(sizes("[a]\n[b]\nwait_for=a\n[c]\nwait_for=b\n"), [1, 1, 1]);
    assert_eq!(sizes("[a]\nnumjobs=4\n[b]\nwait_for=a\n[c]\nwait_for=a\n"), [1, 2]);
    assert_eq!(sizes("[a]\n[b]\nwait_for=a\n[c]\nstonewall\n"), [1, 1, 1]);
    for (text, told) in [
        ("[a]\n[b]\n[c]\nwait_for=a\n", "a.fio:6:1: wait_for=a is not supported: other jobs run beside"),
        ("[a]\n[b]\nwait_for=a\n[c]\n", "begins with the first jobs"),
        ("[a]\n[b]\nwait_for=x\n", "names no job before"),
        ("[a]\nwait_for=x\n", "names no job before"),
        ("[a]\n[b]\nwait_for=a\n[c]\nwait_for=b\n[d]\nwait_for=a\n", "other jobs run beside"),
    ] {
        let said = of(text).unwrap_err().to_string();
        assert!(said.contains(told), "{text:?}: {said}");
    }
}

#[test]
fn groups_are_cut_at_stonewalls_and_reported_together_where_asked() {
    let text = "[global]\nsize=1m\n[a]\n[b]\ngroup_reporting\n[c]\nnew_group\n[d]\nstonewall\n";
    let groups = groups(jobs(text).unwrap()).unwrap();
    let numbers: Vec<&[u32]> = groups.iter().map(|group| group.reporting.as_slice()).collect();
    assert_eq!(numbers, [&[0, 0, 1][..], &[2]]);
    let site = groups[0].site(&directory).unwrap();
    let reports = groups[0].lay(&site, 8 << 20, Caps::default()).unwrap().reports;
    let told: Vec<_> =
        reports.iter().map(|report| (report.name.as_str(), report.jobs, report.group)).collect();
    assert_eq!(told, [("a", 2, 0), ("c", 1, 1)]);
    assert_eq!((groups[0].first_job, groups[1].first_job, reports_numbers(&groups[0])), (1, 4, vec![1, 3]));
}

fn reports_numbers(group: &Group) -> Vec<u32> {
    let site = group.site(&directory).unwrap();
    let laid = group.lay(&site, 8 << 20, Caps::default()).unwrap();
    laid.reports.iter().map(|report| report.first_job).collect()
}

#[test]
fn one_target_at_a_time() {
    let site = |text: &str, found: &dyn Fn(&str) -> Found| {
        groups(jobs(text).unwrap()).unwrap().remove(0).site(found)
    };
    assert_eq!(site("[a]\nsize=1m\n", &directory).unwrap(), Site::Own("./".into()));
    assert_eq!(site("[a]\nsize=1m\ndirectory=d\n", &directory).unwrap(), Site::Own("d".into()));
    let there = |path: &str| if path.starts_with("/dev/") { Found::File } else { directory(path) };
    assert_eq!(site("[a]\nfilename=/dev/x\n", &there).unwrap(), Site::Existing("/dev/x".into()));
    let two = site("[a]\nfilename=/dev/x\n[b]\nfilename=/dev/y\n", &there).unwrap_err().to_string();
    assert!(two.contains("a.fio:4:1") && two.contains("beside /dev/x") && two.contains("stonewall"), "{two}");
    let nowhere = site("[a]\nsize=1m\ndirectory=none\n", &directory).unwrap_err().to_string();
    assert!(nowhere.contains("there is no directory none"), "{nowhere}");
    let missing = site("[a]\nfilename=/dev/sdz\nsize=1m\n", &|path| {
        if path == "/dev" { Found::Directory } else { Found::Nothing }
    });
    let missing = missing.unwrap_err().to_string();
    assert!(missing.contains("there is no device /dev/sdz"), "{missing}");
}

/// An option that the table calls used and that nobody reads would be dropped silently.
#[test]
fn every_used_option_is_read() {
    let section = &sections("[j]\nsize=64m\nrw=randrw\n").unwrap()[0];
    let (_, options) = Job::read(section).unwrap();
    let asked = options.asked.borrow();
    for option in OPTIONS.iter().filter(|option| option.role == Role::Used) {
        assert!(asked.contains(option.name), "{} is not read", option.name);
    }
    for option in OPTIONS.iter().filter(|option| option.role != Role::Used) {
        assert!(!asked.contains(option.name), "{} is read, and the table says otherwise", option.name);
    }
}

#[test]
fn no_name_is_in_the_table_twice() {
    let mut names: Vec<&str> = OPTIONS.iter().chain(GENERAL).flat_map(FioOption::names).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
}

/// The page's lists are those of the table.
#[test]
fn the_page_lists_every_option() {
    const MARK: &str = "<!-- options: written by `UPDATE_DOCS=1 cargo test -p iosonde-plan page` -->\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/coming-from-fio.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, _) = page.split_once(MARK).expect("the page has its mark");
    let names =
        |option: &FioOption| option.names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let list = |wanted: fn(&Role) -> Option<&'static str>| {
        let mut rows: Vec<(&'static str, Vec<String>)> = Vec::new();
        for (why, option) in OPTIONS.iter().filter_map(|option| Some((wanted(&option.role)?, option))) {
            match rows.iter_mut().find(|(known, _)| *known == why) {
                Some((_, known)) => known.push(names(option)),
                None => rows.push((why, vec![names(option)])),
            }
        }
        rows.iter().map(|(why, names)| format!("| {} | {why} |\n", names.join(", "))).collect::<String>()
    };
    let used: Vec<String> = OPTIONS.iter().filter(|option| option.role == Role::Used).map(names).collect();
    let idle = list(|role| match role {
        Role::Idle(why) => Some(why),
        _ => None,
    });
    let refused = list(|role| match role {
        Role::Refused { instead, .. } => Some(instead),
        _ => None,
    });
    let expected = format!(
        "{before}{MARK}\n### Read\n\n{}.\n\n### No effect\n\n| option | why |\n|---|---|\n{idle}\n\
         ### Refused\n\n\
         Values with which fio does the usual thing are taken (`thinktime=0`).\n\n\
         | option | instead |\n|---|---|\n{refused}",
        used.join(", ")
    );
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &expected).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(
        kept == expected,
        "docs/coming-from-fio.md is old: UPDATE_DOCS=1 cargo test -p iosonde-plan page"
    );
}

/// `bench/fuzz` found job files that kept a processor busy for minutes: each file was looked for among all before it.
#[test]
fn many_files_are_laid_out_and_too_many_refused() {
    let many = |files: u32| format!("[j]\nrw=randread\nfilesize=8k\nnumjobs=64\nnrfiles={files}\n");
    let spec = laid(&many(4096), Caps::default()).spec;
    // 64 clones of 4,096 files of 8 KiB, each clone with its own.
    assert_eq!((spec.offset_bytes, spec.span_bytes, spec.jobs), (0, 64 * 4096 * 8192, 64));
    assert_eq!(spec.ranges, Ranges::Disjoint);
    let group = groups(jobs(&many(4097)).unwrap()).unwrap().remove(0);
    let site = group.site(&directory).unwrap();
    let refused = group.needs_bytes(&site, Caps::default()).unwrap_err().to_string();
    assert!(refused.contains("there are more than 262144 files"), "{refused}");
}
