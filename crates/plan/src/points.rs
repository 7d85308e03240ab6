//! Points of a study on a device, with the points left out and the reasons.
//!
//! Experiments list their points without regard to the device. The limits of the device are applied here, once for all
//! experiments, and every point that is left out is reported.

use iosonde_model::{
    Device, ExperimentSpec, FileError, Files, LeftOut, Phase, Planned, Point, Study, Trial, TrialSpec,
    Unknown, units,
};

use crate::{
    experiment::{EXPERIMENTS, Experiment, ParameterError, Parameters},
    schedule::Visiting,
};

/// The largest share of the span that one request may cover: with fewer than four blocks to choose from, a
/// random pattern is no longer random, and a sequential one only repeats itself.
const SPAN_BLOCKS_MIN: u64 = 4;

/// The points of a study on a device.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Points, each once even if several experiments use it; ids count from 0.
    pub points: Vec<Point>,
    /// Rules for visiting the points within a round.
    pub visiting: Visiting,
    /// Points that the device does not allow, by reason.
    pub left_out: Vec<LeftOut>,
}

/// A study that cannot be run on this device, and what would help.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// Study that cannot be read.
    #[error(transparent)]
    Study(#[from] FileError),
    /// Unknown experiment.
    #[error(transparent)]
    Unknown(#[from] Unknown),
    /// An experiment's parameters are wrong, or wrong for this device.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// Study of which every point was left out.
    #[error("nothing of the study `{study}` can be measured here")]
    Nothing {
        /// The study's name.
        study: String,
        /// Reasons why points were left out.
        left_out: Vec<LeftOut>,
    },
}

/// Experiment of a study with its checked parameters.
pub struct PlannedExperiment {
    /// Name in the study.
    pub name: String,
    /// The registered experiment.
    pub experiment: &'static dyn Experiment,
    parameters: Parameters,
}

/// Returns the experiments of a study with their parameters checked.
pub fn experiments(study: &Study, device: &Device) -> Result<Vec<PlannedExperiment>, PlanError> {
    let mut asked = Vec::new();
    let fits = |spec: &&ExperimentSpec| spec.only_on.is_none_or(|kind| kind.may_be(device.rotates()));
    for spec in study.experiments.iter().filter(fits) {
        let experiment = EXPERIMENTS.find(&spec.kind)?;
        let parameters = Parameters::check(&spec.name, &spec.parameters, experiment.parameters())?;
        asked.push(PlannedExperiment { name: spec.name.clone(), experiment, parameters });
    }
    Ok(asked)
}

/// Returns the experiments of points without a study: the loads of a latency search belong to one.
pub fn searched_experiments(points: &[Point]) -> Vec<PlannedExperiment> {
    let searched = |name: &str| points.iter().any(|p| p.spec.latency_limit.is_some() && p.belongs_to(name));
    let registered = EXPERIMENTS.iter().filter(|experiment| searched(experiment.id().as_str()));
    let ask = |experiment: &'static dyn Experiment| {
        let parameters =
            Parameters::check(experiment.id().as_str(), &toml::Table::new(), experiment.parameters()).ok()?;
        Some(PlannedExperiment { name: experiment.id().as_str().to_owned(), experiment, parameters })
    };
    registered.filter_map(ask).collect()
}

/// Returns the points of a study on a device. Points that several experiments request are measured once.
///
/// # Errors
/// Returns [`PlanError`] for a study that cannot be read or run here, in one sentence with the remedy.
pub fn plan(study: &Study, device: &Device) -> Result<Plan, PlanError> {
    let visiting = Visiting { manners: Vec::new(), reads_first: study.reads_first };
    let mut plan = Plan { points: Vec::new(), visiting, left_out: Vec::new() };
    let mut left_out = Counts::default();
    let device = &within_span(study, device);
    for asked in experiments(study, device)? {
        for spec in asked.experiment.grid(&asked.parameters, device)? {
            let hosts = if asked.experiment.chooses_hosts() { spec.hosts } else { device.hosts.unwrap_or(1) };
            let spec = device.by_hosts(spec).on_hosts(hosts);
            if left_out.leaves_out(&spec, device) {
                continue;
            }
            aligned(&spec, device).map_err(|message| asked.parameters.fail(message))?;
            let manner = asked.experiment.manner_of(&asked.parameters, &spec)?;
            // The same workload in another manner is another point: a trial without warm-up is not one with.
            let mut known = plan.points.iter_mut().zip(&plan.visiting.manners);
            match known.find(|(point, known)| point.spec == spec && **known == manner) {
                Some((known, _)) if known.belongs_to(&asked.name) => {}
                Some((known, _)) => known.also.push(asked.name.clone()),
                None => {
                    plan.points.push(Point::planned(plan.points.len(), &asked.name, spec));
                    plan.visiting.manners.push(manner);
                }
            }
        }
    }
    let unfit = |spec: &ExperimentSpec| {
        let only_on = spec.only_on.filter(|kind| !kind.may_be(device.rotates()))?;
        Some(LeftOut::OtherStorage { experiment: spec.name.clone(), only_on })
    };
    plan.left_out = study.experiments.iter().filter_map(unfit).chain(left_out.reasons(device)).collect();
    if plan.points.is_empty() {
        return Err(PlanError::Nothing { study: study.name.clone(), left_out: plan.left_out });
    }
    Ok(plan)
}

/// The device as far as the study addresses it.
fn within_span(study: &Study, device: &Device) -> Device {
    let span_bytes = study.span_bytes.unwrap_or(u64::MAX);
    Device { working_set_bytes: device.working_set_bytes.min(span_bytes), ..device.clone() }
}

/// Direct I/O bypasses the page cache, which would otherwise have evened out odd sizes; the kernel refuses
/// what is not a multiple of the device's unit with EINVAL, once for each request.
fn aligned(spec: &TrialSpec, device: &Device) -> Result<(), String> {
    let Some(unit_bytes) = direct_unit_bytes(device).filter(|_| spec.direct) else { return Ok(()) };
    if spec.block_size_bytes.is_multiple_of(unit_bytes) {
        return Ok(());
    }
    Err(format!(
        "a block size of {} is not a multiple of {}, which direct I/O needs here; choose a multiple, or add \
         --buffered to measure through the page cache",
        units::size(spec.block_size_bytes),
        units::size(unit_bytes)
    ))
}

/// Returns the unit of which addresses and lengths of direct I/O must be multiples.
fn direct_unit_bytes(device: &Device) -> Option<u64> {
    device.logical_block_bytes.into_iter().chain(device.direct_alignment_bytes).max()
}

/// Points that the device does not allow, counted by reason.
#[derive(Default)]
struct Counts {
    writing: usize,
    deep: usize,
    close: usize,
    beyond: usize,
    new_files: usize,
    many_hosts: usize,
    askew: usize,
    large: usize,
    smallest_large_bytes: Option<u64>,
}

impl Counts {
    fn leaves_out(&mut self, spec: &TrialSpec, device: &Device) -> bool {
        let end_bytes = spec.offset_bytes.saturating_add(spec.span_bytes);
        let unit_bytes = direct_unit_bytes(device).filter(|_| spec.direct).unwrap_or(1);
        let places = [spec.offset_bytes, spec.stride_bytes.unwrap_or(0), spec.align_bytes.unwrap_or(0)];
        if spec.changes() && !device.writable {
            self.writing += 1;
        } else if spec.queue_depth > 1 && spec.rate_iops.is_none() && is_blocking(&device.engine) {
            self.deep += 1;
        } else if spec.stride_bytes.is_some_and(|stride| stride < spec.block_size_bytes) {
            self.close += 1;
        } else if end_bytes > device.working_set_bytes {
            self.beyond += 1;
        } else if spec.files == Files::New && !device.new_files {
            self.new_files += 1;
        } else if spec.hosts > device.hosts.unwrap_or(1) {
            self.many_hosts += 1;
        } else if places.iter().any(|bytes| !bytes.is_multiple_of(unit_bytes)) {
            self.askew += 1;
        } else if spec.block_size_bytes.saturating_mul(SPAN_BLOCKS_MIN) > spec.span_bytes {
            self.large += 1;
            let smallest = self.smallest_large_bytes.unwrap_or(u64::MAX);
            self.smallest_large_bytes = Some(smallest.min(spec.block_size_bytes));
        } else {
            return false;
        }
        true
    }

    fn reasons(&self, device: &Device) -> Vec<LeftOut> {
        let span_bytes = device.working_set_bytes;
        let unit_bytes = direct_unit_bytes(device).unwrap_or(1);
        let smallest_bytes = self.smallest_large_bytes.unwrap_or(0);
        let reasons = [
            (self.writing, LeftOut::Writing { points: self.writing }),
            (self.deep, LeftOut::QueueDepth { points: self.deep, engine: device.engine.clone() }),
            (self.close, LeftOut::StrideBelowBlock { points: self.close }),
            (self.beyond, LeftOut::BeyondSpan { points: self.beyond, span_bytes }),
            (self.new_files, LeftOut::NewFiles { points: self.new_files }),
            (self.many_hosts, LeftOut::Hosts { points: self.many_hosts, hosts: device.hosts.unwrap_or(1) }),
            (self.askew, LeftOut::Misaligned { points: self.askew, unit_bytes }),
            (self.large, LeftOut::LargeBlocks { points: self.large, smallest_bytes, span_bytes }),
        ];
        reasons.into_iter().filter(|(points, _)| *points > 0).map(|(_, reason)| reason).collect()
    }
}

/// Returns true if an engine's calls return only when the request is complete.
pub fn is_blocking(engine: &str) -> bool {
    // Options follow the name: psync:nowait.
    matches!(engine.split(':').next(), Some("psync" | "mmap"))
}

/// Points beyond the plan for which a run's trials were made.
pub fn added_points(trials: &[Trial], planned: usize) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for trial in trials.iter().filter(|trial| trial.phase == Phase::Measure) {
        let Some(id) = trial.point.filter(|id| *id >= planned) else { continue };
        if !points.iter().any(|point| point.id == id) {
            points.push(adaptive(id, &trial.experiment, trial.spec.clone()));
        }
    }
    points.sort_by_key(|point| point.id);
    points
}

/// A point that was added since it narrows a finding.
pub fn adaptive(id: usize, experiment: &str, spec: TrialSpec) -> Point {
    Point { planned: Planned::Adaptive, ..Point::planned(id, experiment, spec) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUICK: &str = include_str!("../../../studies/quick.toml");

    fn quick() -> Study {
        Study::parse(QUICK, "quick").unwrap()
    }

    fn device() -> Device {
        Device {
            engine: "io_uring".into(),
            direct: true,
            direct_alignment_bytes: Some(512),
            ..Device::unknown("directory", 1 << 30)
        }
    }

    #[test]
    fn quick_has_27_points_and_shares_what_two_experiments_ask_for() {
        let plan = plan(&quick(), &device()).unwrap();
        // 6 sizes × 2 directions + 8 depths + 4 depths + 4 orders + 1 mix = 29, of which 4 KiB reads and
        // writes at QD 1 occur twice.
        assert_eq!(plan.points.len(), 27);
        assert!(plan.left_out.is_empty());
        let shared: Vec<_> = plan.points.iter().filter(|point| !point.also.is_empty()).collect();
        assert_eq!(shared.len(), 2);
        assert_eq!(
            (shared[0].experiment.as_str(), shared[0].also[0].as_str()),
            ("block-size", "queue-depth")
        );
        assert_eq!(shared[1].also, ["queue-depth-writes"]);
        assert!(plan.points.iter().enumerate().all(|(place, point)| point.id == place));
        assert_eq!((quick().time_ns, quick().precision), (90_000_000_000, 0.05));
    }

    #[test]
    fn a_span_is_the_part_of_what_is_prepared_that_is_addressed() {
        let spans = |text: &str| -> Vec<u64> {
            let plan = plan(&Study::parse(text, "x").unwrap(), &device()).unwrap();
            plan.points.iter().map(|point| point.spec.span_bytes).collect()
        };
        let text = |span: &str| {
            format!(
                "name = \"x\"\nquestion = \"?\"\n{span}\n[[experiment]]\nkind = \"working-set\"\n\
                 span = [\"50%\", \"100%\"]"
            )
        };
        assert_eq!(spans(&text("")), [512 << 20, 1 << 30]);
        assert_eq!(spans(&text("span = \"256MiB\"")), [128 << 20, 256 << 20]);
        assert_eq!(spans(&text("span = \"4GiB\"")), [512 << 20, 1 << 30], "no more than there is");
    }

    #[test]
    fn read_only_leaves_only_reads_and_says_so() {
        let plan = plan(&quick(), &Device { writable: false, ..device() }).unwrap();
        assert!(plan.points.iter().all(|point| !point.spec.rw.writes()));
        // 6 sizes + 4 depths + 2 orders + 1 mix.
        assert_eq!(plan.left_out, [LeftOut::Writing { points: 13 }]);
    }

    #[test]
    fn a_blocking_engine_has_one_in_flight() {
        let plan = plan(&quick(), &Device { engine: "psync".into(), ..device() }).unwrap();
        assert!(plan.points.iter().all(|point| point.spec.queue_depth == 1));
        assert_eq!(plan.points.len(), 12);
        assert_eq!(plan.left_out, [LeftOut::QueueDepth { points: 15, engine: "psync".into() }]);
    }

    #[test]
    fn blocks_over_a_quarter_of_the_span_are_left_out() {
        let plan = plan(&quick(), &Device { working_set_bytes: 8 << 20, ..device() }).unwrap();
        assert!(plan.points.iter().all(|point| point.spec.block_size_bytes <= 2 << 20));
        assert_eq!(
            plan.left_out,
            [LeftOut::LargeBlocks { points: 2, smallest_bytes: 4 << 20, span_bytes: 8 << 20 }]
        );
    }

    #[test]
    fn direct_io_wants_whole_sectors() {
        let study =
            "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"queue-depth\"\nblock_size = \"1k\"";
        let study = Study::parse(study, "x").unwrap();
        let coarse = Device { logical_block_bytes: Some(4096), ..device() };
        let error = plan(&study, &coarse).unwrap_err().to_string();
        assert!(error.contains("1 KiB is not a multiple of 4 KiB"), "{error}");
        assert!(plan(&study, &Device { direct: false, ..coarse }).is_ok());
    }

    #[test]
    fn what_a_cross_asks_for_and_the_device_does_not_allow_is_counted_by_its_reason() {
        let study =
            |body: &str| Study::parse(&format!("name = \"x\"\nquestion = \"?\"\n{body}"), "x").unwrap();
        let left_out = |body: &str| plan(&study(body), &device()).unwrap().left_out;
        let strided = left_out("[[experiment]]\nkind = \"stride\"\nrw = \"read\"");
        assert_eq!(strided, [LeftOut::StrideBelowBlock { points: 1 }]);
        let beyond = left_out("[[experiment]]\nkind = \"working-set\"\nspan = [\"1G\", \"2G\"]");
        assert_eq!(beyond, [LeftOut::BeyondSpan { points: 1, span_bytes: 1 << 30 }]);
        let askew = left_out("[[experiment]]\nkind = \"alignment\"\noffset = [0, 100, 512]");
        assert_eq!(askew, [LeftOut::Misaligned { points: 2, unit_bytes: 512 }]);
        let media = study("[[experiment]]\nkind = \"media\"");
        assert_eq!(plan(&media, &device()).unwrap().left_out, [], "buffered I/O allows any size");
        let one_file = Device { new_files: false, ..device() };
        assert_eq!(plan(&media, &one_file).unwrap().left_out, [LeftOut::NewFiles { points: 10 }]);
        let same = study("[[experiment]]\nkind = \"media\"\nfiles = \"same\"");
        assert_eq!(plan(&same, &one_file).unwrap().left_out, []);
    }

    #[test]
    fn the_same_workload_in_another_manner_is_another_point() {
        let text = "name = \"x\"\nquestion = \"?\"\norder = \"reads-first\"\n[[experiment]]\n\
                    kind = \"sustained-write\"\n\
                    [[experiment]]\nkind = \"block-size\"\nrw = \"write\"\nblock_size = \"1M\"\ndepth = 8";
        let plan = plan(&Study::parse(text, "x").unwrap(), &device()).unwrap();
        assert_eq!(plan.points.len(), 3);
        assert_eq!(plan.points[1].spec, plan.points[2].spec);
        assert!(plan.visiting.reads_first && plan.visiting.manners[1].from_the_start);
        assert!(!plan.visiting.manners[2].from_the_start);
    }

    #[test]
    fn a_study_of_which_nothing_is_left_says_why() {
        let study = "name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"mix\"\nmix = 70";
        let study = Study::parse(study, "x").unwrap();
        let error = plan(&study, &Device { writable: false, ..device() }).unwrap_err();
        let left_out = vec![LeftOut::Writing { points: 1 }];
        assert_eq!(error, PlanError::Nothing { study: "x".into(), left_out });
    }

    #[test]
    fn an_experiment_that_does_not_exist_gets_a_suggestion() {
        let study = Study::parse("name = \"x\"\nquestion = \"?\"\n[[experiment]]\nkind = \"blok-size\"", "x")
            .unwrap();
        let error = plan(&study, &device()).unwrap_err().to_string();
        assert!(error.contains("did you mean `block-size`?"), "{error}");
    }
}
