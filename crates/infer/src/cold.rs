//! Whether first reads are slower than second ones, and by how much.
//!
//! Each round gives one mean of each kind of read, and one ratio. Rounds are independent: intervals are those of
//! Student's t for the logarithms; ratios are paired within the round, which takes drift out of them.

use iosonde_model::{ColdRound, ColdVerdict, Estimate, FirstAndAgain};
use iosonde_stats::{
    LogEstimate,
    clustered_share::{Block, ClusteredShare},
};

/// First reads that are slower by a factor below this count as warm. Restored volumes are slower by factors of 2 to 100
/// (docs/cold.md); a choice.
const SLOWER: f64 = 1.2;
/// Confidence of the intervals that are shown.
const CONFIDENCE: f64 = 0.95;
/// Confidence of each of the two ratios that the verdict rests on, so that both hold at 95 % (Bonferroni).
const VERDICT_CONFIDENCE: f64 = 0.975;
/// Reads above this quantile of the second reads are slow. A fetch that takes less than what second reads scatter by is
/// seen in part; a lower quantile would see more of it in fewer reads. A choice.
const SLOW_QUANTILE: f64 = 0.9;

/// What follows from first and second reads.
#[derive(Debug, Clone, PartialEq)]
pub struct ColdEstimates {
    /// Mean time of a single read, in nanoseconds.
    pub latency_ns: FirstAndAgain,
    /// Bytes per second of reading whole areas.
    pub bytes_per_s: FirstAndAgain,
    /// Share of places whose first read was slow, as hardly a second read was.
    pub slow_share: Estimate,
    /// What follows.
    pub verdict: ColdVerdict,
}

/// Concludes from rounds. `None` below two rounds, or where one has no read.
pub fn estimates(rounds: &[ColdRound]) -> Option<ColdEstimates> {
    let latencies_ns = [0, 1].map(|time| {
        let mean_ns = |round: &ColdRound| {
            let times_ns = &round.single_ns[time];
            times_ns.iter().sum::<u64>() as f64 / times_ns.len() as f64
        };
        rounds.iter().map(mean_ns).collect::<Vec<_>>()
    });
    let rates = [0, 1].map(|time| {
        let rate = |round: &ColdRound| {
            let streamed = round.streamed[time];
            streamed.bytes as f64 / streamed.elapsed_ns as f64 * 1e9
        };
        rounds.iter().map(rate).collect::<Vec<_>>()
    });
    let every = latencies_ns.iter().chain(&rates).flatten();
    if !every.copied().all(|value| value.is_finite() && value > 0.0) {
        return None;
    }
    let [first_ns, again_ns] = &latencies_ns;
    let [first_rate, again_rate] = &rates;
    let ratios = [logs_of_ratios(first_ns, again_ns), logs_of_ratios(again_rate, first_rate)];
    let [slower_alone, slower_streamed] =
        [LogEstimate::mean_of(&ratios[0])?, LogEstimate::mean_of(&ratios[1])?];
    Some(ColdEstimates {
        latency_ns: FirstAndAgain {
            first: mean(first_ns)?,
            again: mean(again_ns)?,
            slowdown: shown(slower_alone),
        },
        bytes_per_s: FirstAndAgain {
            first: mean(first_rate)?,
            again: mean(again_rate)?,
            slowdown: shown(slower_streamed),
        },
        slow_share: slow_share(rounds, slow_ns(rounds))?,
        verdict: verdict([slower_alone, slower_streamed]),
    })
}

fn logs_of_ratios(over: &[f64], under: &[f64]) -> Vec<f64> {
    over.iter().zip(under).map(|(over, under)| (over / under).ln()).collect()
}

fn mean(values: &[f64]) -> Option<Estimate> {
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    LogEstimate::mean_of(&logs).map(shown)
}

fn shown(estimate: LogEstimate) -> Estimate {
    let (low, high) = estimate.ends(CONFIDENCE);
    Estimate { value: estimate.value(), low: Some(low), high: Some(high) }
}

/// Time to read so many bytes once, in seconds.
pub fn time_s(bytes: u64, bytes_per_s: &Estimate) -> Estimate {
    let at = |rate: f64| bytes as f64 / rate;
    Estimate { value: at(bytes_per_s.value), low: bytes_per_s.high.map(at), high: bytes_per_s.low.map(at) }
}

fn verdict(slowdowns: [LogEstimate; 2]) -> ColdVerdict {
    let ends = slowdowns.map(|slowdown| slowdown.ends(VERDICT_CONFIDENCE));
    if ends.iter().any(|(low, _)| *low > SLOWER) {
        ColdVerdict::Cold
    } else if ends.iter().all(|(_, high)| *high < SLOWER) {
        ColdVerdict::Warm
    } else {
        ColdVerdict::Inconclusive
    }
}

/// Latency above which a read is slow. The quantile itself, and not the bucket of a histogram in which it lies: reads
/// are compared with it.
fn slow_ns(rounds: &[ColdRound]) -> f64 {
    let mut times_ns: Vec<u64> = rounds.iter().flat_map(|round| &round.single_ns[1]).copied().collect();
    let place = ((times_ns.len() as f64 * SLOW_QUANTILE).ceil() as usize).clamp(1, times_ns.len()) - 1;
    *times_ns.select_nth_unstable(place).1 as f64
}

/// Share of places whose first read had to wait for more than the medium: fast reads are that many fewer than the
/// second time. Both shares have errors, joined as in Zou and Donner's method (Statistics in Medicine 27, 2008).
fn slow_share(rounds: &[ColdRound], limit_ns: f64) -> Option<Estimate> {
    let fast = |time: usize| {
        let block = |round: &ColdRound| {
            let times_ns = &round.single_ns[time];
            let events = times_ns.iter().filter(|&&ns| ns as f64 <= limit_ns).count() as u64;
            Block { events, of: times_ns.len() as u64 }
        };
        let blocks: Vec<Block> = rounds.iter().map(block).collect();
        ClusteredShare::of(&blocks, 1.0).map(|share| (share.value, share.ends(CONFIDENCE)))
    };
    let ((first, first_ends), (again, again_ends)) = (fast(0)?, fast(1)?);
    let ratio = first / again;
    let error = |of_first: f64, of_again: f64| (of_first / again).hypot(ratio * of_again / again);
    let share = |ratio: f64| (1.0 - ratio).clamp(0.0, 1.0);
    let low = share(ratio + error(first_ends.1 - first, again - again_ends.0));
    let high = share(ratio - error(first - first_ends.0, again_ends.1 - again));
    Some(Estimate { value: share(ratio), low: Some(low), high: Some(high) })
}

#[cfg(test)]
mod tests {
    use iosonde_model::Streamed;

    use super::*;

    /// Ten rounds of 100 single reads, of which so many were slow for the first time, and streams at two rates.
    fn rounds(slow: usize, first_bytes_per_s: u64) -> Vec<ColdRound> {
        let round = |number: u64| {
            let again = vec![100_000 + number; 100];
            let mut first = again.clone();
            first[..slow].fill(10_100_000);
            let streamed = [first_bytes_per_s, 100_000_000]
                .map(|bytes| Streamed { bytes, elapsed_ns: 1_000_000_000 + number * 1_000_000 });
            ColdRound { single_ns: [first, again], streamed }
        };
        (0..10).map(round).collect()
    }

    fn is_near(value: f64, due: f64) -> bool {
        (value / due - 1.0).abs() < 0.01
    }

    #[test]
    fn places_that_were_slow_once_are_counted_and_timed() {
        let found = estimates(&rounds(30, 20_000_000)).unwrap();
        assert_eq!(found.verdict, ColdVerdict::Cold);
        assert!(is_near(found.slow_share.value, 0.30), "{found:?}");
        // 30 of 100 take 100 times as long: 0.7 + 30.3.
        assert!(is_near(found.latency_ns.slowdown.value, 31.0), "{found:?}");
        assert!(is_near(found.bytes_per_s.slowdown.value, 5.0), "{found:?}");
        assert!(is_near(found.bytes_per_s.first.value, 20e6 / 1.0045), "{found:?}");
    }

    #[test]
    fn what_is_as_fast_again_is_warm_and_what_may_be_either_is_inconclusive() {
        let warm = estimates(&rounds(0, 100_000_000)).unwrap();
        assert_eq!((warm.verdict, warm.slow_share.value), (ColdVerdict::Warm, 0.0));
        let mut scattered = rounds(0, 100_000_000);
        for (round, factor) in scattered.iter_mut().zip([1, 2, 1, 2, 1, 2, 1, 2, 1, 2]) {
            round.streamed[1].bytes *= factor;
        }
        assert_eq!(estimates(&scattered).unwrap().verdict, ColdVerdict::Inconclusive);
    }

    #[test]
    fn rounds_without_reads_say_nothing() {
        let mut empty = rounds(0, 1);
        empty[3].single_ns = [Vec::new(), Vec::new()];
        assert_eq!(estimates(&empty), None);
        assert_eq!(estimates(&rounds(0, 1)[..1]), None);
    }
}
