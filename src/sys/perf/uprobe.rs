//! A uprobe defined in tracefs, so that new threads and processes can inherit events on it.
//! Dropping it removes the definition.
//!
//! The kernel's `uprobe` PMU needs no definition but must not be used with inheritance: at each fork of the target, the
//! kernel reads the path again, which lies in our memory, and the target's `fork` fails (seen on 6.18). A definition is
//! also one handler for all events, while every event of the PMU is a handler of its own that runs at each hit.

use super::tracefs::{self, Format};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::sys::clock::monotonic_ns;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The group of our definitions in tracefs.
const GROUP: &str = "ironlaw";
/// Definitions whose process is gone are removed at this age. A younger one may belong to another pid namespace and
/// still wait for its first event; after that the kernel refuses to remove a definition in use.
const STALE_NS: u64 = 60_000_000_000;
const EEXIST: i32 = 17;
const EBUSY: i32 = 16;
/// How long a definition in use may take to become free. Children that inherited its events release theirs as they exit,
/// which may be after we closed ours.
const RELEASE_NS: u64 = 2_000_000_000;

/// One place of a probe.
#[derive(Debug, Clone, Copy)]
pub struct ProbePlace<'a> {
    /// The file that processes map.
    pub file: &'a File,
    /// The instruction's offset in it.
    pub offset: u64,
    /// Offset of the counter that tells the program that somebody watches the probe. The kernel increments it in each
    /// process that has the probe.
    pub semaphore: Option<u64>,
}

/// Where a probe is hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HitAt {
    /// At the instruction.
    Place,
    /// Where the function that begins there returns.
    Return,
}

/// A defined probe. Dropping it removes the definition; its events must be dropped first.
#[derive(Debug)]
pub struct Uprobe {
    control: PathBuf,
    name: String,
    /// `config` of a tracepoint event that counts its hits.
    pub id: u64,
}

impl Uprobe {
    /// Defines one probe that is hit at all of these places. tracefs is searched below `root`.
    ///
    /// # Errors
    /// `Unsupported` without tracefs or user probes in the kernel, or for what an older kernel cannot probe;
    /// `NotPermitted` when it may not be written.
    pub fn define(root: &Path, at: HitAt, places: &[ProbePlace<'_>]) -> Result<Uprobe> {
        let tracefs = tracefs::reach(root)?;
        let control = tracefs.join("uprobe_events");
        remove_stale(&control, root);
        let name = format!("p{}_{:x}", std::process::id(), monotonic_ns());
        // From here on, whatever was defined is removed again.
        let mut probe = Uprobe { control, name, id: 0 };
        for (number, place) in places.iter().enumerate() {
            match write(&probe.control, &definition(&probe.name, at, place)) {
                // Two names of one file, e.g. one layer below two containers.
                Err(error) if error.raw_os_error() == Some(EEXIST) && is_repeated(places, number) => {}
                done => done.map_err(|error| refused(error, &probe.control, place, number))?,
            }
        }
        probe.id = Format::read(&tracefs, GROUP, &probe.name).context(|| "cannot read the probe's number")?.id;
        Ok(probe)
    }
}

impl Drop for Uprobe {
    fn drop(&mut self) {
        // On failure the definition stays, costs nothing, and is removed by the next run that defines a probe.
        let line = format!("-:{GROUP}/{}", self.name);
        let _ = while_busy(RELEASE_NS, || write(&self.control, &line));
    }
}

fn definition(name: &str, at: HitAt, place: &ProbePlace<'_>) -> String {
    let semaphore = place.semaphore.map(|at| format!("({at:#x})")).unwrap_or_default();
    // By descriptor: a path may contain blanks, lie in another mount namespace, or no longer exist.
    let kind = if at == HitAt::Return { 'r' } else { 'p' };
    format!("{kind}:{GROUP}/{name} /proc/self/fd/{}:{:#x}{semaphore}", place.file.as_raw_fd(), place.offset)
}

/// Whether an earlier place has the same offset, in a file that may be the same.
fn is_repeated(places: &[ProbePlace<'_>], at: usize) -> bool {
    let Some((place, earlier)) = places.get(..=at).and_then(<[_]>::split_last) else { return false };
    earlier.iter().any(|other| other.offset == place.offset)
}

/// Repeats a step that the kernel refuses as busy, for as long as `patience_ns`.
fn while_busy(patience_ns: u64, mut step: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    let end = monotonic_ns().saturating_add(patience_ns);
    loop {
        match step() {
            Err(error) if error.raw_os_error() == Some(EBUSY) && monotonic_ns() < end => {
                std::thread::sleep(Duration::from_millis(5));
            }
            done => return done,
        }
    }
}

/// Appends, because opening the file in any other mode would delete all definitions of other users.
fn write(control: &Path, line: &str) -> io::Result<()> {
    OpenOptions::new().append(true).open(control)?.write_all(format!("{line}\n").as_bytes())
}

fn refused(error: io::Error, control: &Path, place: &ProbePlace<'_>, at: usize) -> Error {
    let unsupported = |text: &str| Error::new(ErrorKind::Unsupported, text);
    let error = match error.kind() {
        _ if error.raw_os_error() == Some(EEXIST) && at > 0 => {
            unsupported("this kernel counts a probe at one place only").hint("Kernels from 5.4 on count all places.")
        }
        io::ErrorKind::InvalidInput if place.semaphore.is_some() => {
            unsupported("this kernel cannot enable a probe with a semaphore").hint("Kernels from 4.20 on can.")
        }
        io::ErrorKind::NotFound => unsupported("this kernel has no user probes")
            .hint("It needs CONFIG_UPROBE_EVENTS; a tracepoint works without."),
        io::ErrorKind::PermissionDenied => Error::from(error).hint(format!(
            "Run as root, or with CAP_PERFMON and write access to {} (sudo chgrp GROUP, sudo chmod g+w; its folder is \
             mounted with mode 700: sudo mount -o remount,mode=755 /sys/kernel/tracing).",
            control.display()
        )),
        _ => Error::from(error),
    };
    error.context(format!("cannot define a probe in {}", control.display()))
}

fn remove_stale(control: &Path, root: &Path) {
    let Ok(text) = std::fs::read_to_string(control) else { return };
    let gone = |pid: u32| !root.join("proc").join(pid.to_string()).exists();
    for name in stale(&text, monotonic_ns(), gone) {
        let _ = write(control, &format!("-:{GROUP}/{name}"));
    }
}

/// Names of our definitions in `uprobe_events` whose process is gone.
fn stale(text: &str, now: u64, gone: impl Fn(u32) -> bool) -> Vec<&str> {
    let old = |name: &str| {
        let (pid, since) = name.strip_prefix('p')?.split_once('_')?;
        let since = u64::from_str_radix(since, 16).ok()?;
        Some(gone(pid.parse().ok()?) && now.saturating_sub(since) > STALE_NS)
    };
    let names = text.lines().filter_map(|line| {
        // Return probes begin with an r.
        let (kind, place) = line.split_whitespace().next()?.split_once(':')?;
        let (group, name) = place.split_once('/').filter(|_| matches!(kind, "p" | "r"))?;
        (group == GROUP).then_some(name)
    });
    names.filter(|name| old(name).unwrap_or(false)).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn only_our_old_definitions_of_processes_that_are_gone_are_stale() {
        let text = "p:ironlaw/p7_1 /a:0x10\np:ironlaw/p8_1 /a:0x10\np:probe/p7_1 /a:0x10\nr:ironlaw/p7_0 /a:0x1\n\
                    p:ironlaw/p7_ffffffffffff /a:0x10\np:ironlaw/mine /a:0x10\np:ironlaw/p7 x\n\n";
        assert_eq!(stale(text, STALE_NS + 2, |pid| pid == 7), ["p7_1", "p7_0"]);
        assert!(stale("p:ironlaw/p7_1 /a:0x10", 5, |_| true).is_empty(), "too young");
    }

    #[test]
    fn what_is_busy_is_tried_again_until_it_is_free_or_patience_ends() {
        let mut answers = [Some(EBUSY), Some(EBUSY), None].into_iter();
        let mut step = || answers.next().unwrap().map_or(Ok(()), |code| Err(io::Error::from_raw_os_error(code)));
        while_busy(u64::MAX, &mut step).unwrap();
        assert_eq!(answers.next(), None);
        for (code, patience) in [(EEXIST, u64::MAX), (EBUSY, 0)] {
            let mut tried = 0;
            let failed = while_busy(patience, || {
                tried += 1;
                Err(io::Error::from_raw_os_error(code))
            });
            assert_eq!((failed.unwrap_err().raw_os_error(), tried), (Some(code), 1));
        }
    }

    #[test]
    fn a_definition_is_appended_and_removed_and_a_kernel_without_probes_says_so() {
        let root = tempfile::tempdir().unwrap();
        let tracing = root.path().join("sys/kernel/tracing");
        std::fs::create_dir_all(tracing.join("events")).unwrap();
        let file = File::open("/proc/self/exe").unwrap();
        let at = |offset, semaphore| ProbePlace { file: &file, offset, semaphore };
        let error = Uprobe::define(root.path(), HitAt::Place, &[at(16, None)]).unwrap_err();
        assert!(error.kind() == ErrorKind::Unsupported && error.remedy().unwrap().contains("UPROBE"), "{error}");

        let control = tracing.join("uprobe_events");
        std::fs::write(&control, "p:other/x /a:0x1\n").unwrap();
        // This tracefs never creates the event's folder, so the definition is removed again.
        assert!(Uprobe::define(root.path(), HitAt::Place, &[at(16, None), at(32, Some(64))]).is_err());
        let text = std::fs::read_to_string(&control).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0] == "p:other/x /a:0x1" && lines[1].starts_with("p:ironlaw/p") && lines[1].ends_with(":0x10"));
        assert!(lines.len() == 4 && lines[2].ends_with(":0x20(0x40)") && lines[3].starts_with("-:ironlaw/p"), "{text}");
        let places = [at(16, None), at(32, None), at(16, None)];
        assert_eq!([0, 1, 2].map(|nth| is_repeated(&places, nth)), [false, false, true]);
    }
}
