//! What was found against what is true: coverage, width, refusals, and the interval score.

use std::{collections::BTreeMap, fmt::Write};

use iosonde_model::{Finding, FindingName, Run, Status};
use serde::{Deserialize, Serialize};

use crate::{
    kinds::{Drawn, Expected, True},
    rules,
};

/// One finding on one device.
#[derive(Serialize, Deserialize)]
struct Answer {
    status: Option<Status>,
    identifiable: bool,
    covered: bool,
    exact: bool,
    /// Full width over the truth.
    width: f64,
    /// Winkler's interval score over the truth: the width, and 2/α for each unit that the truth lies outside.
    score: f64,
    off: f64,
}

/// A line of the file that `--keep` names.
#[derive(Serialize, Deserialize)]
pub struct Kept {
    pub kind: String,
    pub seed: u64,
    /// Which device of the seed's row.
    pub nth: u64,
    finding: FindingName,
    /// `None` where the device has no such thing; then `status` is what was said.
    answer: Option<Answer>,
    status: Option<Status>,
    rules: BTreeMap<String, f64>,
}

#[derive(Default)]
struct Line {
    present: Vec<Answer>,
    absent: Vec<Option<Status>>,
    rules: BTreeMap<String, Vec<f64>>,
}

/// All of them.
#[derive(Default)]
pub struct Scores {
    lines: Vec<((String, FindingName), Line)>,
}

fn matching<'r>(run: &'r Run, expected: &Expected) -> Option<&'r Finding> {
    let mut all = run.findings.iter().filter(|finding| {
        finding.name == expected.finding
            && (expected.op.is_none() || finding.conditions.op == expected.op)
            && (expected.which)(finding)
    });
    all.next()
}

/// What a device's run says, finding by finding.
pub fn answers(kind: &str, (seed, nth): (u64, u64), drawn: &Drawn, run: &Run, show: bool) -> Vec<Kept> {
    // What a drifting device is on average over the run.
    let drifted = (1.0 + drawn.drift).powf(run.info.elapsed_s / 3600.0 / 2.0);
    let one = |expected: &Expected| {
        let found = matching(run, expected);
        let status = found.map(|finding| finding.status);
        let said = || found.map_or_else(|| "nothing".to_owned(), iosonde_report::text::sentence);
        let mut kept = Kept {
            kind: kind.to_owned(),
            seed,
            nth,
            finding: expected.finding,
            answer: None,
            status,
            rules: BTreeMap::new(),
        };
        let truth = match expected.truth {
            True::Absent => {
                if show && status != Some(Status::Absent) {
                    println!("{kind} {nth}: {} is absent: {}\n{}", expected.finding, said(), drawn.device);
                }
                return kept;
            }
            True::Rate(truth) => truth * drifted,
            True::Time(truth) => truth / drifted,
            True::Fixed(truth) => truth,
        };
        let answer = answer(found, expected.identifiable, truth);
        if show && (!answer.covered && status == Some(Status::Found) || answer.refused_wrongly()) {
            println!("{kind} {nth}: {}: {truth:.6e} is true; {}\n{}", expected.finding, said(), drawn.device);
        }
        kept.answer = Some(answer);
        let guesses = rules::guesses(run, expected.finding);
        kept.rules =
            guesses.into_iter().map(|guess| (guess.rule.to_owned(), guess.value / truth - 1.0)).collect();
        kept
    };
    drawn.expected.iter().map(one).collect()
}

impl Scores {
    fn line(&mut self, kind: String, finding: FindingName) -> &mut Line {
        let key = (kind, finding);
        let place = self.lines.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
            self.lines.push((key, Line::default()));
            self.lines.len() - 1
        });
        &mut self.lines[place].1
    }

    /// Adds what one device's run said of one finding.
    pub fn add(&mut self, kept: Kept) {
        let line = self.line(kept.kind, kept.finding);
        match kept.answer {
            Some(answer) => line.present.push(answer),
            None => line.absent.push(kept.status),
        }
        for (rule, off) in kept.rules {
            line.rules.entry(rule).or_default().push(off);
        }
    }

    /// In Markdown.
    pub fn table(&self) -> String {
        let mut out = String::from(
            "| devices | finding | found | covers | identifiable | inconclusive there | median width | score | \
             off by |\n\
             |---|---|---|---|---|---|---|---|---|\n",
        );
        let (mut covered, mut all) = (0.0, 0.0);
        for ((kind, finding), line) in &self.lines {
            let found: Vec<&Answer> =
                line.present.iter().filter(|a| a.status == Some(Status::Found)).collect();
            let share = |count: usize, of: usize| match of {
                0 => "–".to_owned(),
                of => format!("{:.1} %", 100.0 * count as f64 / of as f64),
            };
            let holding = found.iter().filter(|a| a.covered).count();
            (covered, all) = (covered + holding as f64, all + found.len() as f64);
            let known: Vec<&Answer> = line.present.iter().filter(|a| a.identifiable).collect();
            let refused = known.iter().filter(|a| a.refused_wrongly()).count();
            let told: Vec<&&Answer> = known.iter().filter(|a| a.status == Some(Status::Found)).collect();
            let exact = told.iter().filter(|a| a.exact).count();
            if !line.present.is_empty() {
                let (low, high) = wilson(holding, found.len());
                let _ = writeln!(
                    out,
                    "| {kind} | `{finding}` | {} of {} | {} [{low:.1}, {high:.1}] | {} | {} | {} | {} | {}{} |",
                    found.len(),
                    line.present.len(),
                    share(holding, found.len()),
                    known.len(),
                    share(refused, known.len()),
                    percent(median(told.iter().map(|a| a.width))),
                    percent(mean(told.iter().map(|a| a.score))),
                    percent(median(told.iter().map(|a| a.off.abs()))),
                    if told.iter().any(|a| a.exact) {
                        format!(", exact in {}", share(exact, told.len()))
                    } else {
                        String::new()
                    },
                );
            }
            if !line.absent.is_empty() {
                let none = line.absent.iter().filter(|status| **status == Some(Status::Absent)).count();
                let invented = line.absent.iter().filter(|status| **status == Some(Status::Found)).count();
                let _ = writeln!(
                    out,
                    "| {kind} | `{finding}`, absent | said in {} of {}, invented in {} |||||||",
                    share(none, line.absent.len()),
                    line.absent.len(),
                    share(invented, line.absent.len()),
                );
            }
            for (rule, offs) in &line.rules {
                let near = offs.iter().filter(|off| off.abs() <= 0.05).count();
                let _ = writeln!(
                    out,
                    "| {kind} | {rule} for `{finding}` | {} | within 5 % in {} ||||| {} |",
                    offs.len(),
                    share(near, offs.len()),
                    percent(median(offs.iter().map(|off| off.abs()))),
                );
            }
        }
        let _ = writeln!(
            out,
            "\nAll findings together: {:.1} % of {all:.0} cover.",
            100.0 * covered / all.max(1.0)
        );
        out
    }
}

impl Answer {
    fn refused_wrongly(&self) -> bool {
        self.identifiable && self.status != Some(Status::Found)
    }
}

fn answer(found: Option<&Finding>, identifiable: bool, truth: f64) -> Answer {
    let status = found.map(|finding| finding.status);
    let ends = found.and_then(|finding| Some((finding.value?, finding.low?, finding.high?)));
    let Some((value, low, high)) = ends else {
        return Answer {
            status,
            identifiable,
            covered: false,
            exact: false,
            width: 0.0,
            score: 0.0,
            off: 0.0,
        };
    };
    // A rounding error of the file's own numbers.
    let slack = 1e-6 * truth;
    // "At least" is a lower bound only.
    let above = if found.is_some_and(|it| it.at_least) { 0.0 } else { truth - high };
    let outside = (low - truth).max(above).max(0.0);
    Answer {
        status,
        identifiable,
        covered: outside <= slack,
        exact: (value - truth).abs() <= slack,
        width: (high - low) / truth,
        score: (high - low + 2.0 / 0.05 * outside) / truth,
        off: value / truth - 1.0,
    }
}

/// The 95 % interval of a share, in percent (Wilson, 1927), which knows that 27 of 27 are not all there are.
fn wilson(count: usize, of: usize) -> (f64, f64) {
    if of == 0 {
        return (0.0, 100.0);
    }
    let (share, of, z) = (count as f64 / of as f64, of as f64, 1.96_f64);
    let stretch = 1.0 + z * z / of;
    let centre = (share + z * z / (2.0 * of)) / stretch;
    let half = z / stretch * (share * (1.0 - share) / of + z * z / (4.0 * of * of)).sqrt();
    (100.0 * (centre - half).max(0.0), 100.0 * (centre + half).min(1.0))
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "–".to_owned(), |share| format!("{:.1} %", 100.0 * share))
}
