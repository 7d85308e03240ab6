//! Counters of a disk's driver (`IOBlockStorageDriver`, property `Statistics`), as a property list.

use super::plist::facts;
use crate::platform::moved::Moved;

/// Bytes that the driver moved since it started; `None` where the answer lacks one of the counters.
pub(in crate::platform) fn moved(statistics: &str) -> Option<Moved> {
    let found = facts(statistics);
    let counter = |name: &str| found.get(name)?.parse().ok();
    Some(Moved { read_bytes: counter("Bytes (Read)")?, write_bytes: counter("Bytes (Write)")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys of `IOBlockStorageDriver.h`.
    const STATISTICS: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Bytes (Read)</key>
	<integer>284712763392</integer>
	<key>Bytes (Write)</key>
	<integer>190283055104</integer>
	<key>Errors (Read)</key>
	<integer>0</integer>
	<key>Operations (Read)</key>
	<integer>14632915</integer>
	<key>Total Time (Read)</key>
	<integer>5263871291834</integer>
</dict>
</plist>
"#;

    #[test]
    fn bytes_of_both_directions_are_read() {
        let want = Moved { read_bytes: 284_712_763_392, write_bytes: 190_283_055_104 };
        assert_eq!(moved(STATISTICS), Some(want));
    }

    #[test]
    fn a_counter_that_is_missing_is_not_zero() {
        assert_eq!(moved(&STATISTICS.replace("Bytes (Write)", "Bytes")), None);
        assert_eq!(moved(&STATISTICS.replace("190283055104", "-1")), None);
        assert_eq!(moved(""), None);
    }
}
