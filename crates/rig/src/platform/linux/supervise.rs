//! Two processes for each measurement: one works, the other one waits for it.
//!
//! Nothing ends a thread inside a call that does not return, not even SIGKILL, and a process that waits for the process
//! waits for its last thread. So the process that was started does not touch the storage. It waits, and leaves the
//! working one behind where that has ended in all but that call. To the outside both are one: they share terminal and
//! process group, signals reach both, the end of one is the end of the other, and its exit code or signal is handed on.

use std::{
    io,
    mem::MaybeUninit,
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
    ptr,
    sync::atomic::{AtomicI32, Ordering},
};

use super::{
    cleaner, is_killed,
    leave::{self, CODE, GOT, SIGNAL, STOPS, Word},
    remains,
};
use crate::{clock::monotonic_ns, platform::ProcessGroup};

/// Signals that are handed on. All others end this process, and the working one with it.
const HANDED_ON: [libc::c_int; 6] =
    [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGTSTP, libc::SIGCONT];
/// Signals are numbered from 1 to 31, but for those of real time.
const SIGNALS: usize = 32;
/// A terminal sends its signals to both processes: only what the other one did not get after this is sent again, since
/// its second one ends it at once.
const ARRIVES_NS: u64 = 100_000_000;
/// From its last word to its end: it has closed its files by then.
const ENDS_NS: u64 = 300_000_000;
/// How often it is looked whether it was killed and has not ended. A look takes some 30 µs.
const LOOK_NS: u64 = 2_000_000_000;
const LOOK_SOON_NS: u64 = 250_000_000;
/// Killed, it may still give back memory and the blocks of its file.
const KILLED_ENDS_NS: u64 = 1_000_000_000;

/// The process that waits for this one; 0 where none does.
static SUPERVISOR: AtomicI32 = AtomicI32::new(0);

/// How a process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Code(libc::c_int),
    Signal(libc::c_int),
}

/// Goes on in a process of its own, while this one waits for it and then ends as it did. Call it before there is any
/// thread. Where the system gives no process, this one goes on.
pub fn go_on_under_supervision(group: ProcessGroup) {
    let Ok((words, speaks)) = pipe() else { return };
    let cleaner = cleaner::stand_by();
    let parent = rustix::process::getpid();
    // Where the process that started this one ignores the end of processes, there would be none to hear of.
    // SAFETY: the default action runs no code of ours.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    // SAFETY: there is one thread, so that the new process has all that it needs.
    match unsafe { libc::fork() } {
        -1 => {}
        0 => {
            drop(words);
            let at_its_end = match group {
                ProcessGroup::Shared => libc::SIGKILL,
                ProcessGroup::Own => {
                    let _ = rustix::process::setpgid(None, None);
                    // Asks it to end. A second SIGTERM would end it at once.
                    libc::SIGINT
                }
            };
            // SAFETY: plain numbers. The end of the other process ends this one, by whatever it was ended.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, at_its_end) };
            if rustix::process::getppid() != Some(parent) {
                end_as(End::Signal(libc::SIGKILL));
            }
            SUPERVISOR.store(parent.as_raw_nonzero().get(), Ordering::Relaxed);
            leave::speak_to(speaks.as_raw_fd());
            // Open until the process ends.
            std::mem::forget(speaks);
            if let Some(pipe) = cleaner {
                remains::speak_to(pipe);
            }
        }
        child => {
            drop((speaks, cleaner));
            let _ = caps::clear(None, caps::CapSet::Effective);
            let _ = caps::clear(None, caps::CapSet::Permitted);
            let end = Supervisor::new(child, words).map_or_else(|_| wait_plainly(child), Supervisor::wait);
            end_as(end)
        }
    }
}

/// True while the process that waits is stopped: nothing that is sent to it alone comes here by itself.
pub(crate) fn is_stopped() -> bool {
    let supervisor = SUPERVISOR.load(Ordering::Relaxed);
    supervisor > 0
        && std::fs::read_to_string(format!("/proc/{supervisor}/stat"))
            .is_ok_and(|stat| stat.rsplit_once(')').is_some_and(|(_, fields)| fields.starts_with(" T")))
}

/// Stops this process with the one that waits for it.
pub(crate) fn stop_with_the_other() {
    leave::stops();
    stop();
}

/// Stops this process, until somebody lets it go on.
fn stop() {
    // SAFETY: a signal to this process that runs no code of ours.
    unsafe { libc::kill(libc::getpid(), libc::SIGSTOP) };
}

/// A pipe whose ends no other program inherits; reading does not wait.
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let flags = rustix::pipe::PipeFlags::CLOEXEC | rustix::pipe::PipeFlags::NONBLOCK;
    Ok(rustix::pipe::pipe_with(flags)?)
}

/// Ends this process as the other one ended.
fn end_as(end: End) -> ! {
    // SAFETY: nothing of this process is needed any more. Where the signal does not end it, the code does, which shells
    // give to such an end.
    unsafe {
        if let End::Signal(signal) = end {
            // The image of this process would tell nothing.
            libc::prctl(libc::PR_SET_DUMPABLE, 0);
            libc::signal(signal, libc::SIG_DFL);
            let mut all = MaybeUninit::uninit();
            libc::sigfillset(all.as_mut_ptr());
            libc::sigprocmask(libc::SIG_UNBLOCK, all.as_ptr(), ptr::null_mut());
            libc::raise(signal);
        }
        libc::_exit(match end {
            End::Code(code) => code,
            End::Signal(signal) => 128 + signal,
        })
    }
}

/// What a process that waits for another hears of it: its end, or the signal that stopped it.
enum Heard {
    Ended(End),
    Stopped(libc::c_int),
}

fn hear(child: libc::pid_t, flags: libc::c_int) -> Option<Heard> {
    let mut status = 0;
    // SAFETY: the status is a place of ours.
    let found = unsafe { libc::waitpid(child, &raw mut status, flags) };
    if found != child {
        let gone = found < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::ECHILD);
        return gone.then_some(Heard::Ended(End::Signal(libc::SIGKILL)));
    }
    Some(if libc::WIFSTOPPED(status) {
        Heard::Stopped(libc::WSTOPSIG(status))
    } else if libc::WIFSIGNALED(status) {
        Heard::Ended(End::Signal(libc::WTERMSIG(status)))
    } else {
        Heard::Ended(End::Code(libc::WEXITSTATUS(status)))
    })
}

/// Without descriptors to spare.
fn wait_plainly(child: libc::pid_t) -> End {
    loop {
        if let Some(Heard::Ended(end)) = hear(child, 0) {
            return end;
        }
    }
}

/// How often a signal came here, was taken by the other process, and was sent on to it.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    here: u32,
    there: u32,
    sent: u32,
    /// When the last one was counted here.
    at_ns: u64,
}

struct Supervisor {
    child: libc::pid_t,
    words: OwnedFd,
    /// Whether anybody can say a word yet.
    speaks: bool,
    signals: OwnedFd,
    counts: [Count; SIGNALS],
    /// When it is seen what the other process did not get.
    compare_at_ns: Option<u64>,
    /// The last signal that may have ended it.
    last: Option<libc::c_int>,
    /// What it said of its end, and when it is not waited for any longer.
    ends: Option<(End, u64)>,
    look_at_ns: u64,
    /// It said that it stops since this process was stopped.
    follows: bool,
}

impl Supervisor {
    fn new(child: libc::pid_t, words: OwnedFd) -> io::Result<Self> {
        let mut taken = MaybeUninit::uninit();
        // SAFETY: the set is filled in before it is read; the descriptor is new and nobody else's.
        let signals = unsafe {
            libc::sigemptyset(taken.as_mut_ptr());
            for signal in HANDED_ON.into_iter().chain([libc::SIGCHLD]) {
                libc::sigaddset(taken.as_mut_ptr(), signal);
            }
            libc::sigprocmask(libc::SIG_BLOCK, taken.as_ptr(), ptr::null_mut());
            match libc::signalfd(-1, taken.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) {
                -1 => return Err(io::Error::last_os_error()),
                signals => OwnedFd::from_raw_fd(signals),
            }
        };
        let counts = [Count::default(); SIGNALS];
        Ok(Self {
            child,
            words,
            speaks: true,
            signals,
            counts,
            compare_at_ns: None,
            last: None,
            ends: None,
            look_at_ns: monotonic_ns() + LOOK_NS,
            follows: false,
        })
    }

    /// Waits until the process has ended, or in all but a call that does not return.
    fn wait(mut self) -> End {
        loop {
            match hear(self.child, libc::WNOHANG | libc::WUNTRACED) {
                Some(Heard::Ended(end)) => return end,
                Some(Heard::Stopped(signal)) => self.stop_too(signal),
                None => {}
            }
            let now_ns = monotonic_ns();
            self.look(now_ns);
            if let Some((end, _)) = self.ends.filter(|(_, at_ns)| *at_ns <= now_ns) {
                self.send(libc::SIGKILL);
                return end;
            }
            if self.compare_at_ns.is_some_and(|at_ns| at_ns <= now_ns) {
                self.compare();
            }
            self.sleep(now_ns);
            while let Some(signal) = self.signal() {
                self.took(signal);
            }
            self.listen();
        }
    }

    /// Until something happens, or is due.
    fn sleep(&self, now_ns: u64) {
        let due = [self.compare_at_ns, self.ends.map(|(_, at_ns)| at_ns), Some(self.look_at_ns)];
        let wait_ns = due.into_iter().flatten().min().unwrap_or(now_ns).saturating_sub(now_ns);
        let event = |file: &OwnedFd| libc::pollfd { fd: file.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        let mut events = [event(&self.signals), event(&self.words)];
        // A pipe to which nobody writes any more is always ready.
        let watched = if self.speaks { 2 } else { 1 };
        let wait_ms = libc::c_int::try_from(wait_ns.div_ceil(1_000_000)).unwrap_or(libc::c_int::MAX);
        // SAFETY: the kernel writes to the events alone, which are there.
        unsafe { libc::poll(events.as_mut_ptr(), watched, wait_ms) };
    }

    fn signal(&self) -> Option<libc::c_int> {
        let mut info = MaybeUninit::<libc::signalfd_siginfo>::uninit();
        let bytes = size_of::<libc::signalfd_siginfo>();
        // SAFETY: the kernel fills in whole structures, and this one has room for one.
        unsafe {
            let read = libc::read(self.signals.as_raw_fd(), info.as_mut_ptr().cast(), bytes);
            (read == bytes as isize).then(|| info.assume_init().ssi_signo as libc::c_int)
        }
    }

    fn word(&mut self) -> Option<Word> {
        let mut word: Word = [0; 2];
        let read = rustix::io::read(&self.words, &mut word);
        self.speaks &= read != Ok(0);
        // Words are written whole.
        (read == Ok(word.len())).then_some(word)
    }

    fn listen(&mut self) {
        while let Some(word) = self.word() {
            self.heard(word);
        }
    }

    /// A signal came here.
    fn took(&mut self, signal: libc::c_int) {
        match signal {
            libc::SIGCHLD => {}
            libc::SIGCONT => self.send(signal),
            _ => {
                // `timeout` sends its signal to the process, and then to the group: that is one.
                let (now_ns, count) = (monotonic_ns(), &mut self.counts[signal as usize]);
                if now_ns - count.at_ns > ARRIVES_NS {
                    count.here += 1;
                    count.at_ns = now_ns;
                }
                if signal != libc::SIGTSTP {
                    self.last = Some(signal);
                }
                self.compare_soon();
            }
        }
    }

    /// The other process said something.
    fn heard(&mut self, [what, number]: Word) {
        let until_ns = monotonic_ns() + ENDS_NS;
        match what {
            GOT => {
                let count = &mut self.counts[usize::from(number) % SIGNALS];
                count.there += 1;
                count.sent = count.sent.saturating_sub(1);
                self.last = Some(number.into());
                self.compare_soon();
            }
            CODE => self.ends = Some((End::Code(number.into()), until_ns)),
            SIGNAL => self.ends = Some((End::Signal(number.into()), until_ns)),
            STOPS => self.follows = true,
            _ => {}
        }
    }

    fn compare_soon(&mut self) {
        let now_ns = monotonic_ns();
        self.compare_at_ns = Some(now_ns + ARRIVES_NS);
        self.look_at_ns = self.look_at_ns.min(now_ns + LOOK_SOON_NS);
    }

    /// What was sent to this process alone is sent on.
    fn compare(&mut self) {
        self.compare_at_ns = None;
        for signal in HANDED_ON {
            let count = &mut self.counts[signal as usize];
            if count.there + count.sent < count.here {
                count.sent += 1;
                self.send(signal);
            } else {
                // The other one was sent more by itself: the next one that comes here is not among these.
                count.here = count.there + count.sent;
            }
        }
    }

    /// The shell must see that its job was stopped. SIGSTOP may have been meant for the other process alone: that it
    /// goes on would not be seen here.
    fn stop_too(&mut self, signal: libc::c_int) {
        let count = &mut self.counts[libc::SIGTSTP as usize];
        *count = Count { at_ns: count.at_ns, ..Count::default() };
        // What it said before it stopped is in the pipe.
        self.listen();
        if signal != libc::SIGSTOP {
            stop();
        } else if std::mem::take(&mut self.follows) {
            // This process goes on: its signal to do so may have come before the other one had stopped.
            self.send(libc::SIGCONT);
        }
    }

    /// Killed, it says no word.
    fn look(&mut self, now_ns: u64) {
        if now_ns < self.look_at_ns {
            return;
        }
        self.look_at_ns = now_ns + LOOK_NS;
        if self.ends.is_none() && is_killed(self.child as u32) {
            let signal = self.last.unwrap_or(libc::SIGKILL);
            self.ends = Some((End::Signal(signal), now_ns + KILLED_ENDS_NS));
        }
    }

    fn send(&self, signal: libc::c_int) {
        // SAFETY: the process has not been waited for, so that its number is no other's.
        unsafe { libc::kill(self.child, signal) };
    }
}
