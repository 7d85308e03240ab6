//! Every section and key that device files are promised to have, in one device, is read.

use iosonde_sim::DeviceFile;

const FLASH: &str = r#"
name = "client-nvme"
summary = "every key of the contract"
capacity = "1TB"
[host]
request_cost = { read = "1.5us", write = "1.5us" }
memory = "16GiB"
page_cache = true
copy_rate = "10GB/s"
readahead = "128KiB"
dirty_limit = "20%"
direct = "honoured"
[link]
bandwidth = "3.5GB/s"
latency = "5us"
max_transfer = "128KiB"
slots = 1024
duplex = true
[flash]
units = 32
stripe = "16KiB"
page = "16KiB"
mapping_unit = "4KiB"
read = "60us"
program = "600us"
erase = "3ms"
pages_per_block = 256
gc = "greedy"
spare = "7%"
placement = "static"
write_buffer = { size = "64MiB", latency = "12us", drain = "480MB/s", flush = "1ms" }
slc = { size = "20GiB", program = "150us", fold = "idle 1s" }
read_cache = { size = "32MiB", latency = "8us" }
[network]
round_trip = "0.4ms"
bandwidth = "118MB/s"
server_cache = "8GiB"
[throttle]
iops = 3000
bytes = "125MB/s"
burst = { iops = 16000, credit = 5400000 }
[thermal]
after = "60s at full rate"
factor = 0.5
recover = "30s"
[noise]
latency_cv = 0.05
rate_cv_100ms = 0.11
lag1_100ms = 0.65
tail = { share = "0.1%", factor = 20 }
drift_per_hour = "-2%"
run_effect = 0.01
point_run_effect = 0.01
neighbour = { every = "20s", for = "2s", takes = "50%" }
[faults]
eio = "1 per million"
torn = "1 per million"
lost = "1 per million"
misplaced = "1 per million"
stuck = { at = "12s", for = "5s" }
gone_at = "30s"
"#;

const DISK: &str = r#"
name = "disk"
summary = "a disk"
capacity = "4TB"
[disk]
rpm = 7200
seek = { track = "0.6ms", average = "8.5ms" }
outer = "210MB/s"
inner = "105MB/s"
cache = "64MiB"
queue = { slots = 32, policy = "fifo" }
"#;

const QUEUE: &str = r#"
name = "queue"
summary = "a plain queue"
capacity = "1GiB"
[queue]
servers = 4
service = { fixed = "80us" }
"#;

#[test]
fn every_promised_key_is_read_and_printed_back() {
    for (text, least) in [(FLASH, 50), (DISK, 9), (QUEUE, 2)] {
        let file = DeviceFile::parse(text, "x.toml").unwrap_or_else(|error| panic!("{error}"));
        let given = text.lines().filter(|line| line.contains(" = ")).count() - 3;
        let printed = file.parameters().len();
        assert!(printed >= given.min(least), "{printed} of {given} values");
    }
}

#[test]
fn placement_changes_by_one_word() {
    let log =
        FLASH.replace("placement = \"static\"", "placement = \"log\"").replace("stripe = \"16KiB\"\n", "");
    DeviceFile::parse(&log, "x.toml").unwrap_or_else(|error| panic!("{error}"));
}
