//! Writing and reading files as ordinary programs do: in order, one request at a time, through the page cache.
//!
//! A file of the size of `span` is written from its beginning to its end with requests of one size, and read in the
//! same way; each size is a point. That is what a program without any care for storage does, and what most home-made
//! benchmarks measure. The trial's processor time tells how much of it was the program and the kernel at work
//! (system calls, copying) rather than anything being waited for.
//!
//! Parameters: `rw` (`write`, `read`), `block_size`, `span` (the file's size), `sync` (a flush after so many writes),
//! `buffered` (`false` shows the same without the page cache).
//!
//! How to read it: small requests are slow because each costs a system call, whatever the medium; the curve levels
//! off where that cost is small against copying. Where the processor was busy nearly all the time
//! (`processor_share` near 1), the curve is a property of the program and the machine, and says nothing about the
//! device below. Two media that show the same curve here have been hidden by the same memory.
//!
//! Traps:
//! - What was written just now is read from memory: such reads are void as statements about the device, and stay
//!   in the report as what the program saw.
//! - Writes without a flush end in memory. `sync` with as many writes as a file has says what the whole copy takes.
//! - No page size of a device can be read off this curve: the page cache hides it.

use iosonde_model::{Device, ExperimentName, TrialSpec};

use super::{Experiment, Parameter, ParameterError, Parameters, grid};

pub(super) struct Media;

const PARAMETERS: &[Parameter] = &[
    grid::rw("[\"write\", \"read\"]"),
    grid::block_size("[128, 512, \"1k\", \"4k\", \"8k\", \"64k\", \"128k\", \"512k\", \"1M\", \"2M\"]"),
    grid::span("\"100M\""),
    grid::sync("\"none\""),
    grid::buffered("true"),
];

impl Experiment for Media {
    fn id(&self) -> ExperimentName {
        ExperimentName::Media
    }

    fn question(&self) -> &'static str {
        "What do programs get that write and read files in order, and what of it is the storage's doing?"
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
}
