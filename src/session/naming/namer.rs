//! The thread that asks for names, so that reading debug information never delays capture or recording.

use super::deadline::Deadline;
use super::turns::{Turn, Turns};
use super::{HostFiles, NameClient, by_module};
use crate::collect::sampler::{KERNEL, ModuleFile, ModuleFiles, NAMED_BELOW};
use crate::model::{Definition, Event, FrameDef, ModuleId, ModuleKind, Note, ObjectFile};
use crate::symbols::ModuleSource;
use crate::sys::clock::Clock;
use crate::units::Nanos;
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

/// How often a reason to give up is looked for, and the time that is left to a thread which is to end.
const LOOK: Duration = Duration::from_millis(100);
const GRACE: Nanos = Nanos(2_000_000_000);

/// A thread that resolves frame definitions to names.
#[derive(Debug)]
pub struct Namer {
    frames: Option<Sender<Vec<FrameDef>>>,
    names: Receiver<Vec<Event>>,
    thread: Option<JoinHandle<Vec<Note>>>,
    deadline: Deadline,
    /// How long the end waits for names.
    patience: Nanos,
}

impl Namer {
    /// Starts the thread. `modules` contains the files that the sampler opened.
    #[must_use]
    pub(in crate::session) fn start(modules: Arc<ModuleFiles>, files: HostFiles) -> Namer {
        let (frames, wanted) = channel::<Vec<FrameDef>>();
        let (done, names) = channel();
        let (deadline, patience) = (files.deadline().clone(), files.patience());
        let thread = std::thread::spawn(move || {
            let deadline = files.deadline().clone();
            let mut naming = Naming::new(modules, files);
            while naming.take(&wanted) && !deadline.is_over() {
                let events = naming.name_some();
                naming.client.release(MOST);
                // The receiver is gone: the session ended early.
                if done.send(events).is_err() {
                    return naming.client.finish();
                }
            }
            // Runtimes write their names late, some only when they exit.
            let late = std::mem::take(&mut naming.late);
            naming.add(&late);
            while !naming.wanted.is_empty() && !deadline.is_over() {
                // As above: after an early end, names are not needed.
                let _ = done.send(naming.name_some());
            }
            naming.finish()
        });
        Namer { frames: Some(frames), names, thread: Some(thread), deadline, patience }
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

    /// Waits until all requested frames have names, for some seconds at most and until `give_up` says so. Notes come with
    /// the last names.
    pub fn finish(mut self, mut give_up: impl FnMut() -> bool) -> (Vec<Event>, Vec<Note>) {
        drop(self.frames.take());
        self.deadline.set(self.patience);
        let mut events = Vec::new();
        loop {
            match self.names.recv_timeout(LOOK) {
                Ok(found) => events.extend(found),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) if self.deadline.is_over_by(GRACE) => return (events, vec![held_up()]),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if !self.deadline.is_over() && give_up() {
                self.deadline.set(Nanos(0));
            }
        }
        let notes = self.thread.take().map_or_else(Vec::new, |thread| thread.join().unwrap_or_else(|_| vec![failed()]));
        (events, notes)
    }
}

/// The thread goes on after the deadline: it is left alone.
fn held_up() -> Note {
    unfinished("Some functions have no names: the search for them did not end in time.".to_string())
}

fn unfinished(text: String) -> Note {
    let fix = "Record for longer: names are looked for from the first sample on.".to_string();
    Note { topic: "names-unfinished".to_string(), text, fix: Some(fix) }
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
    wanted: Turns,
    /// JIT code that had no name when it was first seen.
    late: Vec<FrameDef>,
}

impl Naming {
    fn new(modules: Arc<ModuleFiles>, files: HostFiles) -> Naming {
        let deadline = files.deadline().clone();
        Naming {
            modules,
            client: NameClient::new(files).until(deadline),
            added: HashSet::new(),
            wanted: Turns::default(),
            late: Vec::new(),
        }
    }

    /// Takes the frames that have come; waits for some if all have been named. While none come, nothing that was read of
    /// files stays in memory. False at the end.
    fn take(&mut self, wanted: &Receiver<Vec<FrameDef>>) -> bool {
        while self.wanted.is_empty() {
            let batch = match wanted.recv_timeout(IDLE) {
                Err(RecvTimeoutError::Timeout) => {
                    self.client.release(0);
                    wanted.recv().ok()
                }
                batch => batch.ok(),
            };
            let Some(batch) = batch else { return false };
            self.add(&batch);
        }
        let come: Vec<_> = wanted.try_iter().collect();
        come.iter().for_each(|batch| self.add(batch));
        true
    }

    fn add(&mut self, frames: &[FrameDef]) {
        for (module, frames) in by_module(frames) {
            let modules = &self.modules;
            self.wanted.add(module, frames, || turn_of(modules.get(module).as_ref()));
        }
    }

    /// The names of some frames of the module whose turn it is.
    fn name_some(&mut self) -> Vec<Event> {
        let Some((module, frames)) = self.wanted.next(BATCH) else { return Vec::new() };
        let begun = Clock::start();
        if !self.added.contains(&module) {
            let Some((source, user)) = self.source(module) else {
                // Its file may be opened yet.
                self.late.extend(frames);
                return Vec::new();
            };
            self.client.add(module, source, user);
            self.added.insert(module);
        }
        let (names, later) = self.client.names(module, frames.iter().map(|frame| frame.address).collect());
        self.wanted.took(module, begun.now());
        let mut events = Vec::new();
        for (frame, symbols) in frames.into_iter().zip(names) {
            if !symbols.is_empty() {
                events.push(Event::Define(Definition::Names { frame: frame.id, symbols }));
            } else if later {
                self.late.push(frame);
            }
        }
        events
    }

    /// What to note.
    fn finish(self) -> Vec<Note> {
        let (modules, count) = (&self.modules, self.wanted.len());
        let first = self.wanted.first().and_then(|module| modules.get(module)).map(|module| module.def.path);
        let note = first.map(|path| {
            let text = format!(
                "{count} functions have no names, as there was no time left to read {path} and what follows it."
            );
            unfinished(text)
        });
        self.client.finish().into_iter().chain(note).collect()
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

/// What is read first: the kernel, then what root and we installed, and then what others bring, user by user.
fn turn_of(module: Option<&ModuleFile>) -> Turn {
    let Some(ModuleFile { def, file, user, .. }) = module else { return Turn::OfMachine };
    match def.kind {
        ModuleKind::Kernel | ModuleKind::Vdso => Turn::OfMachine,
        ModuleKind::File if file.as_ref().and_then(ObjectFile::stamp).is_some_and(|stamp| stamp.believed) => {
            Turn::Believed
        }
        ModuleKind::File => Turn::OfUser(*user),
        ModuleKind::Jit => Turn::OfProcess(def.pid),
    }
}
