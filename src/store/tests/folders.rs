//! The directory of a recording among files that are not ours, links that were planted, and disks that fail.

use crate::error::ErrorKind;
use crate::store::folder::{Folder, create_new};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

fn names(folder: &Folder) -> Vec<(String, bool)> {
    folder.list().unwrap().into_iter().map(|entry| (entry.name, entry.regular)).collect()
}

#[test]
fn a_directory_is_taken_over_only_if_it_is_empty_or_an_old_recording_that_may_go() {
    let part = "samples-000000.parquet";
    for (case, files, overwrite, expected) in [
        ("empty", &[][..], false, Ok(())),
        ("a leftover of a recorder that was killed", &[".meta.json.tmp"], false, Ok(())),
        ("somebody's file", &["thesis.txt"], false, Err("is not a recording")),
        ("somebody's file, with force", &["thesis.txt"], true, Err("is not a recording")),
        ("a part without its description", &[part], true, Err("is not a recording")),
        ("a recording", &["meta.json", part], false, Err("exists already")),
        ("a recording, with force", &["meta.json", part, ".samples-000001.parquet.tmp", "baseline.json"], true, Ok(())),
        ("a recording with notes in it, with force", &["meta.json", part, "notes.txt"], true, Ok(())),
    ] {
        let dir = tempfile::tempdir().unwrap();
        files.iter().for_each(|file| fs::write(dir.path().join(file), "old").unwrap());
        let made = Folder::create(dir.path(), overwrite);
        match expected {
            Ok(()) => {
                let left = names(&made.unwrap());
                let kept = |name: &&&str| matches!(**name, "meta.json" | "notes.txt");
                let expected: Vec<_> = files.iter().filter(kept).map(|name| (name.to_string(), true)).collect();
                assert_eq!(left, expected, "{case}: the description goes last, and what is not ours stays");
                assert_eq!(mode(dir.path()), 0o700, "{case}: only its owner reads it");
            }
            Err(message) => {
                let error = made.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Usage, "{case}");
                assert!(error.to_string().contains(message), "{case}: {error}");
                assert!(error.remedy().is_some_and(|remedy| remedy.contains("-o")), "{case}: {:?}", error.remedy());
                assert!(files.iter().all(|file| dir.path().join(file).exists()), "{case}: a file was removed");
            }
        }
    }
}

#[test]
fn a_file_or_a_link_in_place_of_the_directory_is_refused_by_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let (file, link, target) = (dir.path().join("file"), dir.path().join("link"), dir.path().join("target"));
    fs::write(&file, "mine").unwrap();
    fs::create_dir(&target).unwrap();
    symlink(&target, &link).unwrap();
    for path in [&file, &link] {
        let error = Folder::create(path, true).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
        let message = format!("{} exists and is not a directory", path.display());
        assert_eq!(error.to_string(), message);
    }
    assert_eq!(fs::read(&file).unwrap(), b"mine");
    let absent = dir.path().join("no/such/parent");
    let error = Folder::create(&absent, false).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    assert!(error.to_string().contains(&absent.display().to_string()), "{error}");
}

#[test]
fn a_planted_link_is_replaced_and_what_it_points_to_is_never_written() {
    let dir = tempfile::tempdir().unwrap();
    let victim = dir.path().join("victim");
    fs::write(&victim, "precious").unwrap();
    let inside = dir.path().join("r.ironlaw");
    let folder = Folder::create(&inside, false).unwrap();
    for name in ["meta.json", ".meta.json.tmp"] {
        symlink(&victim, inside.join(name)).unwrap();
    }
    folder.place("meta.json", b"{}").unwrap();
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
    assert_eq!(names(&folder), [("meta.json".to_string(), true)], "the link is gone, and so is the temporary file");
    assert_eq!((mode(&inside.join("meta.json")), mode(&inside)), (0o600, 0o700));
    symlink(&victim, inside.join("x")).unwrap();
    drop(create_new(&inside.join("x")).unwrap());
    assert_eq!((fs::read(&victim).unwrap(), fs::read(inside.join("x")).unwrap()), (b"precious".to_vec(), vec![]));
}

#[test]
fn a_file_that_cannot_be_placed_leaves_nothing_behind_and_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::create(&dir.path().join("r"), false).unwrap();
    // A directory with content stands where the file should go.
    fs::create_dir_all(folder.path().join("meta.json/full")).unwrap();
    let error = folder.place("meta.json", b"{}").unwrap_err();
    assert!(error.to_string().starts_with("cannot write ") && error.to_string().contains("meta.json"), "{error}");
    assert_eq!(names(&folder), [("meta.json".to_string(), false)], "no temporary file is left");
    let error = folder.remove("meta.json").unwrap_err();
    assert!(error.to_string().starts_with("cannot delete "), "{error}");
    assert!(folder.remove("nonesuch").is_ok(), "what is not there is deleted already");
}

#[test]
fn a_list_holds_files_by_name_and_leaves_out_names_that_are_no_text() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::open(dir.path());
    for name in [&b"b"[..], b"a\n\x1b[2J", b"\xff\xfe", "größe".as_bytes(), b"a"] {
        fs::write(dir.path().join(std::ffi::OsStr::from_bytes(name)), "1234").unwrap();
    }
    fs::create_dir(dir.path().join("c")).unwrap();
    symlink("/dev/zero", dir.path().join("d")).unwrap();
    let expected = [("a", true), ("a\n\u{1b}[2J", true), ("b", true), ("c", false), ("d", false), ("größe", true)];
    assert_eq!(names(&folder), expected.map(|(name, regular)| (name.to_string(), regular)));
    assert!(folder.size().unwrap() >= 16, "four files of four bytes, and the link's own length");
    let error = Folder::open(&dir.path().join("gone")).list().unwrap_err();
    assert!(error.kind() == ErrorKind::NotFound && error.to_string().starts_with("cannot list "), "{error}");
}

#[test]
fn a_file_is_read_up_to_its_limit_and_not_one_byte_beyond() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("x"), "12345").unwrap();
    let folder = Folder::open(dir.path());
    for (limit, expected) in [(4, None), (5, Some(5)), (6, Some(5)), (u64::MAX - 1, Some(5))] {
        match (folder.read("x", limit), expected) {
            (Ok(bytes), Some(length)) => assert_eq!(bytes.len(), length, "{limit}"),
            (Err(error), None) => {
                assert_eq!(error.kind(), ErrorKind::Corrupt);
                assert!(error.to_string().contains("x has more than 4 bytes"), "{error}");
            }
            (found, _) => panic!("{limit}: {found:?}"),
        }
    }
    let error = folder.read("y", 9).unwrap_err();
    assert!(error.to_string().starts_with("cannot read ") && error.to_string().contains("/y"), "{error}");
}

#[test]
fn a_directory_is_deleted_only_when_it_is_empty() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::create(&dir.path().join("r"), false).unwrap();
    folder.place("meta.json", b"{}").unwrap();
    folder.remove_if_empty();
    assert!(folder.path().exists());
    folder.remove("meta.json").unwrap();
    folder.remove_if_empty();
    assert!(!folder.path().exists());
}
