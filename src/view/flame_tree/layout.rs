//! Computes which cells of a call tree are visible, and where, on a given number of columns and rows.
//! Cells narrower than half a column are not expanded, so the cost depends on the visible cells only.

use super::FlameTree;

/// Where a layout begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    /// The cell that fills the width; `None` shows all roots.
    pub zoom: Option<u32>,
    /// Rows scrolled past.
    pub scroll: u32,
}

/// A visible cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// Row on the screen, counted from the root's side.
    pub row: u16,
    /// First column.
    pub x: u16,
    /// Width in columns, at least one.
    pub width: u16,
    /// The node of the tree; if several share the column, the heaviest.
    pub node: u32,
    /// How many more cells share the column.
    pub more: u32,
}

/// The visible part of a flame graph.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layout {
    /// The cells, row by row, left to right.
    pub cells: Vec<Cell>,
    /// Rows of the whole flame graph at this width, including the ancestors of the zoomed cell.
    pub depth: u32,
}

/// The smallest fraction of a column that still gets a cell of its own; anything narrower would look far too wide.
const LEAST_SHOWN: f64 = 0.02;

/// A cell with its range of columns, in fractional columns.
struct Span {
    node: u32,
    from: f64,
    to: f64,
    row: u32,
}

/// Lays the tree out on `width` columns and `rows` rows.
#[must_use]
pub fn lay_out(flame_tree: &FlameTree, place: Place, width: u16, rows: u16) -> Layout {
    let mut layout = Layout::default();
    let zoom = place.zoom.filter(|zoom| (*zoom as usize) < flame_tree.nodes.len());
    let path = zoom.map(|zoom| flame_tree.path(zoom)).unwrap_or_default();
    if width == 0 {
        return layout;
    }
    let mut put = |cell: Cell, row: u32| {
        let seen = row.checked_sub(place.scroll).filter(|row| *row < u32::from(rows));
        if let Some(row) = seen {
            layout.cells.push(Cell { row: row as u16, ..cell });
        }
    };
    // The ancestors of the zoomed cell fill the whole width, too.
    for (row, node) in path.iter().enumerate() {
        put(Cell { row: 0, x: 0, width, node: *node, more: 0 }, row as u32);
    }
    let total = zoom.map_or(flame_tree.total, |zoom| flame_tree.nodes[zoom as usize].value);
    let scale = f64::from(width) / (total.max(1) as f64);
    let mut depth = path.len() as u32;
    let mut level = children(flame_tree, zoom, 0.0, scale, path.len() as u32);
    while !level.is_empty() {
        let row = level[0].row;
        depth = row + 1;
        for cell in columns(flame_tree, &level, width) {
            put(cell, row);
        }
        let wide = level.iter().filter(|span| span.to - span.from >= 0.5);
        level = wide.flat_map(|span| children(flame_tree, Some(span.node), span.from, scale, row + 1)).collect();
    }
    layout.depth = depth;
    layout
}

fn children(flame_tree: &FlameTree, node: Option<u32>, from: f64, scale: f64, row: u32) -> Vec<Span> {
    let mut at = from;
    let span = |child: u32| {
        let from = at;
        at += flame_tree.nodes[child as usize].value as f64 * scale;
        Span { node: child, from, to: at, row }
    };
    flame_tree.below(node).map(span).collect()
}

/// Rounds the spans of one row to columns. Each column belongs to one cell, and neighbours do not overlap.
fn columns(flame_tree: &FlameTree, level: &[Span], width: u16) -> Vec<Cell> {
    let value = |node: u32| flame_tree.nodes[node as usize].value;
    let mut cells: Vec<Cell> = Vec::new();
    for span in level {
        let (from, to) = (span.from.round() as u16, (span.to.round() as u16).min(width));
        // Too narrow to round to a column: it lies in a column that other cells may share.
        let narrow = to <= from;
        let x = if narrow { (span.from.floor() as u16).min(width - 1) } else { from };
        let columns = to.saturating_sub(from).max(1);
        match cells.last_mut() {
            Some(last) if last.x == x && last.width == 1 => {
                (last.more, last.width) = (last.more + 1, columns);
                if value(span.node) > value(last.node) {
                    last.node = span.node;
                }
            }
            Some(last) if last.x + last.width > x => {}
            _ if narrow && span.to - span.from < LEAST_SHOWN => {}
            _ => cells.push(Cell { row: 0, x, width: columns, node: span.node, more: 0 }),
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::super::testing::flame_tree;
    use super::*;
    use proptest::prelude::*;

    fn drawn(folded: &str, zoom: Option<&str>, width: u16) -> Vec<String> {
        let flame_tree = flame_tree(folded, None);
        let zoom = zoom.and_then(|name| flame_tree.find(&[name.to_string()]));
        let layout = lay_out(&flame_tree, Place { zoom, scroll: 0 }, width, 50);
        let text = |cell: &Cell| {
            let name = flame_tree.label(cell.node).map_or("", |label| label.text.as_str());
            format!("{}:{}+{} {name}", cell.row, cell.x, cell.width)
        };
        layout.cells.iter().map(text).collect()
    }

    #[test]
    fn cells_are_as_wide_as_their_share() {
        let folded = "main;a 50 main;b;c 25 main;b 25";
        assert_eq!(drawn(folded, None, 80), ["0:0+80 main", "1:0+40 a", "1:40+40 b", "2:40+20 c"]);
        assert_eq!(drawn(folded, Some("b"), 80), ["0:0+80 main", "1:0+80 b", "2:0+40 c"]);
    }

    #[test]
    fn many_narrow_cells_share_a_column_and_say_so() {
        let folded: String = (0..1000).map(|at| format!("main;f{at} 1 ")).collect();
        let flame_tree = flame_tree(folded.trim(), None);
        let layout = lay_out(&flame_tree, Place::default(), 100, 50);
        let row: Vec<_> = layout.cells.iter().filter(|cell| cell.row == 1).collect();
        assert_eq!(row.len(), 100);
        assert!(row.iter().map(|cell| cell.more).sum::<u32>() > 800);
    }

    #[test]
    fn what_is_scrolled_past_is_not_seen_and_the_depth_stays_known() {
        let flame_tree = flame_tree("a;b;c;d;e;f 10", None);
        let layout = lay_out(&flame_tree, Place { zoom: None, scroll: 2 }, 10, 3);
        assert_eq!((layout.depth, layout.cells.len()), (6, 3));
        assert_eq!(flame_tree.label(layout.cells[0].node).map(|label| label.text.as_str()), Some("c"));
    }

    proptest! {
        #[test]
        fn cells_never_overlap_nor_leave_their_callers(weights in proptest::collection::vec((1_u64..1000, 0_usize..5, 0_usize..5, 0_usize..5), 1..60), width in 1_u16..300) {
            let folded: Vec<_> = weights.iter().map(|(weight, a, b, c)| format!("r{a};s{b};t{c} {weight}")).collect();
            let flame_tree = flame_tree(&folded.join(" "), None);
            let cells = lay_out(&flame_tree, Place::default(), width, 50).cells;
            for pair in cells.windows(2).filter(|pair| pair[0].row == pair[1].row) {
                prop_assert!(pair[0].x + pair[0].width <= pair[1].x, "{pair:?}");
            }
            for cell in &cells {
                prop_assert!(cell.width > 0 && cell.x + cell.width <= width, "{cell:?}");
                let parent = flame_tree.nodes[cell.node as usize].parent;
                let above = cells.iter().find(|other| Some(other.node) == parent);
                if let Some(above) = above.filter(|above| cell.width > 1 && above.width > 1) {
                    prop_assert!(cell.x + 1 >= above.x && cell.x + cell.width <= above.x + above.width + 1, "{cell:?} {above:?}");
                }
            }
        }
    }
}
