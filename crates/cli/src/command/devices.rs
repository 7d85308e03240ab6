//! `iosonde devices`: the simulated devices, and one's parameters and truths.

use std::path::Path;

use iosonde_model::{Conditions, units};
use iosonde_report::{Paint, paragraph};
use iosonde_sim::{DeviceFile, DeviceParameter, Known, Truth, builtin_names, truths_with_references};
use serde::Serialize;

use super::list::list;
use crate::{
    args::DevicesArgs,
    failure::Failure,
    output::{self, result},
    screen::Screen,
    session,
};

/// Seed of computed truths: each is the same at every call.
const SEED: u64 = 1;

/// Lists the devices or shows one.
pub fn run(args: &DevicesArgs, store: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    if let Some(from) = &args.from {
        return super::portrait::run(args, from, store, screen);
    }
    if let Some(name) = &args.name {
        return match &args.json {
            Some(path) => json(name, path, screen),
            None => show(name, screen),
        };
    }
    if args.json.is_some() {
        return Err(Failure::usage(
            "JSON is of one device: iosonde devices NAME --json, or --from RUN --json",
        ));
    }
    let files: Result<Vec<DeviceFile>, Failure> = builtin_names().map(session::device_file).collect();
    let files = files?;
    let rows = files.iter().map(|file| (file.name(), file.summary().to_owned()));
    screen.result(&list(rows, screen.width))
}

/// Every value of a device, and for each finding its truth.
pub fn show(name: &str, screen: Screen) -> Result<(), Failure> {
    let file = session::device_file(name)?;
    let paint = screen.paint();
    let mut text = format!("{} (simulated device)\n\n{}", file.name(), paragraph(file.summary(), paint));
    if let Some(scale) = file.scale() {
        let size = units::decimal_bytes(file.capacity_bytes());
        let said =
            format!("Scaled: {size} of it are simulated, 1 in {scale:.1}; rates and times are those of all.");
        text += &paragraph(&said, paint);
    }
    text += "\nParameters\n";
    for parameter in file.parameters() {
        text += &paint.hang(&lead(&parameter.key), COLUMN, &parameter.value);
    }
    text += "\nTruth\n";
    for truth in truths_with_references(&file, SEED) {
        text += &lines(&truth, paint);
    }
    screen.result(&text)
}

/// What `show` says, for programs.
#[derive(Serialize)]
struct Document<'a> {
    iosonde: &'a str,
    schema: u32,
    name: &'a str,
    summary: &'a str,
    capacity_bytes: u64,
    scale: Option<f64>,
    parameters: &'a [DeviceParameter],
    truths: Vec<Truth>,
}

fn json(name: &str, path: &Path, screen: Screen) -> Result<(), Failure> {
    output::check_beside(Some(path), [name], screen)?;
    let file = session::device_file(name)?;
    let document = Document {
        iosonde: env!("CARGO_PKG_VERSION"),
        schema: 1,
        name: file.name(),
        summary: file.summary(),
        capacity_bytes: file.capacity_bytes(),
        scale: file.scale(),
        parameters: file.parameters(),
        truths: truths_with_references(&file, SEED),
    };
    let mut text = serde_json::to_string_pretty(&document).map_err(Failure::failed)?;
    text.push('\n');
    result(path, &text, screen)
}

/// Where values begin.
const COLUMN: usize = 29;

/// A name in the first column.
fn lead(name: &str) -> String {
    format!("  {name:26} ")
}

fn lines(truth: &Truth, paint: Paint) -> String {
    let quantity = |value: f64| match truth.unit {
        "ns" => units::time(value),
        "B/s" => units::rate(value),
        "B" => units::size(value as u64),
        "ratio" => format!("{value:.3}"),
        "requests" => format!("{value:.1}").trim_end_matches(".0").to_owned(),
        unit => format!("{} {unit}", units::count(value)),
    };
    let value = match (truth.value, truth.low, truth.high) {
        (Some(value), Some(low), Some(high)) if truth.known == Known::Reference => {
            format!("{} ({} to {})", quantity(value), quantity(low), quantity(high))
        }
        (Some(value), ..) => quantity(value),
        (None, ..) => "not defined".to_owned(),
    };
    let conditions = conditions(&truth.conditions);
    let held = if conditions.is_empty() { String::new() } else { format!(" ({conditions})") };
    let stated = paint.hang(&lead(truth.finding.as_str()), COLUMN, &format!("{value}{held}"));
    stated + &paint.hang(&lead(""), COLUMN, &truth.derivation)
}

/// `random 4 KiB reads, QD 32`; conditions that do not matter are left out.
fn conditions(conditions: &Conditions) -> String {
    let order = conditions.random.map(|random| if random { "random" } else { "sequential" }.to_owned());
    let size = conditions.block_size_bytes.map(units::size);
    let op = conditions.op.map(|op| if op.name() == "flush" { "flushes".into() } else { format!("{op}s") });
    let what = [order, size, op].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let depth = conditions.queue_depth.map(|depth| format!("QD {depth}"));
    [Some(what).filter(|what| !what.is_empty()), depth].into_iter().flatten().collect::<Vec<_>>().join(", ")
}
