//! Words on lines: what stays together, how wide it is, how it is wrapped and painted.

use textwrap::{Options, WordSplitter, wrap};
use unicode_width::UnicodeWidthStr;

/// How a terminal is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paint {
    /// Whether colour may be used. Nothing is said by colour alone.
    pub color: bool,
    /// Columns.
    pub width: usize,
}

/// What a piece of text is, for a terminal with colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    Strong,
    Good,
    Doubt,
    Bad,
    Quiet,
}

impl Paint {
    /// Text in its colour, or as it is.
    pub(crate) fn ink(self, ink: Ink, text: &str) -> String {
        if !self.color || text.is_empty() {
            return text.to_owned();
        }
        let code = match ink {
            Ink::Strong => "1",
            Ink::Good => "32",
            Ink::Doubt => "33",
            Ink::Bad => "31",
            Ink::Quiet => "2",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }

    /// A paragraph that begins with `lead` and hangs `indent` columns deep; ends with a line break.
    pub fn hang(self, lead: &str, indent: usize, text: &str) -> String {
        let pad = " ".repeat(indent);
        let options = Options::new(self.width)
            .initial_indent(lead)
            .subsequent_indent(&pad)
            // Commands and names with hyphens are to be copied whole.
            .word_splitter(WordSplitter::NoHyphenation);
        let room = self.width.saturating_sub(indent.max(columns(lead)));
        let glued = glue_commands(&glue(text), room);
        let lines = wrap(&glued, options);
        lines.iter().map(|line| format!("{}\n", line.trim_end().replace(NO_BREAK, " "))).collect()
    }
}

/// A paragraph of its own.
pub fn paragraph(text: &str, paint: Paint) -> String {
    paint.hang("", 0, &clean(text))
}

const NO_BREAK: char = '\u{a0}';

/// Text from outside without control characters: a label must not move the cursor, set a colour, or turn the direction
/// in which the rest is read.
pub fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || turns(c) { '\u{fffd}' } else { c }).collect()
}

/// A page or a picture without them; line ends and tabs are its own.
pub(crate) fn clean_page(page: &str) -> String {
    let is_own = |c: char| matches!(c, '\n' | '\r' | '\t');
    page.chars().map(|c| if c.is_control() && !is_own(c) || turns(c) { '\u{fffd}' } else { c }).collect()
}

/// The marks that turn the direction in which text is read, Unicode's `Bidi_Control`.
fn turns(c: char) -> bool {
    let single = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}');
    single || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Puts no-break spaces inside intervals (`[6.84, 6.98]`), between a number and its unit, and between a value
/// and its interval, so that no line ends in the middle of a figure.
pub(crate) fn glue(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let mut out = String::with_capacity(text.len());
    for (i, word) in words.iter().enumerate() {
        out.push_str(word);
        let Some(next) = words.get(i + 1) else { break };
        out.push(if stay(word, next) { NO_BREAK } else { ' ' });
    }
    out
}

/// Puts no-break spaces inside commands (`` `iosonde run quick ./` ``) that have room on one line: they are copied.
fn glue_commands(text: &str, room: usize) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    // A command lies between two marks.
    let is_command = |i: usize| i % 2 == 1 && i + 1 < parts.len();
    let glued = |(i, part): (usize, &&str)| match is_command(i) && columns(part) + 3 <= room {
        true => part.replace(' ', &NO_BREAK.to_string()),
        false => (*part).to_owned(),
    };
    parts.iter().enumerate().map(glued).collect::<Vec<_>>().join("`")
}

fn stay(word: &str, next: &str) -> bool {
    let next_is_unit = {
        // Punctuation, and the mark of a warning (¹), follow a unit.
        let bare = next.trim_end_matches(|c: char| matches!(c, ',' | '.' | ';' | ':' | ')') || is_mark(c));
        UNITS.contains(&bare)
    };
    let ends_in_digit = word.ends_with(|c: char| c.is_ascii_digit());
    // A value and its interval: `82 µs (80–83)`, `1.00× ±2 %`.
    let is_value = UNITS.contains(&word) || word.ends_with(|c: char| !c.is_alphabetic());
    let interval = is_interval(next) && is_value;
    let is_scaled = PREFIXES.contains(&word) && next_is_unit;
    let begins = matches!(word.trim_start_matches('('), "QD" | "≥" | "≤" | ">" | "<");
    // `1 min 14 s`.
    let goes_on = matches!(word, "min" | "h") && next.starts_with(|c: char| c.is_ascii_digit());
    (ends_in_digit && next_is_unit) || interval || is_scaled || begins || goes_on
}

/// `±2`, `(±2`, `(80–83)`.
fn is_interval(word: &str) -> bool {
    let bare = word.strip_prefix('(').unwrap_or(word);
    bare.starts_with('±')
        || word.starts_with('(') && bare.starts_with(|c: char| c.is_ascii_digit()) && bare.contains('–')
}

/// A superscript digit.
fn is_mark(c: char) -> bool {
    matches!(c, '¹' | '²' | '³' | '⁴'..='⁹')
}

const PREFIXES: [&str; 3] = ["k", "M", "G"];

const UNITS: [&str; 28] = [
    "B", "KiB", "MiB", "GiB", "TiB", "kB", "MB", "GB", "TB", "B/s", "kB/s", "MB/s", "GB/s", "TB/s", "ns",
    "µs", "ms", "s", "min", "h", "%", "IOPS", "k", "M", "G", "reads/s", "writes/s", "×",
];

/// Columns that a text takes.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// Text filled up with spaces to so many columns.
pub(crate) fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Paint = Paint { color: false, width: 30 };

    #[test]
    fn commands_are_whole_where_they_have_room() {
        let told = PLAIN.hang("", 2, "measure again with `iosonde run quick ./` at night");
        assert_eq!(told, "measure again with\n  `iosonde run quick ./` at\n  night\n");
        let long = PLAIN.hang("", 2, "try `iosonde run sustained-write sim:usb-stick` or `a");
        assert_eq!(long, "try `iosonde run\n  sustained-write\n  sim:usb-stick` or `a\n");
    }

    #[test]
    fn figures_are_not_broken_apart() {
        let text = "the most that it gives is 1.02 M IOPS (0.99–1.04) of them";
        let lines = PLAIN.hang("  ✓ ", 4, text);
        assert_eq!(lines, "  ✓ the most that it gives is\n    1.02 M IOPS (0.99–1.04) of\n    them\n");
    }

    #[test]
    fn the_mark_of_a_warning_does_not_part_a_figure_from_its_unit() {
        let lines = PLAIN.hang("", 2, "up to 78.2 k IOPS     (±8.2 %)¹");
        assert!(lines.lines().any(|line| line.trim() == "(±8.2 %)¹"), "{lines}");
    }

    #[test]
    fn commands_keep_their_hyphens_and_long_paths_break() {
        let lines = PLAIN.hang("", 2, "run `iosonde run sustained-write ./` now");
        assert!(lines.contains("sustained-write"), "{lines}");
        let path = "x".repeat(100);
        assert!(PLAIN.hang("", 2, &path).lines().all(|line| line.len() <= 30));
    }

    #[test]
    fn width_counts_columns_and_not_bytes_or_colours() {
        assert_eq!(pad("µs", 4), "µs  ");
        assert_eq!(pad("磁盘", 6), "磁盘  ");
        let painted = Paint { color: true, width: 12 };
        let lead = painted.ink(Ink::Good, "✓") + " ";
        let lines = painted.hang(&lead, 2, "four five six");
        assert_eq!(lines, "\u{1b}[32m✓\u{1b}[0m four five\n  six\n");
    }

    #[test]
    fn a_label_cannot_steer_the_terminal() {
        assert_eq!(clean("a\u{1b}[2Jb\n"), "a\u{fffd}[2Jb\u{fffd}");
        assert_eq!(clean("invoice\u{202e}fdp.exe"), "invoice\u{fffd}fdp.exe");
    }
}
