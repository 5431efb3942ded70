//! Moves the selection through the cells as drawn; the zoom stays.

use super::state::State;
use crate::tui::keys::Action;
use crate::tui::panel::PanelRequest;
use crate::view::flame_tree::Cell;
use ratatui::layout::Rect;

/// Carries out a movement; `None` if the action is not one.
pub(super) fn act(state: &mut State, action: Action, area: Rect) -> Option<Vec<PanelRequest>> {
    let page = i64::from(State::rows(area).height.max(2)) - 1;
    match (action, state.upside_down) {
        (Action::Down, false) | (Action::Up, true) => inwards(state),
        (Action::Up, false) | (Action::Down, true) => outwards(state),
        (Action::Left, _) => sideways(state, area, -1),
        (Action::Right, _) => sideways(state, area, 1),
        (Action::HalfPageDown, _) => state.scroll_by(page / 2, area),
        (Action::HalfPageUp, _) => state.scroll_by(-page / 2, area),
        (Action::PageDown, _) => state.scroll_by(page, area),
        (Action::PageUp, _) => state.scroll_by(-page, area),
        (Action::Top, _) => state.select(state.tree.below(None).next()),
        (Action::Bottom, _) => deepest(state),
        (Action::SearchNext, _) => matching(state, 1),
        (Action::SearchPrevious, _) => matching(state, -1),
        _ => return None,
    }
    if matches!(action, Action::PageDown | Action::PageUp | Action::HalfPageDown | Action::HalfPageUp) {
        return Some(Vec::new());
    }
    keep_in_sight(state, area);
    Some(Vec::new())
}

/// Selects the heaviest callee; without a selection, the zoomed cell or the heaviest root.
fn inwards(state: &mut State) {
    let heaviest = |below: std::ops::Range<u32>| below.max_by_key(|node| state.tree.nodes[*node as usize].value);
    let next = match state.selected {
        Some(node) => heaviest(state.tree.below(Some(node))),
        None => state.zoom_node.or_else(|| heaviest(state.tree.below(None))),
    };
    if next.is_some() {
        state.select(next);
    }
}

fn outwards(state: &mut State) {
    let parent = state.selected.and_then(|node| state.tree.nodes[node as usize].parent);
    if parent.is_some() {
        state.select(parent);
    }
}

/// Selects the neighbour in the same row.
fn sideways(state: &mut State, area: Rect, by: i64) {
    let Some(selected) = state.selected else { return inwards(state) };
    let cells = state.layout(area).cells;
    let Some(here) = cells.iter().find(|cell| cell.node == selected) else { return };
    let row: Vec<&Cell> = cells.iter().filter(|cell| cell.row == here.row).collect();
    let at = row.iter().position(|cell| cell.node == selected).unwrap_or(0) as i64;
    let next = (at + by).clamp(0, row.len() as i64 - 1) as usize;
    state.select(Some(row[next].node));
}

/// Follows the heaviest cells to the end.
fn deepest(state: &mut State) {
    let mut last = None;
    while state.selected != last || last.is_none() {
        last = state.selected;
        inwards(state);
        if state.selected.is_none() {
            return;
        }
    }
}

/// Selects the next cell that matches the search, in the order of the tree.
fn matching(state: &mut State, by: i64) {
    let count = state.tree.nodes.len() as i64;
    let zoomed = |node: u32| state.zoom_node.is_none_or(|zoom| state.tree.path(node).contains(&zoom));
    let start = state.selected.map_or(if by > 0 { -1 } else { count }, i64::from);
    let order = (1..=count).map(|step| (start + by * step).rem_euclid(count.max(1)) as u32);
    let next = order.into_iter().find(|node| state.found.has(&state.tree, *node) && zoomed(*node));
    if next.is_some() {
        state.select(next);
    }
}

/// Scrolls so that the selected cell's row is visible.
fn keep_in_sight(state: &mut State, area: Rect) {
    let Some(selected) = state.selected else { return };
    let row = state.tree.path(selected).len() as u32 - 1;
    let height = u32::from(State::rows(area).height.max(1));
    state.scroll = state.scroll.clamp((row + 1).saturating_sub(height), row);
}
