//! Reads the kernel's type information (BTF), which states the offsets of structure fields on this kernel.
//! Pure but for [`Btf::of_kernel`]; a truncated or invalid table yields `None`, never a panic.

use std::fs;
use std::io;
use std::path::Path;

const MAGIC: u16 = 0xeb9f;
const STRUCT: u32 = 4;
const UNION: u32 = 5;

/// The types of a kernel.
#[derive(Debug)]
pub struct Btf {
    types: Vec<u8>,
    strings: Vec<u8>,
    /// Offset of each type; ids count from 1.
    starts: Vec<u32>,
}

/// One `struct btf_type`.
#[derive(Debug, Clone, Copy)]
struct Type {
    name: u32,
    info: u32,
    size: u32,
    /// Offset of the data that follows it.
    rest: usize,
}

impl Type {
    fn kind(self) -> u32 {
        (self.info >> 24) & 0x1f
    }

    fn members(self) -> usize {
        (self.info & 0xffff) as usize
    }

    /// Bytes of the data that follows it.
    fn length(self) -> Option<usize> {
        Some(match self.kind() {
            1 | 14 | 17 => 4,
            3 => 12,
            STRUCT | UNION | 15 | 19 => 12 * self.members(),
            6 | 13 => 8 * self.members(),
            2 | 7..=12 | 16 | 18 => 0,
            _ => return None,
        })
    }
}

impl Btf {
    /// Reads the running kernel's types from /sys/kernel/btf/vmlinux below `root`.
    ///
    /// # Errors
    /// `NotFound` on a kernel built without BTF, `InvalidData` for an invalid table.
    pub fn of_kernel(root: &Path) -> io::Result<Btf> {
        Btf::parse(&fs::read(root.join("sys/kernel/btf/vmlinux"))?).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// Parses a table.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Btf> {
        if bytes.get(..2)? != MAGIC.to_ne_bytes() {
            return None;
        }
        let field = |at: usize| word(bytes, at).map(|word| word as usize);
        let body = bytes.get(field(4)?..)?;
        let part = |at: usize| Some(body.get(field(at)?..)?.get(..field(at + 4)?)?.to_vec());
        let mut btf = Btf { types: part(8)?, strings: part(16)?, starts: Vec::new() };
        let mut at = 0;
        while at < btf.types.len() {
            btf.starts.push(u32::try_from(at).ok()?);
            let found = btf.at(at)?;
            at = found.rest.checked_add(found.length()?)?;
        }
        Some(btf)
    }

    /// Offset of a field in `structure`, in bytes. Fields of anonymous structures inside it count as its own.
    #[must_use]
    pub fn offset(&self, structure: &str, field: &str) -> Option<u32> {
        self.field(self.structure(structure)?, field, 0).map(|bits| bits / 8)
    }

    /// The size of a structure, in bytes.
    #[must_use]
    pub fn size(&self, structure: &str) -> Option<u32> {
        self.structure(structure).map(|found| found.size)
    }

    fn structure(&self, name: &str) -> Option<Type> {
        let types = self.starts.iter().filter_map(|start| self.at(*start as usize));
        let mut named = types.filter(|found| found.kind() == STRUCT && self.name(found.name) == Some(name.as_bytes()));
        named.next()
    }

    /// Offset in bits. The recursion is limited, because structures are never nested deep.
    fn field(&self, of: Type, name: &str, depth: u32) -> Option<u32> {
        for at in 0..of.members() {
            let at = of.rest + 12 * at;
            let [member, kind, offset] = [0, 4, 8].map(|field| word(&self.types, at + field));
            // With the kind flag set, the upper byte is the size of a bit field.
            let offset = if of.info >> 31 == 1 { offset? & 0x00ff_ffff } else { offset? };
            let called = self.name(member?)?;
            if called == name.as_bytes() {
                return Some(offset);
            }
            let inside = called.is_empty().then(|| self.by_id(kind?)).flatten();
            let inside = inside.filter(|inside| matches!(inside.kind(), STRUCT | UNION) && depth < 8);
            if let Some(found) = inside.and_then(|inside| self.field(inside, name, depth + 1)) {
                return offset.checked_add(found);
            }
        }
        None
    }

    fn by_id(&self, id: u32) -> Option<Type> {
        let start = self.starts.get(usize::try_from(id).ok()?.checked_sub(1)?)?;
        self.at(*start as usize)
    }

    fn at(&self, at: usize) -> Option<Type> {
        let [name, info, size] = [0, 4, 8].map(|field| word(&self.types, at + field));
        Some(Type { name: name?, info: info?, size: size?, rest: at + 12 })
    }

    fn name(&self, at: u32) -> Option<&[u8]> {
        self.strings.get(at as usize..)?.split(|byte| *byte == 0).next()
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.get(..4)?.try_into().ok().map(u32::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRINGS: &[u8] = b"\0int\0inner\0deep\0outer\0first\0last\0";

    fn words(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    /// `struct outer { int first; struct { int deep; }; int last: 3; }` with an anonymous inner structure.
    fn table() -> Vec<u8> {
        let at =
            |name: &[u8]| STRINGS.windows(name.len() + 1).position(|w| &w[..name.len()] == name).unwrap_or(0) as u32;
        let (int, deep, outer) = (at(b"int"), at(b"deep"), at(b"outer"));
        let mut types = words(&[int, 1 << 24, 4, 32]);
        types.extend(words(&[0, (STRUCT << 24) | 1, 4, deep, 1, 0]));
        types.extend(words(&[outer, (1 << 31) | (STRUCT << 24) | 3, 12]));
        types.extend(words(&[at(b"first"), 1, 0, 0, 2, 32, at(b"last"), 1, (3 << 24) | 64]));
        let mut bytes = MAGIC.to_ne_bytes().to_vec();
        bytes.extend([1, 0]);
        bytes.extend(words(&[24, 0, types.len() as u32, types.len() as u32, STRINGS.len() as u32]));
        bytes.extend(types);
        bytes.extend(STRINGS);
        bytes
    }

    #[test]
    fn fields_are_found_in_structures_without_a_name_too() {
        let Some(btf) = Btf::parse(&table()) else { panic!("no table") };
        for (field, offset) in [("first", Some(0)), ("deep", Some(4)), ("last", Some(8)), ("none", None)] {
            assert_eq!(btf.offset("outer", field), offset, "{field}");
        }
        assert_eq!((btf.size("outer"), btf.size("int"), btf.offset("other", "first")), (Some(12), None, None));
    }

    #[test]
    fn a_table_cut_anywhere_is_refused_without_a_panic() {
        let whole = table();
        for cut in 0..whole.len() {
            assert!(Btf::parse(&whole[..cut]).is_none(), "{cut}");
        }
        for at in 24..whole.len() {
            let mut lying = whole.clone();
            lying[at] ^= 0xff;
            let _ = Btf::parse(&lying).and_then(|btf| btf.offset("outer", "deep"));
        }
    }
}
