//! fio's JSON, for the programs that read it: every job of a trial that measured, those of one trial in one group.
//!
//! What fio states under other names stands under them, in its units: `iops`, `bw` in KiB/s, `bw_bytes`, latencies in
//! nanoseconds with fio's 17 percentiles or those of `percentile_list`, sets of samples of 500 ms, a direction that was
//! idle whole with zeros. What was not measured is left out, or stands as fio writes it where it was told not to
//! measure: `slat_ns` has `N` 0, and `clat_ns` is the whole latency, submission included, like `lat_ns`. Left out are
//! counts of page faults and context switches, the distribution of depths above 1, and `disk_util`. Of results that
//! another tool measured only what that tool told is written. `fio version` names 3.0, the oldest with this form.
//! `iosonde` has the program's version, the run, target and engine, the worst verdict and the checks that gave a
//! warning or worse.

use iosonde_model::{Named, Run};

use super::{
    ExportFormat,
    fio_form::{Bins, document},
};

/// The registered format.
pub struct FioJson;

impl Named for FioJson {
    fn name(&self) -> &'static str {
        "fio-json"
    }
}

impl ExportFormat for FioJson {
    fn extension(&self) -> &'static str {
        "fio.json"
    }

    fn write(&self, run: &Run) -> Result<String, String> {
        document(run, Bins::LeftOut)
    }
}

#[cfg(test)]
mod tests {
    use iosonde_model::{Op, Trial};

    use super::*;
    use crate::import::IMPORTS;

    #[test]
    fn what_is_written_reads_back_as_the_same_trials() {
        let run = crate::run_file::tests::imported();
        let told: Vec<&Trial> = run.trials.iter().collect();
        let text = FioJson.write(&run).unwrap();
        let back = IMPORTS.find("fio-json").unwrap().read(&text).unwrap();
        assert_eq!(back.trials.len(), told.len());
        for (own, read) in told.iter().zip(&back.trials) {
            assert_eq!((own.spec.rw, own.spec.queue_depth), (read.spec.rw, read.spec.queue_depth));
            assert_eq!(own.spec.block_size_bytes, read.spec.block_size_bytes);
            for op in [Op::Read, Op::Write] {
                let told = |trial: &Trial| {
                    trial.direction(op).map(|side| [side.iops, side.latency_ns.mean.unwrap_or(0.0)])
                };
                let (own, read) = (told(own), told(read));
                assert_eq!(own.is_some(), read.is_some());
                for (own, read) in own.into_iter().flatten().zip(read.into_iter().flatten()) {
                    assert!((own - read).abs() <= 1e-9 * own, "{op}: {own} and {read}");
                }
            }
        }
    }

    #[test]
    fn a_run_of_nothing_is_refused_in_words() {
        let mut run = crate::run_file::tests::imported();
        run.trials.clear();
        assert!(FioJson.write(&run).unwrap_err().contains("no trial"));
    }
}
