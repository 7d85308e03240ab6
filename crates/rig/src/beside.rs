//! What the system says of a trial's files beside the first one, where each worker has a file, or another host's is
//! read.

use std::{fs::File, ops::Range, sync::Arc};

use iosonde_model::Witnesses;

use crate::{crew::Job, platform, witness::resident_bytes};

/// The other files of a trial.
#[derive(Debug, Default)]
pub(crate) struct Beside {
    files: Vec<Arc<File>>,
    /// Whether the first file is used, too.
    first: bool,
    span: Range<u64>,
    resident_before_bytes: Option<u64>,
    unmapped_bytes: Option<u64>,
}

impl Beside {
    /// Those of these jobs; `span` is the addressed part of each.
    pub(crate) fn of(jobs: &[Job], span: Range<u64>) -> Self {
        let mut files: Vec<Arc<File>> = Vec::new();
        for file in jobs.iter().filter_map(|job| job.file.as_ref()) {
            if !files.iter().any(|known| Arc::ptr_eq(known, file)) {
                files.push(Arc::clone(file));
            }
        }
        let first = jobs.iter().any(|job| job.file.is_none());
        Self { files, first, span, ..Self::default() }
    }

    fn resident(&self) -> Option<u64> {
        self.files.iter().map(|file| resident_bytes(file, self.span.clone()).ok()).sum()
    }

    /// Reads what is there before the trial.
    pub(crate) fn before(&mut self) {
        if self.files.is_empty() {
            return;
        }
        self.resident_before_bytes = self.resident();
        let unmapped = |file: &Arc<File>| platform::unmapped_bytes(file, self.span.clone());
        self.unmapped_bytes = self.files.iter().map(unmapped).sum();
    }

    /// Adds them to what was seen of the first file, or puts them in its place where that is not used.
    pub(crate) fn after(&self, seen: Witnesses) -> Witnesses {
        if self.files.is_empty() {
            return seen;
        }
        // What cannot be read of the first file cannot be read of the others.
        let with = |first: Option<u64>, others: Option<u64>| {
            first.zip(others).map(|(first, others)| if self.first { first + others } else { others })
        };
        Witnesses {
            resident_before_bytes: with(seen.resident_before_bytes, self.resident_before_bytes),
            resident_after_bytes: with(seen.resident_after_bytes, self.resident()),
            unmapped_bytes: with(seen.unmapped_bytes, self.unmapped_bytes),
            // Of the first file alone it would be too little.
            dirty_after_bytes: None,
            ..seen
        }
    }
}
