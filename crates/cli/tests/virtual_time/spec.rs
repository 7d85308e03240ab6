//! `spec`: a run against a vendor's sheet, on the sheet's own simulated drive, fresh and steady, and on 2 GiB of it.

use crate::common::Bench;
use iosonde_model::{DeviceNote, Run, Rw};
use serde_json::{Value, json};

const STUDY: &str = r#"
name = "small"
question = "Does it do what the sheet says?"
time = "8s"
order = "reads-first"
[[experiment]]
kind = "queue-depth"
rw = ["randread", "randwrite"]
block_size = "4k"
depth = [128, 256]
"#;

fn lines(bench: &Bench, target: &str, size: &str) -> Vec<Value> {
    bench.text("small.toml", STUDY);
    let ran = bench.iosonde(&["run", "small.toml", target, "--rounds", "5", "--seed", "1", "--size", size]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let said = bench.iosonde(&["spec", "last", "d7-p5600", "--json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let document: Value = serde_json::from_str(&said.out).unwrap();
    document["lines"].as_array().unwrap().clone()
}

#[test]
fn more_of_a_fresh_drive_says_nothing_and_a_steady_one_meets() {
    let bench = Bench::new();
    let fresh = lines(&bench, "sim:d7-p5600", "1.6TB");
    assert_eq!(fresh[2]["verdict"], "meets", "{}", fresh[2]);
    assert_eq!(fresh[3]["verdict"], "not comparable", "{}", fresh[3]);
    assert!(fresh[3]["why"].as_str().unwrap().contains("not in steady state"));
    assert_eq!(fresh[0]["verdict"], "not comparable", "sequential reads were not measured");
    // Simulated 1:93; sizes are the whole drive's all the same: "--size 1.46 TiB does not fit: it holds 16.1 GiB".
    let steady = lines(&bench, "sim:d7-p5600-steady", "1600GB");
    assert_eq!(steady[2]["verdict"], "meets", "{}", steady[2]);
    assert_eq!(steady[3]["verdict"], "meets", "{}", steady[3]);
    let run: Run = serde_json::from_str(&bench.iosonde(&["show", "--json"]).out).unwrap();
    let smaller = run.info.device.notes.iter().find_map(|note| match note {
        DeviceNote::SimulatedSmaller { simulated_bytes, whole_bytes } => {
            Some((*simulated_bytes, *whole_bytes))
        }
        _ => None,
    });
    let (simulated_bytes, whole_bytes) = smaller.expect("it says that it is simulated smaller");
    assert_eq!(whole_bytes, 1_600_000_000_000);
    // All of it but a part of a fill block, which nobody misses.
    let left_bytes = simulated_bytes - run.info.device.working_set_bytes;
    assert!(left_bytes < 1 << 20 && run.info.device.asked_size_bytes.is_none(), "{left_bytes}");
    let tenth = bench.run(&["run", "small.toml", "sim:d7-p5600-steady", "--size", "160GB"]);
    let share = tenth.info.device.working_set_bytes as f64 / simulated_bytes as f64;
    assert!((share - 0.1).abs() < 0.001, "{share}");
    bench
        .iosonde(&["run", "small.toml", "sim:d7-p5600-steady", "--size", "1.7TB"])
        .refused(&["it holds 1.46 TiB", "--size 1490GiB would do"]);
    let text = bench.iosonde(&["spec", &run.info.id, "d7-p5600"]).out;
    assert!(text.contains("random write, 100 % span") && text.contains("meets"), "{text}");
}

#[test]
fn a_part_of_a_drive_says_so_and_more_of_it_is_not_comparable() {
    let bench = Bench::new();
    let part = lines(&bench, "sim:d7-p5600", "2GiB");
    assert_eq!(
        (&part[2]["verdict"], &part[3]["verdict"]),
        (&json!("meets"), &json!("not comparable")),
        "{part:?}"
    );
    assert!(part[2]["why"].as_str().unwrap().contains("span 2 GiB of"), "{}", part[2]);
    let told =
        bench.iosonde(&["spec", "last", "d7-p5600"]).out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.ends_with("iosonde run spec --sheet d7-p5600 --state steady --size 1600GB sim:d7-p5600"),
        "{told}"
    );
    let own = bench.iosonde(&["specs", "d7-p5600"]).out;
    bench.text("own.toml", &own);
    assert_eq!(bench.iosonde(&["specs", "./own.toml"]).out, own, "a sheet of one's own is shown as it is");
    bench.text("empty.toml", own.split("[[claim]]").next().unwrap());
    bench.iosonde(&["specs", "./empty.toml"]).refused(&["it claims nothing; add a [[claim]]"]);
    assert!(part[3]["why"].as_str().unwrap().contains("span 2 GiB of"), "{}", part[3]);
    assert_eq!(bench.iosonde(&["spec", "last", "--claim", "randread 4k 9000000", "--strict"]).code, 3);
    bench.iosonde(&["spec", "last", "--claim", "randread 4k many"]).refused(&["as in"]);
    bench.iosonde(&["spec", "last", "d7-p560"]).refused(&["did you mean `d7-p5600`"]);
    bench.iosonde(&["spec", "last"]).refused(&["measured no sheet's lines; name a sheet"]);
    let listed = bench.iosonde(&["specs"]).out;
    assert!(listed.contains("d7-p5600") && listed.contains("samsung-990-pro"), "{listed}");
}

/// What a laptop gave in a lab report that set it beside this drive: 2 GiB of it, a minute each.
const LAPTOP: &str = "\
test,pattern,block_size,read_pct,queue_depth,read_mb_s,write_mb_s,read_iops,write_iops,runtime_s,span_bytes
sequential read,sequential,128KiB,100,32,3333.2274,,,,60,2147483648
sequential write,sequential,128KiB,0,32,,2268.3909,,,60,2147483648
random read,random,4KiB,100,256,,,411294.689,,60,2147483648
random write,random,4KiB,0,256,,,,316935.252,60,2147483648
";

#[test]
fn a_laptops_imported_minute_has_its_conditions_in_every_line() {
    let bench = Bench::new();
    bench.text("laptop.csv", LAPTOP);
    let imported = bench.iosonde(&["import", "laptop.csv", "--label", "laptop"]);
    assert_eq!(imported.code, 0, "{}", imported.err);
    let said = bench.iosonde(&["spec", "laptop", "d7-p5600", "--json"]);
    let document: Value = serde_json::from_str(&said.out).unwrap();
    let lines = document["lines"].as_array().unwrap();
    let verdicts: Vec<&str> = lines.iter().map(|line| line["verdict"].as_str().unwrap()).collect();
    // As much as is claimed is said; more, under easier conditions, is no answer.
    assert_eq!(verdicts, ["meets", "not comparable", "meets", "not comparable"]);
    // The figures stand there as they were published, with what keeps each from being an answer.
    let measured: Vec<f64> = lines.iter().map(|line| line["measured"].as_f64().unwrap().round()).collect();
    assert_eq!(measured, [3_333_227_400.0, 2_268_390_900.0, 411_295.0, 316_935.0]);
    for line in lines {
        let why = line["why"].as_str().unwrap();
        assert!(why.contains("span 2 GiB of 1.60 TB") && why.contains("no confidence interval"), "{why}");
        let writes = line["line"].as_str().unwrap().contains("write");
        assert_eq!(
            why.contains("steady state unknown (earlier writes not recorded, measured for 1 min)"),
            writes,
            "{why}"
        );
    }
}

#[test]
fn a_sheets_own_lines_are_measured_as_it_claims_them() {
    let bench = Bench::new();
    let words = ["run", "spec", "sim:plain-nvme", "--sheet", "d7-p5600", "--seed", "4", "--rounds", "5"];
    let run = bench.run(&words);
    let asked: Vec<_> =
        run.points.iter().map(|p| (p.spec.rw, p.spec.block_size_bytes, p.spec.queue_depth)).collect();
    let lines = [
        (Rw::Read, 131_072, 128),
        (Rw::Write, 131_072, 128),
        (Rw::RandRead, 4096, 256),
        (Rw::RandWrite, 4096, 256),
    ];
    assert_eq!(asked, lines);
    bench
        .iosonde(&["run", "quick", "sim:plain-nvme", "--sheet", "d7-p5600"])
        .refused(&["in the place of quick"]);
    bench.iosonde(&["run", "sim:plain-nvme", "--sheet", "d7"]).refused(&["no sheet named `d7`"]);
}
