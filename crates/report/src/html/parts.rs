//! Pieces that every part of the page is made of.

use maud::{Markup, PreEscaped, html as markup};

/// Letters of code up to which no line breaks inside: `--time`. Longer ones break where the screen ends.
const WHOLE_MAX: usize = 16;

/// A sentence of ours: commands between backticks are set as code, everything else is text.
pub(crate) fn prose(text: &str) -> Markup {
    markup! {
        @for (i, part) in crate::paint::glue(text).split('`').enumerate() {
            @if i % 2 == 1 { code.whole[part.len() <= WHOLE_MAX] { (part) } } @else { (part) }
        }
    }
}

/// A file of ours put into the page as it is.
pub(crate) fn verbatim(text: &'static str) -> PreEscaped<&'static str> {
    PreEscaped(text)
}

/// The first letter large, unless the word is a unit or a number: lines of a terminal become sentences.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if first.is_lowercase() && first.is_ascii() => {
            first.to_uppercase().chain(letters).collect()
        }
        _ => text.to_owned(),
    }
}
