//! Puts names to frames on a thread of its own, so that reading debug information never holds up capture or recording.
//! It never touches the profile directly: names go out as definitions like everything else.

use crate::collect::sampler::{KERNEL, ModuleFiles, NAMED_BELOW};
use crate::error::{Context, Result};
use crate::model::{BuildId, Bytes, Definition, Event, FrameDef, ModuleId, ModuleKind, Note};
use crate::symbols::{Files, Grown, ModuleSource, Options, Symbolizer};
use crate::sys;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// Frames named per batch: small enough that a reader sees progress, large enough that channels cost nothing.
const BATCH: usize = 256;

/// Bytes of a map of just-in-time code taken at once: more than any runtime writes, little enough to hold.
const MAP_CHUNK: u64 = 64 << 20;

/// A thread that turns frame definitions into names.
#[derive(Debug)]
pub struct Namer {
    frames: Option<Sender<Vec<FrameDef>>>,
    names: Receiver<Vec<Event>>,
    thread: Option<JoinHandle<Vec<Note>>>,
}

impl Namer {
    /// Starts the thread; `modules` is where the sampler keeps the files it opened.
    #[must_use]
    pub fn start(modules: Arc<ModuleFiles>, options: Options, fetch: bool) -> Namer {
        let (frames, wanted) = channel::<Vec<FrameDef>>();
        let (done, names) = channel();
        let thread = std::thread::spawn(move || {
            let mut naming = Naming::new(modules, options, fetch);
            for batch in wanted {
                for chunk in batch.chunks(BATCH) {
                    let events = chunk.iter().filter_map(|frame| naming.name(frame)).collect();
                    // Nobody listens any more: the session ended early.
                    if done.send(events).is_err() {
                        return naming.symbolizer.notes();
                    }
                }
            }
            // Runtimes write their names late, some only when they end.
            let late = std::mem::take(&mut naming.late);
            // As above: an early end needs no names.
            let _ = done.send(late.iter().filter_map(|frame| naming.name(frame)).collect());
            naming.symbolizer.notes()
        });
        Namer { frames: Some(frames), names, thread: Some(thread) }
    }

    /// Asks for the names of the frames that `events` define.
    pub fn ask(&self, events: &[Event]) {
        let frames: Vec<FrameDef> = events
            .iter()
            .filter_map(|event| match event {
                Event::Define(Definition::Frame(frame)) if !is_named(frame) => Some(*frame),
                _ => None,
            })
            .collect();
        if let (false, Some(sender)) = (frames.is_empty(), &self.frames) {
            // A send fails only if the thread died; its frames then simply stay unnamed.
            let _ = sender.send(frames);
        }
    }

    /// The names found since the last call, without waiting.
    pub fn ready(&self) -> Vec<Event> {
        self.names.try_iter().flatten().collect()
    }

    /// Waits until every frame asked for is named; what the symbolizer has to say comes with the last names.
    pub fn finish(mut self) -> (Vec<Event>, Vec<Note>) {
        drop(self.frames.take());
        let events = self.names.iter().flatten().collect();
        let notes = self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        (events, notes)
    }
}

/// Whether the sampler named it itself.
fn is_named(frame: &FrameDef) -> bool {
    frame.module == Some(KERNEL) && frame.address < NAMED_BELOW
}

/// The symbolizer and the modules it has been given so far.
struct Naming {
    modules: Arc<ModuleFiles>,
    symbolizer: Symbolizer,
    added: HashSet<ModuleId>,
    /// Code made just in time that had no name when it was first seen.
    late: Vec<FrameDef>,
}

impl Naming {
    fn new(modules: Arc<ModuleFiles>, options: Options, fetch: bool) -> Naming {
        Naming {
            modules,
            symbolizer: Symbolizer::new(options, Box::new(HostFiles { fetch })),
            added: HashSet::new(),
            late: Vec::new(),
        }
    }

    fn name(&mut self, frame: &FrameDef) -> Option<Event> {
        if let Some(module) = frame.module
            && self.added.insert(module)
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

    fn source(&self, module: ModuleId) -> Option<ModuleSource> {
        let file = self.modules.get(module)?;
        Some(match file.def.kind {
            ModuleKind::Kernel => ModuleSource::Kernel,
            ModuleKind::Jit => ModuleSource::Jit { pid: file.def.pid, root: file.root },
            ModuleKind::Vdso => ModuleSource::Vdso { bytes: file.bytes? },
            ModuleKind::File => ModuleSource::File { bytes: file.bytes?, path: file.def.path, root: file.root },
        })
    }
}

/// Debug files and perf maps come from the host's file system.
#[derive(Debug)]
pub(super) struct HostFiles {
    /// Whether the network may be asked.
    pub(super) fetch: bool,
}

impl Files for HostFiles {
    fn map(&self, path: &Path) -> Option<Bytes> {
        let (file, _) = sys::files::open_regular(path).ok()?;
        sys::files::map(&file).ok()
    }

    fn text(&self, path: &Path) -> Result<String> {
        let bytes = std::fs::read(path).context(|| format!("cannot read {}", path.display()))?;
        Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    fn fetch(&self, id: &BuildId) -> Option<Bytes> {
        let path =
            self.fetch.then(|| sys::spawn::answer("debuginfod-find", &["debuginfo", &id.to_string()])).flatten()?;
        self.map(Path::new(path.trim()))
    }

    fn grown(&self, path: &Path, from: u64) -> Option<Grown> {
        let (file, length) = sys::files::open_plain(path).ok()?;
        let bytes = sys::files::read_from(&file, from, MAP_CHUNK).ok()?;
        Some(Grown { length, bytes })
    }
}
