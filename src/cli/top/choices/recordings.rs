//! Lists the recordings in a directory. Reads only each recording's metadata.

use crate::store::Recording;
use crate::sweep::Folder;
use crate::units::Nanos;
use crate::view::picker::RecordingChoice;
use crate::view::sweep::title;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A directory may contain thousands of recordings; users look for the newest.
const LISTED: usize = 200;

/// The size of metadata depends on the machine, not on the recording's length. A larger file is not metadata.
const META_BYTES: u64 = 16 << 20;

/// The recordings of the last listing.
#[derive(Debug)]
pub(super) struct Recordings {
    folder: PathBuf,
    /// Cached metadata by path, valid while its stamp is unchanged; `None` for unreadable recordings.
    known: HashMap<PathBuf, (Stamp, Option<RecordingChoice>)>,
}

/// Modification time and size of the metadata file.
type Stamp = (SystemTime, u64);

impl Recordings {
    /// The recordings in `folder`.
    pub fn new(folder: PathBuf) -> Recordings {
        Recordings { folder, known: HashMap::new() }
    }

    /// Lists the readable recordings, newest first.
    pub fn list(&mut self) -> Vec<RecordingChoice> {
        let mut before = std::mem::take(&mut self.known);
        let mut found = candidates(&self.folder);
        found.sort_by_key(|(_, stamp)| std::cmp::Reverse(stamp.0));
        found.truncate(LISTED);
        let mut listed = Vec::new();
        for (path, stamp) in found {
            let read = match before.remove(&path) {
                Some((then, read)) if then == stamp => read,
                _ => read(&path),
            };
            listed.extend(read.clone());
            self.known.insert(path, (stamp, read));
        }
        listed.sort_by(|a, b| (b.started_unix_ns, &a.path).cmp(&(a.started_unix_ns, &b.path)));
        listed
    }
}

/// Directories with the name of a recording or a sweep, and its metadata file.
fn candidates(folder: &Path) -> Vec<(PathBuf, Stamp)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| PathBuf::from(entry.file_name()));
    names
        .filter_map(|name| {
            let metadata = match () {
                () if crate::store::path(&name) == name => "meta.json",
                () if Folder::name(&name) == name => "sweep.json",
                () => return None,
            };
            let path = if folder == Path::new(".") { name } else { folder.join(name) };
            let about = fs::metadata(path.join(metadata)).ok()?;
            (about.is_file() && about.len() <= META_BYTES).then_some(())?;
            Some((path, (about.modified().ok()?, about.len())))
        })
        .collect()
}

fn read(path: &Path) -> Option<RecordingChoice> {
    if Folder::is_one(path) {
        let (_, meta) = Folder::open(path).ok()?;
        return Some(RecordingChoice {
            path: path.to_path_buf(),
            target: format!("sweep: {}", title(&meta)),
            started_unix_ns: meta.started_unix_ns,
            duration_s: None,
        });
    }
    let recording = Recording::open(path).ok()?;
    let meta = recording.meta();
    Some(RecordingChoice {
        path: path.to_path_buf(),
        target: meta.plan.target.label(),
        started_unix_ns: meta.started_unix_ns,
        duration_s: meta.duration_ns.map(|length| Nanos(length).seconds()),
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/golden-1.0.ironlaw/meta.json");

    /// A recording with a modified copy of the golden recording's metadata.
    fn plant(folder: &Path, name: &str, change: impl Fn(&mut serde_json::Value)) {
        let mut about: serde_json::Value = serde_json::from_slice(&fs::read(GOLDEN).unwrap()).unwrap();
        change(&mut about);
        fs::create_dir_all(folder.join(name)).unwrap();
        fs::write(folder.join(name).join("meta.json"), about.to_string()).unwrap();
    }

    #[test]
    fn the_readable_ones_are_listed_newest_first() {
        let folder = tempfile::tempdir().unwrap();
        plant(folder.path(), "old.ironlaw", |about| about["started_unix_ns"] = 5.into());
        plant(folder.path(), "new.ironlaw", |about| about["started_unix_ns"] = 7_000_000_000u64.into());
        plant(folder.path(), "killed.ironlaw", |about| {
            about["started_unix_ns"] = 6.into();
            about["duration_ns"] = serde_json::Value::Null;
        });
        plant(folder.path(), "newer-format.ironlaw", |about| about["format"] = vec![99, 0].into());
        plant(folder.path(), "other-name", |_| ());
        fs::create_dir(folder.path().join("empty.ironlaw")).unwrap();
        fs::write(folder.path().join("file.ironlaw"), "text").unwrap();
        let swept = crate::sweep::Folder::create(&folder.path().join("old.sweep"), false).unwrap();
        swept.write(&crate::view::sweep::fixture::meta(crate::view::sweep::fixture::Machine::Clock)).unwrap();
        fs::create_dir(folder.path().join("empty.sweep")).unwrap();
        let mut recordings = Recordings::new(folder.path().into());
        let listed = recordings.list();
        assert!(listed.iter().any(|it| it.path.ends_with("old.sweep") && it.target.starts_with("sweep: ")));
        fs::remove_dir_all(swept.path()).unwrap();
        let listed = recordings.list();
        let names: Vec<_> = listed.iter().map(|it| it.path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["new.ironlaw", "killed.ironlaw", "old.ironlaw"]);
        assert_eq!(listed[1].duration_s, None);
        assert!(listed[0].duration_s.is_some_and(|length| length > 0.0) && !listed[0].target.is_empty());

        fs::remove_dir_all(folder.path().join("new.ironlaw")).unwrap();
        plant(folder.path(), "old.ironlaw", |about| about["started_unix_ns"] = 5_000_000_000u64.into());
        let names: Vec<_> = recordings.list().into_iter().map(|it| it.started_unix_ns).collect();
        assert_eq!(names, [5_000_000_000, 6], "what has changed is read anew, what is gone is not listed");
    }

    #[test]
    fn a_directory_that_is_not_there_holds_none() {
        assert!(Recordings::new("/nonexistent".into()).list().is_empty());
    }
}
