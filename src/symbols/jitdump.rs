//! Reads functions from a jitdump file, as specified in perf's documentation.
//! Record sizes are checked: the file may be half written or not a jitdump at all.

use linux_perf_data::jitdump::{JitDumpReader, JitDumpRecord, JitDumpRecordHeader};
use rustc_hash::FxHashMap;
use std::path::Path;

/// Whether a mapped file is a jitdump. Runtimes map the file so that profilers find it.
#[must_use]
pub fn is_jitdump(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with("jit-") && name.ends_with(".dump")
}

/// Calls `tell` with every function's start, size and name in the order of their creation, and again for a function
/// that moved.
/// Stops at the first incomplete record.
pub(super) fn functions(bytes: &[u8], tell: &mut dyn FnMut(u64, u64, &str)) {
    let Ok(mut reader) = JitDumpReader::new(bytes) else { return };
    let mut names: FxHashMap<u64, String> = FxHashMap::default();
    // A record shorter than its own header would underflow the reader's counter.
    while let Ok(Some(header)) = reader.next_record_header()
        && (JitDumpRecordHeader::SIZE..=bytes.len()).contains(&(header.total_size as usize))
        && let Ok(Some(record)) = reader.next_record()
    {
        match record.parse() {
            Ok(JitDumpRecord::CodeLoad(load)) => {
                let name = String::from_utf8_lossy(&load.function_name.as_slice()).into_owned();
                tell(load.code_addr, load.code_bytes.len() as u64, &name);
                names.insert(load.code_index, name);
            }
            Ok(JitDumpRecord::CodeMove(moved)) => {
                if let Some(name) = names.get(&moved.code_index) {
                    tell(moved.new_code_addr, moved.code_size, name);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(values: &[u64]) -> Vec<u8> {
        values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn record(kind: u32, body: &[u8]) -> Vec<u8> {
        let size = u32::try_from(16 + body.len()).unwrap_or(0);
        [&kind.to_le_bytes()[..], &size.to_le_bytes(), &0u64.to_le_bytes(), body].concat()
    }

    fn load(address: u64, index: u64, name: &str, code: &[u8]) -> Vec<u8> {
        let numbers = words(&[0, address, address, code.len() as u64, index]);
        record(0, &[&numbers[..], name.as_bytes(), &[0], code].concat())
    }

    fn file(records: &[Vec<u8>]) -> Vec<u8> {
        // Magic, version, header size, machine, padding, pid; then timestamp and flags.
        let head: Vec<u8> = [0x4a69_5444u32, 1, 40, 62, 0, 7].iter().flat_map(|word| word.to_le_bytes()).collect();
        [head, words(&[0, 0]), records.concat()].concat()
    }

    fn read(bytes: &[u8]) -> Vec<(u64, u64, String)> {
        let mut found = Vec::new();
        functions(bytes, &mut |start, size, name| found.push((start, size, name.to_string())));
        found
    }

    #[test]
    fn functions_come_with_their_moves() {
        let moved = record(1, &words(&[0, 0x500, 0x100, 0x500, 4, 9]));
        let bytes = file(&[load(0x100, 9, "js fib", b"code"), moved]);
        assert_eq!(read(&bytes), [(0x100, 4, "js fib".to_string()), (0x500, 4, "js fib".to_string())]);
    }

    #[test]
    fn a_file_cut_anywhere_gives_what_is_whole() {
        let bytes = file(&[load(0x100, 1, "a", b"1234"), load(0x200, 2, "b", b"5678")]);
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end]).len() < 2, "{end}");
        }
        let mut lying = bytes.clone();
        lying[44..48].copy_from_slice(&3u32.to_le_bytes());
        assert_eq!(read(&lying), []);
    }

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
