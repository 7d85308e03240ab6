//! Words of the check `errors`.

use iosonde_model::cause::Errors;

use crate::text::request_error;

/// `3 of 1000 requests failed (Input/output error); see `dmesg``.
pub(super) fn words(cause: &Errors) -> String {
    match cause {
        Errors::Failed { requests, errors, hung, short, example } => {
            let example = example.as_ref().map_or_else(|| "no reason given".to_owned(), request_error);
            let faults = [
                (*errors, format!("{errors} of {requests} requests failed ({example}); see `dmesg`")),
                (*hung, format!("{hung} of {requests} requests did not return")),
                (*short, format!("{short} of {requests} requests moved fewer bytes than requested")),
            ];
            let faults = faults.into_iter().filter(|(count, _)| *count > 0).map(|(_, words)| words);
            faults.collect::<Vec<_>>().join("; ")
        }
        Errors::NothingCompleted { measured_s } => format!("no request completed in {measured_s:.1} s"),
        Errors::NotCounted => "the result does not state how many requests completed or failed".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iosonde_model::RequestError;

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
}
