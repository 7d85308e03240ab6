//! Writes the reports of an invented run into a folder, to be looked at: `cargo run --example fixture_report
//! OUT`. With a number behind it, the run has so many rounds (38 make 1,065 trials).

#[path = "../tests/common/mod.rs"]
mod common;

use iosonde_report::{FORMATS, Paint, terminal};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder =
        std::path::PathBuf::from(arguments.next().ok_or("say where: fixture_report FOLDER [ROUNDS]")?);
    let rounds = arguments.next().map_or(Ok(9), |text| text.parse())?;
    let run = common::run(rounds);
    for format in FORMATS.iter() {
        let path = folder.join(format!("fixture.{}", format.extension()));
        std::fs::write(path, format.render(&run)?)?;
    }
    std::fs::write(folder.join("point.html"), iosonde_report::html(&common::point()))?;
    let paint = Paint { color: true, width: 80 };
    std::fs::write(folder.join("trial.txt"), terminal::trial(&common::point(), paint))?;
    std::fs::write(folder.join("summary.txt"), terminal::summary(&run, paint))?;
    Ok(())
}
