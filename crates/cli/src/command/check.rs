//! `iosonde check`: storage against a documented requirement; `iosonde requirements`: what can be checked.

use std::path::Path;

use iosonde_infer::requirement::REQUIREMENTS;
use iosonde_rig::guard::Writes;

use super::list::list;
use crate::{
    args::CheckArgs,
    campaign::{Campaign, CampaignSpec, SessionSpec},
    destination::Destination,
    failure::Failure,
    options::Options,
    output, requirements,
    screen::Screen,
};

/// Checks a requirement: a campaign of one session, whose study is the requirement.
pub fn run(args: &CheckArgs, store: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    let destination = Destination {
        out: args.out.clone(),
        json: args.common.json.clone(),
        junit: args.junit.clone(),
        strict: args.common.strict,
        kept_only: false,
    };
    let words = [args.requirement.as_str(), args.target.as_str()];
    destination.check(&output::inputs(words), screen)?;
    let study = requirements::study(&args.requirement)?;
    if args.common.read_only && crate::studies::writes(&study)? != Writes::None {
        return Err(Failure::usage(format!(
            "--read-only writes nothing, and {} is about writes; leave it out, or check a requirement of reads",
            study.name
        )));
    }
    let options = Options {
        state: args.state,
        ..Options::of(&args.common, args.time.unwrap_or(study.time_ns), study.precision, None)
    };
    let session = SessionSpec { target: args.target.clone(), options, label: args.common.label.clone() };
    let apart = output::inputs([args.requirement.as_str()]).into_iter().chain(destination.files()).collect();
    let spec = CampaignSpec {
        study,
        sessions: vec![session],
        note: args.common.note.clone(),
        over: false,
        against: None,
        part: None,
        apart,
    };
    Campaign::begin(spec, store, screen)?.run(&destination)
}

/// Lists the requirements, or prints one's file, to be copied and edited.
pub fn list_requirements(name: Option<&str>, screen: Screen) -> Result<(), Failure> {
    let Some(name) = name else {
        let rows: Result<Vec<_>, Failure> =
            REQUIREMENTS.iter().map(|(name, _)| Ok((*name, requirements::find(name)?.summary))).collect();
        return screen.result(&list(rows?.into_iter(), screen.width));
    };
    screen.result(&requirements::text(name)?)
}
