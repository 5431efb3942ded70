//! Ends windows: reads what is due and reports it, then the tick.

use super::cache::TickTiming;
use super::canaries::Canaries;
use super::limiting_groups::LimitingGroups;
use super::uncore::Uncore;
use super::{Members, Readings};
use crate::collect::canaries::CanaryThread;
use crate::collect::neighbours::{NeighbourScope, NeighbourSources, Neighbours};
use crate::collect::reading_schedule::ReadingSchedule;
use crate::error::Result;
use crate::model::{Event, Note, Tick};
use crate::pmu::UncoreCounter;
use crate::sys::clock;
use crate::units::Nanos;

impl Readings {
    /// Begins the first window: reports the values that later readings are compared with.
    pub fn begin(&mut self, at: Nanos, out: &mut Vec<Event>) {
        (self.opened, self.last_tick) = (at, at);
        self.read(at, out);
    }

    /// Ends the window that began with the last tick: reports the counters, then the tick itself. After a command has
    /// ended, one more tick before waiting for it still sees its last values.
    pub fn tick(&mut self, at: Nanos, out: &mut Vec<Event>) {
        let span = at - self.last_tick;
        self.read(at, out);
        self.last_tick = at;
        out.push(Event::Tick(Tick { at, span }));
    }

    /// Ends the last window: reads everything, even if it was read recently.
    pub fn end(&mut self, at: Nanos, out: &mut Vec<Event>) {
        (self.processes_due, self.machine_due) = (ReadingSchedule::default(), ReadingSchedule::default());
        if let Some(memory) = &mut self.memory {
            memory.end(out);
        }
        self.limiting.iter_mut().for_each(LimitingGroups::hurry);
        self.tick(at, out);
    }

    /// Reads only the threads, `span` after their last reading; the window continues.
    pub fn read_threads_only(&mut self, at: Nanos, span: Nanos, out: &mut Vec<Event>) {
        self.read_threads(span, false, TickTiming::whole(at, at - self.opened), out);
        self.read_limits(at);
        self.read_conditions(at);
    }

    fn read(&mut self, at: Nanos, out: &mut Vec<Event>) {
        let span = at - self.last_tick;
        let now = TickTiming::whole(at, at - self.opened);
        let fresh = self.processes_due.is_due(at);
        if fresh {
            let start = clock::thread_cpu();
            self.refresh_processes();
            self.processes_due.was_read(at, clock::thread_cpu() - start);
        }
        self.read_threads(span, fresh, now, out);
        self.note_late_rounds();
        self.count_thread_time(span);
        self.read_limits(at);
        self.say_target(fresh, now, out);
        if self.machine_due.is_due(at) {
            let start = clock::thread_cpu();
            self.machine.tick(now, out);
            if let Some(uncore) = &mut self.uncore {
                uncore.tick(now, out);
            }
            self.machine_due.was_read(at, clock::thread_cpu() - start);
        }
        self.tool.tick(now, out);
        if let Some(canaries) = &mut self.canaries {
            canaries.tick(now, out);
        }
        self.read_neighbours(at, out);
        self.read_memory(at, out);
        // A command that is held before its first instruction has those of its starter.
        if at != self.opened || self.command.is_none() {
            self.read_conditions(at);
        }
    }

    /// From now on each window also reports what others on the machine use. If the target is CPUs, its neighbours
    /// cannot be distinguished from it, and a note reports that instead.
    ///
    /// # Errors
    /// /proc cannot be opened.
    pub fn watch_neighbours(&mut self, places: NeighbourSources, scope: NeighbourScope) -> Result<()> {
        if matches!(self.members, Members::Nobody) {
            if scope == NeighbourScope::CpuTime {
                return Ok(());
            }
            self.notes.push(Note {
                topic: "neighbours".to_string(),
                text: "all that runs on the CPUs is the target, so it has no neighbours to record".to_string(),
                fix: Some("Name what is to be watched: -p PID or -G CGROUP.".to_string()),
            });
            return Ok(());
        }
        self.neighbours = Some(Neighbours::open(places, &self.ours(), scope)?);
        Ok(())
    }

    /// From now on each window also reports the canaries' measurements; the canaries end with these counters.
    pub fn watch_canaries(&mut self, probe: CanaryThread) {
        self.canaries = Some(Canaries::new(probe));
    }

    /// From now on each window also reports the bytes that these units moved; a note says why if it cannot.
    pub fn watch_uncore(&mut self, counters: &[UncoreCounter]) {
        if counters.is_empty() {
            return;
        }
        match Uncore::open(counters) {
            Ok(uncore) => self.uncore = Some(uncore),
            Err(note) => self.notes.push(note),
        }
    }

    /// Takes the notes for the recording that were added since the last call.
    pub fn take_notes(&mut self) -> Vec<Note> {
        if let Some(canaries) = &mut self.canaries {
            self.notes.extend(canaries.take_notes());
        }
        if let Some(memory) = &mut self.memory {
            self.notes.extend(memory.take_notes());
        }
        std::mem::take(&mut self.notes)
    }

    /// A command that is held before its first instruction has nothing but its starter's memory.
    fn read_memory(&mut self, at: Nanos, out: &mut Vec<Event>) {
        if at == self.opened && self.command.is_some() {
            return;
        }
        if let Some(mut memory) = self.memory.take() {
            memory.tick(at, self.opened, || self.ours().pids.into_iter().collect(), out);
            self.memory = Some(memory);
        }
    }

    fn read_neighbours(&mut self, at: Nanos, out: &mut Vec<Event>) {
        if let Some(mut neighbours) = self.neighbours.take_if(|neighbours| neighbours.is_due(at)) {
            neighbours.tick(at, &self.ours(), out);
            self.neighbours = Some(neighbours);
        }
    }
}
