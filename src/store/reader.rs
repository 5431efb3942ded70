//! Reads a recording back as the event stream it was written from, even if files in it are damaged.
//! The recording stays unchanged, and unreadable parts are reported as damage, not as errors.

use super::budget::Budget;
use super::damage::Damage;
use super::folder::{self, Entry, Folder};
use super::meta_file::{self, MetaFile};
use super::part::{META, Part, Selection, select, temp_target};
use super::repair::{EventSink, Repair};
use super::rows::{NamesDef, OpsTotal, Rows, Window};
use crate::error::{Error, ErrorKind, Result};
use crate::model::limits::{META_BYTES, PART_BYTES};
use crate::model::profile::ProfileBuilder;
use crate::model::{
    CounterDef, Definition, Event, FrameDef, LatencyCount, Lost, Mark, Membership, MemoryAccess, Meta, ModuleDef,
    NeighbourDef, NeighbourUse, NodeMemory, Note, OffCpu, Progress, ProgressUnit, Sample, StackDef, TaskEvent,
    TimedOperation,
};
use crate::tables::{Table, from_parquet};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A recording opened for reading.
#[derive(Debug)]
pub struct Recording {
    folder: Folder,
    meta_file: MetaFile,
    parts: Vec<Part>,
    /// Damage visible in the directory listing.
    visible: Vec<Damage>,
    /// All damage, once every part has been read.
    damage: OnceLock<Vec<Damage>>,
    progress: Progress,
}

impl Recording {
    /// Opens the recording at `dir`, or at `dir.ironlaw` if `dir` is not one. Reads `meta.json` and the list of files.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] when there is no recording, [`ErrorKind::Unsupported`] for a newer format,
    /// [`ErrorKind::Corrupt`] when `meta.json` cannot be understood.
    pub fn open(dir: &Path) -> Result<Recording> {
        let path = locate(dir)?;
        let folder = Folder::open(&path);
        let meta_file = meta_file::parse(&folder.read(META, META_BYTES)?)
            .map_err(|error| error.context(format!("cannot open {}", path.display())))?;
        let (parts, visible) = survey(&folder.list()?);
        Ok(Recording { folder, meta_file, parts, visible, damage: OnceLock::new(), progress: Progress::default() })
    }

    /// Tells from now on how much of it is read.
    #[must_use]
    pub fn told_to(self, progress: &Progress) -> Recording {
        Recording { progress: progress.clone(), ..self }
    }

    /// The path.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The recording's metadata.
    #[must_use]
    pub fn meta(&self) -> &Meta {
        &self.meta_file.meta
    }

    /// Whether the recorder finished; if not, up to one flush interval is missing at the end.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.meta_file.rows.is_some()
    }

    /// All damage; empty for an intact recording. Reads every part unless that has been done.
    pub fn damage(&self) -> &[Damage] {
        self.damage.get_or_init(|| {
            let mut nowhere: &mut dyn FnMut(Event) = &mut |_| {};
            self.read(&mut nowhere)
        })
    }

    /// Replays all events: definitions, then each kind in the order it was recorded.
    pub fn events(&self, mut f: &mut dyn FnMut(Event)) {
        let damage = self.read(&mut f);
        self.damage.get_or_init(|| damage);
    }

    /// The whole recording as a profile; its notes report damage and a missing end.
    #[must_use]
    pub fn profile(&self) -> crate::model::profile::Profile {
        let mut builder = ProfileBuilder::new(self.meta_file.meta.clone());
        let damage = self.read(&mut builder);
        self.damage.get_or_init(|| damage);
        let mut meta = self.meta_file.meta.clone();
        let note = |topic: &str, text: String| Note { topic: topic.into(), text, fix: None };
        meta.notes.extend(self.damage().iter().map(|damage| note("recording-damaged", damage.to_string())));
        if !self.finished() {
            let text = "the recorder was stopped before it could finish: the last seconds may be missing";
            meta.notes.push(note("recording-unfinished", text.into()));
        }
        builder.finish(meta)
    }

    /// The names of functions; of a table beyond `most` bytes, those at its start.
    #[must_use]
    pub fn functions(&self, most: u64) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        self.start_of(most, &mut |def: NamesDef| found.extend(def.symbols.into_iter().map(|symbol| symbol.function)));
        found
    }

    /// The paths of modules, as [`Recording::functions`].
    #[must_use]
    pub fn modules(&self, most: u64) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        self.start_of(most, &mut |def: ModuleDef| found.extend([def.path]));
        found
    }

    /// The names of threads, as [`Recording::functions`].
    #[must_use]
    pub fn threads(&self, most: u64) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        self.start_of(most, &mut |task: TaskEvent| found.extend(task.change.comm().map(String::from)));
        found
    }

    /// Reads the parts of a table that lie within its first bytes; unreadable ones are left out.
    fn start_of<R: Rows>(&self, most: u64, emit: &mut dyn FnMut(R)) {
        let mut parts = PartReader { recording: self, damage: Vec::new(), budget: Budget::default() };
        let mut read = 0;
        for part in self.parts.iter().filter(|part| part.table == R::TABLE) {
            read += self.folder.length(&part.file_name());
            if read > most {
                break;
            }
            let _ = parts.part(*part, emit);
        }
    }

    /// The parts of the table of this name as they lie on the disk, in order, and what is damaged of it; nothing of a table
    /// that the format does not have.
    #[must_use]
    pub fn table(&self, name: &str) -> (Vec<Table>, Vec<Damage>) {
        let (mut found, mut damage, mut budget) = (Vec::new(), Vec::new(), Budget::default());
        for part in self.parts.iter().filter(|part| part.table == name) {
            let mut read = || {
                let bytes = self.folder.read(&part.file_name(), PART_BYTES)?;
                let table = from_parquet(&bytes)?;
                budget.take(bytes.len() as u64, &table).map(|()| table)
            };
            match read() {
                Ok(table) => found.push(table),
                Err(error) => damage.push(Damage::of_part(*part, error.to_string())),
            }
        }
        (found, damage)
    }

    fn read<S: EventSink>(&self, sink: &mut S) -> Vec<Damage> {
        let total = self.parts.iter().map(|part| self.folder.length(&part.file_name())).sum();
        self.progress.begin(format!("reading {}", self.path().display()), ProgressUnit::Bytes, total);
        let mut parts = PartReader { recording: self, damage: self.visible.clone(), budget: Budget::default() };
        let mut repair = Repair::new(sink);
        parts.table(&mut |def: CounterDef| repair.counter(def));
        parts.table(&mut |def: ModuleDef| repair.module(def));
        parts.table(&mut |def: FrameDef| repair.frame(def));
        parts.table(&mut |def: NamesDef| repair.names(def.frame, def.symbols));
        parts.table(&mut |def: StackDef| repair.stack(def));
        parts.table(&mut |def: NeighbourDef| repair.pass(Event::Define(Definition::Neighbour(def))));
        parts.table(&mut |task: TaskEvent| repair.pass(Event::Task(task)));
        parts.table(&mut |membership: Membership| repair.pass(Event::Membership(membership)));
        parts.table(&mut |sample: Sample| repair.sample(sample));
        parts.table(&mut |access: MemoryAccess| repair.access(access));
        parts.table(&mut |span: OffCpu| repair.off_cpu(span));
        parts.table(&mut |window: Window| {
            repair.pass(match window {
                Window::Reading(reading) => Event::Reading(reading),
                Window::End(tick) => Event::Tick(tick),
            });
        });
        parts.table(&mut |used: NeighbourUse| repair.pass(Event::Neighbour(used)));
        parts.table(&mut |memory: NodeMemory| repair.pass(Event::Memory(memory)));
        parts.table(&mut |lost: Lost| repair.pass(Event::Lost(lost)));
        parts.table(&mut |ops: OpsTotal| repair.pass(Event::Ops { at: ops.at, total: ops.total }));
        parts.table(&mut |count: LatencyCount| repair.pass(Event::Latency(count)));
        parts.table(&mut |operation: TimedOperation| repair.pass(Event::Operation(operation)));
        parts.table(&mut |mark: Mark| repair.pass(Event::Mark(mark)));
        let PartReader { mut damage, .. } = parts;
        damage.extend(Damage::repair_stats(&repair.repair_stats()));
        damage
    }
}

/// Reads the parts of a recording, table by table.
struct PartReader<'a> {
    recording: &'a Recording,
    damage: Vec<Damage>,
    budget: Budget,
}

impl PartReader<'_> {
    /// Reads one table, part by part, so that no more than one part is in memory at a time.
    fn table<R: Rows>(&mut self, emit: &mut dyn FnMut(R)) {
        let (recording, mut rows) = (self.recording, 0);
        for part in recording.parts.iter().filter(|part| part.table == R::TABLE) {
            match self.part(*part, emit) {
                Ok((read, unknown)) => {
                    rows += read;
                    self.damage.extend((unknown > 0).then(|| Damage::unknown_words(*part, unknown)));
                }
                Err(error) => self.damage.push(Damage::of_part(*part, error.to_string())),
            }
        }
        let expected = recording.meta_file.rows.as_ref().and_then(|rows| rows.get(R::TABLE)).copied().unwrap_or(rows);
        if rows != expected {
            self.damage.push(Damage::rows(R::TABLE, rows, expected));
        }
    }

    fn part<R: Rows>(&mut self, part: Part, emit: &mut dyn FnMut(R)) -> Result<(u64, u64)> {
        let bytes = self.recording.folder.read(&part.file_name(), PART_BYTES)?;
        self.recording.progress.add(bytes.len() as u64);
        let table = from_parquet(&bytes)?;
        self.budget.take(bytes.len() as u64, &table)?;
        Ok((table.rows() as u64, R::decode(&table, emit)?))
    }
}

fn locate(dir: &Path) -> Result<PathBuf> {
    let named = folder::path(dir);
    [dir.to_path_buf(), named.clone()].into_iter().find(|path| path.join(META).is_file()).ok_or_else(|| {
        let message = match (dir.exists(), named == dir) {
            (true, _) if dir.is_file() => format!(
                "{} is neither a recording nor a file of another profiler (perf.data, the text of perf script, folded stacks)",
                dir.display()
            ),
            (true, _) => format!("{} is not a recording: it has no {META}", dir.display()),
            (false, true) => format!("{} does not exist", dir.display()),
            (false, false) => format!("neither {} nor {} exists", dir.display(), named.display()),
        };
        Error::new(ErrorKind::NotFound, message).hint("Make one with `ironlaw record`.")
    })
}

/// Sorts a directory's files into parts to read and visible damage; unknown files are ignored.
fn survey(entries: &[Entry]) -> (Vec<Part>, Vec<Damage>) {
    let mut damage: Vec<Damage> =
        entries.iter().filter_map(|entry| Some(Damage::leftover(&entry.name, temp_target(&entry.name)?))).collect();
    let mut found = Vec::new();
    for (entry, part) in entries.iter().filter_map(|entry| Some((entry, Part::parse(&entry.name)?))) {
        if entry.regular {
            found.push(part);
        } else {
            damage.push(Damage::of_part(part, "not a regular file"));
        }
    }
    let mut parts = Vec::new();
    for table in super::part::TABLES {
        let Selection { parts: read, missing, overlapping } =
            select(found.iter().copied().filter(|part| part.table == table).collect());
        damage.extend(
            missing.into_iter().map(|gap| {
                Damage::of_part(Part { table, first: *gap.start(), last: *gap.end() }, "the file is missing")
            }),
        );
        damage.extend(overlapping.into_iter().map(|part| Damage::of_part(part, "it overlaps the part before it")));
        parts.extend(read);
    }
    (parts, damage)
}
