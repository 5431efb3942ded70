//! The recording as a whole: written, interrupted, damaged and read back.

mod damage;
mod events;
mod folders;
mod full_disk;
mod round_trip;
mod rows;

use super::{Recording, Writer};
use crate::model::{CallGraph, Definition, Event, HostFacts, Meta, Plan, Rate, Target};
use std::path::Path;

fn meta() -> Meta {
    let target = Target::Processes { pids: vec![41], children: false };
    let plan = Plan::new(target, Rate::Frequency(997), CallGraph::Auto);
    Meta {
        tool: "ironlaw 0.1.0".into(),
        host: HostFacts { hostname: "bell".into(), ..HostFacts::default() },
        started_unix_ns: 1_700_000_000_000_000_000,
        started_mono_ns: 5,
        ..Meta::new((0, 0), Plan { off_cpu: true, ..plan })
    }
}

/// Writes one part of each table for every chunk, and finishes.
fn record(dir: &Path, chunks: &[Vec<Event>]) {
    let writer = unfinished(dir, chunks);
    writer.finish(&Meta { duration_ns: Some(9), ..meta() }).unwrap();
}

/// Writes one part of each table for every chunk.
fn unfinished(dir: &Path, chunks: &[Vec<Event>]) -> Writer {
    let mut writer = Writer::create(dir, &meta(), false).unwrap();
    for chunk in chunks {
        writer.write(chunk).unwrap();
        writer.flush().unwrap();
    }
    writer
}

fn read(recording: &Recording) -> Vec<Event> {
    let mut events = Vec::new();
    recording.events(&mut |event| events.push(event));
    events
}

/// A recording replays kind after kind; within a kind the order is kept.
fn by_kind(mut events: Vec<Event>) -> Vec<Event> {
    events.sort_by_key(|event| match event {
        Event::Define(Definition::Counter(_)) => 0,
        Event::Define(Definition::Module(_)) => 1,
        Event::Define(Definition::Frame(_)) => 2,
        Event::Define(Definition::Names { .. }) => 3,
        Event::Define(Definition::Stack(_)) => 4,
        Event::Define(Definition::Neighbour(_)) => 5,
        Event::Task(_) => 6,
        Event::Membership(_) => 7,
        Event::Sample(_) => 8,
        Event::Access(_) => 9,
        Event::OffCpu(_) => 10,
        Event::Reading(_) | Event::Tick(_) => 11,
        Event::Neighbour(_) => 12,
        Event::Memory(_) => 13,
        Event::Lost(_) => 14,
        Event::Ops { .. } => 15,
        Event::Latency(_) => 16,
        Event::Operation(_) => 17,
        Event::Mark(_) => 18,
    });
    events
}
