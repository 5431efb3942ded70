//! A process's executable mappings in one form, whether from `/proc/PID/maps` or from the kernel's records.

use crate::sys::files::Identity;
use crate::sys::perf::record;
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
    /// Kind of memory it maps.
    pub what: What<'a>,
}

/// Kind of memory in a mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What<'a> {
    /// A file, by the path the process sees, without a ` (deleted)` mark.
    File(Cow<'a, str>),
    /// The vDSO, the kernel's page of user-space code.
    Vdso,
    /// Memory without a file.
    Anonymous,
}

impl<'a> Mapping<'a> {
    /// Converts the kernel's record; `None` if its range is empty or wraps.
    pub fn from_record(record: &record::Mapping<'a>) -> Option<Mapping<'a>> {
        let (major, minor) = record.device;
        Some(Mapping {
            start: record.start,
            end: record.start.checked_add(record.length).filter(|end| *end > record.start)?,
            offset: record.offset,
            identity: Identity { major, minor, inode: record.inode },
            what: what(String::from_utf8_lossy(record.path)),
        })
    }
}

/// The executable mappings in the text of `/proc/PID/maps`; malformed lines are skipped.
pub fn parse(text: &str) -> impl Iterator<Item = Mapping<'_>> {
    text.lines().filter_map(line)
}

/// `55d0e000-55d10000 r-xp 00002000 fe:00 1234   /usr/bin/x (deleted)`
fn line(line: &str) -> Option<Mapping<'_>> {
    let mut rest = line;
    let mut word = || {
        let (word, tail) = rest.split_once(' ').unwrap_or((rest, ""));
        rest = tail;
        word
    };
    let (range, access, offset, device, inode) = (word(), word(), word(), word(), word());
    let path = rest.trim_start();
    if access.as_bytes().get(2) != Some(&b'x') {
        return None;
    }
    let hex = |digits| u64::from_str_radix(digits, 16).ok();
    let (start, end) = range.split_once('-')?;
    let (major, minor) = device.split_once(':')?;
    Some(Mapping {
        start: hex(start)?,
        end: hex(end).filter(|end| Some(*end) > hex(start))?,
        offset: hex(offset)?,
        identity: Identity {
            major: u32::from_str_radix(major, 16).ok()?,
            minor: u32::from_str_radix(minor, 16).ok()?,
            inode: inode.parse().ok()?,
        },
        what: what(Cow::Borrowed(path)),
    })
}

/// Classifies a path. The kernel writes memory without a file as `//anon` in records, as nothing or `[heap]` in maps.
/// Memory files, shared memory and devices contain just-in-time code, if any.
fn what(path: Cow<'_, str>) -> What<'_> {
    const ANONYMOUS: [&str; 6] = ["[", "//", "/memfd:", "/SYSV", "/dev/", "anon_inode:"];
    if path == "[vdso]" {
        return What::Vdso;
    }
    if path.is_empty() || ANONYMOUS.iter().any(|prefix| path.starts_with(prefix)) {
        return What::Anonymous;
    }
    match path.strip_suffix(" (deleted)").map(str::len) {
        None => What::File(path),
        Some(length) => What::File(match path {
            Cow::Borrowed(path) => Cow::Borrowed(&path[..length]),
            Cow::Owned(mut path) => {
                path.truncate(length);
                Cow::Owned(path)
            }
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
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
        let found: Vec<_> = parse(TEXT).map(|mapping| (mapping.start, mapping.offset, mapping.what)).collect();
        assert_eq!(
            found,
            [
                (0x55d10000, 0x2000, What::File("/usr/bin/x y".into())),
                (0x7f000000, 0, What::Anonymous),
                (0x7f002000, 0, What::Anonymous),
                (0x7ffd0000, 0, What::Vdso),
            ]
        );
        let first = parse(TEXT).next().map(|mapping| mapping.identity);
        assert_eq!(first, Some(Identity { major: 0xfe, minor: 10, inode: 1234 }));
    }

    #[test]
    fn a_record_whose_range_wraps_is_refused() {
        let mut record =
            record::Mapping { pid: 1, start: 16, length: 16, offset: 0, device: (1, 2), inode: 3, path: b"//anon" };
        assert_eq!(Mapping::from_record(&record).map(|mapping| mapping.what), Some(What::Anonymous));
        record.length = u64::MAX;
        assert_eq!(Mapping::from_record(&record), None);
    }
}
