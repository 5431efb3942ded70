//! What the assembly of samples asks the system for: a process's mappings, a task's name, a mapped file. The fake in
//! the tests answers from tables.

use super::maps::Mapping;
use crate::error::ErrorKind;
use crate::model::{FileStamp, Identity, ObjectFile};
use crate::sys::bpf::ReturnSites;
use crate::sys::cgroupfs::{CgroupFs, Hierarchy, directories, membership};
use crate::sys::procfs::{ProcFs, clock_tick, task_stat};
use crate::sys::{files, process_memory};
use crate::units::Nanos;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The system as seen by the assembly of samples.
pub trait ProcSource {
    /// The text of `/proc/PID/maps`, up to a limit; `None` if the process is gone or may not be read.
    fn maps(&mut self, pid: u32) -> Option<Vec<u8>>;
    /// The name of a task.
    fn comm(&mut self, pid: u32, tid: u32) -> Option<String>;
    /// Whether a process (or thread) can still run: a zombie cannot, unless other threads of it are alive.
    fn alive(&mut self, id: u32) -> bool;
    /// The same of a process that was alive `ago`: a younger one only has its number.
    fn alive_since(&mut self, pid: u32, ago: Nanos) -> bool;
    /// The user a process belongs to; one without files if it has ended.
    fn owner(&mut self, pid: u32) -> u32;
    /// Opens the file behind a mapping that names `path`.
    fn open(&mut self, pid: u32, path: &str, mapping: &Mapping<'_>) -> Option<OpenedFile>;
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
}

/// A mapped file, opened.
pub struct OpenedFile {
    /// The file.
    pub file: ObjectFile,
    /// The root below which the process sees it; debug files are searched there as well.
    pub root: PathBuf,
}

/// The live system.
#[derive(Debug)]
pub struct LiveProc {
    root: PathBuf,
    /// The hierarchy that perf uses; `None` if there is none.
    cgroups: Option<Hierarchy>,
    /// Where measured functions return to; `None` if none is measured.
    pub return_sites: Option<ReturnSites>,
}

impl LiveProc {
    /// Reads below `root`, usually `/proc`.
    pub fn new(root: impl Into<PathBuf>) -> LiveProc {
        let root = root.into();
        let cgroups = CgroupFs::open(&ProcFs::new(&root)).ok();
        LiveProc { root, return_sites: None, cgroups: cgroups.and_then(|cgroups| cgroups.of_perf().cloned()) }
    }

    fn process(&self, pid: u32) -> PathBuf {
        self.root.join(pid.to_string())
    }
}

impl ProcSource for LiveProc {
    fn maps(&mut self, pid: u32) -> Option<Vec<u8>> {
        ProcFs::new(&self.root).maps(pid).ok()
    }

    fn comm(&mut self, pid: u32, tid: u32) -> Option<String> {
        let path = self.process(pid).join("task").join(tid.to_string()).join("comm");
        Some(std::fs::read_to_string(path).ok()?.trim_end_matches('\n').to_string())
    }

    fn alive(&mut self, id: u32) -> bool {
        let process = self.process(id);
        let stat = match ProcFs::new(&self.root).read(format!("{id}/stat")) {
            Ok(stat) => stat,
            // For want of descriptors or memory, nothing is known of its end.
            Err(error) => return error.kind() != ErrorKind::NotFound,
        };
        // The state follows the name, which is in parentheses and may itself contain some.
        let after = stat.iter().rposition(|byte| *byte == b')').map_or(0, |at| at + 2);
        match stat.get(after) {
            Some(b'Z' | b'X') => std::fs::read_dir(process.join("task")).is_ok_and(|tasks| tasks.count() > 1),
            _ => true,
        }
    }

    fn alive_since(&mut self, pid: u32, ago: Nanos) -> bool {
        let proc = ProcFs::new(&self.root);
        let born = proc.read(format!("{pid}/stat")).ok().and_then(|text| Some(task_stat(&text)?.start_ticks));
        let (Some(born), Some(now)) = (born, proc.ticks_since_boot()) else { return self.alive(pid) };
        // Both times are rounded down, so an age may be a tick too high.
        now.saturating_sub(born) > ago.0 / clock_tick().0 + 1 && self.alive(pid)
    }

    fn owner(&mut self, pid: u32) -> u32 {
        std::fs::metadata(self.process(pid)).map_or(u32::MAX, |about| about.uid())
    }

    /// Opens the very file, which needs privilege, else the one of its name in the process's own root, else in ours in
    /// case the process is gone. A different inode number means a different file, except that layered file systems may
    /// number their files anew: for them, whatever lies at those addresses is the last resort.
    fn open(&mut self, pid: u32, path: &str, mapping: &Mapping<'_>) -> Option<OpenedFile> {
        let theirs = self.process(pid).join("root");
        let range = format!("{:x}-{:x}", mapping.start, mapping.end);
        let itself = self.process(pid).join("map_files").join(range);
        let very = open_if(&itself, |stamp| stamp.identity.inode == mapping.identity.inode);
        let identity = very.as_ref().and_then(ObjectFile::stamp).map_or(mapping.identity, |stamp| stamp.identity);
        for root in [theirs.clone(), PathBuf::from("/")] {
            let named = root.join(path.trim_start_matches('/'));
            if let Some(file) = open_if(&named, |stamp| is_mapped(stamp, identity)) {
                return Some(OpenedFile { file: very.unwrap_or(file), root });
            }
        }
        Some(OpenedFile { file: very.or_else(|| open_if(&itself, |_| true))?, root: theirs })
    }

    fn memory(&mut self, pid: u32, address: u64, to: &mut [u8]) -> usize {
        process_memory::read(pid, address, to).unwrap_or(0)
    }

    fn return_sites(&mut self) -> Vec<u64> {
        let read = self.return_sites.as_ref().and_then(|sites| sites.read().ok());
        read.unwrap_or_default()
    }

    fn cgroup(&mut self, pid: u32) -> Option<String> {
        let hierarchy = self.cgroups.as_ref()?;
        let text = ProcFs::new(&self.root).text(format!("{pid}/cgroup")).ok()?;
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

fn open_if(path: &Path, right: impl FnOnce(&FileStamp) -> bool) -> Option<ObjectFile> {
    let (file, stamp) = files::open_foreign(path).ok()?;
    if right(&stamp) { files::object(file).ok() } else { None }
}

/// Whether a file of the mapping's name is the mapped one. Layered file systems give it another device in the list of
/// mappings. Then only root and we are believed: another user can lay a file with the same inode number at that name.
fn is_mapped(found: &FileStamp, mapped: Identity) -> bool {
    found.identity == mapped || (found.identity.inode == mapped.inode && found.believed)
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

    impl ProcSource for Tables {
        fn maps(&mut self, pid: u32) -> Option<Vec<u8>> {
            self.reads += 1;
            self.maps.get(&pid).map(|text| text.clone().into_bytes())
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

        fn open(&mut self, _: u32, path: &str, _: &Mapping<'_>) -> Option<OpenedFile> {
            self.opened.push(path.to_string());
            let file = self.image.clone().unwrap_or_else(|| ObjectFile::new(*b"abc"));
            Some(OpenedFile { file, root: PathBuf::from("/") })
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
        let text = proc.maps(pid).unwrap();
        let own = parse(&text).find(|mapping| matches!(mapping.memory, Memory::File(_))).unwrap();
        let Memory::File(path) = own.memory.clone() else { unreachable!() };
        assert_eq!(proc.open(pid, &path, &own).unwrap().file.bytes(0, 4).as_deref(), Some(b"\x7fELF".as_slice()));
        let mut other = own;
        other.identity.inode += 1;
        (other.start, other.end) = (1, 2);
        assert!(proc.open(pid, &path, &other).is_none(), "another inode is another file");
    }

    #[test]
    fn a_process_younger_than_the_end_of_another_only_has_its_number() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("7")).unwrap();
        let stat = format!("7 (a) b) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 {} 0 0{}", 50_000, " 0".repeat(28));
        std::fs::write(root.path().join("7/stat"), stat).unwrap();
        let mut proc = LiveProc::new(root.path());
        assert!(proc.alive_since(7, Nanos(1)), "where the time since boot is unknown, its number is believed");
        std::fs::write(root.path().join("uptime"), "501.00 900.00\n").unwrap();
        // It was started a second ago.
        for (ago_ms, alive) in [(0, true), (900, true), (979, true), (1_000, false), (90_000, false)] {
            assert_eq!(proc.alive_since(7, Nanos(ago_ms * 1_000_000)), alive, "{ago_ms} ms");
        }
        assert!(!proc.alive_since(8, Nanos(0)));
    }

    #[test]
    fn a_file_laid_at_the_name_of_a_mapped_one_is_not_believed() {
        const MAPPED: Identity = Identity { major: 8, minor: 1, inode: 555 };
        let rows = [
            (MAPPED, false, true),
            (Identity { minor: 2, ..MAPPED }, true, true),
            (Identity { minor: 2, ..MAPPED }, false, false),
            (Identity { inode: 5, ..MAPPED }, true, false),
        ];
        for (identity, believed, expected) in rows {
            let found = FileStamp { identity, size: 9, modified: (1, 2), changed: (3, 4), owner: 7, believed };
            assert_eq!(is_mapped(&found, MAPPED), expected, "{found:?}");
        }
    }
}
