//! What differs between two runs besides the storage: everything that could explain a ratio just as well.

use iosonde_model::{Difference, Medium, PropertyValue, Run, RunInfo, RunProperty, units};

/// In the order in which they usually matter.
pub(super) fn differences(a: &Run, b: &Run) -> Vec<Difference> {
    // The machine that simulates is no part of what is simulated.
    let simulated = [a, b].iter().any(|run| run.info.device.medium == Medium::Simulated);
    let differ = |&what: &RunProperty| {
        if simulated && is_of_the_machine(what) {
            return None;
        }
        let (a, b) = (value(&a.info, what), value(&b.info, what));
        (!alike(&a, &b)).then_some(Difference { what, a, b })
    };
    RunProperty::ALL.iter().filter_map(differ).collect()
}

fn is_of_the_machine(what: RunProperty) -> bool {
    use RunProperty::{
        Kernel, Machine, MemoryBytes, OnBattery, PowerSaving, Processor, ProcessorCount, VirtualMachine,
    };
    matches!(
        what,
        OnBattery
            | PowerSaving
            | Machine
            | Processor
            | ProcessorCount
            | MemoryBytes
            | Kernel
            | VirtualMachine
    )
}

/// Sizes are alike where three digits are: the memory of one machine differs by some KiB from boot to boot.
fn alike(a: &Option<PropertyValue>, b: &Option<PropertyValue>) -> bool {
    match (a, b) {
        (Some(PropertyValue::Bytes(a)), Some(PropertyValue::Bytes(b))) => units::size(*a) == units::size(*b),
        _ => a == b,
    }
}

/// Value of a property; `None` where it is not known.
fn value(run: &RunInfo, what: RunProperty) -> Option<PropertyValue> {
    let (device, host) = (&run.device, &run.host);
    let text = |text: &Option<String>| text.clone().map(PropertyValue::Text);
    Some(match what {
        RunProperty::Study => PropertyValue::Text(run.study.clone()),
        RunProperty::WorkingSetBytes => PropertyValue::Bytes(device.working_set_bytes),
        RunProperty::Hosts => PropertyValue::Count(device.hosts.unwrap_or(1).into()),
        RunProperty::Layout => PropertyValue::Layout { layout: device.layout?, rotated: device.rotated },
        RunProperty::DirectIo => PropertyValue::Flag(device.direct),
        RunProperty::Engine => PropertyValue::Text(device.engine.clone()),
        RunProperty::FileSystem => text(&device.file_system)?,
        RunProperty::MountOptions => text(&device.mount_options)?,
        RunProperty::TargetKind => PropertyValue::Text(device.kind.clone()),
        RunProperty::Scheduler => text(&device.scheduler)?,
        RunProperty::WriteCache => text(&device.write_cache)?,
        RunProperty::Encryption => text(&device.encrypted_by)?,
        RunProperty::OnBattery => PropertyValue::Flag(host.on_battery?),
        RunProperty::PowerSaving => text(&host.power)?,
        RunProperty::Machine => text(&host.name)?,
        RunProperty::Processor => text(&host.cpu)?,
        RunProperty::ProcessorCount => PropertyValue::Count(host.cpus?.into()),
        RunProperty::MemoryBytes => PropertyValue::Bytes(host.memory_bytes?),
        RunProperty::Kernel => text(&host.kernel)?,
        RunProperty::VirtualMachine => text(&host.virtualization)?,
        RunProperty::State => PropertyValue::State(run.state),
    })
}

#[cfg(test)]
mod tests {
    use iosonde_testkit::specimen;

    use super::*;

    #[test]
    fn the_machine_that_simulates_is_no_difference() {
        let on = |medium: Medium, kernel: &str| {
            let mut run = specimen::run(specimen::usual());
            (run.info.device.medium, run.info.host.kernel) = (medium, Some(kernel.to_owned()));
            run
        };
        let kernels_differ = |a: Medium, b: Medium| {
            let found = differences(&on(a, "6.1"), &on(b, "6.12"));
            found.iter().any(|one| one.what == RunProperty::Kernel)
        };
        assert!(kernels_differ(Medium::Virtual, Medium::Virtual));
        assert!(!kernels_differ(Medium::Virtual, Medium::Simulated));
        assert!(!kernels_differ(Medium::Simulated, Medium::Simulated));
    }
}
