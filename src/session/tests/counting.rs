//! The counter thread: what the first and the last reading hold, and a thread that has failed. No window is waited for.

use crate::collect::readings::{Readings, Sources};
use crate::collect::sampler::{LastReading, Reader};
use crate::model::{Event, Target, TaskChange, TaskEvent};
use crate::session::counting::Counting;
use crate::sys::clock::Clock;
use crate::units::Nanos;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};

/// Longer than any test.
const HOUR: Nanos = Nanos(3_600 * 1_000_000_000);

fn counting(sources: Sources, interval: Nanos) -> (Counting, Receiver<Vec<Event>>) {
    let target = Target::Processes { pids: vec![std::process::id()], children: false };
    let clock = Clock::start();
    let readings = Readings::open(sources, &target, None, clock.now()).unwrap();
    let (out, batches) = sync_channel(16);
    (Counting::start(None, readings, interval, clock, out).unwrap(), batches)
}

fn ends_a_window(event: &Event) -> bool {
    matches!(event, Event::Tick(_))
}

#[test]
fn the_first_readings_come_by_themselves_and_the_last_ones_to_whom_asked() {
    let (counting, batches) = counting(Sources::live().unwrap(), HOUR);
    let mut orders = counting.orders();
    assert!(orders.begin().is_empty(), "the thread sends them itself");
    let first = batches.recv().unwrap();
    assert!(first.iter().any(|event| matches!(event, Event::Reading(_))) && !first.iter().any(ends_a_window));
    let LastReading { at, events, notes } = orders.end();
    assert!(at.0 > 0 && notes.is_empty());
    assert!(matches!(events.last(), Some(Event::Tick(tick)) if tick.at == at), "the end of the window comes last");
    let conditions = counting.finish().unwrap();
    assert!(conditions.is_some_and(|conditions| conditions.switches.is_some()), "those of this process");
    assert!(batches.iter().flatten().all(|event| !ends_a_window(&event)), "the only window is the last one");
}

#[test]
fn an_end_before_the_beginning_still_has_a_window() {
    let (counting, batches) = counting(Sources::live().unwrap(), HOUR);
    let LastReading { events, .. } = counting.orders().end();
    assert_eq!(events.iter().filter(|event| ends_a_window(event)).count(), 1);
    assert!(events.len() > 1 && batches.iter().next().is_none(), "its first readings are among the last");
    assert!(counting.finish().is_ok());
}

#[test]
fn a_thread_that_has_ended_is_waited_for_by_nobody() {
    let (counting, _batches) = counting(Sources::live().unwrap(), HOUR);
    let mut orders = counting.orders();
    assert!(!orders.end().events.is_empty());
    let LastReading { at, events, .. } = orders.end();
    assert_eq!((at, events.len(), orders.begin().len()), (Nanos(0), 0, 0));
    let (pid, tid, at) = (7, 7, Nanos(0));
    let change = TaskChange::Born { parent: 1, comm: "x".to_string() };
    counting.follow(&[Event::Task(TaskEvent { at, pid, tid, change })]);
    assert!(counting.finish().is_ok());
}

#[test]
fn windows_end_with_their_reader() {
    let (counting, batches) = counting(Sources::live().unwrap(), Nanos(1_000_000));
    let mut orders = counting.orders();
    orders.begin();
    while !batches.recv().unwrap().iter().any(ends_a_window) {}
    drop(batches);
    assert!(counting.finish().is_ok(), "the thread ends by itself: nobody asked it to");
    assert!(orders.end().events.is_empty());
}

static BROKEN: AtomicBool = AtomicBool::new(false);

#[test]
fn a_thread_that_panics_leaves_a_note_and_nobody_waiting() {
    let cpu_clock = |_| if BROKEN.load(Ordering::Relaxed) { panic!("a counter with a bug") } else { None };
    let (counting, batches) = counting(Sources { cpu_clock, ..Sources::live().unwrap() }, HOUR);
    let mut orders = counting.orders();
    BROKEN.store(true, Ordering::Relaxed);
    assert!(orders.begin().is_empty());
    let LastReading { at, events, notes } = orders.end();
    assert_eq!((at, events.len(), notes.len()), (Nanos(0), 0, 0));
    assert!(batches.recv().is_err(), "the channel is closed, so the reader does not wait either");
    let note = counting.finish().unwrap_err();
    assert!(note.topic == "counters-failed" && note.text.contains("defect"), "{note:?}");
}
