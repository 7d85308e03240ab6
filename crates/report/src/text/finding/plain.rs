//! Words of findings that have no facts beside their value.

use iosonde_model::{Finding, FindingName};

use super::{subject, value};

pub(super) fn sentence(finding: &Finding) -> String {
    let at_least = if finding.at_least { "at least " } else { "" };
    format!("{}: {at_least}{}.", subject(finding), value(finding))
}

pub(super) fn why(finding: &Finding) -> Option<String> {
    (finding.name == FindingName::BaseLatency)
        .then(|| "Mean over all requests, system call included.".to_owned())
}
