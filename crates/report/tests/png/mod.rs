//! PNG pictures, looked at as a reader looks: by their pixels. Numbers are read back from where the dots are seen.
#![allow(clippy::print_stderr)] // A skipped test says so.

use iosonde_report::chart::figures;
use iosonde_report::figure::{Axis, Dot, Figure};
use iosonde_report::{FORMATS, picture};
use resvg::tiny_skia::Pixmap;

use super::{common, value_at};

/// Pixels of a PNG for each of its picture's.
const SCALE: f64 = 2.0;
/// So far the picture of the area reaches beyond its axes, for dots at their ends.
const RIM: f64 = 6.0;
/// A dot that a line crosses or an interval touches is seen a pixel beside its place; the picture is drawn to a
/// tenth of two pixels.
const OFF_PIXELS: f64 = 1.5;

/// Where the axes lie, in pixels of the PNG.
struct Frame {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl Frame {
    /// As the picture of the same figure says it in words; a title stands above, as high as what is left over.
    fn of(figure: &Figure, png: &Pixmap) -> Self {
        let svg = picture::svg(figure, picture::Theme::Light);
        let inner = svg.split("<svg ").nth(2).expect("the area is a picture in the picture");
        let length = |name: &str| -> f64 {
            let rest = inner.split(&format!("{name}=\"")).nth(1).expect("it has a place and a size");
            rest.split('"').next().and_then(|text| text.parse::<f64>().ok()).expect("they are numbers")
                * SCALE
        };
        let title = f64::from(png.height()) - f64::from(picture::file_height(figure)) * SCALE;
        Self {
            left: length("x") + RIM * SCALE,
            top: length(" y") + RIM * SCALE + title,
            width: length(" width") - 2.0 * RIM * SCALE,
            height: length(" height") - 2.0 * RIM * SCALE,
        }
    }

    fn place(&self, figure: &Figure, dot: &Dot) -> (f64, f64) {
        (
            self.left + figure.x.share(dot.x) * self.width,
            self.top + (1.0 - figure.y.share(dot.y)) * self.height,
        )
    }
}

/// Whether something is drawn there that is darker than paper, grid and bands.
fn inked(png: &Pixmap, x: f64, y: f64) -> bool {
    let pixel = (x >= 0.0 && y >= 0.0).then(|| png.pixel(x as u32, y as u32)).flatten();
    pixel.is_some_and(|p| u32::from(p.red()) + u32::from(p.green()) + u32::from(p.blue()) < 570)
}

/// How much a place looks like the middle of a disc of this radius: ink along its inner edge, none along its outer.
/// Its middle does not count: that of a doubted point is paper.
fn roundness(png: &Pixmap, (x, y): (f64, f64), radius: f64) -> i32 {
    let along = |radius: f64| {
        let turn = |step: i32| f64::from(step) * std::f64::consts::TAU / 48.0;
        (0..48)
            .filter(|&step| inked(png, x + radius * turn(step).cos(), y + radius * turn(step).sin()))
            .count() as i32
    };
    along(radius - 1.0) - along(radius + 1.5)
}

/// The middle of the roundest thing within ten pixels; of several equally round ones, the middle of these.
fn seen(png: &Pixmap, near: (f64, f64), radius: f64) -> (f64, f64) {
    let steps = || (-20..=20).map(|step| f64::from(step) / 2.0);
    let places = steps().flat_map(|dx| steps().map(move |dy| (near.0 + dx, near.1 + dy)));
    let rated: Vec<_> = places.map(|place| (roundness(png, place, radius), place)).collect();
    let best = rated.iter().map(|(rate, _)| *rate).max().expect("there are places");
    let best: Vec<_> = rated.iter().filter(|(rate, _)| *rate == best).map(|(_, place)| place).collect();
    let mean =
        |of: fn(&(f64, f64)) -> f64| best.iter().map(|place| of(place)).sum::<f64>() / best.len() as f64;
    (mean(|place| place.0), mean(|place| place.1))
}

/// Reads every isolated dot; returns their number.
fn read_back(figure: &Figure, png: &Pixmap) -> usize {
    let frame = Frame::of(figure, png);
    let series: Vec<_> = figure.series.iter().filter(|series| !series.bars).collect();
    let places: Vec<_> = series.iter().flat_map(|s| &s.dots).map(|dot| frame.place(figure, dot)).collect();
    let mut read = 0;
    for series in series {
        let radius = picture::dot_size(series.dots.len()) / 2.0 * SCALE;
        for dot in &series.dots {
            let (x, y) = frame.place(figure, dot);
            let close =
                |(other_x, other_y): &&(f64, f64)| (other_x - x).hypot(other_y - y) < 12.0 + 3.0 * radius;
            if places.iter().filter(close).count() > 1 {
                continue;
            }
            let (seen_x, seen_y) = seen(png, (x, y), radius);
            let told = |axis: &Axis, pixels: f64, length: f64| {
                let ends = [-OFF_PIXELS, OFF_PIXELS].map(|off| value_at(axis, (pixels + off) / length));
                (ends[0], ends[1])
            };
            let across = told(&figure.x, seen_x - frame.left, frame.width);
            let up = told(&figure.y, frame.top + frame.height - seen_y, frame.height);
            assert!(
                across.0 <= dot.x && dot.x <= across.1 && up.0 <= dot.y && dot.y <= up.1,
                "{}: {}, {} is seen in [{}, {}], [{}, {}]",
                figure.name,
                dot.x,
                dot.y,
                across.0,
                across.1,
                up.0,
                up.1
            );
            read += 1;
        }
    }
    read
}

#[test]
fn numbers_read_back_from_the_pixels_are_the_figures_own() {
    let run = common::rich(9);
    let files = match FORMATS.find("png").expect("it is registered").folder(&run) {
        Ok(files) => files.expect("pictures come as a folder, too"),
        Err(error) => return eprintln!("skipped: {error}"),
    };
    let mut read = 0;
    for mut figure in figures(&run) {
        let (_, bytes) =
            files.iter().find(|(name, _)| *name == format!("{}.png", figure.name)).expect("all are there");
        let png = Pixmap::decode_png(bytes).expect("it is a PNG");
        assert_eq!(png.width(), 2 * picture::FILE_WIDTH);
        if figure.cells.is_empty() {
            read += read_back(&figure, &png);
        }
        if figure.name == "rate-vs-depth" {
            for dot in figure.series.iter_mut().flat_map(|series| &mut series.dots) {
                dot.y *= 1.02;
            }
            let told = std::panic::catch_unwind(|| read_back(&figure, &png));
            assert!(told.is_err(), "two percent more must not be read from this picture");
        }
    }
    assert!(read >= 100, "only {read} dots stand alone");
}
