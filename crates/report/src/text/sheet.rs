//! Words of a run against a vendor's sheet.

use iosonde_infer::sheet;
use iosonde_model::{
    ClaimUnit, ClaimVerdict, Estimate, Run, Sheet, SheetBasis, SheetLine, Study, Unit, UnlikeClaim, units,
};

use super::number::{Figure, figure};

/// A run against a sheet: the answer, and a row for each line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimTable {
    /// What the sheet is of.
    pub sheet: String,
    /// `2 of 4 lines meet the claim; 1 is below it`.
    pub answer: String,
    /// A row for each line.
    pub rows: Vec<ClaimRow>,
}

/// A line of a sheet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimRow {
    /// As printed on the sheet.
    pub line: String,
    /// With its unit.
    pub claimed: String,
    /// `None` where nothing was.
    pub measured: Option<Figure>,
    /// Result of the comparison.
    pub verdict: ClaimVerdict,
    /// Workload that was measured, and conditions that are not the claim's.
    pub why: String,
}

/// The sheet whose lines a run measured, held against it; `None` for other runs.
pub fn of_run(run: &Run) -> Option<ClaimTable> {
    let sheet = Study::parse(&run.info.study_source, &run.info.study).ok()?.sheet?;
    Some(claim_table(&sheet, &sheet::lines(run, &sheet, sheet::MARGIN)))
}

/// Whether a run measured a sheet's lines.
pub fn is_of_sheet(run: &Run) -> bool {
    Study::parse(&run.info.study_source, &run.info.study).is_ok_and(|study| study.sheet.is_some())
}

/// Lines of a sheet as a table.
pub fn claim_table(sheet: &Sheet, lines: &[SheetLine]) -> ClaimTable {
    ClaimTable { sheet: sheet.summary.clone(), answer: answer(lines), rows: lines.iter().map(row).collect() }
}

fn row(line: &SheetLine) -> ClaimRow {
    let unit = match line.unit {
        ClaimUnit::Iops => Unit::Iops,
        ClaimUnit::BytesPerSecond => Unit::Rate,
    };
    let value = |value: f64, low, high| figure(unit, &Estimate { value, low, high });
    ClaimRow {
        line: line.line.clone(),
        claimed: value(line.claimed, None, None).value,
        measured: line.measured.map(|measured| value(measured, line.low, line.high)),
        verdict: line.verdict,
        why: why(line),
    }
}

/// How many lines meet the claim, and how many do not.
fn answer(lines: &[SheetLine]) -> String {
    let count = |verdict: ClaimVerdict| lines.iter().filter(|line| line.verdict == verdict).count();
    let met = count(ClaimVerdict::Meets);
    let meet = if met == 1 { "meets" } else { "meet" };
    let of = if lines.len() == 1 { "1 line".to_owned() } else { format!("{} lines", lines.len()) };
    let others = [
        (ClaimVerdict::Below, "below it"),
        (ClaimVerdict::Above, "above it"),
        (ClaimVerdict::NotComparable, "not comparable"),
    ];
    let others = others.map(|(verdict, words)| match count(verdict) {
        0 => String::new(),
        1 => format!("; 1 is {words}"),
        count => format!("; {count} are {words}"),
    });
    format!("{met} of {of} {meet} the claim{}", others.concat())
}

/// Why a line of a sheet has its verdict.
pub fn why(line: &SheetLine) -> String {
    let (spec, margin, unlike) = match &line.basis {
        SheetBasis::NotMeasured { rw, block_size_bytes } => {
            let size = block_size_bytes.map_or_else(String::new, |bytes| format!("{} ", units::size(bytes)));
            return format!("{size}{rw} was not measured");
        }
        SheetBasis::Invalid(judged) => return format!("invalid: {}", super::why(judged)),
        SheetBasis::NoSuchFigure => return "no valid figure".to_owned(),
        SheetBasis::Measured { spec, margin, unlike } => (spec, *margin, unlike),
    };
    let share = line.measured.unwrap_or(f64::NAN) / line.claimed;
    let verdict = match line.verdict {
        ClaimVerdict::Meets => Some(format!("within {} of the claim", units::percent(margin))),
        ClaimVerdict::Below => Some(format!("{} of the claim", units::percent(share))),
        ClaimVerdict::Above => Some(format!("{share:.2} times the claim, which is suspicious")),
        ClaimVerdict::NotComparable => None,
    };
    let conditions: Vec<String> = unlike.iter().map(|unlike| condition(unlike, line.claimed)).collect();
    let said: Vec<String> =
        verdict.into_iter().chain((!conditions.is_empty()).then(|| conditions.join(", "))).collect();
    format!("{}: {}", spec.describe(), said.join("; "))
}

fn condition(unlike: &UnlikeClaim, claimed: f64) -> String {
    match *unlike {
        UnlikeClaim::Span { span_bytes: None, whole_bytes } => {
            format!("span of {} unknown", units::decimal_bytes(whole_bytes))
        }
        UnlikeClaim::Span { span_bytes: Some(bytes), whole_bytes } => span(bytes, whole_bytes),
        UnlikeClaim::SpanNotClaimed { span_bytes, whole_bytes } => {
            format!("{} (the claim names no span)", span(span_bytes, whole_bytes))
        }
        UnlikeClaim::QueueDepth { measured, claimed } => format!("QD {measured} instead of {claimed}"),
        UnlikeClaim::PageCache => "buffered".to_owned(),
        UnlikeClaim::NotSteady { measured_s, drive_writes } => {
            let state = match drive_writes {
                Some(writes) => format!("not in steady state ({writes:.2} of 2 drive writes"),
                None => "steady state unknown (earlier writes not recorded".to_owned(),
            };
            let seconds = if measured_s > 0.0 {
                format!(", measured for {}", units::duration(measured_s))
            } else {
                String::new()
            };
            format!("{state}{seconds})")
        }
        UnlikeClaim::StillChanging => "steady state not reached (the rate still changed)".to_owned(),
        UnlikeClaim::TwoLevels { low, high } => {
            format!("two rates, {:.2} and {:.2} times the claim", low / claimed, high / claimed)
        }
        UnlikeClaim::WideInterval => "interval too wide for a verdict (use a longer run)".to_owned(),
        UnlikeClaim::NoInterval => "no confidence interval".to_owned(),
        UnlikeClaim::MemoryAnswered => "memory answered, not the drive".to_owned(),
        UnlikeClaim::ProgramLimit => "iosonde's CPU was the limit, not the drive".to_owned(),
    }
}

fn span(span_bytes: u64, whole_bytes: u64) -> String {
    format!("span {} of {}", units::size(span_bytes), units::decimal_bytes(whole_bytes))
}

#[cfg(test)]
mod tests {
    use iosonde_model::{ClaimUnit, TrialSpec};

    use super::*;

    #[test]
    fn a_line_has_its_share_first_and_then_the_conditions() {
        let basis = SheetBasis::Measured {
            spec: Box::new(TrialSpec::default()),
            margin: 0.05,
            unlike: vec![
                UnlikeClaim::NotSteady { measured_s: 60.0, drive_writes: Some(0.1) },
                UnlikeClaim::QueueDepth { measured: 128, claimed: 256 },
            ],
        };
        let line = SheetLine {
            line: "random write".into(),
            claimed: 100_000.0,
            unit: ClaimUnit::Iops,
            measured: Some(90_000.0),
            low: None,
            high: None,
            verdict: ClaimVerdict::Below,
            basis,
        };
        let said = why(&line);
        let wanted = ": 90 % of the claim; not in steady state (0.10 of 2 drive writes, measured for 1 min), QD 128 \
                      instead of 256";
        assert!(said.ends_with(wanted), "{said}");
    }
}
