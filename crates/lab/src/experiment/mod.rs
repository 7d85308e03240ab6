//! Experiments: a question, the points that answer it, and what can be concluded from them.

mod grid;
mod parameters;

use iosonde_model::{Device, Named, Point, TrialSpec, registry};

use crate::finding::FindingKind;
pub use parameters::{Parameter, ParameterError, Parameters};

registry! {
    /// Every experiment, in the order in which a reader should meet them.
    pub EXPERIMENTS: Experiment "experiment" {
        block_size::BlockSize,
        queue_depth::QueueDepth,
        random_vs_sequential::RandomVsSequential,
        mix::Mix,
        open_loop::OpenLoop,
    }
}

/// What an experiment wants measured.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// These points, in fresh random order in each round.
    Shuffled(Vec<TrialSpec>),
    /// These points, in this order in each round: where history is the point.
    InOrder(Vec<TrialSpec>),
    /// Nothing more.
    Done,
}

/// A registered experiment. It asks for points and cannot run anything; rounds, order and stopping are the
/// schedule's.
pub trait Experiment: Named {
    /// What it answers, ending in a question mark.
    fn question(&self) -> &'static str;

    /// The keys that a study may give, with their defaults.
    fn parameters(&self) -> &'static [Parameter];

    /// The points that it wants, given what has been measured of them. With nothing measured: its plain
    /// grid. What a device does not allow (writes, deep queues, blocks near its size) is left out by the
    /// plan, not here.
    fn next(
        &self,
        parameters: &Parameters,
        device: &Device,
        so_far: &[Point],
    ) -> Result<Step, ParameterError>;

    /// What its points can answer.
    fn findings(&self) -> &'static [&'static dyn FindingKind];
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
        for experiment in EXPERIMENTS.iter() {
            assert!(experiment.question().ends_with('?'), "{}", experiment.question());
            assert!(experiment.parameters().iter().all(|parameter| !parameter.explain.is_empty()));
        }
    }

    #[test]
    fn every_experiment_has_a_grid_by_default_and_nothing_to_add() {
        let device = Device::unknown("file", 1 << 30);
        for experiment in EXPERIMENTS.iter() {
            let parameters = asked(experiment, "").unwrap();
            let Step::Shuffled(specs) = experiment.next(&parameters, &device, &[]).unwrap() else {
                panic!("{} wants no order", experiment.name())
            };
            assert!(!specs.is_empty());
            let measured = [Point::planned(0, experiment.name(), specs[0].clone())];
            assert_eq!(experiment.next(&parameters, &device, &measured), Ok(Step::Done));
        }
    }

    #[test]
    fn mixed_patterns_belong_to_the_mix_and_plain_ones_do_not() {
        let device = Device::unknown("file", 1 << 30);
        for experiment in EXPERIMENTS.iter() {
            let wrong = if experiment.name() == "mix" { "rw = \"randread\"" } else { "rw = \"randrw\"" };
            let parameters = asked(experiment, wrong).unwrap();
            let error = experiment.next(&parameters, &device, &[]).unwrap_err().to_string();
            assert!(error.contains("mix"), "{error}");
        }
    }
}
