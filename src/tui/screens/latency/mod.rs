//! The screen Latency: quantiles and the distribution of the selected time, and below them both over time.

mod distribution;
mod draw;
mod heat_map;
mod layout;
mod panel;
mod slow;
#[cfg(test)]
mod tests;
mod words;

use crate::units::Nanos;
use crate::view::latency_history::{Band, LatencyView};
use layout::Groups;

/// The screen's state.
#[derive(Debug, Default)]
pub struct State {
    view: Option<Box<LatencyView>>,
    cursor: Option<Cursor>,
}

/// The chosen latencies and time. Both are kept by value: bands and columns come and go while the session goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cursor {
    /// The first band.
    band: Band,
    /// The band after the last one.
    end: Band,
    /// The end of the column.
    at: Nanos,
}

impl Cursor {
    /// The row of a band, at the end of a column.
    fn of(rows: &Groups, band: Band, at: Nanos) -> Option<Cursor> {
        let bands = rows.bands(rows.group(band)?);
        Some(Cursor { band: Band(bands.start), end: Band(bands.end), at })
    }
}

impl State {
    /// The chosen column; the nearest one after it has gone.
    fn column(&self) -> Option<usize> {
        let (view, cursor) = (self.view.as_ref()?, self.cursor?);
        let last = view.columns.len().checked_sub(1)?;
        Some(view.columns.partition_point(|column| column.window.to < cursor.at).min(last))
    }
}
