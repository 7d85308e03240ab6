//! Whether BitLocker encrypts a volume. Its own interfaces answer only administrators; the shell's property of a drive
//! answers everybody, and PowerShell is the way to it without COM.

use std::{
    io::Read,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Four seconds. PowerShell starts in about half a second; where something holds it up, nothing is known.
const LOOKS: u32 = 80;

/// Asks about a drive: `C:`. `None` where nobody answers.
pub(super) fn encrypts(letter: &str) -> Option<bool> {
    let windows = std::env::var_os("SystemRoot")?;
    let program = std::path::Path::new(&windows).join(r"System32\WindowsPowerShell\v1.0\powershell.exe");
    let question = format!(
        "(New-Object -ComObject Shell.Application).NameSpace('{letter}').Self.ExtendedProperty(\
         'System.Volume.BitLockerProtection')"
    );
    let mut asked = Command::new(program)
        .args(["-NoProfile", "-NonInteractive", "-Command", &question])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let mut looks = 0;
    while asked.try_wait().ok()?.is_none() {
        looks += 1;
        if looks > LOOKS {
            // It may have ended just now.
            let _ = asked.kill();
            let _ = asked.wait();
            return None;
        }
        thread::sleep(LOOK_EVERY);
    }
    let mut answer = String::new();
    asked.stdout.take()?.read_to_string(&mut answer).ok()?;
    is_protected(&answer)
}

/// The property's numbers: 1 on, 2 off, 3 encrypting, 4 decrypting, 5 suspended, 6 locked. Any other is not known.
fn is_protected(answer: &str) -> Option<bool> {
    match answer.trim() {
        "1" | "3" | "4" | "5" | "6" => Some(true),
        "2" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_numbers_are_answers() {
        assert_eq!(is_protected("1\r\n"), Some(true));
        assert_eq!(is_protected("2\r\n"), Some(false));
        assert_eq!(
            [is_protected(""), is_protected("0"), is_protected("7"), is_protected("an error")],
            [None; 4]
        );
    }

    #[test]
    fn where_nobody_answers_nothing_is_known() {
        // Wine's PowerShell does nothing, and that of Windows knows no such drive.
        assert_eq!(encrypts("?:"), None);
    }
}
