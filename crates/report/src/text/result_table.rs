//! Figures that people compare, as tables: of reads and writes, of durable writes, and of training.

use std::fmt::Write;

use iosonde_infer::{
    enough_depth::{EnoughDepth, NEARLY_ALL, enough_depth, points_behind},
    enough_size::enough_size,
    finding::lookup::{estimate, found, found_like},
};
use iosonde_model::{
    About, Conditions, Detail, Estimate, Finding, FindingName, LatencyLimit, Level, LevelCondition, Op,
    Point, ReachedAt, Run, Status, Unit, units,
};

use super::{
    concurrent_table, finding,
    footnote::Footnotes,
    number::{Figure, Style, figure, up_to},
    table::{Cell, ResultRow, ResultTable},
    training_table,
};

/// Name of the findings behind each row, and how a finding is written in it.
struct Kind {
    name: FindingName,
    label: &'static str,
    cell: fn(&Finding) -> Figure,
}

const LARGE: [Kind; 1] =
    [Kind { name: FindingName::DeviceBandwidth, label: "highest bandwidth", cell: rate }];
/// Figures of small requests, of one size and order.
const SMALL: [Kind; 4] = [
    Kind { name: FindingName::MaxIops, label: "highest IOPS", cell: rate },
    Kind { name: FindingName::BaseLatency, label: "mean latency at QD 1", cell: rate },
    Kind { name: FindingName::QueueDepthKnee, label: "saturates at QD", cell: depth },
    Kind { name: FindingName::DepthFor95Percent, label: "QD for 95 % of max", cell: depth },
];
/// Label of the measured queue depth for nearly all of the highest IOPS, which stands above it. It was measured to give
/// 95 %; what it truly gives is 90 % or more at the rates of error of docs/intervals.md.
pub(super) const ENOUGH_DEPTH: &str = "needed for 95 % of it";
/// Latencies there; the queue depth follows.
const LATENCIES: [&str; 2] = ["mean latency", "p99 latency"];
/// Size of requests at QD 1.
const ENOUGH: Kind =
    Kind { name: FindingName::PlateauBlockSize, label: "95 % of QD 1 max from", cell: plateau };

/// Columns of the table of durable writes.
const DURABLE: [FindingName; 3] =
    [FindingName::CommitLatency, FindingName::FlushLatency, FindingName::LogWritesPerS];
const DURABLE_HEADS: [&str; 3] = ["write + flush", "flush", "commits/s"];
const AT_LATENCY: Kind = Kind { name: FindingName::IopsAtLatency, label: "", cell: rate };

/// Findings that the tables show.
pub(super) fn is_in_table(name: FindingName) -> bool {
    LARGE.iter().chain(&SMALL).chain([&ENOUGH, &AT_LATENCY]).any(|kind| kind.name == name)
        || DURABLE.contains(&name)
        || training_table::FINDINGS.contains(&name)
}

/// Findings behind the rows and columns whose labels have this word or these words.
pub fn findings_behind(words: &str) -> Vec<FindingName> {
    let named = behind(words);
    // The queue depth of a latency is another one in each run.
    match words.split_once(" at QD").or_else(|| words.split_once(", QD")) {
        Some((what, _)) if named.is_empty() => behind(what),
        _ => named,
    }
}

fn behind(words: &str) -> Vec<FindingName> {
    let words: Vec<&str> = words.split(' ').collect();
    let has = |label: &str| {
        let label: Vec<&str> = label.split([' ', ',']).collect();
        label.windows(words.len()).any(|part| part == words)
    };
    let rows = LARGE.iter().chain(&SMALL).chain([&ENOUGH]).map(|kind| (kind.label, kind.name));
    let measured =
        [ENOUGH_DEPTH, LATENCIES[0], LATENCIES[1]].map(|label| (label, FindingName::DepthFor95Percent));
    let all = rows.chain(measured).chain(DURABLE_HEADS.into_iter().zip(DURABLE));
    all.filter(|(label, _)| has(label)).map(|(_, name)| name).collect()
}

/// The tables of a concluded run, those with at least one row.
pub(super) fn result_tables(run: &Run, footnotes: &Footnotes) -> Vec<ResultTable> {
    let [fed, checkpoints] = training_table::tables(run, footnotes);
    let concurrent = concurrent_table::table(run, footnotes);
    let all = [transfers(run, footnotes), durable(run, footnotes), concurrent, fed, checkpoints];
    all.into_iter().flatten().collect()
}

/// Figures of reads and of writes.
fn transfers(run: &Run, footnotes: &Footnotes) -> Option<ResultTable> {
    let mut rows: Vec<ResultRow> = LARGE.iter().filter_map(|kind| whole(run, footnotes, kind)).collect();
    rows.extend(places(run));
    for group in groups(run) {
        rows.extend(small(run, footnotes, &group));
    }
    // Mostly advice has it. Below a limit, block sizes tell of the limit.
    let is_untold = |op: Op| {
        let known = found(run, ENOUGH.name, op).is_some() && !finding::is_limited(&run.findings, op);
        known && enough_size(run, op).is_none()
    };
    if Op::TRANSFERS.into_iter().any(is_untold) {
        rows.extend(whole(run, footnotes, &ENOUGH));
    }
    rows.extend(asked_latency(run).and_then(|limit| {
        let asked = |op: Op| found(run, FindingName::IopsAtLatency, op)?.conditions.block_size_bytes;
        let size = Op::TRANSFERS.into_iter().find_map(asked);
        let size = size.map_or_else(String::new, |bytes| format!("{} ", units::size(bytes)));
        let label = format!("{size}IOPS with {}", limit.describe());
        Some(ResultRow { label, ..whole(run, footnotes, &AT_LATENCY)? })
    }));
    let several = run.info.device.hosts.is_some_and(|hosts| hosts > 1);
    let label = if several { "value, 95 % CI; QD of all hosts" } else { "value, 95 % CI" };
    ResultTable::new(label, &["read", "write"], rows)
}

/// Figures of writes that are durable before the next one, a row for each size and way of flushing.
fn durable(run: &Run, footnotes: &Footnotes) -> Option<ResultTable> {
    let columns = DURABLE.map(|name| {
        let found = |finding: &&Finding| finding.name == name && finding.status == Status::Found;
        run.findings.iter().filter(found).collect::<Vec<_>>()
    });
    let mut rows: Vec<ResultRow> = Vec::new();
    for (at, column) in columns.iter().enumerate() {
        for finding in column {
            let Some(label) = finding::durable_writes(finding) else { continue };
            let place = rows.iter().position(|row| row.label == label).unwrap_or_else(|| {
                rows.push(ResultRow { label, indented: false, cells: vec![None; DURABLE.len()] });
                rows.len() - 1
            });
            let marks = footnotes.of_finding(run, finding);
            let figure = match finding.unit {
                Unit::Iops => figure(Style::bare(Unit::Iops), &estimate(finding)),
                _ => rate(finding),
            };
            rows[place].cells[at] = Some(Cell { figure, marks });
        }
    }
    // Below each row, the tail of its commits.
    let with_tail = |row: ResultRow| {
        let commit = columns[0].iter().find(|own| finding::durable_writes(own).as_ref() == Some(&row.label));
        let p99 = commit.and_then(|commit| match &commit.detail {
            Detail::Commit(facts) => facts.p99_ns,
            _ => None,
        });
        let tail = p99.map(|p99| ResultRow {
            label: "p99".to_owned(),
            indented: true,
            cells: vec![Some(figure(Unit::Time, &p99).into()), None, None],
        });
        std::iter::once(row).chain(tail)
    };
    ResultTable::new("durable writes", &DURABLE_HEADS, rows.into_iter().flat_map(with_tail).collect())
}

/// The limit of latency of a requested load.
pub(super) fn asked_latency(run: &Run) -> Option<LatencyLimit> {
    run.points.iter().find_map(|point| point.spec.latency_limit)
}

/// A row of a kind that has one finding for each direction.
fn whole(run: &Run, footnotes: &Footnotes, kind: &Kind) -> Option<ResultRow> {
    let cells = Op::TRANSFERS.map(|op| match found(run, kind.name, op) {
        Some(finding) => Some(cell(run, footnotes, kind, finding)),
        None => is_open(run, kind.name, op, None).then(|| Figure::unknown().into()),
    });
    row(kind.label, false, cells)
}

/// A finding in its cell. The mean of a point whose trials lie on two levels is neither: both are given.
fn cell(run: &Run, footnotes: &Footnotes, kind: &Kind, finding: &Finding) -> Cell {
    let figure = two_levels(run, finding)
        .or_else(|| held_by_limit(run, finding))
        .or_else(|| upwards(finding))
        .unwrap_or_else(|| (kind.cell)(finding));
    Cell { figure, marks: footnotes.of_finding(run, finding) }
}

/// The limit that holds a highest rate: one quantity has one interval on a page.
pub(crate) fn held_by_limit(run: &Run, finding: &Finding) -> Option<Figure> {
    let Detail::Highest(_) = &finding.detail else { return None };
    let own = estimate(finding);
    let holds = |limit: &&Finding| {
        limit.name == FindingName::ConstantLimit
            && limit.status == Status::Found
            && limit.unit == finding.unit
            && limit.conditions.op.is_none_or(|op| finding.conditions.op == Some(op))
            && limit.value.is_some_and(|value| own.low <= Some(value) && Some(value) <= own.high)
    };
    run.findings.iter().find(holds).map(rate)
}

/// Distance of a highest rate from the low end of its interval, as a share of the interval, up to which the interval
/// reaches upwards alone: by another point, which is imprecise.
const AT_LOW_END: f64 = 0.1;

/// High over low of an interval up to which the point that is known best is the highest for all uses.
const NEARLY: f64 = 1.05;

/// High over low from which three digits show that an interval has one side.
const SHOWN: f64 = 1.005;

/// Whether a highest rate is uncertain upwards alone.
fn may_be_higher(finding: &Finding) -> bool {
    let Detail::Highest(_) = &finding.detail else { return false };
    let (Some(value), Some(low), Some(high)) = (finding.value, finding.low, finding.high) else {
        return false;
    };
    value - low < AT_LOW_END * (high - low) && high > SHOWN * low
}

/// A highest rate that is uncertain upwards alone: up to the end of its interval, or a minimum where that is too wide
/// to be of use.
fn upwards(finding: &Finding) -> Option<Figure> {
    let own = estimate(finding);
    let (low, high) = own.low.zip(own.high).filter(|_| may_be_higher(finding))?;
    if !own.is_vague() {
        return Some(up_to(finding.unit, own.value, high));
    }
    let bound = Estimate { value: low, low: Some(low), high: Some(low) };
    Some(Figure { interval: String::new(), ..figure(finding.unit, &bound) }.at_least())
}

fn two_levels(run: &Run, finding: &Finding) -> Option<Figure> {
    let Detail::Highest(facts) = &finding.detail else { return None };
    let [only] = facts.best_points.as_slice() else { return None };
    let point = run.points.iter().find(|point| point.id == *only)?;
    let [first, second] = point.direction(finding.conditions.op?)?.levels.as_slice() else { return None };
    let rate = |level: &Level| match finding.unit {
        Unit::Iops => level.iops,
        _ => level.bytes_per_s,
    };
    let [low, high] = if rate(first).value <= rate(second).value { [first, second] } else { [second, first] };
    let interval = part(low.condition, high.condition).to_owned();
    let [low, high] = [low, high].map(|level| figure(finding.unit, &rate(level)).value);
    Some(Figure { value: format!("{low} or {high}"), interval })
}

/// What parts two levels, the lower one first.
fn part(low: LevelCondition, high: LevelCondition) -> &'static str {
    match (low, high) {
        (LevelCondition::AfterRandomWrites, LevelCondition::AfterSequentialWrites) => {
            "after random or sequential writes"
        }
        (LevelCondition::AfterSequentialWrites, LevelCondition::AfterRandomWrites) => {
            "after sequential or random writes"
        }
        (LevelCondition::BeforeStep, _) => "rose during the run",
        (LevelCondition::AfterStep, _) => "fell during the run",
        _ => "",
    }
}

/// A row where it has a figure.
fn row(label: &str, indented: bool, cells: [Option<Cell>; 2]) -> Option<ResultRow> {
    let is_told = |cell: &Cell| !cell.figure.is_unknown() || !cell.figure.interval.is_empty();
    let known = cells.iter().flatten().any(is_told);
    known.then(|| ResultRow { label: label.to_owned(), indented, cells: cells.to_vec() })
}

/// Whether a question about a direction was asked and has no answer.
fn is_open(run: &Run, name: FindingName, op: Op, like: Option<&Conditions>) -> bool {
    run.findings.iter().any(|finding| {
        let own = &finding.conditions;
        let alike =
            |other: &Conditions| (own.block_size_bytes, own.random) == (other.block_size_bytes, other.random);
        finding.name == name
            && finding.status == Status::Inconclusive
            && own.op == Some(op)
            && like.is_none_or(alike)
    })
}

/// Where the highest throughput was measured: of several points, an example, the one with the smallest queue in bytes.
fn places(run: &Run) -> Option<ResultRow> {
    let cells = Op::TRANSFERS.map(|op| {
        let finding = found(run, FindingName::DeviceBandwidth, op)?;
        // Of a limit, advice has the size from which it holds.
        if held_by_limit(run, finding).is_some() {
            return None;
        }
        let mut best = best_points(run, finding);
        if may_be_higher(finding) {
            // A point that is known well reaches the rate; the others may exceed it.
            best.retain(|point| is_known_well(point, op));
            if best.is_empty() {
                return imprecise(run, op).map(|figure| (figure, false));
            }
        }
        let enough_bytes = enough_size(run, op).map(|enough| enough.bytes);
        // A point whose own figure is clearly less, or outside the interval, would contradict the figure above. The
        // share is that of a size that is enough, so that the advice does not name another.
        let nearly = finding.value.map(|value| NEARLY_ALL * value);
        let least = finding.low.into_iter().chain(nearly).fold(0.0, f64::max);
        let agrees = |point: &&Point| {
            let own = point.direction(op).map(|direction| direction.bytes_per_s.value);
            own.is_some_and(|own| least <= own && finding.high.is_none_or(|high| own <= high))
        };
        // Nor does a size count that the advice says only may be enough.
        let is_enough = |point: &&Point| {
            let spec = &point.spec;
            enough_bytes.is_none_or(|bytes| spec.asked_in_flight() > 1 || spec.block_size_bytes >= bytes)
        };
        let wanted: [&dyn Fn(&&Point) -> bool; 2] = [&agrees, &is_enough];
        for holds in wanted {
            if best.iter().any(holds) {
                best.retain(holds);
            }
        }
        let spec = |point: &&Point| (point.spec.block_size_bytes, point.spec.asked_in_flight());
        let in_flight_bytes = |point: &&Point| spec(point).0 * spec(point).1;
        let first = best.iter().copied().min_by_key(|point| (in_flight_bytes(point), spec(point).0))?;
        let is_alone = !best.iter().any(|point| in_flight_bytes(point) > in_flight_bytes(&first));
        let (bytes, depth) = spec(&first);
        // Both orders of one workload are one place.
        let here: Vec<&Point> = best.iter().copied().filter(|point| spec(point) == spec(&first)).collect();
        let random = |wanted: bool| here.iter().any(|point| point.spec.rw.is_random() == wanted);
        let size = units::size(bytes);
        let value = match (random(true), random(false)) {
            (true, true) => format!("{size} seq or rand, QD {depth}"),
            (true, false) => format!("{size} random, QD {depth}"),
            (false, _) => format!("{size} sequential, QD {depth}"),
        };
        Some((Figure { value, interval: String::new() }, is_alone))
    });
    // Others give as much: read alone, a small request looked like the fastest one.
    let others = cells.iter().flatten().any(|(_, is_alone)| !is_alone);
    let label = if others { "reached with, e.g." } else { "reached with" };
    row(label, true, cells.map(|cell| cell.map(|(figure, _)| Cell::from(figure))))
}

/// Whether a point's bandwidth has a narrow interval.
fn is_known_well(point: &Point, op: Op) -> bool {
    let rate = point.direction(op).map(|direction| direction.bytes_per_s);
    rate.and_then(|rate| rate.low.zip(rate.high)).is_some_and(|(low, high)| high < NEARLY * low)
}

/// The point that makes a highest bandwidth uncertain: `4 MiB rand is imprecise`.
fn imprecise(run: &Run, op: Op) -> Option<Figure> {
    let high = |point: &Point| point.direction(op).and_then(|direction| direction.bytes_per_s.high);
    let highs = run.points.iter().filter_map(|point| Some((point, high(point)?)));
    let (point, _) = highs.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let spec = &point.spec;
    let order = if spec.rw.is_random() { "rand" } else { "seq" };
    let value = format!("{} {order} is imprecise", units::size(spec.block_size_bytes));
    Some(Figure { value, interval: String::new() })
}

/// The points that are the highest, as far as is known.
fn best_points<'a>(run: &'a Run, finding: &Finding) -> Vec<&'a Point> {
    let Detail::Highest(facts) = &finding.detail else { return Vec::new() };
    run.points.iter().filter(|point| facts.best_points.contains(&point.id)).collect()
}

/// Sizes and orders of the small requests, those of reads first: usually one.
fn groups(run: &Run) -> Vec<Conditions> {
    let mut groups: Vec<Conditions> = Vec::new();
    for op in Op::TRANSFERS {
        // Of writes that wait for a flush each, the table of durable writes has the commits of the same trials.
        let is_flushed = |finding: &&Finding| {
            let of_commits = |own: &Finding| {
                own.name == FindingName::CommitLatency
                    && own.status == Status::Found
                    && own.trials.iter().any(|id| finding.trials.contains(id))
            };
            op == Op::Write && run.findings.iter().any(of_commits)
        };
        let of = |kind: &Kind| {
            found(run, kind.name, op).filter(|own| !is_flushed(own)).map(|finding| &finding.conditions)
        };
        for own in SMALL.iter().filter_map(of) {
            let like = |group: &Conditions| {
                (group.block_size_bytes, group.random) == (own.block_size_bytes, own.random)
            };
            if !groups.iter().any(like) {
                groups.push(Conditions {
                    block_size_bytes: own.block_size_bytes,
                    random: own.random,
                    ..Conditions::default()
                });
            }
        }
    }
    groups.sort_by_key(|group| (group.block_size_bytes, group.random == Some(false)));
    groups
}

/// Rows of the requests of one size and order.
fn small(run: &Run, footnotes: &Footnotes, like: &Conditions) -> Vec<ResultRow> {
    let of = |kind: &Kind| {
        let cells = Op::TRANSFERS.map(|op| match found_like(run, kind.name, op, like) {
            Some(finding) => Some(cell(run, footnotes, kind, finding)),
            None => is_open(run, kind.name, op, Some(like)).then(|| Figure::unknown().into()),
        });
        row(kind.label, true, cells)
    };
    let depths = enough(run, footnotes, like);
    let is_told = |kind: &&Kind| match kind.name {
        KNEE => knee_matters(run, like),
        // Of a curve; the depth that was measured is nearer to what a reader sets.
        FindingName::DepthFor95Percent => depths.is_empty(),
        _ => true,
    };
    let mut rows: Vec<ResultRow> = SMALL.iter().filter(is_told).filter_map(of).collect();
    if rows.first().is_some_and(|first| first.label == SMALL[0].label) {
        rows.splice(1..1, depths);
    }
    let behind = |rows: &[ResultRow], label: &str| rows.iter().position(|row| row.label == label);
    if let (Some(at), Some(tail)) = (behind(&rows, SMALL[1].label), tail(run, footnotes, like)) {
        rows.insert(at + 1, tail);
    }
    // The first row carries the size and the order for those below it.
    let size = like.block_size_bytes.map(units::size);
    let order = like.random.map(|random| if random { "random" } else { "sequential" }.to_owned());
    let what = [size, order].into_iter().flatten().collect::<Vec<_>>().join(" ");
    match rows.first_mut() {
        Some(first) if first.label == SMALL[0].label && !what.is_empty() => {
            (first.label, first.indented) = (format!("highest {what}"), false);
        }
        Some(_) if !what.is_empty() => {
            rows.insert(0, ResultRow { label: what, indented: false, cells: vec![None; 2] });
        }
        _ => {}
    }
    rows
}

const KNEE: FindingName = FindingName::QueueDepthKnee;

/// Whether a saturation point is told: readers take it for the queue depth for 95 % of the throughput, so only where
/// that is unknown. Advice has the depth of low latency.
fn knee_matters(run: &Run, like: &Conditions) -> bool {
    let is_free = |op: &Op| !finding::is_limited(&run.findings, *op);
    let is_known = |op: Op| found_like(run, FindingName::DepthFor95Percent, op, like).is_some();
    let free: Vec<Op> = Op::TRANSFERS.into_iter().filter(is_free).collect();
    !free.is_empty() && !free.into_iter().any(is_known)
}

/// The queue depth that is enough, or the deepest where a deeper one may give more.
pub(super) fn depth_that_is_enough(at: ReachedAt) -> String {
    format!("{}QD {}", if at.still_rising { "> " } else { "" }, at.queue_depth)
}

/// The queue depth that gives nearly all of the highest IOPS, and the latency there where that is not the one of
/// single requests.
fn enough(run: &Run, footnotes: &Footnotes, like: &Conditions) -> Vec<ResultRow> {
    let known = Op::TRANSFERS.map(|op| enough_depth(run, op, like));
    let told = known.each_ref().map(|own| {
        let own = own.as_ref()?;
        let EnoughDepth { point, below, .. } = own;
        let reached_at = own.reached_at();
        let why = match (reached_at.still_rising, reached_at.cpu_bound_above) {
            (true, true) => ", CPU-bound",
            (true, false) => ", still rising",
            (false, _) => "",
        };
        let value = depth_that_is_enough(reached_at) + why;
        // The depths between were not tried. 94.7 % is not enough, and 95 % would be read as enough.
        let less = below.filter(|_| !reached_at.still_rising).map(|(point, share)| {
            let percent = (100.0 * share).round().min(100.0 * NEARLY_ALL - 1.0);
            format!(" ({percent:.0} % at QD {})", point.spec.asked_in_flight())
        });
        let figure = Figure { value: value + &less.unwrap_or_default(), interval: String::new() };
        let shares = below.iter().flat_map(|(point, _)| &point.trial_ids).chain(&point.trial_ids).copied();
        let marks = footnotes.of_trials(&[About::Rate], &shares.collect::<Vec<_>>());
        Some(Cell { figure, marks })
    });
    let depths = known.each_ref().map(|own| own.as_ref().map(|own| own.point.spec.asked_in_flight()));
    // At the same depth the label has it. Of two, each latency has its own: readers compared them as if at one depth.
    let apart = matches!(depths, [Some(read), Some(write)] if read != write);
    let at_depth = depths.into_iter().flatten().next().filter(|_| !apart);
    let at_depth = at_depth.map_or_else(String::new, |depth| format!(" at QD {depth}"));
    let of_depth = |what: &str, of: LatencyOf| {
        let cells = [0, 1].map(|at| {
            let point = known[at].as_ref()?.point;
            match point.spec.asked_in_flight() {
                // Rows of their own have it.
                1 => Some(Figure { value: "as at QD 1".to_owned(), interval: String::new() }.into()),
                depth => latency(footnotes, point, Op::TRANSFERS[at], of).map(|mut cell| {
                    if apart {
                        let _ = write!(cell.figure.value, " at QD {depth}");
                    }
                    cell
                }),
            }
        });
        row(&format!("{what}{at_depth}"), true, cells)
    };
    let deeper = depths.into_iter().flatten().any(|depth| depth > 1);
    let there =
        deeper.then(|| [of_depth(LATENCIES[0], LatencyOf::Mean), of_depth(LATENCIES[1], LatencyOf::P99)]);
    row(ENOUGH_DEPTH, true, told).into_iter().chain(there.into_iter().flatten().flatten()).collect()
}

/// A figure of latency.
#[derive(Clone, Copy)]
enum LatencyOf {
    Mean,
    P99,
}

/// A latency of a point; a percentile may rest on too few requests.
fn latency(footnotes: &Footnotes, point: &Point, op: Op, of: LatencyOf) -> Option<Cell> {
    let own = point.direction(op)?;
    let (time, marks) = match of {
        LatencyOf::Mean => (own.latency_ns_mean, footnotes.of_trials(&[About::Latency], &point.trial_ids)),
        LatencyOf::P99 => (own.latency_ns_p99, footnotes.of_percentile(&point.trial_ids)),
    };
    let Some(time) = time else {
        return Some(Figure { value: TOO_FEW.to_owned(), interval: String::new() }.into());
    };
    Some(Cell { figure: figure(Unit::Time, &time), marks })
}

/// In place of a percentile that rests on too few requests to be given.
pub(super) const TOO_FEW: &str = "too few requests";

/// 99th percentile of single requests.
fn tail(run: &Run, footnotes: &Footnotes, like: &Conditions) -> Option<ResultRow> {
    let cells = Op::TRANSFERS.map(|op| {
        let base = found_like(run, FindingName::BaseLatency, op, like)?;
        let point = points_behind(run, base, op).find(|point| point.spec.asked_in_flight() == 1)?;
        latency(footnotes, point, op, LatencyOf::P99)
    });
    row("p99 latency at QD 1", true, cells)
}

/// Queue depth below which a knee is given with a decimal.
const SHALLOW: f64 = 10.0;

fn rate(finding: &Finding) -> Figure {
    let told = figure(finding.unit, &estimate(finding));
    // A minimum with an interval around it reads as a value that is known.
    if finding.at_least { Figure { interval: String::new(), ..told }.at_least() } else { told }
}

fn depth(finding: &Finding) -> Figure {
    let Estimate { value, low, high } = estimate(finding);
    // Of the few requests at a shallow knee, a tenth counts.
    if finding.name == FindingName::QueueDepthKnee && value < SHALLOW {
        return figure(Style::bare(Unit::InFlight), &Estimate { value, low, high });
    }
    // Requests come whole, and the ends are rounded outwards.
    let (low, high) = (low.map(|low| low.floor().max(1.0)), high.map(f64::ceil));
    figure(Style::bare(Unit::InFlight), &Estimate { value: value.round().max(1.0), low, high })
}

fn plateau(finding: &Finding) -> Figure {
    finding::plateau(finding).unwrap_or_else(|| rate(finding))
}

#[cfg(test)]
mod tests {
    use super::super::marks::footnotes;
    use super::*;
    use iosonde_infer::conclude::conclude;
    use iosonde_model::Estimate;
    use iosonde_testkit::pretend::{Pretend, QUICK, wording};

    fn table(pretend: &Pretend) -> Vec<String> {
        let mut run = pretend.run(QUICK, 1);
        conclude(&mut run, None).unwrap();
        let cell = |cell: &Option<Cell>| cell.as_ref().map_or_else(|| "–".to_owned(), Cell::whole);
        let line = |row: &ResultRow| {
            let cells: Vec<String> = row.cells.iter().map(cell).collect();
            format!("{}{}: {}", if row.indented { "  " } else { "" }, row.label, cells.join(" | "))
        };
        transfers(&run, &footnotes(&run)).unwrap().rows.iter().map(line).collect()
    }

    #[test]
    fn every_figure_has_a_row_and_an_interval() {
        let told = table(&Pretend { cv: 0.01, bytes_per_s: 1.5e9, ..Pretend::usual() });
        let told: Vec<String> = told.iter().map(|line| wording(line)).collect();
        insta::assert_snapshot!(told.join("\n"));
    }

    /// The cell of the depth that is enough for reads, where the point before it gives so much of what it gives.
    fn enough_where_half_the_depth_gives(share: f64) -> String {
        let mut run = Pretend { cv: 0.01, bytes_per_s: 1.5e9, ..Pretend::usual() }.run(QUICK, 1);
        conclude(&mut run, None).unwrap();
        let most = found(&run, FindingName::MaxIops, Op::Read).unwrap().clone();
        let like = &most.conditions;
        let id =
            points_behind(&run, &most, Op::Read).find(|point| point.spec.asked_in_flight() == 8).unwrap().id;
        let point = run.points.iter_mut().find(|point| point.id == id).unwrap();
        point.read.as_mut().unwrap().iops.value = share * most.value.unwrap();
        let rows = enough(&run, &footnotes(&run), like);
        assert_eq!(rows[0].label, ENOUGH_DEPTH);
        rows[0].cells[0].as_ref().unwrap().whole()
    }

    #[test]
    fn what_another_experiment_measured_is_of_another_curve() {
        let mut run = Pretend { cv: 0.01, bytes_per_s: 1.5e9, ..Pretend::usual() }.run(QUICK, 1);
        conclude(&mut run, None).unwrap();
        let most = found(&run, FindingName::MaxIops, Op::Write).unwrap().clone();
        let told = |run: &Run| {
            let enough = enough_depth(run, Op::Write, &most.conditions).unwrap();
            let below = enough.below.map(|(point, share)| (point.spec.asked_in_flight(), share));
            (enough.point.spec.asked_in_flight(), below)
        };
        let before = told(&run);
        // Commits of the same size: a hundredth of the writes, at every queue depth of theirs.
        let commits: Vec<Point> = points_behind(&run, &most, Op::Write)
            .map(|point| {
                let mut commit = point.clone();
                commit.spec.sync = "fdatasync:1".parse().unwrap();
                commit.trial_ids.clear();
                commit.write.as_mut().unwrap().iops.value /= 100.0;
                commit
            })
            .collect();
        run.points.extend(commits);
        assert_eq!(told(&run), before);
    }

    #[test]
    fn the_depth_that_is_enough_is_the_least_that_was_measured_to_be() {
        assert_eq!(enough_where_half_the_depth_gives(0.80), "QD 16 (80 % at QD 8)");
        assert_eq!(enough_where_half_the_depth_gives(0.92), "QD 16 (92 % at QD 8)");
        assert_eq!(enough_where_half_the_depth_gives(0.947), "QD 16 (94 % at QD 8)");
        assert_eq!(enough_where_half_the_depth_gives(0.96), "QD 8 (49 % at QD 4)");
    }

    #[test]
    fn a_highest_rate_that_an_imprecise_point_may_exceed_is_a_minimum() {
        let mut run = Pretend { cv: 0.01, bytes_per_s: 1.5e9, ..Pretend::usual() }.run(QUICK, 1);
        conclude(&mut run, None).unwrap();
        let finding = found(&run, FindingName::DeviceBandwidth, Op::Read).unwrap().clone();
        assert_eq!(upwards(&finding), None);
        let value = finding.value.unwrap();
        let wide = Finding { low: Some(0.999 * value), high: Some(3.2 * value), ..finding.clone() };
        let told = upwards(&wide).unwrap();
        assert!(told.value.starts_with("≥ "), "{told:?}");
        // In the middle of an interval, and in a narrower one.
        let middle = Finding { low: Some(0.6 * value), ..wide.clone() };
        assert_eq!(upwards(&middle), None);
        let told = upwards(&Finding { high: Some(1.2 * value), ..wide.clone() }).unwrap();
        assert!(told.value.ends_with(" GB/s") && told.interval == "1.5–1.8", "{told:?}");
        assert_eq!(upwards(&Finding { high: Some(1.003 * value), ..wide }), None);
    }

    #[test]
    fn a_point_on_two_levels_has_both() {
        let mut run = Pretend { cv: 0.01, bytes_per_s: 1.5e9, ..Pretend::usual() }.run(QUICK, 1);
        conclude(&mut run, None).unwrap();
        let finding = found(&run, FindingName::DeviceBandwidth, Op::Read).expect("it was measured").clone();
        let Detail::Highest(mut facts) = finding.detail.clone() else { panic!("{finding:?}") };
        facts.best_points.truncate(1);
        let finding = Finding { detail: Detail::Highest(facts.clone()), ..finding };
        assert_eq!(two_levels(&run, &finding), None);
        let own = run.points.iter_mut().find(|point| point.id == facts.best_points[0]).unwrap();
        let level = |bytes_per_s: f64, condition: LevelCondition| Level {
            condition,
            trial_ids: Vec::new(),
            iops: Estimate { value: 1.0, low: None, high: None },
            bytes_per_s: Estimate { value: bytes_per_s, low: None, high: None },
        };
        let (random, sequential) = (LevelCondition::AfterRandomWrites, LevelCondition::AfterSequentialWrites);
        own.read.as_mut().unwrap().levels = vec![level(701e6, sequential), level(480e6, random)];
        let both = two_levels(&run, &finding).unwrap();
        assert_eq!(both.value, "480 MB/s or 701 MB/s");
        assert_eq!(both.interval, "after random or sequential writes");
    }

    #[test]
    fn a_rate_that_was_still_rising_is_a_minimum() {
        let told = table(&Pretend { iops_max: 5e6, bytes_per_s: 1e12, ..Pretend::usual() });
        let iops = told
            .iter()
            .find(|line| line.starts_with("highest 4 KiB random: "))
            .unwrap_or_else(|| panic!("{told:?}"));
        assert!(iops.starts_with("highest 4 KiB random: ≥ "), "{iops}");
    }
}
