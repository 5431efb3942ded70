//! Where the memory of the target is: the pages of its processes by NUMA node and kind.
//!
//! The kernel walks the page tables of a process to answer, a second for some hundred gigabytes, and meanwhile the process
//! can map no memory. So it is asked only where there are several nodes, and not about a process with more memory than a
//! limit; a thread of its own asks, rarely: after half of the time that the capture has lasted, every ten seconds at most,
//! and never more than 2% of the time.

use crate::abi::{MappingKind, numa_maps};
use crate::collect::reading_schedule::ReadingSchedule;
use crate::error::{Context, ErrorKind, Result};
use crate::model::limits::{NUMA_MAPS_BYTES, NUMA_PROCESSES, NUMA_RESIDENT};
use crate::model::{Event, NodeMemory, Note, PageKind};
use crate::sys::clock::Clock;
use crate::sys::procfs::{ProcFs, resident_kinds};
use crate::units::Nanos;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// The shortest and the longest time between two readings.
const SPACING: (Nanos, Nanos) = (Nanos(500_000_000), Nanos(10_000_000_000));
/// How long the end of a capture waits for a reading that is under way.
const LAST_WAIT: Duration = Duration::from_millis(200);

/// The processes to read, and when they were asked for.
type Order = (Nanos, Vec<u32>);

/// What one reading found.
#[derive(Debug, Default)]
struct Reading {
    memory: Vec<NodeMemory>,
    took: Nanos,
    notes: Vec<Note>,
}

/// The reader; its thread ends when this is dropped. A reading under way is not waited for.
#[derive(Debug)]
pub struct MemoryPlaces {
    orders: Sender<Order>,
    found: Receiver<Reading>,
    asked: Option<Nanos>,
    due: ReadingSchedule,
    not_before: Nanos,
    notes: Vec<Note>,
}

impl MemoryPlaces {
    /// Starts the thread, for a machine of one NUMA node or of several.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub fn start(proc: ProcFs, several_nodes: bool) -> Result<MemoryPlaces> {
        let (orders, mailbox) = channel::<Order>();
        let (results, found) = channel();
        let run = move || {
            let clock = Clock::start();
            while let Ok((at, pids)) = mailbox.recv() {
                let start = clock.now();
                let reading = read(&proc, several_nodes, at, &pids);
                if results.send(Reading { took: clock.now() - start, ..reading }).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("numa-maps".into()).spawn(run).context(|| "cannot start a thread")?;
        let (due, not_before) = (ReadingSchedule::default(), Nanos(0));
        Ok(MemoryPlaces { orders, found, asked: None, due, not_before, notes: Vec::new() })
    }

    /// Takes what was read since the last call, and asks for the next reading if it is due; `opened` is the start of the
    /// capture.
    pub fn tick(&mut self, at: Nanos, opened: Nanos, pids: impl FnOnce() -> Vec<u32>, out: &mut Vec<Event>) {
        while let Ok(reading) = self.found.try_recv() {
            self.take(reading, out);
        }
        if self.asked.is_none() && at >= self.not_before && self.due.is_due(at) {
            let half = Nanos((at - opened).0 / 2);
            self.not_before = at + half.clamp(SPACING.0, SPACING.1);
            self.asked = self.orders.send((at, pids())).is_ok().then_some(at);
        }
    }

    /// Takes the last reading, if it comes in time.
    pub fn end(&mut self, out: &mut Vec<Event>) {
        if self.asked.is_some()
            && let Ok(reading) = self.found.recv_timeout(LAST_WAIT)
        {
            self.take(reading, out);
        }
    }

    /// Takes the notes since the last call.
    pub fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    fn take(&mut self, reading: Reading, out: &mut Vec<Event>) {
        if let Some(asked) = self.asked.take() {
            self.due.was_read(asked + reading.took, reading.took);
        }
        out.extend(reading.memory.into_iter().map(Event::Memory));
        for note in reading.notes {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }
}

/// Reads the processes, as many as the limits allow.
fn read(proc: &ProcFs, several_nodes: bool, at: Nanos, pids: &[u32]) -> Reading {
    let mut reading = Reading::default();
    let mut refused = None;
    for pid in pids.iter().take(NUMA_PROCESSES) {
        match pages(proc, several_nodes, *pid, &mut reading.notes) {
            Ok(found) => reading.memory.extend(found.into_iter().map(|((node, kind), bytes)| NodeMemory {
                at,
                pid: *pid,
                node,
                kind,
                bytes,
            })),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => refused = Some(error),
        }
    }
    if pids.len() > NUMA_PROCESSES {
        let text = format!("the memory of the first {NUMA_PROCESSES} processes of the target was read, not of all");
        reading.notes.push(note(text, None));
    }
    if let Some(error) = refused {
        let fix = "Run ironlaw as the target's user or as root.".to_string();
        reading.notes.push(note(format!("the memory of a process could not be read: {error}"), Some(fix)));
    }
    reading
}

fn note(text: String, fix: Option<String>) -> Note {
    Note { topic: "memory-places".to_string(), text, fix }
}

/// Bytes by node and kind. Of one node, the kernel knows the kinds without a look at the pages.
fn pages(
    proc: &ProcFs,
    several_nodes: bool,
    pid: u32,
    notes: &mut Vec<Note>,
) -> Result<BTreeMap<(u32, PageKind), u64>> {
    let kinds = resident_kinds(&proc.read(format!("{pid}/status"))?);
    if !several_nodes {
        return Ok(kinds.into_iter().map(|(kind, bytes)| ((0, kind), bytes)).collect());
    }
    let resident = kinds.values().fold(0_u64, |sum, bytes| sum.saturating_add(*bytes));
    if resident > NUMA_RESIDENT {
        let text = format!(
            "process {pid} has so much memory that to find its nodes would hold it up: it is left out (limit {} GiB)",
            NUMA_RESIDENT >> 30
        );
        notes.push(note(text, Some(format!("numastat -p {pid} shows them."))));
        return Ok(BTreeMap::new());
    }
    let mut sums = BTreeMap::new();
    let text = proc.start_of(format!("{pid}/numa_maps"), NUMA_MAPS_BYTES)?;
    if text.len() as u64 == NUMA_MAPS_BYTES {
        notes.push(note(
            "the mappings of a process are too many: the memory of those listed last is missing".into(),
            None,
        ));
    }
    for found in numa_maps(&text) {
        let kind = match found.kind {
            MappingKind::Anonymous => PageKind::Anonymous,
            MappingKind::File => PageKind::File,
            MappingKind::Huge => PageKind::Huge,
        };
        let sum: &mut u64 = sums.entry((found.node, kind)).or_default();
        *sum = sum.saturating_add(found.bytes);
    }
    Ok(sums)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> (tempfile::TempDir, ProcFs) {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let proc = ProcFs::new(root.path());
        (root, proc)
    }

    const TWO_NODES: &str = "7f00 default heap anon=30 N0=10 N1=20 kernelpagesize_kB=4\n\
        7f10 default anon=1 N1=1 kernelpagesize_kB=4\n\
        7f20 default file=/bin/x mapped=5 N0=5 kernelpagesize_kB=4\n";

    fn rows(events: &[Event]) -> Vec<(u32, u32, PageKind, u64)> {
        let row = |event: &Event| match event {
            Event::Memory(it) => Some((it.pid, it.node, it.kind, it.bytes >> 10)),
            _ => None,
        };
        events.iter().filter_map(row).collect()
    }

    #[test]
    fn pages_of_two_nodes_come_from_a_thread_of_their_own_and_rarely() {
        let (_root, proc) = machine(&[("41/numa_maps", TWO_NODES), ("41/status", "RssAnon:\t124 kB\n")]);
        let (mut places, mut out) = (MemoryPlaces::start(proc, true).unwrap(), Vec::new());
        places.tick(Nanos(0), Nanos(0), || vec![41, 42], &mut out);
        places.end(&mut out);
        use PageKind::{Anonymous, File};
        let expected = [(41, 0, Anonymous, 40), (41, 0, File, 20), (41, 1, Anonymous, 84)];
        assert_eq!(rows(&out), expected, "42 is gone");
        out.clear();
        for second in 1..=60 {
            places.tick(Nanos(second * 1_000_000_000), Nanos(0), || vec![41], &mut out);
            places.end(&mut out);
        }
        let readings = rows(&out).len() / 3;
        assert!((8..=11).contains(&readings), "{readings} in a minute");
        assert!(places.take_notes().is_empty());
    }

    #[test]
    fn of_one_node_no_pages_are_walked() {
        let status =
            "Name:\tx\nRssAnon:\t     152 kB\nRssFile:\t    1872 kB\nRssShmem:\t 8 kB\nHugetlbPages:\t 2048 kB\n";
        let (_root, proc) = machine(&[("41/status", status)]);
        let found = pages(&proc, false, 41, &mut Vec::new()).unwrap();
        let expected = [((0, PageKind::Anonymous), 152), ((0, PageKind::File), 1880), ((0, PageKind::Huge), 2048)];
        assert_eq!(found, expected.map(|(key, kib)| (key, kib << 10)).into());
    }

    #[test]
    fn a_process_with_much_memory_is_not_held_up() {
        let status = format!("RssAnon:\t{} kB\n", (NUMA_RESIDENT >> 10) + 1);
        let (_root, proc) = machine(&[("41/numa_maps", TWO_NODES), ("41/status", &status)]);
        let reading = read(&proc, true, Nanos(5), &[41]);
        assert!(reading.memory.is_empty() && reading.notes[0].text.contains("process 41"), "{reading:?}");
    }

    #[test]
    fn more_processes_than_the_limit_are_noted() {
        let (_root, proc) = machine(&[("41/numa_maps", TWO_NODES), ("41/status", "RssAnon:\t124 kB\n")]);
        let many: Vec<u32> = (41..42 + NUMA_PROCESSES as u32).collect();
        let reading = read(&proc, true, Nanos(5), &many);
        assert_eq!((reading.memory.len(), reading.notes.len()), (3, 1));
    }
}
