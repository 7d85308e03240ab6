//! What a sentence must not be, whatever facts it is made of.

/// Most words that a sentence may have: one that is read twice helps nobody.
pub const WORDS_MAX: usize = 60;

/// Faults of a text of one or more whole sentences.
pub fn faults(text: &str) -> Vec<&'static str> {
    let ends = text.ends_with('.') || text.ends_with(".)") || text.ends_with('?');
    let mut faults = faults_within(text);
    faults.extend((!ends).then_some("does not end like a sentence"));
    let first = text.chars().next();
    faults.extend(first.is_some_and(char::is_lowercase).then_some("begins with a small letter"));
    faults
}

/// Faults of a text within another one.
pub fn faults_within(text: &str) -> Vec<&'static str> {
    let mut words = text.split(|letter: char| !letter.is_alphanumeric());
    let rules = [
        (text.trim().is_empty(), "is empty"),
        (words.any(|word| word == "NaN" || word == "inf"), "has a figure that is no number"),
        (["-0 ", "-0.0 ", "-0.00 "].iter().any(|zero| text.contains(zero)), "has a negative zero"),
        (["()", "[]", "[,", ", ]", "( ", " )"].iter().any(|gap| text.contains(gap)), "has empty brackets"),
        (["  ", " . ", " ,", ".. ", ";.", ",."].iter().any(|gap| text.contains(gap)), "lacks a word"),
        (text.contains('{') || text.contains('}'), "has a placeholder"),
        (longest(text) > WORDS_MAX, "is too long"),
    ];
    rules.into_iter().filter(|(holds, _)| *holds).map(|(_, fault)| fault).collect()
}

/// Words of the longest sentence of a text.
pub fn longest(text: &str) -> usize {
    let (mut longest, mut words) = (0, 0);
    for word in text.split_whitespace() {
        words += 1;
        longest = words.max(longest);
        if word.ends_with(['.', '?']) {
            words = 0;
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_found_and_plain_sentences_have_none() {
        for good in ["A flush takes 1.60 ms (±1.9 %).", "4 KiB reads: unknown; use `--time`.", "Is it?"] {
            assert_eq!(faults(good), [""; 0], "{good}");
        }
        let faulty = [
            ("", "is empty"),
            ("It takes NaN ms.", "has a figure that is no number"),
            ("It takes inf.", "has a figure that is no number"),
            ("It loses -0 % an hour.", "has a negative zero"),
            ("It takes 3 ms [].", "has empty brackets"),
            ("It takes  ms.", "lacks a word"),
            ("It takes {}.", "has a placeholder"),
            ("It takes 3 ms", "does not end like a sentence"),
            ("it takes 3 ms.", "begins with a small letter"),
        ];
        for (text, fault) in faulty {
            assert!(faults(text).contains(&fault), "{text}: {:?}", faults(text));
        }
        assert!(faults(&format!("{}.", ["word"; WORDS_MAX + 1].join(" "))).contains(&"is too long"));
    }
}
