//! What `dd` says at its end, with the command line above it.
//!
//! `dd`'s own lines do not say what was read and what was written, so the command that made them must stand above them,
//! as it does in a terminal. Throughput is bytes over seconds, as `dd` computes it; the block size is bytes over
//! records.

use iosonde_model::{Named, Phase, Rw, Sync, Trial, TrialSpec, units};

use super::{Damage, Figures, ImportError, ImportFormat, Imported, words};

/// The registered format.
pub struct Dd;

impl Named for Dd {
    fn name(&self) -> &'static str {
        "dd"
    }
}

impl ImportFormat for Dd {
    fn recognises(&self, text: &str) -> bool {
        text.lines().any(|line| records(line, " records out").is_some())
    }

    fn read(&self, text: &str) -> Result<Imported, ImportError> {
        let (mut command, mut read, mut written, mut trials) = (None, None, None, Vec::new());
        let mut notes = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            if let Some(found) = command_of(line) {
                command = Some(found);
            } else if let Some(found) = records(line, " records in") {
                read = Some(found);
            } else if let Some(found) = records(line, " records out") {
                written = Some(found);
            } else if line.contains(" bytes") && written.is_some() {
                let records = written.take().or(read.take()).unwrap_or((0, 0));
                let Some((bytes, seconds)) = copied(line) else {
                    return Err(Damage::at(
                        number,
                        1,
                        "no bytes and seconds of dd, as in `1048576 bytes copied, 1.5 s`",
                    ));
                };
                let Some(command) = command.take() else {
                    let why = "dd does not say whether it read or wrote; put its command line above: dd if=… of=… bs=…";
                    return Err(Damage::at(number, 1, why));
                };
                trials.extend(command.trial(records, bytes, seconds, &mut notes));
            }
        }
        if trials.is_empty() && notes.is_empty() {
            let why = "the text ends before dd's line of bytes and seconds";
            return Err(Damage::at(text.lines().count(), 1, why));
        }
        Ok(Imported { program: Some("dd".into()), ended_s: None, trials, notes })
    }
}

/// Records over those of the whole size, below which counts and bytes still fit each other.
const FEW_PARTIAL: f64 = 1.05;

/// `64+0 records in`: whole and partial ones.
fn records(line: &str, ending: &str) -> Option<(u64, u64)> {
    let (whole, partial) = line.trim().strip_suffix(ending)?.split_once('+')?;
    Some((whole.parse().ok()?, partial.parse().ok().filter(|&partial: &u64| partial < 1 << 40)?))
}

/// `67108864 bytes (67 MB, 64 MiB) copied, 0.0275633 s, 2.4 GB/s`; of BSD, `67108864 bytes transferred in 0.1 secs
/// (..)`.
fn copied(line: &str) -> Option<(f64, f64)> {
    let (bytes, rest) = words::number(line)?;
    let rest = match rest.split_once("copied, ") {
        Some((_, rest)) => rest,
        None => rest.split_once("transferred in ")?.1,
    };
    let (seconds, unit) = words::number(rest)?;
    (unit.trim_start().starts_with('s') && bytes > 0.0 && seconds > 0.0).then_some((bytes, seconds))
}

/// Operands that say what was done.
struct Command {
    from: String,
    to: String,
    flags_in: String,
    flags_out: String,
    conversion: String,
    /// Bytes of a record, where the command says them.
    size: Option<u64>,
}

/// `$ sudo dd if=/dev/zero of=x bs=1M oflag=direct`.
fn command_of(line: &str) -> Option<Command> {
    let mut words = line.split_whitespace().skip_while(|word| *word != "dd" && !word.ends_with("/dd"));
    words.next()?;
    let operands: Vec<&str> = words.filter(|word| word.contains('=')).collect();
    let operand = |name: &str| {
        let found = operands.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
        found.unwrap_or_default().to_owned()
    };
    let command = Command {
        from: operand("if"),
        to: operand("of"),
        flags_in: operand("iflag"),
        flags_out: operand("oflag"),
        conversion: operand("conv"),
        size: units::parse_size(&operand("bs")).ok().filter(|&bytes| bytes > 0),
    };
    (!command.from.is_empty() || !command.to.is_empty()).then_some(command)
}

/// Whether a list of flags has one.
fn has(list: &str, flag: &str) -> bool {
    list.split(',').any(|own| own == flag)
}

impl Command {
    /// What makes the writes durable.
    fn sync(&self, rw: Rw, flags: &str) -> Sync {
        match () {
            () if rw == Rw::Write && has(flags, "dsync") => Sync::Dsync,
            () if rw == Rw::Write && has(flags, "sync") => Sync::Osync,
            // dd counts the time of this one flush.
            () if rw == Rw::Write && has(&self.conversion, "fsync") => Sync::FsyncAtEnd,
            () if rw == Rw::Write && has(&self.conversion, "fdatasync") => Sync::FdatasyncAtEnd,
            () => Sync::None,
        }
    }

    fn trial(
        &self,
        (whole, partial): (u64, u64),
        bytes: f64,
        seconds: f64,
        notes: &mut Vec<String>,
    ) -> Option<Trial> {
        // What is neither storage: zeros, random numbers, and what throws everything away.
        let made = ["/dev/zero", "/dev/urandom", "/dev/random"].contains(&self.from.as_str());
        let (rw, flags) = match (made || self.from.is_empty(), self.to == "/dev/null") {
            (true, false) => (Rw::Write, &self.flags_out),
            (false, true) => (Rw::Read, &self.flags_in),
            (true, true) => {
                notes.push("a dd from memory to nowhere measures no storage and is left out".into());
                return None;
            }
            (false, false) => {
                notes.push("a dd from one file to another measures both at once and is left out".into());
                return None;
            }
        };
        if self.from == "/dev/zero" {
            notes.push("dd wrote zeros, which some storage compresses or never stores".into());
        }
        if self.from.ends_with("random") {
            notes.push(
                "dd waited for random numbers too, which the kernel makes at a few hundred MB/s".into(),
            );
        }
        // Partial records are as many requests, but of fewer bytes: counts and bytes do not fit each other then.
        let records = whole.saturating_add(partial);
        let mean = (bytes / records.max(1) as f64).round().max(1.0) as u64;
        let block_size_bytes = self.size.filter(|size| size.div_ceil(2) <= mean).unwrap_or(mean);
        let direct = has(flags, "direct");
        let sync = self.sync(rw, flags);
        // Of few partial ones, the number of requests is their number all the same.
        let of_size = bytes / block_size_bytes as f64;
        let requests = if (records as f64) < FEW_PARTIAL * of_size { records as f64 } else { of_size };
        let figures = Figures {
            ios: (partial == 0).then_some(records),
            bytes: Some(bytes as u64),
            iops: Some(requests / seconds),
            bytes_per_s: Some(bytes / seconds),
            ..Figures::default()
        };
        let side = figures.direction(block_size_bytes)?;
        let spec = TrialSpec {
            rw,
            block_size_bytes,
            engine: "psync".into(),
            direct,
            sync,
            span_bytes: bytes as u64,
            ..TrialSpec::default()
        };
        let (read, write) = if rw == Rw::Read { (Some(side), None) } else { (None, Some(side)) };
        Some(Trial {
            experiment: "result".into(),
            measured_s: seconds,
            elapsed_s: seconds,
            read,
            write,
            ..Trial::blank(spec, Phase::Measure)
        })
    }
}
