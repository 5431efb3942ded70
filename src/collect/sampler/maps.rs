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
    /// A file in memory, by its name: a program, or the code that a runtime makes.
    Memfd(Cow<'a, str>),
    /// The vDSO, the kernel's page of user-space code.
    Vdso,
    /// The kernel's page of code for its probes of the program. It begins with the trampoline: what measured functions
    /// return to.
    Probes,
    /// Memory without a file.
    Anonymous,
    /// Memory without a file where this file's mappings leave a place for it: it may be the file's text, moved to larger
    /// pages. The identity is that of the file.
    Moved(Cow<'a, str>),
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
    // The last mapping of a file, whatever may be done with it.
    let mut before: Option<abi::Mapping<'_>> = None;
    abi::mappings(text).filter(|line| line.end > line.start).filter_map(move |line| {
        if line.inode != 0 {
            before = Some(line);
        }
        line.executable.then(|| match (Mapping::from_maps(&line), &before) {
            (Mapping { memory: Memory::Anonymous, .. }, Some(file)) if line.inode == 0 => moved(&line, file),
            (mapping, _) => mapping,
        })
    })
}

/// Memory without a file behind a mapping of one, as the part of the file that belongs there.
fn moved<'a>(line: &abi::Mapping<'a>, before: &abi::Mapping<'a>) -> Mapping<'a> {
    let (own, file) = (Mapping::from_maps(line), Mapping::from_maps(before));
    match file.memory {
        Memory::File(path) => Mapping {
            offset: before.offset.wrapping_add(line.start - before.start),
            identity: file.identity,
            memory: Memory::Moved(path),
            ..own
        },
        _ => own,
    }
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
    if path == "[uprobes]" {
        return Memory::Probes;
    }
    let is_in_memory = path.starts_with("/memfd:");
    if abi::is_anonymous(&path) && !is_in_memory {
        return Memory::Anonymous;
    }
    let length = path.strip_suffix(" (deleted)").map_or(path.len(), str::len);
    let path = cut(path, length.min(MAPPED_PATH));
    if is_in_memory { Memory::Memfd(path) } else { Memory::File(path) }
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
                (0x7f000000, 0x7f000000 - 0x55d10000 + 0x2000, Memory::Moved("/usr/bin/x y".into())),
                (0x7f002000, 0, Memory::Memfd("/memfd:doublemapper".into())),
                (0x7ffd0000, 0, Memory::Vdso),
            ]
        );
        let first = parse(TEXT).next().map(|mapping| mapping.identity);
        assert_eq!(first, Some(Identity { major: 0xfe, minor: 10, inode: 1234 }));
    }

    #[test]
    fn code_without_a_file_behind_a_mapping_of_one_may_be_its_text() {
        let text = b"\
1000-2000 r--p 00000000 08:01 5    /bin/a
2000-4000 r-xp 00000000 00:00 0
4000-5000 r-xp 00003000 08:01 5    /bin/a
5000-6000 rw-p 00000000 00:00 0    [heap]
7000-8000 r-xp 00000000 00:00 0    [vdso]
";
        let found: Vec<_> = parse(text).map(|it| (it.start, it.offset, it.identity.inode, it.memory)).collect();
        let file = |path: &'static str| path.into();
        let expected = [
            (0x2000, 0x1000, 5, Memory::Moved(file("/bin/a"))),
            (0x4000, 0x3000, 5, Memory::File(file("/bin/a"))),
            (0x7000, 0, 0, Memory::Vdso),
        ];
        assert_eq!(found, expected);
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
