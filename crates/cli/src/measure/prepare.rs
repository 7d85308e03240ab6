//! Preparing what is measured: the working set is filled so that no hole is read.

use iosonde_model::{DeviceNote, Op, Phase, Study, Trial, TrialSpec, units};
use iosonde_rig::{drive::Limits, prepare};

use super::{Measurement, write_limit};
use crate::{failure::Failure, studies};

/// As long as it takes.
pub const FOREVER_S: f64 = u32::MAX as f64;

/// Requested bytes where fewer were prepared. Filling goes by whole blocks: what is left over was not missed.
fn missed(asked_bytes: u64, prepared_bytes: u64) -> Option<u64> {
    (prepared_bytes < asked_bytes / prepare::FILL_BLOCK_BYTES * prepare::FILL_BLOCK_BYTES)
        .then_some(asked_bytes)
}

impl Measurement {
    /// Prepares the working set: what was asked, as far as the time goes; for a resumed run exactly what it had, or its
    /// points would no longer be the same points.
    pub fn prepare_for(&mut self, study: &Study) -> Result<(), Failure> {
        let default_bytes = study.size_bytes.unwrap_or(prepare::DEFAULT_SIZE_BYTES);
        let asked_bytes = self.session.asked_bytes(&self.options, default_bytes);
        let points = studies::plan(study, &self.session.device)?.points;
        self.session.take_turns(points.iter().map(|point| &point.spec));
        let measuring_bytes = write_limit::measuring_bytes(&points);
        let share_s = self.options.time_ns as f64 / 1e9 * prepare::BUDGET_SHARE;
        let exact = self.prepared_before_bytes.or(self.options.exact_size.then_some(asked_bytes));
        let seconds = if exact.is_some() { FOREVER_S } else { share_s };
        self.prepare(exact.unwrap_or(asked_bytes), seconds, measuring_bytes)?;
        let now_bytes = self.run.info.device.working_set_bytes;
        let (Some(exact_bytes), now) = (exact, units::size(now_bytes)) else { return Ok(()) };
        let resumed = self.prepared_before_bytes.is_some();
        if exact_bytes != now_bytes {
            let before = units::size(exact_bytes);
            return Err(Failure::failed(if resumed {
                format!(
                    "the run measured {before} and only {now} can be prepared now; make room and resume again"
                )
            } else {
                format!(
                    "the run of --like had {before}, and only {now} can be prepared here; its points would not be the \
                     same"
                )
            }));
        }
        if resumed {
            self.run.info.device.asked_size_bytes = missed(asked_bytes, exact_bytes);
        }
        Ok(())
    }

    /// Fills the working set where it must be filled, and says how large it is.
    /// `measuring_bytes` is the minimum that measuring writes.
    pub fn prepare(&mut self, asked_bytes: u64, seconds: f64, measuring_bytes: u64) -> Result<(), Failure> {
        self.run.info.bytes_written += self.session.prove_shared()?;
        let unit_bytes = self.unit_bytes();
        let wanted_bytes = asked_bytes;
        let (hosts, sharers) = (u64::from(self.session.hosts.count()), self.sharers());
        let may_fill_bytes = write_limit::fill_bytes_max(&self.options, measuring_bytes) / hosts * sharers;
        self.session.device.working_set_bytes = if self.session.fill {
            let asked_bytes =
                asked_bytes.min(self.session.room_bytes).min(may_fill_bytes) / unit_bytes * unit_bytes;
            if asked_bytes == 0 {
                return Err(Failure::usage(format!(
                    "{}: each worker's file, or each host's part of it, has at least 1 MiB: {} a host \
                     (--size, --max-write)",
                    self.run.info.target,
                    units::size(unit_bytes)
                )));
            }
            self.session.lie_apart_on_all(asked_bytes)?;
            self.filled(asked_bytes, seconds)?
        } else {
            // Whole pages: the last part of a file is not worth an exception in every offset.
            let bytes = asked_bytes.min(self.session.room_bytes) / 4096 * 4096;
            self.session.lie_apart_on_all(bytes)?;
            bytes
        };
        let device = &mut self.session.device;
        // Of an existing file or device all is taken; only a wish that was spoken can be missed.
        let wished = self.options.size_bytes.is_some() || device.kind == "directory";
        device.asked_size_bytes = missed(wanted_bytes, device.working_set_bytes).filter(|_| wished);
        let prepared_bytes = device.working_set_bytes;
        self.session.address_on_all(prepared_bytes)?;
        self.run.info.device = self.session.device.clone();
        Ok(())
    }

    /// Addresses no more than another target has: the points are then the same on both.
    pub fn address_only(&mut self, bytes: u64, of: &str) {
        let device = &mut self.session.device;
        if device.working_set_bytes <= bytes {
            return;
        }
        let all_bytes = device.working_set_bytes;
        device.notes.push(DeviceNote::PartAddressed { part_bytes: bytes, all_bytes, other: of.to_owned() });
        self.session.address(bytes);
        self.run.info.device = self.session.device.clone();
    }

    /// Fills up to `asked_bytes`, as far as `seconds` go; how much was filled.
    fn filled(&mut self, asked_bytes: u64, seconds: f64) -> Result<u64, Failure> {
        let each = match self.session.areas() {
            1 => String::new(),
            hosts => format!(" on each of {hosts} hosts"),
        };
        self.screen
            .say(&format!("preparing     filling {}{each} with random data", units::size(asked_bytes)));
        let (unit_bytes, sharers) = (self.unit_bytes(), self.sharers());
        let first_bytes = asked_bytes.min((prepare::PROBE_BYTES * sharers).next_multiple_of(unit_bytes));
        let probe = self.fill(0, first_bytes, seconds, "")?;
        let mut filled_bytes = self.filled_by(&probe);
        let each_bytes = prepare::size_bytes(&probe, filled_bytes / sharers, asked_bytes / sharers, seconds);
        let target_bytes = each_bytes * sharers / unit_bytes * unit_bytes;
        let (mut left_s, step_bytes) =
            (seconds - probe.elapsed_s, self.step_bytes(target_bytes.saturating_sub(filled_bytes)));
        while target_bytes > filled_bytes {
            let rest = self.fill(filled_bytes, step_bytes.min(target_bytes - filled_bytes), left_s, "")?;
            let more_bytes = self.filled_by(&rest);
            filled_bytes += more_bytes;
            left_s -= rest.elapsed_s;
            if more_bytes < step_bytes || left_s <= 0.0 {
                break;
            }
        }
        self.session.settle().map_err(|e| {
            Failure::failed(format!("{}: what was filled could not be flushed: {e}", self.run.info.target))
        })?;
        if filled_bytes < prepare::FILL_BLOCK_BYTES {
            let seconds = units::duration(seconds);
            return Err(Failure::failed(format!(
                "{}: not even 1 MiB could be filled in {seconds}",
                self.run.info.target
            )));
        }
        Ok(filled_bytes)
    }

    pub(super) fn fill(
        &mut self,
        from_bytes: u64,
        bytes: u64,
        seconds: f64,
        what: &str,
    ) -> Result<Trial, Failure> {
        let (spec, limits) = self.fill_order(from_bytes, bytes, seconds);
        // A seed of its own: what is written over it later shall not be the same bytes.
        let trial = self.trial(&spec, limits, Phase::Prepare, !self.options.seed ^ from_bytes)?;
        let write = trial.write.as_ref();
        let short = write.map_or(0, |write| write.short);
        let example = trial.error_examples.first().map(iosonde_report::text::counted_error);
        let hung = (trial.hung > 0).then(|| format!("{} writes never came back", trial.hung));
        let short = (short > 0).then(|| format!("{short} writes were cut short"));
        if let Some(why) = example.or(hung).or(short) {
            return Err(Failure::failed(format!("{}: filling failed: {why}", self.run.info.target)));
        }
        let trial = Trial { experiment: what.to_owned(), ..trial };
        self.keep(trial.clone())?;
        Ok(trial)
    }

    /// The workload that fills a part of the working set on all hosts, and its limits.
    pub(super) fn fill_order(&self, from_bytes: u64, bytes: u64, seconds: f64) -> (TrialSpec, Limits) {
        let (device, (block_bytes, jobs)) = (&self.session.device, self.filling());
        let each = |bytes: u64| bytes / self.sharers();
        // What is filled side by side is all filled as far, or one part would have a hole.
        let seconds = if jobs > 1 { FOREVER_S } else { seconds };
        let order = prepare::order(&device.engine, device.direct, each(from_bytes), each(bytes), seconds);
        prepare::side_by_side(order, block_bytes, jobs)
    }

    /// Hosts among which the working set is divided.
    fn sharers(&self) -> u64 {
        self.session.bed.place.placement.sharers()
    }

    /// Size of the requests that fill, and jobs of each host that do: one for each file. Where another host's turns are
    /// read, data is written in the same turns.
    fn filling(&self) -> (u64, u32) {
        self.session.turns.unwrap_or((prepare::FILL_BLOCK_BYTES, self.session.bed.place.placement.files))
    }

    /// The working set is a multiple of this: whole blocks of each host that shares it, and of each job that fills.
    fn unit_bytes(&self) -> u64 {
        let (block_bytes, jobs) = self.filling();
        let turn_bytes = block_bytes * u64::from(jobs);
        // Numbers of MiB that are whole turns repeat after as many as a turn has bytes at the latest.
        let whole = (1..=turn_bytes).find(|n| (n * prepare::FILL_BLOCK_BYTES).is_multiple_of(turn_bytes));
        prepare::FILL_BLOCK_BYTES * whole.unwrap_or(1) * self.sharers()
    }

    /// What a fill added to the working set: as much as every host filled of its own part.
    fn filled_by(&self, fill: &Trial) -> u64 {
        let least_bytes = fill.hosts.iter().map(|host| host.issued_write_bytes).min();
        let (unit_bytes, sharers) = (self.unit_bytes(), self.sharers());
        least_bytes.unwrap_or(fill.witnesses.issued_write_bytes) * sharers / unit_bytes * unit_bytes
    }

    /// What is filled at a time of so many bytes: all of it, unless the time is looked at only between steps.
    fn step_bytes(&self, bytes: u64) -> u64 {
        /// A step too late is an eighth of the time for filling at most.
        const STEPS: u64 = 8;
        if self.filling().1 == 1 { bytes } else { (bytes / STEPS).next_multiple_of(self.unit_bytes()) }
    }

    /// Whether a workload reads what was trimmed since it was filled.
    pub(super) fn must_refill(&self, spec: &TrialSpec) -> bool {
        let trims = |trial: &Trial| trial.spec.has(Op::Trim);
        let fills = |trial: &Trial| trial.phase == Phase::Prepare;
        let latest = self.run.trials.iter().rev().find(|trial| trims(trial) || fills(trial));
        // A hole answers a trim as fast as it answers a read.
        (spec.has(Op::Read) || spec.has(Op::Trim)) && latest.is_some_and(trims)
    }

    /// What was trimmed is filled again before anything is read: storage answers holes without touching its medium.
    pub fn refill_before(&mut self, spec: &TrialSpec) -> Result<(), Failure> {
        if !self.must_refill(spec) {
            return Ok(());
        }
        let filled_bytes = self.session.device.working_set_bytes;
        // As long as it takes: less than all of it would leave holes.
        self.fill(0, filled_bytes, FOREVER_S, "")?;
        self.session.settle().map_err(|e| {
            Failure::failed(format!(
                "{}: what was filled again could not be flushed: {e}",
                self.run.info.target
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A drive of 1.6 TB is no whole number of fill blocks: "1.46 TiB were measured, not the requested 1.46 TiB".
    #[test]
    fn less_than_a_block_was_not_missed() {
        let whole_bytes = 1_600_000_000_000;
        let prepared_bytes = whole_bytes / prepare::FILL_BLOCK_BYTES * prepare::FILL_BLOCK_BYTES;
        assert!(prepared_bytes < whole_bytes);
        assert_eq!(missed(whole_bytes, prepared_bytes), None);
        let one_less_bytes = prepared_bytes - prepare::FILL_BLOCK_BYTES;
        assert_eq!(missed(whole_bytes, one_less_bytes), Some(whole_bytes));
    }
}
