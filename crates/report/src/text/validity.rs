//! Whether a run can be believed: the first lines of every report.
//!
//! Only what the data carries is said here; nothing is measured anew. What would change a reader's use of the
//! figures comes before what merely qualifies them.

use std::collections::BTreeSet;

use iosonde_judge::check::CHECKS;
use iosonde_model::{
    About, Cause, CheckName, Closed, DeviceNote, Finding, FindingName, Judgement, Medium, Op, Outcome, Phase,
    Point, Run, RunState, Status, Trial,
    cause::{CacheServed, DirectIgnored, NoWitness, WriteBack},
    units,
};
use iosonde_plan::schedule::FEWEST_COMPLETE_ROUNDS;
use iosonde_stats::robust;

use crate::text::command;
use crate::text::vantage;
use iosonde_infer::answered_limit;
use iosonde_infer::finding::lookup::found;
use iosonde_infer::words::lowered;
use iosonde_judge::check::Symptom;

/// What the first lines say instead.
const ANSWERED: &str = "a limit was asked for and found: rates here are its figures, not the storage's, \
     and where it set in late a mean over the whole run describes neither rate";

/// Share of void trials above which a run says nothing.
const VOID_SHARE_MAX: f64 = 0.5;
/// Share of void trials above which it is a doubt: trials are repeated, and a few are lost on any busy
/// machine.
const VOID_SHARE_DOUBT: f64 = 0.1;

/// Share of direct I/O's bytes that the device moved, below which it moved nothing.
const NOTHING_SHARE: f64 = 0.02;
/// Share of the bytes that moved, from which figures are a mixture of memory and storage.
const PART_SHARE: f64 = 0.5;
/// Share of a rotating disk from which its arm travels nearly as it does over all of it: over a third, an average
/// seek takes three quarters of one over the whole (a + b·√d).
const STROKE_SHARE: f64 = 0.5;
/// Of the addressed span, from which on what others share is worth a word: the resolution of `quick`'s means.
const SHARED_SHARE: f64 = 0.05;
/// A disk reads 4 MiB in 20 ms and seeks for 8: below this, jumps take a quarter of the time and more.
const PIECE_BYTES: u64 = 4 << 20;
/// What stands before a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// Can be believed.
    Yes,
    /// With a doubt.
    Doubt,
    /// Cannot.
    No,
}

impl Mark {
    /// `✓`, `?` or `✗`.
    pub fn symbol(self) -> char {
        match self {
            Self::Yes => '✓',
            Self::Doubt => '?',
            Self::No => '✗',
        }
    }
}

/// One reason.
#[derive(Debug, Clone, PartialEq)]
pub struct BeliefLine {
    /// What it means for the answer.
    pub mark: Mark,
    /// One sentence, without a full stop.
    pub text: String,
}

impl BeliefLine {
    fn new(mark: Mark, text: impl Into<String>) -> Self {
        Self { mark, text: text.into() }
    }
}

/// Whether a run can be believed, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Belief {
    /// The answer.
    pub mark: Mark,
    /// The first line: `yes, with one doubt`, `no: these figures are memory, not storage (..)`.
    pub headline: String,
    /// The reasons, the worst first.
    pub lines: Vec<BeliefLine>,
}

/// Whether a concluded run can be believed.
pub fn belief(run: &Run) -> Belief {
    let explained = answered_limit::explained(run);
    let limit = explained.contains(&Symptom::SeveralRates);
    let run = &*answered_limit::beyond(run, &explained);
    let measured: Vec<&Trial> = run.trials.iter().filter(|trial| trial.phase == Phase::Measure).collect();
    let mut lines = vec![standing(run, &measured)];
    lines.extend(limit.then(|| BeliefLine::new(Mark::Yes, ANSWERED)));
    let void = fatal(run, &measured);
    lines.extend(doubts(run, void.is_some()));
    lines.extend(unwitnessed(run));
    lines.extend(fallen_silent(run, &measured));
    lines.extend(unfinished(run));
    lines.extend(conditions(run));
    let fatal = void.or_else(|| unrepeated(run));
    // Of figures that say nothing, it does not matter how precise they are or what else might be wrong with
    // them.
    if fatal.is_none() {
        // Of a course with a fall in it the mean is not what is asked for.
        lines.extend(imprecise(run).filter(|_| !limit));
        lines.extend(buffered_writes(run));
        lines.extend(short_strokes(run));
        lines.extend(scattered(run));
        lines.extend(shared(run));
        lines.extend(on_credit(run));
    }
    // Stable: within a mark, the order above.
    lines.sort_by_key(|line| std::cmp::Reverse(line.mark));
    let mark = if fatal.is_some() {
        Mark::No
    } else {
        lines.iter().map(|line| line.mark).max().unwrap_or(Mark::Yes)
    };
    let doubts = lines.iter().filter(|line| line.mark == Mark::Doubt).count();
    let headline = match (fatal, doubts) {
        (Some(why), _) => format!("no: {why}"),
        (None, doubts) => {
            let yes = match doubts {
                0 => "yes".to_owned(),
                1 => "yes, with one doubt".to_owned(),
                _ => format!("yes, with {} doubts", in_words(doubts)),
            };
            outside(
                run,
                &in_part(run, &measured).map_or(yes.clone(), |part| format!("{part}; the others {yes}")),
            )
        }
    };
    Belief { mark, headline, lines }
}

/// In a virtual machine, behind a network or a file system in user space, nothing inside sees the cache
/// outside.
fn outside(run: &Run, answer: &str) -> String {
    match vantage::as_seen(&run.info) {
        Some(seen) => format!("{answer}, {seen}; a cache outside cannot be ruled out"),
        None => answer.to_owned(),
    }
}

/// Why nothing can be concluded at all, if so.
fn fatal(run: &Run, measured: &[&Trial]) -> Option<String> {
    if measured.is_empty() {
        return Some("nothing was measured".into());
    }
    let most = |voids: &[&Judgement]| ids(voids).len() as f64 >= VOID_SHARE_MAX * measured.len() as f64;
    let first =
        |voids: &[&Judgement]| voids.first().map_or_else(String::new, |void| lowered(&super::why(void)));
    let of = |names: &[CheckName]| -> Vec<&Judgement> {
        trial_voids(run, measured).filter(|void| names.contains(&void.check)).collect()
    };
    let unmoved =
        of(&[CheckName::CacheServed, CheckName::DirectIgnored, CheckName::WriteBack, CheckName::Unmapped]);
    if most(&unmoved) {
        return Some(not_storage(run, &unmoved));
    }
    let bound = of(&[CheckName::GeneratorBound]);
    if most(&bound) {
        return Some(format!("the program was the limit, not the storage ({})", first(&bound)));
    }
    let any: Vec<_> = trial_voids(run, measured).collect();
    let count = ids(&any).len();
    let depth_only = any.iter().all(|void| void.about == About::Depth);
    let (as_what, rest) =
        if depth_only { (" as figures of depth", "; their rates may stand") } else { ("", "") };
    most(&any).then(|| {
        let what = match (count, measured.len()) {
            (1, 1) => "the trial is void".to_owned(),
            (count, all) => format!("{count} of {all} trials are void"),
        };
        format!("{what}{as_what} ({}){rest}", first(&any))
    })
}

/// Which points no trial of tells anything of the storage, where they are more than a few.
fn in_part(run: &Run, measured: &[&Trial]) -> Option<String> {
    let void: BTreeSet<u64> = trial_voids(run, measured)
        .filter(|void| void.about != About::Depth)
        .filter_map(|void| void.trial)
        .collect();
    let points = |stands: bool| -> BTreeSet<usize> {
        let own = measured.iter().filter(|trial| !stands || !void.contains(&trial.id));
        own.filter_map(|trial| trial.point).collect()
    };
    let (all, stand) = (points(false).len(), points(true).len());
    let lost = all - stand;
    (lost as f64 > VOID_SHARE_DOUBT * all as f64)
        .then(|| format!("in part: {lost} of {all} points say nothing about the storage"))
}

/// With fewer than three complete rounds nothing is known of noise and drift. (A run without a study is one trial,
/// and says so elsewhere.)
fn unrepeated(run: &Run) -> Option<String> {
    let rounds = run.info.rounds;
    let too_few = !run.info.study_source.is_empty() && rounds < FEWEST_COMPLETE_ROUNDS;
    let intervals = run.points.iter().filter(|point| half_width(point).is_some()).count();
    if !too_few && !run.info.study_source.is_empty() && intervals == 0 {
        return Some(format!("no figure has an interval after {rounds} rounds; give it more --time"));
    }
    too_few.then(|| format!("only {rounds} of at least {FEWEST_COMPLETE_ROUNDS} rounds were completed"))
}

/// Memory, or nothing at all: a hole of a sparse file costs no storage.
fn not_storage(run: &Run, voids: &[&Judgement]) -> String {
    let share_of = |void: &&&Judgement| {
        moved_of_issued(void).map_or(1.0, |(moved, issued)| moved as f64 / issued.max(1) as f64)
    };
    // The plainest example, or the sentence says one thing and its example another.
    let plainest = voids.iter().min_by(|a, b| share_of(a).total_cmp(&share_of(b)));
    let why = plainest.map_or_else(String::new, |void| lowered(&super::why(void)));
    let hole = run.info.device.notes.iter().find_map(holes);
    // What went through the page cache although it should not have is memory all the same.
    let ignored = voids.iter().any(|void| void.check == CheckName::DirectIgnored);
    // A study may go through the page cache on purpose where all else goes past it.
    let past =
        |void: &&Judgement| void.trial.and_then(|id| run.trial(id)).is_none_or(|trial| trial.spec.direct);
    let direct = run.info.device.direct && !ignored && voids.iter().any(past);
    let direct = direct && run.info.device.medium != Medium::Memory;
    let bytes = voids.iter().filter_map(|void| moved_of_issued(void));
    let (moved, issued) = bytes.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
    let share = if issued > 0 { moved as f64 / issued as f64 } else { 0.0 };
    let because = hole.as_ref().unwrap_or(&why);
    match (direct, &hole) {
        // Not exactly nothing: others' I/O is in the count.
        (true, _) if share < NOTHING_SHARE => format!("nothing was read from storage ({because})"),
        (true, Some(note)) => {
            let unread = units::percent((1.0 - share).max(0.0));
            format!("{unread} of what was read was never on storage ({note})")
        }
        _ if share < PART_SHARE => format!("these figures are memory, not storage ({why})"),
        _ => {
            let share = units::percent(share);
            format!("these figures are partly memory: the storage moved {share} of the bytes ({why})")
        }
    }
}

/// Bytes of a trial that storage moved, and bytes of its requests, where a verdict compares them.
fn moved_of_issued(void: &Judgement) -> Option<(u64, u64)> {
    match void.cause.as_ref()? {
        Cause::CacheServed(CacheServed::Shortfall { moved_bytes, issued_bytes, .. })
        | Cause::DirectIgnored(DirectIgnored::ServedFromCache { moved_bytes, issued_bytes, .. })
        | Cause::WriteBack(WriteBack::NotTaken { moved_bytes, issued_bytes }) => {
            Some((*moved_bytes, *issued_bytes))
        }
        Cause::WriteBack(WriteBack::Dirty { dirty_after_bytes, issued_bytes }) => {
            Some((issued_bytes.saturating_sub(*dirty_after_bytes), *issued_bytes))
        }
        _ => None,
    }
}

/// The holes of the file that was read, where a note tells of them.
fn holes(note: &DeviceNote) -> Option<String> {
    let DeviceNote::Holes { unmapped_bytes, file_bytes } = note else { return None };
    let share = *unmapped_bytes as f64 / (*file_bytes).max(1) as f64;
    let (share, size) = (units::percent(share), units::size(*file_bytes));
    Some(format!("{share} of the file's {size} are holes that were never written"))
}

/// Void verdicts on measured trials.
fn trial_voids<'a>(run: &'a Run, measured: &[&Trial]) -> impl Iterator<Item = &'a Judgement> + use<'a> {
    let known: BTreeSet<u64> = measured.iter().map(|trial| trial.id).collect();
    run.verdicts.iter().filter(move |judgement| {
        judgement.verdict == Outcome::Invalid && judgement.trial.is_some_and(|id| known.contains(&id))
    })
}

fn ids(judgements: &[&Judgement]) -> BTreeSet<u64> {
    judgements.iter().filter_map(|judgement| judgement.trial).collect()
}

/// How many trials stand, and why the others do not.
fn standing(run: &Run, measured: &[&Trial]) -> BeliefLine {
    let voids: Vec<_> = trial_voids(run, measured).collect();
    let (all, void) = (measured.len(), ids(&voids).len());
    // Of void trials none is in a mean, near or far.
    let aside = if void == all { 0 } else { set_aside(run) };
    if void == 0 {
        let text = match (all, aside) {
            (1, _) => "the trial stands".to_owned(),
            (all, 0) => format!("all {all} trials stand"),
            (all, aside) => format!("no trial is void; {} of {all} count, {}", all - aside, left_out(aside)),
        };
        return BeliefLine::new(Mark::Yes, text);
    }
    // Each void trial counts under the first check that voids it, so that the counts add up to all of them.
    let mut told = BTreeSet::new();
    let reasons: Vec<String> =
        CHECKS.iter().filter_map(|check| reason(check.id(), &voids, &mut told)).collect();
    let share = void as f64 / all as f64;
    let mark = match share {
        _ if share >= VOID_SHARE_MAX => Mark::No,
        _ if share > VOID_SHARE_DOUBT => Mark::Doubt,
        _ => Mark::Yes,
    };
    let several = if reasons.len() > 1 && void < all { format!("{void}: ") } else { String::new() };
    let why = format!("{several}{}", reasons.join("; "));
    let aside = if aside > 0 { format!("; {}", left_out(aside)) } else { String::new() };
    if all == 1 {
        return BeliefLine::new(mark, alone(&voids));
    }
    // All of them for one reason: its count is told already.
    if let (true, Some(rest)) = (void == all, why.strip_prefix(&all.to_string())) {
        return BeliefLine::new(mark, format!("all {all} trials are void{rest}{aside}"));
    }
    let stand = match (all - void, all) {
        (0, _) => format!("all {all} trials are void"),
        (left, _) => format!("{left} of {all} trials stand"),
    };
    let void = match void {
        void if void == all => "",
        1 => " void is",
        _ => " void are",
    };
    BeliefLine::new(mark, format!("{stand};{void} {why}{aside}"))
}

/// Why the only trial is void, by the first check that voids it.
fn alone(voids: &[&Judgement]) -> String {
    let first = CHECKS.iter().find_map(|check| voids.iter().find(|void| void.check == check.id()));
    let why = first.map_or_else(String::new, |void| lowered(&super::why(void)));
    match voids.iter().all(|void| void.about == About::Depth) {
        true => format!("the trial is void as a figure of depth: {why}; its rate may stand"),
        false => format!("the trial is void: {why}"),
    }
}

/// How many trials a check voids of which nothing was told yet, and why the first of them.
fn reason(check: CheckName, voids: &[&Judgement], told: &mut BTreeSet<u64>) -> Option<String> {
    let fresh = |void: &&&Judgement| void.check == check && void.trial.is_some_and(|id| !told.contains(&id));
    let own: Vec<&Judgement> = voids.iter().filter(fresh).copied().collect();
    let first = own.first()?;
    told.extend(ids(&own));
    let depth_only = own.iter().all(|void| void.about == About::Depth);
    let as_what = if depth_only { " (as figures of depth; their rates may stand)" } else { "" };
    let why = lowered(&super::why(first));
    Some(match ids(&own).len() {
        1 => format!("one{as_what}: {why}"),
        count => format!("{count}{as_what}, for example: {why}"),
    })
}

/// Trials that no verdict voids and that no mean counts.
fn set_aside(run: &Run) -> usize {
    let of_run = |judgement: &&Judgement| judgement.check == CheckName::Outliers && judgement.scope == "run";
    let counts = run
        .verdicts
        .iter()
        .filter(of_run)
        .filter_map(|judgement| super::figures(judgement).get("outliers").copied());
    counts.fold(0.0, f64::max) as usize
}

fn left_out(aside: usize) -> String {
    match aside {
        1 => "one lies far from the others of its point and is in no mean".to_owned(),
        _ => format!("{} lie far from the others of their points and are in no mean", in_words(aside)),
    }
}

/// One line for each check that doubts. Where the trials are `void`, how the rate changed over the run is told of
/// nobody: what memory or the program did is no course of the storage.
fn doubts(run: &Run, void: bool) -> Vec<BeliefLine> {
    let measured = |trial: &&Trial| trial.phase == Phase::Measure;
    let measured: BTreeSet<u64> = run.trials.iter().filter(measured).map(|trial| trial.id).collect();
    let only_one = measured.len() == 1;
    let lines = CHECKS.iter().flat_map(|check| {
        ["trial", "point", "run"].into_iter().filter_map(|scope| {
            let own = |judgement: &&Judgement| {
                judgement.check == check.id()
                    && judgement.scope == scope
                    && judgement.verdict == Outcome::Warning
                    && !(void && scope == "run" && judgement.about == About::Rate)
            };
            let all: Vec<_> = run.verdicts.iter().filter(own).collect();
            // Counted among the trials that are figures, as in every other line; canaries only where nothing else is.
            let counts = |line: &&&Judgement| line.trial.is_none_or(|id| measured.contains(&id));
            let own: Vec<_> = match all.iter().filter(counts).count() {
                0 => all,
                _ => all.iter().filter(counts).copied().collect(),
            };
            let first = own.first()?;
            let text = match (scope, own.len()) {
                ("run", _) => lowered(&super::why(first)),
                // Of one trial there is no other that it could be told from.
                (_, 1) if only_one => lowered(&super::why(first)),
                (scope, 1) => format!("one {scope}: {}", lowered(&super::why(first))),
                (scope, count) => format!("{count} {scope}s, for example: {}", lowered(&super::why(first))),
            };
            Some(BeliefLine::new(Mark::Doubt, text))
        })
    });
    lines.collect()
}

/// Where nobody could see whether bytes moved, memory cannot be ruled out. Trials that moved little had their witness.
fn unwitnessed(run: &Run) -> Option<BeliefLine> {
    let blind = run.verdicts.iter().find(|judgement| {
        let (cause, most) = match &judgement.cause {
            Some(Cause::Tally(tally)) => {
                (tally.first.as_deref(), tally.unchecked as f64 >= VOID_SHARE_MAX * tally.judged as f64)
            }
            cause => (cause.as_ref(), true),
        };
        [CheckName::CacheServed, CheckName::WriteBack].contains(&judgement.check)
            && judgement.verdict == Outcome::NotChecked
            && !matches!(cause, Some(Cause::NoWitness(NoWitness::TooSmall { .. })))
            && most
    })?;
    Some(BeliefLine::new(Mark::Doubt, lowered(&super::why(blind))))
}

/// Witnesses that spoke of some trials and not of others: one that vanishes in mid-run is not passed over.
fn fallen_silent(run: &Run, measured: &[&Trial]) -> Option<BeliefLine> {
    let moved = |trial: &Trial| {
        let seen = &trial.witnesses;
        seen.block_layer_read_bytes.or(seen.network_read_bytes).is_some()
    };
    let silent: Vec<&&Trial> = measured.iter().filter(|trial| !moved(trial)).collect();
    let first = silent.first()?;
    if silent.len() == measured.len() || run.info.is_imported() {
        return None;
    }
    let why = first.witnesses.absent.first().map_or("no reason was given", String::as_str);
    let (few, all, id) = (silent.len(), measured.len(), first.id);
    let noun = if few == 1 { "trial" } else { "trials" };
    let text = format!(
        "the device's counters could not be read for {few} {noun} of {all}, from trial {id} on, so that nobody saw \
         whether the bytes moved ({why})"
    );
    Some(BeliefLine::new(Mark::Doubt, text))
}

fn unfinished(run: &Run) -> Option<BeliefLine> {
    match run.info.state {
        RunState::Interrupted => {
            let text = "the run was interrupted; `iosonde resume` goes on where it stopped";
            Some(BeliefLine::new(Mark::Doubt, text))
        }
        RunState::Failed => {
            Some(BeliefLine::new(Mark::Doubt, "the run ended with an error before it was complete"))
        }
        RunState::Done | RunState::Running => None,
    }
}

/// Points that are less precise than was asked, or have no interval.
fn imprecise(run: &Run) -> Option<BeliefLine> {
    let asked = run.info.precision;
    if asked <= 0.0 || run.info.study_source.is_empty() || run.points.is_empty() {
        return None;
    }
    let half_widths: Vec<_> = run.points.iter().map(half_width).collect();
    let wide = half_widths.iter().filter(|half| half.is_none_or(|half| half > asked)).count();
    if wide == 0 {
        return None;
    }
    let known: Vec<f64> = half_widths.iter().copied().flatten().collect();
    let budget = run.points.iter().any(|point| point.closed == Some(Closed::Budget));
    let reason = if budget { "the time was up: " } else { "" };
    let all = run.points.len();
    let Some(median) = robust::median(&known) else {
        return Some(BeliefLine::new(Mark::Doubt, format!("{reason}none of {all} points has an interval")));
    };
    let missing = all - known.len();
    let without = match missing {
        0 => String::new(),
        1 => "; one has none".to_owned(),
        _ => format!("; {missing} have none"),
    };
    let (median, asked_for) = (units::percent(median), units::percent(asked));
    let text = format!(
        "{reason}intervals are ±{median} (median); at {wide} of {all} points they are wider than the ±{asked_for} \
         asked for{without}"
    );
    Some(BeliefLine::new(Mark::Doubt, text))
}

/// Half of the wider interval of a point's directions, as a share of the value.
fn half_width(point: &Point) -> Option<f64> {
    let directions = Op::DIRECTIONS.into_iter().filter(|&op| point.spec.rw.has(op));
    let widths = directions.map(|op| point.direction(op)?.iops.relative_half_width());
    widths.collect::<Option<Vec<_>>>()?.into_iter().max_by(f64::total_cmp)
}

/// Circumstances that the figures hold under.
fn conditions(run: &Run) -> Vec<BeliefLine> {
    let (info, device) = (&run.info, &run.info.device);
    let mut lines = Vec::new();
    let mut doubt = |text: String| lines.push(BeliefLine::new(Mark::Doubt, text));
    let told = |judgement: &Judgement| {
        judgement.check == CheckName::WorkingSet
            && judgement.verdict == Outcome::Warning
            && judgement.scope == "run"
    };
    if !device.direct && !run.verdicts.iter().any(told) {
        let prepared = units::size(device.working_set_bytes);
        doubt(match info.host.memory_bytes {
            Some(memory_bytes) if device.working_set_bytes < memory_bytes => format!(
                "measured through the page cache, and the {prepared} fit into this machine's {} of memory",
                units::size(memory_bytes)
            ),
            _ => "measured through the page cache: caching and copying are part of every figure".to_owned(),
        });
    }
    if let Some(health) = device.health.as_ref().filter(|health| !health.warnings.is_empty()) {
        doubt(format!("the drive itself warns: {}", health.warnings.join("; ")));
    }
    if info.host.on_battery == Some(true) {
        doubt("measured on battery: processors and links may have been slowed to make it last".to_owned());
    }
    if let Some(asked_bytes) = device.asked_size_bytes.filter(|&bytes| bytes > device.working_set_bytes) {
        let (prepared, asked) = (units::size(device.working_set_bytes), units::size(asked_bytes));
        doubt(format!("{prepared} were measured, not the {asked} asked for"));
    }
    lines
}

/// A disk's arm travels less over a part of it than over the whole.
fn short_strokes(run: &Run) -> Option<BeliefLine> {
    let device = &run.info.device;
    let random = run.points.iter().any(|point| point.spec.rw.is_random());
    let (span, whole) = (device.working_set_bytes, device.size_bytes?);
    let share = span as f64 / whole as f64;
    if device.rotates() != Some(true) || !random || run.info.is_imported() || share >= STROKE_SHARE {
        return None;
    }
    let text = format!(
        "the arm travelled over {} of this rotating disk's {} ({}): random requests to all of it take longer",
        units::size(span),
        units::size(whole),
        units::percent(share)
    );
    Some(BeliefLine::new(Mark::Doubt, text))
}

/// A file in many pieces is not read in sequence, whatever the requests are.
fn scattered(run: &Run) -> Option<BeliefLine> {
    let sequential = run.points.iter().any(|point| !point.spec.rw.is_random());
    if run.info.device.rotates() != Some(true) || !sequential {
        return None;
    }
    let latest = run.trials.iter().rev().find(|trial| trial.witnesses.pieces.is_some())?;
    let pieces = latest.witnesses.pieces.filter(|&pieces| pieces > 1)?;
    let mean = latest.spec.span_bytes / pieces;
    (mean < PIECE_BYTES).then(|| {
        let text = format!(
            "the file lies in {pieces} pieces of {} on average: the arm jumps between them while reads or writes are \
             in sequence",
            units::size(mean)
        );
        BeliefLine::new(Mark::Doubt, text)
    })
}

/// What a copy or a snapshot shares is not written over: the first write to each place finds a new one.
fn shared(run: &Run) -> Option<BeliefLine> {
    let wrote = |trial: &&Trial| trial.phase == Phase::Measure && trial.spec.changes();
    let part = |trial: &Trial| {
        let (bytes, span) = (trial.witnesses.shared_bytes?, trial.spec.span_bytes);
        (bytes as f64 >= SHARED_SHARE * span as f64 && bytes > 0).then_some((bytes, span))
    };
    let (bytes, span) = run.trials.iter().filter(wrote).find_map(part)?;
    let text = format!(
        "writes: a copy or a snapshot shares {} of the {} written to, and the first write to each place finds a new \
         one: later ones may be faster",
        units::size(bytes),
        units::size(span)
    );
    Some(BeliefLine::new(Mark::Doubt, text))
}

/// A volume that is sold with credit for bursts is fast until that is spent. How long that takes depends on the load:
/// half an hour at full rate (Amazon's gp2: 5.4 million requests at 3,000 a second), hours below it.
fn on_credit(run: &Run) -> Option<BeliefLine> {
    let throttled = run
        .verdicts
        .iter()
        .any(|line| line.check == CheckName::Throttled && line.verdict >= Outcome::Warning);
    let spent =
        throttled || Op::TRANSFERS.iter().any(|op| found(run, FindingName::ThrottleRate, *op).is_some());
    if spent || run.info.device.burst_credit != Some(true) {
        return None;
    }
    let text = format!(
        "volumes like this one are sold with credit for bursts; in {} none was seen to end, so that these may be \
         rates that last only until it is spent",
        units::duration(run.info.elapsed_s)
    );
    Some(BeliefLine::new(Mark::Doubt, text))
}

/// No burst shows how large a write buffer is; a long write that was measured does.
fn buffered_writes(run: &Run) -> Option<BeliefLine> {
    let measures_writes = run.points.iter().any(|point| point.spec.rw.writes() && point.write.is_some());
    let settled = run.info.device.state.as_deref() == Some("steady");
    if !measures_writes || settled || run.info.is_imported() {
        return None;
    }
    let told = |finding: &&Finding| {
        finding.name == FindingName::WriteBufferBytes && finding.status != Status::Inconclusive
    };
    if let Some(buffer) = run.findings.iter().find(told) {
        let other = |point: &&Point| point.spec.rw.writes() && point.experiment != buffer.experiment;
        let size = buffer.value.filter(|_| run.points.iter().any(|point| other(&point)))?;
        let text = format!(
            "writes: a buffer of {} takes what comes first, and shorter writes than that may be faster than what lasts",
            units::size(size as u64)
        );
        return Some(BeliefLine::new(Mark::Doubt, text));
    }
    let written: u64 = run.trials.iter().map(|trial| trial.witnesses.issued_write_bytes).sum();
    let (all, area) = (units::decimal_bytes(written), run.info.device.working_set_bytes);
    let written = match written > area && area > 0 {
        true => format!("{} written to, {all} in all,", units::size(area)),
        false => format!("{all} written"),
    };
    let text =
        format!("writes: the {written} may still fit a write buffer; {}", long_write(&run.info.target));
    Some(BeliefLine::new(Mark::Doubt, text))
}

fn long_write(target: &str) -> String {
    match command::command("sustained-write", target) {
        Some(command) => format!("{command} would tell"),
        None => "the experiment `sustained-write` would tell".to_owned(),
    }
}

fn in_words(count: usize) -> String {
    const WORDS: [&str; 10] = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    WORDS.get(count).map_or_else(|| count.to_string(), |word| (*word).to_owned())
}

#[cfg(test)]
#[path = "validity_tests.rs"]
mod tests;
