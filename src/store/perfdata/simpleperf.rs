//! Reads the symbols that simpleperf, Android's profiler, stores in its files: they come from another machine, whose
//! programs are not here.

use crate::abi::Cursor;
use rustc_hash::FxHashMap;

/// Numbers of simpleperf's sections.
pub(super) mod feature {
    pub const FILE: u32 = 128;
    pub const FILE2: u32 = 132;
}

/// The symbols of files, by path.
#[derive(Debug, Clone, Default)]
pub struct RecordedSymbols {
    files: FxHashMap<String, FileSymbols>,
}

/// The symbols of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct FileSymbols {
    path: String,
    /// From an offset in the file to an address in it.
    offset_to_address: u64,
    /// Sorted by address.
    symbols: Vec<Symbol>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Symbol {
    address: u64,
    length: u64,
    name: String,
}

impl RecordedSymbols {
    /// Reads a section of messages, or one of structures.
    pub(super) fn read(&mut self, section: &[u8], messages: bool) {
        let mut section = Cursor::new(section, false);
        while let Some(bytes) = section.u32().and_then(|size| section.take_counted(u64::from(size))) {
            let file = if messages { message(bytes) } else { structure(bytes) };
            if let Some(mut file) = file.filter(|file| !file.symbols.is_empty()) {
                file.symbols.sort_by_key(|symbol| symbol.address);
                self.files.insert(file.path.clone(), file);
            }
        }
    }

    /// Whether it holds symbols of that file.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// The function at an offset in a file.
    #[must_use]
    pub fn name(&self, path: &str, offset: u64) -> Option<&str> {
        let file = self.files.get(path)?;
        let address = offset.wrapping_add(file.offset_to_address);
        let behind = file.symbols.partition_point(|symbol| symbol.address <= address);
        let symbol = file.symbols.get(behind.checked_sub(1)?)?;
        (address - symbol.address < symbol.length).then_some(symbol.name.as_str())
    }
}

/// The kind of file whose addresses count from its lowest one.
const ELF: u32 = 2;
/// The kind of file that lists where the runtime's files in it begin.
const DEX: u32 = 3;

/// A structure of the older section.
fn structure(bytes: &[u8]) -> Option<FileSymbols> {
    let mut data = Cursor::new(bytes, false);
    let path = text(&mut data)?;
    let (kind, lowest, count) = (data.u32()?, data.u64()?, data.u32()?);
    let mut symbols = Vec::new();
    for _ in 0..count {
        let (address, length) = (data.u64()?, u64::from(data.u32()?));
        symbols.push(Symbol { address, length, name: text(&mut data)? });
    }
    if kind == DEX {
        let offsets = data.u32()?;
        data.take_words(u64::from(offsets))?;
    }
    // Files of older versions end before the offset of the lowest address, which is 0 then.
    let offset = if kind == ELF { data.u64().unwrap_or_default() } else { lowest };
    Some(FileSymbols { path, offset_to_address: lowest.wrapping_sub(offset), symbols })
}

fn text(data: &mut Cursor<'_>) -> Option<String> {
    let bytes = data.name();
    data.skip(bytes.len() + 1)?;
    Some(String::from_utf8_lossy(bytes).into_owned())
}

/// A message of the newer section: the fields of the structure by number.
fn message(bytes: &[u8]) -> Option<FileSymbols> {
    let mut file = FileSymbols::default();
    let (mut lowest, mut offset) = (0, None);
    for (field, value) in fields(bytes) {
        match (field, value) {
            (1, Value::Bytes(path)) => file.path = String::from_utf8_lossy(path).into_owned(),
            (3, Value::Number(number)) => lowest = number,
            (4, Value::Bytes(symbol)) => file.symbols.push(symbol_of(symbol)),
            // Without the field in it, the offset is 0.
            (6, Value::Bytes(elf)) => {
                let given = fields(elf).find_map(|(field, value)| match value {
                    Value::Number(number) if field == 1 => Some(number),
                    _ => None,
                });
                offset = Some(given.unwrap_or_default());
            }
            _ => {}
        }
    }
    file.offset_to_address = lowest.wrapping_sub(offset.unwrap_or(lowest));
    (!file.path.is_empty()).then_some(file)
}

fn symbol_of(bytes: &[u8]) -> Symbol {
    let mut symbol = Symbol { address: 0, length: 0, name: String::new() };
    for (field, value) in fields(bytes) {
        match (field, value) {
            (1, Value::Number(address)) => symbol.address = address,
            (2, Value::Number(length)) => symbol.length = length,
            (3, Value::Bytes(name)) => symbol.name = String::from_utf8_lossy(name).into_owned(),
            _ => {}
        }
    }
    symbol
}

/// The value of a field.
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The fields of a message in protobuf's encoding, up to the first that is damaged.
fn fields(bytes: &[u8]) -> impl Iterator<Item = (u64, Value<'_>)> {
    let mut data = Cursor::new(bytes, false);
    std::iter::from_fn(move || {
        let key = number(&mut data)?;
        let value = match key & 7 {
            0 => Value::Number(number(&mut data)?),
            1 => Value::Number(data.u64()?),
            2 => {
                let length = number(&mut data)?;
                Value::Bytes(data.take_counted(length)?)
            }
            5 => Value::Number(u64::from(data.u32()?)),
            _ => return None,
        };
        Some((key >> 3, value))
    })
}

/// A number in groups of seven bits, the lowest first.
fn number(data: &mut Cursor<'_>) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = data.u8()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str = "/system/lib64/libc.so";

    fn sized(bytes: &[u8]) -> Vec<u8> {
        [&(bytes.len() as u32).to_le_bytes(), bytes].concat()
    }

    fn structures() -> Vec<u8> {
        let mut file = [PATH.as_bytes(), b"\0"].concat();
        file.extend([&ELF.to_le_bytes()[..], &0x1000u64.to_le_bytes(), &2u32.to_le_bytes()].concat());
        for (address, name) in [(0x1200u64, &b"write\0"[..]), (0x1100, b"read\0")] {
            file.extend([&address.to_le_bytes()[..], &0x40u32.to_le_bytes(), name].concat());
        }
        file.extend(0x800u64.to_le_bytes());
        sized(&file)
    }

    fn counted(field: u8, bytes: &[u8]) -> Vec<u8> {
        [&[field << 3 | 2, bytes.len() as u8], bytes].concat()
    }

    fn messages() -> Vec<u8> {
        // 0x1000, 0x1200, 0x1100 and 0x800 in groups of seven bits.
        let symbol = |address: [u8; 2], name: &[u8]| {
            counted(4, &[&[1 << 3, address[0], address[1], 2 << 3, 0x40], &counted(3, name)[..]].concat())
        };
        let parts = [
            counted(1, PATH.as_bytes()),
            vec![2 << 3, 2, 3 << 3, 0x80, 0x20],
            symbol([0x80, 0x24], b"write"),
            symbol([0x80, 0x22], b"read"),
            counted(6, &[1 << 3, 0x80, 0x10]),
        ];
        sized(&parts.concat())
    }

    #[test]
    fn both_sections_name_the_functions_of_a_file_by_its_offsets() {
        for (section, is_messages) in [(structures(), false), (messages(), true)] {
            let mut symbols = RecordedSymbols::default();
            symbols.read(&section, is_messages);
            let name = |offset| symbols.name(PATH, offset);
            let found = [0x900, 0x93f, 0x940, 0xa10, 0x8ff, 0].map(name);
            assert_eq!(found, [Some("read"), Some("read"), None, Some("write"), None, None], "{is_messages}");
            assert!(symbols.has(PATH) && symbols.name("/other", 0x900).is_none());
            for length in 0..section.len() {
                RecordedSymbols::default().read(&section[..length], is_messages);
            }
        }
    }

    #[test]
    fn sizes_that_make_no_sense_end_the_reading() {
        for is_messages in [false, true] {
            let mut symbols = RecordedSymbols::default();
            symbols.read(&[0xff; 64], is_messages);
            symbols.read(&sized(&[0xff; 64]), is_messages);
            assert!(symbols.files.is_empty());
        }
    }
}
