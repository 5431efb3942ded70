//! Where rows lie in a data set: names of tables, of partitions and of files.

use crate::error::{Error, ErrorKind, Result};
use crate::units::Utc;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A table of the data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TableKind {
    /// Jobs in windows.
    Windows,
    /// Functions of jobs.
    Functions,
    /// What else used the machine.
    Neighbours,
    /// Alarms of a watch.
    Alarms,
}

impl TableKind {
    /// All tables.
    pub const ALL: [TableKind; 4] =
        [TableKind::Windows, TableKind::Functions, TableKind::Neighbours, TableKind::Alarms];

    /// Its name, in SQL and as a folder.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            TableKind::Windows => "windows",
            TableKind::Functions => "functions",
            TableKind::Neighbours => "neighbours",
            TableKind::Alarms => "alarms",
        }
    }
}

/// Longer names of jobs and hosts do not fit into the name of a folder.
const MOST_NAME_BYTES: usize = 240;

/// The job and the host that rows belong to, as their folders are named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    job: String,
    host: String,
}

impl Partition {
    /// # Errors
    /// `Usage` for a name that is empty or too long for a folder.
    pub fn new(job: &str, host: &str) -> Result<Partition> {
        Ok(Partition { job: folder("job", job)?, host: folder("host", host)? })
    }

    /// The folder of a table's rows of a day.
    pub fn folder(&self, dir: &Path, table: TableKind, day: i64) -> PathBuf {
        let Partition { job, host } = self;
        dir.join(table.name()).join(job).join(format!("day={}", day_text(day))).join(host)
    }

    /// The folder that holds the days of a table.
    pub fn days(&self, dir: &Path, table: TableKind) -> PathBuf {
        dir.join(table.name()).join(&self.job)
    }

    /// The name of this host's folder in each day.
    pub fn host(&self) -> &str {
        &self.host
    }
}

fn folder(key: &str, name: &str) -> Result<String> {
    let folder = format!("{key}={}", encoded(name));
    if name.is_empty() || folder.len() > MOST_NAME_BYTES {
        let why = if name.is_empty() { "it is empty" } else { "it is too long for the name of a folder" };
        return Err(Error::new(ErrorKind::Usage, format!("invalid name of a {key} '{name}': {why}"))
            .hint("Give a short name with --job."));
    }
    Ok(folder)
}

/// Bytes outside [A-Za-z0-9._-] as %XX, which every reader of Hive partitions decodes; `.` and `..` are encoded too.
fn encoded(name: &str) -> String {
    let dots = matches!(name, "." | "..");
    name.bytes().fold(String::with_capacity(name.len()), |mut text, byte| {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') || byte == b'.' && !dots {
            text.push(char::from(byte));
        } else {
            // Writing into a text cannot fail.
            let _ = write!(text, "%{byte:02X}");
        }
        text
    })
}

/// Seconds of a day.
pub(super) const DAY_S: i64 = 86_400;

/// The day of a second since the Unix epoch, days since then; times before count as the first day.
pub(super) fn day_of(start_s: i64) -> i64 {
    start_s.max(0) / DAY_S
}

/// `2026-11-24`.
pub(super) fn day_text(day: i64) -> String {
    let seconds = u64::try_from(day).unwrap_or_default().saturating_mul(DAY_S as u64);
    let Utc { year, month, day, .. } = Utc::from_unix(seconds);
    format!("{year:04}-{month:02}-{day:02}")
}

/// The name of a file: the same writer's file of a day keeps its name, and no other writer's has it.
#[must_use]
pub fn file_name(start_s: i64, id: u64) -> String {
    format!("{start_s}-{id:016x}.parquet")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_folder_whatever_it_is() {
        for (name, expected) in [
            ("web.service", "web.service"),
            ("a/b", "a%2Fb"),
            ("..", "%2E%2E"),
            (".", "%2E"),
            ("...", "..."),
            ("a=b c%", "a%3Db%20c%25"),
            ("é\0\n", "%C3%A9%00%0A"),
        ] {
            assert_eq!(encoded(name), expected, "{name:?}");
        }
        assert!(Partition::new("", "h").is_err() && Partition::new("j", "").is_err());
        let error = Partition::new(&"x".repeat(300), "h").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage);
        let partition = Partition::new("../web", "web-1").unwrap();
        let folder = partition.folder(Path::new("/d"), TableKind::Windows, 20_000);
        assert_eq!(folder, Path::new("/d/windows/job=..%2Fweb/day=2024-10-04/host=web-1"));
    }

    #[test]
    fn days_begin_at_midnight_utc() {
        let text = |second| day_text(day_of(second));
        assert_eq!((text(0), text(-5)), ("1970-01-01".to_string(), "1970-01-01".to_string()));
        assert_eq!((text(951_868_799), text(951_868_800)), ("2000-02-29".to_string(), "2000-03-01".to_string()));
    }
}
