//! Where the program of the SQL engine is, and how to get it where it is not.

use crate::error::{Error, ErrorKind};
use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The program.
const NAME: &str = "ironlaw-fleet";

/// The other ways to an answer, whatever is installed.
const OTHER_WAYS: &str = "Or use --engine spark, or paste the query into another engine: `ironlaw fleet sql NAME` prints \
                          those of a fleet; the tables are Parquet files.";

/// The program: beside this one, where the package has it, or on the search path.
///
/// # Errors
/// `Unsupported` if it is nowhere, with how to install it for the way in which this program was installed.
pub(super) fn engine_path() -> Result<PathBuf, Error> {
    let own = env::current_exe().unwrap_or_default();
    find(&own, env::var_os("PATH").as_deref()).ok_or_else(|| {
        let text = format!("the SQL engine is not installed: no {NAME} beside {} or on the PATH", own.display());
        Error::new(ErrorKind::Unsupported, text).hint(format!("{} {OTHER_WAYS}", remedy(&own)))
    })
}

fn find(own: &Path, path: Option<&OsStr>) -> Option<PathBuf> {
    let folder = own.parent().unwrap_or(Path::new(""));
    let mut folders = vec![folder.to_path_buf(), folder.join("../lib/ironlaw")];
    if build_folder(own).is_some() {
        // A debug build asks the engine of the release build.
        folders.push(folder.join("../release"));
    }
    folders.extend(path.into_iter().flat_map(env::split_paths).filter(|folder| folder.is_absolute()));
    folders.into_iter().map(|folder| folder.join(NAME)).find(|file| file.is_file())
}

/// What to do, by how this program was installed.
fn remedy(own: &Path) -> String {
    let folder = own.parent().unwrap_or(Path::new(""));
    if build_folder(own).is_some() {
        return "Build it, in the same checkout: `cargo build --release -p ironlaw-fleet`.".to_string();
    }
    // What `cargo install` has installed stands in this file, beside `bin`.
    if let Some(root) = folder.parent().filter(|root| root.join(".crates.toml").is_file()) {
        let home = env::var_os("CARGO_HOME").map(PathBuf::from);
        let is_home = home.is_some_and(|home| home == root) || root.ends_with(".cargo");
        let root = if is_home { String::new() } else { format!(" --root {}", root.display()) };
        return format!("Install it from a checkout, as ironlaw itself: `cargo install --path src/fleet{root}`.");
    }
    if folder == Path::new("/usr/bin") {
        return "The package has it, in /usr/lib/ironlaw: `apt-get install --reinstall ironlaw`.".to_string();
    }
    format!("The archive has it: copy {NAME} into {}.", folder.display())
}

/// The folder that cargo builds into, if the program is there. Cargo keeps what rustc says of itself in it; its tag is only
/// in a folder that cargo made.
fn build_folder(own: &Path) -> Option<&Path> {
    own.ancestors().skip(1).take(3).find(|folder| folder.join(".rustc_info.json").is_file())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::fs;

    fn made(root: &Path, name: &str) -> PathBuf {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "").unwrap();
        path
    }

    #[test]
    fn it_is_found_beside_the_program_then_in_the_package_then_on_the_path() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let own = made(root, "bin/ironlaw");
        let path = env::join_paths([root.join("other"), PathBuf::from("relative")]).unwrap();
        let found = || find(&own, Some(&path)).map(|file| fs::canonicalize(file).unwrap());
        assert_eq!(found(), None);
        for place in ["other/ironlaw-fleet", "lib/ironlaw/ironlaw-fleet", "bin/ironlaw-fleet"] {
            let file = made(root, place);
            assert_eq!(found(), Some(fs::canonicalize(file).unwrap()), "{place}");
        }
    }

    #[test]
    fn a_debug_build_finds_the_engine_of_the_release_build() {
        let dir = tempfile::tempdir().unwrap();
        let own = made(dir.path(), "target/debug/ironlaw");
        made(dir.path(), "target/release/ironlaw-fleet");
        assert_eq!(find(&own, None), None, "not a folder of cargo");
        made(dir.path(), "target/.rustc_info.json");
        assert!(find(&own, None).is_some());
    }

    #[test]
    fn the_remedy_is_that_of_how_this_program_was_installed() {
        let dir = tempfile::tempdir().unwrap();
        made(dir.path(), "checkout/target/.rustc_info.json");
        made(dir.path(), "installed/.crates.toml");
        made(dir.path(), ".cargo/.crates.toml");
        let root = dir.path().display();
        for (own, expected) in [
            (format!("{root}/checkout/target/release/ironlaw"), "`cargo build --release -p ironlaw-fleet`".to_string()),
            (
                format!("{root}/checkout/target/x86_64-unknown-linux-musl/release/ironlaw"),
                "`cargo build --release -p ironlaw-fleet`".to_string(),
            ),
            (
                format!("{root}/installed/bin/ironlaw"),
                format!("`cargo install --path src/fleet --root {root}/installed`"),
            ),
            (format!("{root}/.cargo/bin/ironlaw"), "`cargo install --path src/fleet`".to_string()),
            ("/usr/bin/ironlaw".to_string(), "apt-get install --reinstall ironlaw".to_string()),
            (format!("{root}/unpacked/ironlaw"), format!("copy ironlaw-fleet into {root}/unpacked")),
        ] {
            let text = remedy(Path::new(&own));
            assert!(text.contains(&expected), "{own}: {text}");
        }
    }
}
