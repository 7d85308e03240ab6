//! Words of the check `generator-bound`.

use iosonde_model::{
    cause::{Busy, GeneratorBound},
    units,
};

pub(super) fn words(cause: &GeneratorBound) -> String {
    match cause {
        GeneratorBound::Unmeasured => "the program's CPU time was not measured".to_owned(),
        GeneratorBound::RateUnstated { in_flight } => format!(
            "the program was busy at a queue depth of {in_flight:.2}: it spun for a rate, or it was the limit; the \
             file does not state a rate"
        ),
        GeneratorBound::Saturated(busy) => format!(
            "{} was CPU-bound ({} busy): {} IOPS is its limit, not the storage's{}; {}",
            who(busy),
            share(busy.busy_share),
            units::count(busy.iops),
            from_memory(busy),
            more_jobs(busy)
        ),
        GeneratorBound::Near { busy, kept_back_share } => format!(
            "{} used {} of its CPU{}, so the storage may be {}; {}",
            who(busy),
            share(busy.busy_share),
            from_memory(busy),
            // What the device counted tells of this depth alone: at a deeper one, the CPU is the limit.
            kept_back_share.map_or_else(|| "faster".to_owned(), faster_at_this_depth),
            more_jobs(busy)
        ),
        GeneratorBound::Preempted { busy_share, cpu_share, .. } => format!(
            "other processes used the CPU: iosonde waited for it {} of the time, so the storage may be faster",
            units::percent((busy_share.min(1.0) - cpu_share).max(0.0)),
        ),
    }
}

/// By how much the storage may be faster where a share of the requests was not at the device.
fn faster_at_this_depth(kept_back_share: f64) -> String {
    let times = 1.0 / (1.0 - kept_back_share);
    match times < 2.0 {
        true => format!("up to {} faster at this depth", units::percent(times - 1.0)),
        false => format!("up to {times:.0} times as fast at this depth"),
    }
}

/// The program that was busy.
fn who(busy: &Busy) -> &'static str {
    if busy.of_another { "the program that measured" } else { "iosonde" }
}

/// What helps.
fn more_jobs(busy: &Busy) -> &'static str {
    match () {
        () if busy.no_spare_cpu => "more jobs would not help: they share its CPUs",
        () if busy.of_another => "use more jobs",
        () => "use more jobs (workers)",
    }
}

fn share(busy_share: f64) -> String {
    units::percent(busy_share.min(1.0))
}

/// What was measured without any storage, where that was done.
fn from_memory(busy: &Busy) -> String {
    let figure = |iops| format!(" (one worker makes {} IOPS from memory)", units::count(iops));
    busy.cached_iops.map_or_else(String::new, figure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cross_check_stands_in_brackets() {
        let busy = Busy {
            busy_share: 1.02,
            iops: 110e3,
            cached_iops: Some(1.2e6),
            of_another: false,
            no_spare_cpu: false,
        };
        assert_eq!(
            words(&GeneratorBound::Saturated(busy)),
            "iosonde was CPU-bound (100 % busy): 110 k IOPS is its limit, not the storage's (one worker makes \
             1.20 M IOPS from memory); use more jobs (workers)"
        );
        let of_fio = Busy { cached_iops: None, of_another: true, ..busy };
        assert_eq!(
            words(&GeneratorBound::Saturated(of_fio)),
            "the program that measured was CPU-bound (100 % busy): 110 k IOPS is its limit, not the storage's; use \
             more jobs"
        );
        let near =
            |kept_back_share| words(&GeneratorBound::Near { busy, kept_back_share: Some(kept_back_share) });
        assert!(near(0.2).contains("may be up to 25 % faster at this depth;"), "{}", near(0.2));
        assert!(near(0.9).contains("may be up to 10 times as fast at this depth;"), "{}", near(0.9));
        let full = Busy { cached_iops: None, no_spare_cpu: true, ..busy };
        assert_eq!(
            words(&GeneratorBound::Saturated(full)),
            "iosonde was CPU-bound (100 % busy): 110 k IOPS is its limit, not the storage's; more jobs would not help: \
             they share its CPUs"
        );
    }
}
