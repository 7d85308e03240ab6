//! Simulated files: a service with known times, on a virtual clock.

use iosonde_model::{FileStep, FileStepTimes, FilesLayout, Histogram};
use iosonde_sim::FileService;

use super::{FilesError, FilesPlace, Worked, part, together};
use crate::clock::VirtualClock;

/// A simulated service of files, and its workers.
pub struct SimulatedFiles {
    service: FileService,
    clock: VirtualClock,
    layout: FilesLayout,
    /// Files that were created in this round.
    made: u64,
}

impl SimulatedFiles {
    /// A service at the beginning of its time.
    pub fn new(service: FileService, layout: FilesLayout) -> Self {
        Self { service, clock: VirtualClock::default(), layout, made: 0 }
    }
}

impl FilesPlace for SimulatedFiles {
    fn begin(&mut self) -> Result<(), FilesError> {
        self.made = 0;
        Ok(())
    }

    fn step(&mut self, step: FileStep, most_ns: u64) -> Result<FileStepTimes, FilesError> {
        let workers = u64::from(self.layout.workers);
        let (units, names) = match step {
            FileStep::Create | FileStep::WriteFsync => (self.layout.files, 1),
            FileStep::List => (self.layout.directories, self.made.div_ceil(self.layout.directories)),
            _ => (self.made, 1),
        };
        let begin_ns = self.clock.now_ns();
        let mut worked: Vec<Worked> = (0..workers)
            .map(|_| Worked { done: 0, begin_ns, end_ns: begin_ns, latency: Histogram::new() })
            .collect();
        let mut left: Vec<u64> =
            (0..workers).map(|nth| part(units, workers, nth)).map(|part| part.end - part.start).collect();
        // The worker that is free first asks next; all of one moment in their order.
        let next = |worked: &[Worked], left: &[u64]| {
            let able = |nth: &usize| left[*nth] > 0 && worked[*nth].end_ns - begin_ns < most_ns;
            (0..worked.len()).filter(able).min_by_key(|nth| worked[*nth].end_ns)
        };
        while let Some(nth) = next(&worked, &left) {
            let one = &mut worked[nth];
            let end_ns = self.service.serve(one.end_ns, step);
            one.latency.record(end_ns - one.end_ns);
            (one.done, one.end_ns) = (one.done + names, end_ns);
            left[nth] -= 1;
        }
        let times = together(step, &worked, None);
        self.clock.advance_to(begin_ns + times.elapsed_ns);
        if step == FileStep::Create {
            self.made = times.done;
        }
        Ok(times)
    }

    fn sync(&mut self) -> Result<u64, FilesError> {
        let (now_ns, sync_ns) = (self.clock.now_ns(), self.service.sync_ns());
        self.clock.advance_to(now_ns + sync_ns);
        Ok(sync_ns)
    }

    fn end(&mut self) -> Result<(), FilesError> {
        Ok(())
    }

    fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }
}
