//! What every reader of a jitdump needs: the file in which a runtime describes the code that it makes, as perf's
//! documentation specifies it. It may be half written, or no jitdump at all.

use super::Cursor;
use std::path::Path;

/// A record that describes new code.
pub const CODE_LOAD: u32 = 0;
/// A record that says where code moved to.
pub const CODE_MOVE: u32 = 1;
/// A record with the unwind table of the code in the next [`CODE_LOAD`].
pub const UNWINDING_INFO: u32 = 4;

/// Bytes of a record's header: its kind, its size and its time.
pub const HEADER: usize = 16;

/// Sizes of the file's header, which newer versions may extend.
const FILE_HEADER: std::ops::RangeInclusive<usize> = 40..=4096;

/// Whether a mapped file is a jitdump. Runtimes map the file so that profilers find it.
#[must_use]
pub fn is_jitdump(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with("jit-") && name.ends_with(".dump")
}

/// Whether the file that begins so has big-endian numbers, and where its first record begins.
#[must_use]
pub fn file_header(bytes: &[u8]) -> Option<(bool, u64)> {
    let big = match bytes.get(..4)? {
        b"JiTD" => true,
        b"DTiJ" => false,
        _ => return None,
    };
    let mut header = Cursor::new(bytes, big);
    header.skip(8)?;
    let size = header.u32()? as usize;
    FILE_HEADER.contains(&size).then_some((big, size as u64))
}

/// The kind of a record, and its size with its header.
#[must_use]
pub fn record_header(bytes: &[u8], big: bool) -> Option<(u32, u64)> {
    let mut header = Cursor::new(bytes, big);
    let (kind, size) = (header.u32()?, header.u32()?);
    (size as usize >= HEADER).then_some((kind, u64::from(size)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_is_known_by_its_name() {
        for (path, expected) in [
            ("/home/a b/.debug/jit/jit-42.dump", true),
            ("/home/jit-42.dump (deleted)", false),
            ("/usr/lib/libjit.so", false),
            ("/", false),
        ] {
            assert_eq!(is_jitdump(Path::new(path)), expected, "{path}");
        }
    }
}
