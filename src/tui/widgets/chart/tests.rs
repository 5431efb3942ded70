//! Charts as text, at common sizes and at all others.

use super::*;
use crate::tui::theme::Glyphs;
use crate::tui::widgets::testing::{HOSTILE, drawn};
use proptest::prelude::*;
use ratatui::layout::Rect;

fn second(at: u64) -> Nanos {
    Nanos(at * 1_000_000_000)
}

fn points(values: &[Option<f64>]) -> Vec<(Nanos, Option<f64>)> {
    values.iter().enumerate().map(|(at, value)| (second(at as u64), *value)).collect()
}

fn chart<'a>(series: &'a [Series<'a>], seconds: u64) -> Chart<'a> {
    let span = (Nanos(0), second(seconds));
    Chart { series, unit: Unit::Hertz, span, origin: Origin::Now(span.1), top: None, range: None, mark: None }
}

#[test]
fn a_line_rises_over_labelled_axes_and_keeps_its_gap() {
    let mut values: Vec<_> = (0..=30).map(|at| Some(f64::from(at) * 0.1e9)).collect();
    values[14..=17].fill(None);
    let points = points(&values);
    let series = [Series { name: "frequency", points: &points }];
    let text = drawn(50, 9, &Glyphs::UNICODE, |context, area, buf| chart(&series, 30).draw(context, area, buf));
    insta::assert_snapshot!("one_line", text);
    let text = drawn(50, 9, &Glyphs::ASCII, |context, area, buf| chart(&series, 30).draw(context, area, buf));
    insta::assert_snapshot!("one_line_ascii", text);
}

#[test]
fn two_lines_are_told_apart_by_letters_and_the_mark_stands_beside_them() {
    let rising: Vec<_> = (0..=60).map(|at| Some(f64::from(at) * 0.05e9)).collect();
    let falling: Vec<_> = (0..=60).map(|at| Some(2.0e9 - f64::from(at) * 0.02e9)).collect();
    let (rising, falling) = (points(&rising), points(&falling));
    let series = [Series { name: "CPU 0", points: &rising }, Series { name: "CPU 1", points: &falling }];
    let chart = Chart { range: Some((second(40), second(50))), mark: Some(second(20)), ..chart(&series, 60) };
    let text = drawn(70, 10, &Glyphs::UNICODE, |context, area, buf| {
        chart.draw(context, area, buf);
        let shaded = area.positions().filter(|place| buf[*place].style().bg == context.theme.range.bg).count();
        assert!(shaded > 5 * 7, "{shaded} cells of the range are set off");
    });
    insta::assert_snapshot!("two_lines", text);
    let text = drawn(70, 10, &Glyphs::ASCII, |context, area, buf| chart.draw(context, area, buf));
    assert!(text.contains('a') && text.contains('b') && text.is_ascii(), "{text}");
}

#[test]
fn without_a_value_there_are_axes_and_no_line() {
    let points = points(&[None, None, Some(f64::NAN), None]);
    let series = [Series { name: "nothing", points: &points }];
    let text = drawn(40, 7, &Glyphs::UNICODE, |context, area, buf| chart(&series, 3).draw(context, area, buf));
    assert!(text.contains("1.00 Hz") && !text.chars().any(|c| ('\u{2801}'..='\u{28ff}').contains(&c)), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]
    #[test]
    fn it_can_be_drawn_at_any_size_and_place(
        (x, y, width, height) in (0_u16..9, 0_u16..9, 0_u16..300, 0_u16..60),
        values in prop::collection::vec(prop::option::of(prop::num::f64::ANY), 0..40),
        lines in 0_usize..9,
        (from, to, mark) in (0_u64..50, 0_u64..50, 0_u64..50),
        top in prop::option::of(prop::num::f64::ANY),
        ascii: bool,
    ) {
        let points = points(&values);
        let series: Vec<_> = (0..lines).map(|at| Series { name: HOSTILE[at % HOSTILE.len()], points: &points }).collect();
        let chart = Chart {
            span: (second(from), second(to)),
            range: Some((second(mark), second(to))),
            mark: Some(second(mark)),
            top,
            ..chart(&series, 40)
        };
        let glyphs = if ascii { Glyphs::ASCII } else { Glyphs::UNICODE };
        drawn(width, height, &glyphs, |context, area, buf| {
            chart.draw(context, Rect::new(x, y, area.width, area.height), buf);
            chart.draw(context, area, buf);
        });
    }
}
