//! fio's JSON with histograms, as `fio --output-format=json+` writes it.
//!
//! `bins` of each latency count the requests by their latency in nanoseconds, for `fio_jsonplus_clat2csv` and other
//! programs that draw distributions.

use iosonde_model::{Named, Run};

use super::{
    ExportFormat,
    fio_form::{Bins, document},
};

/// The registered format.
pub struct FioJsonPlus;

impl Named for FioJsonPlus {
    fn name(&self) -> &'static str {
        "fio-json-plus"
    }
}

impl ExportFormat for FioJsonPlus {
    fn extension(&self) -> &'static str {
        "fio-plus.json"
    }

    fn write(&self, run: &Run) -> Result<String, String> {
        document(run, Bins::Written)
    }
}
