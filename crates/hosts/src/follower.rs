//! Every host but rank 0: does what rank 0 says, until that says that it is over.

use std::{
    io,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
};

use iosonde_model::{Phase, RunHost};
use iosonde_rig::{
    clock::monotonic_ns,
    drive::Limits,
    guard::StrayRecorder,
    rendezvous::Rendezvous,
    stall::StallWatch,
    trial::{Bed, Order},
};

use crate::{
    ALIVE_EVERY, Deed, Link, Lost, Opening, PATIENCE,
    machines::Machines,
    message::{FromHost, MeasuredMessage, ToHost, TrialMessage, decode, encode},
    seed_of, taking_part,
    waiting::{Deadline, Pause, until_ns},
};

/// Why a host cannot do what it was told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cannot {
    /// In words, for the screen of rank 0.
    pub why: String,
    /// Whether it is a matter of what was asked, and nothing was touched.
    pub usage: bool,
}

/// What a host does for the run; the program opens targets, this crate does not.
pub trait Workplace {
    /// Opens the target; nothing is written to it yet.
    fn open(&mut self, opening: &Opening, strays: &mut dyn StrayRecorder) -> Result<RunHost, Cannot>;
    /// Where trials run; `None` before anything is open.
    fn bed(&mut self) -> Option<&mut Bed>;
    /// Does something between trials.
    fn share(&mut self, deed: &Deed) -> Result<(), Cannot>;
    /// Looks on while a trial runs, and ends the program where a call of the storage does not return.
    fn watch(&self, phase: Phase) -> Option<StallWatch>;
}

/// Follows rank 0 until the run is over; true if it ended well.
pub fn follow(link: &mut dyn Link, place: &mut dyn Workplace, stop: &AtomicBool) -> io::Result<bool> {
    let mut follower = Follower::new(link, stop);
    loop {
        match follower.hear()? {
            ToHost::Open(opening) => {
                let opened = place.open(&opening, &mut follower);
                let answer = opened.map_or_else(FromHost::from, FromHost::Opened);
                follower.say(&answer)?;
            }
            ToHost::Machines(machines) => follower.machines = machines,
            ToHost::Do(deed) => {
                // Flushing may take longer than a trial's calls may.
                follower.watching = None;
                let answer = place.share(&deed).map_or_else(FromHost::from, |()| FromHost::Done);
                follower.say(&answer)?;
            }
            ToHost::Trial(trial) => follower.measure(place, *trial)?,
            // Left over from a trial that did not come to its end.
            ToHost::Clock
            | ToHost::Begin { .. }
            | ToHost::CallOff
            | ToHost::AllEnded
            | ToHost::Alive
            | ToHost::Recorded => {}
            ToHost::End { well } => return Ok(well),
        }
        if let Some(well) = follower.ends {
            return Ok(well);
        }
    }
}

impl From<Cannot> for FromHost {
    fn from(Cannot { why, usage }: Cannot) -> Self {
        Self::Cannot { why, usage }
    }
}

struct Follower<'a> {
    link: &'a mut dyn Link,
    stop: &'a AtomicBool,
    /// Rank 0 has ended the run while a trial was under way; whether well.
    ends: Option<bool>,
    /// The trial under way has ended for all: a message that came while this host measured.
    is_over: bool,
    /// For how long rank 0 may still be silent, within a trial.
    silent: Deadline,
    own_word: Deadline,
    machines: Machines,
    /// Whether this host reads the counters of its machine in the trial under way.
    counts_machine: bool,
    /// Looks on from trial to trial: its thread took 0.15 ms of each, for which the others waited.
    watching: Option<(Phase, StallWatch)>,
}

/// The trial does not begin, or is over without a result.
const CALLED_OFF: &str = "called off by rank 0";

impl<'a> Follower<'a> {
    fn new(link: &'a mut dyn Link, stop: &'a AtomicBool) -> Self {
        let (silent, own_word) = (Deadline::after(PATIENCE), Deadline::after(ALIVE_EVERY));
        Self {
            link,
            stop,
            ends: None,
            is_over: false,
            silent,
            own_word,
            machines: Machines::default(),
            counts_machine: true,
            watching: None,
        }
    }

    fn say(&mut self, message: &FromHost) -> io::Result<()> {
        self.link.send(0, &encode(message)?)
    }

    /// The next order. Questions for the time are answered at once; a signal ends the run.
    fn hear(&mut self) -> io::Result<ToHost> {
        self.hear_while(|_| Ok(()))
    }

    /// The next order; `meanwhile` is called while there is none.
    fn hear_while(&mut self, mut meanwhile: impl FnMut(&mut Self) -> io::Result<()>) -> io::Result<ToHost> {
        let mut pause = Pause::default();
        loop {
            match self.link.receive()? {
                Some((_, bytes)) => match decode(&bytes)? {
                    ToHost::Clock => {
                        self.say(&FromHost::Clock { now_ns: monotonic_ns() })?;
                        pause = Pause::default();
                    }
                    order => return Ok(order),
                },
                None if self.stop.load(Ordering::Relaxed) => {
                    self.say(&FromHost::Stopped)?;
                    return Ok(ToHost::End { well: false });
                }
                None => {
                    meanwhile(self)?;
                    pause.take();
                }
            }
        }
    }

    /// Within a trial: says that it still runs, where it is time to, and fails where rank 0 is silent for too long.
    fn keep_in_touch(&mut self) -> io::Result<()> {
        if self.own_word.is_over() {
            self.own_word.renew();
            self.say(&FromHost::Alive)?;
        }
        if self.silent.is_over() {
            return Err(self.leader_is_lost());
        }
        Ok(())
    }

    fn leader_is_lost(&self) -> io::Error {
        let hosts = vec![(0, String::new())];
        Lost { hosts, awaited: "sign of life", after_s: Some(PATIENCE.as_secs()) }.into()
    }

    fn measure(&mut self, place: &mut dyn Workplace, trial: TrialMessage) -> io::Result<()> {
        let TrialMessage { spec, limits, own, phase, seed } = trial;
        let taking = taking_part(&spec, self.link.count(), seed);
        if !taking.contains(&self.link.rank()) {
            return self.stand_by();
        }
        self.is_over = false;
        self.counts_machine = self.machines.is_counted_by(self.link.rank(), &taking);
        let stopped_before_s = self.look_on(place, phase);
        let Some(bed) = place.bed() else {
            return self.say(&Cannot { why: "nothing is open here".into(), usage: false }.into());
        };
        let own: Vec<Limits> = own.into_iter().map(Into::into).collect();
        let order =
            Order { spec: &spec, limits: limits.into(), phase, seed: seed_of(seed, self.link.rank()) };
        let stop = self.stop;
        let finished = bed.run_beside(&order, &own, stop, Some(self));
        let stopped_s = self.stopped_s() - stopped_before_s;
        if self.ends.is_some() || self.is_over {
            return Ok(());
        }
        if self.silent.is_over() {
            return Err(self.leader_is_lost());
        }
        let answer = match finished {
            Err(error) if error.to_string() == CALLED_OFF => return Ok(()),
            Err(error) => Cannot { why: error.to_string(), usage: false }.into(),
            Ok(_) if stop.load(Ordering::Relaxed) => FromHost::Stopped,
            Ok(mut finished) => {
                finished.trial.witnesses.note_stop(stopped_s);
                FromHost::Measured(Box::new(MeasuredMessage {
                    trial: finished.trial,
                    notes: finished.notes,
                    active_ns: finished.active_ns,
                }))
            }
        };
        self.say(&answer)
    }

    /// Looks on while trials of this kind run; the time in which this process did not run before.
    fn look_on(&mut self, place: &dyn Workplace, phase: Phase) -> f64 {
        if self.watching.as_ref().is_none_or(|(known, _)| *known != phase) {
            self.watching = place.watch(phase).map(|watch| (phase, watch));
        }
        self.stopped_s()
    }

    fn stopped_s(&self) -> f64 {
        self.watching.as_ref().map_or(0.0, |(_, watch)| watch.stopped_s())
    }

    /// A trial of fewer hosts: this one issues nothing, and is there at its beginning and its end, so that it is idle
    /// meanwhile and known to live.
    fn stand_by(&mut self) -> io::Result<()> {
        self.is_over = false;
        match self.start().and_then(|()| self.ended()) {
            Err(error) if error.to_string() == CALLED_OFF => Ok(()),
            over => over,
        }
    }

    /// Waits for an order of rank 0 within a trial; one that ends it is an error.
    fn wait_for(&mut self, wanted: impl Fn(&ToHost) -> bool) -> io::Result<ToHost> {
        self.silent.renew();
        loop {
            match self.hear_while(Self::keep_in_touch)? {
                order if wanted(&order) => return Ok(order),
                ToHost::Alive => self.silent.renew(),
                ToHost::CallOff => return Err(io::Error::other(CALLED_OFF)),
                ToHost::End { well } => {
                    self.ends = Some(well);
                    return Err(io::Error::other(CALLED_OFF));
                }
                _ => {}
            }
        }
    }
}

impl Rendezvous for Follower<'_> {
    fn counts_machine(&self) -> bool {
        self.counts_machine
    }

    fn start(&mut self) -> io::Result<()> {
        self.say(&FromHost::Ready)?;
        if let ToHost::Begin { at_ns } = self.wait_for(|order| matches!(order, ToHost::Begin { .. }))? {
            until_ns(at_ns);
        }
        self.silent.renew();
        Ok(())
    }

    fn meanwhile(&mut self) -> bool {
        while let Ok(Some((_, bytes))) = self.link.receive() {
            match decode(&bytes) {
                Ok(ToHost::End { well }) => self.ends = Some(well),
                Ok(ToHost::AllEnded | ToHost::CallOff) => self.is_over = true,
                _ => self.silent.renew(),
            }
        }
        // Where rank 0 is lost, the waiting for the others' end says so.
        self.ends.is_none() && !self.is_over && self.keep_in_touch().is_ok()
    }

    fn ended(&mut self) -> io::Result<()> {
        if self.ends.is_some() || self.is_over {
            return Err(io::Error::other(CALLED_OFF));
        }
        if self.silent.is_over() {
            return Err(self.leader_is_lost());
        }
        self.say(&FromHost::Ended)?;
        self.wait_for(|order| *order == ToHost::AllEnded).map(drop)
    }
}

/// Rank 0 writes down what this host makes, in the notebook of the run.
impl StrayRecorder for Follower<'_> {
    fn record(&mut self, path: &Path) -> io::Result<()> {
        self.say(&FromHost::Stray { path: path.to_string_lossy().into_owned(), gone: false })?;
        self.wait_for(|order| *order == ToHost::Recorded).map(drop)
    }

    fn forget(&mut self, path: &Path) -> io::Result<()> {
        self.say(&FromHost::Stray { path: path.to_string_lossy().into_owned(), gone: true })?;
        self.wait_for(|order| *order == ToHost::Recorded).map(drop)
    }
}
