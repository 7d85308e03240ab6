//! The program's own error rates, in their quick form: eight runs of every clean device and of every stated effect.

use crate::common::Bench;
use iosonde_model::CheckName;

#[test]
fn the_checks_catch_what_they_must_and_are_silent_where_nothing_is_wrong() {
    let bench = Bench::new();
    let said = bench.iosonde(&["selftest"]);
    // The bars are the command's own, those of the full form, less what luck makes once in 1,000 selftests.
    assert_eq!(said.code, 0, "{}\n{}", said.out, said.err);
    let void =
        said.out.lines().find(|line| line.starts_with("| **all**")).expect("a line for all clean devices");
    assert!(void.contains("** | 0 | "), "no clean trial is invalid: {void}");
    for check in [
        CheckName::CacheServed,
        CheckName::Interference,
        CheckName::Throttled,
        CheckName::Drift,
        CheckName::GeneratorBound,
        CheckName::NotSteady,
        CheckName::Multimodal,
    ] {
        assert!(said.out.contains(&format!("| `{check}` |")), "{check} is not tested:\n{}", said.out);
    }
}

#[test]
fn a_selftest_that_was_cut_off_goes_on_and_prints_the_same_table() {
    let bench = Bench::new();
    let keep = bench.path("kept.jsonl");
    let keep = keep.to_str().unwrap();
    let command = ["selftest", "--cells", "nothing answers", "--seeds", "4", "--keep", keep];
    let whole = bench.iosonde(&command);
    assert_eq!(whole.code, 0, "{}\n{}", whole.out, whole.err);
    let text = std::fs::read_to_string(keep).unwrap();
    // Half of a line is what a crash leaves.
    std::fs::write(keep, &text[..text.len() * 2 / 3]).unwrap();
    let again = bench.iosonde(&command);
    assert!(again.err.contains("runs were kept"), "{}", again.err);
    assert_eq!((again.code, &again.out), (0, &whole.out));
    let other = bench.iosonde(&[&command[..], &["--seed", "9"]].concat());
    assert_eq!(other.code, 2, "{}", other.err);
    assert!(other.err.contains("holds a selftest of other cells"), "{}", other.err);
}

#[test]
fn a_cell_that_is_not_there_is_bad_usage() {
    let said = Bench::new().iosonde(&["selftest", "--cells", "nonsense"]);
    assert_eq!(said.code, 2, "{}", said.err);
    assert!(said.err.contains("no cell of the selftest has `nonsense`"), "{}", said.err);
}
