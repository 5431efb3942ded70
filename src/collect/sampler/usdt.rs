//! Reads the USDT probes of an object file: the places that its author marked for tracing (`sys/sdt.h`), which the
//! compiler notes in `.note.stapsdt`.

use super::probe_file::{self, ProbeFile};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::limits::{OBJECT_SYMBOLS, USDT_NAME, USDT_NOTES, USDT_PLACES};
use crate::model::{ObjectFile, ObjectParts, OpsSpec};
use crate::sys::files;
use object::elf::{EM_X86_64, FileHeader32, FileHeader64, Machine, NoteType, PF_W, PF_X, PT_LOAD, ProgramFlags};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader, SectionTable};
use object::{Endian, Endianness};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Name and type of a note that describes a place.
const OWNER: &[u8] = b"stapsdt";
const PLACE: NoteType = NoteType(3);

/// A probe, with every place that hits it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsdtProbe {
    /// Who defined it, e.g. `postgresql`.
    pub provider: String,
    /// Its name, e.g. `transaction__start`.
    pub name: String,
    /// Sorted, each once.
    pub places: Vec<UsdtPlace>,
}

/// A place of a probe: an instruction without effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct UsdtPlace {
    /// Offset of the instruction in the file.
    pub offset: u64,
    /// Offset of the counter that the program checks before it goes there; `None` if it always does.
    pub semaphore: Option<u64>,
}

impl UsdtProbe {
    /// Whether the probe is hit only while it is watched.
    #[must_use]
    pub fn has_semaphore(&self) -> bool {
        self.places.iter().any(|place| place.semaphore.is_some())
    }

    /// Whether it is called so; a hyphen stands for two underscores, as in DTrace.
    #[must_use]
    pub fn is_called(&self, provider: Option<&str>, name: &str) -> bool {
        provider.is_none_or(|provider| provider == self.provider) && name.replace('-', "__") == self.name
    }
}

/// The probes of an object file by provider and name. A place that is not an instruction without effect is left out: a
/// probe elsewhere could destroy an instruction.
///
/// # Errors
/// `Corrupt` for a file that is not ELF; `Exhausted` for a probe with more places than anybody writes.
pub fn probes(image: &ObjectFile) -> Result<Vec<UsdtProbe>> {
    let parts = image.parts(OBJECT_SYMBOLS);
    let notes = read::<FileHeader64<Endianness>>(&parts).or_else(|| read::<FileHeader32<Endianness>>(&parts));
    let notes = notes.ok_or_else(|| Error::new(ErrorKind::Corrupt, "not an ELF file"))?;
    let mut found: BTreeMap<(String, String), Vec<UsdtPlace>> = BTreeMap::new();
    for note in notes {
        let places = found.entry((note.provider, note.name)).or_default();
        if places.len() > USDT_PLACES {
            return Err(Error::new(ErrorKind::Exhausted, format!("a probe has more than {USDT_PLACES} places")));
        }
        places.extend(has_no_effect(image, note.place.offset, note.machine).then_some(note.place));
    }
    let probes = found.into_iter().map(|((provider, name), mut places)| {
        places.sort_unstable();
        places.dedup_by_key(|place| place.offset);
        UsdtProbe { provider, name, places }
    });
    Ok(probes.filter(|probe| !probe.places.is_empty()).collect())
}

/// A file with its probes.
#[derive(Debug)]
pub struct ProbedFile {
    /// Its path as its users see it.
    pub path: PathBuf,
    /// Sorted; none if the file has none.
    pub probes: Vec<UsdtProbe>,
}

impl ProbedFile {
    /// How `--ops` counts one of its probes: by its provider only where another has a probe of that name.
    #[must_use]
    pub fn spec(&self, probe: &UsdtProbe) -> OpsSpec {
        let is_common = self.probes.iter().filter(|other| other.name == probe.name).count() > 1;
        OpsSpec::Usdt {
            binary: self.path.clone(),
            provider: is_common.then(|| probe.provider.clone()),
            name: probe.name.clone(),
        }
    }
}

/// The probes of a program or library. A bare name is looked for in `search`, as in `PATH`, and among the libraries.
///
/// # Errors
/// As [`probe_file::find`] and [`probes`].
pub fn probes_of_file(binary: &Path, search: &OsStr, root: &Path) -> Result<Vec<ProbedFile>> {
    probe_file::find(binary, &[], search, root)?.into_iter().map(examined).collect()
}

/// The probes of the program and the libraries that a process has mapped, without files that have none, and what could
/// not be read.
#[must_use]
pub fn probes_of_process(pid: u32, root: &Path) -> (Vec<ProbedFile>, Vec<Error>) {
    let (files, mut errors) = probe_file::of_processes(&[pid], root);
    let mut found = Vec::new();
    for file in files {
        match examined(file) {
            Ok(file) => found.extend((!file.probes.is_empty()).then_some(file)),
            Err(error) => errors.push(error),
        }
    }
    (found, errors)
}

/// The probes of an open file.
pub(super) fn examined(found: ProbeFile) -> Result<ProbedFile> {
    let ProbeFile { file, path } = found;
    let probes = files::object(file).map_err(Error::from).and_then(|image| probes(&image));
    let probes = probes.context(|| format!("cannot read the probes of {}", path.display()))?;
    Ok(ProbedFile { path, probes })
}

/// A note: which probe is hit where.
struct Noted {
    provider: String,
    name: String,
    place: UsdtPlace,
    machine: Machine,
}

/// A segment in the file and in memory.
struct Segment {
    offset: u64,
    address: u64,
    size: u64,
    flags: ProgramFlags,
}

/// The notes of a file of one class; `None` for another file.
fn read<H: FileHeader<Endian = Endianness>>(parts: &ObjectParts) -> Option<Vec<Noted>> {
    let header = H::parse(parts).ok()?;
    let endian = header.endian().ok()?;
    let segments = segments(header, endian, parts);
    let Ok(sections) = header.sections(endian, parts) else { return Some(Vec::new()) };
    let base = named(&sections, endian, b".stapsdt.base").map(|section| section.sh_addr(endian).into());
    let notes = named(&sections, endian, b".note.stapsdt").and_then(|section| section.notes(endian, parts).ok()?);
    let machine = header.e_machine(endian);
    let word = if header.is_type_64() { 8 } else { 4 };
    let noted = notes.into_iter().flat_map(|mut notes| std::iter::from_fn(move || notes.next().ok()?)).take(USDT_NOTES);
    let noted = noted.filter(|note| note.name() == OWNER && note.n_type(endian) == PLACE).filter_map(|note| {
        let (address, semaphore, provider, name) = described(note.desc(), word, endian, base)?;
        let place = UsdtPlace {
            offset: in_file(&segments, address, PF_X)?,
            semaphore: if semaphore == 0 { None } else { Some(in_file(&segments, semaphore, PF_W)?) },
        };
        Some(Noted { provider, name, place, machine })
    });
    Some(noted.collect())
}

fn segments<H: FileHeader<Endian = Endianness>>(header: &H, endian: Endianness, parts: &ObjectParts) -> Vec<Segment> {
    let headers = header.program_headers(endian, parts).unwrap_or_default();
    let loaded = headers.iter().filter(|segment| segment.p_type(endian) == PT_LOAD);
    let segment = |segment: &H::ProgramHeader| Segment {
        offset: segment.p_offset(endian).into(),
        address: segment.p_vaddr(endian).into(),
        size: segment.p_filesz(endian).into(),
        flags: segment.p_flags(endian),
    };
    loaded.map(segment).collect()
}

fn named<'a, H: FileHeader<Endian = Endianness>>(
    sections: &SectionTable<'a, H, &'a ObjectParts>,
    endian: Endianness,
    name: &[u8],
) -> Option<&'a H::SectionHeader> {
    sections.section_by_name(endian, name).map(|(_, section)| section)
}

/// Address, semaphore, provider and name: three words, then texts. Addresses move with the section `.stapsdt.base`
/// whose address at link time is the second word, because prelinking does not know these notes.
fn described(bytes: &[u8], word: usize, endian: Endianness, base: Option<u64>) -> Option<(u64, u64, String, String)> {
    let (words, texts) = bytes.split_at_checked(3 * word)?;
    let mut words = words.chunks_exact(word).map(|bytes| match *bytes {
        [a, b, c, d] => Some(u64::from(endian.read_u32([a, b, c, d]))),
        _ => Some(endian.read_u64(bytes.try_into().ok()?)),
    });
    let mut next = || words.next().flatten();
    let (address, linked, semaphore) = (next()?, next()?, next()?);
    let moved = base.filter(|_| linked != 0).map_or(0, |base| base.wrapping_sub(linked));
    let mut texts = texts.split(|byte| *byte == 0).map(text);
    let (provider, name) = (texts.next()??, texts.next()??);
    let semaphore = if semaphore == 0 { 0 } else { semaphore.wrapping_add(moved) };
    Some((address.wrapping_add(moved), semaphore, provider, name))
}

/// A name as a C compiler lets an author write it.
fn text(bytes: &[u8]) -> Option<String> {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'$');
    let fits = !bytes.is_empty() && bytes.len() <= USDT_NAME && bytes.iter().all(plain);
    fits.then(|| String::from_utf8_lossy(bytes).into_owned())
}

/// The place of an address in the file, if it lies in a segment with these permissions.
fn in_file(segments: &[Segment], address: u64, flags: ProgramFlags) -> Option<u64> {
    segments.iter().filter(|segment| segment.flags & flags == flags).find_map(|segment| {
        let inside = address.checked_sub(segment.address).filter(|inside| *inside < segment.size)?;
        segment.offset.checked_add(inside)
    })
}

/// Whether the instruction does nothing, as those do that `sys/sdt.h` writes. Known for x86-64 and AArch64.
fn has_no_effect(image: &ObjectFile, offset: u64, machine: Machine) -> bool {
    let code = image.bytes(offset, 4.min(image.length().saturating_sub(offset))).unwrap_or_default();
    match *code {
        [0x90, ..] | [0x0f, 0x1f, ..] | [0x66, 0x90 | 0x0f, ..] if machine == EM_X86_64 => true,
        [0x1f, 0x20, 0x03, 0xd5] => machine != EM_X86_64,
        _ => false,
    }
}

#[cfg(test)]
pub(crate) mod testing {
    /// Where the code and the counters lie, in the file and in memory.
    pub const CODE: (u64, u64) = (0x200, 0x40_1000);
    pub const DATA: (u64, u64) = (0x300, 0x60_0000);
    /// Address of `.stapsdt.base`.
    pub const BASE: u64 = 0x50_0000;

    /// The bytes of a note of this owner and type: address, base and semaphore, then the texts.
    pub fn note(owner: &[u8], kind: u32, words: [u64; 3], texts: &[u8]) -> Vec<u8> {
        let padded = |bytes: &[u8]| [bytes, &vec![0; bytes.len().next_multiple_of(4) - bytes.len()][..]].concat();
        let description = [&words.map(u64::to_le_bytes).concat()[..], texts].concat();
        let head = [owner.len() as u32, description.len() as u32, kind].map(u32::to_le_bytes).concat();
        [head, padded(owner), padded(&description)].concat()
    }

    /// A 64-bit little-endian ELF file for x86-64: 256 bytes of `code`, 256 of data, these notes, and the section that
    /// notes are relative to.
    pub fn elf(code: u8, notes: &[u8]) -> Vec<u8> {
        const NAMES: &[u8] = b"\0.note.stapsdt\0.stapsdt.base\0.shstrtab\0";
        let words = |values: &[u64]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        let halves = |values: &[u32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
        let at = 0x400;
        let names = at + notes.len() as u64;
        let tables = (names + NAMES.len() as u64).next_multiple_of(8);
        let mut file = [b"\x7fELF\x02\x01\x01".to_vec(), vec![0; 9]].concat();
        file.extend(halves(&[62 << 16 | 2, 1]));
        file.extend(words(&[0, 64, tables]));
        file.extend(halves(&[0, 56 << 16 | 64, 64 << 16 | 2, 3 << 16 | 4]));
        for (flags, (offset, address)) in [(5, CODE), (6, DATA)] {
            file.extend(halves(&[1, flags]));
            file.extend(words(&[offset, address, address, 256, 256, 16]));
        }
        file.resize(CODE.0 as usize, 0);
        file.resize(DATA.0 as usize, code);
        file.resize(at as usize, 0);
        file.extend([notes, NAMES].concat());
        file.resize(tables as usize, 0);
        for (name, kind, address, offset, size) in [
            (0, 0, 0, 0, 0),
            (1, 7, 0, at, notes.len() as u64),
            (15, 8, BASE, 0, 1),
            (29, 3, 0, names, NAMES.len() as u64),
        ] {
            file.extend(halves(&[name, kind]));
            file.extend(words(&[0, address, offset, size]));
            file.extend(halves(&[0, 0]));
            file.extend(words(&[4, 0]));
        }
        file
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::testing::{BASE, CODE, DATA, elf, note};
    use super::*;
    use proptest::prelude::*;

    const NOP: u8 = 0x90;

    fn place(words: [u64; 3], texts: &[u8]) -> Vec<u8> {
        note(b"stapsdt\0", 3, words, texts)
    }

    fn read(code: u8, notes: &[Vec<u8>]) -> Result<Vec<UsdtProbe>> {
        probes(&ObjectFile::new(elf(code, &notes.concat())))
    }

    fn probe(provider: &str, name: &str, places: &[(u64, Option<u64>)]) -> UsdtProbe {
        let places = places.iter().map(|(offset, semaphore)| UsdtPlace { offset: *offset, semaphore: *semaphore });
        UsdtProbe { provider: provider.into(), name: name.into(), places: places.collect() }
    }

    #[test]
    fn the_places_of_a_probe_are_found_with_their_semaphore_wherever_the_file_was_moved() {
        // Linked with the base 0x1000 lower than it lies now.
        let moved = [CODE.1 - 0x1000 + 0x20, BASE - 0x1000, DATA.1 - 0x1000 + 8];
        let notes = [
            place([CODE.1 + 0x10, BASE, 0], b"db\0start\08@%rax\0"),
            place([CODE.1 + 0x30, 0, DATA.1 + 8], b"db\0query__start\0\0"),
            place(moved, b"db\0query__start\0\0"),
            place(moved, b"db\0query__start\0\0"),
            place([CODE.1 + 0x40, BASE, 0], b"app\0start\0\0"),
        ];
        let found = read(NOP, &notes).unwrap();
        let expected = [
            probe("app", "start", &[(CODE.0 + 0x40, None)]),
            probe("db", "query__start", &[(CODE.0 + 0x20, Some(DATA.0 + 8)), (CODE.0 + 0x30, Some(DATA.0 + 8))]),
            probe("db", "start", &[(CODE.0 + 0x10, None)]),
        ];
        assert_eq!(found, expected);
        assert!(found[1].has_semaphore() && !found[2].has_semaphore());
        assert!(found[1].is_called(None, "query-start") && found[1].is_called(Some("db"), "query__start"));
        assert!(!found[1].is_called(Some("app"), "query__start") && !found[1].is_called(None, "query"));
    }

    #[test]
    fn what_a_probe_cannot_be_is_left_out() {
        let at = |address, semaphore| [address, BASE, semaphore];
        for (what, note) in [
            ("another owner", note(b"GNU\0", 3, at(CODE.1, 0), b"a\0b\0\0")),
            ("another type", note(b"stapsdt\0", 4, at(CODE.1, 0), b"a\0b\0\0")),
            ("outside of the code", place(at(DATA.1, 0), b"a\0b\0\0")),
            ("beyond the code", place(at(CODE.1 + 256, 0), b"a\0b\0\0")),
            ("nowhere", place(at(u64::MAX, 0), b"a\0b\0\0")),
            ("a semaphore in the code", place(at(CODE.1, CODE.1), b"a\0b\0\0")),
            ("without a name", place(at(CODE.1, 0), b"a\0\0\0")),
            ("one text", place(at(CODE.1, 0), b"abc")),
            ("a name that acts", place(at(CODE.1, 0), b"a\0\x1b[2J\0\0")),
            ("a long name", place(at(CODE.1, 0), &[b"a\0", &[b'b'; USDT_NAME + 1][..], b"\0"].concat())),
            ("too short", super::testing::note(b"stapsdt\0", 3, at(CODE.1, 0), b"")),
        ] {
            assert_eq!(read(NOP, &[note]).unwrap(), [], "{what}");
        }
        let good = place(at(CODE.1, 0), b"a\0b\0\0");
        assert_eq!(read(0x55, std::slice::from_ref(&good)).unwrap(), [], "a probe would destroy the instruction");
        assert_eq!(read(NOP, &[good]).unwrap().len(), 1);
        assert!(probes(&ObjectFile::new(b"#!/bin/sh".to_vec())).is_err());
    }

    #[test]
    fn a_probe_of_more_places_than_anybody_writes_is_refused() {
        let notes = |count: usize| vec![place([CODE.1, BASE, 0], b"a\0b\0\0"); count];
        assert_eq!(read(NOP, &notes(USDT_PLACES)).unwrap(), [probe("a", "b", &[(CODE.0, None)])]);
        assert_eq!(read(NOP, &notes(USDT_PLACES + 2)).unwrap_err().kind(), ErrorKind::Exhausted);
        let many: Vec<_> =
            (0..USDT_NOTES + 9).map(|nth| place([CODE.1, BASE, 0], format!("a\0p{nth}\0\0").as_bytes())).collect();
        assert_eq!(read(NOP, &many).unwrap().len(), USDT_NOTES);
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

        /// Every place that is found lies in the file, before an instruction without effect.
        #[test]
        fn damaged_files_have_only_places_that_can_be_probed(
            notes in prop::collection::vec((any::<[u64; 3]>(), prop::collection::vec(any::<u8>(), 0..40), any::<bool>()), 0..9),
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..9),
            cut in any::<prop::sample::Index>(),
        ) {
            let inside = |[a, b, c]: [u64; 3]| [CODE.1 + a % 300, [0, BASE, b][b as usize % 3], [0, DATA.1 + c % 300][c as usize % 2]];
            let notes = notes.iter().map(|(words, texts, whole)| {
                place(if *whole { inside(*words) } else { *words }, if *whole { b"db\0start\0\0" } else { texts })
            });
            let mut file = elf(NOP, &notes.collect::<Vec<_>>().concat());
            for (at, byte) in damage {
                let at = at.index(file.len());
                file[at] = byte;
            }
            file.truncate(cut.index(file.len()).max(file.len() / 2) + 1);
            let image = ObjectFile::new(file.clone());
            for probe in probes(&image).unwrap_or_default() {
                prop_assert!(!probe.places.is_empty() && probe.name.len() <= USDT_NAME, "{:?}", probe);
                for place in probe.places {
                    let code = &file[place.offset as usize..];
                    prop_assert!(matches!(code, [NOP, ..] | [0x0f, 0x1f, ..] | [0x66, 0x90 | 0x0f, ..] | [0x1f, 0x20, 3, 0xd5, ..]));
                }
            }
        }
    }
}
