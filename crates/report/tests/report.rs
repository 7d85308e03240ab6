//! Reports of an invented run, whole: what people read is kept as snapshots, and what must hold of every
//! report (numbers agree, nothing escapes, nothing is loaded, sizes) is asked of each format.

mod alike;
mod common;
#[cfg(feature = "png")]
mod png;
mod sides;

use iosonde_model::{Run, RunState, Status};
use iosonde_report::{
    Document, FORMATS, Paint,
    chart::{CHARTS, figures},
    figure::{Axis, Dot, Spacing},
    html,
    markdown::markdown,
    picture, terminal,
};

const PLAIN: Paint = Paint { color: false, width: 80 };

/// The page without its scripts and styles, and with no-break spaces as spaces: what a reader sees.
fn visible(page: &str) -> String {
    let mut out = String::new();
    let mut rest = page;
    while let Some(begin) = ["<script", "<style"].iter().filter_map(|tag| rest.find(tag)).min() {
        out.push_str(&rest[..begin]);
        let end = rest[begin..].find("</s").expect("every script and style is closed");
        let close = rest[begin + end..].find('>').expect("a closing tag is closed");
        rest = &rest[begin + end + close + 1..];
    }
    out.push_str(rest);
    out.replace('\u{a0}', " ")
}

/// The words of a page, without its tags.
fn text_of(page: &str) -> String {
    let parts = page.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    parts.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
}

fn page(run: &Run) -> String {
    html(run)
}

#[test]
fn registries_are_well_formed() {
    CHARTS.assert_well_formed();
    FORMATS.assert_well_formed();
}

#[test]
fn the_end_screen() {
    insta::assert_snapshot!(terminal::summary(&common::run(9), PLAIN));
}

#[test]
fn the_end_screen_fits_its_columns_and_one_screen() {
    let screen = terminal::summary(&common::run(9), PLAIN);
    assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
    let wide = terminal::summary(&common::run(9), Paint { width: 100, ..PLAIN });
    assert!(wide.lines().all(|line| line.chars().count() <= 100), "{wide}");
    assert!(wide.lines().count() <= 26, "{wide}");
    assert!(!screen.contains('\u{1b}'), "colour was off");
    let narrow = terminal::summary(&common::run(9), Paint { width: 50, ..PLAIN });
    assert!(narrow.lines().all(|line| line.chars().count() <= 50), "{narrow}");
}

#[test]
fn one_trial_has_no_interval_and_says_so() {
    let screen = terminal::trial(&common::point(), false, PLAIN);
    assert!(screen.lines().count() <= 12, "{screen}");
    insta::assert_snapshot!(screen);
    // With details a check is listed once: it passed, or it did not look.
    let details = terminal::trial(&common::point(), true, PLAIN);
    assert!(details.contains("passed: ") && details.len() > screen.len(), "{details}");
}

#[test]
fn the_story_in_markdown() {
    // The table of every trial is the same code for one trial as for hundreds.
    let mut run = common::run(9);
    run.trials.truncate(12);
    insta::assert_snapshot!(markdown(&run));
}

#[test]
fn every_finding_says_its_sentence_and_every_refusal_its_reason() {
    let run = common::run(9);
    let (page, markdown) = (visible(&page(&run)), markdown(&run));
    for finding in &run.findings {
        let told = match finding.status {
            Status::Inconclusive => iosonde_report::text::why_of(finding).expect("it has a reason"),
            Status::Found | Status::Absent => iosonde_report::text::sentence(finding),
        };
        // Commands stand in elements of their own, and a sentence may begin with a capital.
        let told = told.split('`').next().expect("split gives at least one part").trim_end();
        assert!(page.contains(&told[1..]), "the page lacks: {told}");
        assert!(markdown.contains(told), "the Markdown lacks: {told}");
    }
}

#[test]
fn the_formats_give_the_same_numbers() {
    let run = common::run(9);
    let (page, text) = (visible(&page(&run)), markdown(&run));
    let screen = terminal::summary(&run, PLAIN).split_whitespace().collect::<Vec<_>>().join(" ");
    for told in ["2.48 GB/s (±2.9 %)", "294 k IOPS (±2.4 %)", "195 KiB (184–208)"] {
        assert!(page.contains(told), "the page lacks {told}");
        assert!(text.contains(told), "the Markdown lacks {told}");
    }
    let without_tags = text_of(&page);
    for told in ["2.48 GB/s ±2.9 %", "294 k IOPS ±2.4 %", "219 µs ±2.8 %", "blocks of 4 MiB"] {
        assert!(without_tags.contains(told), "the page lacks {told}");
        assert!(text.contains(told), "the Markdown lacks {told}");
        assert!(screen.contains(told), "the screen lacks {told}");
    }
    // Every cell of every chart's table stands in both.
    for figure in figures(&run) {
        for cell in figure.table().1.into_iter().flatten() {
            let cell = cell.replace('&', "&amp;");
            assert!(page.contains(&cell), "the page lacks {cell} of {}", figure.name);
            assert!(text.contains(&cell), "the Markdown lacks {cell} of {}", figure.name);
        }
    }
}

#[test]
fn a_label_is_text_wherever_it_stands() {
    let run = common::run(9);
    let page = page(&run);
    assert!(!page.contains("<script>alert"), "the label became a script");
    assert!(visible(&page).contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    // One for each chart's figures and one of our own: the label closed none and opened none.
    let scripts = figures(&run).len() + 1;
    assert_eq!((page.matches("<script").count(), page.matches("</script>").count()), (scripts, scripts));
    assert!(!markdown(&run).contains("<script"), "Markdown passes tags on");
}

#[test]
fn nothing_is_loaded_from_anywhere() {
    let page = page(&common::run(9));
    let seen = visible(&page);
    for wrong in [" src=", "url(http", "@import", "<link", "<img", "<iframe", "href=\"http", "href=\"//"] {
        assert!(!seen.contains(wrong), "{wrong} in the page");
    }
    // Names of XML's namespaces are addresses that nobody loads; no other address stands in scripts or
    // styles.
    let addresses = page.match_indices("http").map(|(at, _)| page[at..].chars().take(40).collect::<String>());
    for address in
        addresses.filter(|address| address.starts_with("http://") || address.starts_with("https://"))
    {
        assert!(address.starts_with("http://www.w3.org/"), "{address}");
    }
    assert!(page.contains("default-src 'none'"), "a policy forbids loading");
}

#[test]
fn a_thousand_trials_stay_small() {
    let run = common::run(38);
    assert!(run.trials.len() > 1000);
    let bytes = page(&run).len();
    // 1.5 MB is the bar; 0.39 were measured, so that growth is noticed before readers notice it.
    assert!(bytes < 600_000, "{bytes} bytes");
}

#[test]
fn every_chart_is_drawn_with_its_axes_and_series() {
    let run = common::rich(9);
    let figures = figures(&run);
    let names: Vec<&str> = figures.iter().map(|figure| figure.name.as_str()).collect();
    let registered: Vec<&str> = CHARTS.iter().map(|chart| chart.name()).collect();
    // A chart of several pictures names each.
    let drawn = names.iter().zip(&registered).all(|(name, chart)| name.starts_with(chart));
    assert!(drawn && names.len() == registered.len(), "the invented run has data for every chart: {names:?}");
    for figure in figures {
        let svg = picture::svg(&figure, picture::Theme::Light);
        let first = figure.series.first().map(|series| series.name.clone()).unwrap_or_default();
        for text in [figure.x.title(), figure.y.title(), first] {
            assert!(svg.contains(&text), "{}: {text} is not in the picture", figure.name);
        }
        // Without these, ticks or dots were lost: a label for each tick, a path for each dot.
        let ticks = figure.x.labels();
        let written = ticks.iter().filter(|tick| svg.contains(&format!(">{}</text>", tick.text))).count();
        assert!(
            written >= 3 || figure.x.quantity == iosonde_report::Quantity::Place,
            "{}: {written}",
            figure.name
        );
        let dots: usize = figure.series.iter().map(|series| series.dots.len()).sum();
        let dots = dots + figure.cells.len();
        assert!(svg.matches("<title>").count() >= dots, "{}: fewer shapes than dots", figure.name);
    }
}

#[test]
fn the_document_reads_back() {
    let run = common::run(2);
    let text = iosonde_report::json(&run).expect("a run can be written");
    let back: Document = serde_json::from_str(&text).expect("what was written can be read");
    assert_eq!(back.points, run.points);
    assert_eq!(back, Document::of(&run));
    assert_eq!(back.findings.len(), run.findings.len());
}

#[test]
fn a_run_without_anything_still_gets_every_report() {
    let mut run = common::run(1);
    run.info.state = RunState::Failed;
    (run.trials, run.points, run.findings) = (Vec::new(), Vec::new(), Vec::new());
    run.verdicts = Vec::new();
    assert_eq!(figures(&run).len(), 0);
    for format in FORMATS.iter().filter(|format| format.name() != "png" || cfg!(feature = "png")) {
        let bytes = format.render(&run).unwrap_or_else(|error| panic!("{}: {error}", format.name()));
        assert!(!bytes.is_empty(), "{}", format.name());
    }
    assert!(terminal::summary(&run, PLAIN).contains("VALID"));
    assert_eq!(terminal::trial(&run, false, PLAIN), "No trial was run.\n");
}

#[test]
fn a_doubted_point_is_hollow_and_says_why() {
    let run = common::run(9);
    let rate =
        figures(&run).into_iter().find(|figure| figure.name == "rate-vs-depth").expect("it has depths");
    assert!(rate.reading.contains("One hollow dot: "), "{}", rate.reading);
    let dots = rate.series.iter().flat_map(|series| &series.dots);
    let tips: Vec<&String> = dots.filter_map(|dot| dot.tip.last()).collect();
    assert!(tips.iter().any(|tip| tip.contains("used 93 % of its CPU")), "{tips:?}");
    // The warning is about the throughput, so the latency of the point is valid.
    let latency = figures(&run).into_iter().find(|f| f.name == "latency-vs-depth").expect("it has depths");
    assert!(!latency.reading.contains("Hollow"), "{}", latency.reading);
}

/// Every dot of a picture, as the shapes say where it lies: shares of the area from its lower left corner.
fn read_dots(shapes: &str, width: f64, height: f64) -> Vec<(f64, f64)> {
    let dots = shapes.split("class=\"d\" d=\"M").skip(1);
    dots.map(|rest| {
        let (place, _) = rest.split_once("h.01").expect("a dot is a short line");
        let (x, y) = place.split_once(',').expect("a place has two numbers");
        let number = |text: &str| text.parse::<f64>().expect("coordinates are numbers");
        (number(x) / width, 1.0 - number(y) / height)
    })
    .collect()
}

/// What a share of an axis is as a value.
fn value_at(axis: &Axis, share: f64) -> f64 {
    match axis.spacing {
        Spacing::Linear => axis.low + share * (axis.high - axis.low),
        Spacing::Log => axis.low * (axis.high / axis.low).powf(share),
    }
}

#[test]
fn numbers_read_back_from_svg_html_csv_markdown_and_terminal_are_the_same() {
    let run = common::rich(9);
    let (page, text) = (page(&run), markdown(&run));
    let screen = terminal::charts(&run, PLAIN);
    for figure in figures(&run) {
        let dots: Vec<&Dot> = figure.series.iter().filter(|s| !s.bars).flat_map(|s| &s.dots).collect();
        let svg = picture::svg(&figure, picture::Theme::Light);
        let own = page.split(&format!("id=\"chart-{}\"", figure.name)).nth(1).expect("the page has it");
        let own = own.split("</figure>").next().expect("split gives a part");
        let inner = svg.split("<svg ").nth(2).expect("the area is a picture in the picture");
        let size = |name: &str| -> f64 {
            let rest = inner.split(&format!(" {name}=\"")).nth(1).expect("it has a size");
            let told: Option<f64> = rest.split('"').next().and_then(|text| text.parse().ok());
            // Six pixels on either side are for dots at the ends of the axes.
            told.expect("sizes are numbers") - 12.0
        };
        let drawn = [read_dots(&svg, size("width"), size("height")), read_dots(own, 1000.0, 500.0)];
        for places in drawn {
            assert_eq!(places.len(), dots.len(), "{}", figure.name);
            for (dot, (x, y)) in dots.iter().zip(places) {
                // A tenth of a unit, of 500: on a log axis over five decades that is 0.3 %.
                let near = |told: f64, axis: &Axis, share: f64| {
                    let off = (told - value_at(axis, share)).abs();
                    off <= 0.004 * told.abs()
                        + 3e-4 * axis.high.abs() * f64::from(axis.spacing == Spacing::Linear)
                };
                assert!(
                    near(dot.x, &figure.x, x) && near(dot.y, &figure.y, y),
                    "{}: {dot:?} {x} {y}",
                    figure.name
                );
            }
        }
        // The CSV says each value whole, the tables as people read it.
        let csv = figure.csv(false);
        for dot in &dots {
            assert!(csv.contains(&format!("{}", dot.y)), "{}: no {} in its CSV", figure.name, dot.y);
        }
        assert!(own.contains(&csv.replace('<', "‹")), "{}: the page hands out other figures", figure.name);
        for cell in figure.table().1.into_iter().flatten() {
            assert!(
                visible(own).contains(&cell.replace('&', "&amp;")),
                "{}: the page lacks {cell}",
                figure.name
            );
            assert!(text.contains(&cell.replace('|', "\\|")), "{}: the Markdown lacks {cell}", figure.name);
        }
        for dot in dots.iter().filter(|dot| dot.y_interval.is_some()).take(1) {
            let told = figure.y.quantity.text(dot.y);
            assert!(screen.contains(&told), "{}: the terminal lacks {told}", figure.name);
        }
    }
}

#[test]
fn a_run_without_a_valid_trial_says_just_that_and_why() {
    let run = common::nothing();
    let page = page(&run);
    let seen = visible(&page);
    assert!(seen.contains("the whole span of 1 GiB was in the page cache"), "the reason is not told");
    assert!(seen.contains("None of the 2 trials of "), "{seen}");
    assert!(!seen.contains("figure class=\"chart\" id=\"chart-throughput"), "a chart of void trials");
    assert!(
        seen.contains("From those") || !seen.contains("GB/s (±"),
        "a figure with an interval from void trials"
    );
}

#[test]
fn one_point_and_thousands_make_pages() {
    let mut run = common::run(1);
    run.points.truncate(1);
    run.trials.retain(|trial| trial.point.is_none_or(|point| point == 0));
    assert!(page(&run).contains("All points of this experiment"));
    let mut run = common::run(1);
    let first = run.points[0].clone();
    for id in run.points.len()..3000 {
        let mut point = first.clone();
        (point.id, point.spec.block_size_bytes) = (id, 4096 + 512 * id as u64);
        run.points.push(point);
    }
    let page = page(&run);
    assert!(page.len() < 6_000_000, "{} bytes for 3,000 points", page.len());
}

#[test]
fn names_of_any_kind_and_length_are_text() {
    let mut run = common::rich(2);
    let path = format!("/{}/<script>alert(2)</script>", "very-long-folder/".repeat(300));
    run.info.target.clone_from(&path);
    run.info.device.model = Some("=cmd|' /C calc'!A1`\"><img src=x onerror=alert(3)>".into());
    run.info.command = format!("iosonde run quick {path}");
    for format in FORMATS.iter().filter(|format| format.name() != "png") {
        let bytes = format.render(&run).unwrap_or_else(|error| panic!("{}: {error}", format.name()));
        let text = String::from_utf8(bytes).expect("it is text");
        // In Markdown a command stands as code, where tags are text.
        let text: String = text.lines().filter(|line| format.name() != "md" || !line.contains('`')).collect();
        if ["html", "svg", "md"].contains(&format.name()) {
            assert!(!text.contains("<script>alert") && !text.contains("<img src=x"), "{}", format.name());
        }
    }
}

/// They would let the rest of a line, or of a script, read as something else; and no page has a bare escape.
#[test]
fn no_name_turns_the_direction_of_a_page_or_a_picture() {
    const MARKS: [char; 14] = [
        '\u{61c}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202b}', '\u{202c}', '\u{202d}', '\u{202e}',
        '\u{2066}', '\u{2067}', '\u{2068}', '\u{2069}', '\u{1b}', '\0',
    ];
    let name = MARKS.iter().map(|mark| format!("a{mark}b\"'")).collect::<String>();
    let mut run = common::rich(2);
    run.info.target.clone_from(&name);
    run.info.label = Some(name.clone());
    run.info.device.model = Some(name.clone());
    run.info.command = format!("iosonde run quick {name}");
    let mut sides: Vec<_> = (1..=2).map(common::side).collect();
    sides[0].name = name;
    let compared = sides::compared(&sides);
    for format in FORMATS.iter().filter(|format| ["html", "svg", "md", "text"].contains(&format.name())) {
        let one = format.render(&run).unwrap_or_else(|error| panic!("{}: {error}", format.name()));
        let several =
            format.several(&sides, &compared).unwrap_or_else(|error| panic!("{}: {error}", format.name()));
        for (text, names) in [(one, format.name() != "svg"), (several, true)] {
            let text = String::from_utf8(text).expect("it is text");
            let found: Vec<char> = MARKS.into_iter().filter(|mark| text.contains(*mark)).collect();
            assert!(found.is_empty(), "{}: {found:?}", format.name());
            assert!(!names || text.contains('\u{fffd}'), "{}: the name stands nowhere", format.name());
        }
    }
}

#[test]
fn a_name_is_no_formula_in_the_tables_of_a_page() {
    let mut sides: Vec<_> = (1..=2).map(common::side).collect();
    sides[1].name = "=cmd|' /C calc'!A1".into();
    sides[0].name = "\t@SUM(1,1)".into();
    let compared = sides::compared(&sides);
    let page = iosonde_report::several(&sides, &compared);
    let mut cells = 0;
    for table in page.split("<script type=\"text/csv\">").skip(1) {
        let table = table.split("</script>").next().expect("split gives a part");
        for cell in table.lines().flat_map(|line| line.split(',')) {
            assert!(!cell.trim_matches(['"', ' ', '\t']).starts_with(['=', '@']), "{cell}");
            cells += usize::from(cell.contains("=cmd"));
        }
    }
    assert!(cells > 0, "the name stands in the tables");
}

#[test]
fn several_runs_share_a_page_with_bars_and_ratios() {
    let sides: Vec<_> = (1..=3).map(common::side).collect();
    let compared = sides::compared(&sides);
    let page = iosonde_report::several(&sides, &compared);
    assert!(!page.contains("<b>1</b>"), "a name became markup");
    for pair in &compared.pairs {
        let told = iosonde_report::text::compare::answer(pair).replace('<', "&lt;").replace('>', "&gt;");
        assert!(visible(&page).contains(&told), "{told}");
    }
    for wanted in ["chart-bars", "chart-ratios-0", "chart-ratios-1", "chart-block-size-0", "chart-depth-0"] {
        assert!(page.contains(&format!("id=\"{wanted}\"")), "no {wanted}");
    }
    let figures = iosonde_report::several::figures_of_several(&sides, &compared);
    let bars = figures.iter().find(|figure| figure.name == "bars").expect("they share workloads");
    assert_eq!(bars.series.len(), 3);
    // The third side's rates are three times the first one's.
    let ratio = bars.series[2].dots[0].x / bars.series[0].dots[0].x;
    assert!((ratio - 3.0).abs() < 1e-9, "{ratio}");
    let all = figures[0].series[0].dots.iter().find(|dot| dot.tip[0].contains("all workloads"));
    assert!((all.expect("the mean of all").x - 2.0).abs() < 1e-9);
}

#[test]
fn a_folder_has_numbered_pictures_their_figures_and_the_words() {
    let run = common::rich(3);
    let md = FORMATS.find("md").expect("it is registered");
    let files = md.folder(&run).expect("nothing can fail").expect("it is a folder");
    let document = String::from_utf8(files[0].1.clone()).expect("it is text");
    let charts = figures(&run);
    for number in 1..=charts.len() {
        assert!(document.contains(&format!("*Figure {number}: ")), "no figure {number}");
    }
    assert!(document.contains("## Terms") && document.contains("## How it was measured"));
    for chart in charts {
        for ending in ["svg", "csv"] {
            let name = format!("{}.{ending}", chart.name);
            assert!(files.iter().any(|(file, _)| *file == name) && document.contains(&name), "{name}");
        }
    }
}
