//! Any cross of parameters, in full or as a list of rows.
//!
//! Every key may be a list, and each combination is a point: by default two patterns, two block sizes and two queue
//! depths, which are eight points. `--set block_size=4k,16k --set depth=1,32` gives other lists. For selected
//! combinations, a study of your own lists them as `rows`. Each row is a table of the same keys and takes missing
//! ones from the keys beside `rows`. Other missing keys have the default: 4 KiB random reads at QD 1.
//!
//! ```toml
//! name = "my-rows"
//! question = "What do my mixes give?"
//! [[experiment]]
//! kind = "matrix"
//! rw = "randrw"
//! mix = 50
//! rows = [
//!     { block_size = "4k", depth = [16, 64, 256] },
//!     { block_size = "64k", depth = 64 },
//! ]
//! ```
//!
//! In a file my-rows.toml, `iosonde run ./my-rows.toml TARGET` measures these four points. `iosonde studies
//! fio-matrix --toml` prints a larger one to begin with.
//!
//! `beside` runs other streams at the same time as each point, such as a log beside readers; its tables also take
//! missing keys from the keys beside them.
//!
//! Parameters: those below, all optional.
//!
//! How to read it: point by point, with its interval. Rows that differ in one key only may be compared. Rows that
//! differ in several do not show the effect of any of them.
//!
//! Traps:
//! - A full cross grows fast: three lists of eight are 512 points, and each needs its share of the time. `run
//!   --dry-run` says how many there are and how long they take.
//! - A mean over different points is no property of anything.

use iosonde_model::{Device, ExperimentName, TrialSpec};

use super::{Experiment, Parameter, ParameterError, Parameters, grid};

pub(super) struct Matrix;

const PARAMETERS: &[Parameter] = &[
    grid::rw("[\"randread\", \"randwrite\"]"),
    grid::block_size("[\"4k\", \"64k\"]"),
    grid::depth("[1, 16]"),
    grid::jobs("1"),
    grid::mix("50"),
    grid::stride(""),
    grid::offset(""),
    grid::align(""),
    grid::span(""),
    grid::distribution(""),
    grid::sync(""),
    grid::payload(""),
    grid::rate(""),
    grid::arrivals(""),
    grid::buffered(""),
    Parameter {
        key: "beside",
        explain: "streams that run at the same time: a list of tables of the keys above",
        default: "",
    },
    Parameter {
        key: "rows",
        explain: "only these combinations: a list of tables of the keys above",
        default: "",
    },
];

impl Experiment for Matrix {
    fn id(&self) -> ExperimentName {
        ExperimentName::Matrix
    }

    fn question(&self) -> &'static str {
        "What does this storage give at each of these combinations?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn grid(&self, parameters: &Parameters, device: &Device) -> Result<Vec<TrialSpec>, ParameterError> {
        let listed = parameters.has("rows") || parameters.has("beside");
        let parameters = &if listed { parameters.with_defaults(&plain())? } else { parameters.clone() };
        let mut specs = grid::rows(parameters, &plain(), device)?;
        let mut beside = Vec::new();
        for stream in parameters.rows("beside", &plain())? {
            let mut streams = grid::cross(&stream, device)?;
            if streams.len() > 1 {
                let why =
                    "each table is one stream: give it one value for every key that has a list (`depth = 1`)";
                return Err(parameters.wrong("beside", why));
            }
            beside.append(&mut streams);
        }
        specs.iter_mut().for_each(|spec| spec.and.clone_from(&beside));
        Ok(specs)
    }

    fn point_by_point(&self) -> bool {
        true
    }
}

/// Returns keys with one value as default: a key that a row or stream omits is no list.
fn plain() -> Vec<Parameter> {
    let plain = |parameter: &Parameter| match parameter.key {
        "rw" => grid::rw("\"randread\""),
        "block_size" => grid::block_size("\"4k\""),
        "depth" => grid::depth("1"),
        _ => *parameter,
    };
    PARAMETERS.iter().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(text: &str) -> Vec<TrialSpec> {
        let given = toml::from_str(text).unwrap();
        let parameters = Parameters::check("matrix", &given, PARAMETERS).unwrap();
        Matrix.grid(&parameters, &Device::unknown("file", 1 << 30)).unwrap()
    }

    #[test]
    fn a_full_cross_or_the_listed_rows_once_each() {
        assert_eq!(
            points("block_size = [\"4k\", \"8k\"]\ndepth = [1, 2, 4]\nrw = [\"read\", \"randrw\"]").len(),
            12
        );
        // Two patterns, two sizes, two queue depths.
        assert_eq!((points("").len(), points("depth = 4").len()), (8, 4));
        // A row is one point, whatever it leaves out.
        assert_eq!(points("rows = [{ block_size = \"8k\" }, { depth = 2 }]").len(), 2);
        let rows = points(
            "rw = \"randrw\"\nmix = 50\nrows = [{ block_size = \"4k\", depth = [16, 64] }, { depth = 64 }]",
        );
        let log = "beside = [{ rw = \"write\", sync = \"fdatasync:1\", depth = 1 }]\ndepth = [1, 16]";
        let both = points(log);
        assert_eq!(both.len(), 2);
        assert_eq!(
            both[1].describe(),
            "4 KiB random reads, QD 16, with 4 KiB sequential writes, QD 1, fdatasync:1"
        );
        let study = "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"matrix\"\ndepth = [1, 16]\n\
             beside = [{ rw = \"write\" }]\n";
        let refused =
            iosonde_model::Study::parse(study, "x").map_err(|error| error.to_string()).and_then(|study| {
                let device = Device::unknown("file", 1 << 30);
                crate::points::plan(&study, &device).map(|_| ()).map_err(|error| error.to_string())
            });
        assert!(refused.unwrap_err().contains("each table is one stream"));
        assert_eq!(rows.len(), 2);
        assert!(rows.iter().all(|spec| spec.rw.is_mixed() && spec.read_percent == Some(50.0)));
    }
}
