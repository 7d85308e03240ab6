//! Processor time of our own threads: getrusage; and the time that they were ready to run and had no processor.
//!
//! Threads that io_uring makes inside the kernel belong to the process, and a thread's own figure leaves them out.

/// Processor time that the calling thread has used: seconds in user mode, seconds in the kernel.
pub fn thread_cpu() -> Option<(f64, f64)> {
    // SAFETY: rusage is plain integers, for which all-zero bytes are a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a whole rusage of ours, which outlives the call.
    let result = unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    (result == 0).then(|| (seconds(usage.ru_utime), seconds(usage.ru_stime)))
}

/// Seconds that the calling thread has waited for a processor: the second number of its schedstat
/// (Documentation/scheduler/sched-stats.rst). `None` where the kernel keeps none.
pub fn thread_delay_s() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().nth(1)?.parse::<u64>().ok().map(|ns| ns as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_costs_time() {
        let total_s = |cpu: Option<(f64, f64)>| cpu.map(|(user_s, system_s)| user_s + system_s).unwrap();
        let before_s = total_s(thread_cpu());
        let mut sum = 0_u64;
        // Until the counter moves: no fixed amount of work is enough for it.
        while total_s(thread_cpu()) <= before_s {
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(1));
        }
        assert!(sum != 0);
    }

    #[test]
    fn waiting_for_a_processor_only_grows() {
        let Some(before_s) = thread_delay_s() else { return };
        std::thread::yield_now();
        assert!(thread_delay_s().is_some_and(|after_s| after_s >= before_s));
    }
}
