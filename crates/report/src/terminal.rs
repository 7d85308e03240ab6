//! The end screen: validity, results, advice.

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
    Commits, Direction, Finding, Flush, Injected, Judgement, LatencySummary, Op, Outcome, RequirementVerdict,
    Run, Status, Trial, TrialSpec, Verification, fio::FioReport, units,
};

pub use crate::paint::Paint;

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
    format!("\n{caption}{}{notes}", rows_of_figures(&rows, paint))
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
    let (target, subject) = (&run.info.target, crate::subject(&run.info.device));
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
    let more = if details { "" } else { "; -v lists the checks" };
    out + &paint.hang(
        "  ",
        2,
        &format!("one trial, so no confidence interval; `iosonde run` gives them{more}"),
    )
}

/// Results of the jobs of fio's job files: a row for each direction of each job, the groups below each other, and
/// whether they are valid; with `details`, what each check says.
pub fn jobs(run: &Run, details: bool, paint: Paint) -> String {
    let groups = run.info.fio.iter().flat_map(|fio| &fio.groups);
    let measured = run.trials.iter().filter(|trial| trial.phase == iosonde_model::Phase::Measure);
    let pairs: Vec<(&Trial, &Vec<FioReport>)> = measured.zip(groups).collect();
    let subject = crate::story::on(run);
    let mut out = paint.hang("", 2, &clean(&format!("fio's jobs on {}   {subject}", run.info.target)));
    out.push('\n');
    let mut rows = vec![TRIAL_HEADS.map(str::to_owned)];
    for (trial, reports) in &pairs {
        for report in *reports {
            rows.extend(report_rows(trial, report));
        }
    }
    out += &rows_of_figures(&rows, paint);
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
    let more = if details { "" } else { "; -v lists the checks" };
    out + &paint.hang(
        "  ",
        2,
        &format!("one trial each, so no confidence interval; `iosonde run` gives them{more}"),
    )
}

/// A row for each direction of a job, and for its flushes.
fn report_rows(trial: &Trial, report: &FioReport) -> Vec<[String; 8]> {
    let label = |what: &str| format!("{} {what}", clean(&report.name));
    let mut rows = Vec::new();
    for op in Op::DIRECTIONS {
        rows.extend(report.direction(trial, op).map(|lane| transfer_row(label(op.name()), &lane)));
    }
    let flushing_s = report.flushing_s(trial);
    rows.extend(report.flush(trial).map(|flush| flush_row(label("flush"), &flush, flushing_s)));
    rows
}

/// Ten ticks of a kernel that counts processor time in these, 250 a second: of less, a figure per request is noise.
const CPU_MIN_S: f64 = 0.04;

/// Columns of the table of one trial.
const TRIAL_HEADS: [&str; 8] = ["", "IOPS", "bandwidth", "mean", "p50", "p99", "p99.9", "max"];

/// A row for each direction, for flushes, and for each stream of several.
fn latency_table(trial: &Trial, paint: Paint) -> String {
    let mut rows = vec![TRIAL_HEADS.map(str::to_owned)];
    rows.extend(trial.directions().map(|(op, direction)| transfer_row(op.name().to_owned(), direction)));
    if let Some(flush) = &trial.flush {
        rows.push(flush_row("flush".to_owned(), flush, trial.measured_s));
        rows.extend(flush.commit.as_ref().map(|commits| commit_row(flush, commits, trial.measured_s)));
    }
    for (number, stream) in trial.streams.iter().enumerate() {
        let lanes = [(Op::Read, &stream.read), (Op::Write, &stream.write), (Op::Trim, &stream.trim)];
        let own = lanes.into_iter().filter_map(|(op, lane)| Some((op, lane.as_ref()?)));
        let label = |what: &str| format!("stream {} {what}", number + 1);
        rows.extend(own.map(|(op, lane)| transfer_row(label(op.name()), lane)));
        let own_s = stream.measured_s.unwrap_or(trial.measured_s);
        rows.extend(stream.flush.as_ref().map(|flush| flush_row(label("flush"), flush, own_s)));
    }
    rows_of_figures(&rows, paint)
}

/// Minimum width of the labels of a table that is wider than the screen, in columns.
const LABEL_MIN: usize = 9;

/// Rows below their heads. Where they are wider than the screen, a long label stands above its figures.
fn rows_of_figures<const N: usize>(rows: &[[String; N]], paint: Paint) -> String {
    let mut widths: [usize; N] = std::array::from_fn(|at| {
        let widest = rows.iter().map(|row| columns(&row[at])).max().unwrap_or(0);
        if widest > 0 { widest + 2 } else { 0 }
    });
    let figures: usize = widths[1..].iter().sum();
    let is_wide = widths[0] + figures > paint.width;
    if is_wide {
        widths[0] = paint.width.saturating_sub(figures).clamp(LABEL_MIN, widths[0]);
    }
    let line = |(nth, row): (usize, &[String; N])| {
        let label = if is_wide { row[0].trim_start() } else { &row[0] };
        let is_apart = columns(label) + 2 > widths[0];
        let (above, label) = if is_apart { (format!("  {label}\n"), "") } else { (String::new(), label) };
        let cells: String = (1..N).map(|at| pad(&row[at], widths[at])).collect();
        let line = format!("  {}", format!("{}{cells}", pad(label, widths[0])).trim_end());
        format!("{above}{}\n", if nth == 0 { paint.ink(Ink::Quiet, &line) } else { line })
    };
    rows.iter().enumerate().map(line).collect()
}

/// A table of results of other tools: a row for each direction, without the columns that no result has. A label has as
/// many columns as the figures leave, and half of the screen at least.
pub(crate) fn results_table(
    trials: &[Trial],
    label: impl Fn(&Trial, usize) -> String,
    paint: Paint,
) -> String {
    let mut rows: Vec<(&Trial, Place, [String; 8])> = Vec::new();
    for trial in trials {
        let flush = trial.flush.as_ref().filter(|flush| flush.latency_ns.mean.is_some());
        let several = trial.directions().count() > 1 || flush.is_some();
        for (nth, (op, direction)) in trial.directions().enumerate() {
            let row = match (several, nth) {
                (false, _) => Place::Only,
                (true, 0) => Place::First(format!(", {op}s")),
                (true, _) => Place::Below(format!("{op}s")),
            };
            rows.push((trial, row, transfer_row(String::new(), direction)));
        }
        if let Some(flush) = flush {
            let row = Place::Below("flushes".to_owned());
            rows.push((trial, row, flush_row(String::new(), flush, trial.measured_s)));
        }
    }
    if rows.is_empty() {
        return String::new();
    }
    let given: Vec<usize> =
        (1..TRIAL_HEADS.len()).filter(|&at| rows.iter().any(|(.., row)| row[at] != "–")).collect();
    let width = |at: &usize| {
        let cells = rows.iter().map(|(.., row)| columns(&row[*at]));
        cells.chain([TRIAL_HEADS[*at].len()]).max().unwrap_or(0) + GAP
    };
    let room = paint.width.saturating_sub(given.iter().map(width).sum::<usize>() + GAP);
    let of = |label: String, row: &[String; 8]| {
        let mut cells: [String; 8] = Default::default();
        cells[0] = label;
        for (to, from) in given.iter().enumerate() {
            cells[to + 1].clone_from(&row[*from]);
        }
        cells
    };
    // What stands behind the label of a result with several rows has its place first.
    let label = |trial: &Trial, behind: usize| label(trial, room.saturating_sub(behind).max(paint.width / 2));
    let behind = columns(", writes");
    let labelled = rows.iter().map(|(trial, row, cells)| {
        let label = match row {
            Place::Only => label(trial, 0),
            Place::First(op) => label(trial, behind) + op,
            Place::Below(what) => " ".repeat(columns(&label(trial, behind)) + 2) + what,
        };
        of(label, cells)
    });
    let heads = of(String::new(), &TRIAL_HEADS.map(str::to_owned));
    rows_of_figures(&std::iter::once(heads).chain(labelled).collect::<Vec<_>>(), paint)
}

/// Columns between two cells.
const GAP: usize = 2;

/// Place of a row among those of its result: the only one, the first of several, or one of the others.
enum Place {
    Only,
    First(String),
    Below(String),
}

fn transfer_row(label: String, direction: &Direction) -> [String; 8] {
    let iops = units::count(direction.iops);
    let [mean, p50, p99, p99_9, max] = latencies(&direction.latency_ns, direction.histogram.total() > 0);
    [label, iops, Quantity::BytesPerSecond.text(direction.bytes_per_s), mean, p50, p99, p99_9, max]
}

fn flush_row(label: String, flush: &Flush, measured_s: f64) -> [String; 8] {
    let per_s = if measured_s > 0.0 { flush.ios as f64 / measured_s } else { 0.0 };
    let [mean, p50, p99, p99_9, max] = latencies(&flush.latency_ns, flush.histogram.total() > 0);
    [label, units::count(per_s), String::new(), mean, p50, p99, p99_9, max]
}

/// Writes and the flush that made them durable: what a client waits for.
fn commit_row(flush: &Flush, commits: &Commits, measured_s: f64) -> [String; 8] {
    let [_, per_s, bandwidth, ..] = flush_row(String::new(), flush, measured_s);
    let [mean, p50, p99, p99_9, max] = latencies(&commits.latency_ns, true);
    ["commit".to_owned(), per_s, bandwidth, mean, p50, p99, p99_9, max]
}

/// Mean, p50, p99, p99.9 and maximum. Where requests were counted one by one, a percentile that is not given needs more
/// of them; of another tool's result, it is not stated.
fn latencies(latency: &LatencySummary, is_counted: bool) -> [String; 5] {
    let max = latency.max.map(|ns| ns as f64);
    let missing = if is_counted { "too few" } else { "–" };
    [latency.mean, latency.p50, latency.p99, latency.p99_9, max]
        .map(|ns| ns.map_or(missing.to_owned(), |ns| Quantity::Nanoseconds.text(ns)))
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

/// What else is to be known of a trial: depth, load, processor, and what failed.
fn around(trial: &Trial, paint: Paint) -> String {
    let ios: u64 = trial.witnesses.issued_ios;
    let mut rows = Vec::new();
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
        rows.push(("injected", told(injected)));
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
