//! How fast files are made, found, read and removed.
//!
//! Each round gives one rate and one mean latency of each step, on files of its own. Rounds are independent, so that
//! intervals are those of Student's t for the logarithms. Percentiles come from the calls of all rounds, with the round
//! as the unit ([`iosonde_judge::estimate::percentile`]).

use iosonde_judge::estimate::percentile;
use iosonde_model::{
    Estimate, FileStep, FileStepFigures, FileStepTimes, FilesFinding, FilesFindingName, FilesRound, Histogram,
};
use iosonde_stats::LogEstimate;

/// Confidence of the intervals that are shown.
const CONFIDENCE: f64 = 0.95;
/// Bytes fetched for each call up to which memory answered: one block in a hundred calls, as when a directory grows.
const FROM_MEMORY_BYTES: f64 = 4096.0 / 100.0;

/// What follows from rounds.
#[derive(Debug, Clone, PartialEq)]
pub struct FilesEstimates {
    /// Figures of each step.
    pub steps: Vec<FileStepFigures>,
    /// Files per second created and brought to storage.
    pub synced_creates_per_s: Estimate,
    /// What is concluded.
    pub findings: Vec<FilesFinding>,
}

/// Concludes from rounds of so many workers. `None` below two rounds, or where a step was not done in one of them.
pub fn estimates(rounds: &[FilesRound], workers: u32) -> Option<FilesEstimates> {
    let steps: Option<Vec<FileStepFigures>> =
        FileStep::ALL.into_iter().map(|step| figures(rounds, step, workers)).collect();
    let steps = steps?;
    let created = of_step(rounds, FileStep::Create)?;
    let synced = created
        .iter()
        .zip(rounds)
        .map(|(times, round)| times.done as f64 / (times.elapsed_ns + round.sync_ns) as f64 * 1e9);
    let synced_creates_per_s = mean(synced)?;
    let findings = findings(&steps);
    Some(FilesEstimates { steps, synced_creates_per_s, findings })
}

fn of_step(rounds: &[FilesRound], step: FileStep) -> Option<Vec<&FileStepTimes>> {
    rounds.iter().map(|round| round.steps.iter().find(|times| times.step == step)).collect()
}

fn figures(rounds: &[FilesRound], step: FileStep, workers: u32) -> Option<FileStepFigures> {
    let times = of_step(rounds, step)?;
    let round_per_s: Vec<f64> =
        times.iter().map(|times| times.done as f64 / times.elapsed_ns as f64 * 1e9).collect();
    let per_s = mean(round_per_s.iter().copied())?;
    let latency_ns_mean = mean(times.iter().map(|times| times.latency.mean_ns().unwrap_or(f64::NAN)))?;
    let histograms: Vec<&Histogram> = times.iter().map(|times| &times.latency).collect();
    let [latency_ns_p50, latency_ns_p99] =
        percentile::estimates(&histograms, [0.5, 0.99], CONFIDENCE, f64::from(workers));
    let fetched_bytes = times.iter().map(|times| times.fetched_bytes).sum::<Option<u64>>();
    let calls: u64 = histograms.iter().map(|histogram| histogram.total()).sum();
    let from_memory =
        fetched_bytes.map(|bytes| step.reads() && bytes as f64 <= FROM_MEMORY_BYTES * calls as f64);
    let done = times.iter().map(|times| times.done).sum();
    Some(FileStepFigures {
        step,
        done,
        per_s,
        round_per_s,
        latency_ns_mean,
        latency_ns_p50,
        latency_ns_p99,
        fetched_bytes,
        from_memory,
    })
}

/// Geometric mean of independent values. `None` where one is not positive.
fn mean(values: impl Iterator<Item = f64>) -> Option<Estimate> {
    let logs: Vec<f64> = values.map(f64::ln).collect();
    let found = LogEstimate::mean_of(&logs).filter(|found| found.log_mean.is_finite())?;
    let (low, high) = found.ends(CONFIDENCE);
    Some(Estimate { value: found.value(), low: Some(low), high: Some(high) })
}

fn findings(steps: &[FileStepFigures]) -> Vec<FilesFinding> {
    let finding = |figures: &FileStepFigures| {
        let (name, value) = match figures.step {
            FileStep::Create => (FilesFindingName::FileCreatesPerS, figures.per_s),
            FileStep::Stat => (FilesFindingName::StatLatency, figures.latency_ns_mean),
            FileStep::WriteFsync => (FilesFindingName::FsyncFileLatency, figures.latency_ns_mean),
            _ => return None,
        };
        Some(FilesFinding { name, value, from_memory: figures.from_memory })
    };
    steps.iter().filter_map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each step a thousand times, one after another; the n-th round takes n % longer.
    fn rounds(count: u64, fetched_bytes: Option<u64>) -> Vec<FilesRound> {
        let round = |nth: u64| {
            let each_ns = 10_000 + 100 * nth;
            let mut latency = Histogram::new();
            (0..1000).for_each(|_| latency.record(each_ns));
            let times = |step| FileStepTimes {
                step,
                done: 1000,
                elapsed_ns: 1000 * each_ns,
                latency: latency.clone(),
                fetched_bytes,
            };
            FilesRound { steps: FileStep::ALL.map(times).to_vec(), sync_ns: 3000 * each_ns }
        };
        (0..count).map(round).collect()
    }

    #[test]
    fn rates_are_means_over_rounds_with_their_interval() {
        let found = estimates(&rounds(10, Some(0)), 1).unwrap();
        // 10.0 to 10.9 us in steps of 1 %: the geometric mean is 10.446 us, s = 2.9 %, t(9) = 2.262.
        let create = &found.steps[0];
        assert!((create.per_s.value - 95_728.0).abs() < 20.0, "{create:?}");
        let half = 2.262 * 0.0290 / 10_f64.sqrt();
        assert!((create.per_s.high.unwrap() / create.per_s.value - 1.0 - half).abs() < 0.001, "{create:?}");
        assert!((create.latency_ns_mean.value * create.per_s.value / 1e9 - 1.0).abs() < 1e-9);
        // Three times as long again for all to be on storage.
        assert!((found.synced_creates_per_s.value * 4.0 / create.per_s.value - 1.0).abs() < 1e-9);
        assert_eq!((create.done, create.from_memory), (10_000, Some(false)));
        let names = found.findings.iter().map(|finding| finding.name);
        let due = [
            FilesFindingName::FileCreatesPerS,
            FilesFindingName::StatLatency,
            FilesFindingName::FsyncFileLatency,
        ];
        assert!(names.eq(due));
    }

    #[test]
    fn memory_answered_where_nothing_was_fetched() {
        let from_memory = |fetched| estimates(&rounds(3, fetched), 1).unwrap().findings[1].from_memory;
        assert_eq!(from_memory(Some(0)), Some(true));
        // A block of 4 KiB for 1,000 calls, and for each 50.
        assert_eq!(from_memory(Some(4096)), Some(true));
        assert_eq!(from_memory(Some(20 * 4096)), Some(false));
        assert_eq!(from_memory(None), None);
    }

    #[test]
    fn one_round_concludes_nothing_and_neither_does_a_step_that_was_not_done() {
        assert_eq!(estimates(&rounds(1, None), 1), None);
        let mut some = rounds(4, None);
        (some[2].steps[5].done, some[2].steps[5].latency) = (0, Histogram::new());
        assert_eq!(estimates(&some, 1), None);
    }
}
