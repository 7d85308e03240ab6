//! What is a user's stays: files of theirs, the notebook, finished runs; and what a command ends with says how it went.

mod common;

use common::{Bench, SMALL_STUDY, TINY, names_in};

#[test]
fn a_word_to_overwrite_one_file_holds_for_no_other_of_its_name() {
    let bench = Bench::new();
    bench.text("tiny.toml", TINY);
    let path = bench.file("data", 4);
    // A disk that others use takes its time for the filling.
    let words = ["run", "tiny.toml", "data", "--destroy", "--time", "5s", "--quiet"];
    let said = bench.iosonde(&words);
    assert_eq!(said.code, 0, "{}", said.err);
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, vec![7u8; 4 << 20]).unwrap();
    let said = bench.iosonde(&["run", "--add", "--time", "1s"]);
    said.refused(&["data is not the file", "was told to overwrite", "--like"]);
    assert!(std::fs::read(&path).unwrap().iter().all(|&byte| byte == 7));
    assert!(bench.iosonde(&["ls"]).out.contains("done"));
}

#[test]
fn no_result_is_written_over_the_notebook_or_over_what_is_measured() {
    let bench = Bench::new();
    bench.text("tiny.toml", TINY);
    assert_eq!(bench.iosonde(&["run", "tiny.toml", "sim:ideal"]).code, 0);
    bench.iosonde(&["report", "last", "-o", "notebook.db"]).refused(&["notebook.db is a notebook"]);
    bench.iosonde(&["run", "tiny.toml", "sim:ideal", "--json=notebook.db"]).refused(&["is a notebook"]);
    let path = bench.file("data", 1);
    let before = std::fs::read(&path).unwrap();
    bench.iosonde(&["point", "data", "--read-only", "--json=data"]).refused(&["is what this command reads"]);
    bench
        .iosonde(&["run", "tiny.toml", "data", "--read-only", "-o", "./data"])
        .refused(&["what this command reads"]);
    let two = ["run", "tiny.toml", "sim:ideal", "-o", "x", "--json=./x"];
    bench.iosonde(&two).refused(&["name the same file"]);
    bench.text("fio.json", "{\"fio version\": \"fio-3.33\", \"jobs\": []}");
    bench.iosonde(&["judge", "fio.json", "--json=./fio.json"]).refused(&["is what this command reads"]);
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert!(bench.iosonde(&["show", "last"]).code == 0);
}

#[test]
fn a_finished_run_stays_finished_when_nothing_can_be_added() {
    let bench = Bench::new();
    bench.text("tiny.toml", TINY);
    let device = |service: &str| {
        format!(
            "name = \"c\"\nsummary = \"s\"\ncapacity = \"1GiB\"\n[queue]\nservers = 2\n\
             service = {{ fixed = \"{service}\" }}\n"
        )
    };
    bench.text("c.toml", &device("80us"));
    assert_eq!(bench.iosonde(&["run", "tiny.toml", "sim:c.toml", "--seed", "3"]).code, 0);
    let before = bench.iosonde(&["show", "last", "--json"]).out;
    bench.text("c.toml", &device("81us"));
    let said = bench.iosonde(&["run", "--add", "--time", "1s"]);
    assert!(said.code == 1 && said.err.contains("came out differently"), "{}", said.err);
    assert!(bench.iosonde(&["ls"]).out.contains("done"));
    assert_eq!(bench.iosonde(&["show", "last", "--json"]).out, before);
}

#[test]
fn a_run_of_which_nothing_worked_has_failed_and_repeats_are_held_to_strict() {
    let bench = Bench::new();
    bench.text("tiny.toml", TINY);
    let device = "name = \"bad\"\nsummary = \"s\"\ncapacity = \"1GiB\"\n[queue]\nservers = 1\n\
                  service = { fixed = \"80us\" }\n\
                  [faults]\neio = \"1000000 per million\"\n";
    bench.text("bad.toml", device);
    for words in
        [&["run", "tiny.toml", "sim:bad.toml"][..], &["point", "sim:bad.toml", "--time", "100ms", "--strict"]]
    {
        let said = bench.iosonde(words);
        assert!(said.code == 1 && said.err.contains("every request failed"), "{}: {}", said.code, said.err);
    }
    let words = ["run", "tiny.toml", "sim:bad.toml", "--repeats", "2", "--strict", "--quiet"];
    assert_eq!(bench.iosonde(&words).code, 1);
}

#[test]
fn repeats_are_the_same_run_however_it_was_named() {
    let bench = Bench::new();
    bench.text("tiny.toml", TINY);
    bench.text("small.toml", SMALL_STUDY);
    assert_eq!(bench.iosonde(&["run", "tiny.toml", "sim:ideal"]).code, 0);
    assert_eq!(bench.iosonde(&["run", "small.toml", "sim:ideal"]).code, 0);
    // The reference would be another run once the first repeat is kept, and words may follow `--`.
    let said = bench.iosonde(&["run", "--repeats", "2", "--like", "last~1", "-q", "--", "sim:ideal"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let listed = bench.iosonde(&["ls"]).out;
    let studies: Vec<&str> =
        listed.lines().skip(1).map(|line| line.split_whitespace().nth(3).unwrap_or("")).collect();
    assert_eq!(studies, ["tiny", "tiny", "small", "tiny"], "{listed}");
}

/// A second machine is measured as the first was, and the first one's notebook is not there.
#[test]
fn a_run_in_a_file_can_be_repeated_elsewhere() {
    let (bench, elsewhere) = (Bench::new(), Bench::new());
    bench.text("tiny.toml", TINY);
    let first = bench.run(&["run", "tiny.toml", "sim:ideal", "--seed", "4"]);
    assert_eq!(bench.iosonde(&["export", "last", "-f", "run"]).code, 0);
    let file = format!("iosonde-tiny-{}.iosonde", first.info.id);
    std::fs::copy(bench.path(&file), elsewhere.path(&file)).unwrap();
    let second = elsewhere.run(&["run", "--like", &file, "sim:sata-ssd"]);
    let specs = |run: &iosonde_report::Document| {
        run.points.iter().map(|point| point.spec.clone()).collect::<Vec<_>>()
    };
    assert_eq!(specs(&first), specs(&second));
    assert_eq!(elsewhere.iosonde(&["run", "--repeats", "2", "--like", &file, "sim:ideal", "-q"]).code, 0);
}

/// Another program uses the notebook at the same time: each series finds its own repeats.
#[test]
fn two_series_are_kept_in_one_notebook_at_once() {
    let bench = Bench::new();
    bench.text("tiny.toml", TINY);
    let begun = ["11", "21"].map(|seed| {
        let words = ["run", "tiny.toml", "sim:ideal", "--repeats", "3", "--seed", seed, "-q"];
        bench.command(&words).stdout(std::process::Stdio::null()).spawn().unwrap()
    });
    let ended = begun.map(|mut child| child.wait().unwrap().code());
    assert_eq!(ended, [Some(0), Some(0)]);
}

#[test]
fn runs_are_removed_all_or_none_and_once() {
    let bench = Bench::new();
    for label in ["one", "two"] {
        bench.run(&["point", "sim:ideal", "--time", "100ms", "--label", label]);
    }
    bench.iosonde(&["rm", "one", "nope"]).refused(&["nope"]);
    assert_eq!(bench.iosonde(&["ls"]).out.lines().count(), 3);
    let said = bench.iosonde(&["rm", "two", "last"]);
    assert_eq!((said.code, said.err.matches("removed").count()), (0, 1), "{}", said.err);
    assert_eq!(bench.iosonde(&["ls"]).out.lines().count(), 2);
}

#[test]
fn names_of_runs_are_found_as_they_were_given() {
    let bench = Bench::new();
    bench.run(&["point", "sim:ideal", "--time", "100ms", "--label", " base "]);
    bench.text("last", "no run");
    assert_eq!(bench.iosonde(&["show", " base "]).code, 0);
    assert_eq!(bench.iosonde(&["show", "last"]).code, 0);
    bench.iosonde(&["show", "./last"]).refused(&["holds no run"]);
    bench.text("empty.db", "");
    let said = bench.iosonde(&["ls", "--store", "empty.db"]);
    assert_eq!((said.code, said.out.as_str()), (0, ""), "{}", said.err);
    assert!(names_in(bench.folder.path()).contains(&"empty.db".to_owned()));
}

#[test]
fn trims_read_back_as_they_were_measured() {
    let bench = Bench::new();
    let run = bench.run(&["point", "sim:ideal", "--rw", "randtrim", "--time", "100ms"]);
    let shown = bench.run(&["show", "last"]);
    assert_eq!(run, shown);
}

#[test]
fn an_open_loop_of_so_many_requests_ends_and_owes_nothing() {
    let bench = Bench::new();
    let words =
        ["point", "sim:client-nvme", "--rw", "randread", "--bs", "4k", "--rate", "50k", "--depth", "128"];
    let run = bench.run(&[&words[..], &["--ios", "1000"]].concat());
    let trial = run.trials.last().unwrap();
    assert_eq!((trial.read.as_ref().unwrap().ios, trial.unserved), (1000, 0));
}

#[test]
fn what_comes_back_after_its_trial_belongs_to_nobody() {
    let bench = Bench::new();
    let device = "name = \"stuck\"\nsummary = \"s\"\ncapacity = \"1GiB\"\n[queue]\nservers = 4\n\
                  service = { fixed = \"80us\" }\n\
                  [faults]\nstuck = { at = \"2s\", for = \"100s\" }\n";
    bench.text("stuck.toml", device);
    let words =
        ["run", "open-loop", "sim:stuck.toml", "--set", "rate=3", "--set", "depth=512", "--seed", "1"];
    bench.iosonde(&words);
    let run = bench.run(&["show", "last"]);
    assert!(run.trials.iter().any(|trial| trial.hung > 0), "nothing hung");
    for trial in &run.trials {
        assert!(trial.hung <= 512, "{} hung", trial.hung);
        assert!(trial.in_flight_mean.is_none_or(|mean| mean <= 512.0), "{:?}", trial.in_flight_mean);
    }
}

#[test]
fn each_addition_has_its_own_time_and_no_earlier_ones() {
    let bench = Bench::new();
    bench.text("tiny.toml", TINY);
    bench.file("data", 4);
    let words = ["run", "tiny.toml", "data", "--read-only", "--time", "3s", "--quiet"];
    assert_eq!(bench.iosonde(&words).code, 0);
    let mut kept = bench.run(&["show", "last"]).trials.len();
    for _ in 0..3 {
        let run = bench.run(&["run", "--add", "--time", "1s", "--precision", "0.1%"]);
        let added: Vec<_> = run.trials[kept..].iter().filter(|trial| trial.round > 0).collect();
        // Where every interval is narrow enough, nothing is left to add.
        let [first, .., last] = added[..] else { continue };
        let took_s = last.started_s + last.elapsed_s - first.started_s;
        let longest_s = added.iter().map(|trial| trial.elapsed_s).fold(0.0, f64::max);
        // Before, the third had the time of all three.
        assert!(took_s < 1.5 + longest_s, "{took_s} s");
        kept = run.trials.len();
    }
}

#[test]
fn a_folder_of_charts_replaces_its_own_files_and_nobody_elses() {
    let bench = Bench::new();
    bench.text("tiny.toml", TINY);
    for seed in ["1", "2"] {
        assert_eq!(bench.iosonde(&["run", "tiny.toml", "sim:ideal", "--seed", seed, "-q"]).code, 0);
    }
    for format in ["md", "svg"] {
        for runs in [&["last"][..], &["last~1", "last"]] {
            let words = [&["report"], runs, &["-f", format, "-o", "charts"]].concat();
            for _ in 0..2 {
                let said = bench.iosonde(&words);
                assert_eq!(said.code, 0, "{words:?}: {}", said.err);
            }
            let path = bench.path("charts");
            let names = names_in(&path);
            let (taken, first) = (path.join(names.last().unwrap()), path.join(&names[0]));
            std::fs::write(&first, "").unwrap();
            std::fs::write(&taken, "mine").unwrap();
            bench.iosonde(&words).refused(&["was changed since iosonde wrote it"]);
            assert_eq!(std::fs::read_to_string(&taken).unwrap(), "mine");
            let is_alone = names.len() == 1;
            assert!(is_alone || std::fs::read(&first).unwrap().is_empty(), "nothing was written");
            std::fs::remove_dir_all(&path).unwrap();
        }
    }
    bench
        .iosonde(&["man", "-o", "tiny.toml"])
        .refused(&["tiny.toml cannot be made as a folder: it is no folder"]);
}
