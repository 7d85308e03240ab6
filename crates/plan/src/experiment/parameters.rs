//! The parameters of an experiment as a study gives them: scalars, lists, and ranges such as `"4k..4M*4"`.

use iosonde_model::{
    Rw, nearest,
    units::{self, List, Listed, SizeBytes, TimeNs},
};
use std::{collections::HashSet, fmt, str::FromStr};

/// Key that an experiment understands.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// The key in the study's TOML.
    pub key: &'static str,
    /// Meaning, with the unit.
    pub explain: &'static str,
    /// The value where the study gives none, as TOML text: `"4k"`, `[1, 8]`; empty where there is none.
    pub default: &'static str,
}

/// A parameter that an experiment cannot use, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("experiment `{experiment}`: {message}")]
pub struct ParameterError {
    /// The experiment's name in the study.
    pub experiment: String,
    /// The parameter, where one is to blame.
    pub key: Option<String>,
    /// Problem and remedy.
    pub message: String,
}

/// A count, at least 1.
struct Count(u32);

impl FromStr for Count {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(0) | Err(_) => Err(format!("`{text}` is no count; write 1, 2, ..")),
            Ok(count) => Ok(Self(count)),
        }
    }
}

impl Listed for Count {
    fn expand(text: &str) -> Result<Vec<Self>, String> {
        let counts = units::values(text, |text| text.parse().map(|Self(count)| u64::from(count)))?;
        Ok(counts.into_iter().map(|count| Self(count as u32)).collect())
    }
}

/// A percentage from 0 to 100.
struct Percent(f64);

impl FromStr for Percent {
    type Err = units::ParseQuantity;
    fn from_str(text: &str) -> Result<Self, units::ParseQuantity> {
        // 0.29 × 100 is 28.999999999999996.
        units::parse_percent(text).map(|share| Self((share * 1e8).round() / 1e6))
    }
}

impl Listed for Percent {
    fn expand(text: &str) -> Result<Vec<Self>, String> {
        let read = |text: &str| text.parse().map_err(|error: units::ParseQuantity| error.to_string());
        if !text.contains("..") {
            return Ok(vec![read(text)?]);
        }
        let whole = |text: &str| match read(text)? {
            Self(percent) if percent.fract() == 0.0 => Ok(percent as u64),
            Self(percent) => Err(format!("{percent} is no whole percentage, and a range counts in those")),
        };
        Ok(units::values(text, whole)?.into_iter().map(|percent| Self(percent as f64)).collect())
    }
}

/// The parameters of one experiment, defaults filled in, unknown keys refused.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    experiment: String,
    values: toml::Table,
    /// Keys that were not given.
    by_default: Vec<&'static str>,
}

impl Parameters {
    /// Checks a study's table against what the experiment understands.
    pub fn check(experiment: &str, given: &toml::Table, known: &[Parameter]) -> Result<Self, ParameterError> {
        for key in given.keys() {
            if !known.iter().any(|parameter| parameter.key == key) {
                let keys: Vec<_> = known.iter().map(|parameter| parameter.key).collect();
                let hint = nearest(key, keys.iter().copied())
                    .map_or_else(String::new, |k| format!("; did you mean `{k}`?"));
                return Err(ParameterError {
                    experiment: experiment.to_owned(),
                    key: Some(key.clone()),
                    message: format!("it has no parameter `{key}`{hint} (it has {})", keys.join(", ")),
                });
            }
        }
        let (mut values, mut by_default) = (given.clone(), Vec::new());
        for parameter in known.iter().filter(|parameter| !parameter.default.is_empty()) {
            if !values.contains_key(parameter.key) {
                let text = format!("v = {}", parameter.default);
                let mut table: toml::Table = toml::from_str(&text).expect("a default is valid TOML");
                values.insert(parameter.key.to_owned(), table.remove("v").expect("it was just written"));
                by_default.push(parameter.key);
            }
        }
        Ok(Self { experiment: experiment.to_owned(), values, by_default })
    }

    /// Returns the parameters with other defaults for keys that are not given.
    pub fn with_defaults(&self, known: &[Parameter]) -> Result<Self, ParameterError> {
        let mut given = self.values.clone();
        self.by_default.iter().for_each(|key| drop(given.remove(*key)));
        Self::check(&self.experiment, &given, known)
    }

    /// Returns true if a key has a value, given or by default.
    pub fn has(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    /// A key's values, or none where it has none.
    pub fn if_given<T>(
        &self,
        key: &str,
        read: impl Fn(&Self, &str) -> Result<Vec<T>, ParameterError>,
    ) -> Result<Vec<T>, ParameterError> {
        if self.has(key) { read(self, key) } else { Ok(Vec::new()) }
    }

    /// The tables of a list, each checked like the whole and with the whole's values where it gives none.
    pub fn rows(&self, key: &str, known: &[Parameter]) -> Result<Vec<Self>, ParameterError> {
        let Some(value) = self.values.get(key) else { return Ok(Vec::new()) };
        let form = "a row is written { rw = \"randread\", block_size = \"4k\", depth = 32 }";
        let rows =
            value.as_array().ok_or_else(|| self.wrong(key, format!("it is a list of rows; {form}")))?;
        let row = |row: &toml::Value| {
            let mut values = self.values.clone();
            values.remove(key);
            let given =
                row.as_table().ok_or_else(|| self.wrong(key, format!("it cannot hold {row}; {form}")))?;
            values.extend(given.clone());
            let columns: Vec<_> = known.iter().filter(|parameter| parameter.key != key).copied().collect();
            Self::check(&self.experiment, &values, &columns)
        };
        if rows.is_empty() {
            return Err(self.wrong(key, format!("it is empty; {form}")));
        }
        rows.iter().map(row).collect()
    }

    /// Values of a list of sizes in bytes.
    pub fn sizes(&self, key: &str) -> Result<Vec<u64>, ParameterError> {
        Ok(self.parsed::<SizeBytes>(key)?.into_iter().map(|size| size.0).collect())
    }

    /// Sizes in bytes, or shares of a whole as `50%`.
    pub fn sizes_or_shares(&self, key: &str, whole_bytes: u64) -> Result<Vec<u64>, ParameterError> {
        let read = |text: &str| match text.strip_suffix('%') {
            None => units::parse_size(text).map_err(|e| e.to_string()),
            Some(_) => match units::parse_percent(text).map_err(|e| e.to_string())? {
                // Whole pages, as the prepared area has.
                share if share > 0.0 => Ok((whole_bytes as f64 * share) as u64 / 4096 * 4096),
                _ => Err("a share of 0% leaves nothing to address".to_owned()),
            },
        };
        let lists = self.texts(key)?.into_iter().map(|text| units::values(&text, read));
        let lists = lists.collect::<Result<Vec<_>, _>>().map_err(|message| self.wrong(key, message))?;
        Ok(lists.concat())
    }

    /// Returns the values of a key as any type that may be listed.
    pub fn parsed<T: Listed>(&self, key: &str) -> Result<Vec<T>, ParameterError> {
        let value =
            self.values.get(key).unwrap_or_else(|| panic!("`{key}` is not in the experiment's parameters"));
        List::read(value).map_err(|message| self.wrong(key, message))
    }

    /// Yes or no.
    pub fn switches(&self, key: &str) -> Result<Vec<bool>, ParameterError> {
        self.parsed(key)
    }

    /// Returns a time in seconds.
    pub fn seconds(&self, key: &str) -> Result<f64, ParameterError> {
        let time: TimeNs = self.text(key)?.parse().map_err(|error| self.wrong(key, error))?;
        Ok(time.0 as f64 / 1e9)
    }

    /// Returns a size in bytes.
    pub fn size(&self, key: &str) -> Result<u64, ParameterError> {
        self.one(key, self.sizes(key)?)
    }

    /// Values of a list of counts, at least 1 each.
    pub fn counts(&self, key: &str) -> Result<Vec<u32>, ParameterError> {
        Ok(self.parsed::<Count>(key)?.into_iter().map(|count| count.0).collect())
    }

    /// Counts in which a letter stands for a number that only the run knows: `["1..N*2", "N"]`. Each once.
    pub fn counts_of(&self, key: &str, letter: &str, number: u32) -> Result<Vec<u32>, ParameterError> {
        let mut given = self.clone();
        if let Some(value) = given.values.get_mut(key) {
            replace(value, letter, &number.to_string());
        }
        let mut counts = given.counts(key)?;
        let mut known = HashSet::new();
        counts.retain(|count| known.insert(*count));
        Ok(counts)
    }

    /// Returns a count.
    pub fn count(&self, key: &str) -> Result<u32, ParameterError> {
        self.one(key, self.counts(key)?)
    }

    /// Returns a text.
    pub fn text(&self, key: &str) -> Result<String, ParameterError> {
        self.one(key, self.texts(key)?)
    }

    /// A list of texts; one value is a list of one.
    pub fn texts(&self, key: &str) -> Result<Vec<String>, ParameterError> {
        self.parsed(key)
    }

    /// A list of access patterns.
    pub fn patterns(&self, key: &str) -> Result<Vec<Rw>, ParameterError> {
        self.parsed(key)
    }

    /// A list of access patterns that only read or only write.
    pub fn single_direction_patterns(&self, key: &str) -> Result<Vec<Rw>, ParameterError> {
        let patterns = self.patterns(key)?;
        match patterns.iter().find(|rw| rw.is_mixed()) {
            Some(mixed) => {
                Err(self
                    .wrong(key, format!("`{mixed}` mixes reads and writes; the experiment `mix` does that")))
            }
            None => Ok(patterns),
        }
    }

    /// A list of percentages, 0 .. 100, or a range of whole ones: `"0..100+10"`.
    pub fn percentages(&self, key: &str) -> Result<Vec<f64>, ParameterError> {
        Ok(self.parsed::<Percent>(key)?.into_iter().map(|percent| percent.0).collect())
    }

    /// An error about these parameters together.
    pub fn fail(&self, message: impl fmt::Display) -> ParameterError {
        ParameterError { experiment: self.experiment.clone(), key: None, message: message.to_string() }
    }

    /// An error about one parameter.
    pub fn wrong(&self, key: &str, message: impl fmt::Display) -> ParameterError {
        let (experiment, message) = (self.experiment.clone(), format!("`{key}`: {message}"));
        ParameterError { experiment, key: Some(key.to_owned()), message }
    }

    fn one<T>(&self, key: &str, mut values: Vec<T>) -> Result<T, ParameterError> {
        match (values.pop(), values.len()) {
            (Some(value), 0) => Ok(value),
            (_, more) => Err(self.wrong(key, format!("it takes one value, not {}", more + 1))),
        }
    }
}

/// Replaces a letter in every text of a value or of a list.
fn replace(value: &mut toml::Value, letter: &str, with: &str) {
    match value {
        toml::Value::String(text) => *text = text.replace(letter, with),
        toml::Value::Array(values) => values.iter_mut().for_each(|value| replace(value, letter, with)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[Parameter] = &[
        Parameter { key: "block_size", explain: "", default: "\"4k..64k*4\"" },
        Parameter { key: "depth", explain: "", default: "[1, \"2..8*2\"]" },
        Parameter { key: "rw", explain: "", default: "\"randread\"" },
        Parameter { key: "mix", explain: "", default: "70" },
    ];

    fn given(text: &str) -> Result<Parameters, ParameterError> {
        Parameters::check("block-size", &toml::from_str(text).unwrap(), KNOWN)
    }

    #[test]
    fn defaults_lists_and_ranges() {
        let parameters = given("rw = [\"randread\", \"randwrite\"]").unwrap();
        assert_eq!(parameters.sizes("block_size").unwrap(), [4096, 16384, 65536]);
        assert_eq!(parameters.counts("depth").unwrap(), [1, 2, 4, 8]);
        assert_eq!(parameters.patterns("rw").unwrap(), [Rw::RandRead, Rw::RandWrite]);
        assert_eq!(parameters.percentages("mix").unwrap(), [70.0]);
    }

    #[test]
    fn a_letter_stands_for_what_the_run_knows() {
        let of = |text: &str, all| given(&format!("depth = {text}")).unwrap().counts_of("depth", "N", all);
        assert_eq!(of("[\"1..N*2\", \"N\"]", 12).unwrap(), [1, 2, 4, 8, 12]);
        assert_eq!(of("[\"1..N*2\", \"N\"]", 8).unwrap(), [1, 2, 4, 8]);
        assert_eq!(of("[1, 3]", 8).unwrap(), [1, 3]);
        assert!(of("\"M\"", 8).unwrap_err().message.contains("`M` is no count"));
    }

    #[test]
    fn percentages_are_counted_too() {
        let of = |text: &str| given(&format!("mix = {text}")).unwrap().percentages("mix");
        assert_eq!(of("\"0..100+25\"").unwrap(), [0.0, 25.0, 50.0, 75.0, 100.0]);
        assert_eq!(of("[29, \"10%..20%+10%\", 0.5]").unwrap(), [29.0, 10.0, 20.0, 0.5]);
        assert!(of("\"0..1+0.5\"").unwrap_err().message.contains("no whole percentage"));
        assert!(of("\"0..200+50\"").unwrap_err().message.contains("0% to 100%"));
    }

    #[test]
    fn rows_take_what_they_do_not_give_from_the_whole() {
        let known = [KNOWN, &[Parameter { key: "rows", explain: "", default: "" }]].concat();
        let check = |text: &str| Parameters::check("matrix", &toml::from_str(text).unwrap(), &known).unwrap();
        let whole = check("mix = 50\nrows = [{ depth = 64 }, { depth = 16, mix = 100 }]");
        let rows = whole.rows("rows", &known).unwrap();
        let read = |row: &Parameters| (row.count("depth").unwrap(), row.percentages("mix").unwrap()[0]);
        assert_eq!(rows.iter().map(read).collect::<Vec<_>>(), [(64, 50.0), (16, 100.0)]);
        let slip = check("rows = [{ dept = 64 }]").rows("rows", &known).unwrap_err().to_string();
        assert!(slip.contains("did you mean `depth`?"), "{slip}");
        assert!(check("rows = 5").rows("rows", &known).unwrap_err().message.contains("a list of rows"));
        assert!(check("rows = []").rows("rows", &known).unwrap_err().message.contains("it is empty"));
    }

    #[test]
    fn slips_are_named() {
        let unknown = given("blok_size = \"4k\"").unwrap_err().to_string();
        assert!(unknown.contains("did you mean `block_size`?"), "{unknown}");
        assert!(given("depth = 0").unwrap().counts("depth").is_err());
        assert!(given("rw = \"randred\"").unwrap().patterns("rw").unwrap_err().message.contains("randread"));
    }
}
