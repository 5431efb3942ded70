//! The fast way to read small files of many threads: relative to an open directory, into one reused buffer.
//! Rereading an open file costs a sixth of opening it (1.0 us instead of 6.5 us, measured on Linux 6.18).

use super::proc_fs::{ProcFs, gone};
use crate::error::{Context, Result};
use rustix::fd::OwnedFd;
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::{Errno, pread};
use std::fmt::Write;

/// The `task` directory of a process, or /proc itself, kept open.
#[derive(Debug)]
pub struct TaskDir {
    directory: OwnedFd,
    /// Whether a task is found as `TID/task/TID` instead of `TID`.
    nested: bool,
}

/// An open file of a task.
#[derive(Debug)]
pub struct TaskFile(OwnedFd);

/// Buffers for file contents and for paths, reused for every file.
#[derive(Debug, Default)]
pub struct Scratch {
    bytes: Vec<u8>,
    path: String,
}

impl TaskDir {
    /// The threads of one process.
    pub fn of_process(proc: &ProcFs, pid: u32) -> Result<TaskDir> {
        TaskDir::open(proc, &format!("{pid}/task"), false)
    }

    /// All processes of the machine.
    pub fn of_processes(proc: &ProcFs) -> Result<TaskDir> {
        TaskDir::open(proc, "", false)
    }

    /// Any thread of the machine.
    pub fn of_machine(proc: &ProcFs) -> Result<TaskDir> {
        TaskDir::open(proc, "", true)
    }

    fn open(proc: &ProcFs, below: &str, nested: bool) -> Result<TaskDir> {
        let path = proc.root().join(below);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = openat(CWD, &path, flags, Mode::empty())
            .map_err(std::io::Error::from)
            .map_err(gone)
            .context(|| format!("cannot open {}", path.display()))?;
        Ok(TaskDir { directory, nested })
    }

    /// Opens a thread's file and keeps it open; `None` when the thread or the file does not exist.
    #[must_use]
    pub fn keep(&self, tid: u32, name: &str, scratch: &mut Scratch) -> Option<TaskFile> {
        scratch.path.clear();
        let written = match self.nested {
            true => write!(scratch.path, "{tid}/task/{tid}/{name}"),
            false => write!(scratch.path, "{tid}/{name}"),
        };
        written.ok()?;
        openat(&self.directory, scratch.path.as_str(), OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
            .ok()
            .map(TaskFile)
    }

    /// Reads a thread's file; `None` when the thread or the file does not exist.
    pub fn read<'a>(&self, tid: u32, name: &str, scratch: &'a mut Scratch) -> Option<&'a [u8]> {
        self.keep(tid, name, scratch)?.read(scratch)
    }
}

impl TaskFile {
    /// Reads the file's current contents from the beginning; `None` once the task has ended.
    pub fn read<'a>(&self, scratch: &'a mut Scratch) -> Option<&'a [u8]> {
        // These files report no size. 8 KiB holds all of them but `children`, for which the buffer grows.
        scratch.bytes.resize(scratch.bytes.len().max(8192), 0);
        let mut filled = 0;
        loop {
            match pread(&self.0, &mut scratch.bytes[filled..], filled as u64) {
                Ok(0) => return Some(&scratch.bytes[..filled]),
                Ok(count) => filled += count,
                Err(Errno::INTR) => {}
                Err(_) => return None,
            }
            // Every such file ends with a line end or a blank: a short read is complete and saves the second call.
            if filled < scratch.bytes.len() && filled > 0 && matches!(scratch.bytes[filled - 1], b'\n') {
                return Some(&scratch.bytes[..filled]);
            }
            if filled == scratch.bytes.len() {
                scratch.bytes.resize(filled * 2, 0);
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use crate::sys::procfs::{sched_stat, task_stat};

    #[test]
    fn a_kept_file_follows_its_thread_and_both_ways_to_it_agree() {
        let proc = ProcFs::new("/proc");
        let pid = std::process::id();
        let mut scratch = Scratch::default();
        let direct = TaskDir::of_process(&proc, pid).unwrap();
        let machine = TaskDir::of_machine(&proc).unwrap();
        let tid = proc.threads(pid).unwrap()[0];
        let kept = direct.keep(tid, "schedstat", &mut scratch).unwrap();
        let before = sched_stat(kept.read(&mut scratch).unwrap()).unwrap();
        let after = sched_stat(machine.read(tid, "schedstat", &mut scratch).unwrap()).unwrap();
        assert!(after.on_cpu_ns >= before.on_cpu_ns);
        assert_eq!(task_stat(direct.read(tid, "stat", &mut scratch).unwrap()).unwrap().id, tid);
    }

    #[test]
    fn a_thread_that_is_gone_reads_as_nothing() {
        let proc = ProcFs::new("/proc");
        let mut scratch = Scratch::default();
        let machine = TaskDir::of_machine(&proc).unwrap();
        assert!(machine.read(4_194_305, "stat", &mut scratch).is_none());
        assert!(TaskDir::of_process(&proc, 4_194_305).is_err());
    }

    #[test]
    fn a_file_longer_than_the_buffer_is_read_whole() {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("7/task/7");
        std::fs::create_dir_all(&directory).unwrap();
        std::fs::write(directory.join("children"), "123456 ".repeat(5000)).unwrap();
        let proc = ProcFs::new(root.path());
        let mut scratch = Scratch::default();
        let read = TaskDir::of_machine(&proc).unwrap().read(7, "children", &mut scratch).unwrap().len();
        assert_eq!(read, 35_000);
    }
}
