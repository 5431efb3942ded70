//! Names of what was sampled: events, rates, ways to take stacks.

use crate::analysis::Axis;
use crate::model::{CallGraph, Meta, Rate};

/// The axis's name and the unit of its weights: (`cycles`, `cycles`), (`off-cpu`, `ns`).
pub(super) fn axis_of(meta: &Meta, axis: Axis) -> (String, &'static str) {
    match axis {
        Axis::OffCpu => ("off-cpu".to_string(), "ns"),
        Axis::Event(index) => match meta.events.get(usize::from(index)) {
            Some(event) => (event.name.clone(), event.unit.symbol()),
            None => (String::new(), "count"),
        },
    }
}

pub(super) fn rate_of(rate: Rate) -> String {
    match rate {
        Rate::Frequency(hertz) => format!("{hertz} Hz"),
        Rate::Period(period) => format!("every {period}"),
    }
}

pub(super) fn call_graph_of(call_graph: CallGraph) -> &'static str {
    match call_graph {
        CallGraph::Auto => "auto",
        CallGraph::FramePointer => "fp",
        CallGraph::Dwarf { .. } => "dwarf",
        CallGraph::Lbr => "lbr",
        CallGraph::None => "none",
    }
}
