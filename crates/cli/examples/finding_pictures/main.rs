//! Draws the pictures of `docs/findings.md`: for each finding the simulated device that proves it, what was measured,
//! what was found, and what is true. `cargo run -p iosonde --example finding_pictures [NAME]` writes
//! `docs/findings/NAME.svg` for each finding, or for one.

#![allow(clippy::print_stdout, clippy::print_stderr)]

mod data;
mod frame;
mod picture;
mod scale;
mod view;

use std::path::Path;

use iosonde_infer::finding::FINDINGS;
use iosonde_model::{Finding, Status};

fn main() -> std::process::ExitCode {
    let only = std::env::args().nth(1);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/findings");
    let mut code = std::process::ExitCode::SUCCESS;
    for kind in FINDINGS.iter().filter(|kind| only.as_ref().is_none_or(|only| kind.id().as_str() == only)) {
        let proof = kind.proof();
        // First seed of the test of all proofs.
        let drawn = iosonde_cli::run_proof(kind, 11).and_then(|run| {
            let of_kind = || run.findings.iter().filter(|finding| finding.name == kind.id());
            let known = of_kind().zip(proof.truths).find(|(_, truth)| truth.0.is_some());
            let (finding, truth): (&Finding, _) = known.ok_or("nothing was found")?;
            if finding.status != Status::Found {
                return Err(iosonde_report::text::sentence(finding));
            }
            Ok(picture::svg(&run, finding, truth.0.unwrap_or(0.0), truth.1))
        });
        let path = folder.join(format!("{}.svg", kind.id().as_str()));
        let written = drawn.and_then(|svg| std::fs::write(&path, svg).map_err(|error| error.to_string()));
        match written {
            Ok(()) => println!("{}", path.display()),
            Err(why) => {
                eprintln!("{}: {why}", kind.id().as_str());
                code = std::process::ExitCode::FAILURE;
            }
        }
    }
    code
}
