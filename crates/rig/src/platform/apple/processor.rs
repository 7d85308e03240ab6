//! Processors with cores of two speeds.

/// The model, with its cores by level of speed, the fastest first (`hw.perflevel0.logicalcpu`, ..).
pub(in crate::platform) fn with_cores(model: String, levels: &[u32]) -> String {
    match levels {
        [fast, slow] => format!("{model} ({fast} performance cores, {slow} efficiency cores)"),
        _ => model,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_levels_are_told_and_one_is_not() {
        let model = || "Apple M1".to_owned();
        assert_eq!(with_cores(model(), &[4, 4]), "Apple M1 (4 performance cores, 4 efficiency cores)");
        assert_eq!(with_cores(model(), &[8]), "Apple M1");
        assert_eq!(with_cores(model(), &[]), "Apple M1");
    }
}
