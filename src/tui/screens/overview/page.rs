//! A page: what is drawn where, and which item a position or a step leads to.

use crate::model::MetricId;
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

/// A selectable item, identified by its meaning and not by its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    /// A factor in the first line.
    Tile(MetricId),
    /// A part of the threads' time.
    Part(MetricId),
    /// The latency of operations.
    Latency,
    /// A rate of a group.
    Rate(MetricId),
    /// A function: its name and its module's path.
    Function(String, String),
    /// A finding, by its rule.
    Finding(String),
}

/// The kind of drawing.
#[derive(Debug, Clone)]
pub(super) enum Drawing {
    /// Text.
    Text(Line<'static>),
    /// The history of the named factor, one row high.
    Curve(MetricId),
    /// The history of the named factor, with axes.
    Chart(MetricId),
    /// The parts of the threads' time as a bar.
    Bar,
    /// A horizontal line.
    Rule,
}

/// A drawing and its position.
#[derive(Debug, Clone)]
pub(super) struct PageElement {
    pub at: Rect,
    pub item: Option<Item>,
    pub drawn: Drawing,
}

/// The whole page.
#[derive(Debug, Clone, Default)]
pub(super) struct Page {
    pub pieces: Vec<PageElement>,
}

/// A movement of the selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Up,
    Down,
    Left,
    Right,
}

impl Page {
    pub fn push(&mut self, at: Rect, item: Option<Item>, drawn: Drawing) {
        if at.area() > 0 {
            self.pieces.push(PageElement { at, item, drawn });
        }
    }

    pub fn text(&mut self, at: Rect, item: Option<Item>, text: impl Into<Line<'static>>) {
        self.push(at, item, Drawing::Text(text.into()));
    }

    /// The item at a position.
    pub fn at(&self, position: Position) -> Option<&Item> {
        self.pieces.iter().find(|piece| piece.at.contains(position)).and_then(|piece| piece.item.as_ref())
    }

    /// The position of each item, each listed once, from top to bottom and from left to right.
    fn places(&self) -> Vec<(&Item, Position)> {
        let mut places: Vec<(&Item, Position)> = Vec::new();
        for piece in &self.pieces {
            let Some(item) = &piece.item else { continue };
            if !places.iter().any(|(known, _)| *known == item) {
                places.push((item, piece.at.as_position()));
            }
        }
        places.sort_by_key(|(_, at)| (at.y, at.x));
        places
    }

    /// The item that a step leads to: the first one without a selection, the same one at the edge.
    pub fn step(&self, from: Option<&Item>, step: Step) -> Option<Item> {
        let places = self.places();
        let here = from.and_then(|item| places.iter().find(|(other, _)| *other == item));
        let Some((item, here)) = here else { return places.first().map(|(item, _)| (*item).clone()) };
        let aside = |at: &Position| at.x.abs_diff(here.x);
        let next = match step {
            Step::Left => places.iter().rev().find(|(_, at)| at.y == here.y && at.x < here.x),
            Step::Right => places.iter().find(|(_, at)| at.y == here.y && at.x > here.x),
            Step::Up => {
                let row = places.iter().map(|(_, at)| at.y).filter(|y| *y < here.y).max();
                places.iter().filter(|(_, at)| Some(at.y) == row).min_by_key(|(_, at)| aside(at))
            }
            Step::Down => {
                let row = places.iter().map(|(_, at)| at.y).filter(|y| *y > here.y).min();
                places.iter().filter(|(_, at)| Some(at.y) == row).min_by_key(|(_, at)| aside(at))
            }
        };
        Some(next.map_or(*item, |(item, _)| *item).clone())
    }

    /// The first item, or the last.
    pub fn edge(&self, last: bool) -> Option<Item> {
        let places = self.places();
        let edge = if last { places.last() } else { places.first() };
        edge.map(|(item, _)| (*item).clone())
    }
}

/// Hands out the remaining rows from the top.
#[derive(Debug)]
pub(super) struct Rows(Rect);

impl Rows {
    pub fn new(area: Rect) -> Rows {
        Rows(area)
    }

    /// Takes that many rows, or as many as are left.
    pub fn take(&mut self, rows: u16) -> Rect {
        let rows = rows.min(self.0.height);
        let taken = Rect { height: rows, ..self.0 };
        self.0 = Rect { y: self.0.y + rows, height: self.0.height - rows, ..self.0 };
        taken
    }

    pub fn left(&self) -> u16 {
        self.0.height
    }

    pub fn width(&self) -> u16 {
        self.0.width
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A letter stands for any rate.
    fn rate(letter: &str) -> Item {
        Item::Rate(MetricId::ALL[usize::from(letter.as_bytes()[0]) % MetricId::ALL.len()])
    }

    fn page(items: &[(&'static str, u16, u16)]) -> Page {
        let mut page = Page::default();
        for (name, x, y) in items {
            page.text(Rect::new(*x, *y, 5, 1), Some(rate(name)), "text");
        }
        page
    }

    #[test]
    fn a_step_leads_to_the_nearest_item_that_way_and_stops_at_the_edge() {
        let page = page(&[("a", 0, 0), ("b", 20, 0), ("c", 40, 0), ("d", 0, 2), ("e", 35, 2), ("f", 0, 5)]);
        for (from, step, to) in [
            ("a", Step::Right, "b"),
            ("c", Step::Right, "c"),
            ("c", Step::Left, "b"),
            ("c", Step::Down, "e"),
            ("b", Step::Down, "e"),
            ("e", Step::Down, "f"),
            ("f", Step::Down, "f"),
            ("f", Step::Up, "d"),
            ("a", Step::Up, "a"),
        ] {
            assert_eq!(page.step(Some(&rate(from)), step), Some(rate(to)), "{from} {step:?}");
        }
        assert_eq!(page.step(None, Step::Down), Some(rate("a")));
        assert_eq!(page.step(Some(&rate("gone")), Step::Down), Some(rate("a")));
        assert_eq!((page.edge(false), page.edge(true)), (Some(rate("a")), Some(rate("f"))));
        assert_eq!(Page::default().step(None, Step::Up), None);
    }

    #[test]
    fn an_item_of_several_pieces_is_one() {
        let mut page = page(&[("a", 0, 0), ("b", 20, 0)]);
        page.text(Rect::new(0, 1, 9, 1), Some(rate("a")), "more");
        assert_eq!(page.step(Some(&rate("a")), Step::Down), Some(rate("a")));
        assert_eq!(page.at(Position::new(3, 1)), Some(&rate("a")));
        assert_eq!(page.at(Position::new(15, 0)), None);
    }
}
