//! Writing and reading files as ordinary programs do: sequentially, at QD 1, buffered.
//!
//! A file of the size of `span` is written from its beginning to its end with requests of one size, and read in the
//! same way; each size is a point. Simple programs access storage in this way, and most home-made benchmarks
//! measure it. The trial's processor time shows how much of it was work of the program and the kernel (system
//! calls, copying) rather than waiting.
//!
//! With `files = "new"`, each file is created, written and closed, and the next one begins; the time for that counts. A
//! trial ends with its time, or when its files together are as large as the prepared area. They have no names
//! (O_TMPFILE), and the kernel frees them when the trial has ended. Reads follow one pass over the prepared file, so
//! that memory holds what it can of it, as of a file just written. With `files = "same"`, the prepared file is
//! written again: its pages are in memory already, and a page that exists costs less than a new one.
//!
//! Parameters: `rw` (`write`, `read`), `block_size`, `span` (the file's size), `files` (`new`, `same`), `sync` (a flush
//! after this many writes), `buffered` (`false` bypasses the page cache).
//!
//! How to read it: small requests are slow because each costs a system call, whatever the medium; the curve levels
//! off where that cost is small compared with copying. Where the processor was busy nearly all the time
//! (`processor_share` near 1), the curve is a property of the program and the machine, not of the device below. Two
//! media that show the same curve here were hidden by the same memory.
//!
//! Traps:
//! - What was just written is read from memory: these reads are invalid as statements about the device. They stay
//!   in the report as what the program saw.
//! - Writes without a flush end in memory. `sync` with the number of writes of a whole file shows the time of the
//!   whole copy.
//! - No page size of a device can be read from this curve: the page cache hides it.

use iosonde_model::{Device, ExperimentName, Files, TrialSpec};

use super::{Experiment, Manner, Parameter, ParameterError, Parameters, grid};

pub(super) struct Media;

const PARAMETERS: &[Parameter] = &[
    grid::rw("[\"write\", \"read\"]"),
    grid::block_size("[128, 512, \"1k\", \"4k\", \"8k\", \"64k\", \"128k\", \"512k\", \"1M\", \"2M\"]"),
    grid::span("\"100M\""),
    grid::files("\"new\""),
    grid::sync("\"none\""),
    grid::buffered("true"),
];

impl Experiment for Media {
    fn id(&self) -> ExperimentName {
        ExperimentName::Media
    }

    fn question(&self) -> &'static str {
        "What do programs get that write and read files in order, and how much of it is the storage's?"
    }

    fn parameters(&self) -> &'static [Parameter] {
        PARAMETERS
    }

    fn grid(&self, parameters: &Parameters, device: &Device) -> Result<Vec<TrialSpec>, ParameterError> {
        let mut specs = grid::cross(parameters, device)?;
        // Programs call and wait. Asynchronous engines hand buffered requests to kernel threads, whose time nobody
        // counts: 2 MiB writes through io_uring seem to keep the processor busy for 4 %.
        for spec in specs.iter_mut().filter(|spec| spec.engine != "sim") {
            "psync".clone_into(&mut spec.engine);
        }
        Ok(specs)
    }

    /// What programs get is the rate at each size.
    fn point_by_point(&self) -> bool {
        true
    }

    fn manner_of(&self, parameters: &Parameters, spec: &TrialSpec) -> Result<Manner, ParameterError> {
        let files: Vec<Files> = parameters.if_given("files", Parameters::parsed)?;
        Ok(Manner {
            pass_first: !spec.rw.writes() && files.contains(&Files::New),
            // The first file of a trial is created like each of the others.
            from_the_start: spec.files == Files::New,
            ..Manner::default()
        })
    }
}
