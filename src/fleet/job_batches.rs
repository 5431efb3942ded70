//! Jobs in batches whose files are of bounded size: what an answer keeps in memory grows with the rows that it is worked out
//! from, so a fleet is answered a few jobs at a time.

use super::dataset::job_of;
use super::sql_table::{SqlRows, SqlTable};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Jobs in their order, in batches of at most so many bytes of files or of one job. `None` if the tables are not of a data
/// set.
pub(super) fn job_batches(tables: &[SqlTable], most_bytes: u64) -> Option<Vec<Vec<String>>> {
    let mut jobs: BTreeMap<String, u64> = BTreeMap::new();
    for table in tables {
        let SqlRows::Folder(folder) = &table.rows else { return None };
        for entry in fs::read_dir(folder).ok()?.flatten() {
            *jobs.entry(job_of(entry.file_name().to_str()?)?).or_default() += bytes_in(&entry.path());
        }
    }
    let mut batches: Vec<Vec<String>> = Vec::new();
    let mut room = 0;
    for (job, bytes) in jobs {
        match batches.last_mut().filter(|_| bytes <= room) {
            Some(batch) => batch.push(job),
            None => {
                batches.push(vec![job]);
                room = most_bytes;
            }
        }
        room = room.saturating_sub(bytes);
    }
    Some(batches)
}

/// What cannot be read counts as empty: the engine says why when it reads it.
fn bytes_in(folder: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let bytes = entries.flatten().map(|entry| match entry.file_type() {
        Ok(kind) if kind.is_dir() => bytes_in(&entry.path()),
        _ => entry.metadata().map_or(0, |file| file.len()),
    });
    bytes.sum()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn jobs_fill_batches_in_their_order_and_a_large_one_has_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let table = |name: &str, jobs: &[(&str, usize)]| {
            for (job, bytes) in jobs {
                let folder = dir.path().join(name).join(job).join("day=2026-01-05/host=a");
                fs::create_dir_all(&folder).unwrap();
                fs::write(folder.join("1-a.parquet"), vec![0; *bytes]).unwrap();
            }
            SqlTable { name: name.to_string(), rows: SqlRows::Folder(dir.path().join(name)) }
        };
        let windows = table("windows", &[("job=d", 30), ("job=a%2Fb", 30), ("job=b", 30), ("job=c", 200)]);
        let neighbours = table("neighbours", &[("job=b", 40)]);
        let tables = [windows, neighbours];
        let batches = job_batches(&tables, 100).unwrap();
        assert_eq!(batches, [vec!["a/b", "b"], vec!["c"], vec!["d"]]);
        assert_eq!(job_batches(&tables, 1000).unwrap().len(), 1);
        fs::create_dir(dir.path().join("windows/other")).unwrap();
        assert_eq!(job_batches(&tables, 100), None, "a folder of no job");
        let memory = SqlTable { name: "samples".into(), rows: SqlRows::Memory(Vec::new()) };
        assert_eq!(job_batches(&[memory], 100), None);
    }
}
