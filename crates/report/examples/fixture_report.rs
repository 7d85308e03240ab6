//! Writes the reports of an invented run into a folder, to be looked at: `cargo run --example fixture_report
//! OUT`. With a number behind it, the run has so many rounds (38 make 1,065 trials).

#[path = "../tests/common/mod.rs"]
mod common;

use iosonde_infer::compare::{self, Question};
use iosonde_report::{FORMATS, Paint, terminal};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder =
        std::path::PathBuf::from(arguments.next().ok_or("say where: fixture_report FOLDER [ROUNDS]")?);
    let rounds = arguments.next().map_or(Ok(9), |text| text.parse())?;
    let run = common::rich(rounds);
    for format in FORMATS.iter().filter(|format| format.name() != "png" || cfg!(feature = "png")) {
        let path = folder.join(format!("fixture.{}", format.extension()));
        std::fs::write(path, format.render(&run)?)?;
    }
    let others = (1..=3).map(common::side).collect::<Vec<_>>();
    let question =
        Question { figure: iosonde_model::ComparedFigure::Iops, margin: 0.02, confidence: 0.95, over: false };
    let compared =
        compare::compare(&others, &question).map_err(|why| iosonde_report::text::compare::nothing(&why))?;
    std::fs::write(folder.join("several.html"), iosonde_report::several(&others, &compared))?;
    std::fs::write(folder.join("nothing.html"), iosonde_report::html(&common::nothing()))?;
    std::fs::write(folder.join("point.html"), iosonde_report::html(&common::point()))?;
    let paint = Paint { color: true, width: 80 };
    std::fs::write(folder.join("trial.txt"), terminal::trial(&common::point(), false, paint))?;
    std::fs::write(folder.join("summary.txt"), terminal::summary(&run, paint))?;
    Ok(())
}
