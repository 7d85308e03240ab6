//! `docs/devices.md` says what is: its tables, laws and list of devices are made here from the devices themselves.
//!
//! After a change: `UPDATE_DOCS=1 cargo test -p iosonde-sim --test page`, then look at the difference.

use iosonde_model::FindingName;
use iosonde_sim::{DeviceFile, Known, Truth, builtin, builtin_names, part_manuals, truths_with_references};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/devices.md");

/// The columns of the table, each with a device that has the section.
const COLUMNS: [(&str, &str); 9] = [
    ("`[queue]`", "ideal"),
    ("`[flash]`", "client-nvme"),
    ("`[flash]`, log", "sata-ssd"),
    ("`[disk]`", "hdd-7200"),
    ("`[raid]`", "raid0"),
    ("`[host]` memory", "mac-ssd-2014"),
    ("`[network]`", "nfs"),
    ("`[throttle]`", "cloud-volume"),
    ("`[noise]`", "noisy-virtual-disk"),
];

const HEAD: &str = "\
# Simulated devices

A simulated device is storage with a known truth. `iosonde run quick sim:hdd-7200` measures one through the same loop,
checks and findings as a real disk, in virtual time: a minute of it takes a second or less. Nothing is written anywhere,
and one seed always gives the same result, to the last bit. They serve for learning, for rehearsing a study before it
runs for an hour, and for measuring how often iosonde itself is wrong: every check and finding is proved on them.

`sim:NAME` is a device of the list below, `sim:PATH.toml` one of your own. `iosonde devices NAME` prints every value of
a device and its truths; `--json` prints them for programs. The built-in files are in `devices/` and begin with the
source of their figures: copy one and change it.

A device is made of sections. Each is a *part* that a request passes on its way down and, where stated, on its way back
up: effort, program, page cache, splitting, throttle, network, slots, link, faults, heat, neighbour, noise, and one
medium (`[queue]`, `[flash]`, `[disk]` or `[raid]`). A missing section means that the device has no such part. Unknown
keys are refused, with a suggestion. Impossible devices are refused with the key, the value and the rule.

The simulation follows the laws below, and no more: no wear, no read disturbance, no error correction, no power states,
no file system's own metadata. Data is held only for `--verify`.

";

/// Shown as it was measured, not made here: speed is the machine's.
const SPEED: &str = "\
## Speed and memory

One core simulates about 10 million requests per second of `ideal`, through the whole measured loop (`bench/simulator`).
For random writes on flash with garbage collection it simulates 1.3 million at 28 % spare and 0.7 million at 7 %. Memory
grows with what is mapped, not with capacity: 64 GiB of flash in its steady state take 170 MB. Larger flash is
scaled down, and says by how much, if it begins filled or steady, or if `--state` writes more than 64 GiB of it.
`--size` remains a size of the whole device. `iosonde run STUDY sim:d7-p5600 --state steady --size 1600GB` (1:93) fills
the drive and writes it 1.9 times at random in 7 s of processor time (unoptimised build). A medium without a log (queue,
disk, static placement) needs no whole pass: use a smaller `--size`.

";

/// Before the table.
const KNOWN: &str = "\
## Source of each finding's truth

*Closed form*: a formula; `iosonde devices NAME` gives its derivation. *Reference*: the device itself under a stated
load in 20 batches, whose means give a 95 % interval. –: not defined; `iosonde devices NAME` says why. Both, where
evenly spread addresses have a formula and random ones do not. A device of several sections combines their
contributions. Nothing is computed for a device that varies in time (a burst credit, noise with drift, heat, a
neighbour), because a short run does not show it.

";

/// A published table against the device that reproduces it (`crates/rig/tests/calibrated.rs`).
const MATRIX: &str = "\
## One published table, row by row

`fio-matrix-laptop` reproduces a table of eight rows, with one set of figures: all 14 throughputs within 10.1 %, and the
latencies of rows 2 and 3 within 13.2 %. The other six rows cannot be true for any storage. At queue depth N and
throughput X a request takes N / X on average (Little's law), and the table gives less:

| row | | QD | published mean | N / X | missing |
|---|---|---|---|---|---|
| 1 | 4 KiB, 50:50 | 64 | 224 µs | 390 µs | 166 µs |
| 2 | 64 KiB, 50:50 | 64 | 1,584 µs | 1,608 µs | 24 µs |
| 3 | 128 KiB, 50:50 | 64 | 2,694 µs | 2,735 µs | 41 µs |
| 4 | 4 KiB reads | 64 | 248 µs | 339 µs | 91 µs |
| 5 | 4 KiB writes | 64 | 230 µs | 421 µs | 191 µs |
| 6 | 4 KiB, 50:50 | 16 | 90 µs | 105 µs | 15 µs |
| 7 | 4 KiB, 50:50 | 256 | 780 µs | 1,490 µs | 710 µs |
| 8 | 4 KiB, 50:50 | 1024 | 2,931 µs | 5,828 µs | 2,897 µs |

On the simulated laptop the program limits the IOPS at 4 KiB (5.3 µs per read, 6.5 µs per write), so that requests
mostly wait for the processor, before the program submits them. A clock that starts at submission, as fio's completion
latency does, leaves this time out: this may explain the missing time. The column N / X is the correct latency for the
table.

## What was fitted to the published reports

The devices made after published reports have inputs from those reports. An input is no result: that it comes out
again shows only that the studies measure what is set. Everything else follows from the inputs
([each figure](studies/figures.md)).

| device | inputs | follows |
|---|---|---|
| `mac-ssd` | plateaus of reads and writes, their level-off at 1 MB and 4 MB, memory's 5 to 6 GB/s | random \
    against sequential, strides, the crossover |
| `mac-nocache` | 7,000 MB/s of strided reads after buffered writes | which reads are invalid |
| `fio-matrix-laptop` | 4 KiB reads alone and writes alone, rates and read latency of 64 and 128 KiB | the \
    rates of 4 KiB mixes, latencies of 4 KiB, growth over depth |
| `mac-ssd-2014`, `usb3-hdd`, `dfs` | plateaus and level-offs of buffered writes and reads | past the cache; \
    whose curve it is |
| `usb3-stick` | that one rate holds at all sizes | past the cache |
| `mac-m1`, `mac-intel` | both ratios, level-offs at 1 and 2 MB | both ratios point by point, no decline, strides |
| `windows-laptop` | the four figures of part 4 | parts 1 to 3: latencies, mixes, queue depths |
| `d7-p5600` | the sheet's four lines, the spare | none of the four |

";

const PORTRAIT: &str = "\
## A device fitted to a run

`iosonde devices --from RUN -o fitted.toml` writes a simulated device fitted to a run's findings: flash with its units,
pages, link and buffer, a disk with its rotation, seek and bandwidths, or servers behind one queue. Each value follows
the findings that it is based on, with their interval; a value without a finding is a default, and marked so. `--check`
runs the points of that run on it, `--check=OTHER` those of another run, and shows where model and measurement differ by
more than 10 %. Noise, and effects over hours, are not modelled.

Flash is fitted over all usual numbers of units, pages and stripes, and over ways and links between. The result is the
combination whose plain reads, of every size and depth, are nearest to those of the run. The program's own time for a
request comes from the run as well. Units and stripe from strides (`parallelism`, `stripe_bytes`) are used unchanged.
`--check` repeats the trials in the order and at the times of the run.

How good the model is was measured on random devices, at 23 block sizes and depths that the findings had not seen
(`bench/portrait --devices 40 --seed 3001`):

| devices | all points within 10 % |
|---|---|
| 40 flash devices, all fitted | 38 |
| 40 disks | 35 (36 with an earlier version) |
| all 80 | 73 |

This is less than the goal of nine in ten for disks: three of the five miss 4 KiB random reads at QD 32, by 11 %. All 80
gave nine of ten points (99.6 % of 1,840). Of the 34 flash devices whose buffer empties within a second, 33 gave all.

A slow device whose buffer takes 3 to 12 s to empty needs more than the four minutes of that study: filling the file
takes a quarter of it, and the rest allows too few visits of each point. The fitted model then says that it lacks the
buffer, and the bench studies the device again for longer, as its findings suggest. Without that, with seed 1000 and an
older version, 34 of 40 flash devices gave all points: four of the others wrote 2.7 times too fast.

";

fn file(name: &str) -> DeviceFile {
    DeviceFile::parse(builtin(name).unwrap(), name).unwrap()
}

fn cell(truths: &[Truth], finding: FindingName) -> &'static str {
    let known = |kind| truths.iter().any(|truth| truth.finding == finding && truth.known == kind);
    match (known(Known::ClosedForm), known(Known::Reference)) {
        (true, true) => "closed form, reference",
        (true, false) => "closed form",
        (false, true) => "reference",
        (false, false) => "–",
    }
}

/// What is known of each finding, and how.
fn table() -> String {
    let mut text = format!("{KNOWN}| finding |");
    let truths = COLUMNS.map(|(_, device)| truths_with_references(&file(device), 1));
    COLUMNS.iter().for_each(|(section, _)| text += &format!(" {section} |"));
    text += &format!("\n|---|{}\n", "---|".repeat(COLUMNS.len()));
    for &finding in FindingName::ALL {
        text += &format!("| `{finding}` |");
        truths.iter().for_each(|truths| text += &format!(" {} |", cell(truths, finding)));
        text.push('\n');
    }
    text += "\nThe columns were made with ";
    let devices: Vec<String> = COLUMNS.iter().map(|(_, device)| format!("`{device}`")).collect();
    text + &devices.join(", ") + ".\n\n"
}

/// The comment that a device's file begins with.
fn source(text: &str) -> String {
    let lines = text.lines().take_while(|line| line.starts_with('#'));
    lines.map(|line| line.trim_start_matches('#').trim_start_matches(' ')).collect::<Vec<_>>().join("\n")
}

fn devices() -> String {
    let mut text = String::from("## The devices\n\n");
    for name in builtin_names() {
        let of_file = source(builtin(name).unwrap());
        text += &format!("### {name}\n\n{}.\n\n{of_file}\n\n", file(name).summary());
    }
    text
}

fn laws() -> String {
    let mut text =
        String::from("## Every section, its keys and its law\n\nIn the order of a request's way down.\n\n");
    for (name, manual) in part_manuals() {
        text += &format!("### {name}\n\n{}\n\n", manual.trim());
    }
    text
}

#[test]
fn the_page_says_what_is() {
    let page = format!("{HEAD}{SPEED}{PORTRAIT}{}{}{MATRIX}{}", table(), devices(), laws());
    let page = format!("{}\n", page.trim_end());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(PAGE, &page).unwrap();
    }
    let kept = std::fs::read_to_string(PAGE).unwrap_or_default();
    let differs = kept.lines().zip(page.lines()).find(|(kept, made)| kept != made);
    assert!(kept == page, "docs/devices.md is out of date ({differs:?}): UPDATE_DOCS=1 writes it again");
}

#[test]
fn every_device_tells_every_finding_of_the_contract() {
    for name in builtin_names() {
        let truths = iosonde_sim::truths(&file(name));
        for &finding in FindingName::ALL {
            assert!(truths.iter().any(|truth| truth.finding == finding), "{name}: {finding}");
        }
        let closed = truths.iter().filter(|truth| truth.known == Known::ClosedForm).count();
        assert!(closed > 3, "{name} has hardly any truth");
    }
}
