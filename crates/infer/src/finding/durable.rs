//! What findings about durable writes share: their conditions, and the device on which they are proved, a buffer that
//! each flush writes out.

use iosonde_model::{Conditions, Op, TrialSpec};

use super::Proof;

/// Writes of one size, each durable before the next.
pub(super) fn conditions(spec: &TrialSpec) -> Conditions {
    Conditions {
        op: Some(Op::Write),
        random: Some(spec.rw.is_random()),
        block_size_bytes: Some(spec.block_size_bytes),
        queue_depth: Some(1),
        ..Conditions::default()
    }
}

/// True if one writer makes each write durable before the next.
pub(super) fn each_write(spec: &TrialSpec) -> bool {
    let each = spec.sync.with_each_write() || spec.sync.flush_every() == Some(1);
    each && !spec.rw.reads() && spec.asked_in_flight() == 1
}

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
