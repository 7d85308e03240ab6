//! docs/json.md: its tables are made from the types that are written, so that no key is without a word.

use std::{fs, path::Path};

const MARK: &str = "<!-- from here on: the tables, written by a test from the program's own types -->\n";

/// What stands around the trials is the report's.
const DOCUMENT: &str = "../../report/src/document.rs";
/// The answer to a requirement, with its words.
const REQUIREMENT: &str = "../../report/src/document/requirement.rs";
/// Comparisons with their words.
const COMPARED: &str = "../../report/src/document/compared.rs";

/// Each table: heading, place in the document, file and type.
const TABLES: &[(&str, &str, &str, &str)] = &[
    ("The document", "", DOCUMENT, "Document"),
    ("The run", "`run`", "run.rs", "RunInfo"),
    ("The storage", "`run.device`", "device.rs", "Device"),
    ("A faster link", "`run.device.faster_link`", "device.rs", "FasterLink"),
    ("The drive's own word", "`run.device.health`", "device.rs", "Health"),
    (
        "A note",
        "`run.device.notes[]`: an object with its `kind`, each followed by its own keys, or a sentence",
        "note.rs",
        "DeviceNote",
    ),
    (
        "Rounds of random writes",
        "`run.device.notes[].rounds`, of the kinds `state-reached` and `not-steady`",
        "note.rs",
        "Preconditioning",
    ),
    (
        "What was left out",
        "`run.device.notes[]` of the kind `left-out`: its `reason`, each followed by its own keys",
        "note.rs",
        "LeftOut",
    ),
    (
        "What the measured loop met",
        "`run.device.notes[]` of the kind `loop`: its `what`, each followed by its own keys",
        "note.rs",
        "LoopNote",
    ),
    ("A layer that hides the medium", "`run.device.unseen[]`", "device.rs", "HidingLayer"),
    ("The machine", "`run.host`", "device.rs", "Host"),
    ("A trial", "`trials[]`", "trial.rs", "Trial"),
    ("A workload", "`spec`, of trials and points", "spec/mod.rs", "TrialSpec"),
    ("Pauses of a workload", "`spec.think`", "spec/think.rs", "Think"),
    ("A direction of a trial", "`trials[].read`, `write`, `trim`", "trial.rs", "Direction"),
    ("Latencies of a trial", "`latency_ns`, in nanoseconds", "trial.rs", "LatencySummary"),
    ("Flushes of a trial", "`trials[].flush`", "trial.rs", "Flush"),
    ("A stream of a trial", "`trials[].streams[]`", "trial.rs", "Stream"),
    ("The last seconds of jobs", "`trials[].last_seconds[]`", "last_seconds.rs", "LastSeconds"),
    (
        "An error of a trial",
        "`trials[].error_examples[]`: an object with its `kind`, each followed by its own keys, or a sentence",
        "absence.rs",
        "RequestError",
    ),
    ("A slice of a trial", "`trials[].windows[]`", "trial.rs", "Window"),
    ("A stall of a trial", "`trials[].stalls[]`", "trial.rs", "Stall"),
    ("A direction of a slice", "`windows[].read`, `write`, `trim`", "trial.rs", "WindowDirection"),
    ("What was read back", "`trials[].verify`", "trial.rs", "Verification"),
    ("Witnesses of a trial", "`trials[].witnesses`", "witness.rs", "Witnesses"),
    (
        "A missing reading",
        "`witnesses.absent[]`: an object with its `kind`, each followed by its own keys, or a sentence",
        "absence.rs",
        "Absence",
    ),
    ("A counter of a missing reading", "`witnesses.absent[].counter`", "absence.rs", "Counter"),
    ("What a cloud volume counts", "`witnesses.volume_statistics`", "witness.rs", "VolumeStatistics"),
    ("A ceiling", "`witnesses.io_limits[]`", "witness.rs", "IoLimit"),
    ("Faults on purpose", "`witnesses.injected`", "witness.rs", "Injected"),
    ("A point", "`points[]`", "point.rs", "Point"),
    (
        "A missing interval",
        "`points[].why_no_interval`: an object with its `kind`, each followed by its own keys, or a sentence",
        "point.rs",
        "NoInterval",
    ),
    ("A direction of a point", "`points[].read`, `write`, `trim`", "point.rs", "PointDirection"),
    ("Flushes or commits of a point", "`points[].flush`, `commit`", "point.rs", "PointLatency"),
    ("A level of a point", "`points[].read.levels[]`, `write`, `trim`", "point.rs", "Level"),
    ("A value with its interval", "of points", "point.rs", "Estimate"),
    ("A verdict", "`verdicts[]`", DOCUMENT, "VerdictLine"),
    ("A finding", "`findings[]`", DOCUMENT, "FindingLine"),
    ("The conditions of a finding", "`findings[].conditions`", "finding.rs", "Conditions"),
    ("Advice", "`advice[]`", "finding.rs", "Advice"),
    ("A requirement", "`requirement`, of a check", REQUIREMENT, "RequirementDocument"),
    ("A limit of a requirement", "`requirement.limits[]`", REQUIREMENT, "RequiredLine"),
    ("A comparison", "`compare --json`", COMPARED, "ComparedDocument"),
    ("A side", "`sides[]`", "comparison.rs", "ComparedSide"),
    ("A line of a comparison", "`comparisons[]`", COMPARED, "ComparisonLine"),
    ("Two sides", "`pairs[]`", COMPARED, "PairLine"),
    ("A geometric mean", "`pairs[].geometric_means[]`", "comparison.rs", "GeometricMean"),
    ("A highest rate of both sides", "`pairs[].highest[]`", "comparison.rs", "ComparedHighest"),
    (
        "Small requests that reach the bandwidth",
        "`pairs[].bandwidth_of_small[]`",
        "comparison.rs",
        "BandwidthOfSmall",
    ),
    ("A rate limit of a side", "`pairs[].limits[]`: `side`, and these", "rate_limit.rs", "RateLimit"),
    ("Where it is reached", "`pairs[].highest[].reached[]`", "comparison.rs", "ReachedAt"),
    ("What differs besides", "`pairs[].differences[]`", COMPARED, "DifferenceLine"),
    ("A line of a sheet", "`lines[]` of `spec --json`", "../../report/src/document/sheet.rs", "ClaimLine"),
];

/// The keys of a type, with what its documentation says of them.
fn keys(source: &str, name: &str) -> Vec<(String, String)> {
    let forms = ["struct", "enum"].into_iter().flat_map(|form| [" {", "<"].map(|next| (form, next)));
    let start = forms.filter_map(|(form, next)| source.find(&format!("pub {form} {name}{next}"))).next();
    let start = start.unwrap_or_else(|| panic!("there is no {name}"));
    let body = source[start..].split("\n}\n").next().unwrap_or_default();
    let (mut told, mut renamed, mut found) = (Vec::new(), None, Vec::new());
    for line in body.lines().skip(1).map(str::trim) {
        if let Some(doc) = line.strip_prefix("///") {
            told.push(doc.trim().to_owned());
        } else if let Some((_, rest)) = line.split_once("rename = \"") {
            renamed = rest.split('"').next().map(str::to_owned);
        } else if let Some((key, _)) = line.strip_prefix("pub ").unwrap_or(line).split_once(": ") {
            found.push((renamed.take().unwrap_or_else(|| key.to_owned()), told.join(" ")));
            told.clear();
        } else if line == "#[serde(untagged)]" {
            // A sentence instead of a kind: the table's head says so.
            break;
        } else if let Some(variant) = line.strip_suffix(',').or(line.strip_suffix(" {"))
            && let variant = variant.split('(').next().unwrap_or_default()
            && variant.chars().all(char::is_alphanumeric)
        {
            found.push((kebab(variant), told.join(" ")));
            told.clear();
        }
    }
    found
}

/// `NoDirectIo` as serde writes it: `no-direct-io`.
fn kebab(variant: &str) -> String {
    let mut out = String::new();
    for c in variant.chars() {
        if c.is_uppercase() && !out.is_empty() {
            out.push('-');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// For people who read JSON and not Rust: `null`, and names instead of links.
fn plain(doc: &str) -> String {
    let doc = doc.replace("`None`", "`null`").replace("[`", "`").replace("`]", "`").replace('|', "\\|");
    doc.replace("crate::", "").replace("Self::", "")
}

fn tables() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut out = String::new();
    for (heading, place, file, name) in TABLES {
        let source = fs::read_to_string(root.join(file)).expect("the type's file is there");
        out += &format!("\n## {heading}\n\n");
        if !place.is_empty() {
            out += &format!("{place}\n\n");
        }
        out += "| key | what |\n|---|---|\n";
        for (key, doc) in keys(&source, name) {
            assert!(!doc.is_empty(), "{name}.{key} has no word");
            out += &format!("| `{key}` | {} |\n", plain(&doc));
        }
    }
    out
}

#[test]
fn the_page_of_the_document_holds_every_key() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/json.md");
    let page = fs::read_to_string(&path).expect("docs/json.md is there");
    let (front, _) = page.split_once(MARK).expect("docs/json.md has its mark");
    let expected = format!("{front}{MARK}{}", tables());
    if std::env::var_os("IOSONDE_WRITE_DOCS").is_some() {
        fs::write(path, &expected).expect("docs/json.md can be written");
    } else {
        assert!(page == expected, "docs/json.md is old: run this test once with IOSONDE_WRITE_DOCS=1");
    }
}
