//! Asks for look-ups, and waits for answers as long as can be afforded.

use super::connect::connect;
use super::patience::{Budget, Patience};
use super::perform::user_of;
use super::wire::{Answer, Found, LookUp, Question};
use crate::model::FileStamp;
use crate::sys::clock::Clock;
use crate::sys::helper::Channel;
use crate::units::Nanos;
use rustc_hash::FxHashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Look-ups of one asker that have no answer yet. More do not fit into the socket without somebody reading them.
const UNANSWERED: usize = 128;

/// Time between two attempts to start a helper.
const PAUSE: Nanos = Nanos(1_000_000_000);

/// What a look-up found.
#[derive(Debug)]
pub enum Looked {
    /// What was read, or what a link names.
    Bytes(Vec<u8>),
    /// The numbers among the names in a folder.
    Numbers(Vec<u32>),
    /// A file.
    File {
        /// Opened for reading.
        file: File,
        /// Which file it is.
        stamp: FileStamp,
        /// Whether it was found below the root of its process, and not below ours.
        below_its_root: bool,
    },
}

/// Why an answer is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unanswered {
    /// The kernel's error: the task is gone, or this user may not read it.
    Refused(i32),
    /// It takes longer than could be waited. The answer may come later, with this number.
    Late(u64),
    /// Too many look-ups of this user or of all wait for answers, or the helper is gone.
    Busy,
}

/// An answer, and whether it is wanted although it is late.
struct Answered {
    number: u64,
    is_wanted: bool,
    looked: Result<Looked, Unanswered>,
}

/// Asks a helper for what it reads.
#[derive(Debug)]
pub struct ProcReader {
    root: PathBuf,
    channel: Option<Channel>,
    clock: Clock,
    /// When a helper may be started.
    due: Nanos,
    budget: Budget,
    asked: u64,
    /// Look-ups without an answer, and whether it is wanted later, too.
    unanswered: FxHashMap<u64, bool>,
    /// Answers that came later than they were waited for.
    late: Vec<(u64, Result<Looked, Unanswered>)>,
}

impl ProcReader {
    /// Reads below `root`, normally `/proc`.
    #[must_use]
    pub fn new(root: &Path, patience: Patience) -> ProcReader {
        let clock = Clock::start();
        ProcReader {
            root: root.to_path_buf(),
            channel: None,
            clock,
            due: Nanos(0),
            budget: Budget::new(patience, clock.now()),
            asked: 0,
            unanswered: FxHashMap::default(),
            late: Vec::new(),
        }
    }

    /// From now on, waits so long for answers.
    pub fn set_patience(&mut self, patience: Patience) {
        self.budget = Budget::new(patience, self.clock.now());
    }

    /// Looks up something of a task, and waits for it as long as can be afforded.
    ///
    /// # Errors
    /// Why an answer is missing.
    pub fn look_up(&mut self, task: u32, look_up: LookUp) -> Result<Looked, Unanswered> {
        self.wait_for(task, look_up, false)
    }

    /// The same, and [`ProcReader::late`] has the answer if it comes later.
    ///
    /// # Errors
    /// Why an answer is missing.
    pub fn look_up_or_later(&mut self, task: u32, look_up: LookUp) -> Result<Looked, Unanswered> {
        self.wait_for(task, look_up, true)
    }

    fn wait_for(&mut self, task: u32, look_up: LookUp, or_later: bool) -> Result<Looked, Unanswered> {
        let before = self.clock.now();
        if self.unanswered.len() >= UNANSWERED {
            self.receive();
        }
        let number = self.ask(task, look_up, or_later).ok_or(Unanswered::Busy)?;
        let user = self.user(task);
        let until = before + self.budget.of(user, before);
        loop {
            let now = self.clock.now();
            let left = until - now.min(until);
            let is_ready = self.channel.as_ref().is_some_and(|channel| channel.is_ready(left));
            let answer = if is_ready { self.answer() } else { None };
            let done = answer.as_ref().is_some_and(|answer| answer.number == number);
            if done || !is_ready {
                let now = self.clock.now();
                self.budget.waited(user, now - before, now);
            }
            match answer {
                Some(answer) if answer.number == number => return answer.looked,
                Some(answer) => self.keep(answer),
                None if self.channel.is_none() => return Err(Unanswered::Busy),
                None => return Err(Unanswered::Late(number)),
            }
        }
    }

    /// The user of a task, if it exists. Nobody can hold that up.
    #[must_use]
    pub fn user(&self, task: u32) -> Option<u32> {
        user_of(&self.root, task)
    }

    /// Answers that came too late, with their numbers. Waits for none.
    pub fn late(&mut self) -> Vec<(u64, Result<Looked, Unanswered>)> {
        self.receive();
        std::mem::take(&mut self.late)
    }

    /// Takes what has come.
    fn receive(&mut self) {
        while !self.unanswered.is_empty() && self.channel.as_ref().is_some_and(|channel| channel.is_ready(Nanos(0))) {
            let Some(answer) = self.answer() else { break };
            self.keep(answer);
        }
    }

    fn keep(&mut self, answer: Answered) {
        if answer.is_wanted {
            self.late.push((answer.number, answer.looked));
        }
    }

    /// Sends a question; `None` if too many wait for answers, or the helper is gone.
    fn ask(&mut self, task: u32, look_up: LookUp, or_later: bool) -> Option<u64> {
        if self.unanswered.len() >= UNANSWERED {
            return None;
        }
        let now = self.clock.now();
        if self.channel.is_none() && now >= self.due {
            self.due = now + PAUSE;
            self.channel = connect(&self.root).ok();
        }
        let channel = self.channel.as_ref()?;
        let number = self.asked + 1;
        let question = postcard::to_stdvec(&Question { number, task, look_up }).ok()?;
        if channel.send(&question, None).is_err() {
            self.lose();
            return None;
        }
        self.asked = number;
        self.unanswered.insert(number, or_later);
        Some(number)
    }

    /// The next answer, which has begun to come; `None` if the helper is gone.
    fn answer(&mut self) -> Option<Answered> {
        let packet = self.channel.as_ref()?.receive().ok();
        let answer = packet.and_then(|packet| {
            let answer: Answer = postcard::from_bytes(&packet.bytes).ok()?;
            Some((answer, packet.descriptor))
        });
        let Some((Answer { number, found }, descriptor)) = answer else {
            self.lose();
            return None;
        };
        let is_wanted = self.unanswered.remove(&number).unwrap_or(false);
        let looked = match (found, descriptor) {
            (Found::Bytes(bytes), _) => Ok(Looked::Bytes(bytes)),
            (Found::Numbers(numbers), _) => Ok(Looked::Numbers(numbers)),
            (Found::File { stamp, below_its_root }, Some(file)) => {
                Ok(Looked::File { file: file.into(), stamp, below_its_root })
            }
            (Found::File { .. }, None) => Err(Unanswered::Refused(libc::EMFILE)),
            (Found::Nothing(error), _) => Err(Unanswered::Refused(error)),
            (Found::Busy, _) => Err(Unanswered::Busy),
        };
        Some(Answered { number, is_wanted, looked })
    }

    /// The helper is gone, and with it what it was asked for.
    fn lose(&mut self) {
        self.channel = None;
        let lost = self.unanswered.drain().filter(|(_, is_wanted)| *is_wanted);
        self.late.extend(lost.map(|(number, _)| (number, Err(Unanswered::Busy))));
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::time::{Duration, Instant};

    /// Tasks whose file `stuck` nobody writes to, and whose file `there` is one.
    fn stuck(tasks: &[u32]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for task in tasks {
            let folder = root.path().join(task.to_string());
            std::fs::create_dir(&folder).unwrap();
            mknodat(CWD, folder.join("stuck"), FileType::Fifo, Mode::RWXU, 0).unwrap();
            std::fs::write(folder.join("there"), "it is").unwrap();
        }
        root
    }

    fn read(reader: &mut ProcReader, task: u32, file: &str) -> Result<Vec<u8>, Unanswered> {
        match reader.look_up(task, LookUp::Read { file: file.to_string(), most: 99 })? {
            Looked::Bytes(bytes) => Ok(bytes),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_stuck_holds_up_nobody_and_comes_when_it_comes() {
        let root = stuck(&[7, 8]);
        let mut reader = ProcReader::new(root.path(), Patience::WITHIN);
        let stuck = || LookUp::Read { file: "stuck".to_string(), most: 99 };
        assert!(matches!(reader.look_up_or_later(7, stuck()), Err(Unanswered::Late(1))));
        assert_eq!(read(&mut reader, 8, "stuck"), Err(Unanswered::Late(2)), "this one is not wanted later");
        std::fs::write(root.path().join("8/stuck"), "in vain").unwrap();
        assert_eq!(read(&mut reader, 7, "there").unwrap(), b"it is");
        assert_eq!(read(&mut reader, 7, "nothing"), Err(Unanswered::Refused(libc::ENOENT)));
        assert!(reader.late().is_empty());
        std::fs::write(root.path().join("7/stuck"), "at last").unwrap();
        let begun = Instant::now();
        let late = std::iter::repeat_with(|| reader.late()).find(|late| {
            assert!(begun.elapsed() < Duration::from_secs(30), "it never came");
            !late.is_empty()
        });
        let [(1, Ok(Looked::Bytes(bytes)))] = &late.unwrap()[..] else { panic!("another answer") };
        assert_eq!(bytes, b"at last");
    }

    #[test]
    fn so_many_are_asked_for_and_no_more() {
        let root = stuck(&[7]);
        let mut reader = ProcReader::new(root.path(), Patience { total: (Nanos(0), 0.0), user: (Nanos(0), 0.0) });
        let mut asked = 0;
        while !matches!(read(&mut reader, 7, "stuck"), Err(Unanswered::Busy)) {
            asked += 1;
            assert!(asked <= UNANSWERED, "it never says that it is busy");
        }
        assert!(asked >= 64, "only {asked} could be asked for");
    }
}
