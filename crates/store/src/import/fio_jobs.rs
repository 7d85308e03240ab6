//! Jobs of fio that ran together, as results: of one group, several of like options are the jobs of one workload,
//! others are streams beside it. Where jobs of a group ran for unlike times, each is a result of its own;
//! so are a job's reads and writes.

use std::collections::HashMap;

use iosonde_model::{
    BlockSizes, Direction, Flush, Histogram, LatencySummary, Op, Phase, RequestError, Stream, Trial,
    TrialSpec, Unstated, units,
};

use super::{
    Figures, RESULTS_MAX,
    fio_options::{LIKE_SIZES, Options},
};

/// Jobs of a group whose times differ by more than this share did not run together.
pub(super) const LIKE_TIMES: f64 = 0.05;

/// Entry of a report: a job, or the jobs of a group that fio summed up.
#[derive(Debug, Clone)]
pub(super) struct Job {
    pub(super) name: String,
    pub(super) group: i64,
    pub(super) options: Options,
    /// Jobs that this entry sums up.
    pub(super) summed: u32,
    pub(super) read: Option<Figures>,
    pub(super) write: Option<Figures>,
    pub(super) trim: Option<Figures>,
    pub(super) flush: Option<(u64, LatencySummary)>,
    /// Seconds in which it read, wrote and trimmed.
    pub(super) sides_s: [f64; 3],
    pub(super) cpu_s: Option<(f64, f64)>,
    pub(super) errors: u64,
    /// Error of the operating system that ended the job.
    pub(super) errno: Option<i32>,
    /// The limit of its own at which fio ended it, where no request failed: `max_latency`, `rate_min`.
    pub(super) own_limit: Option<RequestError>,
    /// Whether it sums up jobs of unlike options, of which the file names one.
    pub(super) is_of_several_kinds: bool,
    /// Whether it may have read back what it wrote, which fio counts as reads.
    pub(super) may_verify: bool,
    /// Whether fio searched for a queue depth while it measured.
    pub(super) searched_depth: bool,
    /// What the file does not say of the workload.
    pub(super) unstated: Vec<Unstated>,
}

/// Submission's share of the latency above which percentiles of completion alone say too little.
pub(super) const SUBMISSION_MAX: f64 = 0.1;

/// Linux's number of the error of a full file system.
const NO_SPACE: i32 = 28;

impl Job {
    pub(super) fn runtime_s(&self) -> f64 {
        self.sides_s.into_iter().fold(0.0, f64::max)
    }

    /// Reads and writes apart, where they were measured for unlike times: of several jobs that fio summed up, or of
    /// writes and their verification. The rest of a job, such as its processor time, is that of neither.
    fn by_time(self, notes: &mut Vec<String>) -> Vec<Job> {
        let [read_s, write_s, _] = self.sides_s;
        if self.read.is_none() || self.write.is_none() || ran_alike([read_s, write_s]) {
            return vec![self];
        }
        let too = if self.may_verify { "; what `verify` read back counts as reads" } else { "" };
        notes.push(format!(
            "reads and writes of `{}` have unlike times, and are a result each{too}",
            self.name
        ));
        let of = |op: Op| {
            let own = Job { options: self.options.clone().of_one(op), cpu_s: None, ..self.clone() };
            own.without([Unstated::QueueDepth])
        };
        let reads = Job { write: None, trim: None, flush: None, errors: 0, errno: None, ..of(Op::Read) };
        let writes = Job { read: None, ..of(Op::Write) };
        vec![
            Job { sides_s: [read_s, 0.0, 0.0], ..reads },
            Job { sides_s: [0.0, write_s, self.sides_s[2]], ..writes },
        ]
    }

    /// Options of jobs of several kinds: what those moved tells their directions, and nothing the rest.
    fn of_several_kinds(self, notes: &mut Vec<String>) -> Job {
        if !self.is_of_several_kinds || self.parts().next().is_none() {
            return self;
        }
        notes.push(format!(
            "`{}` sums up several jobs (group_reporting) whose options differ or are not given: no depth, order or \
             rate holds for all, and a size is the mean",
            self.name
        ));
        let ios = |side: &Option<Figures>| side.as_ref().and_then(|side| side.ios).unwrap_or(0);
        let options = self.options.clone().of_several_kinds(ios(&self.read), ios(&self.write));
        let cache = (!self.options.has_common_cache()).then_some(Unstated::PageCache);
        let unknown = [Unstated::QueueDepth, Unstated::Order, Unstated::Load].into_iter().chain(cache);
        Job { options, ..self }.without(unknown)
    }

    /// The same with more that is not known.
    fn without(mut self, unknown: impl IntoIterator<Item = Unstated>) -> Job {
        for what in unknown {
            if !self.unstated.contains(&what) {
                self.unstated.push(what);
            }
        }
        self
    }

    /// The same without a depth or a load that its options do not keep.
    fn kept_load(self, notes: &mut Vec<String>) -> Job {
        let ios = |side: &Option<Figures>| side.as_ref().and_then(|side| side.ios).unwrap_or(0);
        let own = match self.options.is_partly_rated() {
            true => {
                let options = self.options.clone().unrated(ios(&self.read), ios(&self.write));
                Job { options, ..self }.without([Unstated::QueueDepth, Unstated::Load])
            }
            false => self,
        };
        if own.searched_depth {
            notes.push(format!(
                "`{}` searched for a queue depth (latency_target): that of its figures may be another than it asks for",
                own.name
            ));
        }
        let is_open = own.searched_depth || own.options.keeps_no_depth;
        own.without(is_open.then_some(Unstated::QueueDepth))
    }

    /// The direction of its failed requests, which fio does not tell: where no space was left, they were writes.
    fn failing(&self) -> Option<Op> {
        let full = self.errno == Some(NO_SPACE) && self.write.is_some();
        if full { Some(Op::Write) } else { self.parts().next().map(|(op, _)| op) }
    }

    /// The same without its failed requests, which fio counts like others.
    fn without_failed(mut self) -> Job {
        let (errors, failing) = (self.errors, self.failing());
        let side = match failing {
            Some(Op::Read) => &mut self.read,
            Some(Op::Write) => &mut self.write,
            _ => &mut self.trim,
        };
        if let Some(side) = side
            && let Some(ios) = side.ios.filter(|&ios| ios >= errors && errors > 0)
        {
            side.ios = Some(ios - errors);
            side.iops = side.iops.map(|iops| iops * (ios - errors) as f64 / ios as f64);
            // What it moved is no throughput.
            if ios == errors {
                (side.bytes, side.bytes_per_s) = (Some(0), Some(0.0));
            }
        }
        self
    }

    pub(super) fn parts(&self) -> impl Iterator<Item = (Op, &Figures)> {
        let parts = [(Op::Read, &self.read), (Op::Write, &self.write), (Op::Trim, &self.trim)];
        parts.into_iter().filter_map(|(op, figures)| Some((op, figures.as_ref()?)))
    }

    /// Bytes of a request, from what was moved; what was asked where the file does not count.
    fn block_size_bytes(&self) -> u64 {
        let (ios, bytes) = self.parts().fold((0, 0), |(ios, bytes), (_, part)| {
            (added([ios, part.ios.unwrap_or(0)]), added([bytes, part.bytes.unwrap_or(0)]))
        });
        let (mean, asked) = (bytes as f64 / ios.max(1) as f64, self.options.block_size_bytes);
        // A request that failed moved less, fio resets its counts amid requests, and bytes without a count say no size.
        let is_asked = ios == 0 || (mean / asked as f64 - 1.0).abs() <= LIKE_SIZES;
        if mean < 1.0 || is_asked { asked } else { mean.round() as u64 }
    }

    /// What is said of sizes that no request need have.
    fn mean_size(&self) -> Option<String> {
        if self.is_of_several_kinds || self.errors > 0 {
            return None;
        }
        let is_mean = |bytes: u64| bytes != self.options.block_size_bytes && !bytes.is_multiple_of(512);
        match self.sizes() {
            Some(sizes) => sizes
                .iter()
                .any(|size| is_mean(size.bytes))
                .then(|| format!("`{}`: the sizes of its requests are means", self.name)),
            None => Some(self.block_size_bytes()).filter(|&bytes| is_mean(bytes)).map(|bytes| {
                format!("`{}`: {} is the mean size of its requests", self.name, units::size(bytes))
            }),
        }
    }

    /// The sizes of the requests of each direction, where they differ, with their numbers: of jobs of several kinds
    /// that fio has summed up.
    fn sizes(&self) -> Option<BlockSizes> {
        let counted =
            self.parts().filter_map(|(_, part)| Some((part.bytes?, part.ios.filter(|&ios| ios > 0)?)));
        let sizes: Vec<(u64, u64)> = counted.map(|(bytes, ios)| ((bytes / ios).max(1), ios)).collect();
        let ends = || sizes.iter().map(|(bytes, _)| *bytes as f64);
        let differ = ends().fold(0.0, f64::max) > (1.0 + LIKE_SIZES) * ends().fold(f64::INFINITY, f64::min);
        differ.then(|| {
            BlockSizes::weighted(&sizes.iter().map(|&(bytes, ios)| (bytes, ios as f64)).collect::<Vec<_>>())
        })
    }

    fn spec(&self) -> TrialSpec {
        let jobs = self.summed.max(1);
        let spec = self.options.spec(self.block_size_bytes(), jobs);
        match self.sizes() {
            Some(sizes) => TrialSpec {
                block_size_bytes: sizes.largest_bytes().unwrap_or(spec.block_size_bytes),
                block_sizes: sizes,
                ..spec
            },
            None => spec,
        }
    }
}

/// The results of all jobs, in their order, and notes on them.
pub(super) fn trials(jobs: Vec<Job>, notes: &mut Vec<String>) -> Vec<Trial> {
    let idle = jobs.iter().filter(|job| job.parts().next().is_none() && job.errors == 0).count();
    if idle > 0 {
        notes.push(format!("{idle} of {} jobs moved nothing and are no result", jobs.len()));
    }
    let mut apart = Vec::new();
    for job in jobs {
        notes.extend(job.mean_size());
        apart.extend(job.without_failed().of_several_kinds(notes).kept_load(notes).by_time(notes));
    }
    let jobs = apart;
    groups(&jobs).iter().filter_map(|group| trial(group)).collect()
}

/// Whether two ran for so long that they ran together. fio's times are whole milliseconds.
fn ran_alike([one_s, other_s]: [f64; 2]) -> bool {
    (one_s - other_s).abs() <= LIKE_TIMES * one_s.max(other_s) + 1e-3
}

/// Jobs that ran together. Those of one group did, unless their times tell otherwise.
fn groups(jobs: &[Job]) -> Vec<Vec<&Job>> {
    let mut groups: Vec<Vec<&Job>> = Vec::new();
    let mut of_number: HashMap<i64, Vec<usize>> = HashMap::new();
    for job in jobs {
        if job.options.begins_later {
            groups.push(vec![job]);
            continue;
        }
        let like = |other: &&Job| ran_alike([other.runtime_s(), job.runtime_s()]);
        let own = of_number.entry(job.group).or_default();
        match own.iter().copied().find(|&at| groups[at].first().is_some_and(like)) {
            Some(at) => groups[at].push(job),
            // More are refused, and looking for a like one takes as long as there are some.
            None if groups.len() > RESULTS_MAX => break,
            None => {
                own.push(groups.len());
                groups.push(vec![job]);
            }
        }
    }
    groups
}

fn trial(group: &[&Job]) -> Option<Trial> {
    let working: Vec<&Job> =
        group.iter().copied().filter(|j| j.parts().next().is_some() || j.errors > 0).collect();
    let first = *working.first()?;
    let alike = working.iter().all(|job| job.options == first.options);
    let mut spec = first.spec();
    let mut streams = Vec::new();
    if alike {
        spec.jobs = working.iter().fold(0, |jobs: u32, job| jobs.saturating_add(job.summed));
    } else {
        spec.and = working[1..].iter().map(|job| job.spec()).collect();
        streams = working.iter().map(|job| stream(job)).collect();
    }
    let measured_s = working.iter().map(|job| job.runtime_s()).fold(0.0, f64::max);
    let side = |op| direction(&working, op);
    let cpu_s: Option<Vec<_>> = working.iter().map(|job| job.cpu_s).collect();
    let sum = |pick: fn(&(f64, f64)) -> f64| cpu_s.as_ref().map(|all| all.iter().map(pick).sum::<f64>());
    let busiest = working.iter().filter_map(|job| {
        let (user_s, system_s) = job.cpu_s?;
        let runtime_s = job.runtime_s();
        (runtime_s > 0.0).then(|| (user_s + system_s) / runtime_s / f64::from(job.summed))
    });
    let names: Vec<&str> = working.iter().map(|job| job.name.as_str()).collect();
    let mut trial = Trial {
        experiment: if alike { first.name.clone() } else { names.join(" + ") },
        measured_s,
        elapsed_s: measured_s,
        read: side(Op::Read),
        write: side(Op::Write),
        trim: side(Op::Trim),
        flush: flush(&working),
        streams,
        busy_share: busiest.reduce(f64::max),
        cpu_user_s: sum(|cpu| cpu.0),
        cpu_system_s: sum(|cpu| cpu.1),
        unstated: unstated(&working),
        ..Trial::blank(spec, Phase::Measure)
    };
    if let Some(every) = writes_a_flush(&trial) {
        trial.spec.sync = trial.spec.sync.with_every(every);
    }
    trial.achieved_rate_iops = trial.spec.rate_iops.map(|_| trial.iops());
    let bytes = |side: &Option<Direction>| side.as_ref().map_or(0, |side| side.bytes);
    trial.witnesses.issued_read_bytes = bytes(&trial.read);
    trial.witnesses.issued_write_bytes = bytes(&trial.write);
    trial.witnesses.issued_trim_bytes = bytes(&trial.trim);
    trial.witnesses.issued_ios = added(trial.directions().map(|(_, side)| side.ios));
    trial.error_examples = working.iter().filter_map(|job| failure(job)).collect();
    Some(trial)
}

/// Writes between two flushes of a mix: fio flushes after its reads, too, while the number of writes stays the same.
fn writes_a_flush(trial: &Trial) -> Option<u32> {
    let (writes, flushes) = (trial.write.as_ref()?.ios, trial.flush.as_ref()?.ios);
    let is_mixed = trial.read.is_some() && trial.spec.and.is_empty();
    (is_mixed && writes > 0 && flushes > 0).then(|| ((writes as f64 / flushes as f64).round() as u32).max(1))
}

/// What is not known of one of them is not known of all.
fn unstated(jobs: &[&Job]) -> Vec<Unstated> {
    let mut all = Vec::new();
    for what in jobs.iter().flat_map(|job| &job.unstated) {
        if !all.contains(what) {
            all.push(*what);
        }
    }
    all
}

/// Why a job failed, or ended early.
fn failure(job: &Job) -> Option<RequestError> {
    match (job.errors, job.errno) {
        (0, _) => job.own_limit.clone(),
        (count, Some(errno)) => Some(RequestError::System { errno, count }),
        (_, None) => Some(RequestError::JobStopped),
    }
}

fn stream(job: &Job) -> Stream {
    let alone = [job];
    Stream {
        spec: job.spec(),
        read: direction(&alone, Op::Read),
        write: direction(&alone, Op::Write),
        trim: direction(&alone, Op::Trim),
        flush: flush(&alone),
        in_flight_mean: None,
        unserved: 0,
        achieved_rate_iops: None,
        measured_s: Some(job.runtime_s()),
        cpu_user_s: job.cpu_s.map(|cpu| cpu.0),
        cpu_system_s: job.cpu_s.map(|cpu| cpu.1),
        windows: Vec::new(),
    }
}

/// The sum of counts; the most that can be counted where a file states more, which no result may.
fn added(counts: impl IntoIterator<Item = u64>) -> u64 {
    counts.into_iter().fold(0, u64::saturating_add)
}

/// Merges one direction of jobs that ran together: rates are added, mean latencies weighted, extremes kept.
fn direction(jobs: &[&Job], op: Op) -> Option<Direction> {
    let parts: Vec<&Figures> =
        jobs.iter().flat_map(|job| job.parts()).filter(|part| part.0 == op).map(|p| p.1).collect();
    let failed = added(jobs.iter().filter(|job| job.failing() == Some(op)).map(|job| job.errors));
    let first = parts.first().copied().cloned();
    let mut all = match parts.len() {
        0 => return None,
        1 => first?,
        _ => Figures {
            ios: parts.iter().map(|part| part.ios).collect::<Option<Vec<u64>>>().map(added),
            bytes: parts.iter().map(|part| part.bytes).collect::<Option<Vec<u64>>>().map(added),
            errors: 0,
            short: added(parts.iter().map(|part| part.short)),
            iops: parts.iter().map(|part| part.iops).sum(),
            bytes_per_s: parts.iter().map(|part| part.bytes_per_s).sum(),
            latency_ns: LatencySummary {
                min: parts.iter().map(|part| part.latency_ns.min).min().flatten(),
                mean: weighted_mean(&parts),
                max: parts.iter().map(|part| part.latency_ns.max).max().flatten(),
                ..LatencySummary::default()
            },
        },
    };
    all.errors = failed;
    all.direction(jobs.first()?.block_size_bytes())
}

fn weighted_mean(parts: &[&Figures]) -> Option<f64> {
    let all: Option<Vec<(f64, f64)>> =
        parts.iter().map(|part| Some((part.ios? as f64, part.latency_ns.mean?))).collect();
    let all = all?;
    let ios: f64 = all.iter().map(|(ios, _)| ios).sum();
    (ios > 0.0).then(|| all.iter().map(|(ios, mean)| ios * mean).sum::<f64>() / ios)
}

fn flush(jobs: &[&Job]) -> Option<Flush> {
    let flushes: Vec<_> = jobs.iter().filter_map(|job| job.flush.as_ref()).collect();
    let ios = added(flushes.iter().map(|(ios, _)| *ios));
    let latency_ns = match flushes[..] {
        [] => return None,
        [(_, latency_ns)] => latency_ns.clone(),
        _ => LatencySummary {
            min: flushes.iter().map(|(_, own)| own.min).min().flatten(),
            mean: flushes.iter().map(|(own, part)| Some(*own as f64 * part.mean? / ios as f64)).sum(),
            max: flushes.iter().map(|(_, own)| own.max).max().flatten(),
            ..LatencySummary::default()
        },
    };
    Some(Flush { ios, errors: 0, latency_ns, histogram: Histogram::new(), commit: None })
}
