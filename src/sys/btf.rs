//! Reads the kernel's type information (BTF), which states the offsets of structure fields on this kernel.
//! Pure but for [`Btf::of_kernel`]; a truncated or invalid table yields `None`, never a panic.

use super::files;
use crate::model::Bytes;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

const MAGIC: u16 = 0xeb9f;
const STRUCT: u32 = 4;
const UNION: u32 = 5;

/// Types between two noted offsets. A table has a hundred thousand types, and a lookup needs a handful of them by id.
const STRIDE: usize = 64;

/// Some structures of a kernel, and the types that their fields refer to.
pub struct Btf {
    bytes: Bytes,
    types: Range<usize>,
    strings: Range<usize>,
    structures: Vec<(&'static str, Type)>,
    /// Offset of every `STRIDE`-th type up to the last structure; ids count from 1.
    noted: Vec<usize>,
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

    /// Offset of the next type.
    fn end(self) -> Option<usize> {
        let data = match self.kind() {
            1 | 14 | 17 => 4,
            3 => 12,
            STRUCT | UNION | 15 | 19 => 12 * self.members(),
            6 | 13 => 8 * self.members(),
            2 | 7..=12 | 16 | 18 => 0,
            _ => return None,
        };
        self.rest.checked_add(data)
    }
}

impl std::fmt::Debug for Btf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Btf").field("structures", &self.structures).finish_non_exhaustive()
    }
}

impl Btf {
    /// Finds structures in the running kernel's types, /sys/kernel/btf/vmlinux below `root`.
    ///
    /// # Errors
    /// `NotFound` on a kernel built without BTF, `InvalidData` for an invalid table or one that lacks a structure.
    pub fn of_kernel(root: &Path, structures: &[&'static str]) -> io::Result<Btf> {
        let path = root.join("sys/kernel/btf/vmlinux");
        // Since Linux 6.16 the table can be mapped. Reading copies it in more than a thousand small pieces.
        let bytes = match files::map(&File::open(&path)?) {
            Ok(bytes) => bytes,
            Err(_) => Arc::new(fs::read(&path)?),
        };
        Btf::find(bytes, structures).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// Finds structures in a table. Reads the types only up to the last of them.
    fn find(bytes: Bytes, wanted: &[&'static str]) -> Option<Btf> {
        let table = (*bytes).as_ref();
        if table.get(..2)? != MAGIC.to_ne_bytes() {
            return None;
        }
        let field = |at: usize| word(table, at).map(|word| word as usize);
        let part = |at: usize| {
            let start = field(4)?.checked_add(field(at)?)?;
            let range = start..start.checked_add(field(at + 4)?)?;
            table.get(range.clone()).map(|_| range)
        };
        let (types, strings) = (part(8)?, part(16)?);
        let mut btf = Btf { bytes, types, strings, structures: Vec::new(), noted: Vec::new() };
        let (mut at, mut id) = (0, 0);
        while btf.structures.len() < wanted.len() {
            if id % STRIDE == 0 {
                btf.noted.push(at);
            }
            let found = btf.at(at)?;
            if found.kind() == STRUCT
                && let Some(name) = wanted.iter().find(|name| btf.is_named(found.name, name))
                && btf.structure(name).is_none()
            {
                btf.structures.push((*name, found));
            }
            (at, id) = (found.end()?, id + 1);
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
        self.structures.iter().find(|(known, _)| *known == name).map(|(_, found)| *found)
    }

    /// Offset in bits. The recursion is limited, because structures are never nested deep.
    fn field(&self, of: Type, name: &str, depth: u32) -> Option<u32> {
        for at in 0..of.members() {
            let at = of.rest + 12 * at;
            let [member, kind, offset] = [0, 4, 8].map(|field| word(self.types(), at + field));
            // With the kind flag set, the upper byte is the size of a bit field.
            let offset = if of.info >> 31 == 1 { offset? & 0x00ff_ffff } else { offset? };
            if self.is_named(member?, name) {
                return Some(offset);
            }
            let inside = self.is_named(member?, "").then(|| self.by_id(kind?)).flatten();
            let inside = inside.filter(|inside| matches!(inside.kind(), STRUCT | UNION) && depth < 8);
            if let Some(found) = inside.and_then(|inside| self.field(inside, name, depth + 1)) {
                return offset.checked_add(found);
            }
        }
        None
    }

    /// Walks to the type from the last noted one before it.
    fn by_id(&self, id: u32) -> Option<Type> {
        let place = usize::try_from(id).ok()?.checked_sub(1)?;
        let noted = (place / STRIDE).min(self.noted.len().checked_sub(1)?);
        let mut found = self.at(*self.noted.get(noted)?)?;
        for _ in noted * STRIDE..place {
            found = self.at(found.end()?)?;
        }
        Some(found)
    }

    fn at(&self, at: usize) -> Option<Type> {
        let [name, info, size] = [0, 4, 8].map(|field| word(self.types(), at + field));
        Some(Type { name: name?, info: info?, size: size?, rest: at + 12 })
    }

    fn types(&self) -> &[u8] {
        (*self.bytes).as_ref().get(self.types.clone()).unwrap_or_default()
    }

    /// Whether the string at an offset is `name`.
    fn is_named(&self, at: u32, name: &str) -> bool {
        let strings = (*self.bytes).as_ref().get(self.strings.clone()).unwrap_or_default();
        let rest = strings.get(at as usize..).and_then(|string| string.strip_prefix(name.as_bytes()));
        rest.is_some_and(|rest| rest.first().is_none_or(|end| *end == 0))
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

    /// `struct outer { int first; struct { int deep; }; int last: 3; }` with an anonymous inner structure, after some
    /// types more.
    fn table(before: u32) -> Vec<u8> {
        let at =
            |name: &[u8]| STRINGS.windows(name.len() + 1).position(|w| &w[..name.len()] == name).unwrap_or(0) as u32;
        let (int, deep, outer) = (at(b"int"), at(b"deep"), at(b"outer"));
        let mut types = words(&[int, 1 << 24, 4, 32]).repeat(before as usize + 1);
        types.extend(words(&[0, (STRUCT << 24) | 1, 4, deep, 1, 0]));
        types.extend(words(&[outer, (1 << 31) | (STRUCT << 24) | 3, 12]));
        types.extend(words(&[at(b"first"), 1, 0, 0, before + 2, 32, at(b"last"), 1, (3 << 24) | 64]));
        let mut bytes = MAGIC.to_ne_bytes().to_vec();
        bytes.extend([1, 0]);
        bytes.extend(words(&[24, 0, types.len() as u32, types.len() as u32, STRINGS.len() as u32]));
        bytes.extend(types);
        bytes.extend(STRINGS);
        bytes
    }

    #[test]
    fn fields_are_found_in_structures_without_a_name_too() {
        for before in [0, 1, 61, 62, 63, 64, 200] {
            let Some(btf) = Btf::find(Arc::new(table(before)), &["outer"]) else { panic!("no table") };
            for (field, offset) in [("first", Some(0)), ("deep", Some(4)), ("last", Some(8)), ("none", None)] {
                assert_eq!(btf.offset("outer", field), offset, "{field} after {before}");
            }
            assert_eq!((btf.size("outer"), btf.size("int"), btf.offset("other", "first")), (Some(12), None, None));
        }
    }

    #[test]
    fn a_table_cut_anywhere_is_refused_without_a_panic() {
        let find = |bytes: &[u8]| Btf::find(Arc::new(bytes.to_vec()), &["outer"]);
        let whole = table(0);
        assert!(Btf::find(Arc::new(whole.clone()), &["outer", "none"]).is_none());
        for cut in 0..whole.len() {
            assert!(find(&whole[..cut]).is_none(), "{cut}");
        }
        for at in 24..whole.len() {
            let mut lying = whole.clone();
            lying[at] ^= 0xff;
            let _ = find(&lying).and_then(|btf| btf.offset("outer", "deep"));
        }
    }
}
