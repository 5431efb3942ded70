//! Reads tracepoint descriptions from tracefs: their ids and the offsets of their fields.

use crate::error::{Error, ErrorKind, Result};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Mount points of tracefs on different kernels, below /sys.
const PLACES: [&str; 2] = ["kernel/tracing", "kernel/debug/tracing"];

/// The group's files are readable for it, others' are not, whatever the mode of the folder.
const READABLE: &str = "Run as root, or allow reading: sudo mount -o remount,mode=750,gid=$(id -g) /sys/kernel/tracing";

/// A tracepoint as its `format` file describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Format {
    /// `config` of a tracepoint event.
    pub id: u64,
    fields: Vec<(String, Field)>,
}

/// Position of a field in the raw data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    offset: usize,
    size: usize,
}

impl Format {
    /// Reads a tracepoint's format below `root` (`/` on a live system).
    ///
    /// # Errors
    /// `Unsupported` without a mounted tracefs, `NotPermitted` when it may not be read, `NotFound` for a name the
    /// kernel does not have.
    pub fn open(root: &Path, category: &str, name: &str) -> Result<Format> {
        Format::read(&find(root)?, category, name)
    }

    /// The same in this tracefs; see [`reach`].
    ///
    /// # Errors
    /// `NotPermitted` when it may not be read, `NotFound` for a name the kernel does not have.
    pub fn read(directory: &Path, category: &str, name: &str) -> Result<Format> {
        let path = directory.join("events").join(category).join(name).join("format");
        let text = std::fs::read_to_string(&path).map_err(|error| {
            let hint = match error.kind() {
                std::io::ErrorKind::PermissionDenied => READABLE,
                _ => "`ironlaw list tracepoint` lists the tracepoints of this kernel.",
            };
            Error::from(error).context(format!("cannot read tracepoint {category}:{name}")).hint(hint)
        })?;
        Format::parse(&text).ok_or_else(|| Error::new(ErrorKind::Corrupt, format!("{} makes no sense", path.display())))
    }

    /// Parses a `format` file; `None` when it contains no id.
    #[must_use]
    pub fn parse(text: &str) -> Option<Format> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID:"))?.trim().parse().ok()?;
        Some(Format { id, fields: text.lines().filter_map(field).collect() })
    }

    /// Returns the field of that name.
    ///
    /// # Errors
    /// `Unsupported` when this kernel's tracepoint does not have it.
    pub fn field(&self, name: &str) -> Result<Field> {
        let found = self.fields.iter().find(|(known, _)| known == name).map(|(_, field)| *field);
        found.ok_or_else(|| Error::new(ErrorKind::Unsupported, format!("tracepoint {} has no field {name}", self.id)))
    }
}

impl Field {
    /// The value in raw data, zero-extended; `None` when the data is too short or the field is not an integer.
    #[must_use]
    pub fn read(&self, raw: &[u8]) -> Option<u64> {
        let bytes = raw.get(self.offset..self.offset.checked_add(self.size)?)?;
        match bytes {
            [a] => Some(u64::from(*a)),
            [a, b] => Some(u64::from(u16::from_ne_bytes([*a, *b]))),
            [a, b, c, d] => Some(u64::from(u32::from_ne_bytes([*a, *b, *c, *d]))),
            _ => Some(u64::from_ne_bytes(bytes.try_into().ok()?)),
        }
    }
}

/// `\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;`
fn field(line: &str) -> Option<(String, Field)> {
    let mut parts = line.trim().split(';').map(str::trim);
    let declared = parts.next()?.strip_prefix("field:")?;
    let name = declared.rsplit([' ', '*']).next()?.split('[').next()?;
    let offset = parts.next()?.strip_prefix("offset:")?.parse().ok()?;
    let size = parts.next()?.strip_prefix("size:")?.parse().ok()?;
    Some((name.to_string(), Field { offset, size }))
}

/// The tracepoints that can be opened as events, as `category:name`, sorted, in the /sys mounted at `sys`.
///
/// # Errors
/// `Unsupported` without a mounted tracefs, `NotPermitted` when it may not be read.
pub fn names(sys: &Path) -> Result<Vec<String>> {
    let events = find_in(sys)?.join("events");
    let mut names = Vec::new();
    for category in folders(&events) {
        let below = events.join(&category);
        // Some only describe what the kernel's own tracers write: they have no id.
        let events = folders(&below).into_iter().filter(|name| below.join(name).join("id").exists());
        names.extend(events.map(|name| format!("{category}:{name}")));
    }
    names.sort();
    Ok(names)
}

fn folders(path: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.filter_map(|entry| entry.file_name().into_string().ok()).collect()
}

/// Returns the mount point of tracefs below `root`.
fn find(root: &Path) -> Result<PathBuf> {
    find_in(&root.join("sys"))
}

/// Returns the mount point of tracefs below `root` or, where it is not mounted on a live system and this process may
/// mount, a mount of our own that no other process sees and that ends with this one.
///
/// # Errors
/// `Unsupported` without either, `NotPermitted` when it may not be read.
pub fn reach(root: &Path) -> Result<PathBuf> {
    static OWN: OnceLock<Option<OwnedFd>> = OnceLock::new();
    find(root).or_else(|error| {
        let live = root == Path::new("/") && error.kind() == ErrorKind::Unsupported;
        let own = if live { OWN.get_or_init(|| detached().ok()).as_ref() } else { None };
        own.map(|mount| PathBuf::from(format!("/proc/self/fd/{}", mount.as_raw_fd()))).ok_or(error)
    })
}

/// Mounts tracefs nowhere: it is reached by its descriptor only.
fn detached() -> rustix::io::Result<OwnedFd> {
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(context.as_fd())?;
    fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())
}

fn find_in(sys: &Path) -> Result<PathBuf> {
    let mut refused = None;
    for place in PLACES {
        let path = sys.join(place);
        match std::fs::read_dir(path.join("events")) {
            Ok(_) => return Ok(path),
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => refused = Some(error),
            Err(_) => {}
        }
    }
    Err(match refused {
        Some(error) => Error::from(error).context("cannot read tracefs").hint(READABLE),
        None => Error::new(ErrorKind::Unsupported, "tracefs is not mounted")
            .hint("Mount it: sudo mount -t tracefs tracefs /sys/kernel/tracing"),
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const SWITCH: &str = "name: sched_switch\nID: 372\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
        \tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n\
        \tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n\
        \tfield:pid_t next_pid;\toffset:40;\tsize:4;\tsigned:1;\n\nprint fmt: \"x\"\n";

    #[test]
    fn fields_are_found_by_name_and_read_by_size() {
        let format = Format::parse(SWITCH).unwrap();
        let mut raw = [0u8; 44];
        raw[32..40].copy_from_slice(&2u64.to_ne_bytes());
        raw[40..44].copy_from_slice(&77u32.to_ne_bytes());
        assert_eq!(format.id, 372);
        assert_eq!(format.field("prev_state").unwrap().read(&raw), Some(2));
        assert_eq!(format.field("next_pid").unwrap().read(&raw), Some(77));
        assert_eq!(format.field("next_pid").unwrap().read(&raw[..42]), None);
        assert_eq!(format.field("prev_comm").unwrap().read(&raw), None);
        assert_eq!(format.field("no_such").unwrap_err().kind(), ErrorKind::Unsupported);
    }

    #[test]
    fn a_missing_tracefs_names_the_mount_command_and_a_missing_event_its_name() {
        let root = tempfile::tempdir().unwrap();
        let error = Format::open(root.path(), "sched", "sched_switch").unwrap_err();
        assert!(error.remedy().unwrap().contains("mount -t tracefs"), "{error}");
        std::fs::create_dir_all(root.path().join("sys/kernel/tracing/events")).unwrap();
        let error = Format::open(root.path(), "sched", "nothing").unwrap_err();
        assert!(error.to_string().contains("sched:nothing"), "{error}");
    }

    #[test]
    fn tracepoints_with_an_id_are_listed_by_category_and_name() {
        let root = tempfile::tempdir().unwrap();
        let sys = root.path().join("sys");
        assert_eq!(names(&sys).unwrap_err().kind(), ErrorKind::Unsupported);
        let events = sys.join("kernel/debug/tracing/events");
        for (event, id) in [("sched/sched_switch", true), ("irq/softirq_entry", true), ("ftrace/print", false)] {
            std::fs::create_dir_all(events.join(event)).unwrap();
            if id {
                std::fs::write(events.join(event).join("id"), "7").unwrap();
            }
        }
        std::fs::write(events.join("enable"), "0").unwrap();
        assert_eq!(names(&sys).unwrap(), ["irq:softirq_entry", "sched:sched_switch"]);
    }
}
