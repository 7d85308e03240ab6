//! Capitals at the beginning of a text.

/// Sentences begin with a capital, also where they begin with a workload.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// In the middle of a sentence there is no capital, unless a name begins with one (`IOPS`, `O_DIRECT`).
pub fn lowered(text: &str) -> String {
    let mut letters = text.chars();
    match (letters.next(), letters.clone().next()) {
        (Some(first), Some(second)) if second.is_lowercase() || second == ' ' => {
            first.to_lowercase().chain(letters).collect()
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_within_a_sentence_keeps_only_the_capitals_of_names() {
        assert_eq!(lowered("The program was busy"), "the program was busy");
        assert_eq!(lowered("O_DIRECT is set"), "O_DIRECT is set");
        assert_eq!(lowered("IOPS fell"), "IOPS fell");
        assert_eq!(lowered("A page is 4 KiB"), "a page is 4 KiB");
        assert_eq!(lowered(""), "");
        assert_eq!(capitalised("4 KiB reads"), "4 KiB reads");
        assert_eq!(capitalised("reads"), "Reads");
    }
}
