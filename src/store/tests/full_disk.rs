//! A full disk is an error the caller can handle, and earlier data stays intact.

use super::events::chunk;
use super::{by_kind, meta, read};
use crate::error::ErrorKind;
use crate::store::{Recording, Writer};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A small file system, unmounted when dropped.
struct Tmpfs(PathBuf);

impl Tmpfs {
    fn mount(at: &Path) -> Option<Tmpfs> {
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"]).arg(at).output();
        mounted.is_ok_and(|output| output.status.success()).then(|| Tmpfs(at.to_path_buf()))
    }
}

impl Drop for Tmpfs {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// Skips the test where a file system cannot be mounted.
fn tmpfs(at: &Path) -> Option<Tmpfs> {
    let mounted = Tmpfs::mount(at);
    if mounted.is_none() {
        crate::skips::skip("tmpfs", "only root may mount a small file system");
    }
    mounted
}

#[test]
fn a_full_disk_stops_the_recording_but_not_its_reading() {
    let dir = tempfile::tempdir().unwrap();
    let Some(_tmpfs) = tmpfs(dir.path()) else { return };
    let path = dir.path().join("x.ironlaw");
    let mut writer = Writer::create(&path, &meta(), false).unwrap();
    let mut written = Vec::new();
    let error = (0..1000)
        .find_map(|number| {
            let failed = writer.write(&chunk(number)).and_then(|()| writer.flush()).err();
            if failed.is_none() {
                written.extend(chunk(number));
            }
            failed
        })
        .unwrap();
    assert_eq!(error.kind(), ErrorKind::Exhausted, "{error}");
    assert!(error.remedy().is_some());
    assert!(!written.is_empty() && writer.buffered_rows() > 0);

    let recording = Recording::open(&path).unwrap();
    assert_eq!(recording.damage(), []);
    let seen = read(&recording);
    assert!(by_kind(written).iter().all(|event| seen.contains(event)));
    assert_eq!(writer.finish(&meta()).unwrap_err().kind(), ErrorKind::Exhausted);
    assert_eq!(Recording::open(&path).unwrap().damage(), []);
}

#[test]
fn rows_that_found_no_room_are_written_once_there_is_some() {
    let dir = tempfile::tempdir().unwrap();
    let Some(_tmpfs) = tmpfs(dir.path()) else { return };
    let (path, ballast) = (dir.path().join("x.ironlaw"), dir.path().join("ballast"));
    let mut writer = Writer::create(&path, &meta(), false).unwrap();
    let _ = std::fs::write(&ballast, vec![0; 1 << 20]);
    writer.write(&chunk(0)).unwrap();
    assert_eq!(writer.flush().unwrap_err().kind(), ErrorKind::Exhausted);
    std::fs::remove_file(&ballast).unwrap();
    writer.finish(&meta()).unwrap();
    assert_eq!(read(&Recording::open(&path).unwrap()), by_kind(chunk(0)));
}

#[test]
fn a_recording_that_cannot_begin_leaves_no_directory() {
    let dir = tempfile::tempdir().unwrap();
    let Some(_tmpfs) = tmpfs(dir.path()) else { return };
    let _ = std::fs::write(dir.path().join("ballast"), vec![0; 1 << 20]);
    let path = dir.path().join("x.ironlaw");
    assert_eq!(Writer::create(&path, &meta(), false).unwrap_err().kind(), ErrorKind::Exhausted);
    assert!(!path.exists());
}
