//! How many bytes a sequential read fetches at once, by the kernel or by the storage itself.
//!
//! What it is: the piece that is read ahead. For buffered reads it is mostly the kernel's; for direct reads the
//! storage's or a host's.
//!
//! How it is computed: of small sequential reads at QD 1, those that begin a new piece wait for it and the others
//! find it there, so that latencies form two groups (separated where the variance between their logarithms is
//! largest). The block size over the share of the slow ones is the piece. The interval is a jackknife over trials,
//! plus the pieces in which a trial begins and ends, of which it sees a part. Where several block sizes show a
//! piece, they must agree, and their weighted mean is given.
//!
//! Where sequential reads take as long as random ones, nothing is read ahead. Where they are faster and fewer than
//! one in fifty waits, either the pieces come before they are requested, or they contain more than fifty of these
//! reads. The finding is then inconclusive: a tail would look the same.
//!
//! For buffered I/O, random reads in the same study leave pages behind on which pieces end early (6 % of the span
//! made them 3 to 9 % smaller). It is then inconclusive, and `--set rw=read` helps.
//!
//! How often it is right: `bench/blind --devices 400 --seed 20261122 --kinds ahead`: the truth in all of 316
//! intervals, with a median width of 0.3 %. On all of 63 devices that read nothing ahead, the finding said so.
//!
//! Assumes: pieces of one size. A window that grows during sequential reading (Linux doubles it up to
//! `read_ahead_kb`) is at its largest nearly all the time in a trial that reads many of them.

use iosonde_judge::evidence::Evidence;
use iosonde_model::{
    About, Conditions, Detail, Estimate, ExperimentName, Finding, FindingName, Histogram, Inconclusive, Op,
    Unit,
    detail::{Lack, Readahead, ReadaheadProblem},
};
use iosonde_stats::Estimated;

use super::{
    FindingKind, Proof, ScreenLine, cached,
    group::{self, Group, Writer},
    pooled,
};

pub(crate) struct ReadaheadBytes;

/// Time of a read in order over that of a random one, from which on nothing is read ahead.
const ALIKE: f64 = 0.9;

impl FindingKind for ReadaheadBytes {
    fn id(&self) -> FindingName {
        FindingName::ReadaheadBytes
    }

    fn answers(&self) -> &'static [ExperimentName] {
        &[ExperimentName::Readahead]
    }

    fn screen_line(&self) -> ScreenLine {
        ScreenLine::always("readahead")
    }

    fn conclude(&self, experiment: &str, points: &[Evidence], confidence: f64) -> Vec<Finding> {
        let writer = Writer { name: self.id(), experiment, unit: Unit::Bytes, confidence };
        // Nothing else tells the two ways apart: conditions do not know of the page cache.
        let way = |direct: bool| -> Vec<Evidence> {
            points.iter().filter(|evidence| evidence.point.spec.direct == direct).cloned().collect()
        };
        let mut findings = Vec::new();
        for (direct, points) in [(true, way(true)), (false, way(false))] {
            let groups = group::groups(&points, |op, evidence| {
                let spec = &evidence.point.spec;
                let conditions = Conditions {
                    op: Some(op),
                    random: Some(spec.rw.is_random()),
                    queue_depth: Some(1),
                    span_bytes: Some(spec.span_bytes),
                    ..Conditions::default()
                };
                (op == Op::Read && spec.asked_in_flight() == 1).then_some(conditions)
            });
            let ordered = groups.iter().filter(|group| group.conditions.random == Some(false));
            let random = |group: &Group| {
                let conditions = Conditions { random: Some(true), ..group.conditions.clone() };
                groups.iter().find(|other| other.conditions == conditions)
            };
            findings.extend(ordered.map(|group| one(&writer, group, random(group), direct)));
        }
        findings
    }

    fn wants(&self) -> Option<Lack> {
        Some(Lack::SequentialReads)
    }

    fn proof(&self) -> Proof {
        Proof {
            device: r#"
name = "reading-ahead"
summary = "a kernel that fetches 128 KiB at a time, over a queue of 100 us"
capacity = "64GiB"
[host]
request_cost = "2us"
memory = "64MiB"
page_cache = true
copy_rate = "10GB/s"
readahead = "128KiB"
[link]
bandwidth = "1GB/s"
latency = "10us"
[queue]
servers = 4
service = { fixed = "100us" }
[noise]
latency_cv = 0.05
"#,
            study: r#"
name = "ahead"
question = "How much is read ahead?"
time = "30s"
size = "1GiB"
[[experiment]]
kind = "readahead"
rw = "read"
block_size = ["4k", "8k"]
buffered = true
"#,
            truths: &[(Some(131_072.0), "readahead of 128 KiB")],
            widest: 0.05,
        }
    }
}

fn one(writer: &Writer, group: &Group, random: Option<&Group>, direct: bool) -> Finding {
    let inconclusive = |why: Inconclusive| writer.inconclusive(&group.conditions, &group.points, why);
    if let Some(why) = group.points.iter().find_map(|e| group::valid(e, &[About::Latency]).err()) {
        return inconclusive(why);
    }
    let said: Vec<Estimated> = group.points.iter().filter_map(|evidence| piece(evidence)).collect();
    let Some(together) = pooled::together(&said, writer.confidence) else {
        return match without_pieces(group, random) {
            Ok(block_sizes) => {
                let none = Detail::Readahead(Readahead { direct, block_sizes });
                writer.absent(&group.conditions, &group.points, none)
            }
            Err(why) => inconclusive(why),
        };
    };
    if !direct && random.is_some() {
        return inconclusive(ReadaheadProblem::PagesLeftBehind.into());
    }
    if !together.agree {
        let piece_bytes = said.iter().map(|one| one.value).collect();
        return inconclusive(ReadaheadProblem::SizesDisagree { piece_bytes }.into());
    }
    let (mean, half) = (together.value, together.half_width);
    if half >= mean {
        return inconclusive(ReadaheadProblem::Scatter.into());
    }
    let estimate = Estimate { value: mean, low: Some(mean - half), high: Some(mean + half) };
    let pieces = Detail::Readahead(Readahead { direct, block_sizes: said.len() });
    writer.concluded(&group.conditions, &group.points, estimate, pieces)
}

/// Block size over the share of the slow.
fn piece(evidence: &Evidence) -> Option<Estimated> {
    let histograms = pooled::latencies(evidence, Op::Read);
    let whole = pooled::merged(histograms.iter().copied());
    let kinds = cached::kinds(&whole)?;
    let bytes = evidence.point.spec.block_size_bytes as f64;
    let piece = |histogram: &Histogram| {
        let slow = 1.0 - cached::below(histogram, kinds.cut_ns).0;
        (slow > 0.0).then(|| bytes / slow)
    };
    let piece = pooled::jackknife(&histograms, piece)?;
    // A trial begins and ends within a piece: each of its counts is known to one, and where all begin with a
    // piece, all are too high alike. One for each trial is two standard errors.
    let slow_count = whole.total() as f64 * (1.0 - kinds.fast);
    let least = piece.value * histograms.len() as f64 / slow_count.max(1.0) / 2.0;
    Some(Estimated { standard_error: piece.standard_error.hypot(least), ..piece })
}

/// Block sizes at which reads in order take as long as random ones, so that nothing is read ahead.
fn without_pieces(group: &Group, random: Option<&Group>) -> Result<usize, Inconclusive> {
    let random = random.ok_or(ReadaheadProblem::NoRandomReads)?;
    let mut alike = 0;
    for ordered in &group.points {
        let bytes = ordered.point.spec.block_size_bytes;
        let Some(beside) = random.points.iter().find(|e| e.point.spec.block_size_bytes == bytes) else {
            continue;
        };
        let [a, b] = [ordered, beside].map(|evidence| group::valid_latency(evidence, Op::Read));
        if (a?.log_mean - b?.log_mean).exp() < ALIKE {
            return Err(ReadaheadProblem::FewWait { least_share: cached::SHARE_MIN }.into());
        }
        alike += 1;
    }
    if alike == 0 { Err(ReadaheadProblem::NothingToCompare.into()) } else { Ok(alike) }
}

#[cfg(test)]
mod tests {
    use iosonde_model::Status;

    use super::*;
    use crate::testing::{Conclusions, Pretend};

    #[test]
    fn storage_that_does_not_look_at_order_reads_nothing_ahead() {
        let study = "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"readahead\"";
        let found = &Pretend { cv: 0.01, ..Pretend::usual() }.conclusions(&ReadaheadBytes, study, 1)[0];
        assert_eq!((found.len(), found[0].status), (1, Status::Absent), "{:?}", found[0]);
        let ahead = Pretend { random_ratio: 0.5, cv: 0.01, ..Pretend::usual() };
        let found = &ahead.conclusions(&ReadaheadBytes, study, 1)[0];
        assert_eq!(found[0].status, Status::Inconclusive);
        let why = Inconclusive::Readahead(ReadaheadProblem::FewWait { least_share: 0.02 });
        assert_eq!(found[0].detail, Detail::Inconclusive(why));
    }
}
