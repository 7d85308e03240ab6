//! What the selftest runs: clean devices of which nothing may be said, and for each check devices of which something
//! must be.

use iosonde_model::{CheckName, Trial};

/// A device, what is run on it, and what must be said of it.
pub struct Cell {
    /// For the table.
    pub name: String,
    /// The check that must speak; none for a clean device.
    pub check: Option<CheckName>,
    /// Whether at least one trial must be invalid; a warning is not enough.
    pub void: bool,
    /// Checks that may rightly speak as well.
    pub also: &'static [CheckName],
    /// How large the effect is: a share, or seconds.
    pub level: f64,
    /// Whether it is seconds.
    pub in_seconds: bool,
    /// Whether this is the effect that must be caught in 95 %.
    pub stated: bool,
    /// The device's file; [`SOME_MOMENT`] in it is another moment for every seed.
    pub device: String,
    /// The study's text.
    pub study: String,
    /// Rounds; 0 for one trial by hand.
    pub rounds: u32,
    /// Length of a trial.
    pub trial_s: f64,
    /// The working set.
    pub span_bytes: u64,
    /// Through the page cache.
    pub buffered: bool,
    /// Change of each trial's witnesses, for effects that no simulated device has.
    pub change: Option<fn(&mut Trial, f64)>,
}

/// Noise as a virtual machine's disk has it, at a smaller size: rates over 100 ms scatter and resemble the ones before,
/// and one request in 1,000 takes long.
const CLEAN_NOISE: &str = "latency_cv = 0.1\nrate_cv_100ms = 0.06\nlag1_100ms = 0.65\n\
                           tail = { share = \"0.1%\", factor = 20 }\n";

/// Stands in a device's file for a moment within the first ten seconds.
pub const SOME_MOMENT: &str = "SOME_MOMENT";

/// 4 KiB random reads at three depths, and larger ones.
const READS: &str = "name = \"reads\"\nquestion = \"?\"\n[[experiment]]\nkind = \"queue-depth\"\nrw = \"randread\"\n\
                     block_size = [\"4k\", \"16k\"]\ndepth = [1, 4]\n";

/// One point.
const ONE: &str = "name = \"one\"\nquestion = \"?\"\n[[experiment]]\nkind = \"queue-depth\"\nrw = \"randread\"\n\
                   block_size = \"4k\"\ndepth = 16\n";

impl Cell {
    fn new(name: impl Into<String>, device: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            check: None,
            void: false,
            also: &[],
            level: 0.0,
            in_seconds: false,
            stated: true,
            device: device.into(),
            study: READS.into(),
            rounds: 12,
            trial_s: 0.2,
            span_bytes: 1 << 30,
            buffered: false,
            change: None,
        }
    }

    /// Whether another cell differs only in what its witnesses say.
    pub fn shares_its_run(&self, other: &Self) -> bool {
        let of = |cell: &Self| (cell.rounds, cell.span_bytes, cell.buffered, cell.trial_s.to_bits());
        self.device == other.device && self.study == other.study && of(self) == of(other)
    }

    /// The check's name; empty for a clean device.
    pub fn check_name(&self) -> &'static str {
        self.check.map_or("", CheckName::as_str)
    }

    /// The size of its effect, in words: `10 %`, `2 s`.
    pub fn size(&self) -> String {
        let (size, unit) = if self.in_seconds { (self.level, "s") } else { (self.level * 100.0, "%") };
        format!("{} {unit}", (size * 100.0).round() / 100.0)
    }

    fn of(check: CheckName, name: &str, level: f64, stated: bool, device: impl Into<String>) -> Self {
        Self { check: Some(check), level, stated, ..Self::new(name, device) }
    }
}

/// Every cell; without `grey`, the stated effects only.
pub fn cells(grey: bool) -> Vec<Cell> {
    let mut all = clean();
    // The last of `bytes` and `depth` share their runs.
    for build in [cache, bytes, depth, neighbour, throttle, drift, busy, step, cycle, kinds, apart, pause] {
        all.extend(build());
    }
    all.retain(|cell| grey || cell.stated);
    all
}

/// A queue with noise.
fn queue(servers: u32, service: &str, noise: &str, more: &str) -> String {
    format!(
        "name = \"selftest\"\nsummary = \"a device of the selftest\"\ncapacity = \"64GB\"\n{more}\n[queue]\n\
         servers = {servers}\nservice = {service}\n[noise]\n{noise}"
    )
}

/// Lognormal service: 4,000 a second at most, of which a window of 100 ms holds enough, and a run few to simulate.
fn plain(noise: &str, more: &str) -> String {
    queue(4, "{ lognormal = { mean = \"1ms\", cv = 0.2 } }", noise, more)
}

fn clean() -> Vec<Cell> {
    let host = "[host]\nrequest_cost = \"2us\"\n";
    let drifting = format!("{CLEAN_NOISE}drift_per_hour = \"-60%\"\n");
    let built_in = |name: &str| {
        let text = iosonde_sim::builtin(name).expect("it is built in");
        // The server's memory, which fills during a run, would make a rate that rises: a drift, and true.
        let text = text.replace("server_cache = \"8GiB\"\n", "");
        if text.contains("[noise]") { text } else { format!("{text}\n[noise]\n{CLEAN_NOISE}") }
    };
    let mut all: Vec<Cell> = ["client-nvme", "sata-ssd", "hdd-7200", "usb-stick", "cloud-volume", "nfs"]
        .into_iter()
        .map(|name| Cell::new(name, built_in(name)))
        .collect();
    all.push(Cell::new("noisy-virtual-disk", built_in("noisy-virtual-disk")));
    all.push(Cell::new("four servers", plain(CLEAN_NOISE, host)));
    all.push(Cell::new("one exponential", queue(1, "{ exponential = \"150us\" }", CLEAN_NOISE, host)));
    all.push(Cell::new("64 fixed", queue(64, "{ fixed = \"400us\" }", CLEAN_NOISE, host)));
    all.push(Cell::new("drifting by 1.5 % a minute", plain(&drifting, host)));
    all.push(Cell {
        rounds: 0,
        trial_s: 12.0,
        study: ONE.into(),
        ..Cell::new("one long trial", plain(CLEAN_NOISE, host))
    });
    // Requests that another one's wait multiplies are of two kinds there, and it is true.
    for cell in &mut all {
        cell.also = &[CheckName::Multimodal];
        if cell.name == "hdd-7200" || cell.name == "nfs" {
            cell.trial_s = 2.0;
        }
    }
    all
}

/// A page cache that holds `level` of the span.
fn cache() -> Vec<Cell> {
    // A page cache has at least 64 MiB: 16,384 pages, which 27,000 pages a second fill in the first round.
    let device = queue(
        4,
        "{ lognormal = { mean = \"200us\", cv = 0.2 } }",
        CLEAN_NOISE,
        "[host]\nrequest_cost = \"2us\"\nmemory = \"64MiB\"\npage_cache = true\ncopy_rate = \"5GB/s\"\n",
    );
    let of = |share: f64| Cell {
        void: true,
        also: ALL,
        span_bytes: ((64 << 20) as f64 / share) as u64 / 4096 * 4096,
        buffered: true,
        rounds: 8,
        trial_s: 0.3,
        ..Cell::of(CheckName::CacheServed, "reads served from memory", share, share >= 0.1, device.clone())
    };
    [0.05, 0.1, 0.25, 0.5].map(of).into()
}

/// Everything: where an effect is large, others may rightly speak of it.
const ALL: &[CheckName] = &[
    CheckName::Outliers,
    CheckName::NotSteady,
    CheckName::Drift,
    CheckName::Multimodal,
    CheckName::Throttled,
    CheckName::Interference,
    CheckName::LittlesLaw,
    CheckName::DepthNotReached,
    CheckName::GeneratorBound,
    CheckName::WorkingSet,
    CheckName::DirectIgnored,
    CheckName::CacheServed,
];

/// Other programs' bytes, in every fifth trial. Less than 1 MiB is ignored at any share: a tenth is detected
/// where trials move 13 MB and more. Beside them the small trials of 0.6 to 13 MB.
fn bytes() -> Vec<Cell> {
    fn others(trial: &mut Trial, share: f64) {
        let witnesses = &mut trial.witnesses;
        if let Some(bytes) = witnesses.block_layer_read_bytes.as_mut().filter(|_| trial.id.is_multiple_of(5))
        {
            *bytes += (share * witnesses.issued_read_bytes as f64) as u64;
        }
    }
    let of = |name: &str, share: f64, stated: bool| Cell {
        void: true,
        change: Some(others),
        ..Cell::of(CheckName::Interference, name, share, stated, plain(CLEAN_NOISE, ""))
    };
    let large = |share: f64| Cell {
        study: READS.replace("[\"4k\", \"16k\"]", "[\"64k\", \"256k\"]"),
        ..of("other programs' bytes", share, share >= 0.1)
    };
    let small = of("other programs' bytes beside trials of a few MB", 0.1, false);
    [0.02, 0.04, 0.06, 0.1].map(large).into_iter().chain([small]).collect()
}

/// A neighbour that no counter shows.
fn neighbour() -> Vec<Cell> {
    let of = |takes: f64| {
        let visits = format!(
            "{CLEAN_NOISE}neighbour = {{ every = \"3s\", for = \"600ms\", takes = \"{:.0}%\" }}\n",
            takes * 100.0
        );
        Cell {
            also: ALL,
            trial_s: 0.5,
            ..Cell::of(
                CheckName::Interference,
                "a neighbour for a fifth of the time takes",
                takes,
                takes >= 0.5,
                plain(&visits, ""),
            )
        }
    };
    [0.2, 0.35, 0.5, 0.7].map(of).into()
}

/// A token bucket that is empty after about half of the run.
fn throttle() -> Vec<Cell> {
    let of = |loss: f64| {
        // 4 servers of 1 ms: 4,000 a second at QD 16, less what noise costs.
        let cap = 4_000.0 * 0.97 * (1.0 - loss);
        let credit = 4_000.0 * 0.97 * loss * 6.0;
        let quiet = "latency_cv = 0.1\nrate_cv_100ms = 0.02\nlag1_100ms = 0.65\n";
        let bucket =
            format!("[throttle]\niops = {cap:.0}\nburst = {{ iops = 12000, credit = {credit:.0} }}\n");
        Cell {
            also: ALL,
            study: ONE.replace("depth = 16", "depth = [16, 32, 64]"),
            trial_s: 0.3,
            ..Cell::of(CheckName::Throttled, "a limit that costs", loss, loss >= 0.1, plain(quiet, &bucket))
        }
    };
    [0.03, 0.06, 0.1, 0.2, 0.5].map(of).into()
}

/// A loss in every round: trials of 10 s, so that 12 rounds of five trials take ten minutes.
fn drift() -> Vec<Cell> {
    let of = |per_round: f64| {
        // A round of 4 points and the canary takes 50 s; 3,600 / 50.05 = 71.9 rounds an hour.
        let per_hour = (1.0 - per_round).powf(71.9) - 1.0;
        // Over 100 windows of correlation 0.65, 0.23 becomes 0.23 x sqrt(4.7 / 100) = 5 % between trials.
        let noise = format!(
            "rate_cv_100ms = 0.23\nlag1_100ms = 0.65\ndrift_per_hour = \"{:.2}%\"\n",
            per_hour * 100.0
        );
        Cell {
            also: ALL,
            trial_s: 10.0,
            ..Cell::of(
                CheckName::Drift,
                "a loss a round of",
                per_round,
                per_round >= 0.02,
                queue(4, "{ lognormal = { mean = \"10ms\", cv = 0.2 } }", &noise, ""),
            )
        }
    };
    [0.0025, 0.005, 0.01, 0.02].map(of).into()
}

/// A program that is busy for this share of the time, or a little more.
fn busy() -> Vec<Cell> {
    let of = |share: f64| {
        // QD 64 on 64 servers of 4 ms: 16,000 a second if the program could and nothing limited it to 10,000.
        let cost_ns = share * 1e9 / 10_000.0;
        let host = format!("[host]\nrequest_cost = \"{cost_ns:.0}ns\"\n[throttle]\niops = 10000\n");
        Cell {
            void: true,
            also: ALL,
            rounds: 8,
            trial_s: 0.4,
            study: ONE.replace("depth = 16", "depth = [64, 96]"),
            ..Cell::of(
                CheckName::GeneratorBound,
                "a program that is busy",
                share,
                share >= 0.95,
                queue(64, "{ fixed = \"4ms\" }", "latency_cv = 0.05\n", &host),
            )
        }
    };
    [0.7, 0.9, 0.93, 0.95, 0.97, 1.2].map(of).into()
}

/// A queue depth below the requested one.
fn depth() -> Vec<Cell> {
    fn short(trial: &mut Trial, by: f64) {
        trial.in_flight_mean = trial.in_flight_mean.map(|mean| mean * (1.0 - by));
    }
    let of = |by: f64| Cell {
        void: true,
        also: ALL,
        change: Some(short),
        ..Cell::of(
            CheckName::DepthNotReached,
            "queue depth, short by",
            by,
            by >= 0.05,
            plain(CLEAN_NOISE, ""),
        )
    };
    [0.01, 0.03, 0.05, 0.1].map(of).into()
}

/// Heat in the middle of a long trial.
fn step() -> Vec<Cell> {
    let of = |loss: f64| {
        let heat =
            format!("[thermal]\nafter = \"7s at full rate\"\nfactor = {}\nrecover = \"5s\"\n", 1.0 - loss);
        Cell {
            also: ALL,
            rounds: 0,
            trial_s: 15.0,
            study: ONE.into(),
            ..Cell::of(
                CheckName::NotSteady,
                "a step in a long trial of",
                loss,
                loss >= 0.2,
                plain(CLEAN_NOISE, &heat),
            )
        }
    };
    [0.05, 0.1, 0.15, 0.2, 0.3, 0.5].map(of).into()
}

/// A rate that goes up and down six times in a long trial.
fn cycle() -> Vec<Cell> {
    let of = |amplitude: f64| {
        // Of the middle 1, up to 1 + a and down to 1 - a: the lower half loses 2a / (1 + a).
        let takes = 100.0 * 2.0 * amplitude / (1.0 + amplitude);
        let visits = format!(
            "{CLEAN_NOISE}neighbour = {{ every = \"3s\", for = \"1500ms\", takes = \"{takes:.1}%\" }}\n"
        );
        Cell {
            also: ALL,
            rounds: 0,
            trial_s: 20.0,
            study: ONE.into(),
            ..Cell::of(
                CheckName::NotSteady,
                "six cycles in a long trial, up and down by",
                amplitude,
                amplitude >= 0.1,
                plain(&visits, ""),
            )
        }
    };
    [0.03, 0.05, 0.07, 0.1, 0.2].map(of).into()
}

/// One disturbance in a run, which spoils a trial or two.
fn apart() -> Vec<Cell> {
    let of = |takes: f64| {
        let visits = format!(
            "{CLEAN_NOISE}neighbour = {{ every = \"9s\", for = \"400ms\", takes = \"{:.0}%\" }}\n",
            takes * 100.0
        );
        Cell {
            also: ALL,
            ..Cell::of(
                CheckName::Outliers,
                "one or two trials that lose",
                takes,
                takes >= 0.7,
                plain(&visits, ""),
            )
        }
    };
    [0.3, 0.4, 0.5, 0.6, 0.7, 0.9].map(of).into()
}

/// A device that answers nothing for a while, at any moment of the run: in a trial, its warm-up or its end.
fn pause() -> Vec<Cell> {
    let of = |seconds: f64| {
        let stuck =
            format!("[faults]\nstuck = {{ at = \"{SOME_MOMENT}\", for = \"{:.0}ms\" }}\n", seconds * 1e3);
        Cell {
            also: ALL,
            in_seconds: true,
            ..Cell::of(
                CheckName::NotSteady,
                "once, nothing answers for",
                seconds,
                seconds >= 1.0,
                plain(CLEAN_NOISE, &stuck),
            )
        }
    };
    [0.5, 1.0, 2.0, 5.0].map(of).into()
}

/// A tier ten times as fast for a share of the reads: memory behind a network.
fn kinds() -> Vec<Cell> {
    let of = |share: f64| {
        let network = format!(
            "[network]\nround_trip = \"100us\"\nbandwidth = \"1GB/s\"\nserver_cache = \"{:.0}KiB\"\n",
            share * 256.0 * 1024.0
        );
        Cell {
            also: ALL,
            span_bytes: 256 << 20,
            trial_s: 0.5,
            ..Cell::of(
                CheckName::Multimodal,
                "reads that a server's memory answers",
                share,
                share >= 0.3,
                queue(16, "{ lognormal = { mean = \"3ms\", cv = 0.1 } }", "latency_cv = 0.1\n", &network),
            )
        }
    };
    [0.05, 0.1, 0.3, 0.5].map(of).into()
}
