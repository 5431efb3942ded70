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
