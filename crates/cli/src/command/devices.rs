//! `iosonde devices`: the simulated devices, and one's parameters and truths.

use iosonde_model::{Op, units};
use iosonde_sim::{DeviceFile, Truth, builtin_names, truths};

use super::registry::list;
use crate::{args::DevicesArgs, failure::Failure, screen::Screen, session};

/// Lists the devices or shows one.
pub fn run(args: &DevicesArgs, screen: Screen) -> Result<(), Failure> {
    if let Some(name) = &args.name {
        return show(name, screen);
    }
    let files: Result<Vec<DeviceFile>, Failure> = builtin_names().map(session::device_file).collect();
    let files = files?;
    let rows = files.iter().map(|file| (file.name(), file.summary().to_owned()));
    screen.result(&list(rows, screen.width))
}

/// Every value of a device, and for each finding its truth.
pub fn show(name: &str, screen: Screen) -> Result<(), Failure> {
    let file = session::device_file(name)?;
    let mut text = format!("{} (simulated device)\n\n{}\n\nParameters\n", file.name(), file.summary());
    for parameter in file.parameters() {
        text += &format!("  {:26} {}\n", parameter.key, parameter.value);
    }
    text += "\nTruth\n";
    for truth in truths(&file) {
        text += &line(&truth);
    }
    screen.result(&text)
}

fn line(truth: &Truth) -> String {
    let value = match truth.value {
        None => "not defined".to_owned(),
        Some(value) => match truth.unit {
            "ns" => units::time(value),
            "B/s" => units::rate(value),
            "B" => units::size(value as u64),
            unit => format!("{} {unit}", units::count(value)),
        },
    };
    let op = truth.conditions.op.map_or_else(String::new, |op: Op| format!(" ({op}s)"));
    format!("  {:26} {value}\n  {:26} {}\n", format!("{}{op}", truth.finding), "", truth.derivation)
}
