//! How many bytes of writes a buffer takes before writing becomes slower.
//!
//! What it is: what a long write moved beyond what its later rate alone would have moved.
//!
//! How it is worked out: the windows of each trial are cut where two levels fit them best. It is a fall only where
//! the first level is a fifth higher or more and stands out of the scatter by five standard deviations. A buffer that
//! fills within the first 100 ms leaves no such level: it is seen where that window is 5 % higher, out of the scatter
//! as far, and its interval has a whole request. The figure is read off each trial, and given as the geometric mean
//! over trials with Student's interval.
//!
//! Two buffers, one behind the other (memory, and cells that take writes quickly), make two falls and two
//! findings (see `burst_rate`).
//!
//! Some buffers empty while they fill, and that part is not counted; it begins to when the first request has
//! come. Others empty only when nothing is asked, and hold all that was written until the rate fell. With `gap`,
//! `sustained-write` writes once more after a shorter pause: where as much is free then as the lasting rate
//! empties in that time, within a quarter, it is of the first kind; where surely less is, of the second. Without
//! `gap` the interval of a second buffer holds both kinds; for a single one the first is assumed, and a buffer of
//! the second kind is larger than the figure by the later rate's share in the earlier one.
//!
//! How often it is right: `bench/blind --devices 400 --seed 20261122`: 95.9 % of 266 intervals hold a single buffer,
//! 95.7 % of 784 each of two, with a median width of 1.4 and 1.6 %.
//!
//! Requests enter it as a whole, so that half of one is the least half-width.
//! Trials that follow upon another without a pause are left out.
//!
//! Refused where what the buffer took is nine tenths or more of what it can empty in a pause: it was perhaps not
//! empty when trials began.
//!
//! Assumes: that each trial began with an empty buffer, which the pause before it in `sustained-write` is for, and
//! that the windows of 100 ms are short against the time that the buffer takes.

use iosonde_judge::evidence::Evidence;
use iosonde_model::ExperimentName;
use iosonde_model::Finding;
use iosonde_model::FindingName;
use iosonde_model::detail::Lack;

use super::{
    FindingKind, Proof, Told,
    group::Writer,
    long_write::{self, Reading},
};
use crate::words::Unit;

pub(crate) struct WriteBufferBytes;

const READING: Reading = Reading {
    figure: |fall| fall.buffered,
    of_content: true,
    of_first_level: false,
    of_last_fall: false,
    of_level: false,
};

impl FindingKind for WriteBufferBytes {
    fn id(&self) -> FindingName {
        FindingName::WriteBufferBytes
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::SustainedWrite]
    }

    fn told(&self) -> Told {
        Told::always("buffer")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Bytes, confidence };
        long_write::conclude(&READING, &writer, points)
    }

    fn wants(&self) -> Option<Lack> {
        Some(Lack::LongWrites)
    }

    fn proof(&self) -> Proof {
        Proof { truths: &[(Some(67_108_864.0), "write_buffer of 64 MiB")], ..long_write::PROOF }
    }
}
