//! Other tools' results as trials that can be judged: a format is one file and one line.
//!
//! What a file does not say stays absent: a table of rates has no counts, no times and no witnesses, and the checks
//! say so. Nothing is worked out here that the file does not state, but for sums over jobs that ran together.

mod build;
#[cfg(test)]
mod corpus;
mod damage;
mod fio_disk;
mod fio_jobs;
mod fio_options;
mod json;
mod table;
mod words;
mod xml;

use iosonde_model::{Direction, Named, Trial, registry};

use crate::run_file::begins_as_run;

pub use build::Figures;
pub use damage::{Damage, ImportError};

registry! {
    /// Registry of import formats, in the order in which they are tried.
    pub IMPORTS: ImportFormat "import format" {
        fio_json::FioJson,
        yabs::Yabs,
        fio_text::FioText,
        kdiskmark::KDiskMark,
        diskspd::DiskSpd,
        elbencho::Elbencho,
        sysbench::Sysbench,
        pg_test_fsync::PgTestFsync,
        fio_terse::FioTerse,
        dd::Dd,
        csv::Csv,
    }
}

/// More requests or bytes than one run has: 1 EiB at 100 GB/s takes 133 days.
const COUNT_MAX: u64 = 1 << 60;

/// Content of an imported file.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// Program that made the measurement: `fio 3.38`; `None` where the file does not say.
    pub program: Option<String>,
    /// End of the measurement in seconds since 1970; `None` if the file does not say it.
    pub ended_s: Option<f64>,
    /// Trials, one for each result, in the order of the file. `experiment` is the name that the file gives.
    pub trials: Vec<Trial>,
    /// Notes on the figures that a reader must know.
    pub notes: Vec<String>,
}

/// A format of results.
pub trait ImportFormat: Named {
    /// Returns true if the text looks like this format. Only the first format that returns true reads it.
    fn recognises(&self, text: &str) -> bool;

    /// Reads it.
    ///
    /// # Errors
    /// Returns a sentence if the text is damaged or holds no result.
    fn read(&self, text: &str) -> Result<Imported, ImportError>;
}

/// Most results of a file: each is judged beside all others.
const RESULTS_MAX: usize = 10_000;

/// Imports a text in any known format.
///
/// # Errors
/// Returns an [`ImportError`] if no format recognises the text, or if it is damaged.
pub fn import(text: &str) -> Result<Imported, ImportError> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Err(ImportError::Empty);
    }
    if let Some(zero) = text.find('\0') {
        let (line, column) = damage::place_of(text, zero);
        return Err(Damage::at(
            line,
            column,
            "a zero byte: this is no text, or UTF-16 without its mark; save it as UTF-8",
        ));
    }
    if begins_as_run(text) {
        return Err(ImportError::Run);
    }
    let Some(format) = IMPORTS.iter().find(|format| format.recognises(text)) else {
        return Err(if is_job_file(text) { ImportError::JobFile } else { ImportError::Unknown });
    };
    let mut imported = format.read(text)?;
    if imported.trials.is_empty() {
        return Err(Damage::whole("holds no result"));
    }
    if imported.trials.len() > RESULTS_MAX {
        return Err(Damage::whole(format!(
            "holds more than {RESULTS_MAX} results, which is the most that are judged at once; split it"
        )));
    }
    for (place, trial) in imported.trials.iter_mut().enumerate() {
        trial.id = place as u64 + 1;
        let counts = |side: &Direction| [side.ios, side.bytes, side.errors, side.short];
        if let Some(count) = trial.directions().flat_map(|(_, side)| counts(side)).find(|c| *c > COUNT_MAX) {
            let name = &trial.experiment;
            return Err(Damage::whole(format!("states a count that no run has: {count} in `{name}`")));
        }
    }
    Ok(imported)
}

/// Returns true for a job file of fio: a section, and below it options that only jobs have.
fn is_job_file(text: &str) -> bool {
    const OPTIONS: [&str; 6] = ["rw", "readwrite", "ioengine", "iodepth", "filename", "bs"];
    let lines =
        || text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with([';', '#']));
    let option = |line: &str| line.split_once('=').is_some_and(|(name, _)| OPTIONS.contains(&name.trim()));
    lines().next().is_some_and(|first| first.starts_with('[') && first.contains(']')) && lines().any(option)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_format_is_well_formed() {
        IMPORTS.assert_well_formed();
    }

    #[test]
    fn what_cannot_be_read_says_what_it_is() {
        let said = |text: &str| import(text).unwrap_err().to_string();
        assert_eq!(said(" \n"), "is empty");
        assert_eq!(import("[a]\nrw=read\nsize=1m\n"), Err(ImportError::JobFile));
        assert_eq!(import("; mine\n[global]\nioengine=libaio\n[a]\n"), Err(ImportError::JobFile));
        assert_eq!(import("[1, 2]\n"), Err(ImportError::Unknown));
        assert_eq!(import("{\n  \"iosonde\": \"0.1.0\", \"schema\": 2}"), Err(ImportError::Run));
        assert!(said("hello").starts_with("is no result that can be judged"));
        // Counts that do not fit into 64 bits together: the fuzzer found the overflow.
        let text = include_str!("../../tests/data/tools/fio-two-jobs.txt");
        let huge = text.replace("total=1972,", "total=18446744073709551615,");
        assert!(text != huge && said(&huge).contains("states a count that no run has"), "{}", said(&huge));
        let zero = import("ab\nc\u{0}").unwrap_err();
        assert_eq!(zero.place(), Some((2, 2)), "{zero}");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[\\PC\n]*") {
            let _ = import(&text);
        }

        #[test]
        fn no_fio_like_text_panics(
            cut in 0usize..8000,
            value in prop::sample::select(vec!["-1", "1e400", "null", "\"\"", "[]", "{}", "18446744073709551616", "0"]),
            at in 0usize..8000,
        ) {
            let whole = include_str!("../../tests/data/fio-3.33-mixed.json");
            let _ = import(&whole[..cut.min(whole.len())]);
            // One value of the file replaced by something that is not expected there.
            let from = whole[at.min(whole.len())..].find(": ").map(|i| i + 2 + at.min(whole.len()));
            if let Some(from) = from {
                let to = whole[from..].find([',', '\n']).map_or(whole.len(), |i| from + i);
                let _ = import(&format!("{}{value}{}", &whole[..from], &whole[to..]));
            }
        }

        #[test]
        fn no_table_panics(cells in prop::collection::vec("[-0-9a-zA-Z.,%\"]{0,8}", 0..40)) {
            let _ = import(&format!("test,block_size,queue_depth,read_kiops,read_lat_us\n{}", cells.join(",")));
        }
    }
}
