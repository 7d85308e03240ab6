//! Vendors' sheets: those that come with the program, and those from files.

use iosonde_model::{Sheet, nearest};

use crate::failure::{Failure, in_words};

macro_rules! sheets {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../../specs/", $name, ".toml")))),+]
    };
}

/// Name and text. A new sheet is a file and its name here.
pub const SHEETS: &[(&str, &str)] = sheets!["d7-p5600", "samsung-990-pro", "samsung-870-evo"];

/// A sheet by its name or from a file.
pub fn find(word: &str) -> Result<Sheet, Failure> {
    if word.ends_with(".toml") {
        let text = std::fs::read_to_string(word)
            .map_err(|e| Failure::usage(format!("the sheet {word} cannot be read: {}", in_words(&e))))?;
        return Sheet::parse(&text, word).map_err(Failure::usage);
    }
    let Some((name, text)) = SHEETS.iter().find(|(name, _)| *name == word) else {
        let near = nearest(word, SHEETS.iter().map(|(name, _)| *name));
        let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        return Err(Failure::usage(format!(
            "there is no sheet named `{word}`{hint}\n  iosonde specs lists them; a file of your own ends in .toml"
        )));
    };
    Sheet::parse(text, name).map_err(Failure::failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_the_folder_and_every_sheet_is_read() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../specs");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
            .collect();
        files.sort();
        let mut known: Vec<&str> = SHEETS.iter().map(|(name, _)| *name).collect();
        known.sort_unstable();
        assert_eq!(files, known);
        for (name, _) in SHEETS {
            let sheet = find(name).unwrap();
            assert!(sheet.name == *name && sheet.claims.len() >= 4 && !sheet.source.is_empty(), "{name}");
        }
    }
}
