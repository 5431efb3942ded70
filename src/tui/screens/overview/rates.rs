//! The rates in groups, one line each, in columns that all groups share.
//! Columns that do not fit are dropped from the right.

use super::page::{Item, Page, Rows};
use super::tiles::changed;
use super::words;
use crate::model::MetricId;
use crate::tui::panel::PanelContext;
use crate::view::fit::width;
use crate::view::overview::{Factor, Overview, RateGroup};
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

/// Width of a group's name.
const NAME: u16 = 8;
/// Width of a value, `0.0828/s`.
const VALUE: usize = 8;
/// Width of a change, `+12.3 pt`, and of its sign alone.
const CHANGE: usize = 9;
const SIGN: usize = 2;
/// Columns between two rates: the minimum, the minimum for easy reading, and the maximum.
const GAP: usize = 1;
const EASY_GAP: usize = 3;
const WIDEST_GAP: usize = 7;
/// Rates move closer together before fewer than this many are left.
const FEW: usize = 4;

/// The groups to show; the memory group is omitted if the tiles already list its rates as missing.
pub(super) fn shown(view: &Overview, hidden: bool) -> Vec<&RateGroup> {
    view.groups.iter().filter(|group| !(hidden && group.name == "memory")).collect()
}

/// Lays out the groups.
pub(super) fn rates(view: &Overview, groups: &[&RateGroup], cx: &PanelContext<'_>, rows: &mut Rows, page: &mut Page) {
    let columns = Columns::of(groups, usize::from(rows.width()));
    for group in groups {
        let line = rows.take(1);
        page.text(Rect { width: NAME.min(line.width), ..line }, None, Span::styled(group.name, cx.theme.dim));
        let line = Rect { x: line.x + NAME.min(line.width), width: line.width - NAME.min(line.width), ..line };
        if group.rates.iter().all(|rate| rate.value.value().is_none()) {
            nothing(group, view, cx, line, page);
            continue;
        }
        let mut x = line.x;
        for (rate, label) in told(group).zip(&columns.labels) {
            let wide = (label + 1 + VALUE + columns.change) as u16;
            if x + wide > line.right() {
                break;
            }
            page.text(
                Rect { x, width: wide, ..line },
                Some(Item::Rate(rate.id)),
                cell(rate, *label, columns.change, cx),
            );
            x += wide + columns.gap as u16;
        }
    }
}

/// IPC repeats the law's CPI: if it is missing, the law already reports that.
fn told(group: &RateGroup) -> impl Iterator<Item = &Factor> {
    group.rates.iter().filter(|rate| rate.id != MetricId::Ipc || rate.value.value().is_some())
}

/// Shows a sentence instead of a row of dashes.
fn nothing(group: &RateGroup, view: &Overview, cx: &PanelContext<'_>, line: Rect, page: &mut Page) {
    let mut x = line.x;
    for absent in words::absent(group.rates.iter(), view) {
        let left = line.right().saturating_sub(x);
        let text = absent.text(usize::from(left));
        let wide = (width(&text) as u16).min(left);
        let item = absent.factors.first().map(|rate| Item::Rate(rate.id));
        page.text(Rect { x, width: wide, ..line }, item, Span::styled(text, cx.theme.dim));
        x = (x + wide + 3).min(line.right());
    }
}

/// The widths of the columns.
struct Columns {
    labels: Vec<usize>,
    /// Width of the changes: 0 without any, the sign alone where the whole change would push rates off the screen.
    change: usize,
    gap: usize,
}

impl Columns {
    fn of(groups: &[&RateGroup], room: usize) -> Columns {
        let mut labels = label_columns(groups);
        let compared = groups.iter().flat_map(|group| &group.rates).any(|rate| rate.change.is_some());
        let wide = |labels: &[usize], change: usize, gap: usize| {
            usize::from(NAME) + labels.iter().map(|label| label + 1 + VALUE + change + gap).sum::<usize>() - gap
        };
        let change = match compared {
            false => 0,
            true if wide(&labels, CHANGE, EASY_GAP) <= room => CHANGE,
            true => SIGN,
        };
        while labels.len() > FEW && wide(&labels, change, EASY_GAP) > room {
            labels.pop();
        }
        let left = room.saturating_sub(wide(&labels, change, GAP));
        let gap = GAP + left / labels.len().saturating_sub(1).max(1);
        Columns { labels, change, gap: gap.min(WIDEST_GAP) }
    }
}

/// The widest label of each column.
fn label_columns(groups: &[&RateGroup]) -> Vec<usize> {
    let most = groups.iter().map(|group| group.rates.len()).max().unwrap_or(0);
    let widest = |at: usize| groups.iter().filter_map(|group| group.rates.get(at)).map(|rate| width(rate.label)).max();
    (0..most).map(|at| widest(at).unwrap_or(0)).collect()
}

/// A value that is wider than its column because it is small, without digits that would displace its unit.
fn with_unit(value: String) -> String {
    let unit = value.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    if width(&value) > VALUE && value.starts_with("0.000") { format!("<0.001{unit}") } else { value }
}

fn cell(rate: &Factor, label: usize, change: usize, cx: &PanelContext<'_>) -> Line<'static> {
    let pad = " ".repeat(label.saturating_sub(width(rate.label)) + 1);
    let style = if rate.value.value().is_some() { cx.theme.text } else { cx.theme.missing };
    let mut spans = vec![
        Span::styled(format!("{}{pad}", rate.label), cx.theme.dim),
        Span::styled(format!("{:>VALUE$}", with_unit(words::value(rate))), style),
    ];
    if let (true, Some(change_of)) = (change > 0, &rate.change) {
        let (text, weight) = words::change(change_of, rate.unit);
        let text = if change == SIGN { weight.sign().to_string() } else { text };
        spans.extend([Span::raw(" "), changed(&(text, weight), cx)]);
    }
    Line::from(spans)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_value_keeps_its_unit() {
        for (value, expected) in [
            ("0.000247%", "<0.001%"),
            ("0.0000828/s", "<0.001/s"),
            ("0.0828/s", "0.0828/s"),
            ("0.00240%", "0.00240%"),
            ("11,800/s", "11,800/s"),
            ("-", "-"),
        ] {
            assert_eq!(with_unit(value.to_string()), expected);
            assert!(expected.len() <= VALUE);
        }
    }
}
