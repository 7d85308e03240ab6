//! `iosonde spec`: a run against a vendor's sheet, line by line; `iosonde specs`: the sheets.

use std::path::Path;

use iosonde_infer::sheet;
use iosonde_model::{
    ClaimVerdict, RUN_SCHEMA, Run, RunInfo, Sheet, SheetBasis, SheetLine, Study, UnlikeClaim,
};
use iosonde_report::ClaimLine;
use iosonde_store::{TEXT_BYTES_MAX, read_text};
use serde::Serialize;

use super::list::list;
use crate::{
    args::SpecArgs,
    failure::{DOUBT, Failure},
    notebook,
    output::{self, result},
    screen::Screen,
    sheets::{self, SHEETS},
};

/// What `--json` prints.
#[derive(Serialize)]
struct Document<'a> {
    iosonde: &'a str,
    schema: u32,
    run: &'a RunInfo,
    sheet: &'a str,
    source: &'a str,
    margin: f64,
    lines: Vec<ClaimLine<'a>>,
}

/// Holds a run against a sheet or against claims.
pub fn run(args: &SpecArgs, store: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    let named = args.sheet.as_ref().or(args.named.as_ref());
    let words = args.run.iter().chain(named).map(String::as_str);
    output::check_beside(args.json.as_deref(), words, screen)?;
    let run = notebook::find(store, &screen, args.run.as_deref())?;
    let sheet = match named {
        Some(name) => sheets::find(name)?,
        None if args.claim.is_empty() => own_sheet(&run)?,
        None => Sheet {
            name: "claims".into(),
            summary: "what was claimed on the command line".into(),
            source: "the command line".into(),
            capacity_bytes: None,
            claims: args.claim.clone(),
        },
    };
    let lines = sheet::lines(&run, &sheet, args.margin);
    if let Some(path) = &args.json {
        let document = Document {
            iosonde: env!("CARGO_PKG_VERSION"),
            schema: RUN_SCHEMA,
            run: &run.info,
            sheet: &sheet.name,
            source: &sheet.source,
            margin: args.margin,
            lines: lines.iter().map(ClaimLine::from).collect(),
        };
        let text = serde_json::to_string_pretty(&document).map_err(Failure::failed)? + "\n";
        result(path, &text, screen)?
    }
    if args.json.as_deref() != Some(Path::new("-")) {
        let paint = screen.paint();
        screen.result(&iosonde_report::sheet(&run, &sheet, &lines, paint))?;
        // What was claimed on the command line is no sheet that a study could take.
        let is_sheet = named.is_some() || args.claim.is_empty();
        let would_do = would_do(named.map_or(&sheet.name, |name| name), &run, &sheet, &lines);
        if let Some(advice) = would_do.filter(|_| is_sheet) {
            screen.result(&format!("\n{}", iosonde_report::paragraph(&advice, paint)))?;
        }
    }
    match lines.iter().find(|line| line.verdict == ClaimVerdict::Below) {
        Some(line) if args.strict => {
            let text = format!("--strict: below what is claimed: {}", line.line);
            Err(Failure { code: DOUBT, text })
        }
        _ => Ok(()),
    }
}

/// The sheet whose lines a run measured.
fn own_sheet(run: &Run) -> Result<Sheet, Failure> {
    let study = Study::parse(&run.info.study_source, &run.info.study).ok();
    study.and_then(|study| study.sheet).ok_or_else(|| {
        Failure::usage(format!(
            "run {} measured no sheet's lines; name a sheet (`iosonde specs` lists them):  iosonde spec {} SHEET",
            run.info.id, run.info.id
        ))
    })
}

/// A size as a user would type it, rounded down: a file of more bytes than the storage has is refused.
fn typed(bytes: u64) -> String {
    if bytes < 10_000_000_000 {
        return format!("{}MB", bytes / 1_000_000);
    }
    format!("{}GB", bytes / 1_000_000_000)
}

/// The study that measures the lines under their own conditions; `None` where all of them were.
fn would_do(name: &str, run: &Run, sheet: &Sheet, lines: &[SheetLine]) -> Option<String> {
    let elsewhere = |line: &&SheetLine| {
        let SheetBasis::Measured { unlike, .. } = &line.basis else { return false };
        let other = |one: &UnlikeClaim| !matches!(one, UnlikeClaim::WideInterval | UnlikeClaim::NoInterval);
        unlike.iter().any(other)
    };
    lines.iter().find(elsewhere)?;
    let steady = if sheet.claims.iter().any(|claim| claim.steady) { " --state steady" } else { "" };
    // This storage's own size where it is known: no more than that can be requested or compared.
    let whole = run.info.device.whole_bytes().or(sheet.capacity_bytes);
    let whole = whole.filter(|_| sheet.claims.iter().any(|claim| claim.span.is_some()));
    let size = whole.map_or_else(String::new, |bytes| format!(" --size {}", typed(bytes)));
    Some(format!(
        "Under the sheet's own conditions:  iosonde run spec --sheet {name}{steady}{size} {}",
        run.info.target
    ))
}

/// Lists the sheets, or prints one as it is, to be copied and edited.
pub fn list_sheets(name: Option<&str>, screen: Screen) -> Result<(), Failure> {
    let Some(name) = name else {
        let sheets: Result<Vec<Sheet>, Failure> = SHEETS.iter().map(|(name, _)| sheets::find(name)).collect();
        let rows: Vec<(String, String)> =
            sheets?.into_iter().map(|sheet| (sheet.name, sheet.summary)).collect();
        return screen.result(&list(
            rows.iter().map(|(name, summary)| (name.as_str(), summary.clone())),
            screen.width,
        ));
    };
    // Read first, so that a file that is no sheet is refused with what is wrong in it.
    sheets::find(name)?;
    match SHEETS.iter().find(|(known, _)| *known == name) {
        Some((_, text)) => screen.result(text),
        None => screen.result(&read_text(Path::new(name), TEXT_BYTES_MAX).map_err(Failure::failed)?),
    }
}
