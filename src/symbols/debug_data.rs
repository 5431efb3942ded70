//! The symbols that a stripped file carries in its section `.gnu_debugdata`: an ELF file of its own, compressed by xz, as
//! Fedora's programs and those derived from it have it (MiniDebugInfo).

use super::dwarf::{cached, open};
use crate::error::{Error, ErrorKind, catch_panic};
use crate::model::ObjectFile;
use crate::model::limits::DEBUG_DATA;
use lzma_rust2::XzReader;
use object::{Object, ObjectSection};
use std::io::Read;

/// The file in the section; `None` without one, and if it is damaged or larger than the limit. What such a file carries
/// in turn is not looked at.
#[must_use]
pub fn debug_data(file: &ObjectFile) -> Option<ObjectFile> {
    let cache = cached(file);
    let file = open(&cache).ok()?;
    let section = file.section_by_name(".gnu_debugdata").filter(|section| section.size() <= DEBUG_DATA)?;
    let packed = section.data().ok()?;
    // A panic of the decoder is this file's.
    let bytes = catch_panic(|| unpacked(packed).ok_or_else(|| Error::new(ErrorKind::Corrupt, "damaged"))).ok()?;
    bytes.starts_with(b"\x7fELF").then(|| ObjectFile::new(bytes))
}

/// At most `DEBUG_DATA` bytes, with as much memory for those that later ones may repeat.
fn unpacked(packed: &[u8]) -> Option<Vec<u8>> {
    let window_kib = u32::try_from(DEBUG_DATA >> 10).ok()?;
    let mut bytes = Vec::new();
    let reader = XzReader::new_mem_limit(packed, false, window_kib);
    reader.take(DEBUG_DATA + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= DEBUG_DATA).then_some(bytes)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::symbols::elf::Image;
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};

    fn xz(bytes: &[u8], flags: &[&str]) -> Option<Vec<u8>> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("plain");
        std::fs::write(&path, bytes).unwrap();
        let done = Command::new("xz").args(flags).arg("-c").arg(&path).stderr(Stdio::null()).output().ok()?;
        done.status.success().then_some(done.stdout)
    }

    fn done(command: &str, arguments: &[&str], dir: &Path) -> bool {
        Command::new(command)
            .args(arguments)
            .current_dir(dir)
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|it| it.success())
    }

    /// A stripped program as Fedora makes it, whose section holds what `pack` makes of its symbols; `None` without the
    /// tools for it.
    fn program(dir: &Path, pack: impl Fn(&[u8]) -> Vec<u8>) -> Option<PathBuf> {
        let code = "__attribute__((noinline)) static int hidden_step(int a) { __asm__ volatile(\"\" : \"+r\"(a)); return a * 3; }\n\
                    int main(int n, char **a) { (void)a; return hidden_step(n); }\n";
        std::fs::write(dir.join("app.c"), code).unwrap();
        let made = done("cc", &["-O1", "-o", "app", "app.c"], dir)
            && done("objcopy", &["-S", "--keep-symbol=hidden_step", "app", "mini"], dir)
            && done("objcopy", &["--strip-all", "app", "stripped"], dir);
        if !made || xz(b"", &[]).is_none() {
            return None;
        }
        std::fs::write(dir.join("data"), pack(&std::fs::read(dir.join("mini")).unwrap())).unwrap();
        let added = done("objcopy", &["--add-section", ".gnu_debugdata=data", "stripped", "packed"], dir);
        added.then(|| dir.join("packed"))
    }

    fn read(path: &Path) -> ObjectFile {
        ObjectFile::new(std::fs::read(path).unwrap())
    }

    #[test]
    fn a_stripped_program_has_the_names_it_carries() {
        let dir = tempfile::tempdir().unwrap();
        let Some(path) = program(dir.path(), |mini| xz(mini, &["-6"]).unwrap_or_default()) else {
            return crate::skips::skip("xz", "cc, objcopy or xz is not installed");
        };
        let (file, whole) = (read(&path), std::fs::read(dir.path().join("app")).unwrap());
        let whole = object::File::parse(&*whole).unwrap();
        let symbol = object::Object::symbol_by_name(&whole, "hidden_step").unwrap();
        let section = object::Object::section_by_name(&whole, ".text").unwrap();
        let place = object::ObjectSymbol::address(&symbol);
        let offset = section.file_range().unwrap().0 + (place - section.address());
        let named = |file: &ObjectFile| {
            let names = Image::parse(file, "app").unwrap().names(offset + 1, &crate::symbols::tests::Stored::default());
            names.into_iter().map(|symbol| symbol.function).collect::<Vec<_>>()
        };
        assert_eq!(named(&file), ["hidden_step"]);
        assert_ne!(named(&read(&dir.path().join("stripped"))), ["hidden_step"]);
        // What it carries may itself carry symbols: these are not read.
        let inner = std::fs::read(&path).unwrap();
        let outer = read(&program(dir.path(), |_| xz(&inner, &["-6"]).unwrap_or_default()).unwrap());
        assert!(debug_data(&outer).is_some());
        assert_ne!(named(&outer), ["hidden_step"]);
    }

    #[test]
    fn what_is_damaged_too_large_or_no_program_holds_no_symbols() {
        let dir = tempfile::tempdir().unwrap();
        let bomb = xz(&vec![0; DEBUG_DATA as usize + 1], &["-0"]).unwrap_or_default();
        assert!(bomb.len() < 1 << 20);
        let packed = |mini: &[u8]| xz(mini, &["-6"]).unwrap_or_default();
        type Pack<'a> = &'a dyn Fn(&[u8]) -> Vec<u8>;
        let cases: [(&str, Pack<'_>, bool); 6] = [
            ("whole", &packed, true),
            ("a bomb", &|_| bomb.clone(), false),
            ("cut", &|mini| packed(mini)[..packed(mini).len() / 2].to_vec(), false),
            ("not packed", &|mini| mini.to_vec(), false),
            ("packed twice", &|mini| packed(&packed(mini)), false),
            (
                "a window of 1.5 GiB",
                &|mini| xz(mini, &["--format=xz", "--lzma2=dict=1536MiB,mode=fast,nice=2,mf=hc3"]).unwrap_or_default(),
                false,
            ),
        ];
        for (what, pack, readable) in cases {
            let Some(path) = program(dir.path(), pack) else {
                return crate::skips::skip("xz", "cc, objcopy or xz is not installed");
            };
            assert_eq!(debug_data(&read(&path)).is_some(), readable, "{what}");
        }
        assert!(debug_data(&ObjectFile::new(b"\x7fELF\x02\x01\x01".to_vec())).is_none());
    }

    #[test]
    fn any_damage_is_survived() {
        let Some(good) = xz(b"\x7fELF and so on", &["-6"]) else {
            return crate::skips::skip("xz", "xz is not installed");
        };
        assert_eq!(unpacked(&good).as_deref(), Some(&b"\x7fELF and so on"[..]));
        for at in 0..good.len() {
            for bit in 0..8 {
                let mut bad = good.clone();
                bad[at] ^= 1 << bit;
                // Most damage is noticed; some changes nothing that matters.
                let _ = catch_panic(|| Ok(unpacked(&bad)));
            }
            assert_eq!(unpacked(&good[..at]), None, "cut at {at}");
        }
    }
}
