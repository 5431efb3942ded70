//! Who reads the pipes that a process writes to: where it waits for a full one, the reader is what must become faster.

use crate::model::PipeReader;
use crate::sys::procfs::ProcFs;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Maximum number of open files of all processes that are looked at.
const MOST_FILES: usize = 100_000;
/// The access mode in the flags of an open file, and that of one that is only read or only written.
const ACCESS: u32 = 3;
const READ_ONLY: u32 = 0;
const WRITE_ONLY: u32 = 1;

/// The processes that read what the process writes to pipes, by descriptor, without ironlaw, which passes the output on where
/// it counts operations in it. Those of other users are not seen without privileges.
#[must_use]
pub fn readers(proc: &ProcFs, pid: u32) -> Vec<PipeReader> {
    let written: BTreeMap<PathBuf, u32> = files(proc, pid)
        .filter(|(fd, link)| is_pipe(proc, pid, *fd, link) && access(proc, pid, *fd) == Some(WRITE_ONLY))
        .map(|(fd, link)| (link, fd))
        .collect();
    if written.is_empty() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut left = MOST_FILES;
    let others = |reader: &u32| *reader != pid && *reader != std::process::id();
    for reader in proc.processes().unwrap_or_default().into_iter().filter(others) {
        for (fd, link) in files(proc, reader).take(left) {
            left -= 1;
            let Some(of) = written.get(&link) else { continue };
            if access(proc, reader, fd) == Some(READ_ONLY) {
                let name = proc.text(format!("{reader}/comm")).unwrap_or_default().trim_end().to_string();
                found.push(PipeReader { fd: *of, pid: reader, name });
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

/// The descriptors of a process, and what they refer to.
fn files(proc: &ProcFs, pid: u32) -> impl Iterator<Item = (u32, PathBuf)> {
    let entries = std::fs::read_dir(proc.root().join(pid.to_string()).join("fd"));
    entries.into_iter().flatten().filter_map(|entry| {
        let entry = entry.ok()?;
        let fd = entry.file_name().to_str()?.parse().ok()?;
        Some((fd, std::fs::read_link(entry.path()).ok()?))
    })
}

/// Whether it is a pipe without a name, or has one and stands for a standard stream: other files are not touched.
fn is_pipe(proc: &ProcFs, pid: u32, fd: u32, link: &Path) -> bool {
    let is_stream = || fd <= 2 && link.is_absolute();
    link.to_string_lossy().starts_with("pipe:[") || (is_stream() && proc.is_fifo(pid, &format!("fd/{fd}")))
}

fn access(proc: &ProcFs, pid: u32, fd: u32) -> Option<u32> {
    let text = proc.text(format!("{pid}/fdinfo/{fd}")).ok()?;
    let flags = text.lines().find_map(|line| line.strip_prefix("flags:"))?;
    Some(u32::from_str_radix(flags.trim(), 8).ok()? & ACCESS)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn the_process_at_the_other_end_of_a_pipe_is_found() {
        let mut reader = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
        let found = readers(&ProcFs::new("/proc"), std::process::id());
        drop(reader.stdin.take());
        let pid = reader.id();
        reader.wait().unwrap();
        let names: Vec<_> = found.iter().filter(|it| it.pid == pid).map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["cat"], "{found:?}");
    }

    #[test]
    fn what_ironlaw_itself_reads_has_no_reader() {
        let mut writer = Command::new("sleep").arg("60").stdout(Stdio::piped()).spawn().unwrap();
        let found = readers(&ProcFs::new("/proc"), writer.id());
        writer.kill().unwrap();
        writer.wait().unwrap();
        let own: Vec<_> = found.iter().filter(|it| it.pid == std::process::id()).collect();
        assert!(own.is_empty(), "{own:?}");
    }
}
