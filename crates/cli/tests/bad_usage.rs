//! Bad input gets one clear sentence, what to do, and exit code 2, before anything is written.

mod common;

use common::{Bench, names_in};

#[test]
fn a_target_that_does_not_exist() {
    Bench::new().iosonde(&["run", "quick", "./nowhere"]).refused(&["./nowhere", "exist"]);
}

#[test]
fn a_lone_study_is_told_apart_from_a_target() {
    Bench::new().iosonde(&["run", "quick"]).refused(&["`quick` is a study", "iosonde run quick ./"]);
}

#[test]
fn an_unknown_study_option_or_size() {
    let bench = Bench::new();
    bench.iosonde(&["run", "quikc", "./"]).refused(&["quikc", "did you mean `quick`?"]);
    bench.iosonde(&["run", "quick", "./", "--size", "4Q"]).refused(&["--size", "4Q", "4KiB"]);
    bench.iosonde(&["run", "quick", "./", "--tiem", "4s"]).refused(&["--tiem", "--time"]);
    bench
        .iosonde(&["run", "quick", "./", "--color", "often"])
        .refused(&["--color", "auto", "always", "never"]);
    bench.iosonde(&["quick"]).refused(&["quick", "iosonde run quick ./"]);
    bench.iosonde(&["shwo", "last"]).refused(&["shwo", "show"]);
    bench.iosonde(&["point", "./", "--rw", "randred"]).refused(&["did you mean `randread`?"]);
    bench.iosonde(&["point", "./", "--bs", "4k,8k"]).refused(&["comma"]);
    bench.iosonde(&["run", "quick", "./", "--engine", "libaoi"]).refused(&["libaoi"]);
    bench.iosonde(&["engines", "io-uring"]).refused(&["did you mean `io_uring`?"]);
    assert_eq!(names_in(bench.folder.path()).iter().filter(|name| !name.starts_with("notebook")).count(), 0);
}

#[test]
fn words_that_stand_in_the_wrong_place() {
    let bench = Bench::new();
    bench
        .iosonde(&["run", "./", "--json", "out.json"])
        .refused(&["before it:  iosonde run quick ./", "--json=out.json"]);
    bench
        .iosonde(&["run", "quick", "./", "--json", "out.json"])
        .refused(&["no target `out.json`", "--json=out.json"]);
    bench.iosonde(&["run", "quick", "my", "disk"]).refused(&["no target `my`", "needs quotes"]);
    bench.iosonde(&["run", "sim:ideal", "quick"]).refused(&["iosonde run quick sim:ideal"]);
    bench.iosonde(&["point", "./", "--destroy", "8:0:1"]).refused(&["--destroy=8:0:1"]);
}

/// What writes cannot leave its writes out; a study can.
#[test]
fn a_command_that_has_to_write_is_not_told_to_read() {
    let bench = Bench::new();
    bench.file("data", 4);
    bench.text("job.fio", "[a]\nfilename=data\nrw=randwrite\nbs=4k\nsize=4m\n");
    bench.text("write.toml", &common::TINY.replace("randread", "randwrite"));
    bench.text("mixed.toml", &common::TINY.replace("\"randread\"", "[\"randread\", \"randwrite\"]"));
    for words in [
        &["fio", "job.fio"][..],
        &["fio", "--", "fio", "--name=a", "--filename=data", "--rw=randwrite", "--size=4m"],
        &["point", "data", "--rw", "randrw"],
        &["run", "write.toml", "data"],
    ] {
        let said = bench.iosonde(words);
        said.refused(&["would overwrite it", "--destroy", "Measure beside it"]);
        assert!(!said.err.contains("--read-only"), "{words:?}: {}", said.err);
    }
    bench.iosonde(&["run", "mixed.toml", "data"]).refused(&["--destroy", "tiny data --read-only"]);
}

#[test]
fn our_own_options_among_fios_belong_before_them() {
    let bench = Bench::new();
    let job = ["--name=x", "--rw=randread", "--size=4m"];
    for (own, name) in [
        (&["--time", "5s"][..], "--time"),
        (&["--time=5s"], "--time"),
        (&["--quiet"], "--quiet"),
        (&["-q"], "-q"),
        (&["--target", "."], "--target"),
        (&["--destroy"], "--destroy"),
        (&["--store", "n.db"], "--store"),
    ] {
        let put = format!("put it before:  iosonde fio {name} .. -- fio ..");
        bench.iosonde(&[&["fio", "--", "fio"], &job[..], own].concat()).refused(&[&put]);
        bench.iosonde(&[&["fio", "--"], own, &["fio"], &job[..]].concat()).refused(&[&put]);
    }
    // fio's own mistakes keep fio's hints.
    bench.iosonde(&["fio", "--", "fio", "--name=x", "--iodepht=4"]).refused(&["did you mean `iodepth`?"]);
}

#[test]
fn options_that_contradict_each_other_or_have_nothing_to_act_on() {
    let bench = Bench::new();
    bench
        .iosonde(&["run", "quick", "sim:ideal", "--destroy"])
        .refused(&["nothing to destroy", "leave --destroy out"]);
    bench.iosonde(&["point", "sim:ideal", "--destroy=8:0:1"]).refused(&["nothing to destroy"]);
    bench
        .iosonde(&["run", "quick", "sim:ideal", "--buffered"])
        .refused(&["no page cache", "page_cache = true"]);
    bench.iosonde(&["point", "sim:ideal", "--engine", "psync"]).refused(&["psync", "its own engine"]);
    bench.iosonde(&["point", "./", "--engine", "sim"]).refused(&["sim:NAME"]);
    let rounds = ["run", "quick", "sim:ideal", "--rounds", "5", "--precision", "1%"];
    bench.iosonde(&rounds).refused(&["--rounds", "--precision"]);
    for (option, value) in
        [("--json", ""), ("--strict", ""), ("--out", "x.html"), ("--label", "a"), ("--note", "b")]
    {
        let words = ["run", "quick", "sim:ideal", "--dry-run", option, value];
        let words = &words[..if value.is_empty() { 5 } else { 6 }];
        bench.iosonde(words).refused(&["--dry-run", option]);
    }
    bench.iosonde(&["run", "quick", "sim:ideal", "-o", "-"]).refused(&["iosonde report -o -"]);
    bench.iosonde(&["run", "quick", "sim:ideal", "-o", "x", "--json=x"]).refused(&["the same file"]);
    assert!(!bench.path("-").exists() && !bench.path("x").exists());
    assert!(bench.iosonde(&["ls"]).out.is_empty());
}

#[test]
fn read_only_beats_destroy_and_says_so() {
    let bench = Bench::new();
    let file = bench.file("data", 2);
    let before = std::fs::read(&file).unwrap();
    bench.text("small.toml", common::SMALL_STUDY);
    let said = bench.iosonde(&["run", "small.toml", "data", "--read-only", "--destroy", "--time", "5s"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("--read-only beats --destroy"), "{}", said.err);
    assert_eq!(std::fs::read(&file).unwrap(), before);
    let run = bench.run(&["point", "./", "--destroy", "--size", "1M", "--time", "100ms"]);
    assert!(run.info.device.notes.contains(&iosonde_model::DeviceNote::NothingToDestroy));
}

#[test]
fn a_study_file_that_is_wrong_says_where_and_what_would_be_right() {
    let bench = Bench::new();
    let head = "name = \"x\"\nquestion = \"?\"\n";
    for (rest, wanted) in [
        ("tiem = \"4m\"\n", "study x.toml:3:1: the file lacks `experiment`"),
        ("tiem = \"4m\"\n[[experiment]]\nkind = \"mix\"\n", "has no key `tiem`; did you mean `time`?"),
        ("precision = \"90%\"\n[[experiment]]\nkind = \"mix\"\n", "between 0.1% and 50%"),
        (
            "[[experiment]]\nkind = \"queue-dpeth\"\n",
            "study x.toml:4: there is no experiment named `queue-dpeth`; did you",
        ),
        (
            "[[experiment]]\nkind = \"mix\"\n\ndetph = 4\n",
            "study x.toml:6: experiment `mix`: it has no parameter `detph`",
        ),
        (
            "[[experiment]]\nkind = \"queue-depth\"\ndepth = [0]\n",
            "study x.toml:5: experiment `queue-depth`: ",
        ),
        ("[[experiment]\n", "study x.toml:3:14: this is not TOML: "),
    ] {
        bench.text("x.toml", &format!("{head}{rest}"));
        let said = bench.iosonde(&["run", "x.toml", "sim:ideal", "--dry-run"]);
        said.refused(&[wanted]);
        assert_eq!(said.err.lines().count(), 1, "{}", said.err);
    }
    bench.iosonde(&["run", "none.toml", "./"]).refused(&["none.toml cannot be read: no such file"]);
}

#[test]
fn an_existing_file_is_not_written_without_the_users_word() {
    let bench = Bench::new();
    let file = bench.file("data", 2);
    let before = std::fs::read(&file).unwrap();
    bench.iosonde(&["run", "quick", "data"]).refused(&["data", "--read-only", "--destroy"]);
    bench.iosonde(&["point", "data", "--rw", "randwrite"]).refused(&["--destroy"]);
    assert_eq!(std::fs::read(&file).unwrap(), before);
}

#[test]
fn a_budget_that_does_not_hold_three_rounds() {
    let bench = Bench::new();
    let said = bench.iosonde(&["run", "quick", "./", "--time", "2s"]);
    said.refused(&["round"]);
    // Refused before preparation: nothing was filled, nothing is kept.
    assert!(bench.iosonde(&["ls"]).out.is_empty());
}

#[test]
fn what_does_not_fit_is_refused_before_anything_is_written() {
    let bench = Bench::new();
    bench.file("small", 1);
    std::fs::File::options().write(true).open(bench.path("small")).unwrap().set_len(500_000).unwrap();
    bench.iosonde(&["run", "quick", "./", "--size", "512k"]).refused(&["512 KiB", "1 MiB"]);
    bench.iosonde(&["run", "quick", "small", "--read-only"]).refused(&["too little", "1 MiB"]);
    bench.iosonde(&["point", "./", "--size", "64M", "--span", "128M"]).refused(&["128 MiB", "does not fit"]);
    bench.iosonde(&["point", "sim:ideal", "--bs", "1G", "--depth", "65537"]).refused(&["65537"]);
    // Without a block of it on the disk, whose free space decides nothing here.
    std::fs::File::create(bench.path("sparse")).unwrap().set_len(8 << 30).unwrap();
    let too_deep = ["point", "sparse", "--read-only", "--bs", "1G", "--depth", "64"];
    bench.iosonde(&too_deep).refused(&["buffers"]);
    bench
        .iosonde(&["run", "queue-depth", "./", "--rounds", "5", "--time", "1s"])
        .refused(&["rounds", "--time"]);
    let study =
        "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"queue-depth\"\ndepth = [1, 40000]\n";
    bench.text("deep.toml", study);
    bench.iosonde(&["run", "deep.toml", "./"]).refused(&["40000"]);
    assert!(bench.iosonde(&["ls"]).out.is_empty());
}

#[test]
fn blocks_that_direct_io_cannot_address() {
    let bench = Bench::new();
    if common::direct_here(&bench) {
        bench.iosonde(&["point", "./", "--bs", "1000"]).refused(&["1000", "multiple", "--buffered"]);
    }
}

#[test]
fn a_depth_with_a_synchronous_engine() {
    let bench = Bench::new();
    bench.iosonde(&["point", "./", "--engine", "psync", "--depth", "8"]).refused(&["psync", "8"]);
}

#[test]
fn a_folder_that_is_read_only_or_a_special_file() {
    let bench = Bench::new();
    bench.iosonde(&["run", "quick", "/proc"]).refused(&["/proc"]);
    bench.iosonde(&["run", "quick", "/dev/null"]).refused(&["/dev/null"]);
}

#[test]
fn simulated_devices_and_runs_that_are_not_there() {
    let bench = Bench::new();
    bench.iosonde(&["run", "quick", "sim:idael"]).refused(&["did you mean `ideal`?"]);
    bench.iosonde(&["show", "7f3a"]).refused(&["no notebook of runs yet", "iosonde run quick ./"]);
    bench.iosonde(&["run", "quick", "sim:ideal", "--rounds", "5", "--quiet"]);
    bench.iosonde(&["show", "nothing-like-it"]).refused(&["holds no run", "iosonde ls"]);
    bench.iosonde(&["resume"]).refused(&["no run was interrupted"]);
    let wrong = "name = \"x\"\ncapacity = \"1GB\"\n[queue]\nserver = 4\n";
    bench.text("x.toml", wrong);
    bench.iosonde(&["run", "quick", "sim:x.toml"]).refused(&["server", "servers"]);
}

#[test]
fn reports_that_cannot_be_written_are_refused_before_the_run() {
    let bench = Bench::new();
    bench.iosonde(&["run", "quick", "sim:ideal", "-o", "no/such/folder.html"]).refused(&["no/such"]);
    assert!(bench.iosonde(&["ls"]).out.is_empty());
}

#[test]
fn a_study_without_room_is_refused_before_it_is_planned() {
    let bench = Bench::new();
    let study = "name = \"s\"\nquestion = \"?\"\nsize = \"0\"\n[[experiment]]\nkind = \"queue-depth\"\n";
    bench.text("s.toml", study);
    bench.iosonde(&["run", "s.toml", "sim:ideal", "--dry-run"]).refused(&["at least 4KiB"]);
}

/// What a study, a device or an option asks for that cannot be: each is said in words, before anything is measured.
#[test]
fn one_host_where_several_are_asked_about() {
    let bench = Bench::new();
    let how = ["mpirun -n 16", "iosonde-mpi run host-scaling", "--hosts 16"];
    bench.iosonde(&["run", "host-scaling", "./"]).refused(&how);
    bench.iosonde(&["run", "host-scaling", "sim:ideal"]).refused(&how);
    let many = ["run", "host-scaling", "sim:ideal", "--hosts", "4", "--set", "hosts=8,16"];
    bench.iosonde(&many).refused(&["2 points with more hosts than the 4 of this run"]);
    assert_eq!(names_in(bench.folder.path()).iter().filter(|name| !name.starts_with("notebook")).count(), 0);
}

#[test]
fn quantities_that_cannot_be() {
    let bench = Bench::new();
    let refused = |words: &[&str], said: &[&str]| bench.iosonde(words).refused(said);
    refused(&["point", "sim:ideal", "--bs", "-4k"], &["--bs"]);
    refused(&["point", "sim:ideal", "--bs=-4k"], &["--bs", "`-4k` is not a size"]);
    refused(&["run", "quick", "sim:ideal", "--time", "-5s"], &["--time"]);
    refused(&["run", "quick", "sim:ideal", "--set", "depth=0"], &["`0` is no count"]);
    refused(&["run", "mix", "sim:ideal", "--set", "mix=130"], &["`130` is not a percentage from 0% to 100%"]);
    refused(&["run", "quick", "sim:ideal", "--set", "block_size=2GiB"], &["block_size", "at most 1 GiB"]);
    refused(
        &["run", "sustained-write", "sim:ideal", "--set", "trial=5"],
        &["`5` is not a time with its unit"],
    );
    refused(&["run", "open-loop", "sim:ideal", "--set", "limit=p99=1"], &["p99=1"]);
    let cross = ["run", "matrix", "sim:ideal", "--set", "block_size=4k..16M*2", "--set", "depth=1..1024*2"];
    let cross: Vec<&str> = cross.into_iter().chain(["--time", "20s"]).collect();
    refused(&cross, &["points in 5 rounds", "5 make an interval", "of them would fit", "would do", "--set"]);
    // What would do does.
    let said = bench.iosonde(&cross).err;
    let time = said.split("--time ").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    let longer: Vec<&str> =
        cross[..cross.len() - 1].iter().copied().chain([&time[..], "--dry-run"]).collect();
    assert_eq!(bench.iosonde(&longer).code, 0, "{time}");
    refused(
        &["run", "quick", "sim:ideal", "--size", "1GiB", "--span", "8GiB"],
        &["--span 8 GiB", "1 GiB", "--size"],
    );
    refused(&["run", "disk", "sim:hdd-7200", "--set", "large=0"], &["large"]);
    refused(&["run", "disk", "sim:hdd-7200", "--set", "places=4000000000"], &["`places`: from 2"]);
    let stride = ["run", "stride", "sim:ideal", "--set", "stride=4k", "--set", "block_size=64k"];
    refused(&stride, &["a stride smaller than the block"]);
    refused(
        &["point", "sim:ideal", "--rw", "read", "--bs", "64k", "--stride", "4k"],
        &["--stride", "64 KiB"],
    );
    let deep = ["point", ".", "--rw", "randread", "--depth", "8", "--engine", "psync", "--size", "16M"];
    refused(&deep, &["psync keeps a queue depth of at most 1"]);
}

#[test]
fn files_that_cannot_be() {
    let bench = Bench::new();
    let study = |line: &str| {
        let text = format!("name = \"s\"\nquestion = \"?\"\n{line}\n[[experiment]]\nkind = \"mix\"\n");
        bench.text("s.toml", &text);
        bench.iosonde(&["run", "s.toml", "sim:ideal"])
    };
    study("time = \"60\"").refused(&["s.toml:3", "`60` is not a time with its unit"]);
    study("time = 60").refused(&["s.toml:3:8", "a time such as \"80us\"", "60"]);
    study("iosonde = \"9.1\"").refused(&["s.toml:3", "written for iosonde 9.1"]);
    study("precision = \"120%\"").refused(&["s.toml:3", "not a percentage from 0% to 100%"]);
    study("[[experiment]]\nkind = \"disk\"\nonly_on = \"tape\"").refused(&[
        "s.toml:5:11",
        "only_on",
        "rotating",
        "solid",
    ]);
    let device = |line: &str| {
        let text = format!(
            "name = \"d\"\nsummary = \"x\"\ncapacity = \"64MiB\"\n[queue]\nservers = 1\n\
             service = {{ fixed = {line} }}\n"
        );
        bench.text("d.toml", &text);
        bench.iosonde(&["run", "quick", "sim:d.toml", "--size", "1GiB", "--dry-run"])
    };
    device("\"60\"").refused(&["d.toml", "`60` is not a time with its unit"]);
    device("\"60us\"").refused(&["--size 1 GiB does not fit sim:d.toml", "64 MiB", "--size 64MiB would do"]);
    bench.iosonde(&["point", "sim:d.toml", "--size", "1GiB"]).refused(&["--size 64MiB would do"]);
    let folder = bench.iosonde(&["run", "quick", "./", "--size", "900TiB"]);
    folder.refused(&["--size 900 TiB does not fit ./", "are free there", "may be taken", "would do"]);
    // The default size is reduced.
    let usual = bench.iosonde(&["run", "quick", "sim:d.toml", "--dry-run"]);
    assert!(usual.code == 0 && usual.out.contains("64 MiB are addressed"), "{}{}", usual.out, usual.err);
}

#[test]
fn a_study_that_writes_runs_its_reading_part_where_nothing_may_be_written() {
    let bench = Bench::new();
    bench.file("there.bin", 16);
    let before = std::fs::read(bench.path("there.bin")).unwrap();
    let words = ["run", "mix", "there.bin", "--read-only", "--time", "4s", "--set", "mix=0,100"];
    let said = bench.iosonde(&words);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(
        said.err.contains("left out") && said.err.contains("nothing may be written here"),
        "{}",
        said.err
    );
    assert_eq!(std::fs::read(bench.path("there.bin")).unwrap(), before);
}
