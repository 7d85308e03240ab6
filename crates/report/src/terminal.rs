//! The end screen: can it be believed, what is it like, what to do about it.

use iosonde_lab::conclude::{Mark, belief, storage_lines};
use iosonde_model::{Direction, Judgement, Op, Outcome, Run, Status, Trial, units};

use crate::quantity::Quantity;
use crate::text::{Ink, clean, columns, pad};

pub use crate::text::Paint;

/// Where a section's text begins: behind the longest of BELIEVE, STORAGE, DO.
const HEAD: usize = 10;

/// The screen that ends a study: BELIEVE, STORAGE, DO.
pub fn summary(run: &Run, paint: Paint) -> String {
    [believe(run, paint), storage(run, paint), advice(run, paint)].concat()
}

fn head(paint: Paint, word: &str) -> String {
    let gap = " ".repeat(HEAD - word.len());
    format!("{}{gap}", paint.ink(Ink::Strong, word))
}

fn symbol(paint: Paint, mark: Mark) -> String {
    let ink = match mark {
        Mark::Yes => Ink::Good,
        Mark::Doubt => Ink::Doubt,
        Mark::No => Ink::Bad,
    };
    paint.ink(ink, &mark.symbol().to_string())
}

fn believe(run: &Run, paint: Paint) -> String {
    let belief = belief(run);
    let mut out = paint.hang(&head(paint, "BELIEVE"), HEAD, &clean(&belief.headline));
    for line in &belief.lines {
        out += &paint.hang(&format!("  {} ", symbol(paint, line.mark)), 4, &clean(&line.text));
    }
    out
}

fn storage(run: &Run, paint: Paint) -> String {
    let lines = storage_lines(run);
    let Some(first) = lines.first() else { return String::new() };
    let mut out = String::from("\n");
    // What it is stands beside the head; the labelled figures stand below.
    let (beside, below) =
        if first.label.is_empty() { (first.text.as_str(), &lines[1..]) } else { ("", &lines[..]) };
    out += &paint.hang(&head(paint, "STORAGE"), HEAD, &clean(beside));
    let widest = below.iter().map(|line| columns(&line.label)).max().unwrap_or(0) + 2;
    for line in below {
        let lead = format!("  {}", pad(&clean(&line.label), widest));
        out += &paint.hang(&lead, widest + 2, &clean(&line.text));
    }
    out
}

fn advice(run: &Run, paint: Paint) -> String {
    let mut out = String::new();
    for advice in &run.advice {
        out += &paint.hang(&format!("  {} ", paint.ink(Ink::Good, "→")), 4, &clean(&advice.sentence));
    }
    // Where nothing can be advised, what would make it possible is the advice.
    let refused = run.findings.iter().filter(|f| f.status == Status::Refused).find_map(|f| f.why.as_deref());
    if let (true, Some(why)) = (out.is_empty(), refused) {
        out += &paint.hang("  → ", 4, &format!("nothing can be advised yet: {}", clean(why)));
    }
    if out.is_empty() { out } else { format!("\n{}\n{out}", paint.ink(Ink::Strong, "DO")) }
}

/// What one trial did, for `iosonde point`, and its verdicts.
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
    out += &around(trial, paint);
    out += &verdicts(run, trial, paint);
    let said = "One trial gives no interval: how much the next one would differ is not known. \
                For that, run a study.";
    out.push('\n');
    out + &paint.hang("", 0, said)
}

fn one_direction(trial: &Trial, op: Op, direction: &Direction, paint: Paint) -> String {
    let latency = &direction.latency_ns;
    let time = |ns: Option<f64>| ns.map_or("–".to_owned(), |ns| Quantity::Nanoseconds.text(ns));
    let rate = format!(
        "{}, {}",
        Quantity::Iops.text(direction.iops),
        Quantity::BytesPerSecond.text(direction.bytes_per_s)
    );
    let mut rows = vec![("rate", rate)];
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
    rows.push(("latency", if told.is_empty() { "nothing completed".to_owned() } else { told.join(", ") }));
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

fn fixed(seconds: f64) -> String {
    format!("{seconds:.2}")
}

fn around(trial: &Trial, paint: Paint) -> String {
    let ios: u64 = trial.witnesses.issued_ios;
    let mut rows = Vec::new();
    if let Some(mean) = trial.in_flight_mean {
        rows.push(("in flight", format!("{mean:.1} of {} asked for", trial.spec.asked_in_flight())));
    }
    if let (Some(user), Some(system), true) = (trial.cpu_user_s, trial.cpu_system_s, ios > 0) {
        let per_io = |seconds: f64| seconds * 1e6 / ios as f64;
        let (all, kernel) = (per_io(user + system), per_io(system));
        rows.push(("processor", format!("{all:.2} µs a request, {kernel:.2} µs of it in the kernel")));
    }
    if trial.hung > 0 {
        rows.push(("hung", format!("{} requests had not come back when the trial was given up", trial.hung)));
    }
    rows.extend(trial.error_examples.iter().map(|example| ("error", clean(example))));
    let head = if trial.directions().count() > 1 { "BOTH" } else { "TRIAL" };
    format!("{}\n{}", paint.ink(Ink::Strong, head), table(&rows, paint))
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
    let belief = belief(run);
    let mut out = String::from("\n");
    out += &paint.hang(&head(paint, "BELIEVE"), HEAD, &clean(&belief.headline));
    // That all of one trial stand is what the headline says.
    for line in belief.lines.iter().filter(|line| line.mark != Mark::Yes) {
        out += &paint.hang(&format!("  {} ", symbol(paint, line.mark)), 4, &clean(&line.text));
    }
    let about = |verdict: &&Judgement| verdict.trial == Some(trial.id) || verdict.trial.is_none();
    let own: Vec<&Judgement> = run.verdicts.iter().filter(about).collect();
    for verdict in own.iter().filter(|verdict| verdict.verdict == Outcome::Abstain) {
        let text = format!("not judged: {}: {}", verdict.check, clean(&verdict.why));
        out += &paint.hang(&format!("  {} ", paint.ink(Ink::Quiet, "·")), 4, &text);
    }
    let mut passed: Vec<&str> = Vec::new();
    for verdict in own.iter().filter(|verdict| verdict.verdict == Outcome::Pass) {
        if !passed.contains(&verdict.check.as_str()) {
            passed.push(&verdict.check);
        }
    }
    if !passed.is_empty() {
        let text = format!("nothing wrong found by {}", passed.join(", "));
        out += &paint.hang(&format!("  {} ", paint.ink(Ink::Good, "✓")), 4, &text);
    }
    out
}
