//! A sweep made by hand, in every format.

use crate::swept::{self, Machine};
use ironlaw::export;
use ironlaw::export::text::Style;
use ironlaw::view::sweep::{Peak, SweepReport, Value};

fn report(machine: Machine) -> SweepReport {
    SweepReport::of(&swept::meta(machine), &swept::analysis(machine))
}

fn thin() -> SweepReport {
    let (meta, analysis) = swept::thin();
    SweepReport::of(&meta, &analysis)
}

fn text(report: &SweepReport, width: usize) -> String {
    String::from_utf8(export::text::sweep(report, Style { width: Some(width), colour: false })).expect("text is UTF-8")
}

#[test]
fn the_text_of_a_sweep_without_hardware_counters() {
    insta::assert_snapshot!(text(&report(Machine::Clock), 80));
}

#[test]
fn the_text_of_a_sweep_with_hardware_counters() {
    insta::assert_snapshot!(text(&report(Machine::Counters), 100));
}

#[test]
fn the_text_of_a_sweep_with_too_little() {
    insta::assert_snapshot!(text(&thin(), 80));
}

#[test]
fn no_line_of_text_is_wider_than_asked_for() {
    for machine in [Machine::Clock, Machine::Counters] {
        for (width, most) in [(40, 80), (80, 80), (91, 91), (100, 100), (200, 100)] {
            for line in text(&report(machine), width).lines() {
                assert!(line.chars().count() <= most, "{line} at {width}");
            }
        }
    }
}

#[test]
fn the_markdown_of_a_sweep() {
    insta::assert_snapshot!(String::from_utf8_lossy(&export::markdown::sweep(&report(Machine::Clock))));
}

#[test]
fn the_csv_of_a_sweep() {
    insta::assert_snapshot!(String::from_utf8_lossy(&export::csv::sweep(&report(Machine::Clock))));
}

#[test]
fn the_json_of_a_sweep() {
    let bytes = export::json::sweep(&report(Machine::Clock)).expect("it can be written");
    insta::assert_snapshot!(String::from_utf8_lossy(&bytes));
}

#[test]
fn every_json_sweep_keeps_to_its_schema_and_the_schema_refuses_text_for_numbers() {
    let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
    let schema: serde_json::Value = serde_json::from_str(export::json::SWEEP_SCHEMA).expect("the schema is JSON");
    compiler.add_resource("sweep.json", schema).expect("it is a resource");
    let id = compiler.compile("sweep.json", &mut schemas).expect("the schema is a schema");
    let mut cycles = report(Machine::Counters);
    cycles.view.cost_unit = "cycles";
    cycles.view.losses[0].functions[0].share = None;
    let (meta, analysis) = swept::with_latency();
    let latency = SweepReport::of(&meta, &analysis);
    for report in [report(Machine::Clock), cycles, thin(), latency] {
        let bytes = export::json::sweep(&report).expect("it can be written");
        let value: serde_json::Value = serde_json::from_slice(&bytes).expect("it is JSON");
        if let Err(error) = schemas.validate(&value, id) {
            panic!("{error:#}");
        }
        let mut wrong = value;
        wrong["points"][0]["seconds"] = serde_json::json!("10.0");
        assert!(schemas.validate(&wrong, id).is_err(), "the schema would take a string for a number");
    }
}

fn html(report: &SweepReport) -> String {
    String::from_utf8(export::html::sweep(report).expect("it can be drawn")).expect("HTML is UTF-8")
}

/// What stands between two texts, each time.
fn between<'a>(text: &'a str, from: &'a str, to: &'a str) -> Vec<&'a str> {
    text.split(from).skip(1).map(|rest| rest.split_once(to).map_or(rest, |(part, _)| part)).collect()
}

const DIFFERENCE_SCRIPT: &str = include_str!("../../assets/svg/diff_flamegraph.js");

#[test]
fn the_page_loads_nothing_and_no_name_acts_in_it() {
    for report in [report(Machine::Clock), report(Machine::Counters), thin()] {
        let page = html(&report);
        let other = page.replacen(&format!("<script>{DIFFERENCE_SCRIPT}</script>"), "", 1);
        assert!(!other.contains("<script"), "beside the difference's own, scripts stand in frames only");
        assert!(!page.contains("<b>&"), "the command acts as markup");
        for name in swept::HOSTILE.iter().filter(|name| name.contains(['<', '"', '\u{1b}'])) {
            assert!(!page.contains(name), "{name} stands there as it is");
        }
        // Names of namespaces and what inferno's script says about itself; nothing of it is fetched.
        let mut rest = page.clone();
        for known in [
            "http://www.w3.org/2000/svg",
            "http://www.w3.org/1999/xlink",
            "http://github.com/jonhoo/inferno",
            "https://github.com/jonhoo/inferno/",
            "https://github.com/brendangregg/FlameGraph",
            "http://www.brendangregg.com/flamegraphs.html",
            "https://web.dev/",
        ] {
            rest = rest.replace(known, "");
        }
        assert!(!rest.contains("http://") && !rest.contains("https://"), "an address in the page");
        assert!(!rest.contains(" src=") && !rest.contains("url(http") && !rest.contains("@import"));
    }
}

#[test]
fn every_picture_of_the_page_is_well_formed() {
    let page = html(&report(Machine::Clock));
    let pictures = between(&page, "<svg", "</svg>");
    assert_eq!(pictures.len(), 4, "the chart, the stacks and two differences");
    for picture in pictures {
        let picture = format!("<svg{picture}</svg>");
        let document = roxmltree::Document::parse(&picture).unwrap_or_else(|error| panic!("{error} in {picture}"));
        assert_eq!(document.root_element().first_element_child().map(|first| first.tag_name().name()), Some("title"));
    }
    let frames = between(&page, "srcdoc=\"", "\"");
    assert_eq!(frames.len(), 2, "the base and the widest point");
    for frame in frames {
        let frame = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")]
            .iter()
            .fold(frame.to_string(), |text, (from, to)| text.replace(from, to));
        let picture = frame.find("<svg").map_or("", |at| &frame[at..]);
        let document = roxmltree::Document::parse(picture).expect("well-formed XML");
        assert_eq!(document.descendants().filter(|node| node.has_tag_name("script")).count(), 1, "only inferno's own");
    }
}

/// Numbers no run can have, from a damaged recording.
#[test]
fn absurd_numbers_neither_panic_nor_leave_a_picture_ill_formed() {
    let absurd = [0.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, 1e-300, f64::MIN_POSITIVE / 4.0];
    for (number, n) in absurd.into_iter().flat_map(|number| [0, 1, u32::MAX].map(|n| (number, n))) {
        let mut analysis = swept::analysis(Machine::Counters);
        for run in analysis.points.iter_mut().flat_map(|point| &mut point.runs) {
            run.totals.ops = ironlaw::model::Measure::exact(number);
            run.cpu.paths.iter_mut().for_each(|path| path.weight = number);
        }
        analysis.points.last_mut().expect("there are points").n = n;
        for stack in &mut analysis.stacks {
            (stack.n, stack.useful) = (n, number);
            stack.slices.iter_mut().for_each(|slice| slice.cores = number);
        }
        analysis.losses.iter_mut().flat_map(|loss| &mut loss.functions).for_each(|row| row.here = number);
        let mut report = SweepReport::of(&swept::meta(Machine::Counters), &analysis);
        for (_, value) in report.view.points.iter_mut().flat_map(|point| &mut point.values.0) {
            *value = Value::Known { mean: number, half: Some(number) };
        }
        for law in report.view.fits.iter_mut().filter_map(|fit| fit.law.as_mut().ok()) {
            (law.alpha.value, law.beta.value, law.peak) =
                (number, number, Peak::At { n: number, ops_per_s: number, low: number, high: number });
        }
        text(&report, 80);
        assert!(!export::markdown::sweep(&report).is_empty() && !export::csv::sweep(&report).is_empty());
        export::json::sweep(&report).expect("it can be written");
        for picture in between(&html(&report), "<svg", "</svg>") {
            assert!(!picture.contains("NaN") && !picture.contains("inf\""), "{number} in {picture}");
        }
    }
}

#[test]
fn the_pictures_are_the_same_bytes_each_time() {
    assert_eq!(html(&report(Machine::Counters)), html(&report(Machine::Counters)));
}

/// Writes what there is to be looked at: `cargo test --test sweep -- --ignored`, with a folder in `LOOK`.
#[test]
#[ignore = "writes files to be looked at"]
fn write_pages_to_look_at() {
    let folder = std::path::PathBuf::from(std::env::var_os("LOOK").expect("LOOK names a folder"));
    for (name, report) in [("clock", report(Machine::Clock)), ("counters", report(Machine::Counters)), ("thin", thin())]
    {
        std::fs::write(folder.join(format!("{name}.html")), html(&report)).expect("it can be written");
    }
    let difference = report(Machine::Clock).cpu.expect("there are two points");
    let svg = export::diff_flamegraph::render(&difference, "a <server>");
    std::fs::write(folder.join("difference.svg"), svg).expect("it can be written");
}
