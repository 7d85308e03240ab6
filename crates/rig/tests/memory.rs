//! What the program reserves of its own memory. Alone in its file, since it looks at the whole process.
#![cfg(target_env = "gnu")]

use iosonde_rig::memory;

fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").expect("there is a proc");
    pages.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).expect("a number of pages") * 4096
}

#[test]
fn what_is_reserved_is_there_and_is_used_again() {
    let before = resident_bytes();
    memory::reserve(32 << 20);
    let reserved = resident_bytes();
    // 32 MiB, and 6 for what comes and goes.
    assert!(reserved >= before + (36 << 20), "{before} before, {reserved} reserved");
    let used: Vec<Vec<u8>> = (0..4_000).map(|_| vec![1; 6_000]).collect();
    let grown = resident_bytes().saturating_sub(reserved);
    // 24 MB in all.
    assert!(grown < 1 << 20, "{grown} more for {} trials", used.len());
}
