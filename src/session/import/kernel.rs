//! Chooses the symbols for the recorded kernel's addresses: a given list, this kernel's if it is the same build, else
//! none. Addresses of a relocated kernel are resolved only if the offset is known.

use super::Options;
use super::files::LocalFiles;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::limits::KALLSYMS_BYTES;
use crate::model::{BuildId, Note};
use crate::sys::files;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::Arc;

/// The symbols of the recorded kernel.
#[derive(Debug, Default)]
pub(super) struct KernelNames {
    /// Text of kallsyms.
    pub text: Option<Arc<str>>,
    /// Why there are none.
    pub why_not: Option<Note>,
}

impl KernelNames {
    /// Chooses the symbols. `recorded` is the build-id in the file; `root` contains `proc` and `sys` of this machine.
    ///
    /// # Errors
    /// The given list cannot be read.
    pub(super) fn choose(
        options: &Options,
        local: &LocalFiles,
        recorded: Option<&BuildId>,
        release: &str,
        root: &Path,
    ) -> Result<KernelNames> {
        if let Some(path) = &options.kallsyms {
            let place = || format!("cannot read {}", path.display());
            // `/dev/null` is a list without symbols. A pipe may never begin.
            let is_device = std::fs::metadata(path).context(place)?.file_type().is_char_device();
            let file = if is_device { File::open(path) } else { files::open_regular(path).map(|(file, _)| file) };
            let mut bytes = Vec::new();
            file.and_then(|file| file.take(KALLSYMS_BYTES + 1).read_to_end(&mut bytes)).context(place)?;
            if bytes.len() as u64 > KALLSYMS_BYTES {
                let text = format!("it has more than {KALLSYMS_BYTES} bytes");
                return Err(Error::new(ErrorKind::Exhausted, text).context(place()));
            }
            return Ok(KernelNames { text: Some(String::from_utf8_lossy(&bytes).into()), why_not: None });
        }
        let running = std::fs::read(root.join("sys/kernel/notes")).ok().and_then(|notes| note_build_id(&notes));
        let same = match (recorded, &running) {
            (Some(recorded), Some(running)) => recorded == running,
            (Some(_), None) => false,
            (None, _) => local.same,
        };
        if same {
            let text = std::fs::read_to_string(root.join("proc/kallsyms")).ok();
            return Ok(KernelNames { text: text.map(Arc::from), why_not: None });
        }
        let which =
            if release.is_empty() { "another kernel".into() } else { format!("kernel {release}, not this one") };
        Ok(KernelNames { text: None, why_not: Some(Note {
            topic: "kernel-symbols-foreign".into(),
            text: format!("recorded on {which}: kernel functions are shown by address"),
            fix: Some("Copy /proc/kallsyms of that machine, from the same boot and read as root, and give it with --kallsyms.".into()),
        }) })
    }

    /// The relocation offset: the address of `symbol` in the list minus its recorded address; `None` if the list does
    /// not contain it. The recorded address is 0 if the recorder could not read kernel addresses: no offset then.
    pub(super) fn moved(&self, symbol: &str, recorded: u64) -> Option<u64> {
        if recorded == 0 || symbol.is_empty() {
            return Some(0);
        }
        let now = self.text.as_deref()?.lines().find_map(|line| {
            let (address, rest) = line.split_once(' ')?;
            let (_, name) = rest.split_once(' ')?;
            (name == symbol).then(|| u64::from_str_radix(address, 16).ok())?
        })?;
        Some(now.wrapping_sub(recorded))
    }
}

/// The build-id in ELF notes: name and description with their lengths, each padded to four bytes.
fn note_build_id(notes: &[u8]) -> Option<BuildId> {
    const BUILD_ID: u32 = 3;
    let mut rest = notes;
    loop {
        let word = |at: usize| rest.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes);
        let (name, length, kind) = (word(0)? as usize, word(4)? as usize, word(8)?);
        let (named, described) = (rest.get(12..)?.get(..name)?, rest.get(12..)?.get(name.next_multiple_of(4)..)?);
        if kind == BUILD_ID && named == b"GNU\0" {
            return Some(BuildId(described.get(..length)?.to_vec()));
        }
        rest = described.get(length.next_multiple_of(4)..)?;
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use crate::model::HostFacts;

    fn notes(id: &[u8]) -> Vec<u8> {
        let note = |kind: u32, name: &[u8], text: &[u8]| {
            let mut bytes = Vec::new();
            for word in [name.len() as u32, text.len() as u32, kind] {
                bytes.extend(word.to_ne_bytes());
            }
            for part in [name, text] {
                bytes.extend(part);
                bytes.resize(bytes.len().next_multiple_of(4), 0);
            }
            bytes
        };
        [note(0x100, b"Linux\0", &[1; 5]), note(3, b"GNU\0", id)].concat()
    }

    #[test]
    fn the_build_is_found_among_the_notes() {
        assert_eq!(note_build_id(&notes(&[7; 20])), Some(BuildId(vec![7; 20])));
        assert_eq!(note_build_id(&notes(&[7; 20])[..30]), None);
        assert_eq!(note_build_id(&[0xff; 64]), None);
    }

    #[test]
    fn a_list_that_is_no_file_or_has_no_end_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (huge, host) = (folder.path().join("huge"), HostFacts::default());
        std::fs::File::create(&huge).unwrap().set_len(1 << 40).unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let chosen = |path: &Path| {
            let options = Options { kallsyms: Some(path.to_path_buf()), ..Options::default() };
            let local = LocalFiles::new(None, &host, &host);
            KernelNames::choose(&options, &local, None, "6.1", Path::new("/"))
        };
        let endless = Path::new("/dev/zero");
        for (path, said) in
            [(endless, "it has more than "), (&huge, "it has more than "), (&pipe, "not a regular file")]
        {
            let error = chosen(path).unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
        }
        assert_eq!(chosen(Path::new("/dev/null")).unwrap().text.as_deref(), Some(""));
    }

    #[test]
    fn a_foreign_kernel_is_never_named_by_this_one() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("sys/kernel")).unwrap();
        std::fs::create_dir_all(root.path().join("proc")).unwrap();
        std::fs::write(root.path().join("sys/kernel/notes"), notes(&[7; 20])).unwrap();
        std::fs::write(root.path().join("proc/kallsyms"), "ff00 T _text\nff10 T f\n").unwrap();
        let host = HostFacts { hostname: "a".into(), kernel: "6.1".into(), ..HostFacts::default() };
        let (home, away) = (LocalFiles::new(None, &host, &host), LocalFiles::new(None, &HostFacts::default(), &host));
        let chosen = |local: &LocalFiles, recorded: Option<u8>| {
            let id = recorded.map(|byte| BuildId(vec![byte; 20]));
            let names = KernelNames::choose(&Options::default(), local, id.as_ref(), "6.1", root.path()).unwrap();
            (names.text.is_some(), names.why_not.is_some())
        };
        assert_eq!(chosen(&away, Some(7)), (true, false));
        assert_eq!(chosen(&home, Some(8)), (false, true));
        assert_eq!(chosen(&home, None), (true, false));
        assert_eq!(chosen(&away, None), (false, true));
    }

    #[test]
    fn addresses_move_with_the_reference_symbol() {
        let names = KernelNames { text: Some("ff00 T _text\nff10 T f\n".into()), why_not: None };
        assert_eq!(names.moved("_text", 0xfe00), Some(0x100));
        assert_eq!(names.moved("_stext", 0xfe00), None);
        assert_eq!(names.moved("_text", 0), Some(0));
    }
}
