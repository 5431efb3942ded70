//! Sweeps at the edges in every format: no point, one point, nothing counted, numbers too large, a law without an end.

use super::*;
use crate::analysis::sweep::{Coefficient, Estimate, NoFit, Peak, RunLatency, SweepAnalysis};
use crate::export::text::Style;
use crate::export::{csv, html, json, markdown, text};
use crate::model::{Measure, RunState, SweepMeta, Why};
use crate::view::sweep::SweepReport;
use crate::view::sweep::fixture::{self, Machine};

/// One way to be odd.
type Odd = fn(&mut SweepMeta, &mut SweepAnalysis);

const CASES: [(&str, Odd); 14] = [
    ("as it should be", |_, _| {}),
    ("no point at all", |_, analysis| {
        analysis.points.clear();
        analysis.stacks.clear();
        analysis.losses.clear();
        analysis.fits.clear();
    }),
    ("one point", |_, analysis| {
        analysis.points.truncate(1);
        analysis.stacks.truncate(1);
        analysis.losses.clear();
    }),
    ("a base that is the widest", |_, analysis| analysis.base = analysis.points.len() - 1),
    ("points without a run", |_, analysis| analysis.points.iter_mut().for_each(|point| point.runs.clear())),
    ("nothing counted", |_, analysis| {
        let blank = fixture::thin().1.points[0].numbers;
        analysis.points.iter_mut().for_each(|point| point.numbers = blank);
    }),
    ("operations that stopped", |_, analysis| set_rates(analysis, 0.0, Some(0.0))),
    ("rates too large", |_, analysis| set_rates(analysis, 1e300, Some(1e299))),
    ("rates too small", |_, analysis| set_rates(analysis, 1e-300, Some(1e-301))),
    ("intervals wider than the values", |_, analysis| set_rates(analysis, 1.0, Some(1e12))),
    ("no law for any region", |_, analysis| {
        analysis.fits.iter_mut().for_each(|fit| fit.law = Err(NoFit::TooFewWidths));
    }),
    ("a law of one width", |_, analysis| analysis.fits.iter_mut().for_each(|fit| fit.widths.truncate(1))),
    ("a law without errors and without a peak", |_, analysis| {
        for law in analysis.fits.iter_mut().filter_map(|fit| fit.law.as_mut().ok()) {
            let exact = |value| Coefficient { value, error: None, half: None };
            (law.gamma, law.alpha, law.beta) = (exact(0.0), exact(-1.0), exact(0.0));
            (law.freedom, law.residual, law.peak) = (0, 0.0, Peak::Undecided);
        }
    }),
    ("runs that all failed", |meta, analysis| {
        let failed = RunState::Failed { reason: "exit status 1\n\u{1b}[2J|<b>".to_string() };
        meta.runs.iter_mut().for_each(|run| run.state = failed.clone());
        analysis.points.clear();
    }),
];

fn set_rates(analysis: &mut SweepAnalysis, mean: f64, half: Option<f64>) {
    for point in &mut analysis.points {
        let value = Measure::exact(Estimate { mean, half, runs: 3 });
        (point.numbers.ops_per_s, point.numbers.ops) = (value, value);
        (point.numbers.cpu_ns_per_op, point.numbers.us_per_op) = (value, Measure::Missing(Why::Idle));
    }
}

fn reports() -> Vec<(String, SweepReport)> {
    let mut all = Vec::new();
    for machine in [Machine::Clock, Machine::Counters] {
        for (case, odd) in CASES {
            let (mut meta, mut analysis) = (fixture::meta(machine), fixture::analysis(machine));
            odd(&mut meta, &mut analysis);
            let counted = if machine == Machine::Counters { "counters" } else { "clock" };
            all.push((format!("{case}, {counted}"), SweepReport::of(&meta, &analysis)));
        }
    }
    let (meta, analysis) = fixture::with_latency();
    all.push(("with latency".to_string(), SweepReport::of(&meta, &analysis)));
    let (meta, mut analysis) = fixture::with_latency();
    analysis
        .points
        .iter_mut()
        .flat_map(|point| &mut point.runs)
        .for_each(|run| run.latency = Some(RunLatency::default()));
    all.push(("with latency of no operation".to_string(), SweepReport::of(&meta, &analysis)));
    let (meta, analysis) = fixture::thin();
    all.push(("two widths, one run each".to_string(), SweepReport::of(&meta, &analysis)));
    all
}

/// Asserts that a text has no number that is none, as Rust prints it.
fn assert_numbers(text: &str, what: &str) {
    let word = text.split(|c: char| !c.is_ascii_alphanumeric()).find(|word| matches!(*word, "NaN" | "inf"));
    let place = word.and_then(|word| text.find(word)).unwrap_or_default();
    let near: String = text.chars().skip(place.saturating_sub(120)).take(240).collect();
    assert_eq!(word, None, "{what}: {near}");
}

#[test]
fn a_table_for_people_is_drawn_from_every_odd_sweep() {
    for (case, report) in reports() {
        for width in [None, Some(40), Some(80), Some(200)] {
            let shown = String::from_utf8(text::sweep(&report, Style { width, colour: false })).unwrap();
            assert_numbers(&shown, &case);
            assert_inert(&shown, &case);
            assert!(!shown.trim().is_empty(), "{case}: not a word");
        }
        let shown = String::from_utf8(markdown::sweep(&report)).unwrap();
        assert_numbers(&shown, &case);
        assert_inert(&shown, &case);
    }
}

#[test]
fn a_page_of_every_odd_sweep_has_only_finite_coordinates() {
    for (case, report) in reports() {
        let page = String::from_utf8(html::sweep(&report).unwrap()).unwrap();
        // The scripts of the pictures name both words.
        let mut drawn = String::new();
        for (at, part) in page.split("<script").enumerate() {
            drawn.push_str(if at == 0 { part } else { part.split_once("</script>").unwrap().1 });
        }
        assert_numbers(&drawn, &case);
        assert_inert(&page, &case);
    }
}

#[test]
fn every_odd_sweep_is_valid_for_programs_and_has_a_row_per_point() {
    for (case, report) in reports() {
        let rows = assert_csv(&String::from_utf8(csv::sweep(&report)).unwrap(), &case);
        let points = report.view.points.len();
        let at = |name: &str| rows[0].iter().position(|cell| cell == name);
        assert!(at("n").is_some(), "{case}: {:?}", rows[0]);
        assert_eq!(rows.len(), 1 + points, "{case}");
        for row in &rows[1..] {
            assert!(row[at("n").unwrap()].parse::<u32>().is_ok(), "{case}: {row:?}");
            assert!(!row.iter().any(|cell| cell == "NaN" || cell == "inf"), "{case}: {row:?}");
        }
        let bytes = json::sweep(&report).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(value["points"].as_array().map(Vec::len), Some(points), "{case}");
    }
}

#[test]
fn latency_against_width_is_in_every_format() {
    let (meta, analysis) = fixture::with_latency();
    let report = SweepReport::of(&meta, &analysis);
    let value: serde_json::Value = serde_json::from_slice(&json::sweep(&report).unwrap()).unwrap();
    let point = &value["points"][1];
    assert_eq!((&point["latency_p50_ns"], &point["latency"]["p50"]), (&100_000.0.into(), &100_000.0.into()), "{point}");
    let (low, high) = (&point["latency"]["interval"]["p99"][0], &point["latency"]["interval"]["p99"][1]);
    let (low, high, p99) = (low.as_f64().unwrap(), high.as_f64().unwrap(), point["latency"]["p99"].as_f64().unwrap());
    assert!(low < p99 && p99 < high && (p99 - 2.1e6).abs() < 1e3, "{point}");
    assert_eq!(point["ci95"]["latency_p99_ns"].as_f64().unwrap(), (high - low) / 2.0);
    assert_eq!(point["latency"]["interval_from"], "runs");
    let rows = assert_csv(&String::from_utf8(csv::sweep(&report)).unwrap(), "a sweep");
    let column = rows[0].iter().position(|cell| cell == "latency_p99_ns").unwrap();
    assert!((rows[2][column].parse::<f64>().unwrap() - 2.1e6).abs() < 1e3 && !rows[2][column + 1].is_empty());
    let shown = String::from_utf8(text::sweep(&report, Style { width: Some(100), colour: false })).unwrap();
    assert!(shown.contains("of all 190,000 operations; intervals") && shown.contains("2.10 ms"), "{shown}");
    let shown = String::from_utf8(markdown::sweep(&report)).unwrap();
    assert!(shown.contains("### Latency") && shown.contains("| 2.10 ms |"), "{shown}");
    let page = String::from_utf8(html::sweep(&report).unwrap()).unwrap();
    assert!(page.contains("p99<br>ms") && page.contains("<caption>Latency of all 190,000 operations"));
}

#[test]
fn what_a_point_lacks_is_missing_with_a_reason_in_json_and_empty_in_csv() {
    let (meta, mut analysis) = (fixture::meta(Machine::Counters), fixture::analysis(Machine::Counters));
    analysis.points[0].numbers.cpi = Measure::Missing(Why::Multiplexed);
    let report = SweepReport::of(&meta, &analysis);
    let value: serde_json::Value = serde_json::from_slice(&json::sweep(&report).unwrap()).unwrap();
    let text = value["points"][0].to_string();
    assert!(text.contains("\"multiplexed\""), "{text}");
    assert!(!value["points"][1].to_string().contains("\"multiplexed\""), "the other points keep their values");
    let rows = assert_csv(&String::from_utf8(csv::sweep(&report)).unwrap(), "a sweep");
    let column = rows[0].iter().position(|cell| cell.starts_with("cpi")).unwrap();
    assert_eq!(rows[1][column], "", "{:?}", rows[0]);
    assert!(rows[2][column].parse::<f64>().is_ok(), "{:?}", rows[2]);
}
