//! Reasons why a file has no results.

/// Reason why a file has no results. Each completes a sentence that begins with the file's name, or follows the file's
/// name and [`ImportError::place`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImportError {
    /// Empty file.
    #[error("is empty")]
    Empty,
    /// Unknown format.
    #[error(
        "is no result that can be judged; results of fio, KDiskMark, YABS, diskspd (XML), elbencho, sysbench, \
         pg_test_fsync and dd can be, and CSV whose first line names block_size, read_kiops and the like"
    )]
    Unknown,
    /// Job file of fio, which is no result.
    #[error("is a fio job file and no result")]
    JobFile,
    /// Run of iosonde, which was judged when it was made.
    #[error("is a run of iosonde, which holds its verdicts already")]
    Run,
    /// Known format that cannot be read.
    #[error("{0}")]
    Damaged(Damage),
}

impl ImportError {
    /// Line and column of the cause, both from 1; `None` where the whole file is the cause.
    pub fn place(&self) -> Option<(usize, usize)> {
        match self {
            Self::Damaged(damage) => damage.place,
            _ => None,
        }
    }
}

/// What is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Damage {
    /// Line and column, both from 1.
    pub place: Option<(usize, usize)>,
    /// The cause in words.
    pub why: String,
}

impl Damage {
    /// A cause at one place.
    pub(super) fn at(line: usize, column: usize, why: impl Into<String>) -> ImportError {
        // A parser that met the end of a line counts no column.
        ImportError::Damaged(Self { place: Some((line.max(1), column.max(1))), why: why.into() })
    }

    /// A cause that no line shows.
    pub(super) fn whole(why: impl Into<String>) -> ImportError {
        ImportError::Damaged(Self { place: None, why: why.into() })
    }
}

/// Line and column of a byte, both from 1.
pub(super) fn place_of(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}
