//! Other tools' results as trials that can be judged: a format is one file and one line.
//!
//! What a file does not say stays absent: a table of rates has no counts, no times and no witnesses, and the checks
//! say so. Nothing is worked out here that the file does not state, but for sums over jobs that ran together.

mod build;

use iosonde_model::{Named, Trial, registry};

pub use build::Figures;

registry! {
    /// Registry of import formats, in the order in which they are tried.
    pub IMPORTS: ImportFormat "import format" {
        fio_json::FioJson,
        csv::Csv,
    }
}

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

/// Reason why a file has no results. Each completes a sentence that begins with the file's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// Empty file.
    #[error("is empty")]
    Empty,
    /// Unknown format.
    #[error("{0}")]
    Unknown(String),
    /// Known format that cannot be read.
    #[error("{0}")]
    Damaged(String),
}

/// Imports a text in any known format.
///
/// # Errors
/// Returns an [`ImportError`] if no format recognises the text, or if it is damaged.
pub fn import(text: &str) -> Result<Imported, ImportError> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Err(ImportError::Empty);
    }
    let Some(format) = IMPORTS.iter().find(|format| format.recognises(text)) else {
        return Err(ImportError::Unknown(unknown(text)));
    };
    let mut imported = format.read(text)?;
    if imported.trials.is_empty() {
        return Err(ImportError::Damaged("holds no result".into()));
    }
    for (place, trial) in imported.trials.iter_mut().enumerate() {
        trial.id = place as u64 + 1;
    }
    Ok(imported)
}

/// Describes an unknown text: its probable format, and what would be readable.
fn unknown(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    let again = "run fio again with --output-format=json, and import that file";
    if first.split(';').nth(1).is_some_and(|word| word.starts_with("fio-")) {
        return format!("is fio's terse format, which leaves out what is needed to judge; {again}");
    }
    if text.contains("ioengine=") && text.contains("rw=") {
        return format!("is fio's text for people, whose figures are rounded; {again}");
    }
    "is no result that can be judged: fio's JSON can be (fio --output-format=json --output=FILE ..), and CSV whose \
     first line names block_size, queue_depth, read_kiops, read_lat_us and the like"
        .to_owned()
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
        assert!(said("3;fio-3.33;x;0;0;10").starts_with("is fio's terse format"));
        assert!(said("x: (g=0): rw=read, ioengine=psync\n").starts_with("is fio's text for people"));
        assert!(said("hello").starts_with("is no result that can be judged"));
        assert!(said("\u{0}\u{1}").starts_with("is no result that can be judged"));
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
