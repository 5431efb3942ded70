//! The thread that asks for names, so that reading debug information never delays capture or recording.

use super::{HostFiles, NameClient, by_module};
use crate::collect::sampler::{KERNEL, ModuleFiles, NAMED_BELOW};
use crate::model::{Definition, Event, FrameDef, ModuleId, ModuleKind, Note};
use crate::symbols::ModuleSource;
use std::collections::HashSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Frames per batch: small enough for visible progress, large enough to make channel costs negligible.
const BATCH: usize = 256;

/// Bytes of symbols and debug information in memory: those of many programs, or of one large one.
const MOST: usize = 16 << 20;

/// What was read of files is forgotten after this time without a new frame. Reading it again takes some 50 ms.
const IDLE: Duration = Duration::from_secs(10);

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
    pub(in crate::session) fn start(modules: Arc<ModuleFiles>, files: HostFiles) -> Namer {
        let (frames, wanted) = channel::<Vec<FrameDef>>();
        let (done, names) = channel();
        let thread = std::thread::spawn(move || {
            let mut naming = Naming::new(modules, files);
            while let Some(batch) = naming.next(&wanted) {
                for chunk in batch.chunks(BATCH) {
                    let events = naming.name(chunk);
                    naming.client.release(MOST);
                    // The receiver is gone: the session ended early.
                    if done.send(events).is_err() {
                        return naming.client.finish();
                    }
                }
            }
            // Runtimes write their names late, some only when they exit.
            let late = std::mem::take(&mut naming.late);
            // As above: after an early end, names are not needed.
            let _ = done.send(naming.name(&late));
            naming.client.finish()
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

/// Who makes names, and the modules added so far.
struct Naming {
    modules: Arc<ModuleFiles>,
    client: NameClient<HostFiles>,
    added: HashSet<ModuleId>,
    /// JIT code that had no name when it was first seen.
    late: Vec<FrameDef>,
}

impl Naming {
    fn new(modules: Arc<ModuleFiles>, files: HostFiles) -> Naming {
        Naming { modules, client: NameClient::new(files), added: HashSet::new(), late: Vec::new() }
    }

    /// The next frames. While none come, nothing that was read of files stays in memory.
    fn next(&mut self, wanted: &Receiver<Vec<FrameDef>>) -> Option<Vec<FrameDef>> {
        match wanted.recv_timeout(IDLE) {
            Ok(batch) => Some(batch),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => {
                self.client.release(0);
                wanted.recv().ok()
            }
        }
    }

    /// The names of those frames that have any, module by module.
    fn name(&mut self, frames: &[FrameDef]) -> Vec<Event> {
        let mut events = Vec::new();
        for (module, frames) in by_module(frames) {
            if self.added.insert(module)
                && let Some((source, user)) = self.source(module)
            {
                self.client.add(module, source, user);
            }
            let (names, later) = self.client.names(module, frames.iter().map(|frame| frame.address).collect());
            for (frame, symbols) in frames.into_iter().zip(names) {
                if !symbols.is_empty() {
                    events.push(Event::Define(Definition::Names { frame: frame.id, symbols }));
                } else if later {
                    self.late.push(frame);
                }
            }
        }
        events
    }

    fn source(&self, module: ModuleId) -> Option<(ModuleSource, u32)> {
        let file = self.modules.get(module)?;
        let source = match file.def.kind {
            ModuleKind::Kernel => ModuleSource::Kernel,
            ModuleKind::Jit => {
                let dump = self.modules.dump(file.def.pid);
                ModuleSource::Jit { pid: file.def.pid, root: file.root, dump }
            }
            ModuleKind::Vdso => ModuleSource::Vdso { image: file.file? },
            ModuleKind::File => ModuleSource::File { file: file.file?, path: file.def.path, root: file.root },
        };
        Some((source, file.user))
    }
}
