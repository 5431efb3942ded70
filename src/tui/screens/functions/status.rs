//! The selected row or line in full for the status line: uncut names, all values, reasons for missing values.

use super::pane::{Item, Section};
use super::words::{self, amount, percent, points};
use crate::tui::panel::PanelContext;
use crate::view::CodeKind;
use crate::view::escape::visible;
use crate::view::functions::{Detail, FunctionsView, Row, is_real};

/// A row of the table.
pub(super) fn row(view: &FunctionsView, row: &Row, cx: &PanelContext<'_>) -> String {
    let mut parts = vec![name(&row.name, &row.module)];
    parts.extend(kind(row.kind, row.inlined, &row.module));
    let error = |error: Option<f64>| {
        error.map(|error| format!(" {}{}", cx.glyphs.plus_minus, words::error(Some(error)))).unwrap_or_default()
    };
    let own = words::samples(row.self_samples, view.off_cpu);
    let self_amount = amount(row.self_weight, view.unit);
    parts.push(format!("self {}{}: {own}, {self_amount}", percent(row.self_share), error(row.self_error)));
    if row.total_weight != row.self_weight {
        let total = amount(row.total_weight, view.unit);
        parts.push(format!("total {}{}: {total}", percent(row.total_share), error(row.total_error)));
    }
    parts.extend(view.compared.then(|| change(row, cx)));
    parts.join("  ")
}

/// The change, or why it is unknown.
fn change(row: &Row, cx: &PanelContext<'_>) -> String {
    let Some(change) = row.change else {
        return "change -: nothing to compare with (threads of another run, or no samples then)".to_string();
    };
    let difference = row.self_share - change.self_before;
    let error = change.self_error.map(|error| format!(" {}{}", cx.glyphs.plus_minus, words::error(Some(error))));
    let doubt = if is_real(difference, change.self_error) { "" } else { ", may be chance" };
    let total = points(row.total_share - change.total_before);
    format!(
        "self was {}: {}{} points{doubt}; total {total}",
        percent(change.self_before),
        points(difference),
        error.unwrap_or_default()
    )
}

/// A line of the detail.
pub(super) fn item(view: &FunctionsView, detail: &Detail, section: Section, item: Item) -> String {
    let whole = detail.row.as_ref().map_or(0.0, |row| row.total_share);
    let of = |share: f64, weight: u64, samples: u64| {
        format!(
            "{} of {}, {} of all: {}, {}",
            percent(share),
            visible(&detail.name),
            percent(share * whole),
            words::samples(samples, view.off_cpu),
            amount(weight, view.unit),
        )
    };
    let parts = match (section, section.tree(detail)) {
        (_, Some(tree)) => tree.entries.get(item.index).map(|entry| {
            let mut parts = vec![name(&entry.name, &entry.module)];
            parts.extend(kind(entry.kind, entry.inlined, &entry.module));
            parts.push(of(entry.share, entry.weight, entry.samples));
            parts
        }),
        (Section::Lines, None) => detail.lines.get(item.index).map(|line| {
            let own = of(line.self_share, line.self_weight, line.self_samples);
            let place = words::line_place(line);
            let calls = format!("with what it calls {}", percent(line.total_share));
            vec![visible(&place).into_owned(), own, calls]
        }),
        (Section::Mix, None) => detail.mix.get(item.index).map(|row| {
            let share = |share: f64, of: &str, samples: u64| {
                format!("{} of {of}: {}", percent(share), words::samples(samples, false))
            };
            let own = share(row.self_share, &format!("{}'s own", visible(&detail.name)), row.self_samples);
            let class = match row.class {
                Some(class) => class.label(),
                None => "unreadable: the kernel's, made just in time, or its file is not here as it was recorded",
            };
            vec![class.to_string(), own, share(row.all_share, "all selected", row.all_samples)]
        }),
        (_, None) => detail.instructions.get(item.index).map(|own| {
            let source = match &own.line {
                Some(_) => visible(&words::source(own)).into_owned(),
                None => "source line - (no debug information)".to_string(),
            };
            let text = own.text.clone().unwrap_or_else(|| "- (the recorded code cannot be read here)".to_string());
            vec![visible(&own.place).into_owned(), text, source, of(own.share, own.weight, own.samples)]
        }),
    };
    parts.unwrap_or_default().join("  ")
}

/// A function that is not among the rows.
pub(super) fn absent(name: &str, filtered: bool) -> String {
    let why = if filtered { "left out by the filter" } else { "no samples in this time" };
    format!("{}  {why}", visible(name))
}

fn name(name: &str, module: &str) -> String {
    if module.is_empty() { visible(name).into_owned() } else { format!("{}  {}", visible(name), visible(module)) }
}

/// The kind of code, unless the module already shows it.
fn kind(kind: CodeKind, inlined: bool, module: &str) -> Option<String> {
    match kind {
        CodeKind::Kernel | CodeKind::Jit if module.starts_with('[') => None,
        CodeKind::Kernel => Some("kernel".to_string()),
        CodeKind::Jit => Some("JIT".to_string()),
        CodeKind::User | CodeKind::Heading => inlined.then(|| "inlined into its callers".to_string()),
    }
}
