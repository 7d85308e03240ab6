//! Words of a run against a vendor's sheet.

use iosonde_model::{ClaimVerdict, SheetBasis, SheetLine, UnlikeClaim, units};

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
    let conditions: Vec<String> = unlike.iter().map(condition).collect();
    let said: Vec<String> =
        verdict.into_iter().chain((!conditions.is_empty()).then(|| conditions.join(", "))).collect();
    format!("{}: {}", spec.describe(), said.join("; "))
}

fn condition(unlike: &UnlikeClaim) -> String {
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
        UnlikeClaim::WideInterval => "interval too wide for a verdict (use a longer run)".to_owned(),
        UnlikeClaim::NoInterval => "no confidence interval".to_owned(),
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
