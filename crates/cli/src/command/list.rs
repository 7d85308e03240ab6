//! A list on the terminal.

/// Names and summaries in two columns, the second wrapped.
pub fn list<'a>(rows: impl Iterator<Item = (&'a str, String)>, width: usize) -> String {
    let rows: Vec<_> = rows.collect();
    let column = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0) + 2;
    let mut text = String::new();
    for (name, summary) in rows {
        let mut line = format!("{name:column$}");
        for word in summary.split_whitespace() {
            if line.chars().count() + word.chars().count() + 1 > width {
                text += line.trim_end();
                text.push('\n');
                line = " ".repeat(column);
            }
            line += word;
            line.push(' ');
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}
