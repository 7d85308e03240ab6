//! `iosonde devices --from`: a run's storage as a simulated device, and the device against what was measured.

use std::{collections::BTreeMap, path::Path, sync::atomic::AtomicBool};

use iosonde_infer::portrait;
use iosonde_infer::portrait::AGREES;
use iosonde_model::{Compliance, Estimate, Op, Phase, Point, Portrait, Run, Rw, Trial, TrialSpec, Unit};
use iosonde_report::text::number::with_interval;
use iosonde_report::{ComplianceLine, PortraitDocument, device_file, paragraph, text::portrait as words};
use iosonde_rig::{
    drive::Limits,
    engine::SharedDevice,
    trial::{Bed, Order},
};
use iosonde_sim::{Device, DeviceFile};
use iosonde_stats::robust;
use serde::Serialize;

use crate::{
    args::DevicesArgs,
    failure::Failure,
    notebook,
    output::{self, result, write},
    screen::Screen,
};

/// Trials of each point that are run again on the written device: rounds differ in what was written before.
const TRIALS: usize = 8;
/// Reads say no more after so many, and a trial of a fast device has millions.
const READS: f64 = 100_000.0;
/// After a pause of so long a buffer is empty.
const EMPTIED_S: f64 = 30.0;
/// Reads a second while the device is left to itself.
const PAUSE_IOPS: f64 = 10.0;
/// Length of each trial on the written device.
const SEED: u64 = 1;

/// What `--json` gives.
#[derive(Serialize)]
struct Document<'a> {
    iosonde: &'a str,
    schema: u32,
    run: &'a str,
    portrait: PortraitDocument,
    checked_against: Option<&'a str>,
    compliance: Vec<ComplianceLine>,
}

/// Draws a run's storage; writes the device's file, or checks it against the points of a run.
pub fn run(args: &DevicesArgs, from: &str, store: Option<&Path>, screen: Screen) -> Result<(), Failure> {
    let words = [Some(from), args.check.as_deref()];
    for path in [args.out.as_deref(), args.json.as_deref()] {
        output::check_beside(path, words.into_iter().flatten(), screen)?;
    }
    let run = notebook::find(store, &screen, Some(from))?;
    let portrait = portrait::portrait(&run).map_err(|why| {
        Failure::failed(format!("no model of run {}: {}.", run.info.id, words::nothing(&why)))
    })?;
    let device = device_file(&run, &portrait);
    if let Some(path) = &args.out {
        write(path, device.as_bytes(), screen)?;
        screen.say(&format!("device        {0}     measure it: iosonde run quick sim:{0}", path.display()));
    }
    let other = match args.check.as_deref() {
        None => None,
        Some("") => Some(run.clone()),
        Some(name) => Some(notebook::find(store, &screen, Some(name))?),
    };
    let compliance = match &other {
        Some(other) => compliance(&portrait, &device, &run, other)?,
        None => Vec::new(),
    };
    if let Some(path) = &args.json {
        let document = Document {
            iosonde: env!("CARGO_PKG_VERSION"),
            schema: 1,
            run: &run.info.id,
            portrait: PortraitDocument::of(&run, &portrait),
            checked_against: other.as_ref().map(|other| other.info.id.as_str()),
            compliance: compliance.iter().map(ComplianceLine::from).collect(),
        };
        let mut text = serde_json::to_string_pretty(&document).map_err(Failure::failed)?;
        text.push('\n');
        return result(path, &text, screen);
    }
    match &other {
        Some(other) => screen.result(&table(&portrait, other, &compliance, screen)),
        None if args.out.is_some() => screen.result(&paragraph(&words::sentence(&portrait), screen.paint())),
        None => screen.result(&device),
    }
}

/// Every point of a run on the device, in the order and at the times at which the run came to them, so that what a
/// buffer holds from one trial to the next is alike.
fn compliance(portrait: &Portrait, device: &str, drawn: &Run, run: &Run) -> Result<Vec<Compliance>, Failure> {
    let file = DeviceFile::parse(device, "the fitted device").map_err(|error| {
        Failure::failed(format!("the fitted device is not valid: {error}; please report this with the run"))
    })?;
    let mut bed = Bed::simulated(SharedDevice::new(Device::new(&file, SEED)));
    let mut ratios: BTreeMap<(usize, bool), Vec<f64>> = BTreeMap::new();
    let mut visits: BTreeMap<usize, usize> = BTreeMap::new();
    let mut clock = Clock::default();
    for trial in run.trials.iter().filter(|trial| trial.phase == Phase::Measure) {
        let Some(point) = trial.point.and_then(|id| run.points.iter().find(|point| point.id == id)) else {
            continue;
        };
        let visit = visits.entry(point.id).or_default();
        let fits = trial.spec.offset_bytes + trial.spec.span_bytes <= file.capacity_bytes();
        if *visit >= TRIALS || !fits || !portrait::is_comparable(&trial.spec) {
            continue;
        }
        *visit += 1;
        clock.wait_for(trial, &mut bed)?;
        let again = again(&mut bed, trial)?;
        clock.passed(&again);
        for (op, side) in again.directions() {
            let measured = trial.direction(op).map(|side| side.iops).filter(|iops| *iops > 0.0);
            let ratio = measured.map(|measured| side.iops / measured);
            ratios.entry((point.id, op == Op::Write)).or_default().extend(ratio);
        }
    }
    let compared = |point: &Point, op: Op| {
        let measured = point.direction(op)?.iops;
        // Trial by trial, since what was written before a trial changes it on both sides.
        let ratio = robust::median(ratios.get(&(point.id, op == Op::Write))?)?;
        let model = ratio * measured.value;
        let fitted = run.info.id == drawn.info.id && portrait::rests_on(portrait, run, &point.trial_ids);
        let agrees = (ratio - 1.0).abs() <= AGREES;
        Some(Compliance {
            point: point.id,
            spec: point.spec.clone(),
            op,
            fitted,
            measured,
            model: Estimate { value: model, low: None, high: None },
            ratio,
            why: (!agrees).then(|| portrait::why_not(portrait, &point.spec, op)),
        })
    };
    Ok(run
        .points
        .iter()
        .flat_map(|point| Op::TRANSFERS.into_iter().filter_map(move |op| compared(point, op)))
        .collect())
}

/// What time it is on the device, on the run's clock.
#[derive(Default)]
struct Clock {
    at_s: f64,
    /// Since when nothing has been written; `None` where nothing ever was.
    wrote_s: Option<f64>,
}

impl Clock {
    /// Lets the device rest until a trial's time, where it may have something to write back.
    fn wait_for(&mut self, trial: &Trial, bed: &mut Bed) -> Result<(), Failure> {
        let rest_s = trial.started_s - self.at_s;
        let holds = self.wrote_s.is_some_and(|wrote_s| self.at_s - wrote_s < EMPTIED_S);
        if holds && rest_s > 0.0 {
            pause(bed, &trial.spec, rest_s.min(EMPTIED_S))?;
        }
        self.at_s = trial.started_s.max(self.at_s);
        Ok(())
    }

    fn passed(&mut self, trial: &Trial) {
        self.at_s += trial.elapsed_s;
        if trial.spec.rw.writes() {
            self.wrote_s = Some(self.at_s);
        }
    }
}

/// A few reads, while what was written drains.
fn pause(bed: &mut Bed, spec: &TrialSpec, pause_s: f64) -> Result<(), Failure> {
    let spec = TrialSpec {
        rw: Rw::RandRead,
        block_size_bytes: 4096,
        queue_depth: 1,
        span_bytes: spec.span_bytes.max(4096),
        rate_iops: Some(PAUSE_IOPS),
        engine: "sim".to_owned(),
        direct: true,
        ..TrialSpec::default()
    };
    let limits = Limits::time((pause_s * 1e9) as u64);
    let order = Order { spec: &spec, limits, phase: Phase::Measure, seed: SEED };
    bed.run(&order, &AtomicBool::new(false)).map_err(Failure::failed).map(|_| ())
}

/// A trial once more, on the written device: as long, but reads no longer than it takes.
fn again(bed: &mut Bed, trial: &Trial) -> Result<Trial, Failure> {
    let mut spec = trial.spec.clone();
    spec.engine = "sim".to_owned();
    let iops: f64 = trial.directions().map(|(_, side)| side.iops).sum();
    let warm_up_s = trial.warmup_s;
    let counted_s = (trial.elapsed_s - warm_up_s).max(0.001);
    let counted_s =
        if spec.rw.writes() { counted_s } else { counted_s.min((READS / iops.max(1.0)).max(0.05)) };
    let warm_up_ns = Some((warm_up_s * 1e9) as u64);
    let limits = Limits { warm_up_ns, ..Limits::time(((warm_up_s + counted_s) * 1e9) as u64) };
    let order = Order { spec: &spec, limits, phase: Phase::Measure, seed: SEED.wrapping_add(trial.id) };
    Ok(bed.run(&order, &AtomicBool::new(false)).map_err(Failure::failed)?.trial)
}

fn table(portrait: &Portrait, run: &Run, all: &[Compliance], screen: Screen) -> String {
    let paint = screen.paint();
    let mut text = paragraph(&words::sentence(portrait), paint);
    let within = |of: &dyn Fn(&&Compliance) -> bool| {
        let of: Vec<_> = all.iter().filter(of).collect();
        (of.iter().filter(|one| one.why.is_none()).count(), of.len())
    };
    let (agree, count) = within(&|_| true);
    let (fresh_agree, fresh) = within(&|one| !one.fitted);
    text += "\n";
    text += &paragraph(
        &format!(
            "Model against run {}: {agree} of {count} rates within {:.0} %; {fresh_agree} of {fresh} rates that were \
             not fitted.",
            run.info.id,
            AGREES * 100.0
        ),
        paint,
    );
    text += "\n";
    let shown: Vec<_> = all.iter().filter(|one| screen.verbose || one.why.is_some()).collect();
    for one in &shown {
        let mark = if one.why.is_some() { "?" } else { " " };
        let (measured, model) =
            (with_interval(Unit::Iops, &one.measured), iosonde_model::units::count(one.model.value));
        let said = format!("measured {measured}, model {model} IOPS: {:.2}×", one.ratio);
        text += &paint.hang(&format!("{mark} "), 4, &format!("{}: {said}", words::workload(one)));
        if let Some(why) = &one.why {
            text += &paint.hang("    ", 4, &words::misfit(*why));
        }
    }
    if shown.len() < all.len() {
        text += &paragraph("The others agree; --verbose shows them too.", paint);
    }
    if !portrait.unidentified.is_empty() {
        text += "\nNot identified\n";
        for &what in &portrait.unidentified {
            text += &paint.hang("  - ", 4, &words::unidentified(what));
        }
    }
    text
}
