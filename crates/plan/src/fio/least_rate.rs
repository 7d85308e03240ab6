//! fio's least rate (`rate_min`, `rate_iops_min`): throughput that no stretch of `rate_cycle` may fall below.

use iosonde_model::{Op, Rw, Trial, fio::FioReport};

use super::{
    given::Options,
    refusal::{Refusal, Why},
};

/// Throughput below which a job has failed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LeastRate {
    /// Name of the option.
    pub option: &'static str,
    /// By direction (reads, writes, trims), of each clone; 0 asks for nothing.
    pub per_s: [f64; 3],
    /// True for requests a second, false for bytes.
    pub is_iops: bool,
    /// Length of a stretch.
    pub cycle_ns: u64,
}

/// A stretch that was too slow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TooSlow {
    /// Direction.
    pub op: Op,
    /// Its end, from the beginning.
    pub ended_s: f64,
    /// What was reached in it.
    pub per_s: f64,
    /// The least that the option allows.
    pub least_per_s: f64,
}

impl LeastRate {
    pub(super) fn of(options: &Options, rw: Rw) -> Result<Option<Self>, Refusal> {
        let cycle_ns =
            options.number("rate_cycle", 86_400_000)?.filter(|&ms| ms > 0).unwrap_or(1000) * 1_000_000;
        let (bytes, ios) = (options.text("rate_min"), options.text("rate_iops_min"));
        let (option, text) = match (bytes, ios) {
            (Some(_), Some(_)) => {
                let why = "rate_min and rate_iops_min contradict each other; remove one";
                return Err(Why::Contradiction(why.to_owned()).at(options.place("rate_iops_min")));
            }
            (Some(text), None) => ("rate_min", text),
            (None, Some(text)) => ("rate_iops_min", text),
            (None, None) => return Ok(None),
        };
        let offered_by = if option == "rate_iops_min" { "rate_iops" } else { "rate" };
        let offered = options.text(offered_by);
        let mut per_s = [0.0; 3];
        for (lane, op) in Op::DIRECTIONS.into_iter().enumerate().filter(|(_, op)| rw.has(*op)) {
            let word = options.lane(text, lane);
            let least = if word.is_empty() { 0 } else { options.size_of(option, word)? };
            if let Some(rate) = offered.map(|text| options.lane(text, lane)).filter(|rate| !rate.is_empty())
                && (1..least).contains(&options.size_of(offered_by, rate)?)
            {
                let why = format!("{option}={word} is above {offered_by}={rate}: no run can reach it");
                return Err(Why::Contradiction(why).at(options.place(option)));
            }
            per_s[op as usize] = least as f64;
        }
        let asks = per_s.iter().any(|least| *least > 0.0);
        Ok(asks.then_some(Self { option, per_s, is_iops: option == "rate_iops_min", cycle_ns }))
    }

    /// The first stretch of a trial in which a job of so many clones was too slow. The last one, shorter than the
    /// others, is left out. Jobs that are reported together are looked at together: what others did counts for it, so
    /// that no job fails for a rate that was asked of it alone.
    pub fn missed(&self, trial: &Trial, report: &FioReport, clones: u32) -> Option<TooSlow> {
        let cycle_s = self.cycle_ns as f64 / 1e9;
        let slow = |op: Op| {
            let least_per_s = self.per_s[op as usize] * f64::from(clones);
            let slices = report.slices(trial, op, cycle_s).into_iter();
            let whole = slices.filter(|slice| slice.length_s >= cycle_s - 1e-3);
            let slice = whole.filter(|_| least_per_s > 0.0).find_map(|slice| {
                let amount = if self.is_iops { slice.ios } else { slice.bytes };
                let per_s = amount / slice.length_s;
                (per_s < least_per_s).then_some((slice.ended_s, per_s))
            });
            slice.map(|(ended_s, per_s)| TooSlow { op, ended_s, per_s, least_per_s })
        };
        Op::DIRECTIONS.into_iter().filter_map(slow).min_by(|a, b| a.ended_s.total_cmp(&b.ended_s))
    }
}
