//! Words of texts for people: `name=value`, numbers with suffixes, and columns.

/// Whether a line heads the results of a job in fio's text for people: `name: (groupid=0, jobs=3): err= 0: pid=..`.
pub(super) fn heads_fio_results(line: &str) -> bool {
    line.contains(": (groupid=") && line.contains(", jobs=")
}

/// What is said of jobs that somebody ended: fio prints it wherever its output goes, before the results.
pub(super) fn interrupted(text: &str) -> Option<String> {
    let line = text.lines().find(|line| line.contains("fio: terminating on signal"))?;
    Some(format!("fio was interrupted, so that its jobs ended early: `{}`", line.trim()))
}

/// Why percentiles are left out.
pub(super) const HIDDEN_PERCENTILES: &str = "percentiles are left out: they are of completion alone, and submission \
     takes more than a tenth of the latency; with lat_percentiles=1 fio writes those of the whole";

/// Why one figure for reads and writes is refused.
pub(super) const UNIFIED: &str =
    "has one figure for reads and writes together; run fio without unified_rw_reporting";

/// Value of `name=value` in a line, without blanks before it; up to a comma, a bracket, or a blank.
pub(super) fn value<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let mut from = 0;
    while let Some(at) = line[from..].find(name).map(|at| from + at) {
        let behind = &line[at + name.len()..];
        let begins =
            at == 0 || !line[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_');
        if let Some(rest) = behind.strip_prefix('=').filter(|_| begins) {
            let rest = rest.trim_start();
            let end = rest.find([',', ' ', ')', '(', ']', ';']).unwrap_or(rest.len());
            return Some(&rest[..end]);
        }
        from = at + name.len();
    }
    None
}

/// A number at the beginning of a word, and what follows it.
pub(super) fn number(word: &str) -> Option<(f64, &str)> {
    let word = word.trim();
    let end = word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len());
    let (digits, rest) = word.split_at(end);
    let number: f64 = digits.parse().ok()?;
    number.is_finite().then_some((number, rest))
}

/// A number with fio's suffix of thousands: `17.4k`.
pub(super) fn thousands(word: &str) -> Option<f64> {
    let (number, suffix) = number(word)?;
    Some(number * power(suffix, 1000.0)?)
}

/// Bytes in `10.8MiB`, `1608KiB`, `280MB`; `K` and `M` without `i` are powers of `plain`.
pub(super) fn bytes(word: &str, plain: f64) -> Option<f64> {
    let (number, suffix) = number(word)?;
    let suffix = suffix.trim().trim_end_matches("/s").trim_end_matches('B');
    let (letter, base) = suffix.strip_suffix('i').map_or((suffix, plain), |letter| (letter, 1024.0));
    Some(number * power(letter, base)?)
}

fn power(letter: &str, base: f64) -> Option<f64> {
    let power = match letter {
        "" => 0,
        "k" | "K" => 1,
        "m" | "M" => 2,
        "g" | "G" => 3,
        "t" | "T" => 4,
        _ => return None,
    };
    Some(base.powi(power))
}

/// Column of a part of a line, from 1.
pub(super) fn column(line: &str, part: &str) -> usize {
    line.find(part).map_or(1, |at| line[..at].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_their_units() {
        let line = "  write: IOPS=200, BW=1600KiB/s (1638kB/s)(1608KiB/1005msec); runt= 1005msec";
        assert_eq!((value(line, "IOPS"), value(line, "BW")), (Some("200"), Some("1600KiB/s")));
        assert_eq!((value(line, "runt"), value(line, "W")), (Some("1005msec"), None));
        assert_eq!((thousands("17.4k"), thousands("2M"), thousands("x")), (Some(17_400.0), Some(2e6), None));
        assert_eq!((bytes("10.5MiB/s", 1000.0), bytes("280MB/s", 1000.0)), (Some(11_010_048.0), Some(280e6)));
        assert_eq!(
            (bytes("102KB", 1024.0), bytes("12", 1.0), bytes("1XB", 1.0)),
            (Some(104_448.0), Some(12.0), None)
        );
        assert_eq!(column("a  bc", "bc"), 4);
    }
}
