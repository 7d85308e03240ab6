//! Jobs that run at once, laid out on one target: files become parts of it, jobs become streams of one trial.

use std::collections::{HashMap, hash_map::Entry};

use iosonde_model::{
    Distribution, Ranges, TrialSpec,
    fio::{FioReport, steady_state::SteadyState},
};

use super::{
    ending::ExitWhat,
    given::{Advice, Amount, FILES_MAX},
    job::Job,
    refusal::{Refusal, Why},
};

/// Jobs that run at once.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The jobs, in their order.
    pub jobs: Vec<Job>,
    /// Number of the reporting group of each.
    pub reporting: Vec<u32>,
    /// Number of the first of them among all jobs, clones counted, from 1.
    pub first_job: u32,
}

/// The largest place in a file that the kernel can name.
const BYTES_MAX: u64 = i64::MAX as u64;

/// End of a stream.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ends {
    /// Longest time, warm-up included; `None` where its requests end it.
    pub duration_ns: Option<u64>,
    /// Warm-up.
    pub warm_up_ns: u64,
    /// Requests of each job after which it ends.
    pub ios: Option<u64>,
    /// Throughput that ends it once it is steady.
    pub steady: Option<SteadyState>,
    /// Jobs that end with it.
    pub exit_what: Option<ExitWhat>,
}

/// Target of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Site {
    /// An existing file or device, or a simulated one.
    Existing(String),
    /// Directory in which a file of our own stands for all files of the group.
    Own(String),
}

impl Site {
    /// The target as `iosonde point` takes it.
    pub fn target(&self) -> &str {
        match self {
            Self::Existing(path) | Self::Own(path) => path,
        }
    }
}

/// What a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// A directory.
    Directory,
    /// A file, a device, or anything else that is no directory.
    File,
}

/// Upper bounds that the user set to try a job file quickly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Caps {
    /// Longest time of a job.
    pub time_ns: Option<u64>,
    /// Largest file of a job, and most I/O.
    pub size_bytes: Option<u64>,
}

/// A group as a workload.
#[derive(Debug, Clone, PartialEq)]
pub struct Laid {
    /// Streams.
    pub spec: TrialSpec,
    /// End of each stream.
    pub ends: Vec<Ends>,
    /// Entries of the report.
    pub reports: Vec<FioReport>,
    /// Bytes of the target that are addressed.
    pub bytes: u64,
}

impl Laid {
    /// The workload at another depth.
    pub fn at_depth(&self, queue_depth: u32) -> TrialSpec {
        self.spec.clone().each_stream(|stream| TrialSpec {
            queue_depth,
            refill_at: stream.refill_at.filter(|&at| at + 1 < queue_depth),
            ..stream
        })
    }
}

/// Files of a group, in the order in which they lie.
#[derive(Default)]
struct Files {
    /// Index of each, by its path.
    places: HashMap<String, usize>,
    sizes_bytes: Vec<u64>,
    /// Where each begins.
    bases_bytes: Vec<u64>,
}

impl Files {
    fn is_empty(&self) -> bool {
        self.sizes_bytes.is_empty()
    }

    /// Adds a file, or makes one larger that another job has, too.
    fn add(&mut self, path: String, bytes: u64) {
        match self.places.entry(path) {
            Entry::Occupied(known) => {
                let size = &mut self.sizes_bytes[*known.get()];
                *size = bytes.max(*size);
            }
            Entry::Vacant(place) => {
                place.insert(self.sizes_bytes.len());
                self.sizes_bytes.push(bytes);
            }
        }
    }

    /// Puts them one after another; `None` where they are larger than a file may be.
    fn line_up(&mut self) -> Option<u64> {
        self.bases_bytes.clear();
        let mut all = 0_u64;
        for bytes in &self.sizes_bytes {
            self.bases_bytes.push(all);
            all = all.checked_add(*bytes).filter(|all| *all <= BYTES_MAX)?;
        }
        Some(all)
    }

    /// Beginning of the first of these files, and bytes of all of them.
    fn part(&self, paths: &[String]) -> (u64, u64) {
        let mut found: Vec<usize> = paths.iter().filter_map(|path| self.places.get(path).copied()).collect();
        found.sort_unstable();
        found.dedup();
        let bytes = found.iter().map(|&file| self.sizes_bytes[file]).sum();
        (found.first().map_or(0, |&file| self.bases_bytes[file]), bytes)
    }
}

/// Groups of jobs, cut where one waits for those before.
///
/// # Errors
/// A `wait_for` whose job is beside others that go on running, or none before it.
pub fn groups(jobs: Vec<Job>) -> Result<Vec<Group>, Refusal> {
    let mut groups: Vec<Group> = Vec::new();
    let (mut reporting, mut number) = (0, 1);
    for job in jobs {
        let first = groups.is_empty();
        if !first && (job.stonewall || job.new_group) {
            reporting += 1;
        }
        if is_next(&groups, &job)? {
            groups.push(Group { jobs: Vec::new(), reporting: Vec::new(), first_job: number });
        }
        let group = groups.last_mut().expect("one was begun");
        number += job.spec.jobs;
        group.jobs.push(job);
        group.reporting.push(reporting);
    }
    groups.iter().try_for_each(refuse_a_search_beside_others)?;
    Ok(groups)
}

/// Beside another job, a depth would be right for that one's load alone.
fn refuse_a_search_beside_others(group: &Group) -> Result<(), Refusal> {
    match group.jobs.iter().find(|job| job.latency_target.is_some() && group.jobs.len() > 1) {
        Some(job) => {
            let why = "latency_target goes with one job at a time; put `stonewall` into the next one";
            Err(Why::Contradiction(why.to_owned()).at(job.place_of("latency_target").clone()))
        }
        None => Ok(()),
    }
}

/// Whether a job begins when the last group has ended, and not with it.
fn is_next(groups: &[Group], job: &Job) -> Result<bool, Refusal> {
    let has = |group: &Group, name: &str| group.jobs.iter().any(|one| one.name == name);
    let refuse = |option: &'static str, instead: &str| {
        let value = job.wait_for.clone().unwrap_or_default();
        Err(Why::Value { name: option, value, instead: instead.to_owned() }.at(job.place_of(option).clone()))
    };
    // What the jobs of the last group waited for, where it was that.
    let Some((last, before)) = groups.split_last() else {
        let is_unknown = job.wait_for.is_some();
        return if is_unknown { refuse("wait_for", "it names no job before this one") } else { Ok(true) };
    };
    let began_after = last.jobs[0].wait_for.as_ref().filter(|_| !last.jobs[0].stonewall);
    match (&job.wait_for, began_after) {
        _ if job.stonewall => Ok(true),
        (None, None) => Ok(false),
        (None, Some(_)) => refuse(
            "wait_for",
            "a job behind one that waits begins with the first jobs: put those that wait last, or `stonewall` here",
        ),
        (Some(name), Some(awaited)) if name == awaited => Ok(false),
        (Some(name), _) if last.jobs.iter().all(|one| one.name == *name) => Ok(true),
        (Some(name), _) if has(last, name) || before.iter().any(|group| has(group, name)) => {
            refuse("wait_for", "other jobs run beside that one; `stonewall` waits for all jobs before")
        }
        (Some(_), _) => refuse("wait_for", "it names no job before this one"),
    }
}

impl Job {
    /// Paths of its files, for a clone; those of all clones are the same where `filename` was given.
    fn paths(&self, clone: u32) -> Vec<String> {
        let within = |name: String| match &self.files.directory {
            Some(directory) if !name.starts_with("sim:") => format!("{directory}/{name}"),
            _ => name,
        };
        if !self.files.names.is_empty() {
            return self.files.names.iter().cloned().map(within).collect();
        }
        let name = |file: u32| {
            let name =
                self.files.format.replace("$jobname", &self.name).replace("$jobnum", &clone.to_string());
            within(name.replace("$filenum", &file.to_string()).replace("$clientuid", ""))
        };
        (0..self.files.count).map(name).collect()
    }

    fn shares_files(&self) -> bool {
        self.spec.jobs == 1 || self.paths(0) == self.paths(1)
    }

    /// Unit of its parts: whole blocks that begin on the alignment.
    fn unit_bytes(&self) -> u64 {
        let align = self.spec.align_bytes.unwrap_or_else(|| self.spec.smallest_block_bytes()).max(1);
        self.spec.block_size_bytes.div_ceil(align).saturating_mul(align)
    }
}

impl Group {
    /// The one target of all jobs.
    ///
    /// # Errors
    /// Refuses jobs that are on several targets at once.
    pub fn site(&self, found: &dyn Fn(&str) -> Found) -> Result<Site, Refusal> {
        let mut site: Option<Site> = None;
        for job in &self.jobs {
            let option = if job.files.names.is_empty() { "directory" } else { "filename" };
            for path in (0..job.spec.jobs).flat_map(|clone| job.paths(clone)) {
                let one = self.site_of(job, option, &path, found)?;
                if site.as_ref().is_some_and(|site| *site != one) {
                    let other = site.as_ref().map_or("", Site::target);
                    let text = format!(
                        "{option}: jobs that run at once are on one target, and this one is on {} beside {other}; put \
                         `stonewall` between them, or give all --target",
                        one.target()
                    );
                    return Err(Why::Contradiction(text).at(job.place_of(option).clone()));
                }
                site = Some(one);
                // Clones of a job lie in one directory.
                if !job.files.names.is_empty() || job.files.count == 1 && job.spec.jobs == 1 {
                    continue;
                }
                break;
            }
        }
        Ok(site.expect("a group has a job, and a job a file"))
    }

    fn site_of(
        &self,
        job: &Job,
        option: &'static str,
        path: &str,
        found: &dyn Fn(&str) -> Found,
    ) -> Result<Site, Refusal> {
        if path.starts_with("sim:") {
            return Ok(Site::Existing(path.to_owned()));
        }
        match found(path) {
            // Files that fio made up names for are never ours to overwrite; they are made beside it.
            Found::File if !job.files.names.is_empty() => Ok(Site::Existing(path.to_owned())),
            Found::Directory => {
                let text = format!("{option}={path} is a directory; directory={path} puts files there");
                Err(Why::Contradiction(text).at(job.place_of(option).clone()))
            }
            // A file made there would be memory.
            Found::Nothing if path.starts_with("/dev/") && !path.starts_with("/dev/shm/") => {
                let text = format!("{option}: there is no device {path}; --target names another place");
                Err(Why::Contradiction(text).at(job.place_of(option).clone()))
            }
            Found::File | Found::Nothing => {
                let directory = path
                    .rsplit_once('/')
                    .map_or("./", |(directory, _)| if directory.is_empty() { "/" } else { directory });
                match found(directory) {
                    Found::Directory => Ok(Site::Own(directory.to_owned())),
                    _ => {
                        let text = format!(
                            "{option}: there is no directory {directory} for {path}; --target names another place"
                        );
                        Err(Why::Contradiction(text).at(job.place_of(option).clone()))
                    }
                }
            }
        }
    }

    /// What the kernel is told of the one open file: nothing where its jobs differ.
    pub fn advice(&self) -> Advice {
        let first = self.jobs[0].advice;
        if self.jobs.iter().all(|job| job.advice == first) { first } else { Advice::Normal }
    }

    /// Bytes of a target that the group needs; `None` where it takes the whole of an existing one.
    ///
    /// # Errors
    /// Refuses jobs that say no size of a file that does not exist.
    pub fn needs_bytes(&self, site: &Site, caps: Caps) -> Result<Option<u64>, Refusal> {
        match site {
            Site::Existing(_) if caps.size_bytes.is_none() => Ok(None),
            Site::Existing(_) => Ok(caps.size_bytes),
            Site::Own(_) => Ok(Some(self.files(caps)?.sizes_bytes.iter().sum())),
        }
    }

    /// Files of the group that do not exist yet.
    fn files(&self, caps: Caps) -> Result<Files, Refusal> {
        let mut files = Files::default();
        for job in &self.jobs {
            let each = job.file_bytes(caps)?;
            let each_clone = job.files.names.len().max(job.files.count as usize) as u64;
            let named = u64::from(job.spec.jobs) * each_clone;
            if named + files.sizes_bytes.len() as u64 > FILES_MAX {
                let text = format!("with those of `{}` there are more than {FILES_MAX} files", job.name);
                return Err(Why::Contradiction(text).at(job.place_of("nrfiles").clone()));
            }
            for path in (0..job.spec.jobs).flat_map(|clone| job.paths(clone)) {
                files.add(path, each);
            }
            if files.line_up().is_none() {
                let text = format!("with the files of `{}` the group would be larger than 8 EiB", job.name);
                return Err(Why::Contradiction(text).at(job.place.clone()));
            }
        }
        Ok(files)
    }

    /// The workload on a target of which so many bytes are addressed.
    ///
    /// # Errors
    /// Refuses what does not fit, and jobs that differ in what one open file has only once.
    pub fn lay(&self, site: &Site, capacity_bytes: u64, caps: Caps) -> Result<Laid, Refusal> {
        let files = match site {
            Site::Own(_) => self.files(caps)?,
            Site::Existing(_) => Files::default(),
        };
        let mut streams: Vec<(TrialSpec, Ends)> = Vec::new();
        let mut reports: Vec<FioReport> = Vec::new();
        let mut number = self.first_job;
        for (job, group) in self.jobs.iter().zip(&self.reporting) {
            if job.spec.direct != self.jobs[0].spec.direct {
                let why = "direct: jobs that run at once are all direct or all buffered; put `stonewall` between them";
                return Err(Why::Contradiction(why.to_owned()).at(job.place_of("direct").clone()));
            }
            let before = streams.len();
            job.lay(&files, capacity_bytes, caps, &mut streams)?;
            let of: Vec<usize> = (before..streams.len()).collect();
            match reports.last_mut().filter(|last| last.group == *group && job.group_reporting) {
                Some(last) => {
                    last.streams.extend(of);
                    last.jobs += job.spec.jobs;
                }
                None => reports.push(FioReport {
                    name: job.name.clone(),
                    group: *group,
                    jobs: job.spec.jobs,
                    first_job: number,
                    streams: of,
                    options: job.given.clone(),
                }),
            }
            number += job.spec.jobs;
        }
        for (spec, _) in &mut streams {
            // As a warm-up: the cap holds for all of it.
            spec.delay_ns = caps.time_ns.map_or(spec.delay_ns, |most| spec.delay_ns.min(most / 4));
        }
        let bytes = streams.iter().map(|(spec, _)| spec.offset_bytes + spec.span_bytes).max().unwrap_or(0);
        let (specs, ends): (Vec<TrialSpec>, Vec<Ends>) = streams.into_iter().unzip();
        let mut specs = specs.into_iter();
        let first = specs.next().expect("a job has a stream");
        Ok(Laid { spec: TrialSpec { and: specs.collect(), ..first }, ends, reports, bytes })
    }
}

impl Job {
    /// Bytes of one of its files that does not exist yet.
    fn file_bytes(&self, caps: Caps) -> Result<u64, Refusal> {
        let count = self.files.names.len().max(self.files.count as usize) as u64;
        let new = |option: &'static str| {
            let text =
                format!("{option}: a share needs a file or device that exists; write bytes, as in size=1g");
            Why::Contradiction(text).at(self.place_of(option).clone())
        };
        let bytes = match (self.file_size, self.size) {
            (Some(bytes), _) => bytes,
            (None, Some(Amount::Bytes(bytes))) if bytes > 0 => bytes / count,
            (None, Some(Amount::Percent(_))) => return Err(new("size")),
            (None, _) if caps.size_bytes.is_some() => caps.size_bytes.unwrap_or(0),
            (None, _) => {
                let text = format!(
                    "the job `{}` needs a size: its file does not exist (--size 1g gives one)",
                    self.name
                );
                return Err(Why::Contradiction(text).at(self.place.clone()));
            }
        };
        let Amount::Bytes(offset) = self.offset else { return Err(new("offset")) };
        let increment = match self.increment {
            None => 0,
            Some(Amount::Bytes(step)) => step,
            Some(Amount::Percent(_)) => return Err(new("offset_increment")),
        };
        let capped = caps.size_bytes.map_or(bytes, |most| bytes.min(most / count).max(self.unit_bytes()));
        let clones = u64::from(self.spec.jobs) - 1;
        let whole =
            clones.checked_mul(increment).and_then(|more| more.checked_add(offset)?.checked_add(capped));
        let whole = whole.filter(|whole| *whole <= BYTES_MAX);
        let whole = whole.ok_or_else(|| {
            Why::Contradiction("the file would be larger than 8 EiB".into()).at(self.place.clone())
        })?;
        // Parts begin on pages and on whole blocks.
        let unit = self.unit_bytes().max(4096);
        Ok(if self.shares_files() { whole } else { whole / unit * unit }.max(self.unit_bytes()))
    }

    /// The streams of the job: one, or one for each clone where their parts are not alike.
    fn lay(
        &self,
        files: &Files,
        capacity_bytes: u64,
        caps: Caps,
        streams: &mut Vec<(TrialSpec, Ends)>,
    ) -> Result<(), Refusal> {
        let clones = self.spec.jobs;
        let part = |clone: u32| -> Result<Part, Refusal> {
            let (base, whole) = match files.is_empty() {
                true => (0, capacity_bytes),
                false => self.lies(files, clone),
            };
            let step = self.increment.map_or(0, |step| step.of(whole)).saturating_mul(u64::from(clone));
            let mut offset = self.offset.of(whole);
            if let Amount::Percent(_) = self.offset {
                let align = self.offset_align.unwrap_or_else(|| self.spec.smallest_block_bytes()).max(1);
                offset = offset / align * align;
            }
            let from = offset.saturating_add(step);
            let room = whole.saturating_sub(from);
            let bytes = self.addressed(whole, files.is_empty(), caps).min(room);
            if bytes < self.spec.block_size_bytes {
                let text = format!(
                    "the job `{}` addresses {bytes} B from {from}, less than a block; the file or device has {whole} B",
                    self.name
                );
                return Err(Why::Contradiction(text).at(self.place.clone()));
            }
            Ok(Part { offset: base + from, bytes, is_inner: from + bytes < whole })
        };
        let first = part(0)?;
        let end = self.ends(first, caps);
        let plain = Ends { ..end };
        if clones == 1
            || (self.shares_files() && self.increment.is_none())
            || (!files.is_empty() && self.apart_evenly(files))
        {
            let disjoint = clones > 1 && !self.shares_files() && !files.is_empty();
            let span = if disjoint { first.bytes * u64::from(clones) } else { first.bytes };
            let ranges =
                if disjoint || clones > 1 && self.spec.verify { Ranges::Disjoint } else { Ranges::Shared };
            streams.push((self.at(first.offset, span, clones, ranges), plain));
            return Ok(());
        }
        for clone in 0..clones {
            let own = part(clone)?;
            streams.push((self.at(own.offset, own.bytes, 1, Ranges::Shared), self.ends(own, caps)));
        }
        Ok(())
    }

    fn at(&self, offset_bytes: u64, span_bytes: u64, jobs: u32, ranges: Ranges) -> TrialSpec {
        let engine = self.engine.to_owned();
        let mut spec = TrialSpec { offset_bytes, span_bytes, jobs, ranges, engine, ..self.spec.clone() };
        // A map of blocks needs blocks: one of a single block is the same without.
        if spec.distribution == Distribution::Once
            && spec.block_sizes.is_one()
            && span_bytes < 2 * spec.block_size_bytes
            && !spec.rw.trims()
        {
            spec.distribution = Distribution::Uniform;
        }
        // fio gives each clone a map of its own. A hole cannot be punched twice.
        let clones = spec.jobs > 1 && spec.ranges == Ranges::Shared && !spec.rw.trims();
        if spec.distribution == Distribution::Once && clones {
            spec.distribution = Distribution::OncePerJob;
        }
        spec
    }

    /// Beginning and size of a clone's files, which lie one after another.
    fn lies(&self, files: &Files, clone: u32) -> (u64, u64) {
        files.part(&self.paths(clone))
    }

    /// Whether the files of its clones follow each other, all of one size, with nothing left out.
    fn apart_evenly(&self, files: &Files) -> bool {
        let (base, bytes) = self.lies(files, 0);
        self.offset == Amount::Bytes(0)
            && self.increment.is_none()
            && self.addressed(bytes, false, Caps::default()) >= bytes
            && bytes % self.unit_bytes() == 0
            && (0..self.spec.jobs)
                .all(|clone| self.lies(files, clone) == (base + u64::from(clone) * bytes, bytes))
    }

    /// Bytes that a job addresses, of a whole of so many.
    fn addressed(&self, whole_bytes: u64, exists: bool, caps: Caps) -> u64 {
        let asked = match (self.file_size, self.size) {
            (Some(bytes), _) if exists => bytes.saturating_mul(self.files.names.len().max(1) as u64),
            (Some(_), _) => whole_bytes,
            (None, Some(Amount::Bytes(0)) | None) => whole_bytes,
            (None, Some(size)) => size.of(whole_bytes),
        };
        caps.size_bytes.map_or(asked, |most| asked.min(most))
    }

    /// Its size, where a file or device that exists has less: fio would make the file larger.
    pub fn more_than(&self, capacity_bytes: u64, caps: Caps) -> Option<u64> {
        match self.addressed(capacity_bytes, true, caps) {
            asked if asked > capacity_bytes => Some(asked),
            _ => None,
        }
    }

    /// When a stream ends that addresses a part.
    fn ends(&self, part: Part, caps: Caps) -> Ends {
        let span_bytes = part.bytes;
        let runtime = match (self.runtime_ns, caps.time_ns) {
            (Some(own), Some(most)) => Some(own.min(most)),
            (own, most) => own.or(most),
        };
        // The cap holds for all of it.
        let ramp_ns = caps.time_ns.map_or(self.ramp_ns, |most| self.ramp_ns.min(most / 4));
        let duration_ns = runtime.map(|ns| ns.saturating_add(ramp_ns));
        let step = mean_bytes(&self.spec);
        let (io_bytes, is_file) = match (self.io_size, self.file_size, self.size) {
            (Some(size), ..) => (size.of(span_bytes), false),
            // With filesize, size is the amount of I/O alone.
            (None, Some(_), Some(Amount::Bytes(bytes))) if bytes > 0 => (bytes, false),
            _ => (span_bytes, true),
        };
        let io_bytes = caps.size_bytes.map_or(io_bytes, |most| io_bytes.min(most)) as f64;
        // fio's files end with a whole block, and an amount of I/O is over with the request that completes it.
        let requests = match is_file && self.spec.block_sizes.is_one() {
            true => whole_blocks(&self.spec, io_bytes, step, part.is_inner) * self.loops as f64,
            false => (io_bytes * self.loops as f64 / step).ceil().max(1.0),
        };
        let requests = if requests >= u64::MAX as f64 { u64::MAX } else { requests as u64 };
        let by_size = (!self.time_based).then_some(requests);
        let ios = [by_size, self.ios].into_iter().flatten().min();
        Ends { duration_ns, warm_up_ns: ramp_ns, ios, steady: self.steady, exit_what: self.exit_what }
    }

    /// Whether the caps shorten or shrink it.
    pub fn is_capped(&self, caps: Caps) -> (bool, bool) {
        let shorter = caps.time_ns.is_some_and(|most| self.runtime_ns.is_none_or(|own| own > most));
        let larger =
            |size: Option<u64>| caps.size_bytes.is_some_and(|most| size.is_none_or(|own| own > most));
        let size = match self.size {
            Some(Amount::Bytes(bytes)) if bytes > 0 => Some(bytes),
            _ => self.file_size,
        };
        (shorter, larger(size))
    }
}

/// Part of a file or device that a stream addresses.
#[derive(Debug, Clone, Copy)]
struct Part {
    offset: u64,
    bytes: u64,
    /// True if the file goes on behind it.
    is_inner: bool,
}

/// Requests of a file. Jobs with gaps begin again at its start until they have moved all of its bytes, as fio does; a
/// pass whose last block ends with the file ends the job there, too, and so does a pass of a part that the file goes on
/// behind.
fn whole_blocks(spec: &TrialSpec, file_bytes: f64, block_bytes: f64, is_inner: bool) -> f64 {
    let stride = spec.stride_bytes.filter(|_| !spec.backwards).map(|bytes| bytes as f64);
    let passed = stride.filter(|stride| is_inner || (file_bytes - block_bytes) % stride == 0.0);
    let requests =
        passed.map_or(file_bytes / block_bytes, |stride| ((file_bytes - block_bytes) / stride).floor() + 1.0);
    requests.floor().max(1.0)
}

/// Mean size of a request.
fn mean_bytes(spec: &TrialSpec) -> f64 {
    if spec.block_sizes.is_one() {
        return spec.block_size_bytes as f64;
    }
    spec.block_sizes.iter().map(|size| size.bytes as f64 * size.percent / 100.0).sum()
}
