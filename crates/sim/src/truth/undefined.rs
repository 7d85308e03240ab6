//! Why there is no truth: the reasons, in words.

/// Why Hockney's line has no parameters here.
pub(super) const STAIRCASE: &str = "the medium's time is no straight line in the size: it goes by whole pages, or \
    waits for the slowest of several pieces";

/// Why no law of the present parts gives a value.
pub(super) fn why_not(finding: &str) -> String {
    let why = match finding {
        "random_vs_sequential" | "stride_effect" => {
            "it depends on how many are in flight and on the span, and has no closed form here"
        }
        "stripe_bytes" => {
            "nothing is striped by address: there is one place, or a log that goes by the order of writing"
        }
        "mapping_unit_bytes" => "no part of this device maps addresses",
        "mix_interference" => "it has no closed form here",
        "crossover" => "it depends on how many are in flight and on what was written before",
        "write_buffer_bytes" => "the device has no write buffer",
        "burst_rate" => "no part takes writes faster than they last",
        "sustained_rate" => "no part takes writes faster than they last",
        "cache_bytes" => "the device has no cache",
        "cache_latency" => "the device has no cache, or its answer takes no time of its own",
        "readahead_bytes" => "the host has no page cache",
        "throttle_rate" | "burst_credit_bytes" => "nothing throttles the device",
        "rotation_period" | "seek_time_average" | "zone_ratio" => "nothing rotates",
        "drift" => "nothing drifts",
        "order_effect" | "shape" => "it belongs to a run, not to the device",
        "parallelism" => "the device's laws do not say how much it does at once",
        "effective_depth" => "it belongs to a trial, not to the device",
        "iops_at_latency" => "it depends on the limit that is asked for",
        _ => "no law of this device's parts gives it",
    };
    why.to_owned()
}
