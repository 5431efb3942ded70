//! Names of what was sampled: events, rates, ways to take stacks.

use crate::analysis::Axis;
use crate::model::{CallGraph, Meta, Note, Rate};

/// The axis's name and the unit of its weights: (`cycles`, `cycles`), (`off-cpu`, `ns`).
pub(super) fn axis_of(meta: &Meta, axis: Axis) -> (String, &'static str) {
    match axis {
        Axis::OffCpu => ("off-cpu".to_string(), "ns"),
        Axis::Event(index) => {
            let name = meta.events.get(usize::from(index)).map(|event| event.name.clone());
            (name.unwrap_or_default(), axis.unit(meta).symbol())
        }
    }
}

pub(crate) fn rate_of(meta: &Meta) -> String {
    match meta.plan.rate {
        Rate::Frequency(hertz) if meta.notes.iter().any(|note| note.topic == Note::SAMPLING_SLOWED) => {
            format!("up to {hertz} Hz")
        }
        Rate::Frequency(hertz) => format!("{hertz} Hz"),
        Rate::Period(period) => format!("every {period}"),
    }
}

pub(crate) fn call_graph_of(call_graph: CallGraph) -> &'static str {
    match call_graph {
        CallGraph::Auto => "auto",
        CallGraph::FramePointer => "fp",
        CallGraph::Dwarf { .. } => "dwarf",
        CallGraph::Lbr => "lbr",
        CallGraph::None => "none",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::Synthetic;

    #[test]
    fn a_frequency_that_was_lowered_is_the_highest_that_samples_had() {
        let note = |topic: &str| Note { topic: topic.to_string(), text: String::new(), fix: None };
        for (rate, topic, expected) in [
            (Rate::Frequency(997), "late-samples", "997 Hz"),
            (Rate::Frequency(997), Note::SAMPLING_SLOWED, "up to 997 Hz"),
            (Rate::Period(1_000), Note::SAMPLING_SLOWED, "every 1000"),
        ] {
            let mut meta = Synthetic::new().meta;
            (meta.plan.rate, meta.notes) = (rate, vec![note(topic)]);
            assert_eq!(rate_of(&meta), expected, "{topic}");
        }
    }
}
