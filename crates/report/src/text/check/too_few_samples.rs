//! Words of the check `too-few-samples`.

use iosonde_model::cause::TooFewSamples;

pub(super) fn words(cause: &TooFewSamples) -> String {
    match *cause {
        TooFewSamples::Uncounted => "the number of completed requests is not given".to_owned(),
        TooFewSamples::Requests { requests, needed } => {
            let plural = if requests == 1 { "" } else { "s" };
            format!("only {requests} request{plural} timed, too few for its latency ({needed} needed)")
        }
        TooFewSamples::Trials { standing, trials, needed } => {
            let count = if standing == trials {
                format!("{trials} trial{}", if trials == 1 { "" } else { "s" })
            } else {
                format!("{standing} of {trials} trials valid")
            };
            format!("{count}; a confidence interval needs {needed}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_trials_are_counted_among_all() {
        let of = |standing, trials| words(&TooFewSamples::Trials { standing, trials, needed: 5 });
        assert_eq!(of(4, 9), "4 of 9 trials valid; a confidence interval needs 5");
        assert_eq!(of(1, 1), "1 trial; a confidence interval needs 5");
        let one = TooFewSamples::Requests { requests: 1, needed: 30 };
        assert_eq!(words(&one), "only 1 request timed, too few for its latency (30 needed)");
    }
}
