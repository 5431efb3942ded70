//! Reads the running kernel's build options from its own copy of the configuration or from its package.

use crate::sys::procfs::ProcFs;
use flate2::read::GzDecoder;
use std::io::Read;

/// Size limit; configurations take a few hundred kilobytes.
const MOST_BYTES: u64 = 16 << 20;

/// Whether an option is built in; `None` if the configuration cannot be read.
pub(super) fn option(proc: &ProcFs, release: &str, name: &str) -> Option<bool> {
    let text = own(proc).or_else(|| packaged(proc, release))?;
    let set = |line: &str| line.strip_prefix(name).is_some_and(|rest| rest.trim_end() == "=y");
    Some(text.lines().any(set))
}

/// The kernel's own copy.
fn own(proc: &ProcFs) -> Option<String> {
    let packed = proc.read("config.gz").ok()?;
    let mut text = String::new();
    GzDecoder::new(packed.as_slice()).take(MOST_BYTES).read_to_string(&mut text).ok()?;
    Some(text)
}

/// The copy in the kernel's package.
fn packaged(proc: &ProcFs, release: &str) -> Option<String> {
    let places = [format!("../boot/config-{release}"), format!("../lib/modules/{release}/config")];
    places.iter().filter(|_| !release.is_empty()).find_map(|place| proc.text(place).ok())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::fs;
    use std::io::Write;

    #[test]
    fn the_kernels_own_copy_counts_before_the_packages_and_damaged_ones_do_not() {
        let root = tempfile::tempdir().unwrap();
        let proc = ProcFs::new(root.path().join("proc"));
        let asked = |name: &str| option(&proc, "6.1", name);
        fs::create_dir_all(root.path().join("proc")).unwrap();
        assert_eq!(asked("CONFIG_A"), None);
        fs::create_dir_all(root.path().join("lib/modules/6.1")).unwrap();
        fs::write(root.path().join("lib/modules/6.1/config"), "CONFIG_A=y\nCONFIG_AB=y\n# CONFIG_B is not set\n")
            .unwrap();
        assert_eq!((asked("CONFIG_A"), asked("CONFIG_B"), asked("CONFIG_C")), (Some(true), Some(false), Some(false)));
        fs::write(root.path().join("proc/config.gz"), "nothing that was packed").unwrap();
        assert_eq!(asked("CONFIG_A"), Some(true));
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(b"# CONFIG_A is not set\n").unwrap();
        fs::write(root.path().join("proc/config.gz"), packed.finish().unwrap()).unwrap();
        assert_eq!(asked("CONFIG_A"), Some(false));
    }
}
