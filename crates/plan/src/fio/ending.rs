//! What ends fio's jobs beside their own time and size: a steady throughput (`steadystate`), or another job's end
//! (`exitall`).

use iosonde_model::fio::steady_state::SteadyState;

use super::{
    given::Options,
    refusal::{Refusal, Why},
};

/// Jobs that end with a job that has `exitall`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitWhat {
    /// Those of its reporting group.
    Group,
    /// All that run at once.
    Stonewall,
    /// All that run at once; those behind them do not begin.
    All,
}

/// Jobs that end with this one; `None` without `exitall`.
pub(super) fn exit_what(options: &Options) -> Result<Option<ExitWhat>, Refusal> {
    let what = match options.text("exit_what") {
        None | Some("group") => ExitWhat::Group,
        Some("stonewall") => ExitWhat::Stonewall,
        Some("all") => ExitWhat::All,
        Some(_) => return Err(options.misread("exit_what", "it is group, stonewall or all")),
    };
    Ok(options.yes("exitall")?.unwrap_or(false).then_some(what))
}

/// Longest window: a day.
const WINDOW_MAX_S: u64 = 86_400;

/// The criterion that ends a job; `None` without one, and without a window, as in fio.
pub(super) fn steady(options: &Options) -> Result<Option<SteadyState>, Refusal> {
    const NAME: &str = "steadystate";
    let window_ns = options.time_ns("steadystate_duration")?.unwrap_or(0);
    let ramp_ns = options.time_ns("steadystate_ramp_time")?.unwrap_or(0);
    let Some(word) = options.text(NAME) else { return Ok(None) };
    let Some(rule) = SteadyState::parse(word, options.base()) else {
        return Err(options.misread(NAME, "it is iops:10%, iops_slope:0.1%, bw:1m or bw_slope:1%"));
    };
    match window_ns / 1_000_000_000 {
        0 if window_ns == 0 => {
            let why = "steadystate needs the time that is looked at: steadystate_duration=30s";
            Err(Why::Contradiction(why.to_owned()).at(options.place(NAME)))
        }
        window_s @ 1..=WINDOW_MAX_S => Ok(Some(SteadyState { window_s: window_s as usize, ramp_ns, ..rule })),
        _ => Err(options.misread("steadystate_duration", "it is a second to a day")),
    }
}
