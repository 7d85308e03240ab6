//! What charts share: points that differ in one parameter only, as dots with their intervals and doubts.

use std::collections::{HashMap, HashSet};

use iosonde_judge::{estimate::FEWEST_TRIALS, validity::TrialStanding};
use iosonde_model::{
    About, CheckName, Direction, Estimate, Finding, FindingName, Judgement, Op, Outcome, Point,
    PointDirection, Run, Status, Trial, TrialSpec, units,
};

use crate::{
    figure::{Along, Dot, DotStanding, FindingMark, Tone},
    quantity::Quantity,
};

/// Points that differ in one parameter only, ascending in it, and the direction that is looked at.
pub(super) struct Family<'a> {
    pub(super) op: Op,
    pub(super) points: Vec<&'a Point>,
    /// Points whose figures are of the storage.
    standing: usize,
}

impl<'a> Family<'a> {
    /// The workload that they share.
    pub(super) fn spec(&self) -> &'a TrialSpec {
        &self.points[0].spec
    }

    /// How many of a finding's trials are trials of these points.
    fn shares(&self, finding: &Finding) -> usize {
        let own = |id: &&u64| self.points.iter().any(|point| point.trial_ids.contains(id));
        finding.trials.iter().filter(own).count()
    }

    /// "random reads".
    pub(super) fn pattern(&self) -> String {
        let order = if self.spec().rw.is_random() { "random" } else { "sequential" };
        format!("{order} {}s", self.op)
    }

    /// The experiment that uses most of them, of several the first of the plan. (Other experiments may have measured a
    /// point or two between the grid of this one.)
    pub(super) fn experiment(&self, run: &Run) -> Option<String> {
        let mut names: Vec<&String> = run.points.iter().map(|point| &point.experiment).collect();
        // Points stand in the order of the plan, an experiment's own ones next to each other.
        names.dedup();
        let used = |name: &str| self.points.iter().filter(|point| point.belongs_to(name)).count();
        let most = names.iter().map(|name| used(name)).max()?;
        names.into_iter().find(|name| used(name) == most).cloned()
    }
}

/// Every experiment whose points make up most of a family.
pub(super) fn experiments(run: &Run, families: &[Family]) -> Vec<String> {
    families.iter().filter_map(|family| family.experiment(run)).collect()
}

/// Families of at least `least` measured points of one direction that differ only in what `vary` changes: those with
/// the most valid points first, of several the largest.
pub(super) fn families<'a>(
    run: &'a Run,
    least: usize,
    vary: fn(&mut TrialSpec),
    by: fn(&TrialSpec) -> u64,
) -> Vec<Family<'a>> {
    let one_way = run.points.iter().filter(|point| !point.spec.rw.is_mixed());
    families_among(run, one_way, least, vary, by)
}

/// The same among some points; each direction of a mix is in a family of its own.
fn families_among<'a>(
    run: &Run,
    points: impl Iterator<Item = &'a Point>,
    least: usize,
    vary: fn(&mut TrialSpec),
    by: fn(&TrialSpec) -> u64,
) -> Vec<Family<'a>> {
    let mut found: Vec<(TrialSpec, Family<'a>)> = Vec::new();
    for point in points {
        for op in [Op::Read, Op::Write] {
            if point.direction(op).is_none() {
                continue;
            }
            let mut key = point.spec.clone();
            vary(&mut key);
            match found.iter_mut().find(|(known, family)| *known == key && family.op == op) {
                Some((_, family)) => family.points.push(point),
                None => found.push((key, Family { op, points: vec![point], standing: 0 })),
            }
        }
    }
    let mut families: Vec<Family> = found.into_iter().map(|(_, family)| family).collect();
    let doubts = Doubts::about(run, &[]);
    for family in &mut families {
        family.points.sort_by_key(|point| by(&point.spec));
        family.standing =
            family.points.iter().filter(|point| doubts.of(point).0 != DotStanding::Void).count();
    }
    families.retain(|family| family.points.len() >= least);
    families.sort_by_key(|family| std::cmp::Reverse((family.standing, family.points.len())));
    families
}

/// Points that differ in block size only.
pub(super) fn by_block_size(run: &Run) -> Vec<Family<'_>> {
    families(run, 3, |spec| spec.block_size_bytes = 0, |spec| spec.block_size_bytes)
}

/// Points that differ in the size of the addressed area only.
pub(super) fn by_span(run: &Run) -> Vec<Family<'_>> {
    families(run, 3, |spec| spec.span_bytes = 0, |spec| spec.span_bytes)
}

/// Points that differ in the offered rate only; mixes too.
pub(super) fn by_load(run: &Run) -> Vec<Family<'_>> {
    let loads = run.points.iter().filter(|point| point.spec.rate_iops.is_some());
    families_among(run, loads, 3, |spec| spec.rate_iops = Some(0.0), asked_load)
}

/// Offered rate over all jobs in requests per second, to the nearest.
pub(super) fn asked_load(spec: &TrialSpec) -> u64 {
    (spec.rate_iops.unwrap_or(0.0) * f64::from(spec.jobs)) as u64
}

/// Points that differ in queue depth only.
pub(super) fn by_depth(run: &Run) -> Vec<Family<'_>> {
    families(run, 3, |spec| spec.queue_depth = 0, TrialSpec::asked_in_flight)
}

/// Points that differ in the number of hosts only.
pub(super) fn by_hosts(run: &Run) -> Vec<Family<'_>> {
    let mut families = families(run, 2, |spec| *spec = spec.clone().on_hosts(0), |spec| spec.hosts.into());
    // The same workload in two manners is two points, too.
    families.retain(|family| family.points.iter().any(|point| point.spec.hosts != family.spec().hosts));
    families
}

/// Which points have void or doubted figures of the kinds that a chart shows, and why.
pub(crate) struct Doubts(HashMap<usize, (DotStanding, String)>);

impl Doubts {
    /// Points that a check doubts as a whole, or at least half of whose trials it doubts: one odd trial of
    /// nine does not give the point a warning. Likewise for invalid, which ranks above a warning.
    pub(crate) fn about(run: &Run, figures: &[About]) -> Self {
        let touched = |about: About| figures.iter().any(|figure| about.touches(*figure));
        // Void as a figure of the device, and true of what served it instead (memory, the program): shown, and said.
        let not_of_it = |v: &Judgement| {
            v.verdict == Outcome::Invalid && (v.about == About::Device || figures.contains(&v.about))
        };
        let doubted = |v: &Judgement| v.verdict == Outcome::Warning && touched(v.about);
        let (voids, doubts): (Vec<&Judgement>, Vec<&Judgement>) =
            run.verdicts.iter().filter(|v| doubted(v) || not_of_it(v)).partition(|v| not_of_it(v));
        let mut found = said(run, &doubts, DotStanding::Doubted);
        found.extend(said(run, &voids, DotStanding::Void));
        Self(found)
    }

    /// Nothing in doubt.
    pub(crate) fn none() -> Self {
        Self(HashMap::new())
    }

    /// Whether a point's figures stand, and why not.
    pub(crate) fn of(&self, point: &Point) -> (DotStanding, Option<&str>) {
        match self.0.get(&point.id) {
            Some((standing, why)) => (*standing, Some(why)),
            None => (DotStanding::Stands, None),
        }
    }
}

/// Points that these verdicts are about as a whole, or with at least half of the trials that their figures rest on.
fn said(run: &Run, verdicts: &[&Judgement], standing: DotStanding) -> HashMap<usize, (DotStanding, String)> {
    let owner: HashMap<u64, usize> = run.trials.iter().filter_map(|t| Some((t.id, t.point?))).collect();
    let trials = TrialStanding::of(run);
    let whole = |point: &Point| point.trial_ids.iter().filter(|id| trials.causes(**id).is_empty()).count();
    let (mut found, mut counts) = (HashMap::new(), HashMap::<(usize, CheckName), u32>::new());
    for verdict in verdicts {
        let told = || (standing, crate::text::why_at_point(verdict));
        match (verdict.point, verdict.trial.and_then(|id| owner.get(&id))) {
            (Some(point), _) => drop(found.entry(point).or_insert_with(told)),
            (None, Some(&id)) => {
                let count = counts.entry((id, verdict.check)).or_default();
                *count += 1;
                let Some(point) = run.points.iter().find(|point| point.id == id) else { continue };
                let most = match standing {
                    // Where enough others are valid, the figures leave invalid trials out, and are valid.
                    DotStanding::Void => *count * 2 >= point.trials && whole(point) < FEWEST_TRIALS,
                    _ => *count * 2 >= point.trials - point.left_out,
                };
                if most {
                    found.entry(id).or_insert_with(told);
                }
            }
            (None, None) => {}
        }
    }
    found
}

/// A quantity of a point's direction.
#[derive(Clone, Copy)]
pub(super) struct Figured {
    pub(super) name: &'static str,
    pub(super) quantity: Quantity,
    pub(super) read: fn(&PointDirection) -> Option<Estimate>,
    /// This quantity of one trial.
    pub(super) of_trial: fn(&Direction) -> Option<f64>,
}

/// Bytes per second.
pub(super) const THROUGHPUT: Figured = Figured {
    name: "throughput",
    quantity: Quantity::BytesPerSecond,
    read: |direction| Some(direction.bytes_per_s),
    of_trial: |direction| Some(direction.bytes_per_s),
};

/// Requests per second.
pub(super) const RATE: Figured = Figured {
    name: "rate",
    quantity: Quantity::Iops,
    read: |direction| Some(direction.iops),
    of_trial: |direction| Some(direction.iops),
};

/// Mean latency.
pub(super) const MEAN: Figured = Figured {
    name: "mean latency",
    quantity: Quantity::Nanoseconds,
    read: |direction| direction.latency_ns_mean,
    of_trial: |direction| direction.latency_ns.mean,
};

/// 99th percentile of latency.
pub(super) const P99: Figured = Figured {
    name: "99 % wait less than",
    quantity: Quantity::Nanoseconds,
    read: |direction| direction.latency_ns_p99,
    of_trial: |direction| direction.latency_ns.p99,
};

/// The dots of a family: `x` of its workload against a figure of its direction.
pub(super) fn dots(family: &Family, doubts: &Doubts, x: fn(&TrialSpec) -> u64, y: Figured) -> Vec<Dot> {
    let dot = |point: &&Point| {
        let estimate = (y.read)(point.direction(family.op)?)?;
        let judged = doubts.of(point);
        Some(Dot {
            x: x(&point.spec) as f64,
            y: estimate.value,
            x_interval: None,
            y_interval: interval(estimate),
            label: None,
            tip: tip(point, &[line(y, estimate)], judged),
            standing: judged.0,
        })
    };
    family.points.iter().filter_map(dot).collect()
}

/// The standing trials of a family, each where its own figure lies.
pub(super) fn trials(run: &Run, family: &Family, x: fn(&TrialSpec) -> u64, y: Figured) -> Vec<(f64, f64)> {
    let standing = TrialStanding::of(run);
    let places: HashMap<usize, f64> =
        family.points.iter().map(|point| (point.id, x(&point.spec) as f64)).collect();
    let place = |trial: &Trial| {
        let at = *places.get(&trial.point?)?;
        Some((at, (y.of_trial)(trial.direction(family.op)?)?))
    };
    run.trials.iter().filter(|trial| standing.is_valid(trial)).filter_map(place).collect()
}

/// The first four families that share the queue depth and the way to the device with the first: what one axis
/// can be labelled for.
pub(super) fn alike(families: Vec<Family>) -> Vec<Family> {
    let lead = families.first().map(|family| (family.spec().asked_in_flight(), family.spec().direct));
    let like = |family: &Family| Some((family.spec().asked_in_flight(), family.spec().direct)) == lead;
    families.into_iter().filter(like).take(4).collect()
}

/// The families that reach the device the way the first does: what the page cache served is no neighbour of the rest.
pub(super) fn one_way(mut families: Vec<Family>) -> Vec<Family> {
    let direct = families.first().map(|family| family.spec().direct);
    families.retain(|family| Some(family.spec().direct) == direct);
    families
}

/// For each direction, the family with the most valid points: what a picture for one pair of lines shows. Both are
/// of one size where there is one that both have, the size with the most points, of several the smallest.
pub(super) fn one_of_each(families: Vec<Family>) -> Vec<Family> {
    let mut out: Vec<Family> = Vec::new();
    let mut families = one_way(families);
    let told = |bytes: u64| {
        let own = families.iter().filter(move |family| family.spec().block_size_bytes == bytes);
        let ops: HashSet<Op> = own.clone().map(|family| family.op).collect();
        let points = own.map(|family| (family.standing, family.points.len()));
        let (standing, all) = points.fold((0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
        (ops.len(), standing, all)
    };
    let sizes = families.iter().map(|family| family.spec().block_size_bytes);
    let size = sizes.max_by_key(|&bytes| (told(bytes), std::cmp::Reverse(bytes)));
    families.sort_by_key(|f| {
        let bytes = f.spec().block_size_bytes;
        (f.op, Some(bytes) != size, std::cmp::Reverse((f.standing, f.points.len())), bytes)
    });
    for family in families {
        if out.iter().all(|known| known.op != family.op) {
            out.push(family);
        }
    }
    out
}

/// Both ends, where there are both.
pub(super) fn interval(estimate: Estimate) -> Option<(f64, f64)> {
    Some((estimate.low?, estimate.high?))
}

/// "throughput 152 MB/s (±2.7 %)".
pub(super) fn line(figured: Figured, estimate: Estimate) -> String {
    format!(
        "{} {}",
        figured.name,
        figured.quantity.interval_text(estimate.value, estimate.low, estimate.high)
    )
}

/// What a dot says when pointed at: the workload, its figures, the trials behind them, the doubt.
pub(super) fn tip(
    point: &Point,
    figures: &[String],
    (standing, why): (DotStanding, Option<&str>),
) -> Vec<String> {
    let stand = point.trials - point.left_out;
    let trials = if stand == 1 { "1 trial".to_owned() } else { format!("{stand} trials") };
    let mut tip = vec![point.spec.describe()];
    tip.extend_from_slice(figures);
    tip.push(if point.left_out > 0 {
        format!("{trials}, {} invalid left out", point.left_out)
    } else {
        trials
    });
    tip.extend(point.why_no_interval.as_ref().map(crate::text::no_interval));
    tip.extend(standing.word().zip(why).map(|(word, why)| format!("{word}: {why}")));
    tip
}

/// The found value of a finding that rests on trials of this family, of several the one with the most of them: another
/// experiment may have found the same of another way to the device.
pub(super) fn finding<'a>(run: &'a Run, name: FindingName, family: &Family) -> Option<&'a Finding> {
    let about = found_about(run, name, family.op, family.spec());
    let shared = about.map(|finding| (family.shares(finding), finding)).filter(|(shares, _)| *shares > 0);
    shared.reduce(|best, other| if other.0 > best.0 { other } else { best }).map(|(_, finding)| finding)
}

/// The found values of a finding for this workload's direction, pattern and size.
pub(super) fn found_about<'a>(
    run: &'a Run,
    name: FindingName,
    op: Op,
    spec: &TrialSpec,
) -> impl Iterator<Item = &'a Finding> {
    run.findings.iter().filter(move |finding| {
        let conditions = &finding.conditions;
        finding.name == name
            && finding.status == Status::Found
            && finding.value.is_some()
            && conditions.op.is_none_or(|known| known == op)
            && conditions.random.is_none_or(|random| random == spec.rw.is_random())
            // The most that small requests reach is no limit of large ones.
            && conditions.block_size_bytes.is_none_or(|bytes| bytes == spec.block_size_bytes)
    })
}

/// A finding as a line with a band in a chart.
pub(super) fn mark(finding: &Finding, along: Along, words: &str, tone: Tone) -> Option<FindingMark> {
    let at = finding.value?;
    let quantity = Quantity::of_unit(finding.unit.name())?;
    let interval = finding.low.zip(finding.high);
    Some(FindingMark { along, at, interval, label: format!("{words} {}", quantity.text(at)), tone })
}

/// The sentences of the named findings for these directions, in that order: what a chart answers.
pub(super) fn sentences(run: &Run, names: &[FindingName]) -> String {
    each_once(run, names, |_| true)
}

/// The sentences of the named findings about a workload's block size, or about none.
pub(super) fn sentences_at(run: &Run, names: &[FindingName], spec: &TrialSpec) -> String {
    each_once(run, names, |finding| {
        finding.conditions.block_size_bytes.is_none_or(|bytes| bytes == spec.block_size_bytes)
    })
}

/// The sentences of the named findings about these families: of their pattern, and of their size where they share one.
pub(super) fn sentences_of(run: &Run, names: &[FindingName], families: &[Family]) -> String {
    let about = |finding: &Finding| {
        let conditions = &finding.conditions;
        families.iter().filter(|family| family.shares(finding) > 0).any(|family| {
            let sizes = || family.points.iter().map(|point| point.spec.block_size_bytes);
            conditions.op.is_none_or(|op| op == family.op)
                && conditions.random.is_none_or(|random| random == family.spec().rw.is_random())
                && conditions.block_size_bytes.is_none_or(|size| sizes().any(|own| own == size))
        })
    };
    each_once(run, names, about)
}

/// The sentences of the named findings, each finding once: several experiments can answer it from the same points.
fn each_once(run: &Run, names: &[FindingName], about: impl Fn(&Finding) -> bool) -> String {
    let mut told: Vec<&Finding> = Vec::new();
    for name in names {
        let named = run.findings.iter().filter(|f| f.name == *name && f.status == Status::Found && about(f));
        for finding in named {
            let known =
                |other: &&Finding| other.name == finding.name && other.conditions == finding.conditions;
            if !told.iter().any(known) {
                told.push(finding);
            }
        }
    }
    told.into_iter().map(crate::text::sentence).collect::<Vec<_>>().join(" ")
}

/// Every value that a chart must leave room for on its y axis, interval ends included.
pub(crate) fn heights(series: &[crate::figure::DotSeries]) -> Vec<f64> {
    let dots = series.iter().flat_map(|s| &s.dots);
    dots.flat_map(|dot| {
        let (low, high) = dot.y_interval.unwrap_or((dot.y, dot.y));
        [dot.y, low, high]
    })
    .collect()
}

/// Every value on a chart's x axis.
pub(crate) fn places(series: &[crate::figure::DotSeries]) -> Vec<f64> {
    let dots = series.iter().flat_map(|s| &s.dots);
    dots.flat_map(|dot| {
        let (low, high) = dot.x_interval.unwrap_or((dot.x, dot.x));
        [dot.x, low, high]
    })
    .collect()
}

/// The values of x that were measured, each once: the only honest ticks of a grid.
pub(super) fn grid(series: &[crate::figure::DotSeries]) -> Vec<f64> {
    let mut values: Vec<f64> = series.iter().flat_map(|s| s.dots.iter().map(|dot| dot.x)).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values
}

/// What tells a family from the others of its chart: the pattern, and what was held where that differs.
pub(super) fn family_name(all: &[Family], family: &Family) -> String {
    let spec = family.spec();
    let varies = |differs: fn(&TrialSpec, &TrialSpec) -> bool| all.iter().any(|f| differs(f.spec(), spec));
    let mut name = family.pattern();
    let sizes_vary = family.points.iter().any(|point| point.spec.block_size_bytes != spec.block_size_bytes);
    if !sizes_vary {
        name = format!("{} {name}", units::size(spec.block_size_bytes));
    } else if varies(|a, b| a.queue_depth != b.queue_depth) {
        name = format!("{name}, QD {}", spec.asked_in_flight());
    }
    if varies(|a, b| a.direct != b.direct) {
        name.push_str(if spec.direct { ", direct" } else { ", buffered" });
    }
    // What else only some of them have: "fdatasync:1", "beside 4 KiB sequential writes".
    let others = || all.iter().filter(|other| !std::ptr::eq(other.points[0], family.points[0]));
    for word in particulars(spec) {
        if others().any(|other| !particulars(other.spec()).contains(&word)) {
            name = format!("{name}, {word}");
        }
    }
    let alike = |other: &&Family| other.op == family.op && particulars(other.spec()) == particulars(spec);
    if others().filter(alike).any(|other| other.spec().span_bytes != spec.span_bytes) {
        name = format!("{name}, within {}", units::size(spec.span_bytes));
    }
    name
}

/// The part of a workload's description after its size, pattern and queue depth.
fn particulars(spec: &TrialSpec) -> Vec<String> {
    let beside = spec.and.iter().map(|stream| format!("beside {}", stream.describe()));
    spec.particulars().into_iter().chain(beside).collect()
}

/// An axis label that names what was held while block sizes varied: "block size, QD 1".
pub(super) fn held(label: &str, family: &Family) -> String {
    format!("{label}, {}", in_flight(family.spec().asked_in_flight()))
}

/// "QD 32".
pub(crate) fn in_flight(requests: u64) -> String {
    format!("QD {requests}")
}
