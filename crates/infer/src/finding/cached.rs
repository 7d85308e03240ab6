//! Cache hits and misses, separated by their latencies: the common part of two findings.
//!
//! Where both occur in a point, the logarithms of its latencies form two groups. They are separated where the
//! variance between the two is largest ([`two_groups`]). The separation is accepted where almost no latency lies
//! near it and the slow group takes half as long again as the fast one. A least-recently-used cache under uniform
//! random requests holds a share C / W of a span W. The share of fast requests, times the span, is therefore the
//! cache.

use iosonde_judge::{evidence::Evidence, settling};
use iosonde_model::{
    About, Conditions, Detail, Estimate, Finding, Histogram, Inconclusive, Op, Trial,
    detail::{CacheProblem, Cached},
};
use iosonde_stats::{Estimated, two_groups};

use super::{
    Proof,
    effect::{self, MARGIN},
    group::{self, Group, Writer},
    over_trials, pooled,
};

/// Slow over fast, mean over mean, from which on they are two kinds.
const APART: f64 = 1.5;
/// The largest share of the smaller heap that may lie within a tenth of the cut.
const NEAR_MAX: f64 = 0.10;
/// The least share of either kind: fewer slow ones may be a tail, and fewer fast ones chance.
pub(super) const SHARE_MIN: f64 = 0.02;
/// The largest share of what is read in a span that the page cache holds which still reaches the device: a few
/// pages are evicted between the pass and the trial.
const HELD_MOVES_MAX: f64 = 0.05;
/// By how much a span may become faster within its trials, second half over first, before its cache is called still
/// filling.
const SETTLED: f64 = 1.02;

/// Two kinds of requests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Kinds {
    pub(super) cut_ns: f64,
    pub(super) fast: f64,
    pub(super) fast_ns: f64,
}

/// Share and mean of the latencies up to a cut.
pub(super) fn below(histogram: &Histogram, cut_ns: f64) -> (f64, f64) {
    let near = histogram.buckets().filter(|(middle, ..)| *middle <= cut_ns);
    let (count, sum) =
        near.fold((0.0, 0.0), |(count, sum), (middle, _, n)| (count + n as f64, sum + middle * n as f64));
    (count / histogram.total().max(1) as f64, sum / f64::max(count, 1.0))
}

/// The two kinds of a histogram, if there are two.
pub(super) fn kinds(histogram: &Histogram) -> Option<Kinds> {
    let logs: Vec<(f64, f64)> = histogram.buckets().map(|(middle, _, n)| (middle.ln(), n as f64)).collect();
    let cut_ns = two_groups(&logs)?.exp();
    let (fast, fast_ns) = below(histogram, cut_ns);
    let slow_ns = (histogram.mean_ns()? - fast * fast_ns) / (1.0 - fast);
    let near = below(histogram, 1.1 * cut_ns).0 - below(histogram, cut_ns / 1.1).0;
    let smaller = fast.min(1.0 - fast);
    let two = smaller >= SHARE_MIN && slow_ns >= APART * fast_ns && near <= NEAR_MAX * smaller;
    two.then_some(Kinds { cut_ns, fast, fast_ns })
}

/// The size of the cache that this point tells of: the share of fast requests, times its span.
pub(super) fn size(evidence: &Evidence, op: Op) -> Option<Estimated> {
    group::valid(evidence, &[About::Latency]).ok()?;
    let histograms = pooled::latencies(evidence, op);
    let whole = pooled::merged(histograms.iter().copied());
    let kinds = kinds(&whole)?;
    let share = pooled::jackknife(&histograms, |histogram| Some(below(histogram, kinds.cut_ns).0))?;
    let span = evidence.point.spec.span_bytes as f64;
    // Requests are independent at best, whatever the trials say of each other.
    let least = (kinds.fast * (1.0 - kinds.fast) / whole.total() as f64).sqrt();
    Some(Estimated {
        value: share.value * span,
        standard_error: share.standard_error.max(least) * span,
        degrees_of_freedom: share.degrees_of_freedom,
    })
}

/// The mean time of the requests that the cache answers: all of them where the span is held whole.
pub(super) fn answered_ns(evidence: &Evidence, op: Op) -> Option<Estimated> {
    let evidence = &as_asked(evidence);
    group::valid(evidence, &[About::Latency]).ok()?;
    let histograms = pooled::latencies(evidence, op);
    let cut_ns = kinds(&pooled::merged(histograms.iter().copied())).map(|kinds| kinds.cut_ns);
    let time = pooled::jackknife(&histograms, |histogram| match cut_ns {
        Some(cut_ns) => Some(below(histogram, cut_ns).1),
        None => pooled::mean_within(histogram, 2.0),
    })?;
    // A bucket is reported by its middle, which is known to 0.2 %.
    Some(Estimated { standard_error: time.standard_error.max(1e-3 * time.value), ..time })
}

/// Why a span says nothing of a cache's size yet: what is held of it had not come to its end when it was measured.
fn still_filling(evidence: &Evidence, held_bytes: u64) -> Option<CacheProblem> {
    let span_bytes = evidence.point.spec.span_bytes;
    let passed = |trial: &Trial| trial.passed_bytes.unwrap_or(0);
    let passed_bytes = evidence.standing(About::Rate).map(passed).min()?;
    // A cache that could hold all of the span would look as slow.
    if passed_bytes < span_bytes {
        return Some(CacheProblem::PassCutShort { held_bytes, span_bytes, passed_bytes });
    }
    // Second half over first.
    let gain = |trial: &Trial| settling::halves(trial).map(|(begin, end)| end / begin);
    let gains: Vec<f64> = evidence.standing(About::Rate).filter_map(gain).collect();
    let gain = over_trials::mean(&gains, GROWS_AT)?;
    let filling = gain.low.is_some_and(|low| low > SETTLED);
    filling.then_some(CacheProblem::StillFilling { span_bytes, gain: gain.value - 1.0 })
}

/// Maximum latency of a request within the smallest span that may come from a cache: the fastest disks take 1 ms and
/// more at a high queue depth, when the arm hardly moves.
const ANSWER_MAX_S: f64 = 5e-4;
/// Below this share of the smallest span's rate a span is not called fast.
const FAST: f64 = 0.9;
/// How sure it must be that a span becomes faster within its trials.
const GROWS_AT: f64 = 0.99;

/// One for each pattern, size and queue depth.
pub(super) fn groups<'e, 'a>(points: &'e [Evidence<'a>]) -> Vec<Group<'e, 'a>> {
    group::groups(points, |op, evidence| {
        let spec = &evidence.point.spec;
        Some(Conditions {
            op: Some(op),
            random: Some(spec.rw.is_random()),
            block_size_bytes: Some(spec.block_size_bytes),
            queue_depth: Some(spec.asked_in_flight() as u32),
            ..Conditions::default()
        })
    })
}

/// Points as this question takes them. Through the page cache memory is part of what is asked about, so that what is
/// void as a statement about the device stands here.
fn as_asked<'a>(evidence: &Evidence<'a>) -> Evidence<'a> {
    let mut evidence = evidence.clone();
    if !evidence.point.spec.direct {
        evidence.void.iter_mut().filter(|void| **void == Some(About::Device)).for_each(|void| *void = None);
    }
    evidence
}

/// Whether it is the page cache: where reads through it in the smallest span hardly reached the device.
fn is_page_cache(group: &Group) -> bool {
    let smallest = group.points.iter().min_by_key(|evidence| evidence.point.spec.span_bytes);
    let memory = |evidence: &&Evidence| {
        let trials = || evidence.trials.iter().map(|trial| &trial.witnesses);
        let moved: Option<u64> = trials().map(|saw| saw.block_layer_read_bytes).sum();
        let asked: u64 = trials().map(|saw| saw.issued_read_bytes).sum();
        !evidence.point.spec.direct
            && moved.is_some_and(|moved| moved as f64 <= HELD_MOVES_MAX * asked as f64)
    };
    smallest.is_some_and(memory)
}

pub(super) fn one(writer: &Writer, group: &Group) -> Finding {
    let asked: Vec<Evidence> = group.points.iter().map(|evidence| as_asked(evidence)).collect();
    let mut points: Vec<&Evidence> = asked.iter().collect();
    points.sort_by_key(|evidence| evidence.point.spec.span_bytes);
    let inconclusive = |why: Inconclusive| writer.inconclusive(&group.conditions, &points, why);
    let rates: Result<Vec<_>, _> =
        points.iter().map(|evidence| group::valid_rate(evidence, group.op, &[])).collect();
    let rates = match rates {
        Ok(rates) => rates,
        Err(why) => return inconclusive(why),
    };
    let spans: Vec<u64> = points.iter().map(|evidence| evidence.point.spec.span_bytes).collect();
    let ratio = |place: usize| effect::ratio(rates[place], rates[0], writer.confidence, rates.len() - 1);
    let slower = |place: &usize| ratio(*place).high.is_some_and(|high| high < 1.0 - MARGIN);
    let fast = |place: &usize| *place == 0 || ratio(*place).low.is_some_and(|low| low > FAST);
    let Some(first_slower) = (1..spans.len()).find(slower) else {
        // A level curve is an answer as well; one that is only not known to fall is none.
        if !(1..spans.len()).all(|place| fast(&place)) {
            return inconclusive(CacheProblem::Scatter.into());
        }
        let (smallest_span_bytes, largest_span_bytes) = (spans[0], spans[spans.len() - 1]);
        let page_cache = is_page_cache(group);
        let level = Cached::Level { smallest_span_bytes, largest_span_bytes, page_cache };
        return writer.absent(&group.conditions, &points, Detail::Cached(level));
    };
    let last_fast = (0..first_slower).rfind(fast).unwrap_or(0);
    let (low, high) = (spans[last_fast] as f64, spans[first_slower] as f64);
    if let Some(why) = still_filling(points[first_slower], spans[last_fast]) {
        return inconclusive(why.into());
    }
    let page_cache = is_page_cache(group);
    if let Some((estimate, spans)) = by_shares(&points, group.op, (low, high), writer.confidence) {
        let shares = Detail::Cached(Cached::Shares { spans, page_cache });
        return writer.concluded(&group.conditions, &points, estimate, shares);
    }
    let each_s = 1.0 / rates[0].value();
    if each_s > ANSWER_MAX_S {
        return inconclusive(CacheProblem::TooSlow { span_bytes: spans[0], request_ns: 1e9 * each_s }.into());
    }
    // A span that is hardly slower may be a little larger than the cache: of its requests as many may go to the
    // medium as the loss of rate allows, when the largest span tells what one of them costs.
    let lost = ratio(last_fast).low.map_or(0.0, |low| (1.0 / low - 1.0).max(0.0));
    let medium = (1.0 / ratio(spans.len() - 1).value - 1.0).max(f64::MIN_POSITIVE);
    let low = if last_fast == 0 { low } else { low * (1.0 - lost / medium).max(0.5) };
    let estimate = Estimate { value: (low * high).sqrt(), low: Some(low), high: Some(high) };
    let (fast_span_bytes, slow_span_bytes) = (spans[last_fast], spans[first_slower]);
    let step = Cached::Step { fast_span_bytes, slow_span_bytes, page_cache };
    writer.concluded(&group.conditions, &points, estimate, Detail::Cached(step))
}

/// The weighted mean of what the slower spans say, and how many do, if they agree with each other and with the step.
fn by_shares(
    points: &[&Evidence],
    op: Op,
    (low, high): (f64, f64),
    confidence: f64,
) -> Option<(Estimate, usize)> {
    let said: Vec<Estimated> = points
        .iter()
        .filter(|evidence| evidence.point.spec.span_bytes as f64 > low && evidence.point.spec.rw.is_random())
        .filter_map(|evidence| size(evidence, op))
        .collect();
    let together = pooled::together(&said, confidence)?;
    let mean = together.value;
    // A tenth beyond the step to either side: a rate that is a little lower may still be called fast.
    let fits = mean >= 0.9 * low && mean <= 1.1 * high;
    if !fits || !together.agree {
        return None;
    }
    // Whole requests are held or not: what is left over of the cache, less than one of them, is never seen.
    let grain =
        points.iter().map(|evidence| evidence.point.spec.block_size_bytes as f64 / 2.0).fold(0.0, f64::max);
    let (mean, half) = (mean + grain, together.half_width + grain);
    Some((Estimate { value: mean, low: Some(mean - half), high: Some(mean + half) }, said.len()))
}

/// One device and study that prove what is said of caches.
pub(super) const PROOF: Proof = Proof {
    device: r#"
name = "cached"
summary = "flash behind a cache of 48 MiB"
capacity = "1GiB"
[flash]
units = 8
stripe = "16KiB"
page = "16KiB"
mapping_unit = "4KiB"
read = "60us"
program = "600us"
erase = "3ms"
pages_per_block = 256
placement = "static"
read_cache = { size = "48MiB", latency = "8us" }
[noise]
latency_cv = 0.02
"#,
    study: r#"
name = "spans"
question = "How much is cached?"
time = "15s"
size = "1GiB"
[[experiment]]
kind = "working-set"
span = "8M..256M*2"
"#,
    truths: &[(Some(50_331_648.0), "read_cache of 48 MiB, which holds 32 MiB and not 64")],
    widest: 0.7,
};

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_model::{FindingName, Status};

    fn heaps(fast: u32, slow: u32, slow_ns: u64) -> Histogram {
        let mut all = Histogram::new();
        (0..fast).for_each(|i| all.record(10_000 + u64::from(i % 100) * 10));
        (0..slow).for_each(|i| all.record(slow_ns + u64::from(i % 100) * 50));
        all
    }

    #[test]
    fn two_heaps_are_told_apart_with_their_shares() {
        let found = kinds(&heaps(3000, 1000, 70_000)).unwrap();
        assert!((found.fast - 0.75).abs() < 1e-9, "{found:?}");
        assert!((found.fast_ns - 10_495.0).abs() < 40.0, "{found:?}");
        assert!((12_000.0..70_000.0).contains(&found.cut_ns), "{found:?}");
    }

    #[test]
    fn a_disk_is_faster_within_a_small_span_and_that_is_no_cache() {
        use iosonde_judge::evidence::DirectionEvidence;
        use iosonde_model::{Point, Rw};
        use iosonde_stats::LogEstimate;
        use iosonde_testkit::specimen;

        use iosonde_model::Unit;
        // The arm: 250 a second within 4 MiB, 150 beyond.
        let of = |span_bytes: u64, iops: u64| {
            let mut trial = specimen::healthy(Rw::RandRead, 4096, 1, iops);
            trial.spec.span_bytes = span_bytes;
            trial.passed_bytes = Some(span_bytes);
            let estimate =
                LogEstimate { log_mean: (iops as f64).ln(), standard_error: 0.005, degrees_of_freedom: 50.0 };
            let both = DirectionEvidence { iops: estimate, latency_ns_mean: estimate, shared_error: 0.0 };
            let point: &'static Point = Box::leak(Box::new(Point::planned(0, "x", trial.spec.clone())));
            let trial: &'static Trial = Box::leak(Box::new(trial));
            Evidence { point, trials: vec![trial; 8], void: vec![None; 8], read: Some(both), write: None }
        };
        let told = |factor: u64| {
            let points = [of(4 << 20, 250 * factor), of(16 << 20, 150 * factor), of(64 << 20, 140 * factor)];
            let writer = Writer {
                name: FindingName::CacheBytes,
                experiment: "x",
                unit: Unit::Bytes,
                confidence: 0.95,
            };
            one(&writer, &groups(&points)[0])
        };
        let disk = told(1);
        let Detail::Inconclusive(Inconclusive::Cache(CacheProblem::TooSlow { span_bytes, request_ns })) =
            disk.detail
        else {
            panic!("{disk:?}")
        };
        assert_eq!((span_bytes, request_ns.round()), (4 << 20, 4e6));
        assert_eq!(told(100).status, Status::Found, "40 us are a cache's time");
    }

    #[test]
    fn one_heap_a_tail_and_neighbours_are_not_two_kinds() {
        assert_eq!(kinds(&heaps(3000, 0, 1)), None);
        assert_eq!(kinds(&heaps(3000, 30, 70_000)), None, "1 % is a tail");
        assert_eq!(kinds(&heaps(3000, 1000, 12_000)), None, "a fifth slower is no other kind");
        assert_eq!(kinds(&Histogram::new()), None);
        let mut spread = Histogram::new();
        (0..5000u64).for_each(|i| spread.record(10_000 + i * 20));
        assert_eq!(kinds(&spread), None, "everything between is there as well");
    }
}
