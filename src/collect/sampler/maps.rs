//! A process's executable mappings in one form, whether from `/proc/PID/maps` or from the kernel's records.

use crate::abi;
use crate::abi::perf::MmapRecord;
use crate::model::Identity;
use crate::model::limits::{MAPPED_PATH, MAPS_BYTES};
use std::borrow::Cow;

/// An executable mapping of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping<'a> {
    /// First address.
    pub start: u64,
    /// First address after it.
    pub end: u64,
    /// Offset in the file.
    pub offset: u64,
    /// The file.
    pub identity: Identity,
    /// The memory it maps.
    pub memory: Memory<'a>,
}

/// The memory of a mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Memory<'a> {
    /// A file, by the path the process sees, without a ` (deleted)` mark.
    File(Cow<'a, str>),
    /// The vDSO, the kernel's page of user-space code.
    Vdso,
    /// Memory without a file.
    Anonymous,
}

impl<'a> Mapping<'a> {
    /// Converts the kernel's record; `None` if its range is empty or wraps.
    pub fn from_record(record: &MmapRecord<'a>) -> Option<Mapping<'a>> {
        let ((major, minor), inode) = (record.device, record.inode.unwrap_or(0));
        Some(Mapping {
            start: record.start,
            end: record.end()?,
            offset: record.offset,
            identity: Identity { major, minor, inode },
            memory: memory(String::from_utf8_lossy(record.path)),
        })
    }

    fn from_maps(line: &abi::Mapping<'a>) -> Mapping<'a> {
        let (major, minor) = line.device;
        let name = match line.name() {
            Cow::Borrowed(name) => String::from_utf8_lossy(name),
            Cow::Owned(name) => Cow::Owned(String::from_utf8_lossy(&name).into_owned()),
        };
        Mapping {
            start: line.start,
            end: line.end,
            offset: line.offset,
            identity: Identity { major, minor, inode: line.inode },
            memory: memory(name),
        }
    }
}

/// The executable mappings in the text of `/proc/PID/maps`; malformed lines are skipped.
pub fn parse(text: &[u8]) -> impl Iterator<Item = Mapping<'_>> {
    let executable = abi::mappings(text).filter(|line| line.executable && line.end > line.start);
    executable.map(|line| Mapping::from_maps(&line))
}

/// The lines of `/proc/PID/maps` that were read whole, and whether there are more: the path in a line that is cut would
/// be another file's.
pub fn whole_lines(text: &[u8]) -> (&[u8], bool) {
    if (text.len() as u64) < MAPS_BYTES {
        return (text, false);
    }
    let end = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    (&text[..end], true)
}

fn memory(path: Cow<'_, str>) -> Memory<'_> {
    if path == "[vdso]" {
        return Memory::Vdso;
    }
    if abi::is_anonymous(&path) {
        return Memory::Anonymous;
    }
    match path.strip_suffix(" (deleted)").map(str::len) {
        None => Memory::File(cut(path, MAPPED_PATH)),
        Some(length) => Memory::File(cut(path, length.min(MAPPED_PATH))),
    }
}

fn cut(path: Cow<'_, str>, length: usize) -> Cow<'_, str> {
    let length = path.floor_char_boundary(length);
    match path {
        Cow::Borrowed(path) => Cow::Borrowed(&path[..length]),
        Cow::Owned(mut path) => {
            path.truncate(length);
            path.shrink_to_fit();
            Cow::Owned(path)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::perf::Mode;

    const TEXT: &[u8] = b"\
55d0e000-55d10000 r--p 00000000 fe:00 1234                       /usr/bin/x
55d10000-55d12000 r-xp 00002000 fe:0a 1234                       /usr/bin/x y (deleted)
7f000000-7f001000 rwxp 00000000 00:00 0 
7f002000-7f003000 r-xs 00000000 00:01 77                         /memfd:doublemapper (deleted)
7ffd0000-7ffd2000 r-xp 00000000 00:00 0                          [vdso]
7ffd2000-7ffd2000 r-xp 00000000 00:00 0                          /empty
nonsense
";

    #[test]
    fn only_executable_ranges_are_kept_and_named_for_what_they_are() {
        let found: Vec<_> = parse(TEXT).map(|mapping| (mapping.start, mapping.offset, mapping.memory)).collect();
        assert_eq!(
            found,
            [
                (0x55d10000, 0x2000, Memory::File("/usr/bin/x y".into())),
                (0x7f000000, 0, Memory::Anonymous),
                (0x7f002000, 0, Memory::Anonymous),
                (0x7ffd0000, 0, Memory::Vdso),
            ]
        );
        let first = parse(TEXT).next().map(|mapping| mapping.identity);
        assert_eq!(first, Some(Identity { major: 0xfe, minor: 10, inode: 1234 }));
    }

    #[test]
    fn a_path_longer_than_any_that_can_be_opened_is_cut() {
        for (name, length) in [("a".repeat(4095), 4096), ("\\012".repeat(1 << 20), 4096), ("ä".repeat(4096), 4095)] {
            let line = format!("1000-2000 r-xp 0 08:01 5 /{name} (deleted)");
            let found: Vec<_> = parse(line.as_bytes()).map(|mapping| mapping.memory).collect();
            assert!(matches!(&found[..], [Memory::File(path)] if path.len() == length), "{}", name.len());
        }
    }

    #[test]
    fn of_mappings_beyond_the_limit_none_has_a_part_of_its_path() {
        let line = b"1000-2000 r-xp 00000000 08:01 5 /usr/bin/x\n";
        let mut text = line.repeat(MAPS_BYTES as usize / line.len() + 1);
        assert_eq!(whole_lines(line), (&line[..], false));
        text.truncate(MAPS_BYTES as usize);
        assert!(!text.ends_with(b"\n"));
        let (whole, cut) = whole_lines(&text);
        assert!(cut && whole.ends_with(b"x\n") && text.len() - whole.len() < line.len());
    }

    #[test]
    fn a_record_whose_range_wraps_is_refused() {
        let (device, inode, path) = ((1, 2), Some(3), b"//anon");
        let mut record = MmapRecord {
            pid: 1,
            start: 16,
            length: 16,
            offset: 0,
            device,
            inode,
            build_id: None,
            path,
            mode: Mode::User,
        };
        assert_eq!(Mapping::from_record(&record).map(|mapping| mapping.memory), Some(Memory::Anonymous));
        record.length = u64::MAX;
        assert_eq!(Mapping::from_record(&record), None);
    }
}
