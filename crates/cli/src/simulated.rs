//! A study on a simulated device, by the functions of `iosonde run` and without a notebook.

use iosonde_hosts::Cluster;
use iosonde_infer::{conclude, finding::FindingKind};
use iosonde_model::{Closed, Run, RunState, Study};
use iosonde_rig::guard::Target;
use iosonde_sim::DeviceFile;

use crate::{
    campaign::plan,
    failure::Failure,
    hosts::Hosts,
    joined,
    layout::Sharing,
    measure::{Measurement, info::new_info},
    notebook,
    options::Options,
    screen::Screen,
    session::{self, Asked, Session},
    studies,
};

const NAME: &str = "simulated";

/// Runs a study on a simulated device, as `iosonde run STUDY sim:DEVICE --seed SEED` does, and returns the run with its
/// verdicts and findings. Device and study are texts in TOML; `size_bytes` stands for `--size`.
///
/// # Errors
/// Returns the message that the command would end with.
pub fn run_simulated(device: &str, study: &str, size_bytes: Option<u64>, seed: u64) -> Result<Run, String> {
    measured(device, study, size_bytes, seed).map_err(|failure| failure.text)
}

/// The same on hosts of a simulated cluster, all of which load the device at the same time.
///
/// # Errors
/// Returns the message that the command would end with.
pub fn run_on_cluster(device: &str, study: &str, cluster: Cluster, seed: u64) -> Result<Run, String> {
    measured_on(device, study, None, seed, Hosts::simulated(cluster)).map_err(|failure| failure.text)
}

/// The run that proves a kind of finding, on as many simulated hosts as it needs.
///
/// # Errors
/// Returns the message that the command would end with.
pub fn run_proof(kind: &dyn FindingKind, seed: u64) -> Result<Run, String> {
    let proof = kind.proof();
    match kind.proof_hosts() {
        1 => run_simulated(proof.device, proof.study, None, seed),
        hosts => run_on_cluster(proof.device, proof.study, Cluster::new(hosts), seed),
    }
}

fn measured(device: &str, study: &str, size_bytes: Option<u64>, seed: u64) -> Result<Run, Failure> {
    measured_on(device, study, size_bytes, seed, Hosts::alone())
}

fn measured_on(
    device: &str,
    study: &str,
    size_bytes: Option<u64>,
    seed: u64,
    hosts: Hosts,
) -> Result<Run, Failure> {
    let file = DeviceFile::parse(device, NAME).map_err(Failure::usage)?;
    let study = Study::parse(study, NAME).map_err(Failure::usage)?;
    let options = Options { size_bytes, ..Options::usual(study.time_ns, study.precision, seed) };
    let mut session = session::simulated(NAME, &file, &options)?;
    let (writes, workers) = (studies::writes(&study)?, studies::workers(&study)?);
    let sharing = Sharing::of(&Target::Simulated(NAME.into()), &options, hosts.count(), workers)?;
    session.take_place(&sharing, 0)?;
    session.hosts = hosts;
    let asked = Asked { command: "iosonde run", writes, apart: &[], workers, place: None };
    joined::join(&mut session, (NAME, &options, asked), &mut notebook::Unwritten)?;
    plan::planned(&study, NAME, &options, &session)?;
    let (mut run, closed) = followed(&study, options, session)?;
    conclude::conclude(&mut run, Some(&closed)).map_err(Failure::failed)?;
    Ok(run)
}

/// Follows a study to its end: the run without verdicts and findings, and why its points were closed.
pub fn followed(
    study: &Study,
    options: Options,
    session: Session,
) -> Result<(Run, Vec<Option<Closed>>), Failure> {
    let mut measurement = begun(study, options, session)?;
    let mut course = measurement.begin(study)?;
    let closed = measurement.follow(&mut course)?;
    measurement.note_state(RunState::Done)?;
    Ok((measurement.run, closed))
}

/// A prepared session of a study without trials.
pub fn begun(study: &Study, options: Options, session: Session) -> Result<Measurement, Failure> {
    let mut info = new_info(NAME.into(), &format!("sim:{NAME}"), &options, &session);
    (info.study, info.study_source) = (study.name.clone(), study.source.clone());
    let mut measurement =
        Measurement::new(options, session, None, Run::new(info, Vec::new()), Screen::silent());
    measurement.prepare_for(study)?;
    Ok(measurement)
}
