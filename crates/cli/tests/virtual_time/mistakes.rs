//! What published reports got wrong, each on a simulated device on which it happens again, and the sentence that
//! catches it. The numbers M1 .. M17 are those of docs/checks.md.

use crate::common::Bench;
use iosonde_model::{CheckName, Closed, FindingName, Outcome, Phase, Status};
use iosonde_report::{Document as Run, FindingLine as Finding, VerdictLine as Judgement};

const CACHED: &str = "name = \"cached\"\nsummary = \"a device behind a page cache\"\ncapacity = \"64GB\"\n[host]\n\
    request_cost = \"2us\"\nmemory = \"4GiB\"\npage_cache = true\ncopy_rate = \"5GB/s\"\n[queue]\nservers = 4\n\
    service = { fixed = \"300us\" }\n";

const BUFFER: &str = "name = \"buffer\"\nsummary = \"2 GiB of write buffer before flash\"\ncapacity = \"64GB\"\n\
    [link]\nbandwidth = \"1GB/s\"\nlatency = \"5us\"\n[flash]\nunits = 8\nstripe = \"16KiB\"\npage = \"16KiB\"\n\
    mapping_unit = \"4KiB\"\nread = \"60us\"\nprogram = \"600us\"\nerase = \"3ms\"\nplacement = \"static\"\n\
    write_buffer = { size = \"2GiB\", latency = \"12us\", drain = \"200MB/s\" }\n";

const STUDY: &str = "name = \"depths\"\nquestion = \"?\"\ntime = \"30s\"\n[[experiment]]\nkind = \"queue-depth\"\n\
    rw = \"randread\"\nblock_size = \"4k\"\ndepth = [1, 2, 4, 8]\n";

/// Order does not matter to it.
const ORDER: &str = "name = \"order\"\nquestion = \"?\"\ntime = \"30s\"\n[[experiment]]\n\
    kind = \"random-vs-sequential\"\nrw = [\"read\", \"randread\"]\nblock_size = \"64k\"\ndepth = 1\n";

const WRITE_DEPTHS: &str = "name = \"writes\"\nquestion = \"?\"\ntime = \"30s\"\n[[experiment]]\n\
    kind = \"queue-depth\"\nrw = \"randwrite\"\nblock_size = \"4k\"\ndepth = [8, 16, 32, 64, 128]\n";

const SIZES: &str = "name = \"sizes\"\nquestion = \"?\"\ntime = \"40s\"\n[[experiment]]\n\
    kind = \"block-size\"\nrw = \"randread\"\nblock_size = \"4k..4M*2\"\ndepth = 1\n";

const STRIDES: &str = "name = \"strides\"\nquestion = \"?\"\ntime = \"30s\"\n[[experiment]]\n\
    kind = \"stride\"\nrw = \"read\"\nblock_size = \"4k\"\nstride = [\"4k\", \"64k\", \"1M\"]\ndepth = 1\n";

/// Flash whose requests above a stripe spread over its units: rates that follow no single law t₀ + b/B.
const UNITS: &str = "name = \"units\"\nsummary = \"eight units\"\ncapacity = \"64GB\"\n[link]\nbandwidth = \"2GB/s\"\n\
    latency = \"5us\"\n[flash]\nunits = 8\nstripe = \"16KiB\"\npage = \"16KiB\"\nmapping_unit = \"4KiB\"\n\
    read = \"60us\"\nprogram = \"600us\"\nerase = \"3ms\"\nplacement = \"static\"\n";

/// Four servers with small waves, and what more is said of their noise.
fn four_servers(noise: &str) -> String {
    format!(
        "name = \"four\"\nsummary = \"four servers\"\ncapacity = \"64GB\"\n[queue]\nservers = 4\n\
         service = {{ lognormal = {{ mean = \"400us\", cv = 0.2 }} }}\n[noise]\nrate_cv_100ms = 0.02\n\
         lag1_100ms = 0.5\n{noise}\n"
    )
}

fn measured(device: &str, words: &[&str]) -> Run {
    studied(device, STUDY, words)
}

fn studied(device: &str, study: &str, words: &[&str]) -> Run {
    let bench = Bench::new();
    bench.text("device.toml", device);
    bench.text("study.toml", study);
    let words: Vec<&str> = words.iter().copied().chain(["--seed", "3"]).collect();
    bench.run(&words)
}

/// The first doubt or void of a check.
fn said(run: &Run, check: CheckName) -> &Judgement {
    let own = |line: &&Judgement| line.check == check && line.verdict >= Outcome::Warning;
    run.verdicts.iter().find(own).unwrap_or_else(|| panic!("{check} is silent: {:?}", run.verdicts))
}

#[test]
fn m1_and_m6_a_small_file_read_again_is_memory_and_not_the_disk() {
    let read =
        ["--buffered", "--rw", "read", "--bs", "1M", "--depth", "1", "--size", "256MiB", "--time", "4s"];
    let run = measured(CACHED, &[&["point", "sim:device.toml"][..], &read[..]].concat());
    let judged = said(&run, CheckName::CacheServed);
    assert_eq!(judged.verdict, Outcome::Invalid);
    let share = judged.figures["moved_bytes"] / judged.figures["issued_bytes"];
    assert!((0.01..0.02).contains(&share), "{judged:?}");
}

fn finding(run: &Run, name: FindingName) -> &Finding {
    let found = run.findings.iter().find(|finding| finding.name == name);
    found.unwrap_or_else(|| panic!("no {name} among {:?}", run.findings))
}

#[test]
fn m2_random_is_not_faster_than_sequential_because_memory_served_it() {
    let run = ["run", "study.toml", "sim:device.toml", "--size", "256MiB"];
    let believed = studied(CACHED, ORDER, &run);
    // The report's way: random reads of a small file that is in memory, beside sequential ones of a large one.
    let small =
        ["point", "sim:device.toml", "--buffered", "--rw", "randread", "--bs", "64k", "--size", "64MiB"];
    let cached = studied(CACHED, ORDER, &[&small[..], &["--time", "3s"]].concat());
    let rate = |run: &Run, sequential: bool| {
        let own = |trial: &&iosonde_model::Trial| {
            trial.phase == Phase::Measure && trial.spec.rw.is_random() != sequential
        };
        run.trials.iter().find(own).map(|trial| trial.bytes_per_s()).expect("it was measured")
    };
    assert!(rate(&cached, false) > 3.0 * rate(&believed, true), "the mistake can be made here");
    assert_eq!(said(&cached, CheckName::CacheServed).verdict, Outcome::Invalid);
    // Void trials reach no finding.
    let buffered = studied(CACHED, ORDER, &[&run[..], &["--buffered"]].concat());
    let refused = finding(&buffered, FindingName::RandomVsSequential);
    assert_eq!(refused.status, Status::Inconclusive);
    assert!(
        refused
            .sentence
            .starts_with("Random against sequential throughput of 64 KiB reads: unknown; none of the ")
            && refused.sentence.ends_with("is valid."),
        "{}",
        refused.sentence
    );
    // What is left says that no difference shows, with its interval.
    let order = finding(&believed, FindingName::RandomVsSequential);
    assert!(
        order.sentence.starts_with("Random 64 KiB reads are as fast as sequential ones: 1.00"),
        "{order:?}"
    );
    assert!(
        order.sentence.contains('±') && order.low.unwrap() > 0.95 && order.high.unwrap() < 1.05,
        "{order:?}"
    );
}

#[test]
fn m4_a_burst_into_a_write_buffer_is_told_from_what_lasts() {
    let write = ["--rw", "randwrite", "--bs", "64k", "--depth", "16", "--time", "12s"];
    let run = measured(BUFFER, &[&["point", "sim:device.toml"][..], &write[..]].concat());
    // 200 MB/s / 64 KiB = 3,052 a second lasts.
    let step = &said(&run, CheckName::NotSteady).why;
    assert!(step.contains(" to 3.0") && step.contains("the mean hides two levels"), "{step}");
    assert!(said(&run, CheckName::Throttled).why.contains("a full write buffer"));
}

#[test]
fn m5_nothing_is_concluded_about_a_device_that_was_not_asked() {
    let words = ["run", "study.toml", "sim:device.toml", "--buffered", "--size", "256MiB", "--time", "20s"];
    let run = measured(CACHED, &words);
    let void = run
        .verdicts
        .iter()
        .filter(|line| line.check == CheckName::CacheServed && line.verdict == Outcome::Invalid);
    assert!(void.count() > 10);
    let found: Vec<_> = run.findings.iter().filter(|finding| finding.status == Status::Found).collect();
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn m8_a_device_that_becomes_slower_is_drift_and_no_parameter() {
    let slower = four_servers("drift_per_hour = \"-99.9999999999%\"");
    let run = measured(&slower, &["run", "study.toml", "sim:device.toml"]);
    let drift = said(&run, CheckName::Drift);
    // A factor of 10^-12 in an hour: 0.81 in 27 s.
    let change = drift.figures["change_share"];
    assert!((-0.23..-0.15).contains(&change), "{change}");
}

#[test]
fn m9_a_divot_is_a_disturbed_trial_until_its_interval_says_otherwise() {
    // A visitor of 0.7 s meets a trial at depth 32.
    let visited = four_servers("neighbour = { every = \"15s\", for = \"700ms\", takes = \"60%\" }");
    let run = studied(&visited, WRITE_DEPTHS, &["run", "study.toml", "sim:device.toml"]);
    let at = |depth: u32| run.trials.iter().filter(move |trial| trial.spec.queue_depth == depth);
    let lowest = at(32).map(|trial| trial.iops()).fold(f64::INFINITY, f64::min);
    assert!(lowest < 5000.0, "one trial alone shows a divot: {lowest}");
    let outliers = said(&run, CheckName::Outliers);
    let measured = run.trials.iter().filter(|trial| trial.point.is_some()).count();
    assert_eq!(outliers.figures["trials"], measured as f64);
    assert!(outliers.figures["outliers"] > 1.0, "{outliers:?}");
    // The estimate has none: its interval meets its neighbours'.
    let interval = |depth: u32| {
        let point = run.points.iter().find(|point| point.spec.queue_depth == depth).expect("it is planned");
        let iops = &point.write.as_ref().expect("it writes").iops;
        (iops.low.expect("an interval"), iops.high.expect("an interval"))
    };
    for other in [16, 64] {
        let ((low, high), (least, most)) = (interval(32), interval(other));
        assert!(low < most && least < high, "32 and {other} differ");
    }
    assert!(
        !run.findings
            .iter()
            .any(|finding| finding.name == FindingName::Shape && finding.status == Status::Found)
    );
}

#[test]
fn m9_units_are_those_that_people_read_and_a_slip_is_named() {
    let bench = Bench::new();
    bench.text("device.toml", &four_servers(""));
    let said =
        bench.iosonde(&["point", "sim:device.toml", "--rw", "randread", "--depth", "4", "--time", "1s"]);
    assert!(said.out.contains(" µs ") && !said.out.contains(" 0 "), "{}", said.out);
    // 100,000 a second at QD 32 take 320 µs; here nanoseconds are in a column of milliseconds.
    bench.text("table.csv", "block_size,queue_depth,read_iops,read_lat_ms\n4k,32,100000,320000\n");
    let judged = bench.iosonde(&["judge", "table.csv"]).out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(judged.contains("a million times too large was probably read in the wrong unit"), "{judged}");
}

#[test]
fn m11_a_point_stops_when_its_interval_is_tight_enough() {
    let run = measured(&four_servers(""), &["run", "study.toml", "sim:device.toml", "--time", "120s"]);
    assert!(run.points.iter().all(|point| point.closed == Some(Closed::Precision)));
    assert!(run.info.elapsed_s < 119.0, "{}", run.info.elapsed_s);
}

#[test]
fn m13_equal_plateaus_on_unlike_devices_are_the_programs() {
    let on = |service: &str| {
        let device = format!(
            "name = \"d\"\nsummary = \"a device\"\ncapacity = \"64GB\"\n[host]\nrequest_cost = \"100us\"\n[queue]\n\
             servers = 16\nservice = {{ fixed = \"{service}\" }}\n"
        );
        let write =
            ["point", "sim:device.toml", "--rw", "randwrite", "--bs", "4k", "--depth", "16", "--time", "2s"];
        let bound = said(&measured(&device, &write), CheckName::GeneratorBound).clone();
        (
            bound.verdict,
            (bound.figures["busy_share"] * 100.0).round(),
            (bound.figures["iops"] / 100.0).round(),
        )
    };
    // One takes three times as long as the other, and both give what 100 us a request leave.
    let expected = (Outcome::Invalid, 100.0, 100.0);
    assert_eq!((on("80us"), on("240us")), (expected, expected));
}

/// Everything that looks like a number, without the sign of a bullet or a full stop behind it.
fn numbers(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    words.map(|word| word.trim_matches('.')).filter(|word| !word.is_empty()).collect()
}

#[test]
fn m14_what_a_report_says_of_a_size_it_says_once_and_with_its_interval() {
    let bench = Bench::new();
    bench.text("device.toml", UNITS);
    bench.text("study.toml", SIZES);
    let run = bench.run(&["run", "study.toml", "sim:device.toml", "--seed", "3"]);
    let told: Vec<&Finding> = run.findings.iter().filter(|finding| finding.status == Status::Found).collect();
    assert!(told.len() > 1, "{:?}", run.findings);
    for finding in &told {
        assert!(
            finding.low.is_some()
                && (finding.sentence.contains(['[', '±']) || finding.sentence.contains("is too small")),
            "without an interval: {finding:?}"
        );
    }
    // The report repeats the finding's own sentence: there is no second figure for where it levels off.
    let page = bench.path("report.md");
    let page = page.to_str().unwrap();
    assert_eq!(bench.iosonde(&["report", "last", "-f", "md", "-o", page]).code, 0);
    let text = std::fs::read_to_string(page).unwrap();
    let plateau = finding(&run, FindingName::PlateauBlockSize);
    assert!(text.contains(&plateau.sentence), "{text}");
    // Every number of an advice stands in a finding that it names, there with more digits, or, with its unit, is the
    // throughput of a point of single requests; a half-width in per cent follows from the interval.
    let value = |number: &str| number.parse::<f64>().unwrap_or(f64::NAN);
    let three_digits = |a: &str, b: &str| (value(a) - value(b)).abs() <= 0.005 * value(b).abs();
    let alone = run.points.iter().filter(|point| point.spec.asked_in_flight() == 1);
    let directions = alone.flat_map(|point| point.read.iter().chain(&point.write));
    let rates: Vec<f64> = directions.map(|own| own.bytes_per_s.value).collect();
    for advice in run.advice.iter().filter(|advice| !advice.findings.is_empty()) {
        let sources: Vec<&Finding> =
            told.iter().copied().filter(|f| advice.findings.contains(&f.name)).collect();
        let known: String = sources
            .iter()
            .map(|f| format!("{} {} ", f.sentence, f.why.as_deref().unwrap_or_default()))
            .collect();
        let sentence =
            advice.sentence.split("(±").map(|part| part.split_once(" %)").map_or(part, |(_, rest)| rest));
        for number in numbers(&sentence.collect::<String>()) {
            let of_a_point = |rate: &f64| {
                [("MB/s", 1e6), ("GB/s", 1e9)].iter().any(|(unit, factor)| {
                    advice.sentence.contains(&format!(" {number} {unit}"))
                        && (value(number) * factor / rate - 1.0).abs() <= 0.005
                })
            };
            let found =
                numbers(&known).iter().any(|own| three_digits(number, own)) || rates.iter().any(of_a_point);
            assert!(found, "{number} of {advice:?} is in none of {known}");
        }
    }
}

#[test]
fn m15_no_effect_needs_an_interval_within_a_margin_and_a_law_needs_a_fit() {
    let run = ["run", "study.toml", "sim:device.toml"];
    let quiet = studied(&four_servers(""), STRIDES, &run);
    let no_effect = finding(&quiet, FindingName::StrideEffect);
    assert!(no_effect.sentence.contains("no effect of the stride from"), "{}", no_effect.sentence);
    assert!(no_effect.low.unwrap() > 1.0 / 1.05 && no_effect.high.unwrap() < 1.05);
    // The same storage under a neighbour's waves: no effect is seen, and none is denied.
    let waves = four_servers("").replace("rate_cv_100ms = 0.02", "rate_cv_100ms = 0.3");
    let cannot = &finding(&studied(&waves, STRIDES, &run), FindingName::StrideEffect).sentence.clone();
    assert!(cannot.starts_with("4 KiB sequential reads at QD "), "{cannot}");
    assert!(cannot.contains("effect of the stride unknown; throughput at stride"), "{cannot}");
    // A curve is not called by a law that it does not follow.
    let curve = studied(UNITS, SIZES, &run);
    let law = finding(&curve, FindingName::PerRequestCost);
    assert_eq!(law.status, Status::Inconclusive);
    assert!(law.sentence.contains("no straight line over size"), "{}", law.sentence);
}

#[test]
fn m16_a_steady_state_that_was_not_tested_is_not_claimed() {
    let short =
        ["point", "sim:device.toml", "--rw", "randread", "--bs", "4k", "--depth", "4", "--time", "2s"];
    let run = measured(&four_servers(""), &short);
    let line = run.verdicts.iter().find(|line| line.check == CheckName::NotSteady).expect("it is spoken of");
    assert_eq!(line.verdict, Outcome::NotChecked);
    assert!(line.why.contains("windows; steadiness needs 30"), "{}", line.why);
}
