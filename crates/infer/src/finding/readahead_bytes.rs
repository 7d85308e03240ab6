//! How much is fetched at once for a reader who goes on in order: by the kernel, or by the storage itself.
//!
//! What it is: the piece that is read ahead. Through the page cache it is mostly the kernel's, past it the storage's
//! or a host's.
//!
//! How it is worked out: of small reads in order, one at a time, those that begin a new piece wait for it and the
//! others find it there, so that latencies are of two kinds (cut where the variance between their logarithms is
//! largest). The block size over the share of the slow ones is the piece. The interval comes from leaving out one
//! trial at a time, and from the pieces in which a trial begins and ends, of which it sees a part; where several
//! block sizes tell of a piece, they must agree, and their weighted mean is given.
//!
//! Where reads in order take as long as random ones, nothing is read ahead. Where they are faster and fewer than
//! one in fifty waits, the pieces come before they are asked for, or hold more than fifty of these reads, and the
//! finding refuses: a tail would look alike.
//!
//! Through the page cache, random reads in the same study leave pages behind on which pieces end early (6 % of the
//! span made them 3 to 9 % smaller); then it refuses, and `--set rw=read` helps.
//!
//! How often it is right: `bench/blind --devices 400 --seed 20261122 --kinds ahead`: the truth in all of 316
//! intervals, with a median width of 0.3 %; of 63 devices that read nothing ahead, all were said to.
//!
//! Assumes: pieces of one size. A window that grows while a reader goes on (Linux doubles it up to `read_ahead_kb`)
//! is at its largest nearly all the time in a trial that reads many of them.

use iosonde_judge::evidence::Evidence;
use iosonde_model::ExperimentName;
use iosonde_model::FindingName;
use iosonde_model::detail::Lack;
use iosonde_model::{About, Conditions, Detail, Estimate, Finding, Histogram, Op, Status, units};

use super::{
    FindingKind, Proof, Told, cached,
    group::{self, Group, Writer, workload},
    pooled::{self, Pooled},
};
use crate::words::{Unit, capitalised};

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

    fn told(&self) -> Told {
        Told::always("readahead")
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
    let way = if direct { "past the page cache" } else { "through the page cache" };
    let what = format!("{} {way}", workload(&group.conditions));
    let about = format!("How much is read ahead for {what}");
    if let Some(why) = group.points.iter().find_map(|e| group::stands(e, &[About::Latency]).err()) {
        return writer.refused(&group.conditions, &group.points, &about, &why);
    }
    let said: Vec<Pooled> = group.points.iter().filter_map(|evidence| piece(evidence)).collect();
    let Some(together) = pooled::together(&said, writer.confidence) else {
        return without_pieces(writer, group, random, &what, &about);
    };
    if !direct && random.is_some() {
        let why = "random reads beside them leave pages behind, on which pieces end early; `--set rw=read` leaves them \
                   out";
        return writer.refused(&group.conditions, &group.points, &about, why);
    }
    if !together.agree {
        let sizes: Vec<String> = said.iter().map(|one| units::size(one.value as u64)).collect();
        let why = format!("block sizes tell of pieces of different sizes ({})", sizes.join(", "));
        return writer.refused(&group.conditions, &group.points, &about, &why);
    }
    let (mean, half) = (together.value, together.half_width);
    if half >= mean {
        let why = "the trials differ so much in how many reads wait that pieces of any size could be theirs";
        return writer.refused(&group.conditions, &group.points, &about, why);
    }
    let estimate = Estimate { value: mean, low: Some(mean - half), high: Some(mean + half) };
    let sentence = format!("for {what}, {{}} are fetched at a time.");
    let why = format!(
        "{} block size(s) have two kinds of reads: those that wait for a piece, and the others.",
        said.len()
    );
    writer.found(&group.conditions, &group.points, estimate, &sentence, why)
}

/// Block size over the share of the slow.
fn piece(evidence: &Evidence) -> Option<Pooled> {
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
    Some(Pooled { standard_error: piece.standard_error.hypot(least), ..piece })
}

fn without_pieces(
    writer: &Writer,
    group: &Group,
    random: Option<&Group>,
    what: &str,
    about: &str,
) -> Finding {
    let refused = |why: &str| writer.refused(&group.conditions, &group.points, about, why);
    let Some(random) = random else {
        return refused(
            "hardly any read waits longer than the others (larger reads would wait more often), and random reads were \
             not measured beside them",
        );
    };
    let mut alike = 0;
    for ordered in &group.points {
        let bytes = ordered.point.spec.block_size_bytes;
        let Some(beside) = random.points.iter().find(|e| e.point.spec.block_size_bytes == bytes) else {
            continue;
        };
        match (group::latency(ordered, Op::Read), group::latency(beside, Op::Read)) {
            (Ok(a), Ok(b)) if (a.log_mean - b.log_mean).exp() >= ALIKE => alike += 1,
            (Ok(_), Ok(_)) => {
                let why = format!(
                    "reads in order are faster than random ones, and fewer than {} of them wait: pieces come before \
                     they are asked for, or hold so many of these reads that those that wait may be a tail; larger \
                     reads would tell",
                    iosonde_model::units::percent(cached::SHARE_MIN)
                );
                return refused(&why);
            }
            (Err(why), _) | (_, Err(why)) => return refused(&why),
        }
    }
    if alike == 0 {
        return refused("no block size was measured both in order and at random");
    }
    Finding {
        status: Status::Absent,
        detail: Detail::Said {
            sentence: capitalised(&format!(
                "nothing is read ahead for {what}: they take as long as random ones."
            )),
            why: Some(format!("At {alike} block size(s), within a tenth.")),
        },
        ..refused("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Conclusions, Pretend};

    #[test]
    fn storage_that_does_not_look_at_order_reads_nothing_ahead() {
        let study = "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"readahead\"";
        let found = &Pretend { cv: 0.01, ..Pretend::usual() }.conclusions(&ReadaheadBytes, study, 1)[0];
        assert_eq!((found.len(), found[0].status), (1, Status::Absent), "{}", found[0].sentence());
        let ahead = Pretend { random_ratio: 0.5, cv: 0.01, ..Pretend::usual() };
        let found = &ahead.conclusions(&ReadaheadBytes, study, 1)[0];
        assert_eq!(found[0].status, Status::Inconclusive);
        assert!(found[0].sentence().contains("larger reads would tell"), "{}", found[0].sentence());
    }
}
