//! fio's job files and command lines as text: sections of options, each with its place.

use std::{path::Path, sync::Arc};

use super::{
    option::{self, FioOption, Takes},
    place::Place,
    refusal::{Refusal, Why},
};

/// Largest job file: fio's own examples have at most 3 kB.
const FILE_MAX_BYTES: usize = 4 << 20;
/// Files that include each other beyond this depth are taken for a loop.
const INCLUDES_MAX: usize = 16;

/// Option as given.
#[derive(Debug, Clone)]
pub struct Given {
    /// Entry in the table of options.
    pub option: &'static FioOption,
    /// Value after expansion; empty for an option without a value.
    pub value: String,
    /// Where it was given.
    pub place: Place,
}

/// Section of a job file: a job, with the options of `[global]` that held when it began.
#[derive(Debug, Clone)]
pub struct Section {
    /// Name of the job.
    pub name: String,
    /// Where it begins.
    pub place: Place,
    /// Options of `[global]` before it.
    pub global: Vec<Given>,
    /// Its own options.
    pub own: Vec<Given>,
    /// True if it begins a job file that follows others: fio runs files one after another.
    pub begins_file: bool,
}

/// What job files may ask of the world around them.
pub struct World<'a> {
    /// Reads a file.
    pub read: &'a dyn Fn(&Path) -> Result<Vec<u8>, String>,
    /// Value of an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Values of fio's own words: `pagesize`, `mb_memory`, `ncpus`.
    pub keyword: &'a dyn Fn(&str) -> Option<u64>,
}

/// Sections of one or several job files.
pub fn files(paths: &[String], world: &World) -> Result<Vec<Section>, Refusal> {
    let mut reader = Reader::new(world, Vec::new());
    paths.iter().try_for_each(|path| reader.job_file(path))?;
    Ok(reader.sections)
}

/// A command line of fio: its sections, and the options that are fio's and no job's.
#[derive(Debug, Clone, Default)]
pub struct CommandLine {
    /// Jobs, those of job files named in it included.
    pub sections: Vec<Section>,
    /// Options of fio itself, such as `output-format`.
    pub general: Vec<(&'static str, String)>,
}

/// Index of the first option that fio does not have and `is_known` has: one of another program, misplaced.
pub fn foreign(words: &[String], is_known: impl Fn(&str) -> bool) -> Option<usize> {
    let is_fios = |word: &str| {
        let name = word.trim_start_matches('-').split('=').next().unwrap_or_default();
        option::general(name).is_some() || option::named(name).is_ok()
    };
    words.iter().position(|word| word.starts_with('-') && !is_fios(word) && is_known(word))
}

/// Reads a command line of fio; `fio` itself and what stands before it (`sudo`, assignments) may stand there.
pub fn command_line(words: &[String], world: &World) -> Result<CommandLine, Refusal> {
    let is_fio = |word: &String| word == "fio" || word.ends_with("/fio");
    let words = words.iter().position(is_fio).map_or(words, |at| &words[at + 1..]);
    let mut reader = Reader::new(world, Vec::new());
    let (mut general, mut paths, mut current, mut at) = (Vec::new(), Vec::new(), None, 0);
    while let Some(word) = words.get(at) {
        at += 1;
        let place = Place::Word(word.as_str().into());
        let Some(typed) =
            word.strip_prefix("--").or_else(|| word.strip_prefix('-')).filter(|w| !w.is_empty())
        else {
            paths.push(word.clone());
            continue;
        };
        let (name, value) =
            typed.split_once('=').map_or((typed, None), |(name, v)| (name, Some(v.to_owned())));
        let following = |at: &mut usize| {
            *at += 1;
            words.get(*at - 1).cloned().ok_or_else(|| Why::NoValue(name.to_owned()).at(place.clone()))
        };
        if let Some(own) = option::general(name) {
            let taken = own.refuse().map_err(|why| why.at(place.clone()))?;
            let value = match value {
                None if taken == Takes::Value => following(&mut at)?,
                value => value.unwrap_or_default(),
            };
            general.push((own.name, value));
            continue;
        }
        let option = option::named(name).map_err(|why| why.at(place.clone()))?;
        let value = match value {
            None if option.takes == Takes::Value => following(&mut at)?,
            value => value.unwrap_or_default(),
        };
        if option.name == "name" {
            current = Some(value.clone()).filter(|name| name != "global");
            reader.begin(&value, place.clone(), false);
        }
        let value = reader.expanded(value.trim(), &place)?;
        refuse_empty(option, &value, typed.contains('='), &place)?;
        let given = Given { option, value, place };
        match (&current, reader.sections.last_mut()) {
            (Some(_), Some(section)) => section.own.push(given),
            _ => reader.global.push(given),
        }
    }
    reader.base = std::mem::take(&mut reader.global);
    if reader.sections.is_empty() {
        reader.files_read = 0;
    }
    paths.iter().try_for_each(|path| reader.job_file(path))?;
    Ok(CommandLine { sections: reader.sections, general })
}

struct Reader<'a> {
    world: &'a World<'a>,
    /// Options before the first job of a command line: they hold in each file.
    base: Vec<Given>,
    global: Vec<Given>,
    in_global: bool,
    sections: Vec<Section>,
    files_read: usize,
}

impl<'a> Reader<'a> {
    fn new(world: &'a World<'a>, base: Vec<Given>) -> Self {
        Self { world, base, global: Vec::new(), in_global: false, sections: Vec::new(), files_read: 0 }
    }

    fn begin(&mut self, name: &str, place: Place, begins_file: bool) {
        self.in_global = name == "global";
        if !self.in_global {
            let global = self.global.clone();
            self.sections.push(Section {
                name: name.to_owned(),
                place,
                global,
                own: Vec::new(),
                begins_file,
            });
        }
    }

    fn job_file(&mut self, path: &str) -> Result<(), Refusal> {
        self.global = self.base.clone();
        self.in_global = false;
        let before = self.sections.len();
        self.lines(path, &mut vec![path.to_owned()], None)?;
        if let Some(first) = self.sections.get_mut(before) {
            first.begins_file = before > 0;
        }
        self.files_read += 1;
        Ok(())
    }

    /// Reads a file's lines; `from` is the place of the `include` that names it.
    fn lines(&mut self, path: &str, chain: &mut Vec<String>, from: Option<&Place>) -> Result<(), Refusal> {
        let text = self.text(path, from)?;
        let shared: Arc<str> = path.into();
        let sections_before = self.sections.len();
        // An include belongs to a section that was begun before it.
        let mut open = from.is_some();
        for (number, line) in (1..).zip(text.lines()) {
            let stripped = uncommented(line);
            if stripped.is_empty() {
                continue;
            }
            let column = line.chars().take_while(|letter| letter.is_whitespace()).count() + 1;
            let place = Place::File { path: Arc::clone(&shared), line: number, column };
            if let Some(rest) = stripped.strip_prefix('[') {
                let name = rest.strip_suffix(']').ok_or_else(|| Why::OpenHeader.at(place.clone()))?;
                if from.is_some() {
                    return Err(Why::SectionInInclude.at(place));
                }
                self.begin(name.trim(), place, false);
                open = true;
                continue;
            }
            if !open {
                return Err(Why::OutsideSection(stripped.to_owned()).at(place));
            }
            match stripped.strip_prefix("include").filter(|rest| rest.starts_with(char::is_whitespace)) {
                Some(file) => self.include(path, file.trim(), chain, &place)?,
                None => self.line(stripped, place)?,
            }
        }
        if from.is_none() && self.sections.len() == sections_before {
            return Err(Why::NoJobs.at(Place::File {
                path: shared,
                line: text.lines().count().max(1),
                column: 1,
            }));
        }
        Ok(())
    }

    fn include(
        &mut self,
        by: &str,
        file: &str,
        chain: &mut Vec<String>,
        place: &Place,
    ) -> Result<(), Refusal> {
        let file = self.expanded(file, place)?;
        let path = Path::new(by).parent().unwrap_or(Path::new("")).join(&file).display().to_string();
        if chain.contains(&path) || chain.len() >= INCLUDES_MAX {
            return Err(Why::IncludeLoop(path).at(place.clone()));
        }
        chain.push(path.clone());
        self.lines(&path, chain, Some(place))?;
        chain.pop();
        Ok(())
    }

    /// One option of the section that was begun last.
    fn line(&mut self, text: &str, place: Place) -> Result<(), Refusal> {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        let option = option::named(name.trim()).map_err(|why| why.at(place.clone()))?;
        let given_with_sign = value.is_some();
        if value.is_none() && option.takes == Takes::Value {
            return Err(Why::NoValue(option.name.to_owned()).at(place));
        }
        let value = self.expanded(value.unwrap_or_default().trim(), &place)?;
        refuse_empty(option, &value, given_with_sign, &place)?;
        let given = Given { option, value, place };
        if self.in_global {
            self.global.push(given);
        } else if let Some(section) = self.sections.last_mut() {
            section.own.push(given);
        }
        Ok(())
    }

    /// A value with `${VARIABLE}` and fio's own words replaced. fio takes a missing variable for an empty text.
    fn expanded(&self, value: &str, place: &Place) -> Result<String, Refusal> {
        let mut out = String::with_capacity(value.len());
        let mut rest = value;
        while let Some((before, after)) = rest.split_once("${") {
            let Some((name, behind)) = after.split_once('}') else { break };
            let found = (self.world.variable)(name).filter(|found| !found.is_empty());
            let found = found.ok_or_else(|| Why::NoVariable(name.to_owned()).at(place.clone()))?;
            out.push_str(before);
            out.push_str(&found);
            rest = behind;
        }
        out.push_str(rest);
        for word in ["pagesize", "mb_memory", "ncpus"] {
            let typed = format!("${word}");
            if !out.contains(&typed) {
                continue;
            }
            // fio calculates there by a call of `bc`.
            if out != typed {
                return Err(Why::Arithmetic(out).at(place.clone()));
            }
            let known = (self.world.keyword)(word);
            out = known.ok_or_else(|| Why::Arithmetic(typed).at(place.clone()))?.to_string();
        }
        Ok(out)
    }

    fn text(&self, path: &str, from: Option<&Place>) -> Result<String, Refusal> {
        let start = || Place::File { path: path.into(), line: 1, column: 1 };
        let unreadable = |why| match from {
            Some(place) => Why::Include { path: path.to_owned(), why }.at(place.clone()),
            None => Why::Unreadable(why).at(Place::Word(path.into())),
        };
        let bytes = (self.world.read)(Path::new(path)).map_err(unreadable)?;
        if bytes.len() > FILE_MAX_BYTES {
            return Err(Why::TooLarge { bytes: bytes.len(), most: FILE_MAX_BYTES }.at(start()));
        }
        if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
            return Err(Why::Encoding("UTF-16").at(start()));
        }
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        std::str::from_utf8(bytes).map(str::to_owned).map_err(|error| {
            let valid = &bytes[..error.valid_up_to()];
            let line_start = valid.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let column = String::from_utf8_lossy(&valid[line_start..]).chars().count() + 1;
            let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
            Why::Encoding("not UTF-8").at(Place::File { path: path.into(), line, column })
        })
    }
}

/// `filename=` alone is a variable of the shell that is not set: fio refuses it, too. `direct` alone means yes.
fn refuse_empty(option: &FioOption, value: &str, has_sign: bool, place: &Place) -> Result<(), Refusal> {
    let missing = value.is_empty() && (has_sign || option.takes == Takes::Value);
    if missing { Err(Why::NoValue(option.name.to_owned()).at(place.clone())) } else { Ok(()) }
}

/// A line without its comment and the blanks around it: fio cuts at the first `;` and `#`, in values too.
fn uncommented(line: &str) -> &str {
    line.split([';', '#']).next().unwrap_or_default().trim()
}
