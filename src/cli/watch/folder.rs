//! The folder of a watch's recordings: names them, and removes the oldest if there are too many.
//! Only removes directories that have the name and contents of this target's recordings.

use crate::cli::plan::RECORDING_EXTENSION;
use crate::view::watch::{Moment, RecordedPeriod};
use std::fs;
use std::path::{Path, PathBuf};

/// Recordings of one target.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    dir: PathBuf,
    name: String,
    keep: usize,
}

impl Folder {
    pub(super) fn new(dir: PathBuf, name: String, keep: usize) -> Folder {
        Folder { dir, name, keep }
    }

    /// The directory for a recording of an alarm at that time.
    pub(super) fn path(&self, at: Moment, period: RecordedPeriod) -> PathBuf {
        let what = match period {
            RecordedPeriod::BeforeAlarm => "before",
            RecordedPeriod::Alarm => "alarm",
        };
        self.dir.join(format!("{}-{}-{what}.{RECORDING_EXTENSION}", self.name, at.compact()))
    }

    /// Removes the oldest recordings above the limit and returns their paths. Keeps the one just written, which looks
    /// old if the clock was set back. A recording that cannot be removed is tried again next time.
    pub(super) fn prune(&self, written: &Path) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(&self.dir) else { return Vec::new() };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut ours: Vec<String> = names.filter(|name| self.is_ours(name)).collect();
        // The target's name is the same in all names, so this sorts by time. `alarm` is written after `before`.
        ours.sort_by_key(|name| (self.stamp(name).map(ToString::to_string), name.contains("-alarm.")));
        let surplus = ours.len().saturating_sub(self.keep);
        let paths = ours.into_iter().map(|name| self.dir.join(name)).filter(|path| path != written).take(surplus);
        paths.filter(|path| is_recording(path) && fs::remove_dir_all(path).is_ok()).collect()
    }

    fn is_ours(&self, name: &str) -> bool {
        self.stamp(name).is_some() && is_recording(&self.dir.join(name))
    }

    /// The time in the name of a recording of this target.
    fn stamp<'a>(&self, name: &'a str) -> Option<&'a str> {
        let rest = name.strip_prefix(&self.name)?.strip_prefix('-')?;
        let (stamp, rest) = rest.split_at_checked("20260301T142530Z".len())?;
        let fits = |(at, byte): (usize, u8)| match at {
            8 => byte == b'T',
            15 => byte == b'Z',
            _ => byte.is_ascii_digit(),
        };
        let is_time = stamp.bytes().enumerate().all(fits);
        let ending = rest.strip_suffix(RECORDING_EXTENSION)?;
        (is_time && matches!(ending, "-before." | "-alarm.")).then_some(stamp)
    }
}

/// Whether it is a directory, not a link, with the metadata of a recording.
fn is_recording(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.is_dir()) && path.join("meta.json").is_file()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn make(dir: &Path, name: &str, whole: bool) -> PathBuf {
        let path = dir.join(name);
        fs::create_dir(&path).unwrap();
        if whole {
            fs::write(path.join("meta.json"), "{}").unwrap();
        }
        path
    }

    #[test]
    fn the_oldest_of_our_own_go_and_nothing_else_does() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::new(dir.path().into(), "pid-41".into(), 2);
        let at = |second: u64| folder.path(Moment(second * 1_000_000_000), RecordedPeriod::BeforeAlarm);
        let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_string();
        for second in [300, 100, 200] {
            make(dir.path(), &name(&at(second)), true);
        }
        let alarm = make(dir.path(), &name(&folder.path(Moment(200_000_000_000), RecordedPeriod::Alarm)), true);
        let others = [
            make(dir.path(), "pid-41-night.ironlaw", true),
            make(dir.path(), "pid-4-19700101T000000Z-before.ironlaw", true),
            make(dir.path(), "pid-41-19700101T000000Z-before.ironlaw", false),
            make(dir.path(), "pid-41-19700101T000001Z-before", true),
            make(dir.path(), "pid-41-1970010\u{e9}T00000Z-alarm.ironlaw", true),
        ];
        let link = dir.path().join("pid-41-19700101T000002Z-alarm.ironlaw");
        std::os::unix::fs::symlink(&others[0], &link).unwrap();
        assert_eq!(folder.prune(&at(300)), [at(100), at(200)]);
        assert!(at(300).exists() && alarm.exists() && others.iter().all(|other| other.exists()) && link.is_symlink());
        assert!(folder.prune(&at(300)).is_empty());
        make(dir.path(), &name(&at(50)), true);
        assert_eq!(
            folder.prune(&at(50)),
            std::slice::from_ref(&alarm),
            "the clock was set back: the newest looks oldest"
        );
        assert!(at(50).exists() && at(300).exists());
    }
}
