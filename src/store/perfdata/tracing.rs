//! Reads the names of tracepoints from what perf copies of the kernel's tracing files: a perf that writes no names of
//! events into a pipe writes these.

use crate::abi::Cursor;
use rustc_hash::FxHashMap;

/// Begins the data.
const MAGIC: &[u8] = b"\x17\x08\x44tracing";

/// The names of tracepoints, `system:name`, by number.
pub(super) fn tracepoints(bytes: &[u8]) -> FxHashMap<u64, String> {
    let mut found = FxHashMap::default();
    // What was read before the data ends is valid.
    let _ = read(bytes, &mut found);
    found
}

fn read(bytes: &[u8], found: &mut FxHashMap<u64, String>) -> Option<()> {
    let head = bytes.strip_prefix(MAGIC)?;
    let mut data = Cursor::new(head, false);
    text(&mut data)?;
    let mut data = Cursor::new(data.rest(), data.u8()? != 0);
    // Order of bytes, size of a long, size of a page.
    data.skip(1 + 1 + 4)?;
    for _header in ["header_page", "header_event"] {
        text(&mut data)?;
        file(&mut data)?;
    }
    for _ftrace in 0..data.u32()? {
        file(&mut data)?;
    }
    for _system in 0..data.u32()? {
        let system = text(&mut data)?;
        for _event in 0..data.u32()? {
            let format = String::from_utf8_lossy(file(&mut data)?);
            let field = |key: &str| format.lines().find_map(|line| line.strip_prefix(key)).map(str::trim);
            if let (Some(name), Some(number)) = (field("name:"), field("ID:").and_then(|id| id.parse().ok())) {
                found.insert(number, format!("{system}:{name}"));
            }
        }
    }
    Some(())
}

/// A text that ends in zero.
fn text(data: &mut Cursor<'_>) -> Option<String> {
    let bytes = data.name();
    data.skip(bytes.len() + 1)?;
    Some(String::from_utf8_lossy(bytes).into_owned())
}

/// A file: its length and its contents.
fn file<'a>(data: &mut Cursor<'a>) -> Option<&'a [u8]> {
    let length = data.u64()?;
    data.take_counted(length)
}

#[cfg(test)]
pub(super) mod fake {
    use super::MAGIC;

    /// The data of two tracepoints, little-endian.
    pub fn data() -> Vec<u8> {
        let mut bytes = [MAGIC, b"0.6\0\0\x08\0\x10\0\0"].concat();
        let file = |text: &str| [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat();
        bytes.extend([b"header_page\0", &file("field")[..], b"header_event\0", &file("x")[..]].concat());
        bytes.extend([&1u32.to_le_bytes()[..], &file("name: function\nID: 1\n")].concat());
        bytes.extend(2u32.to_le_bytes());
        for (system, event) in
            [("sched", "name: sched_switch\nID: 316\nformat:\n"), ("irq", "name: softirq\nID: 1329\n")]
        {
            bytes.extend([system.as_bytes(), b"\0", &1u32.to_le_bytes(), &file(event)].concat());
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tracepoints_have_their_system_and_name() {
        let all = fake::data();
        let found = tracepoints(&all);
        let name = |id| found.get(&id).map(String::as_str);
        assert_eq!([name(316), name(1329), name(1)], [Some("sched:sched_switch"), Some("irq:softirq"), None]);
        for length in 0..all.len() {
            assert!(tracepoints(&all[..length]).len() < 2, "{length} bytes");
        }
        assert!(tracepoints(&[MAGIC, &[0xff; 64]].concat()).is_empty());
    }
}
