//! Files that come with the program: found by name, or read from a path that ends in `.toml`.

use std::{borrow::Cow, path::Path};

use iosonde_model::nearest;
use iosonde_store::{TEXT_BYTES_MAX, read_text};

use crate::failure::{Failure, in_words};

/// Name and text of each file of a kind.
pub type Builtin = &'static [(&'static str, &'static str)];

/// The text of a file by its name or path. `kind` is what one is called, `lister` the command that lists them.
pub fn text(word: &str, list: Builtin, kind: &str, lister: &str) -> Result<Cow<'static, str>, Failure> {
    if word.ends_with(".toml") {
        let text = read_text(Path::new(word), TEXT_BYTES_MAX)
            .map_err(|e| Failure::usage(format!("the {kind} {word} cannot be read: {}", in_words(&e))))?;
        return Ok(text.into());
    }
    let Some((_, text)) = list.iter().find(|(name, _)| *name == word) else {
        let near = nearest(word, list.iter().map(|(name, _)| *name));
        let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        return Err(Failure::usage(format!(
            "there is no {kind} named `{word}`{hint}\n  iosonde {lister} lists them; a file of your own ends in .toml"
        )));
    };
    Ok((*text).into())
}
