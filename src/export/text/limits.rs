//! The limits of what is read from others, by the data they hold for.

use super::Style;
use super::page::{Ink, Page};
use crate::model::limits::ALL;
use crate::view::number;

/// A table for each kind of data.
#[must_use]
pub fn limits(style: Style) -> Vec<u8> {
    let mut page = Page::new(style);
    page.line("What ironlaw reads of data that others wrote, and what happens beyond it");
    for of_data in ALL.chunk_by(|one, next| one.data == next.data) {
        page.heading(of_data.first().map_or("", |limit| limit.data), "");
        let rows: Vec<_> = of_data.iter().map(|limit| (number::count(limit.most), limit)).collect();
        let (digits, units) = rows
            .iter()
            .fold((0, 0), |(digits, units), (most, limit)| (digits.max(most.len()), units.max(limit.unit.len())));
        for (most, limit) in &rows {
            let unit = page.paint(Ink::Quiet, &format!("{:units$}", limit.unit));
            let beyond = page.paint(Ink::Quiet, limit.beyond);
            page.line(&format!("  {most:>digits$} {unit}  {}: {beyond}", limit.bounds));
        }
    }
    page.finish()
}
