//! Vendors' sheets: those that come with the program, and those from files.

use iosonde_model::{Sheet, Study};

use crate::{
    builtin::{self, Builtin},
    failure::Failure,
};

macro_rules! sheets {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_str!(concat!("../../../specs/", $name, ".toml")))),+]
    };
}

/// Name and text. A new sheet is a file and its name here.
pub const SHEETS: Builtin = sheets![
    "d7-p5600",
    "samsung-990-pro",
    "samsung-870-evo",
    "wd-black-4tb",
    "sandisk-extreme-pro-usb",
    "aws-gp3",
    "aws-gp3-max",
    "aws-gp2-max",
    "aws-io1-max",
    "aws-io2-block-express-max",
    "azure-premium-ssd-v2-max",
    "azure-ultra-disk-max",
    "azure-premium-ssd-max",
    "azure-standard-ssd-max",
    "azure-standard-hdd-max",
    "azure-premium-ssd-p20",
    "gcp-pd-ssd-max",
];

/// A sheet by its name or from a file.
pub fn find(word: &str) -> Result<Sheet, Failure> {
    Ok(read(word)?.0)
}

/// A sheet, and its file as it was read.
fn read(word: &str) -> Result<(Sheet, toml::Table), Failure> {
    let (sheet, text) = parse(word)?;
    let own = text.parse().map_err(Failure::failed)?;
    Ok((sheet, own))
}

fn parse(word: &str) -> Result<(Sheet, String), Failure> {
    let text = builtin::text(word, SHEETS, "sheet", "specs")?;
    Ok((Sheet::parse(&text, word).map_err(Failure::usage)?, text.into_owned()))
}

/// In flight where a sheet does not say: past the knee of a drive with 32 units that random addresses choose blindly.
const IN_FLIGHT: u64 = 128;
/// Bytes of a request where a sheet does not say: what vendors take for sequential lines.
const BLOCK_BYTES: u64 = 128 << 10;

/// What a sheet's lines say themselves.
const SAID_BY_LINES: [&str; 3] = ["rw", "block_size", "depth"];

/// The study that measures a sheet's lines under their conditions; `named` is what was typed in a study's place, `set`
/// its parameters as typed.
pub fn study(word: &str, named: Option<&Study>, set: &[String]) -> Result<Study, Failure> {
    let key = |typed: &String| {
        let key = typed.split('=').next().unwrap_or_default();
        key.rsplit('.').next().unwrap_or_default().to_owned()
    };
    if let Some(own) = set.iter().map(key).find(|key| SAID_BY_LINES.contains(&key.as_str())) {
        return Err(Failure::usage(format!(
            "--set {own}=.. and --sheet: each line of the sheet has a {own} of its own; for others copy the sheet \
             (`iosonde specs {word}`) and change it"
        )));
    }
    if let Some(other) = named.filter(|study| study.name != "spec") {
        return Err(Failure::usage(format!(
            "--sheet makes a study of the sheet's own lines, in the place of {}:  iosonde run spec --sheet {word} \
             TARGET",
            other.name
        )));
    }
    let (sheet, own) = read(word)?;
    let rows: Vec<String> = sheet
        .claims
        .iter()
        .map(|claim| {
            let bytes = claim.block_size_bytes.unwrap_or(BLOCK_BYTES);
            let depth = claim.in_flight.unwrap_or(IN_FLIGHT);
            format!("{{ rw = \"{}\", block_size = \"{bytes}\", depth = {depth} }}", claim.rw)
        })
        .collect();
    let question = format!("Does this storage give what the sheet of {} claims?", sheet.name);
    let rows = rows.join(", ");
    // Rust's own quoting of a text is not TOML's.
    let question = toml::Value::from(question);
    let text = format!(
        "name = \"spec\"\nquestion = {question}\norder = \"reads-first\"\n\n\
         [[experiment]]\nkind = \"spec\"\nrows = [{rows}]\n\n{}",
        toml::Table::from_iter([("sheet".to_owned(), own.into())])
    );
    Study::parse(&text, word).map_err(Failure::usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_of_any_name_becomes_a_study_and_its_lines_stay_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.toml");
        // A no-break space and a quote, which Rust and TOML write differently.
        let (_, text) = SHEETS[0];
        let text = text.replacen("name = \"d7-p5600\"", "name = \"d7\u{a0}of \\\"ours\\\"\"", 1);
        std::fs::write(&path, text).unwrap();
        let path = path.to_str().unwrap();
        let made = study(path, None, &["size=1GiB".into()]).unwrap();
        assert!(made.question.contains("d7\u{a0}of \"ours\""), "{}", made.question);
        for set in ["depth=1", "spec.block_size=4k"] {
            let why = study(path, None, &[set.into()]).unwrap_err().text;
            assert!(why.contains("of its own"), "{why}");
        }
    }

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
            assert!(sheet.name == *name && !sheet.source.is_empty(), "{name}");
            let writes = |wanted: bool| sheet.claims.iter().any(|claim| claim.rw.writes() == wanted);
            assert!(writes(false) && writes(true), "{name}: a drive reads and writes");
        }
    }
}
