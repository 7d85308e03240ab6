//! Disk results of YABS (yet-another-bench-script): its JSON, and the table of its screen.
//!
//! It runs fio with 50 % reads at random offsets, two jobs, depth 64 each, direct I/O, for 30 s; the output does not
//! say so. Its JSON says KBps for what fio gave it in KiB/s, and is read as KiB/s. Its screen is read as it stands:
//! until July 2026 it prints the same numbers as MB/s, 2.4 % too low, which the check `units` finds. IOPS are cut to
//! one decimal: 1,672 is `1.6k`.

use iosonde_model::{Named, Phase, Rw, Trial, TrialSpec, units};

use super::{Damage, Figures, ImportError, ImportFormat, Imported, json, words};

/// The registered format.
pub struct Yabs;

impl Named for Yabs {
    fn name(&self) -> &'static str {
        "yabs"
    }
}

const TABLE: &str = "fio Disk Speed Tests";
/// Options of the script: `--iodepth=64 --numjobs=2 --runtime=30`.
const DEPTH: u32 = 64;
const JOBS: u32 = 2;
const TIME_S: f64 = 30.0;

impl ImportFormat for Yabs {
    fn recognises(&self, text: &str) -> bool {
        text.contains(TABLE) || (text.contains("\"speed_r\"") && text.contains("\"iops_r\""))
    }

    fn read(&self, text: &str) -> Result<Imported, ImportError> {
        let mut notes = vec![
            "YABS runs fio with 64 requests in each of 2 jobs and direct I/O; its output does not say so"
                .to_owned(),
        ];
        let trials = if text.contains("\"speed_r\"") {
            notes.push("YABS calls fio's KiB/s KBps; the figures are taken as KiB/s".into());
            of_json(text)?
        } else {
            of_table(text)?
        };
        Ok(Imported { program: Some("YABS".into()), ended_s: None, trials, notes })
    }
}

fn of_json(text: &str) -> Result<Vec<Trial>, ImportError> {
    let documents = json::documents(text, "fio")?.whole;
    let tests = documents.last().and_then(|document| document["fio"].as_array());
    tests
        .into_iter()
        .flatten()
        .map(|test| {
            let size = test["bs"].as_str().unwrap_or_default();
            let size = units::parse_size(size).ok().filter(|&bytes| bytes > 0);
            let size = size.ok_or_else(|| Damage::whole("holds a test without a block size (`bs`)"))?;
            let side = |way: &str| {
                let figure = |name: &str| {
                    let key = format!("{name}_{way}");
                    let missing = || Damage::whole(format!("holds a test without the number `{key}`"));
                    test[key.as_str()].as_f64().filter(|number| *number >= 0.0).ok_or_else(missing)
                };
                let (kib_per_s, iops) = (figure("speed")?, figure("iops")?);
                Ok::<_, ImportError>(Figures {
                    iops: Some(iops),
                    bytes_per_s: Some(kib_per_s * 1024.0),
                    ..Figures::default()
                })
            };
            Ok(trial(size, side("r")?, side("w")?))
        })
        .collect()
}

/// Two tests share each line, each with throughput and IOPS:
/// `Read       | 405.41 MB/s  (101.3k) | 407.96 MB/s    (6.3k)`.
fn of_table(text: &str) -> Result<Vec<Trial>, ImportError> {
    let (mut sizes, mut reads, mut trials) = (Vec::new(), Vec::new(), Vec::new());
    let lines = (1..).zip(text.lines()).skip_while(|(_, line)| !line.contains(TABLE));
    for (number, line) in lines {
        let mut cells = line.split('|').map(str::trim);
        match cells.next() {
            Some("Block Size") => {
                let size =
                    |cell: &str| cell.split_whitespace().next().and_then(|size| units::parse_size(size).ok());
                sizes = cells.map(|cell| size(cell).filter(|&bytes| bytes > 0)).collect();
            }
            Some(way @ ("Read" | "Write")) => {
                let figures = |cell: &str| {
                    let why = || {
                        let at = words::column(line, cell);
                        Damage::at(
                            number,
                            at,
                            format!("`{cell}` is no throughput with IOPS, such as 405.41 MB/s (101.3k)"),
                        )
                    };
                    let (rate, iops) = cell.split_once('(').ok_or_else(why)?;
                    let rate = words::bytes(&rate.replace(' ', ""), 1000.0).ok_or_else(why)?;
                    let iops = words::thousands(iops.trim_end_matches(')')).ok_or_else(why)?;
                    Ok::<_, ImportError>(Figures {
                        iops: Some(iops),
                        bytes_per_s: Some(rate),
                        ..Figures::default()
                    })
                };
                let row = cells.map(figures).collect::<Result<Vec<_>, _>>()?;
                if way == "Read" {
                    reads = row;
                    continue;
                }
                let both = sizes.drain(..).zip(reads.drain(..)).zip(row);
                trials.extend(both.filter_map(|((size, read), write)| Some(trial(size?, read, write))));
            }
            _ => {}
        }
    }
    Ok(trials)
}

fn trial(block_size_bytes: u64, read: Figures, write: Figures) -> Trial {
    let spec = TrialSpec {
        rw: Rw::RandRw,
        block_size_bytes,
        queue_depth: DEPTH,
        jobs: JOBS,
        read_percent: Some(50.0),
        engine: "libaio".into(),
        ..TrialSpec::default()
    };
    Trial {
        experiment: "result".into(),
        measured_s: TIME_S,
        elapsed_s: TIME_S,
        read: read.direction(block_size_bytes),
        write: write.direction(block_size_bytes),
        ..Trial::blank(spec, Phase::Measure)
    }
}
