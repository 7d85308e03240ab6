//! Words of the check `errors`.

use iosonde_model::{RequestError, cause::Errors, units};

use crate::text::request_error;

/// `3 of 1000 requests failed (Input/output error); see `dmesg``.
pub(super) fn words(cause: &Errors) -> String {
    match cause {
        Errors::Failed { requests, errors, hung, short, example } => {
            let reason = example.as_ref().map_or_else(|| "no reason given".to_owned(), request_error);
            let more = if may_be_the_hardware(example.as_ref()) { "; see `dmesg`" } else { "" };
            let faults = [
                (*errors, format!("{errors} of {requests} requests failed ({reason}){more}")),
                (*hung, format!("{hung} of {requests} requests did not return")),
                (*short, format!("{short} of {requests} requests moved fewer bytes than requested")),
            ];
            let faults = faults.into_iter().filter(|(count, _)| *count > 0).map(|(_, words)| words);
            faults.collect::<Vec<_>>().join("; ")
        }
        Errors::EndedEarly { ended_after_s, limit } => {
            let at = match limit {
                RequestError::TooLowRate => "at a throughput below its `rate_min` or `rate_iops_min`",
                _ => "at a request slower than its `max_latency`",
            };
            format!("fio ended the job after {}, {at}", units::time(ended_after_s * 1e9))
        }
        Errors::NothingCompleted { example: Some(example), .. } => {
            format!("no request completed: {}", request_error(example))
        }
        Errors::NothingCompleted { measured_s: 0.0, .. } => {
            "no time was measured, and no throughput: the job made no requests, or was stopped".to_owned()
        }
        Errors::NothingCompleted { measured_s, .. } => format!("no request completed in {measured_s:.1} s"),
        Errors::NotCounted => "the result does not state how many requests completed or failed".to_owned(),
    }
}

/// The kernel's log has more on input/output errors.
fn may_be_the_hardware(example: Option<&RequestError>) -> bool {
    const EIO: i32 = 5;
    example.is_none_or(|example| !matches!(example, RequestError::System { errno, .. } if *errno != EIO))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_faults_that_occurred_are_named() {
        let cause = Errors::Failed {
            requests: 1000,
            errors: 3,
            hung: 0,
            short: 1,
            example: Some(RequestError::System { errno: 5, count: 9 }),
        };
        let error = std::io::Error::from_raw_os_error(5);
        let expected = format!(
            "3 of 1000 requests failed ({error}); see `dmesg`; 1 of 1000 requests moved fewer bytes than requested"
        );
        assert_eq!(words(&cause), expected);
    }

    #[test]
    fn the_kernel_log_is_named_for_faults_of_the_device_alone() {
        let full = RequestError::System { errno: 28, count: 1 };
        let error = std::io::Error::from_raw_os_error(28);
        let failed =
            Errors::Failed { requests: 9, errors: 1, hung: 0, short: 0, example: Some(full.clone()) };
        assert_eq!(words(&failed), format!("1 of 9 requests failed ({error})"));
        let nothing = Errors::NothingCompleted { measured_s: 0.0, example: Some(full) };
        assert_eq!(words(&nothing), format!("no request completed: {error}"));
    }
}
