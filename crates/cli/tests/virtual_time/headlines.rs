//! What a reader holds against each other on one page must agree: findings against the points under them, figures
//! against the figures that they are made of. Every rule is an identity, and says nothing of a device's truth.

use std::collections::BTreeSet;

use crate::{
    common::{Bench, shared},
    reports,
};
use iosonde_model::{
    Advice, CheckName, FindingName, Op, Outcome, Phase, Point, PointDirection, Status, Trial, TrialSpec, Unit,
};
use iosonde_report::{Document as Run, FindingLine as Line};

/// An interval from whose lower to whose upper end the value changes five-fold says nothing.
const UNKNOWN: f64 = 5.0;
/// Part of a grid, on a logarithmic scale, that an interval may cover and still be an answer.
const OF_THE_GRID: f64 = 0.8;
/// Digits of a document: what is computed twice agrees to them.
const DIGITS: f64 = 1e-9;
/// Part of a bucket of a histogram, as a share of its value.
const BUCKET: f64 = 0.01;

/// What a run says in two ways that differ.
struct Page<'r> {
    run: &'r Run,
    wrong: Vec<String>,
}

type Ends = (f64, f64);

fn ends(line: &Line) -> Option<Ends> {
    Some((line.low?, line.high?))
}

fn apart(one: Ends, other: Ends) -> bool {
    one.0 > other.1 || other.0 > one.1
}

fn times(one: Ends, other: Ends) -> Ends {
    (one.0 * other.0, one.1 * other.1)
}

impl Page<'_> {
    fn check(run: &Run) -> Vec<String> {
        let mut page = Page { run, wrong: Vec::new() };
        page.highest_values_are_not_below_a_point();
        page.a_knee_is_the_highest_iops_times_the_latency_of_one();
        page.shares_of_an_unknown_highest_are_not_said();
        page.a_plateau_is_reached_by_its_own_points();
        page.intervals_say_something();
        page.rates_are_counts_over_time();
        page.latency_times_iops_is_the_queue_depth();
        page.shares_times_group_means_are_the_mean();
        page.counts_add_up();
        page.sizes_in_advice_stand_in_the_results();
        page.intervals_are_no_narrower_than_a_count_and_a_tick();
        page.wrong
    }

    fn found(&self, name: FindingName) -> impl Iterator<Item = &Line> {
        self.run.findings.iter().filter(move |line| line.name == name && line.status == Status::Found)
    }

    /// Points of one direction whose trials are valid, with that direction.
    fn valid(&self, op: Op) -> impl Iterator<Item = (&Point, &PointDirection)> {
        let enough = |point: &&Point| point.trials - point.invalid >= 5 && !point.spec.rw.is_mixed();
        let points = self.run.points.iter().filter(enough).filter(|point| point.spec.streams().count() == 1);
        points.filter_map(move |point| Some((point, point.direction(op)?)))
    }

    fn highest_values_are_not_below_a_point(&mut self) {
        let mut wrong = Vec::new();
        for name in [FindingName::DeviceBandwidth, FindingName::MaxIops] {
            for line in self.found(name) {
                let (Some(op), Some(high)) = (line.conditions.op, line.high) else { continue };
                let like = |spec: &TrialSpec| {
                    let of = &line.conditions;
                    name == FindingName::DeviceBandwidth
                        || (of.random == Some(spec.rw.is_random())
                            && of.block_size_bytes == Some(spec.block_size_bytes)
                            && of.span_bytes == Some(spec.span_bytes))
                };
                for (point, direction) in self.valid(op).filter(|(point, _)| like(&point.spec)) {
                    let own = match name {
                        FindingName::DeviceBandwidth => direction.bytes_per_s,
                        _ => direction.iops,
                    };
                    if own.low.is_some_and(|low| low > high) {
                        wrong.push(format!("{} but {}: {own:?}", line.sentence, point.spec.describe()));
                    }
                }
                if line.points.is_empty() {
                    wrong.push(format!("{} comes from no point", line.sentence));
                }
            }
        }
        self.wrong.extend(wrong);
    }

    fn like<'l>(&'l self, name: FindingName, line: &Line) -> Option<&'l Line> {
        let key = |of: &Line| {
            let of = &of.conditions;
            (of.op, of.random, of.block_size_bytes, of.span_bytes)
        };
        let wanted = key(line);
        self.found(name).find(|other| key(other) == wanted)
    }

    fn a_knee_is_the_highest_iops_times_the_latency_of_one(&mut self) {
        let mut wrong = Vec::new();
        for knee in self.found(FindingName::QueueDepthKnee) {
            let (Some(most), Some(one)) =
                (self.like(FindingName::MaxIops, knee), self.like(FindingName::BaseLatency, knee))
            else {
                continue;
            };
            let (Some(own), Some(most_ends), Some(one_ends)) = (ends(knee), ends(most), ends(one)) else {
                continue;
            };
            let (low, high) = times(most_ends, one_ends);
            let product = (low / 1e9, high / 1e9);
            // A highest that is a lower limit bounds the knee from below.
            if apart(own, product) && (!most.at_least || own.1 < product.0) {
                wrong.push(format!(
                    "{} but {} and {}: {product:?}",
                    knee.sentence, most.sentence, one.sentence
                ));
            }
        }
        self.wrong.extend(wrong);
    }

    fn shares_of_an_unknown_highest_are_not_said(&mut self) {
        let mut wrong = Vec::new();
        for share in self.found(FindingName::DepthFor95Percent) {
            match self.like(FindingName::MaxIops, share) {
                Some(most) if !most.at_least => {}
                most => wrong.push(format!("{} of {:?}", share.sentence, most.map(|most| &most.sentence))),
            }
        }
        self.wrong.extend(wrong);
    }

    /// The points of a plateau's own size give 95 % of what those of the largest do.
    fn a_plateau_is_reached_by_its_own_points(&mut self) {
        let mut wrong = Vec::new();
        for line in self.found(FindingName::PlateauBlockSize) {
            let (of, Some(value)) = (&line.conditions, line.value) else { continue };
            let Some(op) = of.op else { continue };
            let own: Vec<_> = self
                .valid(op)
                .filter(|(point, _)| {
                    let spec = &point.spec;
                    Some(spec.rw.is_random()) == of.random
                        && of.queue_depth.is_none_or(|depth| u64::from(depth) == spec.asked_in_flight())
                        && point.belongs_to(&line.experiment)
                })
                .collect();
            let at = own.iter().find(|(point, _)| point.spec.block_size_bytes as f64 >= value);
            let most = own.iter().max_by_key(|(point, _)| point.spec.block_size_bytes);
            let (Some((_, at)), Some((_, most))) = (at, most) else { continue };
            let (at, most) = (at.bytes_per_s, most.bytes_per_s);
            if at.high.zip(most.low).is_some_and(|(high, low)| high < 0.94 * low) {
                wrong.push(format!("{} but {at:?} there and {most:?} at the largest", line.sentence));
            }
        }
        self.wrong.extend(wrong);
    }

    fn intervals_say_something(&mut self) {
        let mut wrong = Vec::new();
        for line in self.run.findings.iter().filter(|line| line.status == Status::Found) {
            let Some((low, high)) = ends(line) else { continue };
            if low > 0.0 && high >= UNKNOWN * low {
                wrong.push(format!("found, and unknown by a factor of {:.1}: {}", high / low, line.sentence));
            }
            let grid = self.grid(line);
            let (Some(&first), Some(&last)) = (grid.first(), grid.last()) else { continue };
            let part = (high.min(last) / low.max(first)).ln() / (last / first).ln();
            if last > first && part > OF_THE_GRID {
                wrong.push(format!("[{low}, {high}] is the grid from {first} to {last}: {}", line.sentence));
            }
        }
        self.wrong.extend(wrong);
    }

    /// Levels of the parameter whose value a finding names.
    fn grid(&self, line: &Line) -> Vec<f64> {
        let level = |spec: &TrialSpec| match line.name {
            FindingName::PlateauBlockSize | FindingName::HalfSize | FindingName::Crossover => {
                Some(spec.block_size_bytes as f64)
            }
            FindingName::QueueDepthKnee | FindingName::DepthFor95Percent => {
                Some(spec.asked_in_flight() as f64)
            }
            FindingName::CacheBytes => Some(spec.span_bytes as f64),
            _ => None,
        };
        let own = self.run.points.iter().filter(|point| point.belongs_to(&line.experiment));
        let own = own.filter(|point| line.conditions.op.is_none_or(|op| point.spec.rw.has(op)));
        let mut levels: Vec<f64> = own.filter_map(|point| level(&point.spec)).collect();
        levels.sort_by(f64::total_cmp);
        levels.dedup();
        levels
    }

    fn rates_are_counts_over_time(&mut self) {
        let near = |one: f64, other: f64| (one - other).abs() <= DIGITS * one.abs().max(other.abs());
        let mut wrong = Vec::new();
        for trial in &self.run.trials {
            for direction in Op::TRANSFERS.into_iter().filter_map(|op| trial.direction(op)) {
                let seconds = trial.measured_s;
                if !near(direction.iops * seconds, direction.ios as f64)
                    || !near(direction.bytes_per_s * seconds, direction.bytes as f64)
                {
                    wrong.push(format!(
                        "trial {}: {} in {seconds} s at {}",
                        trial.id, direction.ios, direction.iops
                    ));
                }
            }
        }
        for (point, direction) in Op::TRANSFERS.into_iter().flat_map(|op| self.valid(op)) {
            let bytes = direction.iops.value * point.spec.block_size_bytes as f64;
            if point.spec.block_sizes.is_one() && !near(bytes, direction.bytes_per_s.value) {
                wrong.push(format!("{}: {bytes} and {:?}", point.spec.describe(), direction.bytes_per_s));
            }
        }
        let counted = |trial: &Trial| trial.write.as_ref().map_or(0, |write| write.bytes);
        let written: u64 = self.run.trials.iter().map(counted).sum();
        if written > self.run.info.bytes_written {
            wrong.push(format!("{written} bytes written in trials, {} in all", self.run.info.bytes_written));
        }
        self.wrong.extend(wrong);
    }

    /// Little's law, of one request at a time: a rate and a latency are one figure.
    fn latency_times_iops_is_the_queue_depth(&mut self) {
        let mut wrong = Vec::new();
        for (point, direction) in Op::TRANSFERS.into_iter().flat_map(|op| self.valid(op)) {
            let Some(latency) = direction.latency_ns_mean else { continue };
            let (Some(low), Some(fewest)) = (latency.low, direction.iops.low) else { continue };
            let depth = point.spec.asked_in_flight() as f64;
            // A trial counts whole requests: 60 of a slow stick are known to 1 in 60.
            let own = self.run.trials.iter().filter(|trial| point.trial_ids.contains(&trial.id));
            let most =
                own.filter_map(|trial| trial.read.as_ref().or(trial.write.as_ref())).map(|of| of.ios).max();
            if low * fewest / 1e9 > depth * (1.0 + 1.0 / most.unwrap_or(1).max(1) as f64) {
                let (iops, of) = (direction.iops, point.spec.describe());
                wrong.push(format!("{of}: {iops:?} times {latency:?} is more than {depth}"));
            }
        }
        self.wrong.extend(wrong);
    }

    fn shares_times_group_means_are_the_mean(&mut self) {
        let mut wrong = Vec::new();
        let own = |line: &&iosonde_report::VerdictLine| {
            line.check == CheckName::Multimodal && line.verdict == Outcome::Warning && line.point.is_some()
        };
        for line in self.run.verdicts.iter().filter(own) {
            let of = |name: &str| line.figures.get(name).copied().unwrap_or(f64::NAN);
            let sum = of("low_share") * of("low_ns") + of("high_share") * of("high_ns");
            let off = (sum / of("mean_ns") - 1.0).abs();
            if off.is_nan() || off > BUCKET {
                wrong.push(format!("{}: {sum}", line.why));
            }
        }
        self.wrong.extend(wrong);
    }

    /// A point's count of invalid trials is that of its verdicts, and a check's tally is that of its lines.
    fn counts_add_up(&mut self) {
        let mut wrong = Vec::new();
        let of_phase = |trial: &&Trial| trial.phase == Phase::Measure;
        let measured: BTreeSet<u64> = self.run.trials.iter().filter(of_phase).map(|trial| trial.id).collect();
        let of_trials = |check: Option<CheckName>, outcome: Outcome| -> BTreeSet<u64> {
            let lines = self.run.verdicts.iter();
            let own =
                lines.filter(|line| line.verdict == outcome && check.is_none_or(|check| check == line.check));
            own.filter_map(|line| line.trial).filter(|id| measured.contains(id)).collect()
        };
        let invalid = of_trials(None, Outcome::Invalid);
        for point in &self.run.points {
            let own: BTreeSet<u64> = point.trial_ids.iter().copied().collect();
            let counted = (own.len(), own.intersection(&invalid).count());
            if counted != (point.trials as usize, point.invalid as usize) || !own.is_subset(&measured) {
                let of = point.spec.describe();
                wrong.push(format!("{of}: {} of {} invalid, {counted:?}", point.invalid, point.trials));
            }
        }
        let of_points: usize = self.run.points.iter().map(|point| point.trials as usize).sum();
        if of_points != measured.len() {
            wrong.push(format!("{of_points} trials of points, {} measured", measured.len()));
        }
        let mut tallies = 0;
        for line in self.run.verdicts.iter().filter(|line| line.scope == "run") {
            let of = |name: &str| line.figures.get(name).map(|&count| count as usize);
            let Some(judged) = of("judged") else { continue };
            tallies += 1;
            let counted = |outcome| of_trials(Some(line.check), outcome).len();
            let others = self.run.verdicts.iter().filter(|other| other.check == line.check);
            let beside =
                others.filter(|other| other.trial.is_none() && !other.figures.contains_key("judged"));
            let beside: Vec<Outcome> = beside.map(|other| other.verdict).collect();
            for (name, outcome) in [("warned", Outcome::Warning), ("invalid", Outcome::Invalid)] {
                let lines = counted(outcome) + beside.iter().filter(|&&of| of == outcome).count();
                if !measured.is_empty() && of(name) != Some(lines) {
                    wrong.push(format!("{}: {:?} {name}, {lines} lines", line.check, of(name)));
                }
            }
            let parts: Option<usize> = ["passed", "unchecked", "warned", "invalid"].into_iter().map(of).sum();
            if parts != Some(judged) {
                wrong.push(format!("{}: {judged} judged, {parts:?} outcomes", line.check));
            }
        }
        if tallies == 0 {
            wrong.push("no check has a tally".to_owned());
        }
        self.wrong.extend(wrong);
    }

    /// Advice speaks of block sizes that its findings speak of.
    fn sizes_in_advice_stand_in_the_results(&mut self) {
        let mut wrong = Vec::new();
        for advice in &self.run.advice {
            // Of an open one the reason, such as that throughput still rises at the largest size.
            let of_advice = |line: &&Line| advice.findings.contains(&line.name);
            let told = |line: &Line| {
                let open = line.status == Status::Inconclusive;
                let why = line.why.as_deref().filter(|_| open).unwrap_or_default();
                format!("{} {why} ", line.sentence)
            };
            let known: String = self.run.findings.iter().filter(of_advice).map(told).collect();
            let mut known = sizes(&known);
            known
                .extend(sizes(&advice.sentence).into_iter().filter(|size| self.limits_meet_at(size, advice)));
            // A database's page is what it is.
            let unknown =
                sizes(&advice.sentence).into_iter().filter(|size| size != "8 KiB" && !known.contains(size));
            wrong.extend(
                unknown.map(|size| format!("{size} in advice, {known:?} in results: {}", advice.sentence)),
            );
        }
        self.wrong.extend(wrong);
    }

    /// Whether a size is, to a hundredth, the bytes over the requests of two limits that advice rests on, or the next
    /// power of two.
    fn limits_meet_at(&self, size: &str, advice: &Advice) -> bool {
        if !advice.findings.contains(&FindingName::ConstantLimit) {
            return false;
        }
        let of = |unit: Unit| {
            let limits = self.found(FindingName::ConstantLimit).filter(move |line| line.unit == unit.name());
            limits.filter_map(|line| line.value).collect::<Vec<f64>>()
        };
        let scale = if size.ends_with("MiB") { 1024.0 * 1024.0 } else { 1024.0 };
        let bytes = size.split(' ').next().and_then(|number| number.parse::<f64>().ok()).unwrap_or(f64::NAN);
        let requests = of(Unit::Iops);
        let meet: Vec<f64> = of(Unit::Rate)
            .iter()
            .flat_map(|rate| requests.iter().map(move |requests| rate / requests))
            .collect();
        let is_usual = |meet: &f64| {
            let size = (bytes * scale) as u64;
            size.is_power_of_two() && (0.99..2.0).contains(&(bytes * scale / meet))
        };
        meet.iter().any(|meet| (bytes * scale / meet - 1.0).abs() < 0.01 || is_usual(meet))
    }

    /// A trial with requests of several kinds knows its count to one request; with one kind and a counted queue depth
    /// above 1, to one part in ten thousand (`estimate/grain.rs`). A clock ticks in nanoseconds.
    fn intervals_are_no_narrower_than_a_count_and_a_tick(&mut self) {
        let mut wrong = Vec::new();
        let valid = Op::TRANSFERS.into_iter().flat_map(|op| self.valid(op).map(move |valid| (op, valid)));
        for (op, (point, direction)) in valid {
            let own = || self.run.trials.iter().filter(|trial| point.trial_ids.contains(&trial.id));
            let requests: u64 = own().filter_map(|trial| trial.direction(op)).map(|of| of.ios).sum();
            let (Some(low), Some(high)) = (direction.iops.low, direction.iops.high) else { continue };
            let kinds = |trial: &Trial| trial.directions().count() + usize::from(trial.flush.is_some());
            let deep = |trial: &Trial| trial.in_flight_mean.is_some() && trial.spec.asked_in_flight() > 1;
            let alone = own().all(|trial| kinds(trial) == 1 && deep(trial));
            let of_count = 1.0 / requests.max(1) as f64;
            let least = if alone { of_count.min(1e-4) } else { of_count };
            if (high - low) / direction.iops.value < DIGITS.max(least) {
                wrong.push(format!("{}: [{low}, {high}] of {requests} requests", point.spec.describe()));
            }
            let latency = direction.latency_ns_mean.and_then(|mean| Some((mean.low?, mean.high?)));
            if let Some((low, high)) = latency.filter(|(low, high)| high - low < 1.0) {
                wrong.push(format!("{}: [{low}, {high}] ns", point.spec.describe()));
            }
        }
        self.wrong.extend(wrong);
    }
}

/// Block sizes in a text: `64 KiB`.
fn sizes(text: &str) -> Vec<String> {
    let bare = text.replace(|c: char| !c.is_alphanumeric() && c != '.', " ");
    let words: Vec<&str> = bare.split_whitespace().collect();
    let of = |pair: &[&str]| {
        let unit = pair[1].trim_end_matches('.');
        let is_size = ["KiB", "MiB"].contains(&unit) && pair[0].parse::<f64>().is_ok();
        is_size.then(|| format!("{} {unit}", pair[0]))
    };
    words.windows(2).filter_map(of).collect()
}

/// Everything that a study says of a device against itself.
fn violations(words: &[&str]) -> Vec<String> {
    let of = words.join(" ");
    Page::check(&shared::run(words).run).into_iter().map(|wrong| format!("{of}: {wrong}")).collect()
}

fn assert_none(found: &[String]) {
    assert!(found.is_empty(), "{} contradictions:\n{}", found.len(), found.join("\n"));
}

#[test]
fn quick_contradicts_itself_on_no_device() {
    let listed = Bench::new().iosonde(&["devices"]).out;
    let names =
        listed.lines().filter(|line| !line.starts_with(' ')).filter_map(|line| line.split(' ').next());
    let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    assert!(names.len() >= 25, "the list of devices is read wrongly: {names:?}");
    let found: Vec<String> = names
        .into_iter()
        .flat_map(|name| violations(&["quick", &format!("sim:{name}"), "--seed", "1"]))
        .collect();
    assert_none(&found);
}

#[test]
fn the_studies_of_the_reports_contradict_themselves_nowhere() {
    let found: Vec<String> = reports::STUDIES.iter().flat_map(|words| violations(words)).collect();
    assert_none(&found);
}
