//! How many bytes of writes a buffer takes before writing becomes slower.
//!
//! What it is: what a long write moved beyond what its later throughput alone would have moved.
//!
//! How it is computed: the windows of each trial are divided where two levels fit them best. It is a fall only
//! where the first level is a fifth higher or more and exceeds the scatter by five standard deviations. A buffer
//! that fills within the first 100 ms leaves no such level. It is seen where that window is 5 % higher, beyond the
//! scatter as far, and its interval contains a whole request. The figure is taken from each trial, and given as the
//! geometric mean over trials with Student's interval.
//!
//! Two buffers in series (memory, and cells that take writes quickly) cause two falls and two findings (see
//! `burst_rate`).
//!
//! Some buffers empty while they fill, and that part is not counted; it begins when the first request arrives.
//! Others empty only while idle, and contain all that was written until the throughput fell. With `gap`,
//! `sustained-write` writes once more after a shorter pause. If the freed space is what the sustained throughput
//! empties in that time, within a quarter, the buffer is of the first kind; if it is significantly less, of the
//! second. Without `gap` the interval of a second buffer covers both kinds. For a single one the first is assumed,
//! and a buffer of the second kind is larger than the figure by the later throughput's share in the earlier one.
//!
//! How often it is right: `bench/blind --devices 400 --seed 20261122`: 95.9 % of 266 intervals contain a single
//! buffer, 95.7 % of 784 each of two, with a median width of 1.4 and 1.6 %.
//!
//! Requests enter as a whole, so the smallest half-width is half a request. Trials that follow another without a
//! pause are left out.
//!
//! Inconclusive where the buffered bytes are nine tenths or more of what it can empty in a pause: it was perhaps
//! not empty when trials began.
//!
//! Assumes: that each trial began with an empty buffer (the pause before it in `sustained-write` is for that), and
//! that the windows of 100 ms are short compared with the time that the buffer takes.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{ExperimentName, Finding, FindingName, Unit, detail::Lack};

use super::{
    FindingKind, Proof, ScreenLine,
    group::Writer,
    long_write::{self, Reading},
};

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

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::always("buffer")
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
