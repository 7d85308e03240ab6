//! Reports of an invented run, whole: what people read is kept as snapshots, and what must hold of every
//! report (numbers agree, nothing escapes, nothing is loaded, sizes) is asked of each format.

mod common;

use iosonde_model::{Run, RunState, Status};
use iosonde_report::chart::{CHARTS, figures};
use iosonde_report::{FORMATS, Paint, html, markdown::markdown, picture, terminal};

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
fn the_end_screen_fits_eighty_columns_and_one_screen() {
    let screen = terminal::summary(&common::run(9), PLAIN);
    assert!(screen.lines().all(|line| line.chars().count() <= 80), "{screen}");
    assert!(screen.lines().count() <= 24, "{screen}");
    assert!(!screen.contains('\u{1b}'), "colour where none was asked for");
}

#[test]
fn one_trial_has_no_interval_and_says_so() {
    insta::assert_snapshot!(terminal::trial(&common::point(), PLAIN));
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
    let (page, text) = (visible(&page(&run)), markdown(&run));
    for finding in &run.findings {
        let told = match finding.status {
            Status::Refused => finding.why.as_deref().expect("a refusal has a reason"),
            Status::Found | Status::None => &finding.sentence,
        };
        // Commands stand in elements of their own, and a sentence may begin with a capital.
        let told = told.split('`').next().expect("split gives at least one part").trim_end();
        assert!(page.contains(&told[1..]), "the page lacks: {told}");
        assert!(text.contains(told), "the Markdown lacks: {told}");
    }
}

#[test]
fn the_formats_give_the_same_numbers() {
    let run = common::run(9);
    let (page, text) = (visible(&page(&run)), markdown(&run));
    let screen = terminal::summary(&run, PLAIN).split_whitespace().collect::<Vec<_>>().join(" ");
    for told in
        ["2.48 GB/s [2.41, 2.55]", "294 k IOPS [288, 301]", "24 in flight [23, 26]", "195 KiB [184, 208]"]
    {
        assert!(page.contains(told), "the page lacks {told}");
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
    let run = common::run(9);
    let figures = figures(&run);
    assert!(figures.len() >= 8, "{} charts", figures.len());
    for figure in figures {
        let svg = picture::svg(&figure, picture::Theme::Light);
        for text in [figure.x.title(), figure.y.title(), figure.series[0].name.clone()] {
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
        assert!(svg.matches("<title>").count() >= dots, "{}: fewer shapes than dots", figure.name);
    }
}

#[test]
fn the_document_reads_back() {
    let run = common::run(2);
    let text = iosonde_report::json(&run).expect("a run can be written");
    let back: Run = serde_json::from_str(&text).expect("what was written can be read");
    assert_eq!(back.points, run.points);
    assert_eq!((back.findings, back.info), (run.findings, run.info));
}

#[test]
fn a_run_without_anything_still_gets_every_report() {
    let mut run = common::run(1);
    run.info.state = RunState::Failed;
    (run.trials, run.points, run.findings) = (Vec::new(), Vec::new(), Vec::new());
    (run.verdicts, run.advice) = (Vec::new(), Vec::new());
    assert_eq!(figures(&run).len(), 0);
    for format in FORMATS.iter() {
        let bytes = format.render(&run).unwrap_or_else(|error| panic!("{}: {error}", format.name()));
        assert!(!bytes.is_empty(), "{}", format.name());
    }
    assert!(terminal::summary(&run, PLAIN).contains("BELIEVE"));
    assert_eq!(terminal::trial(&run, PLAIN), "No trial was run.\n");
}

#[test]
fn a_doubted_point_is_hollow_and_says_why() {
    let run = common::run(9);
    let rate =
        figures(&run).into_iter().find(|figure| figure.name == "rate-vs-depth").expect("it has depths");
    assert!(rate.reading.contains("busy for 93 %"), "{}", rate.reading);
    // The doubt is about the rate, so the latency of the same point stands.
    let latency = figures(&run).into_iter().find(|f| f.name == "latency-vs-depth").expect("it has depths");
    assert!(!latency.reading.contains("93 %"), "{}", latency.reading);
}
