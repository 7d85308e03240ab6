//! A campaign: one study in sessions, one session on each target, that take turns.
//!
//! One target is the ordinary case. Each session has a run of its own in the notebook, so that whatever works with one
//! run works with these. What several share is the order: in each round the targets go through their points side by
//! side, each point on all of them, in a fresh random order of targets, before the next. A machine that becomes slower,
//! or a neighbour that comes and goes, thus meets them alike, and `compare` takes their trials in pairs.
//!
//! A campaign is begun from what was typed (`begin`) or from the notebook (`resume`); from then on both are the same.
//! Repeats are campaigns of one session that follow each other, each in a process of its own (`repeats`).

use std::path::PathBuf;

use iosonde_model::{RunState, Study};
use iosonde_plan::schedule::TimeLeft;
use iosonde_plan::schedule::chance;
use iosonde_report::{Paint, text};
use iosonde_rig::guard::Protected;

use crate::{
    destination::Destination,
    failure::{Failure, INTERRUPTED},
    hosts::Hosts,
    measure::power,
    notebook,
    options::Options,
    progress,
    screen::Screen,
};
use turn::Turn;

mod begin;
mod finish;
pub mod plan;
pub mod repeats;
pub mod resume;
mod turn;

/// Request for a campaign.
pub struct CampaignSpec {
    /// The study.
    pub study: Study,
    /// A session for each.
    pub sessions: Vec<SessionSpec>,
    /// The user's note.
    pub note: Option<String>,
    /// Whether the first session is on the storage below the others' targets.
    pub over: bool,
    /// Earlier run that the only session's run is compared with.
    pub against: Option<String>,
    /// Number and series of a repeat.
    pub part: Option<(u32, String)>,
    /// Files that no target may be: the study, the results.
    pub apart: Vec<Protected>,
}

/// How a campaign ended.
struct Ended {
    done: Vec<String>,
    failed: Vec<String>,
    notebook: PathBuf,
}

/// A session to run.
pub struct SessionSpec {
    /// As typed.
    pub target: String,
    /// How it is measured.
    pub options: Options,
    /// The user's name for its run.
    pub label: Option<String>,
}

/// A campaign under way.
pub struct Campaign {
    /// The notebook's place.
    notebook: PathBuf,
    /// Every run, in order.
    ids: Vec<String>,
    /// Runs that could not go on.
    lost: Vec<String>,
    /// The sessions that are measured now.
    turns: Vec<Turn>,
    /// Whether one session is all there is: it is shown point by point, and its failure is the campaign's.
    alone: bool,
    screen: Screen,
}

impl Campaign {
    /// Measures until every session has ended, with no more power than that takes, and shows what came of it; whatever
    /// happens, the notebook says how the runs stand.
    pub fn run(self, destination: &Destination) -> Result<(), Failure> {
        let screen = self.screen;
        let places = power::places(&self.notebook, self.turns.iter().map(|turn| &turn.measurement.session));
        let show = |ended: Result<Ended, Failure>| {
            let Ended { done, failed, notebook } = ended?;
            finish::finish(&done, &failed, &notebook, destination, screen)
        };
        power::least(Some(&places), || self.measured(), show)
    }

    /// Measures until every session has ended.
    fn measured(mut self) -> Result<Ended, Failure> {
        if let Err(failure) = self.prepare().and_then(|()| self.measure()) {
            return Err(self.stopped(failure));
        }
        let of = |state| {
            let turns = self.turns.iter().filter(move |turn| turn.state == state);
            turns.map(|turn| turn.id().to_owned())
        };
        let failed: Vec<String> = self.lost.iter().cloned().chain(of(RunState::Failed)).collect();
        let done = self.ids.iter().filter(|id| !failed.contains(id)).cloned().collect();
        // Its files and locks are given back before anything is shown.
        Ok(Ended { done, failed, notebook: self.notebook() })
    }

    /// Where the runs are kept: another place than at first if the notebook was removed meanwhile.
    fn notebook(&self) -> PathBuf {
        let mut books = self.turns.iter().filter_map(|turn| turn.measurement.book.as_ref());
        books.next().map_or(&*self.notebook, |book| book.notebook.path()).to_owned()
    }

    /// Prepares all; several address as much as the smallest of them has.
    fn prepare(&mut self) -> Result<(), Failure> {
        self.turns.iter_mut().try_for_each(|turn| turn.act(Turn::prepare))?;
        let running = self.turns.iter().filter(|turn| turn.state == RunState::Running);
        let sizes = running
            .map(|turn| (turn.measurement.run.info.device.working_set_bytes, turn.target().to_owned()));
        let Some((least_bytes, least)) = sizes.min() else { return Ok(()) };
        for turn in &mut self.turns {
            turn.measurement.address_only(least_bytes, &least);
            turn.act(|turn| turn.measurement.bring_to_state())?;
        }
        self.turns.iter_mut().try_for_each(|turn| turn.act(Turn::begin))
    }

    /// Measures in turn, round after round.
    fn measure(&mut self) -> Result<(), Failure> {
        let mut said = 0;
        while let Some(round) = self.turns.iter().filter_map(Turn::round).min() {
            if !self.alone && round > said {
                said = round;
                self.screen.say(&self.standing(round));
            }
            for at in self.order(round) {
                self.turns[at].act(Turn::step)?;
            }
        }
        Ok(())
    }

    /// Who has something to do in this round, in a fresh order that follows from the trials' own seeds: a run that is
    /// resumed goes on in the same.
    fn order(&self, round: u32) -> Vec<usize> {
        let key = |(at, turn): (usize, &Turn)| {
            let asked = turn.next.as_ref().filter(|asked| asked.round == round)?;
            Some((chance::draw(&[asked.seed, at as u64]), at))
        };
        let mut order: Vec<(u64, usize)> = self.turns.iter().enumerate().filter_map(key).collect();
        order.sort_unstable();
        order.into_iter().map(|(_, at)| at).collect()
    }

    /// One line a round: every target, and the time that is left for all together.
    fn standing(&self, round: u32) -> String {
        let (mut parts, mut left) = (Vec::new(), TimeLeft::default());
        for (turn, state) in self.turns.iter().filter_map(|turn| Some((turn, turn.standing()?))) {
            let converged = progress::converged(state.converged, state.of);
            parts.extend(converged.map(|converged| format!("{}: {converged}", turn.target())));
            left = left.and(state.left);
        }
        parts.push(format!("{} left", text::time_left(left)));
        let paint = Paint { color: false, width: self.screen.width };
        paint.hang(&format!("round {round:<3}     "), 14, &parts.join("; ")).trim_end().to_owned()
    }

    /// Writes down how the runs stand that had not ended, and says how to go on.
    fn stopped(&mut self, failure: Failure) -> Failure {
        let interrupted = failure.code == INTERRUPTED;
        let state = if interrupted { RunState::Interrupted } else { RunState::Failed };
        let mut kept = Vec::new();
        for turn in self.turns.iter_mut().filter(|turn| turn.state == RunState::Running) {
            if let Err(unnoted) = turn.end(state)
                && interrupted
            {
                return unnoted;
            }
            kept.push((turn.measurement.run.trials.len(), turn.target().to_owned()));
        }
        let id = self.turns.first().map_or("", Turn::id);
        let go_on =
            format!("{} resume {id}{}", Hosts::of_process().program(), notebook::option(&self.notebook()));
        let text = match (&kept[..], interrupted) {
            ([(trials, _)], true) if self.alone => {
                format!("interrupted; {trials} trials are kept. Go on with:  {go_on}")
            }
            (all, true) => {
                let all: Vec<String> =
                    all.iter().map(|(trials, target)| format!("{trials} of {target}")).collect();
                format!("interrupted; trials are kept: {}. Go on with all of them:  {go_on}", all.join(", "))
            }
            ([(1.., _)], false) if self.alone => {
                let trials = kept[0].0;
                format!("{}\n  {trials} trials are kept; to go on:  {go_on}", failure.text)
            }
            _ => failure.text.clone(),
        };
        let text = match &*failure.text {
            why if interrupted && !why.is_empty() => format!("{why}\n  {text}"),
            _ => text,
        };
        Failure { text, ..failure }
    }
}
