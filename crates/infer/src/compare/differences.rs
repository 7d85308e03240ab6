//! What differs between two runs besides the storage: everything that could explain a ratio just as well.

use iosonde_model::{Difference, Run, RunInfo, units};

/// In the order in which they usually matter.
pub(super) fn differences(a: &Run, b: &Run) -> Vec<Difference> {
    let (info_a, info_b) = (&a.info, &b.info);
    FACTS
        .iter()
        .filter_map(|(what, fact)| {
            let (a, b) = (fact(info_a), fact(info_b));
            let said = |fact: Option<String>| fact.unwrap_or_else(|| "not known".to_owned());
            (a != b).then(|| Difference { what: (*what).to_owned(), a: said(a), b: said(b) })
        })
        .collect()
}

type Fact = fn(&RunInfo) -> Option<String>;

const FACTS: [(&str, Fact); 19] = [
    ("study", |run| Some(run.study.clone())),
    ("size", |run| Some(units::size(run.device.working_set_bytes))),
    ("way", |run| Some(if run.device.direct { "direct" } else { "through the page cache" }.to_owned())),
    ("engine", |run| Some(run.device.engine.clone())),
    ("file system", |run| run.device.file_system.clone()),
    ("mount options", |run| run.device.mount_options.clone()),
    ("kind of target", |run| Some(run.device.kind.clone())),
    ("scheduler", |run| run.device.scheduler.clone()),
    ("write cache", |run| run.device.write_cache.clone()),
    ("encryption", |run| run.device.encrypted_by.clone()),
    ("battery", |run| run.host.on_battery.map(|battery| if battery { "yes" } else { "no" }.to_owned())),
    ("saving power", |run| run.host.power.clone()),
    ("machine", |run| run.host.name.clone()),
    ("processor", |run| run.host.cpu.clone()),
    ("processors", |run| run.host.cpus.map(|count| count.to_string())),
    ("memory", |run| run.host.memory_bytes.map(units::size)),
    ("system", |run| run.host.kernel.clone()),
    ("virtual machine", |run| Some(run.host.virtualization.clone().unwrap_or_else(|| "none".to_owned()))),
    ("state", |run| Some(run.state.to_string())),
];
