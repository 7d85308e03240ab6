//! What each picture shows: which figure over what, and where the truth lies in it.

use iosonde_model::{Finding, Run};

use crate::data::{self, Axis, Figure};
use crate::frame::{Frame, Mark};

/// The picture for a finding whose truth is known.
pub fn of(run: &Run, finding: &Finding, truth: f64) -> Frame {
    let over = |axis: &Axis, figure| data::over(run, finding, axis, figure);
    let level = |frame: Frame| frame.with(Mark::level(truth));
    let place = |frame: Frame| frame.with(Mark::place(truth));
    match finding.name.as_str() {
        "device_bandwidth" => level(data::bars(run, finding, Figure::Rate)),
        "max_iops" => level(over(&data::IN_FLIGHT, Figure::Requests)),
        "queue_depth_knee" | "depth_for_95_percent" => place(over(&data::IN_FLIGHT, Figure::Requests)),
        "base_latency" => level(data::quantiles(run, finding)),
        "per_request_cost" => level(over(&data::BLOCK, Figure::TimeEach).logarithmic()),
        "half_size" | "plateau_block_size" => place(over(&data::BLOCK, Figure::Rate)),
        "random_vs_sequential" | "stride_effect" | "alignment_effect" | "jobs_effect" => {
            times_first(data::bars(run, finding, Figure::Requests), truth)
        }
        "mix_interference" => times_first(data::bars(run, finding, Figure::MeanTime), truth),
        "shape" => times_most(over(&data::STRIDE, Figure::Requests), truth),
        "parallelism" => times_least(over(&data::STRIDE, Figure::Requests), truth),
        "stripe_bytes" => place(over(&data::STRIDE, Figure::Requests)),
        "crossover" => place(data::both(run, finding, &data::IN_FLIGHT)),
        "cache_bytes" => place(over(&data::SPAN, Figure::Requests)),
        "cache_latency" => level(data::all(run, &data::SPAN, Figure::MeanTime).logarithmic()),
        "mapping_unit_bytes" => place(over(&data::BLOCK, Figure::Requests)),
        "readahead_bytes" => data::pieces(run, finding, truth),
        "burst_rate" | "sustained_rate" => level(data::course(run, finding)),
        "write_buffer_bytes" | "burst_credit_bytes" => level(data::beyond(run, finding)),
        "throttle_rate" => level(data::whole_course(run, finding)),
        "effective_depth" => level(data::by_trial(run, finding, Figure::InFlight)),
        "drift" => data::over_time(run, finding, truth),
        "order_effect" => data::by_what_came_before(run, finding, truth),
        "flush_latency" => level(data::quantiles(run, finding)),
        "log_writes_per_s" => level(data::by_trial(run, finding, Figure::Requests)),
        "processor_share" => level(data::by_trial(run, finding, Figure::Busy)),
        "rotation_period" => data::turn(run, finding, truth),
        "seek_time_average" => data::seeks(run, finding, truth),
        "zone_ratio" => data::zones(run, finding, truth),
        "iops_at_latency" => data::loads(run, finding).with(Mark::place(truth)),
        _ => usual(run, finding, truth),
    }
}

/// By the unit alone, for a finding that nothing above knows.
fn usual(run: &Run, finding: &Finding, truth: f64) -> Frame {
    let Some(axis) = data::widest(run, finding) else {
        return match finding.unit.as_str() {
            "B/s" => data::course(run, finding).with(Mark::level(truth)),
            "ns" => data::quantiles(run, finding).with(Mark::level(truth)),
            "IOPS" => data::by_trial(run, finding, Figure::Requests).with(Mark::level(truth)),
            "B" => data::beyond(run, finding).with(Mark::level(truth)),
            _ => data::bars(run, finding, Figure::Requests),
        };
    };
    let over = |figure| data::over(run, finding, axis, figure);
    match finding.unit.as_str() {
        "B/s" => over(Figure::Rate).with(Mark::level(truth)),
        "ns" => over(Figure::TimeEach).logarithmic().with(Mark::level(truth)),
        "IOPS" => over(Figure::Requests).with(Mark::level(truth)),
        "B" | "requests" => over(Figure::Requests).with(Mark::place(truth)),
        _ => over(Figure::Requests),
    }
}

fn times(frame: Frame, of: Option<f64>, truth: f64, what: &str) -> Frame {
    let words = format!("true: {} × {what}", crate::scale::short(&format!("{truth:.3}")));
    match of {
        Some(of) => frame.with(Mark::Level { at: of * truth, words, is_truth: true }),
        None => frame,
    }
}

fn times_first(frame: Frame, truth: f64) -> Frame {
    let first = frame.values().next();
    times(frame, first, truth, "the first")
}

fn times_most(frame: Frame, truth: f64) -> Frame {
    let most = frame.values().reduce(f64::max);
    times(frame, most, truth, "the others")
}

fn times_least(frame: Frame, truth: f64) -> Frame {
    let least = frame.values().reduce(f64::min);
    times(frame, least, truth, "the slowest, where all meet on one")
}
