//! A baseline for people, on one page: its target, how reliable it is, and the usual values at each load.
//! Levels that are not known well enough show no values.

use crate::export::columns::{left, middle};
use crate::export::text::Style;
use crate::export::text::page::{Ink, Page};
use crate::model::Unit;
use crate::view::baseline::{BaselineView, ExpectedView, words};
use crate::view::diff::words::shown;
use crate::view::escape::visible;
use crate::view::number::{date, seconds};

/// The baseline as UTF-8 text; with `all` every quantity, else the cost and its components.
#[must_use]
pub fn text(view: &BaselineView, style: Style, all: bool) -> Vec<u8> {
    let mut page = Page::new(style);
    let title = format!("ironlaw baseline  {}", visible(&view.name));
    let title = page.paint(Ink::Heading, &middle(&title, page.width));
    page.line(&title);
    page.line("");
    key(&mut page, view);
    stale(&mut page, view);
    strength(&mut page, view);
    sources(&mut page, view);
    for level in &view.levels {
        page.heading("Usual", &format!("at {}", words::level(view.axis, level)));
        if level.known {
            expected(&mut page, &level.expected, all);
        }
    }
    if view.levels.is_empty() {
        page.heading("Usual", "");
        page.line("  - no window has a load");
    }
    page.finish()
}

fn key(page: &mut Page, view: &BaselineView) {
    let key = &view.key;
    let operations = key.operations.clone().unwrap_or("not counted".to_string());
    for (name, text) in [
        ("target", key.target.clone()),
        ("program", words::program(key)),
        ("machine", words::machine(key)),
        ("operations", operations),
        ("load by", words::axis(view.axis).to_string()),
        ("contains", words::totals(view)),
    ] {
        page.paragraph(&format!("  {} ", left(name, 10)), &text, None);
    }
}

fn stale(page: &mut Page, view: &BaselineView) {
    page.heading("Applies here", "compared with this machine now");
    if view.stale.is_empty() {
        page.line("  - no change was found");
    }
    for stale in &view.stale {
        let mark = if stale.incompatible { "  ! " } else { "  - " };
        let weight = if stale.incompatible { "the numbers no longer apply" } else { "the numbers may no longer apply" };
        let ink = stale.incompatible.then_some(Ink::Alert);
        page.paragraph(mark, &format!("{}  ({weight})", stale.text), ink);
    }
}

fn strength(page: &mut Page, view: &BaselineView) {
    page.heading("Strength", "");
    for sentence in words::strength(view) {
        page.paragraph("  ", &sentence, None);
    }
    for sentence in &view.strength.weaknesses {
        page.paragraph("  ! ", sentence, Some(Ink::Alert));
    }
}

fn sources(page: &mut Page, view: &BaselineView) {
    page.heading("Recordings", "");
    let row = |source: &crate::view::baseline::SourceView| {
        vec![
            visible(&source.name).into_owned(),
            date(source.started_unix_ns),
            seconds(source.seconds).joined(),
            source.windows.to_string(),
        ]
    };
    let rows: Vec<Vec<String>> = view.sources.iter().map(row).collect();
    page.table(&["recording", "started", "length", "windows"], &rows);
}

fn expected(page: &mut Page, all: &[ExpectedView], every: bool) {
    let row = |expected: &&ExpectedView| {
        let value = |value: f64| shown(value, expected.unit);
        // A band may extend below 0, and for a share above 1, which no quantity can.
        let share = expected.unit == Unit::Share;
        let (from, to) = (expected.band.0.max(0.0), expected.band.1.min(if share { 1.0 } else { f64::INFINITY }));
        vec![
            expected.name.to_string(),
            value(expected.centre),
            value(expected.spread),
            format!("{} to {}", value(from), value(to)),
            format!("{} to {}", value(expected.low), value(expected.high)),
        ]
    };
    let rows: Vec<Vec<String>> = all.iter().filter(|expected| every || expected.leading).map(|e| row(&e)).collect();
    let left_out = all.len() - rows.len();
    page.table(&["quantity", "usual", "spread", "usual within", "seen"], &rows);
    page.left_out(left_out, "quantities", ": --all");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::baseline::key_changes;
    use crate::analysis::baseline::testing::{baseline, loaded, noise};

    fn page(style: Style) -> String {
        let mut known = loaded(&[40, 40, 9], &|at| {
            let rate = if at >= 80 { 5000.0 + 700.0 * at as f64 } else { 1000.0 };
            (rate, if at == 7 { 9e5 } else { 5e5 * (1.0 + 0.01 * noise(at)) })
        });
        known.sources[1].name = "evil\x1b[31m.ironlaw".into();
        let mut now = known.key.clone();
        (now.host.cpu_model, now.host.kernel) = ("EPYC".into(), "6.9".into());
        let found = key_changes(&known, &now, known.sources[2].started_unix_ns + 1);
        String::from_utf8_lossy(&text(&BaselineView::of(&known, "web.baseline", found), style, false)).into_owned()
    }

    #[test]
    fn a_baseline_is_shown_as_published() {
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("../../../tests/golden/baseline");
        settings.set_prepend_module_to_snapshot(false);
        settings.bind(|| insta::assert_snapshot!("text", page(Style::default())));
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_and_no_name_acts() {
        for width in [80, 120] {
            let page = page(Style { width: Some(width), colour: false });
            assert!(page.lines().all(|line| line.chars().count() <= width), "{page}");
            assert!(!page.contains('\x1b'));
        }
        let empty = BaselineView::of(&baseline(&[0]), "none", vec![]);
        let shown = String::from_utf8_lossy(&text(&empty, Style::default(), true)).into_owned();
        assert!(shown.contains("no window has a load"), "{shown}");
    }
}
