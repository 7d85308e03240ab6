//! The common shape of an experiment's points: every combination of the lists in a study.
//!
//! Experiments share their keys: the meaning and the limits of `block_size` or `depth` are defined here once. An
//! experiment names the keys that it takes, each with its own default; other keys keep their usual values.

use iosonde_model::{
    Arrivals, Device, Distribution, Files, LatencyLimit, Payload, Rw, StridePass, Sync, TrialSpec, units,
};

use super::{Parameter, ParameterError, Parameters};

/// More combinations than any budget holds; a slip such as a fifth range of a thousand values should be said, not
/// computed.
const POINTS_MAX: usize = 4096;
/// Largest request: the kernel's length is a 32-bit number, and transfers are short above 2 GiB (read(2)).
const BLOCK_MAX_BYTES: u64 = 1 << 30;
/// Largest queue depth, equal to that of `iosonde point`.
const DEPTH_MAX: u32 = 65_536;
const JOBS_MAX: u32 = 1024;

const fn key(key: &'static str, explain: &'static str, default: &'static str) -> Parameter {
    Parameter { key, explain, default }
}

pub(super) const fn rw(default: &'static str) -> Parameter {
    key("rw", "access patterns, by fio's names", default)
}

pub(super) const fn block_size(default: &'static str) -> Parameter {
    key("block_size", "sizes of a request in bytes", default)
}

pub(super) const fn depth(default: &'static str) -> Parameter {
    key("depth", "queue depth of each job", default)
}

pub(super) const fn jobs(default: &'static str) -> Parameter {
    key("jobs", "workers at the same time", default)
}

pub(super) const fn hosts(default: &'static str) -> Parameter {
    key("hosts", "hosts that take part; N is all hosts of the run", default)
}

pub(super) const fn mix(default: &'static str) -> Parameter {
    key("mix", "share of reads in percent, for randrw and rw", default)
}

pub(super) const fn stride(default: &'static str) -> Parameter {
    key("stride", "bytes from the start of one sequential request to that of the next", default)
}

pub(super) const fn offset(default: &'static str) -> Parameter {
    key("offset", "bytes before the part that is addressed", default)
}

pub(super) const fn align(default: &'static str) -> Parameter {
    key("align", "random addresses are multiples of this many bytes", default)
}

pub(super) const fn span(default: &'static str) -> Parameter {
    key("span", "bytes that are addressed, or a share of what is prepared (50%)", default)
}

pub(super) const fn distribution(default: &'static str) -> Parameter {
    key("distribution", "of random addresses: uniform, once, zipf:1.1, hot:80%/20%, ..", default)
}

pub(super) const fn sync(default: &'static str) -> Parameter {
    key(
        "sync",
        "what makes writes durable: none, fsync:N, fdatasync:N, fsync:end, fdatasync:end, dsync or osync",
        default,
    )
}

pub(super) const fn payload(default: &'static str) -> Parameter {
    key("payload", "what is written: random, zero, compress:P% or dedupe:P%", default)
}

pub(super) const fn rate(default: &'static str) -> Parameter {
    key("rate", "requests that become due each second, of each job", default)
}

pub(super) const fn arrivals(default: &'static str) -> Parameter {
    key("arrivals", "fixed or poisson, where a rate is given", default)
}

pub(super) const fn limit(default: &'static str) -> Parameter {
    key("limit", "a latency to keep, as p99=1ms", default)
}

pub(super) const fn files(default: &'static str) -> Parameter {
    key("files", "file that sequential writes go to: new (one for each pass), or same", default)
}

pub(super) const fn buffered(default: &'static str) -> Parameter {
    key("buffered", "use the page cache: true, false or both", default)
}

/// Returns every combination, in the order of the lists below, patterns outermost. Points that the device does not
/// allow are included: the plan leaves them out for all experiments alike.
pub(super) fn cross(given: &Parameters, device: &Device) -> Result<Vec<TrialSpec>, ParameterError> {
    let patterns = match given.has("mix") {
        true => given.patterns("rw")?,
        false => given.single_direction_patterns("rw")?,
    };
    crossed(given, device, patterns)
}

/// Returns every combination for one given pattern, for experiments without a key for it.
pub(super) fn cross_as(
    given: &Parameters,
    device: &Device,
    rw: Rw,
) -> Result<Vec<TrialSpec>, ParameterError> {
    crossed(given, device, vec![rw])
}

fn crossed(given: &Parameters, device: &Device, patterns: Vec<Rw>) -> Result<Vec<TrialSpec>, ParameterError> {
    let mut grid = Grid { given, specs: vec![base(device)] };
    grid.vary(patterns, |spec, rw| {
        spec.rw = rw;
        if rw.trims() && rw.is_random() {
            // A hole cannot be punched twice: a second trim of the same block measures nothing.
            spec.distribution = Distribution::Once;
        }
    })?;
    grid.vary(block_sizes(given)?, |spec, bytes| spec.block_size_bytes = bytes)?;
    grid.vary(at_most(given, "depth", DEPTH_MAX)?, |spec, depth| spec.queue_depth = depth)?;
    grid.vary(at_most(given, "jobs", JOBS_MAX)?, |spec, jobs| spec.jobs = jobs)?;
    let all_hosts = device.hosts.unwrap_or(1);
    let hosts = given.if_given("hosts", |given, key| given.counts_of(key, "N", all_hosts))?;
    grid.vary(hosts, |spec, hosts| spec.hosts = hosts)?;
    let mixes = given.if_given("mix", Parameters::percentages)?;
    grid.vary_where(|rw| rw.is_mixed(), mixes, mixed)?;
    grid.places(device)?;
    grid.writes_and_draws()?;
    grid.loads()?;
    let ways = given.if_given("buffered", Parameters::switches)?;
    grid.vary(ways, |spec, buffered| spec.direct = device.direct && !buffered)?;
    Ok(grid.specs)
}

/// The points of a list of rows, or of one cross where none is given.
pub(super) fn rows(
    parameters: &Parameters,
    known: &[Parameter],
    device: &Device,
) -> Result<Vec<TrialSpec>, ParameterError> {
    let rows = parameters.rows("rows", known)?;
    if rows.is_empty() {
        return cross(parameters, device);
    }
    let mut specs: Vec<TrialSpec> = Vec::new();
    for row in rows {
        for spec in cross(&row, device)? {
            if !specs.contains(&spec) {
                specs.push(spec);
            }
        }
    }
    Ok(specs)
}

/// A mix of one direction only is that direction's own pattern: the other would have nothing to show.
fn mixed(spec: &mut TrialSpec, read_percent: f64) {
    spec.read_percent = (read_percent > 0.0 && read_percent < 100.0).then_some(read_percent);
    spec.rw = match (spec.read_percent, spec.rw.is_random(), read_percent > 0.0) {
        (Some(_), ..) => spec.rw,
        (None, true, true) => Rw::RandRead,
        (None, true, false) => Rw::RandWrite,
        (None, false, true) => Rw::Read,
        (None, false, false) => Rw::Write,
    };
}

/// Returns the fields that no key changes.
fn base(device: &Device) -> TrialSpec {
    TrialSpec {
        span_bytes: device.working_set_bytes,
        engine: device.engine.clone(),
        direct: device.direct,
        ..TrialSpec::default()
    }
}

fn block_sizes(given: &Parameters) -> Result<Vec<u64>, ParameterError> {
    let sizes = given.if_given("block_size", Parameters::sizes)?;
    match sizes.iter().find(|bytes| !(1..=BLOCK_MAX_BYTES).contains(*bytes)) {
        Some(wrong) => Err(given.wrong(
            "block_size",
            format!("a block has at least 1 byte and at most 1 GiB, not {}", units::size(*wrong)),
        )),
        None => Ok(sizes),
    }
}

fn at_most(given: &Parameters, key: &str, most: u32) -> Result<Vec<u32>, ParameterError> {
    let counts = given.if_given(key, Parameters::counts)?;
    match counts.iter().find(|&&count| count > most) {
        Some(wrong) => Err(given.wrong(key, format!("{wrong} are too many; {most} are the most"))),
        None => Ok(counts),
    }
}

/// Combinations so far.
struct Grid<'a> {
    given: &'a Parameters,
    specs: Vec<TrialSpec>,
}

impl Grid<'_> {
    /// Combines each workload with each value; no values leave the workloads unchanged.
    fn vary<T: Copy>(
        &mut self,
        values: Vec<T>,
        set: impl Fn(&mut TrialSpec, T),
    ) -> Result<(), ParameterError> {
        self.vary_where(|_| true, values, set)
    }

    /// Combines with each value the workloads that a key applies to; the others stay unchanged.
    fn vary_where<T: Copy>(
        &mut self,
        about: impl Fn(Rw) -> bool,
        values: Vec<T>,
        set: impl Fn(&mut TrialSpec, T),
    ) -> Result<(), ParameterError> {
        if values.is_empty() {
            return Ok(());
        }
        let mut specs: Vec<TrialSpec> = Vec::new();
        for spec in self.specs.drain(..) {
            let times = if about(spec.rw) { &values[..] } else { &[] };
            let with = times.iter().map(|&value| {
                let mut spec = spec.clone();
                set(&mut spec, value);
                spec
            });
            specs.extend(with);
            if times.is_empty() {
                specs.push(spec);
            }
        }
        if specs.len() > POINTS_MAX {
            let count = specs.len();
            return Err(self.given.fail(format!(
                "its lists make {count} combinations or more, and {POINTS_MAX} are the most; shorten one of them"
            )));
        }
        self.specs = specs;
        Ok(())
    }

    /// Varies offsets, spans and strides.
    fn places(&mut self, device: &Device) -> Result<(), ParameterError> {
        let strides = self.given.if_given("stride", Parameters::sizes)?;
        if strides.contains(&0) {
            return Err(self
                .given
                .wrong("stride", "0 would ask for the same block for ever; leave `stride` out"));
        }
        self.only_for("stride", "sequential patterns", !strides.is_empty(), |rw| !rw.is_random())?;
        self.vary_where(
            |rw| !rw.is_random(),
            strides,
            |spec, bytes| {
                // Each pass begins one block further on and so visits every block in the end: otherwise a wide stride
                // asks for few blocks, over and over, and a cache serves them.
                let gaps = bytes > spec.block_size_bytes;
                spec.stride_bytes = Some(bytes);
                spec.stride_pass = if gaps { StridePass::Shifted } else { StridePass::Same };
            },
        )?;
        let whole = device.working_set_bytes;
        let spans = self.given.if_given("span", |given, key| given.sizes_or_shares(key, whole))?;
        self.vary(spans, |spec, bytes| spec.span_bytes = bytes)?;
        self.vary(self.given.if_given("offset", Parameters::sizes)?, |spec, bytes| {
            spec.offset_bytes = bytes;
            // What lies before is taken off behind, or the last request would end beyond what is prepared.
            if spec.span_bytes.saturating_add(bytes) > whole && spec.span_bytes <= whole {
                let left_bytes = whole.saturating_sub(bytes);
                spec.span_bytes = left_bytes - left_bytes % spec.block_size_bytes;
            }
        })?;
        let aligns = self.given.if_given("align", Parameters::sizes)?;
        if aligns.contains(&0) {
            return Err(self.given.wrong("align", "an alignment has at least one byte"));
        }
        self.vary_where(Rw::is_random, aligns, |spec, bytes| spec.align_bytes = Some(bytes))
    }

    /// Varies payload, durability and the distribution of offsets.
    fn writes_and_draws(&mut self) -> Result<(), ParameterError> {
        let given = self.given;
        let syncs: Vec<Sync> = given.if_given("sync", Parameters::parsed)?;
        let any = syncs.iter().any(|sync| *sync != Sync::None);
        self.only_for("sync", "patterns that write", any, Rw::writes)?;
        self.vary_where(Rw::writes, syncs, |spec, sync| spec.sync = sync)?;
        let payloads: Vec<Payload> = given.if_given("payload", Parameters::parsed)?;
        self.vary_where(Rw::writes, payloads, |spec, payload| spec.payload = payload)?;
        let files: Vec<Files> = given.if_given("files", Parameters::parsed)?;
        self.vary_where(|rw| rw == Rw::Write, files, |spec, files| spec.files = files)?;
        let draws: Vec<Distribution> = given.if_given("distribution", Parameters::parsed)?;
        let about = |rw: Rw| rw.is_random() && !rw.trims();
        self.vary_where(about, draws, |spec, distribution| spec.distribution = distribution)
    }

    /// Varies rate and arrivals of open loops.
    fn loads(&mut self) -> Result<(), ParameterError> {
        let given = self.given;
        self.vary(given.if_given("rate", Parameters::counts)?, |spec, rate| {
            spec.rate_iops = Some(f64::from(rate));
        })?;
        let arrivals: Vec<Arrivals> = given.if_given("arrivals", Parameters::parsed)?;
        for spec in &mut self.specs {
            // As the default of a spec where no rate is given, or it would be another point.
            let first = arrivals.first().copied().filter(|_| spec.rate_iops.is_some());
            spec.arrivals = first.unwrap_or_default();
        }
        let limits: Vec<LatencyLimit> = given.if_given("limit", Parameters::parsed)?;
        for spec in self.specs.iter_mut().filter(|spec| spec.rate_iops.is_some()) {
            spec.latency_limit = limits.first().copied();
        }
        Ok(())
    }

    /// A key that is about none of the patterns is a slip.
    fn only_for(
        &self,
        key: &str,
        what: &str,
        is_given: bool,
        about: impl Fn(Rw) -> bool,
    ) -> Result<(), ParameterError> {
        if !is_given || self.specs.iter().any(|spec| about(spec.rw)) {
            return Ok(());
        }
        Err(self.given.wrong(key, format!("it is for {what}, and `rw` gives none")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &[Parameter] = &[
        rw("\"randread\""),
        block_size("\"4k\""),
        depth("1"),
        mix("50"),
        stride(""),
        offset(""),
        align(""),
        span(""),
        sync(""),
        buffered(""),
        rate(""),
        arrivals("\"poisson\""),
    ];

    fn specs(text: &str) -> Result<Vec<TrialSpec>, String> {
        let given = Parameters::check("x", &toml::from_str(text).unwrap(), KNOWN).unwrap();
        let device = Device { direct: true, ..Device::unknown("file", 1 << 30) };
        cross(&given, &device).map_err(|error| error.message)
    }

    #[test]
    fn only_mixed_patterns_multiply_by_the_mix() {
        let specs =
            specs("rw = [\"randread\", \"randrw\"]\nblock_size = [\"4k\", \"8k\"]\nmix = [30, 70]").unwrap();
        // One pattern × 2 sizes + one mixed pattern × 2 sizes × 2 mixes.
        assert_eq!(specs.len(), 2 + 4);
        assert_eq!(specs[0].read_percent, None);
        assert_eq!(specs[5].read_percent, Some(70.0));
        assert!(specs.iter().all(|spec| spec.span_bytes == 1 << 30 && spec.arrivals == Arrivals::Fixed));
    }

    #[test]
    fn a_mix_of_one_direction_is_that_direction() {
        let ends = specs("rw = \"randrw\"\nmix = [0, 50, 100]").unwrap();
        assert_eq!(
            ends.iter().map(|spec| spec.rw).collect::<Vec<_>>(),
            [Rw::RandWrite, Rw::RandRw, Rw::RandRead]
        );
        assert_eq!(ends.iter().map(|spec| spec.read_percent).collect::<Vec<_>>(), [None, Some(50.0), None]);
    }

    #[test]
    fn a_key_varies_the_patterns_that_it_is_about() {
        let strided = specs("rw = [\"read\", \"randread\"]\nstride = [\"4k\", \"64k\"]").unwrap();
        assert_eq!(strided.len(), 2 + 1);
        assert_eq!(strided[0].stride_pass, StridePass::Same);
        assert_eq!((strided[1].stride_bytes, strided[1].stride_pass), (Some(65_536), StridePass::Shifted));
        assert_eq!(strided[2].stride_bytes, None);
        let durable = specs("rw = [\"randread\", \"write\"]\nsync = [\"none\", \"fdatasync:1\"]").unwrap();
        assert_eq!(durable.len(), 1 + 2);
        let loads = specs("rate = [100, 200]\nbuffered = [true, false]").unwrap();
        assert_eq!((loads.len(), loads[0].arrivals, loads[0].direct), (4, Arrivals::Poisson, false));
    }

    #[test]
    fn what_lies_before_is_taken_off_behind() {
        let shifted = specs("offset = [0, \"512\"]\nspan = [\"50%\", \"100%\"]").unwrap();
        let places: Vec<_> = shifted.iter().map(|spec| (spec.offset_bytes, spec.span_bytes)).collect();
        assert_eq!(places, [(0, 1 << 29), (512, 1 << 29), (0, 1 << 30), (512, (1 << 30) - 4096)]);
    }

    #[test]
    fn slips_are_said() {
        for (text, said) in [
            ("block_size = 0", "at least 1 byte"),
            ("depth = 100000", "65536 are the most"),
            ("depth = \"1..4000+1\"\nblock_size = \"1..9+1\"", "shorten one of them"),
            ("stride = 0\nrw = \"read\"", "for ever"),
            ("stride = \"64k\"", "`stride`: it is for sequential patterns"),
            ("sync = \"fsync:1\"", "`sync`: it is for patterns that write"),
            ("align = 0", "at least one byte"),
            ("sync = \"fsink:1\"\nrw = \"write\"", "fsink"),
            ("span = \"0%\"", "`span`"),
            ("arrivals = \"bursts\"\nrate = 5", "fixed or poisson"),
        ] {
            let message = specs(text).unwrap_err();
            assert!(message.contains(said), "{text}: {message}");
        }
    }
}
