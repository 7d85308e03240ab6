//! Calls that wait for their answer, in threads of their own: one thread for each request under way.
//!
//! Good for: a queue depth above 1 where the system has no other way to it: macOS, and buffered I/O where io_uring
//! is forbidden, as in many containers. It is what programs with a pool of threads get. At queue depth 1 it makes the
//! calls itself, as psync does.
//!
//! Cannot: take psync's options, or write a stream to new files.
//!
//! Traps: a request costs two switches between threads, in which a processor can be busy elsewhere: beside io_uring,
//! rates on fast storage are lower and latencies higher. The processor time of a trial contains that of all threads.

use std::{
    cell::UnsafeCell,
    fs::File,
    io,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
    thread::{self, JoinHandle, Thread},
    time::Duration,
};

use iosonde_model::{Named, Op};

use super::{
    Abilities, Bench, Completion, Completions, Engine, EngineKind, Opened, Request, Storage, Unavailable,
    waiting::Waiting,
};
use crate::{
    clock::Clock,
    platform::{positioned::Positioned, scheduling},
    witness,
};

/// The registered engine.
pub struct Threads;

/// A process gets a few thousand threads (macOS: 2048 by default, kern.num_taskthreads).
const DEPTH_MAX: u32 = 1024;
/// A call of the kernel needs no more; the default of 2 MiB each would be mapped for nothing.
const STACK_BYTES: usize = 128 << 10;

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
                Err(Unavailable("threads reads files; a simulated device has its own engine".into()))
            }
        }
    }

    fn open(&self, bench: &Bench) -> io::Result<Opened> {
        let abilities = self.probe(bench.storage).map_err(io::Error::other)?;
        abilities.refuse_depth(self.name(), bench.depth).map_err(io::Error::other)?;
        let Storage::File(file) = bench.storage else { return Err(io::ErrorKind::Unsupported.into()) };
        let engine: Box<dyn Engine> = match bench.depth {
            0 | 1 => Box::new(Waiting::new(Positioned::open(file, bench)?)),
            _ => Box::new(Pool::open(file, bench)?),
        };
        Ok(Opened { engine, clock: Clock::real(), notes: Vec::new() })
    }
}

/// A request and its result, on a cache line of its own.
#[repr(align(128))]
struct Desk {
    request: UnsafeCell<Request>,
    result: UnsafeCell<i32>,
}

// SAFETY: a desk belongs to the loop, but from the moment that its number is in the ring until its bit is set in
// `done`: then to the one thread that took the number. Each hands over with a release that the other acquires.
unsafe impl Sync for Desk {}

/// What the loop and the threads share: a ring of slots that the loop fills and any thread empties, without locks.
///
/// A thread that is done takes the next request before it sleeps, and one thread at a time is woken, by the thread that
/// sees more to do: calls that memory answers then cost few switches, and calls that wait get a thread each. A thread
/// and a desk of its own for each request, tried first, was 0.84 times as fast as glibc's asynchronous I/O at queue
/// depth 128.
struct Shared {
    /// One for each slot.
    desks: Box<[Desk]>,
    /// Slots that wait for a thread, from `head` to `tail`; as many places as slots.
    ring: Box<[AtomicU32]>,
    head: AtomicU32,
    tail: AtomicU32,
    /// Slots whose result is there and was not taken.
    done: Bits,
    /// Threads that sleep.
    idle: Bits,
    /// True while a thread was woken and has found nothing yet.
    looks: AtomicBool,
    ends: AtomicBool,
    /// The thread of the loop.
    driver: Thread,
    /// Set once, before the first request.
    threads: OnceLock<Box<[Thread]>>,
}

impl Shared {
    /// Puts a slot into the ring. The loop alone does.
    fn put(&self, slot: u32) {
        let tail = self.tail.load(Ordering::Relaxed);
        self.ring[tail as usize % self.ring.len()].store(slot, Ordering::Relaxed);
        self.tail.store(tail.wrapping_add(1), Ordering::SeqCst);
    }

    /// Takes a slot out of the ring.
    fn take(&self) -> Option<u32> {
        let mut head = self.head.load(Ordering::SeqCst);
        while head != self.tail.load(Ordering::SeqCst) {
            // Read first: the place is not written again before `head` has passed it, and then the exchange fails.
            let slot = self.ring[head as usize % self.ring.len()].load(Ordering::Relaxed);
            let next = head.wrapping_add(1);
            match self.head.compare_exchange(head, next, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => return Some(slot),
                Err(now) => head = now,
            }
        }
        None
    }

    fn is_empty(&self) -> bool {
        self.head.load(Ordering::SeqCst) == self.tail.load(Ordering::SeqCst)
    }

    /// Wakes a thread, unless one is on its way. Who goes to sleep says so first and then looks at the ring again, so
    /// that either sees the other.
    fn wake_one(&self) {
        if self.looks.swap(true, Ordering::SeqCst) {
            return;
        }
        match self.idle.take_one().zip(self.threads.get()) {
            Some((number, threads)) => threads[number as usize].unpark(),
            None => self.looks.store(false, Ordering::SeqCst),
        }
    }

    /// Makes the calls of whatever is in the ring, until the end. Returns the thread's processor time.
    fn serve(&self, mut calls: Positioned, number: u32) -> Option<(f64, f64)> {
        scheduling::full_speed();
        let mut looks = false;
        loop {
            let slot = self.take();
            if std::mem::take(&mut looks) {
                self.looks.store(false, Ordering::SeqCst);
            }
            let Some(slot) = slot else {
                self.idle.set(number);
                if !self.is_empty() || self.ends.load(Ordering::SeqCst) {
                    looks = !self.idle.clear(number);
                    if self.is_empty() && self.ends.load(Ordering::SeqCst) {
                        return witness::thread_cpu();
                    }
                    continue;
                }
                while self.idle.has(number) && !self.ends.load(Ordering::SeqCst) {
                    thread::park();
                }
                looks = !self.idle.clear(number);
                continue;
            };
            if !self.is_empty() {
                self.wake_one();
            }
            let desk = &self.desks[slot as usize];
            // SAFETY: the slot came out of the ring to this thread alone.
            unsafe { *desk.result.get() = calls.call(&*desk.request.get()) };
            self.done.set(slot);
            self.driver.unpark();
        }
    }
}

/// A set of numbers, that threads change without locks.
struct Bits(Box<[AtomicU64]>);

impl Bits {
    fn new(count: u32) -> Self {
        Self((0..count.div_ceil(u64::BITS)).map(|_| AtomicU64::new(0)).collect())
    }

    fn place(&self, number: u32) -> (&AtomicU64, u64) {
        (&self.0[(number / u64::BITS) as usize], 1 << (number % u64::BITS))
    }

    fn set(&self, number: u32) {
        let (word, bit) = self.place(number);
        word.fetch_or(bit, Ordering::SeqCst);
    }

    fn has(&self, number: u32) -> bool {
        let (word, bit) = self.place(number);
        word.load(Ordering::SeqCst) & bit != 0
    }

    /// Takes a number out; false if it was not in.
    fn clear(&self, number: u32) -> bool {
        let (word, bit) = self.place(number);
        word.fetch_and(!bit, Ordering::SeqCst) & bit != 0
    }

    /// Takes out any number.
    fn take_one(&self) -> Option<u32> {
        let lowest = |(word, bits): (usize, &AtomicU64)| {
            let bit = bits.load(Ordering::SeqCst).trailing_zeros();
            (bit < u64::BITS).then(|| word as u32 * u64::BITS + bit)
        };
        loop {
            let number = self.0.iter().enumerate().find_map(lowest)?;
            if self.clear(number) {
                return Some(number);
            }
        }
    }

    /// Takes out all numbers.
    fn take_all(&self, mut each: impl FnMut(u32)) {
        for (word, bits) in self.0.iter().enumerate() {
            // Looked at first: a swap takes the line from the threads that write it.
            if bits.load(Ordering::Relaxed) == 0 {
                continue;
            }
            let mut set = bits.swap(0, Ordering::Acquire);
            while set != 0 {
                each(word as u32 * u64::BITS + set.trailing_zeros());
                set &= set - 1;
            }
        }
    }
}

/// A file with buffers, given to another thread.
struct Given(Positioned);

// SAFETY: the calls use the buffers of requests alone, each of which the loop leaves to one thread until its result is
// taken; the buffers outlive the threads, which are joined before the engine is gone.
unsafe impl Send for Given {}

struct Pool {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<Option<(f64, f64)>>>,
    under_way: usize,
}

impl Pool {
    fn open(file: &Arc<File>, bench: &Bench) -> io::Result<Self> {
        let nothing = Request { slot: 0, op: Op::Flush, length_bytes: 0, offset_bytes: 0 };
        let desk = |_| Desk { request: UnsafeCell::new(nothing), result: UnsafeCell::new(0) };
        let slots = bench.buffers.slots();
        let shared = Arc::new(Shared {
            desks: (0..slots).map(desk).collect(),
            // A power of two, so that places follow each other also where the count of requests wraps.
            ring: (0..slots.next_power_of_two()).map(|_| AtomicU32::new(0)).collect(),
            head: AtomicU32::new(0),
            tail: AtomicU32::new(0),
            done: Bits::new(slots),
            idle: Bits::new(bench.depth),
            looks: AtomicBool::new(false),
            ends: AtomicBool::new(false),
            driver: thread::current(),
            threads: OnceLock::new(),
        });
        let mut pool = Self { shared, threads: Vec::new(), under_way: 0 };
        for number in 0..bench.depth {
            let (calls, shared) = (Given(Positioned::open(file, bench)?), Arc::clone(&pool.shared));
            let made = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
                // The whole, not its field alone, goes to the thread.
                let Given(calls) = { calls };
                shared.serve(calls, number)
            });
            pool.threads.push(made.map_err(|error| {
                io::Error::other(format!(
                    "the system gives no thread for one of {} requests ({error}); ask for a lower queue depth, or \
                     raise the limit (ulimit -u, or pids.max of the control group)",
                    bench.depth
                ))
            })?);
        }
        // Set here alone.
        let _ = pool.shared.threads.set(pool.threads.iter().map(|thread| thread.thread().clone()).collect());
        Ok(pool)
    }

    /// Takes the results that are there.
    fn take(&mut self, done: &mut Completions) {
        let before = done.len();
        self.shared.done.take_all(|slot| {
            // SAFETY: the bit was set after the result was written.
            let result = unsafe { *self.shared.desks[slot as usize].result.get() };
            done.push(Completion { slot, result });
        });
        self.under_way -= done.len() - before;
    }

    fn wake_all_for_the_end(&self) {
        self.shared.ends.store(true, Ordering::SeqCst);
        self.threads.iter().for_each(|thread| thread.thread().unpark());
    }
}

impl Engine for Pool {
    fn submit(&mut self, _now_ns: u64, requests: &[Request]) -> io::Result<usize> {
        for request in requests {
            // SAFETY: the loop has no request under way in a slot that it uses again.
            unsafe { *self.shared.desks[request.slot as usize].request.get() = *request };
            self.shared.put(request.slot);
        }
        self.under_way += requests.len();
        if !requests.is_empty() {
            self.shared.wake_one();
        }
        Ok(requests.len())
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
        if self.under_way > 0 {
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
