//! Jobs answered a few at a time.

use super::*;
use crate::protocol::Rows;
use std::fs;
use std::path::{Path, PathBuf};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/sql/fleet");

/// A folder that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("ironlaw-fleet-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn table(folder: &Path, name: &str) -> Table {
    Table { name: name.to_string(), rows: Rows::Folder(folder.join(name)) }
}

fn question(name: &str, sql: String) -> Question {
    Question { name: name.to_string(), sql, by_job: true }
}

fn text(answers: &[Answer]) -> String {
    serde_json::to_string(answers).unwrap()
}

#[test]
fn answers_by_job_are_the_whole_answer() {
    let fleet = Path::new(FIXTURE);
    let tables = ["windows", "neighbours"].map(|name| table(fleet, name));
    assert_eq!(job_batches(&tables, 0).unwrap().len(), 4, "a batch for each job");
    for name in ["distribution", "hosts", "versions", "configs", "contention", "influences", "hours", "suspects"] {
        let sql = fs::read_to_string(fleet.join(format!("../../../../assets/sql/fleet/{name}.sql"))).unwrap();
        // Sums depend on their order in the last digits: it is enough that rows and integers are the same.
        let shape = |most| {
            let answers = answer_in_batches(&tables, &[question(name, sql.clone())], most).unwrap();
            let text = text(&answers);
            let numbers = |word: &str| word.parse::<f64>().map_or(word.to_string(), |number| format!("{number:.6e}"));
            text.split('"').map(numbers).collect::<Vec<_>>().join("\"")
        };
        assert_eq!(shape(u64::MAX), shape(0), "{name}");
    }
    // A question whose steps are not within a job differs: the comparison can fail.
    let jobs = || question("jobs", "SELECT COUNT(DISTINCT job) AS jobs FROM windows".to_string());
    assert!(text(&answer_in_batches(&tables, &[jobs()], 0).unwrap()).contains("[1,1,1,1]"));
}

#[test]
fn names_of_jobs_and_hosts_stay_as_they_are_written() {
    let folder = Folder::new("names");
    let file = fs::read_dir(Path::new(FIXTURE).join("alarms/job=job-000/day=2026-01-05/host=host-000001")).unwrap();
    let file = file.flatten().next().unwrap().path();
    for (job, host) in [("7", "0042"), ("12", "042"), ("a%2Fb", "h")] {
        let day = folder.0.join(format!("alarms/job={job}/day=2026-01-05/host={host}"));
        fs::create_dir_all(&day).unwrap();
        fs::copy(&file, day.join("1-a.parquet")).unwrap();
        // Unfinished files of a writer are not tables.
        fs::write(day.join(".2-a.parquet.tmp"), "PAR1").unwrap();
    }
    let tables = [table(&folder.0, "alarms")];
    for most in [u64::MAX, 0] {
        let sql = "SELECT DISTINCT job, host FROM alarms ORDER BY job".to_string();
        let found = text(&answer_in_batches(&tables, &[question("names", sql)], most).unwrap());
        assert!(found.contains(r#"["12","7","a/b"]"#) && found.contains(r#"["042","0042","h"]"#), "{found}");
    }
}

#[test]
fn jobs_fill_batches_in_their_order_and_a_large_one_has_its_own() {
    let folder = Folder::new("batches");
    let made = |name: &str, jobs: &[(&str, usize)]| {
        for (job, bytes) in jobs {
            let day = folder.0.join(name).join(job).join("day=2026-01-05/host=a");
            fs::create_dir_all(&day).unwrap();
            fs::write(day.join("1-a.parquet"), vec![0; *bytes]).unwrap();
        }
        table(&folder.0, name)
    };
    let windows = made("windows", &[("job=d", 30), ("job=a%2Fb", 30), ("job=b", 30), ("job=c", 200)]);
    let tables = [windows, made("neighbours", &[("job=b", 40)])];
    assert_eq!(job_batches(&tables, 100).unwrap(), [vec!["a/b", "b"], vec!["c"], vec!["d"]]);
    assert_eq!(job_batches(&tables, 1000).unwrap().len(), 1);
    fs::create_dir(folder.0.join("windows/other")).unwrap();
    assert_eq!(job_batches(&tables, 100), None, "a folder of no job");
    let files = Table { name: "samples".into(), rows: Rows::Files(Vec::new()) };
    assert_eq!(job_batches(&[files], 100), None);
}
