//! What `doctor` says of a target and of each device below it: labels and what they say.

use iosonde_model::{Device, units};
use iosonde_rig::platform::{Kind, Layer, Made};

use crate::session::Session;

/// A label and what it says.
pub type Fact = (String, String);

/// Where what a label says begins.
const COLUMN: usize = 20;

/// A section: its heading, and its facts below each other.
pub fn rows(heading: &str, facts: impl IntoIterator<Item = Fact>) -> String {
    let rows = facts.into_iter().map(|(label, fact)| row(&label, &fact));
    std::iter::once(format!("\n{heading}\n")).chain(rows).collect()
}

/// One fact; further lines of it hang below its first.
pub fn row(label: &str, fact: &str) -> String {
    let hanging = fact.replace('\n', &format!("\n{:COLUMN$}", ""));
    format!("  {label:width$}{hanging}\n", width = COLUMN - 2)
}

/// The target by itself.
pub fn itself(
    device: &Device,
    kind: Option<Kind>,
    layer: Option<&Layer>,
    session: Option<&Session>,
) -> Vec<Fact> {
    let mut facts: Vec<(&str, Option<String>)> =
        vec![("file system", device.file_system.clone()), ("mounted with", device.mount_options.clone())];
    match (kind, layer) {
        (Some(Kind::Block), Some(layer)) => {
            facts.push(("made of", layer.made.as_ref().map(made)));
            facts.extend([
                ("model", layer.model.clone()),
                ("link", layer.link.clone()),
                ("size", layer.size_bytes.map(units::size)),
                ("blocks", blocks(layer.logical_block_bytes, layer.physical_block_bytes)),
                ("scheduler", layer.scheduler.clone()),
                ("write cache", layer.write_cache.clone()),
                ("read-only", layer.read_only.then(|| "yes: the kernel takes no writes for it".into())),
            ]);
        }
        (None, _) => facts.extend([
            ("model", device.model.clone()),
            ("size", device.size_bytes.map(units::size)),
            ("blocks", blocks(device.logical_block_bytes, device.physical_block_bytes)),
        ]),
        _ => {}
    }
    if let Some(session) = session {
        let size = matches!(kind, Some(Kind::File)).then(|| units::size(session.room_bytes));
        facts.push(("size", size));
        let direct = match (device.direct, device.direct_alignment_bytes) {
            (true, Some(unit)) => format!("yes, in multiples of {}", units::size(unit)),
            (true, None) => "yes".into(),
            (false, _) => "no".into(),
        };
        facts.push(("direct I/O", Some(direct)));
    }
    facts.into_iter().filter_map(|(label, fact)| Some((label.to_owned(), fact?))).collect()
}

/// A device below, on one line.
pub fn below(layer: &Layer) -> String {
    let facts = [
        layer.made.as_ref().map(made),
        layer.model.clone(),
        layer.link.clone(),
        layer.size_bytes.map(units::size),
        blocks(layer.logical_block_bytes, layer.physical_block_bytes)
            .map(|blocks| format!("blocks {blocks}")),
        layer.scheduler.as_ref().map(|scheduler| format!("scheduler {scheduler}")),
        layer.write_cache.clone(),
        layer.read_only.then(|| "read-only".to_owned()),
    ];
    facts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn made(made: &Made) -> String {
    match made {
        Made::Partition => "partition".into(),
        Made::Loop(file) => format!("loop device over {}", file.display()),
        Made::Mapped(name) => format!("volume {name} of the device mapper"),
        Made::Array(level) => format!("array ({level})"),
    }
}

fn blocks(logical_bytes: Option<u64>, physical_bytes: Option<u64>) -> Option<String> {
    let logical = logical_bytes?;
    let physical = physical_bytes.unwrap_or(logical);
    Some(format!("{} logical, {} physical", units::size(logical), units::size(physical)))
}
