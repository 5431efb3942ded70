//! Parses `/proc/PID/maps`: the mappings of a process and their files.
//! Paths are as the process sees them, in its own mount namespace.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// One mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mapping<'a> {
    /// First address.
    pub start: u64,
    /// First address after it.
    pub end: u64,
    /// Whether it is executable.
    pub executable: bool,
    /// Offset in the file, bytes.
    pub offset: u64,
    /// Device of the file, major and minor.
    pub device: (u32, u32),
    /// Inode of the file; 0 for none.
    pub inode: u64,
    name: &'a [u8],
}

impl<'a> Mapping<'a> {
    /// The file, or a name in brackets such as `[vdso]`, with the kernel's mark of a deleted file; empty for anonymous
    /// memory.
    #[must_use]
    pub fn name(&self) -> Cow<'a, [u8]> {
        unescape(self.name)
    }

    /// The name without the mark of a deleted file; `None` for anonymous memory.
    #[must_use]
    pub fn path(&self) -> Option<PathBuf> {
        let name = self.name();
        let path = name.strip_suffix(DELETED).unwrap_or(&name);
        (!path.is_empty()).then(|| Path::new(OsStr::from_bytes(path)).to_path_buf())
    }

    /// Whether the file's name has been deleted.
    #[must_use]
    pub fn is_deleted(&self) -> bool {
        self.name.ends_with(DELETED)
    }

    /// Whether the address lies in the mapping.
    #[must_use]
    pub fn contains(&self, address: u64) -> bool {
        (self.start..self.end).contains(&address)
    }
}

const DELETED: &[u8] = b" (deleted)";

/// Parses `maps`; invalid lines are skipped.
pub fn mappings(text: &[u8]) -> impl Iterator<Item = Mapping<'_>> {
    text.split(|&byte| byte == b'\n').filter_map(mapping)
}

/// `55d0e000-55d10000 r-xp 00002000 fe:00 1234   /usr/bin/x (deleted)`
fn mapping(line: &[u8]) -> Option<Mapping<'_>> {
    let mut rest = line;
    let mut field = || {
        rest = rest.trim_ascii_start();
        let (field, tail) = rest.split_at(rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len()));
        rest = tail;
        std::str::from_utf8(field).ok()
    };
    let (start, end) = field()?.split_once('-')?;
    let (permissions, offset) = (field()?, field()?);
    let (major, minor) = field()?.split_once(':')?;
    let inode = field()?;
    let hex = |digits| u64::from_str_radix(digits, 16).ok();
    Some(Mapping {
        start: hex(start)?,
        end: hex(end)?,
        executable: permissions.as_bytes().get(2) == Some(&b'x'),
        offset: hex(offset)?,
        device: (u32::from_str_radix(major, 16).ok()?, u32::from_str_radix(minor, 16).ok()?),
        inode: inode.parse().ok()?,
        // The kernel pads with blanks. A path starts with a slash or a bracket, so trimming does not cut it.
        name: rest.trim_ascii_start(),
    })
}

/// Whether a name is one that kernels give to memory without a file. They write `//anon` in records, nothing or
/// `[heap]` in maps. Memory files, shared memory and devices contain just-in-time code, if any.
#[must_use]
pub fn is_anonymous(name: &str) -> bool {
    const PREFIXES: [&str; 7] = ["[", "//", "/memfd:", "/SYSV", "/dev/", "anon_inode:", "/anon_hugepage"];
    name.is_empty() || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// The kernel writes a line end in a path as `\012` and escapes nothing else here.
fn unescape(name: &[u8]) -> Cow<'_, [u8]> {
    if !name.contains(&b'\\') {
        return Cow::Borrowed(name);
    }
    let mut plain = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((&byte, tail)) = rest.split_first() {
        let newline = rest.strip_prefix(b"\\012");
        plain.push(if newline.is_some() { b'\n' } else { byte });
        rest = newline.unwrap_or(tail);
    }
    Cow::Owned(plain)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn paths_with_blanks_line_ends_and_deleted_files_are_read() {
        let prefix = "55d0c000-55d0d000 r-xp 00001000 fe:01 1234                       ";
        let rows: [(&str, Option<&str>, bool); 6] = [
            ("/usr/bin/cat", Some("/usr/bin/cat"), false),
            ("/tmp/a b  c", Some("/tmp/a b  c"), false),
            ("/tmp/new\\012line", Some("/tmp/new\nline"), false),
            ("/tmp/gone (deleted)", Some("/tmp/gone"), true),
            ("[vdso]", Some("[vdso]"), false),
            ("", None, false),
        ];
        for (name, path, deleted) in rows {
            let line = format!("{prefix}{name}");
            let read = mappings(line.as_bytes()).next().unwrap();
            assert_eq!((read.path().as_deref(), read.is_deleted()), (path.map(Path::new), deleted), "{name:?}");
            assert_eq!((read.start, read.end, read.offset), (0x55d0_c000, 0x55d0_d000, 0x1000));
            assert_eq!((read.device, read.inode, read.executable), ((0xfe, 1), 1234, true));
        }
    }

    #[test]
    fn a_broken_line_does_not_hide_the_next() {
        let text = b"rubbish\n1-2 rw-p 0 00:00 0\nffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n";
        let read: Vec<_> = mappings(text).collect();
        assert_eq!(read.len(), 2);
        assert!(!read[0].executable && read[0].path().is_none() && read[1].executable);
    }

    #[test]
    fn this_process_finds_its_own_code() {
        let text = std::fs::read("/proc/self/maps").unwrap();
        let here = this_process_finds_its_own_code as fn() as usize as u64;
        let own = mappings(&text).find(|mapping| mapping.contains(here)).unwrap();
        assert!(own.executable && own.path() == std::env::current_exe().ok());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[0-9a-f]{0,18}-?[0-9a-f]{0,18} ?[rwxp-]{0,4} ?[0-9a-f]{0,9} ?[0-9:]{0,5} ?[0-9]{0,22} ?\\PC{0,20}") {
            let _ = mappings(text.as_bytes()).count();
        }
    }
}
