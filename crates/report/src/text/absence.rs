//! Words of what could not be seen, and of errors.

use iosonde_model::{Absence, Counter, HidingLayer, NoInterval, RequestError};

/// Why a witness has no reading: `no block device with counters is known below this tmpfs`.
pub fn absence(absence: &Absence) -> String {
    match absence {
        Absence::NoBlockDevice { file_system } => {
            let place = file_system.as_deref().unwrap_or("target");
            format!("no block device with counters is known below this {place}")
        }
        Absence::NotListed { device } => {
            format!("the block device {device} is not listed in /sys/class/block")
        }
        Absence::CountersOff { device } => {
            format!("the counters of {device} are switched off (queue/iostats is 0)")
        }
        Absence::CountersUnknown { device } => format!("the counters of {device} have an unknown format"),
        Absence::Unreadable { path, errno } => format!("{path} cannot be read{}", because(*errno)),
        Absence::NotReadTwice { counter, of } => {
            format!("the {} of {of} could not be read before and after the trial", name(*counter))
        }
        Absence::WentBackwards { counter, of, before, after } => format!(
            "the {} of {of} fell from {before} to {after}: the counter was reset or wrapped around",
            name(*counter)
        ),
        Absence::NoTimePassed { counter, of } => {
            format!("no time passed between two readings of the {} of {of}", name(*counter))
        }
        Absence::ShorterThanTick => "the trial was shorter than one tick of /proc/stat".to_owned(),
        Absence::TargetInMemory => "the target is in memory, so the page cache tells nothing".to_owned(),
        Absence::PageCacheDenied => {
            "this user may not write the file, so the kernel does not tell what the page cache holds of it \
             (cachestat: EPERM)"
                .to_owned()
        }
        Absence::PageCacheUntold => "this system does not tell what its cache holds of a file".to_owned(),
        Absence::PageCacheUnsupported => {
            "this kernel does not tell what its page cache holds (cachestat needs Linux 6.5)".to_owned()
        }
        Absence::PageCacheFailed { errno } => {
            format!("what the page cache holds cannot be read (cachestat){}", because(*errno))
        }
        Absence::ControlGroupsUnreadable => {
            "the control groups of this process cannot be read (/proc/self/cgroup)".to_owned()
        }
        Absence::NoControlGroups => {
            "no control groups are mounted, so a container's limit would not be seen".to_owned()
        }
        Absence::LimitUnreadable { path, errno } => {
            format!("a container's limit may be set in {path}, which cannot be read{}", because(*errno))
        }
        Absence::ClocksUnreadable => "the kernel's clocks cannot be read".to_owned(),
        Absence::NotInFile => {
            "the file holds no counters of the device and no state of the page cache".to_owned()
        }
        Absence::Other(sentence) => sentence.clone(),
    }
}

fn name(counter: Counter) -> &'static str {
    match counter {
        Counter::SectorsRead => "sectors read",
        Counter::VolumeStatistics => "statistics of the volume",
        Counter::SectorsWritten => "sectors written",
        Counter::TimeInDevice => "time of requests in the device",
        Counter::BytesRead => "bytes read",
        Counter::BytesWritten => "bytes written",
        Counter::BusyTime => "busy time",
        Counter::IdleTime => "idle time",
        Counter::StealTime => "steal time",
        Counter::SoftirqTime => "softirq time",
        Counter::WaitingTime => "waiting time",
        Counter::Requests => "requests",
        Counter::Transmissions => "transmissions",
        Counter::QueueTime => "time in the queue",
        Counter::RoundTripTime => "round-trip time",
        Counter::ExecutionTime => "execution time",
    }
}

fn because(errno: Option<i32>) -> String {
    errno.map_or_else(String::new, |errno| format!(": {}", system_error(errno)))
}

fn system_error(errno: i32) -> std::io::Error {
    std::io::Error::from_raw_os_error(errno)
}

/// Error of requests: `Input/output error (os error 5)`. Its count is left out, since that includes the warm-up.
pub fn request_error(error: &RequestError) -> String {
    match error {
        // Linux's number: its own words, "Invalid or incomplete multibyte or wide character", are about texts.
        RequestError::System { errno: 84, .. } => {
            "what was read is not what was written: verification failed (EILSEQ, os error 84)".to_owned()
        }
        RequestError::System { errno, .. } => system_error(*errno).to_string(),
        RequestError::TooSlow => "a request was slower than fio's `max_latency` allows".to_owned(),
        RequestError::TooLowRate => "the throughput was below fio's `rate_min` or `rate_iops_min`".to_owned(),
        RequestError::JobStopped => "fio stopped a job because of an error; see its output".to_owned(),
        RequestError::Other(sentence) => sentence.clone(),
    }
}

/// Error of requests with its count: `3 x Input/output error (os error 5)`.
pub fn counted_error(error: &RequestError) -> String {
    match error {
        RequestError::System { count, .. } => format!("{count} x {}", request_error(error)),
        RequestError::JobStopped
        | RequestError::TooSlow
        | RequestError::TooLowRate
        | RequestError::Other(_) => request_error(error),
    }
}

/// What hides the medium: `the server's cache and the cache of this virtual machine's host`; `None` without a layer.
pub fn hidden_by(layers: &[HidingLayer]) -> Option<String> {
    let words = |layer: &HidingLayer| match layer {
        HidingLayer::Server => "the server's cache".to_owned(),
        HidingLayer::SharingHost => "the cache of the host that shares this folder".to_owned(),
        HidingLayer::VirtualMachineHost => "the cache of this virtual machine's host".to_owned(),
        HidingLayer::UserSpaceFileSystem => "a cache of the user-space file system".to_owned(),
        HidingLayer::Other(words) => words.clone(),
    };
    (!layers.is_empty()).then(|| layers.iter().map(words).collect::<Vec<_>>().join(" and "))
}

/// Why a point has no interval: `3 of 5 trials are valid; an interval needs 5.`
pub fn no_interval(why: &NoInterval) -> String {
    let trials = |count: usize| if count == 1 { "1 trial".to_owned() } else { format!("{count} trials") };
    match why {
        NoInterval::NotMeasured => "Not measured.".to_owned(),
        NoInterval::NoneValid { trials: all } => format!("None of {} is valid.", trials(*all)),
        NoInterval::TooFew { trials: all, valid, needed } if valid < all => {
            format!("{valid} of {} valid; an interval needs {needed}.", trials(*all))
        }
        NoInterval::TooFew { valid, needed, .. } => {
            format!("{}; an interval needs {needed}.", trials(*valid))
        }
        NoInterval::TooFewKept { valid, kept, op, needed } => format!(
            "{kept} of {} completed {op}s and are no outliers; an interval needs {needed}.",
            trials(*valid)
        ),
        NoInterval::ScatterOrDrift { valid } => {
            format!("{} do not separate scatter from drift.", trials(*valid))
        }
        NoInterval::Other(sentence) => sentence.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn a_counter_names_its_place_and_both_values() {
        let (counter, of) = (Counter::WaitingTime, "/proc/pressure/io".to_owned());
        assert_eq!(
            absence(&Absence::WentBackwards { counter, of, before: 1000, after: 3 }),
            "the waiting time of /proc/pressure/io fell from 1000 to 3: the counter was reset or wrapped around"
        );
        let denied = Absence::Unreadable { path: "/proc/self/io".into(), errno: Some(13) };
        let words = io::Error::from_raw_os_error(13);
        assert_eq!(absence(&denied), format!("/proc/self/io cannot be read: {words}"));
    }

    #[test]
    fn a_missing_interval_has_its_counts() {
        let few = |trials, valid| no_interval(&NoInterval::TooFew { trials, valid, needed: 5 });
        assert_eq!(few(6, 3), "3 of 6 trials valid; an interval needs 5.");
        assert_eq!(few(1, 1), "1 trial; an interval needs 5.");
    }

    #[test]
    fn layers_are_named_in_order() {
        assert_eq!(hidden_by(&[]), None);
        assert_eq!(
            hidden_by(&[HidingLayer::UserSpaceFileSystem, HidingLayer::Server]).unwrap(),
            "a cache of the user-space file system and the server's cache"
        );
    }

    #[test]
    fn errors_have_their_count_where_it_is_wanted() {
        let error = RequestError::System { errno: 5, count: 3 };
        let words = io::Error::from_raw_os_error(5).to_string();
        assert_eq!(counted_error(&error), format!("3 x {words}"));
        assert_eq!(request_error(&error), words);
    }
}
