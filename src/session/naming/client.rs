//! Asks a process of its own for names, and opens the files it needs. If it dies or takes too long over a module, that
//! module goes without names, which is noted, and another one is started for the rest.

use super::deadline::Deadline;
use super::host_files::{FileSource, List};
use super::server;
use super::wire::{Answer, Call, Reply, Request, Source, decode, encode};
use crate::error::{Error, ErrorKind, Result};
use crate::model::limits::{NAMES_CPU, NAMES_MEMORY, NAMES_SILENCE};
use crate::model::{BuildId, ModuleId, Note, ObjectFile, Symbol};
use crate::symbols::ModuleSource;
use crate::sys::clock::Clock;
use crate::sys::helper::{self, Channel, Helper};
use crate::units::Nanos;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::fmt::Write;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

/// What the process is called, and what it is started as.
pub(super) const NAME: &str = "ironlaw-names";

/// CPU time for a request after [`PATIENCE`] modules took too long, so that many hostile ones cannot hold a recording's
/// end for long.
const LEAST_CPU: Nanos = Nanos(1_000_000_000);
const PATIENCE: usize = 3;

/// Files held open for a process that is started later: beyond it, the oldest go of the user who has most, which only the
/// running one still has.
const MOST_HELD: usize = 1024;

/// Between two looks at the CPU time.
const LOOK: Nanos = Nanos(100_000_000);

/// Serves names if this program was started to, and returns true then.
pub(in crate::session) fn serve_names() -> bool {
    match helper::enter_confined(NAME) {
        None => return false,
        Some(Ok(channel)) => server::serve(channel),
        // Unconfined, it reads nothing: the other side learns that it has ended.
        Some(Err(_)) => {}
    }
    true
}

/// Who makes the names.
enum Running {
    Process(Helper),
    Thread(Channel),
}

impl Running {
    fn start() -> Result<Running> {
        if helper::can_start() {
            return Helper::start(NAME, Duration::from_secs(NAMES_SILENCE)).map(Running::Process);
        }
        let (ours, theirs) = Channel::both()?;
        std::thread::spawn(move || server::serve(theirs));
        Ok(Running::Thread(ours))
    }

    fn channel(&self) -> &Channel {
        match self {
            Running::Process(process) => &process.channel,
            Running::Thread(channel) => channel,
        }
    }

    fn cpu(&self) -> Nanos {
        match self {
            Running::Process(process) => process.cpu().unwrap_or_default(),
            Running::Thread(_) => Nanos(0),
        }
    }
}

/// Names by module.
pub(in crate::session) struct NameClient<F> {
    files: F,
    /// When it asks for nothing more.
    deadline: Deadline,
    running: Option<Running>,
    sources: FxHashMap<ModuleId, ModuleSource>,
    /// Those with a file and the users whose processes mapped them, oldest first.
    files_held: VecDeque<(ModuleId, u32)>,
    /// The labels of the modules that the running process knows.
    sent: FxHashMap<ModuleId, String>,
    /// The modules that have no names for a reason: their path, and why.
    lost: FxHashMap<ModuleId, (String, String)>,
    late: usize,
}

impl<F: FileSource> NameClient<F> {
    pub(in crate::session) fn new(files: F) -> NameClient<F> {
        let (sources, sent, lost) = (FxHashMap::default(), FxHashMap::default(), FxHashMap::default());
        NameClient {
            files,
            deadline: Deadline::default(),
            running: None,
            sources,
            files_held: VecDeque::new(),
            sent,
            lost,
            late: 0,
        }
    }

    /// The same, but it ends with a deadline, whatever it waits for.
    pub(in crate::session) fn until(self, deadline: Deadline) -> NameClient<F> {
        NameClient { deadline, ..self }
    }

    /// One whose names come from the other end of this connection.
    #[cfg(any(test, fuzzing))]
    pub(super) fn of(files: F, channel: Channel) -> NameClient<F> {
        NameClient { running: Some(Running::Thread(channel)), ..NameClient::new(files) }
    }

    /// Adds a module that a process of this user mapped.
    pub(in crate::session) fn add(&mut self, module: ModuleId, source: ModuleSource, user: u32) {
        if matches!(source, ModuleSource::File { .. }) {
            self.files_held.push_back((module, user));
        }
        self.sources.insert(module, source);
        if self.files_held.len() > MOST_HELD
            && let Some((oldest, _)) = self.oldest_of_most().and_then(|at| self.files_held.remove(at))
        {
            self.sources.remove(&oldest);
        }
    }

    fn oldest_of_most(&self) -> Option<usize> {
        let mut counts: FxHashMap<u32, usize> = FxHashMap::default();
        self.files_held.iter().for_each(|(_, user)| *counts.entry(*user).or_default() += 1);
        let most = counts.values().copied().max()?;
        self.files_held.iter().position(|(_, user)| counts.get(user) == Some(&most))
    }

    /// The names at addresses of a module, innermost first, and whether those without any may get some later.
    pub(in crate::session) fn names(&mut self, module: ModuleId, addresses: Vec<u64>) -> (Vec<Vec<Symbol>>, bool) {
        let count = addresses.len();
        if (self.sources.contains_key(&module) || self.sent.contains_key(&module)) && !self.lost.contains_key(&module) {
            let mut answer = self.ask_names(module, addresses.clone());
            if answer.is_err() && self.was_killed() {
                answer = self.ask_names(module, addresses);
            }
            match answer {
                Ok((names, later)) if names.len() == count => return (names, later),
                Ok(_) => self.lose(module, "the process that makes names gave another number of them".to_string()),
                Err(error) => self.lose(module, error.to_string()),
            }
        }
        (vec![Vec::new(); count], false)
    }

    fn ask_names(&mut self, module: ModuleId, addresses: Vec<u64>) -> Result<(Vec<Vec<Symbol>>, bool)> {
        if !self.sent.contains_key(&module)
            && let Some(source) = self.sources.get(&module).cloned()
        {
            let label = source.label().to_string();
            self.send_module(module, source)?;
            self.sent.insert(module, label);
        }
        match self.request(&Request::Names { module: module.0, addresses }, None)? {
            Reply::Names(names, later) => Ok((names, later)),
            _ => Err(misunderstood()),
        }
    }

    fn send_module(&mut self, module: ModuleId, source: ModuleSource) -> Result<()> {
        let (source, file) = match source {
            ModuleSource::Kernel => (Source::Kernel, None),
            ModuleSource::Jit { pid, root, dump } => (Source::Jit { pid, root, dump }, None),
            ModuleSource::Vdso { image } => (Source::Vdso { image: whole(&image)? }, None),
            ModuleSource::File { file, path, root } => {
                (Source::File { length: file.length(), stamp: file.stamp(), path, root }, Some(file))
            }
        };
        let descriptor = file.as_ref().and_then(ObjectFile::descriptor);
        self.request(&Request::Add { module: module.0, source }, descriptor).map(drop)
    }

    /// The symbols that a stripped file carries.
    pub(super) fn debug_data(&mut self, file: &ObjectFile) -> Option<ObjectFile> {
        let request = Request::DebugData { length: file.length() };
        match self.request(&request, Some(file.descriptor()?)) {
            Ok(Reply::File(bytes)) if !bytes.is_empty() => Some(ObjectFile::new(bytes)),
            _ => None,
        }
    }

    /// Forgets what was read of files and not used lately, if all takes more bytes than that.
    pub(in crate::session) fn release(&mut self, beyond: usize) {
        if self.running.is_some() && self.request(&Request::Release { beyond }, None).is_err() {
            self.end();
        }
    }

    /// Leaves the names to later sessions, and returns what to note.
    pub(in crate::session) fn finish(mut self) -> Vec<Note> {
        let notes = match self.running.is_some().then(|| self.request(&Request::Finish, None)) {
            Some(Ok(Reply::Notes(notes))) => notes,
            _ => Vec::new(),
        };
        notes.into_iter().chain(self.note()).collect()
    }

    /// The modules that have no names for a reason.
    fn note(&self) -> Option<Note> {
        const SHOWN: usize = 3;
        let mut lost: Vec<_> = self.lost.values().collect();
        lost.sort_unstable();
        let mut text = String::from("no names of ");
        for (at, (path, why)) in lost.iter().take(SHOWN).enumerate() {
            // Writing to a string cannot fail.
            let _ = write!(text, "{}{path} ({why})", if at > 0 { "; " } else { "" });
        }
        let more = lost.len().saturating_sub(SHOWN);
        if more > 0 {
            let _ = write!(text, "; and of {more} more");
        }
        text += ": their functions are shown by address";
        (!lost.is_empty()).then(|| Note { topic: "names-lost".to_string(), text, fix: None })
    }

    /// Whether somebody else ended the process, which is then not the module's fault. It is gone afterwards.
    fn was_killed(&mut self) -> bool {
        let Some(Running::Process(process)) = &mut self.running else { return false };
        let killed = process.was_killed();
        if killed {
            self.end();
        }
        killed
    }

    fn lose(&mut self, module: ModuleId, why: String) {
        let known = self.sources.remove(&module).map(|source| source.label().to_string());
        let label = known.or_else(|| self.sent.remove(&module)).unwrap_or_default();
        let why = self.end().unwrap_or(why);
        self.lost.insert(module, (label, why));
    }

    /// Ends the process; says how it had ended by itself, if it had.
    fn end(&mut self) -> Option<String> {
        for (module, label) in self.sent.drain().filter(|(module, _)| !self.sources.contains_key(module)) {
            self.lost.entry(module).or_insert((label, "its file is closed, and who had read it has ended".to_string()));
        }
        match self.running.take()? {
            Running::Thread(_) => None,
            Running::Process(mut process) => process.end().map(|signal| {
                format!("reading it ended by signal {signal}, with at most {} GiB of memory", NAMES_MEMORY >> 30)
            }),
        }
    }

    /// Sends a request and answers the calls that come before its reply.
    fn request(&mut self, request: &Request, descriptor: Option<BorrowedFd<'_>>) -> Result<Reply> {
        let running = match self.running.take() {
            Some(running) => running,
            None => Running::start()?,
        };
        let running = self.running.insert(running);
        running.channel().send(&encode(request)?, descriptor)?;
        let begun = running.cpu();
        let most = if self.late < PATIENCE { seconds(NAMES_CPU) } else { LEAST_CPU };
        loop {
            if let Err(error) = wait(running, begun + most, &self.deadline) {
                self.late += 1;
                return Err(error);
            }
            match decode(&running.channel().receive()?.bytes)? {
                Call::Reply(reply) => return Ok(reply),
                call => answer(&self.files, call, running.channel())?,
            }
        }
    }
}

fn seconds(count: u64) -> Nanos {
    Nanos(count * 1_000_000_000)
}

fn whole(image: &ObjectFile) -> Result<Vec<u8>> {
    image.bytes(0, image.length()).map(Vec::from).ok_or_else(|| Error::new(ErrorKind::Io, "cannot read it"))
}

fn misunderstood() -> Error {
    Error::new(ErrorKind::Corrupt, "the process that makes names answered something else")
}

/// Waits for the next packet. Errors: it takes too long.
fn wait(running: &Running, until: Nanos, deadline: &Deadline) -> Result<()> {
    let clock = Clock::start();
    // One that calls without end is looked at too.
    while running.cpu() <= until && clock.now() <= seconds(NAMES_SILENCE) && !deadline.is_over() {
        if running.channel().is_ready(LOOK) {
            return Ok(());
        }
    }
    Err(Error::new(ErrorKind::Exhausted, "reading it took too long"))
}

fn answer(files: &impl FileSource, call: Call, channel: &Channel) -> Result<()> {
    let none = Answer::default();
    let send = |answer: &Answer, descriptor: Option<BorrowedFd<'_>>| channel.send(&encode(answer)?, descriptor);
    let found = |length, bytes| Answer { found: true, length, stamp: None, bytes };
    let object = |file: Option<ObjectFile>| {
        let file = file.filter(|file| file.descriptor().is_some());
        let Some(file) = file else { return send(&none, None) };
        send(&Answer { stamp: file.stamp(), ..found(file.length(), Vec::new()) }, file.descriptor())
    };
    match call {
        Call::Open(path) => object(files.open(&path)),
        Call::Fetch(id) => object(files.fetch(&BuildId(id))),
        Call::List(path) => match files.list(&path) {
            Some(List::File(file)) => send(&found(0, Vec::new()), Some(file.as_fd())),
            Some(List::Text(text)) => send(&found(0, text), None),
            None => send(&none, None),
        },
        Call::Head(path) => send(&files.head(&path).map_or_else(Answer::default, |bytes| found(0, bytes)), None),
        Call::Stored(name) => match files.stored(&name) {
            Some((file, length)) => send(&found(length, Vec::new()), Some(file.as_fd())),
            None => send(&none, None),
        },
        Call::Store(name, bytes) => {
            files.store(&name, &bytes);
            send(&none, None)
        }
        Call::Grown(path, from) => {
            let grown = files.grown(&path, from);
            send(
                &grown.map_or_else(Answer::default, |tail| Answer {
                    stamp: tail.stamp,
                    ..found(tail.length, tail.bytes)
                }),
                None,
            )
        }
        Call::Reply(_) => Err(misunderstood()),
    }
}
