//! The selected samples and waits, row by row, and grouped by thread for formats that draw a line per thread.

use super::path::{Cell, Path, PathId, Paths};
use crate::analysis::{
    Axis, Cause, CodeKind, Names, QUEUED, Selection, TRUNCATED, Tasks, ThreadSet, UNKNOWN, cause_of, stack_end,
};
use crate::error::Result;
use crate::model::profile::Profile;
use crate::model::{Mark, Meta, ModuleDef, ModuleId, OffCpu, StackEnd, StackId, Symbol, TaskState};
use crate::units::Nanos;
use crate::view::labels::{axis_of, rate_of};
use std::collections::BTreeMap;

/// The selected part of a profile.
#[derive(Debug)]
pub struct Sampled<'a> {
    profile: &'a Profile,
    selection: Selection,
    every_event: bool,
    names: Names,
    tasks: Tasks,
    who: ThreadSet,
}

/// A sample, or an off-CPU wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Its time; for a wait, the start.
    pub at: Nanos,
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// The CPU; `None` for a wait.
    pub cpu: Option<u32>,
    /// Index into `Meta::events`; `None` for a wait.
    pub event: Option<u16>,
    /// The sample's weight, or nanoseconds blocked.
    pub weight: u64,
    /// The state in which a wait began.
    pub state: Option<TaskState>,
    /// Nanoseconds runnable but without a CPU; `None` for a sample, or if the wake-up was not seen.
    pub queued: Option<u64>,
    /// 1, or the samples that a row stands for; the waits that a row is the sum of, 0 for time of a wait that another row counts.
    pub count: u64,
    /// The longest of the waits, blocked and queued; `None` for a sample.
    pub longest: Option<u64>,
    /// Its stack.
    pub stack: Option<StackId>,
    /// How the stack ended.
    pub end: StackEnd,
    /// Whether the sampled instruction was in the kernel; `None` for a wait.
    pub kernel: Option<bool>,
}

/// The part of a row that belongs to one stack. Run-queue time is separate from blocked time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Its start.
    pub at: Nanos,
    /// The stack.
    pub path: Path,
    /// Its weight.
    pub weight: u64,
    /// As of the row, or 0 for the second share of one wait.
    pub count: u64,
}

impl Row {
    /// Its stack; for a wait, the stack of the blocked time.
    #[must_use]
    pub fn path(&self) -> Path {
        Path::of(self.stack, self.end)
    }

    /// Its one or two shares.
    pub fn shares(&self) -> impl Iterator<Item = Share> + use<> {
        let path = self.path();
        let queued = self.queued.filter(|queued| *queued > 0);
        let only_queued = self.weight == 0 && queued.is_some();
        let own = Share { at: self.at, path, weight: self.weight, count: self.count };
        let woken = Nanos(self.at.0.saturating_add(self.weight));
        let count = if only_queued { self.count } else { 0 };
        let queue = move |weight| Share { at: woken, path: path.queued(), weight, count };
        (!only_queued).then_some(own).into_iter().chain(queued.map(queue))
    }
}

impl<'a> Sampled<'a> {
    /// The selection's samples or waits; with `every_event`, the samples of all events, not only of the selected one.
    ///
    /// # Errors
    /// Those of [`Selection::check`].
    pub fn of(profile: &'a Profile, selection: Selection, every_event: bool) -> Result<Sampled<'a>> {
        let tasks = Tasks::of(profile);
        selection.check(profile, &tasks)?;
        let who = selection.who(&tasks);
        Ok(Sampled { profile, names: Names::of(profile), tasks, who, selection, every_event })
    }

    /// The rows, in the order of the recording.
    pub fn rows(&self) -> Box<dyn Iterator<Item = Row> + '_> {
        match self.selection.axis {
            Axis::Event(event) => Box::new(self.samples(event)),
            Axis::OffCpu => Box::new(self.waits()),
        }
    }

    fn samples(&self, event: u16) -> impl Iterator<Item = Row> + '_ {
        let time = self.selection.time;
        let chosen = self.profile.samples.iter().filter(move |sample| {
            (self.every_event || sample.event == event) && time.contains(sample.at) && self.who.has(sample.tid)
        });
        chosen.map(|sample| Row {
            at: sample.at,
            pid: sample.pid,
            tid: sample.tid,
            cpu: Some(sample.cpu),
            event: Some(sample.event),
            weight: sample.weight,
            state: None,
            queued: None,
            count: Axis::Event(sample.event).unit(&self.profile.meta).samples(1, sample.weight),
            longest: None,
            stack: sample.stack,
            end: stack_end(self.profile, sample.stack, sample.end),
            kernel: Some(sample.kernel),
        })
    }

    /// The waits of the selected threads, clipped to the selected time; empty if the recording has no off-CPU data.
    pub fn waits(&self) -> impl Iterator<Item = Row> + '_ {
        self.profile.off_cpu.iter().filter(|span| self.who.has(span.tid)).filter_map(|span| self.wait(&span))
    }

    fn wait(&self, span: &OffCpu) -> Option<Row> {
        let time = self.selection.time;
        let woken = Nanos(span.at.0.saturating_add(span.blocked.0));
        let blocked = time.overlap(span.at, span.blocked).0;
        let queued = span.queued.map(|queued| time.overlap(woken, queued).0);
        (blocked > 0 || queued.is_some_and(|queued| queued > 0)).then(|| Row {
            at: span.at.max(time.from),
            pid: span.pid,
            tid: span.tid,
            cpu: None,
            event: None,
            weight: blocked,
            state: Some(span.state),
            queued,
            count: span.count,
            longest: Some(span.longest.0.min(blocked + queued.unwrap_or(0))),
            stack: span.stack,
            end: stack_end(self.profile, span.stack, span.end),
            kernel: None,
        })
    }

    /// Why the thread of a wait was not running; `None` for a sample.
    #[must_use]
    pub fn cause(&self, row: &Row) -> Option<Cause> {
        Some(cause_of(self.profile, &self.names, row.stack, row.state?))
    }

    /// The marks in the selected time.
    pub fn marks(&self) -> impl Iterator<Item = &'a Mark> + '_ {
        self.profile.marks.iter().filter(|mark| self.selection.time.contains(mark.at))
    }

    /// The recording's metadata.
    #[must_use]
    pub fn meta(&self) -> &'a Meta {
        &self.profile.meta
    }

    /// The selected span: its start within the recording, and its length.
    #[must_use]
    pub fn span(&self) -> (Nanos, Nanos) {
        let (from, end) = (self.selection.time.from, self.profile.duration());
        (from, self.selection.time.to.map_or(end, |to| to.min(end)) - from)
    }

    /// The target, as in a flame graph's title.
    #[must_use]
    pub fn title(&self) -> String {
        crate::view::flame::title(self.profile, &self.selection, &self.tasks)
    }

    /// The event and its unit: (`cpu-clock`, `ns`), (`cycles`, `cycles`), (`off-cpu`, `ns`).
    #[must_use]
    pub fn axis(&self) -> (String, &'static str) {
        axis_of(&self.profile.meta, self.selection.axis)
    }

    /// Whether the rows are waits.
    #[must_use]
    pub fn is_off_cpu(&self) -> bool {
        self.selection.axis == Axis::OffCpu
    }

    /// The name of a row's event; `off-cpu` for a wait.
    #[must_use]
    pub fn event_name(&self, event: Option<u16>) -> &'a str {
        let named = event.map(|event| self.profile.meta.events.get(usize::from(event)));
        named.map_or("off-cpu", |event| event.map_or("", |event| event.name.as_str()))
    }

    /// A thread's name; empty if unknown.
    #[must_use]
    pub fn comm(&self, tid: u32) -> &str {
        self.tasks.get(tid).map_or("", |task| &task.comm)
    }

    /// A process's name; empty if unknown.
    #[must_use]
    pub fn process_name(&self, pid: u32) -> &str {
        self.tasks.process_name(pid)
    }

    /// When a thread was created and when it ended, if seen.
    #[must_use]
    pub fn life(&self, tid: u32) -> (Option<Nanos>, Option<Nanos>) {
        self.tasks.get(tid).map_or((None, None), |task| (task.born, task.ended))
    }

    /// All modules, by number.
    #[must_use]
    pub fn modules(&self) -> &'a [ModuleDef] {
        &self.profile.modules
    }

    /// The module that contains a cell's code.
    #[must_use]
    pub fn module(&self, cell: &Cell<'_>) -> Option<&'a ModuleDef> {
        self.module_id(cell).and_then(|id| self.profile.module(id))
    }

    /// The number of the module that contains a cell's code.
    #[must_use]
    pub fn module_id(&self, cell: &Cell<'_>) -> Option<ModuleId> {
        self.profile.frames.get(cell.frame.or(cell.tail_called_by)?.0 as usize)?.module
    }

    /// The address of a cell's code within its module; `None` for a heading or a tail call.
    #[must_use]
    pub fn address(&self, cell: &Cell<'_>) -> Option<u64> {
        Some(self.profile.frames.get(cell.frame?.0 as usize)?.address)
    }

    /// The symbol of a cell; `None` for a cell without a name or a tail call.
    #[must_use]
    pub fn symbol(&self, cell: &Cell<'_>) -> Option<&'a Symbol> {
        self.profile.names_at(cell.frame?).get(cell.depth)
    }

    /// Remarks to read before trusting the numbers: what was profiled, where, and the recording's notes.
    #[must_use]
    pub fn remarks(&self) -> Vec<String> {
        let meta = self.meta();
        let (host, (event, unit)) = (&meta.host, self.axis());
        let mut remarks = vec![
            format!("ironlaw {} profiled {}", meta.tool, meta.plan.target.label()),
            format!("{} ({}), Linux {} on {}", host.hostname, host.cpu_model, host.kernel, host.arch),
            format!("{event} in {unit}, {}", rate_of(meta)),
        ];
        let lost: u64 = self.profile.lost.iter().fold(0, |sum, lost| sum.saturating_add(lost.count));
        if lost > 0 {
            remarks.push(format!("{lost} records were lost or throttled"));
        }
        remarks.extend(meta.notes.iter().map(|note| note.text.clone()));
        remarks
    }
}

fn heading(name: &'static str) -> Cell<'static> {
    Cell { name, kind: CodeKind::Heading, inlined: false, frame: None, tail_called_by: None, depth: 0 }
}

impl<'a> Sampled<'a> {
    /// The cells of a path from the root; never empty.
    #[must_use]
    pub fn cells(&self, path: Path) -> Vec<Cell<'_>> {
        let mut cells: Vec<_> = path.queued.then(|| heading(QUEUED)).into_iter().collect();
        let calls = self.names.walk_frames(self.profile, path.stack).map(|step| {
            let (names, label) = (&self.names, step.call.label);
            let (kind, inlined) = (names.kind(label), names.is_inlined(label));
            let (frame, tail_called_by) =
                if step.is_tail_call { (None, Some(step.frame)) } else { (Some(step.frame), None) };
            Cell { name: names.text(label), kind, inlined, frame, tail_called_by, depth: step.depth }
        });
        let headings = cells.len();
        cells.extend(calls);
        if cells.len() == headings {
            cells.push(heading(UNKNOWN));
        }
        cells.extend(path.truncated.then(|| heading(TRUNCATED)));
        cells.reverse();
        cells
    }
}

/// A thread's samples in time order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadSamples {
    /// Process.
    pub pid: u32,
    /// Thread.
    pub tid: u32,
    /// Total weight of its samples.
    pub weight: u64,
    /// The samples, in time order.
    pub samples: Vec<ThreadSample>,
}

/// A sample, or a share of a wait: a few numbers without names, so that ten million of them fit into memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThreadSample {
    /// Its time.
    pub at: Nanos,
    /// Its stack.
    pub path: PathId,
    /// Its weight.
    pub weight: u64,
}

impl Sampled<'_> {
    /// The rows by thread, the heaviest thread first.
    #[must_use]
    pub fn threads(&self, paths: &mut Paths) -> Vec<ThreadSamples> {
        let mut threads: BTreeMap<(u32, u32), ThreadSamples> = BTreeMap::new();
        for row in self.rows() {
            let (pid, tid) = (row.pid, row.tid);
            let new = || ThreadSamples { pid, tid, weight: 0, samples: Vec::new() };
            let thread = threads.entry((pid, tid)).or_insert_with(new);
            for share in row.shares() {
                thread.weight = thread.weight.saturating_add(share.weight);
                thread.samples.push(ThreadSample { at: share.at, path: paths.id(share.path), weight: share.weight });
            }
        }
        let mut threads: Vec<_> = threads.into_values().collect();
        for thread in &mut threads {
            thread.samples.sort_by_key(|sample| sample.at);
        }
        threads.sort_by_key(|thread| std::cmp::Reverse(thread.weight));
        threads
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::testing::Synthetic;

    #[test]
    fn a_stack_that_a_walk_left_where_its_thread_starts_is_whole_in_every_row() {
        let mut synthetic = Synthetic::new();
        synthetic.ended(0, 41, "app!_start;app!main", 1, StackEnd::Broken);
        synthetic.ended(1, 41, "app!main", 1, StackEnd::Broken);
        let profile = synthetic.finish();
        let sampled = Sampled::of(&profile, Selection::default(), false).unwrap();
        let ends: Vec<StackEnd> = sampled.rows().map(|row| row.end).collect();
        assert_eq!(ends, [StackEnd::Whole, StackEnd::Broken]);
    }
}
