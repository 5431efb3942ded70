//! A sweep made by hand, in every format.

use ironlaw::{analysis, model};

#[path = "support/sweep.rs"]
mod sweep;

use ironlaw::export;
use ironlaw::export::text::Style;
use ironlaw::view::scaling::SweepReport;
use sweep::Machine;

fn report(machine: Machine) -> SweepReport {
    SweepReport::of(&sweep::meta(machine), &sweep::scaling(machine))
}

fn thin() -> SweepReport {
    let (meta, scaling) = sweep::thin();
    SweepReport::of(&meta, &scaling)
}

fn text(report: &SweepReport, width: usize) -> String {
    String::from_utf8(export::text::sweep(report, Style { width, colour: false })).expect("text is UTF-8")
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
    for report in [report(Machine::Clock), cycles, thin()] {
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
