//! What makes writes durable: `none`, `fsync:N`, `fdatasync:N`, `fsync:end`, `fdatasync:end`, `dsync`, `osync`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::as_text::as_text;

/// Method that makes writes durable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Sync {
    /// No durability: a write is complete when the system says so.
    #[default]
    None,
    /// `fsync` after every so many writes of a job, once they have completed.
    Fsync {
        /// Writes between two flushes.
        every: u32,
    },
    /// `fdatasync` after every so many writes of a job, once they have completed.
    Fdatasync {
        /// Writes between two flushes.
        every: u32,
    },
    /// One `fsync` after the last write of a job. The measured time ends with it.
    FsyncAtEnd,
    /// One `fdatasync` after the last write of a job. The measured time ends with it.
    FdatasyncAtEnd,
    /// Durable at completion of each write (O_DSYNC).
    Dsync,
    /// Like `Dsync`, with all of the file's metadata: its times, too (O_SYNC).
    Osync,
}

impl Sync {
    /// Writes of a job between two flushes, where flushes are requests of their own.
    pub fn flush_every(self) -> Option<u32> {
        match self {
            Self::Fsync { every } | Self::Fdatasync { every } => Some(every),
            Self::None | Self::FsyncAtEnd | Self::FdatasyncAtEnd | Self::Dsync | Self::Osync => None,
        }
    }

    /// The same with another number of writes between two flushes, where flushes are requests of their own.
    pub fn with_every(self, every: u32) -> Self {
        match self {
            Self::Fsync { .. } => Self::Fsync { every },
            Self::Fdatasync { .. } => Self::Fdatasync { every },
            other => other,
        }
    }

    /// Returns true if a job flushes once, after its last write.
    pub fn at_end(self) -> bool {
        matches!(self, Self::FsyncAtEnd | Self::FdatasyncAtEnd)
    }

    /// Returns true if flushes are requests of their own.
    pub fn flushes(self) -> bool {
        self.at_end() || self.flush_every().is_some()
    }

    /// Returns true if a flush is one of data alone.
    pub fn of_data_alone(self) -> bool {
        matches!(self, Self::Fdatasync { .. } | Self::FdatasyncAtEnd)
    }

    /// Returns true if each write is durable when it completes.
    pub fn with_each_write(self) -> bool {
        matches!(self, Self::Dsync | Self::Osync)
    }
}

impl fmt::Display for Sync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Fsync { every } => write!(f, "fsync:{every}"),
            Self::Fdatasync { every } => write!(f, "fdatasync:{every}"),
            Self::FsyncAtEnd => f.write_str("fsync:end"),
            Self::FdatasyncAtEnd => f.write_str("fdatasync:end"),
            Self::Dsync => f.write_str("dsync"),
            Self::Osync => f.write_str("osync"),
        }
    }
}

impl FromStr for Sync {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let every = || {
            let number = rest.parse().ok().filter(|&every: &u32| every > 0);
            number
                .ok_or_else(|| format!("`{text}`: {name} takes a number of writes, or `end`, as in {name}:1"))
        };
        match name {
            "none" if rest.is_empty() => Ok(Self::None),
            "dsync" if rest.is_empty() => Ok(Self::Dsync),
            "osync" if rest.is_empty() => Ok(Self::Osync),
            "fsync" if rest == "end" => Ok(Self::FsyncAtEnd),
            "fdatasync" if rest == "end" => Ok(Self::FdatasyncAtEnd),
            "fsync" => Ok(Self::Fsync { every: every()? }),
            "fdatasync" => Ok(Self::Fdatasync { every: every()? }),
            _ => Err(format!(
                "`{text}` is no way to sync (they are none, fsync:N, fdatasync:N, fsync:end, fdatasync:end, dsync and \
                 osync)"
            )),
        }
    }
}

as_text!(Sync);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_read_back_as_they_are_printed() {
        for text in ["none", "fsync:32", "fdatasync:1", "fsync:end", "fdatasync:end", "dsync", "osync"] {
            assert_eq!(text.parse::<Sync>().unwrap().to_string(), text);
        }
        assert!("fsync".parse::<Sync>().unwrap_err().contains("fsync:1"));
        assert!("fsync:0".parse::<Sync>().is_err());
    }
}
