//! A run in a file for other programs, or for another machine: a format is one file and one line.

use iosonde_model::{Named, RequirementAnswer, Run, registry};

mod capacity;
mod cells;
mod figures;
mod fio_form;
pub mod fio_logs;

registry! {
    /// Registry of export formats.
    pub EXPORTS: ExportFormat "export format" {
        bencher::Bencher,
        csv::Csv,
        fio_json::FioJson,
        fio_json_plus::FioJsonPlus,
        hosts_csv::HostsCsv,
        io_cost_model::IoCostModel,
        io_properties::IoProperties,
        open_metrics::OpenMetrics,
        points_csv::PointsCsv,
        run::RunFile,
    }
}

/// A format of runs.
pub trait ExportFormat: Named {
    /// File name extension, without the dot.
    fn extension(&self) -> &'static str;

    /// The whole file.
    ///
    /// # Errors
    /// Returns a sentence if the run cannot be written in this format.
    fn write(&self, run: &Run) -> Result<String, String>;

    /// The same with what the run says of requirements, for formats that have a place for it.
    ///
    /// # Errors
    /// As [`ExportFormat::write`].
    fn write_answered(&self, whole: &Run, _answers: &[RequirementAnswer]) -> Result<String, String> {
        self.write(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_well_formed() {
        EXPORTS.assert_well_formed();
    }

    #[test]
    fn no_format_replaces_anothers_file() {
        let mut extensions: Vec<&str> = EXPORTS.iter().map(|format| format.extension()).collect();
        let all = extensions.len();
        extensions.sort_unstable();
        extensions.dedup();
        assert_eq!(extensions.len(), all, "{extensions:?}");
    }
}
