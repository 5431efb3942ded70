//! A small simulated fleet answered whole and by job.

use super::*;
use crate::fleet::dataset::{DatasetWriter, Origin, open};
use crate::fleet::simulate::{Settings, simulate};
use crate::fleet::{QUERIES, dataset_tables};
use crate::model::{DatasetRows, WindowRow};
use std::path::Path;

/// Sums depend on their order; what cancels is compared with 1.
fn alike(one: &ResultTable, other: &ResultTable) -> Result<(), String> {
    let names = |table: &ResultTable| table.columns.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    if (one.rows, names(one)) != (other.rows, names(other)) {
        return Err(format!("{} and {} rows", one.rows, other.rows));
    }
    for ((name, a), (_, b)) in one.columns.iter().zip(&other.columns) {
        let same = match (a, b) {
            (ResultColumn::Numbers(a), ResultColumn::Numbers(b)) => a.iter().zip(b).all(|pair| match pair {
                (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0),
                pair => pair.0 == pair.1,
            }),
            _ => a == b,
        };
        if !same {
            return Err(format!("{name} differs: {a:?}\n{b:?}"));
        }
    }
    Ok(())
}

fn tables_of(dir: &Path) -> Vec<SqlTable> {
    dataset_tables(&open(dir).unwrap())
}

#[test]
fn answers_by_job_are_the_whole_answer() {
    let dir = tempfile::tempdir().unwrap();
    simulate(dir.path(), Settings { hosts: 30, days: 1, jobs: 4, seed: 3 }).unwrap();
    let tables = tables_of(dir.path());
    assert_eq!(job_batches(&tables, 0).unwrap().len(), 4, "a batch for each job");
    for query in QUERIES.iter().filter(|query| query.by_job) {
        let [whole, parts] =
            [u64::MAX, 0].map(|most| answer_in_batches(&tables, &[query.question()], most).unwrap().remove(0));
        assert!(whole.rows > 1, "{} has {} rows", query.name, whole.rows);
        alike(&whole, &parts).unwrap_or_else(|text| panic!("{}: {text}", query.name));
    }
    // A question whose steps are not within a job differs: the comparison can fail.
    let jobs = Question { name: "jobs", sql: "SELECT COUNT(DISTINCT job) AS jobs FROM windows", by_job: true };
    let counts = answer_in_batches(&tables, &[jobs], 0).unwrap().remove(0);
    assert_eq!(counts.integers("jobs").unwrap(), [Some(1); 4]);
}

#[test]
fn names_of_jobs_and_hosts_stay_as_they_are_written() {
    let dir = tempfile::tempdir().unwrap();
    for (job, host) in [("7", "0042"), ("12", "042")] {
        let origin = Origin { job: job.to_string(), host: host.to_string(), id: 1 };
        let mut writer = DatasetWriter::open(dir.path(), &origin, None).unwrap();
        let row = WindowRow { start_s: 1_800_000_000, length_s: 60.0, platform: "X".into(), ..WindowRow::default() };
        writer.add(DatasetRows { windows: vec![row], ..DatasetRows::default() });
        writer.flush().unwrap();
    }
    let sql = "SELECT job, host FROM windows ORDER BY job";
    for most in [u64::MAX, 0] {
        let question = Question { name: "names", sql, by_job: true };
        let found = answer_in_batches(&tables_of(dir.path()), &[question], most).unwrap().remove(0);
        assert_eq!(found.texts("job").unwrap(), [Some("12"), Some("7")]);
        assert_eq!(found.texts("host").unwrap(), [Some("042"), Some("0042")]);
    }
}
