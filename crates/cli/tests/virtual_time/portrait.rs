//! A run's storage as a simulated device, and the device against what was measured.

use crate::common::Bench;
use iosonde_model::FindingName;

/// 16 units of 50 us behind 2 GB/s; writes into a buffer that drains at 300 MB/s.
const FLASH: &str = r#"
name = "blind"
summary = "flash whose truth the fitted model does not see"
capacity = "64GiB"
[link]
bandwidth = "2GB/s"
latency = "8us"
[flash]
units = 16
page = "16KiB"
mapping_unit = "4KiB"
read = "50us"
program = "500us"
write_buffer = { size = "32MiB", latency = "10us", drain = "300MB/s" }
[noise]
latency_cv = 0.02
"#;

const STUDY: &str = r#"
name = "fit"
question = "What is it like?"
[[experiment]]
kind = "queue-depth"
rw = ["randread", "randwrite"]
block_size = "4k"
depth = [1, 4, 16, 128]
[[experiment]]
kind = "random-vs-sequential"
rw = ["read", "randread", "write"]
block_size = "1M"
depth = 8
[[experiment]]
kind = "sustained-write"
"#;

const OTHERS: &str = r#"
name = "others"
question = "And elsewhere?"
[[experiment]]
kind = "queue-depth"
rw = "randread"
block_size = ["4k", "8k"]
depth = [2, 8, 40]
"#;

#[test]
fn a_run_draws_a_device_that_does_elsewhere_as_the_storage_did() {
    let bench = Bench::new();
    let (device, fit, others) =
        (bench.text("blind.toml", FLASH), bench.text("fit.toml", STUDY), bench.text("others.toml", OTHERS));
    let target = format!("sim:{}", device.display());
    for (study, label) in [(&fit, "fit"), (&others, "others")] {
        let study = study.display().to_string();
        let said = bench
            .iosonde(&["run", &study, &target, "--seed", "3", "--label", label, "--rounds", "8", "--quiet"]);
        assert_eq!(said.code, 0, "{}", said.err);
    }
    let drawn = bench.path("drawn.toml");
    let drawn_text = drawn.display().to_string();
    let said = bench.iosonde(&["devices", "--from", "fit", "--out", &drawn_text]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(
        said.out.starts_with("Fitted model: flash, ") && said.err.contains("iosonde run quick sim:"),
        "{}",
        said.out
    );
    // The file is a device like any other.
    let told = bench.iosonde(&["devices", &drawn_text]);
    assert!(told.code == 0 && told.out.contains("flash.units"), "{}{}", told.out, told.err);

    let said = bench.iosonde(&["devices", "--from", "fit", "--check=others", "--json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let document: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let compliance = document["compliance"].as_array().unwrap();
    assert_eq!(compliance.len(), 6, "{compliance:?}");
    for one in compliance {
        let ratio = one["ratio"].as_f64().unwrap();
        assert!((ratio - 1.0).abs() < 0.1 && one["fitted"] == false && one["why"].is_null(), "{one}");
    }
    let said = bench.iosonde(&["devices", "--from", "fit", "--check=others"]);
    assert!(said.out.contains("6 of 6 rates within 10 %"), "{}", said.out);
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let bench = Bench::new();
    bench.iosonde(&["devices", "--check"]).refused(&["--from"]);
    bench.iosonde(&["devices", "ideal", "--from", "last"]).refused(&["--from"]);
    let one = ["point", "sim:ideal", "--rw", "randread", "--bs", "4k", "--time", "1s", "--quiet"];
    assert_eq!(bench.iosonde(&one).code, 0);
    let said = bench.iosonde(&["devices", "--from", "last"]);
    assert_eq!(said.code, 1);
    assert!(
        said.err.contains("no model of run") && said.err.contains("iosonde run quick TARGET"),
        "{}",
        said.err
    );
}

/// Whatever a page cache answers is no storage: no device is drawn from it.
#[test]
fn what_memory_answered_is_not_drawn_as_storage() {
    let bench = Bench::new();
    bench.text(
        "cached.toml",
        "name = \"cached\"\nsummary = \"a page cache that ignores direct I/O\"\ncapacity = \"1GiB\"\n[host]\n\
         request_cost = \"50us\"\ncopy_rate = \"10GB/s\"\nmemory = \"1GiB\"\npage_cache = true\ndirect = \"ignored\"\n\
         [queue]\nservers = 4\nservice = { fixed = \"80us\" }\n[noise]\nlatency_cv = 0.05\n",
    );
    bench.text(
        "depths.toml",
        "name = \"depths\"\nquestion = \"How many?\"\n[[experiment]]\nkind = \"queue-depth\"\nrw = \"randread\"\n\
         block_size = \"4k\"\ndepth = [1, 4]\n",
    );
    let words = ["run", "depths.toml", "sim:cached.toml", "--rounds", "6", "--seed", "1", "--size", "64MiB"];
    let run = bench.run(&words);
    assert!(
        run.findings
            .iter()
            .all(|finding| finding.name != FindingName::BaseLatency || finding.value.is_none())
    );
    let said = bench.iosonde(&["devices", "--from", "last"]);
    assert_eq!(said.code, 1, "{}", said.out);
    assert!(said.err.contains("latency of small reads at QD 1 is unknown"), "{}", said.err);
}
