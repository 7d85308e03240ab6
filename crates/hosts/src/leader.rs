//! Rank 0 of several processes.

use std::{
    io,
    ops::Range,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use iosonde_model::RunHost;
use iosonde_rig::{
    clock::monotonic_ns,
    drive::Limits,
    guard::StrayRecorder,
    hosts::{Part, merged},
    rendezvous::Rendezvous,
    trial::{Bed, FinishedTrial, Order},
};

use crate::{
    ALIVE_EVERY, Coordinator, Deed, Link, Lost, Opening, PATIENCE, Refused,
    machines::Machines,
    message::{FromHost, MeasuredMessage, ToHost, TrialMessage, decode, encode},
    offset::{self, Echo, Offset},
    seed_of, taking_part,
    waiting::{Deadline, Pause, until_ns},
};

/// After a signal, which reaches all hosts at about the same time. Its sender may soon kill.
const LAST_WORDS: Duration = Duration::from_millis(400);
/// Questions for the time of a host, and how long their answer holds: quartz drifts by up to 50 us a second.
const ECHOES: usize = 6;
const OFFSETS_HOLD_NS: u64 = 2_000_000_000;
/// From the announcement to the start: a wake-up on a machine whose processors are busy, a round trip of the slowest
/// host, and the sending to each.
const AHEAD_NS: u64 = 100_000;
const SENDING_NS: u64 = 10_000;

/// Rank 0, over a link.
#[derive(Debug)]
pub struct Leader<L> {
    link: L,
    names: Vec<String>,
    machines: Machines,
    offsets: Vec<Offset>,
    offsets_at_ns: Option<u64>,
    /// Hosts that a signal has ended.
    stopped: Vec<u32>,
    ended: bool,
}

impl<L: Link> Leader<L> {
    /// Rank 0 of this link.
    pub fn new(link: L) -> Self {
        let count = link.count() as usize;
        Self {
            link,
            names: vec![String::new(); count],
            machines: Machines::default(),
            offsets: vec![Offset::default(); count],
            offsets_at_ns: None,
            stopped: Vec::new(),
            ended: false,
        }
    }

    fn others(&self) -> Range<u32> {
        1..self.link.count()
    }

    fn broadcast(&mut self, message: &ToHost) -> io::Result<()> {
        let bytes = encode(message)?;
        self.others().try_for_each(|rank| self.link.send(rank, &bytes))
    }

    fn refused(&self, rank: u32, why: String, usage: bool) -> io::Error {
        Refused { rank, name: self.names[rank as usize].clone(), why, usage }.into()
    }

    fn lost(&self, ranks: &[u32], awaited: &'static str, after_s: Option<u64>) -> io::Error {
        let hosts = ranks.iter().map(|&rank| (rank, self.names[rank as usize].clone())).collect();
        Lost { hosts, awaited, after_s }.into()
    }

    /// Waits until every other host has sent what `take` takes: it returns true for a host's last message. A host that
    /// cannot, and one that is lost, ends the waiting.
    fn await_all(
        &mut self,
        awaited: &'static str,
        patience: Duration,
        stop: &AtomicBool,
        take: impl FnMut(&mut Self, u32, FromHost) -> io::Result<bool>,
    ) -> io::Result<()> {
        let others = self.others().collect();
        self.await_from(others, awaited, patience, stop, take)
    }

    /// Waits for these hosts only.
    fn await_from(
        &mut self,
        mut open: Vec<u32>,
        awaited: &'static str,
        patience: Duration,
        stop: &AtomicBool,
        mut take: impl FnMut(&mut Self, u32, FromHost) -> io::Result<bool>,
    ) -> io::Result<()> {
        let (mut deadline, mut pause, mut stopping) = (Deadline::after(patience), Pause::default(), false);
        let mut own_word = Deadline::after(ALIVE_EVERY);
        while !open.is_empty() {
            if let Some((rank, bytes)) = self.link.receive()? {
                match decode(&bytes)? {
                    FromHost::Cannot { why, usage } => return Err(self.refused(rank, why, usage)),
                    FromHost::Stopped => self.stopped.push(rank),
                    message => {
                        if take(self, rank, message)? {
                            open.retain(|other| *other != rank);
                        }
                    }
                }
                pause = Pause::default();
                continue;
            }
            // One that was ended by a signal was not lost: mpirun ends all of them where one is killed.
            let ends = stop.load(Ordering::Relaxed) || !self.stopped.is_empty();
            if ends && !std::mem::replace(&mut stopping, true) {
                deadline = Deadline::after(LAST_WORDS);
            }
            let silent = || open.iter().copied().filter(|rank| !self.stopped.contains(rank));
            if deadline.is_over() || (stopping && silent().count() == 0) {
                let silent: Vec<u32> = silent().collect();
                if silent.is_empty() {
                    return Err(io::Error::from(io::ErrorKind::Interrupted));
                }
                return Err(self.lost(&silent, awaited, (!stopping).then(|| deadline.after_s())));
            }
            if own_word.is_over() {
                own_word.renew();
                self.broadcast(&ToHost::Alive)?;
            }
            pause.take();
        }
        Ok(())
    }

    /// Asks every host for its time, where the last answers are too old.
    fn compare_clocks(&mut self, stop: &AtomicBool) -> io::Result<()> {
        let fresh = |at_ns: u64| monotonic_ns().saturating_sub(at_ns) < OFFSETS_HOLD_NS;
        if self.offsets_at_ns.is_some_and(fresh) {
            return Ok(());
        }
        let question = encode(&ToHost::Clock)?;
        for rank in self.others() {
            let mut echoes = Vec::with_capacity(ECHOES);
            let mut deadline = Deadline::after(PATIENCE);
            while echoes.len() < ECHOES {
                let sent_ns = monotonic_ns();
                self.link.send(rank, &question)?;
                let told_ns = self.time_of(rank, &mut deadline, stop)?;
                echoes.push(Echo { sent_ns, told_ns, came_ns: monotonic_ns() });
            }
            self.offsets[rank as usize] = offset::best(&echoes).unwrap_or_default();
        }
        self.offsets_at_ns = Some(monotonic_ns());
        Ok(())
    }

    fn time_of(&mut self, asked: u32, deadline: &mut Deadline, stop: &AtomicBool) -> io::Result<u64> {
        let mut pause = Pause::default();
        loop {
            match self.link.receive()? {
                Some((rank, bytes)) => match decode(&bytes)? {
                    FromHost::Clock { now_ns } if rank == asked => return Ok(now_ns),
                    FromHost::Cannot { why, usage } => return Err(self.refused(rank, why, usage)),
                    FromHost::Stopped => return Err(io::ErrorKind::Interrupted.into()),
                    _ => {}
                },
                None if stop.load(Ordering::Relaxed) => return Err(io::ErrorKind::Interrupted.into()),
                None if deadline.is_over() => {
                    return Err(self.lost(&[asked], "time", Some(deadline.after_s())));
                }
                None => pause.take(),
            }
        }
    }

    /// How long the others may take beyond this host, which has ended: what ends by its work may take longer there.
    fn patience(limits: &Limits, took_ns: u64) -> Duration {
        let by_work = if limits.ios.is_some() {
            Duration::from_nanos(took_ns.saturating_mul(3))
        } else {
            Duration::ZERO
        };
        PATIENCE + by_work
    }
}

/// Rank 0's own waiting within a trial.
struct Meeting<'a, L> {
    leader: &'a mut Leader<L>,
    stop: &'a AtomicBool,
    limits: Limits,
    begun: bool,
    announced_ns: u64,
    /// For how long each of the other hosts may still be silent, in the order of their ranks.
    silent: Vec<Deadline>,
    own_word: Deadline,
    /// Hosts that have ended already.
    ended: Vec<u32>,
    /// Why the trial ends early.
    failed: Option<io::Error>,
}

impl<'a, L: Link> Meeting<'a, L> {
    fn new(leader: &'a mut Leader<L>, stop: &'a AtomicBool, limits: Limits) -> Self {
        Self {
            leader,
            stop,
            limits,
            begun: false,
            announced_ns: 0,
            silent: Vec::new(),
            own_word: Deadline::after(ALIVE_EVERY),
            ended: Vec::new(),
            failed: None,
        }
    }

    /// Hears what the others say while this host measures; a host that is lost, or cannot go on, is an error.
    fn hear(&mut self) -> io::Result<()> {
        while let Some((rank, bytes)) = self.leader.link.receive()? {
            match decode(&bytes)? {
                FromHost::Cannot { why, usage } => return Err(self.leader.refused(rank, why, usage)),
                FromHost::Stopped => self.leader.stopped.push(rank),
                FromHost::Ended => self.ended.push(rank),
                _ => {}
            }
            self.silent[rank as usize - 1].renew();
        }
        let mut lost = Vec::new();
        for (silent, rank) in self.silent.iter_mut().zip(1..) {
            if silent.is_over() {
                lost.push(rank);
            }
        }
        if !lost.is_empty() {
            return Err(self.leader.lost(&lost, "sign of life", Some(PATIENCE.as_secs())));
        }
        if self.own_word.is_over() {
            self.own_word.renew();
            self.leader.broadcast(&ToHost::Alive)?;
        }
        Ok(())
    }
}

impl<L: Link> Rendezvous for Meeting<'_, L> {
    /// Rank 0 is in every trial.
    fn counts_machine(&self) -> bool {
        true
    }

    fn start(&mut self) -> io::Result<()> {
        let is_ready = |_: &mut Leader<L>, _, message| Ok(message == FromHost::Ready);
        self.leader.await_all("engine", PATIENCE, self.stop, is_ready)?;
        let offsets = &self.leader.offsets;
        let slowest_ns = offsets.iter().map(|offset| offset.round_trip_ns).max().unwrap_or(0);
        let ahead_ns = AHEAD_NS + slowest_ns + SENDING_NS * offsets.len() as u64;
        self.announced_ns = monotonic_ns() + ahead_ns;
        for rank in self.leader.others() {
            let own_ns = self.announced_ns.saturating_add_signed(self.leader.offsets[rank as usize].ns);
            self.leader.link.send(rank, &encode(&ToHost::Begin { at_ns: own_ns })?)?;
        }
        self.begun = true;
        self.silent = self.leader.others().map(|_| Deadline::after(PATIENCE)).collect();
        until_ns(self.announced_ns);
        Ok(())
    }

    fn meanwhile(&mut self) -> bool {
        if self.failed.is_none() {
            self.failed = self.hear().err();
        }
        self.failed.is_none() && self.leader.stopped.is_empty()
    }

    fn ended(&mut self) -> io::Result<()> {
        let took_ns = monotonic_ns().saturating_sub(self.announced_ns);
        let patience = Leader::<L>::patience(&self.limits, took_ns);
        let has_ended = |_: &mut Leader<L>, _, message| Ok(message == FromHost::Ended);
        if let Some(failed) = self.failed.take() {
            return Err(failed);
        }
        let open = self.leader.others().filter(|rank| !self.ended.contains(rank)).collect();
        self.leader.await_from(open, "end of the trial", patience, self.stop, has_ended)?;
        self.leader.broadcast(&ToHost::AllEnded)
    }
}

impl<L: Link> Coordinator for Leader<L> {
    fn count(&self) -> u32 {
        self.link.count()
    }

    fn open(
        &mut self,
        opening: &Opening,
        own: RunHost,
        strays: &mut dyn StrayRecorder,
        stop: &AtomicBool,
    ) -> io::Result<Vec<RunHost>> {
        self.broadcast(&ToHost::Open(opening.clone()))?;
        let mut hosts = vec![own];
        let recorded = encode(&ToHost::Recorded)?;
        self.await_all("answer to the target", PATIENCE, stop, |leader, rank, message| match message {
            FromHost::Stray { path, gone } => {
                let path = std::path::Path::new(&path);
                if gone {
                    strays.forget(path)?
                } else {
                    strays.record(path)?
                }
                leader.link.send(rank, &recorded)?;
                Ok(false)
            }
            FromHost::Opened(host) => {
                leader.names[rank as usize].clone_from(&host.name);
                hosts.push(host);
                Ok(true)
            }
            _ => Ok(false),
        })?;
        hosts.sort_by_key(|host| host.rank);
        self.names[0].clone_from(&hosts[0].name);
        self.machines = Machines::of(&hosts);
        self.broadcast(&ToHost::Machines(self.machines.clone()))?;
        Ok(hosts)
    }

    fn run(
        &mut self,
        bed: &mut Bed,
        order: &Order,
        own: &[Limits],
        stop: &AtomicBool,
    ) -> io::Result<FinishedTrial> {
        let asked_ns = monotonic_ns();
        self.compare_clocks(stop)?;
        self.broadcast(&ToHost::Trial(Box::new(TrialMessage {
            spec: order.spec.clone(),
            limits: (&order.limits).into(),
            own: own.iter().map(Into::into).collect(),
            phase: order.phase,
            seed: order.seed,
        })))?;
        let limits = order.limits;
        let taking = taking_part(order.spec, self.link.count(), order.seed);
        let mut meeting = Meeting::new(self, stop, limits);
        let order = Order { seed: seed_of(order.seed, 0), ..order.clone() };
        let finished = bed.run_beside(&order, own, stop, Some(&mut meeting));
        let Meeting { begun, announced_ns, .. } = meeting;
        let finished = match finished {
            Ok(finished) => finished,
            Err(error) => {
                // Those that wait go on waiting for the next order.
                let _ = self.broadcast(if begun { &ToHost::AllEnded } else { &ToHost::CallOff });
                return Err(error);
            }
        };
        let took_ns = monotonic_ns().saturating_sub(announced_ns);
        let mut parts = vec![self.part(0, finished, &taking)];
        let measuring = taking.iter().copied().filter(|rank| *rank > 0).collect();
        let patience = Self::patience(&limits, took_ns);
        self.await_from(measuring, "result", patience, stop, |leader, rank, message| {
            let FromHost::Measured(measured) = message else { return Ok(false) };
            let MeasuredMessage { trial, notes, active_ns } = *measured;
            parts.push(leader.part(rank, FinishedTrial { trial, notes, active_ns }, &taking));
            Ok(true)
        })?;
        parts.sort_by_key(|part| part.rank);
        let own_ns = parts[0].finished.active_ns;
        let mut whole = merged(parts, announced_ns, limits.duration_ns);
        if let Some(together) = &mut whole.trial.witnesses.hosts {
            let all_ns = monotonic_ns().saturating_sub(asked_ns);
            together.coordination_ns = all_ns.saturating_sub(own_ns.1 - own_ns.0);
        }
        Ok(whole)
    }

    fn share(&mut self, deed: &Deed, stop: &AtomicBool) -> io::Result<()> {
        self.broadcast(&ToHost::Do(*deed))?;
        // Flushing what was filled may take long on a slow disk.
        let patience = if *deed == Deed::Settle { 10 * PATIENCE } else { PATIENCE };
        self.await_all("word that it is done", patience, stop, |_, _, message| Ok(message == FromHost::Done))
    }

    fn end(&mut self, well: bool) {
        if !std::mem::replace(&mut self.ended, true) {
            let _ = self.broadcast(&ToHost::End { well });
            self.link.close(well);
        }
    }
}

impl<L: Link> Leader<L> {
    fn part(&self, rank: u32, finished: FinishedTrial, taking: &[u32]) -> Part {
        let Offset { ns, round_trip_ns } = self.offsets[rank as usize];
        let counts_machine = self.machines.is_counted_by(rank, taking);
        Part { rank, finished, clock_offset_ns: ns, round_trip_ns, counts_machine }
    }
}
