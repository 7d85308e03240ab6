//! Values as options take them, for advice that can be typed.

/// A time as `--time` takes it, rounded up to whole seconds below ten minutes: `units::duration` writes for people.
pub fn time(seconds: f64) -> String {
    match seconds.ceil() as u64 {
        whole @ 0..600 if whole < 120 || whole % 60 != 0 => format!("{whole}s"),
        whole @ 0..18_000 => format!("{}m", whole.div_ceil(60)),
        whole => format!("{}h", whole.div_ceil(3600)),
    }
}

/// A size as `--size` takes it, rounded down to whole ones of the unit that people would use.
pub fn size(bytes: u64) -> String {
    // Four: of 1.9 GiB, 1 GiB would be half.
    let large = [(1u64 << 30, "GiB"), (1 << 20, "MiB")].into_iter().find(|(unit, _)| bytes >= 4 * unit);
    let (unit, name) = large.unwrap_or((1 << 10, "KiB"));
    format!("{}{name}", bytes / unit)
}
