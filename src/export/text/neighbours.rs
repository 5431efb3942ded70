//! The table of other users of the machine.
//! Rows are not summed, because groups include their processes.

use super::page::Page;
use crate::export::columns;
use crate::model::{NeighbourKind, Unit};
use crate::view::escape::visible;
use crate::view::number;
use crate::view::report::{NeighbourView, NeighboursView};

/// Width of the columns before the name.
const LEAD: usize = 35;

pub(super) fn write(page: &mut Page, view: &NeighboursView) {
    page.heading("Neighbours", "other users of the machine; a group includes its processes");
    if view.rows.is_empty() {
        page.captions("  no other process used the CPU, as far as /proc could be read");
        return;
    }
    page.captions("  CPU time   CPUs   storage      pid  name");
    let room = page.width.saturating_sub(LEAD + 2);
    view.rows.iter().for_each(|row| page.line(&line(row, room)));
    page.left_out(view.left_out, "neighbours", "");
}

fn line(row: &NeighbourView, room: usize) -> String {
    let time = row.cpu_s.map_or("-".to_string(), |cpu| number::seconds(cpu).joined());
    let cpus = row.busy_cpus.map_or("-".to_string(), |cpus| format!("{cpus:.2}"));
    let bytes = row.io_bytes.map_or("-".to_string(), |bytes| number::quantity(bytes as f64, Unit::Bytes).joined());
    let pid = row.pid.map_or(String::new(), |pid| pid.to_string());
    format!(
        "{} {} {} {}  {}",
        columns::right(&time, 10),
        columns::right(&cpus, 6),
        columns::right(&bytes, 9),
        columns::right(&pid, 8),
        columns::middle(&who(row), room)
    )
}

/// The name, and what else is known about it.
fn who(row: &NeighbourView) -> String {
    let bytes = |bytes: u64| number::quantity(bytes as f64, Unit::Bytes).joined();
    let mut text = match row.kind {
        NeighbourKind::Cgroup => format!("group {}", row.name),
        NeighbourKind::Resctrl => format!("resctrl {}", row.name),
        NeighbourKind::Rest => "all that started and ended between readings".to_string(),
        NeighbourKind::Process => row.name.clone(),
    };
    if let Some(group) = row.cgroup.as_deref().filter(|group| *group != "/") {
        text.push_str(&format!("  in {group}"));
    }
    if let Some(held) = row.llc_bytes {
        text.push_str(&format!("  {} of cache", bytes(held)));
    }
    if let Some(moved) = row.memory_bytes {
        text.push_str(&format!("  {} of memory traffic", bytes(moved)));
    }
    visible(&text).into_owned()
}
