//! The device on which findings about durable writes are proved: a buffer that each flush writes out.

use super::Proof;

/// For both findings about durable writes.
pub(super) const PROOF: Proof = Proof {
    device: r#"
name = "log-device"
summary = "flash with a buffer that a flush writes out"
capacity = "1GiB"
[flash]
units = 4
stripe = "16KiB"
page = "16KiB"
mapping_unit = "4KiB"
read = "60us"
program = "600us"
erase = "3ms"
pages_per_block = 65536
placement = "static"
write_buffer = { size = "64MiB", latency = "12us", drain = "480MB/s", flush = "1ms" }
"#,
    study: r#"
name = "log"
question = "How long does a flush take?"
time = "60s"
size = "1GiB"
[[experiment]]
kind = "latency"
rw = "write"
block_size = "16k"
depth = 1
sync = "fdatasync:1"
"#,
    truths: &[],
    widest: 0.02,
};
