//! `--max-write`: how what may be written is shared between filling, a state and measuring, and when it is too little.

use iosonde_model::{Point, TrialSpec, units};
use iosonde_rig::prepare::FILL_BLOCK_BYTES;

use crate::{failure::Failure, options::Options, state::State};

/// What a state writes, as a multiple of the prepared area.
fn passes(state: Option<State>) -> f64 {
    const WHOLE_BYTES: u64 = 1 << 30;
    state.map_or(0.0, |state| state.cost_bytes(WHOLE_BYTES) as f64 / WHOLE_BYTES as f64)
}

/// The most that filling may write: half of all, or what one round leaves where that is less, and in both cases only
/// so much that the state, which writes the same area again, has its part.
pub fn fill_bytes_max(options: &Options, round_bytes: u64) -> u64 {
    let Some(max_bytes) = options.max_write_bytes else { return u64::MAX };
    let share_bytes = (max_bytes / 2).min(max_bytes.saturating_sub(round_bytes));
    ((share_bytes as f64 / (1.0 + passes(options.state))) as u64).max(FILL_BLOCK_BYTES)
}

/// What one round writes at the least: every point that writes fills its places in flight once.
pub fn round_bytes(points: &[Point]) -> u64 {
    let streams = points.iter().flat_map(|point| point.spec.streams());
    let written = |spec: &TrialSpec| {
        if spec.rw.writes() { spec.asked_in_flight().saturating_mul(spec.block_size_bytes) } else { 0 }
    };
    streams.map(written).fold(0, u64::saturating_add)
}

/// Refuses a limit that not even the least of preparing and one round keeps, before anything is written. `area_bytes`
/// is what is prepared whatever the limit: `None` where filling can be cut short.
pub fn refuse_too_little(
    options: &Options,
    points: &[Point],
    fills: bool,
    area_bytes: Option<u64>,
) -> Result<(), Failure> {
    let Some(max_bytes) = options.max_write_bytes else { return Ok(()) };
    let area_bytes = area_bytes.unwrap_or(FILL_BLOCK_BYTES);
    let filling_bytes = if fills { area_bytes } else { 0 };
    let state_bytes = options.state.map_or(0, |state| state.cost_bytes(area_bytes));
    let round_bytes = round_bytes(points);
    let least_bytes = filling_bytes.saturating_add(state_bytes).saturating_add(round_bytes);
    if least_bytes <= max_bytes {
        return Ok(());
    }
    let part = |bytes: u64, what: String| (bytes > 0).then(|| format!("{} for {what}", units::size(bytes)));
    let parts = [
        part(filling_bytes, "filling".into()),
        part(state_bytes, options.state.map_or_else(String::new, |state| format!("--state {state}"))),
        part(round_bytes, "one round of the points that write".into()),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let sum =
        if parts.len() > 1 { format!(", which is {}", units::size(least_bytes)) } else { String::new() };
    Err(Failure::usage(format!(
        "--max-write {} does not allow what this run writes at the least: {}{sum}",
        units::size(max_bytes),
        parts.join(" and ")
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;
    use clap::Parser;
    use iosonde_model::Rw;

    fn options(max_write_bytes: u64, state: Option<State>) -> Options {
        let cli = Cli::parse_from(["iosonde", "run", "./"]);
        let crate::args::Command::Run(args) = cli.command else { panic!("it is a run") };
        let usual = Options::of(&args.target, 1, 0.05, None);
        Options { max_write_bytes: Some(max_write_bytes), state, ..usual }
    }

    fn points() -> Vec<Point> {
        let spec = |rw, queue_depth| TrialSpec {
            rw,
            queue_depth,
            block_size_bytes: 1 << 20,
            ..TrialSpec::default()
        };
        vec![Point::planned(0, "x", spec(Rw::RandRead, 64)), Point::planned(1, "x", spec(Rw::Write, 8))]
    }

    #[test]
    fn filling_the_state_and_measuring_share_what_may_be_written() {
        assert_eq!(round_bytes(&points()), 8 << 20);
        assert_eq!(fill_bytes_max(&options(1 << 30, None), 8 << 20), 512 << 20);
        // Two passes of stirring after the filling: a third of the half.
        let steady = fill_bytes_max(&options(3 << 30, Some(State::Steady)), 8 << 20);
        assert_eq!(steady, 512 << 20);
        assert_eq!(fill_bytes_max(&options(10 << 20, None), 8 << 20), 2 << 20);
        assert_eq!(fill_bytes_max(&options(0, None), 0), 1 << 20, "filling has a least of its own");
    }

    #[test]
    fn too_little_is_refused_with_what_it_is_needed_for() {
        let said = |max: u64, state, fills, area| {
            refuse_too_little(&options(max, state), &points(), fills, area).map_err(|failure| failure.text)
        };
        assert_eq!(said(9 << 20, None, true, None), Ok(()));
        let short = said(8 << 20, None, true, None).unwrap_err();
        assert!(
            short.contains("1 MiB for filling and 8 MiB for one round") && short.contains("9 MiB"),
            "{short}"
        );
        let state = said(64 << 20, Some(State::Steady), false, Some(64 << 20)).unwrap_err();
        assert!(state.contains("128 MiB for --state steady"), "{state}");
    }
}
