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

A simulated device is storage whose truth is set. `iosonde run quick sim:hdd-7200` measures one through the
same loop, checks and findings as a real disk, in virtual time: a minute of it takes a second or less, nothing
is written anywhere, and the same seed gives the same result to the last bit. They are for learning, for
rehearsing a study before it runs for an hour, and for finding out how often iosonde itself is wrong: every
check and finding is proven on them.

`sim:NAME` is a device of the list below, `sim:PATH.toml` one of your own. `iosonde devices NAME` prints every
value of a device and what is true of it; `--json` says the same to programs. The built-in files lie in
`devices/` and begin with the source of their figures: copy one and change it.

A device is made of sections, each a *part* that a request passes on its way down and, where it says so, on
its way back up: effort, program, page cache, splitting, throttle, network, slots, link, faults, heat, neighbour,
noise, and one medium (`[queue]`, `[flash]`, `[disk]` or `[raid]`). A section that is left out is not there;
an unknown key is refused, with a suggestion, and so is a device that cannot be, with the key, the value and
the rule.

What is simulated is what the laws below say, and no more: no wear, no read disturbance, no error correction,
no power states, no file system's own metadata. Data is held only for `--verify`.

";

/// Shown as it was measured, not made here: speed is the machine's.
const SPEED: &str = "\
## How fast, how large

One core simulates about 10 million requests a second of `ideal`, 1.3 million random writes on flash that
collects garbage at 28 % spare and 0.7 million at 7 %, through the whole measured loop (`bench/simulator`).
Memory grows with what is mapped, not with capacity: 64 GiB of flash in its steady state take 170 MB. Flash
beyond them that begins filled or steady is scaled down, and says by how much.

";

/// Before the table.
const KNOWN: &str = "\
## How each finding's truth is known

*Closed form*: a formula, whose derivation `iosonde devices NAME` gives in words. *Reference*: the device itself
under a stated load in 20 batches, whose means give a 95 % interval. –: not defined; `iosonde devices NAME` says
why. Both, where addresses spread evenly have a formula and random ones do not. A device of several sections has
what each of them adds, but for one that wanders (a burst credit, noise that drifts, heat, a neighbour) nothing is
computed: no short run tells it.

";

/// A published table against the device that stands for it (`crates/rig/tests/calibrated.rs`).
const MATRIX: &str = "\
## One published table, row by row

`fio-matrix-laptop` stands for a table of eight rows, with one set of figures: all 14 rates come out within 10.1 %,
and the latencies of rows 2 and 3 within 13.2 %. The other six rows cannot hold for any storage. With N in flight at
a rate X a request takes N / X on average (Little's law), and the table gives less:

| row | | in flight | published mean | N / X | missing |
|---|---|---|---|---|---|
| 1 | 4 KiB, 50:50 | 64 | 224 µs | 390 µs | 166 µs |
| 2 | 64 KiB, 50:50 | 64 | 1,584 µs | 1,608 µs | 24 µs |
| 3 | 128 KiB, 50:50 | 64 | 2,694 µs | 2,735 µs | 41 µs |
| 4 | 4 KiB reads | 64 | 248 µs | 339 µs | 91 µs |
| 5 | 4 KiB writes | 64 | 230 µs | 421 µs | 191 µs |
| 6 | 4 KiB, 50:50 | 16 | 90 µs | 105 µs | 15 µs |
| 7 | 4 KiB, 50:50 | 256 | 780 µs | 1,490 µs | 710 µs |
| 8 | 4 KiB, 50:50 | 1024 | 2,931 µs | 5,828 µs | 2,897 µs |

On the simulated laptop the rates at 4 KiB are its program's (5.3 µs a read, 6.5 µs a write), so that nearly all
waiting is for the processor, before a request is handed to the system. A clock that starts at that moment, as fio's
completion latency does, leaves it out: that is where the missing wait may have stood. The column N / X is what the
table should have printed.

";

const PORTRAIT: &str = "\
## A device from a run

`iosonde devices --from RUN -o drawn.toml` writes a simulated device from what a run found: flash with its units, pages,
link and buffer, a disk with its turn, seek and rates, or servers behind one line. Each value stands below the findings
that it follows from, with their interval; what no finding tells is assumed, and says so. `--check` runs the points of
that run on it, `--check=OTHER` those of another run, and shows where model and measurement differ by more than 10 %.
Noise, and what builds up over hours, is not drawn.

Flash is fitted: of all numbers of units, pages and stripes that are built, and of ways and links between, those are
drawn with which all plain reads of the run, of every size and depth, take most nearly what they took. The program's own
time for a request is taken from the run as well. Strides that tell units and stripe (`parallelism`, `stripe_bytes`) are
taken as they are. `--check` makes the trials again in the order and at the times at which the run made them.

How far it can be trusted was measured on invented devices, at 23 block sizes and depths that the findings had not
seen (`bench/portrait --devices 40 --seed 3001`). Of the 80 devices 73 gave all of these rates within 10 % of what was
measured: of 40 flash devices, all of which could be drawn, 38, and of 40 disks 35 (with an earlier state of the program
36), which is less than the nine of ten aimed at: three of the five miss 4 KiB random reads with 32 in flight, by 11 %.
All 80 gave nine of ten (99.6 % of 1,840 rates); of the 34 flash devices whose buffer empties within a second, 33 all.

A slow device whose buffer takes 3 to 12 s to empty needs more than the four minutes of that study: filling the file
takes a quarter of it, and what is left suffices for too few visits of each point. The portrait then says that it lacks
the buffer, and the bench studies the device once more for longer, as its findings ask for. Without that, with seed 1000
and an older state of the program, 34 of 40 flash devices gave all rates: four of those that missed wrote 2.7 times too
fast.

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
    assert!(kept == page, "docs/devices.md is out of date ({differs:?}): UPDATE_DOCS=1 makes it anew");
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
