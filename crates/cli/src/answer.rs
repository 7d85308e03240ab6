//! How commands end that keep no run: the screen, the document, the page.

use std::path::PathBuf;

use iosonde_report::Answer;
use iosonde_rig::guard::Protected;

use crate::{
    args::AnswerFiles,
    failure::Failure,
    output::{self, result},
    screen::Screen,
};

impl AnswerFiles {
    /// What cannot be written should be known before anything is measured; `target` is never one of them.
    pub fn check(&self, target: &str, screen: Screen) -> Result<(), Failure> {
        let inputs = output::inputs([target]);
        if self.out.as_deref().zip(self.json.as_deref()).is_some_and(|(out, json)| output::is_same(out, json))
        {
            return Err(Failure::usage("-o and --json name the same file; give each its own"));
        }
        [&self.out, &self.json]
            .into_iter()
            .flatten()
            .try_for_each(|path| output::check(path, &inputs, screen))
    }

    /// These files, which no test overwrites.
    pub fn protected(&self) -> impl Iterator<Item = Protected> {
        let one = |path: &Option<PathBuf>, what| path.clone().map(|path| Protected { path, what });
        let all = [
            one(&self.out, "the page of this command"),
            one(&self.json, "the JSON document of this command"),
        ];
        all.into_iter().flatten()
    }

    /// Shows an answer, and writes the requested files. Stdout gets one of screen, document and page.
    pub fn show(&self, answer: &dyn Answer, screen: Screen) -> Result<(), Failure> {
        let to_stdout = |path: &Option<PathBuf>| path.as_ref().is_some_and(|path| path.as_os_str() == "-");
        if !to_stdout(&self.json) && !to_stdout(&self.out) {
            screen.result(&answer.screen(screen.paint()))?;
        }
        if let Some(path) = &self.out {
            result(path, &answer.page(), screen)?;
        }
        if let Some(path) = &self.json {
            result(path, &answer.json().map_err(Failure::failed)?, screen)?;
        }
        if let Some(path) = self.out.as_ref().filter(|_| !to_stdout(&self.out) && !to_stdout(&self.json)) {
            screen.result(&format!("\nreport  {}\n", path.display()))?;
        }
        Ok(())
    }
}
