//! `--max-write`: how what may be written is shared between filling, a state and measuring, and when it is too little.

use iosonde_judge::estimate::FEWEST_TRIALS;
use iosonde_model::{Phase, Point, Trial, TrialSpec, units};
use iosonde_rig::prepare::FILL_BLOCK_BYTES;

use crate::{failure::Failure, options::Options, state::State};

/// What a state writes, as a multiple of the prepared area.
fn passes(state: Option<State>) -> f64 {
    // A tenth of it, which is a round, is a whole number of requests.
    const WHOLE_BYTES: u64 = 1000 << 20;
    state.map_or(0.0, |state| state.cost_bytes(WHOLE_BYTES, true) as f64 / WHOLE_BYTES as f64)
}

/// The most that filling may write: half of all, or what measuring leaves where that is less, and in both cases only
/// so much that the state, which writes the same area again, has its part.
pub fn fill_bytes_max(options: &Options, measuring_bytes: u64) -> u64 {
    let Some(max_bytes) = options.max_write_bytes else { return u64::MAX };
    let share_bytes = (max_bytes / 2).min(max_bytes.saturating_sub(measuring_bytes));
    ((share_bytes as f64 / (1.0 + passes(options.state))) as u64).max(FILL_BLOCK_BYTES)
}

/// Fewest requests of a trial, and times that its queue is filled: the first filling is its warm-up.
const FEWEST_REQUESTS: u64 = 8;
const FILLINGS: u64 = 2;

/// Minimum that a trial writes.
fn trial_bytes(spec: &TrialSpec) -> u64 {
    let written = |spec: &TrialSpec| {
        let requests = spec.asked_in_flight().saturating_mul(FILLINGS).max(FEWEST_REQUESTS);
        let bytes = requests.saturating_mul(spec.block_size_bytes);
        // A file that is flushed once, at its end, is nothing before it is whole.
        let whole_files = match spec.sync.flush_every() {
            Some(every) if u64::from(every) * spec.block_size_bytes >= spec.span_bytes => {
                spec.span_bytes.saturating_mul(u64::from(spec.jobs))
            }
            _ => 0,
        };
        if spec.rw.writes() { bytes.max(whole_files) } else { 0 }
    };
    spec.streams().map(written).fold(0, u64::saturating_add)
}

/// Minimum that the trials write which the intervals of all points need.
pub fn measuring_bytes(points: &[Point]) -> u64 {
    let one_round = points.iter().map(|point| trial_bytes(&point.spec)).fold(0, u64::saturating_add);
    one_round.saturating_mul(FEWEST_TRIALS as u64)
}

/// Trials that a point is given where writing is limited: one to spare, since one may be an outlier.
const TRIALS: usize = FEWEST_TRIALS + 1;

/// Minimum that all trials of a workload's point write.
pub fn interval_bytes(spec: &TrialSpec) -> u64 {
    trial_bytes(spec).saturating_mul(TRIALS as u64)
}

/// Minimum that the trials write which the points lack for their intervals.
pub fn needed_bytes(points: &[Point], trials: &[&Trial]) -> u64 {
    let made = |point: &Point| {
        let own = |trial: &&&Trial| trial.phase == Phase::Measure && trial.point == Some(point.id);
        trials.iter().filter(own).count()
    };
    let lacking = |point: &Point| TRIALS.saturating_sub(made(point)) as u64;
    let needed = points.iter().map(|point| trial_bytes(&point.spec).saturating_mul(lacking(point)));
    needed.fold(0, u64::saturating_add)
}

/// Share of the remaining bytes for the next trial of this workload. As long as points lack trials for an interval,
/// each of these has a share in proportion to its minimum. What a trial leaves of its share is shared again.
pub fn share_bytes(left_bytes: u64, spec: &TrialSpec, points: &[Point], trials: &[Trial]) -> u64 {
    let needed = needed_bytes(points, &trials.iter().collect::<Vec<_>>()) as f64;
    let own = trial_bytes(spec) as f64;
    (left_bytes as f64 * (own / needed.max(own))) as u64
}

/// Refuses a limit that not even the least of preparing and measuring keeps, before anything is written. `area_bytes`
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
    let state_bytes = options.state.map_or(0, |state| state.least_bytes(area_bytes, fills));
    let measuring_bytes = measuring_bytes(points);
    let least_bytes = filling_bytes.saturating_add(state_bytes).saturating_add(measuring_bytes);
    if least_bytes <= max_bytes {
        return Ok(());
    }
    let part = |bytes: u64, what: String| (bytes > 0).then(|| format!("{} for {what}", units::size(bytes)));
    let parts = [
        part(filling_bytes, "filling".into()),
        part(state_bytes, options.state.map_or_else(String::new, |state| format!("--state {state}"))),
        part(measuring_bytes, format!("{FEWEST_TRIALS} trials of each point that writes")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let sum =
        if parts.len() > 1 { format!(", which is {}", units::size(least_bytes)) } else { String::new() };
    Err(Failure::usage(format!(
        "--max-write {} is less than this run writes at minimum: {}{sum}; use `--max-write {}M` or more",
        units::size(max_bytes),
        parts.join(" and "),
        least_bytes.div_ceil(1 << 20)
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
        // 16 requests of 1 MiB, five times.
        assert_eq!(measuring_bytes(&points()), 80 << 20);
        assert_eq!(fill_bytes_max(&options(1 << 30, None), 8 << 20), 512 << 20);
        // Six passes of stirring at most after the filling: a seventh of the half.
        let steady = fill_bytes_max(&options(7 << 30, Some(State::Steady)), 8 << 20);
        assert_eq!(steady, 512 << 20);
        assert_eq!(fill_bytes_max(&options(10 << 20, None), 8 << 20), 2 << 20);
        assert_eq!(fill_bytes_max(&options(0, None), 0), 1 << 20, "filling has a least of its own");
    }

    #[test]
    fn every_point_has_its_part_until_all_have_intervals() {
        let mut points = points();
        let small = TrialSpec { rw: Rw::RandWrite, queue_depth: 1, ..points[1].spec.clone() };
        points.push(Point::planned(2, "x", TrialSpec { block_size_bytes: 4096, ..small }));
        let share =
            |trials: &[Trial], place: usize| share_bytes(960 << 20, &points[place].spec, &points, trials);
        // Six trials each, of at least 16 MiB and 32 KiB: 159.7 MiB and a 512th of that.
        assert_eq!([share(&[], 1) >> 20, share(&[], 2) >> 10], [159, 319]);
        let done = |place: usize| Trial {
            point: Some(place),
            ..Trial::blank(points[place].spec.clone(), Phase::Measure)
        };
        let large: Vec<Trial> = (0..6).map(|_| done(1)).collect();
        assert_eq!(share(&large, 2) >> 20, 160, "a sixth of what is left");
        let all: Vec<Trial> = large.into_iter().chain((0..6).map(|_| done(2))).collect();
        assert_eq!(share(&all, 1), 960 << 20, "nobody lacks anything");
    }

    #[test]
    fn too_little_is_refused_with_what_it_is_needed_for() {
        let said = |max: u64, state, fills, area| {
            refuse_too_little(&options(max, state), &points(), fills, area).map_err(|failure| failure.text)
        };
        assert_eq!(said(81 << 20, None, true, None), Ok(()));
        let short = said(80 << 20, None, true, None).unwrap_err();
        assert!(
            short.contains("1 MiB for filling and 80 MiB for 5 trials of each point that writes")
                && short.contains("81 MiB"),
            "{short}"
        );
        let state = said(64 << 20, Some(State::Steady), false, Some(64 << 20)).unwrap_err();
        assert!(state.contains("128 MiB for --state steady"), "{state}");
    }
}
