//! The end screen: validity, results, advice.

use crate::{
    paint::{Ink, clean, columns, pad},
    quantity::Quantity,
    text::{
        counted_error,
        number::{Figure, Style, in_a_column},
        point_table::{PointRow, point_table},
        result_table::{ResultRow, ResultTable},
        results::results,
        validity::{self, Weight, validity},
    },
};
use iosonde_infer::finding::RUN;
use iosonde_model::{
    Direction, Finding, Flush, Injected, Judgement, LatencySummary, Op, Outcome, Run, Status, Stream, Trial,
    TrialSpec, Unit, Verification, units,
};

pub use crate::paint::Paint;

/// Where a section's text begins: behind the longest of VALID, RESULTS, POINTS, ADVICE.
const HEAD: usize = 10;
/// Maximum number of warnings: the others are counted.
const WARNINGS_MAX: usize = 3;

/// The screen that ends a study: VALID, RESULTS, ADVICE.
pub fn summary(run: &Run, paint: Paint) -> String {
    [measured(run, paint), valid(run, paint), results_of(run, paint), points(run, paint), advice(run, paint)]
        .concat()
}

/// What was measured: study, target, device, size, time and version.
fn measured(run: &Run, paint: Paint) -> String {
    let lead = format!("{} on {}", run.info.study, clean(&run.info.target));
    let text = format!("{lead}   {}", clean(&crate::story::measured(run)));
    format!("{}\n", paint.hang("", 2, &text))
}

fn head(paint: Paint, word: &str) -> String {
    let gap = " ".repeat(HEAD - word.len());
    format!("{}{gap}", paint.ink(Ink::Strong, word))
}

fn symbol(paint: Paint, mark: Weight) -> String {
    let ink = match mark {
        Weight::Yes => Ink::Good,
        Weight::Note => Ink::Quiet,
        Weight::Doubt => Ink::Doubt,
        Weight::No => Ink::Bad,
    };
    paint.ink(ink, &validity::symbol(mark).to_string())
}

fn valid(run: &Run, paint: Paint) -> String {
    let validity = validity(run);
    let of = |wanted: fn(Weight) -> bool| -> Vec<_> {
        validity.lines.iter().filter(|line| wanted(line.mark)).collect()
    };
    let (warnings, notes) = (of(|mark| mark > Weight::Note), of(|mark| mark == Weight::Note));
    let counted = |count: usize, word: &str| {
        (count > 0).then(|| format!("{count} {word}{}", if count == 1 { "" } else { "s" }))
    };
    let more = counted(warnings.len().saturating_sub(WARNINGS_MAX), "more warning");
    let more: Vec<String> = more.into_iter().chain(counted(notes.len(), "note")).collect();
    let more = match more.as_slice() {
        [] => String::new(),
        more => format!(" ({} in the report)", more.join(" and ")),
    };
    let mut out = paint.hang(&head(paint, "VALID"), HEAD, &format!("{}{more}", clean(&validity.headline)));
    for line in warnings.iter().take(WARNINGS_MAX) {
        out += &paint.hang(&format!("  {} ", symbol(paint, line.mark)), 4, &clean(&line.text));
    }
    for line in of(|mark| mark == Weight::Yes) {
        out += &paint.hang("  ", 4, &clean(&line.text));
    }
    out
}

fn results_of(run: &Run, paint: Paint) -> String {
    let results = results(run);
    if results.storage.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}", paint.hang(&head(paint, "RESULTS"), HEAD, &clean(&results.storage)));
    for (nth, table) in results.tables.iter().enumerate() {
        out += if nth > 0 { "\n" } else { "" };
        out += &result_table(table, paint);
    }
    // A second table ends where the lines begin.
    if results.tables.len() > 1 {
        out.push('\n');
    }
    let widest = results.lines.iter().map(|line| columns(&line.label)).max().unwrap_or(0) + 2;
    for line in &results.lines {
        let lead = format!("  {}", pad(&clean(&line.label), widest));
        out += &paint.hang(&lead, widest + 2, &clean(&line.text));
    }
    out
}

/// Figures in columns, behind their labels.
fn result_table(table: &ResultTable, paint: Paint) -> String {
    let label = |row: &ResultRow| format!("  {}{}", if row.indented { "  " } else { "" }, row.label);
    let corner = format!("  {}", table.corner);
    let labels =
        table.rows.iter().map(|row| columns(&label(row))).chain([columns(&corner)]).max().unwrap_or(0);
    let column = |at: usize| -> Vec<String> {
        let own = || table.rows.iter().filter_map(|row| row.cells[at].as_ref());
        let values = own().filter(|cell| !cell.interval.is_empty()).map(|cell| columns(&cell.value)).max();
        let cell = |cell: &Figure| match cell.interval.as_str() {
            "" => cell.value.clone(),
            interval => format!("{} {interval}", pad(&cell.value, values.unwrap_or(0))),
        };
        let cells = table.rows.iter().map(|row| row.cells[at].as_ref().map_or_else(String::new, cell));
        let all: Vec<String> = std::iter::once(table.heads[at].to_owned()).chain(cells).collect();
        let width = all.iter().map(|cell| columns(cell)).max().unwrap_or(0) + 2;
        all.iter().map(|cell| pad(cell, width)).collect()
    };
    let filled: Vec<Vec<String>> = (0..table.heads.len()).map(column).collect();
    let all = std::iter::once(corner.clone()).chain(table.rows.iter().map(label)).enumerate();
    let lines = all.map(|(nth, label)| {
        let cells: String = filled.iter().map(|column| column[nth].as_str()).collect();
        let line = format!("{}  {cells}", pad(&label, labels));
        if nth == 0 { paint.ink(Ink::Quiet, line.trim_end()) } else { line.trim_end().to_owned() }
    });
    lines.map(|line| line + "\n").collect()
}

/// What each workload got, where no finding says it.
fn points(run: &Run, paint: Paint) -> String {
    let Some(table) = point_table(run) else { return String::new() };
    let time = |ns: Option<f64>| ns.map_or("–".to_owned(), |ns| Quantity::Nanoseconds.text(ns));
    // The unit of all stands above them.
    let iops = table.rows.iter().all(|row| row.unit == Unit::Iops && !row.rate.is_vague());
    let row = |row: &PointRow| {
        let (p50, p99) = (time(row.median_ns), time(row.p99_ns));
        let style = if iops { Style::bare(row.unit) } else { row.unit.into() };
        let rate = in_a_column(style, &row.rate);
        [clean(&row.workload), rate, p50, p99]
    };
    let heads = ["", if iops { "IOPS" } else { "rate" }, "p50", "p99"].map(str::to_owned);
    let rows: Vec<[String; 4]> = std::iter::once(heads).chain(table.rows.iter().map(row)).collect();
    let widths: [usize; 4] =
        std::array::from_fn(|at| rows.iter().map(|row| columns(&row[at])).max().unwrap_or(0) + 2);
    let figures = |row: &[String; 4]| (1..4).map(|at| pad(&row[at], widths[at])).collect::<String>();
    let mut out = format!("\n{}", paint.hang(&head(paint, "POINTS"), HEAD, &clean(&table.shared)));
    // Side by side, or, where that is too wide, the figures below their workload.
    let beside = widths.iter().sum::<usize>() <= paint.width;
    for (nth, row) in rows.iter().enumerate() {
        let lead = if beside { format!("  {}", pad(&row[0], widths[0])) } else { "      ".to_owned() };
        if !beside && nth > 0 {
            out += &paint.hang("  ", 4, &row[0]);
        }
        let line = format!("{lead}{}", figures(row));
        let line = line.trim_end();
        out += &if nth == 0 { paint.ink(Ink::Quiet, line) } else { line.to_owned() };
        out.push('\n');
    }
    if table.more > 0 {
        out += &format!("  … and {} more: iosonde report {}\n", table.more, run.info.id);
    }
    out
}

fn advice(run: &Run, paint: Paint) -> String {
    let mut out = String::new();
    for advice in crate::text::advice::advice(run) {
        out += &paint.hang(&format!("  {} ", paint.ink(Ink::Good, "→")), 4, &clean(&advice.sentence));
    }
    // Where nothing can be advised, what would make it possible is the advice; but nothing is said twice.
    let first = run.findings.iter().find(|f| f.status == Status::Inconclusive && f.experiment != RUN);
    let told = |finding: &&Finding| results(run).leaves_open(finding);
    if let (true, Some(finding)) = (out.is_empty(), first.filter(|finding| !told(finding))) {
        let why = clean(&crate::text::clause(finding));
        out += &paint.hang("  → ", 4, &format!("nothing can be advised yet: {why}"));
    }
    if out.is_empty() { out } else { format!("\n{}\n{out}", paint.ink(Ink::Strong, "ADVICE")) }
}

/// Every chart as bars of text: a line for each dot, its length by the axis, its value behind it.
pub fn charts(run: &Run, paint: Paint) -> String {
    crate::chart::figures(run).iter().map(|figure| crate::bars::bars(figure, paint)).collect()
}

/// Results and verdicts of one trial, for `iosonde point`.
pub fn trial(run: &Run, paint: Paint) -> String {
    let measured: Vec<&Trial> =
        run.trials.iter().filter(|t| t.phase == iosonde_model::Phase::Measure).collect();
    let Some(trial) = measured.last() else { return "No trial was run.\n".to_owned() };
    let mut out =
        paint.hang("", 2, &format!("{}   {}", trial.spec.describe(), crate::subject(&run.info.device)));
    out.push('\n');
    for (op, direction) in trial.directions() {
        out += &one_direction(trial, op, direction, paint);
    }
    if let Some(flush) = &trial.flush {
        out += &flushes(trial, flush, paint);
    }
    for (number, stream) in trial.streams.iter().enumerate() {
        out += &one_stream(number + 1, stream, paint);
    }
    out += &around(trial, paint);
    out += &verdicts(run, trial, paint);
    let said = "One trial gives no interval: how much the next one would differ is not known. \
                For that, run a study.";
    out.push('\n');
    out + &paint.hang("", 0, said)
}

fn one_direction(trial: &Trial, op: Op, direction: &Direction, paint: Paint) -> String {
    let mut rows = vec![("rate", rate(direction)), ("latency", latencies(&direction.latency_ns))];
    let share = direction.ios as f64 / trial.directions().map(|(_, d)| d.ios).sum::<u64>().max(1) as f64;
    let counted = format!("{} in {} s", units::count(direction.ios as f64), fixed(trial.measured_s));
    rows.push((
        "requests",
        if share < 1.0 { format!("{counted}, {} of all", units::percent(share)) } else { counted },
    ));
    if direction.errors + direction.short > 0 {
        rows.push(("failed", format!("{} with an error, {} short", direction.errors, direction.short)));
    }
    let mut out = format!("{}\n", paint.ink(Ink::Strong, &format!("{}S", op.name().to_uppercase())));
    out += &table(&rows, paint);
    out
}

fn rate(direction: &Direction) -> String {
    format!(
        "{}, {}",
        Quantity::Iops.text(direction.iops),
        Quantity::BytesPerSecond.text(direction.bytes_per_s)
    )
}

fn latencies(latency: &LatencySummary) -> String {
    let time = |ns: Option<f64>| ns.map_or("–".to_owned(), |ns| Quantity::Nanoseconds.text(ns));
    let max = latency.max.map(|ns| ns as f64);
    let figures = [
        ("mean", latency.mean),
        ("p50", latency.p50),
        ("p99", latency.p99),
        ("p99.9", latency.p99_9),
        ("max", max),
    ];
    let told: Vec<String> = figures
        .iter()
        .filter(|(_, ns)| ns.is_some())
        .map(|(name, ns)| format!("{name} {}", time(*ns)))
        .collect();
    if told.is_empty() { "nothing completed".to_owned() } else { told.join(", ") }
}

fn flushes(trial: &Trial, flush: &Flush, paint: Paint) -> String {
    let per_s = if trial.measured_s > 0.0 { flush.ios as f64 / trial.measured_s } else { 0.0 };
    let mut rows = vec![
        ("rate", format!("{} a second", units::count(per_s))),
        ("latency", latencies(&flush.latency_ns)),
    ];
    if flush.errors > 0 {
        rows.push(("failed", format!("{} with an error", flush.errors)));
    }
    format!("{}\n{}", paint.ink(Ink::Strong, "FLUSHES"), table(&rows, paint))
}

/// One stream of several, in short: the totals stand above.
fn one_stream(number: usize, stream: &Stream, paint: Paint) -> String {
    let lanes = [(Op::Read, &stream.read), (Op::Write, &stream.write), (Op::Trim, &stream.trim)];
    let told = |(op, lane): (Op, &Option<Direction>)| {
        let lane = lane.as_ref()?;
        Some((format!("{op}s"), format!("{}; latency {}", rate(lane), latencies(&lane.latency_ns))))
    };
    let mut rows: Vec<(String, String)> = lanes.into_iter().filter_map(told).collect();
    if let Some(flush) = &stream.flush {
        rows.push(("flushes".into(), format!("latency {}", latencies(&flush.latency_ns))));
    }
    rows.extend(
        stream
            .achieved_rate_iops
            .map(|rate| ("served".into(), served(rate, None, &stream.spec, stream.unserved))),
    );
    let rows: Vec<(&str, String)> = rows.iter().map(|(label, text)| (label.as_str(), text.clone())).collect();
    let head = format!("STREAM {number}   {}", stream.spec.describe());
    format!("{}{}", paint.hang("", 2, &paint.ink(Ink::Strong, &head)), table(&rows, paint))
}

/// Requested load of an open loop, and the part that was served.
fn served(achieved_iops: f64, interval: Option<[f64; 2]>, spec: &TrialSpec, unserved: u64) -> String {
    let asked_iops = spec.rate_iops.unwrap_or(0.0) * f64::from(spec.jobs);
    let rest = match unserved {
        0 => "every request was sent".to_owned(),
        n => format!("{} due and never sent", units::count(n as f64)),
    };
    let (low, high) = (interval.map(|[low, _]| low), interval.map(|[_, high]| high));
    let achieved = Quantity::Iops.interval_text(achieved_iops, low, high);
    format!("{achieved} of {} a second requested; {rest}", units::count(asked_iops))
}

fn fixed(seconds: f64) -> String {
    format!("{seconds:.2}")
}

fn around(trial: &Trial, paint: Paint) -> String {
    let ios: u64 = trial.witnesses.issued_ios;
    let mut rows = Vec::new();
    if let Some(mean) = trial.in_flight_mean {
        let most = if trial.spec.keeps_depth() { "requested" } else { "at most" };
        rows.push(("depth", format!("{mean:.1} of {} {most}", trial.spec.asked_in_flight())));
    }
    if let (Some(rate), true) = (trial.achieved_rate_iops, trial.streams.is_empty()) {
        rows.push(("served", served(rate, trial.achieved_rate_interval, &trial.spec, trial.unserved)));
    }
    if let Some(late_ns) = trial.pacing_error_ns {
        let p99 = trial.pacing_error_ns_p99.map(|ns| format!(", p99 {}", Quantity::Nanoseconds.text(ns)));
        let mean = Quantity::Nanoseconds.text(late_ns);
        rows.push(("pacing", format!("sent {mean} late on average{}", p99.unwrap_or_default())));
    }
    if let Some(seen) = &trial.verify {
        rows.push(("verified", verified(seen)));
    }
    if let Some(injected) = &trial.witnesses.injected {
        rows.push(("injected", told(injected)));
    }
    if let (Some(user), Some(system), true) = (trial.cpu_user_s, trial.cpu_system_s, ios > 0) {
        let per_io = |seconds: f64| seconds * 1e6 / ios as f64;
        let (all, kernel) = (per_io(user + system), per_io(system));
        rows.push(("processor", format!("{all:.2} µs a request, {kernel:.2} µs of it in the kernel")));
    }
    if trial.hung > 0 {
        rows.push(("hung", format!("{} requests had not come back when the trial was given up", trial.hung)));
    }
    rows.extend(trial.error_examples.iter().map(|error| ("error", clean(&counted_error(error)))));
    let several = trial.directions().count() > 1 || !trial.streams.is_empty();
    let head = if several { "TOGETHER" } else { "TRIAL" };
    format!("{}\n{}", paint.ink(Ink::Strong, head), table(&rows, paint))
}

/// What a simulated device did on purpose, to compare with what was found.
fn told(injected: &Injected) -> String {
    let &Injected { lost, torn, misplaced, stale } = injected;
    let kinds = [(lost, "lost"), (torn, "torn"), (misplaced, "misplaced"), (stale, "stale")];
    let counts: Vec<String> =
        kinds.iter().filter(|(count, _)| *count > 0).map(|(count, kind)| format!("{count} {kind}")).collect();
    format!("the simulated device put wrong: {}", counts.join(", "))
}

fn verified(seen: &Verification) -> String {
    let kinds = [
        (seen.lost, "lost"),
        (seen.torn, "torn"),
        (seen.misplaced, "misplaced"),
        (seen.stale, "stale"),
        (seen.unreadable, "unreadable"),
        (seen.unmarked, "without a whole mark, not checked"),
    ];
    let bad: Vec<String> =
        kinds.iter().filter(|(count, _)| *count > 0).map(|(count, kind)| format!("{count} {kind}")).collect();
    let checked = units::count(seen.checked as f64);
    let found = if bad.is_empty() { "all as written".to_owned() } else { bad.join(", ") };
    format!("{checked} blocks read back: {found}")
}

fn table(rows: &[(&str, String)], paint: Paint) -> String {
    let widest = rows.iter().map(|(label, _)| columns(label)).max().unwrap_or(0) + 2;
    rows.iter()
        .map(|(label, text)| paint.hang(&format!("  {}", pad(label, widest)), widest + 2, text))
        .collect()
}

/// The same answer as a study's; then what could not be judged of this trial, and what looked and found
/// nothing.
fn verdicts(run: &Run, trial: &Trial, paint: Paint) -> String {
    let validity = validity(run);
    let mut out = String::from("\n");
    out += &paint.hang(&head(paint, "VALID"), HEAD, &clean(&validity.headline));
    // The headline already says that the trial is valid.
    for line in validity.lines.iter().filter(|line| line.mark > Weight::Yes) {
        out += &paint.hang(&format!("  {} ", symbol(paint, line.mark)), 4, &clean(&line.text));
    }
    let about = |verdict: &&Judgement| verdict.trial == Some(trial.id) || verdict.trial.is_none();
    let own: Vec<&Judgement> = run.verdicts.iter().filter(about).collect();
    for verdict in own.iter().filter(|verdict| verdict.verdict == Outcome::NotChecked) {
        let text = format!("not checked: {}: {}", verdict.check, clean(&crate::text::why(verdict)));
        out += &paint.hang(&format!("  {} ", paint.ink(Ink::Quiet, "·")), 4, &text);
    }
    let mut passed: Vec<&str> = Vec::new();
    for verdict in own.iter().filter(|verdict| verdict.verdict == Outcome::Pass) {
        if !passed.contains(&verdict.check.as_str()) {
            passed.push(verdict.check.as_str());
        }
    }
    if !passed.is_empty() {
        let text = format!("nothing wrong found by {}", passed.join(", "));
        out += &paint.hang(&format!("  {} ", paint.ink(Ink::Good, "✓")), 4, &text);
    }
    out
}
