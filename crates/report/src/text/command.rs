//! The command that would answer a question, ready to type.

/// As [`command`], with an option behind the target.
pub fn command_with(study: &str, target: &str, option: &str) -> Option<String> {
    Some(format!("{} {option}`", command(study, target)?.strip_suffix('`')?))
}

/// `iosonde run queue-depth sim:nfs` between backticks; `None` for a target that a shell would not take as it is.
pub fn command(study: &str, target: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:".contains(c);
    let as_it_is = target.chars().all(plain) && !target.is_empty();
    as_it_is.then(|| format!("`iosonde run {study} {target}`"))
}

#[cfg(test)]
mod tests {
    use super::{command, command_with};

    #[test]
    fn what_a_shell_would_take_apart_is_no_command() {
        assert_eq!(command("quick", "sim:nfs").as_deref(), Some("`iosonde run quick sim:nfs`"));
        let larger = command_with("quick", "sim:nfs", "--size 64G");
        assert_eq!(larger.as_deref(), Some("`iosonde run quick sim:nfs --size 64G`"));
        assert_eq!(command("quick", "my folder"), None);
        assert_eq!(command("quick", "$(rm)"), None);
        assert_eq!(command("quick", ""), None);
    }
}
