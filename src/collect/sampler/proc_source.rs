//! What the assembly of samples asks the system for: a process's mappings, a task's name, a mapped file. No other module of
//! the sampling thread reads `/proc`, and this one leaves to a helper what another process can hold up. The fake in the
//! tests answers from tables.

use super::maps::Mapping;
use crate::model::limits::{MAPS_BYTES, PROC_BYTES, USER_MAPS_BYTES};
use crate::model::{FileStamp, ObjectFile};
use crate::sys::bpf::ReturnSites;
use crate::sys::cgroupfs::{CgroupFs, Hierarchy, directories, membership};
use crate::sys::files;
use crate::sys::liveness::is_alive;
use crate::sys::proc_reader::{LookUp, Looked, Patience, ProcReader, Unanswered};
use crate::sys::procfs::{ProcFs, clock_tick, task_stat};
use crate::units::Nanos;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// The system as seen by the assembly of samples.
pub trait ProcSource {
    /// The text of `/proc/PID/maps`, up to a limit.
    fn maps(&mut self, pid: u32) -> Asked<Vec<u8>>;
    /// Answers that came too late.
    fn late(&mut self) -> Vec<Come>;
    /// A file of a task, by its name below `/proc/ID`.
    ///
    /// # Errors
    /// As `open(2)` and `read(2)`; `TimedOut` if it takes too long.
    fn read(&mut self, task: u32, file: &str) -> io::Result<Vec<u8>>;
    /// What a link of a task names.
    fn link(&mut self, task: u32, link: &str) -> Option<PathBuf>;
    /// Whether a process (or thread) can still run: a zombie cannot, unless other threads of it are alive.
    fn alive(&mut self, id: u32) -> bool;
    /// The same of a process that was alive `ago`: a younger one only has its number.
    fn alive_since(&mut self, pid: u32, ago: Nanos) -> bool;
    /// The user a process belongs to; one without files if it has ended.
    fn owner(&mut self, pid: u32) -> u32;
    /// Opens the file behind a mapping that names `path`.
    fn open(&mut self, pid: u32, path: &str, mapping: &Mapping<'_>) -> Asked<OpenedFile>;
    /// Copies a process's memory from `address` on; returns the number of bytes, 0 where nothing may be read.
    fn memory(&mut self, pid: u32, address: u64, to: &mut [u8]) -> usize;
    /// Addresses that measured functions have returned to so far, in any process.
    fn return_sites(&mut self) -> Vec<u64>;
    /// The path of a process's control group in the hierarchy that perf uses.
    fn cgroup(&mut self, pid: u32) -> Option<String>;
    /// The id of the group at that path.
    fn cgroup_id(&mut self, path: &str) -> Option<u64>;
    /// The path of the group with that id.
    fn cgroup_of(&mut self, id: u64) -> Option<String>;

    /// The name of a task.
    fn comm(&mut self, pid: u32, tid: u32) -> Option<String> {
        let text = self.read(pid, &format!("task/{tid}/comm")).ok()?;
        Some(String::from_utf8_lossy(&text).trim_end_matches('\n').to_string())
    }
}

/// What came of a question.
#[derive(Debug)]
pub enum Asked<T> {
    /// The answer.
    Is(T),
    /// There is none: the process is gone, or may not be read.
    Nothing,
    /// It took too long. The answer may come later, with this number.
    Late(u64),
}

/// The number of an answer that never comes.
pub const NEVER: u64 = 0;

/// An answer that came too late.
#[derive(Debug)]
pub enum Come {
    /// The mappings of a process.
    Maps(u32, Vec<u8>),
    /// A file that was to be opened, by the number it was promised with.
    File(u64, OpenedFile),
}

/// What is to come.
#[derive(Debug, Clone, Copy)]
enum Awaited {
    /// The mappings of this process.
    Maps(u32),
    /// A file that this process mapped.
    File(u32),
}

impl<T> Asked<T> {
    /// The answer.
    pub fn found(self) -> Option<T> {
        if let Asked::Is(answer) = self { Some(answer) } else { None }
    }
}

/// A mapped file, opened.
#[derive(Debug)]
pub struct OpenedFile {
    /// The file.
    pub file: ObjectFile,
    /// The root below which the process sees it; debug files are searched there as well.
    pub root: PathBuf,
}

/// Processes whose mappings are asked for later, as too many of their user's are.
const PUT_OFF: usize = 4096;
/// So many of them are asked for in one round.
const IN_ROUND: usize = 16;

/// The live system.
#[derive(Debug)]
pub struct LiveProc {
    root: PathBuf,
    reader: ProcReader,
    /// The hierarchy that perf uses; `None` if there is none.
    cgroups: Option<Hierarchy>,
    /// Where measured functions return to; `None` if none is measured.
    pub return_sites: Option<ReturnSites>,
    /// Look-ups that have no answer yet.
    awaited: FxHashMap<u64, Awaited>,
    /// Processes whose mappings are asked for later.
    put_off: VecDeque<u32>,
    /// Bytes of mappings that were read, by user.
    read_of: FxHashMap<u32, u64>,
}

impl LiveProc {
    /// Reads below `root`, usually `/proc`.
    pub fn new(root: impl Into<PathBuf>) -> LiveProc {
        let root = root.into();
        let cgroups = CgroupFs::open(&ProcFs::new(&root)).ok();
        LiveProc {
            reader: ProcReader::new(&root, Patience::BEFORE),
            root,
            cgroups: cgroups.and_then(|cgroups| cgroups.of_perf().cloned()),
            return_sites: None,
            awaited: FxHashMap::default(),
            put_off: VecDeque::new(),
            read_of: FxHashMap::default(),
        }
    }

    /// The capture has begun: rings fill while an answer is waited for.
    pub fn begin(&mut self) {
        self.reader.set_patience(Patience::WITHIN);
    }

    /// The processes that exist.
    pub fn processes(&self) -> Vec<u32> {
        ProcFs::new(&self.root).processes().unwrap_or_default()
    }

    /// Threads of a process; none if it is gone.
    pub fn threads(&mut self, pid: u32) -> Vec<u32> {
        match self.reader.look_up(pid, LookUp::Numbers { folder: "task".to_string() }) {
            Ok(Looked::Numbers(threads)) => threads,
            _ => Vec::new(),
        }
    }

    /// The process of a thread.
    pub fn process_of(&mut self, tid: u32) -> Option<u32> {
        let status = self.read(tid, "status").ok()?;
        let line = status.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"Tgid:"))?;
        std::str::from_utf8(line).ok()?.trim().parse().ok()
    }

    fn bytes(&mut self, task: u32, look_up: LookUp) -> Result<Vec<u8>, Unanswered> {
        match self.reader.look_up(task, look_up)? {
            Looked::Bytes(bytes) => Ok(bytes),
            _ => Err(Unanswered::Busy),
        }
    }

    /// Counts a text to the user whose it is.
    fn count(&mut self, pid: u32, text: &[u8]) {
        if let Some(user) = self.reader.user(pid) {
            *self.read_of.entry(user).or_default() += text.len() as u64;
        }
    }

    /// Whether no more mappings of this user's processes are read; ours and root's are.
    fn has_enough(&self, user: u32) -> bool {
        !files::is_believed(user) && self.read_of.get(&user).is_some_and(|read| *read >= USER_MAPS_BYTES)
    }

    /// Asks for the mappings of a process; what has no answer in time is remembered.
    fn ask_maps(&mut self, pid: u32) -> Asked<Vec<u8>> {
        if self.reader.user(pid).is_some_and(|user| self.has_enough(user)) {
            return Asked::Late(NEVER);
        }
        match self.reader.look_up_or_later(pid, LookUp::Read { file: "maps".to_string(), most: MAPS_BYTES }) {
            Ok(Looked::Bytes(text)) => {
                self.count(pid, &text);
                Asked::Is(text)
            }
            Ok(_) | Err(Unanswered::Refused(_)) => Asked::Nothing,
            Err(Unanswered::Late(number)) => {
                self.awaited.insert(number, Awaited::Maps(pid));
                Asked::Late(number)
            }
            Err(Unanswered::Busy) => {
                if self.put_off.len() < PUT_OFF {
                    self.put_off.push_back(pid);
                }
                Asked::Late(NEVER)
            }
        }
    }

    fn opened(&self, pid: u32, (file, stamp, below_its_root): (File, FileStamp, bool)) -> OpenedFile {
        let root = if below_its_root { self.root.join(format!("{pid}/root")) } else { PathBuf::from("/") };
        OpenedFile { file: files::object_of_length(file, stamp.size).stamped(stamp), root }
    }
}

impl ProcSource for LiveProc {
    fn maps(&mut self, pid: u32) -> Asked<Vec<u8>> {
        self.ask_maps(pid)
    }

    fn late(&mut self) -> Vec<Come> {
        let mut come = Vec::new();
        if self.awaited.is_empty() && self.put_off.is_empty() {
            return come;
        }
        for (number, answer) in self.reader.late() {
            match (self.awaited.remove(&number), answer) {
                (Some(Awaited::Maps(pid)), Ok(Looked::Bytes(text))) => {
                    self.count(pid, &text);
                    come.push(Come::Maps(pid, text));
                }
                (Some(Awaited::Maps(pid)), Err(Unanswered::Busy)) => self.put_off.push_back(pid),
                (Some(Awaited::File(pid)), Ok(Looked::File { file, stamp, below_its_root })) => {
                    come.push(Come::File(number, self.opened(pid, (file, stamp, below_its_root))));
                }
                _ => {}
            }
        }
        for _ in 0..IN_ROUND.min(self.put_off.len()) {
            let Some(pid) = self.put_off.pop_front() else { break };
            come.extend(self.ask_maps(pid).found().map(|text| Come::Maps(pid, text)));
        }
        come
    }

    fn read(&mut self, task: u32, file: &str) -> io::Result<Vec<u8>> {
        let read = self.bytes(task, LookUp::Read { file: file.to_string(), most: PROC_BYTES });
        read.map_err(|unanswered| match unanswered {
            Unanswered::Refused(error) => io::Error::from_raw_os_error(error),
            Unanswered::Late(_) | Unanswered::Busy => io::ErrorKind::TimedOut.into(),
        })
    }

    fn link(&mut self, task: u32, link: &str) -> Option<PathBuf> {
        let path = self.bytes(task, LookUp::Link { link: link.to_string() }).ok()?;
        Some(PathBuf::from(std::ffi::OsString::from_vec(path)))
    }

    fn alive(&mut self, id: u32) -> bool {
        is_alive(id)
    }

    fn alive_since(&mut self, pid: u32, ago: Nanos) -> bool {
        if !self.alive(pid) {
            return false;
        }
        let stat = self.read(pid, "stat").ok();
        let now = ProcFs::new(&self.root).ticks_since_boot();
        stat.zip(now).and_then(|(stat, now)| is_older(&stat, now, ago)).unwrap_or(true)
    }

    fn owner(&mut self, pid: u32) -> u32 {
        self.reader.user(pid).unwrap_or(u32::MAX)
    }

    fn open(&mut self, pid: u32, path: &str, mapping: &Mapping<'_>) -> Asked<OpenedFile> {
        let Mapping { start, end, identity, .. } = *mapping;
        let look_up = LookUp::Mapped { path: path.to_string(), start, end, identity };
        match self.reader.look_up_or_later(pid, look_up) {
            Ok(Looked::File { file, stamp, below_its_root }) => {
                Asked::Is(self.opened(pid, (file, stamp, below_its_root)))
            }
            Ok(_) | Err(Unanswered::Refused(_)) => Asked::Nothing,
            Err(Unanswered::Busy) => Asked::Late(NEVER),
            Err(Unanswered::Late(number)) => {
                self.awaited.insert(number, Awaited::File(pid));
                Asked::Late(number)
            }
        }
    }

    fn memory(&mut self, pid: u32, address: u64, to: &mut [u8]) -> usize {
        let Ok(length) = u32::try_from(to.len()) else { return 0 };
        let bytes = self.bytes(pid, LookUp::Memory { address, length }).unwrap_or_default();
        to.iter_mut().zip(&bytes).for_each(|(to, from)| *to = *from);
        bytes.len().min(to.len())
    }

    fn return_sites(&mut self) -> Vec<u64> {
        let read = self.return_sites.as_ref().and_then(|sites| sites.read().ok());
        read.unwrap_or_default()
    }

    fn cgroup(&mut self, pid: u32) -> Option<String> {
        self.cgroups.as_ref()?;
        let text = String::from_utf8_lossy(&self.read(pid, "cgroup").ok()?).into_owned();
        let hierarchy = self.cgroups.as_ref()?;
        hierarchy.path_of(&hierarchy.directory(membership(&text, hierarchy)?))
    }

    fn cgroup_id(&mut self, path: &str) -> Option<u64> {
        let below = path.strip_prefix('/')?;
        std::fs::metadata(self.cgroups.as_ref()?.mount.join(below)).ok().map(|about| about.ino())
    }

    fn cgroup_of(&mut self, id: u64) -> Option<String> {
        let hierarchy = self.cgroups.as_ref()?;
        let is_it = |path: &PathBuf| std::fs::metadata(path).is_ok_and(|about| about.ino() == id);
        let all = std::iter::once(hierarchy.mount.clone()).chain(directories(&hierarchy.mount));
        hierarchy.path_of(&{ all }.find(is_it)?)
    }
}

/// Whether a process with this `stat` file was already there `ago`, at `now` in ticks since boot; `None` if it cannot be
/// told.
fn is_older(stat: &[u8], now: u64, ago: Nanos) -> Option<bool> {
    let born = task_stat(stat)?.start_ticks;
    // Both times are rounded down, so an age may be a tick too high.
    Some(now.saturating_sub(born) > ago.0 / clock_tick().0 + 1)
}

#[cfg(test)]
pub(crate) mod fake {
    //! A fake system made of tables.

    use super::*;
    use std::collections::HashMap;

    /// Answers from its fields.
    #[derive(Default)]
    pub struct Tables {
        /// Maps by process.
        pub maps: HashMap<u32, String>,
        /// Processes whose maps and files come late.
        pub slow: Vec<u32>,
        /// Files that are late, by number.
        pub late_files: Vec<u64>,
        /// How often maps were read.
        pub reads: usize,
        /// Paths that were opened, in order.
        pub opened: Vec<String>,
        /// The file at each of them; three bytes that are not ELF if there is none.
        pub image: Option<ObjectFile>,
        /// The id and path of each process's control group.
        pub cgroups: HashMap<u32, (u64, String)>,
        /// What lies in every process's memory, and where.
        pub memory: (u64, Vec<u8>),
        /// Where measured functions return to.
        pub return_sites: Vec<u64>,
    }

    impl Tables {
        fn file(&self) -> ObjectFile {
            self.image.clone().unwrap_or_else(|| ObjectFile::new(*b"abc"))
        }
    }

    impl ProcSource for Tables {
        fn maps(&mut self, pid: u32) -> Asked<Vec<u8>> {
            self.reads += 1;
            match self.maps.get(&pid) {
                Some(_) if self.slow.contains(&pid) => Asked::Late(NEVER),
                Some(text) => Asked::Is(text.clone().into_bytes()),
                None => Asked::Nothing,
            }
        }

        fn late(&mut self) -> Vec<Come> {
            let slow = std::mem::take(&mut self.slow).into_iter();
            let maps = slow.filter_map(|pid| Some(Come::Maps(pid, self.maps.get(&pid)?.clone().into_bytes())));
            let numbers = std::mem::take(&mut self.late_files).into_iter();
            let file = || OpenedFile { file: self.file(), root: PathBuf::from("/") };
            let files = numbers.map(|number| Come::File(number, file()));
            maps.chain(files).collect()
        }

        fn read(&mut self, _: u32, _: &str) -> io::Result<Vec<u8>> {
            Err(io::ErrorKind::NotFound.into())
        }

        fn link(&mut self, _: u32, _: &str) -> Option<PathBuf> {
            None
        }

        fn comm(&mut self, _: u32, tid: u32) -> Option<String> {
            Some(format!("task-{tid}"))
        }

        fn alive(&mut self, id: u32) -> bool {
            self.maps.contains_key(&id)
        }

        fn alive_since(&mut self, pid: u32, _: Nanos) -> bool {
            self.alive(pid)
        }

        fn owner(&mut self, pid: u32) -> u32 {
            pid
        }

        fn memory(&mut self, _: u32, address: u64, to: &mut [u8]) -> usize {
            let (start, bytes) = &self.memory;
            let from = address.checked_sub(*start).and_then(|skipped| bytes.get(skipped as usize..));
            let copied = from.map_or(&[][..], |bytes| &bytes[..bytes.len().min(to.len())]);
            to[..copied.len()].copy_from_slice(copied);
            copied.len()
        }

        fn return_sites(&mut self) -> Vec<u64> {
            self.return_sites.clone()
        }

        fn open(&mut self, pid: u32, path: &str, _: &Mapping<'_>) -> Asked<OpenedFile> {
            self.opened.push(path.to_string());
            if self.slow.contains(&pid) {
                self.late_files.push(self.opened.len() as u64);
                return Asked::Late(self.opened.len() as u64);
            }
            Asked::Is(OpenedFile { file: self.file(), root: PathBuf::from("/") })
        }

        fn cgroup(&mut self, pid: u32) -> Option<String> {
            self.cgroups.get(&pid).map(|(_, path)| path.clone())
        }

        fn cgroup_id(&mut self, path: &str) -> Option<u64> {
            self.cgroups.values().find(|(_, own)| own == path).map(|(id, _)| *id)
        }

        fn cgroup_of(&mut self, id: u64) -> Option<String> {
            self.cgroups.values().find(|(own, _)| *own == id).map(|(_, path)| path.clone())
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::collect::sampler::maps::{Memory, parse};

    #[test]
    fn the_running_programs_own_file_is_found_by_name_and_inode() {
        let mut proc = LiveProc::new("/proc");
        let pid = std::process::id();
        let text = proc.maps(pid).found().unwrap();
        let own = parse(&text).find(|mapping| matches!(mapping.memory, Memory::File(_))).unwrap();
        let Memory::File(path) = own.memory.clone() else { unreachable!() };
        let opened = proc.open(pid, &path, &own).found().unwrap();
        assert_eq!(opened.file.bytes(0, 4).as_deref(), Some(b"\x7fELF".as_slice()));
        let mut other = own;
        other.identity.inode += 1;
        (other.start, other.end) = (1, 2);
        assert!(matches!(proc.open(pid, &path, &other), Asked::Nothing), "another inode is another file");
        assert!(proc.processes().contains(&pid) && proc.threads(pid).contains(&pid));
        assert_eq!((proc.process_of(pid), proc.owner(pid)), (Some(pid), rustix::process::geteuid().as_raw()));
        assert_eq!((proc.process_of(u32::MAX), proc.owner(u32::MAX)), (None, u32::MAX));
    }

    #[test]
    fn a_process_younger_than_the_end_of_another_only_has_its_number() {
        let stat = format!("7 (a) b) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {} 0 0{}", 50_000, " 0".repeat(28));
        // It was started a second ago.
        for (ago_ms, older) in [(0, true), (900, true), (979, true), (1_000, false), (90_000, false)] {
            assert_eq!(is_older(stat.as_bytes(), 50_100, Nanos(ago_ms * 1_000_000)), Some(older), "{ago_ms} ms");
        }
        assert_eq!(is_older(b"7 (a", 50_100, Nanos(0)), None);
    }

    #[test]
    fn mappings_that_nobody_serves_hold_up_nobody_and_come_late() {
        let root = tempfile::tempdir().unwrap();
        for pid in 0..8 {
            std::fs::create_dir(root.path().join(pid.to_string())).unwrap();
        }
        let fifo = root.path().join("7/maps");
        rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
        std::fs::write(root.path().join("6/maps"), "there\n").unwrap();
        let mut proc = LiveProc::new(root.path());
        proc.begin();
        assert!(matches!(proc.maps(7), Asked::Late(1)), "nobody writes to it");
        assert_eq!(proc.maps(6).found().as_deref(), Some(b"there\n".as_slice()));
        assert!(matches!(proc.maps(5), Asked::Nothing));
        assert!(proc.late().is_empty());
        std::fs::write(&fifo, "at last\n").unwrap();
        let begun = std::time::Instant::now();
        loop {
            if let Some(come) = proc.late().pop() {
                assert!(matches!(come, Come::Maps(7, text) if text == b"at last\n"));
                break;
            }
            assert!(begun.elapsed().as_secs() < 30, "it never came");
            std::thread::yield_now();
        }
    }
}
