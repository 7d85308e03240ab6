//! Calls that wait for their answer, in threads of their own: one thread for each request under way.
//!
//! Good for: a queue depth above 1 where the system has no other way to it: macOS, and buffered I/O where io_uring
//! is forbidden, as in many containers. It is what programs with a pool of threads get. At queue depth 1 it makes the
//! calls itself, as psync does.
//!
//! Cannot: take psync's options, or write a stream to new files.
//!
//! Traps: a request costs two switches between threads, in which a processor can be busy elsewhere: beside io_uring,
//! rates on fast storage are lower and latencies higher (docs/performance.md has figures). The processor time of a
//! trial contains that of all threads.
//!
//! Source of the way in which requests are handed over: each thread has a desk with one request and its state, so that
//! nothing is locked; std's parking wakes without a system call whoever does not sleep.

use std::{
    cell::UnsafeCell,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
    thread::{self, JoinHandle, Thread},
    time::Duration,
};

use iosonde_model::{Named, Op};

use super::{
    Abilities, Bench, Completion, Completions, Engine, EngineKind, Opened, Request, Storage, Unavailable,
    psync::Psync,
};
use crate::{clock::Clock, platform::positioned::Positioned, witness};

/// The registered engine.
pub struct Threads;

/// A process gets a few thousand threads (macOS: 2048 by default, kern.num_taskthreads).
const DEPTH_MAX: u32 = 1024;
/// A call of the kernel needs no more; the default of 2 MiB each would be mapped for nothing.
const STACK_BYTES: usize = 128 << 10;

/// Nothing is asked, or the result has been taken.
const FREE: u32 = 0;
/// The request is there.
const ASKED: u32 = 1;
/// The result is there.
const DONE: u32 = 2;

impl Named for Threads {
    fn name(&self) -> &'static str {
        "threads"
    }
}

impl EngineKind for Threads {
    fn probe(&self, storage: &Storage) -> Result<Abilities, Unavailable> {
        match storage {
            Storage::File(_) => Ok(Abilities {
                blocking: false,
                depth_max: DEPTH_MAX,
                depth_why: "each request under way has a thread of its own; use several --jobs",
            }),
            Storage::Simulated(_) => {
                Err(Unavailable("threads read files; a simulated device has its own engine".into()))
            }
        }
    }

    fn open(&self, bench: &Bench) -> io::Result<Opened> {
        let abilities = self.probe(bench.storage).map_err(io::Error::other)?;
        abilities.refuse_depth(self.name(), bench.depth).map_err(io::Error::other)?;
        if bench.depth <= 1 {
            return Psync.open(bench);
        }
        Ok(Opened { engine: Box::new(Pool::open(bench)?), clock: Clock::real(), notes: Vec::new() })
    }
}

/// One thread's request and its result, on a cache line of its own.
#[repr(align(128))]
struct Desk {
    state: AtomicU32,
    request: UnsafeCell<Request>,
    result: UnsafeCell<i32>,
}

// SAFETY: `state` says who may touch the cells: the loop while it is FREE or DONE, the desk's thread while it is ASKED.
// Each hands over with a release that the other acquires.
unsafe impl Sync for Desk {}

/// What the loop and the threads share.
struct Shared {
    desks: Box<[Desk]>,
    /// A bit for each desk that went to DONE and was not looked at.
    done: Box<[AtomicU64]>,
    ends: AtomicBool,
}

/// A file with buffers, given to another thread.
struct Given(Positioned);

// SAFETY: the calls use the buffers of requests alone, each of which the loop leaves to one thread until its result is
// taken; the buffers outlive the threads, which are joined before the engine is gone.
unsafe impl Send for Given {}

struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<Option<(f64, f64)>>>,
    idle: Vec<u32>,
}

impl Pool {
    fn open(bench: &Bench) -> io::Result<Self> {
        let Storage::File(file) = bench.storage else { return Err(io::ErrorKind::Unsupported.into()) };
        let nothing = Request { slot: 0, op: Op::Flush, length_bytes: 0, offset_bytes: 0 };
        let desk = |_| Desk {
            state: AtomicU32::new(FREE),
            request: UnsafeCell::new(nothing),
            result: UnsafeCell::new(0),
        };
        let shared = Arc::new(Shared {
            desks: (0..bench.depth).map(desk).collect(),
            done: (0..bench.depth.div_ceil(u64::BITS)).map(|_| AtomicU64::new(0)).collect(),
            ends: AtomicBool::new(false),
        });
        let mut pool = Self { shared, threads: Vec::new(), idle: (0..bench.depth).rev().collect() };
        for number in 0..bench.depth {
            let (calls, shared, waker) =
                (Given(Positioned::open(file, bench)?), Arc::clone(&pool.shared), thread::current());
            let made = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
                // The whole, not its field alone, goes to the thread.
                let Given(calls) = { calls };
                serve(calls, &shared, number as usize, &waker)
            });
            pool.threads.push(made.map_err(|error| {
                io::Error::other(format!(
                    "the system gives no thread for one of {} requests ({error}); ask for a lower queue depth, or \
                     raise the limit (ulimit -u, or pids.max of the control group)",
                    bench.depth
                ))
            })?);
        }
        Ok(pool)
    }

    /// Takes the results that are there.
    fn take(&mut self, done: &mut Completions) {
        for (word, bits) in self.shared.done.iter().enumerate() {
            // Looked at first: a swap takes the line from the threads that write it.
            if bits.load(Ordering::Relaxed) == 0 {
                continue;
            }
            let mut set = bits.swap(0, Ordering::Acquire);
            while set != 0 {
                let number = word as u32 * u64::BITS + set.trailing_zeros();
                set &= set - 1;
                let desk = &self.shared.desks[number as usize];
                // SAFETY: the bit was set after the result was written and the state set to DONE.
                let (slot, result) = unsafe { ((*desk.request.get()).slot, *desk.result.get()) };
                desk.state.store(FREE, Ordering::Relaxed);
                self.idle.push(number);
                done.push(Completion { slot, result });
            }
        }
    }

    fn wake_all_for_the_end(&self) {
        self.shared.ends.store(true, Ordering::Release);
        self.threads.iter().for_each(|thread| thread.thread().unpark());
    }
}

/// Makes the calls that are put on a desk, until the end. Returns the thread's processor time.
fn serve(mut calls: Positioned, shared: &Shared, number: usize, waker: &Thread) -> Option<(f64, f64)> {
    let desk = &shared.desks[number];
    let (word, bit) = (number / u64::BITS as usize, 1 << (number % u64::BITS as usize));
    loop {
        while desk.state.load(Ordering::Acquire) != ASKED {
            if shared.ends.load(Ordering::Acquire) {
                return witness::thread_cpu();
            }
            thread::park();
        }
        // SAFETY: while the state is ASKED, the cells are this thread's.
        unsafe { *desk.result.get() = calls.call(&*desk.request.get()) };
        desk.state.store(DONE, Ordering::Release);
        shared.done[word].fetch_or(bit, Ordering::Release);
        waker.unpark();
    }
}

impl Engine for Pool {
    fn submit(&mut self, _now_ns: u64, requests: &[Request]) -> io::Result<usize> {
        let taken = requests.len().min(self.idle.len());
        for request in &requests[..taken] {
            let Some(number) = self.idle.pop() else { break };
            let desk = &self.shared.desks[number as usize];
            // SAFETY: a desk whose number is idle is FREE.
            unsafe { *desk.request.get() = *request };
            desk.state.store(ASKED, Ordering::Release);
            self.threads[number as usize].thread().unpark();
        }
        Ok(taken)
    }

    fn reap(&mut self, wait_ns: u64, done: &mut Completions) -> io::Result<()> {
        let before = done.len();
        self.take(done);
        if done.len() == before && wait_ns > 0 {
            match wait_ns {
                u64::MAX => thread::park(),
                _ => thread::park_timeout(Duration::from_nanos(wait_ns)),
            }
            self.take(done);
        }
        Ok(())
    }

    fn end_threads(&mut self) -> Option<(f64, f64)> {
        // One whose call has not returned would have to be waited for.
        if self.idle.len() < self.shared.desks.len() {
            return None;
        }
        self.wake_all_for_the_end();
        self.threads.drain(..).try_fold((0.0, 0.0), |(user_s, system_s), thread| {
            let (own_user_s, own_system_s) = thread.join().ok()??;
            Some((user_s + own_user_s, system_s + own_system_s))
        })
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.wake_all_for_the_end();
        // A thread that panicked has nothing to tell any more.
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}
