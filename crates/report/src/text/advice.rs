//! What to do about it: advice that rests on findings alone, and that weighs latency against throughput. Where an
//! interval spans more than a factor of three, advice gives its ends and no number between them.

use iosonde_model::{Advice, Estimate, Finding, FindingName, Op, Point, Run, units};

use crate::text::pages::Many;
use crate::text::pages::Pages;
use iosonde_infer::finding::lookup::estimate;
use iosonde_infer::finding::lookup::found;
use iosonde_infer::finding::lookup::found_like;
use iosonde_infer::words::bounded;
use iosonde_infer::words::is_vague;
use iosonde_infer::words::{Style, Unit};

/// Advice from a run's findings; none where they are refused.
pub fn advice(run: &Run) -> Vec<Advice> {
    let advice = Op::TRANSFERS.into_iter().flat_map(|op| [block_size(run, op), in_flight(run, op)]);
    advice.chain([order(run), pages(run), long_writes(run), limit(run)]).flatten().collect()
}

fn new(sentence: String, why: String, findings: &[&Finding]) -> Advice {
    let findings = findings.iter().map(|finding| finding.name).collect();
    Advice { sentence, why, findings }
}

/// How much to ask for at a time, and what that costs a request that somebody waits for.
fn block_size(run: &Run, op: Op) -> Option<Advice> {
    let (plateau, base) =
        (found(run, FindingName::PlateauBlockSize, op)?, found(run, FindingName::BaseLatency, op)?);
    // Of two sizes that may be the plateau the larger one is it for sure.
    let vague = is_vague(&estimate(plateau));
    let bytes = if vague { plateau.high? } else { plateau.value? } as u64;
    let smallest =
        run.points.iter().filter(|point| point.spec.rw.has(op)).map(|p| p.spec.block_size_bytes).min();
    // "The smallest or more" is no advice.
    if smallest.is_none_or(|smallest| bytes <= smallest) {
        return None;
    }
    let large = alone(run, op, bytes, plateau.conditions.random)?.latency_ns_mean?;
    let size = units::size(bytes);
    let ask = match plateau.low.filter(|_| vague) {
        Some(low_bytes) => format!(
            "{size} are surely enough; from where on more buys nothing is known only to lie between {} and {size}",
            units::size(low_bytes as u64)
        ),
        None => format!("ask for {size} or more"),
    };
    let sentence = format!(
        "for throughput with one {op} at a time, {ask}; where somebody waits for the answer, ask for no more than is \
         needed"
    );
    let small_bytes = base.conditions.block_size_bytes.map_or_else(String::new, units::size);
    let why = format!(
        "{size} take {}, {small_bytes} {}",
        bounded(Unit::Time, &large),
        bounded(Unit::Time, &estimate(base))
    );
    Some(new(sentence, why, &[plateau, base]))
}

/// The point of single requests of this size and order.
fn alone(run: &Run, op: Op, bytes: u64, random: Option<bool>) -> Option<&iosonde_model::PointDirection> {
    let is_it = |point: &&Point| {
        let spec = &point.spec;
        spec.block_size_bytes == bytes
            && spec.asked_in_flight() == 1
            && random.is_none_or(|random| spec.rw.is_random() == random)
            && !spec.rw.is_mixed()
            && spec.rw.has(op)
    };
    run.points.iter().find(is_it)?.direction(op)
}

/// How many to keep in flight, and what more of them cost.
fn in_flight(run: &Run, op: Op) -> Option<Advice> {
    let knee = found(run, FindingName::QueueDepthKnee, op)?;
    let conditions = &knee.conditions;
    let enough = found_like(run, FindingName::DepthFor95Percent, op, conditions)?;
    let size = conditions.block_size_bytes.map_or_else(String::new, units::size);
    let number = bounded(Style::bare(Unit::InFlight), &estimate(enough));
    let least = bounded(Style::bare(Unit::InFlight), &estimate(knee));
    let sentence = if is_vague(&estimate(knee)) {
        format!(
            "{size} {op}s: how many to keep in flight is known only to lie {least}; {number} give 95 % of the \
             throughput; a longer run (--time) would narrow that"
        )
    } else if is_vague(&estimate(enough)) {
        format!(
            "{size} {op}s: how many in flight give 95 % of the throughput is known only to lie {number}; a longer run \
             (--time) would narrow that"
        )
    } else {
        format!(
            "{size} {op}s: keep {number} in flight for 95 % of the throughput; from the knee on, at {least}, each \
             more adds less to it and more to the wait"
        )
    };
    let like = |point: &&Point| {
        let spec = &point.spec;
        Some(spec.block_size_bytes) == conditions.block_size_bytes
            && Some(spec.rw.is_random()) == conditions.random
            && spec.rate_iops.is_none()
            && spec.streams().count() == 1
            && !spec.rw.is_mixed()
            && spec.rw.has(op)
    };
    let deepest = run.points.iter().filter(like).max_by_key(|point| point.spec.asked_in_flight())?;
    let waiting = deepest.direction(op)?.latency_ns_mean?;
    let base = found_like(run, FindingName::BaseLatency, op, conditions)?;
    let why = format!(
        "with {} in flight a {op} takes {}, alone {}",
        deepest.spec.asked_in_flight(),
        bounded(Unit::Time, &waiting),
        bounded(Unit::Time, &estimate(base))
    );
    Some(new(sentence, why, &[knee, enough, base]))
}

/// What to count on where writing goes on.
fn long_writes(run: &Run) -> Option<Advice> {
    let (lasting, buffer) = (
        found(run, FindingName::SustainedRate, Op::Write)?,
        found(run, FindingName::WriteBufferBytes, Op::Write)?,
    );
    // Overwriting at random leaves flash much to tidy up, and may last at a tenth of that.
    let how = if lasting.conditions.random == Some(false) { " in order" } else { "" };
    let sentence = format!(
        "where writing goes on{how}, count on {}; only bursts that a buffer of {} takes are faster",
        bounded(Unit::Rate, &estimate(lasting)),
        bounded(Unit::Bytes, &estimate(buffer))
    );
    let why = match found(run, FindingName::BurstRate, Op::Write) {
        Some(burst) => format!("they begin at {}", bounded(Unit::Rate, &estimate(burst))),
        None => "the rate falls once the buffer is full".to_owned(),
    };
    Some(new(sentence, why, &[lasting, buffer]))
}

/// What to count on where somebody allows no more.
fn limit(run: &Run) -> Option<Advice> {
    let op = Op::TRANSFERS.into_iter().find(|&op| found(run, FindingName::ThrottleRate, op).is_some())?;
    let cap = found(run, FindingName::ThrottleRate, op)?;
    let unit = if cap.unit == Unit::Iops { Unit::Iops } else { Unit::Rate };
    let cap_words = bounded(unit, &estimate(cap));
    let Some(credit) = found_like(run, FindingName::BurstCreditBytes, op, &cap.conditions) else {
        let sentence = format!("count on {cap_words} of {op}s; for more, have the limit raised");
        let why = "a limit that is set is no property of the storage, and faster storage would not pass it";
        return Some(new(sentence, why.into(), &[cap]));
    };
    let sentence = format!(
        "where {op}s go on, count on {cap_words}; only bursts that a credit of {} covers are faster",
        bounded(Unit::Bytes, &estimate(credit))
    );
    Some(new(sentence, "the credit was spent once, and the rate then stayed".into(), &[cap, credit]))
}

/// Reading in order, where that pays.
fn order(run: &Run) -> Option<Advice> {
    let ratio = found(run, FindingName::RandomVsSequential, Op::Read)?;
    // A fifth: less is not worth arranging data for.
    let slower = ratio.high? < 0.8;
    let size = ratio.conditions.block_size_bytes.map_or_else(String::new, units::size);
    let why =
        format!("random {size} reads get {} of sequential ones", bounded(Unit::Ratio, &estimate(ratio)));
    slower.then(|| new("lay out data so that it is read in order".into(), why, &[ratio]))
}

/// What one client and many get at a database's page size.
fn pages(run: &Run) -> Option<Advice> {
    let pages = Pages::of(run)?;
    let rate = |estimate: &Estimate| bounded(Style::bare(Unit::Iops), estimate);
    let many = match &pages.many {
        Some(Many::AtMost(most)) => format!(", many at once at most {}", rate(most)),
        Some(Many::Rising) => "; what many get at once is not known: the rate was still rising".to_owned(),
        None => String::new(),
    };
    let sentence = format!("8 KiB pages: one client gets {} reads/s{many}", rate(&pages.one));
    let why = match pages.many {
        _ if pages.measured => "as measured with reads of 8 KiB, one at a time and at their highest rate",
        Some(Many::AtMost(_)) => {
            "one client: the cost of a request and its transfer; many: the lower of the highest rate of small \
             requests and the bandwidth"
        }
        _ => "the cost of a request and its transfer",
    };
    Some(new(sentence, why.into(), &pages.findings))
}

#[cfg(test)]
#[path = "advice_tests.rs"]
mod tests;
