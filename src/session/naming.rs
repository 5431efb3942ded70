//! Symbolizes frames on a separate thread, so that reading debug information never delays capture or recording.
//! Names are sent as definitions in the event stream.

use super::name_store::NameStore;
use crate::collect::sampler::{KERNEL, ModuleFiles, NAMED_BELOW};
use crate::error::{Context, Result};
use crate::model::{BuildId, Bytes, Definition, Event, FrameDef, ModuleId, ModuleKind, Note, ObjectFile};
use crate::symbols::{FileTail, Files, ModuleSource, Options, Symbolizer};
use crate::sys;
use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Frames per batch: small enough for visible progress, large enough to make channel costs negligible.
const BATCH: usize = 256;

/// Maximum bytes of a JIT map read at once: more than any runtime writes, and little enough to keep in memory.
const MAP_CHUNK: u64 = 64 << 20;

/// Bytes of symbols and debug information in memory: those of many programs, or of one large one.
const MOST: usize = 16 << 20;

/// What was read of files is forgotten after this time without a new frame. Reading it again takes some 50 ms.
const IDLE: Duration = Duration::from_secs(10);

/// Bytes that show which file in /proc it is, and how much of it we may read.
const HEAD: u64 = 4096;

/// Bytes of a list read at once: the kernel writes it as it is read.
const LINES: usize = 64 << 10;

/// A thread that resolves frame definitions to names.
#[derive(Debug)]
pub struct Namer {
    frames: Option<Sender<Vec<FrameDef>>>,
    names: Receiver<Vec<Event>>,
    thread: Option<JoinHandle<Vec<Note>>>,
}

impl Namer {
    /// Starts the thread. `modules` contains the files that the sampler opened.
    #[must_use]
    pub(super) fn start(modules: Arc<ModuleFiles>, options: Options, files: HostFiles) -> Namer {
        let (frames, wanted) = channel::<Vec<FrameDef>>();
        let (done, names) = channel();
        let thread = std::thread::spawn(move || {
            let mut naming = Naming::new(modules, options, files);
            while let Some(batch) = naming.next(&wanted) {
                for chunk in batch.chunks(BATCH) {
                    let events = chunk.iter().filter_map(|frame| naming.name(frame)).collect();
                    naming.symbolizer.release_unused_beyond(MOST);
                    // The receiver is gone: the session ended early.
                    if done.send(events).is_err() {
                        return naming.finish();
                    }
                }
            }
            // Runtimes write their names late, some only when they exit.
            let late = std::mem::take(&mut naming.late);
            // As above: after an early end, names are not needed.
            let _ = done.send(late.iter().filter_map(|frame| naming.name(frame)).collect());
            naming.finish()
        });
        Namer { frames: Some(frames), names, thread: Some(thread) }
    }

    /// Requests names for the frames that `events` define.
    pub fn ask(&self, events: &[Event]) {
        let frames: Vec<FrameDef> = events
            .iter()
            .filter_map(|event| match event {
                Event::Define(Definition::Frame(frame)) if !is_named(frame) => Some(*frame),
                _ => None,
            })
            .collect();
        if let (false, Some(sender)) = (frames.is_empty(), &self.frames) {
            // A send fails only if the thread died. The frames then stay without names.
            let _ = sender.send(frames);
        }
    }

    /// Returns the names found since the last call, without waiting.
    pub fn ready(&self) -> Vec<Event> {
        self.names.try_iter().flatten().collect()
    }

    /// Waits until all requested frames are resolved. The symbolizer's notes come with the last names.
    pub fn finish(mut self) -> (Vec<Event>, Vec<Note>) {
        drop(self.frames.take());
        let events = self.names.iter().flatten().collect();
        let notes = self.thread.take().map_or_else(Vec::new, |thread| thread.join().unwrap_or_else(|_| vec![failed()]));
        (events, notes)
    }
}

fn failed() -> Note {
    Note {
        topic: "naming-failed".to_string(),
        text: "The thread that finds names failed: functions that had no name by then are shown by address. This is a \
               defect of ironlaw."
            .to_string(),
        fix: None,
    }
}

/// Whether the sampler already named the frame.
fn is_named(frame: &FrameDef) -> bool {
    frame.module == Some(KERNEL) && frame.address < NAMED_BELOW
}

/// The symbolizer and the modules added to it so far.
struct Naming {
    modules: Arc<ModuleFiles>,
    symbolizer: Symbolizer,
    added: HashSet<ModuleId>,
    /// JIT code that had no name when it was first seen.
    late: Vec<FrameDef>,
}

impl Naming {
    fn new(modules: Arc<ModuleFiles>, options: Options, files: HostFiles) -> Naming {
        Naming {
            modules,
            symbolizer: Symbolizer::new(options, Box::new(files)),
            added: HashSet::new(),
            late: Vec::new(),
        }
    }

    /// The next frames. While none come, nothing that was read of files stays in memory.
    fn next(&self, wanted: &Receiver<Vec<FrameDef>>) -> Option<Vec<FrameDef>> {
        match wanted.recv_timeout(IDLE) {
            Ok(batch) => Some(batch),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => {
                self.symbolizer.release();
                sys::heap::trim();
                wanted.recv().ok()
            }
        }
    }

    fn name(&mut self, frame: &FrameDef) -> Option<Event> {
        let new = frame.module.filter(|module| self.added.insert(*module));
        if let Some(module) = new
            && let Some(source) = self.source(module)
        {
            self.symbolizer.add(module, source);
        }
        let symbols = self.symbolizer.names(frame.module, frame.address);
        if symbols.is_empty() && frame.module.is_some_and(|module| self.symbolizer.may_learn(module)) {
            self.late.push(*frame);
        }
        (!symbols.is_empty()).then_some(Event::Define(Definition::Names { frame: frame.id, symbols }))
    }

    /// Leaves the names to later sessions and returns the symbolizer's notes.
    fn finish(self) -> Vec<Note> {
        self.symbolizer.store();
        self.symbolizer.notes()
    }

    fn source(&self, module: ModuleId) -> Option<ModuleSource> {
        let file = self.modules.get(module)?;
        Some(match file.def.kind {
            ModuleKind::Kernel => ModuleSource::Kernel,
            ModuleKind::Jit => ModuleSource::Jit { pid: file.def.pid, root: file.root },
            ModuleKind::Vdso => ModuleSource::Vdso { image: file.file? },
            ModuleKind::File => ModuleSource::File { file: file.file?, path: file.def.path, root: file.root },
        })
    }
}

/// Reads debug files and perf maps from the host's file system.
#[derive(Debug, Default)]
pub(super) struct HostFiles {
    /// Whether downloads are allowed.
    fetch: bool,
    names: NameStore,
}

impl HostFiles {
    /// With the names that the user's earlier sessions found.
    pub(super) fn of_user(fetch: bool) -> HostFiles {
        HostFiles { fetch, names: NameStore::of_user() }
    }
}

impl Files for HostFiles {
    fn open(&self, path: &Path) -> Option<ObjectFile> {
        let (file, _) = sys::files::open_foreign(path).ok()?;
        sys::files::object(file).ok()
    }

    fn text(&self, path: &Path) -> Result<String> {
        let bytes = std::fs::read(path).context(|| format!("cannot read {}", path.display()))?;
        Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    fn lines(&self, path: &Path, to: &mut dyn FnMut(&str)) -> Result<()> {
        let file = File::open(path).context(|| format!("cannot read {}", path.display()))?;
        let mut file = BufReader::with_capacity(LINES, file);
        let mut line = Vec::new();
        while file.read_until(b'\n', &mut line).context(|| format!("cannot read {}", path.display()))? > 0 {
            to(&String::from_utf8_lossy(&line));
            line.clear();
        }
        Ok(())
    }

    fn head(&self, path: &Path) -> Option<Vec<u8>> {
        sys::files::read_from(&File::open(path).ok()?, 0, HEAD).ok()
    }

    fn stored(&self, name: &str) -> Option<Bytes> {
        self.names.get(name)
    }

    fn store(&self, name: &str, bytes: &[u8]) {
        self.names.put(name, bytes);
    }

    fn fetch(&self, id: &BuildId) -> Option<ObjectFile> {
        let path =
            self.fetch.then(|| sys::spawn::answer("debuginfod-find", &["debuginfo", &id.to_string()])).flatten()?;
        self.open(Path::new(path.trim()))
    }

    fn grown(&self, path: &Path, from: u64) -> Option<FileTail> {
        let (file, stamp) = sys::files::open_plain(path).ok()?;
        let bytes = sys::files::read_from(&file, from, MAP_CHUNK).ok()?;
        Some(FileTail { length: stamp.size, stamp: Some(stamp), bytes })
    }
}
