//! Experiments: a question, the points that answer it, and what can be concluded from them.

mod grid;
mod parameters;

use iosonde_model::{Device, ExperimentName, Named, TrialSpec, registry};

pub use jobs::alone;
pub use parameters::{Parameter, ParameterError, Parameters};

registry! {
    /// Registry of experiments, in the order in which a reader should meet them.
    pub EXPERIMENTS: Experiment "experiment" {
        block_size::BlockSize,
        queue_depth::QueueDepth,
        random_vs_sequential::RandomVsSequential,
        mix::Mix,
        open_loop::OpenLoop,
        latency::Latency,
        jobs::Jobs,
        host_scaling::HostScaling,
        stride::Stride,
        alignment::Alignment,
        working_set::WorkingSet,
        readahead::Readahead,
        sustained_write::SustainedWrite,
        limit::Limit,
        disk::Disk,
        units::Units,
        rewrite::Rewrite,
        sync_methods::SyncMethods,
        media::Media,
        dataset::Dataset,
        checkpoint::Checkpoint,
        matrix::Matrix,
        spec::Spec,
        requirement::Requirement,
    }
}

/// Rules for visiting the points of an experiment.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Manner {
    /// True for the order of the grid within each round, where history matters; otherwise random order.
    pub in_order: bool,
    /// Counted from the first request on, without a warm-up.
    pub from_the_start: bool,
    /// Right after one pass over the span, so that a cache holds what it can of it.
    pub pass_first: bool,
    /// Each of its trials is one pass over the span, however long that takes.
    pub one_pass: bool,
    /// Goes on until the time is up, however precise it is, and takes the canary's place: the course is the figure.
    pub to_the_end: bool,
    /// Trials of its points take at least so long; 0 where the schedule may choose.
    pub trial_s_min: f64,
}

/// A registered experiment. It asks for points and cannot run anything; rounds and stopping are the
/// schedule's.
pub trait Experiment: Sync {
    /// Returns the name that people type and that the JSON contains.
    fn id(&self) -> ExperimentName;

    /// Question that the experiment answers, ending in a question mark.
    fn question(&self) -> &'static str;

    /// The keys that a study may give, with their defaults.
    fn parameters(&self) -> &'static [Parameter];

    /// The points of its plain grid. What a device does not allow (writes, deep queues, blocks near its size) is
    /// left out by the plan, not here.
    fn grid(&self, parameters: &Parameters, device: &Device) -> Result<Vec<TrialSpec>, ParameterError> {
        grid::cross(parameters, device)
    }

    /// Returns the rules for visiting its points.
    fn manner(&self, _parameters: &Parameters) -> Result<Manner, ParameterError> {
        Ok(Manner::default())
    }

    /// Returns the rules for one point of the grid, where they differ.
    fn manner_of(&self, parameters: &Parameters, _spec: &TrialSpec) -> Result<Manner, ParameterError> {
        self.manner(parameters)
    }

    /// Returns true if it chooses how many hosts take part in each point; otherwise all do.
    fn chooses_hosts(&self) -> bool {
        false
    }

    /// Returns true if each point is an answer of its own, whatever is concluded from all of them.
    fn point_by_point(&self) -> bool {
        false
    }
}

impl Named for dyn Experiment + '_ {
    fn name(&self) -> &'static str {
        self.id().as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(experiment: &dyn Experiment, text: &str) -> Result<Parameters, ParameterError> {
        let given = toml::from_str(text).expect("a test's TOML is valid");
        Parameters::check(experiment.name(), &given, experiment.parameters())
    }

    #[test]
    fn every_experiment_is_well_formed_and_asks_a_question() {
        EXPERIMENTS.assert_well_formed();
        assert_eq!(EXPERIMENTS.iter().map(|kind| kind.id()).collect::<Vec<_>>(), ExperimentName::ALL);
        for experiment in EXPERIMENTS.iter() {
            assert!(experiment.question().ends_with('?'), "{}", experiment.question());
            assert!(experiment.parameters().iter().all(|parameter| !parameter.explain.is_empty()));
        }
    }

    #[test]
    fn every_experiment_has_a_grid_by_default() {
        // Some experiments are about several hosts.
        let device = Device { hosts: Some(16), ..Device::unknown("file", 1 << 30) };
        for experiment in EXPERIMENTS.iter() {
            let parameters = asked(experiment, "").unwrap();
            let specs = experiment.grid(&parameters, &device).unwrap();
            assert!((1..=100).contains(&specs.len()), "{} has {} points", experiment.name(), specs.len());
            experiment.manner(&parameters).unwrap();
        }
    }

    #[test]
    fn mixed_patterns_belong_to_the_mix_and_plain_ones_do_not() {
        // Some experiments are about several hosts.
        let device = Device { hosts: Some(16), ..Device::unknown("file", 1 << 30) };
        for experiment in EXPERIMENTS.iter() {
            let any = experiment.id() != ExperimentName::Mix
                && experiment.parameters().iter().any(|p| p.key == "mix");
            let own = experiment.parameters().iter().any(|p| p.key == "rw");
            if any || !own {
                continue;
            }
            let wrong =
                if experiment.id() == ExperimentName::Mix { "rw = \"randread\"" } else { "rw = \"randrw\"" };
            let parameters = asked(experiment, wrong).unwrap();
            let error = experiment.grid(&parameters, &device).unwrap_err().to_string();
            assert!(error.contains("mix"), "{error}");
        }
    }

    #[test]
    fn a_wrong_key_gets_a_suggestion_in_every_experiment() {
        for experiment in EXPERIMENTS.iter() {
            let first = experiment.parameters()[0].key;
            let error = asked(experiment, &format!("{first}x = 1")).unwrap_err().to_string();
            assert!(error.contains(&format!("did you mean `{first}`?")), "{error}");
        }
    }
}
