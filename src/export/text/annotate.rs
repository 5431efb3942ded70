//! A function by its instructions, as text.

use super::Style;
use super::page::{Ink, Page};
use crate::export::columns;
use crate::view::annotate::{AnnotationView, ClassRow, MixView};
use crate::view::code_ipc::cell;
use crate::view::escape::visible;
use crate::view::number;

/// `12.34%`; nothing for none.
fn percent(share: f64) -> String {
    if share > 0.0 { format!("{:.2}%", share * 100.0) } else { String::new() }
}

/// The instructions in order, each with its share.
#[must_use]
pub fn annotation(view: &AnnotationView, style: Style) -> Vec<u8> {
    let mut page = Page::new(style);
    let name = visible(&view.function);
    page.heading(&name, &visible(&view.module));
    let event = visible(&view.event);
    page.line(&format!(
        "  {} of {event} in its own code, {} samples; shares are of these",
        number::percent(view.self_share).joined(),
        number::count(view.samples)
    ));
    page.paragraph("  by class: ", &classes(&view.classes, usize::MAX), None);
    if view.elsewhere > 0 {
        let text = format!(
            "{} samples lie outside of this code: another copy, or a part split off",
            number::count(view.elsewhere)
        );
        page.paragraph("  - ", &text, Some(Ink::Quiet));
    }
    page.line("");
    let has_rates = view.instructions.iter().any(|line| line.rates.is_some());
    let widest = view.instructions.iter().map(|line| line.text.len()).max().unwrap_or_default();
    let text_width = widest.min(page.room_after(if has_rates { 76 } else { 60 })).max(20);
    page.captions(&format!(
        "   share   samples{}           address  {}  source",
        if has_rates { "     IPC    MPKI" } else { "" },
        columns::left("instruction", text_width)
    ));
    for line in &view.instructions {
        let samples = if line.samples > 0 { number::count(line.samples) } else { String::new() };
        let source = line.source.as_ref().map_or(String::new(), |(file, line)| {
            let file = file.rsplit('/').next().unwrap_or(file);
            format!("{}:{}", visible(file), line.map_or("?".to_string(), |line| line.to_string()))
        });
        let rates = match line.rates {
            Some(rates) => [rates.ipc, rates.mpki].map(|rate| format!("{:>8}", cell(rate))).concat(),
            None if has_rates => " ".repeat(16),
            None => String::new(),
        };
        let text = format!(
            "{} {}{rates} {:>17x}  {}  {source}",
            columns::right(&percent(line.share), 8),
            columns::right(&samples, 9),
            line.address,
            columns::left(&line.text, text_width),
        );
        page.line(&if line.share >= 0.05 { page.paint(Ink::Alert, &text) } else { text });
    }
    page.finish()
}

/// Which kinds of instructions samples fell on.
#[must_use]
pub fn mix(view: &MixView, style: Style) -> Vec<u8> {
    let mut page = Page::new(style);
    write_mix(&mut page, view);
    page.finish()
}

/// The same as a part of a page.
pub(super) fn write_mix(page: &mut Page, view: &MixView) {
    let about = format!("share of {}, {} samples", visible(&view.event), number::count(view.samples));
    page.heading("Instructions by class", &about);
    for row in &view.classes {
        page.line(&format!("  {}  {}", columns::right(&percent(row.share), 8), label(row)));
    }
    if view.classes.iter().any(|row| row.class.is_none()) {
        let text = "unreadable: code of the kernel and of just-in-time compilers, and of files that changed since";
        page.paragraph("  - ", text, Some(Ink::Quiet));
    }
    page.heading("Instructions by function", "classes are shares of the function");
    let widest = view.functions.iter().map(|row| columns::width(&visible(&row.name))).max().unwrap_or_default();
    let width = widest.min(40);
    for row in &view.functions {
        page.line(&format!(
            "  {}  {}  {}",
            columns::right(&percent(row.share), 8),
            columns::left(&columns::function(&visible(&row.name), width), width),
            classes(&row.classes, 4)
        ));
    }
}

/// `scalar 61.2%, branch 20.0%`.
fn classes(rows: &[ClassRow], most: usize) -> String {
    let text = |row: &ClassRow| format!("{} {}", label(row), number::percent(row.share).joined());
    rows.iter().take(most).map(text).collect::<Vec<_>>().join(", ")
}

fn label(row: &ClassRow) -> &'static str {
    row.class.map_or("unreadable", |class| class.label())
}
