//! One fio job: its options as typed values.

use std::collections::BTreeMap;

use iosonde_model::{Rw, TrialSpec, fio::steady_state::SteadyState};

use super::{
    ending::{self, ExitWhat},
    engine,
    given::{Advice, Amount, Change, FILES_MAX, Options},
    latency_target::LatencyTarget,
    least_rate::LeastRate,
    load,
    place::Place,
    read::Section,
    refusal::{Refusal, Why},
    report,
};

/// Files of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobFiles {
    /// Directory of the files.
    pub directory: Option<String>,
    /// Names as given; empty if the job has files of its own.
    pub names: Vec<String>,
    /// Pattern of the names of its own files.
    pub format: String,
    /// Number of its own files.
    pub count: u32,
}

/// A job of fio.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Name.
    pub name: String,
    /// Place of its section.
    pub place: Place,
    /// Workload without its place: offset, span and engine are set when it is laid out.
    pub spec: TrialSpec,
    /// Our engine.
    pub engine: String,
    /// Files.
    pub files: JobFiles,
    /// Size of the addressed part, and, unless told otherwise, of the I/O.
    pub size: Option<Amount>,
    /// Size of a file, where it is not `size`.
    pub file_size: Option<u64>,
    /// Beginning of the addressed part.
    pub offset: Amount,
    /// Distance of the parts of its clones.
    pub increment: Option<Amount>,
    /// Alignment of an offset given in percent.
    pub offset_align: Option<u64>,
    /// Bytes of I/O, where they are not `size`.
    pub io_size: Option<Amount>,
    /// Requests after which it ends.
    pub ios: Option<u64>,
    /// Passes.
    pub loops: u64,
    /// Longest time.
    pub runtime_ns: Option<u64>,
    /// True if it runs for its whole time.
    pub time_based: bool,
    /// Warm-up.
    pub ramp_ns: u64,
    /// Greatest latency; the run fails where a request takes longer.
    pub max_latency_ns: Option<u64>,
    /// Throughput below which the run fails.
    pub least_rate: Option<LeastRate>,
    /// Throughput that ends it once it is steady.
    pub steady: Option<SteadyState>,
    /// Jobs that end with it.
    pub exit_what: Option<ExitWhat>,
    /// Search for the deepest queue that keeps a latency.
    pub latency_target: Option<LatencyTarget>,
    /// True if the page cache is emptied of its file before it runs.
    pub invalidate: bool,
    /// What the kernel is told of the order of its requests.
    pub advice: Advice,
    /// True if it waits for all jobs before it.
    pub stonewall: bool,
    /// Name of the job that it waits for.
    pub wait_for: Option<String>,
    /// True if it begins a reporting group.
    pub new_group: bool,
    /// True if jobs of its reporting group are reported as one.
    pub group_reporting: bool,
    /// What is done otherwise.
    pub changes: Vec<Change>,
    /// Options as given, those of `[global]` included.
    pub given: BTreeMap<String, String>,
    /// Places of the options.
    places: BTreeMap<&'static str, Place>,
}

impl Job {
    /// Reads a section.
    pub fn of(section: &Section) -> Result<Self, Refusal> {
        Self::read(section).map(|(job, _)| job)
    }

    pub(super) fn read(section: &Section) -> Result<(Self, Options), Refusal> {
        let mut changes = Vec::new();
        let options = Options::of(section, &mut changes)?;
        let engine = engine::engine(&options, &mut changes)?;
        let spec = load::spec(&options, &engine, &mut changes)?;
        let files = files(&options)?;
        let given =
            options.given.values().map(|one| (one.option.name.to_owned(), one.value.clone())).collect();
        let one_or_more = |name| match options.number(name, u64::from(u32::MAX))? {
            Some(0) => Err(options.misread(name, "it is at least 1")),
            number => Ok(number),
        };
        let job = Self {
            name: name(section, &options).to_owned(),
            place: section.place.clone(),
            engine,
            files,
            size: options.amount("size")?,
            file_size: file_size(&options)?,
            offset: options.amount("offset")?.unwrap_or(Amount::Bytes(0)),
            increment: options.amount("offset_increment")?,
            offset_align: options.size("offset_align")?.filter(|&bytes| bytes > 0),
            io_size: options.amount("io_size")?.filter(|size| *size != Amount::Bytes(0)),
            ios: options.number("number_ios", u64::MAX)?.filter(|&ios| ios > 0),
            loops: one_or_more("loops")?.unwrap_or(1),
            runtime_ns: options.time_ns("runtime")?.filter(|&ns| ns > 0),
            time_based: options.yes("time_based")?.unwrap_or(false),
            ramp_ns: options.time_ns("ramp_time")?.unwrap_or(0),
            max_latency_ns: options.short_time_ns("max_latency")?,
            least_rate: LeastRate::of(&options, spec.rw)?,
            steady: ending::steady(&options)?,
            exit_what: ending::exit_what(&options)?,
            latency_target: LatencyTarget::of(&options)?,
            invalidate: options.yes("invalidate")?.unwrap_or(true),
            advice: advice(&options, spec.rw)?,
            stonewall: options.yes("stonewall")?.unwrap_or(false) || section.begins_file,
            wait_for: options.text("wait_for").map(str::to_owned),
            new_group: options.yes("new_group")?.unwrap_or(false),
            group_reporting: options.yes("group_reporting")?.unwrap_or(false),
            changes,
            given,
            places: options.given.iter().map(|(name, given)| (*name, given.place.clone())).collect(),
            spec,
        };
        job.refuse_contradictions(&options)?;
        report::check(&options)?;
        Ok((job, options))
    }

    /// Place of an option; that of the section for one that was not given.
    pub fn place_of(&self, option: &str) -> &Place {
        self.places.get(option).unwrap_or(&self.place)
    }

    fn refuse_contradictions(&self, options: &Options) -> Result<(), Refusal> {
        let refuse = |option, text: &str| Err(Why::Contradiction(text.to_owned()).at(options.place(option)));
        if self.time_based && self.runtime_ns.is_none() {
            return refuse("time_based", "time_based needs a runtime");
        }
        if self.latency_target.is_some() && self.spec.rate_iops.is_some() {
            return refuse(
                "latency_target",
                "latency_target and a rate contradict each other: both set the load",
            );
        }
        if self.ramp_ns > 0 && !self.time_based {
            return refuse("ramp_time", "ramp_time is supported with time_based and runtime");
        }
        if self.spec.sync.at_end() && self.loops > 1 {
            return Err(options.unsupported("loops", "fio flushes at the end of each loop; use one"));
        }
        if !self.spec.rw.is_random() && (self.files.count > 1 || self.files.names.len() > 1) {
            let option = if self.files.count > 1 { "nrfiles" } else { "filename" };
            return Err(options
                .unsupported(option, "a sequential job has one file here; give each file a job of its own"));
        }
        Ok(())
    }
}

/// Name of a job: a `name` of its own comes before that of its section, one of `[global]` does not.
fn name<'a>(section: &'a Section, options: &'a Options) -> &'a str {
    let own = section.own.iter().any(|one| one.option.name == "name");
    options.text("name").filter(|_| own).unwrap_or(&section.name)
}

/// By default fio tells the kernel which order is to come.
fn advice(options: &Options, rw: Rw) -> Result<Advice, Refusal> {
    match options.text("fadvise_hint") {
        None | Some("1") => Ok(if rw.is_random() { Advice::Random } else { Advice::Sequential }),
        Some("0" | "none") => Ok(Advice::Normal),
        Some("random") => Ok(Advice::Random),
        Some("sequential") => Ok(Advice::Sequential),
        Some(_) => Err(options.misread("fadvise_hint", "it is 0, 1, random or sequential")),
    }
}

fn file_size(options: &Options) -> Result<Option<u64>, Refusal> {
    if options.text("filesize").is_some_and(|word| word.contains(['-', ':'])) {
        return Err(options.unsupported("filesize", "files of a job have one size"));
    }
    Ok(options.size("filesize")?.filter(|&bytes| bytes > 0))
}

fn files(options: &Options) -> Result<JobFiles, Refusal> {
    let names = options.text("filename").map(split_names).unwrap_or_default();
    if names.iter().any(|name| name == "-") {
        return Err(options.unsupported("filename", "standard input and output are no storage"));
    }
    let directory = options.text("directory").map(str::to_owned);
    if directory.as_ref().is_some_and(|list| split_names(list).len() > 1) {
        return Err(options
            .unsupported("directory", "the files of all jobs lie in one directory; run each by itself"));
    }
    let format = options.text("filename_format").unwrap_or("$jobname.$jobnum.$filenum").to_owned();
    let count = match options.number("nrfiles", FILES_MAX)? {
        Some(0) => return Err(options.misread("nrfiles", "it is at least 1")),
        count if names.is_empty() => count.unwrap_or(1) as u32,
        // fio takes the named files, however many `nrfiles` requests.
        _ => 1,
    };
    Ok(JobFiles { directory: directory.map(|path| path.replace("\\:", ":")), names, format, count })
}

/// `a:b\:c` names two files. A simulated device is one name.
fn split_names(list: &str) -> Vec<String> {
    if list.starts_with("sim:") {
        return vec![list.to_owned()];
    }
    let mut names = vec![String::new()];
    let mut letters = list.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.peek() == Some(&':') => {
                names.last_mut().expect("there is one").push(letters.next().expect("it was seen"))
            }
            ':' => names.push(String::new()),
            letter => names.last_mut().expect("there is one").push(letter),
        }
    }
    names.retain(|name| !name.is_empty());
    names
}
