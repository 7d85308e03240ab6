//! The end screen: validity, results, advice.

mod trial_table;

use crate::{
    answer::shown::{Line, Shown, Tenor},
    paint::{Ink, clean, columns, pad},
    quantity::Quantity,
    text::{
        self, counted_error,
        footnote::WARNINGS_MAX,
        host_table::{HEADS, host_rows},
        number::Figure,
        point_table::{PointRow, point_table},
        requirement::RequirementTable,
        results::results,
        table::{Cell, ResultRow, ResultTable},
        validity::{self, Weight, validity},
    },
};
use iosonde_infer::finding::RUN;
use iosonde_model::{
    Finding, Injected, Judgement, Outcome, RequirementVerdict, Run, Status, Trial, TrialSpec, Verification,
    fio::FioReport, units,
};
use trial_table::{aligned, latency_table, report_rows, requests_needed, rows_of_figures};

pub use crate::paint::Paint;
pub(crate) use trial_table::results_table;

/// Where a section's text begins: behind the longest of VALID, RESULTS, POINTS, ADVICE.
const HEAD: usize = 10;
/// Columns of a host's rank and name.
const NAME_MOST: usize = 18;
/// Where text begins behind the answer of a test, or behind a label.
const LEAD: usize = 14;

/// The screen that ends a study: VALID, RESULTS, ADVICE.
pub fn summary(run: &Run, paint: Paint) -> String {
    if let Some(table) = text::requirement::of_run(run) {
        return requirement(run, &table, paint);
    }
    [
        measured(run, paint),
        valid(run, true, paint),
        sheet_of(run, paint),
        results_of(run, paint),
        points(run, paint),
        hosts(run, paint),
        requirements_beside(run, paint),
        advice(run, paint),
    ]
    .concat()
}

/// Warnings on the screen of a check: with two of two lines each, it has twelve lines at most.
const CHECK_WARNINGS_MAX: usize = 2;

/// The screen of a check: the answer first, then what it rests on, where the requirement stands, and what would settle
/// it.
fn requirement(run: &Run, table: &RequirementTable, paint: Paint) -> String {
    let word = text::requirement::verdict(table.verdict).to_uppercase();
    let gap = " ".repeat(LEAD - word.len());
    let lead = format!("{}{gap}", paint.ink(verdict_ink(table.verdict), &word));
    let mut out = paint.hang(&lead, LEAD, &clean(&table.answer));
    let mut line = |label: &str, text: &str| {
        // `inconclusive` fills the column.
        out += &paint.hang(&format!("  {label:<w$} ", w = LEAD - 3), LEAD, &clean(text));
    };
    match &table.rows[..] {
        [row] => line("workload", &row.basis),
        rows => {
            for row in rows {
                let answer = text::requirement::verdict(row.verdict);
                let told = format!("{} {}; {}. {}", row.figure, row.measured, row.limit, row.basis);
                line(answer, &told);
            }
        }
    }
    let place = [run.info.device.file_system.as_deref(), run.info.device.name.as_deref()];
    // Who typed `sim:NAME` knows the name.
    let is_new = |name: &&str| !run.info.target.ends_with(*name);
    let place: Vec<&str> = place.into_iter().flatten().filter(is_new).collect();
    let place = if place.is_empty() { String::new() } else { format!(" ({})", place.join(" on ")) };
    line("target", &format!("{}{place}; took {}", run.info.target, units::duration(run.info.elapsed_s)));
    let validity = validity(run);
    line("valid", &validity.headline);
    if let Some(state) = &table.state {
        line("state", state);
    }
    // The address is in the requirement's file and in the document.
    let source = table.source.split(": https://").next().unwrap_or_default();
    line("source", &format!("{source}, {}", table.source_date));
    if let Some(remedy) = &table.remedy {
        line("to settle", remedy);
    }
    for warning in validity.lines.iter().filter(|line| line.mark == Weight::Doubt).take(CHECK_WARNINGS_MAX) {
        line("warning", &warning.text);
    }
    out
}

/// The screen of a command that keeps no run.
pub(crate) fn answer(shown: &Shown, paint: Paint) -> String {
    let word = shown.word.to_uppercase();
    let ink = match shown.tenor {
        Tenor::Plain => Ink::Strong,
        Tenor::Good => Ink::Good,
        Tenor::Doubt => Ink::Doubt,
        Tenor::Bad => Ink::Bad,
    };
    let gap = " ".repeat(LEAD - word.len());
    let mut out = paint.hang(&format!("{}{gap}", paint.ink(ink, &word)), LEAD, &clean(&shown.sentence));
    out += &labelled_lines(&shown.before, paint);
    if let Some(table) = &shown.table {
        out += &format!("\n{}\n", result_table(table, paint));
    }
    out + &labelled_lines(&shown.after, paint)
}

fn labelled_lines(lines: &[Line], paint: Paint) -> String {
    let line = |(label, text): &Line| paint.hang(&format!("  {label:<w$}", w = LEAD - 2), LEAD, text);
    lines.iter().map(line).collect()
}

fn verdict_ink(verdict: RequirementVerdict) -> Ink {
    match verdict {
        RequirementVerdict::Pass => Ink::Good,
        RequirementVerdict::Inconclusive => Ink::Doubt,
        RequirementVerdict::Fail => Ink::Bad,
    }
}

/// Requirements whose workload a run measured beside its own question.
fn requirements_beside(run: &Run, paint: Paint) -> String {
    let told = text::requirement::beside(run);
    if told.is_empty() {
        return String::new();
    }
    let mut out = format!("\n{}\n", paint.ink(Ink::Strong, "REQUIREMENTS"));
    for (verdict, answer) in told {
        let word = text::requirement::verdict(verdict);
        let lead = format!("  {}{}", paint.ink(verdict_ink(verdict), word), " ".repeat(14 - word.len()));
        out += &paint.hang(&lead, 16, &clean(&answer));
    }
    out
}

/// What was measured: study, target, device, size, time, bytes written and version.
fn measured(run: &Run, paint: Paint) -> String {
    let lead = format!("{} on {}", run.info.study, clean(&run.info.target));
    // The beginning of a run describes the parts of a simulated device.
    let what = crate::story::measured_on_briefly(run);
    let took = units::duration(run.info.elapsed_s);
    let wrote = match run.info.bytes_written {
        0 => "nothing".to_owned(),
        bytes => units::decimal_bytes(bytes),
    };
    let text = format!("{lead}   {}; took {took}, wrote {wrote} (iosonde {})", clean(&what), run.iosonde);
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

/// With `counts`, also how many trials are valid.
fn valid(run: &Run, counts: bool, paint: Paint) -> String {
    let validity = validity(run);
    let of = |wanted: fn(Weight) -> bool| -> Vec<_> {
        validity.lines.iter().filter(|line| wanted(line.mark)).collect()
    };
    let warnings = of(|mark| mark > Weight::Note);
    let doubts = warnings.iter().filter(|line| line.mark == Weight::Doubt).count();
    let shown = if doubts > WARNINGS_MAX {
        format!(" ({WARNINGS_MAX} shown; the report has all)")
    } else {
        String::new()
    };
    let mut counted: Vec<&str> =
        of(|mark| mark == Weight::Yes).iter().map(|line| line.brief.as_str()).collect();
    if !counts {
        counted.clear();
    }
    let beside: String = counted.into_iter().map(|text| format!("; {text}")).collect();
    let answer = clean(&format!("{}{shown}{beside}", validity.headline));
    let mut out = paint.hang(&head(paint, "VALID"), HEAD, &answer);
    // What makes a run invalid stands in its first line.
    for line in warnings.iter().filter(|line| line.mark == Weight::Doubt).take(WARNINGS_MAX) {
        let footnote = line.footnote.map_or_else(String::new, |mark| mark.to_string());
        let lead = format!("  {}{footnote} ", symbol(paint, line.mark));
        out += &paint.hang(&lead, 4 + columns(&footnote), &clean(&line.brief));
    }
    out
}

/// The sheet whose lines the run measured: its question, so its first answer.
fn sheet_of(run: &Run, paint: Paint) -> String {
    let Some(table) = text::sheet::of_run(run) else { return String::new() };
    let lead = format!("\n{}", head(paint, "SHEET"));
    let answer = format!("{}: {}", table.sheet, table.answer);
    lead + paint.hang(&" ".repeat(HEAD), HEAD, &clean(&answer)).trim_start()
        + &crate::sheet::claims(&table, paint)
}

fn results_of(run: &Run, paint: Paint) -> String {
    let results = results(run);
    if results.is_empty() {
        return String::new();
    }
    let mut out = match results.storage.as_str() {
        "" => format!("\n{}\n", paint.ink(Ink::Strong, "RESULTS")),
        storage => format!("\n{}", paint.hang(&head(paint, "RESULTS"), HEAD, &clean(storage))),
    };
    for (nth, table) in results.tables.iter().enumerate() {
        out += if nth > 0 { "\n" } else { "" };
        out += &result_table(table, paint);
    }
    // A second table ends where the lines begin.
    if results.tables.len() > 1 && !results.lines.is_empty() {
        out.push('\n');
    }
    let widest = results.lines.iter().map(|line| columns(&line.label)).max().unwrap_or(0) + 2;
    for line in &results.lines {
        let lead = format!("  {}", pad(&clean(&line.label), widest));
        out += &paint.hang(&lead, widest + 2, &clean(&line.text));
    }
    out
}

/// One column of a table, with the rows that have a figure in it.
fn column_of(table: &ResultTable, at: usize) -> ResultTable {
    let row = |row: &ResultRow| ResultRow { cells: vec![row.cells[at].clone()], ..row.clone() };
    // A head of other rows has no figure in any column.
    let is_shown = |row: &&ResultRow| row.cells[at].is_some() || row.cells.iter().all(Option::is_none);
    let rows = table.rows.iter().filter(is_shown).map(row).collect();
    ResultTable { corner: table.corner, heads: vec![table.heads[at]], rows }
}

/// Figures in columns, behind their labels.
fn result_table(table: &ResultTable, paint: Paint) -> String {
    let label = |row: &ResultRow| format!("  {}{}", if row.indented { "  " } else { "" }, row.label);
    let corner = format!("  {}", table.corner);
    let labels =
        table.rows.iter().map(|row| columns(&label(row))).chain([columns(&corner)]).max().unwrap_or(0);
    let column = |at: usize| -> Vec<String> {
        let own = || table.rows.iter().filter_map(|row| row.cells[at].as_ref());
        let with_interval = own().map(|cell| &cell.figure).filter(|figure| !figure.interval.is_empty());
        let values = with_interval.map(|figure| columns(&figure.value)).max();
        let figure = |figure: &Figure| match figure.interval.as_str() {
            "" => figure.value.clone(),
            interval => format!("{} {interval}", pad(&figure.value, values.unwrap_or(0))),
        };
        let cell = |cell: &Cell| format!("{} {}", figure(&cell.figure), cell.marks).trim_end().to_owned();
        let cells = table.rows.iter().map(|row| row.cells[at].as_ref().map_or_else(String::new, cell));
        let all: Vec<String> = std::iter::once(table.heads[at].to_owned()).chain(cells).collect();
        let width = all.iter().map(|cell| columns(cell)).max().unwrap_or(0) + 2;
        all.iter().map(|cell| pad(cell, width)).collect()
    };
    let filled: Vec<Vec<String>> = (0..table.heads.len()).map(column).collect();
    let width = labels + filled.iter().map(|column| columns(&column[0])).sum::<usize>();
    if width > paint.width && table.heads.len() > 1 {
        // One column below the other.
        let alone = |at: usize| result_table(&column_of(table, at), paint);
        return (0..table.heads.len()).map(alone).collect();
    }
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
    let row = |row: &PointRow| table.cells(row).map(|cell| clean(&cell));
    let heads = table.heads().map(str::to_owned);
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

/// Hosts beside each other.
fn hosts(run: &Run, paint: Paint) -> String {
    let Some(table) = host_rows(run) else { return String::new() };
    let heads = HEADS.map(str::to_owned);
    // Interval and ratio are the last to be cut: a name is known by its rank.
    let short = |row: &[String; 7]| {
        let mut row = row.clone().map(|cell| clean(&cell));
        if columns(&row[0]) > NAME_MOST {
            row[0] = format!("{}…", row[0].chars().take(NAME_MOST - 1).collect::<String>());
        }
        row
    };
    let rows: Vec<[String; 7]> = std::iter::once(heads).chain(table.rows.iter().map(short)).collect();
    let notes: String =
        table.notes.iter().map(|note| paint.hang("  ", 4, &clean(&note.replace('`', "")))).collect();
    let caption = paint.hang(&head(paint, "HOSTS"), HEAD, &clean(&table.caption));
    format!("\n{caption}{}{notes}", aligned(&rows, paint))
}

fn advice(run: &Run, paint: Paint) -> String {
    let mut out = String::new();
    for advised in crate::text::marks::marked_advice(run) {
        out += &paint.hang(&format!("  {} ", paint.ink(Ink::Good, "→")), 4, &clean(&advised.marked()));
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

/// Results of one trial, for `iosonde point`, and whether they are valid; with `details`, what each check says.
pub fn trial(run: &Run, details: bool, paint: Paint) -> String {
    let measured: Vec<&Trial> =
        run.trials.iter().filter(|t| t.phase == iosonde_model::Phase::Measure).collect();
    let Some(trial) = measured.last() else { return "No trial was run.\n".to_owned() };
    let (target, subject) = (&run.info.target, crate::story::on_briefly(run));
    let what = format!(
        "{} on {target}   {subject}, measured for {} s",
        trial.spec.describe(),
        fixed(trial.measured_s)
    );
    let mut out = paint.hang("", 2, &clean(&what));
    out.push('\n');
    out += &latency_table(trial, paint);
    out += &around(trial, paint);
    out += &hosts(run, paint);
    out += &verdicts(run, trial, details, paint);
    let more = if details { "" } else { "; `-v` lists the checks" };
    out + &paint.hang(
        "  ",
        2,
        &format!("one trial, so no confidence interval (`iosonde run` gives one){more}"),
    )
}

/// Results of the jobs of fio's job files: a row for each direction of each job, the groups below each other, and
/// whether they are valid; with `details`, what each check says.
pub fn jobs(run: &Run, details: bool, paint: Paint) -> String {
    let groups = run.info.fio.iter().flat_map(|fio| &fio.groups);
    let measured = run.trials.iter().filter(|trial| trial.phase == iosonde_model::Phase::Measure);
    let pairs: Vec<(&Trial, &Vec<FioReport>)> = measured.zip(groups).collect();
    let subject = crate::story::on_briefly(run);
    let mut out = paint.hang("", 2, &clean(&format!("fio's jobs on {}   {subject}", run.info.target)));
    out.push('\n');
    let rows =
        pairs.iter().flat_map(|(trial, reports)| reports.iter().map(|report| report_rows(trial, report)));
    out += &rows_of_figures(rows.flatten().collect(), paint);
    for (trial, reports) in &pairs {
        // With several groups each has its name in front.
        if pairs.len() > 1 || reports.len() > 1 {
            out += &format!(
                "\n{}",
                paint.hang("", 2, &clean(&format!("{}, {} s", trial.experiment, fixed(trial.measured_s))))
            );
        }
        out += &around(trial, paint);
    }
    out += &format!("\n{}", valid(run, false, paint));
    if details {
        for (trial, _) in &pairs {
            out += &checks_of(run, trial, paint);
        }
    }
    let more = if details { "" } else { "; `-v` lists the checks" };
    out + &paint.hang(
        "  ",
        2,
        &format!("one trial each, so no confidence intervals (`iosonde run` gives them){more}"),
    )
}

/// Ten ticks of a kernel that counts processor time in these, 250 a second: of less, a figure per request is noise.
const CPU_MIN_S: f64 = 0.04;

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

/// What else is to be known of a trial: depth, load, processor, and what failed.
fn around(trial: &Trial, paint: Paint) -> String {
    let ios: u64 = trial.witnesses.issued_ios;
    let mut rows = Vec::new();
    rows.extend(requests_needed(trial).map(|needed| ("too few", needed)));
    if let Some(mean) = trial.in_flight_mean {
        let most = if trial.spec.keeps_depth() { "requested" } else { "allowed" };
        let asked = trial.asked_in_flight_mean();
        let whole = trial.spec.asked_in_flight() as f64;
        // Streams that ran for a part of the time requested a part of their depths.
        let depth = match asked < 0.99 * whole {
            true => format!("{mean:.1} of {asked:.1} {most}, averaged over the whole time"),
            false => format!("{mean:.1} of {whole} {most}"),
        };
        rows.push(("depth", depth));
    }
    if let (Some(rate), true) = (trial.achieved_rate_iops, trial.streams.is_empty()) {
        rows.push(("served", served(rate, trial.achieved_rate_interval, &trial.spec, trial.unserved)));
    }
    let of_streams = trial.streams.iter().filter_map(|stream| {
        let served = served(stream.achieved_rate_iops?, None, &stream.spec, stream.unserved);
        Some(("served", served))
    });
    rows.extend(of_streams);
    if let Some(late_ns) = trial.pacing_error_ns {
        let p99 = trial.pacing_error_ns_p99.map(|ns| format!(", p99 {}", Quantity::Nanoseconds.text(ns)));
        let mean = Quantity::Nanoseconds.text(late_ns);
        rows.push(("pacing", format!("sent {mean} late on average{}", p99.unwrap_or_default())));
    }
    if let Some(seen) = &trial.verify {
        rows.push(("verified", verified(seen)));
    }
    if let Some(injected) = &trial.witnesses.injected {
        rows.push(("injected", put_wrong(injected)));
    }
    if let (Some(user), Some(system), true) = (trial.cpu_user_s, trial.cpu_system_s, ios > 0)
        && user + system >= CPU_MIN_S
    {
        let per_io = |seconds: f64| seconds * 1e6 / ios as f64;
        let (all, kernel) = (per_io(user + system), per_io(system));
        rows.push(("CPU", format!("{all:.2} µs per request ({kernel:.2} µs in the kernel)")));
    }
    for (op, direction) in trial.directions().filter(|(_, own)| own.errors + own.short > 0) {
        rows.push(("failed", format!("{} {op}s with an error, {} short", direction.errors, direction.short)));
    }
    if let Some(flush) = trial.flush.as_ref().filter(|flush| flush.errors > 0) {
        rows.push(("failed", format!("{} flushes with an error", flush.errors)));
    }
    if trial.hung > 0 {
        rows.push(("hung", format!("{} requests had not come back when the trial was given up", trial.hung)));
    }
    rows.extend(trial.error_examples.iter().map(|error| ("error", clean(&counted_error(error)))));
    table(&rows, paint)
}

/// What a simulated device did on purpose, to compare with what was found.
fn put_wrong(injected: &Injected) -> String {
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

/// The same answer as a study's; with `details`, what was not checked of this trial, and what passed.
fn verdicts(run: &Run, trial: &Trial, details: bool, paint: Paint) -> String {
    let mut out = format!("\n{}", valid(run, false, paint));
    if details {
        out += &checks_of(run, trial, paint);
    }
    out
}

/// What was not checked of a trial, and what passed.
fn checks_of(run: &Run, trial: &Trial, paint: Paint) -> String {
    let mut out = String::new();
    let about = |verdict: &&Judgement| verdict.trial == Some(trial.id) || verdict.trial.is_none();
    let own: Vec<&Judgement> = run.verdicts.iter().filter(about).collect();
    let not_checked = |verdict: &&&Judgement| verdict.verdict == Outcome::NotChecked;
    let mut looked: Vec<&str> = Vec::new();
    for verdict in own.iter().filter(not_checked) {
        looked.push(verdict.check.as_str());
        let text = format!("not checked: {}: {}", verdict.check, clean(&crate::text::why(verdict)));
        out += &paint.hang(&format!("  {} ", paint.ink(Ink::Quiet, "·")), 4, &text);
    }
    let mut passed: Vec<&str> = Vec::new();
    for verdict in own.iter().filter(|verdict| verdict.verdict == Outcome::Pass) {
        let check = verdict.check.as_str();
        if !passed.contains(&check) && !looked.contains(&check) {
            passed.push(check);
        }
    }
    if !passed.is_empty() {
        let text = format!("passed: {}", passed.join(", "));
        out += &paint.hang(&format!("  {} ", paint.ink(Ink::Good, "✓")), 4, &text);
    }
    out
}
