//! Names of just-in-time code from what runtimes write for profilers: a map file (`START SIZE name` per line, in hexadecimal)
//! or a jitdump file, which the runtime maps so that profilers find it.
//! It never trusts either: they are in directories anyone can write to.

use super::Files;
use super::jitdump;
use crate::model::Symbol;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The code of one process. Its files are read again when an address is missing and they have grown.
#[derive(Debug)]
pub(super) struct JitCode {
    pid: u32,
    root: PathBuf,
    /// Bytes of the map file already read: entries are only ever appended.
    map_read: usize,
    /// The jitdump, as the process names it: remembered, as its mappings go with the process.
    dump: Option<PathBuf>,
    /// Bytes the jitdump had when it was last read.
    dump_read: usize,
    /// Start to end and name; a later entry replaces those it overlaps, as the code it names did.
    functions: BTreeMap<u64, (u64, Box<str>)>,
}

impl JitCode {
    pub(super) fn new(pid: u32, root: PathBuf) -> JitCode {
        JitCode { pid, root, map_read: 0, dump: None, dump_read: 0, functions: BTreeMap::new() }
    }

    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    pub(super) fn name(&mut self, files: &dyn Files, address: u64) -> Option<Symbol> {
        if self.find(address).is_none() {
            self.refresh_map(files);
            self.refresh_dump(files);
        }
        let function = self.find(address)?.to_string();
        Some(Symbol { function, file: None, line: None, inlined: false })
    }

    fn find(&self, address: u64) -> Option<&str> {
        let (_, (end, name)) = self.functions.range(..=address).next_back()?;
        (address < *end).then_some(name)
    }

    /// A process in a container knows itself by another number, and names its file by that.
    fn refresh_map(&mut self, files: &dyn Files) {
        let status = files.text(&PathBuf::from(format!("/proc/{}/status", self.pid))).unwrap_or_default();
        let inner = status.lines().find_map(|line| line.strip_prefix("NSpid:")?.split_ascii_whitespace().last());
        let pid = inner.and_then(|pid| pid.parse().ok()).unwrap_or(self.pid);
        let text = files
            .text(&self.root.join(format!("tmp/perf-{pid}.map")))
            .or_else(|_| files.text(&PathBuf::from(format!("/tmp/perf-{}.map", self.pid))))
            .unwrap_or_default();
        if let Some(new) = text.get(self.map_read..) {
            // The last line may still be being written.
            let whole = new.rfind('\n').map_or(0, |end| end + 1);
            new.get(..whole).unwrap_or_default().lines().for_each(|line| self.add_line(line));
            self.map_read += whole;
        }
    }

    fn refresh_dump(&mut self, files: &dyn Files) {
        if self.dump.is_none() {
            let maps = files.text(&PathBuf::from(format!("/proc/{}/maps", self.pid))).unwrap_or_default();
            self.dump = maps.lines().find_map(jitdump::mapped).map(PathBuf::from);
        }
        let Some(path) = &self.dump else { return };
        let inside = self.root.join(path.strip_prefix("/").unwrap_or(path));
        // The root of a process that has ended is gone; outside a container its path still leads there.
        let Some(bytes) = files.map(&inside).or_else(|| files.map(path)) else { return };
        let bytes: &[u8] = (*bytes).as_ref();
        if bytes.len() > self.dump_read {
            self.dump_read = bytes.len();
            jitdump::functions(bytes, &mut |start, size, name| self.add(start, size, name));
        }
    }

    fn add_line(&mut self, line: &str) {
        let mut fields = line.splitn(3, ' ');
        let mut number = || u64::from_str_radix(fields.next()?.trim_start_matches("0x"), 16).ok();
        if let (Some(start), Some(size), Some(name)) = (number(), number(), fields.next()) {
            self.add(start, size, name);
        }
    }

    fn add(&mut self, start: u64, size: u64, name: &str) {
        let Some(end) = start.checked_add(size) else { return };
        let below = self.functions.range(..start).next_back().filter(|(_, (end, _))| *end > start).map(|(at, _)| *at);
        let covered: Vec<u64> = below.into_iter().chain(self.functions.range(start..end).map(|(at, _)| *at)).collect();
        covered.iter().for_each(|at| drop(self.functions.remove(at)));
        self.functions.insert(start, (end, name.into()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(lines: &[&str]) -> JitCode {
        let mut map = JitCode::new(1, PathBuf::new());
        lines.iter().for_each(|line| map.add_line(line));
        map
    }

    #[test]
    fn names_may_hold_spaces_and_rubbish_is_passed_over() {
        let map = map(&["10 8 LazyCompile:~f /app/a b.js:1", "zz 8 x", "10", "", "ffffffffffffffff 2 wraps"]);
        assert_eq!(map.find(0x17), Some("LazyCompile:~f /app/a b.js:1"));
        assert_eq!((map.find(0x18), map.find(0xf), map.functions.len()), (None, None, 1));
    }

    #[test]
    fn later_code_replaces_what_lay_there() {
        let map = map(&["10 10 old", "20 10 next", "18 10 new"]);
        assert_eq!(
            (map.find(0x1f), map.find(0x27), map.find(0x12), map.find(0x2c)),
            (Some("new"), Some("new"), None, None)
        );
    }
}
