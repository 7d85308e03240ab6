//! The command that would answer a question, ready to type.

/// `iosonde run queue-depth sim:nfs` between backticks; `None` for a target that a shell would not take as it is.
pub fn command(study: &str, target: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-:".contains(c);
    let as_it_is = target.chars().all(plain) && !target.is_empty();
    as_it_is.then(|| format!("`iosonde run {study} {target}`"))
}

#[cfg(test)]
mod tests {
    use super::command;

    #[test]
    fn what_a_shell_would_take_apart_is_no_command() {
        assert_eq!(command("quick", "sim:nfs").as_deref(), Some("`iosonde run quick sim:nfs`"));
        assert_eq!(command("quick", "my folder"), None);
        assert_eq!(command("quick", "$(rm)"), None);
        assert_eq!(command("quick", ""), None);
    }
}
