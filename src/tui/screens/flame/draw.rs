//! Draws the cells and the title above them.

use super::state::{Colours, State, amount};
use super::words;
use crate::tui::keys::Action;
use crate::tui::panel::PanelContext;
use crate::tui::theme::Theme;
use crate::tui::widgets::put_line;
use crate::view::escape::visible;
use crate::view::fit::{end, function_name, width};
use crate::view::flame_tree::Cell;
use crate::view::{Axis, CodeKind, code_ipc, number};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

/// Narrower cells have no room for a letter next to their boundary.
const LEAST_LABEL: u16 = 3;

/// Draws the screen.
pub(super) fn draw(state: &State, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    if area.height == 0 {
        return;
    }
    if state.tree.total == 0 {
        let text = match (state.seen, cx.axis) {
            (false, _) => "waiting for the first window",
            (true, Axis::OffCpu) => "no thread waited in this time",
            (true, Axis::Event(_)) => "no samples in this time: the target did not run",
        };
        put_line(buf, area, area.x + 1, text, cx.theme.dim);
        return;
    }
    let layout = state.layout(area);
    let rows = State::rows(area);
    title(state, cx, layout.depth, area, buf);
    for cell in &layout.cells {
        let y = if state.upside_down { rows.bottom() - 1 - cell.row } else { rows.y + cell.row };
        draw_cell(state, cx, cell, Rect { x: rows.x + cell.x, y, width: cell.width, height: 1 }, buf);
    }
}

/// Draws the title: the shown data and its amount, the shares of match and zoom, and the visible rows.
fn title(state: &State, cx: &PanelContext<'_>, depth: u32, area: Rect, buf: &mut Buffer) {
    let tree = &state.tree;
    let what = match cx.axis {
        Axis::OffCpu => "time waiting".to_string(),
        Axis::Event(_) => format!("time running, by {}", visible(&cx.head.event)),
    };
    let mut text = match &tree.difference {
        Some(difference) => words::title(difference),
        None => format!("{what}: {} in {} samples", amount(tree.total, tree.unit), number::count(tree.samples)),
    };
    if tree.difference.is_none() && cx.head.standing.is_some() {
        text += &format!("  [{} against baseline]", cx.keys.first(Action::AgainstBaseline));
    }
    text += &match (state.colours, &tree.difference) {
        (Colours::Kind, _) => "  [k kernel, J just in time, pale: inlined]".to_string(),
        (Colours::Name, _) => "  [shaded by name]".to_string(),
        (Colours::Rate(rate), _) => format!("  [-- - = + ++ {}]", code_ipc::legend(rate)),
        (Colours::Change, Some(difference)) => words::legend(difference),
        (Colours::Change, None) => "  [-- - = + ++ change of the share]".to_string(),
    };
    let height = u32::from(State::rows(area).height);
    let mut right = Vec::new();
    if let Some(share) = state.found.share {
        right.push(format!("match {}", number::percent(share).joined()));
    }
    if let Some(zoom) = state.zoom_node {
        let share = tree.share(tree.nodes[zoom as usize].value);
        right.push(format!("zoom {}", number::percent(share).joined()));
    }
    if depth > height {
        let (first, last) = (state.scroll + 1, (state.scroll + height).min(depth));
        right.push(format!("rows {first}-{last} of {depth}"));
    }
    let right = right.join("  ");
    let x = area.right().saturating_sub(width(&right) as u16 + 1);
    put_line(buf, area, x, &right, cx.theme.accent);
    put_line(
        buf,
        area,
        area.x + 1,
        &end(&text, usize::from(x.saturating_sub(area.x + 2)), cx.glyphs.ellipsis),
        cx.theme.dim,
    );
}

fn draw_cell(state: &State, cx: &PanelContext<'_>, cell: &Cell, area: Rect, buf: &mut Buffer) {
    let Some(label) = state.tree.label(cell.node) else { return };
    let style = style(state, cx, cell);
    // The last column stays free, so that neighbours of one colour are visible as two cells.
    let filled = if area.width > 1 { area.width - 1 } else { 1 };
    let narrow = area.width < LEAST_LABEL;
    let text = if narrow {
        if cell.more > 0 { cx.glyphs.light.to_string() } else { String::new() }
    } else {
        let mark = mark(state, cx, cell.node, label.kind);
        let room = usize::from(filled).saturating_sub(width(&mark));
        format!("{mark}{}", function_name(&visible(&label.text), room, cx.glyphs.ellipsis))
    };
    let text = if cx.theme.is_mono() && !narrow {
        let line = end(&text, usize::from(filled) - 1, cx.glyphs.ellipsis);
        format!("{}{line}", cx.glyphs.bar)
    } else if narrow && cx.theme.is_mono() && text.is_empty() {
        cx.glyphs.bar.to_string()
    } else {
        text
    };
    for x in area.x..area.x + filled {
        put_line(buf, area, x, " ", style);
    }
    put_line(buf, area, area.x, &end(&text, usize::from(filled), cx.glyphs.ellipsis), style);
}

/// The letter that repeats the meaning of the hue: change, kernel, JIT.
fn mark(state: &State, cx: &PanelContext<'_>, node: u32, kind: CodeKind) -> String {
    let compared = cx.compared || state.tree.difference.is_some();
    let step = state.tree.step(node).filter(|_| compared);
    let change = step.map(Theme::change_mark);
    let change = match (&state.tree.difference, change) {
        (Some(difference), Some(change)) => format!("{} ", words::mark(difference, node, change)),
        (None, Some(change)) => format!("{change} "),
        (_, None) => String::new(),
    };
    let rate = match state.colours {
        Colours::Rate(rate) => state.tree.rate_step(node, rate),
        Colours::Kind | Colours::Name | Colours::Change => None,
    };
    let change = rate.map_or(change, |step| format!("{} ", Theme::change_mark(step)));
    let kind = match kind {
        CodeKind::Kernel => "k ",
        CodeKind::Jit => "J ",
        CodeKind::User | CodeKind::Heading => "",
    };
    format!("{change}{kind}")
}

fn style(state: &State, cx: &PanelContext<'_>, cell: &Cell) -> Style {
    let Some(label) = state.tree.label(cell.node) else { return cx.theme.dim };
    let base = match (state.colours, state.tree.step(cell.node)) {
        (Colours::Change, Some(step)) => cx.theme.change(step),
        (Colours::Rate(rate), _) => {
            state.tree.rate_step(cell.node, rate).map_or(cx.theme.dim, |step| cx.theme.change(step))
        }
        (Colours::Name, _) => cx.theme.cell(CodeKind::User, false, shade(&label.text)),
        _ => cx.theme.cell(label.kind, label.inlined, shade(&label.text) / 2),
    };
    let zoomed_past =
        state.zoom_node.is_some_and(|zoom| zoom != cell.node && state.tree.path(zoom).contains(&cell.node));
    let style = match () {
        () if state.selected == Some(cell.node) => base.add_modifier(Modifier::BOLD | Modifier::REVERSED),
        () if state.found.has(&state.tree, cell.node) => cx.theme.found,
        () if cell.more > 0 && cell.width < LEAST_LABEL || zoomed_past => cx.theme.dim,
        () => base,
    };
    if state.hovered == Some(cell.node) { style.add_modifier(Modifier::UNDERLINED) } else { style }
}

/// A shade from 0 to 24, from the name, that distinguishes neighbours.
fn shade(name: &str) -> u8 {
    let hash = name.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    ((hash >> 16) % 25) as u8
}
