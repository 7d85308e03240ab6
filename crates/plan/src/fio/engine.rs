//! Our engine for fio's, with the options that go with it.

use super::{
    given::{Change, DEPTH_MAX, Options},
    refusal::Refusal,
};

/// fio's options that are options of our engines: the option, ours, and the engines that have it.
const OPTIONS: [(&str, &str, &[&str]); 4] = [
    ("hipri", "iopoll", &["io_uring"]),
    ("sqthread_poll", "sqpoll", &["io_uring"]),
    ("uncached", "dontcache", &["io_uring", "psync"]),
    ("atomic", "atomic", &["io_uring", "psync"]),
];

/// Name of our engine, as in `io_uring:sqpoll`.
pub(super) fn engine(options: &Options, changes: &mut Vec<Change>) -> Result<String, Refusal> {
    let asked = options.text("ioengine").unwrap_or("psync");
    let kind = kind(options, asked)?;
    let mut own = Vec::new();
    for (option, ours, kinds) in OPTIONS {
        if !options.yes(option)?.unwrap_or(false) {
            continue;
        }
        match (option, kind) {
            // Its flag of a single call.
            ("hipri", "psync") => own.push("hipri"),
            _ if kinds.contains(&kind) => own.push(ours),
            _ => return Err(options.unsupported(option, format!("it goes with ioengine={}", kinds[0]))),
        }
    }
    let used = if own.is_empty() { kind.to_owned() } else { format!("{kind}:{}", own.join(",")) };
    if kind != asked {
        changes.push(Change::Engine { asked: asked.to_owned(), used: used.clone() });
    }
    Ok(used)
}

fn kind(options: &Options, asked: &str) -> Result<&'static str, Refusal> {
    let depth = options.number("iodepth", DEPTH_MAX)?.unwrap_or(1);
    match asked {
        "io_uring" => Ok("io_uring"),
        "libaio" => Ok("libaio"),
        "mmap" => Ok("mmap"),
        "null" => Ok("null"),
        "psync" | "sync" | "vsync" | "pvsync" | "pvsync2" => Ok("psync"),
        "windowsaio" => Ok("iocp"),
        // glibc makes the requests to one file one after another, in a thread.
        "posixaio" if depth <= 1 => Ok("psync"),
        "posixaio" => Err(options
            .unsupported("ioengine", "ioengine=io_uring or libaio keeps several requests outstanding")),
        _ => Err(options.unsupported(
            "ioengine",
            "the engines are io_uring, libaio, psync, sync, pvsync2 and mmap; null measures the generator alone",
        )),
    }
}
