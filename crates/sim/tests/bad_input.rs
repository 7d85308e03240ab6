//! Devices that cannot be: each gets a sentence with the line, the key, the value and the rule. The whole list
//! stands in `bad_input.txt`: `UPDATE_DOCS=1 cargo test -p iosonde-sim --test bad_input` makes it anew, to be
//! looked at.

use iosonde_sim::DeviceFile;

const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bad_input.txt");

const HEAD: &str = "name = \"x\"\ncapacity = \"1GB\"\n";
const QUEUE: &str = "[queue]\nservers = 4\nservice = { fixed = \"80us\" }\n";
const FLASH: &str = "[flash]\nunits = 4\npage = \"16KiB\"\nread = \"60us\"\nprogram = \"600us\"\n";
const LOG: &str =
    "placement = \"log\"\nspare = \"28%\"\nwrite_buffer = { size = \"1MiB\", latency = \"12us\" }\n";
const DISK: &str = "[disk]\nrpm = 7200\nseek = { track = \"0.6ms\", average = \"8.5ms\" }\nouter = \"210MB/s\"\n\
    inner = \"105MB/s\"\n";

const CACHE: &str = "[host]\nmemory = \"1GiB\"\ncopy_rate = \"1GB/s\"\n";
const SLOTS: &str =
    "[link]\nlatency = \"1ms\"\nslots = 32\nmax_transfer = \"4KiB\"\nbandwidth = \"100MB/s\"\n";

/// What is good, and what is put in its place.
#[rustfmt::skip]
fn cases() -> Vec<(String, &'static str, &'static str)> {
    let queue = format!("{HEAD}{QUEUE}");
    let flash = format!("{HEAD}{FLASH}");
    let log = format!("{flash}{LOG}");
    let disk = format!("{HEAD}{DISK}");
    let with = |section: &str| format!("{queue}{section}");
    vec![
        // The file itself.
        (queue.clone(), "capacity = \"1GB\"", "capacity = \"100B\""),
        (queue.clone(), "capacity = \"1GB\"", "capacity = \"1 parsec\""),
        (queue.clone(), "capacity", "capacty"),
        (queue.clone(), "name = \"x\"", "name = \"No good\""),
        (queue.clone(), QUEUE, ""),
        (queue.clone(), "[queue]", "[qeue]"),
        // The program and its page cache.
        (with("[host]\nrequest_cost = \"1us\"\n"), "\"1us\"", "{ read = \"1us\" }"),
        (with(CACHE), "copy_rate = \"1GB/s\"", ""),
        (with(CACHE), "\"1GB/s\"", "{ read = \"1GB/s\", wirte = \"1GB/s\" }"),
        (with(CACHE), "1GiB", "1MiB"),
        (with(CACHE), "copy_rate", "dirty_limit = \"95%\"\ncopy_rate"),
        (with(CACHE), "copy_rate", "direct = \"maybe\"\ncopy_rate"),
        (with(CACHE), "copy_rate", "page_cache = false\ncopy_rate"),
        // The link.
        (with("[link]\nbandwidth = \"1GB/s\"\n"), "1GB/s", "0GB/s"),
        (with("[link]\nbandwidth = \"1GB/s\"\n"), "bandwidth", "bandwith"),
        (with("[link]\nslots = 32\n"), "32", "0"),
        (with("[link]\nmax_transfer = \"128KiB\"\n"), "128KiB", "1000B"),
        // More bandwidth than the slots can carry.
        (with(SLOTS), "100MB/s", "1GB/s"),
        // The media.
        (queue.clone(), "servers = 4", "servers = 0"),
        (queue.clone(), "80us", "0us"),
        (queue.clone(), "fixed = \"80us\"", "fixed = \"80us\", exponential = \"80us\""),
        (queue.clone(), "fixed = \"80us\"", "lognormal = { mean = \"80us\", cv = 0 }"),
        (flash.clone(), "600us", "0us"),
        (flash.clone(), "read = \"60us\"\n", ""),
        (flash.clone(), "units = 4", "units = 4\nstripe = \"24KiB\""),
        (flash.clone(), "units = 4", "units = 4\nmapping_unit = \"5KiB\""),
        (flash.clone(), "units = 4", "units = 4\nscale = 8"),
        (flash.clone(), "units = 4", "units = 4\nstate = \"worn\""),
        (flash.clone(), "units = 4", "units = 4\nslc = { size = \"1MiB\", program = \"150us\", fold = \"full\" }"),
        (log.clone(), "spare = \"28%\"", "spare = \"0.1%\""),
        (log.clone(), "spare = \"28%\"\n", ""),
        (log.clone(), "write_buffer = { size = \"1MiB\", latency = \"12us\" }\n", ""),
        (log.clone(), "size = \"1MiB\"", "size = \"0MiB\""),
        (log.clone(), "latency = \"12us\"", "latency = \"12us\", drain = \"0MB/s\""),
        (log.clone(), "placement = \"log\"", "placement = \"log\"\ngc = \"gready\""),
        (disk.clone(), "rpm = 7200", "rpm = 0"),
        (disk.clone(), "average = \"8.5ms\"", "average = \"0.5ms\""),
        (disk.clone(), "inner = \"105MB/s\"", "inner = \"310MB/s\""),
        // What slows down and what goes wrong.
        (with("[throttle]\niops = 3000\n"), "3000", "0"),
        (with("[throttle]\niops = 3000\n"), "iops = 3000", "iops = 3000\nburst = { iops = 2000, credit = 5 }"),
        (with("[throttle]\niops = 3000\n"), "iops = 3000", "iops = 3000\nburst = { iops = 9000 }"),
        (with("[throttle]\niops = 3000\n"), "3000", "{ read = 3000, write = 0 }"),
        (with("[throttle]\niops = 3000\n"), "3000", "{ read = 3000 }"),
        (with("[throttle]\niops = 3000\nchunk = \"16KiB\"\n"), "16KiB", "0KiB"),
        (with("[network]\nround_trip = \"0.4ms\"\nbandwidth = \"118MB/s\"\n"), "118MB/s", "0MB/s"),
        (with("[thermal]\nafter = \"60s at full rate\"\nfactor = 0.5\nrecover = \"30s\"\n"), "0.5", "1.5"),
        (with("[noise]\nlatency_cv = 0.05\n"), "0.05", "50"),
        (with("[noise]\nneighbour = { every = \"20s\", for = \"2s\", takes = \"50%\" }\n"), "\"2s\"", "\"30s\""),
        (with("[faults]\nlost = \"1 per million\"\n"), "1 per million", "2 per one"),
        (with("[faults]\nlost = \"1 per million\"\n"), "lost", "lots"),
        (with("[faults]\nstuck = { at = \"12s\", for = \"5s\" }\n"), ", for = \"5s\"", ""),
    ]
}

#[test]
fn every_impossible_device_gets_a_sentence_of_its_own() {
    let mut said = String::new();
    for (good, from, to) in cases() {
        DeviceFile::parse(&good, "x.toml").unwrap_or_else(|error| panic!("{error} in {good}"));
        assert!(good.contains(from), "{from} is not in {good}");
        let wrong = good.replacen(from, to, 1);
        let error = DeviceFile::parse(&wrong, "x.toml").err().map(|error| error.to_string());
        let error = error.unwrap_or_else(|| panic!("{to} was taken"));
        assert!(error.starts_with("x.toml"), "{error}");
        let [from, to] = [from, to].map(|text| text.trim().replace('\n', " "));
        said += &match to.as_str() {
            "" => format!("without `{from}`\n    {error}\n"),
            to => format!("`{to}` for `{from}`\n    {error}\n"),
        };
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(LIST, &said).unwrap();
    }
    let kept = std::fs::read_to_string(LIST).unwrap_or_default();
    let differs = kept.lines().zip(said.lines()).find(|(kept, made)| kept != made);
    assert!(kept == said, "bad_input.txt is out of date ({differs:?}): UPDATE_DOCS=1 makes it anew");
}
