//! Words of a capacity: the answer, and what it rests on.

use iosonde_model::{BeyondCapacity, Capacity, CapacityFinding, CapacityScope, RequirementVerdict, units};

/// Digits of a share in a sentence: 0.16 %.
const SMALL_SHARE: f64 = 1e-3;

/// Whether the storage holds what it claims.
pub fn verdict(finding: &CapacityFinding) -> RequirementVerdict {
    match finding {
        CapacityFinding::Genuine { .. } => RequirementVerdict::Pass,
        _ => RequirementVerdict::Fail,
    }
}

/// The answer in a sentence.
pub fn answer(capacity: &Capacity) -> String {
    let Capacity { target, claimed_bytes, finding, .. } = capacity;
    let claimed = units::decimal_bytes(*claimed_bytes);
    let is_free_space = capacity.scope == CapacityScope::FreeSpace;
    let claim = match (is_free_space, capacity.only_first_part) {
        // What may be written leaves some of it free.
        (true, _) => format!("{claimed} of the free space under {target} were tested"),
        (false, false) => format!("{target} claims {claimed}"),
        (false, true) => format!("the first {claimed} of {target} were tested"),
    };
    let is_part = capacity.only_first_part || is_free_space;
    let and = if is_part { ", and it" } else { " and" };
    match finding {
        CapacityFinding::Genuine { .. } if is_part => {
            format!("{claim}, and they keep what is written to them")
        }
        CapacityFinding::Genuine { .. } => format!("{target} holds the {claimed} that it claims"),
        CapacityFinding::Wraps { real_bytes } => {
            format!("{claim}{and} holds {}", units::decimal_bytes(*real_bytes))
        }
        CapacityFinding::Ends { at_least_bytes, at_most_bytes, .. } => {
            let (low, high) = (units::decimal_bytes(*at_least_bytes), units::decimal_bytes(*at_most_bytes));
            if low == high {
                format!("{claim}{and} holds {low}")
            } else if *at_least_bytes == 0 {
                format!("{claim}{and} holds less than {high}")
            } else {
                format!("{claim}{and} holds between {low} and {high}")
            }
        }
        CapacityFinding::Damaged { share, .. } => {
            format!("{claim}{and} does not keep what is written to {} of that", small(*share))
        }
    }
}

/// What the answer rests on and what it means, in labelled lines.
pub fn lines(capacity: &Capacity) -> Vec<(&'static str, String)> {
    let block = units::size(capacity.block_bytes);
    let mut lines = Vec::new();
    match capacity.finding {
        CapacityFinding::Genuine { .. } => {}
        CapacityFinding::Wraps { .. } => lines.push((
            "beyond it",
            "addresses begin again at 0: writing there replaces what was written at the beginning".to_owned(),
        )),
        CapacityFinding::Ends { beyond, .. } => lines.push((
            "beyond it",
            match beyond {
                BeyondCapacity::Lost => "what is written there is lost, without an error".to_owned(),
                BeyondCapacity::Mixed => {
                    "what is written there replaces other data, or other data are read back, without an error"
                        .to_owned()
                }
                BeyondCapacity::Errors => "writing or reading fails".to_owned(),
            },
        )),
        CapacityFinding::Damaged { first_bytes, .. } => {
            lines.push(("first at", format!("offset {first_bytes} ({})", units::decimal_bytes(first_bytes))))
        }
    }
    let found = capacity.found;
    let tested = if capacity.full {
        format!("every block of {block}: {} of them", units::count(capacity.blocks as f64))
    } else {
        let step = units::size(capacity.step_bytes);
        format!("the first and the last {step}, and between them two blocks of {block} in every {step}")
    };
    lines.push(("tested", tested));
    if found.kept < capacity.blocks {
        let counted =
            [(found.lost, "lost"), (found.shifted, "with another place's data"), (found.failed, "failed")];
        let told = counted.into_iter().filter(|(count, _)| *count > 0);
        let told: Vec<String> =
            told.map(|(count, what)| format!("{} {what}", units::count(count as f64))).collect();
        let kept = match capacity.finding {
            CapacityFinding::Wraps { .. } => "hold what was written last to the place that they share",
            _ => "kept",
        };
        lines.push(("blocks", format!("{} {kept}, {}", units::count(found.kept as f64), told.join(", "))));
    }
    let written = units::decimal_bytes(capacity.written_bytes);
    let took = units::duration(capacity.elapsed_s);
    lines.push((
        "took",
        match capacity.written_before_bytes {
            0 => format!("{took}; {written} written and read"),
            before => format!(
                "{took}; {written} written after the {} of the interrupted test, and all of it read",
                units::decimal_bytes(before)
            ),
        },
    ));
    lines.extend(unseen(capacity));
    lines
}

/// What the test could not see, and what it left out.
fn unseen(capacity: &Capacity) -> impl Iterator<Item = (&'static str, String)> {
    let missed = match capacity.finding {
        CapacityFinding::Genuine { missed_share } => missed_share,
        _ => None,
    };
    let hidden = missed.map(|share| {
        let what = format!(
            "bad blocks scattered over less than {} of it (95 % confidence), and what a cache of more than {} hides; \
             --full tests each block",
            small(share),
            units::size(capacity.step_bytes)
        );
        ("not seen", what)
    });
    let left_out = match capacity.scope {
        CapacityScope::FreeSpace => Some(("not tested", "what files occupy".to_owned())),
        CapacityScope::File => Some(("not tested", "the storage that this file does not occupy".to_owned())),
        CapacityScope::Device | CapacityScope::Simulated => None,
    };
    hidden.into_iter().chain(left_out)
}

fn small(share: f64) -> String {
    if share > 0.0 && share < SMALL_SHARE / 10.0 { "0.01 %".to_owned() } else { units::percent(share) }
}

#[cfg(test)]
mod tests {
    use iosonde_model::{CapacityCounts, Circumstances};

    use super::*;

    fn capacity(finding: CapacityFinding, found: CapacityCounts) -> Capacity {
        Capacity {
            target: "/dev/sdx".into(),
            scope: CapacityScope::Device,
            claimed_bytes: 1_024_000_000_000,
            only_first_part: false,
            full: false,
            blocks: 526_152,
            block_bytes: 4096,
            step_bytes: 1 << 30,
            written_bytes: 2_155_000_000,
            written_before_bytes: 0,
            found,
            elapsed_s: 96.0,
            finding,
            parts: Vec::new(),
            circumstances: Circumstances::default(),
        }
    }

    fn sentence(capacity: &Capacity) -> String {
        let lines = lines(capacity).into_iter().map(|(label, text)| format!("\n{label}: {text}"));
        format!("{}{}", answer(capacity), lines.collect::<String>())
    }

    #[test]
    fn each_finding_has_its_words() {
        let all = CapacityCounts { kept: 526_152, ..CapacityCounts::default() };
        let some = CapacityCounts { kept: 524_000, lost: 2_000, shifted: 152, failed: 0 };
        let (low, high) = (63_900_000_000, 64_400_000_000);
        let ends =
            CapacityFinding::Ends { at_least_bytes: low, at_most_bytes: high, beyond: BeyondCapacity::Lost };
        let findings = [
            (CapacityFinding::Genuine { missed_share: Some(0.0016) }, all),
            (CapacityFinding::Wraps { real_bytes: 64_000_000_000 }, some),
            (ends, some),
            (CapacityFinding::Damaged { share: 0.023, first_bytes: 3_200_000_000 }, some),
        ];
        let mut told: Vec<String> =
            findings.into_iter().map(|(finding, found)| sentence(&capacity(finding, found))).collect();
        for scope in [CapacityScope::Device, CapacityScope::FreeSpace] {
            told.extend(findings.map(|(finding, found)| {
                answer(&Capacity { only_first_part: true, scope, ..capacity(finding, found) })
            }));
        }
        insta::assert_snapshot!(told.join("\n\n"));
    }
}
