//! The symbols of the kernel's own code as an earlier session of this boot stored them: the lines of /proc/kallsyms
//! between `_stext` and `_etext`, in blocks that are checked when a lookup meets them.

use super::files::Files;
use super::kallsyms::{self, Function, List};
use crate::model::Bytes;
use std::io::Write;
use std::ops::Range;
use std::path::Path;

const MAGIC: &[u8; 8] = b"ilkern 1";

/// Lines of a block: a lookup reads one.
const BLOCK: usize = 256;

/// Magic, checksum of the rest of the head, number of blocks, bounds of the code, the session.
const HEAD: usize = 8 + 4 + 4 + 8 + 8 + KernelSession::LENGTH;

/// First address, length, checksum.
const ENTRY: usize = 8 + 4 + 4;

/// What the stored symbols must belong to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KernelSession {
    boot: String,
    /// Start of the list as we may read it. It shows the addresses, or that the kernel hides them.
    start: u32,
}

impl KernelSession {
    /// A boot id and a checksum.
    const LENGTH: usize = 36 + 4;

    /// The running kernel's; `None` where the kernel does not say or has hidden its addresses since.
    pub(super) fn now(files: &dyn Files, proc_root: &Path) -> Option<KernelSession> {
        let boot = files.head(&proc_root.join("sys/kernel/random/boot_id"))?;
        let boot = String::from_utf8(boot).ok()?.trim().to_string();
        let start = files.head(&proc_root.join("kallsyms"))?;
        let named = boot.len() == 36 && boot.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        named.then(|| KernelSession { boot, start: crc32fast::hash(&start) })
    }

    fn file(&self) -> String {
        format!("kernel-{}", self.boot)
    }

    fn bytes(&self) -> Vec<u8> {
        [self.boot.as_bytes(), &self.start.to_le_bytes()].concat()
    }
}

/// The stored symbols.
pub(super) struct KernelCode {
    bytes: Bytes,
    /// Addresses of the kernel's own code.
    code: Range<u64>,
    /// First address, place and checksum of each block.
    blocks: Vec<(u64, Range<usize>, u32)>,
}

impl std::fmt::Debug for KernelCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KernelCode").field("code", &self.code).finish_non_exhaustive()
    }
}

impl KernelCode {
    /// Stores those of the list's symbols that are the kernel's own code.
    pub(super) fn store(files: &dyn Files, session: &KernelSession, list: &List) {
        if let Some(bytes) = encode(session, list) {
            files.store(&session.file(), &bytes);
        }
    }

    /// What an earlier session stored; `None` if there is nothing, or if it is damaged.
    pub(super) fn stored(files: &dyn Files, session: &KernelSession) -> Option<KernelCode> {
        decode(files.stored(&session.file())?, session)
    }

    /// The addresses of the kernel's own code.
    pub(super) fn addresses(&self) -> &Range<u64> {
        &self.code
    }

    /// The name of the last function that starts at or below the address. `None` for an address that is not in the
    /// kernel's own code, and for a damaged block.
    pub(super) fn name(&self, address: u64) -> Option<String> {
        if !self.code.contains(&address) {
            return None;
        }
        let after = self.blocks.partition_point(|(first, _, _)| *first <= address);
        let (_, place, checksum) = self.blocks.get(after.checked_sub(1)?)?;
        let block = (*self.bytes).as_ref().get(place.clone()).filter(|block| crc32fast::hash(block) == *checksum)?;
        let block = std::str::from_utf8(block).ok()?;
        let found = kallsyms::functions(block).take_while(|(start, _, _)| *start <= address).last()?;
        kallsyms::name(block, found)
    }
}

fn encode(session: &KernelSession, List { names, functions, .. }: &List) -> Option<Vec<u8>> {
    let name = |line: &Function| names.get(line.1 as usize..line.2 as usize).map(str::trim);
    let address = |symbol: &str| functions.iter().find(|line| name(line) == Some(symbol)).map(|line| line.0);
    let code = address("_stext")?..address("_etext")?;
    let start = functions.partition_point(|function| function.0 < code.start);
    let own = functions.get(start..functions.partition_point(|function| function.0 < code.end))?;
    let count = own.len().div_ceil(BLOCK);
    let length = own.iter().map(|line| usize::try_from(line.2 - line.1).unwrap_or(0) + "ffffffff80000000 t \n".len());
    let mut bytes = Vec::with_capacity(HEAD + count * ENTRY + length.sum::<usize>());
    bytes.extend([&MAGIC[..], &[0; 4], &u32::try_from(count).ok()?.to_le_bytes()].concat());
    bytes.extend([&code.start.to_le_bytes(), &code.end.to_le_bytes(), session.bytes().as_slice()].concat());
    bytes.resize(HEAD + count * ENTRY, 0);
    for (nth, lines) in own.chunks(BLOCK).enumerate() {
        let before = bytes.len();
        for line in lines {
            writeln!(bytes, "{:x} t {}", line.0, name(line)?).ok()?;
        }
        let block = bytes.get(before..)?;
        let (length, checksum) = (u32::try_from(block.len()).ok()?, crc32fast::hash(block));
        let entry = [&lines.first()?.0.to_le_bytes()[..], &length.to_le_bytes(), &checksum.to_le_bytes()].concat();
        bytes.get_mut(HEAD + nth * ENTRY..)?.get_mut(..ENTRY)?.copy_from_slice(&entry);
    }
    let checksum = crc32fast::hash(bytes.get(12..HEAD + count * ENTRY)?);
    bytes.get_mut(8..12)?.copy_from_slice(&checksum.to_le_bytes());
    Some(bytes)
}

fn decode(bytes: Bytes, session: &KernelSession) -> Option<KernelCode> {
    let all = (*bytes).as_ref();
    let count = usize::try_from(number::<4>(all, 12)?).ok()?;
    let end = HEAD.checked_add(count.checked_mul(ENTRY)?)?;
    let head = all.get(12..end)?;
    let known = all.starts_with(MAGIC) && number::<4>(all, 8)? == u64::from(crc32fast::hash(head));
    if !known || all.get(HEAD - KernelSession::LENGTH..HEAD)? != session.bytes() {
        return None;
    }
    let code = number::<8>(all, 16)?..number::<8>(all, 24)?;
    let mut blocks = Vec::with_capacity(count);
    let mut place = end;
    for entry in head.get(HEAD - 12..)?.chunks_exact(ENTRY) {
        let length = usize::try_from(number::<4>(entry, 8)?).ok()?;
        blocks.push((number::<8>(entry, 0)?, place..place.checked_add(length)?, number::<4>(entry, 12)? as u32));
        place += length;
    }
    Some(KernelCode { code, blocks, bytes: bytes.clone() })
}

/// A little-endian number of `N` bytes.
fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let mut number = [0; 8];
    number.get_mut(..N)?.copy_from_slice(bytes.get(at..at.checked_add(N)?)?);
    Some(u64::from_le_bytes(number))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::Arc;

    fn session() -> KernelSession {
        KernelSession { boot: "01234567-89ab-cdef-0123-456789abcdef".into(), start: 7 }
    }

    /// A list with the kernel's own code from 0x1000 to 0x2000, and whatever else at any place.
    fn list(symbols: &[(u64, String)]) -> List {
        let mut text: String = symbols.iter().map(|(at, name)| format!("{at:x} t {name}\n")).collect();
        text += "1000 T _stext\n2000 T _etext\n9000 t module\t[ext4]\n";
        List::parse(&text)
    }

    fn many() -> List {
        list(&(0..3000).map(|at| (0xff0 + at * 3 / 2, format!("f{at}"))).collect::<Vec<_>>())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn stored_symbols_give_the_names_that_the_whole_list_gives(
            symbols in prop::collection::vec((0xff0u64..0x2010, "[a-z_]{1,8}"), 0..1500),
            asked in prop::collection::vec(0xfe0u64..0x2020, 50),
        ) {
            let list = list(&symbols);
            let code = decode(Arc::new(encode(&session(), &list).unwrap()), &session()).unwrap();
            for address in asked.into_iter().chain([0x1000, 0x1fff]) {
                let own = (0x1000..0x2000).contains(&address);
                prop_assert_eq!(code.name(address), list.name(address).filter(|_| own), "{:x}", address);
            }
        }

        #[test]
        fn a_damaged_file_gives_no_name_or_the_right_one(place in any::<prop::sample::Index>(), damage in 1u8.., cut in any::<bool>()) {
            let list = many();
            let mut bytes = encode(&session(), &list).unwrap();
            let place = place.index(bytes.len());
            if cut { bytes.truncate(place) } else { bytes[place] ^= damage }
            let code = decode(Arc::new(bytes), &session());
            for address in (0xff0..0x2010).step_by(5) {
                let name = code.as_ref().and_then(|code| code.name(address));
                prop_assert!(name.is_none() || name == list.name(address), "{:x}", address);
            }
        }
    }

    #[test]
    fn symbols_of_another_boot_or_another_view_of_the_list_are_not_taken() {
        let bytes: Bytes = Arc::new(encode(&session(), &many()).unwrap());
        assert!(decode(bytes.clone(), &session()).is_some());
        let boot = session().boot.replace('0', "1");
        for other in [KernelSession { boot, ..session() }, KernelSession { start: 8, ..session() }] {
            assert!(decode(bytes.clone(), &other).is_none(), "{other:?}");
        }
        assert!(encode(&session(), &List::parse("1000 T f\n")).is_none(), "where does its own code end?");
    }
}
