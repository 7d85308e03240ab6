//! Active swap areas, from `/proc/swaps`.

use std::path::PathBuf;

use super::{System, mount::unescape};

/// The files and devices that the kernel swaps to now.
pub fn swaps(system: &System) -> Vec<PathBuf> {
    system.text("/proc/swaps").map(|text| parse(&text)).unwrap_or_default()
}

/// The first column of each line after the heading; blanks in it are escaped, and a swap file that was
/// removed while in use has ` (deleted)` behind it, escaped too.
fn parse(text: &str) -> Vec<PathBuf> {
    text.lines().skip(1).filter_map(|line| line.split_whitespace().next()).map(unescape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_heading_is_no_swap_area() {
        let text = "Filename\t\t\tType\t\tSize\t\tUsed\t\tPriority\n\
                    /dev/zram0   partition\t4194300\t\t0\t\t100\n\
                    /my\\040swap  file\t\t1048572\t\t0\t\t-2\n";
        assert_eq!(parse(text), [PathBuf::from("/dev/zram0"), PathBuf::from("/my swap")]);
        assert_eq!(parse("Filename\tType\n"), Vec::<PathBuf>::new());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[\\PC\n]*") {
            let _ = parse(&text);
        }
    }
}
