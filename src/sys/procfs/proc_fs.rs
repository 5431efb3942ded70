//! The opener of its files: processes, their threads and descendants, settings and the machine.

use super::{KernelSymbols, Status, children, clock_tick, fields, kernel_functions, kernel_symbols, parse, status};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::limits::{MAPS_BYTES, PROC_BYTES};
use crate::sys::proc_reader::{LookUp, Looked, Patience, ProcReader, Unanswered};
use crate::units::Nanos;
use std::fs;
use std::io::{self, BufReader, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A mounted proc file system; tests use a directory of their own.
#[derive(Debug, Clone)]
pub struct ProcFs {
    root: PathBuf,
    /// Reads what another process can hold up.
    reader: Arc<Mutex<ProcReader>>,
}

/// Files of a process that wait for its locks: of its memory, which it may hold as long as it likes, and of its `exec`.
const HELD_UP: &[&str] = &[
    "auxv",
    "cmdline",
    "environ",
    "io",
    "maps",
    "numa_maps",
    "personality",
    "smaps",
    "smaps_rollup",
    "stack",
    "syscall",
];

impl ProcFs {
    /// The file system at `root`, normally `/proc`.
    pub fn new(root: impl Into<PathBuf>) -> ProcFs {
        let root = root.into();
        let reader = Arc::new(Mutex::new(ProcReader::new(&root, Patience::READINGS)));
        ProcFs { root, reader }
    }

    /// The mount point.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Reads a file's bytes, up to a limit; `NotFound` for a file of an ended process, `Exhausted` where another process
    /// holds it up.
    pub fn read(&self, path: impl AsRef<Path>) -> Result<Vec<u8>> {
        self.start_of(path, PROC_BYTES)
    }

    /// Reads the first bytes of a file: a process decides how long some of its files are.
    pub fn start_of(&self, path: impl AsRef<Path>, most: u64) -> Result<Vec<u8>> {
        let read = match held_up(path.as_ref()) {
            Some((task, file)) => self.read_by_helper(task, file, most),
            None => start_of(&self.root.join(&path), most).map_err(gone),
        };
        read.context(|| format!("cannot read {}", self.root.join(path).display()))
    }

    fn read_by_helper(&self, task: u32, file: &str, most: u64) -> Result<Vec<u8>> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        match reader.look_up(task, LookUp::Read { file: file.to_string(), most }) {
            Ok(Looked::Bytes(bytes)) => Ok(bytes),
            Err(Unanswered::Refused(error)) => Err(gone(io::Error::from_raw_os_error(error))),
            Ok(_) | Err(_) => Err(Error::new(ErrorKind::Exhausted, "another process holds it up")),
        }
    }

    /// Whether a file of a process, or what it links to, is a pipe with a name. Whoever serves it may hold that up.
    #[must_use]
    pub fn is_fifo(&self, task: u32, file: &str) -> bool {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        matches!(reader.look_up(task, LookUp::IsFifo { file: file.to_string() }), Ok(Looked::Numbers(is)) if is == [1])
    }

    /// Reads a file's text; invalid UTF-8 is replaced.
    pub fn text(&self, path: impl AsRef<Path>) -> Result<String> {
        self.read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// A setting under `sys/`, e.g. `kernel/perf_event_paranoid`; `None` when it is missing or not a number.
    #[must_use]
    pub fn setting(&self, name: &str) -> Option<i64> {
        self.text(Path::new("sys").join(name)).ok()?.trim().parse().ok()
    }

    /// Process ids, in no particular order.
    pub fn processes(&self) -> Result<Vec<u32>> {
        numbers_in(&self.root)
    }

    /// Ids of the threads of a process.
    pub fn threads(&self, pid: u32) -> Result<Vec<u32>> {
        numbers_in(&self.root.join(format!("{pid}/task")))
    }

    /// Returns these processes, followed by all their living descendants.
    #[must_use]
    pub fn with_descendants(&self, pids: &[u32]) -> Vec<u32> {
        let mut all = pids.to_vec();
        let mut seen: std::collections::HashSet<u32> = all.iter().copied().collect();
        let mut at = 0;
        while let Some(pid) = all.get(at).copied() {
            for tid in self.threads(pid).unwrap_or_default() {
                let text = self.read(format!("{pid}/task/{tid}/children")).unwrap_or_default();
                all.extend(children(&text).filter(|child| seen.insert(*child)));
            }
            at += 1;
        }
        all
    }

    /// Whether a task `tid` exists, thread group leader or not.
    #[must_use]
    pub fn exists(&self, tid: u32) -> bool {
        self.root.join(tid.to_string()).is_dir()
    }

    /// Time since boot in clock ticks, the unit of start times in `stat`.
    #[must_use]
    pub fn ticks_since_boot(&self) -> Option<u64> {
        let uptime = self.read("uptime").ok()?;
        let seconds: f64 = parse(fields(&uptime).next()?)?;
        Some(Nanos::from_seconds(seconds).0 / clock_tick().0)
    }

    /// Whether kernel addresses can be read, from the beginning of `kallsyms`: the whole file has 200,000 lines.
    #[must_use]
    pub fn kernel_symbols(&self) -> KernelSymbols {
        let mut head = Vec::new();
        let read = fs::File::open(self.root.join("kallsyms")).and_then(|file| file.take(4096).read_to_end(&mut head));
        match read {
            Ok(_) => kernel_symbols(&head),
            Err(_) => KernelSymbols::Absent,
        }
    }

    /// The addresses of the kernel functions whose names are `wanted`; none where they are hidden.
    #[must_use]
    pub fn kernel_functions(&self, wanted: impl Fn(&str) -> bool) -> Vec<Range<u64>> {
        let Ok(list) = fs::File::open(self.root.join("kallsyms")) else { return Vec::new() };
        kernel_functions(BufReader::with_capacity(1 << 16, list), wanted)
    }

    /// `status` of a process or thread.
    pub fn status(&self, tid: u32) -> Result<Status> {
        self.read(format!("{tid}/status")).map(|bytes| status(&bytes))
    }

    /// The text of a process's mappings, up to a limit.
    pub fn maps(&self, pid: u32) -> Result<Vec<u8>> {
        self.start_of(format!("{pid}/maps"), MAPS_BYTES)
    }
}

/// The task and the name of a file that another process may hold up; none of ours.
fn held_up(path: &Path) -> Option<(u32, &str)> {
    let (task, file) = path.to_str()?.split_once('/')?;
    let name = file.rsplit('/').next()?;
    let task = task.parse().ok().filter(|task| *task != std::process::id())?;
    HELD_UP.contains(&name).then_some((task, file))
}

fn start_of(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Entries of a directory whose names are numbers.
fn numbers_in(directory: &Path) -> Result<Vec<u32>> {
    let entries = fs::read_dir(directory).map_err(gone).context(|| format!("cannot list {}", directory.display()))?;
    // Listing a process that ends meanwhile stops with ESRCH; the entries listed until then are kept.
    Ok(entries.map_while(|entry| entry.ok()).filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

/// The kernel reports ESRCH for files of a task that ended after they were opened.
pub(super) fn gone(error: std::io::Error) -> Error {
    if error.raw_os_error() == Some(libc::ESRCH) {
        return Error::new(ErrorKind::NotFound, "the process has ended");
    }
    error.into()
}
