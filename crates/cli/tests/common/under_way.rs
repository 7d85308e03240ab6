//! Commands that are under way, and the processes that they are.

use std::{
    io::{BufRead, BufReader, Lines},
    os::unix::process::CommandExt,
    process::{Child, ChildStderr, Command, Stdio},
};

use super::{Bench, Said};

/// A command that is under way.
pub(crate) struct UnderWay {
    child: Child,
    err: Lines<BufReader<ChildStderr>>,
}

impl Bench {
    /// Starts a run and waits until it has kept so many trials: how long these take depends on the machine.
    pub(crate) fn after_trials(&self, words: &[&str], trials: usize) -> UnderWay {
        let mut command = self.command(words);
        // A group of its own, as a shell with job control makes one.
        command.arg("--verbose").stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().unwrap();
        let mut err = BufReader::new(child.stderr.take().unwrap()).lines();
        let (mut kept, mut said) = (0, String::new());
        while kept < trials {
            let line =
                err.next().and_then(Result::ok).unwrap_or_else(|| panic!("the run ended before: {said}"));
            kept += usize::from(line.starts_with("trial"));
            said += &(line + "\n");
        }
        UnderWay { child, err }
    }
}

/// The process that works for the one that was started.
pub(crate) fn worker(id: u32) -> Option<u32> {
    let stats = std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
        let process: u32 = entry.file_name().to_str()?.parse().ok()?;
        Some((process, std::fs::read_to_string(entry.path().join("stat")).ok()?))
    });
    // `PID (NAME) STATE PARENT ..`
    let parent = |stat: &str| stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse::<u32>().ok();
    stats.into_iter().find(|(_, stat)| parent(stat) == Some(id)).map(|(process, _)| process)
}

impl UnderWay {
    /// Ends it without a word, as `kill -9` does.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Tells it to stop, as Ctrl-C does; what it said from then on.
    pub(crate) fn interrupt(self) -> Said {
        self.signal("INT").wait()
    }

    /// The process that was started, which waits, and the one that works.
    pub(crate) fn processes(&self) -> [u32; 2] {
        let id = self.child.id();
        [id, worker(id).expect("a process that works")]
    }

    /// A line of `/proc/PID/status` of the process that works.
    pub(crate) fn status(&self, name: &str) -> String {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.processes()[1])).unwrap();
        text.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned()
    }

    /// Sends a signal.
    pub(crate) fn signal(self, name: &str) -> Self {
        let words = [format!("-{name}"), self.child.id().to_string()];
        assert!(Command::new("kill").args(words).status().unwrap().success());
        self
    }

    /// Reads what it says until a line has these words.
    pub(crate) fn until(&mut self, words: &str) -> String {
        let heard = self.err.by_ref().map_while(Result::ok).find(|line| line.contains(words));
        heard.unwrap_or_else(|| panic!("it ended without `{words}`"))
    }

    /// Closes what it speaks to and waits for its end; its exit code, unless a signal ended it.
    pub(crate) fn unheard(mut self) -> Option<i32> {
        drop(self.err);
        self.child.wait().unwrap().code()
    }

    /// Waits for its end; what it said from then on.
    pub(crate) fn wait(mut self) -> Said {
        let err = self.err.map_while(Result::ok).map(|line| line + "\n").collect();
        let code = self.child.wait().unwrap().code().unwrap_or(-1);
        Said { code, out: String::new(), err }
    }
}
