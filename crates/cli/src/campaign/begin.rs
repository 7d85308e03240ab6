//! A campaign that begins: every target is opened and seen fit before anything is written.

use std::path::Path;

use iosonde_model::{DeviceNote, Run, RunState, units};
use iosonde_report::Paint;
use iosonde_store::Notebook;

use super::{Campaign, CampaignSpec, SessionSpec, plan, turn::Turn};
use crate::{
    failure::Failure,
    joined,
    measure::{Measurement, book::Book, info::new_info},
    notebook, requirements,
    screen::Screen,
    session::{self, Asked, Session, fits},
    studies,
};

impl Campaign {
    /// Opens the targets and writes a run down for each.
    pub fn begin(spec: CampaignSpec, store: Option<&Path>, screen: Screen) -> Result<Self, Failure> {
        let command = requirements::command(&spec.study);
        spec.sessions.iter().try_for_each(|own| session::check_target(&own.target, &command))?;
        let path = notebook::open(store, &screen)?.path().to_owned();
        let mut opened = Vec::new();
        for own in &spec.sessions {
            let mut book = Notebook::open(&path).map_err(Failure::usage)?;
            let apart: Vec<_> = spec.apart.iter().cloned().chain(notebook::files(&path)).collect();
            let asked = Asked {
                command: &command,
                writes: studies::writes(&spec.study)?,
                apart: &apart,
                workers: studies::workers(&spec.study)?,
                place: None,
            };
            let (session, written_bytes) = open(&spec, own, asked, &mut book)?;
            opened.push((session, written_bytes, book));
        }
        let same = on_one_device(opened.iter().map(|(session, ..)| session), &spec.sessions);
        let (CampaignSpec { study, sessions, note, over, against, part, .. }, mut turns) = (spec, Vec::new());
        let alone = sessions.len() == 1;
        for (own, (mut session, written_bytes, mut book)) in sessions.into_iter().zip(opened) {
            session.device.notes.extend(same.clone());
            let id = notebook::new_id(&book, &session, own.options.seed)?;
            let mut info = new_info(id, &own.target, &own.options, &session);
            (info.study, info.study_source) = (study.name.clone(), study.source.clone());
            (info.label, info.note) = (own.label, note.clone());
            info.against.clone_from(&against);
            info.repeat = part.as_ref().map(|(number, _)| *number);
            info.series = part.as_ref().filter(|(number, _)| *number > 1).map(|(_, series)| series.clone());
            let lock = book.begin(&info)?;
            let run = Run::new(info, Vec::new());
            let book = Book::new(book, lock);
            let measurement = Measurement::new(own.options, session, Some(book), run, screen);
            announce(&measurement, written_bytes, study.requirement.is_none());
            turns.push(Turn::new(measurement, study.clone(), alone, None));
        }
        let ids: Vec<String> = turns.iter().map(|turn| turn.id().to_owned()).collect();
        if !alone {
            link(&mut turns, &ids, over, screen)?;
        }
        Ok(Self { notebook: path, ids, lost: Vec::new(), turns, alone, screen })
    }
}

/// Opens a target and sees whether the study can be run there as asked; nothing has been written to it yet. Returns the
/// most that the run writes, too.
fn open(
    spec: &CampaignSpec,
    own: &SessionSpec,
    asked: Asked,
    notebook: &mut Notebook,
) -> Result<(Session, u64), Failure> {
    let (study, SessionSpec { target, options, .. }) = (&spec.study, own);
    let mut session = joined::open(target, options, asked, &mut notebook::Strays(notebook))?;
    let (schedule, _) = plan::planned(study, target, options, &session)?;
    let written_bytes = plan::written_bytes(study, options, &session, &schedule);
    session.host.ceilings = fits::ceilings(&session.device, study, target)?;
    Ok((session, written_bytes))
}

/// Each run says which others it takes turns with, and which lies below it.
fn link(turns: &mut [Turn], ids: &[String], over: bool, screen: Screen) -> Result<(), Failure> {
    for turn in turns.iter_mut() {
        let info = &mut turn.measurement.run.info;
        info.in_turn_with = ids.iter().filter(|id| **id != info.id).cloned().collect();
        info.over = ids.first().filter(|base| over && **base != info.id).cloned();
        turn.measurement.note_state(RunState::Running)?;
    }
    let each = units::duration(turns[0].measurement.options.time_ns as f64 / 1e9);
    screen.say(&format!("in turn       {} targets in turn, {each} each", turns.len()));
    Ok(())
}

/// What differs between two folders of one device is not the device.
fn on_one_device<'a>(
    sessions: impl Iterator<Item = &'a Session>,
    specs: &[SessionSpec],
) -> Option<DeviceNote> {
    let names: Vec<_> = sessions.map(|session| &session.device.name).collect();
    let real = |at: usize| !specs[at].target.starts_with("sim:") && names[at].is_some();
    let pair = |at: usize| (0..at).find(|before| real(*before) && names[*before] == names[at]);
    let (a, b) = (0..names.len()).filter(|at| real(*at)).find_map(|at| Some((pair(at)?, at)))?;
    let device = names[a].clone()?;
    Some(DeviceNote::OneDevice { targets: [specs[a].target.clone(), specs[b].target.clone()], device })
}

fn announce(measurement: &Measurement, written_bytes: u64, may_limit: bool) {
    let info = &measurement.run.info;
    let subject = iosonde_report::subject(&info.device);
    // Who typed `sim:NAME` knows the name.
    let typed = info.device.name.as_ref().filter(|name| info.target.ends_with(*name));
    let told = typed.and_then(|name| subject.strip_prefix(&format!("{name}: "))).unwrap_or(&subject);
    let paint = Paint { color: false, width: measurement.screen.width };
    let head = paint.hang("", 2, &format!("{} on {}   {told}", info.study, info.target));
    measurement.screen.say(head.trim_end());
    if written_bytes > 0 {
        let line = plan::may_write(written_bytes, &info.device, measurement.options.max_write_bytes);
        // `check` has no such option.
        let limit = if may_limit { "; --max-write limits it" } else { "" };
        measurement.screen.say(paint.hang("writes        ", 14, &format!("{line}{limit}")).trim_end());
    }
    for note in &info.device.notes {
        measurement.screen.say(&format!("note          {}", iosonde_report::note(note)));
    }
}
