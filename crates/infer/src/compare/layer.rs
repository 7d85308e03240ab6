//! What a layer costs: a side that lies above another, in time per request and share of throughput.
//!
//! At one request at a time the time from request to request is 1 / IOPS, so that the added time is the base's time
//! times (ratio of the times − 1). The ratio's error is that of its pairs of trials, where both took turns; the base's
//! error weighs only as much as the ratio differs from 1. Deeper queues hide the added time, so that the share of the
//! throughput is the answer there.

use iosonde_model::{
    Estimate, Incomparable, Layer, LayerCost, LayerLine, LayerSign, Medium, NoFigure, Op, RunInfo,
};
use iosonde_stats::ErrorVariance;

use super::{
    like::{Line, MEMORY, Sample},
    ratio::Ratio,
    side::Side,
    spread::Spreads,
};

/// From this factor on a layer is called faster than what lies below it. A choice, not a measured bound: two files of
/// one disk differ by where they lie, and a tenth is left for that.
const FASTER: f64 = 1.1;

const NS_PER_S: f64 = 1e9;

/// The layer `b` above `a`. `ratios` are those of the lines with figures on both sides, with intervals that allow for
/// their number; `spreads` knows their errors in the same order.
pub(super) fn layer(
    [a, b]: [&Side; 2],
    lines: &[Line],
    ratios: &[Ratio],
    spreads: &Spreads,
    confidence: f64,
) -> Layer {
    let told: Vec<&Line> = lines.iter().filter(|line| line.pair.is_some()).collect();
    let costs = told.iter().enumerate().filter_map(|(place, line)| {
        let (base_iops, through_iops) = line.a.zip(line.b)?;
        let error = spreads.of_line(place);
        let base = line.pair.as_ref().and_then(|pair| standard_error(&pair.a));
        let cost = match line.spec.asked_in_flight() {
            1 => LayerCost::AddedNs(added_ns(base_iops, through_iops, base, error, confidence)),
            _ => LayerCost::Share(share(through_iops / base_iops, error, confidence)),
        };
        Some(LayerLine { spec: line.spec.clone(), op: line.op, base_iops, through_iops, cost })
    });
    let faster = |op: Op| {
        let certain =
            |(line, ratio): &(&&Line, &Ratio)| line.op == op && ratio.low.is_some_and(|low| low > FASTER);
        let most =
            told.iter().zip(ratios).filter(certain).max_by(|(_, x), (_, y)| x.value.total_cmp(&y.value));
        most.map(|(line, ratio)| {
            let factor = Estimate { value: ratio.value, low: ratio.low, high: ratio.high };
            (Box::new(line.spec.clone()), factor)
        })
    };
    let reads = faster(Op::Read).map(|(spec, factor)| LayerSign::ReadsFaster { spec, factor });
    let writes = faster(Op::Write).map(|(spec, factor)| LayerSign::WritesFaster { spec, factor });
    let memory = Op::TRANSFERS.into_iter().filter_map(|op| {
        let workloads =
            lines.iter().filter(|line| line.op == op && line.limits.iter().any(is_memory)).count();
        (workloads > 0).then_some(LayerSign::FromMemory { op, workloads })
    });
    let apart = apart(&a.runs[0].info, &b.runs[0].info);
    Layer {
        signs: apart.into_iter().chain(reads).chain(writes).chain(memory).collect(),
        lines: costs.collect(),
        confidence,
    }
}

/// The block devices of two sides that have none in common. A folder on a network, a simulated device and what a
/// container hides have none that is known: nothing is said of them.
fn apart(base: &RunInfo, through: &RunInfo) -> Option<LayerSign> {
    let [of_base, of_through] = [base, through].map(|info| &info.device.chain);
    // What lies in memory has no block device, and lies above none.
    let in_memory = |info: &RunInfo| info.device.medium == Medium::Memory;
    let known = (!of_base.is_empty() || in_memory(base)) && (!of_through.is_empty() || in_memory(through));
    let shared = of_base.iter().any(|name| of_through.contains(name));
    (known && !shared).then(|| LayerSign::NotAbove { base: of_base.clone(), through: of_through.clone() })
}

/// Whether the second side has no figure because memory served it.
fn is_memory(limit: &Incomparable) -> bool {
    matches!(limit, Incomparable::Side { side: 1, cause: NoFigure::Invalid(judged), .. }
        if MEMORY.contains(&judged.check))
}

/// Standard error of the logarithm of a side's figure.
fn standard_error(sample: &Sample) -> Option<f64> {
    match sample.repeats.as_slice() {
        [_] => sample.within,
        repeats => iosonde_stats::LogEstimate::mean_of(repeats).map(|mean| mean.standard_error),
    }
}

fn added_ns(
    base_iops: f64,
    through_iops: f64,
    base: Option<f64>,
    ratio: Option<ErrorVariance>,
    confidence: f64,
) -> Estimate {
    let (base_ns, through_ns) = (NS_PER_S / base_iops, NS_PER_S / through_iops);
    let value = through_ns - base_ns;
    let half = ratio.zip(base).map(|(ratio, base)| {
        let of_ratio = through_ns * through_ns * ratio.variance;
        let of_base = (value * base).powi(2);
        ErrorVariance { variance: of_ratio + of_base, ..ratio }.half_width(confidence)
    });
    Estimate { value, low: half.map(|half| value - half), high: half.map(|half| value + half) }
}

fn share(ratio: f64, error: Option<ErrorVariance>, confidence: f64) -> Estimate {
    let half = error.map(|error| error.half_width(confidence));
    Estimate {
        value: ratio,
        low: half.map(|half| ratio * (-half).exp()),
        high: half.map(|half| ratio * half.exp()),
    }
}
