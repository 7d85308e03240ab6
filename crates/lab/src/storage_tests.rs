//! The lines that a person reads about the storage, whole.

use super::*;
use crate::{
    conclude::conclude,
    pretend::{Pretend, QUICK, wording},
};

fn lines(pretend: &Pretend) -> Vec<String> {
    let mut run = pretend.run(QUICK, 1);
    conclude(&mut run, None).unwrap();
    storage_lines(&run).into_iter().map(|line| format!("{}: {}", line.label, line.text)).collect()
}

#[test]
fn every_figure_stands_with_its_interval() {
    let pretend = Pretend { cv: 0.01, bytes_per_s: 1.5e9, ..Pretend::usual() };
    let lines: Vec<_> = lines(&pretend).iter().map(|line| wording(line)).collect();
    assert_eq!(
        lines,
        [
            ": storage that does not rotate: random # MiB reads are as fast as sequential ones (#× [#, #])",
            "bandwidth: read # GB/s [#, #]; write # GB/s [#, #]",
            "# KiB reads: # k IOPS [#, #]; one alone takes # µs [#, #]",
            "# KiB writes: # k IOPS [#, #]; one alone takes # µs [#, #]",
            "knee: read # in flight [#, #], # % of the rate needs # [#, #]; \
             write # in flight [#, #], # % of the rate needs # [#, #]",
            "plateau: read from # MiB [over # MiB, # MiB]; write from # MiB [over # MiB, # MiB]; \
             half the bandwidth: read at # KiB [#, #]; write at # KiB [#, #]",
        ]
    );
}

#[test]
fn where_a_host_stands_between_the_first_line_says_so() {
    let mut pretend = Pretend::usual();
    pretend.device.medium = Medium::Virtual;
    pretend.device.unseen = Some("the cache of this virtual machine's host".into());
    assert!(
        lines(&pretend)[0].starts_with(": a virtual disk, as this guest sees it: "),
        "{:?}",
        lines(&pretend)
    );
}

#[test]
fn of_memory_nothing_is_said_but_why() {
    let mut pretend = Pretend::usual();
    (pretend.device.medium, pretend.device.file_system) = (Medium::Memory, Some("tmpfs".into()));
    assert_eq!(
        lines(&pretend),
        [": nothing can be said about the storage: 0 of 8 trials of 4 KiB random reads, one at a time, \
             stand as statements about the device"]
    );
}

#[test]
fn a_rate_that_was_still_rising_is_a_least() {
    let fast = Pretend { iops_max: 5e6, bytes_per_s: 1e12, ..Pretend::usual() };
    assert!(lines(&fast).iter().any(|line| line.starts_with("4 KiB reads: at least ")), "{:?}", lines(&fast));
}

#[test]
fn a_promise_that_cannot_be_told_says_why_and_streams_together_say_what_each_gets() {
    let study = "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"open-loop\"\nrw = \"randread\"\n\
        rate = [100, 200]\nlimit = \"p99=1ms\"\n[[experiment]]\nkind = \"matrix\"\nrw = \"randread\"\n\
        block_size = \"8k\"\ndepth = 4\nbeside = [{ rw = \"write\", block_size = \"4k\", depth = 1 }]\n";
    let mut run = Pretend::usual().run(study, 2);
    conclude(&mut run, None).unwrap();
    let lines = storage_lines(&run);
    let text = |label: &str| lines.iter().find(|line| line.label == label).map(|line| line.text.clone());
    let promise = text("promise").unwrap_or_else(|| panic!("{lines:?}"));
    assert!(promise.starts_with("p99") && promise.contains(':'), "{promise}");
    let beside = text("beside").unwrap_or_else(|| panic!("{lines:?}"));
    assert!(beside.contains("8 KiB random reads") && beside.contains("reads a second at "), "{beside}");
}

#[test]
fn what_cannot_be_told_is_one_line_and_no_ratio_from_nothing_to_a_thousand() {
    let study = "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"stride\"\nrw = \"read\"\n\
        block_size = [\"4k\", \"64k\"]\nstride = [\"64k\", \"1M\"]\n";
    let strides = |cv: f64, unseen: Option<&str>| -> Vec<String> {
        let mut pretend = Pretend { cv, ..Pretend::usual() };
        pretend.device.unseen = unseen.map(str::to_owned);
        let mut run = pretend.run(study, 1);
        conclude(&mut run, None).unwrap();
        storage_lines(&run).into_iter().filter(|line| line.label == "stride").map(|line| line.text).collect()
    };
    let noisy = strides(0.2, None);
    let asked = "cannot be told from this run: whether stride matters to 4 KiB sequential reads, one at a time; \
        to 64 KiB sequential reads, one at a time";
    assert_eq!(noisy, [asked]);
    assert_eq!(
        strides(0.2, Some("the host's cache")),
        [asked],
        "how far this system sees stands in the first line"
    );
    assert_eq!(strides(0.005, None).len(), 2, "what can be told has a line each");
    let wild = strides(2.0, None);
    assert_eq!(wild.len(), 1, "{wild:?}");
    assert!(!wild[0].contains('\u{d7}'), "{wild:?}");
}
