//! Simulated devices that reproduce published figures, through the measured loop, against those figures.

use iosonde_model::{Op, Phase, Rw, Sync, Trial, TrialSpec};
use iosonde_rig::{
    drive::Limits,
    engine::SharedDevice,
    trial::{Bed, Order},
};
use iosonde_sim::{Device, DeviceFile, builtin};
use std::sync::atomic::AtomicBool;

const MIB: u64 = 1 << 20;
/// Size of the scripts' files.
const FILE_BYTES: u64 = 100 * MIB;

fn bed(name: &str) -> (Bed, u64) {
    let device = Device::new(&DeviceFile::parse(builtin(name).unwrap(), name).unwrap(), 3);
    let capacity_bytes = device.capacity_bytes();
    (Bed::simulated(SharedDevice::new(device)), capacity_bytes)
}

fn spec(rw: Rw, block_size_bytes: u64, depth: u32, span_bytes: u64) -> TrialSpec {
    TrialSpec {
        rw,
        block_size_bytes,
        queue_depth: depth,
        span_bytes,
        engine: "sim".into(),
        direct: true,
        ..TrialSpec::default()
    }
}

fn run(bed: &mut Bed, spec: &TrialSpec, limits: Limits) -> Trial {
    let order = Order { spec, limits, phase: Phase::Measure, seed: 7 };
    bed.run(&order, &AtomicBool::new(false)).unwrap().trial
}

/// `seconds` after a second of warming up.
fn timed(bed: &mut Bed, spec: &TrialSpec, seconds: u64) -> Trial {
    let warm_up_ns = Some(1_000_000_000);
    run(bed, spec, Limits { warm_up_ns, ..Limits::time((seconds + 1) * 1_000_000_000) })
}

fn near(what: &str, measured: f64, published: f64, within: f64) {
    let off = measured / published - 1.0;
    assert!(off.abs() <= within, "{what}: {measured} instead of {published}, {:+.1} %", off * 100.0);
}

#[test]
fn the_fio_matrix_comes_out_with_one_set_of_figures() {
    // (KiB, % read, depth, read kIOPS, write kIOPS, latencies of read and write in us where Little's law holds).
    #[rustfmt::skip]
    let rows = [
        (4, 50, 64, Some(82.2), Some(81.8), None),
        (64, 50, 64, Some(19.7), Some(20.1), Some((1167.0, 1993.0))),
        (128, 50, 64, Some(11.4), Some(12.0), Some((1218.0, 4097.0))),
        (4, 100, 64, Some(189.0), None, None),
        (4, 0, 64, None, Some(152.0), None),
        (4, 50, 16, Some(76.1), Some(75.6), None),
        (4, 50, 256, Some(86.1), Some(85.7), None),
        (4, 50, 1024, Some(88.1), Some(87.6), None),
    ];
    for (number, (kib, read_percent, depth, read, write, latencies)) in (1..).zip(rows) {
        let (mut bed, capacity_bytes) = bed("fio-matrix-laptop");
        let rw = match read_percent {
            100 => Rw::RandRead,
            0 => Rw::RandWrite,
            _ => Rw::RandRw,
        };
        let mix = (rw == Rw::RandRw).then_some(f64::from(read_percent));
        let spec = TrialSpec { read_percent: mix, ..spec(rw, kib * 1024, depth, capacity_bytes) };
        let trial = timed(&mut bed, &spec, 2);
        for (op, kiops) in [(Op::Read, read), (Op::Write, write)] {
            if let Some(kiops) = kiops {
                near(&format!("row {number}, {op}"), trial.direction(op).unwrap().iops / 1e3, kiops, 0.12);
            }
        }
        if let Some((read_us, write_us)) = latencies {
            for (op, us) in [(Op::Read, read_us), (Op::Write, write_us)] {
                let mean_ns = trial.direction(op).unwrap().latency_ns.mean.unwrap();
                near(&format!("row {number}, latency of {op}"), mean_ns / 1e3, us, 0.15);
            }
        }
        // What the table should have said of the others: the requested depth was reached.
        near(&format!("row {number}, queue depth"), trial.in_flight_mean.unwrap(), f64::from(depth), 0.01);
    }
}

#[test]
fn the_enterprise_drive_gives_the_four_lines_of_its_sheet() {
    let bytes_per_s = |name: &str, rw, seconds| {
        let (mut bed, capacity_bytes) = bed(name);
        timed(&mut bed, &spec(rw, 128 * 1024, 64, capacity_bytes), seconds).bytes_per_s() / 1e6
    };
    near("read in sequence", bytes_per_s("d7-p5600", Rw::Read, 1), 3500.0, 0.03);
    near("written in sequence", bytes_per_s("d7-p5600", Rw::Write, 2), 1700.0, 0.03);
    let iops = |name: &str, rw, seconds| {
        let (mut bed, capacity_bytes) = bed(name);
        timed(&mut bed, &spec(rw, 4096, 256, capacity_bytes), seconds).iops()
    };
    near("random reads", iops("d7-p5600", Rw::RandRead, 1), 400_000.0, 0.03);
    near("random writes", iops("d7-p5600-steady", Rw::RandWrite, 10), 118_000.0, 0.03);
}

#[test]
fn the_windows_laptop_gives_what_fio_said_of_it() {
    let trial = |rw, block_size_bytes, depth| {
        let (mut bed, _) = bed("windows-laptop");
        timed(&mut bed, &spec(rw, block_size_bytes, depth, 2 << 30), 3)
    };
    near("random reads", trial(Rw::RandRead, 4096, 128).iops(), 411_294.7, 0.03);
    near("random writes", trial(Rw::RandWrite, 4096, 128).iops(), 316_935.3, 0.03);
    near("read in sequence", trial(Rw::Read, 16 * MIB, 128).bytes_per_s() / 1e6, 3333.2, 0.03);
    near("written in sequence", trial(Rw::Write, 16 * MIB, 128).bytes_per_s() / 1e6, 2268.4, 0.03);
}

/// MiB a second of a script that writes a file of 100 MiB anew and reads it, buffered.
fn script(name: &str, block_size_bytes: u64) -> (f64, f64) {
    script_on(&DeviceFile::parse(builtin(name).unwrap(), name).unwrap(), block_size_bytes)
}

fn script_on(file: &DeviceFile, block_size_bytes: u64) -> (f64, f64) {
    let mut bed = Bed::simulated(SharedDevice::new(Device::new(file, 3)));
    let mut rate = |rw| {
        let spec = TrialSpec { direct: false, ..spec(rw, block_size_bytes, 1, FILE_BYTES) };
        run(&mut bed, &spec, Limits::requests(FILE_BYTES / block_size_bytes)).bytes_per_s() / MIB as f64
    };
    (rate(Rw::Write), rate(Rw::Read))
}

const SIZES: [u64; 10] = [128, 512, 1024, 4096, 8192, 64 << 10, 128 << 10, 512 << 10, 1 << 20, 2 << 20];

#[test]
fn the_four_media_level_off_where_and_at_what_the_script_saw() {
    // (device, is it the write, from which size on, MiB/s).
    let plateaus = [
        ("mac-ssd-2014", true, 4096, 100.0..=110.0),
        ("usb3-hdd", true, 64 << 10, 80.0..=110.0),
        ("dfs", true, 8192, 55.0..=60.0),
        ("mac-ssd-2014", false, 8192, 380.0..=440.0),
        ("usb3-hdd", false, 64 << 10, 400.0..=450.0),
    ];
    for (name, writes, from, range) in plateaus {
        for size in SIZES {
            let (write, read) = script(name, size);
            let rate = if writes { write } else { read };
            assert_eq!(
                range.contains(&rate),
                size >= from,
                "{name}, writes: {writes}, {size} B: {rate} MiB/s"
            );
        }
    }
}

#[test]
fn the_stick_writes_at_one_rate_whatever_the_size_and_whatever_memory_there_is_within_a_fifth() {
    let text = builtin("usb3-stick").unwrap();
    for memory in ["820MiB", "1GiB", "1228MiB"] {
        let text = text.replace("memory = \"1GiB\"", &format!("memory = \"{memory}\""));
        let file = DeviceFile::parse(&text, "usb3-stick").unwrap();
        assert!(file.parameters().iter().any(|parameter| parameter.value == memory), "{memory}");
        let rates = SIZES.map(|size| script_on(&file, size).0);
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        // Measured: 1.9 % at most, at 128 B, where the 10 MiB that fit into memory fill at the program's pace.
        rates.iter().for_each(|rate| near(&format!("the stick with {memory}"), *rate, mean, 0.05));
    }
}

/// MB a second of one request at a time on a Mac whose file of 1 GiB was just written.
fn mac(name: &str, rw: Rw, block_size_bytes: u64) -> f64 {
    let (mut bed, _) = bed(name);
    let buffered = TrialSpec { direct: false, ..spec(Rw::Write, MIB, 1, 1 << 30) };
    run(&mut bed, &buffered, Limits::requests(1024));
    let spec = spec(rw, block_size_bytes, 1, 1 << 30);
    run(&mut bed, &spec, Limits::requests((1 << 30) / block_size_bytes)).bytes_per_s() / 1e6
}

#[test]
fn the_mac_has_the_plateaus_that_were_published_of_it() {
    let kib = |n: u64| n << 10;
    for size in [32, 64, 256, 1024, 16 << 10, 128 << 10].map(kib) {
        let random = mac("mac-ssd", Rw::RandRead, size);
        assert_eq!((5000.0..=6000.0).contains(&random), size >= kib(64), "random reads, {size} B: {random}");
    }
    for size in [16, 32, 64, 128].map(|mib| mib * MIB) {
        let spec = TrialSpec { sync: Sync::Fsync { every: 1 }, ..spec(Rw::RandWrite, size, 1, 4 << 30) };
        let random = run(&mut bed("mac-ssd").0, &spec, Limits::requests(16)).bytes_per_s() / 1e6;
        assert_eq!(
            (2500.0..=3000.0).contains(&random),
            size >= 64 * MIB,
            "random writes, {size} B: {random}"
        );
    }
    for size in [1, 4, 16].map(|mib| mib * MIB) {
        near("strides, from memory", mac("mac-nocache", Rw::Read, size), 7000.0, 0.03);
    }
}

/// The least of these sizes that gives 95 % of what the largest gives.
fn level_off(sizes: &[u64], rate: impl Fn(u64) -> f64) -> u64 {
    let most = rate(*sizes.last().unwrap());
    *sizes.iter().find(|size| rate(**size) >= 0.95 * most).unwrap()
}

#[test]
fn macs_level_off_where_it_was_published() {
    let sizes: Vec<u64> = (12..=27).map(|power| 1 << power).collect();
    // A file that is not in memory.
    let cold = |rw| {
        move |size: u64| {
            let (mut bed, _) = bed("mac-ssd");
            run(&mut bed, &spec(rw, size, 1, 4 << 30), Limits::requests(((1 << 28) / size).clamp(4, 2000)))
                .bytes_per_s()
        }
    };
    assert_eq!(level_off(&sizes, cold(Rw::Write)), 4 * MIB);
    assert_eq!(level_off(&sizes, cold(Rw::Read)), MIB);
    for size in [8, 16, 32, 64].map(|mib| mib * MIB) {
        let (read, write) = (cold(Rw::Read)(size), cold(Rw::Write)(size));
        assert!(
            read < 0.98 * write,
            "beyond 4 MB reads are slower than writes: {read} and {write} at {size} B"
        );
    }
    for name in ["mac-m1", "mac-intel"] {
        assert_eq!(level_off(&sizes, |size| mac(name, Rw::Write, size)), 2 * MIB, "{name}");
        assert_eq!(level_off(&sizes, |size| mac(name, Rw::RandRead, size)), MIB, "{name}");
    }
}

#[test]
fn the_m1_is_as_many_times_faster_as_was_published() {
    for (rw, times) in [(Rw::RandRead, 2.97), (Rw::Write, 7.07)] {
        let mean = |name: &str| (12..=27).map(|power| mac(name, rw, 1 << power)).sum::<f64>();
        near("the M1", mean("mac-m1") / mean("mac-intel"), times, 0.03);
    }
}
