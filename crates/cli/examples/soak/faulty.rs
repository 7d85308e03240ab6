//! A study on a simulated device with random faults, and what must hold of every such run.

use std::panic::{AssertUnwindSafe, catch_unwind};

use iosonde_model::{CheckName, Outcome, Run, Status, Trial};

/// What one run came to.
#[derive(Debug, Default)]
pub struct Tally {
    /// Time on the simulated clock.
    pub simulated_s: f64,
    /// Trials, preparation included.
    pub trials: u64,
    /// Trials with a request that failed, moved too little or never came back.
    pub met: u64,
    /// Conclusions that were found.
    pub found: u64,
    /// Whether the run ended with an error, which is then said.
    pub refused: bool,
    /// What must not be.
    pub wrong: Vec<String>,
}

/// Draws for one device (splitmix64).
struct Dice(u64);

impl Dice {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Between two values, evenly on a logarithmic scale.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.unit())
    }
}

/// The section of a device file: at least one of failing requests, a device that answers nothing for a while, and one
/// that is gone.
fn faults(seed: u64, run_s: f64) -> String {
    let mut dice = Dice(seed);
    let kinds = 1 + (dice.unit() * 7.0) as u32;
    let mut section = "\n[faults]\n".to_owned();
    if kinds & 1 != 0 {
        section += &format!("eio = \"{} per million\"\n", dice.between(0.1, 3000.0));
    }
    if kinds & 2 != 0 {
        let (at_ms, for_ms) = (dice.unit() * run_s * 1e3, dice.between(10.0, 120_000.0));
        section += &format!("stuck = {{ at = \"{at_ms:.0}ms\", for = \"{for_ms:.0}ms\" }}\n");
    }
    if kinds & 4 != 0 {
        section += &format!("gone_at = \"{:.0}ms\"\n", dice.unit() * run_s * 1e3);
    }
    section
}

/// Runs a study on a built-in device with faults, and looks at what came out.
pub fn soak(device: &str, study: &str, run_s: f64, seed: u64) -> Tally {
    let text = iosonde_sim::builtin(device).expect("a built-in device").to_owned() + &faults(seed, run_s);
    let ended = catch_unwind(AssertUnwindSafe(|| iosonde_cli::run_simulated(&text, study, None, seed)));
    match ended {
        Ok(Ok(run)) => judged(&run),
        Ok(Err(_)) => Tally { refused: true, ..Tally::default() },
        Err(_) => Tally { wrong: vec!["a panic; its message is above".to_owned()], ..Tally::default() },
    }
}

fn met(trial: &Trial) -> bool {
    let faulty = |trial: &Trial| trial.directions().any(|(_, d)| d.errors + d.short > 0);
    trial.errors() > 0 || trial.hung > 0 || faulty(trial)
}

fn judged(run: &Run) -> Tally {
    let mut tally = Tally {
        simulated_s: run.info.elapsed_s,
        trials: run.trials.len() as u64,
        found: run.findings.iter().filter(|finding| finding.status == Status::Found).count() as u64,
        ..Tally::default()
    };
    for trial in run.trials.iter().filter(|trial| met(trial)) {
        tally.met += 1;
        let excludes = |one: &&iosonde_model::Judgement| {
            one.trial == Some(trial.id) && one.check == CheckName::Errors && one.verdict == Outcome::Invalid
        };
        if !run.verdicts.iter().any(|one| excludes(&one)) {
            tally.wrong.push(format!("trial {} met a fault and is not excluded", trial.id));
        }
        for finding in run.findings.iter().filter(|finding| finding.status == Status::Found) {
            if finding.trials.contains(&trial.id) {
                tally
                    .wrong
                    .push(format!("{:?} rests on trial {}, which met a fault", finding.name, trial.id));
            }
        }
    }
    tally
}
