//! Writes a recording that can be opened at any moment, even after the writer was killed.
//! The caller decides when to flush.

use super::FORMAT;
use super::buffer::{Buffer, Spool};
use super::folder::Folder;
use super::meta_file::{self, MetaFile};
use super::rows::{NamesDef, OpsTotal, Window};
use crate::error::Result;
use crate::model::{
    CounterDef, Definition, Event, FrameDef, LatencyCount, Lost, Mark, Membership, MemoryAccess, Meta, ModuleDef,
    NeighbourDef, NeighbourUse, NodeMemory, OffCpu, Sample, StackDef, TaskEvent, TimedOperation,
};
use std::collections::BTreeMap;
use std::path::Path;

/// With more buffered rows than this (about 20 MB), `write` flushes by itself.
const MAX_BUFFERED_ROWS: usize = 1 << 18;

/// This many parts of one table are merged into one while recording, so a day makes hundreds of files, not millions.
const MERGE_AT: usize = 64;

/// A recording being written. If it is dropped without [`Writer::finish`], the flushed rows remain.
#[derive(Debug)]
pub struct Writer {
    folder: Folder,
    tables: Tables,
}

#[derive(Debug, Default)]
struct Tables {
    counters: Buffer<CounterDef>,
    mappings: Buffer<ModuleDef>,
    frames: Buffer<FrameDef>,
    names: Buffer<NamesDef>,
    stacks: Buffer<StackDef>,
    neighbours: Buffer<NeighbourDef>,
    neighbour_uses: Buffer<NeighbourUse>,
    pages: Buffer<NodeMemory>,
    tasks: Buffer<TaskEvent>,
    memberships: Buffer<Membership>,
    samples: Buffer<Sample>,
    accesses: Buffer<MemoryAccess>,
    off_cpu: Buffer<OffCpu>,
    windows: Buffer<Window>,
    lost: Buffer<Lost>,
    ops: Buffer<OpsTotal>,
    latencies: Buffer<LatencyCount>,
    operations: Buffer<TimedOperation>,
    marks: Buffer<Mark>,
}

impl Tables {
    /// In the order of [`super::part::TABLES`]: definitions, then the tables that refer to them.
    fn all(&mut self) -> ([&mut dyn Spool; 6], [&mut dyn Spool; 13]) {
        let Tables { counters, mappings, frames, names, stacks, neighbours, .. } = self;
        let Tables {
            tasks,
            memberships,
            samples,
            accesses,
            off_cpu,
            windows,
            neighbour_uses,
            pages,
            lost,
            ops,
            latencies,
            operations,
            marks,
            ..
        } = self;
        let definitions: [&mut dyn Spool; 6] = [counters, mappings, frames, names, stacks, neighbours];
        (
            definitions,
            [
                tasks,
                memberships,
                samples,
                accesses,
                off_cpu,
                windows,
                neighbour_uses,
                pages,
                lost,
                ops,
                latencies,
                operations,
                marks,
            ],
        )
    }

    fn each(&mut self) -> impl Iterator<Item = &mut dyn Spool> {
        let (definitions, rest) = self.all();
        definitions.into_iter().chain(rest)
    }

    fn push(&mut self, event: Event) {
        match event {
            Event::Define(Definition::Module(def)) => self.mappings.push(def),
            Event::Define(Definition::Frame(def)) => self.frames.push(def),
            Event::Define(Definition::Stack(def)) => self.stacks.push(def),
            Event::Define(Definition::Names { frame, symbols }) => self.names.push(NamesDef { frame, symbols }),
            Event::Define(Definition::Counter(def)) => self.counters.push(def),
            Event::Sample(sample) => self.samples.push(sample),
            Event::Access(access) => self.accesses.push(access),
            Event::OffCpu(span) => self.off_cpu.push(span),
            Event::Reading(reading) => self.windows.push(Window::Reading(reading)),
            Event::Define(Definition::Neighbour(def)) => self.neighbours.push(def),
            Event::Neighbour(used) => self.neighbour_uses.push(used),
            Event::Memory(memory) => self.pages.push(memory),
            Event::Task(task) => self.tasks.push(task),
            Event::Membership(membership) => self.memberships.push(membership),
            Event::Lost(lost) => self.lost.push(lost),
            Event::Ops { at, total } => self.ops.push(OpsTotal { at, total }),
            Event::Latency(count) => self.latencies.push(count),
            Event::Operation(operation) => self.operations.push(operation),
            Event::Mark(mark) => self.marks.push(mark),
            Event::Tick(tick) => self.windows.push(Window::End(tick)),
        }
    }
}

impl Writer {
    /// Creates the directory (mode 0700) and writes `meta.json`, so that an unwritable path fails at once.
    /// The parent directory must exist. `meta.format` is set to the format written.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Usage`] when the path exists: always for a file, a link or a directory of other
    /// things; for an older recording only without `overwrite`. Otherwise as the file system reports.
    pub fn create(dir: &Path, meta: &Meta, overwrite: bool) -> Result<Writer> {
        let folder = Folder::create(dir, overwrite)?;
        let writer = Writer { folder, tables: Tables::default() };
        match writer.describe(meta, None) {
            Ok(()) => Ok(writer),
            Err(error) => {
                writer.folder.remove_if_empty();
                Err(error)
            }
        }
    }

    /// The path of the recording.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Buffers events; flushes by itself only when very many are buffered.
    ///
    /// # Errors
    /// As [`Writer::flush`].
    pub fn write(&mut self, events: &[Event]) -> Result<()> {
        events.iter().for_each(|event| self.push(event.clone()));
        self.flush_if_full()
    }

    /// Buffers an event. The caller calls [`Writer::flush_if_full`] from time to time.
    #[inline]
    pub fn push(&mut self, event: Event) {
        self.tables.push(event);
    }

    /// Flushes if very many rows are buffered.
    ///
    /// # Errors
    /// As [`Writer::flush`].
    pub fn flush_if_full(&mut self) -> Result<()> {
        if self.buffered_rows() > MAX_BUFFERED_ROWS { self.flush() } else { Ok(()) }
    }

    /// Writes all buffered rows as part files, definitions before the rows that refer to them.
    ///
    /// # Errors
    /// [`crate::error::ErrorKind::Exhausted`] when the disk is full. Earlier parts stay valid, no partial file remains,
    /// and rows that were not written stay buffered for the next try.
    pub fn flush(&mut self) -> Result<()> {
        if self.buffered_rows() == 0 {
            return Ok(());
        }
        let Writer { folder, tables } = self;
        let (definitions, rest) = tables.all();
        for table in definitions {
            table.flush(folder)?;
        }
        folder.sync()?;
        for table in rest {
            table.flush(folder)?;
        }
        folder.sync()?;
        // Merging saves space and files; if it fails, the recording is still complete.
        for table in tables.each().filter(|table| table.flushes() >= MERGE_AT) {
            let _ = table.merge(folder);
        }
        Ok(())
    }

    /// Rows that a kill would lose now.
    pub fn buffered_rows(&mut self) -> usize {
        self.tables.each().map(|table| table.buffered()).sum()
    }

    /// Flushes, writes the final metadata and merges the parts of each table.
    /// Returns the size of the recording on disk in bytes.
    ///
    /// # Errors
    /// As [`Writer::flush`]; `meta.json` is replaced even when the last rows did not fit, if it still fits.
    pub fn finish(mut self, meta: &Meta) -> Result<u64> {
        let flushed = self.flush();
        let rows = self.tables.each().map(|table| (table.table().to_string(), table.stored())).collect();
        let described = self.describe(meta, Some(rows));
        flushed.and(described)?;
        for table in self.tables.each() {
            // As in `flush`: without room to merge, nothing is lost.
            let _ = table.merge(&self.folder);
        }
        self.folder.sync()?;
        self.folder.size()
    }

    fn describe(&self, meta: &Meta, rows: Option<BTreeMap<String, u64>>) -> Result<()> {
        let bytes = meta_file::to_json(MetaFile::new(Meta { format: FORMAT, ..meta.clone() }, rows))?;
        self.folder.place(super::part::META, &bytes)?;
        self.folder.sync()
    }
}
