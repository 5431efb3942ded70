//! Events, metadata and ends of captures that never ran.

use crate::collect::sampler::{EndReason, Ended};
use crate::model::{Event, LossKind, Lost, Meta, Note, Sample, StackEnd, Tick};
use crate::session::flow::CaptureEnd;
use crate::units::Nanos;
use std::path::Path;

pub(in crate::session) fn second(at: u64) -> Nanos {
    Nanos(at * 1_000_000_000)
}

/// Metadata of a real recording, as it was before its end.
pub(in crate::session) fn meta() -> Meta {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/golden-1.0.ironlaw");
    let meta = crate::session::open(&fixture).unwrap().meta;
    Meta { duration_ns: None, exit_status: None, coverage: vec![], records: vec![], notes: vec![], ..meta }
}

pub(in crate::session) fn sample(at: Nanos) -> Event {
    let (stack, end) = (None, StackEnd::NotTaken);
    Event::Sample(Sample { at, pid: 1, tid: 1, cpu: 0, event: 0, weight: 1, stack, end, kernel: false })
}

pub(in crate::session) fn tick(at: u64) -> Event {
    Event::Tick(Tick { at: second(at), span: second(1) })
}

pub(in crate::session) fn lost(kind: LossKind, count: u64) -> Event {
    Event::Lost(Lost { at: Nanos(0), cpu: 0, kind, count })
}

pub(in crate::session) fn note(topic: &str) -> Note {
    Note { topic: topic.to_string(), text: "it happened".to_string(), fix: None }
}

/// The end of a capture after `seconds`.
pub(in crate::session) fn capture_end(reason: EndReason, exit_status: Option<i32>, seconds: u64) -> CaptureEnd {
    let (at, sampled) = (second(seconds), second(seconds));
    let (coverage, records, notes) = (vec![], vec![], vec![]);
    let ended = Ended { reason, at, sampled, samples: 0, coverage, records, exit_status, usage: None, notes };
    CaptureEnd { late: vec![], notes: vec![], conditions: None, ended }
}
