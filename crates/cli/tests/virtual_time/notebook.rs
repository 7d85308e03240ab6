//! The notebook of runs: reading makes nothing, what a kill left is cleared away, and the list tells the time.

use std::time::Duration;

use crate::common::{Bench, SMALL_STUDY, names_in};

#[test]
fn reading_commands_make_no_notebook_and_say_how_one_comes_into_being() {
    let bench = Bench::new();
    let store = ["--store", "deep/in/notebook.db"];
    let said = bench.iosonde(&["ls", store[0], store[1]]);
    assert_eq!((said.code, said.out.as_str()), (0, ""));
    assert!(said.err.contains("no notebook of runs yet at deep/in/notebook.db"), "{}", said.err);
    assert!(said.err.contains("iosonde run quick ./"), "{}", said.err);
    assert_eq!(bench.iosonde(&["ls", "--json", store[0], store[1]]).out, "[]\n");
    for words in
        [&["show"][..], &["show", "last"], &["report"], &["report", "-f", "md"], &["rm", "x"], &["resume"]]
    {
        let words = [words, &store].concat();
        bench.iosonde(&words).refused(&[
            "no notebook of runs yet",
            "deep/in/notebook.db",
            "iosonde run quick ./",
        ]);
    }
    assert!(names_in(bench.folder.path()).is_empty());
}

#[test]
fn a_refused_target_makes_no_notebook() {
    let bench = Bench::new();
    for target in ["nowhere", "/dev/null", "sim:idael"] {
        bench.iosonde(&["run", "quick", target]).refused(&[]);
        bench.iosonde(&["run", "quick", target, "--dry-run"]).refused(&[]);
    }
    assert!(names_in(bench.folder.path()).is_empty());
}

#[test]
fn the_lock_of_a_killed_run_goes_with_the_next_run() {
    let bench = Bench::new();
    bench.text("small.toml", SMALL_STUDY);
    let words = ["run", "small.toml", ".", "--size", "64MiB", "--verbose"];
    let mut child = bench.command(&words).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut said = std::io::BufRead::lines(std::io::BufReader::new(child.stderr.take().unwrap()));
    assert!(said.by_ref().map_while(Result::ok).any(|line| line.starts_with("trial")));
    child.kill().unwrap();
    child.wait().unwrap();
    std::thread::sleep(Duration::from_millis(50));
    let locks = || names_in(bench.folder.path()).iter().filter(|name| name.ends_with(".running")).count();
    assert_eq!(locks(), 1);
    // Looking changes nothing, and the run is known to be dead before and after.
    assert!(bench.iosonde(&["ls"]).out.contains("interrupted"));
    assert_eq!(locks(), 1);
    bench.iosonde(&["point", "sim:ideal", "--time", "100ms"]);
    assert_eq!(locks(), 0);
    assert!(bench.iosonde(&["ls"]).out.contains("interrupted"));
}

#[test]
fn a_simulated_run_is_listed_with_the_day_on_which_it_was_made() {
    let bench = Bench::new();
    let run = bench.run(&["point", "sim:ideal", "--time", "100ms"]);
    assert!(run.info.started_at.starts_with("20"), "{}", run.info.started_at);
    assert!(run.trials.iter().all(|trial| trial.started_at.starts_with("20")));
    let listed = bench.iosonde(&["ls"]).out;
    let line = listed.lines().nth(1).unwrap();
    assert!(line.contains(" 20") && !line.contains("1970"), "{listed}");
    let json = bench.iosonde(&["ls", "--json"]).out;
    assert!(json.contains("\"started_at\": \"20") && !json.contains("kept_at"), "{json}");
}
