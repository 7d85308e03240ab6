//! What the hosts of a run say to each other, as MessagePack with the names of fields.

use std::io;

use iosonde_model::{LoopNote, Phase, RunHost, Trial, TrialSpec};
use iosonde_rig::drive::Limits;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::machines::Machines;

/// How each host opens the target.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Opening {
    /// Version of rank 0's program: all must have the same.
    pub version: String,
    /// Command line of rank 0, without the program's name: that of all, where another has one.
    pub words: Vec<String>,
    /// The target as typed.
    pub target: String,
    /// Options of the run, which only their owner reads.
    pub options: serde_json::Value,
    /// What the run needs beside the options; only their owner reads it.
    pub asked: serde_json::Value,
}

/// Something that every host does between trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Deed {
    /// Flush what was written.
    Settle,
    /// Use the page cache from now on, or bypass it.
    PageCache(bool),
    /// Address only so many bytes.
    Address(u64),
    /// The hosts' parts of a shared file lie so many bytes apart.
    Apart(u64),
    /// Open the files of the next host, which has made them by now.
    Meet,
    /// See what host 0 sees in so many bytes of the shared storage.
    See {
        /// Bytes that are compared.
        length_bytes: u64,
        /// A number for what host 0 sees.
        digest: u64,
    },
}

/// Limits of a trial, on their way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LimitsMessage {
    duration_ns: u64,
    warm_up_ns: Option<u64>,
    ios: Option<u64>,
}

impl From<&Limits> for LimitsMessage {
    fn from(limits: &Limits) -> Self {
        Self { duration_ns: limits.duration_ns, warm_up_ns: limits.warm_up_ns, ios: limits.ios }
    }
}

impl From<LimitsMessage> for Limits {
    fn from(limits: LimitsMessage) -> Self {
        Self { warm_up_ns: limits.warm_up_ns, ios: limits.ios, ..Self::time(limits.duration_ns) }
    }
}

/// A trial that is announced.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TrialMessage {
    pub spec: TrialSpec,
    pub limits: LimitsMessage,
    pub own: Vec<LimitsMessage>,
    pub phase: Phase,
    pub seed: u64,
}

/// From rank 0 to another host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum ToHost {
    /// What time is it?
    Clock,
    /// Open this target.
    Open(Opening),
    /// These are on one machine.
    Machines(Machines),
    /// Do this.
    Do(Deed),
    /// Make ready for this trial.
    Trial(Box<TrialMessage>),
    /// Begin at this moment of your own clock.
    Begin { at_ns: u64 },
    /// The trial does not begin after all.
    CallOff,
    /// Every host's last request is back, or the trial ends early.
    AllEnded,
    /// Rank 0 still runs, within a trial.
    Alive,
    /// A file that you announced is written down.
    Recorded,
    /// Leave.
    End { well: bool },
}

/// From another host to rank 0.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum FromHost {
    /// It is this time here, on the monotonic clock.
    Clock { now_ns: u64 },
    /// The target is open.
    Opened(RunHost),
    /// A file of its own is about to be made, which must be written down first; or is gone again.
    Stray { path: String, gone: bool },
    /// Done.
    Done,
    /// The engines are open.
    Ready,
    /// Its last request is back.
    Ended,
    /// It still runs, within a trial.
    Alive,
    /// What it measured.
    Measured(Box<MeasuredMessage>),
    /// It cannot.
    Cannot { why: String, usage: bool },
    /// A signal ended it.
    Stopped,
}

/// What a host measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct MeasuredMessage {
    pub trial: Trial,
    pub notes: Vec<LoopNote>,
    pub active_ns: (u64, u64),
}

pub(crate) fn encode(message: &impl Serialize) -> io::Result<Vec<u8>> {
    rmp_serde::to_vec_named(message).map_err(io::Error::other)
}

pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> io::Result<T> {
    rmp_serde::from_slice(bytes).map_err(|error| {
        io::Error::other(format!(
            "a message of another host cannot be read ({error}); run one version on all hosts"
        ))
    })
}
