//! A run's beginning, as it is written down.

use iosonde_model::{Circumstances, Device, RunInfo, RunState};

use crate::hosts::Hosts;
use crate::{options::Options, session::Session};

/// A run's beginning, as it is written down; which study it is of, its caller knows.
pub fn new_info(id: String, target: &str, options: &Options, session: &Session) -> RunInfo {
    RunInfo {
        id,
        label: None,
        note: None,
        study: String::new(),
        series: None,
        repeat: None,
        in_turn_with: Vec::new(),
        over: None,
        against: None,
        study_source: String::new(),
        target: target.to_owned(),
        seed: options.order_seed.unwrap_or(options.seed),
        started_at: session.bed.clock.utc(),
        elapsed_s: 0.0,
        state: RunState::Running,
        command: command_line(),
        bytes_written: 0,
        budget_s: Some(options.time_ns as f64 / 1e9),
        precision: options.precision,
        confidence: options.confidence,
        rounds: 0,
        device: session.device.clone(),
        host: session.host.clone(),
        hosts: session.members.clone(),
        options: serde_json::to_value(Options { destroyed: session.identity.clone(), ..options.clone() })
            .expect("options are plain data"),
        fio: None,
    }
}

/// When, where and how something is measured that is no run: so many bytes of a session's storage.
pub fn circumstances(session: &Session, working_set_bytes: u64, started_at: String) -> Circumstances {
    let device = Device { working_set_bytes, ..session.device.clone() };
    Circumstances { command: command_line(), started_at, device: Some(device), host: session.host.clone() }
}

/// The command as it was typed, with quotes where a shell needs them.
pub fn command_line() -> String {
    let quote = |word: String| {
        let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./:=,%~+@".contains(c));
        if plain && !word.is_empty() { word } else { format!("'{}'", word.replace('\'', r"'\''")) }
    };
    let words = std::env::args_os().skip(1).map(|word| quote(word.to_string_lossy().into_owned()));
    std::iter::once(Hosts::of_process().program()).chain(words).collect::<Vec<_>>().join(" ")
}
