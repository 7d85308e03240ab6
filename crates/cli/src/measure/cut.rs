//! A file that another program cuts short or empties while it is measured.
//!
//! Our own writes make it grow again, so that a later look at its size alone would see nothing: what they have not
//! reached is a hole. So size and holes are looked at after each trial, and the run ends there. The trial in which it
//! happened is not kept. A device that is removed has no size any more, and one can become smaller.

use std::{
    io::{Seek, SeekFrom},
    ops::Range,
};

use iosonde_model::{Phase, TrialSpec, units};
use iosonde_rig::{guard::TargetKind, platform};

use super::Measurement;
use crate::failure::{Failure, in_words};

impl Measurement {
    /// Holes of what is measured, before its first trial.
    pub fn look_at_the_file(&mut self, phase: Phase) {
        if phase != Phase::Prepare && self.holes_bytes.is_none() {
            self.holes_bytes = self.holes_now_bytes();
        }
    }

    /// An error if the file is not whole any more.
    pub fn refuse_a_cut_file(&mut self, spec: &TrialSpec, phase: Phase) -> Result<(), Failure> {
        if spec.streams().any(|stream| stream.rw.trims()) {
            // Holes are its work.
            self.holes_bytes = None;
        }
        let Some(admitted) = self.session.admitted.as_ref().filter(|_| phase != Phase::Prepare) else {
            return Ok(());
        };
        let measured_bytes = self.measured_part().end;
        let (target, size) = (&self.run.info.target, units::size);
        let gone = |error: std::io::Error| {
            Failure::failed(format!(
                "{target}: gone while it was measured ({}); the trial in which that happened is not kept",
                in_words(&error)
            ))
        };
        if admitted.kind == TargetKind::Block {
            let now_bytes = (&*admitted.file).seek(SeekFrom::End(0)).map_err(gone)?;
            return if now_bytes >= measured_bytes {
                Ok(())
            } else {
                Err(Failure::failed(format!(
                    "{target}: the device was removed or became smaller while it was measured ({} of it are measured, \
                     and its size is {} now); the trial in which that happened is not kept",
                    size(measured_bytes),
                    size(now_bytes)
                )))
            };
        }
        let now_bytes = admitted.file.metadata().map_err(gone)?.len();
        let what = if now_bytes < measured_bytes {
            format!("{} of it are measured, and its size is {} now", size(measured_bytes), size(now_bytes))
        } else {
            let holes_bytes = self.holes_now_bytes();
            match self.holes_bytes.zip(holes_bytes).filter(|(before, now)| now > before) {
                Some((before, now)) => format!("{} of it are new holes", size(now - before)),
                None => return Ok(()),
            }
        };
        Err(Failure::failed(format!(
            "{target}: another program cut it short while it was measured ({what}); the trial in which that happened \
             is not kept"
        )))
    }

    /// `None` where that is not known, or where holes come and go: what nobody may write was not filled by us.
    fn holes_now_bytes(&self) -> Option<u64> {
        let admitted = self.session.admitted.as_ref().filter(|admitted| admitted.writable)?;
        platform::unmapped_bytes(&admitted.file, self.measured_part())
    }

    /// The part of the first file that is measured.
    fn measured_part(&self) -> Range<u64> {
        let placement = self.session.bed.place.placement;
        placement.covered_bytes(0..self.session.device.working_set_bytes)
    }
}
